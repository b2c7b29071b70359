"""Playouts: the answers they give to an atari, and what they say about finished positions."""
from __future__ import annotations

import pytest

from board.constant import PASS
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
