"""doc/options.md says what the programs say."""
from __future__ import annotations

from pathlib import Path

import click

from tests.tools.in_process import run_in_process
from tools.list_options import format_page, list_rows, main


def test_the_page_of_options_is_up_to_date(root: Path) -> None:
    written = (root / "doc" / "options.md").read_text(encoding="utf-8")
    assert written == format_page(), "type: .venv/bin/python tools/list_options.py --out doc/options.md"


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run_in_process(main, "--out", str(tmp_path / "file" / "page.md"))
    assert done.returncode == 2 and done.stderr.startswith("list_options.py: ") and done.stderr.count("\n") == 1


def test_a_row_says_what_to_type_and_what_holds_without() -> None:
    options = [click.Option(["--float"], metavar="NAME:LOW:HIGH", multiple=True, help="A number."),
               click.Option(["--visits"], type=click.IntRange(1), metavar="N", help="Visits.  [default: all]"),
               click.Option(["--quiet"], is_flag=True, flag_value=False, default=True, show_default=False, help="No."),
               click.Option(["--size"], type=int, default=(7, 9), multiple=True, show_default=True, help="Boards.")]
    command = click.Command("program", params=list(options), context_settings={"show_default": True})
    assert list(list_rows(command)) == [
        "| `--float` | NAME:LOW:HIGH |  | A number. |", "| `--visits` | integer from 1 | all | Visits. |",
        "| `--quiet` |  |  | No. |", "| `--size` | integer | 7, 9 | Boards. |"]
