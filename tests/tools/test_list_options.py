"""doc/options.md says what the programs say."""
from __future__ import annotations

from pathlib import Path

from tests.tools.in_process import run_in_process
from tools.list_options import format_page, main


def test_the_page_of_options_is_up_to_date(root: Path) -> None:
    written = (root / "doc" / "options.md").read_text(encoding="utf-8")
    assert written == format_page(), "type: .venv/bin/python tools/list_options.py --out doc/options.md"


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run_in_process(main, "--out", str(tmp_path / "file" / "page.md"))
    assert done.returncode == 2 and done.stderr.startswith("list_options.py: ") and done.stderr.count("\n") == 1
