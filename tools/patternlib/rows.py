"""Games as competitions between moves: for each position the features of all moves, and which one was played.

Letters: R moves of all positions together (rows), P positions, M moves of one game, F columns (COLUMNS).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from board.constant import NO_MOVE, PASS
from board.ladder import LadderWork, find_ladders, new_ladder_work
from board.pattern import pattern_code
from board.rules import is_legal, list_legal_moves, play_recorded
from board.state import BLACK, LAST_MOVE, TO_MOVE, WIDTH, History, State, new_history, new_state, start_history, turn_to
from board.string import set_up_stones
from common.kernel import kernel
from mcts.uct.pattern_features import FEATURES, find_features
from mcts.uct.pattern_table import PATTERN, PLAYOUT, PRIOR, canonical_codes, swap_colors
from mcts.uct.playout_policy import MOST_ANSWERS, list_answers, place_around
from mcts.uct.playout_rules import ANSWER_VALUES, NEAR_VALUES
from sgf.collection import Kifu

# The columns of a row: first the pattern, then the features of the tree's moves, then those of the playouts'.
COLUMNS = 1 + len(FEATURES) + 3
ANSWER, NEAR_LAST, NEAR_PREVIOUS = range(1 + len(FEATURES), COLUMNS)

Column = tuple[int, str, tuple[str, ...]]  # its number, feature and values; none for the pattern's, which are codes

PATTERN_COLUMN: Column = (0, PATTERN, ())
PARTS: dict[str, tuple[Column, ...]] = {
    PLAYOUT: (PATTERN_COLUMN, (ANSWER, "answer", tuple(ANSWER_VALUES[kind] for kind in sorted(ANSWER_VALUES))),
              (NEAR_LAST, "last", NEAR_VALUES), (NEAR_PREVIOUS, "previous", NEAR_VALUES)),
    PRIOR: (PATTERN_COLUMN, *((i, name, values) for i, (name, values) in enumerate(FEATURES.items(), 1))),
}


class Rows(NamedTuple):
    """The moves of many positions."""

    features: np.ndarray  # uint16 [R, F]
    start: np.ndarray  # int64 [P + 1]: the first row of each position, and the end of the last one
    played: np.ndarray  # int64 [P]: the row of the move that was played


class GameWork(NamedTuple):
    """Work space for one size of board."""

    state: State
    history: History
    ladders: LadderWork
    legal: np.ndarray  # int32 [S*S]
    levels: np.ndarray  # int32 [F]
    points: np.ndarray  # int16 [K]: answers
    kinds: np.ndarray  # int16 [K]
    codes: np.ndarray  # uint16 [65536, 2]: each code as Black and as White sees it, the least of its symmetries


def new_game_work(board_size: int, moves: int) -> GameWork:
    """Return work space for games of up to so many moves."""
    canonical = canonical_codes()
    seen = np.stack([canonical, canonical[swap_colors(np.arange(len(canonical)))]], axis=1).astype(np.uint16)
    return GameWork(new_state(board_size), new_history(moves + 2), new_ladder_work(board_size),
                    np.zeros(board_size**2, dtype=np.int32), np.zeros(len(FEATURES), dtype=np.int32),
                    np.zeros(MOST_ANSWERS, dtype=np.int16), np.zeros(MOST_ANSWERS, dtype=np.int16), seen)


@kernel
def describe_moves(work: GameWork, previous: int, color: int, out: np.ndarray) -> int:
    """Write a row for each legal move that fills no own eye to out [R, F] and return how many. Modifies work, out."""
    state, width = work.state, work.state.info[WIDTH]
    find_ladders(state, work.ladders)
    count = list_legal_moves(state, work.history, color, False, False, work.legal)
    answers = list_answers(state, previous, work.points, work.kinds)
    for i in range(count):
        pos = work.legal[i]
        find_features(state, previous, work.ladders, pos, color, work.levels)
        out[i, 0] = work.codes[pattern_code(state, pos), color - 1]
        for k in range(len(work.levels)):
            out[i, 1 + k] = work.levels[k]
        out[i, ANSWER] = 0
        for k in range(answers):
            if work.points[k] == pos:
                out[i, ANSWER] = work.kinds[k]
        out[i, NEAR_LAST] = place_around(pos, state.info[LAST_MOVE], width)
        out[i, NEAR_PREVIOUS] = place_around(pos, previous, width)
    return count


@kernel
def describe_game(
    work: GameWork, moves: np.ndarray, colors: np.ndarray, features: np.ndarray, start: np.ndarray,
    played: np.ndarray,
) -> int:
    """Write the rows of a game, whose set-up is in work, and return how many positions they are of.

    Positions where a pass or an own eye was played have no rows, nor has what comes after an illegal move. Modifies
    work and the last three arrays.
    """
    count, row, previous = 0, 0, NO_MOVE
    for n in range(len(moves)):
        pos, color = moves[n], colors[n]
        if not is_legal(work.state, pos, color):
            break
        turn_to(work.state, color)
        if pos != PASS:
            rows = describe_moves(work, previous, color, features[row:])
            for i in range(rows):
                if work.legal[i] == pos:
                    start[count], played[count] = row, row + i
                    count += 1
                    row += rows
        previous = work.state.info[LAST_MOVE]
        play_recorded(work.state, work.history, pos, color)
    start[count] = row
    return count


def collect_rows(games: Iterable[Kifu]) -> Rows:
    """Return the rows of some games of one size of board."""
    works: dict[int, GameWork] = {}
    features, starts, played, rows = [], [np.zeros(1, dtype=np.int64)], [], 0
    for game in games:
        size, moves = game.size, len(game.pos)
        work = works.get(size)
        if work is None or len(work.history.pos) < moves + 2:
            work = works[size] = new_game_work(size, 2 * moves)
        work.state.buffer[:] = new_state(size).buffer
        set_up_stones(work.state, game.setup_pos, game.setup_color)
        work.state.info[TO_MOVE] = BLACK
        start_history(work.history, work.state)
        room = np.zeros((moves * size**2, COLUMNS), dtype=np.uint16)
        start, choice = np.zeros(moves + 1, dtype=np.int64), np.zeros(moves, dtype=np.int64)
        count = describe_game(work, game.pos, game.color, room, start, choice)
        features.append(room[: start[count]].copy())
        starts.append(start[1 : count + 1] + rows)
        played.append(choice[:count] + rows)
        rows += int(start[count])
    if not played:
        return Rows(np.zeros((0, COLUMNS), dtype=np.uint16), starts[0], np.zeros(0, dtype=np.int64))
    return Rows(np.concatenate(features), np.concatenate(starts), np.concatenate(played))
