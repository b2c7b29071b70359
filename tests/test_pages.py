"""The pages point to what is there."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("doc/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Return the names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_can_be_typed(page: Path) -> None:
    """The programs are no commands of their own: Python runs them; and a match wants a folder."""
    before = r"^\s*(?:(?:[A-Z_]+=\S+|nice|taskset|-[cn]|\d+|time)\s+)*"
    bare = re.compile(before + r"(?:tools/\w+|\w+)\.py(?= --| \w)|[;&|] (?:tools/\w+|\w+)\.py --", flags=re.MULTILINE)
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not [found.group() for block in blocks for found in bare.finditer(block)]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    matches = [line for line in lines if "python tools/match.py --" in line and "…" not in line]
    assert not [line for line in matches if "--dir" not in line]
    assert not [line for line in lines if re.match(r"\s*(python3?|pip3?) (?!-m venv)", line)]


def outline(page: Path) -> dict[str, list[str]]:
    """Return what a translation of a page shares with it: headings, commands, links, options and figures of tables."""
    text = page.read_text(encoding="utf-8")
    commands = [line.partition("#")[0].strip() for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
                for line in block.splitlines()]
    links = [link if "://" in link else str((page.parent / link).resolve().relative_to(ROOT))
             for link in LINK.findall(text)]
    return {
        "headings": re.findall(r"^#+ ", text, flags=re.MULTILINE), "commands": commands,
        "links": sorted({link.replace("doc/ja/", "doc/") for link in links} - {"README.md", "doc/README.md"}),
        "options": sorted(set(re.findall(r"`(--[^`]+)`", text))),
        "figures": [figure for row in re.findall(r"^\|.*", text, flags=re.MULTILINE)
                    for figure in re.findall(r"\d[\d.,]*(?: %)?", row)],
    }


def test_the_front_door_says_the_same_in_both_languages() -> None:
    english, japanese = outline(ROOT / "README.md"), outline(ROOT / "doc" / "ja" / "README.md")
    assert len(english["commands"]) >= 7 and len(english["links"]) > 20 and len(english["figures"]) > 20
    for kind, found in english.items():
        assert japanese[kind] == found, kind


def test_python_on_a_page_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (script,) = re.findall(r"```python\n(.*?)```", "".join(page.read_text(encoding="utf-8") for page in PAGES),
                           flags=re.DOTALL)
    exec(compile(script, "page", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and re.fullmatch(r"White wins \d+\.\d%, leads by -?\d+\.\d points", lines[0])
    assert re.match(r"[A-J]\d \d+ \d+\.\d% [A-J]\d", lines[1])
