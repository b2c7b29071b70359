"""Golden trees: literals that a change of the search's meaning must change, and nothing else may.

They are what this code gave when it equaled its naive twin and mctx (test_puct.py, test_sequential_halving.py). After
a wanted change of selection or of its default numbers make them anew and say so in the commit; after an optimization
they stay.
"""
from __future__ import annotations

import pytest

from mcts.analysis import SearchResult
from mcts.params import SearchLimit
from mcts.tree import MCTSTree
from tests.mcts.evaluators import HashEvaluator
from tests.mcts.trees import Game, small_params


def top(game: Game, result: SearchResult, count: int) -> str:
    """Return the best moves with their visits."""
    name = game.board.coordinate.convert_to_gtp_format
    return " ".join(f"{name(c.pos)}:{c.visits}" for c in result.candidates[:count])


@pytest.mark.parametrize(("length", "batch_size", "expected", "winrate"), [
    (0, 1, "J5:28 C5:26 H1:22 C7:19 D3:17 E6:13 A3:13 G4:10", 0.5348805),
    (20, 1, "F2:57 H4:30 G7:20 D5:16 E3:12 E5:11 F1:11 B3:9", 0.5297758),
    (20, 16, "F2:57 H4:26 C9:23 G7:20 D5:17 E5:14 C5:10 F1:7", 0.5493662),
    (70, 1, "F7:92 J3:43 C4:34 C9:21 G6:4 pass:3 G8:1 D3:1", 0.5072643),
])
def test_puct_200_visits(length: int, batch_size: int, expected: str, winrate: float) -> None:
    game = Game.random(9, length, seed=length)
    tree = MCTSTree(HashEvaluator(9, spread=8.0), 9, small_params(batch_size))
    result = tree.search(game.board, game.stone, SearchLimit(200, strict=True))
    assert top(game, result, 8) == expected
    assert result.winrate == pytest.approx(winrate, abs=1e-6)


@pytest.mark.parametrize(("length", "batch_size", "expected", "winrate"), [
    (0, 1, "H1:12 D3:12 C7:5 J5:5 E6:2 E2:2 C5:2 F8:2", 0.5640242),
    (20, 1, "F2:12 D5:12 G7:5 H4:5 C9:2 E3:2 B1:2 C5:2", 0.5214615),
    (20, 16, "F2:12 D5:12 G7:5 H4:5 C9:2 E3:2 B1:2 C5:2", 0.5214615),
    (70, 1, "C4:12 J3:12 E5:5 F6:5 C9:2 D1:2 F7:2 G3:2", 0.5626958),
])
def test_sequential_halving_50_visits(length: int, batch_size: int, expected: str, winrate: float) -> None:
    game = Game.random(9, length, seed=length)
    tree = MCTSTree(HashEvaluator(9, spread=8.0), 9, small_params(batch_size))
    result = tree.search_with_sequential_halving(game.board, game.stone, SearchLimit(50))
    assert top(game, result, 8) == expected
    assert result.winrate == pytest.approx(winrate, abs=1e-6)
