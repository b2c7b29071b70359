"""What moves weigh is learnt from games: the likelihood rises to where it is greatest, and the table is read again."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mcts.uct.params import UctParams
from mcts.uct.pattern_features import FEATURES
from mcts.uct.pattern_table import CODES, PARTS, read_gammas
from mcts.uct.playout_policy import BESIDE, DIAGONAL
from mcts.uct.playout_rules import ANSWER_VALUES, NEAR_VALUES, make_rules
from sgf.collection import Kifu
from tests.mcts.trees import Game
from tests.tools.in_process import ProgramRunner
from tools.learn_patterns import main
from tools.patternlib.minorization import Model
from tools.patternlib.rows import COLUMNS, NEAR_LAST, NEAR_PREVIOUS, Rows, collect_rows
from tools.patternlib.rows import PARTS as COLUMNS_OF_PARTS


def made_up_rows(gammas: list[list[float]], positions: int, moves: int, seed: int) -> Rows:
    """Return positions of so many moves each, whose players choose by known gammas of two features."""
    rng = np.random.default_rng(seed)
    features = np.zeros((positions * moves, COLUMNS), dtype=np.uint16)
    for column, values in enumerate(gammas):
        features[:, column] = rng.integers(len(values), size=len(features))
    strengths = np.prod([np.array(values)[features[:, i]] for i, values in enumerate(gammas)], axis=0)
    shares = strengths.reshape(positions, moves)
    chosen = [rng.choice(moves, p=row / row.sum()) for row in shares]
    start = np.arange(positions + 1, dtype=np.int64) * moves
    return Rows(features, start, start[:-1] + np.array(chosen, dtype=np.int64))


def test_known_gammas_are_found_again() -> None:
    true = [[1.0, 5.0, 0.3], [1.0, 2.0]]
    rows = made_up_rows(true, 4000, 8, 1)
    columns = ((0, "one", ("a", "b", "c")), (1, "two", ("a", "b")))
    model, likelihoods = Model(columns, [3, 2]), []
    for _ in range(12):
        model.learn(rows, 1)
        likelihoods.append(model.judge(rows).log_likelihood)
    assert likelihoods == sorted(likelihoods)
    for found, known in zip(model.normalized(), true, strict=True):
        np.testing.assert_allclose(found, known, rtol=0.15)
    # where the likelihood is greatest, each value has won as often as its gamma says (a win and a loss added)
    strengths = model._strengths(rows, model._data(rows)).reshape(-1, 8)
    own = strengths.ravel()[rows.played]
    assert model.judge(rows).first == pytest.approx((own == strengths.max(axis=1)).mean())
    chances = (strengths / strengths.sum(axis=1, keepdims=True)).ravel()
    for i, gammas in enumerate(model.gammas):
        wins = np.bincount(rows.features[rows.played, i], minlength=len(gammas))
        expected = np.bincount(rows.features[:, i], weights=chances, minlength=len(gammas))
        np.testing.assert_allclose(wins + 1, expected + 2 * gammas / (gammas + 1), rtol=0.01)


def make_kifu(game: Game) -> Kifu:
    """Return a game as arrays."""
    history = game.board.get_move_history()
    nothing = np.zeros(0, dtype=np.int16)
    return Kifu("game", nothing, nothing.astype(np.int8), np.array([pos for _, pos in history], dtype=np.int16),
                np.array([color for color, _ in history], dtype=np.int8), -1, np.zeros(len(history), dtype=np.float32),
                0.0, 7.0, game.board.board_size)


@pytest.mark.plain
def test_each_position_has_a_row_for_each_legal_move_and_knows_the_played_one() -> None:
    game = Game.random(5, 30, seed=4)
    rows = collect_rows([make_kifu(game)])
    again, position = Game(5), 0
    for point in game.moves:
        legal = [p for p in again.twins.slow.points if again.twins.slow.is_legal(p, again.color)
                 and not again.twins.slow.is_complete_eye(p, again.color)]
        if point is not None and point in legal:
            start, end = rows.start[position : position + 2]
            order = sorted(again.twins.pos(p) for p in legal)
            assert end - start == len(legal)
            assert order[rows.played[position] - start] == again.twins.pos(point)
            position += 1
        again.play(point)
    assert position == len(rows.played) > 10
    for part in COLUMNS_OF_PARTS.values():
        for column, _, values in part:
            assert rows.features[:, column].max() < (len(values) or CODES)


def test_rows_know_the_last_two_moves_and_the_stones_set_up() -> None:
    game = Game(5)
    for point in ((3, 3), (3, 4), (2, 4)):
        game.play(point)
    set_up = np.array([game.twins.pos((1, 1))], dtype=np.int16)
    rows = collect_rows([make_kifu(game)._replace(setup_pos=set_up, setup_color=np.ones(1, dtype=np.int8))])
    assert np.diff(rows.start).tolist() == [24, 23, 22]
    assert rows.features[rows.played[2], [NEAR_LAST, NEAR_PREVIOUS]].tolist() == [BESIDE, DIAGONAL]


def test_the_tool_writes_a_table_that_the_search_reads(tmp_path: Path) -> None:
    moves = "".join(f";{'BW'[i % 2]}[{'abcdefghi'[x]}{'abcdefghi'[y]}]"
                    for i, (x, y) in enumerate((x, y) for y in range(0, 9, 2) for x in range(0, 9, 2)))
    for n in range(10):
        (tmp_path / f"{n}.sgf").write_text(f"(;GM[1]SZ[9]KM[7]{moves})")
    table = tmp_path / "out" / "patterns.txt"
    arguments = ["--kifu-dir", str(tmp_path), "--out", str(table), "--rounds", "2", "--least", "1"]
    result = ProgramRunner().invoke(main, arguments)
    assert result.exit_code == 0 and result.exception is None
    gammas = read_gammas(table)
    assert gammas["prior"].keys() == {"pattern", *FEATURES} and set(gammas) == set(PARTS)
    assert gammas["playout"]["last"].keys() == {"none", "beside", "diagonal"}
    (tmp_path / "odd.sgf").write_bytes(b"\x00\xff(;")
    again = ProgramRunner().invoke(main, arguments)
    assert again.exit_code == 0 and "odd.sgf: " in again.stderr and "(skipped)" in again.stderr
    learnt = table.read_text()
    for n in range(10):
        (tmp_path / f"{n}.sgf").write_text("(;GM[1]SZ[9]KM[7];B[];W[])")
    passes = ProgramRunner().invoke(main, arguments)
    assert passes.exit_code == 2 and "no moves to learn from" in passes.stderr and table.read_text() == learnt
    few = ProgramRunner().invoke(main, [*arguments, "--size", "13"])
    assert few.exit_code == 2 and not (tmp_path / "13").exists()


def test_a_table_that_cannot_be_written_is_refused_before_anything_is_learnt(tmp_path: Path) -> None:
    for n in range(10):
        (tmp_path / f"{n}.sgf").write_text("(;GM[1]SZ[9]KM[7];B[aa];W[bb])")
    in_a_file = tmp_path / "0.sgf" / "patterns.txt"
    refused = ProgramRunner().invoke(main, ["--kifu-dir", str(tmp_path), "--out", str(in_a_file)])
    assert refused.exit_code == 2 and "foretells" not in refused.stderr and str(in_a_file.parent) in refused.stderr


def test_the_bundled_table_says_what_players_know() -> None:
    rules = make_rules(UctParams())
    assert rules.answers[1] > 1 and rules.answers[2] > rules.answers[1] and rules.near_last[1] > rules.near_last[2] > 1
    prior = read_gammas()["prior"]
    assert prior["escape"]["works"] > 1 > prior["escape"]["fails"] and prior["capture"]["saves"] > 1
    assert prior["self_atari"]["more"] < 0.1


def test_playouts_have_the_factors_of_the_table() -> None:
    rules, learnt = make_rules(UctParams()), read_gammas()["playout"]
    for factors, feature, values in ((rules.near_last, "last", NEAR_VALUES),
                                     (rules.near_previous, "previous", NEAR_VALUES),
                                     (rules.answers, "answer", ANSWER_VALUES.values())):
        assert factors.tolist() == [learnt[feature].get(value, 1.0) for value in values]
