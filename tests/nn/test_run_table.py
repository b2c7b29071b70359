"""The table of a run: two programs keep their columns in it, and a picture."""
from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from nn.training.run_table import REINFORCEMENT_LAYOUT, SUPERVISED_LAYOUT, RunTable


def test_two_hands_write_one_table(tmp_path: Path) -> None:
    path = tmp_path / "rl-metrics.csv"
    training = RunTable(path, REINFORCEMENT_LAYOUT)
    training.update(2, {"step": "20", "test_loss": "1.5"})
    training.write()
    matches = RunTable(path, REINFORCEMENT_LAYOUT)
    matches.update(0, {"elo": "-100"})
    matches.update(2, {"elo": "30"})
    matches.write()
    training = RunTable(path, REINFORCEMENT_LAYOUT)
    training.update(2, {"test_loss": "1.25"})
    training.update(10, {"step": "30", "test_loss": "1"})
    training.write()
    assert path.read_text() == "generation,step,test_loss,elo\n0,,,-100\n2,20,1.25,30\n10,30,1,\n"
    training.keep_until(2)
    training.write()
    assert path.read_text() == "generation,step,test_loss,elo\n0,,,-100\n2,20,1.25,30\n"


@pytest.mark.parametrize("content", [
    b"", b"step\n1", b"generation\nfirst\n\xb2\n", b"\xff\xfe\x00", b"generation,a\n1,2,3\n",
])
def test_what_is_no_table_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rl-metrics.csv"
    path.write_bytes(content)
    assert RunTable(path, REINFORCEMENT_LAYOUT).rows == {}


@pytest.mark.parametrize(("content", "is_kept"), [
    (b"", False), (b"generation,elo\n1,5\n", False), ("\ufeffgeneration,elo\n1,5\n".encode(), False),
    (b"player,elo\nx,5\n", True), (b"\xff\xfe\x00", True), (b"generation,elo\n1,5\n2,3,4\n", True),
])
def test_what_is_no_table_is_kept_beside_it(tmp_path: Path, content: bytes, is_kept: bool) -> None:
    """A byte order mark, as spreadsheets write it, costs nothing."""
    path, old = tmp_path / "rl-metrics.csv", tmp_path / "rl-metrics.csv.old"
    path.write_bytes(content)
    table = RunTable(path, REINFORCEMENT_LAYOUT)
    table.update(7, {"elo": "9"})
    for _ in range(2):
        table.write()
    assert old.exists() == is_kept and (not is_kept or old.read_bytes() == content)
    assert ("1,5\n" in path.read_text()) == (b"1,5" in content) and path.read_text().endswith("7,9\n")


def test_a_value_that_is_no_number_is_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "rl-metrics.csv"
    path.write_text("generation,elo\n1,abc\n2,\n3,4\n")
    table = RunTable(path, REINFORCEMENT_LAYOUT)
    assert list(table._points("elo")) == [(3, 4.0)]


def test_what_draws_the_picture_is_installed_where_readme_says_to_train(root: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    train = next(block for block in blocks if "train.py --kifu-dir" in block)
    assert re.search(r"pip install .*\bmatplotlib\b.*\n(.*\n)*.*train\.py", train)


@pytest.mark.slow
@pytest.mark.parametrize("layout", [SUPERVISED_LAYOUT, REINFORCEMENT_LAYOUT])
def test_the_picture_is_drawn_with_gaps_in_the_table(tmp_path: Path, curves: None, layout) -> None:
    pytest.importorskip("matplotlib")
    table = RunTable(tmp_path / "x.csv", layout)
    table.draw()
    table.update(1, {"train_policy_loss": "2.5", "elo": "1", "elo_low": "0", "elo_high": "2"})
    table.update(3, {"test_policy_loss": "2.25", "game_length": ""})
    table.draw()
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_tensorboard_gets_every_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[object] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            written.append(folder)

        def add_scalar(self, name: str, value: float, step: int) -> None:
            written.append((name, value, step))

        def flush(self) -> None:
            written.append("flush")

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    table = RunTable(tmp_path / "x.csv", SUPERVISED_LAYOUT, "events")
    table.update(5, {"step": "5", "train_loss": "1.5", "test_loss": ""})
    assert written == ["events", ("train_loss", 1.5, 5), "flush"]
