"""Names of points and the tables of each board size."""
import re

import numpy as np
import pytest

from board.constant import GTP_X_COORDINATE, PASS, RESIGN
from board.coordinate import Coordinate
from board.geometry import make_symmetry_index
from board.go_board import GoBoard
from board.stone import Stone

SIZES = range(2, 20)


@pytest.mark.parametrize(("size", "text", "pos"), [
    (9, "A9", 12), (9, "a9", 12), (9, "J1", 9 + 9 * 11), (9, "E5", 5 + 5 * 11), (9, "H1", 8 + 9 * 11),
    (19, "T19", 19 + 21), (19, "a1", 1 + 19 * 21), (2, "B1", 2 + 2 * 4), (13, "n13", 13 + 15),
    (9, "pass", PASS), (9, "PASS", PASS), (9, "Pass", PASS), (9, "resign", RESIGN), (9, "Resign", RESIGN),
])
def test_gtp_name_to_pos(size: int, text: str, pos: int) -> None:
    assert Coordinate(board_size=size).convert_from_gtp_format(text) == pos


@pytest.mark.parametrize(("size", "text"), [
    (9, "I5"), (9, "i5"), (9, "K1"), (9, "A10"), (9, "A0"), (9, "Z25"), (9, ""), (9, "A"), (9, "5"), (9, "5A"),
    (9, "A-1"), (9, "A+1"), (9, "AA1"), (9, "A1 "), (9, " A1"), (9, "A1.0"), (9, "A1e0"), (9, "pas"), (9, "passs"),
    (9, "@1"), (9, "A\u0661"), (9, "\uff21\uff11"), (2, "C1"), (2, "A3"), (19, "U1"), (19, "A20"), (9, "A111"),
    (9, "A1\n"),
])
def test_a_bad_gtp_name_is_refused_and_named(size: int, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        Coordinate(board_size=size).convert_from_gtp_format(text)


@pytest.mark.parametrize("size", SIZES)
def test_names_round_trip(size: int) -> None:
    coordinate, width = Coordinate(board_size=size), size + 2
    names = set()
    for y in range(1, size + 1):
        for x in range(1, size + 1):
            pos = x + y * width
            gtp, sgf = coordinate.convert_to_gtp_format(pos), coordinate.convert_to_sgf_format(pos)
            assert gtp == "ABCDEFGHJKLMNOPQRST"[x - 1] + str(size + 1 - y)
            assert sgf == chr(ord("a") + x - 1) + chr(ord("a") + y - 1)
            assert coordinate.convert_from_gtp_format(gtp) == coordinate.convert_from_gtp_format(gtp.lower()) == pos
            assert coordinate.convert_from_sgf_format(sgf) == pos
            names.add(gtp)
    assert len(names) == size * size
    assert [coordinate.convert_to_gtp_format(pos) for pos in (PASS, RESIGN)] == ["pass", "resign"]
    assert [coordinate.convert_to_sgf_format(pos) for pos in (PASS, RESIGN)] == ["tt", "tt"]
    assert [coordinate.convert_from_sgf_format(text) for text in ("", "tt")] == [PASS, PASS]


@pytest.mark.parametrize("text", ["zz", "ja", "aj", "a", "aaa", "A1", "a ", "AA", "?", "..", "\u3042\u3044"])
def test_a_bad_sgf_point_is_refused_and_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        Coordinate(board_size=9).convert_from_sgf_format(text)


@pytest.mark.parametrize("size", [-1, 0, 1, 20, 25, 10**9])
def test_an_unplayable_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=str(size)):
        GoBoard(board_size=size)


def test_column_letters_leave_out_i() -> None:
    assert GTP_X_COORDINATE[1:] == "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def test_pos_counts_cells_of_the_padded_board() -> None:
    board = GoBoard(board_size=5)
    assert board.POS(2, 5) == 37
    assert board.board_size_with_ob == 7 and board.board_start == 1 and board.board_end == 5
    assert board.get_neighbor4(board.POS(3, 3)) == [17, 23, 25, 31]
    assert sorted(board.get_cross4(board.POS(3, 3))) == [16, 18, 30, 32]


@pytest.mark.parametrize("size", SIZES)
def test_the_board_is_surrounded_by_off_board_cells(size: int) -> None:
    board, width = GoBoard(board_size=size), size + 2
    inside = [x + y * width for y in range(1, size + 1) for x in range(1, size + 1)]
    assert list(board.onboard_pos) == inside
    assert list(board.board) == [Stone.EMPTY if pos in inside else Stone.OUT_OF_BOARD for pos in range(width * width)]
    assert board.board[PASS] is Stone.OUT_OF_BOARD and len(board.board) == width * width
    assert board.board[: width + 2] == [Stone.OUT_OF_BOARD] * (width + 1) + [Stone.EMPTY]


def test_stone_knows_opponents_and_characters() -> None:
    assert [int(stone) for stone in (Stone.EMPTY, Stone.BLACK, Stone.WHITE, Stone.OUT_OF_BOARD)] == [0, 1, 2, 3]
    assert Stone.get_opponent_color(Stone.BLACK) is Stone.WHITE
    assert Stone.get_opponent_color(Stone.WHITE) is Stone.BLACK
    assert "".join(stone.get_char() for stone in Stone) == "+@O#"


# Symmetries: what (x, y) of the original is read at a target point.
READ = [
    lambda x, y, m: (x, y), lambda x, y, m: (m - x, y), lambda x, y, m: (x, m - y), lambda x, y, m: (m - x, m - y),
    lambda x, y, m: (y, x), lambda x, y, m: (y, m - x), lambda x, y, m: (m - y, x), lambda x, y, m: (m - y, m - x),
]


@pytest.mark.parametrize("size", [2, 3, 9, 19])
@pytest.mark.parametrize("sym", range(8))
def test_symmetries_read_the_documented_point(size: int, sym: int) -> None:
    board, width = GoBoard(board_size=size), size + 2
    for pos in board.onboard_pos:
        y, x = divmod(int(pos), width)
        read_x, read_y = READ[sym](x, y, size + 1)
        expected = read_x + read_y * width
        assert board.get_symmetrical_coordinate(pos, sym) == board.sym_map[sym][pos] == expected


def test_symmetries_form_the_group_of_the_square() -> None:
    board = GoBoard(board_size=5)
    maps = [tuple(board.get_symmetrical_coordinate(pos, sym) for pos in board.onboard_pos) for sym in range(8)]
    index = {pos: i for i, pos in enumerate(board.onboard_pos)}

    def then(first: int, second: int) -> int:
        return maps.index(tuple(maps[second][index[pos]] for pos in maps[first]))

    assert len(set(maps)) == 8 and all(sorted(m) == list(board.onboard_pos) for m in maps)
    table = [[then(a, b) for b in range(8)] for a in range(8)]
    assert all(sorted(row) == list(range(8)) for row in table)  # closed, and every element has an inverse
    assert [table[a][a] for a in range(8)].count(0) == 6  # identity, half turn and four mirrors
    assert table[5][6] == table[6][5] == 0 and table[5][5] == table[6][6] == 3
    assert all(table[table[a][b]][c] == table[a][table[b][c]] for a in range(8) for b in range(8) for c in range(8))


@pytest.mark.parametrize("sym", range(8))
def test_board_data_is_read_through_the_symmetry(sym: int) -> None:
    board = GoBoard(board_size=5)
    for pos, color in ((board.POS(1, 1), Stone.BLACK), (board.POS(2, 4), Stone.WHITE), (board.POS(4, 1), Stone.BLACK)):
        board.put_stone(pos, color)
    read = [int(board.get_symmetrical_coordinate(pos, sym)) for pos in board.onboard_pos]
    assert [int(value) for value in board.get_board_data(sym)] == [int(board.board[pos]) for pos in read]
    liberties = [int(board.strings.get_num_liberties(pos)) if board.board[pos] else 0 for pos in read]
    assert [int(value) for value in board.get_liberty_data(sym)] == liberties


@pytest.mark.parametrize("board_size", [2, 5, 9])
def test_the_symmetries_form_the_group_of_the_square(board_size: int) -> None:
    table = make_symmetry_index(board_size)
    points = board_size ** 2
    rows = {tuple(row) for row in table}
    assert len(rows) == 8 and tuple(range(points + 1)) in rows
    assert all(sorted(row) == list(range(points + 1)) and row[points] == points for row in rows)
    assert {tuple(first[second]) for first in table for second in table} == rows
    grid = np.arange(points).reshape(board_size, board_size)
    expected = {tuple(np.rot90(g, k).ravel()) for g in (grid, grid.T) for k in range(4)}
    assert {row[:-1] for row in rows} == expected
