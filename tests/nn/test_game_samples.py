"""Games and labels to learn from: the planes of every position, the targets beside them, and files that are odd."""
from __future__ import annotations

import lzma
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from board.geometry import get_geometry
from board.go_board import GoBoard
from board.stone import Stone
from common.kernel import without_compiler
from nn.data.data_file import DataError
from nn.data.data_generator import generate_game_data
from nn.data.game_encoder import GameEncoder
from nn.data.game_file import game_owner, read_game_file
from nn.data.game_samples import GameSamples, NamedGames, sum_games
from nn.data.labels import LabelFile, Labels, pack_policies, read_labels
from nn.data.mixed_samples import open_game_samples
from nn.feature import PlaneSet, encode_board
from nn.history_feature import HISTORY
from nn.network.weights import load_network
from nn.plane_sets import KATAGO, RICH
from nn.training.learn import SUPERVISED, TrainConfig, train
from nn.training.trainer import Trainer
from sgf.collection import to_kifu
from sgf.reader import SGFReader
from tests.files import write_files
from tests.nn.selfplay_games import write_games
from tests.nn.test_learn import same
from tests.tools.in_process import ProgramRunner
from train import main

SIZE = 5
GAMES = {
    "a.sgf": "(;SZ[5]KM[2.5]RE[B+7.5];B[cc];W[cd]C[0.40 0.60 0.00 -1.5 v=16];B[dd];W[bc];B[];W[bb];B[dc];W[ce])",
    "b.sgf": "(;SZ[5]KM[0.5]HA[2]AB[bb][dd]RE[W+R];W[cc];B[dc];W[cd])",
    "c.sgf": "(;SZ[5]KM[2.5]RE[0];B[bb];W[cb];B[ba];W[ca];B[cc])",
}
MOVES = {"a.sgf": 8, "b.sgf": 3, "c.sgf": 5}


def make_labels(names: list[str], seed: int = 0) -> dict[str, Any]:
    """Return the arrays of a file of labels for some of the games."""
    rng = np.random.default_rng(seed)
    moves = sum(MOVES[name] for name in names)
    policy = rng.random((moves, SIZE * SIZE + 1)) ** 8
    policy /= policy.sum(axis=1, keepdims=True)
    count, index, value = pack_policies(policy)
    return {
        "names": np.array(names), "offset": np.cumsum([0] + [MOVES[name] for name in names]).astype(np.int32),
        "policy_count": count, "policy_index": index, "policy_value": value, "policy": policy,
        "win_rate": rng.random(moves).astype(np.float16), "lead": rng.normal(0, 9, moves).astype(np.float16),
        "ownership": rng.integers(0, 16, (moves, SIZE * SIZE)).astype(np.uint8),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three games, two of them labelled, as data."""
    write_files(tmp_path / "games", GAMES)
    labels = make_labels(["a.sgf", "c.sgf"])
    del labels["policy"]
    np.savez(tmp_path / "labels.npz", **labels)
    generate_game_data(tmp_path / "games", [tmp_path / "labels.npz"], [SIZE], 1, tmp_path)
    return tmp_path


def open_games(folder: Path, batch_size: int = 4, test_share: float = 0.0, teacher_weight: float = 1.0,
               plane_set: PlaneSet = KATAGO) -> GameSamples:
    games = [NamedGames("games_0.npz", read_game_file(folder / "games_0.npz", [SIZE]))]
    return GameSamples(games, plane_set, SIZE, batch_size, 3, test_share, teacher_weight)


def replay(folder: Path, name: str, plane_set: PlaneSet) -> list[tuple[np.ndarray, int]]:
    """Return the planes before each move of a game, and the policy's entry of the move, by way of GoBoard."""
    reader = SGFReader(str(folder / "games" / name), SIZE)
    board = GoBoard(SIZE, komi=reader.komi)
    board.set_up(reader.black_stones, reader.white_stones)
    result = []
    for pos, color in zip(reader.moves, reader.colors, strict=True):
        planes = encode_board(board, Stone(color), plane_set)
        result.append((planes, int(get_geometry(SIZE).policy_index[pos])))
        board.put_stone(pos, Stone(color))
    return result


@pytest.mark.parametrize("plane_set", [KATAGO, HISTORY])
def test_every_position_is_encoded_as_the_board_has_it(folder: Path, plane_set: PlaneSet) -> None:
    data = open_games(folder, batch_size=5, test_share=0.0, plane_set=plane_set)
    expected = [one for name in GAMES for one in replay(folder, name, plane_set)]
    assert data.train_count == len(expected) == 16 and data.test_count == 0
    wanted, seen = (Counter[tuple[bytes, int]]() for _ in range(2))
    wanted.update((planes.tobytes(), move) for planes, move in expected)
    for samples, symmetries in data.training_batches(0):
        seen.update((planes.tobytes(), int(move)) for planes, move in zip(samples.planes, samples.move, strict=True))
        assert ((symmetries >= 0) & (symmetries < 8)).all()
    assert seen <= wanted and seen.total() == 15  # an incomplete last batch is left out


def test_labels_and_results_become_targets(folder: Path) -> None:
    labels = make_labels(["a.sgf", "c.sgf"])
    data = open_games(folder, batch_size=16)
    samples = data._make(np.arange(16))
    first = samples.take(slice(0, 8))
    kept = np.where(labels["policy"] >= 0.0004, labels["policy"], 0.0)
    kept /= kept.sum(axis=1, keepdims=True)
    assert np.allclose(first.policy, kept[:8], atol=1e-4)
    assert np.allclose(first.lead, labels["lead"][:8]) and list(first.value) == [2, 0] * 4
    assert np.allclose(first.ownership, labels["ownership"][:8] / 7.5 - 1.0)
    assert first.win_rate[0] == pytest.approx(labels["win_rate"][0])
    assert first.win_rate[1] == pytest.approx((labels["win_rate"][1] + 0.4) / 2, abs=1e-3)
    unlabelled = samples.take(slice(8, 11))  # W+R: no owners, no lead, the moves played
    assert np.isnan(unlabelled.lead).all() and not unlabelled.ownership.any() and np.isnan(unlabelled.win_rate).all()
    assert np.array_equal(unlabelled.policy, np.eye(SIZE * SIZE + 1)[unlabelled.move])


def test_games_without_labels_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They may have been called otherwise when they were labelled."""
    (folder / "games" / "c.sgf").rename(folder / "games" / "d.sgf")
    generate_game_data(folder / "games", [folder / "labels.npz"], [SIZE], 1, folder / "data")
    said = capsys.readouterr().err
    assert "1 of the games have labels" in said and ": 2, the first " in said and "b.sgf; labels" in said
    generate_game_data(folder / "games", [], [SIZE], 1, folder / "data")
    assert "without labels" not in capsys.readouterr().err


def test_moves_that_were_searched_share_the_target_with_the_teacher(folder: Path) -> None:
    alone, mixed = (open_games(folder, 16, 0.0, weight)._make(np.arange(8)) for weight in (1.0, 0.75))
    played = np.eye(SIZE * SIZE + 1)[mixed.move]
    assert np.allclose(mixed.policy[1], 0.75 * alone.policy[1] + 0.25 * played[1], atol=1e-6)
    others = np.arange(8) != 1  # no win rate stands beside them
    assert np.array_equal(mixed.policy[others], alone.policy[others])


def test_the_policy_of_self_play_is_the_target_whole(folder: Path) -> None:
    """Its moves are drawn with Gumbel noise, and the first of a game by the policy."""
    games = read_game_file(folder / "games_0.npz", [SIZE])
    whole, own = (GameSamples([NamedGames("games_0.npz", games, searched=True)], KATAGO, SIZE, 8, 3, 0.0, weight)
                  for weight in (1.0, 0.25))
    assert np.array_equal(whole._make(np.arange(8)).policy, own._make(np.arange(8)).policy)


def test_an_epoch_resumes_in_the_middle_and_tests_are_the_last_games(folder: Path) -> None:
    data = open_games(folder, batch_size=2, test_share=0.4)
    whole, rest = (list(data.training_batches(1, skip)) for skip in (0, 2))
    assert data.train_count == 11 and data.test_count == 5
    for (one, turned), (other, again) in zip(whole[2:], rest, strict=True):
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))
        assert np.array_equal(turned, again)
    assert not list(data.training_batches(1, data.batches_per_epoch))  # stopped behind the last batch
    tested = np.concatenate([samples.move for samples, _ in data.test_batches()])
    assert list(tested) == [move for _, move in replay(folder, "c.sgf", KATAGO)]


def test_labels_come_packed_or_not(folder: Path, tmp_path: Path) -> None:
    arrays = make_labels(["a.sgf", "c.sgf"])
    dense: dict[str, Any] = {name: array for name, array in arrays.items() if not name.startswith("policy_")}
    np.savez(tmp_path / "dense.npz", **dense)
    with lzma.open(tmp_path / "packed.npz.xz", "wb") as file:
        file.write((folder / "labels.npz").read_bytes())
    for path in (tmp_path / "dense.npz", tmp_path / "packed.npz.xz"):
        own, expected = (read_labels(one, SIZE).of_game("games/c.sgf", 5) for one in (path, folder / "labels.npz"))
        assert own is not None and expected is not None
        assert all(np.array_equal(a, b) for a, b in zip(own, expected, strict=True))
    assert read_labels(folder / "labels.npz", SIZE).of_game("c.sgf", 6) is None


@pytest.mark.parametrize(("change", "complaint"), [
    ({"lead": None}, "has no array 'lead'"),
    ({"ownership": np.zeros((13, 81), dtype=np.uint8)}, "not for board size 5"),
    ({"offset": np.array([0, 8, 14])}, "does not fit together"),
    ({"policy_count": np.zeros(13, dtype=np.uint8)}, "does not fit together"),
    *(({name: "cut"}, "does not fit together") for name in ("policy_value", "lead")),
    ({"policy_index": "beyond"}, "beyond a board of size 5"),
])
def test_labels_that_cannot_be_used_are_refused(tmp_path: Path, change: dict, complaint: str) -> None:
    arrays = make_labels(["a.sgf", "c.sgf"])
    del arrays["policy"]
    for name, value in change.items():
        changed = {"beyond": arrays[name] + 26, "cut": arrays[name][:-1]}
        arrays[name] = changed[value] if isinstance(value, str) else value
    np.savez(tmp_path / "x.npz", **{name: value for name, value in arrays.items() if value is not None})
    with pytest.raises(DataError, match=complaint):
        read_labels(tmp_path / "x.npz", SIZE)
    (tmp_path / "x.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot read the labels"):
        read_labels(tmp_path / "x.npz", SIZE)


@pytest.fixture
def config(folder: Path) -> TrainConfig:
    """A tiny run on the three games."""
    return TrainConfig(board_sizes=(SIZE,), features=RICH.name, head="pooled", block="gpool", filters=8, blocks=2,
                       batch_size=4, epochs=2, ema=0.9, value_weight=1.0, value_blend=0.5, ownership_weight=1.0,
                       lead_weight=0.1, test_share=0.3, use_gpu=False, data_dir=folder, output=folder / "x.bin")


@pytest.mark.slow
def test_a_network_learns_all_that_labels_say(config: TrainConfig) -> None:
    trainer = Trainer(replace(config, filters=32, batch_size=16, test_share=0.0, learning_rate=0.05), SUPERVISED)
    samples = trainer.data._make(np.arange(8))  # type: ignore[attr-defined]
    scores = []
    for _ in range(200):
        trainer.step(samples, np.zeros(8, dtype=np.int64))
        scores.append(trainer.sums.scores())
        trainer.sums.sums.zero_()
    entropy = -(samples.policy * np.log(samples.policy + 1e-9)).sum(axis=1).mean()
    assert scores[-1].policy_loss < entropy + 0.1 and 2.0 * scores[-1].lead_error < scores[0].lead_error


def test_a_stopped_run_goes_on_to_the_same_network(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    train(config)
    whole = torch.load(config.output, weights_only=True)
    assert load_network(config.output, 7).shape["head"] == "pooled"
    step = Trainer.step

    def stop(self: Trainer, *arguments):
        if self.progress.step == 3:
            raise KeyboardInterrupt
        return step(self, *arguments)

    again = replace(config, output=config.output.with_name("y.bin"))
    monkeypatch.setattr(Trainer, "step", stop)
    monkeypatch.setattr("nn.training.trainer.CHECKPOINT_SECONDS", -1.0)
    with pytest.raises(KeyboardInterrupt):
        train(again)
    monkeypatch.setattr(Trainer, "step", step)
    train(again)
    gone_on = torch.load(again.output, weights_only=True)
    assert same(gone_on["weights"], whole["weights"]) and gone_on["about"]["steps"] == whole["about"]["steps"]


def test_a_run_takes_the_kind_of_network_from_its_start(config: TrainConfig, folder: Path) -> None:
    train(replace(config, activation="mish"))
    command = ["--start", str(config.output), "--output", str(folder / "y.bin"), "--data-dir", str(folder), "--size",
               str(SIZE), "--epochs", "1", "--use-gpu", "false", "--batch-size", "4"]
    result = ProgramRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    shape = load_network(folder / "y.bin", SIZE).shape
    assert (shape["head"], shape["features"], shape["activation"], shape["filters"]) == ("pooled", "rich", "mish", 8)


def test_a_run_is_that_of_its_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither finished nor to be gone on with by what somebody else says of the games, or by the moves alone."""
    def run(*options: str) -> tuple[int, str]:
        result = ProgramRunner().invoke(main, [
            "--head", "pooled", "--kifu-dir", str(folder / "games"), "--data-dir", str(folder), "--size", str(SIZE),
            "--filters", "8", "--blocks", "1", "--use-gpu", "false", "--batch-size", "4", "--workers", "1", "--output",
            str(folder / "y.bin"), *options])
        return result.exit_code, result.output + capsys.readouterr().err

    labels = ("--labels", str(folder / "labels.npz"))
    status, said = run("--epochs", "1", *labels)
    assert status == 0 and "of --labels the win rates are left out" in said
    status, said = run("--epochs", "1", *labels, "--value-blend", "0")
    assert "win rates are left out" not in said
    assert status == 0 and "This run is finished" in said
    for other in (("--epochs", "1"), ("--epochs", "2")):
        status, said = run(*other)
        assert status == 2 and "holds a finished run with other settings (labels" in said
    changed = dict(np.load(folder / "labels.npz"))
    changed["win_rate"] = np.zeros_like(changed["win_rate"])
    np.savez(folder / "labels.npz", **changed)  # of the same name and size
    status, said = run("--epochs", "2", *labels)
    assert status == 2 and "other training data" in said
    assert run("--epochs", "1", "--restart", "true")[0] == 0


def test_a_board_size_without_games_is_said(folder: Path) -> None:
    with pytest.raises(DataError, match="no 7x7 game among the data: leave out --size 7"):
        open_game_samples([folder / "games_0.npz"], KATAGO, (SIZE, 7), 4, 0, 0.1, 1.0)


def test_labels_that_cannot_be_are_refused(folder: Path) -> None:
    for name, value in (("win_rate", 55.0), ("lead", np.inf)):
        labels = dict(np.load(folder / "labels.npz"))
        labels[name][0] = value
        np.savez(folder / "spoiled.npz", **labels)
        with pytest.raises(DataError, match="spoiled.npz has win rates that are not from 0 to 1, or infinite leads"):
            read_labels(folder / "spoiled.npz", SIZE)


@pytest.mark.parametrize(("options", "complaint"), [
    (("--features", "rich"), "--features rich needs --head pooled"),
    (("--activation", "mish"), "--activation mish needs --head pooled"),
    (("--labels", "LABELS", "--kifu-dir", "GAMES"), "--labels needs --head pooled"),
    (("--head", "pooled", "--labels", "LABELS"), "--labels needs the games"),
    (("--head", "pooled", "--rl", "true", "--size", "5", "--size", "7"), "one board size at a time"),
    (("--head", "pooled", "--rl", "true", "--labels", "LABELS", "--kifu-dir", "GAMES"), "lie with its games"),
    (("--size", "5", "--size", "7"), "several --size need --head pooled"),
    (("--rl", "true", "--ownership-weight", "1"), "--ownership-weight is for supervised learning"),
    (("--head", "pooled", "--filters", "3"), "has 4 at least"),
    (("--archive", "GAMES", "--kifu-dir", "GAMES"), "--archive needs --head pooled"),
    (("--head", "pooled", "--archive", "GAMES"), "give their folder with --kifu-dir"),
    (("--head", "pooled", "--rl", "true", "--archive", "GAMES", "--kifu-dir", "GAMES"), "the archive is --kifu-dir"),
    (("--head", "pooled", "--kifu-dir", "GAMES", "--teacher-weight", "0.5"), "--teacher-weight is the share of"),
    (("--teacher-weight", "0.5"), "--teacher-weight is the share of --labels"),
    (("--head", "pooled", "--rl", "true", "--teacher-weight", "0.5"), "--teacher-weight is for supervised learning"),
    (("--task", "bad-moves", "--kifu-dir", "GAMES", "--teacher-weight", "0.5"), "--teacher-weight is the share of"),
    (("--head", "pooled", "--kifu-dir", "GAMES", "--window-size", "9"), "--window-size is for games of self-play"),
])
def test_options_that_do_not_go_together(folder: Path, options: tuple[str, ...], complaint: str,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    places = {"LABELS": str(folder / "labels.npz"), "GAMES": str(folder / "games")}
    result = ProgramRunner().invoke(main, [places.get(one, one) for one in options])
    assert result.exit_code == 2 and complaint in result.output + capsys.readouterr().err


def test_what_self_play_has_searched_is_learnt_beside_other_games(folder: Path) -> None:
    """Positions with a policy of their own are samples, the others of the archive are not; records are tested on."""
    write_games(folder / "archive" / "1", range(1, 6))
    command = ["--head", "pooled", "--kifu-dir", str(folder / "games"), "--labels", str(folder / "labels.npz"),
               "--archive", str(folder / "archive"), "--data-dir", str(folder), "--size", str(SIZE), "--filters", "8",
               "--blocks", "1", "--epochs", "1", "--use-gpu", "false", "--batch-size", "4", "--workers", "1",
               "--test-share", "0.1", "--output", str(folder / "both.bin")]
    result = ProgramRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    records, games = (folder / name for name in ("games_0.npz", "rl_games_1.npz"))
    searched = read_game_file(games, [SIZE]).labels.policy_count > 0
    assert 0 < searched.sum() < len(searched)
    data = open_game_samples([records], KATAGO, (SIZE,), 4, 0, 0.1, 1.0, [games])
    last = MOVES["c.sgf"]
    assert data.test_count == last and data.train_count == searched.sum() + sum(MOVES.values()) - last
    assert f"Training on {data.train_count} samples, testing on {last} " in result.output
    policies = np.concatenate([samples.policy for samples, _ in data.training_batches(0)])
    assert np.allclose(policies.sum(axis=1), 1.0, atol=1e-5)
    assert (policies.max(axis=1) < 0.99).sum() >= searched.sum() - 4  # made-up policies, not the moves played alone


@pytest.mark.parametrize(("moves", "first"), [("B[ba];W[cc]", 1), ("W[cc];B[ba]", -1)])
def test_ownership_is_the_mover_s_whoever_begins(moves: str, first: int) -> None:
    """White begins a game with handicap."""
    stones, komi = "AB[ab][bb][cb]", 0
    game = to_kifu("game", SGFReader(f"(;SZ[3]KM[{komi}]{stones}RE[B+5];{moves})".encode(), literal=True))
    with without_compiler():
        encoder = GameEncoder(3)
        owner = encoder.ownership(game)
        black = game_owner(encoder, game)
    assert owner[0].any() and (owner[0] == -owner[1]).all()
    assert (black == owner[0] * first).all() and black.reshape(3, 3)[1].tolist() == [1, 1, 1]


def test_the_lead_of_a_counted_game_is_the_mover_s(folder: Path) -> None:
    data = open_games(folder, 16)
    data._games.labels.lead[:] = np.nan
    samples = data._make(np.arange(16))
    assert samples.lead[:8].tolist() == [7.5, -7.5] * 4 and np.isnan(samples.lead[8:11]).all()
    assert samples.lead[11:].tolist() == [0.0] * 5


@pytest.mark.parametrize("name", ["pos", "komi", "value", "win_rate", "score"])
def test_games_that_say_something_else_are_other_data(folder: Path, name: str) -> None:
    games = open_games(folder)._games
    other = games._replace(**{name: getattr(games, name).copy()})
    getattr(other, name)[0] = 1
    assert sum_games(other) != sum_games(games)


def test_labels_of_another_number_of_moves_are_none_of_the_game() -> None:
    none, zeros = np.zeros(0, np.uint16), np.zeros(2, np.float16)
    labels = Labels(np.zeros(2, np.uint16), none, none, zeros, zeros, np.zeros((2, 25), np.uint8))
    file = LabelFile(5, labels, {"a.sgf": (0, 2)}, labels.policy_start)
    assert file.of_game("x/a.sgf", 2) is not None
    assert [file.of_game(name, moves) for name, moves in (("a.sgf", 1), ("a.sgf", 3), ("b.sgf", 2))] == [None] * 3
