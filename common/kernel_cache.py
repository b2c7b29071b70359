"""Where compiled code is kept between runs: one folder for each file of kernels, named by what can change its code.

numba checks only the file a kernel stands in: after an edit in a callee's file a stale caller would be loaded. Here
the key of a kernel's file is a hash of that file and of everything it imports from this program, directly or not.
The path is no part of it: another checkout, an installed copy or the folder of a Ray worker finds the same code.
"""

import contextlib
import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import numba
from numba.core import caching

from common.lock_file import take_lock

ROOT = Path(__file__).resolve().parent.parent

# The program's own packages: an installed copy lies beside numpy, which is no part of the key.
PACKAGES = frozenset(("board", "common", "engine", "gtp", "learning_param", "mcts", "nn", "program", "selfplay", "sgf",
                      "tools"))

# What stands before stored code: damaged code must not be run.
DIGEST_BYTES = hashlib.sha256().digest_size

# Settings of numba that change what is compiled.
SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")

# An import as ruff lets it be written. Parsing would cost each start a tenth of a second; a test compares the two.
IMPORT = re.compile(r"^[ \t]*(?:from +([\w.]+) +import +(\([^)]*\)|.+)|import +(.+))", re.MULTILINE)
NAME = re.compile(r"[\w.]+")

# Days after which unused compiled code is deleted.
KEEP_DAYS = 30

# Seconds for which a process leaves the compiling to another one: that one may have been stopped.
TURN_SECONDS = 180.0
TURN_POLL_SECONDS = 0.1


@cache
def module_files(name: str, root: Path) -> tuple[Path, ...]:
    """Return the files that an import of a name runs, those of its packages first; none if it is not the program's."""
    head, dot, last = name.rpartition(".")
    packages = module_files(head, root) if dot else ()
    if (packages[-1].name != "__init__.py" if packages else dot or last not in PACKAGES):
        return packages  # a name inside of a module, or no part of the program
    place = root.joinpath(*name.split("."))
    own = next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)
    return packages if own is None else (*packages, own)


@cache
def imported_files(path: Path, root: Path) -> frozenset[Path]:
    """Return the files of the program that a file imports itself, anywhere in it; their packages' files, too."""
    found: set[Path] = set()
    for module, imported, modules in IMPORT.findall(path.read_text(encoding="utf-8")):
        names = NAME.findall(modules) if modules else [f"{module}.{name}" for name in NAME.findall(imported)]
        for name in names:
            found.update(module_files(name, root))
    return frozenset(found)


def source_files(path: Path, root: Path = ROOT) -> list[Path]:
    """Return a file and all files of the program below `root` that it imports, directly or not, in order."""
    found, waiting = {path}, [path]
    while waiting:
        new = imported_files(waiting.pop(), root) - found
        found |= new
        waiting.extend(new)
    return sorted(found)


@cache
def source_key(path: Path, root: Path = ROOT) -> str:
    """Return a hash of all that can change the code compiled from a file, wherever the program lies."""
    versions = [numba.__version__, sys.version, *(f"{name}={getattr(numba.config, name, None)}" for name in SETTINGS)]
    digest = hashlib.sha256("\n".join(versions).encode())
    for file in source_files(path, root):
        name = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        content = file.read_bytes()
        digest.update(f"\n{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:20]


def user_cache_folder() -> Path:
    """Return the folder for compiled code in the user's cache; raises RuntimeError where there is no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hiyoko"


def is_trusted(folder: Path) -> bool:
    """Tell whether code in a folder may be run: it, and a link to it, are ours or root's, and not everybody's to write.

    Raises OSError. Of Windows nothing is known.
    """
    if not hasattr(os, "getuid"):
        return True
    owners, status = {os.getuid(), 0}, folder.stat()
    return status.st_uid in owners and folder.lstat().st_uid in owners and not status.st_mode & stat.S_IWOTH


@cache
def cache_folder() -> Path | None:
    """Return a writable folder for all compiled code: the one asked for, the user's, a temporary one; None without."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: there is no home
        folder = Path(own) if own else user_cache_folder()
        folder.mkdir(mode=0o777 if own else 0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK) and (own or is_trusted(folder)):
            return folder
    return None if own else temporary_folder()


def temporary_folder() -> Path | None:
    """Return a temporary folder; None where it cannot be written or is not trusted."""
    user = os.getuid() if hasattr(os, "getuid") else os.getpid()
    with contextlib.suppress(OSError):  # also where no folder for temporary files can be written
        folder = Path(tempfile.gettempdir()) / f"hiyoko-{user}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK) and is_trusted(folder):
            return folder
    return None


def remove_old_folders(base: Path) -> None:
    """Delete compiled code that no run has asked for in KEEP_DAYS: every edit of a kernel leaves a folder behind."""
    for folder in base.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEEP_DAYS * 86400:
                shutil.rmtree(folder, ignore_errors=True)


def keep_latest(base: Path, pattern: str, count: int) -> None:
    """Delete files or folders of a pattern but for so many, those that were marked as used last."""
    with contextlib.suppress(OSError):  # another process deletes them, too
        for old in sorted(base.glob(pattern), key=os.path.getmtime, reverse=True)[count:]:
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)


@cache
def kernel_folder(path: Path) -> Path:
    """Return the folder for the code compiled from a file; marked as used, and made unless the disk is full."""
    base = cache_folder()
    if base is None:
        raise OSError("no folder for compiled code can be written")
    folder = base / f"kernels-{path.stem}-{source_key(path)}"
    if not folder.exists():
        remove_old_folders(base)
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        os.utime(folder)
    return folder


class ContentLocator(caching._CacheLocator):
    """Tells numba the folder of a kernel; the folder's name is the whole check of freshness."""

    def __init__(self, function: Any, path: str) -> None:
        """Find the folder; `_py_file` is what numba's warnings name."""
        self._py_file, self._line = path, function.__code__.co_firstlineno
        self._folder = kernel_folder(Path(path).resolve())

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Return what is the same for all that lies in the folder."""
        return self._folder.name

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "ContentLocator":
        """Make one, as numba asks for it."""
        return cls(py_func, py_file)


class FilePerSignature:
    """Stores code under the hash of its signature and processor.

    numba's own index numbers the files: of two processes that write at once, one loads the other's code for
    arguments of other types. Here they write the same bytes under the same name, each in one step.
    """

    def __init__(self, folder: str, name: str) -> None:
        """Keep files named `name` in a folder."""
        self._folder, self._name = Path(folder), name

    def _path(self, key: Any) -> Path:
        """Return the file of a key of numba: signature, processor, hashes of the function."""
        text = "\n".join(map(str, key))
        return self._folder / f"{self._name}.{hashlib.sha256(text.encode()).hexdigest()[:20]}.nbc"

    def stored(self) -> Iterator[Path]:
        """Yield all files of this function."""
        return self._folder.glob(f"{self._name}.*.nbc")

    def flush(self) -> None:
        """Forget everything."""
        for path in self.stored():
            path.unlink(missing_ok=True)

    def load(self, key: Any) -> Any:
        """Return what was saved, or None; a damaged file is compiled anew."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, payload = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        if hashlib.sha256(payload).digest() != digest:
            return None
        stored, data = pickle.loads(payload)
        return data if stored == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write a file in one step; a full disk only costs the next start its time."""
        path = self._path(key)
        temporary = path.with_suffix(f".{uuid.uuid4().hex}.tmp")
        try:
            payload = caching.dumps((key, data))
            temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()


class KernelCacheImpl(caching.CompileResultCacheImpl):
    """numba's reading and writing of compiled code, in our folders."""

    _locator_classes = [ContentLocator]


class KernelCache(caching.FunctionCache):
    """The cache of one kernel, opened when it is first asked for something: most kernels are only parts of others."""

    _impl_class = KernelCacheImpl

    def __init__(self, function: Any, suffix: str = "") -> None:
        """Stand for the code of a function; `suffix` tells compilations of one function apart."""
        self._function, self._suffix = function, suffix

    def __getattr__(self, name: str) -> Any:
        """Open the cache in the folder of the function's file, and return what only an open one has."""
        if name.startswith("__") or "_files" in self.__dict__:
            raise AttributeError(name)
        super().__init__(self._function)
        self._files = FilePerSignature(self._cache_path, self._impl.filename_base + self._suffix)
        self._cache_file = cast(Any, self._files)
        return getattr(self, name)

    @contextlib.contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        """Let a full disk, where numba looks for its folder before it saves, only cost the next start its time."""
        with contextlib.suppress(OSError):
            yield

    def _find(self, signature: Any, target_context: Any) -> Any:
        """Return the code kept for a signature, or None.

        numba would load before all that it compiles with, a fifth of a start; its compiler does so when it is needed.
        """
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    load_overload = _find  # what numba calls

    def is_filled(self) -> bool:
        """Return whether there is compiled code for any types."""
        return any(self._files.stored())


def is_cached(kernel: Any) -> bool:
    """Return whether a kernel was compiled by an earlier start, or need not be (NUMBA_DISABLE_JIT)."""
    cache = getattr(kernel, "_cache", None)
    return not isinstance(cache, KernelCache) or cache.is_filled()


@contextlib.contextmanager
def compile_in_turn(*kernels: Any) -> Iterator[None]:
    """Hold the lock for compiling these kernels: other processes wait, and then find the code in the cache.

    Does not wait where they are compiled, or can be kept nowhere.
    """
    folder, lock = cache_folder(), None
    if folder is not None and not all(map(is_cached, kernels)):
        end = time.monotonic() + TURN_SECONDS
        with contextlib.suppress(OSError):
            while (lock := take_lock(folder / "compiling.lock")) is None and time.monotonic() < end:
                time.sleep(TURN_POLL_SECONDS)
    try:
        yield
    finally:
        if lock is not None:
            lock.close()
