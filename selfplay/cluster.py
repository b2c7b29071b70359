"""Workers that are actors on a Ray cluster; the only place that knows Ray. Importing it without Ray: SelfPlayError.

What travels: the sources of the program, packed by Ray once; the model file, once to each node through the object
store; the numbers of games out, and finished games back, which are written here.
"""

import logging
import multiprocessing
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.exit_status import EXIT_FAILED, EXIT_REFUSED
from common.print_console import print_err
from nn.model_file import RANDOM_MODEL, ModelFile, read_model_file
from program import PROGRAM_FOLDER
from selfplay.task import ENDED, GAME, WorkerTask, describe_failure
from selfplay.worker_pool import WRITERS, SelfPlayError, WorkerHandle, be_worker
from sgf.selfplay_record import write_game

try:
    import ray
    from ray.exceptions import RayError
except ModuleNotFoundError as error:
    if error.name != "ray":
        raise
    raise SelfPlayError("--ray needs the package ray: pip install ray", EXIT_REFUSED) from None

# What a worker imports; it is sent to the nodes.
SOURCES = ("common", "board", "sgf", "nn", "mcts", "selfplay", "program.py", "learning_param.py")

# How long the head may take to answer at all, and to let us in.
PROBE_SECONDS, CONNECT_SECONDS = 5.0, 90.0
# An actor waits so long for the first message, and so long for each further one of the same answer.
WAIT_SECONDS, GATHER_SECONDS = 0.5, 0.02
MESSAGES_PER_ANSWER = 64
# How often the nodes are counted.
COUNT_SECONDS = 2.0

# What a worker does (be_worker).
Play = Callable[[Any, WorkerTask], None]


class ClusterWorker:
    """The actor: a worker in a thread, and this end of the pipe to it."""

    def __init__(self, play: Play, task: WorkerTask, model: ModelFile | str) -> None:
        """Begin."""
        self._connection, theirs = multiprocessing.Pipe()
        self._run, self._end = play, "ended"
        threading.Thread(target=self._play, args=(theirs, replace(task, model=model)), daemon=True).start()

    def _play(self, connection: Any, task: WorkerTask) -> None:
        """Be the worker; the end of the pipe tells that it is over."""
        try:
            self._run(connection, task)
        except Exception as error:
            self._end = f"failed with {type(error).__name__}: {error}"
        finally:
            connection.close()

    def exchange(self, orders: list[list[int] | None]) -> tuple[str, list[tuple]]:
        """Hand orders to the worker; return the name of this machine and what the worker has to say."""
        messages: list[tuple] = []
        try:
            for order in orders:
                self._connection.send(order)
            while len(messages) < MESSAGES_PER_ANSWER and self._connection.poll(
                    GATHER_SECONDS if messages else WAIT_SECONDS):
                messages.append(self._connection.recv())
        except (EOFError, OSError):
            messages.append((ENDED, self._end))
        return socket.gethostname(), messages


class RayHandle(WorkerHandle):
    """An actor seen from here: at most one call of it is on its way."""

    def __init__(self, actor: Any) -> None:
        """Nothing is ordered yet."""
        super().__init__()
        self._actor = actor
        self._orders: list[list[int] | None] = []
        self._call: Any = None
        self.node = "the cluster"

    def send(self, numbers: list[int] | None) -> None:
        """Have the next call bring it."""
        self._orders.append(numbers)

    def call(self) -> Any:
        """Return the reference of the answer that is to come."""
        if self._call is None:
            self._call, self._orders = self._actor.exchange.remote(self._orders), []
        return self._call

    def take(self) -> list[tuple]:
        """Return the messages of the answer that has come; a lost actor has ENDED."""
        call, self._call = self._call, None
        try:
            self.node, messages = ray.get(call)
        except RayError as error:
            self.kill()
            return [(ENDED, f"a worker on {self.node} was lost ({describe(error)})")]
        return [(ENDED, f"a worker on {self.node} {message[1]}") if message[0] == ENDED else message
                for message in messages]

    def kill(self) -> None:
        """End the actor."""
        with suppress(RayError):
            ray.kill(self._actor)


class RayPool:
    """One actor for each CPU of the cluster or, if it has GPUs that may be used, several for each GPU."""

    def __init__(self, task: WorkerTask, per_gpu: int, play: Play = be_worker) -> None:
        """Put the model into the object store; raises OSError, and SelfPlayError where nobody could play."""
        assert task.folder is not None
        self._folder = task.folder
        nodes = ray.nodes()
        self._play = play
        self._per_gpu = per_gpu if task.use_gpu and count(nodes, "GPU") else 0
        self._task = replace(task, folder=None, model="", threads=1, use_gpu=self._per_gpu > 0)
        model = task.model
        self._model = ray.put(model if model == RANDOM_MODEL else read_model_file(str(model)))
        resources: dict[str, Any] = {"num_cpus": 1, "num_gpus": int(10000 / per_gpu) / 10000 if self._per_gpu else 0}
        self._actor_class = ray.remote(ClusterWorker).options(**resources)
        self._pool = ThreadPoolExecutor(WRITERS, thread_name_prefix="writer")
        self._size, self._next_count = 0, 0.0
        self.description = (
            f"cluster {ray.get_runtime_context().gcs_address}: {sum(map(is_alive, nodes))} nodes, "
            f"{count(nodes, 'CPU')} CPUs, {count(nodes, 'GPU')} GPUs, {self.size()} workers")
        if not self.size():
            raise SelfPlayError(f"nobody can play: {self.description}", EXIT_REFUSED)

    def size(self) -> int:
        """Return how many actors the nodes have room for at present; raises SelfPlayError."""
        if time.monotonic() >= self._next_count:
            try:
                self._size = count_workers(ray.nodes(), self._per_gpu)
            except RayError as error:
                raise SelfPlayError(f"the cluster is gone ({describe(error)})") from None
            self._next_count = time.monotonic() + COUNT_SECONDS
        return self._size

    def start(self) -> RayHandle:
        """Start an actor; Ray chooses the node."""
        return RayHandle(self._actor_class.remote(self._play, self._task, self._model))

    def welcome(self, worker: WorkerHandle, description: str, on_gpu: bool) -> str:
        """Say where the worker is."""
        assert isinstance(worker, RayHandle)
        return f"{description}; a worker on {worker.node}, {worker.slots} games at a time"

    def receive(self, workers: list[WorkerHandle], seconds: float) -> Iterator[tuple[WorkerHandle, tuple]]:
        """Write the games of all answers that are there, then yield the messages."""
        calls = {worker.call(): worker for worker in workers if isinstance(worker, RayHandle)}
        if not calls:
            time.sleep(seconds)
            return
        ready, _ = ray.wait(list(calls), num_returns=1, timeout=seconds)
        if ready:
            ready, _ = ray.wait(list(calls), num_returns=len(calls), timeout=0)
        messages = [(calls[call], message) for call in ready for message in calls[call].take()]
        self._write(message for _, message in messages if message[0] == GAME)
        yield from messages

    def _write(self, messages: Iterable[tuple]) -> None:
        """Write games, several at a time; raises SelfPlayError."""
        try:
            for _ in self._pool.map(lambda message: write_game(self._folder, message[1].number, message[2]), messages):
                pass
        except OSError as error:
            raise SelfPlayError(describe_failure(error, self._folder), EXIT_FAILED) from None


def connect(address: str, sources: Iterable[str] = SOURCES) -> None:
    """Connect to a cluster and send it the program, or what parts of it are named; raises SelfPlayError."""
    problem = probe(address)
    if problem:
        raise SelfPlayError(f"--ray {address}: {problem}", EXIT_REFUSED)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # for a cluster that is started here
    impatience = threading.Timer(CONNECT_SECONDS, give_up, [address])
    impatience.daemon = True
    impatience.start()
    try:
        with TemporaryDirectory(prefix="hiyoko-ray-") as folder:
            copy_sources(sources, Path(folder))
            ray.init(address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
                     runtime_env={"working_dir": folder})
    except (RayError, OSError, ValueError, RuntimeError) as error:
        raise SelfPlayError(f"--ray {address}: {describe(error)}", EXIT_REFUSED) from None
    finally:
        impatience.cancel()


def probe(address: str) -> str:
    """Return why nobody can be reached at host:port, "" if somebody can; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return ""
    try:
        socket.create_connection((host, int(port)), PROBE_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"cannot be reached: {reason} (start the head of a cluster with: ray start --head --port {port})"
    return ""


def give_up(address: str) -> None:
    """End the program: whoever listens there is no Ray cluster, and ray.init cannot be interrupted."""
    print_err(f"selfplay_main.py: --ray {address}: no Ray cluster has answered within {CONNECT_SECONDS:.0f} seconds")
    os._exit(EXIT_REFUSED)


def copy_sources(names: Iterable[str], folder: Path) -> None:
    """Copy parts of the program, and nothing else."""
    for name in names:
        if (PROGRAM_FOLDER / name).is_dir():
            shutil.copytree(PROGRAM_FOLDER / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(PROGRAM_FOLDER / name, folder)


def is_alive(node: dict[str, Any]) -> bool:
    """Tell whether a node of ray.nodes() is there."""
    return bool(node["Alive"])


def count(nodes: Iterable[dict[str, Any]], resource: str) -> int:
    """Return how many "CPU" or "GPU" the living nodes have together."""
    return sum(int(node["Resources"].get(resource, 0)) for node in nodes if is_alive(node))


def count_workers(nodes: Iterable[dict[str, Any]], per_gpu: int) -> int:
    """Return how many workers fit: so many for each GPU, each with a CPU of the same node; 0: one for each CPU."""
    if not per_gpu:
        return count(nodes, "CPU")
    return sum(min(per_gpu * count([node], "GPU"), count([node], "CPU")) for node in nodes)


def describe(error: BaseException) -> str:
    """Return the gist of one of Ray's long messages in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
