"""The one decorator for compiled code.

`@kernel` turns a Python function over plain arrays into machine code (numba). Rules for kernels: what an option may
change is an argument (other numbers may be constants of the module), integers cannot overflow their storage, no index
is below 0 (but `array[-1]`, a number alone), nothing is allocated or printed, and the docstring says which arrays are
modified. `NUMBA_DISABLE_JIT=1` runs the same code as plain Python.
"""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
from numba.core.compiler_lock import global_compiler_lock

from common.interrupt import finish_first
from common.kernel_cache import KernelCache, cache_folder
from common.kernel_parts import (
    PartCache,
    PartCompiler,
    count_indices_from_the_start,
    keep_values_in_registers,
    remember_call_types,
)

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {
    "nogil": True, "fastmath": False, "error_model": "numpy", "_nrt": False, "forceinline": True,
    "no_cfunc_wrapper": True,
}

SMALL_INTEGERS = frozenset((numba.types.int8, numba.types.int16, numba.types.int32, numba.types.uint8,
                            numba.types.uint16, numba.types.uint32))

# New objects after which Python looks for garbage, while numba compiles.
OBJECTS_BETWEEN = 20_000


remember_call_types()
count_indices_from_the_start()
keep_values_in_registers()


class Patience(threading.local):
    """Whether this thread waits for the compiler."""

    endless = True


_patience = Patience()


@contextmanager
def without_compiler() -> Iterator[None]:
    """In this block and thread, what is not compiled yet runs as plain Python, a hundred times slower, but at once."""
    before, _patience.endless = _patience.endless, False
    try:
        yield
    finally:
        _patience.endless = before


def wait_for_compiler() -> None:
    """Compile again for the rest of this thread's block of without_compiler."""
    _patience.endless = True


@contextmanager
def look_for_garbage_rarely() -> Iterator[None]:
    """Compile in this block: what numba makes lives on, and to look through it so often took a tenth of the time.

    To look for none at all would take a third more memory.
    """
    with global_compiler_lock:
        before = gc.get_threshold()
        gc.set_threshold(max(before[0], OBJECTS_BETWEEN), *before[1:])
        try:
            yield
        finally:
            gc.set_threshold(*before)


def widen(kind: Any) -> Any:
    """Return the type in which kernels hand each other a value of type `kind`: small integers as int64."""
    kind = numba.types.unliteral(kind)
    return numba.types.int64 if kind in SMALL_INTEGERS else kind


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, keep the code on disk, and release the GIL while it runs.

    fastmath stays off so that a search gives the same tree on every machine. Kernels allocate nothing, so they do
    without reference counts; with that and with inlining everywhere, passing a tuple of arrays costs nothing
    (measured: random games three times, legality of a whole board twenty times as fast).

    There are two compilations: one that Python calls, and one that is a part of other kernels (common/kernel_parts.py).
    The second has no code that unpacks Python's objects, and one form for all sizes of integers; so a first start
    compiles in half of the time.

    Raises TypeError for a function that prints: compiled, one that is a part of others could stand still for ever.
    """
    njit: Any = numba.njit  # its stubs lack some of these options
    compiled = njit(function, **OPTIONS)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return function
    if "print" in function.__code__.co_names:
        raise TypeError(f"{function.__qualname__} prints, which kernels cannot: set NUMBA_DISABLE_JIT=1, where they "
                        "run as plain Python")
    inlined: Any = None  # the second one, made when a kernel is compiled that calls this one: most starts find all
    compile_for = compiled._compile_for_args

    def compile_or_interpret(*arguments: Any, **named: Any) -> Any:
        """Return what numba is to call for these arguments, of types that it has not met."""
        if not _patience.endless:
            return function
        # What is raised while LLVM calls back into Python is lost, and the code with it.
        with finish_first(), look_for_garbage_rarely():
            return compile_for(*arguments, **named)

    def get_inlined(arguments: Any, named: dict[str, Any]) -> Any:
        """Return how another kernel calls this one, as numba asks before anything else about it."""
        nonlocal inlined
        if inlined is None:
            inlined = njit(function, **OPTIONS, no_cpython_wrapper=True, pipeline_class=PartCompiler)
            if cache_folder() is not None:
                inlined._cache = PartCache(function, "-inlined")
        widened = {name: widen(kind) for name, kind in named.items()}
        return inlined.get_call_template(tuple(map(widen, arguments)), widened)

    compiled._compile_for_args = compile_or_interpret
    compiled.get_call_template = get_inlined
    compiled.get_overload = lambda signature: inlined.get_overload(signature)
    if cache_folder() is not None:
        compiled._cache = KernelCache(function)
    return cast(Function, compiled)
