"""The one decorator for compiled code.

`@kernel` turns a Python function over plain arrays into machine code (numba). Rules for kernels: tunables are
arguments and never module globals, integers cannot overflow their storage, nothing is allocated or printed, and
the docstring says which arrays are modified. `NUMBA_DISABLE_JIT=1` runs the same code as plain Python.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from common.kernel_cache import KernelCache, cache_folder

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {
    "nogil": True, "fastmath": False, "error_model": "numpy", "_nrt": False, "forceinline": True,
}


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, keep the code on disk, and release the GIL while it runs.

    fastmath stays off so that a search gives the same tree on every machine. Kernels allocate nothing, so they do
    without reference counts; with that and with inlining everywhere, passing a tuple of arrays costs nothing
    (measured: random games three times, legality of a whole board twenty times as fast).
    """
    compiled = numba.njit(function, **OPTIONS)
    if compiled is not function and cache_folder() is not None:
        compiled._cache = KernelCache(function)
    return cast(Function, compiled)
