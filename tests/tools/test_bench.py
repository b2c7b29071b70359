"""The benchmarks run and report what they promise; how fast anything is stays untested."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import Result

from board.go_board import GoBoard
from board.stone import Stone
from common.cores import count_usable_cores
from common.kernel import without_compiler
from engine.options import EngineOptions
from mcts.outcome import playout_share
from mcts.params import SearchLimit, SearchParams
from mcts.tree import MCTSTree
from nn.inference.board_evaluator import Answers
from nn.inference.evaluator import NetworkEvaluator, copy_for_inference
from nn.inference.loading import load_evaluator
from nn.network.dual_net import DualNet
from nn.network.weights import load_network, save_network
from tests.mcts.test_capture import THREE
from tests.mcts.test_pruning import made_up_classifier
from tests.reference.twins import Twins
from tests.tools.in_process import ProgramRunner
from tools.bench import main
from tools.benchlib import company_bench, network_bench
from tools.benchlib.accuracy import measure_accuracy
from tools.benchlib.board_bench import copy_back_and_forth, generate_moves
from tools.benchlib.evaluators import FreeEvaluator, HashEvaluator
from tools.benchlib.measure import BenchSettings, Figure, interleave, measure, measure_nanoseconds, measure_rate
from tools.benchlib.network_bench import BATCH_SIZES, compare_with_torch
from tools.benchlib.playout_bench import compute_speed
from tools.benchlib.positions import LATE_9X9, MIDGAME_9X9, make_board, make_random_board
from tools.benchlib.report import format_figure
from tools.benchlib.signature import CASES, Case, calculate_signature, hash_tree

QUICK = ["--seconds", "0.001", "--runs", "2"]
SMALL_CASES = (Case(9, 8, 7.0, 40, 4), Case(4, 12, 0.5, 60, 1), Case(5, 6, 0.5, 33, 2, shot=True))


def call(*arguments: str) -> Result:
    """Run a subcommand."""
    return ProgramRunner().invoke(main, list(arguments))


def call_for_json(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """Run a subcommand and return its JSON file; every figure must stand in the table, too."""
    path = tmp_path / "figures.json"
    result = call(*arguments, *QUICK, "--json", str(path))
    assert result.exit_code == 0, result.output
    content = json.loads(path.read_text())
    lines = result.stdout.splitlines()
    assert all(any(line.startswith(figure["name"] + " ") for line in lines) for figure in content["figures"])
    assert lines[-1].startswith("machine: ") and "load average" in lines[-1]
    assert content["machine"]["cores"] >= content["machine"]["usable_cores"] >= 1
    return content


def check_figures(figures: list[dict[str, Any]], runs: int = 2) -> None:
    """Every figure is a positive number with its runs around it, and no name stands twice."""
    assert len({figure["name"] for figure in figures}) == len(figures) > 0
    for figure in figures:
        assert 0 < min(figure["values"]) <= figure["value"] <= max(figure["values"])
        assert len(figure["values"]) in (1, runs) and figure["unit"]
        assert (figure["ratio"] is None) == (figure["tamago"] is None)


def test_playouts(tmp_path: Path) -> None:
    """Both sizes have their playouts, with and without knowledge, and a search, on one core and on all."""
    figures = call_for_json(tmp_path, "playouts", "--engine-visits", "10")["figures"]
    check_figures(figures)
    rows = 3 + (count_usable_cores() > 1)
    assert [figure["name"].split()[0] for figure in figures] == ["9x9"] * rows + ["19x19"] * rows
    assert [figure["target"] for figure in figures] == [25000, *[None] * (rows - 1), 6000, *[None] * (rows - 1)]


def test_what_threads_would_make() -> None:
    """Half of a visit is the playout: two threads save a quarter, ever so many one half."""
    assert compute_speed(200.0, 100.0, 1) == pytest.approx(100.0)
    assert compute_speed(200.0, 100.0, 2) == pytest.approx(100.0 / 0.75)
    assert compute_speed(200.0, 100.0, 10**9) == pytest.approx(200.0)
    assert compute_speed(100.0, 110.0, 8) == pytest.approx(800.0)


def test_board(tmp_path: Path) -> None:
    """Both sizes have the same five figures, with the issue's targets."""
    figures = call_for_json(tmp_path, "board")["figures"]
    check_figures(figures)
    assert len(figures) == 10
    targets = {figure["name"]: figure["target"] for figure in figures if figure["target"]}
    assert targets["9x9 random games"] == 30000 and targets["19x19 random games"] == 5000
    assert all(figure["per_cpu_second"] for figure in figures)


def test_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PUCT and SHOT are measured at three batch sizes from two positions."""
    monkeypatch.setattr("tools.benchlib.search_bench.SHOT_VISITS", 50)
    figures = call_for_json(tmp_path, "search", "--visits", "50")["figures"]
    check_figures(figures)
    assert len(figures) == 12
    assert sum(figure["target"] == 100000 for figure in figures) == 6


def test_another_runtime_is_compared_with_torch() -> None:
    """Both have the same planes in turn."""
    runtime = load_evaluator("none", 3)
    figures = list(compare_with_torch(runtime, runtime, BenchSettings(seconds=0.001, runs=1)))
    assert [figure.name for figure in figures] == [f"network / torch, batch {n}" for n in BATCH_SIZES]
    assert all(figure.value > 0 for figure in figures)


def test_accuracy_is_that_of_the_answers(tmp_path: Path) -> None:
    """A runtime that says what float32 does has no error, one that says something else has."""
    torch.manual_seed(2)
    save_network(DualNet(torch.device("cpu"), 3, 8, 1), tmp_path / "x.bin")
    network = load_network(tmp_path / "x.bin", 3, False)

    class Exact(NetworkEvaluator):
        def evaluate_plainly(self, planes: np.ndarray) -> Answers:
            with torch.inference_mode():
                return tuple(answer.numpy() for answer in copy_for_inference(network)(torch.from_numpy(planes)))

    class Reversed(Exact):
        def evaluate_plainly(self, planes: np.ndarray) -> Answers:
            logits, chances = super().evaluate_plainly(planes)
            return -logits, chances[:, ::-1]

    figures = list(measure_accuracy(str(tmp_path / "x.bin"), {"exact": Exact(network), "wrong": Reversed(network)}))
    same, lost, off, wrong_same, wrong_lost, wrong_off = (figure.value for figure in figures)
    assert same == 100.0 and abs(lost) < 1e-6 and off < 1e-4
    assert wrong_same < 20.0 and wrong_lost > 1e-3 and wrong_off > 1.0


@pytest.mark.slow
def test_network_and_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A random network is measured alone and in the search, and described."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # of sixteen threads each would have a single leaf
    content = call_for_json(tmp_path, "network", "--model", "none")
    check_figures(content["figures"])
    assert [figure["name"] for figure in content["figures"]] == [
        f"network{other}, batch {n}" for other in ("", " / torch") for n in BATCH_SIZES]
    assert "64x6" in content["notes"][0] and content["machine"]["torch_threads"] >= 1

    figures = call_for_json(tmp_path, "engine", "--model", "none", "--engine-visits", "20")["figures"]
    check_figures(figures)
    by_name = {figure["name"]: figure for figure in figures}
    assert by_name["search, batch 16 / network"]["target"] == 80
    assert by_name["search, batch 16"]["tamago"] == [307, 388]
    assert by_name["positions a network call, batch 1"]["value"] == 1
    assert 1 < by_name["positions a network call, batch 16"]["value"] <= 16
    assert by_name["search late in a game, default / network"]["target"] == 80
    assert sum("beside" in name and "busy loops" in name for name in by_name) == 2


@pytest.mark.slow
def test_training_stands_beside_a_bare_loop(tmp_path: Path) -> None:
    """Both kinds of network learn from the folder's games, on a tiny board."""
    (tmp_path / "1.sgf").write_text("(;GM[1]SZ[3]RE[B+9];B[bb];W[cb];B[bc];W[cc];B[ba])")
    content = call_for_json(tmp_path, "training", "--kifu-dir", str(tmp_path), "--size", "3", "--games", "1")
    check_figures(content["figures"])
    for name in ("lecture's network", "pooled network"):
        figures = {figure["name"]: figure["values"] for figure in content["figures"] if name in figure["name"]}
        assert list(figures) == [f"{part}, {name}" for part in
                                 ("training", "bare loop", "training / bare loop", "waiting for data")]
        assert 0 < figures[f"waiting for data, {name}"][0] < 100
    result = call("training", "--kifu-dir", str(tmp_path), "--size", "4", *QUICK)
    assert result.exit_code == 2 and "no usable 4x4 game" in result.output


@pytest.mark.slow
def test_selfplay(tmp_path: Path) -> None:
    """Games an hour stand beside the network alone; on a tiny board, for a moment."""
    path = tmp_path / "figures.json"
    # Games that begin or end within a short window would move the positions per move.
    result = call("selfplay", "--seconds", "1", "--size", "3", "--visits", "2", "--process", "1",
                  "--batch-size", "16", "--json", str(path))
    assert result.exit_code == 0, result.output
    content = json.loads(path.read_text())
    check_figures(content["figures"], runs=1)
    by_name = {figure["name"]: figure for figure in content["figures"]}
    assert by_name["self-play games"]["tamago"] == [267, 267] and by_name["self-play games"]["target"] == 25 * 267
    assert by_name["self-play / network alone"]["target"] == 75
    assert 1 < by_name["positions evaluated per move"]["value"] < 4
    assert by_name["length of a game"]["value"] <= 18


def test_cluster(tmp_path: Path) -> None:
    """A core without a network and the files of its games are measured, also without a cluster."""
    content = call_for_json(tmp_path, "cluster", "--size", "3", "--visits", "2", "--games", "5")
    check_figures(content["figures"], runs=1)
    by_name = {figure["name"]: figure["value"] for figure in content["figures"]}
    length = by_name["length of these games"]
    assert by_name["bytes of a game"] == pytest.approx(length * by_name["bytes of a move"])
    assert 2 <= length <= 18 and sum(figure["unit"] == "games/s" for figure in content["figures"]) == 4


@pytest.mark.slow
def test_data(tmp_path: Path) -> None:
    """Games of a folder are converted, and nothing but the wanted files stays behind."""
    folder = tmp_path / "kifu"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.sgf").write_text("(;GM[1]SZ[5]KM[0.5]RE[B+2];B[cc];W[bc];B[cb])")
    figures = call_for_json(tmp_path, "data", "--kifu-dir", str(folder), "--size", "5")["figures"]
    check_figures(figures)
    assert figures[1]["values"] == pytest.approx([3 * value for value in figures[0]["values"]])  # 3 moves a game
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures.json", "kifu"]


@pytest.mark.parametrize("arguments", [
    ("network", "--model", "no-such-file.bin"), ("engine", "--model", __file__), ("all", "--model", "no-such-file.bin"),
    ("signature", "--json", "no-such-folder/figures.json"),
])
def test_bad_options_give_one_line(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be read or written is named on stderr, with exit status 2."""
    monkeypatch.setattr("tools.benchlib.board_bench.measure_board", lambda settings: ())
    monkeypatch.setattr("tools.benchlib.search_bench.measure_search", lambda settings: ())
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("bench.py: ") and result.stderr.count("\n") == 1
    assert Path(arguments[-1]).name in result.stderr


def test_data_without_games(tmp_path: Path) -> None:
    """An empty folder is reported, not measured."""
    result = call("data", "--kifu-dir", str(tmp_path), *QUICK)
    assert result.exit_code == 2
    assert f"bench.py: {tmp_path}" in result.stderr


def test_signature_is_the_same_twice_and_follows_the_search() -> None:
    """The same searches give the same number; another komi, batch size or visit count gives another."""
    assert calculate_signature(SMALL_CASES) == calculate_signature(SMALL_CASES)
    case = SMALL_CASES[1]
    first = calculate_signature((case,))
    for other in (case._replace(komi=9.5), case._replace(batch_size=4), case._replace(visits=61),
                  case._replace(shot=True)):
        assert calculate_signature((other,)) != first, other


@pytest.mark.slow
def test_signature_command_prints_one_number() -> None:
    """The command's number is that of all cases."""
    lines = call("signature").stdout.splitlines()
    nodes, signature = calculate_signature(CASES)
    assert lines[0].split()[-1] == str(nodes)
    assert lines[1].split() == ["signature", str(signature)]


def test_signature_counts_every_evaluated_node() -> None:
    """Without game ends, a tree of n visits has n + 1 nodes."""
    tree = MCTSTree(HashEvaluator(9), 9, SearchParams(batch_size=4))
    board = GoBoard(9)
    tree.search(board, board.get_to_move(), SearchLimit(100, strict=True))
    assert hash_tree(tree.root, 0)[0] == tree.num_nodes == 101


def test_hash_evaluator_depends_on_the_position_alone() -> None:
    """A batch changes nothing, one stone everything; values are probabilities."""
    planes = np.random.default_rng(0).integers(-1, 2, size=(5, 6, 7, 7)).astype(np.float32)
    evaluator = HashEvaluator(7)
    logits, values = evaluator(planes)
    assert logits.shape == (5, 50) and logits.dtype == values.dtype == np.float32
    for i in range(5):
        alone = evaluator(planes[i : i + 1])
        assert np.array_equal(alone[0][0], logits[i]) and np.array_equal(alone[1][0], values[i])
    assert np.allclose(values.sum(axis=1), 1) and values.min() >= 0
    planes[0, 3, 2, 2] += 1
    assert not np.isclose(evaluator(planes)[0][0], logits[0]).any()
    assert np.array_equal(HashEvaluator(7)(planes)[0], evaluator(planes)[0])


@pytest.mark.parametrize("on_gpu", [True, False])
def test_searches_are_measured_with_as_many_leaves_as_the_engine_has(on_gpu: bool,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[SearchParams] = []

    def note(_: object, __: int, params: SearchParams) -> None:
        made.append(params)
        raise InterruptedError

    evaluator: Any = load_evaluator("none", 5)
    monkeypatch.setattr(evaluator, "on_gpu", on_gpu)
    for module in (network_bench, company_bench):
        monkeypatch.setattr(module, "MCTSTree", note)
    for measured in (network_bench.measure_search_of(GoBoard(5), "", None, evaluator, BenchSettings()),
                     network_bench.measure_saved(evaluator, BenchSettings()),
                     company_bench.measure_company(evaluator, BenchSettings())):
        with pytest.raises(InterruptedError):
            next(measured)
    assert made == [EngineOptions(model="none", use_gpu=on_gpu).search_params()] * 3


def test_free_evaluator_repeats_itself() -> None:
    """Answers have the right shape for any batch, also where the table begins anew, and a seed gives the same ones."""
    first, second = FreeEvaluator(5), FreeEvaluator(5)
    for count in (1, 4000, 300, 64):
        planes = np.zeros((count, 6, 5, 5), dtype=np.float32)
        logits, values = first(planes)
        assert logits.shape == (count, 26) and values.shape == (count, 3)
        assert np.array_equal(second(planes)[0], logits)


def test_positions_are_always_the_same() -> None:
    """Seeds name positions; the games can be played, and Black is to move."""
    for moves, count in ((MIDGAME_9X9, 24), (LATE_9X9, 46)):
        board = make_board(moves)
        assert board.moves == count + 1 and board.get_to_move() is Stone.BLACK
    assert playout_share(board.state, EngineOptions().search_params().selection) > 0.5  # playouts count late
    one, same, other = (make_random_board(7, 60, seed) for seed in (1, 1, 2))
    assert one.get_move_history() == same.get_move_history() != other.get_move_history()
    assert len(one.get_move_history()) == 60


@pytest.mark.plain
def test_kernels_do_the_work_that_is_counted() -> None:
    """Every copy is made, and the moves of both colors are listed."""
    game = make_random_board(5, 9, seed=0)
    first, second = game.copy().state, GoBoard(5).state
    assert copy_back_and_forth(first, second, 7) == 9 + 7
    assert np.array_equal(first.buffer, second.buffer)
    assert np.array_equal(first.stones, game.state.stones)
    legal = [len(game.get_all_legal_pos(color, fill_eyes=False)) for color in (Stone.BLACK, Stone.WHITE)]
    assert generate_moves(game.state, game.history, 3, np.empty(25, dtype=np.int32)) == 2 * legal[0] + legal[1]


def test_measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates are units over time; the first piece of work is not counted, and at least one is done in every run."""
    clock = iter(np.arange(0.0, 1000.0, 0.25))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr("time.thread_time", lambda: 0.0)
    done: list[int] = []

    def work() -> int:
        done.append(1)
        return 10

    figure = measure("name", "x/s", work, BenchSettings(seconds=1e-9, runs=3), tamago=4)
    assert len(done) == 4
    assert figure.value == figure.values[0] == pytest.approx(10 / 0.5) and figure.ratio == pytest.approx(5)
    assert measure_rate(lambda: 5, 1.0)[0] == pytest.approx(5 * 4 / 1.25)
    assert interleave(lambda: 3, lambda: 6, 0.5) == pytest.approx((12, 24))
    nanoseconds = measure_nanoseconds("name", lambda: 10, BenchSettings(seconds=1e-9, runs=1), tamago=1e9)
    assert nanoseconds.value == pytest.approx(5e7) and nanoseconds.ratio == pytest.approx(20)


def test_format_figure() -> None:
    """A line shows the median, the extremes, the target and TamaGo's figure."""
    figure = Figure("speed", "visits/s", (3000.0, 1000.0, 2000.0), target=100.0, tamago=(300.0, 400.0))
    assert format_figure(figure).split() == [
        "speed", "2,000", "1,000", "3,000", "-", "visits/s", ">", "100", "300-400", "5x"
    ]
    slow = Figure("copy", "ns", (50.0,), per_cpu_second=20.5, target=100.0, tamago=(23000.0, 23000.0),
                  lower_is_better=True)
    assert format_figure(slow).split() == ["copy", "50", "50", "50", "20.5", "ns", "<", "100", "23,000", "460x"]


def test_ownership_compares_all_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.benchlib import ownership_bench

    monkeypatch.setattr(ownership_bench, "STAGES", (2, 4))
    moves = "".join(f";B[{x}b];W[{x}d]" for x in "abcde")
    (tmp_path / "game.sgf").write_text(f"(;GM[1]SZ[5]KM[0.5]{moves};B[];W[])")
    (tmp_path / "short.sgf").write_text("(;GM[1]SZ[5];B[aa];W[];B[])")
    options = ["--kifu-dir", str(tmp_path), "--size", "5", "--games", "1", "--visits", "4", "--model", "none"]
    monkeypatch.setattr(ownership_bench, "load_evaluator", lambda *_, **__: HashEvaluator(5))
    done = ProgramRunner().invoke(main, ["ownership", *options])
    assert done.exit_code == 0, done.output
    rows = {line[:30].strip(): line[30:].split() for line in done.output.splitlines() if "%/" in line}
    assert {"random, position", "answering, ends of lines", "first report", "8 policy games"} <= set(rows)
    square, right, lead = done.output.split("stones on the board")[1].split("\n")[0].split("/")[:3]
    assert float(square) == pytest.approx(18 / 25, abs=0.001)  # two of the twenty points that end as somebody's
    empty = ProgramRunner().invoke(main, ["ownership", "--kifu-dir", str(tmp_path), "--model", "none"])
    assert empty.exit_code == 2 and empty.output.count("\n") == 1


def test_strings_are_counted_by_what_is_proven_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.benchlib import tactics_bench
    from tools.benchlib.ownership_bench import Sample

    board = Twins.from_diagram(THREE).fast
    sample = Sample(10, board, np.ones(25))  # in the end all is Black's
    monkeypatch.setattr(tactics_bench, "NODES", (1, 30))
    options = ["--kifu-dir", str(tmp_path), "--size", "5"]
    empty = ProgramRunner().invoke(main, ["tactics", *options])
    assert empty.exit_code == 2 and empty.output.count("\n") == 1
    monkeypatch.setattr(tactics_bench, "collect_samples", lambda _: [sample])
    with without_compiler():
        done = ProgramRunner().invoke(main, ["tactics", *options])
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.output.splitlines() if line.strip()[:1].isdigit()]
    assert [(row[0], row[2]) for row in rows] == [("1", "0.0%"), ("30", "50.0%")], "White's string, and not Black's"
    assert rows[1][3:] == ["0", "-", "1", "0.0%", "0", "-"]


def test_endings_are_counted_by_who_is_proven_to_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.benchlib import ending_bench

    points = ["aa", "ba", "ca", *(f"{x}{y}" for y in "bd" for x in "abcde")]
    moves = "".join(f";B[{point}];W[]" for point in points)
    (tmp_path / "1.sgf").write_text(f"(;GM[1]FF[4]SZ[5]KM[0.5]{moves})")
    monkeypatch.setattr(ending_bench, "ROWS", ((1, 1), (2, 2), (20, 20)))
    monkeypatch.setattr(ending_bench, "NODES", (1, 100))
    with without_compiler():
        done = ProgramRunner().invoke(main, ["endings", "--kifu-dir", str(tmp_path), "--size", "5"])
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.output.splitlines() if " to " in line]
    assert [(row[0], row[3], row[4], row[5]) for row in rows] == [
        ("1", "1", "1", "100.0%"), ("1", "1", "100", "100.0%"),  # two walls and three areas: all are Black's
        ("2", "1", "1", "0.0%"), ("2", "1", "100", "100.0%"),  # he has the last stone to play
        ("20", "1", "1", "0.0%"), ("20", "1", "100", "0.0%")]


def test_bad_moves_are_counted_for_classifier_and_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.benchlib import bad_moves_bench

    made_up_classifier(tmp_path / "net.npz")
    for n in range(20):
        (tmp_path / f"{n:02}.sgf").write_text("(;GM[1]SZ[4]AB[aa];W[bb];B[cb];W[bc];B[])")
    monkeypatch.setattr(bad_moves_bench, "load_evaluator", lambda *_, **__: HashEvaluator(4))
    options = ["--kifu-dir", str(tmp_path), "--size", "4", "--model", "none", "--seconds", "0.01", "--runs", "1"]
    with without_compiler():
        done = ProgramRunner().invoke(main, ["bad-moves", *options, "--classifier", str(tmp_path / "net.npz")])
    assert done.exit_code == 0, done.output
    assert "bad moves: 3 positions of games kept back, 14.0 moves in each" in done.output
    assert done.output.count("| 0.97 |") == 2 and "classifier, a position" in done.output
    none = ProgramRunner().invoke(main, ["bad-moves", *options, "--classifier", "nothing.npz"])
    assert none.exit_code == 2 and none.output.count("\n") == 1


def test_targets_compares_policies_with_a_long_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.benchlib import target_bench

    moves = "".join(f";B[{x}b];W[{x}d]" for x in "abcde")
    (tmp_path / "game.sgf").write_text(f"(;GM[1]SZ[5]KM[0.5]{moves})")
    (tmp_path / "short.sgf").write_text("(;GM[1]SZ[5];B[aa];W[];B[])")
    (tmp_path / "bad.sgf").write_text("(;GM[1]SZ[5];B[aa];W[aa];B[];W[];B[];W[])")
    options = ["--kifu-dir", str(tmp_path), "--size", "5", "--games", "9", "--visits", "20", "--model", "none"]
    monkeypatch.setattr(target_bench, "load_evaluator", lambda *_, **__: HashEvaluator(5))
    done = ProgramRunner().invoke(main, ["targets", *options])
    assert done.exit_code == 0, done.output
    assert "targets: 1 positions" in done.output
    rows = [line.split()[0] for line in done.output.splitlines()]
    assert [rows.count(name) for name in ("network", "16", "32", "64")] == [1, 5, 5, 5]
    empty = ProgramRunner().invoke(main, ["targets", "--kifu-dir", str(tmp_path), "--model", "none"])
    assert empty.exit_code == 2 and empty.output.count("\n") == 1


def test_a_policy_is_compared_with_the_truth() -> None:
    from tools.benchlib.target_bench import compare

    truth = np.array([0.5, 0.25, 0.25])
    loss, found, share, entropy = compare(truth, truth)
    assert loss == pytest.approx(entropy) == pytest.approx(1.5 * np.log(2))
    assert (found, share) == (1.0, 0.5)
    worse = compare(np.array([0.2, 0.7, 0.1]), truth)
    assert worse[0] > loss and worse[1:3] == (0.0, 0.25)


@pytest.mark.parametrize("command", ["ownership", "judgment", "targets", "regret", "batches", "tactics", "endings",
                                     "growth", "signature"])
def test_what_is_measured_once_takes_no_number_of_runs(command: str) -> None:
    said = call(command, "--runs", "2").output
    assert "No such option" in said and "--runs" in said and said.count("\n") == 1


@pytest.mark.parametrize("command", ["board", "selfplay", "growth"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(command: str, tmp_path: Path) -> None:
    options = ["--kifu-dir", str(tmp_path)] if command == "growth" else []
    result = ProgramRunner().invoke(main, [command, *options, "--json", str(tmp_path / "none" / "x.json")])
    assert result.exit_code == 2 and "is no folder that can be written to" in result.output
