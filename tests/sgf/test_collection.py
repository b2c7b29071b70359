"""Folders, collections and .sgfs files: every good game is found, every bad one is named."""
from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from sgf import collection
from sgf.collection import Kifu, Piece, Skipped, cut_into_pieces, describe_left_out, list_sgf_files, read_pieces
from sgf.grammar import MALFORMED, NO_MOVES, TOO_LONG, UNREADABLE, WRONG_SIZE, SGFError, read_main_lines
from sgf.win_rate import SearchComment, decode_search_comment


def game(point: str, more: str = "") -> str:
    """Return a game of one move that is known by its point."""
    return f"(;FF[4]GM[1]SZ[9]{more};B[{point}])"


def read_file(path: Path, text: str) -> tuple[list[Kifu], list[Skipped]]:
    """Write and read one file."""
    path.write_text(text, encoding="utf-8", newline="")
    return read_pieces(cut_into_pieces(str(path)), [9])


def points(games: list[Kifu]) -> list[str]:
    """Return the SGF letters of each game's first move."""
    return ["abcdefghi"[one.pos[0] % 11 - 1] + "abcdefghi"[one.pos[0] // 11 - 1] for one in games]


def test_files_are_sorted_and_of_the_folder_alone(tmp_path: Path) -> None:
    for name in ("b.sgf", "a.sgfs", "10.sgf", "2.SGF", "x.txt", "sgf", ".hidden.sgf.part"):
        (tmp_path / name).touch()
    (tmp_path / "elsewhere").touch()
    (tmp_path / "c.sgf").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder.sgfs").mkdir()
    (tmp_path / "dangling.sgf").symlink_to(tmp_path / "nowhere")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.sgf").touch()
    paths = list_sgf_files(tmp_path)
    assert [Path(path).name for path in paths] == ["10.sgf", "2.SGF", "a.sgfs", "b.sgf", "c.sgf"]
    assert describe_left_out(tmp_path, paths) == (
        f"{tmp_path}: not read: 2 sub-folders (folder.sgfs, sub) and 1 files (dangling.sgf)")
    assert describe_left_out(tmp_path / "sub", ["c.sgf"]) == ""


def test_a_game_of_40000_passes_is_refused(tmp_path: Path) -> None:
    games, skipped = read_file(tmp_path / "long.sgf", "(;SZ[9]" + ";B[];W[]" * 20000 + ")")
    assert not games and skipped[0].kind == TOO_LONG and "40000 moves" in skipped[0].reason


def test_a_game_of_unknown_komi_is_used_and_noted(tmp_path: Path) -> None:
    (kifu,), _ = read_file(tmp_path / "a.sgf", game("aa", "KM[375]RE[B+3.75]"))
    assert "KM[375]" in kifu.note and np.isnan(kifu.score)


@pytest.mark.parametrize(("text", "found", "bad"), [
    (game("aa"), "aa", []),
    (game("aa") + game("bb") + "\n\n" + game("cc"), "aa bb cc", []),
    ("junk (not a game)\n" + game("aa") + "junk (again)" + game("bb") + "(end)", "aa bb", []),
    (game("aa") + "\n(;FF[4]SZ[9];B[bb];\n" + game("cc") + "\n" + game("dd"), "aa cc dd", ["unexpected end"]),
    (game("aa") + "\n(;FF[4]SZ[9];B[bb];W[\n" + game("cc") + "\n" + game("dd"), "aa dd", ["move 2: [(;FF[4"]),
    (game("aa") + "\n(;FF[4]SZ[9];B[bb](;W[cc])\n(;W[dd])\n" + game("ee"), "aa ee", ["unexpected end"]),
    (game("aa") + "\n(;FF[4]SZ[9];B[bb](W[cc])\n(;W[dd]))\n" + game("ee"), "aa ee", ["outside a node"]),
    (game("aa") + "\n" + game("zz") + "\n" + game("bb"), "aa bb", ["move 1: [zz]"]),
    (game("aa") + "(;SZ[13];B[aa])" + game("bb"), "aa bb", ["board size 13"]),
    (game("aa") + "(;SZ[9])", "aa", ["no moves"]),
    ("", "", ["no SGF data"]),
])
def test_collections(tmp_path: Path, text: str, found: str, bad: list[str]) -> None:
    games, skipped = read_file(tmp_path / "games.sgf", text)
    assert points(games) == found.split()
    assert len(skipped) == len(bad)
    assert all(words in one.reason for words, one in zip(bad, skipped, strict=True))
    assert all(one.name.startswith(str(tmp_path / "games.sgf")) for one in skipped)


def test_line_collections_lose_only_the_broken_lines(tmp_path: Path) -> None:
    lines = [game("aa"), game("bb")[:-2], "", game("cc") + "\r", "(;SZ[9]\n;B[dd]\n)", "(;SZ[19];B[ee])", game("ff")]
    games, skipped = read_file(tmp_path / "games.sgfs", "\n".join(lines))
    assert points(games) == ["aa", "cc", "dd", "ff"]
    assert [(one.name.rpartition(" line ")[2], one.kind) for one in skipped] == [("2", MALFORMED), ("8", WRONG_SIZE)]


def test_pieces_of_a_line_collection_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "PIECE_BYTES", 100)
    path = tmp_path / "games.sgfs"
    names = [a + b for a in "abcdefghi" for b in "abcdefghi"]
    path.write_text("\n".join(f"(;SZ[9]\n;B[{name}])" for name in names) + "\n(;SZ[9];B[")
    pieces = list(cut_into_pieces(str(path)))
    assert len(pieces) > 10
    assert sum(piece.length for piece in pieces) == path.stat().st_size
    games, skipped = read_pieces(pieces, [9])
    assert points(games) == names
    assert skipped[0].name == f"{path} line {2 * len(names) + 1}"


def test_arrays_of_a_game(tmp_path: Path) -> None:
    text = ("(;SZ[9]RE[B+2]AB[aa][ba]AW[ca];W[ee]C[0.60 0.30 0.10 1.5 v=16];B[ff]C[0.60 0.30 0.10 1.5 v=8]"
            ";B[]C[a fine move])")
    (one,), skipped = read_file(tmp_path / "one.sgf", text)
    assert not skipped
    assert list(one.setup_pos) == [12, 13, 14] and list(one.setup_color) == [1, 1, 2]
    assert list(one.pos) == [60, 72, 0] and list(one.color) == [2, 1, 1]
    assert one.value_label == 2
    np.testing.assert_allclose(one.win_rate, [0.65, 0.35, np.nan])


def test_an_encoding_with_a_nul_is_none(tmp_path: Path) -> None:
    path = tmp_path / "nul.sgf"
    path.write_bytes(b"(;FF[4]GM[1]SZ[9]CA[a\0b]PB[\xff];B[ee])")
    games, _ = read_pieces(cut_into_pieces(str(path)), [9])
    assert len(games) == 1


def test_many_games_without_an_end_are_left_at_once() -> None:
    """Reading each to the end of the file took the square of their number: 11 seconds for a thousand."""
    broken, good = b"(;FF[4]GM[1]SZ[9];B[aa];W[bb];B[cc]\n", b"(;FF[4]GM[1]SZ[9];B[dd])\n"
    found = list(read_main_lines(broken * 3000 + good))
    assert len(found) == 3001 and not isinstance(found[-1][1], SGFError)
    assert found[-1][0] == 3000 * len(broken) and all(isinstance(game, SGFError) for _, game in found[:-1])
    places = [place for place, game in islice(read_main_lines(broken * 30 + good * 2), 40)
              if not isinstance(game, SGFError)]
    assert places == [30 * len(broken), 30 * len(broken) + len(good)]


@pytest.mark.parametrize("name", ["a.sgf", "a.sgfs"])
def test_each_game_of_a_line_has_a_name_of_its_own(name: str) -> None:
    """Labels find games by name."""
    data = f"{game('aa')}{game('bb')}\n{game('cc')}{game('dd')}".encode()
    first = "a.sgf" if name == "a.sgf" else "a.sgfs line 1"
    assert [found for found, _ in collection._named_games(Piece(name, 0, len(data), 1), data)] == [
        first, f"{name} line 1 game 2", f"{name} line 2", f"{name} line 2 game 2"]


def test_a_carriage_return_alone_ends_no_line_of_a_collection(tmp_path: Path) -> None:
    """Names would differ from piece to piece, and a comment could begin a game."""
    line = "(;SZ[9];B[aa]C[a\r(;b\r];W[bb])\n"
    games, skipped = read_file(tmp_path / "a.sgfs", line * 3)
    assert not skipped and [one.name for one in games] == [f"{tmp_path / 'a.sgfs'} line {n}" for n in (1, 2, 3)]


def test_the_lines_of_a_collection_are_counted_once() -> None:
    """Counting from the beginning for each game took the square of their number."""
    class Counted(bytes):
        seen = 0

        def count(self, line_end: bytes, start: int, end: int) -> int:  # type: ignore[override]
            Counted.seen += end - start
            return super().count(line_end, start, end)

    data = Counted("\n".join([game("aa")] * 50).encode())
    names = [name for name, _ in collection._named_games(Piece("a.sgf", 0, len(data)), data)]
    assert names == ["a.sgf", *(f"a.sgf line {line}" for line in range(2, 51))] and Counted.seen <= len(data)


def test_a_file_that_cannot_be_read_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "gone.sgf"
    path.write_text("(;SZ[9])")
    pieces = list(cut_into_pieces(str(path)))
    games, skipped = read_pieces(pieces, [9])
    assert (games, [one.kind for one in skipped]) == ([], [NO_MOVES])
    path.unlink()
    games, skipped = read_pieces(pieces, [9])
    assert (games, [one.kind for one in skipped]) == ([], [UNREADABLE])


@pytest.mark.parametrize("text", [
    "", "good move", "0.5 0.5 0.0 1.0", "0.5 0.5 0.0 1.0 16", "0.9 0.9 0.0 1.0 v=1", "-0.1 1.1 0.0 1.0 v=1",
    "nan 0.5 0.5 1.0 v=1", "a b c d v=1", "0.5 0.5 0.0 1.0 v=x", "82 A9:4.635e-12 B9:1.000e+00 pass:2.455e-09",
])
def test_other_comments_carry_no_win_rate(text: str) -> None:
    assert decode_search_comment(text) is None


def test_search_comments_are_read() -> None:
    comment = SearchComment(0.52, 0.46, 0.02, -3.5, 16)
    assert decode_search_comment("0.52 0.46 0.02 -3.5 v=16") == comment
    assert decode_search_comment("0.52 0.46 0.02 -3.5 v=16 weight=1.00 result=W+2") == comment
    assert comment.get_win_rate(2) == pytest.approx(0.53)
    assert comment.get_win_rate(1) == pytest.approx(0.47)
