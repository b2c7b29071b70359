"""A game in progress as an SGF record."""

from sgfmill import sgf

from board.go_board import GoBoard
from board.stone import Stone
from program import PROGRAM_NAME, VERSION

COLOR_LETTERS = {Stone.BLACK: "b", Stone.WHITE: "w"}


def _to_point(board: GoBoard, pos: int) -> tuple[int, int] | None:
    """Return row and column of a pos as sgfmill counts them, from the bottom left; None for PASS."""
    y, x = divmod(pos, board.board_size_with_ob)
    return (board.board_size - y, x - 1) if pos > 0 else None


def format_game(board: GoBoard) -> bytes:
    """Return a game with its set-up stones, komi and moves as SGF, in UTF-8."""
    game = sgf.Sgf_game(size=board.board_size)
    root = game.get_root()
    root.set("AP", (PROGRAM_NAME, VERSION))
    root.set("KM", board.get_komi())
    start = board.copy()
    start.truncate(0)
    stones = {color: [_to_point(board, pos) for pos in board.onboard_pos if start.board[pos] == color]
              for color in COLOR_LETTERS}
    if any(stones.values()):
        root.set_setup_stones(stones[Stone.BLACK], stones[Stone.WHITE])
        root.set("PL", COLOR_LETTERS[start.get_to_move()])
    if len(board.get_handicap_history()) > 1:
        root.set("HA", len(board.get_handicap_history()))
    for color, pos in board.get_move_history():
        game.extend_main_sequence().set_move(COLOR_LETTERS[color], _to_point(board, pos))
    return game.serialise()
