"""Commands that take a position from an SGF record, or write one."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from common.atomic_file import write_atomically
from common.exit_status import reason_of
from common.print_console import print_err
from gtp.arguments import to_file_name
from gtp.commands.command_group import CommandGroup
from gtp.protocol import CONTROL_CHARACTERS, Command, GtpError

if TYPE_CHECKING:
    from board.go_board import GoBoard
    from sgf.reader import SGFReader

CANNOT_LOAD, CANNOT_WRITE = "cannot load file", "cannot write file"
MOVE_NUMBER = re.compile(r"[0-9]{1,9}")


def refuse(reason: object, answer: str = CANNOT_LOAD) -> GtpError:
    """Return GNU Go's answer to a record that cannot be loaded or written; the reason goes to stderr."""
    print_err(f"{answer}: {reason}")
    return GtpError(answer)


class SgfCommands(CommandGroup):
    """Commands that take a position from an SGF record, or write one."""

    def cmd_loadsgf(self, command: Command) -> str:
        """Go to the position before move N of a file, or to the end of the game when N is not given."""
        words = list(command.args)
        if not words:
            raise GtpError("missing filename")
        number = None
        if len(words) > 1 and MOVE_NUMBER.fullmatch(words[-1]):
            number = int(words.pop())
            if number == 0:
                raise GtpError("invalid move number")
        try:
            data = Path(os.path.expanduser(to_file_name(" ".join(words).strip('"')))).read_bytes()
        except OSError as error:
            raise refuse(error.strerror or error) from None
        except ValueError as error:
            raise refuse(error) from None
        self._load(data, number)
        return ""

    def cmd_tamago__readsgf(self, command: Command) -> str:
        """Go to the end of the game whose record is the rest of the line; a # in its texts begins no comment there."""
        if not command.args:
            raise GtpError("missing SGF text")
        text = command.text
        if text.startswith("("):
            line = self.session.line.text
            text = line[line.index("("):].translate(CONTROL_CHARACTERS)
        self._load(text.encode("utf-8", "surrogateescape"), None)
        return ""

    def cmd_printsgf(self, command: Command) -> str:
        """Answer the game so far as an SGF record, or write it to the file that is named."""
        from sgf.game_record import InterruptedWritingError, format_game
        try:
            record = format_game(self.game.board, self.session.should_stop)
        except InterruptedWritingError:
            raise GtpError("interrupted") from None
        if not command.args:
            return record
        try:
            path = Path(os.path.expanduser(to_file_name(command.text.strip('"'))))
            if not path.parent.is_dir():
                raise refuse(f"no such folder: {path.parent}", CANNOT_WRITE)
            write_atomically(path, (record + "\n").encode())
        except OSError as error:
            raise refuse(reason_of(error), CANNOT_WRITE) from None
        except ValueError as error:
            raise refuse(error, CANNOT_WRITE) from None
        return ""

    def _load(self, data: bytes, move_number: int | None) -> None:
        """Replace the game by that of an SGF record; raises GtpError and changes nothing if that is impossible."""
        from sgf.grammar import read_main_line, to_utf8
        from sgf.reader import SGFReader, begin_of_line

        game = self.game
        try:
            line = read_main_line(to_utf8(data))
            # What comes after the position that is asked for may be impossible.
            nodes = line if move_number is None else begin_of_line(line, move_number - 1)
            reader = SGFReader.from_nodes(nodes, None if "SZ" in nodes[0] else game.board.board_size)
            if not game.can_play(reader.size):
                raise ValueError(f"nobody plays {reader.size}x{reader.size} here")
            komi = reader.komi if reader.tells_komi else game.board.get_komi()
            board = self._play_record(reader, komi, move_number)
            if reader.note:
                print_err(reader.note)
        except (ValueError, RecursionError) as error:
            raise refuse(error) from None
        game.set_board(board)

    def _play_record(self, reader: "SGFReader", komi: float, move_number: int | None) -> "GoBoard":
        """Return the board before move `move_number` (1 = the first) of a record; raises ValueError."""
        from board.go_board import GoBoard

        board = GoBoard.with_rules(reader.size, replace(self.game.board.rules, komi=komi))
        reader.play_on(board, None if move_number is None else move_number - 1)
        return board
