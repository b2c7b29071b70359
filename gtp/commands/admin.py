"""Commands about the program and its commands."""

import time

from gtp.commands.command_group import CommandGroup
from gtp.protocol import Command
from program import PROGRAM_NAME, PROTOCOL_VERSION, VERSION


class AdminCommands(CommandGroup):
    """Commands about the program and its commands; none needs the engine."""

    def cmd_protocol_version(self, _: Command) -> str:
        """Answer the version of the protocol."""
        return PROTOCOL_VERSION

    def cmd_name(self, _: Command) -> str:
        """Answer the name of the program."""
        return PROGRAM_NAME

    def cmd_version(self, _: Command) -> str:
        """Answer the version of the program, or what --override-version says."""
        return self.session.options.override_version or VERSION

    def cmd_known_command(self, command: Command) -> str:
        """Answer whether a command exists."""
        return "true" if command.args and command.args[0] in self.session.command_names else "false"

    def cmd_list_commands(self, _: Command) -> str:
        """Answer the names of all commands."""
        return "\n".join(self.session.command_names)

    def cmd_quit(self, _: Command) -> str:
        """End the program after the reply."""
        self.session.quitting = True
        return ""

    def cmd_cputime(self, _: Command) -> str:
        """Answer the processor time used so far, seconds."""
        return f"{time.process_time():.3f}"
