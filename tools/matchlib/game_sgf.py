"""The SGF file of a match game."""

import time

from sgfmill import sgf

from board.constant import PASS
from board.stone import Stone
from tools.matchlib.config import SIDES
from tools.matchlib.game import MatchGame
from tools.matchlib.record import MatchRecord


def format_sgf(game: MatchGame, record: MatchRecord, names: tuple[str, str]) -> bytes:
    """Return the game as SGF: names, result, clocks after each move, and how it ended as a comment on the last move."""
    config = game.config
    document = sgf.Sgf_game(size=config.size)
    root = document.get_root()
    # A command line may have bytes that are no text, and SGF has no letters for them.
    name_of = {side: name.encode(errors="replace").decode() for side, name in zip(SIDES, names, strict=True)}
    root.set("PB", name_of[game.sides[Stone.BLACK]])
    root.set("PW", name_of[game.sides[Stone.WHITE]])
    root.set("KM", config.komi)
    root.set("RE", record.result)
    root.set("RU", "Chinese")
    root.set("DT", time.strftime("%Y-%m-%d"))
    root.set("RO", str(record.index + 1))
    if config.time_seconds is not None:
        root.set("TM", float(config.time_seconds))
    width = config.size + 2
    for (color, pos), clock, analysis in zip(game.referee.moves, game.clocks_after, game.analyses, strict=False):
        node = document.extend_main_sequence()
        letter = "b" if color == Stone.BLACK else "w"
        y, x = divmod(pos, width)
        node.set_move(letter, None if pos == PASS else (config.size - y, x - 1))
        if clock is not None:
            node.set("BL" if letter == "b" else "WL", round(clock, 2))
        if analysis:
            node.set("CC", analysis)
    document.get_last_node().set("C", f"{record.result} ({record.reason}): {record.detail}")
    return document.serialise()
