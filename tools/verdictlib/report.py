"""Verdicts as text: the board with the points in dispute marked, the summary, the table as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence

from board.constant import GTP_X_COORDINATE
from board.go_board import GoBoard
from board.ruleset import format_komi
from board.stone import Stone
from sgf.match_result import format_score
from tools.verdictlib.verdict import Comparison

STONE_CHARS = {Stone.EMPTY: ".", Stone.BLACK: "X", Stone.WHITE: "O"}
MARK = "*"
CSV_COLUMNS = ("game", "moves", "komi", "their_score", "our_score", "their_dead", "our_dead", "their_seki",
               "differing_points", "same_dead", "same_score", "same_winner")


def format_points(board: GoBoard, points: Iterable[int]) -> str:
    """Return points as GTP vertices, by pos."""
    return " ".join(board.coordinate.convert_to_gtp_format(pos) for pos in sorted(points))


def draw_board(board: GoBoard, marked: Iterable[int]) -> str:
    """Return the board as text, X Black and O White, with a star after each marked point."""
    size, stars = board.board_size, set(marked)
    columns = "   " + " ".join(f"{letter} " for letter in GTP_X_COORDINATE[1:size + 1]).rstrip()
    rows = []
    for y in range(1, size + 1):
        cells = [STONE_CHARS[board.board[pos]] + (MARK if pos in stars else " ")
                 for pos in (board.POS(x, y) for x in range(1, size + 1))]
        rows.append(f"{size + 1 - y:2d} " + " ".join(cells).rstrip())
    return "\n".join([columns, *rows, columns])


def format_disagreement(one: Comparison, names: tuple[str, str]) -> str:
    """Return what both say about a game, and the board."""
    lines = [f"{one.name}, after move {one.board.moves - 1}, komi {format_komi(one.board.get_komi())}: "
             f"{len(one.differing)} points differ"]
    for name, verdict in zip(names, (one.theirs, one.ours), strict=True):
        dead = format_points(one.board, verdict.dead) or "nothing"
        seki = f", seki {format_points(one.board, verdict.seki)}" if verdict.seki else ""
        lines.append(f"  {name}: {format_score(verdict.score)}, dead {dead}{seki}")
    return "\n".join([*lines, draw_board(one.board, one.differing)])


def format_summary(comparisons: Sequence[Comparison], names: tuple[str, str]) -> str:
    """Return how often the verdicts agree."""
    count = len(comparisons)
    rows = [("the same dead stones", sum(one.same_dead for one in comparisons)),
            ("the same owner of every point", sum(not one.differing for one in comparisons)),
            ("the same score", sum(one.same_score for one in comparisons)),
            ("the same winner", sum(one.same_winner for one in comparisons))]
    points = sum(len(one.differing) for one in comparisons)
    with_dead = sum(bool(one.theirs.dead) for one in comparisons)
    return "\n".join([
        f"{names[0]} and {names[1]} on {count} finished games, {with_dead} of them with dead stones ({names[0]}):",
        *(f"  {name}: {number} of {count} ({number / max(count, 1):.1%})" for name, number in rows),
        f"  points in dispute: {points}",
    ])


def format_csv(comparisons: Iterable[Comparison]) -> str:
    """Return one line a game, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for one in comparisons:
        writer.writerow([
            one.name, one.board.moves - 1, format_komi(one.board.get_komi()), format_score(one.theirs.score),
            format_score(one.ours.score), format_points(one.board, one.theirs.dead),
            format_points(one.board, one.ours.dead), format_points(one.board, one.theirs.seki),
            format_points(one.board, one.differing), one.same_dead, one.same_score, one.same_winner,
        ])
    return text.getvalue()
