"""REINFORCE: the gradient is z grad log pi, of the right player's moves, and the command says what does not fit."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nn.data.data_generator import NoTrainingDataError, generate_supervised_learning_data
from nn.data.dataset import TrainingBatch
from nn.data.value_choice import ValueChoice
from nn.network.dual_net import DualNet
from nn.network.weights import load_network, save_network
from nn.training.batch_loss import find_moves
from nn.training.checkpoint import read_checkpoint
from nn.training.learn import POLICY_GRADIENT, TrainConfig, train
from nn.training.loss import calculate_gain_loss, cross_entropy, measure_advantage
from nn.training.objective import REINFORCE, check_objective
from nn.training.run_config import TrainError
from nn.training.trainer import Trainer
from sgf.collection import Kifu, to_kifu
from sgf.reader import SGFReader
from tests.files import write_files
from tests.tools.in_process import ProgramRunner
from train import main

GAME = "(;GM[1]SZ[3]KM[0]PB[new]PW[old]RE[{}];B[bb];W[ba];B[ab];W[cb];B[bc];W[])"


def read_game(result: str = "B+3") -> Kifu:
    """Return a game of six moves, Black's by "new"."""
    return to_kifu("game", SGFReader(GAME.format(result), literal=True))


def test_the_gradient_is_that_of_reinforce() -> None:
    """For each sample (z - b) times the gradient of log pi, and nothing from results that are not known."""
    logits = torch.randn(4, 10, requires_grad=True)
    moves, value = torch.tensor([3, 0, 9, 5]), torch.tensor([2, 0, 1, -1], dtype=torch.int8)
    value_logits = torch.log(torch.tensor([[0.2, 0.1, 0.7]] * 4)).requires_grad_()
    target = torch.eye(10)[moves]
    for baseline, expected in (("none", [1.0, -1.0, 0.0, 0.0]), ("value", [0.5, -1.5, -0.5, 0.0])):
        advantage = measure_advantage(value, value_logits, baseline)
        torch.testing.assert_close(advantage, torch.tensor(expected))
        (gradient,) = torch.autograd.grad((cross_entropy(logits, target) * advantage).sum(), logits)
        log_pi_gradient = target - logits.softmax(dim=1).detach()
        torch.testing.assert_close(gradient, -torch.tensor(expected)[:, None] * log_pi_gradient)
        assert not advantage.requires_grad
        log_policy = -cross_entropy(logits, target)
        (gradient,) = torch.autograd.grad(calculate_gain_loss(log_policy, log_policy.detach(), advantage).sum(), logits)
        torch.testing.assert_close(gradient, -torch.tensor(expected)[:, None] * log_pi_gradient)


@pytest.mark.parametrize(("ratio", "advantage", "moves"), [
    (1.1, 1.0, True), (1.3, 1.0, False), (0.7, 1.0, True), (0.9, -1.0, True), (0.7, -1.0, False), (1.3, -1.0, True)])
def test_a_move_is_learnt_when_it_is_so_much_likelier_and_can_be_taken_back(ratio: float, advantage: float,
                                                                            moves: bool) -> None:
    before = torch.log(torch.tensor([0.3]))
    log_policy = (before + float(np.log(ratio))).requires_grad_()
    loss = calculate_gain_loss(log_policy, before, torch.tensor([advantage])).sum()
    (gradient,) = torch.autograd.grad(loss, log_policy)
    assert (gradient.item() != 0.0) == moves
    assert not moves or np.sign(gradient.item()) == -np.sign(advantage)


@pytest.mark.parametrize(("choice", "expected"), [
    (ValueChoice(), [2, 0, 2, 0, 2, 0]), (ValueChoice("new"), [2, -1, 2, -1, 2, -1]),
    (ValueChoice("old"), [-1, 0, -1, 0, -1, 0]), (ValueChoice("nobody"), [-1] * 6),
])
def test_results_are_told_of_one_player_s_moves(choice: ValueChoice, expected: list[int]) -> None:
    assert choice.values(read_game()).tolist() == expected


def test_one_position_of_each_game_tells_its_result() -> None:
    game, kept = read_game(), set()
    for number in range(40):
        pos = np.roll(game.pos, number % 6) + number
        values = ValueChoice("new", True).values(game._replace(pos=pos))
        assert (values != -1).sum() == 1 and values.max() == 2
        assert values.tolist() == ValueChoice("new", True).values(game._replace(pos=pos)).tolist()
        kept.add(int(values.argmax()))
    assert kept == {0, 2, 4}
    assert (ValueChoice(one_a_game=True).values(read_game("?")) == -1).all()


def write_games(folder: Path, results: list[str]) -> Path:
    """Write a file for each result; returns the folder."""
    return write_files(folder, {f"{number}.sgf": GAME.format(result) for number, result in enumerate(results)})


def test_data_without_the_player_are_refused(tmp_path: Path) -> None:
    games = write_games(tmp_path / "games", ["B+3"])
    with pytest.raises(NoTrainingDataError, match="no usable 3x3 game of nobody in 1 SGF files"):
        generate_supervised_learning_data(tmp_path, games, 3, 1, choice=ValueChoice("nobody"))


def policy_of_first_move(path: Path) -> float:
    """Return a model's probability of the first move of GAME."""
    network = load_network(str(path), 3).eval()
    planes = torch.zeros(1, 6, 3, 3)
    planes[:, 0], planes[:, 5] = 1.0, 1.0
    with torch.no_grad():
        return float(network(planes)[0].softmax(dim=1)[0, 4])


@pytest.mark.parametrize(("result", "baseline"), [("B+3", "none"), ("W+3", "none"), ("W+3", "value")])
def test_what_won_becomes_likelier_and_what_lost_less_likely(result: str, baseline: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    first = tmp_path / "first.bin"
    save_network(DualNet(torch.device("cpu"), 3, 4, 1), first)
    games = write_games(tmp_path / "games", [result] * 4)
    run = ProgramRunner().invoke(main, [
        "--objective", "reinforce", "--baseline", baseline, "--player", "new", "--start", str(first), "--size", "3",
        "--kifu-dir", str(games), "--data-dir", str(tmp_path / "data"), "--output", str(tmp_path / "model.bin"),
        "--batch-size", "8", "--use-gpu", "false", "--workers", "1", "--test-share", "0", "--learning-rate", "0.05",
        "--epochs", "4"])
    assert run.exit_code == 0, run.output
    change = policy_of_first_move(tmp_path / "model.bin") - policy_of_first_move(first)
    assert (change > 0.0) == (result == "B+3")


def test_moves_are_learnt_where_a_teacher_has_said_something_else_and_no_ratio_is_too_large() -> None:
    nothing = torch.zeros(3)
    policy, moves = torch.full((3, 5), 0.2), torch.tensor([4, -1, 0])
    batch = TrainingBatch(nothing, policy, nothing, nothing, nothing, nothing, moves)
    assert torch.equal(find_moves(batch), torch.stack([torch.eye(5)[4], torch.full((5,), 0.2), torch.eye(5)[0]]))
    log_policy = torch.tensor([-1.0, -1.0], requires_grad=True)
    loss = calculate_gain_loss(log_policy, torch.tensor([-95.0, -95.0]), torch.tensor([0.0, 0.5])).sum()
    (gradient,) = torch.autograd.grad(loss, log_policy)
    assert torch.isfinite(loss) and gradient.tolist() == [0.0, 0.0]


def test_the_policy_is_compared_with_the_one_that_played_also_after_a_stop(tmp_path: Path) -> None:
    """Not with what the run had come to; and norms keep the statistics by which that one played."""
    torch.manual_seed(1)
    first, data = tmp_path / "first.bin", tmp_path / "data"
    save_network(DualNet(torch.device("cpu"), 3, 4, 1), first)
    generate_supervised_learning_data(tmp_path, write_games(tmp_path / "games", ["B+3"] * 8), 3, 1, data_dir=data)
    config = TrainConfig(board_sizes=(3,), batch_size=8, epochs=1, use_gpu=False, start=str(first), data_dir=data,
                         output=tmp_path / "model.bin", objective="reinforce", learning_rate=0.1, test_share=0.0)
    assert train(config, POLICY_GRADIENT) == ""
    learnt, before = load_network(str(config.output), 3).state_dict(), load_network(str(first), 3).state_dict()
    assert not torch.equal(learnt["conv_layer.weight"], before["conv_layer.weight"])
    assert all(torch.equal(learnt[name], before[name]) for name in before if "running" in name)
    save_network(load_network(str(config.output), 3), first)  # as where --start and --output are one file
    again = Trainer(replace(config, epochs=2), POLICY_GRADIENT)
    again.load_state(read_checkpoint(again.files, torch.device("cpu")))
    player = again.loss.player
    assert player is not None and torch.equal(player.state_dict()["conv_layer.weight"], before["conv_layer.weight"])
    assert torch.equal(again.network.state_dict()["conv_layer.weight"], learnt["conv_layer.weight"])


@pytest.mark.parametrize(("options", "text"), [
    ("--objective reinforce", "give it with --start"),
    ("--objective reinforce --rl true", "such as archive/0, without --rl"),
    ("--one-value true --rl true --kifu-dir .", "--one-value reads games"),
    ("--player me", "--player chooses positions while games are read: give --kifu-dir"),
    ("--one-value true", "--one-value true chooses positions"), ("--baseline value", "is for --objective reinforce"),
    ("--objective reinforce --start FILE --label-smoothing 0.1", "--label-smoothing means nothing to"),
    ("--objective reinforce --start FILE --kifu-dir . --head pooled --labels FILE", "--labels are for"),
    ("--task bad-moves --objective reinforce", "--objective means nothing to --task bad-moves"),
])
def test_what_does_not_go_together_is_one_line(options: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run = ProgramRunner().invoke(main, options.replace("FILE", str(tmp_path / "file")).split())
    assert run.exit_code == 2 and len(run.output.splitlines()) == 1 and text in run.output, run.output


@pytest.mark.parametrize("name", ["label_smoothing", "teacher_weight", "archive"])
def test_what_means_nothing_to_reinforce_is_refused(name: str) -> None:
    options = {"objective": REINFORCE, "player": "", "one_value": False, "baseline": "none", "start": "model.bin"}
    check_objective(options, False, (), "games", lambda _: False)
    with pytest.raises(TrainError, match=f"--{name.replace('_', '-')} means nothing to --objective reinforce"):
        check_objective(options, False, (), "games", lambda one: one == name)
