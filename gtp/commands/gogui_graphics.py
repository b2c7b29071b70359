"""What a search found as GoGui's graphics (gfx), also live on stderr while it runs."""

from collections.abc import Sequence

from board.constant import PASS
from board.coordinate import Coordinate
from board.stone import Stone
from common.print_console import print_err
from mcts.analysis import SearchResult

# Moves shown on the board, and moves of the principal variation.
MAX_MOVES = 10
MAX_LINE = 12
BEST_COLOR, OTHER_COLOR = "#30c030", "#40a0e0"
# Seconds between two pictures of a running search.
LIVE_SECONDS = 0.5
LIVE_PREFIX = "gogui-gfx:"


def format_variation(pv: Sequence[int], color: Stone, coordinate: Coordinate) -> str:
    """Return a line that starts with `color` as pairs of color and move."""
    words = []
    for pos in pv[:MAX_LINE]:
        words += [color.name[0].lower(), coordinate.convert_to_gtp_format(pos)]
        color = Stone.get_opponent_color(color)
    return " ".join(words)


def format_best_moves(result: SearchResult, coordinate: Coordinate, numbered: Sequence[int] = ()) -> str:
    """Return the moves as colors and labels with visits, and the best one's win rate for the status bar.

    Points that carry the move number of a variation, `numbered`, keep it instead of a label.
    """
    moves = [move for move in result.candidates if move.visits > 0][:MAX_MOVES]
    points = [(coordinate.convert_to_gtp_format(move.pos), move) for move in moves if move.pos != PASS]
    lines = []
    for color, names in ((BEST_COLOR, [name for name, move in points if move.order == 0]),
                         (OTHER_COLOR, [name for name, move in points if move.order > 0])):
        if names:
            lines.append(f"COLOR {color} {' '.join(names)}")
    if labels := [f"{name} {move.visits}" for name, move in points if move.pos not in numbered]:
        lines.append(f"LABEL {' '.join(labels)}")
    best = result.candidates[0]
    lines.append(f"TEXT {coordinate.convert_to_gtp_format(best.pos)} wins {result.winrate:.1%}, "
                 f"{result.total_visits} visits")
    return "\n".join(lines)


def format_points_in_color(moves: Sequence[int], coordinate: Coordinate) -> str:
    """Return the points among moves as a color, and how many they are for the status bar."""
    names = [coordinate.convert_to_gtp_format(pos) for pos in moves if pos != PASS]
    return f"COLOR {BEST_COLOR} {' '.join(sorted(names))}\nTEXT {len(names)} moves are kept"


def show_live(result: SearchResult, color: Stone, coordinate: Coordinate) -> None:
    """Show a running search: principal variation, visits and win rate."""
    pv = result.candidates[0].pv
    print_err(f"{LIVE_PREFIX}\nVAR {format_variation(pv, color, coordinate)}\n"
              f"{format_best_moves(result, coordinate, pv[:MAX_LINE])}\n")


def clear_live() -> None:
    """Take the graphics of a finished search off GoGui's board."""
    print_err(f"{LIVE_PREFIX} CLEAR")
