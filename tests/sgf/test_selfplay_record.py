"""The self-play record and its policy comments, both ways, in TamaGo's old and new spelling."""
from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board.constant import PASS
from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.handicap import get_fixed_handicap
from board.stone import Stone
from program import PROGRAM_NAME
from sgf.match_result import MatchResult, read_margin
from sgf.reader import SGFReader
from sgf.selfplay_record import SelfPlayRecord, decode_policy_comment, encode_policy_comment, format_result

NINE = Coordinate(9)


def test_the_text_of_a_game(tmp_path: Path) -> None:
    record = SelfPlayRecord(tmp_path, NINE)
    record.set_index(12)
    record.save_record({PASS: 2.455e-9, NINE.convert_from_gtp_format("E4"): 1.0, 12: 4.635e-12}, 71, Stone.BLACK)
    record.save_record(None, PASS, Stone.WHITE)
    path = record.write_record(MatchResult.BLACK_WIN, 7, score=3)
    assert path == tmp_path / "12.sgf" and [p.name for p in tmp_path.iterdir()] == ["12.sgf"]
    assert path.read_text() == (
        f"(;FF[4]GM[1]SZ[9]\nAP[{PROGRAM_NAME}]PB[{PROGRAM_NAME}-Black]PW[{PROGRAM_NAME}-White]RE[B+3.0]KM[7.0]"
        ";B[ef]C[3 A9:4.635e-12 E4:1.000e+00 pass:2.455e-09];W[tt]\n)")
    record.clear()
    assert ";B" not in record.get_sgf(MatchResult.DRAW, 7.0)


def test_the_search_value_stands_beside_the_policy() -> None:
    record = SelfPlayRecord("unused", NINE)
    record.save_record({12: 1.0}, 12, Stone.BLACK, 0.53125)
    record.save_record(None, PASS, Stone.WHITE, 0.0)
    record.save_record({12: 1.0}, PASS, Stone.BLACK)
    sgf = record.get_sgf(MatchResult.DRAW, 7.0)
    assert sgf.endswith(";B[aa]C[1 A9:1.000e+00]HV[0.5312];W[tt]HV[0.0000];B[tt]C[1 A9:1.000e+00]\n)")
    reader = SGFReader(sgf, 9, literal=True)
    assert [reader.get_win_rate(number) for number in range(3)] == [0.5312, 0.0, None]
    assert decode_policy_comment(reader.get_comment(0), NINE) == {12: 1.0}
    for bad in (-0.1, 1.01, float("nan")):
        with pytest.raises(ValueError, match="win rate"):
            record.save_record(None, PASS, Stone.WHITE, bad)


@pytest.mark.parametrize("text", ["", "x", "nan", "1.5", "-1"])
def test_other_values_are_unknown(text: str) -> None:
    assert SGFReader(f"(;GM[1]SZ[9];B[aa]HV[{text}])", 9, literal=True).get_win_rate(0) is None


@pytest.mark.parametrize(("result", "is_resign", "score", "text"), [
    (MatchResult.BLACK_WIN, True, 0.0, "B+R"), (MatchResult.WHITE_WIN, True, 0.0, "W+R"),
    (MatchResult.WHITE_WIN, False, -5.0, "W+5.0"), (MatchResult.DRAW, False, 0.0, "0"),
    (MatchResult.UNKNOWN, False, 0.0, "?"),
])
def test_results_are_read_back(tmp_path: Path, result: MatchResult, is_resign: bool, score: float, text: str) -> None:
    sgf = SelfPlayRecord(tmp_path, NINE).get_sgf(result, 6.5, is_resign, score)
    assert f"RE[{text}]" in sgf
    reader = SGFReader(sgf, 9, literal=True)
    assert (reader.result, reader.komi) == (result, 6.5)


def test_handicap_stones_are_read_back(tmp_path: Path) -> None:
    record, stones = SelfPlayRecord(tmp_path, NINE), get_fixed_handicap(9, 3)
    for pos in stones:
        record.save_handicap(pos)
    record.save_record(None, PASS, Stone.WHITE)
    reader = SGFReader(record.get_sgf(MatchResult.UNKNOWN, 0.5), 9, literal=True)
    assert (reader.handicap, sorted(reader.black_stones)) == (3, sorted(stones))
    record.clear()
    assert SGFReader(record.get_sgf(MatchResult.UNKNOWN, 0.5), 9, literal=True).handicap == 0


@pytest.mark.parametrize("word", ["pass", "PASS"])
def test_both_spellings_of_pass(word: str) -> None:
    assert decode_policy_comment(f"2 J1:2.500e-01 {word}:7.500e-01", NINE) == {9 + 9 * 11: 0.25, PASS: 0.75}


@pytest.mark.parametrize("comment", [
    "", "A9:1.0", "2 A9:1.000e+00", "1 A9:1.000e+00 B9:0.000e+00", "1 A9", "1 A9:", "1 A9:x", "1 A9:nan", "1 A9:-0.1",
    "1 A9:1.5", "1 I5:1.0", "1 K5:1.0", "1 A10:1.0", "1 resign:1.0", "2 A9:0.5 a9:0.5", "0.52 0.48 0.00 0.5 v=16",
])
def test_other_comments_are_refused(comment: str) -> None:
    with pytest.raises(ValueError):
        decode_policy_comment(comment, NINE)


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), float("inf")])
def test_what_is_no_probability_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        encode_policy_comment({12: value}, NINE)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_policies_survive_writing_and_reading(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 19))
    coordinate = Coordinate(size)
    candidates = st.sampled_from(list(map(int, get_geometry(size).policy_pos)))
    policies = data.draw(st.lists(st.dictionaries(candidates, st.floats(0, 1), min_size=1), max_size=4))
    record = SelfPlayRecord("unused", coordinate)
    for number, policy in enumerate(policies):
        record.save_record(policy, next(iter(policy)), (Stone.BLACK, Stone.WHITE)[number % 2])
    reader = SGFReader(record.get_sgf(MatchResult.DRAW, 7.0), size, literal=True)
    assert list(reader.get_moves()) == [next(iter(policy)) for policy in policies]
    for number, policy in enumerate(policies):
        read = decode_policy_comment(reader.get_comment(number), coordinate)
        assert list(read) == sorted(policy, key=lambda pos: (pos == PASS, pos))
        assert read == pytest.approx(policy, rel=5.1e-4)


@pytest.mark.parametrize(("score", "text"), [(5.0, "B+5.0"), (-0.04, "W+0.04"), (0.5, "B+0.5"), (12.25, "B+12.25")])
def test_a_small_win_stays_one(score: float, text: str) -> None:
    """Komi may have any decimals."""
    result = MatchResult.from_score(score)
    assert format_result(result, score) == text
    assert MatchResult.from_text(text) == result and read_margin(text) == score
