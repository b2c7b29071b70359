"""The search that the options choose."""
from __future__ import annotations

import random
from typing import Any

from board.constant import PASS
from board.go_board import GoBoard
from board.ruleset import Rules
from board.state import new_state
from board.stone import Stone
from engine.choosing import MoveChooser, Watch
from engine.move_choice import first_playable, follows_pass
from engine.options import BOUND_SHARE, KNOWING_LEAD_WEIGHT, EngineOptions
from mcts.outcome import playout_share
from mcts.params import SearchLimit
from mcts.restriction import Restriction
from mcts.time_manager import StartOptions, TimeManager
from mcts.tree import MCTSTree
from selfplay.games import new_terms
from tests.mcts.evaluators import HashEvaluator


def choose(seed: int, visits: int = 16) -> int:
    """Return the move that sequential halving finds on an empty board."""
    options = EngineOptions(sequential_halving=True)
    board = GoBoard(5)
    tree = MCTSTree(HashEvaluator(5), 5, options.search_params())
    chooser = MoveChooser(options, TimeManager(StartOptions(visits)), board, board.get_to_move())
    return chooser.choose(tree, random.Random(seed), SearchLimit(visits)).pos


def choose_watched(board: GoBoard, watch: Watch) -> int:
    """Return Black's move that a short search finds."""
    options = EngineOptions(batch_size=1)
    tree = MCTSTree(HashEvaluator(5), 5, options.search_params())
    chooser = MoveChooser(options, TimeManager(StartOptions(8)), board, Stone.BLACK)
    return chooser.choose(tree, random.Random(1), SearchLimit(8), watch).pos


def test_a_pass_that_would_win_is_played_unless_it_is_not_allowed() -> None:
    board, restriction = GoBoard(5, komi=-30.0), Restriction(5)
    board.put_stone(PASS, Stone.WHITE)
    restriction.avoid(Stone.BLACK, [PASS], 1)
    assert choose_watched(board, Watch(quiet=True)) == PASS
    assert choose_watched(board, Watch(restriction=restriction, quiet=True)) != PASS


def test_an_empty_board_follows_no_pass() -> None:
    board = GoBoard(5)
    assert not follows_pass(board)
    board.put_stone(PASS, Stone.BLACK)
    assert follows_pass(board)


def test_no_position_is_repeated_where_the_rules_would_allow_it() -> None:
    board = GoBoard(2)
    for number, vertex in enumerate(("A1", "B2", "A2", "B1", "A1", "A2")):
        board.put_stone(board.coordinate.convert_from_gtp_format(vertex), Stone(1 + number % 2))
    repeating = board.coordinate.convert_from_gtp_format("A1")
    assert board.is_legal(repeating, Stone.BLACK) and first_playable(board, Stone.BLACK, [repeating]) is None


def test_sequential_halving_has_the_numbers_of_self_play() -> None:
    terms = new_terms(5, 16, Rules.of(7.0, True), 0.0)
    params = EngineOptions(search="gumbel").search_params()
    assert EngineOptions(sequential_halving=True).search_params() == params
    assert (params.selection, params.policy_temperature) == (terms.selection, terms.policy_temperature)
    params = EngineOptions(sequential_halving=True, playouts=3, policy_temperature=1.5).search_params()
    assert (params.selection.playouts, params.policy_temperature) == (3, 1.5)
    params = EngineOptions().search_params()
    assert (params.selection.playouts, params.policy_temperature) == (16, 2.0)


def test_what_the_search_is_told_of_leads_bounds_and_proofs() -> None:
    selection = EngineOptions(playouts=1, playout_share=0.5).search_params().selection
    assert playout_share(new_state(5), selection) == 0.5 and selection.playouts == 1
    params = EngineOptions(c_puct=0.7, lead_weight=0.2, lcb=True, solve=True, skip_settled=True).search_params()
    assert (params.selection.c_puct, params.selection.lead_weight, params.selection.solve) == (0.7, 0.2, True)
    assert params.bound_share == BOUND_SHARE < 1 and params.skip_settled
    assert not EngineOptions(search="gumbel", solve=True).search_params().selection.solve


def test_a_network_that_tells_leads_has_them_count() -> None:
    assert EngineOptions().search_params().selection.lead_weight == 0.0
    assert EngineOptions().for_knowing_network().search_params().selection.lead_weight == KNOWING_LEAD_WEIGHT > 0.0
    assert EngineOptions(lead_weight=0.0).for_knowing_network().search_params().selection.lead_weight == 0.0


def test_a_network_that_tells_leads_chooses_by_bounds() -> None:
    def share(**options: Any) -> float:
        return EngineOptions(**options).for_knowing_network().search_params().bound_share

    assert EngineOptions().search_params().bound_share == 1.0
    assert share() == share(lcb=True) == share(search="uct", lcb=True) == BOUND_SHARE
    assert share(lcb=False) == share(search="uct") == share(search="gumbel") == 1.0
    bundled = EngineOptions().for_model()
    assert bundled.search_params().bound_share == BOUND_SHARE
    assert bundled.playout_params(5).bound_share == 1.0, "playouts that stand in for it play the most visited move"
    assert EngineOptions(model="none", lcb=True).for_model().playout_params(5).bound_share == BOUND_SHARE


def test_sequential_halving_has_the_noise_of_self_play() -> None:
    moves = [choose(seed) for seed in range(8)]
    assert len(set(moves)) > 2
    assert moves == [choose(seed) for seed in range(8)], "the seed decides"


def test_the_expansion_threshold_is_a_number_of_the_search_with_a_network() -> None:
    from click.testing import CliRunner  # only here: click belongs to the entry scripts

    import main

    assert EngineOptions().search_params().selection.expand == 1
    assert EngineOptions(expansion_threshold=40).search_params().selection.expand == 40
    run = CliRunner().invoke(main.main, ["--search", "uct", "--expansion-threshold", "2"])
    assert run.exit_code == 2 and "give --uct expand=N" in run.output
