"""A tournament: everybody meets everybody, it goes on where it was stopped, and the page has all games."""
from __future__ import annotations

import itertools
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.tools.in_process import ProgramRunner
from tests.tools.matches import fake, read_records
from tools.matchlib.config import MatchConfig
from tools.matchlib.record import MatchRecord
from tools.tournament import main
from tools.tournamentlib import round_robin
from tools.tournamentlib.page import make_page, make_rows
from tools.tournamentlib.round_robin import (
    Entrant,
    Pairing,
    check_players,
    make_pairings,
    play_rounds,
    rate_all,
    score_of,
)


class Links(HTMLParser):
    """Keeps where the links of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in a link."""
        self.found += [value or "" for name, value in attrs if name == "href"]


def play(directory: Path, players: dict[str, str], *options: str) -> tuple[int, str]:
    """Return the exit status of a tournament on 5x5, and what it said."""
    arguments = [f"--player={name}={command}" for name, command in players.items()]
    result = ProgramRunner().invoke(main, [*arguments, "--dir", str(directory), "--size", "5", "--komi", "0.5",
                                           *options])
    return result.exit_code, result.output


@pytest.mark.slow
def test_everybody_meets_everybody_and_a_second_run_goes_on(tmp_path: Path) -> None:
    players = {name: fake(f"--name {name} --seed {seed}") for seed, name in enumerate(("one", "two", "three"), 1)}
    status, text = play(tmp_path, players, "--games", "2")
    assert status == 0 and [line.split()[0] for line in text.splitlines() if "[" in line and "%" in line][-3:]
    pairs = ("one-two", "one-three", "two-three")
    before = {pair: (tmp_path / pair / "games.jsonl").read_text() for pair in pairs}
    assert all(len(read_records(tmp_path / pair)) == 2 for pair in pairs)
    players["four"] = fake("--name four --seed 4")
    status, text = play(tmp_path, players, "--games", "3")
    assert status == 0
    for pair in (*pairs, "one-four", "two-four", "three-four"):
        records = read_records(tmp_path / pair)
        assert [record.index for record in records] == [0, 1, 2]
        assert {record.black for record in records} == {"first", "second"}
    assert all((tmp_path / pair / "games.jsonl").read_text().startswith(lines) for pair, lines in before.items())
    table = [line.split() for line in text.splitlines()[-5:]]
    assert table[0][-4:] == [row[0] for row in table[1:]] and {row[0] for row in table[1:]} == set(players)
    elo = [int(row[1]) for row in table[1:]]
    assert elo == sorted(elo, reverse=True) and dict(zip((row[0] for row in table[1:]), elo, strict=True))["one"] == 0
    page, links = (tmp_path / "index.html").read_text(encoding="utf-8"), Links()
    links.feed(page)
    assert len(links.found) == 18
    status, text = play(tmp_path, {**players, "five": f"{sys.executable} -c pass"}, "--games", "3")
    assert status != 0
    links.found.clear()
    links.feed((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert len(links.found) == 18, "also those whose turn does not come, as a new player's engine ends"
    assert all((tmp_path / link).is_file() for link in links.found)
    assert "&lt;" not in page and page.count("<h2>") == 7


@pytest.mark.parametrize(("texts", "complaint"), [
    (["one=a"], "needs two players or more"), (["one=a", "ONE=b"], "two players are called one"),
    (["a=b", "a-c=b", "c-d=b", "d=b"], "would lie in one folder, a-c-d"),
    (["one=a", "b"], "'b' is not NAME=COMMAND"), (["one=a", "a/b=c"], "is not NAME=COMMAND"),
    (["one=a", "two= "], "is not NAME=COMMAND"), (["one=no-such-engine", "two=b"], "command not found: no-such-engine"),
])
def test_what_is_no_tournament_is_refused_in_one_line(tmp_path: Path, texts: list[str], complaint: str) -> None:
    arguments = [f"--player={text}" for text in texts]
    result = ProgramRunner().invoke(main, [*arguments, "--dir", str(tmp_path / "cup")])
    assert result.exit_code == 2 and complaint in result.output and len(result.output.splitlines()) == 1
    assert not (tmp_path / "cup").exists()


@pytest.mark.parametrize(("parallel", "played"), [(1, [2, 4, 6, 7]), (2, [2, 4, 6, 7]), (3, [4, 7]), (8, [7])])
def test_so_many_games_are_played_at_a_time_as_were_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallel: int, played: list[int],
) -> None:
    rounds: list[int] = []
    monkeypatch.setattr(round_robin, "play_missing_games", lambda config, _: rounds.append(config.games))
    players = [Entrant("a", fake()), Entrant("b", fake())]
    pairings = make_pairings(players, MatchConfig("", "", tmp_path, parallel=parallel))
    assert list(play_rounds(pairings, 7)) == [0] * len(played) and rounds == played


def test_the_page_shows_commands_as_text(tmp_path: Path) -> None:
    players = {"a": fake("--name <a>"), "b": fake("--name b --seed 2")}
    assert play(tmp_path, players, "--games", "1")[0] == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "&lt;a&gt;" in page and "<a>" not in page


def make_cup(directory: Path) -> tuple[list[Entrant], list[Pairing]]:
    """Return three players; "a" has won one and a half of four games against "b", who is Black in two of them."""
    players = [Entrant(name, f"run {name}") for name in "abc"]
    pairings = make_pairings(players, MatchConfig("", "", directory))
    winners = ("first", "draw", "second", "second")
    pairings[0].records = [MatchRecord(index, [], ("first", "second")[index % 2], winner, "0", "score", "", 9)
                           for index, winner in enumerate(winners)]
    return players, pairings


def test_both_sides_of_a_pairing_have_their_own_points(tmp_path: Path) -> None:
    players, pairings = make_cup(tmp_path)
    assert score_of(pairings, "a", "b") == (1.5, 4) and score_of(pairings, "b", "a") == (2.5, 4)
    assert score_of(pairings, "a", "c") == (0.0, 0)
    head, first, second = make_rows(rate_all(players, pairings), pairings)
    assert head[-2:] == ["b", "a"] and (first[0], second[0], second[1]) == ("b", "a", "+0")
    assert first[3:] == ["62.5 %", "4", "", "2.5/4"] and second[3:] == ["37.5 %", "4", "1.5/4", ""]


def test_the_page_tells_who_was_black(tmp_path: Path) -> None:
    players, pairings = make_cup(tmp_path)
    page = make_page("cup", players, rate_all(players, pairings), pairings)
    assert [line.count("<td>a</td><td>b</td>") - line.count("<td>b</td><td>a</td>") for line in page.splitlines()
            if "/sgf/" in line] == [1, -1, 1, -1]


def test_players_in_another_order_keep_their_games(tmp_path: Path) -> None:
    players, pairings = make_cup(tmp_path)
    for pairing in pairings:
        pairing.config.directory.mkdir(parents=True)
    again = make_pairings(players[::-1], MatchConfig("", "", pairings[0].config.directory.parent))
    assert sorted(pairing.names for pairing in again) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {pairing.config.second for pairing in again} == {"run b", "run c"}


@pytest.mark.parametrize("names", [("x", "x-x"), ("a", "b-a", "a-b"), ("v1", "v2-v1", "v1-v2")])
def test_a_folder_of_other_players_is_none_of_the_turned_order(names: tuple[str, ...], tmp_path: Path) -> None:
    players = [Entrant(name, f"run {name}") for name in names]
    check_players(players)
    for _ in range(2):
        pairings = make_pairings(players, MatchConfig("", "", tmp_path))
        assert [pairing.names for pairing in pairings] == list(itertools.combinations(names, 2))
        for pairing in pairings:
            pairing.config.directory.mkdir(exist_ok=True)
