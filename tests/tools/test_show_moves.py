"""A picture of a position with the points that pruning keeps."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from board.ruleset import KoRule, Rules
from common.kernel import without_compiler
from tests.mcts.test_pruning import made_up_classifier
from tests.tools.in_process import ProgramRunner
from tools.show_moves import main, read_position


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """Return a game of two moves on a small board."""
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[4];B[bb];W[cc])")
    return path


def test_the_points_that_are_kept_are_drawn(game: Path) -> None:
    made_up_classifier(game.with_name("net.npz"))
    out = game.with_name("out.svg")
    with without_compiler():
        arguments = [game, "--move", 1, "--prune", 0, "--search", "uct", "--model", "none", "--out", out,
                     "--classifier", game.with_name("net.npz")]
        result = ProgramRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0
    picture = list(ElementTree.parse(out).iter())
    kept = [element for element in picture if element.get("class") == "kept"]
    stones = [element for element in picture if element.get("stroke") == "#16181b"]
    assert 1 <= len(kept) < 15 and len(stones) == 1


def test_komi_is_that_of_the_record(game: Path) -> None:
    """Networks of KataGo see it, as they do after loadsgf."""
    game.write_text("(;GM[1]SZ[4]KM[-12.5];B[bb])")
    assert read_position(game, None, Rules(KoRule.SIMPLE)).rules == Rules(KoRule.SIMPLE, komi=-12.5)


@pytest.mark.parametrize(("arguments", "complaint"), [
    (("--classifier", "nothing.npz"), "classifier not found"), (("--model", "nothing.bin"), "model file not found"),
    (("--out", "x.png"), "x.png: the file to write must end in .svg"),
])
def test_a_file_that_cannot_be_used_is_one_line(arguments: tuple[str, ...], complaint: str, game: Path,
                                              capsys: pytest.CaptureFixture) -> None:
    result = ProgramRunner().invoke(main, [str(game), "--out", "x.svg", *arguments])
    assert result.exit_code == 2 and complaint in result.output


@pytest.mark.parametrize(("record", "complaint"), [
    (None, "--move 5000: "), ("no game", "junk.sgf: no SGF data"),
    ("(;SZ[9];B[aa];W[aa])", "junk.sgf: white A9 is illegal"),
])
def test_a_game_that_is_too_short_or_none_is_named(record: str | None, complaint: str, game: Path,
                                                   capsys: pytest.CaptureFixture) -> None:
    path = game if record is None else game.with_name("junk.sgf")
    if record is not None:
        path.write_text(record)
    result = ProgramRunner().invoke(main, [str(path), "--move", "5000", "--search", "uct", "--model", "none", "--out",
                                       "x.svg"])
    assert result.exit_code == 2 and complaint in result.output and path.name in result.output
