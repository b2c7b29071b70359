"""The evaluator on OpenVINO, an optional runtime that is several times faster on CPUs, and starts without torch.

It reads a folder (openvino_cache.py) into which a model file was converted once (openvino_export.py).

Every core works alone: a batch is cut into as many parts as there are cores, and each part is one request of one
thread. Requests have fixed sizes, since OpenVINO is half as fast where it does not know the size of a batch.

Letters: N positions, P planes, S board size.
"""

import contextlib
import hashlib
import io
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common.atomic_file import write_atomically
from nn.inference.board_evaluator import BoardEvaluator, NetworkFacts
from nn.inference.openvino_precision import Format
from nn.plane_sets import PLANE_SETS

FACTS_FILE, NETWORK_FILE = "facts.json", "network.xml"
# Positions of a request; parts of a batch are filled up to the next size, and cut above the last.
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 64)
FIRST_SIZES = (1, 4, 2)  # those that a first search of few visits asks for
BATCH_LIMIT = 256


@dataclass(frozen=True)
class Request:
    """A run of the network over a fixed number of positions, whose memory is OpenVINO's."""

    planes: np.ndarray  # float32 [n, P, S, S], what it reads
    answers: list[np.ndarray]  # what it writes
    run: Any  # openvino.InferRequest


class OpenVinoEvaluator(BoardEvaluator):
    """A network run by OpenVINO, each call of `start` on a core of its own; any number of threads may call."""

    def __init__(self, core: Any, network: Path, number_format: Format, symmetries: int, threads: int) -> None:
        """Take the file of a network beside its facts; sizes of requests are compiled when they are needed."""
        facts = NetworkFacts.parse(network.with_name(FACTS_FILE).read_bytes())
        super().__init__(facts, f"on cpu, {number_format.value}, OpenVINO", BATCH_LIMIT, symmetries)
        self._core, self._network, self._threads = core, network, threads
        # One waits: cores stay busy while the search backs up what is finished and selects what comes next.
        self.calls_at_once = threads + 1 if threads > 1 else 1
        self._config = {"NUM_STREAMS": threads, "INFERENCE_NUM_THREADS": threads, "ENABLE_CPU_PINNING": False,
                        "INFERENCE_PRECISION_HINT": number_format.hint}
        processor = self._core.get_property("CPU", "FULL_DEVICE_NAME")
        self._stamp = hashlib.sha256(f"{processor}{self._config}{number_format}".encode()).hexdigest()[:8]
        self._shape = PLANE_SETS[facts.features].planes, facts.board_size, facts.board_size
        self._compiled: dict[int, Any] = {}
        self._free: dict[int, list[Request]] = {}
        self._lock, self._compiling = threading.Lock(), threading.Lock()

    def _compile(self, size: int) -> Any:
        """Return the network compiled for requests of a size; what an earlier start has compiled is only read."""
        blob = self._network.with_name(f"{size}-{self._stamp}.blob")
        with contextlib.suppress(OSError, RuntimeError):  # damaged: compiled anew
            return self._core.import_model(io.BytesIO(blob.read_bytes()), "CPU", self._config)
        model = self._core.read_model(self._network)
        model.reshape({0: [size, *self._shape]})
        compiled = self._core.compile_model(model, "CPU", self._config)
        with contextlib.suppress(OSError):
            write_atomically(blob, compiled.export_model().getvalue())
        return compiled

    def prepare(self, sizes: Sequence[int] = FIRST_SIZES) -> None:
        """Have sizes compiled in a thread; whoever needs one of them meanwhile waits for it."""
        threading.Thread(target=self._compile_all, args=(sizes,), name="OpenVINO sizes").start()

    def prepare_more(self) -> None:
        """Have all sizes compiled, in a thread.

        One that was compiled when a search first needs it would cost its clock a second on a busy machine.
        """
        self.prepare(SIZES)

    def _compile_all(self, sizes: Sequence[int]) -> None:
        """Compile what is left of some sizes, until the program ends."""
        with contextlib.suppress(RuntimeError):  # the search that needs that size will say so
            for size in sizes:
                if threading.main_thread().is_alive():
                    self._find_compiled(size)

    def _find_compiled(self, size: int) -> Any:
        """Return the network compiled for requests of a size."""
        with self._compiling:
            if size not in self._compiled:
                self._compiled[size] = self._compile(size)
            return self._compiled[size]

    def _take_request(self, size: int) -> Request:
        """Return a request of a size that nobody uses, made if there is none."""
        with self._lock:
            if free := self._free.get(size):
                return free.pop()
        compiled = self._find_compiled(size)
        run = compiled.create_infer_request()
        # OpenVINO's own memory: to let go of an array of Python its threads would need the interpreter's lock, and
        # whoever drops the network may hold that lock while he waits for these threads to end.
        planes = run.get_input_tensor().data
        planes.fill(0.0)
        answers = [run.get_output_tensor(i).data for i in range(len(compiled.outputs))]
        return Request(planes, answers, run)

    def start_plainly(self, planes: np.ndarray) -> Callable[[], tuple[np.ndarray, ...]]:
        """Begin to evaluate positions on one core."""
        if len(planes) > SIZES[-1]:
            return super().start_plainly(planes)
        count = len(planes)
        request = self._take_request(next(size for size in SIZES if size >= count))
        request.planes[:count] = planes
        request.run.start_async()

        def wait() -> tuple[np.ndarray, ...]:
            request.run.wait()
            answers = tuple(answer[:count].copy() for answer in request.answers)
            with self._lock:
                self._free.setdefault(len(request.planes), []).append(request)
            return answers

        return wait

    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
        """Evaluate at most batch_limit positions, in parts on all cores."""
        part = min(-(-len(planes) // self._threads), SIZES[-1])
        waits = [self.start_plainly(planes[begin:begin + part]) for begin in range(0, len(planes), part)]
        return tuple(np.concatenate(answers) for answers in zip(*(wait() for wait in waits), strict=True))
