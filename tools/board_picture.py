"""Draws a position with its analysis as SVG: a query of KataGo's JSON protocol and the engine's answer to it.

    main.py --analysis-json true < query.json > answer.json
    tools/board_picture.py query.json answer.json --out board.svg
"""

import json
import sys
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from board.constant import DEFAULT_KOMI, PASS
from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.go_board import GoBoard
from board.stone import Stone
from common.atomic_file import write_atomically
from common.command_line import NamedFile, run_command
from gtp.analysis.fields import QueryError
from gtp.analysis.query import read_query
from tools.treelib.svg import CELL, FONT, MARGIN, STONE_RADIUS, board_side, draw_grid

# Pixels of the picture for one of the drawing.
SCALE = 1.5
# Moves shown, and the share of the best one's visits below which none is.
MAX_MOVES, MIN_SHARE = 6, 0.02
BEST_COLOR, OTHER_COLOR = "#2f9e44", "#4a90d9"
FILLS = {Stone.BLACK: "#16181b", Stone.WHITE: "#fdfdfb"}


def play_query(content: dict[str, Any], turn: int) -> GoBoard:
    """Return a position that a query asks about, after so many moves; raises ValueError."""
    try:
        query = read_query("", {"rules": "tromp-taylor", **content})
        if turn not in query.turns:
            raise ValueError(f"the answer is about turn {turn}, which the query does not ask about")
        return query.make_board(turn, DEFAULT_KOMI)
    except QueryError as error:
        raise ValueError(str(error)) from None


def center(pos: int, coordinate: Coordinate) -> tuple[int, int]:
    """Return x and y of a point, pixels."""
    y, x = divmod(pos, coordinate.width)
    return MARGIN + (x - 1) * CELL, MARGIN + (y - 1) * CELL


def write_text(x: int, y: int, size: int, color: str, text: str) -> str:
    """Return centered text."""
    style = f"{FONT};font-size:{size}px;font-weight:600;fill:{color}"
    return f'<text x="{x}" y="{y}" text-anchor="middle" style="{style}">{text}</text>'


def draw_circle(x: int, y: int, fill: str, more: str = "") -> str:
    """Return a circle as large as a stone."""
    return f'<circle cx="{x}" cy="{y}" r="{CELL * STONE_RADIUS:g}" fill="{fill}" {more}/>'


def draw_position(board: GoBoard, ownership: list[float]) -> str:
    """Return the stones, a mark on the last one (none on a pass), and a square on each point that is somebody's."""
    parts, history = [], board.get_move_history()
    for pos, owner in zip(map(int, get_geometry(board.board_size).points), ownership, strict=True):
        x, y = center(pos, board.coordinate)
        stone = board.board[pos]
        if stone != Stone.EMPTY:
            parts.append(draw_circle(x, y, FILLS[stone], 'stroke="#16181b"'))
        color, size = FILLS[Stone.BLACK if owner > 0 else Stone.WHITE], round(abs(owner) * CELL * 0.4, 1)
        if size and (stone == Stone.EMPTY or (owner > 0) != (stone == Stone.BLACK)):
            place = f'x="{x - size / 2:g}" y="{y - size / 2:g}" width="{size}" height="{size}"'
            parts.append(f'<rect {place} fill="{color}" opacity="0.75"/>')
    if history and history[-1][1] != PASS:
        x, y = center(history[-1][1], board.coordinate)
        ink = FILLS[Stone.get_opponent_color(history[-1][0])]
        parts.append(f'<circle cx="{x}" cy="{y}" r="{CELL * 0.2:g}" fill="none" stroke="{ink}" stroke-width="2"/>')
    return "".join(parts)


def draw_moves(board: GoBoard, moves: list[dict[str, Any]]) -> str:
    """Return the candidate moves with win rate (percent, Black's) and visits, the best one in its own color."""
    parts, most = [], max((move["visits"] for move in moves), default=0)
    for move in sorted(moves, key=lambda one: one["order"])[:MAX_MOVES]:
        pos = board.coordinate.convert_from_gtp_format(move["move"])
        if pos <= 0 or move["visits"] < MIN_SHARE * most:
            continue
        x, y = center(pos, board.coordinate)
        fill = BEST_COLOR if move["order"] == 0 else OTHER_COLOR
        parts.append(draw_circle(x, y, fill))
        parts.append(write_text(x, y, 9, "#fff", f"{move['winrate']:.0%}"[:-1]))
        parts.append(write_text(x, y + 8, 6, "#fff", str(move["visits"])))
    return "".join(parts)


def draw_board(size: int, *parts: str) -> str:
    """Return a board with what is drawn on it as SVG."""
    side = board_side(size)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{side * SCALE:g}" height="{side * SCALE:g}" '
            f'viewBox="0 0 {side} {side}">{draw_grid(size)}{"".join(parts)}</svg>\n')


def draw_picture(query: dict[str, Any], answer: dict[str, Any]) -> str:
    """Return the picture as SVG; raises KeyError and ValueError for what is no query or answer."""
    board = play_query(query, answer.get("turnNumber", len(query["moves"])))
    return draw_board(board.board_size, draw_position(board, answer["ownership"]),
                      draw_moves(board, answer["moveInfos"]))


def read_line(path: Path, field: str) -> dict[str, Any]:
    """Return the object in a file that has a field; raises OSError, and click.UsageError where it is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{path} is no line of JSON: {error}") from None
    if not isinstance(content, dict) or field not in content:
        raise click.UsageError(f"{path} is no object with the field {field}")
    return content


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("query", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("answer", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", type=NamedFile(".svg"), required=True, help="The picture, ending in .svg.")
def main(query: Path, answer: Path, out: Path) -> None:
    """Draw the position of a QUERY with its ANSWER, files with one line of JSON (includeOwnership must be true)."""
    try:
        picture = draw_picture(read_line(query, "moves"), read_line(answer, "moveInfos"))
        write_atomically(out, picture.encode())
    except OSError as error:
        raise click.UsageError(f"{error.strerror or error}: {error.filename or out}") from None
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise click.UsageError(f"{query} and {answer} are no query with its answer: {error}") from None


if __name__ == "__main__":
    sys.exit(run_command(main, "board_picture.py"))
