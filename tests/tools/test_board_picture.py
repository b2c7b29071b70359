"""A query and its answer as a picture."""
from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tools.in_process import ProgramRunner
from tools.board_picture import draw_picture, main, play_query

QUERY: dict[str, Any] = {"boardXSize": 5, "boardYSize": 5, "komi": 7, "moves": [["B", "C3"], ["w", "D4"]]}
CANDIDATES = [("B2", 80, 0.612), ("E5", 30, 0.4), ("pass", 10, 0.1), ("A1", 1, 0.2)]
MOVES = [{"move": move, "order": order, "visits": visits, "winrate": winrate}
         for order, (move, visits, winrate) in enumerate(CANDIDATES)]
ANSWER: dict[str, Any] = {"moveInfos": MOVES, "ownership": [-1.0] * 10 + [0.0] * 5 + [1.0] * 10}


def test_stones_moves_and_ownership_are_drawn():
    picture = ElementTree.fromstring(draw_picture(QUERY, ANSWER))
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert [text for text in texts if text and text.isdigit() and int(text) > 5] == ["61", "80", "40", "30"]
    squares = [element for element in picture.iter() if element.tag.endswith("rect") and "opacity" in element.attrib]
    assert len(squares) == 19  # ten points of each color, but none on White's own stone


def test_a_pass_has_no_mark():
    def rings(moves: list[list[str]]) -> list[str | None]:
        picture = ElementTree.fromstring(draw_picture(QUERY | {"moves": moves}, ANSWER))
        return [element.get("cx") for element in picture.iter() if element.get("fill") == "none" and element.get("cx")]

    assert len(rings(QUERY["moves"])) == 1 and rings([*QUERY["moves"], ["B", "pass"]]) == []


def test_the_position_is_the_one_that_the_answer_is_about():
    """With the stones it begins with, after so many of the moves."""
    query = QUERY | {"initialStones": [["B", "A1"], ["W", "E5"]], "analyzeTurns": [1], "rules": "chinese", "id": "a"}
    board = play_query(query, 1)
    stones = {board.coordinate.convert_to_gtp_format(int(pos)) for pos in np.flatnonzero(board.state.stones % 3)}
    assert stones == {"A1", "E5", "C3"}
    with pytest.raises(ValueError, match="turn 2, which the query does not ask about"):
        draw_picture(query, ANSWER | {"turnNumber": 2})


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path):
    for name, content in (("query.json", QUERY), ("answer.json", ANSWER)):
        (tmp_path / name).write_text(json.dumps(content))
    query, answer = str(tmp_path / "query.json"), str(tmp_path / "answer.json")
    result = ProgramRunner().invoke(main, [query, answer, "--out", f"{query}/x.svg"])
    assert result.exit_code == 2 and "query.json" in result.output.splitlines()[-1]


def test_what_is_no_answer_is_one_line(tmp_path: Path):
    query, answer = tmp_path / "query.json", tmp_path / "answer.json"
    query.write_text(json.dumps(QUERY))
    for text in ("{", "{}", '{"error": "x"}', "[]"):
        answer.write_text(text)
        result = ProgramRunner().invoke(main, [str(query), str(answer), "--out", str(tmp_path / "x.svg")])
        assert result.exit_code == 2 and str(answer) in result.output and str(query) not in result.output


def test_deeply_nested_lists_are_one_line(tmp_path: Path):
    query = tmp_path / "query.json"
    query.write_text("[" * 100_000)
    result = ProgramRunner().invoke(main, [str(query), str(query), "--out", str(tmp_path / "board.svg")])
    assert result.exit_code == 2 and "query.json is no line of JSON" in result.output


@pytest.mark.parametrize("moves", [[["B", "J9"]], [["B", "C3"], ["W", "C3"]]])
def test_an_impossible_position(moves: list[list[str]]):
    with pytest.raises(ValueError):
        draw_picture(QUERY | {"moves": moves}, ANSWER)
