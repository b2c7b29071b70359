"""The evaluator on OpenVINO, an optional runtime that is several times faster on CPUs, and starts without torch.

It reads a folder (openvino_cache.py) into which a model file was converted once (openvino_export.py).

Every core works alone, in the thread that asks: an evaluator is a network of one thread, and each core has one
(shared.py). OpenVINO's own threads, to which calls can be handed over, wait and wake up where the search wants to go
on: with two of them and a search on two cores a third of the time was lost. Only large networks are left to them. Runs
have fixed sizes, since OpenVINO is half as fast where it does not know the size of a batch.

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
from nn.evaluation import Answers
from nn.inference.board_evaluator import BoardEvaluator, NetworkFacts
from nn.inference.openvino_precision import Format
from nn.plane_sets import PLANE_SETS

FACTS_FILE, NETWORK_FILE = "facts.json", "network.xml"
# Positions of a run; batches are filled up to the next size, and cut above the last.
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
FIRST_SIZES = (1, 4, 2)  # those that a first search of few visits asks for
BATCH_LIMIT = 256
# Cores share what is compiled where they are more than so many, or the weights have so many bytes: each size takes
# twice as much memory, and handing a run over to a thread of OpenVINO's costs little beside a run of a large network.
MOST_OWN, SHARED_BYTES = 8, 16 << 20


@dataclass(frozen=True)
class Run:
    """A run of the network over a fixed number of positions, whose memory is OpenVINO's."""

    planes: np.ndarray  # float32 [n, P, S, S], what it reads
    answers: list[np.ndarray]  # what it writes
    request: Any  # openvino.InferRequest


class Compiler:
    """Compiles a network for runs of one thread each; one size at a time, whoever asks."""

    def __init__(self, core: Any, network: Path, number_format: Format, floats: Format, cores: int,
                 make_anew: Callable[[], object]) -> None:
        """Take the file of a network beside its facts; all that it does not have in integers it has in `floats`.

        `make_anew` writes these files once more, where they turn out to be damaged.
        """
        self._network = network
        self._open()
        self._is_shared = cores > MOST_OWN or (cores > 1 and self._weights.nbytes >= SHARED_BYTES)
        self._compiled: dict[int, Any] = {}
        streams = cores if self._is_shared else 1
        self.facts = NetworkFacts.parse(network.with_name(FACTS_FILE).read_bytes())
        self.number_format = number_format
        self._core, self._make_anew = core, make_anew
        self._config = {"NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": streams, "ENABLE_CPU_PINNING": False,
                        "INFERENCE_PRECISION_HINT": floats.hint}
        processor = core.get_property("CPU", "FULL_DEVICE_NAME")
        self._stamp = hashlib.sha256(f"{processor}{self._config}{number_format}".encode()).hexdigest()[:8]
        self._shape = PLANE_SETS[self.facts.features].planes, self.facts.board_size, self.facts.board_size
        self._lock = threading.Lock()

    def make_run(self, size: int) -> Run:
        """Return a new run of so many positions; what was compiled before, or by an earlier start, is only read."""
        compiled = None if self._is_shared else self._read(size)
        if compiled is None:
            with self._lock:
                compiled = self._compiled.get(size) or self._read(size) or self._compile(size)
                if self._is_shared:
                    self._compiled[size] = compiled
        request = compiled.create_infer_request()
        # OpenVINO's own memory: to let go of an array of Python its threads would need the interpreter's lock, and
        # whoever drops the network may hold that lock while he waits for these threads to end.
        planes = request.get_input_tensor().data
        planes.fill(0.0)
        outputs = range(len(request.model_outputs))
        return Run(planes, [request.get_output_tensor(i).data for i in outputs], request)

    def _find_blob(self, size: int) -> Path:
        """Return the file of what is compiled for runs of a size."""
        return self._network.with_name(f"{size}-{self._stamp}.blob")

    def _read(self, size: int) -> Any:
        """Return what was compiled for runs of a size, None where there is nothing, or something damaged."""
        with contextlib.suppress(OSError, RuntimeError):
            return self._core.import_model(io.BytesIO(self._find_blob(size).read_bytes()), "CPU", self._config)
        return None

    def _open(self) -> None:
        """Hold the files open: when other programs have loaded many networks, they are gone (KEPT_NETWORKS)."""
        self._text = self._network.read_bytes()
        self._weights: np.ndarray = np.memmap(self._network.with_suffix(".bin"), mode="r")

    def _parse(self) -> Any:
        """Return the network as OpenVINO reads it; raises RuntimeError, OpenVINO's, where it is damaged."""
        with contextlib.suppress(RuntimeError):
            return self._core.read_model(self._network)  # which maps the weights, and takes no memory for them
        return self._core.read_model(self._text, self._weights.tobytes())

    def _compile(self, size: int) -> Any:
        """Compile the network for runs of a size, and keep that on disk."""
        try:
            model = self._parse()
        except RuntimeError:
            self._weights = np.empty(0, np.uint8)  # a file that is mapped cannot be replaced on Windows
            self._make_anew()
            self._open()
            model = self._parse()
        model.reshape({0: [size, *self._shape]})
        compiled = self._core.compile_model(model, "CPU", self._config)
        with contextlib.suppress(OSError):
            write_atomically(self._find_blob(size), compiled.export_model().getvalue())
        return compiled


class OpenVinoEvaluator(BoardEvaluator):
    """A network run by OpenVINO in the thread that calls; other threads that call it meanwhile wait."""

    def __init__(self, compiler: Compiler, symmetries: int) -> None:
        """Have sizes compiled when they are needed."""
        where = f"on cpu, {compiler.number_format.value}, OpenVINO"
        super().__init__(compiler.facts, where, BATCH_LIMIT, symmetries)
        self._compiler = compiler
        self.call_sizes = SIZES
        self._runs: dict[int, Run] = {}
        self._lock, self._making = threading.Lock(), threading.Lock()

    def prepare(self, sizes: Sequence[int] = FIRST_SIZES) -> None:
        """Have sizes compiled in a thread; whoever needs one of them meanwhile waits for it."""
        threading.Thread(target=self._make_all, args=(sizes,), name="OpenVINO sizes").start()

    def prepare_more(self) -> None:
        """Have all sizes compiled, in a thread.

        One that was compiled when a search first needs it would cost its clock a second on a busy machine.
        """
        self.prepare(SIZES)

    def _make_all(self, sizes: Sequence[int]) -> None:
        """Make the runs of some sizes, until the program ends."""
        with contextlib.suppress(OSError, RuntimeError):  # the search that needs that size will say so
            for size in sizes:
                if threading.main_thread().is_alive():
                    self._find_run(size)

    def _find_run(self, size: int) -> Run:
        """Return the run of a size; one that is there is not waited for, whatever else is being made."""
        if size not in self._runs:
            with self._making:
                if size not in self._runs:
                    self._runs[size] = self._compiler.make_run(size)
        return self._runs[size]

    def _evaluate(self, planes: np.ndarray) -> Answers:
        """Evaluate at most batch_limit positions, in this thread."""
        most = SIZES[-1]
        parts = [self._evaluate_part(planes[begin:begin + most]) for begin in range(0, len(planes), most)]
        return parts[0] if len(parts) == 1 else tuple(np.concatenate(answers) for answers in zip(*parts, strict=True))

    def _evaluate_part(self, planes: np.ndarray) -> Answers:
        """Evaluate at most as many positions as the largest run takes."""
        count = len(planes)
        run = self._find_run(next(size for size in SIZES if size >= count))
        with self._lock:
            run.planes[:count] = planes
            run.request.infer()
            return tuple(answer[:count].copy() for answer in run.answers)
