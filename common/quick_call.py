"""Kernels that are called thousands of times a second with many arrays: what these are is looked at once.

To find the compilation that fits, numba looks at every array of a call, which takes many times as long as passing a
tree and a batch. Here tuples that were passed before are known again, and what is new is compared with what was
passed before.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

PLAIN_NUMBERS = (int, float, bool)
FORGOTTEN = object()


def kind_of(argument: Any) -> Any:
    """Return what decides how a kernel is compiled for an argument: only arguments of one numba type have equal kinds.

    What is neither a number nor an array, nor a tuple of these, is like nothing else.
    """
    kind = type(argument)
    if kind is np.ndarray:
        flags = argument.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return argument.dtype, argument.ndim, layout, flags.writeable, flags.aligned
    if issubclass(kind, tuple):
        return kind, tuple(map(kind_of, argument))
    return kind if kind in PLAIN_NUMBERS or issubclass(kind, np.generic) else object()


class QuickCall:
    """A kernel, to be called by position alone, by one thread at a time; arrays stay of their type and layout."""

    def __init__(self, kernel: Callable[..., Any]) -> None:
        """Take a kernel."""
        self._kernel = kernel
        self._overloads = getattr(kernel, "overloads", None)  # what numba has compiled, by types; None: it is no kernel
        self._was_called = False
        self._entry: Callable[..., Any] | None = None  # the machine code for arguments of the kinds below
        self._kinds: list[Any] = []
        self._last: list[Any] = []  # what was passed last

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel."""
        if self._entry is not None and self._fits(arguments):
            return self._entry(*arguments)
        result = self._kernel(*arguments)
        if self._was_called and self._overloads is not None:  # a single call is not worth it
            self._learn(arguments)
        self._was_called = True
        return result

    def forget(self) -> None:
        """Let go of what was passed last."""
        self._last = [FORGOTTEN] * len(self._last)

    def _fits(self, arguments: tuple[Any, ...]) -> bool:
        """Tell whether the machine code is for such arguments."""
        last = self._last
        if len(arguments) != len(last):
            return False
        for i, argument in enumerate(arguments):
            if argument is not last[i]:
                if kind_of(argument) != self._kinds[i]:
                    return False
                last[i] = argument
        return True

    def _learn(self, arguments: tuple[Any, ...]) -> None:
        """Remember which machine code numba has chosen: none where the kernel ran as plain Python.

        Whatever interrupts it, code and kinds are never those of different arguments.
        """
        self._entry = None
        found = self._overloads.get(tuple(map(self._kernel.typeof_pyval, arguments)))  # type: ignore[attr-defined, union-attr]
        self._kinds, self._last = list(map(kind_of, arguments)), list(arguments)
        self._entry = getattr(found, "entry_point", None)
