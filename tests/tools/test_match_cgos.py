"""Matches in the manner of the CGOS client, and games of the real engine under that referee."""

import json
import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest
from sgfmill import sgf

from tests.tools.matches import play_match, read_records
from tools.matchlib.config import MatchConfig
from tools.matchlib.runner import run_match

ROOT = Path(__file__).resolve().parents[2]
ANALYSIS = '{"winrate":0.5,"moves":[]}'


def cgos(analysis: str = ANALYSIS) -> str:
    return f"--cgos {shlex.quote(analysis)}"


def test_commands_come_in_the_order_of_cgos(tmp_path: Path) -> None:
    [record] = play_match(tmp_path, cgos(), "", games=1, client="cgos", time_seconds=60)
    sent = (tmp_path / "logs" / "worker0-first.log").read_text().splitlines()
    game = sent[sent.index("komi 0.5"):]
    assert game[:3] == ["komi 0.5", "time_settings 60 0 0", "cgos-opponent_name second"]
    assert game[-1] == f"cgos-gameover {record.result}" and record.reason == "score"
    other = (tmp_path / "logs" / "worker0-second.log").read_text()
    assert "cgos" not in other and "time_left w 60 0" in other


def test_the_analysis_is_kept_in_the_game(tmp_path: Path) -> None:
    play_match(tmp_path, cgos(), "", games=1, client="cgos")
    nodes = sgf.Sgf_game.from_bytes((tmp_path / "sgf" / "game00001.sgf").read_bytes()).get_main_sequence()
    after_opening = nodes[3:]
    assert [node.get("CC") for node in after_opening if node.get_move()[0] == "b"][0] == ANALYSIS
    assert not any(node.has_property("CC") for node in after_opening if node.get_move()[0] == "w")


@pytest.mark.parametrize("analysis", ["no JSON", "[1]", '{"winrate":', pytest.param("[" * 20_000, id="deep")])
def test_an_analysis_that_is_none_costs_the_game(tmp_path: Path, analysis: str) -> None:
    [record] = play_match(tmp_path, cgos(analysis), "", games=1, client="cgos")
    assert (record.winner, record.reason) == ("second", "error")
    assert "no JSON object" in record.detail


def test_resigning_with_analysis(tmp_path: Path) -> None:
    [record] = play_match(tmp_path, f"{cgos()} --resign-at 2", "", games=1, client="cgos")
    assert (record.result, record.reason) == ("W+R", "resign")


def test_an_engine_that_lists_nothing_is_asked_in_plain_gtp(tmp_path: Path) -> None:
    records = play_match(tmp_path, "--unlisted", "--unlisted", client="cgos")
    assert [record.reason for record in records] == ["score", "score"]


@pytest.mark.slow
def test_many_games_of_the_engine_without_an_illegal_move(tmp_path: Path) -> None:
    """Hiyoko against itself on 4x4, as on CGOS: clock, superko, all stones alive, analysis with every move."""
    games = 20
    program = f"{shlex.quote(sys.executable)} {shlex.quote(str(ROOT / 'main.py'))}"
    engine = f"{program} --model none --size 4 --cgos-mode true"
    run_match(MatchConfig(
        first=f"{engine} --visits 4", second=f"{engine} --policy-move true --resign-threshold 0", directory=tmp_path,
        games=games, size=4, komi=0.5, time_seconds=120, client="cgos", openings="random",
        max_moves=2000,  # moves drawn from a network that knows nothing may go on for long
    ))
    records = read_records(tmp_path)
    reasons = Counter(record.reason for record in records)
    assert len(records) == games and set(reasons) <= {"score", "resign"}, reasons
    game = sgf.Sgf_game.from_bytes((tmp_path / "sgf" / "game00001.sgf").read_bytes())
    analyses = [json.loads(node.get("CC")) for node in game.get_main_sequence() if node.has_property("CC")]
    assert analyses and all(0.0 <= analysis["winrate"] <= 1.0 for analysis in analyses)
