"""What genmove says on stderr about its search."""

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from common.print_console import print_err
from engine.move_choice import Choice
from mcts.analysis import CandidateMove, SearchResult


def format_candidate(board: GoBoard, move: CandidateMove) -> str:
    """Return the line of one candidate move."""
    to_gtp = board.coordinate.convert_to_gtp_format
    value = 0.0 if move.raw_value is None else move.raw_value
    return (f"pos={to_gtp(move.pos)}, visits={move.visits:5d}, policy={move.prior:.4f}, value={move.winrate:.4f}, "
            f"raw_value={value:.4f}, pv={','.join(to_gtp(pos) for pos in move.pv)}")


def format_choice(board: GoBoard, choice: Choice, color: Stone) -> str:
    """Return one line about a decision."""
    to_gtp = board.coordinate.convert_to_gtp_format
    line = " ".join(to_gtp(pos) for pos in choice.pv or (choice.pos,))
    move = f"{color.name.lower()} {to_gtp(choice.pos)}"
    return f"{move}: win rate {choice.winrate:.1%}, {choice.visits} visits, {line}"


def format_speed(seconds: float, visits: int) -> str:
    """Return the last line: time and visits per second."""
    return f"{seconds:.2f} seconds, {visits / seconds if seconds > 0 else 0.0:.2f} visits/s"


def report_raw_value(raw_value: float) -> None:
    """Print the network's win rate of the position."""
    print_err(f"raw_value={raw_value:.4f}")


def report_search(board: GoBoard, result: SearchResult) -> None:
    """Print the network's win rate of the position and a line for each visited move in board order, PASS last."""
    report_raw_value(result.raw_value)
    visited = [move for move in result.candidates if move.visits > 0]
    lines = [format_candidate(board, move) for move in sorted(visited, key=lambda m: (m.pos == PASS, m.pos))]
    if lines:
        print_err("\n".join(lines))
    if result.tree_is_full:
        print_err("Note: the search tree is full")
