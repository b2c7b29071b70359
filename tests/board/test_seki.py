"""Which strings of a finished game are in seki, told from those that merely border neutral points."""
from __future__ import annotations

import subprocess

import pytest

from board.playout import find_dead_stones
from board.seki import find_seki_stones
from board.stone import Stone
from tests.board.test_playout import DEAD, SEKIS
from tests.board.test_score import walls
from tests.reference.twins import Twins

# The last position of a game: White won by 2, for Black's three stones at the lower right and White's beside them
# share their last two liberties.
SMALL_SEKI = """
. O O X . . . . .
. O X X . . . . .
. . O X X X X X .
. . O X . . X . X
. . O O X X O X X
. O O X X O O O X
. . O X O O . O O
O O X X X O X X X
X X X O O O O O .
"""


def test_a_few_stones_that_nobody_can_take_are_alive() -> None:
    """In playouts their owner puts them into atari, since they are few."""
    board = Twins.from_diagram(SMALL_SEKI).fast
    assert find_dead_stones(board.state, 0) == [] and board.count_score() == 5
    stones = {board.coordinate.convert_to_gtp_format(pos) for pos in find_seki_stones(board, [])}
    assert {"G2", "H2", "J2", "D1", "H1"} <= stones


@pytest.mark.parametrize("name", SEKIS)
def test_both_groups_of_a_seki_and_nothing_else(name: str) -> None:
    board = Twins.from_diagram(SEKIS[name]).fast
    stones = find_seki_stones(board, [])
    colors = [board.board[pos] for pos in stones]
    assert {Stone.BLACK, Stone.WHITE} == set(colors)
    white = [pos for pos in board.onboard_pos if board.board[pos] == Stone.WHITE]
    assert [pos for pos in stones if board.board[pos] == Stone.WHITE] == white
    outside = [pos for pos in board.onboard_pos if board.board[pos] == Stone.BLACK and pos // board.POS(0, 1) <= 4]
    assert outside and not set(outside) & set(stones)


@pytest.mark.parametrize(("diagram", "_"), DEAD)
def test_a_finished_game_without_a_seki(diagram: str, _: str) -> None:
    board = Twins.from_diagram(diagram).fast
    assert find_seki_stones(board, find_dead_stones(board.state, 0)) == []


def test_neutral_points_between_territories_are_no_seki() -> None:
    assert find_seki_stones(walls("D", "F"), []) == []


def test_two_stones_on_an_empty_board_are_no_seki() -> None:
    board = walls("", "")
    board.put_stone(board.POS(3, 3), Stone.BLACK)
    board.put_stone(board.POS(7, 7), Stone.WHITE)
    assert find_seki_stones(board, []) == []


@pytest.mark.parametrize("diagram", [*SEKIS.values(), *(diagram for diagram, _ in DEAD)])
def test_gnu_go_calls_the_same_stones_seki(gnugo: str, diagram: str) -> None:
    board = Twins.from_diagram(diagram).fast
    names = {pos: board.coordinate.convert_to_gtp_format(pos) for pos in board.onboard_pos}
    plays = [f"play {board.board[pos].name} {name}" for pos, name in names.items() if board.board[pos] != Stone.EMPTY]
    commands = [f"boardsize {board.board_size}", "clear_board", *plays, "final_status_list seki", "quit"]
    result = subprocess.run([gnugo, "--mode", "gtp", "--chinese-rules"], input="\n".join(commands) + "\n",
                            capture_output=True, text=True, timeout=300)
    theirs = result.stdout.split("\n\n")[-3].removeprefix("=").split()
    assert set(theirs) == {names[pos] for pos in find_seki_stones(board, find_dead_stones(board.state, 0))}


ROOM = """
. . X O O
. . X O O
X X X O O
X X X . O
X X X . O
"""


DEAD_STONE_IN_THE_ROOM = """
X X X . O
X X X . O
O X X O O
. X X O O
. X X O O
"""


@pytest.mark.parametrize(("diagram", "dead"), [(ROOM, []), (DEAD_STONE_IN_THE_ROOM, ["A3"])])
def test_a_group_with_room_for_two_eyes_is_in_no_seki(diagram: str, dead: list[str]) -> None:
    board = Twins.from_diagram(diagram).fast
    assert find_seki_stones(board, [board.coordinate.convert_from_gtp_format(name) for name in dead]) == []
