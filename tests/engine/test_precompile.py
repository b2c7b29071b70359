"""What a first start compiles ahead is what a game then calls."""
from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

import numba
import pytest

from common import kernel_cache
from engine import precompile
from engine.loader import make_engine
from engine.options import EngineOptions

SEARCH = ("start_tree", "set_evaluation", "select_batch", "back_up_batch", "copy_subtree")


def record_types(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> dict[str, set[tuple]]:
    """Return the types of arguments with which the search calls each of its kernels during a run."""
    from mcts import tree
    types: dict[str, set[tuple]] = {name: set() for name in SEARCH}

    def recorder(name: str, kernel: Any) -> Any:
        def call(*arguments: Any) -> Any:
            types[name].add(tuple(map(numba.typeof, arguments)))
            return kernel(*arguments)
        return call

    with monkeypatch.context() as patch:
        for name in SEARCH:
            patch.setattr(tree, name, recorder(name, getattr(tree, name)))
        run()
    return types


def test_a_search_calls_what_was_compiled_ahead(monkeypatch: pytest.MonkeyPatch):
    ahead = record_types(monkeypatch, precompile.compile_search)
    played = record_types(monkeypatch, make_engine(EngineOptions(model="none", size=5)).load)
    assert all(ahead.values())
    assert played == ahead


def test_only_a_first_start_compiles(monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []
    monkeypatch.setattr(precompile, "compile_rules", lambda: done.append("rules"))
    monkeypatch.setattr(precompile, "compile_search_in_child", abs)  # fails in the child: nobody depends on it
    monkeypatch.setattr(precompile, "count_usable_cores", lambda: 2)
    for is_cached, expected in ((True, []), (False, ["rules"])):
        monkeypatch.setattr(precompile, "is_cached", lambda kernel, answer=is_cached: answer)
        with precompile.compiling():
            assert not done
        assert done == expected
    with pytest.raises(OSError), precompile.compiling():
        raise OSError
    assert done == ["rules"] and not multiprocessing.active_children()


def test_compiled_code_is_found_on_disk():
    from mcts.search_kernels import select_batch
    precompile.compile_search()
    assert kernel_cache.is_cached(select_batch)
