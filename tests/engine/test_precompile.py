"""What a first start compiles ahead is what a game then calls."""
from __future__ import annotations

import errno
import multiprocessing
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import numba
import pytest
from numba.core.dispatcher import Dispatcher

from board.stone import Stone
from common import kernel_cache
from engine import precompile
from engine.loader import make_engine
from engine.options import EngineOptions

CALLS = "mcts.network_calls"
SEARCH = ((CALLS, "select_batch"), (CALLS, "back_up_batch"), ("mcts.tree", "copy_subtree"))


def record_types(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> dict[str, set[tuple]]:
    """Return the types of arguments with which the search calls each of its kernels during a run."""
    types: dict[str, set[tuple]] = {name: set() for _, name in SEARCH}

    def recorder(name: str, kernel: Any) -> Any:
        def call(*arguments: Any) -> Any:
            types[name].add(tuple(map(numba.typeof, arguments)))
            return kernel(*arguments)
        return call

    with monkeypatch.context() as patch:
        for module, name in SEARCH:
            patch.setattr(f"{module}.{name}", recorder(name, getattr(import_module(module), name)))
        run()
    return types


def test_a_search_calls_what_was_compiled_ahead(monkeypatch: pytest.MonkeyPatch, root: Path):
    ahead = record_types(monkeypatch, precompile.compile_search)
    options = EngineOptions(model=str(root / "model/dual-net.bin"), size=9)
    played = record_types(monkeypatch, make_engine(options).load)
    assert all(ahead.values())
    assert played == ahead


@pytest.mark.parametrize("model", ["none", "model/model.bin"])
def test_a_game_compiles_nothing_once_the_engine_is_loaded(root: Path, model: str):
    def compiled() -> dict[str, int]:
        return {f"{kernel.py_func.__module__}.{kernel.py_func.__name__}": len(kernel.signatures)
                for name in kernel_cache.PACKAGES for module in list(sys.modules.values())
                if module and module.__name__.split(".")[0] == name
                for kernel in vars(module).values() if isinstance(kernel, Dispatcher) and kernel.signatures}

    engine = make_engine(EngineOptions(model=model if model == "none" else str(root / model), size=5, visits=8))
    engine.load()
    precompile.compile_estimates()  # a first start's child does, while the game has begun
    before = compiled()
    for color in (Stone.BLACK, Stone.WHITE) * 3:
        engine.genmove(color, 0.0)
    engine.board.get_dead_stones()
    engine.undo(1)
    if model != "none":  # playouts ask no network
        engine.evaluate(Stone.BLACK)
    assert compiled() == before


def wait_for_children() -> None:
    """Let no child run: a test before may have begun one, for an engine of a first start (begin_estimates)."""
    for child in multiprocessing.active_children():
        child.join()


def test_only_a_first_start_compiles(monkeypatch: pytest.MonkeyPatch):
    wait_for_children()
    monkeypatch.setattr(precompile, "compile_in_child", abs)  # fails in the child: nobody depends on it
    monkeypatch.setattr(precompile, "count_usable_cores", lambda: 2)
    for is_cached in (True, False):
        monkeypatch.setattr(precompile, "is_cached", lambda kernel, answer=is_cached: answer)
        with precompile.compiling():
            assert len(multiprocessing.active_children()) == (not is_cached)
        wait_for_children()
    with pytest.raises(OSError), precompile.compiling():
        raise OSError
    assert not multiprocessing.active_children()


def test_estimates_are_compiled_before_the_clock_needs_them(monkeypatch: pytest.MonkeyPatch):
    """They were where a first start had found time for them; else it was the first pass of a game that waited."""
    monkeypatch.setattr(precompile, "compile_estimates_in_child", abs)  # fails in the child: nobody depends on it
    for is_cached in (True, False):
        monkeypatch.setattr(precompile, "is_cached", lambda kernel, answer=is_cached: answer)
        precompile.begin_estimates()
        assert len(multiprocessing.active_children()) == (not is_cached)
        for child in multiprocessing.active_children():
            child.join()


def test_a_move_can_be_made_before_the_estimates_are_compiled(monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []

    class Told:
        def close(self) -> None:
            done.append("told")

    monkeypatch.setattr(precompile, "end_with_parent", lambda: None)
    for name in ("search", "rules", "estimates"):
        monkeypatch.setattr(precompile, f"compile_{name}", lambda name=name: done.append(name))
    precompile.compile_in_child(cast(Any, Told()), lambda: done.append("more"))
    precompile.compile_estimates_in_child()
    assert done == ["search", "rules", "more", "told", "estimates"]


def test_only_a_first_start_compiles_playouts_beside_the_tree(monkeypatch: pytest.MonkeyPatch):
    """A child begins with them before the tree is searched, and leaves nothing behind."""
    wait_for_children()
    monkeypatch.setattr(precompile, "compile_in_uct_child", abs)  # fails in the child: nobody depends on it
    monkeypatch.setattr(precompile, "count_usable_cores", lambda: 2)
    for is_cached in (True, False):
        monkeypatch.setattr(precompile, "is_cached", lambda kernel, answer=is_cached: answer)
        with precompile.compiling_playouts(True):
            assert len(multiprocessing.active_children()) == (not is_cached)
        assert not multiprocessing.active_children()
    with pytest.raises(OSError), precompile.compiling_playouts(True):
        raise OSError
    assert not multiprocessing.active_children()


def test_a_system_without_room_for_a_child_compiles_here(monkeypatch: pytest.MonkeyPatch):
    refusal = Mock(side_effect=BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"))
    monkeypatch.setattr(multiprocessing.get_context("spawn").Process, "start", refusal)
    monkeypatch.setattr(precompile, "count_usable_cores", lambda: 2)
    monkeypatch.setattr(precompile, "is_cached", lambda kernel: False)
    precompile.begin_estimates()
    for ways in (precompile.compiling, lambda: precompile.compiling_playouts(True)):
        with ways():
            pass
        with pytest.raises(ZeroDivisionError), ways():
            raise ZeroDivisionError
    assert refusal.call_count == 5


@pytest.mark.plain
def test_what_a_child_compiles_runs_without_a_tree():
    precompile.compile_playouts()
    precompile.compile_tactics()


def test_compiled_code_is_found_on_disk():
    from mcts.search_kernels import select_batch
    precompile.compile_search()
    assert kernel_cache.is_cached(select_batch)
