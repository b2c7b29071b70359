"""Rules as KataGo and KGS name them. There is one way to count here, by area, and suicide is never legal.

What can be chosen: whether a repetition by the opponent is illegal (`ko`; the engine itself never repeats a position),
and whether dead stones are taken off at the end (`friendlyPassOk`) or all stones are alive. A bonus for White in
handicap games is added to komi by whoever knows the handicap.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from board.ruleset import KoRule, Rules

# Values that can be played, in upper case.
FIXED_RULES = {"scoring": "AREA", "suicide": "FALSE", "tax": "NONE", "hasButton": "FALSE", "whiteHandicapBonus": "0"}
KO_RULES = {"SIMPLE": KoRule.SIMPLE, "POSITIONAL": KoRule.POSITIONAL}
BOOLEANS = {"TRUE": True, "FALSE": False}
# Values that KataGo knows beyond these.
OTHER_VALUES = {
    "ko": ("SITUATIONAL", "SPIGHT"), "scoring": ("TERRITORY",), "suicide": ("TRUE",), "tax": ("SEKI", "ALL"),
    "hasButton": ("TRUE",), "whiteHandicapBonus": ("N", "N-1"),
}

# KataGo's named rules as far as they differ from FIXED_RULES.
NAMED_RULES: dict[str, dict[str, Any]] = {
    "tromp-taylor": {"ko": "POSITIONAL", "suicide": True, "friendlyPassOk": False},
    "chinese": {"ko": "SIMPLE", "friendlyPassOk": True},
    "chinese-ogs": {"ko": "POSITIONAL", "friendlyPassOk": True},
    "chinese-kgs": {"ko": "POSITIONAL", "friendlyPassOk": True},
    "japanese": {"ko": "SIMPLE", "scoring": "TERRITORY", "tax": "SEKI", "friendlyPassOk": True},
    "korean": {"ko": "SIMPLE", "scoring": "TERRITORY", "tax": "SEKI", "friendlyPassOk": True},
    "stone-scoring": {"ko": "SIMPLE", "tax": "ALL", "friendlyPassOk": True},
    "aga": {"ko": "SITUATIONAL", "friendlyPassOk": True},
    "bga": {"ko": "SITUATIONAL", "friendlyPassOk": True},
    "aga-button": {"ko": "SITUATIONAL", "hasButton": True, "friendlyPassOk": True},
    "new-zealand": {"ko": "SITUATIONAL", "suicide": True, "friendlyPassOk": True},
    "ing": {"ko": "POSITIONAL", "suicide": True, "friendlyPassOk": True},
    "ancient-territory": {"ko": "SIMPLE", "scoring": "TERRITORY", "tax": "ALL", "friendlyPassOk": True},
}
# Other names, and the same ones without what stands between their words.
NAMES = {"nz": "new-zealand", "goe": "ing", "french": "bga", "ancientarea": "stone-scoring"} | {
    name.replace("-", ""): name for name in NAMED_RULES}
# The parts of rules as KataGo writes them into SGF, such as koPOSITIONALscoreAREAtaxNONEsui0, and their fields.
PARTS = {"ko": "ko", "scoring": "scoring", "score": "scoring", "tax": "tax", "sui": "suicide", "button": "hasButton",
         "whb": "whiteHandicapBonus", "fpok": "friendlyPassOk"}
PART = re.compile(rf"\s*({'|'.join(PARTS)})\s*([A-Z]+(?:-1)?|[01])\s*", re.ASCII)
SWITCHES = ("suicide", "hasButton", "friendlyPassOk")
# What White gets for N handicap stones under KataGo's named rules, "0" under those that are not named here.
HANDICAP_BONUS = {
    "chinese": "N", "chinese-ogs": "N", "chinese-kgs": "N", "aga": "N-1", "bga": "N-1", "aga-button": "N-1",
}


@dataclass(frozen=True)
class Agreement:
    """Rules, and whether all stones on the board are alive when the game ends."""

    rules: Rules = Rules()
    all_alive: bool = False


def normalize_name(name: str) -> str:
    """Return a name of rules as NAMED_RULES writes it, however its words are joined; another text in lower case."""
    text = name.strip().lower()
    return NAMES.get(re.sub(r"[\s_-]", "", text), text)


def parse_rules(text: str) -> dict[str, Any]:
    """Return the fields of rules that are written out, as JSON or as KataGo writes them into SGF; raises ValueError."""
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except (RecursionError, TypeError):
            raise ValueError("no rules") from None
    fields: dict[str, Any] = {}
    end = 0
    while part := PART.match(text, end):
        name, end = PARTS[part[1]], part.end()
        fields[name] = part[2] == "1" if name in SWITCHES and part[2] in "01" else part[2]
    if not fields or end < len(text):
        raise ValueError("no rules")
    return fields


def read_rules(fields: Mapping[str, Any], agreement: Agreement) -> tuple[Agreement, list[str]]:
    """Return `agreement` with the fields taken over, and those fields that cannot be played; such a ko is POSITIONAL.

    Raises ValueError, naming it, for a field or a value that KataGo does not know either.
    """
    unsupported, rules, all_alive = [], agreement.rules, agreement.all_alive
    for given, value in fields.items():
        name, text = "scoring" if given == "score" else given, str(value).upper()
        if name == "ko" and text in KO_RULES:
            rules = replace(rules, ko=KO_RULES[text])
        elif name == "friendlyPassOk" and text in BOOLEANS:
            all_alive = not BOOLEANS[text]
        elif text in OTHER_VALUES.get(name, ()):
            unsupported.append(given)
            rules = replace(rules, ko=KoRule.POSITIONAL) if name == "ko" else rules
        elif FIXED_RULES.get(name) != text:
            raise ValueError(f"{given} {str(value)[:40]}")
    return Agreement(rules, all_alive), unsupported
