"""Files that a test needs."""

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, texts: Mapping[str, str]) -> Path:
    """Write texts under their names into a folder, which is made; returns it."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
