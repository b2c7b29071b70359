"""Commands about parameters and about the network, in KataGo's and Leela Zero's words."""

import json
import re
from collections.abc import Callable
from typing import Any

from gtp.arguments import COLORS, get_argument
from gtp.commands.command_group import CommandGroup
from gtp.katago_model import describe_model
from gtp.parameters import BOOLEANS, LZ_OPTIONS, PARAMETERS, show_boolean
from gtp.protocol import Command, GtpError

SETTING = re.compile(r"name\s+(.+?)(?:\s+value\s+(.*))?", re.IGNORECASE)


class ParameterCommands(CommandGroup):
    """Commands about parameters and about the network."""

    def cmd_kata__list__params(self, _: Command) -> str:
        """Answer the names of the parameters."""
        return " ".join(PARAMETERS)

    def cmd_kata__get__param(self, command: Command) -> str:
        """Answer the value of a parameter."""
        name = get_argument(command, 0, "missing parameter")
        if name not in PARAMETERS:
            raise GtpError(f"Invalid parameter: {name}")
        return PARAMETERS[name].get(self.game.options_in_use)

    def cmd_kata__get__params(self, _: Command) -> str:
        """Answer all parameters and their values as JSON."""
        return json.dumps({name: parameter.get(self.game.options_in_use) for name, parameter in PARAMETERS.items()})

    def cmd_kata__set__param(self, command: Command) -> str:
        """Set a parameter."""
        name = get_argument(command, 0, "missing parameter")
        if name not in PARAMETERS:
            raise GtpError(f"Invalid parameter: {name}")
        self.game.configure(**self._read(PARAMETERS[name].read, " ".join(command.args[1:]), name))
        return ""

    def cmd_kata__set__params(self, command: Command) -> str:
        """Set the parameters of a JSON object, all of them or none."""
        try:
            values = json.loads(command.text)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise GtpError("expected a JSON object of parameters and values")
        changes: dict[str, Any] = {}
        for name, value in values.items():
            if name not in PARAMETERS:
                raise GtpError(f"Invalid parameter: {name[:40]}")
            changes |= self._read(PARAMETERS[name].read, show_boolean(value) if value is True or value is False
                                  else str(value), name)
        self.game.configure(**changes)
        return ""

    def cmd_search_params(self, command: Command) -> str:
        """Answer the parameters as GoGui shows them, or set one."""
        if command.args:
            return self.cmd_kata__set__param(command)
        lines = []
        for name, parameter in PARAMETERS.items():
            value = parameter.get(self.game.options_in_use)
            lines.append(f"[{parameter.kind}] {name} {int(BOOLEANS[value]) if parameter.kind == 'bool' else value}")
        return "\n".join(lines)

    def cmd_lz__setoption(self, command: Command) -> str:
        """Set `name NAME value V`, or answer what there is to set."""
        if not command.args:
            return "\n".join(f"option name {name} {description}" for name, (description, _) in LZ_OPTIONS.items())
        match = SETTING.fullmatch(command.text)
        known = {name.lower(): read for name, (_, read) in LZ_OPTIONS.items()}
        if match is None or match.group(1).lower() not in known:
            raise GtpError("No such option.")
        self.game.configure(**self._read(known[match.group(1).lower()], match.group(2) or "", match.group(1)))
        return ""

    def cmd_kata__get__models(self, _: Command) -> str:
        """Answer the network as JSON."""
        return json.dumps([describe_model(self.engine)])

    def cmd_kata__raw__nn(self, command: Command) -> str:
        """Answer what the network says about the position, without search, for symmetry 0 to 7 or `all` of them."""
        from gtp.commands.raw_network import format_raw, get_symmetries
        color, words = self.game.board.get_to_move(), list(command.args)
        if words and words[0].lower() in COLORS:
            color = COLORS[words.pop(0).lower()]
        try:
            symmetries = get_symmetries(words[0] if words else "")
        except ValueError as error:
            raise GtpError(str(error)) from None
        return "\n".join(format_raw(self.engine, color, sym) for sym in symmetries)

    def cmd_clear_cache(self, _: Command) -> str:
        """Forget what was searched."""
        self.game.clear_tree()
        return ""

    def cmd_stop(self, _: Command) -> str:
        """Answer; that a line came in has stopped any analysis already."""
        return ""

    def _read(self, read: Callable[[str], dict[str, Any]], text: str, name: str) -> dict[str, Any]:
        """Return the options that a text changes; raises GtpError, naming the reason, when it cannot be read."""
        try:
            return read(text)
        except ValueError as error:
            raise GtpError(f"Invalid value: {text[:40]} ({name}: {error})") from None
