"""Openings and statistics of matches."""

import itertools
import math
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from board.stone import Stone
from gtp.engine_process import EngineTimeoutError
from tests.tools.matches import play_match
from tools.matchlib.config import MatchConfig
from tools.matchlib.elo import estimate_elo, format_estimate, get_elo, get_wilson_interval
from tools.matchlib.errors import GameFault, MatchError
from tools.matchlib.game import MatchGame
from tools.matchlib.openings import generate_openings, get_canonical_form, get_center_points, get_openings
from tools.matchlib.record import MatchRecord, SideTime
from tools.matchlib.referee import Referee
from tools.matchlib.report import count_repeated, format_table


def config(**options: object) -> MatchConfig:
    """Return a match that only draws openings."""
    return MatchConfig("a", "b", Path("unused"), **options)  # type: ignore[arg-type]


def to_point(vertex: str) -> tuple[int, int]:
    """Return column and row of a vertex, from 0."""
    return "ABCDEFGHJKLMNOPQRST".index(vertex[0]), int(vertex[1:]) - 1


def test_center_openings_are_all_pairs_up_to_symmetry() -> None:
    """The generator finds each of the 85 classes of two points in the central 5x5 once, and then stops."""
    points = get_center_points(9)
    assert len(points) == 25 and set(points) == set(itertools.product(range(2, 7), repeat=2))
    classes = {get_canonical_form(pair, 9) for pair in itertools.permutations(points, 2)}
    openings = list(generate_openings(9, points, 2, seed=0))
    assert len(classes) == len(openings) == 85
    assert {get_canonical_form(map(to_point, opening), 9) for opening in openings} == classes


@pytest.mark.parametrize(("size", "plies", "kind"), [(9, 2, "center"), (9, 6, "random"), (5, 4, "center"),
                                                     (13, 10, "random"), (2, 3, "random"), (19, 2, "center")])
def test_openings_are_legal_and_distinct(size: int, plies: int, kind: str) -> None:
    """Any board and length gives legal openings, the first ones independent of the number of games."""
    many = get_openings(config(size=size, opening_plies=plies, openings=kind, games=60))
    few = get_openings(config(size=size, opening_plies=plies, openings=kind, games=5))
    assert few == many[:3] and few != get_openings(
        config(size=size, opening_plies=plies, openings=kind, games=5, seed=1))
    assert len({get_canonical_form(map(to_point, opening), size) for opening in many}) == len(many)
    assert len(many) == 30 or size == 2
    lengths = [3, 3, 3, 4, 4] if size == 2 else [plies] * 30  # 2x2 has no more of three plies
    for opening, length in zip(many, lengths, strict=True):
        referee = Referee(size, 0.0)
        assert len(opening) == length
        for number, vertex in enumerate(opening):
            referee.play(Stone.WHITE if number % 2 else Stone.BLACK, vertex)


def test_small_boards_leave_out_fewer_rows_at_the_edge() -> None:
    assert [len(get_center_points(size)) for size in (3, 4, 6, 7)] == [9, 4, 16, 9]


def test_longer_openings_follow_where_there_are_too_few() -> None:
    """So that engines without randomness do not play the same 170 games over and over"""
    openings = get_openings(config(size=9, games=400))
    assert [len(opening) for opening in openings] == [2] * 85 + [3] * 115
    assert len(set(map(tuple, openings))) == 200
    assert len(get_openings(config(size=2, games=400))) < 200, "there are no more"


def test_canonical_form_joins_the_eight_symmetries() -> None:
    """A sequence without symmetry has eight images and one form."""
    moves = [(1, 0), (3, 4), (2, 2)]
    images = set()
    for swap, flip_x, flip_y in itertools.product((False, True), repeat=3):
        turned = [(y, x) if swap else (x, y) for x, y in moves]
        images.add(tuple((6 - x if flip_x else x, 6 - y if flip_y else y) for x, y in turned))
    assert len(images) == 8 and {get_canonical_form(image, 7) for image in images} == {min(images)}


def test_no_opening_and_files(tmp_path: Path) -> None:
    """Openings may be absent or come from a file, whose errors are named by line."""
    assert get_openings(config(openings="none")) == get_openings(config(opening_plies=0)) == [[]]
    path = tmp_path / "openings.txt"
    path.write_text("# three openings\ne5 c3\n\nD4   # one move\npass E5\n")
    assert get_openings(config(openings=str(path))) == [["E5", "C3"], ["D4"], ["pass", "E5"]]
    path.write_text("\ufeffE5\n", encoding="utf-8")  # as some editors begin a file
    assert get_openings(config(openings=str(path))) == [["E5"]]
    for text, message in [("E5 E5\n", ":1: E5 is occupied"), ("E5\nZ1\n", ":2: 'Z1'"), ("# none\n", "no openings"),
                          ("pass pass\n", "ends the game")]:
        path.write_text(text)
        with pytest.raises(MatchError, match=message):
            get_openings(config(openings=str(path)))
    with pytest.raises(MatchError, match="cannot read the openings"):
        get_openings(config(openings=str(tmp_path / "absent")))


@pytest.mark.parametrize(("score", "elo"), [(0.5, 0.0), (0.75, 190.85), (0.25, -190.85), (0.9, 381.70),
                                            (0.64, 99.95), (1.0, math.inf), (0.0, -math.inf)])
def test_elo_of_known_scores(score: float, elo: float) -> None:
    """The logistic curve at well-known points."""
    assert get_elo(score) == pytest.approx(elo, abs=0.01)


@pytest.mark.parametrize(("score", "games", "low", "high"), [
    # None of n gives z^2 / (n + z^2) as the upper end.
    (0.0, 10, 0.0, 0.2775), (1.0, 10, 0.7225, 1.0), (0.9, 10, 0.5958, 0.9821), (0.5, 100, 0.4038, 0.5962),
    (0.5, 0, 0.0, 1.0),
])
def test_wilson_interval(score: float, games: int, low: float, high: float) -> None:
    """The interval agrees with values worked out by hand."""
    assert get_wilson_interval(score, games) == pytest.approx((low, high), abs=1e-4)


def test_estimate_is_symmetric_and_ordered() -> None:
    """Exchanging the engines turns every sign, and the interval holds the estimate."""
    for wins, draws, losses in itertools.product((0, 1, 7, 90), repeat=3):
        one, other = estimate_elo(wins, draws, losses), estimate_elo(losses, draws, wins)
        assert one.elo_low <= one.elo <= one.elo_high and one.score_low <= one.score <= one.score_high
        assert (one.elo, one.elo_low) == pytest.approx((-other.elo, -other.elo_high))
    assert format_estimate(estimate_elo(75, 0, 25)) == "+191 [+113, +269]"
    assert format_estimate(estimate_elo(10, 0, 0)) == "above +166"
    assert format_estimate(estimate_elo(0, 0, 1)) == "below +234"
    assert estimate_elo(4, 12, 4).score == 0.5


def won_by(winner: str, index: int, **times: SideTime) -> MatchRecord:
    """Return a game of 10 moves with the times of both sides."""
    return MatchRecord(index, [], "first", winner, "B+R", "resign", "", 10, times)


def test_the_table_has_the_seconds_of_a_move_and_of_the_slowest() -> None:
    games = [won_by("first", 0, first=SideTime(2, 3.0, 2.5), second=SideTime(2, 1.0, 0.5)),
             won_by("second", 1, first=SideTime(8, 1.0, 0.5), second=SideTime(3, 4.0, 2.0))]
    rows = [line.split() for line in format_table(config(), ("a", "b"), games).splitlines()]
    assert ["seconds", "a", "move", "0.400", "1.000"] in rows
    assert ["slowest", "move,", "seconds", "2.500", "2.000"] in rows


def test_games_that_are_played_again_are_told(tmp_path: Path) -> None:
    """As by workers whose engines begin with the same random numbers each, from the same opening."""
    games = play_match(tmp_path / "one", openings="none")
    again = play_match(tmp_path / "two", openings="none")
    assert count_repeated(games) == 0 and count_repeated([*games, *again]) == 2
    assert "move for move" not in format_table(config(), ("a", "b"), games)
    table = format_table(config(), ("a", "b"), [*games, *again])
    assert "games that were another one again, move for move: 2; " in table
    older = replace(games[0], play="")
    assert count_repeated([older, older]) == 0


@pytest.mark.parametrize(("scoring", "result"), [("area", "B+18.5"), ("friendly", "B+24.5")])
def test_a_game_is_scored_as_the_match_says(scoring: str, result: str) -> None:
    game = MatchGame(config(size=5, komi=0.5, scoring=scoring), 0, [], {"first": None, "second": None})  # type: ignore
    for number, column in itertools.product(range(1, 6), "BD"):
        game.referee.play(Stone.BLACK, f"{column}{number}")
    game.referee.play(Stone.WHITE, "A1")  # dead, but on the board
    assert game._record_score().result == result


@pytest.mark.parametrize(("seconds", "hang_limit", "reason"), [
    (1, 20.0, "time"), (1, 2.0, "time"), (60, 2.0, "timeout"), (None, 2.0, "timeout"),
])
def test_who_does_not_answer_while_there_was_time_has_not_lost_on_time(
    seconds: int | None, hang_limit: float, reason: str,
) -> None:
    def hang(command: str, limit: float) -> None:
        raise EngineTimeoutError

    engine = SimpleNamespace(ask=hang, knows=lambda _: False)
    game = MatchGame(config(time_seconds=seconds, hang_limit=hang_limit), 0, [],
                     {"first": engine, "second": engine})  # type: ignore[dict-item]
    with pytest.raises(GameFault) as raised:
        game._think(Stone.BLACK)
    assert raised.value.reason == reason and game.times[Stone.BLACK].seconds == min((seconds or 60) + 5, hang_limit)


def test_a_match_is_another_one_with_any_other_option_that_changes_games() -> None:
    others = {"first": "c", "second": "c", "size": 5, "komi": 0.5, "time_seconds": 9, "sends_time_left": False,
              "client": "cgos", "openings": "none", "opening_plies": 3, "max_moves": 7, "scoring": "friendly",
              "seed": 1, "hang_limit": 9.0}
    free = {"directory": Path(), "games": 9, "parallel": 2, "names": ("x", "y")}
    assert {field.name for field in fields(MatchConfig)} == {*others, *free}
    for name, value in {**others, **free}.items():
        other = replace(config(), **{name: value})  # type: ignore[arg-type]
        assert (other.get_fingerprint() == config().get_fingerprint()) == (name in free), name


def test_tables_tell_komi_with_all_its_digits() -> None:
    assert "komi 1234567.5, area" in format_table(config(komi=1234567.5), ("a", "b"), [])
