"""Area scoring by flood fill, life by Benson's theorem, dead stones by playouts."""
from __future__ import annotations

import random

import numpy as np
import pytest

from board.benson import find_owners, find_pass_alive, new_area_work
from board.go_board import GoBoard
from board.playout import playout_ownership
from board.score import get_area
from board.stone import Stone
from tests.board.test_random_games import choose
from tests.reference.slow_board import OTHER
from tests.reference.twins import STONES, Twins


def walls(black: str, white: str, size: int = 9) -> GoBoard:
    """Return a board with full columns of stones."""
    board = GoBoard(board_size=size)
    columns = "ABCDEFGHJ"
    board.set_up([board.POS(columns.index(c) + 1, y) for c in black for y in range(1, size + 1)],
                 [board.POS(columns.index(c) + 1, y) for c in white for y in range(1, size + 1)])
    return board


@pytest.mark.plain
@pytest.mark.parametrize(("black", "white", "score"), [
    ("D", "F", 0), ("F", "G", 27), ("E", "", 81), ("", "E", -81), ("", "", 0), ("B", "H", 0), ("AC", "E", -18),
    ("BE", "", 81), ("C", "D", -27), ("D", "C", 27),
])
def test_walls_are_counted_by_a_fill_that_floods(black: str, white: str, score: int) -> None:
    assert walls(black, white).count_score() == score


@pytest.mark.plain
@pytest.mark.parametrize("size", [2, 9, 19])
def test_one_stone_owns_the_whole_board(size: int) -> None:
    for color, sign in ((Stone.BLACK, 1), (Stone.WHITE, -1)):
        board = GoBoard(board_size=size)
        board.put_stone(board.POS(1, 2), color)
        assert board.count_score() == sign * size * size


@pytest.mark.plain
@pytest.mark.parametrize("komi", [7.0, 7.5, 0.0, -3.5, 6.0])
def test_the_final_score_subtracts_komi(komi: float) -> None:
    board = walls("F", "G")
    board.set_komi(komi)
    assert board.get_komi() == komi and board.final_score([]) == 27 - komi
    assert board.count_score() == 27


@pytest.mark.plain
def test_dead_stones_are_taken_off_before_counting() -> None:
    board = walls("F", "G")
    stone = board.POS(2, 5)
    board.put_stone(stone, Stone.WHITE)
    assert board.count_score() == 9 - 27 - 1  # alive, it makes the left side neutral
    assert board.final_score([stone]) == 27 - 7.0
    assert board.board[stone] is Stone.WHITE
    with pytest.raises(TypeError, match="NoneType"):  # to numpy that means all
        board.final_score(None)  # type: ignore[arg-type]


@pytest.mark.plain
def test_a_stone_in_atari_stays_on_the_board() -> None:
    twins = Twins.from_diagram("""
        X O . . .
        . O . . .
        O O . . .
        . . . . .
        . . . . .
    """)
    assert len(twins.slow.liberties((1, 1))) == 1
    assert twins.fast.count_score() == twins.slow.area_score() == 1 - 23


@pytest.mark.plain
def test_owners_name_every_point() -> None:
    twins = Twins.from_diagram("""
        . X . O .
        X X . O .
        . X . O .
        . X . O O
        . X . O .
    """)
    owner = get_area(twins.fast.state)[1]
    slow = twins.slow.owners()
    assert [int(owner[twins.pos(p)]) for p in twins.slow.points] == [int(STONES[slow[p]]) for p in twins.slow.points]


TWO_EYES = """
. X . X O . .
X X X X O . .
O O O O O . .
. . . . . . .
. . . . . . .
. . . . . . .
. . . . . . .
"""
ONE_BIG_EYE = """
. . . X O . .
X X X X O . .
O O O O O . .
. . . . . . .
. . . . . . .
. . . . . . .
. . . . . . .
"""
SEKI = """
X X . O O O .
X . X O . O .
O O X O . O .
. O X X O O .
. O O X X X .
. . O O O X .
. . . . O X .
"""


def pass_alive(twins: Twins, color: str) -> set[tuple[int, int]]:
    """Return the pass-alive stones as the fast board sees them."""
    mask = find_pass_alive(twins.fast.state, int(STONES[color]))[0]
    return {twins.point(int(pos)) for pos in np.flatnonzero(mask)}


@pytest.mark.plain
@pytest.mark.parametrize(("diagram", "black_alive"), [(TWO_EYES, 6), (ONE_BIG_EYE, 0), (SEKI, 0)])
def test_two_eyes_live_and_one_eye_does_not(diagram: str, black_alive: int) -> None:
    twins = Twins.from_diagram(diagram)
    assert len(pass_alive(twins, "b")) == black_alive
    for color in "bw":
        assert pass_alive(twins, color) == twins.slow.pass_alive(color)


@pytest.mark.plain
def test_a_pass_alive_region_is_territory() -> None:
    twins = Twins.from_diagram(TWO_EYES)
    territory = find_pass_alive(twins.fast.state, 1)[1]
    assert {twins.point(int(pos)) for pos in np.flatnonzero(territory)} == {(1, 1), (3, 1)}


def safe_area(twins: Twins) -> dict[tuple[int, int], Stone]:
    """Return who owns each point, dead stones in pass-alive regions taken off, as the fast board sees it."""
    owner = np.full(len(twins.fast.state.stones), 9, dtype=np.int8)
    find_owners(twins.fast.state, new_area_work(twins.size), owner)
    return {point: Stone(int(owner[twins.pos(point)])) for point in twins.slow.points}


@pytest.mark.plain
def test_a_stone_that_cannot_live_in_a_pass_alive_region_is_taken_off() -> None:
    twins = Twins.from_diagram("""
        . X O X . . .
        X X . X O . .
        X . X X O . .
        X X X O O . .
        O O O O . O O
        . . . . O . O
        . . . . O O .
    """)
    owner = safe_area(twins)
    assert owner[3, 1] is Stone.BLACK and owner[5, 1] is Stone.EMPTY and owner[6, 6] is Stone.WHITE
    assert owner == {point: STONES[color] for point, color in twins.slow.safe_area().items()}


@pytest.mark.parametrize("size", [3, 4, 5, 6, 9])
def test_benson_equals_its_twin_in_random_games(size: int) -> None:
    rng = random.Random(size)
    twins, color, met, differ = Twins(size), "b", 0, 0
    for number in range(4 * size * size):
        twins.play(choose(twins, color, rng), color)
        color = OTHER[color]
        if number % (1 + size // 3) == 0:
            for side in "bw":
                expected = twins.slow.pass_alive(side)
                assert pass_alive(twins, side) == expected
                met += bool(expected)
            owners = twins.slow.safe_area()
            assert safe_area(twins) == {point: STONES[color] for point, color in owners.items()}
            differ += owners != twins.slow.owners()
    assert met and differ


DEAD = [
    # A lone white stone deep in Black's area, and nothing else.
    ("""
     . X . . . X . O .
     X X X X X X X O .
     . . . . . . X O O
     . . O . . . X O .
     . . . . . . X O .
     X X X . . . X O O
     . . X X X X X O .
     . . . . . . X O .
     . . . . . . X O .
     """, {"C6"}),
    # Both live: nothing is dead.
    ("""
     . X . X X O . O .
     X X X X X O O O O
     . X X X X O . O O
     X X X X X O O O O
     X . X . X O . O .
     X X X X X O O O O
     X X X X X O O O O
     X . X X X O O O .
     X X . X X O O . O
     """, set()),
]


@pytest.mark.parametrize(("diagram", "dead"), DEAD)
def test_dead_stones_are_found_by_playouts(diagram: str, dead: set[str]) -> None:
    twins = Twins.from_diagram(diagram)
    board = twins.fast
    found = board.get_dead_stones(seed=1)
    assert {board.coordinate.convert_to_gtp_format(pos) for pos in found} == dead
    assert found == board.get_dead_stones(seed=1)
    twins.compare()  # nothing was changed


def test_playouts_know_who_owns_what() -> None:
    twins = Twins.from_diagram(DEAD[0][0])
    ownership = playout_ownership(twins.fast.state, 100, np.random.Generator(np.random.PCG64(3)))
    assert ownership[twins.pos((7, 5))] > 0.9 and ownership[twins.pos((9, 5))] < -0.9
    assert np.all(np.abs(ownership) <= 1) and ownership[0] == 0
