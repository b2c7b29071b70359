"""The one decorator for compiled code, and the place where compiled code is kept between runs.

`@kernel` turns a Python function over plain arrays into machine code (numba). Rules for kernels: tunables are
arguments and never module globals, integers cannot overflow their storage, nothing is allocated or printed, and
the docstring says which arrays are modified. `NUMBA_DISABLE_JIT=1` runs the same code as plain Python.
"""

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {
    "cache": True, "nogil": True, "fastmath": False, "error_model": "numpy", "_nrt": False, "forceinline": True,
}

ROOT = Path(__file__).resolve().parent.parent

# Days after which unused compiled code is deleted.
KEEP_DAYS = 30

# Folders whose Python files may hold kernels or constants that kernels freeze.
KERNEL_FOLDERS = ("common", "board", "nn", "mcts", "selfplay")


def source_hash() -> str:
    """Return a hash of all files that can change compiled code.

    numba checks only the file a kernel stands in: after an edit in a callee's file a stale caller would be loaded.
    A cache folder named by the hash of all of them cannot be stale.
    """
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for folder in KERNEL_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def remove_old_folders(base: Path) -> None:
    """Delete compiled code that no run has asked for in KEEP_DAYS: every edit of a kernel leaves a folder behind."""
    for folder in base.glob("kernels-*"):
        if time.time() - folder.stat().st_mtime > KEEP_DAYS * 86400:
            shutil.rmtree(folder, ignore_errors=True)


def cache_folder() -> Path:
    """Return a writable folder for compiled code, in the user's cache or, failing that, among temporary files."""
    name = f"kernels-{source_hash()}"
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for folder in (base / "hiyoko" / name, Path(tempfile.gettempdir()) / f"hiyoko-{os.getpid()}" / name):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            remove_old_folders(folder.parent)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return ROOT


if "NUMBA_CACHE_DIR" not in os.environ:
    setattr(numba.config, "CACHE_DIR", str(cache_folder()))  # noqa: B010 (numba declares its settings at run time)


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, keep the code on disk, and release the GIL while it runs.

    fastmath stays off so that a search gives the same tree on every machine. Kernels allocate nothing, so they do
    without reference counts; with that and with inlining everywhere, passing a tuple of arrays costs nothing
    (measured: random games three times, legality of a whole board twenty times as fast).
    """
    return cast(Function, numba.njit(function, **OPTIONS))
