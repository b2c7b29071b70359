"""What the tests of nn/ share."""

from collections.abc import Iterator

import pytest
import torch

from nn.training.run_table import RunTable


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Run torch on one thread: tiny networks gain nothing from more, and wait for each other on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def curves() -> None:
    """Ask for the picture of a run."""


@pytest.fixture(autouse=True)
def no_curves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the picture of a run out unless a test asks for `curves`: it takes four times as long as a tiny run."""
    if "curves" not in request.fixturenames:
        monkeypatch.setattr(RunTable, "draw", lambda table: None)
