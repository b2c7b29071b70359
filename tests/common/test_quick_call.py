"""A kernel that is called quickly does what it does when it is called plainly, whatever it is given."""
from __future__ import annotations

import gc
import weakref
from typing import Any, NamedTuple, NoReturn

import numba
import numpy as np
import pytest

from board.stone import Stone
from common.kernel import kernel, without_compiler
from common.quick_call import QuickCall, kind_of

compiled = pytest.mark.skipif(bool(getattr(numba.config, "DISABLE_JIT", False)), reason="nothing is compiled")


class Pair(NamedTuple):
    """Two arrays."""

    left: np.ndarray
    right: np.ndarray


@kernel
def weigh(pair: Pair, factor: float) -> float:
    """Add up both arrays, the right one times a factor; the left one then begins with the sum. Modifies pair.left."""
    total = 0.0
    for i in range(len(pair.left)):
        total += pair.left[i] + factor * pair.right[i]
    pair.left[0] = total
    return total


def make_pair(dtype: Any = np.float64, step: int = 1) -> Pair:
    """Return 1, 2, 3 and 10, 20, 30, each entry `step` apart in memory."""
    return Pair(*(np.repeat(np.array(numbers, dtype=dtype), step)[::step] for numbers in ([1, 2, 3], [10, 20, 30])))


@pytest.mark.parametrize("pairs", [
    [make_pair(), make_pair()], [make_pair(), make_pair(np.int32), make_pair()], [make_pair(), make_pair(step=2)],
    [make_pair(), Pair(np.zeros(1), np.zeros(1)), make_pair()],
], ids=["alike", "other numbers", "apart in memory", "shorter"])
def test_each_call_gets_the_code_for_its_arguments(pairs: list[Pair]) -> None:
    quick = QuickCall(weigh)
    for pair in pairs:
        for factor in (2.0, 3, True):
            before, expected = pair.left.copy(), (pair.left + factor * pair.right).sum()
            assert quick(pair, factor) == expected == pair.left[0]
            pair.left[:] = before


@compiled
def test_numba_is_asked_once_for_arguments_of_one_kind() -> None:
    quick, one, other = QuickCall(weigh), make_pair(), make_pair()
    quick(one, 1.0)
    quick(one, 2.0)
    quick._kernel = lambda *_: pytest.fail("numba is asked again")
    quick(one, 2.0)
    quick(other, 3.0)
    quick.forget()
    assert quick(other, 0.0) == 186.0 + 2.0 + 3.0
    with pytest.raises(pytest.fail.Exception):
        quick(make_pair(np.int32), 1.0)


@compiled
def test_what_is_let_go_is_not_taken_for_nothing() -> None:
    """None is an argument like others."""
    def is_there(pair: Pair | None) -> bool:
        return pair is not None

    quick, pair = QuickCall(kernel(is_there)), make_pair()
    assert quick(pair) and quick(pair)
    quick.forget()
    assert not quick(None)


@compiled
def test_what_was_interpreted_is_compiled_when_there_is_time() -> None:
    def count(pair: Pair) -> int:
        return len(pair.left)

    quick, pair = QuickCall(kernel(count)), make_pair()
    with without_compiler():
        assert quick(pair) == quick(pair) == 3 and quick._entry is None
    assert quick(pair) == 3 and quick._entry is not None


@compiled
def test_code_and_kinds_are_never_those_of_different_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, numbers = QuickCall(weigh), make_pair()
    for _ in range(2):
        quick(numbers, 0.0)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        kinds = iter([object()])
        patch.setattr("common.quick_call.kind_of", lambda _: next(kinds, None) or interrupt())
        quick(make_pair(np.int64), 1.0)
    assert quick(make_pair(), 2.0) == 126.0


def interrupt() -> NoReturn:
    """Stand for Ctrl-C."""
    raise KeyboardInterrupt


@compiled
def test_what_is_neither_number_nor_array_is_known_as_nothing() -> None:
    assert kind_of((1, 2.0)) == kind_of((2, 1.0)) != kind_of((1, 2))
    assert kind_of(np.int32(1)) != kind_of(1) != kind_of(True)
    assert kind_of(Stone.BLACK) != kind_of(Stone.BLACK) and kind_of([1]) != kind_of([1])


def test_what_was_passed_can_be_let_go() -> None:
    quick, pair = QuickCall(weigh), make_pair()
    quick(pair, 1.0)
    left = weakref.ref(pair.left)
    del pair
    quick.forget()
    gc.collect()
    assert left() is None
