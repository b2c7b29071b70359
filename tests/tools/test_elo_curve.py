"""One Elo scale from many matches."""
from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.in_process import ProgramRunner
from tests.tools.matches import play_match
from tools.elo_curve import main
from tools.matchlib.elo import get_elo
from tools.matchlib.rating import PairResult, rate_players


def test_two_players_get_the_elo_of_their_score() -> None:
    ratings = rate_players([PairResult("a", "b", 7500.0, 10000)], "b")
    assert ratings["a"].elo == pytest.approx(get_elo(0.75), abs=0.1) and ratings["a"].games == 10000
    # The normal interval of a score: 1.96 standard errors, as Elo.
    slope = 400 / math.log(10) / (0.75 * 0.25)
    half = 1.96 * math.sqrt(0.75 * 0.25 / 10000) * slope
    assert ratings["a"].high - ratings["a"].elo == pytest.approx(half, rel=0.01)
    assert ratings["b"][:3] == (0.0, 0.0, 0.0)


def test_ratings_explain_consistent_scores_and_do_not_depend_on_the_order() -> None:
    truth = {"gnugo": 0.0, "generation-1": -150.0, "generation-2": 40.0, "generation-3": 120.0}
    results = [PairResult(a, b, 1e5 / (1 + 10 ** ((truth[b] - truth[a]) / 400)), 100000)
               for a in truth for b in truth if a < b]
    ratings = rate_players(results, "gnugo")
    assert {name: rating.elo for name, rating in ratings.items()} == pytest.approx(truth, abs=0.5)
    turned = [PairResult(b, a, games - score, games) for a, b, score, games in reversed(results)]
    again = rate_players(turned, "gnugo")
    assert {name: rating.elo for name, rating in again.items()} == pytest.approx(truth, abs=0.5)


def test_games_against_oneself_say_nothing() -> None:
    others = [PairResult("a", "b", 5, 10)]
    assert rate_players([*others, PairResult("b", "b", 5, 10)], "a") == rate_players(others, "a")


def test_a_clean_sweep_stays_finite_and_strangers_are_left_out() -> None:
    ratings = rate_players([PairResult("a", "b", 10, 10), PairResult("b", "c", 10, 10), PairResult("d", "e", 1, 2),
                            PairResult("d", "a", 0, 0)], "c")
    assert set(ratings) == {"a", "b", "c"}
    assert 800 < ratings["a"].elo < 2000 and ratings["a"].low < ratings["b"].elo < ratings["a"].elo
    assert rate_players([], "alone")["alone"].elo == 0.0


def test_players_who_never_met_have_no_game_added() -> None:
    ratings = rate_players([PairResult("a", "b", 30, 40), PairResult("b", "c", 30, 40)], "c")
    one = get_elo(30.5 / 41)
    assert [ratings[name].elo for name in "ab"] == pytest.approx([2 * one, one], abs=1e-3)


def write_match(folder: Path, first: str, second: str, tmp_path: Path, winners: list[str]) -> None:
    """Write a match as tools/match.py keeps it."""
    game = play_match(tmp_path / "sample")[0]
    folder.mkdir(parents=True)
    (folder / "match.json").write_text(json.dumps({"names": [first, second]}))
    lines = [replace(game, index=number, winner=winner).to_json() + "\n" for number, winner in enumerate(winners)]
    (folder / "games.jsonl").write_text("".join(lines) + '{"index": 9')


@pytest.mark.slow
def test_the_elo_of_generations_goes_into_the_metrics(tmp_path: Path) -> None:
    matches, metrics = tmp_path / "matches", tmp_path / "rl-metrics.csv"
    write_match(matches / "5-0", "generation-5", "generation-0", tmp_path, ["first", "first", "draw", "second"])
    write_match(matches / "5-gnugo", "generation-5", "gnugo", tmp_path, ["second", "first"])
    write_match(matches / "9-8", "generation-9", "generation-8", tmp_path, ["first"])
    (matches / "broken").mkdir()
    (matches / "broken" / "games.jsonl").write_text("x")
    metrics.write_text("generation,step\n5,100\n8,200\n")
    result = ProgramRunner().invoke(main, ["--matches", str(matches), "--metrics", str(metrics)])
    assert result.exit_code == 0, result.output
    assert "broken: not a readable match" in result.stderr and len(result.stderr.splitlines()) == 1
    assert "generation 9: no games connect it with gnugo" in result.stdout
    rows = {row["generation"]: row for row in csv.DictReader(metrics.open())}
    assert list(rows) == ["0", "5", "8"] and rows["5"]["step"] == "100" and rows["8"]["elo"] == ""
    assert float(rows["5"]["elo"]) == pytest.approx(0.0, abs=0.1) and float(rows["0"]["elo"]) < -20
    assert rows["5"]["elo_games"] == "6"


@pytest.mark.slow
def test_without_gnugo_the_first_generation_is_zero(tmp_path: Path) -> None:
    matches, metrics = tmp_path / "matches", tmp_path / "rl-metrics.csv"
    write_match(matches / "5-0", "generation-5", "generation-0", tmp_path, ["first"] * 4)
    assert ProgramRunner().invoke(main, ["--matches", str(matches), "--metrics", str(metrics)]).exit_code == 0
    rows = {row["generation"]: row for row in csv.DictReader(metrics.open())}
    assert rows["0"]["elo"] == "0.0" and float(rows["5"]["elo"]) > 100
    (tmp_path / "none").mkdir()
    result = ProgramRunner().invoke(main, ["--matches", str(tmp_path / "none"), "--metrics", str(tmp_path / "x.csv")])
    assert result.exit_code == 0 and "No games" in result.stdout and not (tmp_path / "x.csv").exists()
