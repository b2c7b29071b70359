"""Self-play on a Ray cluster of local nodes: the games of one machine, whatever becomes of the nodes."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from nn.inference.steps.cache import find_table
from nn.model_file import read_model_file
from nn.network.dual_net import DualNet
from nn.network.weights import save_network
from selfplay.archive import BATCH_FILE, LOG_FILE
from tests.selfplay.test_main import games

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    find_spec("ray") is None, reason="the package ray is not installed (pip install .[cluster])")]

SECONDS = 300
SMALL = ["--size", "4", "--visits", "2", "--komi", "0.5", "--use-gpu", "false", "--batch-size", "16", "--seed", "3"]
NODE = {"num_cpus": 1, "num_gpus": 0, "object_store_memory": 80 * 2**20}
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # Ray's 15 starves the actors wherever something else is running
    "RAY_prestart_worker_first_driver": "0",  # one that nobody has a use for: ours want the program's sources
}


def command(root: Path, archive: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(root / "selfplay_main.py"), "--save-dir", str(archive), *SMALL, *arguments]


def run(root: Path, archive: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(root, archive, *arguments), capture_output=True, text=True, timeout=SECONDS)


def start(root: Path, archive: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(command(root, archive, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, start_new_session=True)


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until something has happened, as long as the program runs."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processes_of(session: str) -> dict[int, str]:
    """Return the command lines of all processes of a Ray session by process id."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if session in line or session in str((path / "cwd").readlink()):
                found[int(path.name)] = line
    return found


class Actors:
    """The workers' processes in a cluster, which can be frozen so that no test depends on how fast they play."""

    def __init__(self, cluster: Any) -> None:
        self._session = Path(cluster.head_node.get_session_dir_path()).name
        self._old: set[int] = set()

    def freeze(self) -> list[int]:
        """Stop the workers that were not there at the last call; return them."""
        new = [pid for pid, line in processes_of(self._session).items()
               if line.startswith("ray::ClusterWorker") and pid not in self._old]
        for pid in new:
            os.kill(pid, signal.SIGSTOP)
        self._old.update(new)
        return new


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Return a cluster of one node, the head."""
    if not Path("/proc/self/cwd").exists():
        pytest.skip("no /proc")
    from ray import cluster_utils

    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        # Nobody looks at a dashboard, and no cluster of nodes is made larger by itself.
        cluster: Any = cluster_utils.Cluster(initialize_head=True, head_node_args=NODE | {
            "include_dashboard": False, "no_monitor": True})
        session = Path(cluster.head_node.get_session_dir_path()).name
        yield cluster
        cluster.shutdown()
        deadline = time.monotonic() + 60
        while processes_of(session):
            assert time.monotonic() < deadline, processes_of(session)
            time.sleep(0.2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of a small model file with random weights."""
    path = tmp_path_factory.mktemp("model") / "small.bin"
    torch.manual_seed(1)
    save_network(DualNet(torch.device("cpu"), 4, 8, 1), path)
    find_table(read_model_file(path), 4)  # for which the first worker would load torch
    return str(path)


def moves(records: dict[str, bytes]) -> dict[str, bytes]:
    """Return records without what the network said: its last digits depend on how many positions a call has."""
    return {name: re.sub(rb"C\[[^]]*\]|HV\[[^]]*\]", b"", content) for name, content in records.items()}


def test_a_node_joins_and_another_is_lost(root: Path, tmp_path: Path, cluster: Any, model: str) -> None:
    """The games are those of a single machine, and what was finished is not touched again."""
    count = 256
    options = ["--num-data", str(count), "--model", model]
    local = run(root, tmp_path / "local", *options, "--process", "1")
    assert local.returncode == 0, local.stderr

    folder = tmp_path / "cluster" / "1"
    process = start(root, tmp_path / "cluster", *options, "--ray", cluster.address)
    actors = Actors(cluster)
    wait_for(lambda: len(games(folder)) > 3, process)
    [first] = actors.freeze()
    time.sleep(1.0)  # what it had sent before is written
    few = len(games(folder))
    node = cluster.add_node(**NODE)
    wait_for(lambda: len(games(folder)) > few, process)
    [second] = actors.freeze()
    before = {name: (content, (folder / name).stat().st_mtime_ns) for name, content in games(folder).items()}
    assert len(before) < count
    cluster.remove_node(node, allow_graceful=False)
    os.kill(second, signal.SIGKILL)  # frozen, it does not notice that its node is gone
    os.kill(first, signal.SIGCONT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err

    assert f"cluster {cluster.address}: 1 nodes, 1 CPUs, 0 GPUs, 1 workers" in err
    lost = [line for line in err.splitlines() if " was lost (" in line]
    assert len(lost) == 1 and "games begin again" in lost[0] and lost[0] in (folder / LOG_FILE).read_text()
    assert "errors 1" in out and "Traceback" not in err and "(ClusterWorker pid=" not in out + err
    after = games(folder)
    assert moves(after) == moves(games(tmp_path / "local" / "1")) and len(after) == count
    assert {name: (after[name], (folder / name).stat().st_mtime_ns) for name in before} == before
    cluster.wait_for_nodes()  # until the head knows that one is gone: the next test counts them
    assert {path.name for path in folder.iterdir()} == {BATCH_FILE, LOG_FILE, *after}


def test_stopped_and_continued(root: Path, tmp_path: Path, cluster: Any, model: str) -> None:
    """Ctrl-C keeps the finished games; the same command goes on."""
    options = ["--num-data", "5000", "--model", model]
    folder = tmp_path / "1"
    process = start(root, tmp_path, *options, "--ray", cluster.address)
    wait_for(lambda: games(folder), process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + signal.SIGINT, err
    assert "stopped by SIGINT: the same command goes on" in err and "Traceback" not in err
    before = games(folder)
    assert 0 < len(before) < 5000 and all(text.endswith(b"\n)") for text in before.values())
    assert f"Generating {len(before):5d}/ 5000 games" in out

    wanted = 5 + max(int(name.removesuffix(".sgf")) for name in before)
    again = run(root, tmp_path, "--num-data", str(wanted), "--model", model, "--ray", cluster.address)
    assert again.returncode == 0, again.stderr
    after = games(folder)
    assert after.keys() == {f"{number}.sgf" for number in range(1, wanted + 1)}
    assert {name: after[name] for name in before} == before


def test_a_damaged_model_is_one_line(root: Path, tmp_path: Path, cluster: Any) -> None:
    """The worker finds out, far away; the message names the file here."""
    (tmp_path / "bad.bin").write_bytes(b"no model")
    result = run(root, tmp_path / "archive", "--num-data", "2", "--model", str(tmp_path / "bad.bin"),
                 "--ray", cluster.address)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith(
        f"selfplay_main.py: cannot use model {tmp_path / 'bad.bin'}: it is damaged or no model file")
    assert "Traceback" not in result.stderr and not list(tmp_path.rglob("*.sgf"))


def test_the_benchmark_gathers_games(root: Path, cluster: Any) -> None:
    options = ["--ray", cluster.address, "--size", "3", "--visits", "2", "--games", "20", "--seconds", "0.01"]
    result = subprocess.run([sys.executable, str(root / "tools" / "bench.py"), "cluster", *options],
                            capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stderr
    assert f"cluster {cluster.address}: 1 nodes" in result.stdout
    assert float(result.stdout.split("games gathered and written by the head")[1].split()[0].replace(",", "")) > 0


@pytest.mark.parametrize(("address", "complaint"), [
    ("127.0.0.1:1", "cannot be reached"), ("nonsense", "nonsense"), ("", "--ray"),
])
def test_a_wrong_address_is_one_line(root: Path, tmp_path: Path, address: str, complaint: str) -> None:
    check_refusal(run(root, tmp_path, "--num-data", "1", "--model", "none", "--ray", address), tmp_path, complaint)


@pytest.mark.parametrize("address", ["no-such-host.invalid:6379", "127.0.0.1:99999", "ray://127.0.0.1:1"])
def test_where_nobody_listens_is_found_out_before_ray_tries(address: str) -> None:
    from selfplay import cluster

    assert "cannot be reached" in cluster.probe(address)


def test_without_the_package(root: Path, tmp_path: Path) -> None:
    program = "import runpy, sys; sys.modules['ray'] = None; sys.argv = sys.argv[1:]; sys.path.insert(0, '.'); " \
              "runpy.run_path(sys.argv[0], run_name='__main__')"
    arguments = command(root, tmp_path, "--num-data", "1", "--model", "none", "--ray", "auto")[1:]
    result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, cwd=root,
                            timeout=SECONDS)
    check_refusal(result, tmp_path, "pip install")


def check_refusal(result: subprocess.CompletedProcess[str], archive: Path, complaint: str) -> None:
    """One line, status 2, and no batch is begun."""
    assert result.returncode == 2, result.stderr
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and complaint in lines[0] and lines[0].startswith("selfplay_main.py: ")
    assert not [path for path in archive.iterdir() if path.is_dir()]
