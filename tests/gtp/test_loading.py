"""While the network loads: board commands are answered, and nobody is waited for in vain."""
from __future__ import annotations

import os
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from board.stone import Stone
from common import kernel, patience
from engine.book import BookError
from engine.engine import Engine, EvaluatorSource
from engine.game import Game
from engine.loader import AbandonedError, EngineLoader, describe, make_engine, make_source
from engine.options import KNOWING_TEMPERATURE, EngineOptions
from gtp import session
from gtp.analysis.fields import QueryError
from gtp.analysis.server import AnalysisClient
from gtp.client import GtpClient
from gtp.commands.setup import SetupCommands
from gtp.reader import LineReader
from mcts.tree import MCTSTree
from nn.classifier import ClassifierError
from nn.inference.loading import load_evaluator
from nn.model_file import ANY_SIZE, ModelFileError, find_sizes, find_specialist
from nn.network.dual_net import DualNet
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import save_network
from tests.gtp.players import ROOT, Controller, FakeEvaluator
from tests.reference.katago_model import TinyNetwork


class Model:
    """A network that is loaded when `go` is set."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def load(self, size: int | None) -> FakeEvaluator:
        assert self.go.wait(60)
        return FakeEvaluator(size or 9)

    def make(self, options: EngineOptions) -> Engine:
        return Engine(options, EvaluatorSource(self.load, ANY_SIZE))


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    yield model
    model.go.set()


def feed(*chunks: bytes, end: bool = True) -> Callable[[], bytes]:
    """Return a reader of these pieces that then ends, or stays silent."""
    rest = list(chunks)

    def read() -> bytes:
        if rest:
            return rest.pop(0)
        if not end:
            time.sleep(60)
        return b""

    return read


def test_board_commands_do_not_wait_for_the_network(model: Model):
    commands = (
        "1 boardsize 5", "2 clear_board", "3 komi 6.5", "4 time_settings 60 0 0", "5 time_left b 60 0", "6 play b C3",
        "7 showboard", "8 undo", "9 set_free_handicap B2 D4",
        "10 gogui-setup_player w", "11 kata-set-rules tromp-taylor",
        "12 kata-set-param maxVisits 4", "13 kata-get-rules", "14 printsgf", "15 rectangular_boardsize 6 6",
        "16 gogui-setup b A1 w B2", "17 fixed_handicap 2", "18 lz-genmove_analyze b 1", "19 get_komi")
    replies: list[str] = []

    def write(text: str) -> None:
        replies.append(text)
        if text == "=18\n":  # all before were answered, and this one has begun: now the network comes
            model.go.set()

    text = "\n".join(commands) + "\n"
    assert GtpClient(EngineOptions(visits=4), model.make, write).run(LineReader(feed(text.encode()))) == 0
    frames = "".join(replies).split("\n\n")
    assert [frame.partition(" ")[0].partition("\n")[0] for frame in frames[:-1]] == [
        f"{'?' if number == 17 else '='}{number}" for number in range(1, 20)]
    assert "\nplay " in frames[17] and frames[18] == "=19 6.5"


@pytest.mark.parametrize("text", [b"genmove b\n", b"play b C3\nkata-analyze 10\n"])
def test_an_engine_whose_client_died_while_it_loads_ends(model: Model, text: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gtp.session.nobody_reads_stdout", lambda: True)
    monkeypatch.setattr("engine.loader.POLL_SECONDS", 0.01)
    client = GtpClient(EngineOptions(), model.make, lambda _: None)
    assert client.run(LineReader(feed(text))) == 0


def test_an_analysis_engine_whose_client_died_while_it_loads_ends(model: Model, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gtp.analysis.server.nobody_reads_stdout", lambda: True)
    monkeypatch.setattr("engine.loader.POLL_SECONDS", 0.01)
    query = b'{"id":"a","rules":"chinese","boardXSize":9,"boardYSize":9,"moves":[]}\n'
    answers: list[str] = []
    assert AnalysisClient(EngineOptions(), model.make, answers.append).run(LineReader(feed(query))) == 0
    assert answers == []


def test_errors_of_queries_are_answered_while_the_network_loads(model: Model):
    answers: list[str] = []

    def write(text: str) -> None:
        answers.append(text)
        model.go.set()

    def read_later() -> bytes:
        return lines.pop(0)() if lines else b""

    lines = [lambda: b'{"id":"a","rules":"chinese","boardXSize":9,"boardYSize":9,"moves":[],"maxVisits":2}\n',
             lambda: b'{"id":"b"}\n', lambda: b"" if model.go.wait(60) else b"x"]
    assert AnalysisClient(EngineOptions(), model.make, write).run(LineReader(read_later)) == 0
    assert [answer.partition('"id":')[2][:3] for answer in answers] == ['"b"', '"a"']


def test_the_network_for_another_size_is_loaded_before_it_is_asked_for():
    loaded: list[int] = []

    def load(size: int | None) -> FakeEvaluator:
        loaded.append(size or 9)
        return FakeEvaluator(size or 9)

    engine = Engine(EngineOptions(), EvaluatorSource(load, ANY_SIZE, warm_up=True))
    engine.find_move(Stone.BLACK, time.monotonic())
    for size in 9, 7, 7:
        engine.set_board_size(size)
        engine.prepare()
    while 7 not in loaded:
        time.sleep(0.01)
    engine.find_move(Stone.BLACK, time.monotonic())
    assert loaded == [9, 7]


@pytest.mark.parametrize("in_advance", [False, True])
def test_a_network_for_another_size_that_takes_long_is_told(
    in_advance: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture,
):
    told: list[str] = []

    def load(size: int | None) -> FakeEvaluator:
        end = time.monotonic() + (5 if size == 7 else 0)
        while time.monotonic() < end and patience.SLOW_LINE not in told:
            told.extend(capsys.readouterr().err.splitlines())
            time.sleep(0.01)
        return FakeEvaluator(size or 9)

    engine = Engine(EngineOptions(visits=2), EvaluatorSource(load, ANY_SIZE, warm_up=True))
    engine.load()
    monkeypatch.setattr(patience, "SLOW_SECONDS", 0.0)
    engine.set_board_size(7)
    if in_advance:
        engine.prepare()
    engine.find_move(Stone.BLACK, time.monotonic())
    assert told.count(patience.SLOW_LINE) == 1


@pytest.mark.parametrize("error", [
    BookError("this book"), ClassifierError("this file"), ModelFileError("a.bin", "it is none")])
def test_what_a_user_can_mend_is_told_in_its_own_words(error: Exception):
    assert describe(error) == str(error)


def test_a_wait_is_given_up(model: Model):
    with pytest.raises(AbandonedError):
        EngineLoader(lambda: model.make(EngineOptions()), "ready").get(lambda: True)


@pytest.mark.skipif(os.name != "posix", reason="poll of Unix")
def test_a_reader_of_stdout_that_is_gone_is_noticed(monkeypatch: pytest.MonkeyPatch):
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)
        assert not session.nobody_reads_stdout()
        os.close(read_end)
        assert session.nobody_reads_stdout()


def test_what_is_set_while_the_tree_is_made_holds_for_it(monkeypatch: pytest.MonkeyPatch):
    made: list[float] = []

    def make(*arguments: Any) -> MCTSTree:
        tree = MCTSTree(*arguments)
        made.append(tree.params.selection.c_puct)
        if len(made) == 1:
            engine.configure(c_puct=2.0)  # a command comes in while the loader's thread is here
        return tree

    monkeypatch.setattr("engine.engine.MCTSTree", make)
    engine = Engine(EngineOptions(), EvaluatorSource(lambda size: FakeEvaluator(size or 9), ANY_SIZE))
    assert engine.tree.params.selection.c_puct == 2.0 and made == [EngineOptions.c_puct, 2.0]


def test_the_size_of_a_model_is_found_without_loading_it(tmp_path: Path):
    assert find_sizes(ROOT / "model" / "dual-net.bin") == load_evaluator(ROOT / "model" / "dual-net.bin").sizes
    (tmp_path / "tiny.bin.gz").write_bytes(TinyNetwork(8).content(True))
    save_network(PooledNet(PooledConfig(filters=4, blocks=1)), tmp_path / "pooled.bin")
    for name in ("tiny.bin.gz", "pooled.bin"):
        assert find_sizes(tmp_path / name) == load_evaluator(tmp_path / name).sizes
    assert find_sizes(ROOT / "main.py") is find_sizes(tmp_path / "none.bin") is None
    (tmp_path / "tiny.bin.gz").write_bytes(b"no network any more")
    assert find_sizes(tmp_path / "tiny.bin.gz") is None


@pytest.mark.parametrize("content", [
    b"\x80\x04]" + b"2a\x94" * 1_000_000 + b".",
    b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x01K\x01q\x00"
    + b"]q\x02(h\x00h\x00eh\x01K\x00K\x00h\x02\x87Rq\x00" * 60 + b"}h\x00K\x01s.",
    b"\x80\x02K\x01q\x00" + b"Nh\x00(02\x86q\x00" * 60 + b"}h\x00K\x01s.",
], ids=["lists that double", "sizes that are tuples", "marks that are taken for objects"])
def test_a_table_of_contents_that_would_take_for_ever_is_left_at_once(content: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", content)
    assert find_sizes(tmp_path / "model.bin") is None


def test_a_file_that_numbers_its_parts_by_millions_takes_no_room_for_them(tmp_path: Path):
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with zipfile.ZipFile(tmp_path / "model.bin", "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}r" + (2**27).to_bytes(4, "little") + b".")
    assert find_sizes(tmp_path / "model.bin") is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # less than a GiB; it was two


@pytest.mark.parametrize("name", ["tiny.bin.gz", "pooled.bin"])
def test_a_network_that_tells_leads_is_searched_without_playouts_unless_asked(tmp_path: Path, name: str):
    path = tmp_path / name
    if name == "tiny.bin.gz":
        path.write_bytes(TinyNetwork(8).content(True))
    else:
        save_network(PooledNet(PooledConfig(filters=4, blocks=1)), path)
    params = make_engine(EngineOptions(model=str(path))).options.search_params()
    assert (params.selection.playouts, params.policy_temperature) == (0, KNOWING_TEMPERATURE)
    params = make_engine(EngineOptions(model=str(path), playouts=3, policy_temperature=1.5)).options.search_params()
    assert (params.selection.playouts, params.policy_temperature) == (3, 1.5)
    params = make_engine(EngineOptions(model=str(ROOT / "model" / "dual-net.bin"))).options.search_params()
    assert (params.selection.playouts, params.policy_temperature) == (16, 2.0)


def test_the_network_for_another_size_is_loaded_when_it_is_needed():
    sizes: list[int | None] = []

    def load(size: int | None) -> FakeEvaluator:
        sizes.append(size)
        return FakeEvaluator(size or 9)

    engine = Engine(EngineOptions(), EvaluatorSource(load, ANY_SIZE))
    engine.load()
    engine.set_board_size(5)
    assert sizes == [9]
    planes = np.zeros((1, 6, 5, 5), dtype=np.float32)
    assert engine.evaluator(planes)[0].shape == (1, 26) and engine.tree.board_size == 5
    assert sizes == [9, 5]


@pytest.mark.parametrize("on_gpu", [True, False])
def test_a_gpu_that_was_asked_for_in_vain_leaves_the_search_as_on_a_cpu(on_gpu: bool):
    """With as many leaves in a call as a GPU wants, a search knows less when it chooses each of them."""
    evaluator: Any = FakeEvaluator(5)
    evaluator.on_gpu = on_gpu
    engine = Engine(EngineOptions(use_gpu=True), EvaluatorSource(lambda _: evaluator, ANY_SIZE))
    assert engine.tree.params == EngineOptions(use_gpu=on_gpu).search_params()
    assert engine.tree.params.batch_size == 256 or not on_gpu


@pytest.mark.parametrize("on_gpu", [True, False])
def test_the_parameters_tell_the_leaves_of_the_search_that_there_is(on_gpu: bool):
    """Not those of a GPU that was not found."""
    evaluator: Any = FakeEvaluator(5)
    evaluator.on_gpu = on_gpu
    replies: list[str] = []
    engine = Engine(EngineOptions(use_gpu=True, threads=1), EvaluatorSource(lambda _: evaluator, ANY_SIZE))
    leaves = engine.tree.params.batch_size
    GtpClient(engine.options, lambda _: engine, replies.append).run(LineReader(feed(
        b"kata-get-param numSearchThreads\nkata-get-params\nsearch_params\nquit\n")))
    assert replies[0] == f"= {leaves}\n\n" and leaves == (256 if on_gpu else 32)
    assert f'"numSearchThreads": "{leaves}"' in replies[1] and f"numSearchThreads {leaves}\n" in replies[2]


def test_a_game_without_its_player_keeps_its_promises():
    gtp = Controller()
    assert gtp.ask("boardsize 5") == "" and gtp.ask("play b C3") == ""
    assert not gtp.client.loader.started
    gtp.ask("genmove w")
    assert gtp.client.loader.is_ready and gtp.engine.board.moves == 3


def test_board_commands_do_not_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch):
    patience: list[bool] = []
    gtp = Controller()

    def look(group: SetupCommands) -> Game:
        patience.append(kernel._patience.endless)
        return group.session.game

    monkeypatch.setattr(SetupCommands, "game", property(look))
    gtp.ask("komi 5")
    assert gtp.engine.board.get_komi() == 5  # the engine is loaded now
    gtp.ask("komi 6")
    assert patience == [False, True] and kernel._patience.endless


def test_queries_do_not_wait_for_the_compiler(model: Model, monkeypatch: pytest.MonkeyPatch):
    patience: list[bool] = []

    def read(query_id: str, *_: Any) -> None:
        patience.append(kernel._patience.endless)
        raise QueryError("moves", "no")

    monkeypatch.setattr("gtp.analysis.query.read_query", read)
    AnalysisClient(EngineOptions(), model.make, lambda _: None).run(LineReader(feed(b'{"id":"a"}\n')))
    assert patience == [False]


@pytest.mark.parametrize(("size", "filters"), [(None, 8), (9, 8), (7, 4)])
def test_a_network_of_one_size_plays_in_the_place_of_another_there(size: int | None, filters: int, tmp_path: Path):
    save_network(PooledNet(PooledConfig(filters=4, blocks=1)), tmp_path / "own.bin")
    assert find_specialist(tmp_path / "own.bin", size) == str(tmp_path / "own.bin")
    save_network(PooledNet(PooledConfig(filters=8, blocks=1)), tmp_path / "own-9x9.bin")
    evaluator: Any = make_source(EngineOptions(model=str(tmp_path / "own.bin"))).load(size)
    assert evaluator.facts.filters == filters
    assert find_specialist("none", size) == "none" and find_specialist("a.bin,b.bin", size) == "a.bin,b.bin"


@pytest.mark.parametrize(("size", "file"), [
    (11, "own.bin"), (12, "own-19x19.bin"), (13, "own-13x13.bin"), (18, "own-19x19.bin"), (19, "own-19x19.bin"),
])
def test_the_network_of_the_largest_board_plays_on_large_ones(size: int, file: str, tmp_path: Path):
    net = PooledNet(PooledConfig(filters=4, blocks=1))
    for name in ("own", "own-13x13", "own-19x19"):
        save_network(net, tmp_path / f"{name}.bin")
    assert Path(find_specialist(tmp_path / "own.bin", size)).name == file
    save_network(DualNet(torch.device("cpu"), 19, 4, 1), tmp_path / "own-19x19.bin")  # which plays no other
    assert Path(find_specialist(tmp_path / "own.bin", size)).name == (
        "own.bin" if file == "own-19x19.bin" and size < 19 else file)
