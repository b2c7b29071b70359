"""Captures, ladders, nets, life and death by proof-number search: a twin, and what every player knows."""
from __future__ import annotations

import random

import numpy as np
import pytest

from board.go_board import GoBoard
from board.stone import Stone
from common.kernel import without_compiler
from mcts.tactics.capture import MOST_POINTS, solve
from mcts.tactics.dfpn import CAPTURED, SAFE, UNKNOWN, new_proof_work
from mcts.tactics.region import mark_region
from tests.gtp.players import Controller
from tests.mcts.trees import Game
from tests.reference.naive_capture import TooLargeError, find_region, is_captured
from tests.reference.twins import STONES, Twins

RESULTS = {"captured": CAPTURED, "safe": SAFE}


def ask(diagram: str, target: str, color: Stone) -> tuple[int, list[str]]:
    """Return whether the string is captured with `color` to begin, and the line."""
    board = Twins.from_diagram(diagram).fast
    with without_compiler():
        verdict = solve(board, board.coordinate.convert_from_gtp_format(target), color)
    return verdict.result, [board.coordinate.convert_to_gtp_format(pos) for pos in verdict.line]


THREE = """
. . . . .
X X X X .
O O O X .
. . O X .
O . O X .
"""
SQUARE = """
. . . . .
X X X X .
O O O X X
. . O O X
. . O . X
"""
FOUR_IN_A_ROW = """
. . . . . .
. . . . . .
X X X X X X
O O O O O O
. . . . O X
O O O O O .
"""
TAKEN_FROM_OUTSIDE = """
. O .
O X X
X X X
"""
TAKEN_STONES_LEAVE_ROOM = """
X O .
. X X
X . O
"""
RACE = """
. . . . . . .
. . . . . . .
O O O O O . .
X X X X O . .
O O O X . O .
. . O X . O .
. . O X . O .
"""
SLOW_RACE = """
. . . . . . .
. . . . . . .
O O O O O O .
X X X X X O .
O O O O X . O
. . . O X . O
. . . O X . O
"""
LADDER = """
. . X X . .
. X O O . .
. . X . . .
. . . . . .
. . . . . .
. . . . . .
"""
NET = """
. . . . . . .
. . X X . . .
. X O O . . .
. X X . . . .
. . . . X . .
. . . . . . .
. . . . . . .
"""
ATARI = """
. . . . . .
. X X X . .
X O O X . .
X O . O X .
. X O O X .
. . X X . .
"""


@pytest.mark.parametrize(("diagram", "target", "first", "result", "move"), [
    (THREE, "C1", Stone.BLACK, "captured", "B2"), (THREE, "C1", Stone.WHITE, "safe", "B2"),
    (SQUARE, "C1", Stone.WHITE, "captured", None), (SQUARE, "C1", Stone.BLACK, "captured", None),
    (FOUR_IN_A_ROW, "A1", Stone.BLACK, "safe", None), (FOUR_IN_A_ROW, "A1", Stone.WHITE, "safe", None),
    (LADDER, "C5", Stone.BLACK, "captured", None), (NET, "C5", Stone.BLACK, "captured", None),
    (ATARI, "C4", Stone.BLACK, "captured", "C3"),
], ids=["three, attacker", "three, defender", "square, defender", "square, attacker", "four, attacker",
        "four, defender", "ladder", "net", "atari"])
def test_what_every_player_knows(diagram: str, target: str, first: Stone, result: str, move: str | None) -> None:
    found, line = ask(diagram, target, first)
    assert found == RESULTS[result]
    assert move is None or line[0] == move


# Eye spaces: "." and, where one point decides, "*" on that point.
VITAL = {"pyramid four": (".*.", " . "), "bulky five": (".*.", ".. "), "cross of five": (" . ", ".*.", " . "),
         "rabbity six": (" . ", ".*.", " .."), "bent three": ("*.", ". ")}
ALIVE = {"zigzag four": (".. ", " .."), "L of four": ("...", ".  "), "U of five": ("...", ". ."),
         "V of five": ("...", ".  ", ".  "), "two rows of three": ("...", "...")}


def enclosed(eye_space: tuple[str, ...]) -> GoBoard:
    """Return 9x9 with White around an eye space at the upper edge, and Black around White, with liberties outside."""
    around = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    eye = {(x + 4, y + 1) for y, row in enumerate(eye_space) for x, point in enumerate(row) if point != " "}
    white = {(x + dx, y + dy) for x, y in eye for dx, dy in around if y + dy > 0} - eye
    black = {(x + dx, y + dy) for x, y in white for dx, dy in around if y + dy > 0} - eye - white
    board = GoBoard(9)
    board.set_up([board.POS(*point) for point in black], [board.POS(*point) for point in white])
    return board


@pytest.mark.parametrize("name", [*VITAL, *ALIVE])
def test_eye_spaces(name: str) -> None:
    """Whoever takes the vital point decides; without one, shapes of four and more but the square live."""
    eye_space = (VITAL | ALIVE)[name]
    board = enclosed(eye_space)
    target = next(pos for pos in board.onboard_pos if board.board[pos] == Stone.WHITE)
    with without_compiler():
        black, white = (solve(board, target, color) for color in (Stone.BLACK, Stone.WHITE))
    if name in ALIVE:
        assert black.result == white.result == SAFE
    else:
        vital = next(board.POS(row.index("*") + 4, y + 1) for y, row in enumerate(eye_space) if "*" in row)
        assert (black.result, white.result) == (CAPTURED, SAFE) and black.line[0] == white.line[0] == vital


def random_problem(seed: int) -> tuple[Game, int]:
    """Return a small game and a stone of it, around which there are few empty points."""
    for start in range(seed * 1000, seed * 1000 + 1000):
        rng = random.Random(start)
        game = Game.random(4, rng.randrange(9, 14), seed=start)
        game.board.check_superko = False
        stones = [pos for pos in game.board.onboard_pos if game.board.board[pos] != Stone.EMPTY]
        target = rng.choice(stones)
        region = find_region(game.board, target, MOST_POINTS)
        empty = [pos for pos in region if game.board.board[pos] == Stone.EMPTY]
        if 2 <= len(empty) <= 5 and len(region) < 10:
            return game, target
    raise AssertionError("no problem")


@pytest.mark.parametrize("size", [4, 6])
def test_regions_are_those_of_the_naive_search(size: int) -> None:
    work, closed = new_proof_work(size), 0
    for seed in range(60):
        board = Game.random(size, 8 + seed % (size * size), seed=seed).board
        for string in board.strings.string.values():
            target, most = string.get_origin(), 3 + seed % 12
            found = mark_region(board.state, target, most, work.region, work.queue)
            expected = find_region(board, target, most)
            assert np.flatnonzero(work.region).tolist() == expected and found == bool(expected)
            closed += found
    assert closed > 30


@pytest.mark.parametrize("seed", range(12))
def test_random_problems_are_settled_as_by_the_twin(seed: int) -> None:
    game, target = random_problem(seed)
    twins = game.twins
    region = {twins.point(pos) for pos in find_region(game.board, target, MOST_POINTS)}
    slow = twins.slow.copy()
    slow.ko = None
    for color in "bw":
        try:
            expected = is_captured(slow.copy(), twins.point(target), region, color, 4000)
        except TooLargeError:
            continue
        with without_compiler():
            found = solve(game.board, target, STONES[color], 20000)
        assert found.result == (CAPTURED if expected else SAFE)


def test_what_is_called_captured_is_so_wherever_the_defender_plays() -> None:
    """Strings that close in may be captured from outside, where they have few liberties: 18 % of claims were false."""
    claims = 0
    for seed in (*range(6), 13, 26, 34, 44, 56, 58, 63, 68):
        rng = random.Random(seed)
        game = Game.random(3, rng.randrange(3, 8), seed=seed)
        game.board.check_superko = False
        stones = [pos for pos in game.board.onboard_pos if game.board.board[pos] != Stone.EMPTY]
        target, slow = rng.choice(stones), game.twins.slow.copy()
        slow.ko = None
        for color in "bw":
            with without_compiler():
                found = solve(game.board, target, STONES[color], 20000)
            if found.result == CAPTURED:
                claims += 1
                assert is_captured(slow.copy(), game.twins.point(target), set(slow.points), color, 20000)
    assert claims > 5


def test_an_enclosing_string_is_taken_from_outside() -> None:
    """Black A3 takes a stone of those that close Black in, and has liberties then."""
    assert ask(TAKEN_FROM_OUTSIDE, "C2", Stone.BLACK)[0] == SAFE


def test_where_stones_were_taken_both_may_play() -> None:
    """White takes A3 and then A1, which stands beside no point that is closed in, and needs the room it leaves."""
    assert ask(TAKEN_STONES_LEAVE_ROOM, "B3", Stone.WHITE)[0] == SAFE


def test_a_race_is_lost_to_moves_outside() -> None:
    """Each side needs three moves: who begins wins. With a fourth liberty outside Black wins in any case."""
    assert ask(RACE, "C1", Stone.BLACK)[0] == CAPTURED and ask(RACE, "C1", Stone.WHITE)[0] == UNKNOWN
    wider = RACE.replace("X X X X O . .", "X X X X . O .").replace("O O O O O . .", "O O O O O O .")
    assert ask(wider, "C1", Stone.BLACK)[0] == ask(wider, "C1", Stone.WHITE)[0] == CAPTURED


def test_what_passes_save_is_not_settled_whoever_begins() -> None:
    """What is known of a position where passes count says nothing of it where they do not."""
    assert ask(SLOW_RACE, "D1", Stone.BLACK)[0] == UNKNOWN


def test_both_results_are_met() -> None:
    results = set()
    for seed in range(12):
        game, target = random_problem(seed)
        with without_compiler():
            results |= {solve(game.board, target, color, 20000).result for color in (Stone.BLACK, Stone.WHITE)}
    assert results >= {CAPTURED, SAFE}


def test_a_search_that_is_too_long_says_so_and_changes_nothing() -> None:
    board = Twins.from_diagram(NET).fast
    before = board.state.buffer.copy()
    with without_compiler():
        assert solve(board, board.coordinate.convert_from_gtp_format("C5"), Stone.BLACK, 2).result == UNKNOWN
    assert np.array_equal(before, board.state.buffer)


def test_the_command_answers_for_both_colors() -> None:
    gtp = Controller(size=5)
    with without_compiler():
        for line in ("b A4 b B4 b C4 b D4 b D3 b D2 b D1", "w A3 w B3 w C3 w C2 w C1 w A1"):
            words = line.split()
            for color, point in zip(words[::2], words[1::2], strict=True):
                gtp.ask(f"play {color} {point}")
        black, white = gtp.ask("hiyoko-solve C1").split("\n")
        assert black.startswith("black first: captured, B2") and white == "white first: safe, B2"
        assert gtp.fail("hiyoko-solve E5") == "no string there" and gtp.fail("hiyoko-solve") == "invalid coordinate"
