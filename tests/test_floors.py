"""The house keeps its floors: imports go down only, and each outside door is in one place."""
from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from program import VERSION

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FLOOR_ROW = re.compile(r"\| ([0-9]) \| (.*?) \|")


def read_floors(page: Path) -> dict[str, int]:
    """Return the floor of each top-level name, from the table after `<!-- floors -->`."""
    table = page.read_text(encoding="utf-8").partition("<!-- floors -->\n")[2].partition("\n\n")[0]
    return {name.strip("/").removesuffix(".py"): int(row[1])
            for row in map(FLOOR_ROW.match, table.splitlines()) if row for name in re.findall(r"`(.+?)`", row[2])}


FLOORS = read_floors(README)
NOT_PROGRAM = {"tests", "doc", "archive", "data", "model", "build", "dist", "venv", "env"}
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "stencil", "cfunc", "jitclass"}
MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 60
MAX_KERNEL_ARGUMENTS = 10


def package_of(path: str) -> str:
    """Return the top-level name a file belongs to: "board" for board/rules.py, "main" for main.py."""
    return Path(path).parts[0].removesuffix(".py")


def imported_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the full dotted name of every import, lazy ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "relative import"
            else:
                yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def import_offences(path: str, tree: ast.AST) -> Iterator[str]:
    """Yield the imports that go up or sideways, and torch, ray, click and numba where they do not belong."""
    here = package_of(path)
    for line, name in imported_names(tree):
        top, last = name.split(".")[0], name.split(".")[-1]
        if name == "relative import":
            yield f"{path}:{line}: relative import (name the package)"
        elif top in FLOORS and top != here and FLOORS[top] >= FLOORS[here]:
            yield f"{path}:{line}: {here} (floor {FLOORS[here]}) imports {top} (floor {FLOORS[top]})"
        elif top == "torch" and here != "nn":
            yield f"{path}:{line}: torch outside nn/"
        elif top == "ray" and path != "selfplay/cluster.py":
            yield f"{path}:{line}: ray outside selfplay/cluster.py"
        elif top == "click" and FLOORS[here] != 8 and path != "common/command_line.py":
            yield f"{path}:{line}: click outside the entry scripts"
        elif top == "numba" and last in COMPILERS and path != "common/kernel.py":
            yield f"{path}:{line}: numba.{last} outside common/kernel.py (use common.kernel.kernel)"


def call_offences(path: str, tree: ast.AST) -> Iterator[str]:
    """Yield writes to standard output and bare numba decorators."""
    may_print = path.startswith("gtp/") or path == "common/print_console.py"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, name = node.value.id, node.attr
            if owner == "sys" and name in ("stdout", "__stdout__") and not may_print:
                yield f"{path}:{node.lineno}: sys.stdout (use common.print_console)"
            if owner in ("numba", "nb") and name in COMPILERS and path != "common/kernel.py":
                yield f"{path}:{node.lineno}: numba.{name} outside common/kernel.py (use common.kernel.kernel)"
        elif isinstance(node, ast.ImportFrom) and node.module == "sys" and not may_print:
            if any(alias.name == "stdout" for alias in node.names):
                yield f"{path}:{node.lineno}: sys.stdout (use common.print_console)"
        elif isinstance(node, ast.Call) and not may_print:
            called = ast.unparse(node.func)
            to_stderr = any(keyword.arg == "err" for keyword in node.keywords)
            if called == "print" or (called in ("click.echo", "click.secho") and not to_stderr):
                yield f"{path}:{node.lineno}: {called}() (use common.print_console)"


def length_offences(path: str, source: str, tree: ast.AST) -> Iterator[str]:
    """Yield files and functions that grew so long that two ideas live in them."""
    lines = source.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{path}: {lines} lines (at most {MAX_FILE_LINES})"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines (at most {MAX_FUNCTION_LINES})"


def kernel_offences(path: str, tree: ast.AST) -> Iterator[str]:
    """Yield kernels of too many arguments, and those that do not say which types they take and return."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or "kernel" not in map(ast.unparse, node.decorator_list):
            continue
        if len(node.args.args) > MAX_KERNEL_ARGUMENTS:
            yield f"{path}:{node.lineno}: {node.name} takes {len(node.args.args)} (at most {MAX_KERNEL_ARGUMENTS})"
        hints = [node.returns, *(argument.annotation for argument in node.args.args)]
        if None in hints:
            yield f"{path}:{node.lineno}: {node.name} is not annotated"


def offences(path: str, source: str) -> list[str]:
    """Return everything the house rules say against one file."""
    tree = ast.parse(source)
    return [*import_offences(path, tree), *call_offences(path, tree), *length_offences(path, source, tree),
            *kernel_offences(path, tree)]


def program_files() -> list[str]:
    """Return the Python files of the program, relative to the repository, tests left out."""
    tops = [p for p in sorted(ROOT.iterdir()) if not p.name.startswith((".", "__")) and p.name not in NOT_PROGRAM]
    files = [p for top in tops for p in (sorted(top.rglob("*.py")) if top.is_dir() else [top]) if p.suffix == ".py"]
    return [p.relative_to(ROOT).as_posix() for p in files]


def test_the_front_door_is_short_and_both_its_languages_tell_the_same_floors() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150
    assert len(FLOORS) > 10 and read_floors(ROOT / "doc" / "ja" / "README.md") == FLOORS


def test_the_change_log_tells_of_this_version() -> None:
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest and newest[1] == VERSION


def type_names(tree: ast.Module) -> Iterator[str]:
    """Yield the public classes and aliases of types of a file, which alone are written LikeThis."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) and "TypeVar(" not in ast.unparse(node.value) else []
        names = [node.name] if isinstance(node, ast.ClassDef) else [ast.unparse(target) for target in targets]
        yield from (name for name in names if re.fullmatch(r"[A-Z]+[a-z]\w*", name))


def test_a_type_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path in program_files():
        for name in type_names(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            places[name].append(path)
    assert len(places) > 100
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def find_circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of files that import each other, however many stand between, each sorted."""
    def reach(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            new = imports.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    reached = {path: reach(path) for path in imports}
    circles = {tuple(sorted(other for other in reached[path] if path in reached.get(other, set())))
               for path in imports if path in reached[path]}
    return sorted(map(list, circles))


def read_imports() -> dict[str, set[str]]:
    """Return which files of the program each of them imports, be it in a function only."""
    files = program_files()
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in files}
    return {path: {modules[name] for _, full in imported_names(ast.parse((ROOT / path).read_text(encoding="utf-8")))
                   for name in (full, full.rpartition(".")[0]) if name in modules} for path in files}


def test_no_file_imports_what_imports_it() -> None:
    imports = read_imports()
    assert "common/choice.py" in imports["nn/inference/runtime.py"]
    assert not find_circles(imports)
    assert find_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_every_top_level_name_has_a_floor() -> None:
    homeless = sorted({package_of(path) for path in program_files()} - FLOORS.keys())
    assert not homeless, f"not in the table of floors: {homeless}"


@pytest.mark.parametrize("path", program_files())
def test_house_rules(path: str) -> None:
    if package_of(path) not in FLOORS:
        pytest.skip("has no floor; reported above")
    found = offences(path, (ROOT / path).read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", sorted((ROOT / "browser" / "static" / "js").glob("*.js")), ids=lambda path: path.name)
def test_the_pages_programs_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES


@pytest.mark.parametrize(("path", "source", "complaint"), [
    ("board/rules.py", "import mcts.tree", "floor 5"),
    ("board/rules.py", "def f():\n    from nn import feature", "floor 4"),
    ("engine/engine.py", "from selfplay.worker import run", "floor 6"),
    ("engine/engine.py", "import gtp", "floor 7"),
    ("common/kernel.py", "import board", "floor 2"),
    ("board/rules.py", "from . import state", "relative import"),
    ("mcts/tree.py", "import torch.nn", "torch outside"),
    ("mcts/tree.py", "from torch import nn", "torch outside"),
    ("selfplay/worker.py", "from ray.exceptions import RayError", "ray outside"),
    ("gtp/client.py", "import click", "click outside"),
    ("board/rules.py", "from numba import njit", "common/kernel.py"),
    ("board/rules.py", "import numba\n@numba.njit(cache=True)\ndef f(): pass", "common/kernel.py"),
    ("board/rules.py", "print(1)", "print()"),
    ("tools/match.py", "import click\nclick.echo('x')", "click.echo()"),
    ("sgf/reader.py", "import sys\nsys.stdout.write('x')", "sys.stdout"),
    ("sgf/reader.py", "from sys import stdout", "sys.stdout"),
    ("board/rules.py", "@kernel\ndef f(state: State, pos): pass", "not annotated"),
    ("board/rules.py", "@kernel\ndef f(pos: int): pass", "not annotated"),
    ("nn/feature.py", "@kernel\ndef f(a, b, c, d, e, f, g, h, i, j, k): pass", "f takes 11"),
    ("nn/training/learn.py", "\n" * (MAX_FILE_LINES + 1), "lines"),
    ("nn/training/learn.py", "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES, "f has 61 lines"),
])
def test_an_offence_is_noticed(path: str, source: str, complaint: str) -> None:
    assert [text for text in offences(path, source) if complaint in text]


@pytest.mark.parametrize(("path", "source"), [
    ("nn/training/learn.py", "import torch\nfrom board.go_board import GoBoard"),
    ("main.py", "import click\nfrom gtp.client import GtpClient\nclick.echo('x', err=True)"),
    ("gtp/client.py", "import sys\nprint(1, file=sys.stdout)"),
    ("common/kernel.py", "import numba\nnumba.njit"),
    ("tools/match.py", "from tools.matchlib import referee"),
])
def test_what_is_allowed_passes(path: str, source: str) -> None:
    assert not offences(path, source)
