"""Rules one by one, on drawn positions: captures, suicide, ko, superko, eyes, self-atari, patterns, strings."""
from __future__ import annotations

import pytest

from board.constant import PASS
from board.go_board import GoBoard, IllegalMoveError
from board.pattern import eye_color_of_code
from board.stone import Stone
from tests.reference.twins import STONES, Twins

pytestmark = pytest.mark.plain

KO = """
. X O . .
X . X O .
. X O . .
. . . . .
. . . . .
"""
SEND_TWO_RETURN_ONE = """
. X . X .
O O X X .
. O O X .
. . O X .
. . O X .
"""


def test_ko_may_not_be_retaken_at_once() -> None:
    twins = Twins.from_diagram(KO)
    assert twins.play((2, 2), "w") == {(3, 2)}
    assert twins.fast.ko_pos == twins.pos((3, 2)) and twins.fast.ko_move == 1
    twins.compare()
    assert not twins.fast.is_legal(twins.pos((3, 2)), Stone.BLACK)
    with pytest.raises(IllegalMoveError, match="C4"):
        twins.fast.put_stone(twins.pos((3, 2)), Stone.BLACK)
    assert twins.fast.is_legal(twins.pos((3, 2)), Stone.WHITE)  # filling one's own ko repeats nothing
    twins.play((5, 5), "b")
    twins.play((4, 5), "w")
    assert twins.play((3, 2), "b") == {(2, 2)}
    twins.compare()


@pytest.mark.parametrize("passing", ["b", "w"])
def test_a_pass_lifts_the_ko(passing: str) -> None:
    twins = Twins.from_diagram(KO)
    twins.play((2, 2), "w")
    twins.play(None, passing)
    assert twins.fast.is_legal(twins.pos((3, 2)), Stone.BLACK) and twins.fast.ko_pos == 0
    assert twins.fast.is_superko(twins.pos((3, 2)), Stone.BLACK)  # the position did not change
    twins.compare()


def test_filling_the_ko_ends_it() -> None:
    twins = Twins.from_diagram(KO)
    twins.play((2, 2), "w")
    twins.play((3, 2), "w")
    twins.compare()
    assert twins.fast.ko_pos == 0


def test_sending_two_and_returning_one_is_no_ko_but_a_superko() -> None:
    for check_superko in (False, True):
        twins = Twins.from_diagram(SEND_TWO_RETURN_ONE, check_superko)
        twins.play((1, 1), "b")
        assert twins.play((3, 1), "w") == {(1, 1), (2, 1)}
        back = twins.pos((2, 1))
        assert twins.fast.ko_pos == 0 and twins.fast.is_superko(back, Stone.BLACK)
        assert twins.fast.is_legal(back, Stone.BLACK) is not check_superko
        assert (back in twins.fast.get_all_legal_pos(Stone.BLACK)) is not check_superko
        twins.compare()
        twins.play((5, 5), "b")  # another position: now the same move repeats nothing
        assert not twins.fast.is_superko(back, Stone.BLACK)
        twins.compare()


def test_superko_asks_the_set_up_position() -> None:
    twins = Twins.from_diagram(KO, check_superko=True)
    twins.play((2, 2), "w")
    twins.play(None, "b")
    twins.play(None, "w")
    assert not twins.fast.is_legal(twins.pos((3, 2)), Stone.BLACK)
    twins.compare()


def test_superko_is_not_asked_for_a_pass() -> None:
    twins = Twins(3, check_superko=True)
    for color in "bwbw":
        assert twins.fast.is_legal(PASS, STONES[color]) and not twins.fast.is_superko(PASS, STONES[color])
        twins.play(None, color)
    twins.compare()


def test_superko_with_an_own_string_in_atari_beside_the_move() -> None:
    """The look-ahead must take off enemy stones only (a sum over all strings in atari misses this repetition)."""
    twins = Twins.from_diagram("""
        . X . X .
        O O X X .
        X O O X .
        . X O X .
        O . O X .
    """, check_superko=True)
    twins.play((1, 1), "b")
    twins.play((3, 1), "w")
    for point in twins.slow.points:
        if twins.slow.after(point, "b"):
            assert twins.fast.is_superko(twins.pos(point), Stone.BLACK) == twins.slow.is_superko(point, "b")
    twins.compare()


@pytest.mark.parametrize(("diagram", "point", "color", "legal"), [
    (". X\nX .", (1, 1), "w", False),
    (". X\nX .", (1, 1), "b", True),
    (". X .\nX O .\n. . .", (1, 1), "w", False),
    (". O X\nO X X\nX X .", (1, 1), "w", False),  # three stones at once
    (". O X\nO X X\nX X .", (1, 1), "b", True),  # the same point captures for Black
    (". X O\nX O O\nO O .", (1, 1), "w", True),  # captures, so it is no suicide
    (". X O\nX O O\nO O .", (1, 1), "b", False),
    ("X O\n. O", (1, 2), "b", True),
    ("X O\n. O", (1, 2), "w", True),
])
def test_suicide_is_illegal_and_a_capture_is_not_suicide(diagram: str, point, color: str, legal: bool) -> None:
    twins = Twins.from_diagram(diagram)
    assert twins.fast.is_legal(twins.pos(point), STONES[color]) is legal
    twins.compare()
    if not legal:
        with pytest.raises(IllegalMoveError):
            twins.fast.put_stone(twins.pos(point), STONES[color])
        twins.compare()


@pytest.mark.parametrize("color", [Stone.EMPTY, Stone.OUT_OF_BOARD])
def test_only_players_move(color: Stone) -> None:
    board = Twins.from_diagram("X . .\n. O .\n. . .").fast
    before = board.state.buffer.copy()
    for pos in (board.POS(3, 3), PASS):
        assert not board.is_legal(pos, color)
        with pytest.raises(IllegalMoveError, match=color.name.lower()):
            board.put_stone(pos, color)
    assert (board.state.buffer == before).all() and board.moves == 1
    with pytest.raises(IllegalMoveError, match="white A3"):
        board.put_stone(board.POS(1, 1), 2)  # type: ignore[arg-type]  # a plain number will do


@pytest.mark.parametrize("color", ["black", None])
def test_what_is_no_color_is_not_taken_for_an_illegal_move(color: object) -> None:
    board = GoBoard(5)
    with pytest.raises(IllegalMoveError, match=f"{color!r}, which is no Stone, C3 is illegal"):
        board.put_stone(board.POS(3, 3), color)  # type: ignore[arg-type]


@pytest.mark.parametrize(("diagram", "point", "color", "taken"), [
    ("X . X\nO X O\n. O .", (2, 1), "w", 3),
    (". X O\nX O O\nO O .", (1, 1), "w", 2),
    ("X . X\n. O .\nX . X", (2, 1), "b", 0),
    ("O X .\n. O X\nO X .", (1, 2), "b", 3),
    (". X X\nX O O\nX O .", (3, 3), "b", 3),
    ("O . O\nX O X\n. X .", (2, 1), "b", 3),
])
def test_captures_from_several_sides(diagram: str, point, color: str, taken: int) -> None:
    twins = Twins.from_diagram(diagram)
    assert len(twins.play(point, color)) == taken
    assert twins.fast.prisoner[int(STONES[color]) - 1] == taken
    twins.compare()


@pytest.mark.parametrize("pos", [-3, -2, -1, 1, 6, 7, 13, 42, 48, 49, 10**6])
def test_moves_off_the_board_are_illegal(pos: int) -> None:
    board = GoBoard(board_size=5)
    assert not board.is_legal(pos, Stone.BLACK)
    assert not board.is_superko(pos, Stone.BLACK) and not board.is_complete_eye(pos, Stone.BLACK)
    assert board.check_self_atari_stone(pos, Stone.BLACK) == 0
    with pytest.raises(ValueError):
        board.put_stone(pos, Stone.BLACK)
    assert board.moves == 1 and not any(board.get_board_data())


@pytest.mark.parametrize(("diagram", "point", "black_eye"), [
    (". X .\nX X .\n. . .", (1, 1), True),
    (". X .\nX O .\n. . .", (1, 1), False),
    (". X .\nX . .\n. . .", (1, 1), False),
    (". X .\nX . X\n. X .", (1, 1), True),  # the diagonal is eye space of Black itself
    ("X . X\nX X X\n. . .", (2, 1), True),
    ("X . X\nO X X\n. . .", (2, 1), False),
    (". . . . .\n. X X X .\n. X . X .\n. X X O .\n. . . . .", (3, 3), True),
    (". . . . .\n. O X X .\n. X . X .\n. X X O .\n. . . . .", (3, 3), False),
    (". . . . .\n. . X X .\n. X . X .\n. X X O .\n. . . . .", (3, 3), False),
    (". X . . .\nX . X X .\n. X . X .\n. X X O .\n. . . . .", (3, 3), True),
])
def test_complete_eyes(diagram: str, point, black_eye: bool) -> None:
    twins = Twins.from_diagram(diagram)
    pos = twins.pos(point)
    assert twins.fast.is_complete_eye(pos, Stone.BLACK) is black_eye
    assert not twins.fast.is_complete_eye(pos, Stone.WHITE)
    assert twins.fast.is_legal_not_eye(pos, Stone.BLACK) is (twins.slow.is_legal(point, "b") and not black_eye)
    twins.compare()
    without_eyes = twins.fast.get_all_legal_pos(Stone.BLACK, fill_eyes=False)
    assert without_eyes == [p for p in twins.fast.onboard_pos if twins.fast.is_legal_not_eye(p, Stone.BLACK)]


def test_self_atari_counts_the_stones_left_in_atari() -> None:
    twins = Twins.from_diagram("""
        . O . . .
        . X O . .
        . X O . .
        . . X O .
        . . . . .
    """)
    assert twins.fast.check_self_atari_stone(twins.pos((1, 1)), Stone.BLACK) == 1
    twins.play((1, 3), "w")
    twins.play((1, 2), "w")
    assert twins.fast.check_self_atari_stone(twins.pos((2, 4)), Stone.BLACK) == 0
    twins.compare()
    table = twins.fast.get_self_atari_table(Stone.BLACK)
    assert [len(row) for row in table] == [5] * 5 and table[0][0] in (0, 1)


def test_patterns_show_the_eight_cells_around_a_point() -> None:
    twins = Twins.from_diagram(". X .\nX O .\n. . O")
    pattern, board = twins.fast.pattern, twins.fast
    for point in twins.slow.points:
        x, y = point
        around = [(x + dx, y + dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy]
        cells = [int(STONES[twins.slow.grid[p]]) if p in twins.slow.grid else 3 for p in around]
        code = sum(cell << (2 * i) for i, cell in enumerate(cells))
        assert pattern.get_code(twins.pos(point)) == pattern.pat3[twins.pos(point)] == code
        empty = sum(twins.slow.grid[p] == "." for p in twins.slow.neighbors[point])
        assert pattern.get_n_neighbors_empty(twins.pos(point)) == empty
    assert pattern.get_pattern_string(board.POS(1, 1)) == "###\n#*@\n#@O"
    assert pattern.get_eye_color(board.POS(1, 1)) is Stone.EMPTY  # false: a white stone on the only diagonal
    assert pattern.get_eye_color(board.POS(2, 2)) is pattern.get_eye_color(PASS) is Stone.EMPTY


def test_eye_codes_are_the_same_for_both_colors() -> None:
    swap = [0, 2, 1, 3]
    for code in range(0, 1 << 16, 7):
        swapped = sum(swap[code >> (2 * i) & 3] << (2 * i) for i in range(8))
        assert eye_color_of_code(swapped) == swap[eye_color_of_code(code)]


def test_strings_have_the_lecture_names() -> None:
    board = Twins.from_diagram("X X O\n. X O\n. . O").fast
    strings = board.strings
    black, white = strings.get_id(board.POS(1, 1)), strings.get_id(board.POS(3, 1))
    assert black and white and strings.get_id(board.POS(1, 3)) == 0
    string = strings.string[black]
    assert string.color is string.get_color() is Stone.BLACK
    assert string.size == string.get_size() == 3 and string.flag and string.exist()
    assert string.libs == string.get_num_liberties() == 2
    assert string.lib == string.get_liberties() == [board.POS(1, 2), board.POS(2, 3)]
    assert string.neighbor == string.get_neighbors() == [white] and string.neighbors == 1
    assert string.origin == string.get_origin() == board.POS(1, 1)
    assert strings.get_stone_coordinates(black) == [board.POS(1, 1), board.POS(2, 1), board.POS(2, 2)]
    assert strings.get_stone_coordinates(0) == [] and strings.get_num_liberties(board.POS(1, 3)) == 0
    assert strings.string_id[board.POS(2, 2)] == black
    stone, ring = board.POS(1, 1), set()
    for _ in range(3):
        ring.add(stone)
        stone = int(strings.string_next[stone])
    assert stone == board.POS(1, 1) and sorted(ring) == strings.get_stone_coordinates(black)
    assert len(strings.get_display_lines()) == 2


def test_the_board_is_drawn_with_coordinates() -> None:
    board = Twins.from_diagram("X . .\n. O .\n. . .").fast
    assert [line.rstrip() for line in board.get_board_string().splitlines()[3:]] == [
        "    A B C", "  +-------+", " 3| @ + + |3", " 2| + O + |2", " 1| + + + |1", "  +-------+", "    A B C",
    ]


def test_the_board_is_drawn_as_a_symmetry_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    board = Twins.from_diagram("X . .\n. O .\n. . .").fast
    board.display(1)  # left and right change places
    rows = [line.rstrip() for line in capsys.readouterr().err.splitlines()[5:8]]
    assert rows == [" 3| + + @ |3", " 2| + O + |2", " 1| + + + |1"]
