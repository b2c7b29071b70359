"""Commands about the rules (gtp/rules.py), in KataGo's and KGS's words; rules that cannot be played are errors."""

import json

from gtp.arguments import get_argument
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command, GtpError
from gtp.rules import NAMED_RULES, Rules, normalize_name, read_rules

KGS_RULES = {"chinese": "chinese-kgs"}


class RulesCommands(CommandGroup):
    """Rules as KataGo and KGS name them."""

    def cmd_kata__get__rules(self, _: Command) -> str:
        """Answer the rules as JSON."""
        options = self.engine.options
        return json.dumps({
            "friendlyPassOk": not options.cgos_mode, "hasButton": False,
            "ko": "POSITIONAL" if options.superko else "SIMPLE", "scoring": "AREA", "suicide": False, "tax": "NONE",
            "whiteHandicapBonus": "0",
        }, separators=(",", ":"))

    def cmd_kata__set__rules(self, command: Command) -> str:
        """Set all rules, by a name or as JSON; the board stays as it is."""
        get_argument(command, 0, "missing rules")
        named = NAMED_RULES.get(normalize_name(command.text))
        self._set_rules(named or self._read_json(command.text))
        return ""

    def cmd_kata__set__rule(self, command: Command) -> str:
        """Set one rule."""
        name, value = get_argument(command, 0, "missing rule"), get_argument(command, 1, "missing value")
        self._set_rules({name: value})
        return ""

    def cmd_kgs__rules(self, command: Command) -> str:
        """Set the rules by KGS's name."""
        name = get_argument(command, 0, "missing rules").lower()
        if name not in KGS_RULES:
            raise GtpError(f"unsupported rules {name}")
        self._set_rules(NAMED_RULES[KGS_RULES[name]])
        return ""

    def _read_json(self, text: str) -> dict:
        """Return the fields of a JSON object; raises GtpError for anything else."""
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise GtpError(f"unsupported rules {text[:40]}")
        return fields

    def _set_rules(self, fields: dict) -> None:
        """Take over all fields or none; raises GtpError for what cannot be played."""
        options = self.engine.options
        try:
            rules, unsupported = read_rules(fields, Rules(options.superko, options.cgos_mode))
        except ValueError as error:
            raise GtpError(f"unsupported rule {error}") from None
        if unsupported:
            raise GtpError(f"unsupported rule {unsupported[0]} {str(fields[unsupported[0]])[:40]}")
        self.engine.configure(superko=rules.superko, cgos_mode=rules.all_alive)
