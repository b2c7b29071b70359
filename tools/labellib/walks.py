"""Walks through games, many at a time: along their moves, or along moves that are drawn from policies.

Letters: G games, N of them that go on, W words of State.buffer, K positions that a network looks back, L moves of the
longest game, A = S*S + 1 policy entries.
"""

from typing import NamedTuple

import numpy as np

from board.constant import PASS
from board.random_state import new_random_state, next_random
from board.rules import is_complete_eye, list_legal_moves, play_recorded
from board.state import (
    PASSES,
    TO_MOVE,
    History,
    State,
    clear_state,
    copy_words,
    history_of,
    new_state,
    start_history,
)
from board.string import set_up_stones
from common.kernel import kernel
from nn.feature import Positions, remember, take_position


class Walks(NamedTuple):
    """Where some games stand."""

    position: np.ndarray  # uint64 [G, W]
    past: np.ndarray  # uint64 [G, K, W]
    history: History  # arrays [G, L + 1]
    random_state: np.ndarray  # uint64 [G, 1]


class Draw(NamedTuple):
    """How the moves of N games are drawn."""

    policy: np.ndarray  # float32 [N, A], 0 for illegal moves
    temperature: np.ndarray  # float64 [N]
    cutoff: np.ndarray  # float64 [N]: moves with less than this share of the best one's probability are not drawn


def new_walks(count: int, board_size: int, looks_back: int, longest: int, rng: np.random.Generator) -> Walks:
    """Return so many games that have just begun, each with random numbers of its own."""
    state = new_state(board_size)
    history = History(np.zeros((count, longest + 1), dtype=np.int16), np.zeros((count, longest + 1), dtype=np.int8),
                      np.zeros((count, longest + 1), dtype=np.uint64), np.ones((count, 1), dtype=np.int32))
    history.hash[:, 0] = state.hash[0]  # the start position, as start_history writes it
    return Walks(np.tile(state.buffer, (count, 1)), np.tile(state.buffer, (count, looks_back, 1)), history,
                 np.stack([new_random_state(rng) for _ in range(count)]))


@kernel
def set_up_walk(walks: Walks, g: int, state: State, board_size: int, stones: np.ndarray, colors: np.ndarray,
                to_move: int) -> None:
    """Begin a game with stones on the board. Modifies walks and state."""
    clear_state(state, board_size)
    set_up_stones(state, stones, colors)
    state.info[TO_MOVE] = to_move
    start_history(history_of(walks.history, g), state)
    copy_words(walks.position[g], state.buffer)
    for age in range(walks.past.shape[1]):
        copy_words(walks.past[g, age], state.buffer)


@kernel
def show_walks(walks: Walks, rows: np.ndarray, state: State, positions: Positions) -> None:
    """Keep the positions of the games `rows` [N] as number 0, 1, ... Modifies state and positions."""
    for n in range(len(rows)):
        copy_words(state.buffer, walks.position[rows[n]])
        take_position(positions, n, state, history_of(walks.history, rows[n]), walks.past[rows[n]])


@kernel
def read_policies(walks: Walks, rows: np.ndarray, state: State, logits: np.ndarray, index: np.ndarray,
                  legal: np.ndarray, policy: np.ndarray) -> None:
    """Write the softmax of logits [N, A] over the legal moves of the games `rows` to policy [N, A].

    index [C] is the policy entry of each pos. Modifies state, legal (int32 [S*S]) and policy.
    """
    for n in range(len(rows)):
        copy_words(state.buffer, walks.position[rows[n]])
        count = list_legal_moves(state, history_of(walks.history, rows[n]), state.info[TO_MOVE], True, True, legal)
        best = logits[n, index[PASS]]
        for i in range(count):
            best = max(best, logits[n, index[legal[i]]])
        policy[n] = 0.0
        policy[n, index[PASS]] = np.exp(logits[n, index[PASS]] - best)
        total = policy[n, index[PASS]]
        for i in range(count):
            entry = index[legal[i]]
            policy[n, entry] = np.exp(logits[n, entry] - best)
            total += policy[n, entry]
        for entry in range(len(policy[n])):
            policy[n, entry] /= total


@kernel
def draw_move(state: State, policy: np.ndarray, temperature: float, cutoff: float, policy_pos: np.ndarray,
              random_state: np.ndarray, weight: np.ndarray) -> int:
    """Return a move drawn with weight policy ** (1 / temperature) [A]; the pass when there is no other.

    Own complete eyes are not filled. To pass is no question of taste: its weight stays as it is. Modifies random_state
    and weight [A].
    """
    color, best = state.info[TO_MOVE], 0.0
    for entry in range(len(policy)):
        pos = policy_pos[entry]
        open_to_draw = policy[entry] > 0.0 and (pos == PASS or not is_complete_eye(state, pos, color))
        weight[entry] = policy[entry] if open_to_draw else 0.0
        best = max(best, weight[entry])
    total = 0.0
    for entry in range(len(policy)):
        share = weight[entry] / best if best > 0.0 else 0.0
        if share == 0.0 or share < cutoff:
            weight[entry] = 0.0
        else:
            weight[entry] = share if policy_pos[entry] == PASS else share ** (1.0 / temperature)
        total += weight[entry]
    rest, drawn = next_random(random_state) * total, PASS
    for entry in range(len(policy)):
        if weight[entry] > 0.0:
            drawn = policy_pos[entry]
            rest -= weight[entry]
            if rest < 0.0:
                break
    return drawn


@kernel
def _step(walks: Walks, g: int, state: State, move: int) -> None:
    """Play a move in a game, which has come to `state`. Modifies walks and state."""
    remember(walks.past[g], state)
    play_recorded(state, history_of(walks.history, g), move, state.info[TO_MOVE])
    copy_words(walks.position[g], state.buffer)


@kernel
def walk_along(walks: Walks, rows: np.ndarray, state: State, moves: np.ndarray) -> None:
    """Play moves [N], which are legal, in the games `rows` [N]. Modifies walks and state."""
    for n in range(len(rows)):
        copy_words(state.buffer, walks.position[rows[n]])
        _step(walks, rows[n], state, moves[n])


@kernel
def walk_on(walks: Walks, rows: np.ndarray, state: State, draw: Draw, policy_pos: np.ndarray, weight: np.ndarray,
            over: np.ndarray) -> None:
    """Play a drawn move in each of the games `rows` [N], and write whether it was the second pass to over [N].

    Modifies walks, state, weight [A] and over.
    """
    for n in range(len(rows)):
        g = rows[n]
        copy_words(state.buffer, walks.position[g])
        move = draw_move(state, draw.policy[n], draw.temperature[n], draw.cutoff[n], policy_pos,
                         walks.random_state[g], weight)
        _step(walks, g, state, move)
        over[n] = state.info[PASSES] >= 2
