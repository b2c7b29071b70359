"""The opening book: positions are known whichever way the board lies; files; making one; playing from it."""
from __future__ import annotations

from pathlib import Path

import pytest

from board.constant import PASS
from board.go_board import GoBoard
from board.stone import Stone
from common.kernel import without_compiler
from common.lock_file import take_lock
from engine.book import Book, BookError, find_key, turn_back, turn_move
from engine.engine import Engine, EvaluatorSource
from engine.options import EngineOptions
from nn.model_file import ANY_SIZE
from tests.gtp.players import Controller, FakeEvaluator
from tests.mcts.trees import Game
from tests.tools.in_process import ProgramRunner
from tools.book import BookMaker, count_replies, main, make_book


def turned(board: GoBoard, symmetry: int) -> GoBoard:
    """Return the game of a board, played as it is seen through a symmetry."""
    other = GoBoard(board.board_size)
    for color, pos in board.get_move_history():
        other.put_stone(turn_move(board.board_size, pos, symmetry), color)
    return other


@pytest.mark.parametrize("seed", range(3))
def test_a_position_is_known_whichever_way_the_board_lies(seed: int) -> None:
    board = Game.random(5, 15, seed=seed).board
    color = board.get_to_move()
    key = find_key(board, color)
    assert find_key(board, Stone.get_opponent_color(color)).hash != key.hash
    moves = [pos for pos in board.onboard_pos if board.is_legal_not_eye(pos, color)]
    for symmetry in range(8):
        other = turned(board, symmetry)
        there = find_key(other, color)
        assert there.hash == key.hash
        for pos in moves:
            seen = turn_back(5, turn_move(5, pos, key.symmetry), there.symmetry)
            after, after_there = board.copy(), other.copy()
            after.put_stone(pos, color)
            after_there.put_stone(seen, color)
            opponent = Stone.get_opponent_color(color)
            assert find_key(after, opponent).hash == find_key(after_there, opponent).hash


def test_a_ko_makes_another_position() -> None:
    game = Game(4)
    for point in ((2, 1), (3, 1), (1, 2), (4, 2), (2, 3), (3, 3), (3, 2), (2, 2)):
        game.play(point)  # White's last move takes the ko
    key = find_key(game.board, game.stone)
    later = GoBoard(4)  # the same stones without the ko
    black = [pos for pos in game.board.onboard_pos if game.board.board[pos] == Stone.BLACK]
    white = [pos for pos in game.board.onboard_pos if game.board.board[pos] == Stone.WHITE]
    later.set_up(black, white, Stone.BLACK)
    assert find_key(later, Stone.BLACK).hash != key.hash


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    book, path = Book(5, 6.5), tmp_path / "book.txt"
    for line, move in (((), "C3"), (("C3", "B2"), "D4"), (("B2", "C3", "D4", "E5"), "pass")):
        board = book.play(line)
        book.add(board, board.coordinate.convert_from_gtp_format(move), 0.5, 7)
    book.write(path)
    assert path.read_text() == ("# book size 5 komi 6.5\n= C3 0.500 7\nC3 B2 = D4 0.500 7\n"
                                "B2 C3 D4 E5 = pass 0.500 7\n")
    again = Book.read(path)
    for line, move in (((), "C3"), (("C3", "D2"), "B4"), (("B4", "C3", "D2", "E1"), "pass")):
        board = again.play(line)
        found = again.find(board, board.get_to_move())
        assert found is not None and board.coordinate.convert_to_gtp_format(found[0]) == move
    assert again.find(again.play(["C3"]), Stone.WHITE) is None
    assert again.find(GoBoard(5, 7.0), Stone.BLACK) is None and again.find(GoBoard(6, 6.5), Stone.BLACK) is None


@pytest.mark.parametrize(("text", "reason"), [
    ("", "does not begin"), ("# book size 40 komi 7\n", "board size 40"),
    ("# book size 5 komi 7\nC3 C3 = B2 0.5 1\n", "line 2"),
    ("# book size 5 komi 7\n= C3 0.5 1\nC3 = C3 0.5 1", "line 3"), ("# book size 5 komi 7\n= C3 1.5 1", "line 2"),
    ("# book size 5 komi 7\n= C3", "line 2"), ("# book size 5 komi 7\n= Z9 0.5 1", "line 2"), (None, "No such file"),
])
def test_a_bad_file_is_one_line(text: str | None, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BookError, match=reason) as caught:
        Book.read(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_the_engine_plays_from_the_book_while_it_can(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    path = tmp_path / "book.txt"
    path.write_text("# book size 4 komi 7\n= B2 0.600 50\nB2 C3 = C2 0.550 40\n")
    with without_compiler():
        player = Controller(size=4, visits=2, book=str(path))
        assert player.ask("genmove b") in ("B2", "B3", "C2", "C3")
        player.ask("clear_board")
        player.ask("play b C2")
        player.ask("play w B3")
        assert player.ask("genmove b") in ("B2", "C3")
        assert "book: " in capfd.readouterr().err
        player.ask("genmove w")
        assert "book: " not in capfd.readouterr().err
        player.ask("clear_board")
        assert player.ask("lz-genmove_analyze b avoid b B2,B3,C2,C3 1") not in ("play B2", "play C3")
        assert "book: " not in capfd.readouterr().err, "who asks for another move gets one"
        player.ask("clear_board")
        assert "info move " in player.ask("lz-genmove_analyze b")
        assert "book: " in capfd.readouterr().err
        player.ask("komi 5")
        for _ in range(2):
            player.ask("clear_board")
            player.ask("genmove b")
        assert capfd.readouterr().err.count("it is for 4x4 and komi 7, not for this game") == 1


def test_a_level_below_the_full_one_knows_no_book(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    path = tmp_path / "book.txt"
    path.write_text("# book size 4 komi 7\n= B2 0.600 50\n")
    with without_compiler():
        Controller(size=4, visits=2, book=str(path), level=3).ask("genmove b")
    assert "book: " not in capfd.readouterr().err


def test_a_move_that_repeats_a_position_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    book, board = Book(5, 7.0), GoBoard(5, 7.0)
    book.add(board, board.onboard_pos[12], 0.5, 10)
    assert book.find(board, Stone.BLACK) is not None
    monkeypatch.setattr(board, "is_superko", lambda *_: True)
    assert book.find(board, Stone.BLACK) is None


def new_engine() -> Engine:
    """Return a player with made-up knowledge for a small board."""
    source = EvaluatorSource(lambda size: FakeEvaluator(size or 3), ANY_SIZE)
    return Engine(EngineOptions(size=3, visits=2, strict_visits=2, tree_size=200, batch_size=1), source)


def test_a_book_that_is_gone_on_with_is_the_same(tmp_path: Path) -> None:
    with without_compiler():
        for name, steps in (("once.txt", (6,)), ("twice.txt", (2, 6))):
            for positions in steps:
                path = tmp_path / name
                book = Book.read(path) if path.exists() else Book(3, 7.0)
                make_book(BookMaker(new_engine(), book, {}, 0.0, 6), path, 1.0, positions)
    assert (tmp_path / "once.txt").read_text() == (tmp_path / "twice.txt").read_text()
    book = Book.read(tmp_path / "once.txt")
    assert len(book) == 6 and book.find(GoBoard(3), Stone.BLACK) is not None
    for line in (["A1"], ["B1"]):  # the replies of the first move, symmetric ones once
        assert book.find(book.play(line), Stone.WHITE) is not None


def test_two_runs_on_one_book_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    lock = take_lock(tmp_path / ".book.txt.lock")
    assert lock is not None
    arguments = ["--out", str(path), "--size", "3", "--model", "none", "--visits", "2", "--positions", "1"]
    result = ProgramRunner().invoke(main, arguments)
    assert result.exit_code == 2 and "another run is at work on" in result.output and not path.exists()
    lock.close()
    with without_compiler():
        assert ProgramRunner().invoke(main, arguments).exit_code == 0
    assert len(Book.read(path)) == 1


def test_replies_of_games_are_counted_as_the_book_sees_them(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[5];B[bb];W[cc];B[])")
    (tmp_path / "b.sgf").write_text("(;GM[1]SZ[5];B[dd];W[cc])")
    replies = count_replies(tmp_path, 5, 2)
    first = find_key(GoBoard(5), Stone.BLACK)
    assert sum(replies[first.hash].values()) == 2
    board = GoBoard(5)
    board.put_stone(board.coordinate.convert_from_gtp_format("B2"), Stone.BLACK)
    key = find_key(board, Stone.WHITE)
    assert replies[key.hash] == {turn_move(5, board.coordinate.convert_from_gtp_format("C3"), key.symmetry): 2}
    assert turn_move(5, PASS, 3) == turn_back(5, PASS, 3) == PASS


@pytest.mark.parametrize("komi", [7.0, 0.5, -3.25, 0.00001, 2e6])
def test_a_book_of_any_komi_comes_back(komi: float, tmp_path: Path) -> None:
    """Also one that an editor has put a byte order mark in front of."""
    book, board = Book(5, komi), GoBoard(5, komi)
    book.add(board, board.onboard_pos[12], 0.5, 10)
    book.write(tmp_path / "book.txt")
    assert Book.read(tmp_path / "book.txt").komi == komi
    (tmp_path / "book.txt").write_text("\ufeff" + (tmp_path / "book.txt").read_text(), encoding="utf-8")
    assert Book.read(tmp_path / "book.txt").find(board, Stone.BLACK) is not None
