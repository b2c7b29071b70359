"""What the tests of nn/ share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nn.training.run_config import TrainConfig
from nn.training.run_table import RunTable
from tests.nn.samples import write_data


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


@pytest.fixture
def supervised(tmp_path: Path) -> TrainConfig:
    """A run of one epoch."""
    return TrainConfig(board_sizes=(5,), filters=4, blocks=1, batch_size=8, epochs=1, schedule="constant",
                       use_gpu=False, data_dir=write_data(tmp_path / "data", [40]),
                       output=tmp_path / "model" / "sl-model.bin")
