"""What was measured once on a machine and is kept beside the compiled kernels."""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from common import race
from common.atomic_file import write_atomically
from common.kernel_cache import cache_folder, source_key

Fact = TypeVar("Fact")
# How it is measured: what an earlier version measured in another way is measured anew.
RACE = Path(race.__file__)


def recall(name: str, stamp: str, read: Callable[[str], Fact], measure: Callable[[], str]) -> Fact:
    """Return a fact, measured at the first call on a machine; each time where no folder can be written.

    Args:
        name: of the file.
        stamp: what it depends on, versions and processor.
        read: makes the fact of what `measure` returns; raises ValueError for anything else.
        measure: finds it out.
    """
    folder = cache_folder()
    key = hashlib.sha256(f"{stamp} {source_key(RACE)}".encode()).hexdigest()[:8]
    path = folder and folder / f"{name}-{key}.txt"
    if path:
        with contextlib.suppress(OSError, ValueError):
            if kept := path.read_text(encoding="ascii").strip():
                return read(kept)
    text = measure()
    if path:
        with contextlib.suppress(OSError):
            write_atomically(path, text.encode())
    return read(text)
