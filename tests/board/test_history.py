"""Undo, copies, set-up positions, and what the record keeps."""
from __future__ import annotations

import copy
import pickle
import random
from functools import cache

import numpy as np
import pytest

from board.constant import PASS
from board.go_board import GoBoard, IllegalMoveError, copy_board
from board.state import FIELDS
from board.stone import Stone
from tests.board.test_random_games import choose
from tests.reference.slow_board import OTHER
from tests.reference.twins import STONES, Twins, check_consistency, semantics

pytestmark = pytest.mark.plain


def random_board(size: int, moves: int, seed: int, handicap: tuple[int, ...] = (), superko: bool = True) -> GoBoard:
    """Return a board in the middle of a random game."""
    rng, twins, color = random.Random(seed), Twins(size, superko), "w" if handicap else "b"
    for pos in handicap:
        twins.fast.put_handicap_stone(pos, Stone.BLACK)
    twins.slow.set_stones([twins.point(pos) for pos in handicap], [])
    for _ in range(moves):
        twins.play(choose(twins, color, rng), color)
        color = OTHER[color]
    return twins.fast


@pytest.mark.parametrize(("size", "moves", "handicap"), [(2, 40, ()), (3, 60, ()), (4, 60, (7, 14)), (5, 90, ())])
def test_undo_equals_a_replay_without_the_last_move(size: int, moves: int, handicap: tuple[int, ...]) -> None:
    board = random_board(size, moves, seed=size, handicap=handicap)
    played = board.get_move_history()
    states = []
    again = GoBoard(board_size=size, check_superko=True)
    again.set_history([], handicap)
    for color, pos in played:
        states.append(semantics(again))
        again.put_stone(pos, color)
    assert semantics(again) == semantics(board)
    for expected in reversed(states):
        board.undo()
        assert semantics(board) == expected
        check_consistency(board)
    assert board.get_handicap_history() == list(handicap) and board.moves == 1
    with pytest.raises(ValueError, match="cannot undo"):
        board.undo()


def test_undo_restores_the_ko() -> None:
    twins = Twins.from_diagram(". X O .\nX . X O\n. X O .\n. . . .")
    board = twins.fast
    board.put_stone(twins.pos((2, 2)), Stone.WHITE)
    in_ko = semantics(board)
    board.put_stone(twins.pos((4, 4)), Stone.BLACK)
    board.undo()
    assert semantics(board) == in_ko and not board.is_legal(twins.pos((3, 2)), Stone.BLACK)
    board.undo()
    assert board.moves == 1 and board.is_legal(twins.pos((2, 2)), Stone.WHITE) and board.prisoner == [0, 0]


@pytest.mark.parametrize("moves", [-1, 3, 300])
def test_going_back_to_moves_that_there_are_not_is_refused(moves: int) -> None:
    board = GoBoard(9)
    for pos in (board.POS(3, 3), board.POS(7, 7)):
        board.put_stone(pos, board.get_to_move())
    before = board.get_move_history()
    with pytest.raises(ValueError, match=f"{moves} of 2"):
        board.truncate(moves)
    assert board.get_move_history() == before and board.get_to_move() == Stone.BLACK
    board.truncate(1)
    assert board.get_move_history() == before[:1]


def test_undo_never_takes_back_set_up_stones() -> None:
    board = Twins.from_diagram("X .\n. O").fast
    with pytest.raises(ValueError, match="cannot undo"):
        board.undo()
    assert [int(stone) for stone in board.get_board_data()] == [1, 0, 0, 2]


def test_two_passes_end_the_game_until_somebody_plays() -> None:
    board = GoBoard(board_size=3)
    assert not board.is_over
    board.put_stone(PASS, Stone.BLACK)
    assert not board.is_over
    board.put_stone(PASS, Stone.WHITE)
    assert board.is_over and board.moves == 3
    board.put_stone(board.POS(2, 2), Stone.BLACK)
    assert not board.is_over
    board.undo()
    assert board.is_over


def test_the_side_to_move_is_the_opponent_of_the_last_mover() -> None:
    board = GoBoard(board_size=5)
    assert board.get_to_move() is Stone.BLACK
    board.put_stone(board.POS(1, 1), Stone.WHITE)
    assert board.get_to_move() is Stone.BLACK
    board.put_stone(PASS, Stone.BLACK)
    assert board.get_to_move() is Stone.WHITE
    board.put_stone(board.POS(3, 3), Stone.BLACK)
    assert board.get_to_move() is Stone.WHITE


@pytest.mark.parametrize(("black", "white", "to_move", "expected"), [
    ([12], [], None, Stone.WHITE), ([12], [13], None, Stone.BLACK), ([], [12], None, Stone.BLACK),
    ([], [], None, Stone.BLACK), ([12], [], Stone.BLACK, Stone.BLACK), ([12], [13], Stone.WHITE, Stone.WHITE),
])
def test_the_side_to_move_after_a_set_up(black, white, to_move, expected: Stone) -> None:
    board = GoBoard(board_size=9)
    board.set_up(black, white, to_move)
    assert board.get_to_move() is expected and board.moves == 1 and board.get_move_history() == []
    board.put_stone(60, expected)
    board.undo()
    assert board.get_to_move() is expected


@pytest.mark.parametrize(("black", "white"), [
    ([8], [9, 15]),  # A7 has no liberty on 5x5 (8 is the top-left corner of width 7)
    ([8, 8], []), ([8], [8]), ([0], []), ([7], []), ([], [-1]), ([], [49]), ([], [10**6]), ([14], []),
    ([p for y in range(1, 6) for p in range(7 * y + 1, 7 * y + 6)], []),
])
def test_a_bad_set_up_is_refused_and_changes_nothing(black: list[int], white: list[int]) -> None:
    board = random_board(5, 20, seed=1)
    before = semantics(board)
    with pytest.raises(ValueError):
        board.set_up(black, white)
    assert semantics(board) == before
    check_consistency(board)


def test_set_up_forgets_the_game_before() -> None:
    board = random_board(5, 30, seed=2)
    board.set_up([8, 9], [24])
    fresh = GoBoard(board_size=5, check_superko=True)
    fresh.set_up([8, 9], [24])
    assert semantics(board) == semantics(fresh)
    check_consistency(board)
    board.clear()
    assert semantics(board) == semantics(GoBoard(board_size=5, check_superko=True))


def test_clear_keeps_size_komi_and_rules() -> None:
    board = random_board(5, 30, seed=3)
    board.set_komi(0.5)
    board.clear()
    assert board.get_komi() == 0.5 and board.get_board_size() == 5 and board.check_superko
    assert board.moves == 1 and board.prisoner == [0, 0] and board.ko_pos == 0 and board.ko_move == 0


def test_handicap_stones_come_first() -> None:
    board = GoBoard(board_size=5)
    board.put_handicap_stone(8, Stone.BLACK)
    for pos in (8, PASS, 7, -1):
        with pytest.raises(IllegalMoveError):
            board.put_handicap_stone(pos, Stone.BLACK)
    board.put_stone(12, Stone.WHITE)
    with pytest.raises(IllegalMoveError):
        board.put_handicap_stone(10, Stone.BLACK)
    assert board.get_handicap_history() == [8] and board.moves == 2


def test_set_history_replays_handicap_and_moves() -> None:
    board = random_board(5, 40, seed=4, handicap=(16, 32))
    again = GoBoard(board_size=5, check_superko=True)
    again.set_history(board.get_move_history(), board.get_handicap_history())
    assert semantics(again) == semantics(board)


def by_copy_board(board: GoBoard) -> GoBoard:
    """Copy into a board that has played another game."""
    target = random_board(board.board_size, 7, seed=99)
    copy_board(target, board)
    return target


@cache
def played_board(moves: int) -> GoBoard:
    """Return a board that nobody may change."""
    board = random_board(5, moves, seed=moves, handicap=(16, 32))
    board.set_komi(5.5)
    return board


@pytest.mark.parametrize("duplicate", [
    GoBoard.copy, copy.copy, copy.deepcopy, by_copy_board, lambda board: pickle.loads(pickle.dumps(board)),
], ids=["copy()", "copy.copy", "deepcopy", "copy_board", "pickle"])
@pytest.mark.parametrize("moves", [0, 1, 45, 260])
def test_a_copy_is_equal_and_independent(duplicate, moves: int) -> None:
    board = played_board(moves)
    before = semantics(board)
    twin = duplicate(board)
    assert semantics(twin) == before and twin.check_superko
    assert not np.shares_memory(twin.state.buffer, board.state.buffer)
    assert not np.shares_memory(twin.history.hash, board.history.hash)
    for name, _, _ in FIELDS:
        assert np.shares_memory(getattr(twin.state, name), twin.state.buffer), name
    rng = random.Random(5)
    for number in range(20):
        color = "bw"[number % 2]
        twin.put_stone(rng.choice([PASS, *twin.get_all_legal_pos(STONES[color])]), STONES[color])
        check_consistency(twin)
    twin.set_komi(0)
    assert semantics(board) == before
    for _ in range(20 + moves):
        twin.undo()
    assert twin.get_handicap_history() == [16, 32] and twin.moves == 1
    assert semantics(board) == before
    check_consistency(board)


def test_a_board_of_another_size_cannot_be_copied_over() -> None:
    with pytest.raises(ValueError, match="5"):
        copy_board(GoBoard(board_size=9), GoBoard(board_size=5))


def test_the_record_keeps_color_point_and_hash_of_every_move() -> None:
    board = GoBoard(board_size=5)
    hashes = [int(board.positional_hash[0])]
    for color, pos in ((Stone.BLACK, 8), (Stone.WHITE, 24), (Stone.WHITE, PASS)):
        board.put_stone(pos, color)
        hashes.append(int(board.positional_hash[0]))
    record = board.record
    assert record.get_hash_history() == hashes and hashes[2] == hashes[3] and len(set(hashes)) == 3
    assert record.get(2) == (Stone.WHITE, 24, hashes[2]) and len(record) == 3
    assert record.color[1:] == [Stone.BLACK, Stone.WHITE, Stone.WHITE] and record.pos[1:] == [8, 24, PASS]
    assert all(record.has_same_hash(value) for value in hashes) and not record.has_same_hash(12345)
    assert record.get_last_pos() == PASS
