"""The player without a network: quick to start, and there where no network can play."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from board.stone import Stone
from common import cores
from engine.engine import Engine, EvaluatorSource
from engine.options import EngineOptions
from main import main
from mcts.params import Tactics
from mcts.uct.params import UctParams
from mcts.uct.tree import PlayoutTree
from nn.model_file import ANY_SIZE
from tests.gtp.players import FakeEvaluator, run_main
from tests.tools.in_process import run_in_process

PLAY = """
import sys, time
from engine.loader import make_engine
from engine.options import EngineOptions
from board.stone import Stone
from common import cores
engine = make_engine(EngineOptions(search="uct", size=5, visits=30))
engine.load()
engine.genmove(Stone.BLACK, time.monotonic())
print(*sorted({"torch", "openvino"} & set(sys.modules)))
"""


@pytest.mark.slow
def test_it_needs_no_torch(root: Path) -> None:
    assert subprocess.run([sys.executable, "-c", PLAY], cwd=root, capture_output=True, text=True).stdout.split() == []


@pytest.mark.slow
def test_players_with_a_network_do_without_it(root: Path) -> None:
    line = "import sys, engine.engine; print('mcts.uct.kernels' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", line], cwd=root, text=True).strip() == "False"


@pytest.mark.parametrize(("options", "knows_go", "is_playout"), [
    ({}, True, False), ({"search": "uct"}, True, True), ({"model": "none"}, False, True),
    ({"model": "none", "search": "gumbel"}, False, False), ({"model": "none", "policy_move": True}, False, False),
    ({"search": "uct", "policy_move": True}, True, False), ({"search": "uct", "level": 3}, True, True),
    ({"model": "none", "level": 12}, False, True), ({"level": 3, "size": 6, "policy_move": True}, True, True),
])
def test_who_takes_the_board(options: dict, knows_go: bool, is_playout: bool) -> None:
    """On 6x6 the network knows no board here. Where it does not choose the moves, nothing is drawn from its policy."""
    source = EvaluatorSource(lambda size: FakeEvaluator(size or 5), range(5, 6), knows_go=knows_go)
    options = {"size": 5, "visits": 4, "uct": UctParams(rave=3.0), "threads": 2, **options}
    engine = Engine(EngineOptions(**options), source)
    assert isinstance(engine.tree, PlayoutTree) == is_playout
    assert is_playout or engine.options.search_kind.asks_network, "the tree of a network is searched as such"
    params = engine.options.search_params()
    assert params.uct.rave == 3.0 and params.threads == 2
    engine.genmove(Stone.BLACK, 0.0)
    assert engine.estimate_position(Stone.BLACK, Stone.WHITE, 0, 2).ownership.shape == (options["size"]**2,)


def test_the_line_says_which_networks_do_not_know_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    source = EvaluatorSource(lambda size: FakeEvaluator(size or 9), range(9, 10))
    Engine(EngineOptions(size=6, model="all.bin", value_model="nine.bin"), source).tree  # noqa: B018
    assert "6x6: UCT by playouts, without a network (all.bin with nine.bin plays 9)" in capsys.readouterr().err


def test_playouts_are_shared_among_the_cores_that_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "count_usable_cores", lambda: 6)
    for wanted, expected in (("", 6), ("2", 2), ("0", 1), ("40", 6), ("4,2", 6)):
        monkeypatch.setenv("OMP_NUM_THREADS", wanted)
        assert EngineOptions(search="uct").search_params().threads == expected
    monkeypatch.setattr(cores, "count_usable_cores", lambda: 64)
    assert EngineOptions(search="uct").search_params().threads == 8
    assert EngineOptions(search="uct", threads=64).search_params().threads == 64


def test_it_leaves_bad_moves_out_and_looks_at_strings_unless_asked_otherwise() -> None:
    params = EngineOptions().playout_params(9)
    assert (params.prune, params.tactics[:2]) == (0.9, (2000, 100)) and Path(params.classifier).is_file()
    for size, file in ((6, "bad-moves.npz"), (11, "bad-moves.npz"), (12, "bad-moves-19x19.npz"),
                       (19, "bad-moves-19x19.npz")):
        params = EngineOptions(search="uct").playout_params(size)
        assert params.prune == 0.9 and Path(params.classifier).name == file
    assert EngineOptions(search="uct").playout_params(5).prune == 1.0, "no classifier has learnt from such boards"
    assert EngineOptions(prune=0.5).playout_params(13).prune == 0.5
    plain = UctParams(prior=0.0, widening=0.0)
    assert EngineOptions(uct=plain).playout_params(13).tactics == Tactics(), "priors that nobody asks for"
    assert EngineOptions(uct=plain, tactics=50).playout_params(13).tactics.root == 50
    params = EngineOptions(prune=1.0, tactics=0, leaf_tactics=7).playout_params(9)
    assert (params.prune, params.tactics[:2]) == (1.0, (0, 7))
    assert EngineOptions(classifier="nothing.npz").playout_params(9).prune == 1.0
    network = EngineOptions().search_params()
    assert (network.prune, network.tactics[:2]) == (1.0, (0, 0)), "its policy knows"


def test_it_thinks_on_the_opponents_time_and_resigns() -> None:
    source = EvaluatorSource(lambda size: FakeEvaluator(size or 5), ANY_SIZE)
    options = EngineOptions(size=5, visits=50, search="uct", threads=1, ponder=True, resign_streak=1, min_resign_move=0,
                            komi=60.5)
    engine = Engine(options, source)
    engine.genmove(Stone.WHITE, 0.0)
    assert engine.wants_to_ponder()
    asked = iter([*[False] * 20, True, True])
    engine.ponder(lambda: next(asked))
    assert engine.tree.root.node_visits > 50
    assert engine.find_move(Stone.BLACK, 0.0) == -1  # RESIGN: 60 points cannot be made up for


def test_numbers_that_make_no_sense_are_refused_with_one_line() -> None:
    for words, complaint in (
        (["--search", "uct", "--uct", "speed=3"], "speed is none of ucb"),
        (["gtp", "-model", "none", "-override-config", "cpuctExploration=1.2"], "KataGo's settings call it cpuctEx"),
    ):
        status, out, err = run_main(*words, text="quit\n")
        assert status == 2 and not out and complaint in err and "Traceback" not in err
    for options, complaint in (
        (("--search", "uct", "--value-model", "model/dual-net.bin"), "--value-model is for a search with a network"),
        (("--search", "uct", "--solve", "true"), "--solve is for --search puct"),
        (("--search", "uct", "--rollout", "patterns", "--playouts", "1"), "--playouts is for a search with a network"),
        (("--search", "uct", "--c-puct", "0.5"), "--c-puct is for a search with a network"),
        (("--search", "uct", "--policy-temperature", "2"), "--policy-temperature is for a search with a network"),
        (("--model", "none", "--c-puct", "0.5"), "--c-puct is for a search with a network, not for --model none"),
        (("--model", "none", "--solve", "true"), "--solve is for --search puct, not for --model none"),
        (("--search", "uct", "--sequential-halving", "true"), "--sequential-halving is --search gumbel, not --search"),
        (("--sequential-halving", "true", "--solve", "true"), "--solve is for --search puct, not for --search gumbel"),
        (("--uct", "rave=0"), "--uct is for a search without a network: give --search uct"),
        (("--tactics-prior", "0.1"), "--tactics-prior needs strings that are looked at: give --tactics N or"),
        (("--search", "uct", "--tactics", "0", "--leaf-tactics", "0", "--tactics-prior", "0.1"),
         "--tactics-prior needs strings that are looked at"),
        (("--search", "uct", "--classifier", "nothing.npz"), "classifier not found: tried "),
        (("--policy-move", "true", "--ponder", "true"), "--ponder is for a search that goes on from its last tree, not "
                                                        "for --policy-move true"),
        (("--search", "gumbel", "--ponder", "true"), "not for --search gumbel"),
        (("--policy-move", "true", "--level", "15"), "--level 15 and --policy-move each choose moves"),
        (("--analysis-json", "true", "--book", "book.txt"), "--book is for a player, which --analysis-json"),
        (("--winrates-as", "WHITE"), "--winrates-as is for --analysis-json true"),
    ):
        done = run_in_process(main, *options)
        assert done.returncode == 2 and not done.stdout and complaint in done.stderr, done.stderr
