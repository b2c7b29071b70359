"""Finished games in the tree: exact scores, komi, draws; superko; positions without a move."""
from __future__ import annotations

import numpy as np
import pytest

from board.constant import PASS
from board.geometry import get_geometry
from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from nn.feature import generate_input_planes
from tests.mcts.evaluators import Answer, ConstantEvaluator, HashEvaluator
from tests.mcts.trees import Game, check_tree, child_of, small_params

# All borders are closed: Black has 12 points, White 13, so Black leads by -1 before komi.
SETTLED = """
    . X X O .
    X X O O .
    . X O . O
    X X O O .
    . X X O .
"""
SEARCHES = ["search", "search_with_sequential_halving"]


def settled(color: str, komi: float) -> Game:
    """Return the settled position with `color` to move after the opponent's pass."""
    game = Game.from_diagram(SETTLED, "w" if color == "b" else "b", komi)
    game.play(None)
    return game


@pytest.mark.plain
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(("color", "komi"), [("b", -1.5), ("b", -20.0), ("w", -0.5), ("w", 0.0), ("w", 7.0)])
def test_passing_wins_when_ahead(color: str, komi: float, name: str) -> None:
    game = settled(color, komi)
    tree = MCTSTree(HashEvaluator(5, salt=2), 5, small_params(4))
    result = getattr(tree, name)(game.board, game.stone, SearchLimit(100, strict=True))
    best = result.candidates[0]
    assert (result.pos, result.winrate, best.raw_value, best.pv) == (PASS, 1.0, 1.0, [PASS])
    assert best.visits == max(c.visits for c in result.candidates) and best.winrate == 1.0


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(("color", "komi"), [("b", -0.5), ("b", 7.0), ("w", -1.5)])
def test_passing_loses_when_behind(color: str, komi: float, name: str) -> None:
    game = settled(color, komi)
    tree = MCTSTree(HashEvaluator(5, salt=2), 5, small_params(4))
    result = getattr(tree, name)(game.board, game.stone, SearchLimit(100, strict=True))
    passing = next(c for c in result.candidates if c.pos == PASS)
    assert result.pos != PASS and passing.visits > 0 and passing.winrate == 0.0 and passing.lcb == 0.0


@pytest.mark.parametrize("color", ["b", "w"])
def test_a_draw_is_half_a_win(color: str) -> None:
    game = settled(color, komi=-1.0)
    tree = MCTSTree(ConstantEvaluator(5, win=0.9), 5, small_params())
    result = tree.search(game.board, game.stone, SearchLimit(60, strict=True))
    # The opponent is said to win everywhere else.
    assert (result.pos, result.winrate) == (PASS, 0.5)


@pytest.mark.parametrize("komi", [-1.5, -1.0, -0.5])
def test_two_passes_in_the_tree_are_scored_for_the_side_to_move(komi: float) -> None:
    game = Game.from_diagram(SETTLED, "b", komi)
    tree = MCTSTree(HashEvaluator(5), 5, small_params(batch_size=3))
    tree.search(game.board, game.stone, SearchLimit(800, strict=True))
    end = child_of(child_of(tree.root, PASS), PASS)
    assert end.raw_value == {-1.5: 1.0, -1.0: 0.5, -0.5: 0.0}[komi]
    assert end.num_children == 0
    check_tree(tree)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_network_is_not_asked_about_finished_games(name: str) -> None:
    game = settled("b", -1.5)
    evaluator = HashEvaluator(5)
    tree = MCTSTree(evaluator, 5, small_params(8))
    getattr(tree, name)(game.board, game.stone, SearchLimit(300, strict=True))
    endings = sum(node_ends(tree))
    assert endings >= 1 and sum(evaluator.batches) == tree.num_nodes - endings


def node_ends(tree: MCTSTree) -> list[bool]:
    """Return for every node whether the game is over there."""
    waiting, ends = [tree.root], []
    while waiting:
        node = waiting.pop()
        ends.append(node.num_children == 0)
        waiting.extend(child for i in range(node.num_children) if (child := node.child(i)) is not None)
    return ends


# A player who may do nothing but pass: White has no point to play, Black only own eyes.
NOTHING_TO_PLAY = """
    . X X .
    X X X X
    X X X X
    . X X .
"""


@pytest.mark.plain
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("color", ["b", "w"])
@pytest.mark.parametrize("strict", [True, False])
def test_only_the_pass_is_left(color: str, name: str, strict: bool) -> None:
    game = Game.from_diagram(NOTHING_TO_PLAY, color)
    tree = MCTSTree(HashEvaluator(4), 4, small_params(4))
    result = getattr(tree, name)(game.board, game.stone, SearchLimit(30, strict=strict))
    assert result.pos == PASS and [c.pos for c in result.candidates] == [PASS]
    assert result.candidates[0].prior == 1.0 and 0.0 <= result.winrate <= 1.0
    check_tree(tree)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_finished_game_goes_on_when_a_move_is_asked_for(name: str) -> None:
    game = Game.from_diagram(SETTLED, "b", komi=-1.5)
    game.play(None)
    game.play(None)
    assert game.board.is_over
    tree = MCTSTree(HashEvaluator(5), 5, small_params())
    result = getattr(tree, name)(game.board, game.stone, SearchLimit(200, strict=True))
    assert result.visits == 200 and len(result.candidates) > 1
    assert game.board.is_over, "the board itself is left alone"
    if PASS in [c.pos for c in result.candidates if c.visits]:
        assert child_of(tree.root, PASS).num_children > 0, "one more pass does not end the game again"
    check_tree(tree)


@pytest.mark.plain
def test_a_ko_binds_only_the_player_whose_stone_was_taken() -> None:
    game = Game.from_diagram(". X O . / X O . O / . X O . / . . . .".replace("/", "\n"), "b")
    ko = game.board.POS(2, 2)
    game.play((3, 2))
    assert game.board.ko_pos == ko
    for color, allowed in (("w", False), ("b", True)):
        game.color = color
        tree = MCTSTree(HashEvaluator(4), 4, small_params())
        tree.search(game.board, game.stone, SearchLimit(5, strict=True))
        assert (ko in tree.root.action) == allowed


def superko_game(moves: int, check_superko: bool = True) -> Game:
    """Return a 2x2 game in which Black's seventh move at A2 would repeat the position after the first."""
    game = Game(2, komi=0.5, check_superko=check_superko)
    for move in [(1, 1), (1, 2), (2, 1), (2, 2), (1, 1), (2, 1)][:moves]:
        game.play(move)
    return game


@pytest.mark.plain
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("check_superko", [True, False])
def test_an_own_move_that_repeats_a_position_is_no_candidate(name: str, check_superko: bool) -> None:
    game = superko_game(6, check_superko)
    board, repeating = game.board, game.board.POS(1, 1)
    assert board.is_legal(repeating, game.stone) != check_superko and board.is_superko(repeating, game.stone)
    # It takes three stones, and the network sees nothing else.
    tree = MCTSTree(ConstantEvaluator(2, {repeating: 20.0}), 2, small_params())
    result = getattr(tree, name)(board, game.stone, SearchLimit(50, strict=True))
    assert [c.pos for c in result.candidates] == [PASS] and result.pos == PASS


@pytest.mark.plain
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("check_superko", [True, False])
def test_the_opponents_repetition_is_foreseen_where_it_is_legal(name: str, check_superko: bool) -> None:
    game = superko_game(5, check_superko)  # White is to play at B2, and Black repeats
    tree = MCTSTree(LineEvaluator(superko_game(6)), 2, small_params())
    getattr(tree, name)(game.board, game.stone, SearchLimit(50, strict=True))
    after = child_of(tree.root, game.twins.pos((2, 1)))
    assert (game.board.POS(1, 1) in after.action) != check_superko
    game.play((2, 1))
    kept = tree.search(game.board, game.stone, SearchLimit(50, strict=True))
    assert [c.pos for c in kept.candidates] == [PASS], "what was the opponent's is now an own move"


class LineEvaluator(ConstantEvaluator):
    """Expects one line of play: in every position of a game it sees nothing but the move that was played."""

    def __init__(self, game: Game) -> None:
        super().__init__(game.board.board_size)
        self.next: dict[bytes, int] = {}
        replay = game.board.copy()
        replay.clear()
        index = get_geometry(replay.board_size).policy_index
        for color, pos in game.board.get_move_history():
            self.next[generate_input_planes(replay, color).tobytes()] = int(index[pos])
            replay.put_stone(pos, color)

    def __call__(self, planes: np.ndarray) -> Answer:
        logits, value = super().__call__(planes)
        for i, position in enumerate(planes):
            if position.tobytes() in self.next:
                logits[i, self.next[position.tobytes()]] = 12.0
        return logits, value


@pytest.mark.plain
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("played", [1, 2, 3, 4, 5])
def test_superko_below_the_root_knows_the_game_before_it(played: int, name: str) -> None:
    game, whole = superko_game(played), superko_game(6)
    tree = MCTSTree(LineEvaluator(whole), 2, small_params(tree_size=4))
    getattr(tree, name)(game.board, game.stone, SearchLimit(100, strict=True))
    node = tree.root
    for move in whole.moves[played:]:
        node = child_of(node, whole.twins.pos(move))
    assert node.action.tolist() == [PASS]
