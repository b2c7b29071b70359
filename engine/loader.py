"""Loading of the engine in the background: torch, the model and compiled code take seconds, `name` must not."""

import gc
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from common.patience import say_if_slow
from common.print_console import print_err
from engine.options import EngineOptions
from nn.model_file import RANDOM_MODEL

if TYPE_CHECKING:
    from engine.engine import Engine

READY_LINE = "GTP ready"
POLL_SECONDS = 1.0


class LoadError(Exception):
    """The engine cannot be loaded; the text is one line for the user."""


def load_engine(options: EngineOptions) -> "Engine":
    """Return an engine that is ready to play; imports everything heavy. Raises ModelFileError for a bad model."""
    from engine.engine import Engine, EvaluatorSource
    from nn.inference.evaluator import load_evaluator

    source = EvaluatorSource(
        load=lambda board_size: load_evaluator(options.model, board_size, options.use_gpu, options.symmetries),
        any_size=options.model == RANDOM_MODEL,
    )
    engine = Engine(options, source)
    engine.warm_up()
    gc.collect()
    gc.freeze()
    return engine


class EngineLoader:
    """Runs a load function in a thread and hands out what it returned."""

    def __init__(self, load: Callable[[], "Engine"], ready_line: str = READY_LINE) -> None:
        """Prepare to call `load` once; `ready_line` goes to stderr then."""
        self._load, self._ready_line = load, ready_line
        self._done = threading.Event()
        self._engine: Engine | None = None
        self._thread: threading.Thread | None = None
        self.error: str | None = None

    @property
    def started(self) -> bool:
        """Tell whether loading has begun."""
        return self._thread is not None

    @property
    def done(self) -> bool:
        """Tell whether loading has ended, well or not."""
        return self._done.is_set()

    def start(self) -> None:
        """Begin to load unless that was done before."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="engine loader", daemon=True)
            self._thread.start()

    def get(self) -> "Engine":
        """Return the engine, waiting for it; raises LoadError."""
        self.start()
        while not self._done.wait(POLL_SECONDS):
            pass
        if self._engine is None:
            raise LoadError(self.error)
        return self._engine

    def _run(self) -> None:
        """Load and tell so on stderr; any failure becomes one line."""
        with say_if_slow():
            try:
                self._engine = self._load()
                print_err(self._ready_line)
            except Exception as error:
                expected = isinstance(error, OSError | ValueError) or type(error).__name__ == "ModelFileError"
                text = " ".join(str(error).split())
                self.error = text if expected and text else f"cannot load the engine: {type(error).__name__}: {text}"
        self._done.set()
