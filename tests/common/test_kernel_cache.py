"""Compiled code is found again by what it was compiled from, and by nothing else."""
from __future__ import annotations

import ast
import errno
import importlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

from common import kernel_cache
from common.kernel_cache import PACKAGES, ROOT, FilePerSignature, imported_files, source_files, source_key
from tests.files import write_files

PROGRAM = [path for name in sorted(PACKAGES) for path in ((ROOT / name).rglob("*.py") if (ROOT / name).is_dir()
                                                          else [ROOT / f"{name}.py"])]
KERNEL_FILES = [path for path in PROGRAM if "\n@kernel\n" in path.read_text()]


def name_of(path: Path) -> str:
    """Return the name of a file as one writes it."""
    return path.relative_to(ROOT).as_posix()


FILES = {name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in PROGRAM}


def parsed_imports(path: Path) -> set[Path]:
    """Return the files of the program that a file imports, as Python's own parser reads it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)}:{node.lineno}: relative import"
            names.update((str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)))
    wanted = {".".join(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)}
    return {FILES[name] for name in wanted & FILES.keys()}


def unseen(function: Any, seen: list[Path]) -> Iterator[str]:
    """Yield what a function of Python uses of the program's own files that are not among those seen."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        module = getattr(value, "__module__", None) or getattr(value, "__name__", "")
        file = Path(getattr(sys.modules.get(str(module)), "__file__", None) or "/")
        if file in PROGRAM and file not in seen:
            yield f"{function.__module__}.{function.__name__} uses {name} of {name_of(file)}"


def test_imports_are_read_as_python_reads_them():
    for path in PROGRAM:
        assert imported_files(path, ROOT) == parsed_imports(path), name_of(path)


def test_every_kernel_stands_where_the_key_looks():
    elsewhere = [name_of(path) for path in ROOT.rglob("*.py") if path not in PROGRAM
                 and not {"tests", ".venv", "venv", "build"} & set(path.relative_to(ROOT).parts)
                 and "\n@kernel\n" in path.read_text()]
    assert not elsewhere, "common.kernel_cache.PACKAGES lacks the folders of these kernels"
    assert len(KERNEL_FILES) > 15


@pytest.mark.parametrize("path", KERNEL_FILES, ids=name_of)
def test_the_key_sees_all_that_a_kernel_uses(path: Path):
    module = importlib.import_module(name_of(path).removesuffix(".py").replace("/", "."))
    kernels = [value for value in vars(module).values() if isinstance(value, Dispatcher)]
    functions = [getattr(value, "py_func", value) for value in vars(module).values() if callable(value)]
    own = [function for function in functions if getattr(function, "__module__", "") == module.__name__
           and hasattr(function, "__code__")]
    assert kernels and own
    assert not [text for function in own for text in unseen(function, source_files(path))]


def make_program(root: Path) -> None:
    """Write a small program: a kernel that calls another one, which freezes a constant of a third file."""
    files = {
        "common/__init__.py": "",
        "board/__init__.py": "",
        "board/constant.py": "STEP = 10\n",
        "board/inner.py": "from board.constant import STEP\nfrom common.kernel import kernel\n\n\n"
                          "@kernel\ndef step(x):\n    return x + STEP\n",
        "board/outer.py": "from board.inner import (\n    step,\n)\nfrom common.kernel import kernel\n\n\n"
                          "@kernel\ndef walk(x):\n    return step(step(x))\n",
        "board/other.py": "import board.outer\n",
        "run.py": "from board.outer import walk\nprint(walk(1000), sum(walk.stats.cache_hits.values()))\n",
    }
    write_files(root, files)
    for name in ("interrupt.py", "kernel.py", "kernel_cache.py", "kernel_parts.py", "lock_file.py"):
        shutil.copy(ROOT / "common" / name, root / "common")


def run_program(root: Path, cache: Path) -> str:
    """Run the small program in a process of its own; return the kernel's answer and how often the cache had it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    result = subprocess.run([sys.executable, "run.py"], cwd=root, capture_output=True, text=True, timeout=300,
                            env={**environment, "XDG_CACHE_HOME": str(cache)})
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_key_of_an_edited_program(tmp_path: Path):
    make_program(tmp_path)
    outer = tmp_path / "board" / "outer.py"

    def key() -> str:
        imported_files.cache_clear()
        source_key.cache_clear()
        return source_key(outer, tmp_path)

    before = key()
    for name, counts in [("board/other.py", False), ("run.py", False), ("board/constant.py", True),
                         ("board/inner.py", True), ("board/__init__.py", True), ("common/kernel.py", True)]:
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text + "# edited\n")
        assert (key() != before) is counts, name
        (tmp_path / name).write_text(text)
    assert key() == before


@pytest.mark.slow
def test_another_copy_finds_the_code_and_an_edited_one_does_not(tmp_path: Path):
    make_program(tmp_path / "first")
    assert run_program(tmp_path / "first", tmp_path / "cache") == "1020 0"
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    assert run_program(tmp_path / "second", tmp_path / "cache") == "1020 1"
    (tmp_path / "second" / "board" / "constant.py").write_text("STEP = 1\n")
    assert run_program(tmp_path / "second", tmp_path / "cache") == "1002 0"


@pytest.mark.slow
def test_a_kernel_that_was_edited_is_made_of_the_parts_that_were_kept(tmp_path: Path):
    make_program(tmp_path)
    (tmp_path / "run.py").write_text(
        "from board.outer import walk\nfrom board import inner\nfrom numba.core import event\n\n"
        "with event.install_recorder('numba:compile') as recorder:\n"
        "    answer = walk(1000)\n"
        "print(answer, *sorted({kept.data['dispatcher'].py_func.__name__ for _, kept in recorder.buffer\n"
        "                       if not sum(kept.data['dispatcher'].stats.cache_hits.values())}))\n")
    assert run_program(tmp_path, tmp_path / "cache") == "1020 step walk"
    outer = tmp_path / "board" / "outer.py"
    outer.write_text(outer.read_text().replace("step(step(x))", "step(x) * 2"))
    assert run_program(tmp_path, tmp_path / "cache") == "2020 walk"


def test_two_writers_do_not_mix_their_code(tmp_path: Path):
    one, two = FilePerSignature(str(tmp_path), "walk"), FilePerSignature(str(tmp_path), "walk")
    one.save(("int64", "cpu"), "code for integers")
    two.save(("float64", "cpu"), "code for floats")
    assert one.load(("float64", "cpu")) == "code for floats" and two.load(("int64", "cpu")) == "code for integers"
    assert one.load(("int64", "other cpu")) is None
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".nbc", ".nbc"]
    one.flush()
    assert two.load(("int64", "cpu")) is None


def test_damaged_or_unwritable_files_are_compiled_anew(tmp_path: Path):
    store = FilePerSignature(str(tmp_path), "walk")
    store.save(("int64",), "code")
    [path] = tmp_path.iterdir()
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-10] ^= 1
    for content in (b"", whole[:-3], b"garbage", bytes(flipped), whole[:40] + bytes(8) + whole[48:]):
        path.write_bytes(content)
        assert store.load(("int64",)) is None
    shutil.rmtree(tmp_path)
    store.save(("int64",), "code")
    assert store.load(("int64",)) is None


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kernel_cache, "kernel_folder", kernel_cache.kernel_folder.__wrapped__)
    for owner, name in ((Path, "mkdir"), (os, "makedirs")):
        monkeypatch.setattr(owner, name, refuse)
    locator = kernel_cache.ContentLocator(refuse, KERNEL_FILES[0].as_posix())
    with kernel_cache.KernelCache(refuse)._guard_against_spurious_io_errors():  # as numba does to save
        locator.ensure_cache_path()
    store = FilePerSignature(locator.get_cache_path(), "walk")
    store.save(("int64",), "code")
    assert store.load(("int64",)) is None and not list(tmp_path.iterdir())


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return the folders for compiled code in the user's cache and, for want of that, among temporary files."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "cache_folder", kernel_cache.cache_folder.__wrapped__)
    return tmp_path / "hiyoko", tmp_path / f"hiyoko-{os.getuid()}"


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
def test_code_is_kept_where_nobody_else_can_put_any(folders: tuple[Path, Path]):
    own, temporary = folders
    assert kernel_cache.cache_folder() == own and own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o777)
    assert kernel_cache.cache_folder() == temporary
    temporary.chmod(0o777)
    assert kernel_cache.cache_folder() is None


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root gives files away")
def test_code_of_other_users_is_not_run(folders: tuple[Path, Path], tmp_path: Path):
    own, temporary = folders
    own.mkdir()
    os.chown(own, 1, 1)
    temporary.symlink_to(tmp_path)
    assert kernel_cache.cache_folder() == temporary  # a link of our own
    os.lchown(temporary, 1, 1)
    assert kernel_cache.cache_folder() is None


def test_a_machine_without_any_folder_to_write_keeps_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "cache_folder", kernel_cache.cache_folder.__wrapped__)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: [])  # as in a container that is only read
    assert kernel_cache.cache_folder() is None


def test_one_process_compiles_and_the_others_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cached, entered = threading.Event(), threading.Event()
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kernel_cache, "is_cached", lambda _: cached.is_set())

    def compile_too() -> None:
        with kernel_cache.compile_in_turn("kernel"):
            entered.set()

    with kernel_cache.compile_in_turn("kernel"):
        waiting = threading.Thread(target=compile_too)
        waiting.start()
        assert not entered.wait(5 * kernel_cache.TURN_POLL_SECONDS)
    assert entered.wait(60)
    waiting.join()
    with kernel_cache.compile_in_turn("kernel"):
        cached.set()
        compile_too()  # nobody waits for what is there already
        cached.clear()
        monkeypatch.setattr(kernel_cache, "TURN_SECONDS", 0.0)
        compile_too()  # nor for ever for a process that was stopped


def test_compiling_needs_no_place_for_the_lock(monkeypatch: pytest.MonkeyPatch):
    compiled = []
    for folder in (None, Path("/proc/none")):
        monkeypatch.setattr(kernel_cache, "cache_folder", lambda folder=folder: folder)
        monkeypatch.setattr(kernel_cache, "is_cached", lambda _: False)
        with kernel_cache.compile_in_turn("kernel"):
            compiled.append(folder)
    assert len(compiled) == 2
