"""Handicap placements."""
import subprocess

import pytest

from board.go_board import GoBoard
from board.handicap import get_fixed_handicap, get_free_handicap
from board.stone import Stone
from tests.reference.twins import Twins

TABLE = {
    (9, 2): "C3 G7", (9, 3): "C3 G7 C7", (9, 4): "C3 G7 C7 G3", (9, 5): "C3 G7 C7 G3 E5",
    (9, 6): "C3 G7 C7 G3 C5 G5", (9, 7): "C3 G7 C7 G3 C5 G5 E5", (9, 8): "C3 G7 C7 G3 C5 G5 E3 E7",
    (9, 9): "C3 G7 C7 G3 C5 G5 E3 E7 E5",
    (11, 5): "C3 J9 C9 J3 F6", (13, 3): "D4 K10 D10", (13, 9): "D4 K10 D10 K4 D7 K7 G4 G10 G7",
    (15, 6): "D4 M12 D12 M4 D8 M8", (17, 5): "D4 O14 D14 O4 J9", (19, 2): "D4 Q16", (19, 4): "D4 Q16 D16 Q4",
    (19, 8): "D4 Q16 D16 Q4 D10 Q10 K4 K16", (19, 9): "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10",
    (7, 4): "C3 E5 C5 E3", (8, 4): "C3 F6 C6 F3", (10, 2): "C3 H8", (12, 4): "C3 K10 C10 K3", (18, 4): "D4 P15 D15 P4",
}


def largest_fixed(size: int) -> int:
    """Return how many fixed stones GTP 2 section 4.1.1 allows (0: none at all)."""
    if size < 7:
        return 0
    return 9 if size >= 9 and size % 2 else 4


def names(size: int, positions: list[int]) -> set[str]:
    coordinate = GoBoard(board_size=size).coordinate
    return {coordinate.convert_to_gtp_format(pos) for pos in positions}


@pytest.mark.plain
@pytest.mark.parametrize(("size", "stones"), TABLE)
def test_fixed_handicap_follows_the_table(size: int, stones: int) -> None:
    placed = get_fixed_handicap(size, stones)
    assert len(placed) == stones and names(size, placed) == set(TABLE[size, stones].split())


@pytest.mark.plain
@pytest.mark.parametrize("size", range(2, 20))
def test_fixed_handicap_refuses_what_gtp_does_not_know(size: int) -> None:
    for stones in range(-1, 12):
        if 2 <= stones <= largest_fixed(size):
            assert len(set(get_fixed_handicap(size, stones))) == stones
        else:
            with pytest.raises(ValueError, match=str(stones)):
                get_fixed_handicap(size, stones)


# GNU Go puts 12x12's stones on the fourth line; GTP 2 section 4.1.1 says the third for boards smaller than 13.
@pytest.mark.parametrize("size", [size for size in range(7, 20) if size != 12])
def test_fixed_handicap_equals_gnu_go(size: int, gnugo: str) -> None:
    counts = range(2, largest_fixed(size) + 1)
    commands = [f"boardsize {size}"] + [f"clear_board\nfixed_handicap {n}" for n in counts] + ["quit", ""]
    result = subprocess.run(
        [gnugo, "--mode", "gtp"], input="\n".join(commands), capture_output=True, text=True, timeout=60, check=True
    )
    replies = [reply[1:].split() for reply in result.stdout.split("\n\n") if reply[1:].split()]
    assert [set(reply) for reply in replies] == [names(size, get_fixed_handicap(size, n)) for n in counts]


@pytest.mark.plain
@pytest.mark.parametrize("size", range(2, 20))
def test_free_handicap_gives_the_stones_asked_for(size: int) -> None:
    for stones in sorted({2, 3, 4, 5, 9, 13, 25, size * size // 2, size * size - 1}):
        if not 2 <= stones < size * size:
            continue
        placed = get_free_handicap(size, stones)
        assert len(placed) == len(set(placed)) == stones
        board = GoBoard(board_size=size)
        for pos in placed:
            board.put_handicap_stone(pos, Stone.BLACK)
        assert board.get_to_move() is Stone.WHITE


@pytest.mark.plain
@pytest.mark.parametrize(("size", "stones"), [(9, 1), (9, 0), (9, -3), (9, 81), (9, 1000), (2, 4)])
def test_free_handicap_refuses_impossible_numbers(size: int, stones: int) -> None:
    with pytest.raises(ValueError, match=str(stones)):
        get_free_handicap(size, stones)


@pytest.mark.plain
def test_white_moves_after_handicap_stones() -> None:
    twins = Twins(9)
    stones = get_fixed_handicap(9, 4)
    for pos in stones:
        twins.fast.put_handicap_stone(pos, Stone.BLACK)
    twins.slow.set_stones([twins.point(pos) for pos in stones], [])
    twins.compare()
    assert twins.fast.get_to_move() is Stone.WHITE
    assert twins.fast.moves == 1 and list(twins.fast.get_handicap_history()) == stones
    assert list(twins.fast.get_move_history()) == []
    twins.play((5, 5), "w")
    assert twins.fast.get_to_move() is Stone.BLACK


@pytest.mark.plain
def test_free_handicap_is_spread_out_from_all_stones() -> None:
    points = [divmod(pos, 11) for pos in get_free_handicap(9, 14)]
    inside = range(1, 10)
    for count in range(9, len(points)):
        room = {(y, x): min(abs(y - row) + abs(x - column) for row, column in points[:count])
                for y in inside for x in inside}
        assert room[points[count]] == max(room.values())


@pytest.mark.plain
@pytest.mark.parametrize("size", range(5, 20))
def test_free_handicap_wastes_no_stone_at_the_edge(size: int) -> None:
    many = (10, 16, 25, 30) if size >= 13 else ()
    for stones, least in [(count, 2) for count in range(2, 10)] + [(count, 3) for count in many]:
        lines = [min(*divmod(pos, size + 2), *(size + 1 - place for place in divmod(pos, size + 2)))
                 for pos in get_free_handicap(size, stones)]
        assert min(lines) >= least, (stones, lines)
