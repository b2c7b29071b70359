"""What the numbers of the search are worth: a judge, settings that are tried, and what they lose."""

from pathlib import Path

import pytest

from board.constant import PASS
from board.stone import Stone
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from tests.tools.in_process import ProgramRunner
from tools.bench import main
from tools.benchlib import regret_bench
from tools.benchlib.evaluators import HashEvaluator
from tools.benchlib.measure import BenchSettings
from tools.benchlib.positions import make_random_board
from tools.benchlib.regret_bench import CLOSER_LOOK, SHORT_BATCH, LongSearch, make_trees


def test_every_change_that_is_taken_has_an_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regret_bench, "load_evaluator", lambda *_, **__: HashEvaluator(5))
    changes = ("batch_size=16,visits_per_leaf=8", "ahead=4", "solve=1", "c_puct=1")
    params = [tree.params for _, tree in make_trees(BenchSettings(board_size=5, changes=changes))]
    assert [one.batch_size for one in params] == [SHORT_BATCH, 16, SHORT_BATCH, SHORT_BATCH, SHORT_BATCH]
    assert [type(value) for value in (params[1].visits_per_leaf, params[2].ahead, params[3].selection.solve,
                                      params[4].selection.c_puct)] == [int, int, bool, float]


@pytest.mark.slow
def test_regret_tries_all_settings_on_the_same_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bd", "ce"):
        moves = "".join(f";B[{x}{name[0]}];W[{x}{name[1]}]" for x in "abcdefg")
        (tmp_path / f"{name}.sgf").write_text(f"(;GM[1]SZ[7]KM[0.5]{moves})")
    monkeypatch.setattr(regret_bench, "load_evaluator", lambda *_, **__: HashEvaluator(7))
    options = ["--kifu-dir", str(tmp_path), "--size", "7", "--visits", "8", "--judge-visits", "60", "--model", "none"]
    done = ProgramRunner().invoke(main, ["regret", *options])
    assert done.exit_code == 0, done.output
    title, *rows = done.output.splitlines()[: 1 + len(regret_bench.SETTINGS)]
    assert title.startswith("regret: ") and 4 <= int(title.split()[1]) <= 2 * regret_bench.PER_GAME
    assert [row[:46].strip() for row in rows] == list(regret_bench.SETTINGS)
    assert rows[0].split()[2:5] == ["+0.00%", "+-", "0.00%"]
    assert len({row[46:] for row in rows}) > 1
    few = ProgramRunner().invoke(main, ["regret", *options, "--change", "c_puct=1.5,playouts=2"])
    assert [row[:46].strip() for row in few.output.splitlines()[1:3]] == ["default", "c_puct=1.5,playouts=2"]
    without = ProgramRunner().invoke(main, ["regret", "--search", "uct", *options, "--change", "rave=0,widening=0"])
    assert [row[:46].strip() for row in without.output.splitlines()[1:3]] == ["default", "rave=0,widening=0"]
    wrong = ProgramRunner().invoke(main, ["regret", "--change", "c_puct=1", *options, "--search", "uct"])
    assert wrong.exit_code == 2 and "c_puct is none of ucb, fpu" in wrong.output
    for change, complaint in (("cpuct=1", "cpuct is none of c_puct, "), ("c_puct=much", "c_puct wants a number"),
                              ("c_puct=nan", "c_puct wants a finite number"), ("tactics=5", "tactics is none of"),
                              ("batch_size=2.5", "batch_size wants a whole number"), ("solve=2", "solve wants 0 or 1")):
        wrong = ProgramRunner().invoke(main, ["regret", *options, "--change", change])
        assert wrong.exit_code == 2 and complaint in wrong.output
    empty = ProgramRunner().invoke(main, ["regret", "--kifu-dir", str(tmp_path), "--model", "none"])
    assert empty.exit_code == 2 and empty.output.count("\n") == 1


def test_a_judge_takes_a_closer_look_at_moves_it_left_aside() -> None:
    board, visits = make_random_board(5, 8, seed=2), 100
    tree, color = MCTSTree(HashEvaluator(5), 5, SearchParams(batch_size=4)), board.get_to_move()
    found = tree.search(board, color, SearchLimit(visits, strict=True)).candidates
    judge = LongSearch(tree, board, visits)
    assert not judge.is_decided
    known = [move for move in found if move.visits >= 6]
    best = max(move.winrate for move in known)
    assert [judge.regret(move.pos) for move in known] == [best - move.winrate for move in known]
    left = next(move for move in found if move.visits < 6 and move.pos != PASS)
    after = board.copy()
    after.put_stone(left.pos, color)
    tree.clear()
    limit = SearchLimit(round(CLOSER_LOOK * visits), strict=True)
    expected = 1 - tree.search(after, Stone.get_opponent_color(color), limit).winrate
    assert judge.regret(left.pos) == best - expected
    assert judge.regret(PASS) <= best
