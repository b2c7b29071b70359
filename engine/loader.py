"""Loading of the engine in the background: torch, the model and compiled code take seconds, `name` must not."""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from common.exit_status import ProgramError
from common.patience import say_if_slow
from common.print_console import print_err
from engine.options import EngineOptions
from nn.model_file import ANY_SIZE, RANDOM_MODEL, ModelFileError, find_sizes, find_specialist

if TYPE_CHECKING:
    from engine.engine import Engine, EvaluatorSource
    from engine.game import Game
    from nn.feature import Evaluator

POLL_SECONDS = 1.0
# Seconds between two looks whether loading has ended, for those who do something else meanwhile.
LOADING_POLL = 0.1
LOADER_THREAD = "engine loader"


@contextmanager
def without_collector() -> Iterator[None]:
    """Load without looking for garbage: there is next to none, and looking takes a fifth of the time of importing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class LoadError(ProgramError):
    """The engine cannot be loaded; the text is one line for the user."""


class AbandonedError(OSError):
    """Whoever waited for the engine is gone."""


def make_source(options: EngineOptions) -> "EvaluatorSource":
    """Return where the network that the options name comes from; nothing heavy is loaded yet."""
    from engine.engine import EvaluatorSource

    def load(board_size: int | None) -> "Evaluator":
        from nn.inference.evaluation_cache import CachedEvaluator
        from nn.inference.loading import load_evaluator
        model = find_specialist(options.model, board_size)
        how: Any = {"use_gpu": options.use_gpu, "threads": options.threads, "gpus": options.gpus}
        if not options.value_model:
            evaluator = load_evaluator(model, board_size, symmetries=options.symmetries, **how)
        else:
            from nn.inference.joined import pair
            policy = load_evaluator(model, board_size, **how)
            try:
                value = load_evaluator(options.value_model, policy.board_size, **how)
            except ModelFileError as error:
                raise ModelFileError(error.path, error.reason, "give another file with --value-model") from None
            evaluator = pair(policy, value, options.symmetries)
        evaluator.prepare()
        return CachedEvaluator(evaluator)

    models = filter(None, (options.model, options.value_model))
    sizes = ANY_SIZE if options.model == RANDOM_MODEL else find_sizes(*models)
    return EvaluatorSource(load, sizes, warm_up=True, knows_go=options.model != RANDOM_MODEL)


def make_engine(options: EngineOptions) -> "Engine":
    """Return an engine whose network is still to be loaded; raises ModelFileError where only torch tells its size."""
    from engine.engine import Engine

    return Engine(options.for_model(), make_source(options))


class EngineLoader:
    """Makes an engine and loads it in a thread: hands out the game at once, and the player when it is ready."""

    def __init__(self, make: Callable[[], "Engine"], ready_line: str) -> None:
        """Prepare to call `make` once, and `load` of what it returns; `ready_line` goes to stderr then."""
        self._make, self._ready_line = make, ready_line
        self._lock = threading.Lock()
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

    @property
    def is_ready(self) -> bool:
        """Tell whether the engine can be used without waiting."""
        return self.done and self.error is None

    def start(self) -> None:
        """Begin to load unless that was done before."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=LOADER_THREAD, daemon=True)
            self._thread.start()

    @property
    def game(self) -> "Game":
        """The engine as far as it needs no network; raises LoadError."""
        try:
            return self._make_once()
        except Exception as error:
            self.error = describe(error)
            raise LoadError(self.error) from None

    def at_once(self) -> AbstractContextManager[None]:
        """Return a context in which this thread does not wait for the compiler while the engine loads."""
        if self.is_ready:
            return nullcontext()
        from common.kernel import without_compiler
        return without_compiler()

    def get(self, is_abandoned: Callable[[], bool] = lambda: False) -> "Engine":
        """Return the engine, waiting for it; raises LoadError, and AbandonedError when nobody waits any more."""
        self.start()
        while not self._done.wait(POLL_SECONDS):
            if is_abandoned():
                raise AbandonedError
        if self._engine is None or self.error is not None:
            raise LoadError(str(self.error))
        return self._engine

    def _make_once(self) -> "Engine":
        """Return the engine, ready or not."""
        with self._lock:
            if self._engine is None:
                self._engine = self._make()
            return self._engine

    def _run(self) -> None:
        """Load and tell so on stderr; any failure becomes one line."""
        with say_if_slow(), without_collector():
            try:
                self._make_once().load()
                gc.collect()
                gc.freeze()
                print_err(self._ready_line)
            except Exception as error:
                self.error = describe(error)
        self._done.set()


def describe(error: Exception) -> str:
    """Return what a user is told about a failure, in one line."""
    text = " ".join(str(error).split())
    expected = isinstance(error, OSError | ValueError | ProgramError)
    return text if expected and text else f"cannot load the engine: {type(error).__name__}: {text}"
