"""No dead rooms: what is public is called by the program, or stands in doc/README.md among the lecture's names."""
from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from tests.test_floors import ROOT, program_files

# Methods that are found by their names: commands of GTP (gtp/commands/), messages of the page (browser/session.py).
FOUND_BY_NAME = re.compile(r"(cmd|unlisted|do)_")
# What libraries call: pickle, and numba's compiler and cache.
CALLED_BY_LIBRARIES = {"_ShapeReader.find_class", "_ShapeReader.persistent_load", "ContentLocator.get_cache_path",
                       "ContentLocator.get_source_stamp", "ContentLocator.get_disambiguator",
                       "ContentLocator.from_function", "NoEnvironments.set_env", "PartCacheImpl.rebuild",
                       "PartLibrary.get_pointer_to_function", "PartLibrary.serialize_using_object_code"}


def public_names(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield the public functions, classes, methods and constants of a file with the classes that they stand in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_command = any(".command" in ast.unparse(decorator) for decorator in node.decorator_list)
            if not node.name.startswith("_") and not FOUND_BY_NAME.match(node.name) and not is_command:
                yield owner + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public_names(node, f"{owner}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not owner:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets
                        if isinstance(target, ast.Name) and not target.id.startswith("_"))


def used_names(tree: ast.AST) -> Counter[str]:
    """Return how often each name is read in a file."""
    used: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            used[node.id] += 1
        elif isinstance(node, ast.Attribute):
            used[node.attr] += 1
        elif isinstance(node, ast.alias):
            used[node.name.split(".")[-1]] += 1
    return used


def find_unused(trees: Sequence[ast.AST]) -> set[str]:
    """Return the public names of some files that none of them reads, the definition itself left out."""
    used: Counter[str] = Counter()
    for tree in trees:
        used.update(used_names(tree))
    return {name for tree in trees for name, node in public_names(tree)
            if used[name.split(".")[-1]] == used_names(node)[name.split(".")[-1]]}


@pytest.mark.slow
def test_what_only_tests_call_is_one_of_the_lectures_names() -> None:
    page = (ROOT / "doc" / "README.md").read_text(encoding="utf-8")
    layer = set(re.findall(r"`(\w+\.\w+)`", page.partition("<!-- the lecture's names -->\n")[2].partition("\n\n")[0]))
    assert len(layer) > 10
    trees = [ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in program_files()]
    assert find_unused(trees) - CALLED_BY_LIBRARIES == layer


def test_an_unused_name_is_noticed() -> None:
    tree = ast.parse("WIDTH = 3\ndef area(): return area\nclass Box:\n"
                     "    def fill(self): pass\n    def empty(self): pass\n    def do_it(self): pass\nBox().fill()")
    assert find_unused([tree]) == {"WIDTH", "area", "Box.empty"}
