"""The archive of self-play: folders, games, policies."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sgf.archive import NO_POLICY, SelfPlayGame, list_archive, list_games, read_selfplay_games
from sgf.collection import Skipped
from sgf.grammar import MALFORMED, TOO_LONG, UNREADABLE, WRONG_SIZE

HEAD = "(;FF[4]GM[1]SZ[5]RE[W+R]KM[7.0]"


def read(tmp_path: Path, text: str) -> SelfPlayGame | Skipped:
    """Read one game."""
    path = tmp_path / "1.sgf"
    path.write_text(text)
    (game,) = read_selfplay_games([str(path)], 5)
    return game


def test_only_numbers_count(tmp_path: Path) -> None:
    for name in ("10", "9", "010", "1x", "x", "-3", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "11").write_text("a file")
    assert list_archive(tmp_path) == {9: tmp_path / "9", 10: tmp_path / "10"}
    for name in ("2.sgf", "10.sgf", "x.sgf", ".3.sgf.part", "4.sgf.tmp", "batch.json"):
        (tmp_path / "9" / name).write_text("")
    (tmp_path / "9" / "5.sgf").mkdir()
    (tmp_path / "9" / "6.sgf").symlink_to(tmp_path / "nowhere")
    assert list(list_games(tmp_path / "9")) == [2, 10]


def test_a_game_of_40000_passes_is_refused(tmp_path: Path) -> None:
    game = read(tmp_path, HEAD + ";B[]C[1 pass:1.000e+00];W[]C[1 pass:1.000e+00]" * 20000 + ")")
    assert isinstance(game, Skipped) and game.kind == TOO_LONG


def test_policies_become_rows_of_the_moves_that_have_one(tmp_path: Path) -> None:
    game = read(tmp_path, HEAD + ";B[cc]C[2 A5:2.500e-01 C3:7.600e-01]HV[0.6000];W[aa];B[tt]C[1 PASS:1.000e+00])")
    assert isinstance(game, SelfPlayGame)
    assert list(game.moves) == [0, 2] and game.kifu.value_label == 0 and len(game.kifu.pos) == 3
    expected = np.zeros((2, 26))
    expected[0, 0], expected[0, 12], expected[1, 25] = 0.25 / 1.01, 0.76 / 1.01, 1.0
    np.testing.assert_allclose(game.policy, expected, rtol=1e-6)
    np.testing.assert_array_equal(game.kifu.win_rate, np.array([0.6, np.nan, np.nan], dtype=np.float32))


@pytest.mark.parametrize(("text", "kind", "reason"), [
    (HEAD + ";B[cc];W[aa])", NO_POLICY, "no move has a policy"),
    (HEAD + ";B[cc]C[1 C3:5.000e-01])", MALFORMED, "move 1: the policy adds up to 0.500"),
    (HEAD + ";B[cc]C[1 C3:1.0];W[aa]C[a good move])", MALFORMED, "move 2: 'a good move' is not a policy comment"),
    (HEAD + ";B[cc]C[0])", MALFORMED, "move 1: the policy adds up to 0.000"),
    ("(;SZ[9];B[cc]C[1 C3:1.0])", WRONG_SIZE, "board size 9"),
    ("(;SZ[5];B[cc]C[1 C3:1.0]", MALFORMED, "unexpected end"),
])
def test_games_that_cannot_be_used_say_why(tmp_path: Path, text: str, kind: str, reason: str) -> None:
    skipped = read(tmp_path, text)
    assert isinstance(skipped, Skipped)
    assert skipped.kind == kind and reason in skipped.reason and skipped.name == str(tmp_path / "1.sgf")


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    (skipped,) = read_selfplay_games([str(tmp_path / "7.sgf")], 5)
    assert isinstance(skipped, Skipped) and skipped.kind == UNREADABLE
