"""numba knows the trees and boards of a search again: what it looks at in Python costs more than the search."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.dispatcher import Dispatcher

from board.go_board import GoBoard
from board.stone import Stone
from engine.doctor import is_older, read_requirements
from mcts.params import SearchLimit
from mcts.uct.params import PlayoutParams
from mcts.uct.tree import PlayoutTree

VISITS = 1000


@pytest.mark.skipif(bool(getattr(numba.config, "DISABLE_JIT", False)), reason="nothing is compiled")
def test_numba_looks_once_at_what_a_search_passes(monkeypatch: pytest.MonkeyPatch):
    """numba 0.60 looks again and again: its searches by playouts took two to four times as long."""
    looked_at: list[str] = []
    look = Dispatcher.typeof_pyval

    def typeof_pyval(self: Any, value: Any) -> Any:
        if self.py_func.__module__ == "mcts.uct.kernels":
            looked_at.append(type(value).__name__)
        return look(self, value)

    monkeypatch.setattr(Dispatcher, "typeof_pyval", typeof_pyval)
    for _ in range(2):
        looked_at.clear()
        PlayoutTree(9, PlayoutParams()).search(GoBoard(9), Stone.BLACK, SearchLimit(VISITS, strict=True))
    assert not looked_at


def test_a_numba_that_looks_again_and_again_is_too_old(root: Path):
    assert is_older("0.60.0", read_requirements(root)["numba"])
