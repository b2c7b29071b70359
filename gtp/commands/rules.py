"""Commands about the rules (gtp/rules.py), in KataGo's and KGS's words; rules that cannot be played are errors."""

import json

from common.print_console import print_err
from gtp.arguments import get_argument
from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command, GtpError
from gtp.rules import NAMED_RULES, Agreement, normalize_name, parse_rules, read_rules

KGS_RULES = {"chinese": "chinese-kgs", "aga": "aga", "new_zealand": "new-zealand"}
# Parts of named rules that hardly ever matter under area scoring: the nearest that can be played takes their place.
CLOSE_ENOUGH = ("ko", "suicide")


class RulesCommands(CommandGroup):
    """Rules as KataGo and KGS name them."""

    def cmd_kata__get__rules(self, _: Command) -> str:
        """Answer the rules as JSON."""
        options = self.game.options
        return json.dumps({
            "friendlyPassOk": not options.cgos_mode, "hasButton": False,
            "ko": options.rules.ko.name, "scoring": "AREA", "suicide": False, "tax": "NONE",
            "whiteHandicapBonus": "0",
        }, separators=(",", ":"))

    def cmd_kata__set__rules(self, command: Command) -> str:
        """Set all rules, by a name or as JSON; the board stays as it is."""
        get_argument(command, 0, "missing rules")
        name = normalize_name(command.text)
        if name in NAMED_RULES:
            self._set_named(name)
            return ""
        try:
            fields = parse_rules(command.text)
        except ValueError:
            raise GtpError(f"unsupported rules {command.text[:40]}") from None
        self._set_rules(fields)
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
        self._set_named(KGS_RULES[name])
        return ""

    def _set_named(self, name: str) -> None:
        """Take over rules with a name; a note on stderr names what is played instead of CLOSE_ENOUGH parts."""
        fields = NAMED_RULES[name]
        self._set_rules(fields, CLOSE_ENOUGH)
        if replaced := [f"{rule} {value}" for rule, value in fields.items()
                        if rule in CLOSE_ENOUGH and value in ("SITUATIONAL", True)]:
            print_err(f"Note: {name}: {' and '.join(replaced)} cannot be played; ko is positional, suicide illegal")

    def _set_rules(self, fields: dict, replaceable: tuple[str, ...] = ()) -> None:
        """Take over all fields or none; raises GtpError for what cannot be played or replaced."""
        options = self.game.options
        try:
            agreement, unsupported = read_rules(fields, Agreement(options.rules, options.cgos_mode))
        except ValueError as error:
            raise GtpError(f"unsupported rule {error}") from None
        for name in unsupported:
            if name not in replaceable:
                raise GtpError(f"unsupported rule {name} {str(fields[name])[:40]}")
        self.game.configure(superko=agreement.rules.superko, cgos_mode=agreement.all_alive)
