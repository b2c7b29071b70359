"""What `@kernel` promises beside speed: one compilation for all integers, and an answer before there is any."""
from __future__ import annotations

import gc
import importlib.util
import inspect
import signal
import threading
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import numba
import numpy as np
import pytest
from numba.core import event

from common.interrupt import Terminated, raise_on_sigterm
from common.kernel import kernel, wait_for_compiler, without_compiler
from common.kernel_parts import PartLibrary

SOURCE = '''
from common.kernel import kernel

@kernel
def step(array, by):
    array[0] += by
    return array[0]

@kernel
def walk(array, steps):
    total = step(array, 1) + step(array, steps[0]) + step(array, array[0])
    for i in range(len(steps)):
        total += step(array, i)
    return total
'''

pytestmark = pytest.mark.skipif(bool(getattr(numba.config, "DISABLE_JIT", False)), reason="nothing is compiled")


def write_kernels(folder: Path) -> ModuleType:
    """Return a module with two kernels that no cache has seen."""
    path = folder / f"kernels_{uuid.uuid4().hex}.py"
    path.write_text(SOURCE + f"# {path.stem}\n")
    return load_kernels(path)


def load_kernels(path: Path) -> ModuleType:
    """Return the module in a file, new each time."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def kernels(tmp_path: Path) -> ModuleType:
    """Return a module with two kernels that no cache has seen."""
    return write_kernels(tmp_path)


def climb(steps: tuple[np.ndarray, int], most: int) -> tuple[int, int]:
    """Return how often the steps fit below `most`, and what is left, by arguments that are used late, or set anew."""
    while most < 0:
        most += steps[1]
    size, count = steps[1] + 0 * most, 0
    for number in steps[0]:
        if number > most:
            continue
        size = size + number
        most = most - number
        count += 1
    return count, size * steps[1] + most


def test_what_is_set_once_where_a_kernel_begins_is_known_to_its_end() -> None:
    """With and without a loop there, and beside what is set anew."""
    compiled = kernel(climb)
    for most in (-25, 7, 30):
        steps = np.array([3, 9, 2, 8]), 10
        assert compiled(steps, most) == climb(steps, most)


def test_a_kernel_that_prints_is_refused() -> None:
    def say(number: int) -> None:
        print(number)

    with pytest.raises(TypeError, match="say prints.* NUMBA_DISABLE_JIT=1"):
        kernel(say)


@kernel
def read_last_and(array: np.ndarray, i: int) -> tuple[int, int]:
    """Return the last number and number i."""
    return array[-1], array[i]


def test_only_indices_of_the_text_count_from_the_end():
    numbers = np.arange(10)[5:]
    assert read_last_and(numbers, 1) == (9, 6)
    if getattr(numba.config, "BOUNDSCHECK", None):
        with pytest.raises(IndexError):
            read_last_and(numbers, -1)
    else:
        assert read_last_and(numbers, -1) == (9, 4)  # what stands before: no kernel may ask for that
    assert numba.njit(lambda array, i: array[i])(numbers, -1) == 9


class Compilations(event.Listener):
    """The names of the functions of one module that numba compiles; an engine of another test may still be loading."""

    def __init__(self, module: ModuleType) -> None:
        self.names: list[str] = []
        self._module = module.__name__

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if function.__module__ == self._module:
            self.names.append(function.__name__)

    def on_end(self, event: Any) -> None:
        pass


def arguments() -> tuple[np.ndarray, np.ndarray]:
    return np.array([3], dtype=np.int32), np.array([4, 5], dtype=np.int16)


def test_one_compilation_serves_all_integers(kernels: ModuleType):
    listener = Compilations(kernels)
    with event.install_listener("numba:compile", listener):
        compiled = kernels.walk(*arguments())
    with without_compiler():
        assert compiled == kernels.walk.py_func(*arguments()) == 61
    assert sorted(listener.names) == ["step", "walk"]


def test_what_is_not_compiled_yet_runs_as_python(kernels: ModuleType):
    listener = Compilations(kernels)
    with event.install_listener("numba:compile", listener), without_compiler():
        assert kernels.walk(*arguments()) == 61
        assert not listener.names
    other = threading.Thread(target=kernels.walk, args=arguments())
    with event.install_listener("numba:compile", listener), without_compiler():
        other.start()
        other.join()
    assert listener.names == ["walk", "step"], "another thread compiles"
    with without_compiler():
        assert kernels.walk(*arguments()) == 61 and len(kernels.walk.signatures) == 1


def test_a_command_that_has_waited_long_enough_compiles(kernels: ModuleType):
    with without_compiler():
        wait_for_compiler()
        kernels.walk(*arguments())
        assert kernels.walk.signatures
    kernels.step(*arguments()[:1], 1)
    assert kernels.step.signatures


def test_a_signal_waits_for_the_compiler(kernels: ModuleType, monkeypatch: pytest.MonkeyPatch):
    """Whatever is raised while LLVM hands over what it has compiled is lost; the kernel used to fail instead."""
    save = type(kernels.step._cache).save_overload

    def send_and_save(*arguments: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        save(*arguments)

    monkeypatch.setattr(type(kernels.step._cache), "save_overload", send_and_save)
    with pytest.raises(Terminated), raise_on_sigterm():
        kernels.walk(*arguments())
    monkeypatch.undo()
    assert kernels.walk.signatures
    assert kernels.walk(*arguments()) == kernels.walk.py_func(*arguments())


def test_parts_are_bitcode_that_only_kernels_call(kernels: ModuleType):
    kernels.walk(*arguments())
    parts = list(inspect.getclosurevars(kernels.step.get_call_template).nonlocals["inlined"].overloads.values())
    assert [type(part.library) for part in parts] == [PartLibrary]
    assert parts[0].library.serialize_using_object_code()[1] == "bitcode"
    assert not kernels.step.overloads, "what only kernels call is compiled for Python, too"


def test_who_finds_a_kernel_on_disk_makes_no_parts(kernels: ModuleType) -> None:
    kernels.walk(*arguments())
    found = load_kernels(Path(str(kernels.__file__)))
    assert found.walk(*arguments()) == kernels.walk(*arguments())
    assert inspect.getclosurevars(found.step.get_call_template).nonlocals["inlined"] is None


def test_who_finds_a_kernel_on_disk_needs_nothing_to_compile_with(
    kernels: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What numba loads for its compiler is a fifth of a start."""
    expected = kernels.walk(*arguments())
    found = load_kernels(Path(str(kernels.__file__)))
    refresh = Mock(side_effect=found.walk.targetctx.refresh)
    monkeypatch.setattr(found.walk.targetctx, "refresh", refresh)
    assert found.walk(*arguments()) == expected and not refresh.called
    found.walk(np.zeros(2, np.float64), np.zeros(2, np.int64))
    assert refresh.called


def test_what_an_operator_makes_of_types_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_kernels(tmp_path).walk(np.zeros(2, np.int64), np.zeros(2, np.int64))
    looked_up: list[Any] = []
    functions: Any = importlib.import_module("numba.core.types.functions")
    failures = functions._ResolutionFailures  # numba makes one for each call that it looks up

    def note(context: Any, function: Any, *rest: Any, **named: Any) -> Any:
        looked_up.append(function)
        return failures(context, function, *rest, **named)

    monkeypatch.setattr(functions, "_ResolutionFailures", note)
    write_kernels(tmp_path).walk(np.zeros(2, np.int64), np.zeros(2, np.int64))
    assert not looked_up
    numba.njit(lambda a, b: a + b)(1, 2)  # with reference counts: not a kernel
    assert looked_up


def test_python_looks_for_garbage_as_before_once_it_is_compiled(kernels: ModuleType) -> None:
    before = gc.get_threshold()
    with pytest.raises(numba.TypingError):
        kernels.walk(None, None)
    kernels.walk(np.zeros(1, dtype=np.int64), np.arange(3, dtype=np.int64))
    assert gc.get_threshold() == before
