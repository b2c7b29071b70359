"""doc/options.md says what the programs say."""
from __future__ import annotations

from pathlib import Path

from tools.list_options import format_page


def test_the_page_of_options_is_up_to_date(root: Path) -> None:
    written = (root / "doc" / "options.md").read_text(encoding="utf-8")
    assert written == format_page(), "type: .venv/bin/python tools/list_options.py --out doc/options.md"
