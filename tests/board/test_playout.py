"""Playouts: the answers they give to an atari, and what they say about finished positions."""
from __future__ import annotations

from collections.abc import Iterator

import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.playout import find_answer, find_dead_stones
from board.stone import Stone
from engine.move_choice import PassRule
from tests.reference.twins import Twins

# Neither side can begin to capture: to two people both are alive.
SEKIS = {
    "two shared liberties": """
        . . . . . . . . .
        . X . . . X . . .
        . . . . . . . . .
        . . . . . X . . .
        . . X . . . . . .
        X X X X X X . X .
        O O O O O X . . .
        . X X X O X . X .
        X X X . O X . . .
    """,
    "two shared liberties along the edge": """
        . . . . . . . . .
        . X . . . X . . .
        . . . . . . . . .
        . . . . . X . . .
        . . X . . . . . .
        X X X X X X X X X
        O O O O O O O X .
        . X X X X X O X X
        X X X X X . O X .
    """,
    "one eye each": """
        . . . . . . . . .
        . X . . . X . . .
        . . . . . . . . .
        . . X . . X . . .
        X X X X X X X X .
        O O O O O O O X .
        O . O X X X O X .
        O O O X . X O X .
        O . X X X . O X .
    """,
}
# What people take off without playing it out, from games between GNU Go and itself.
DEAD = [
    ("""
     . . . . X . O X X
     . O X O O O O O X
     . . O X X O O X X
     . . O X O O X X O
     . . O X O X . X .
     . . O X X X . . .
     . X O O X . X . .
     . . O X X X O . .
     . O O O X X . . .
     """, "E9 C8 J6 B3 G2"),
    ("""
     . O . . . X . . X
     . . . . . . O . .
     . . . . O . X . .
     O O O O X O O . .
     O X O X X X O O .
     O X X . X . X O .
     X X . . . X X O O
     O . . . . X O X X
     . . . X . . . . .
     """, "F9 J9 G7 A2 G2"),
    ("""
     X . . . . . . . .
     . O X . . . X X X
     . . . X X . X . X
     X X X O O X . X O
     X O O O X . X O O
     X O . O X . X O .
     X O O O X X X O O
     X O . O X X O O .
     O O O O X X O . O
     """, "B8"),
]

# Last positions of games, and what is dead there. Sekis that a throw-in of two stones would not end, for who captures
# these takes a liberty of the large string beside them.
STANDING_OFF = [
    ("""
     X X . X X O O X .
     . X X X X O X X O
     X X X X O O . O .
     . . . X X O O O O
     . X . X O O X X O
     . . . . X O O X O
     . . X . X X X X X
     X . X X . X . . .
     . X X X X . X . .
     """, ""),
    ("""
     . O O . X O O X .
     X O X X X O X . X
     . X X O X O X X .
     X X O O O O X . .
     O O O O O X . . .
     . O O X X X X X .
     O . O X . X . X .
     O O X X . X . . X
     . O X X . . X . X
     """, ""),
    ("""
     . . . O O X . X .
     . O O O X X X O O
     O O O O O X . O X
     X O X O X X X X X
     X X X O O X O O O
     . . X O X X X X O
     . . X O O X O O O
     . X . X O O O . O
     . . X X X O . O .
     """, ""),
]
# Strings that only seem to stand off: a move beforehand ends it, at D9 by connecting what would be lost at B9, at G4 by
# putting into atari what keeps Black out of the false eye at G2.
NO_SEKIS = [
    ("""
     X . O . O X X . X
     . X X O O O X X .
     X X O O O X . . .
     O X O O X . X X X
     O O O O X X X . .
     O O O X X O O X X
     O . O X X O O X O
     . O O X O O . O O
     . O X X X O O . O
     """, "A9 B8 C8 A7 B7 B6"),
    ("""
     . O O O O O O O O
     O O O . O O O X O
     O O . O O O X X X
     O . O O O X X . X
     O O O X O X X X O
     O O O X X X . X O
     O X X X O X O X O
     X O . X O O . O O
     X X X X O O O O .
     """, "J5 J4 E3 G3 J3 B2 E2 F2 H2 J2 E1 F1 G1 H1"),
]


def turn_every_way(diagram: str) -> Iterator[list[str]]:
    """Yield the cells of a diagram, row by row, through the 8 symmetries and with both colors."""
    rows = [line.split() for line in diagram.strip().splitlines()]
    for _ in range(4):
        rows = [list(column) for column in zip(*rows[::-1], strict=True)]
        for turned in (rows, [row[::-1] for row in rows]):
            cells = [cell for row in turned for cell in row]
            yield cells
            yield [{"X": "O", "O": "X", ".": "."}[cell] for cell in cells]


def points(twins: Twins, names: str) -> list[int]:
    return sorted(twins.fast.coordinate.convert_from_gtp_format(name) for name in names.split())


@pytest.mark.parametrize("name", SEKIS)
@pytest.mark.parametrize("seed", [0, 1])
def test_both_sides_of_a_seki_are_alive(name: str, seed: int) -> None:
    twins = Twins.from_diagram(SEKIS[name])
    assert find_dead_stones(twins.fast.state, seed) == []


@pytest.mark.parametrize(("diagram", "dead"), DEAD)
@pytest.mark.parametrize("seed", [0, 1])
def test_stones_left_in_territory_are_dead(diagram: str, dead: str, seed: int) -> None:
    twins = Twins.from_diagram(diagram)
    assert find_dead_stones(twins.fast.state, seed) == points(twins, dead)
    twins.compare()  # nothing was changed


@pytest.mark.parametrize(("diagram", "dead"), STANDING_OFF + NO_SEKIS)
def test_a_seki_is_told_from_what_looks_like_one(diagram: str, dead: str) -> None:
    size = len(diagram.strip().splitlines())
    names = set(dead.split())
    letters = "ABCDEFGHJ"
    marked = [[f"{letters[x]}{size - y}" in names for x in range(size)] for y in range(size)]
    marks = "\n".join(" ".join("X" if mark else "." for mark in row) for row in marked)
    for cells, dead_cells in zip(turn_every_way(diagram), turn_every_way(marks), strict=True):
        board = GoBoard(size)
        stones = list(zip(board.onboard_pos, cells, strict=True))
        board.set_up([pos for pos, cell in stones if cell == "X"], [pos for pos, cell in stones if cell == "O"])
        expected = [pos for pos, cell in zip(board.onboard_pos, dead_cells, strict=True) if cell != "."]
        assert find_dead_stones(board.state) == expected


ANSWERS = [
    # The stone just played is in atari: it is captured.
    ("""
     . . . . .
     . . O . .
     . O . . .
     . . O . .
     . . . . .
     """, "C3", "D3"),
    # The last move puts C4 into atari, which gains liberties at C3.
    ("""
     . . X . .
     . X O . .
     . . . . .
     . . . . .
     . . . . .
     """, "D4", "C3"),
    # B5 has no room, but what surrounds it can be captured.
    ("""
     . O . . .
     O X . . .
     . O . . .
     . . . . .
     . . . . .
     """, "C5", "C4"),
    # C1 would still be in atari after C2: it is given up.
    ("""
     . . . . .
     . . . . .
     . . . . .
     . X . X .
     . X O . .
     """, "D1", None),
    # Nothing is in atari.
    ("""
     . . . . .
     . O . . .
     . . . . .
     . . . . .
     . . . . .
     """, "D2", None),
]


@pytest.mark.plain
@pytest.mark.parametrize(("diagram", "black", "answer"), ANSWERS)
def test_an_atari_is_answered(diagram: str, black: str, answer: str | None) -> None:
    twins = Twins.from_diagram(diagram)
    twins.play(twins.point(points(twins, black)[0]), "b")
    expected = PASS if answer is None else points(twins, answer)[0]
    assert int(find_answer(twins.fast.state, int(Stone.WHITE))) == expected
    twins.compare()  # nothing was changed


@pytest.mark.parametrize(("diagram", "dead"), DEAD)
def test_a_pass_wins_by_every_count(diagram: str, dead: str) -> None:
    """With the stones off that final_score takes off, and with all of them on the board."""
    board = Twins.from_diagram(diagram).fast
    board.put_stone(PASS, Stone.BLACK)
    score = board.final_score(board.get_dead_stones())
    assert score == board.final_score(points(Twins.from_diagram(diagram), dead))
    for color, sign in ((Stone.BLACK, 1), (Stone.WHITE, -1)):
        for komi in (-80.5, 80.5, board.komi):
            board.set_komi(komi)
            lead = min(sign * board.final_score(board.get_dead_stones()), sign * board.final_score([]))
            other = board.copy()
            other.put_stone(PASS, Stone.get_opponent_color(color))
            rule = PassRule(other, color, all_alive=False)
            assert rule.lead == lead and rule.wins_now == (lead > 0) and rule.is_bad == (lead < 0)
