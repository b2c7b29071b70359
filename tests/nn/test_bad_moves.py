"""Bad moves: what the classifier sees, what it says beside its torch twin, how it is learnt, and its file."""
from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import train
from board.ladder import find_ladders, new_ladder_work
from board.state import new_state
from common.kernel import without_compiler
from nn.classifier import (
    BAD_MOVES,
    ClassifierError,
    judge_points,
    new_judge,
    policy_margin,
    read_classifier,
    write_classifier,
)
from nn.data.labels import AllLabels, LabelFile, Labels, pack_policies
from nn.data.move_samples import GameMarker, MoveSamples
from nn.point_marks import (
    CANDIDATE,
    CAPTURES,
    CATCHING,
    CAUGHT,
    ILLEGAL,
    LAST,
    MARKS,
    OTHER,
    OTHER_CAPTURES,
    OTHER_SELF_ATARI,
    OWN,
    PREVIOUS,
    SELF_ATARI,
    mark_points,
)
from nn.training.bad_move_net import BadMoveNet, make_planes
from nn.training.bad_moves import (
    BadMoveConfig,
    ClassifierRun,
    Turner,
    calculate_loss,
    calculate_margins,
    mix_targets,
)
from nn.training.recall import Margins, format_table
from nn.training.run_config import TrainError
from sgf.collection import to_kifu
from sgf.reader import SGFReader
from tests.mcts.trees import Game
from tests.reference.slow_board import OTHER as OPPONENT
from tests.tools.in_process import ProgramRunner


def marks_of_empty_point(game: Game, point: tuple[int, int]) -> set[int]:
    """Return the marks of an empty point by the slow board, those of ladders left out."""
    slow, marks = game.twins.slow, set()
    for color, captures, self_atari in ((game.color, CAPTURES, SELF_ATARI),
                                        (OPPONENT[game.color], OTHER_CAPTURES, OTHER_SELF_ATARI)):
        if not slow.is_legal(point, color):
            marks |= {ILLEGAL} if color == game.color else set()
            continue
        grid, taken = slow.after(point, color)  # type: ignore[misc]
        if color == game.color and not slow.is_complete_eye(point, color):
            marks.add(CANDIDATE)
        if taken:
            marks.add(captures)
        elif slow.self_atari_size(point, grid, taken):
            marks.add(self_atari)
    return marks


@pytest.mark.parametrize("seed", range(3))
def test_marks_are_those_of_the_slow_board(seed: int) -> None:
    game = Game.random(5, 24, seed=seed)
    state, slow, ladders = game.board.state, game.twins.slow, new_ladder_work(5)
    out, recent = np.zeros(25, dtype=np.uint16), [*reversed(game.moves)][:2]
    previous = 0 if recent[1] is None else game.twins.pos(recent[1])
    with without_compiler():
        find_ladders(state, ladders)
        mark_points(state, previous, ladders, int(game.stone), out)
    for index, pos in enumerate(game.board.onboard_pos):
        point = game.twins.point(pos)
        if point in slow.grid and slow.grid[point] in "bw":
            own = OWN if slow.grid[point] == game.color else OTHER
            expected = {own + min(len(slow.liberties(point)), 3) - 1} | ({CAUGHT} if ladders.caught[pos] else set())
        else:
            expected = marks_of_empty_point(game, point)
            expected |= {CATCHING} if ladders.catching[pos] & (3 - int(game.stone)) else set()
        expected |= {mark for mark, move in zip((LAST, PREVIOUS), recent, strict=True) if move == point}
        assert {mark for mark in range(MARKS + 1) if out[index] >> mark & 1} == expected


@pytest.mark.parametrize(("filters", "layers"), [(3, 0), (4, 1), (6, 3)])
def test_kernels_say_what_torch_says(filters: int, layers: int, tmp_path: Path) -> None:
    torch.manual_seed(layers)
    network, rng = BadMoveNet(filters, layers), np.random.default_rng(layers)
    write_classifier(network.to_classifier(), tmp_path / "net.npz")
    judge = new_judge(read_classifier(tmp_path / "net.npz"), 4, 0.5)
    for marks in rng.integers(0, 1 << 16, (3, 16)).astype(np.uint16):  # the same work space for all
        with torch.no_grad():
            logits = network(make_planes(torch.from_numpy(marks.astype(np.int32))[None], 4))[0].numpy()
        judge.marks[:] = marks
        with without_compiler():
            judge_points(judge, new_state(4))
        candidates = (marks >> CANDIDATE & 1).astype(bool)
        np.testing.assert_allclose(judge.logit, np.where(candidates, logits, -np.inf), atol=1e-5)
        shares = np.exp(logits.astype(np.float64)) * candidates / np.exp(logits.astype(np.float64))[candidates].sum()
        expected = [policy_margin(share, len(marks)) if is_one else 1.0
                    for share, is_one in zip(shares, candidates, strict=True)]
        np.testing.assert_allclose(judge.margin, expected, atol=1e-5)
        learnt = calculate_margins(torch.from_numpy(logits)[None], torch.from_numpy(marks.astype(np.int32))[None])
        np.testing.assert_allclose(learnt[0], expected, atol=1e-5)


def test_candidates_are_weighed_against_each_other() -> None:
    marks = torch.tensor([[1 << CANDIDATE] * 3 + [0]])
    logits = torch.tensor([[2.0, -1.0, 0.5, 9.0]])
    shares = np.exp([2.0, -1.0, 0.5]) / np.exp([2.0, -1.0, 0.5]).sum()
    for weight, target in ((0.0, [0.0, 1.0, 0.0]), (1.0, [0.75, 0.0, 0.25]), (0.4, [0.3, 0.6, 0.1])):
        wanted = mix_targets(marks, torch.tensor([1]), torch.tensor([[0.3, 0.0, 0.1, 0.6]]), weight)
        assert wanted.tolist() == [pytest.approx([*target, 0.0])]
        loss = calculate_loss(logits, marks, wanted).item()
        assert loss == pytest.approx(-np.dot(target, np.log(shares)))
    bare = mix_targets(marks, torch.tensor([1]), torch.tensor([[0.001, 0.001, 0.0, 0.9]]), 1.0)
    assert bare.tolist() == [[0.0, 1.0, 0.0, 0.0]], "a teacher who would pass says nothing"
    alone = calculate_margins(logits, torch.tensor([[0, 1 << CANDIDATE, 0, 0]]))
    assert alone.tolist() == [[1.0, -1.0, 1.0, 1.0]], "the only candidate is good"


def test_a_classifier_of_an_older_version_is_refused(tmp_path: Path) -> None:
    weights = BadMoveNet(2, 0).to_classifier()._asdict()
    np.savez(tmp_path / "net.npz", last_bias=np.zeros(1, dtype=np.float32), **weights)
    with pytest.raises(ClassifierError, match="older version.*train.py --task bad-moves"):
        read_classifier(tmp_path / "net.npz")


def test_more_filters_say_the_same_at_first() -> None:
    torch.manual_seed(3)
    known, wider, other = BadMoveNet(2, 2), BadMoveNet(5, 2), BadMoveNet(5, 1)
    wider.begin_with(known.to_classifier())
    planes = make_planes(torch.randint(0, 1 << 15, (3, 25), dtype=torch.int32), 5)
    torch.testing.assert_close(wider(planes), known(planes))
    wider(planes).square().sum().backward()
    assert wider.last.weight.grad is not None and wider.last.weight.grad[0, 2:].abs().max() > 0.0, "they may be heard"
    for network in (other, BadMoveNet(1, 2)):
        with pytest.raises(ValueError, match="2 filters, 2 layers and a kernel of 7"):
            network.begin_with(known.to_classifier())


def test_boards_turn_with_their_moves() -> None:
    turn = Turner(3, torch.device("cpu"))
    marks, played = torch.arange(9)[None], torch.tensor([5])
    for sym in range(8):
        turned, point = turn.of_points(marks, sym), turn.of_moves(played, sym)
        assert turned[0, point[0]] == 5 and sorted(turned[0].tolist()) == list(range(9))


def test_a_policy_says_how_bad_moves_are() -> None:
    assert policy_margin(1.0, 4) == -1.0 and policy_margin(0.0, 4) == 1.0
    assert policy_margin(1.0 / (1.0 + BAD_MOVES * 81), 81) == pytest.approx(0.0), "as likely as a move on the average"
    good = 0.01 / 0.99 * BAD_MOVES * 50  # odds, as if there were as many good moves as bad ones
    assert policy_margin(0.01, 50) == pytest.approx((1 - good) / (1 + good))


def test_the_table_counts_moves() -> None:
    samples = MoveSamples(np.array([[1 << CANDIDATE] * 4, [1 << CANDIDATE] * 3 + [0]], dtype=np.uint16),
                          np.array([0, 2], dtype=np.int16), np.zeros((2, 4), dtype=np.float16))
    margins = Margins.of(np.array([[-0.5, 0.98, 0.2, 1.0], [0.95, -0.1, 0.5, 1.0]]), samples)
    assert margins.recall(0.0) == (0.5, 4 / 5) and margins.recall(0.96) == (1.0, 2 / 5)
    assert format_table(margins).splitlines()[-1] == "| 0.5 | 100.0% | 60.0% |"


def test_samples_are_the_moves_of_the_games() -> None:
    game = Game.random(4, 12, seed=5)
    moves = "".join(f";{color}[{'' if p is None else 'abcd'[p[0] - 1] + 'abcd'[p[1] - 1]}]"
                    for color, p in zip("BW" * 6, game.moves, strict=True))
    reader = SGFReader(f"(;GM[1]SZ[4]{moves})".encode(), literal=True)
    with without_compiler():
        samples = GameMarker(4).mark(to_kifu("game", reader))
    expected = [int(GameMarker(4)._policy_index[pos]) for pos in reader.moves if pos > 0]
    assert samples.played.tolist() == expected and len(samples.marks) == len(expected)
    assert all(samples.marks[n, point] >> CANDIDATE & 1 for n, point in enumerate(expected))


def test_the_good_moves_of_a_labelled_game_are_its_teachers() -> None:
    played, best = ["ab", "ba", "cc", "ad"], [5, 16, 3, 9]  # the second is the pass
    moves = "".join(f";{color}[{point}]" for color, point in zip("BWBW", played, strict=True))
    game = to_kifu("game", SGFReader(f"(;GM[1]SZ[4]{moves})".encode(), literal=True))
    policy = np.zeros((4, 17), dtype=np.float32)
    policy[np.arange(4), best], policy[:, 15] = 0.6, 0.4
    zeros = np.zeros(4, dtype=np.float16)
    labels = Labels(*pack_policies(policy), zeros, zeros, np.zeros((4, 16), dtype=np.uint8))
    silent = labels._replace(policy_count=labels.policy_count * 0)
    others, own = (LabelFile(4, labels, {name: (0, 4)}, labels.policy_start) for name in ("other", "game"))
    with without_compiler():
        found = AllLabels([others, own]).of_game("game", 4, 4)
        assert GameMarker(4).mark(game, found).played.tolist() == [5, 3, 9]
        as_played = GameMarker(4).mark(game, found, is_best=False)
        assert as_played.played.tolist() == [4, 1, 10, 12]
        np.testing.assert_allclose(as_played.policy, policy[:, :16], atol=1e-3)
        assert GameMarker(4).mark(game, silent).played.tolist() == [4, 1, 10, 12]
        unknown = AllLabels([others]).of_game("game", 4, 4)
        assert GameMarker(4).mark(game, unknown).played.tolist() == GameMarker(4).mark(game).played.tolist()
        without_pass = GameMarker(4).mark(game, found).marks
        assert np.array_equal(without_pass, GameMarker(4).mark(game).marks[[0, 2, 3]])


def test_labels_of_the_same_name_are_those_of_the_board() -> None:
    def file(size: int) -> LabelFile:
        none, zeros = np.zeros(0, np.uint16), np.zeros(2, np.float16)
        labels = Labels(np.zeros(2, np.uint16), none, none, zeros, zeros, np.zeros((2, size**2), np.uint8))
        return LabelFile(size, labels, {"a.sgf": (0, 2)}, labels.policy_start)

    labels = AllLabels([file(9), file(5)]).of_game("a.sgf", 5, 2)
    assert labels is not None and labels.ownership.shape == (2, 25)


@pytest.mark.parametrize(("content", "reason"), [(b"", "damaged"), (b"PK\x03\x04 no", "damaged"), (None, "No such")])
def test_a_bad_file_is_one_line(content: bytes | None, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ClassifierError, match=reason):
        read_classifier(path)


def test_weights_of_another_shape_are_refused(tmp_path: Path) -> None:
    weights = BadMoveNet(2, 0).to_classifier()
    write_classifier(weights._replace(last=np.zeros(3, dtype=np.float32)), tmp_path / "net.npz")
    with pytest.raises(ClassifierError, match="its last is not"):
        read_classifier(tmp_path / "net.npz")
    write_classifier(weights._replace(on_board=np.array(1.0, dtype=np.float32)), tmp_path / "net.npz")
    with pytest.raises(ClassifierError, match="damaged or no file"):
        read_classifier(tmp_path / "net.npz")


def learn(*arguments: object) -> str:
    """Run train.py in this process and return what it prints."""
    with without_compiler():
        return ProgramRunner().invoke(train.main, [*map(str, arguments)]).output


@pytest.mark.slow
def test_the_command_learns_and_prints_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nn.training.bad_moves.KEPT_BACK", 4)
    monkeypatch.setattr("nn.data.move_samples.KEPT_BACK", 4)
    for n in range(4):
        (tmp_path / f"{n}.sgf").write_text("(;GM[1]SZ[3];B[bb];W[cb];B[bc];W[cc])")
    network = tmp_path / "net.npz"
    command = ("--task", "bad-moves", "--kifu-dir", tmp_path, "--size", 3, "--filters", 2, "--blocks", 0,
               "--output", network, "--batch-size", 12, "--use-gpu", "false", "--learning-rate", 0.1)
    first = learn(*command, "--epochs", 200)
    assert "4 games: learning from 12 positions, judged by 4" in first and "| 0.97 |" in first
    assert "without labels" not in first
    assert len(read_classifier(network).bias) == 2
    assert "Resumed at step 200" in learn(*command, "--epochs", 1)  # finished: the table comes once more
    (tmp_path / "net-state.ckpt").unlink()
    assert "is there already" in learn(*command, "--epochs", 1)
    zeros = np.zeros(4, dtype=np.float16)
    np.savez(tmp_path / "labels.npz", names=np.array(["0.sgf"]), offset=np.array([0, 4]), win_rate=zeros, lead=zeros,
             policy=np.eye(10, dtype=np.float16)[:4], ownership=np.zeros((4, 9), dtype=np.uint8))
    out = learn(*command, "--labels", tmp_path / "labels.npz", "--restart", "true", "--epochs", 1)
    assert "games without labels, whose own moves are taken for good: 3, the first " in out
    wider = tmp_path / "wider.npz"
    learn(*command[:4], "--size", 3, "--start", network, "--filters", 3, "--epochs", 1, "--use-gpu", "false",
          "--output", wider)
    assert len(read_classifier(wider).bias) == 3 and len(read_classifier(wider).hidden) == 0
    losses = [float(line.split()[-1]) for line in first.splitlines() if " loss " in line]
    assert losses[0] > 1.0 > 0.7 > losses[-1]  # mirror images of a move are alike: 0.5 at best
    (tmp_path / "0.sgf").write_text("(;GM[1]SZ[3];B[];W[])")  # the game that is kept back
    assert "12 positions to learn from and 0 to judge by" in learn(*command, "--restart", "true", "--epochs", 1)


@pytest.mark.slow
def test_a_resumed_run_equals_the_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_run(name: str, **changes: Any) -> ClassifierRun:
        return ClassifierRun(make_config(tmp_path, output=tmp_path / f"{name}.npz", **{"epochs": 4, **changes}),
                             make_samples())

    whole, first, second, said = make_run("whole"), make_run("parts"), make_run("parts"), list[str]()
    assert whole.learn(said.append) == "" and whole.progress.step == 12 and said[-1].startswith("100%")
    step = first._step

    def step_and_signal(rows: np.ndarray, sym: int, rate: float) -> float:
        if first.progress.step == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(rows, sym, rate)

    monkeypatch.setattr(first, "_step", step_and_signal)
    assert first.learn(said.append) == "SIGTERM" and first.progress.step == 5
    assert not make_run("nothing").go_on()
    with pytest.raises(TrainError, match="unfinished run with other settings .seed 3 -> 5."):
        make_run("parts", seed=5).go_on()
    fewer = make_run("parts")
    fewer._samples = fewer._samples._replace(played=fewer._samples.played[1:])
    with pytest.raises(TrainError, match="other training data"):
        fewer.go_on()
    assert second.go_on() and second.learn(said.append) == ""
    for one, other in zip(whole.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(one, other)
    third = make_run("parts", epochs=5)
    assert third.go_on() and third.learn(said.append) == "" and third.progress.step == 15
    (tmp_path / "parts-state.ckpt").write_bytes(b"nothing")
    with pytest.raises(TrainError, match="damaged: start anew with --restart true"):
        make_run("parts").go_on()


@pytest.mark.parametrize(("arguments", "complaint"), [
    (("--kifu-dir", ".", "--start", train.__file__), "train.py: it is damaged or no file of a classifier"),
    ((), "give --kifu-dir"), (("--kifu-dir", ".", "--rl", "true"), "--rl means nothing"),
    (("--kifu-dir", ".", "--size", "9", "--size", "13"), "one --size at a time"),
    (("--kifu-dir", ".", "--filters", "264"), "--filters 264: a classifier of bad moves has 256 at most"),
    (("--kifu-dir", ".", "--blocks", "17"), "--blocks 17: a classifier of bad moves has 16 at most"),
    (("--kifu-dir", ".", "--output", "new.npz"), "0 games on 9x9"),
])
def test_bad_options_are_one_line(arguments: tuple[str, ...], complaint: str, tmp_path: Path,
                                  monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    result = ProgramRunner().invoke(train.main, ["--task", "bad-moves", *arguments])
    assert result.exit_code == 2 and complaint in result.output and len(result.output.splitlines()) == 1


def test_samples_know_the_last_two_moves() -> None:
    game = to_kifu("game", SGFReader(b"(;GM[1]SZ[4];B[ab];W[ba];B[cc];W[ad])", literal=True))
    with without_compiler():
        marks = GameMarker(4).mark(game).marks
    points = [4, 1, 10]  # of the first three moves
    for mark, moves in ((LAST, [[], *([point] for point in points)]), (PREVIOUS, [[], [], [points[0]], [points[1]]])):
        assert [np.flatnonzero(row >> mark & 1).tolist() for row in marks] == moves


def make_config(folder: Path, **changes: Any) -> BadMoveConfig:
    return replace(BadMoveConfig(
        kifu_dir=folder, layers=1, filters=2, board_size=4, output=folder / "net.npz", epochs=2, minutes=None,
        batch_size=6, learning_rate=0.05, seed=3, use_gpu=False), **changes)


def make_samples(count: int = 20) -> MoveSamples:
    rng = np.random.default_rng(1)
    marks = rng.integers(0, 1 << 14, (count, 16)).astype(np.uint16) | np.uint16(1 << CANDIDATE)
    return MoveSamples(marks, rng.integers(0, 16, count).astype(np.int16), np.zeros((count, 16), dtype=np.float16))


def test_an_epoch_goes_through_all_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, seen = ClassifierRun(make_config(tmp_path), make_samples(18)), list[list[int]]()

    def step(rows: np.ndarray, *_: object) -> float:
        seen.append(rows.tolist())
        return 0.5

    monkeypatch.setattr(run, "_step", step)
    assert run.learn(lambda _: None) == "" and len(seen) == 6
    epochs = [sum(seen[:3], []), sum(seen[3:], [])]
    assert all(sorted(epoch) == list(range(18)) for epoch in epochs) and epochs[0] != epochs[1]


def test_labels_that_are_left_out_are_another_run(tmp_path: Path) -> None:
    ClassifierRun(make_config(tmp_path, labels=("a.npz",), teacher_weight=0.5), make_samples()).save()
    with pytest.raises(TrainError, match="labels .'a.npz'. -> "):
        ClassifierRun(make_config(tmp_path, teacher_weight=0.5), make_samples()).go_on()


def test_another_start_is_another_run(tmp_path: Path) -> None:
    first = ClassifierRun(make_config(tmp_path), make_samples())
    first.save()
    from nn.classifier import write_classifier
    write_classifier(first.network.to_classifier(), tmp_path / "old.npz")
    with pytest.raises(TrainError, match="start  -> old.npz"):
        ClassifierRun(make_config(tmp_path, start=str(tmp_path / "old.npz")), make_samples()).go_on()
