"""A table of matches as a picture."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.tools.in_process import run_in_process
from tools.strength_curve import MatchPoint, draw_curves, main, read_table


def test_points_stand_where_the_table_says_and_the_picture_of_the_documents_is_drawn_from_theirs(root: Path) -> None:
    curves = read_table(root / "doc/uct-strength.csv")
    drawn = draw_curves(curves)
    assert (root / "doc/img/uct-strength.svg").read_text() == drawn
    picture = ElementTree.fromstring(draw_curves({"a<b": [MatchPoint(100, 0.0, 4), MatchPoint(1000, 50.0, 0)],
                                                  "c": [MatchPoint(10000, 100.0, 0)]}))
    dots = [element for element in picture.iter() if element.tag.endswith("circle")]
    places = [(dot.get("cx"), dot.get("cy")) for dot in dots]
    assert places == [("56.0", "312.0"), ("338.0", "166.0"), ("620.0", "20.0")]
    assert "a<b" in [element.text for element in picture.iter() if element.tag.endswith("text")]


@pytest.mark.parametrize("row", [
    "uct,many,50,20", "uct,100,101,20", "uct,0,50,20", "", "uct,1.5e308,50,20", "uct,nan,50,20",
    "uct,100,50,1" + "0" * 400, "u" * 200_000 + ",100,50,20",
], ids=range(8))
def test_what_is_no_table_is_one_line(row: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(f"player,playouts,percent,games\n{row}\n")
    run = run_in_process(main, str(tmp_path / "table.csv"), "--out", str(tmp_path / "x.svg"))
    assert run.returncode == 2 and len(run.stderr.splitlines()) == 1 and "table.csv" in run.stderr
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize("text", ["playouts,percent,games\n100,50,20\n", "playouts,percent,games,player\n100,50,20\n"])
def test_a_table_without_players_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ValueError, match="line 2: not player, playouts, percent, games"):
        read_table(tmp_path / "table.csv")


def test_a_byte_order_mark_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("\ufeffplayer,playouts,percent,games\nuct,100,50,20\n", encoding="utf-8")
    assert read_table(tmp_path / "table.csv") == {"uct": [MatchPoint(100, 50.0, 20)]}
