"""OpenVINO as a runtime: the same answers, without torch from the second start on, and torch where it is missing."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from common.atomic_file import write_atomically
from nn.constant import PRECISION_VARIABLE
from nn.inference.board_evaluator import BoardEvaluator
from nn.inference.evaluation_cache import CachedEvaluator
from nn.inference.evaluator import copy_for_inference
from nn.inference.loading import load_evaluator
from nn.inference.runtime import RUNTIME_VARIABLE
from nn.model_file import ModelFileError, read_model_file
from nn.network.dual_net import DualNet
from nn.network.pooled_net import PooledConfig, PooledNet
from nn.network.weights import save_network
from nn.plane_sets import PLANE_SETS

SIZE = 5
NETWORKS: dict[str, Callable[[], DualNet | PooledNet]] = {
    "lecture": lambda: DualNet(torch.device("cpu"), SIZE, 8, 2),
    "pooled": lambda: PooledNet(PooledConfig(filters=16, blocks=2)),
    "mish": lambda: PooledNet(PooledConfig(filters=16, blocks=2, block="se", activation="mish")),
}


def make_network(kind: str) -> DualNet | PooledNet:
    """Return a network whose norms have seen something."""
    torch.manual_seed(2)
    network = NETWORKS[kind]()
    network.train()
    for _ in range(3):
        network(torch.rand(8, PLANE_SETS[network.features].planes, SIZE, SIZE))
    network.eval()
    return network


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have OpenVINO used, with a folder of its own for what it keeps, which is returned; skip where it is missing."""
    pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install '.[fast]')")
    from nn.inference import openvino_cache
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(openvino_cache, "cache_folder", lambda: folder)
    monkeypatch.delenv(RUNTIME_VARIABLE, raising=False)
    monkeypatch.setenv(PRECISION_VARIABLE, "float32")
    return folder


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a pooled network that was loaded once: x.bin, and cache/ with what is kept of it."""
    pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install '.[fast]')")
    from nn.inference import openvino_cache
    folder = tmp_path_factory.mktemp("started")
    (folder / "cache").mkdir()
    save_network(make_network("pooled"), folder / "x.bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openvino_cache, "cache_folder", lambda: folder / "cache")
        patch.delenv(RUNTIME_VARIABLE, raising=False)
        patch.setenv(PRECISION_VARIABLE, "float32")
        load_evaluator(folder / "x.bin", SIZE)
    return folder


@pytest.fixture
def second_start(started: Path, runtime: Path) -> Path:
    """Return the file of a network that an earlier start has loaded."""
    shutil.copytree(started / "cache", runtime, dirs_exist_ok=True)
    return started / "x.bin"


def check(evaluator: BoardEvaluator, network: DualNet | PooledNet, tolerance: float = 1e-3) -> None:
    """Compare with the network in float32, for batches that are cut and filled up in several ways."""
    rng = np.random.default_rng(3)
    for count in (1, 5, 70):
        planes = rng.random((count, evaluator.plane_set.planes, SIZE, SIZE), dtype=np.float32)
        with torch.inference_mode():
            expected = copy_for_inference(network)(torch.from_numpy(planes))
        answers = evaluator(planes)
        for found, wanted in zip(answers, expected, strict=True):
            np.testing.assert_allclose(found, wanted.numpy(), atol=tolerance, rtol=tolerance)
            assert found.dtype == np.float32
        assert not np.shares_memory(answers[0], evaluator(planes[:1])[0]), "the next call would overwrite it"


def test_the_network_is_on_the_disk_before_what_vouches_for_it(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A power cut leaves a network that is whole, or none: one that is cut off would end games."""
    from nn.inference import openvino_cache
    written: list[str] = []

    def write(path: Path, content: bytes) -> None:
        written.append(path.name)
        write_atomically(path, content)

    monkeypatch.setattr(openvino_cache, "write_atomically", write)
    save_network(make_network("lecture"), tmp_path / "x.bin")
    load_evaluator(tmp_path / "x.bin", SIZE, threads=1)
    assert sorted(written[:2]) == ["network.bin", "network.xml"] and written[2:] == ["facts.json"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", NETWORKS)
def test_it_gives_the_answers_of_the_network(kind: str, runtime: Path, tmp_path: Path,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    network = make_network(kind)
    save_network(network, tmp_path / "x.bin")
    first = load_evaluator(tmp_path / "x.bin", SIZE, threads=2)
    assert "OpenVINO" in first.description and first.tells_lead == isinstance(network, PooledNet)
    check(first, network)
    for blob in runtime.rglob("*.blob"):
        blob.write_bytes(b"damaged")
    from nn.inference import openvino_export
    monkeypatch.setattr(openvino_export, "export", lambda *_: pytest.fail("what was kept is not found"))
    again = load_evaluator(tmp_path / "x.bin", SIZE, threads=2)
    assert (again.description, again.sizes, again.note) == (first.description, first.sizes, first.note)
    check(again, network)
    for threads in (1, 3):
        check(load_evaluator(tmp_path / "x.bin", SIZE, threads=threads), network)
    from nn.inference import openvino_evaluator
    for name in ("SHARED_BYTES", "MOST_OWN"):
        monkeypatch.setattr(openvino_evaluator, name, 0)
        check(load_evaluator(tmp_path / "x.bin", SIZE, threads=2), network)


def test_signals_have_a_stack_when_a_network_is_dropped_elsewhere(runtime: Path, second_start: Path) -> None:
    """Ctrl-C used to end an engine by a segmentation fault after a thread had replaced the network of the first one."""
    code = ("import signal, threading; from nn.inference import openvino_cache as o; from pathlib import Path; "
            f"o.cache_folder = lambda: Path({str(runtime)!r}); from nn.inference.loading import load_evaluator; "
            f"loaded = [load_evaluator({str(second_start)!r}, {SIZE}, threads=1)]; "
            "dropper = threading.Thread(target=loaded.clear); dropper.start(); dropper.join(); "
            "signal.signal(signal.SIGINT, lambda *_: print('came')); signal.raise_signal(signal.SIGINT)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (0, "came\n"), done.stderr


def test_two_threads_look_at_their_first_tensors_at_once() -> None:
    """As they do when each makes its first run (OpenVinoEvaluator.prepare); both stopped, in one start of 30."""
    pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install '.[fast]')")
    code = """if True:
        import sys, threading
        from nn.inference.openvino_cache import find_core
        port = '<port id="0" precision="FP32"><dim>2</dim></port>'
        network = f'''<net name="wire" version="11"><layers>
            <layer id="0" name="a" type="Parameter" version="opset1">
                <data shape="2" element_type="f32"/><output>{port}</output></layer>
            <layer id="1" name="b" type="Result" version="opset1"><input>{port}</input></layer>
            </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'''
        core, begun = find_core(), []
        compiled = core.compile_model(core.read_model(network.encode(), b""), "CPU")
        tensors = [compiled.create_infer_request().get_input_tensor() for _ in range(2)]
        sys.setswitchinterval(1e-6)

        def look(tensor):
            begun.append(tensor)
            while len(begun) < len(tensors):
                pass
            tensor.data

        threads = [threading.Thread(target=look, args=(tensor,), daemon=True) for tensor in tensors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print("done")"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30,
                          cwd=Path(__file__).parents[2])
    assert done.stdout == "done\n", done.stderr


@pytest.mark.slow
def test_the_second_start_does_without_torch(runtime: Path, second_start: Path) -> None:
    code = ("import sys; from nn.inference import openvino_cache as o; from pathlib import Path; "
            f"o.cache_folder = lambda: Path({str(runtime)!r}); from nn.inference.loading import load_evaluator; "
            f"print(load_evaluator({str(second_start)!r}, {SIZE}).description, 'torch' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert "OpenVINO" in done.stdout and done.stdout.split()[-1] == "False", done.stderr


def test_nothing_is_told_to_its_maker(runtime: Path, tmp_path: Path) -> None:
    """A network is converted without a word about it on the Internet, and without the wait for that."""
    from openvino.tools.ovc import telemetry_utils
    save_network(make_network("lecture"), tmp_path / "x.bin")
    load_evaluator(tmp_path / "x.bin", SIZE)
    assert sys.modules["openvino_telemetry"] is None and telemetry_utils.tm.__name__.endswith("telemetry_stub")


@pytest.mark.parametrize(("name", "is_gone"), [("network.xml", False), ("network.bin", True), ("facts.json", False)])
def test_what_is_kept_and_damaged_is_made_anew(name: str, is_gone: bool, second_start: Path, runtime: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has to find and delete a file that a disk has spoiled, or a cleaner has taken."""
    network = make_network("pooled")
    for blob in runtime.rglob("*.blob"):
        blob.unlink()
    (file,) = runtime.rglob(name)
    if is_gone:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:file.stat().st_size // 2])
    evaluator = load_evaluator(second_start, SIZE, threads=1)
    assert "OpenVINO" in evaluator.description and capsys.readouterr().err == ""
    check(evaluator, network)


def test_networks_that_are_long_unused_are_forgotten(runtime: Path, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    from nn.inference import openvino_cache
    monkeypatch.setattr(openvino_cache, "KEPT_NETWORKS", 2)
    save_network(make_network("lecture"), tmp_path / "x.bin")
    model = read_model_file(tmp_path / "x.bin")
    folders = [openvino_cache.find_folder(model, size) for size in (5, 6, 7)]
    assert [folder.is_dir() for folder in folders] == [False, True, True]


def test_every_network_has_a_folder_of_its_own_and_used_ones_stay(runtime: Path, tmp_path: Path,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    from nn.inference import openvino_cache
    monkeypatch.setattr(openvino_cache, "KEPT_NETWORKS", 2)
    models = []
    for number in range(3):
        (tmp_path / "x.bin").write_bytes(bytes([number]))
        models.append(read_model_file(tmp_path / "x.bin"))
    first, second = (openvino_cache.find_folder(model, SIZE) for model in models[:2])
    for age, folder in ((50, first), (100, second)):
        os.utime(folder, (age, age))
    assert openvino_cache.find_folder(models[0], SIZE) == first != second
    assert openvino_cache.find_folder(models[2], SIZE).is_dir() and first.is_dir() and not second.is_dir()


def test_torch_runs_what_openvino_cannot(runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    from nn.inference import openvino_export

    def fail(*_: object) -> None:
        raise RuntimeError("no such operator\nin the network")

    monkeypatch.setattr(openvino_export, "export", fail)
    save_network(make_network("lecture"), tmp_path / "x.bin")
    assert "OpenVINO" not in load_evaluator(tmp_path / "x.bin").description
    assert "x.bin, torch does: no such operator in the network\n" in capsys.readouterr().err
    with pytest.raises(ModelFileError, match="no such file"):
        load_evaluator(tmp_path / "missing.bin")


def test_a_bad_file_is_refused_in_the_same_words(runtime: Path, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match="damaged or no model file"):
        load_evaluator(tmp_path / "x.bin")


def test_no_search_waits_for_a_size_to_be_compiled(second_start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are ready after `prepare_more` and its thread, and kept on disk: a timed search pays for nothing"""
    from nn.inference import openvino_evaluator
    evaluator = load_evaluator(second_start, SIZE, threads=2)
    evaluator.prepare_more()
    for thread in threading.enumerate():
        if thread.name == "OpenVINO sizes":
            thread.join()

    def fail(*_: object) -> None:
        raise AssertionError("a size was compiled in a search")

    monkeypatch.setattr(openvino_evaluator.Compiler, "make_run", fail)
    for count in (1, 3, 8, 50, 100):
        planes = np.zeros((count, evaluator.plane_set.planes, SIZE, SIZE), dtype=np.float32)
        assert len(evaluator(planes)[0]) == len(evaluator.start(planes).answer()[0]) == count


def test_what_other_programs_remove_is_not_missed(runtime: Path, second_start: Path) -> None:
    """An engine runs for weeks; other networks that are loaded meanwhile take the place of its own on the disk."""
    evaluator = load_evaluator(second_start, SIZE, threads=1)
    for thread in threading.enumerate():
        if thread.name == "OpenVINO sizes":
            thread.join()
    for folder in runtime.iterdir():
        shutil.rmtree(folder)
    check(evaluator, make_network("pooled"))


def test_a_cache_passes_on_what_only_the_evaluator_can(second_start: Path) -> None:
    cached = CachedEvaluator(load_evaluator(second_start, SIZE))
    planes = np.ones((1, cached.plane_set.planes, SIZE, SIZE), dtype=np.float32)
    assert len(cached.average(planes)) == len(cached(planes)) == 4
    with pytest.raises(AttributeError):
        _ = cached.nothing_of_that_name
