"""The table of a run: a CSV with one row for each stretch of training, its picture, and TensorBoard on request."""

import csv
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from common.atomic_file import write_atomically
from common.exit_status import reason_of
from common.picture import new_picture, write_picture
from common.print_console import print_err

Curves = tuple[tuple[str, str], ...]  # column and its name in the legend


def _both(name: str) -> Curves:
    """Return the curves of training and of testing."""
    return (f"train_{name}", "train"), (f"test_{name}", "test")


class Layout(NamedTuple):
    """What is in a table: the column that numbers its rows, and the panels of its picture."""

    key: str
    panels: tuple[tuple[str, Curves], ...]  # title and curves


SUPERVISED_LAYOUT = Layout("step", (
    ("policy loss", _both("policy_loss")), ("value loss", _both("value_loss")),
    ("policy top-1", _both("policy_top1")), ("value top-1", _both("value_top1")),
))
REINFORCEMENT_LAYOUT = Layout("generation", (
    ("policy loss", _both("policy_loss")), ("value loss", _both("value_loss")),
    ("policy top-1", _both("policy_top1")), ("game length (moves)", (("game_length", "new games"),)),
    ("black win rate", (("black_win_rate", "new games"),)), ("Elo", (("elo", "matches"),)),
))


@contextmanager
def go_on_without() -> Iterator[None]:
    """Go on where a file may not be written now, as where a spreadsheet has it open; say so."""
    try:
        yield
    except PermissionError as error:
        print_err(f"{reason_of(error)}; the run goes on, and writes it again with the next row")


class RunTable:
    """Rows by number; several programs may each keep their own columns up to date."""

    def __init__(self, path: Path, layout: Layout, tensorboard: str = "") -> None:
        """Read what is there; `tensorboard` is a folder for its events, "" for none (raises ImportError without it)."""
        self.path = path
        self.layout = layout
        self.rows, self._is_strange = _read_rows(path, layout.key)
        self._board = _open_tensorboard(tensorboard) if tensorboard else None

    @property
    def picture(self) -> Path:
        """Where the curves are drawn."""
        return self.path.with_suffix(".png")

    def keep_until(self, number: int) -> None:
        """Forget the rows beyond a number: a run that goes on from there makes them anew."""
        self.rows = {own: row for own, row in self.rows.items() if own <= number}

    def update(self, number: int, columns: Mapping[str, str]) -> None:
        """Put numbers (as text) into a row, whose other columns stay."""
        row = self.rows.setdefault(number, {self.layout.key: str(number)})
        row.update(columns)
        if self._board is not None:
            for name, text in columns.items():
                if text and name != self.layout.key:
                    self._board.add_scalar(name, float(text), number)
            self._board.flush()

    def write(self) -> None:
        """Write the CSV, replacing the file as a whole; raises OSError.

        What was no table of such a run is kept beside it.
        """
        if self._is_strange:
            kept = self.path.with_name(f"{self.path.name}.old")
            write_atomically(kept, self.path.read_bytes())
            print_err(f"{self.path} was not the table of a run, or not all of it: what it held is in {kept}")
            self._is_strange = False
        rows = [self.rows[number] for number in sorted(self.rows)]
        # Rows come from different hands, the longest one has the columns in their order.
        names = dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row)
        text = io.StringIO()
        writer = csv.DictWriter(text, list(names), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(self.path, text.getvalue().encode())

    def draw(self) -> None:
        """Write the picture beside the CSV, if matplotlib is there; says so in one line if it is not.

        A panel of which nothing is known yet is left out.
        """
        panels = [panel for panel in self.layout.panels if any(list(self._points(name)) for name, _ in panel[1])]
        columns = 2 if len(panels) <= 4 else 3
        figure = new_picture(5 * columns, 7)
        if figure is None:
            return
        for place, (title, curves) in enumerate(panels, start=1):
            axes = figure.add_subplot(2, columns, place, title=title, xlabel=self.layout.key)
            for name, label in curves:
                points = sorted(self._points(name))
                axes.plot([x for x, _ in points], [y for _, y in points], label=label,
                          marker="" if label == "train" else "o")
                low, high = sorted(self._points(f"{name}_low")), sorted(self._points(f"{name}_high"))
                if low and len(low) == len(high):
                    axes.fill_between([x for x, _ in low], [y for _, y in low], [y for _, y in high], alpha=0.2)
            axes.locator_params(axis="x", integer=True)
            axes.grid(alpha=0.3)
            axes.legend()
        write_picture(figure, self.picture, 100)

    def _points(self, name: str) -> Iterable[tuple[int, float]]:
        """Yield number and value of every row that has a number in the column."""
        for number, row in self.rows.items():
            with suppress(ValueError, KeyError):
                yield number, float(row[name])


# Python refuses to read numbers of thousands of digits.
MOST_DIGITS = 19


def _read_rows(path: Path, key: str) -> tuple[dict[int, dict[str, str]], bool]:
    """Return the rows of a CSV by their number, and whether something in it is no row of this table: that is left out.

    Spreadsheets put a byte order mark in front.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = reader.fieldnames
            found = list(reader)
    except FileNotFoundError:
        return {}, False
    except (UnicodeDecodeError, csv.Error):
        return {}, True
    rows = [row for row in found
            if None not in row and (row.get(key) or "").isdecimal() and len(row[key]) < MOST_DIGITS]
    is_strange = len(rows) < len(found) or (names is not None and key not in names)
    return {int(row[key]): {name: text for name, text in row.items() if text is not None} for row in rows}, is_strange


def _open_tensorboard(folder: str) -> Any:
    """Return a writer of TensorBoard's events; raises ImportError where the package is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.utils.tensorboard import SummaryWriter
    return SummaryWriter(folder)
