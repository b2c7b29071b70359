"""SGFReader: what good files give, a table of odd and malformed ones, and round trips through sgfmill's writer."""
from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf

from board.constant import PASS
from board.coordinate import Coordinate
from board.go_board import GoBoard
from board.stone import Stone
from sgf.grammar import MALFORMED, SET_UP, WRONG_SIZE, SGFError, to_utf8
from sgf.match_result import MatchResult
from sgf.reader import SGFReader

HEAD = "(;FF[4]GM[1]SZ[9]"


def read(text: str, board_size: int | None = 9) -> SGFReader:
    """Return the reader of SGF text."""
    return SGFReader(text, board_size, literal=True)


def gtp_moves(reader: SGFReader) -> str:
    """Return "B D4 W pass ..."."""
    name = Coordinate(reader.size).convert_to_gtp_format
    return " ".join(f"{reader.get_color(i).name[0]} {name(pos)}" for i, pos in enumerate(reader.get_moves()))


def test_all_members_and_methods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game with a space.sgf"
    path.write_bytes(b"(;FF[4]GM[1]SZ[9]KM[6.5]RE[W+3.5]EV[Cup \\] 1]PB[Kuro]PW[Shiro]AP[CGoban:3]CP[nobody]"
                     b"\r\n;B[ef]C[first\\: \\] move];W[]\r\n;B[tt]C[two\nlines])")
    reader = SGFReader(path, 9)
    assert (reader.size, reader.komi, reader.result, reader.handicap) == (9, 6.5, MatchResult.WHITE_WIN, 0)
    assert (reader.event, reader.black_player_name, reader.white_player_name) == ("Cup ] 1", "Kuro", "Shiro")
    assert (reader.application, reader.copyright) == ("CGoban:3", "nobody")
    assert list(reader.get_moves()) == [5 + 6 * 11, PASS, PASS]
    assert gtp_moves(reader) == "B E4 W pass B pass"
    assert [reader.get_comment(i) for i in range(3)] == ["first: ] move", "", "two\nlines"]
    assert reader.get_color(1) is Stone.WHITE
    assert reader.get_value_label() == 0
    reader.display()
    captured = capsys.readouterr()
    assert captured.out == "" and "E4" in captured.err


@pytest.mark.parametrize(("text", "moves"), [
    (HEAD + ";B[aa];B[ba];W[ia])", "B A9 B B9 W J9"),
    (HEAD + ";B[aa](;W[bb];B[cc])(;W[dd]))", "B A9 W B8 B C7"),
    (HEAD + ";B[aa](;W[bb](;B[cc])(;B[dd]))(;W[ee];B[ff]))", "B A9 W B8 B C7"),
    (HEAD + "AW[aa]GB[1]GW[1]LB[aa:A];B[bb]BL[100]WL[99]OB[1]GB[2];C[no move];W[cc])", "B B8 W C7"),
    (HEAD + ";B[aa]C[\\];W[bb\\]];W[cc])", "B A9 W C7"),
    (HEAD + ";Black[aa];White[bb])", "B A9 W B8"),
    ("(;GaMe[1]SiZe[9];B[aa])", "B A9"),
    (HEAD + ";B[ aa ];W[tt];B[])", "B A9 W pass B pass"),
    ("some words before\n(;SZ[9]\n\n;B\n[aa]\r\n;W[bb] )\nand after", "B A9 W B8"),
    ("(;SZ[9:9];B[aa])", "B A9"),
    ("(;GM[1];B[aa])", "B A9"),
    (HEAD + "B[aa];W[bb])", "B A9 W B8"),
    (HEAD + ";B[aa];PL[B];B[bb])", "B A9 B B8"),
    (HEAD + ")", ""),
    (HEAD + "".join(";B[];W[]" for _ in range(400)) + ")", " ".join("BW"[i % 2] + " pass" for i in range(800))),
])
def test_odd_but_good(text: str, moves: str) -> None:
    assert gtp_moves(read(text)) == moves


@pytest.mark.parametrize(("text", "kind", "reason"), [
    ("", MALFORMED, "no SGF data"),
    ("hello", MALFORMED, "no SGF data"),
    (HEAD, MALFORMED, "unexpected end"),
    (HEAD + ";B[aa", MALFORMED, "cannot read on"),
    (HEAD + ";B[aa];W[b", MALFORMED, "cannot read on"),
    (HEAD + ";B[aa](;W[bb])", MALFORMED, "unexpected end"),
    (HEAD + ";B;W[bb])", MALFORMED, "without a value"),
    (HEAD + ";[aa])", MALFORMED, "without a property"),
    (HEAD + "(B[aa]))", MALFORMED, "outside a node"),
    (HEAD + ";B[aa];W[jj])", MALFORMED, "move 2: [jj]"),
    (HEAD + ";B[zz])", MALFORMED, "move 1: [zz]"),
    (HEAD + ";B[E4x])", MALFORMED, "move 1: [E4x]"),
    (HEAD + ";B[aa][bb])", MALFORMED, "move 1: [aa][bb]"),
    (HEAD + ";B[aa]W[bb])", MALFORMED, "move 1: [aa][bb]"),
    (HEAD + ";B[a\na])", MALFORMED, "move 1: [a a]"),
    ("(;GM[2]SZ[9];B[aa])", MALFORMED, "GM[2]"),
    ("(;SZ[19];B[aa])", WRONG_SIZE, "board size 19, wanted 9"),
    ("(;SZ[9:7];B[aa])", WRONG_SIZE, "SZ[9:7]"),
    ("(;SZ[nine];B[aa])", WRONG_SIZE, "SZ[nine]"),
    ("(;SZ[-9];B[aa])", WRONG_SIZE, "SZ[-9]"),
    (HEAD + "AB[xx];W[aa])", MALFORMED, "AB[xx]"),
    (HEAD + "AB[aa:cc:ee])", MALFORMED, "AB[aa:cc:ee]"),
    (HEAD + "AB[aa]AW[aa];B[bb])", SET_UP, "sets up otherwise"),
    (HEAD + "AB[aa:cb]AE[ba];B[ii])", SET_UP, "AE names a point"),
    (HEAD + ";B[aa];AW[bb];B[cc])", SET_UP, "after move 1"),
    (HEAD + ";B[aa];AE[aa];B[cc])", SET_UP, "after move 1"),
    (HEAD + "HA[2];W[cc])", SET_UP, "HA[2]"),
])
def test_refused_with_one_line(text: str, kind: str, reason: str) -> None:
    with pytest.raises(SGFError) as caught:
        read(text)
    assert caught.value.kind == kind
    assert reason in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "size"), [("(;SZ[1])", 1), ("(;SZ[20])", 20), ("(;SZ[52])", 52), ("(;SZ[0])", 0)])
def test_sizes_that_cannot_be_played(text: str, size: int) -> None:
    with pytest.raises(SGFError, match=f"board size {size} "):
        read(text, None)


def test_size_is_19_unless_said_or_wanted_otherwise() -> None:
    assert read("(;B[ss])", None).size == 19
    assert gtp_moves(read("(;B[ss];W[tt])", None)) == "B T1 W pass"
    assert read("(;SZ[2];B[bb])", None).size == 2


@pytest.mark.parametrize(("text", "black", "white", "to_move"), [
    ("AB[aa][bb]AW[cc]", "A9 B8", "C7", Stone.BLACK),
    ("HA[2]AB[gc][cg]", "G7 C3", "", Stone.WHITE),
    ("HA[2]AB[gc][cg];W[ee]", "G7 C3", "", Stone.WHITE),
    ("HA[2];B[gc];B[cg];W[ee]", "", "", Stone.BLACK),
    ("AB[aa:bb]", "A9 B9 A8 B8", "", Stone.WHITE),
    ("AB[aa:cb];AE[ba:cb];AW[cc]PL[W]", "A9 A8", "C7", Stone.WHITE),
    ("AB[aa]AW[bb];AW[aa]", "", "A9 B8", Stone.BLACK),
    ("AB[aa]PL[B]", "A9", "", Stone.BLACK),
    ("PL[White]", "", "", Stone.WHITE),
    ("PL[W];B[aa]", "", "", Stone.BLACK),
    ("PL[W];PL[B]", "", "", Stone.BLACK),
    ("AB[]", "", "", Stone.BLACK),
])
def test_set_up(text: str, black: str, white: str, to_move: Stone) -> None:
    reader = read(f"{HEAD}{text})")
    name = Coordinate(9).convert_to_gtp_format
    assert " ".join(map(name, reader.black_stones)) == black
    assert " ".join(map(name, reader.white_stones)) == white
    assert reader.to_move is to_move


UNKNOWN, DRAW, BLACK, WHITE = MatchResult.UNKNOWN, MatchResult.DRAW, MatchResult.BLACK_WIN, MatchResult.WHITE_WIN


@pytest.mark.parametrize(("text", "result"), [
    ("?", UNKNOWN), ("Void", UNKNOWN), ("", UNKNOWN), ("garbage", UNKNOWN), ("Unfinished", UNKNOWN),
    ("B+0.0", UNKNOWN), ("W+-0.0", UNKNOWN), ("B+0", UNKNOWN), ("-", UNKNOWN), ("5", UNKNOWN), ("White", UNKNOWN),
    ("Both lost", UNKNOWN),
    ("0", DRAW), ("Draw", DRAW), ("draw", DRAW), ("Jigo", DRAW), (" 0 ", DRAW),
    ("B+R", BLACK), ("B+Resign", BLACK), ("b+3.5", BLACK), ("B+", BLACK), ("B+T", BLACK), ("Black wins by 3", BLACK),
    ("W+0.5", WHITE), ("W+10", WHITE), ("W+Forfeit", WHITE), ("White won", WHITE), ("W+?", WHITE),
])
def test_results(text: str, result: MatchResult) -> None:
    reader = read(f"{HEAD}RE[{text}])")
    assert reader.result is result
    assert reader.get_value_label() == {UNKNOWN: -1, DRAW: 1, BLACK: 2, WHITE: 0}[result]


@pytest.mark.parametrize(("text", "margin"), [
    ("B+3.5", 3.5), ("b+12", 12.0), ("W+0.5", -0.5), ("Black+2", 2.0), ("0", 0.0), ("Jigo", 0.0),
    ("B+R", None), ("W+", None), ("W+T", None), ("?", None), ("", None), ("B+0.0", None), ("Black wins by 3", None),
    ("W+1e3", None), ("W+3-", None), ("B+442", 442.0), ("B+443", None), ("W+99999", None),
])
def test_margins(text: str, margin: float | None) -> None:
    found = read(f"{HEAD}RE[{text}])").margin
    assert math.isnan(found) if margin is None else found == margin


def test_a_missing_result_is_unknown() -> None:
    assert read(HEAD + ")").result is UNKNOWN


@pytest.mark.parametrize(("text", "komi"), [
    ("KM[6.5]", 6.5), ("KM[-3]", -3.0), ("KM[0]", 0.0), ("KM[5,5]", 5.5), ("KM[]", 7.0), ("", 7.0), ("KM[nan]", 7.0),
    ("KM[seven]", 7.0), ("KM[1e999]", 7.0), ("KM[6_5]", 7.0),
])
def test_komi(text: str, komi: float) -> None:
    assert read(f"{HEAD}{text})").komi == komi


@pytest.mark.parametrize(("text", "odd"), [
    ("KM[375]", True), ("KM[-1e9]", True), ("KM[seven]", True), ("KM[6.5]", False), ("KM[361]", False), ("", False),
    ("KM[]", False),
])
def test_an_impossible_komi_is_noted(text: str, odd: bool) -> None:
    game = read(f"{HEAD}{text})")
    assert (text in game.note and game.komi == 7.0) if odd else game.note == ""


# Shift_JIS writes these with "]" and a backslash as second bytes.
JAPANESE = "ソゾ表能"


@pytest.mark.parametrize(("data", "name"), [
    ("(;SZ[9]CA[UTF-8]PB[柯洁];B[aa])".encode(), "柯洁"),
    ("(;SZ[9]PB[柯洁];B[aa])".encode(), "柯洁"),
    (b"\xef\xbb\xbf" + "(;SZ[9]PB[柯洁];B[aa])".encode(), "柯洁"),
    ("(;SZ[9]CA[GB18030]PB[柯洁];B[aa])".encode("gb18030"), "柯洁"),
    ("(;SZ[9]CA[EUC-KR]PB[이세돌];B[aa])".encode("euc-kr"), "이세돌"),
    (f"(;SZ[9]CA[Shift_JIS]PB[{JAPANESE}];B[aa])".encode("shift_jis"), JAPANESE),
    (f"(;SZ[9]PB[{JAPANESE}];B[aa])".encode("shift_jis"), JAPANESE),
    (f"(;SZ[9]CA[UTF-8]PB[{JAPANESE}];B[aa])".encode("shift_jis"), JAPANESE),
    (f"(;SZ[9]CA[no-such-code]PB[{JAPANESE}];B[aa])".encode("shift_jis"), JAPANESE),
    ("(;SZ[9]PB[José];B[aa])".encode("latin-1"), "José"),
    ("(;SZ[9]CA[ISO-8859-1]PB[Müller];B[aa])".encode("latin-1"), "Müller"),
    ("(;SZ[9]PB[柯洁];B[aa])".encode("utf-16"), "柯洁"),
    (b"(;SZ[9]CA[UTF-8]PB[a\\]b\\\\];B[aa])", "a]b\\"),
    # A byte order mark outweighs what was declared; programs declare less than they write; Windows' quotation marks.
    (b"\xef\xbb\xbf" + "(;SZ[9]CA[ISO-8859-1]PB[René];B[aa])".encode(), "René"),
    ("(;SZ[9]CA[gb2312]PB[李昌鎬];B[aa])".encode("gbk"), "李昌鎬"),
    ("(;SZ[9]CA[gb2312]PB[柯洁]PW[申真谞]C[好棋啊];B[aa])".encode(), "柯洁"),
    ("(;SZ[9]CA[gb2312]PB[柯洁]PW[李昌".encode("gb2312") + b"\xb0" + "]C[好];B[aa])".encode("gb2312"), "柯洁"),
    ("(;SZ[9]PB[ソ]C[ア];B[aa])".encode("shift_jis"), "ソ"),
    ("(;SZ[9]CA[EUC-KR]PB[똠방];B[aa])".encode("cp949"), "똠방"),
    ("(;SZ[9]CA[Big5]PB[碁];B[aa])".encode("cp950"), "碁"),
    ("(;SZ[9]PB[Lee]C[the players’];B[aa])".encode("cp1252"), "Lee"),
])
def test_encodings(data: bytes, name: str) -> None:
    reader = SGFReader(data, 9)
    assert reader.black_player_name == name
    assert gtp_moves(reader) == "B A9"
    assert to_utf8(data).decode().startswith(("(;SZ", "\ufeff(;SZ"))


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        SGFReader(tmp_path / "none.sgf")


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
COMMENT = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n"), max_size=30)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_round_trip_through_sgfmill(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 19))
    coordinate = st.integers(0, size - 1)
    game = sgf.Sgf_game(size)
    root = game.get_root()
    name, komi = data.draw(TEXT), data.draw(st.floats(-50, 50).map(lambda x: round(x, 1)))
    root.set("PB", name)
    root.set("KM", komi)
    moves = data.draw(st.lists(st.tuples(
        st.sampled_from("bw"), st.one_of(st.none(), st.tuples(coordinate, coordinate)), COMMENT), max_size=20))
    for color, point, comment in moves:
        node = game.extend_main_sequence()
        node.set_move(color, point)
        if comment:
            node.set("C", comment)
    reader = SGFReader(game.serialise(), size)
    assert (reader.size, reader.black_player_name, reader.komi) == (size, name, komi)
    expected = [PASS if point is None else point[1] + 1 + (size - point[0]) * (size + 2) for _, point, _ in moves]
    assert list(reader.get_moves()) == expected
    assert [reader.get_color(i).name[0].lower() for i in range(len(moves))] == [color for color, _, _ in moves]
    assert [reader.get_comment(i) for i in range(len(moves))] == [comment for _, _, comment in moves]


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60), st.integers(0, 60))
def test_noise_never_raises_anything_else(noise: bytes, at: int) -> None:
    text = b"(;FF[4]GM[1]SZ[9]AB[aa:bb]HA[4];W[cc]C[x];B[dd](;W[])(;W[ee]))"
    for data in (noise, text[:at] + noise + text[at:], text[:at]):
        try:
            reader = SGFReader(data)
        except SGFError as error:
            assert "\n" not in str(error)
        else:
            assert len(reader.moves) == reader.get_n_moves()


def test_who_is_to_move_is_told_without_stones_too() -> None:
    reader = SGFReader("(;GM[1]SZ[5]PL[W])", literal=True)
    board = GoBoard(5)
    reader.play_on(board)
    assert board.get_to_move() == reader.to_move == Stone.WHITE


def test_a_handicap_of_one_is_none() -> None:
    """Programs write HA[1] where White begins without any stone."""
    assert SGFReader(b"(;SZ[5]HA[1];W[cc])").to_move == Stone.WHITE


def test_a_damaged_letter_spoils_no_others() -> None:
    data = "(;SZ[9]CA[Shift_JIS]PB[木谷実]PW[?可能性])".encode("cp932").replace(b"?", b"\x85 ")
    assert "PB[木谷実]" in to_utf8(data).decode() and "可能性]" in to_utf8(data).decode()
    assert to_utf8("(;SZ[9]CA[UTF-8]PB[André])".encode("latin-1")).decode() == "(;SZ[9]CA[UTF-8]PB[André])"
