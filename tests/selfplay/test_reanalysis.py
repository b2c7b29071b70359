"""Finished games searched again: the way they went stays, what they teach is what the search says now."""
from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from board.geometry import get_geometry
from board.ruleset import Rules
from selfplay.archive import BatchSettings, write_settings
from selfplay.game import draw_game
from selfplay.games import new_terms
from selfplay.reanalysis import choose_oldest, search_again
from sgf.reader import SGFReader
from tests.mcts.evaluators import Answer, HashEvaluator
from tests.selfplay.players import PlainBatchEvaluator, play_games
from tests.selfplay.test_batch import begin, same
from tests.tools.in_process import run_in_process
from tools import reanalyze

SIZE = 4
SETTINGS = BatchSettings(3, SIZE, 8, 0.5, True, 0.1, 0.5, 7, opening_moves=3, full_share=0.5)


def make_archive(archive: Path, folders: int) -> dict[Path, bytes]:
    """Write folders of three games each, the first ones oldest."""
    terms = new_terms(SIZE, 8, Rules.of(0.5, True), 0.1, opening_moves=3, full_share=0.5)
    for folder in range(1, folders + 1):
        (archive / str(folder)).mkdir(parents=True)
        write_settings(archive / str(folder), SETTINGS)
        for record in play_games(HashEvaluator(SIZE), terms, begin(3, seed=folder)):
            path = archive / str(folder) / f"{record.number}.sgf"
            path.write_bytes(record.get_sgf())
            os.utime(path, (folder * 10 + record.number,) * 2)
    return {path: path.read_bytes() for path in archive.glob("*/*.sgf")}


@pytest.mark.parametrize(("size", "visits"), [(3, 5), (5, 16)])
def test_the_same_search_says_the_same_again(size: int, visits: int) -> None:
    terms = new_terms(size, visits, Rules.of(0.5, True), 0.0)
    evaluator = HashEvaluator(size)
    for new, old in zip(begin(4), play_games(evaluator, terms, begin(4)), strict=True):
        [again] = play_games(evaluator, terms, [replace(new, recorded=tuple(old.moves))])
        assert same(replace(again, reason=old.reason), old)


def test_one_move_to_learn_is_the_search_s_not_the_one_that_was_played() -> None:
    """After the opening the target "tempered" is one move; another network finds others than those of the record."""
    terms = new_terms(5, 16, Rules.of(0.5, True), 0.0, search="puct", target="tempered", opening_moves=2)
    index, others = get_geometry(5).policy_index, 0
    for new, old in zip(begin(4), play_games(HashEvaluator(5), terms, begin(4)), strict=True):
        [again] = play_games(HashEvaluator(5, 7), terms, [replace(new, recorded=tuple(old.moves))])
        assert again.moves == old.moves
        assert all((policy[policy > 0.0] < 1.0).all() for policy in again.policy[:2])
        for pos, policy in zip(old.moves[2:], again.policy[2:], strict=True):
            assert policy.max() == 1.0
            others += int(policy.argmax() != index[pos])
    assert others > 10


def test_moves_and_results_stay_and_every_move_has_a_policy(tmp_path: Path) -> None:
    before = make_archive(tmp_path, 3)
    games = choose_oldest(tmp_path, SIZE, 100, 4)
    assert [(game.folder.name, game.number) for game in games] == [("1", 1), ("1", 2), ("1", 3), ("2", 1)]
    for game, reason in search_again(PlainBatchEvaluator(HashEvaluator(SIZE, 5), SIZE, 64), games, 12, 3):
        assert reason == ""
        path = game.folder / f"{game.number}.sgf"
        old, new = SGFReader(before[path], SIZE), SGFReader(path, SIZE)
        assert (old.moves, old.result, old.event) == (new.moves, new.result, new.event)
        np.testing.assert_equal([old.komi, old.margin], [new.komi, new.margin])
        comments = [[reader.get_comment(move) for move in range(len(old.moves))] for reader in (old, new)]
        assert all(comments[1]) and comments[0] != comments[1]
    left = {path for path, text in before.items() if path.read_bytes() == text}
    assert {f"{path.parent.name}/{path.stem}" for path in left} == {"2/2", "2/3", "3/1", "3/2", "3/3"}


def test_a_game_keeps_the_komi_of_its_own(tmp_path: Path) -> None:
    make_archive(tmp_path, 2)
    path = tmp_path / "1" / "1.sgf"
    path.write_bytes(path.read_bytes().replace(b"KM[0.5]", b"KM[2.5]"))
    games = choose_oldest(tmp_path, SIZE, 100, 3)
    assert ("", 1) in [(reason, game.number) for game, reason in search_again(
        PlainBatchEvaluator(HashEvaluator(SIZE, 5), SIZE, 64), games, 12, 3)]
    assert SGFReader(path, SIZE).komi == 2.5


def test_the_games_of_the_window_and_of_the_board_are_chosen_from(tmp_path: Path) -> None:
    make_archive(tmp_path, 3)
    names = [f"{game.folder.name}/{game.number}" for game in choose_oldest(tmp_path, SIZE, 5, 100)]
    assert names == ["2/2", "2/3"]
    assert not choose_oldest(tmp_path, 9, 100, 100) and not choose_oldest(tmp_path, SIZE, 3, 100)


def test_the_command_leaves_alone_what_it_cannot_read(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    options = ["--save-dir", str(archive), "--size", str(SIZE), "--model", "none", "--use-gpu", "false"]
    empty = run_in_process(reanalyze.main, *options)
    assert empty.returncode == 0 and "no finished 4x4 games" in empty.stderr
    before = make_archive(archive, 2)
    (archive / "1" / "2.sgf").write_text("(;SZ[4]KM[7]RE[?];B[aa]C[1 A4:1.0];W[aa])")
    (archive / "1" / "3.sgf").write_text("(;SZ[4")
    done = run_in_process(reanalyze.main, *options)
    assert done.returncode == 0 and "1 of 3 games searched again" in done.stderr
    assert "2.sgf: move 2 is none that the search knows (left" in done.stderr and "3.sgf: " in done.stderr
    assert (archive / "1" / "1.sgf").read_bytes() != before[archive / "1" / "1.sgf"]
    other = run_in_process(reanalyze.main, *options, "--size", "9")
    assert other.returncode == 2 and "are 4x4, not 9x9" in other.stderr
    bad = run_in_process(reanalyze.main, *options[:-4], "--model", "no-such.bin")
    assert bad.returncode == 2 and bad.stderr.count("\n") == 1 and "no-such.bin" in bad.stderr


@pytest.mark.parametrize("game", [
    "KM[7];W[aa];B[bb]", "KM[7]AB[cc];W[aa];B[bb]", "KM[7];B[aa];B[bb]", "KM[7]EV[\u00dcbung];B[aa];W[bb]",
    "KM[7]EV[a\\]b];B[aa];W[bb]",
])
def test_a_game_that_self_play_cannot_have_played_stays_as_it_is(tmp_path: Path, game: str) -> None:
    make_archive(tmp_path, 2)
    path = tmp_path / "1" / "1.sgf"
    path.write_text(text := f"(;SZ[{SIZE}]RE[B+R]{game})", encoding="utf-8")
    games = choose_oldest(tmp_path, SIZE, 100, 4)
    done = list(search_again(PlainBatchEvaluator(HashEvaluator(SIZE, 5), SIZE, 64), games, 4, 3))
    assert [(old.number, reason) for old, reason in done if reason] == [(1, "it is no game of this batch")]
    assert path.read_text(encoding="utf-8") == text and len(done) == 3


def test_a_move_that_no_search_would_make_ends_the_search_of_a_game() -> None:
    """The second move goes where the first one stands."""
    terms, game = new_terms(SIZE, 4, Rules.of(0.5, True), 0.0), replace(draw_game(1, (1,), 1.0), recorded=(7, 7, 8))
    [record] = play_games(HashEvaluator(SIZE), terms, [game])
    assert record.moves == [7]


class NumberlessEvaluator(HashEvaluator):
    """A network whose values are no numbers."""

    def answer(self, planes: np.ndarray) -> Answer:
        logits, values = super().answer(planes)
        return logits, values * np.float32(np.nan)


def test_values_that_are_no_numbers_end_the_search_of_a_game() -> None:
    """The one move to learn would be none of the tree's, written in front of the policy."""
    terms = new_terms(SIZE, 4, Rules.of(0.5, True), 0.0, search="puct", target="tempered")
    game = replace(draw_game(1, (1,), 1.0), recorded=(7, 8, 9))
    [record] = play_games(NumberlessEvaluator(SIZE), terms, [game])
    assert record.moves == []


def test_games_are_searched_again_by_the_seed(tmp_path: Path) -> None:
    found = []
    for number, seed in enumerate((3, 3, 4)):
        make_archive(tmp_path / str(number), 2)
        games = choose_oldest(tmp_path / str(number), SIZE, 100, 3)
        list(search_again(PlainBatchEvaluator(HashEvaluator(SIZE, 5), SIZE, 64), games, 8, seed))
        found.append([(game.folder / f"{game.number}.sgf").read_bytes() for game in games])
    assert found[0] == found[1] != found[2]


def test_a_stopped_run_that_goes_on_searches_as_one_that_did_not_stop(tmp_path: Path) -> None:
    found = []
    for parts in ((6,), (2, 4)):
        make_archive(archive := tmp_path / str(len(parts)), 3)
        for count in parts:
            games = choose_oldest(archive, SIZE, 100, count)
            list(search_again(PlainBatchEvaluator(HashEvaluator(SIZE, 5), SIZE, 64), games, 8, 3))
        found.append([path.read_bytes() for path in sorted(archive.glob("*/*.sgf"))])
    assert found[0] == found[1]
