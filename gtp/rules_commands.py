"""Rules as KataGo and KGS name them. There is one way to count here, by area, and suicide is never legal.

What can be chosen: whether a repetition by the opponent is illegal (`ko`; the engine itself never repeats a position),
and whether dead stones are taken off at the end (`friendlyPassOk`) or all stones are alive.
"""

import json

from gtp.arguments import get_argument
from gtp.command_group import CommandGroup
from gtp.protocol import Command, GtpError

# Values of the rules that cannot be changed, in upper case.
FIXED_RULES = {"scoring": "AREA", "suicide": "FALSE", "tax": "NONE", "hasButton": "FALSE", "whiteHandicapBonus": "0"}
KO_RULES = {"SIMPLE": False, "POSITIONAL": True}
BOOLEANS = {"TRUE": True, "FALSE": False}
# A bonus for White in handicap games is the controller's to add to komi.
NAMED_RULES = {
    "chinese": {"ko": "SIMPLE", "friendlyPassOk": True},
    "chinese-ogs": {"ko": "POSITIONAL", "friendlyPassOk": True},
    "chinese-kgs": {"ko": "POSITIONAL", "friendlyPassOk": True},
}
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
        named = NAMED_RULES.get(command.text.lower())
        self._set_rules(dict(named) if named else self._read_json(command.text))
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
        self._set_rules(dict(NAMED_RULES[KGS_RULES[name]]))
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
        superko, cgos_mode = self.engine.options.superko, self.engine.options.cgos_mode
        for name, value in fields.items():
            text = str(value).upper()
            if name == "ko" and text in KO_RULES:
                superko = KO_RULES[text]
            elif name == "friendlyPassOk" and text in BOOLEANS:
                cgos_mode = not BOOLEANS[text]
            elif FIXED_RULES.get(name) != text:
                raise GtpError(f"unsupported rule {name} {str(value)[:40]}")
        self.engine.configure(superko=superko, cgos_mode=cgos_mode)
