"""A game with variations: what is read, what is kept, and what is refused."""
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.ruleset import Rules
from board.stone import Stone
from sgf.game_tree import ROOT, GameTree
from sgf.grammar import ILLEGAL, SGFError

MAX_NODES = 6000


def read(text: str | bytes) -> GameTree:
    """Return the game in a text."""
    return GameTree.read(text if isinstance(text, bytes) else text.encode(), Rules(), MAX_NODES)


def picture(tree: GameTree, node: int) -> str:
    """Return the stones at a node, row by row."""
    board = tree.board_at(node)
    rows = "".join(".XO"[stone] for stone in board.get_board_data(0))
    return " ".join(rows[start:start + tree.size] for start in range(0, len(rows), tree.size))


def test_variations_and_what_nobody_knows_survive() -> None:
    text = "(;FF[4]GM[1]SZ[3]KM[0.5]XX[a][b]C[root \\] end];B[aa](;W[bb];B[])(;W[cc]C[other]ZZ[]))"
    tree = read(text)
    assert [tree.children(node) for node in tree] == [[1], [2, 4], [3], [], []]
    assert tree.line_to(3) == [0, 1, 2, 3] and tree.end_of_line(ROOT) == 3 and tree.parent(4) == 1
    assert tree.move(3) == (Stone.BLACK, 0) and tree.move(ROOT) is None
    assert tree.comment(ROOT) == "root ] end" and tree.comment(4) == "other"
    again = read(tree.to_sgf())
    assert again.to_sgf() == tree.to_sgf() and "XX[a][b]" in tree.to_sgf() and "ZZ[]" in tree.to_sgf()
    assert [picture(again, node) for node in (3, 4)] == ["X.. .O. ...", "X.. ... ..O"]


def test_moves_are_added_once_and_whole_branches_go() -> None:
    tree = GameTree.new(3, Rules(komi=1.5))
    corner, center = tree.board_at(ROOT).onboard_pos[0], tree.board_at(ROOT).onboard_pos[4]
    first = tree.play(ROOT, Stone.BLACK, corner)
    assert tree.play(ROOT, Stone.BLACK, corner) == first != tree.play(ROOT, Stone.BLACK, center)
    second = tree.play(first, Stone.WHITE, center)
    assert sorted(tree.remove(first)) == [first, second] and first not in tree and len(tree) == 2
    assert read(tree.to_sgf()).board_at(1).komi == 1.5


def test_stones_set_up_in_the_middle_begin_anew() -> None:
    tree = read("(;SZ[3]AB[aa:ba]PL[W];W[cc];AE[aa]AW[ca]AB[ac]PL[B];B[bb])")
    assert picture(tree, 1) == "XX. ... ..O"
    assert picture(tree, 2) == ".XO ... X.O" and tree.board_at(2).get_to_move() == Stone.BLACK
    assert picture(tree, 3) == ".XO .X. X.O" and tree.board_at(3).moves == 2


def test_who_is_to_move_before_the_first_move_begins_nothing_anew() -> None:
    assert read("(;SZ[3];B[aa];PL[W];W[bb])").board_at(3).moves == 3


def test_the_turn_may_change_in_the_middle() -> None:
    tree = read("(;SZ[3];B[aa];PL[B];B[bb])")
    assert [tree.board_at(node).get_to_move() for node in range(4)] == [
        Stone.BLACK, Stone.WHITE, Stone.BLACK, Stone.WHITE]
    assert picture(tree, 3) == "X.. .X. ..."


@pytest.mark.parametrize(("record", "node", "color"), [
    ("(;SZ[3]AB[aa]AW[bb];W[cc])", 0, Stone.WHITE), ("(;SZ[3];W[cc];B[aa])", 0, Stone.WHITE),
    ("(;SZ[3]AB[aa][bb];B[cc])", 0, Stone.BLACK), ("(;SZ[3]AB[aa][bb];C[so];W[cc])", 1, Stone.WHITE),
    ("(;SZ[3]AB[aa]AW[bb]PL[B];W[cc])", 0, Stone.BLACK), ("(;SZ[3]AB[aa]AW[bb];AB[ac];W[cc])", 0, Stone.BLACK),
    ("(;SZ[3];B[aa];AW[bb])", 2, Stone.WHITE), ("(;SZ[3];B[aa];W[bb];AE[bb];W[cc])", 3, Stone.WHITE),
    ("(;SZ[3];B[aa];W[bb];AB[cc])", 3, Stone.BLACK), ("(;SZ[3])", 0, Stone.BLACK),
    ("(;SZ[3];B[aa];C[so])", 0, Stone.BLACK),
])
def test_the_record_tells_who_is_to_move_where_no_property_does(record: str, node: int, color: Stone) -> None:
    assert read(record).board_at(node).get_to_move() == color


def test_handicap_names_win_rates_and_result() -> None:
    tree = GameTree.new(9, Rules(), handicap=3)
    assert tree.board_at(ROOT).get_to_move() == Stone.WHITE and len(tree.board_at(ROOT).get_handicap_history()) == 3
    tree.set_view(ROOT, 0.25, -3.5)
    tree.set_result("W+R")
    again = read(tree.to_sgf())
    assert (again.winrate(ROOT), again.lead(ROOT), again.result()) == (0.25, -3.5, "W+R")
    tree.set_result("")
    assert read(tree.to_sgf()).result() == ""
    with pytest.raises(ValueError, match="do not fit"):
        GameTree.new(3, Rules(), handicap=9)
    named = read("(;SZ[9]PB[黒い人]PW[\\]\\\\])")
    assert named.names() == read(named.to_sgf()).names() == ("黒い人", "]\\")


def test_a_property_of_small_letters_does_not_spoil_what_is_written() -> None:
    again = read(read("(;SZ[9]foo[bar];B[aa]baz[])").to_sgf())
    assert picture(again, 1).startswith("X") and "[bar]" not in again.to_sgf()


def test_old_japanese_records() -> None:
    assert read("(;SZ[9]PB[黒]C[表示];B[aa])".encode("cp932")).names()[0] == "黒"


@pytest.mark.parametrize(("komi", "taken"), [
    ("KM[6.5]", 6.5), ("KM[6,5]", 6.5), ("KM[nan]", 7.0), ("KM[9999]", 7.0), ("KM[x]", 7.0), ("", 7.0),
])
def test_komi(komi: str, taken: float) -> None:
    tree = read(f"(;SZ[9]{komi};B[aa])")
    assert tree.rules.komi == taken
    if komi != "KM[6,5]":  # a record has the komi that is played by
        assert tree.to_sgf().count("KM[") == bool(komi) and (not komi or f"KM[{taken:g}" in tree.to_sgf())


@pytest.mark.parametrize(("text", "reason"), [
    ("", "no SGF game"), ("hello", "no SGF game"), ("(;SZ[9];B[aa]", "no SGF game"), ("(;SZ[x])", "no SGF game"),
    ("(;SZ[9:7];B[aa])", "is not a size of a square board"),
    ("(;SZ[25])", "board size 25"), ("(;SZ[1])", "board size 1 "), ("(;SZ[9];B[zz])", "is not one point"),
    ("(;SZ[9];B[aa](;W[bb])(;W[zz]))", "is not one point"), ("(;SZ[9];B[aa]W[bb])", "aa..bb. is not one point"),
    ("(;SZ[9];B[aa][bb])", "is not one point"), ("(;GM[3]SZ[9])", "not a game of Go"),
    ("(;SZ[9]AB[aa][])", "set-up stones: not a list of points"),
    ("(;SZ[9];B[aa];B[aa])", "move 2: black A9 is illegal"), ("(;SZ[3]AB[aa]AW[ba][ab])", "set-up stones"),
    ("(;SZ[9]" + ";C[x]" * MAX_NODES + ")", "more than 6,000 nodes"),
])
def test_what_cannot_be_used_is_refused(text: str, reason: str) -> None:
    with pytest.raises(SGFError, match=reason):
        read(text)


def test_a_variation_that_is_illegal_is_refused_when_one_goes_there() -> None:
    tree = read("(;SZ[3];B[aa](;W[bb])(;W[aa]))")
    assert picture(tree, 2) == "X.. .O. ..."
    with pytest.raises(SGFError, match="white A3 is illegal") as caught:
        tree.board_at(3)
    assert caught.value.kind == ILLEGAL


def test_variations_may_be_nested_deeply() -> None:
    depth = MAX_NODES - 1
    tree = read("(;SZ[9]" + "(;C[x]" * depth + ")" * depth + ")")
    assert len(tree.line_to(depth)) == MAX_NODES and len(read(tree.to_sgf())) == MAX_NODES


PIECES = ["(", ")", ";", "B[aa]", "W[bb]", "AB[cc]", "AE[aa]", "PL[W]", "SZ[3]", "KM[1]", "[", "]", "\\", "C[\\]]",
          "B[]", "W[tt]", "\x00", "é", "SBKV[x]", "V[nan]", "V[1e9]", "PB[]", "RE[a]", " "]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_garbage_is_read_or_refused_and_what_is_read_is_written(pieces: list[str]) -> None:
    try:
        tree = read("(;" + "".join(pieces))
    except SGFError:
        return
    assert read(tree.to_sgf()).to_sgf() == tree.to_sgf()
    for node in tree:
        tree.winrate(node)
        assert tree.lead(node) is None
        tree.move(node)
        tree.comment(node)
    tree.names()
    tree.result()


def test_leads_include_komi() -> None:
    tree = GameTree.read(b"(;GM[1]SZ[5]KM[300]SBKV[0]V[-320])", Rules(), 100)
    assert tree.lead(ROOT) == -320.0
