"""What supervised and reinforcement learning do differently."""

from collections.abc import Callable
from dataclasses import dataclass

from nn.data.dataset import DataSet, TrainingData, find_data_files, open_files
from nn.data.mixed_samples import open_game_samples
from nn.data.replay_window import SELF_PLAY_GAMES, GameWindow, ReplayWindow
from nn.plane_sets import PLANE_SETS
from nn.training.checkpoint import ResumePlan, plan_reinforcement, plan_supervised
from nn.training.run_config import TrainConfig, TrainError
from nn.training.run_table import REINFORCEMENT_LAYOUT, SUPERVISED_LAYOUT, Layout
from nn.training.schedule import SCHEDULES, Schedule


@dataclass(frozen=True)
class Recipe:
    """A way of learning."""

    name: str  # first part of the names of its files
    open_data: Callable[[TrainConfig], TrainingData]
    plan: ResumePlan  # what to do with a checkpoint
    layout: Layout
    keeps_best: bool  # whether the model file is that of the epoch with the best test loss, where there are tests
    goes_on: bool  # whether a finished run is the start of the next one


def _open_games(config: TrainConfig) -> TrainingData:
    """Return the data made from records of games: planes for the lecture's network, games for the others."""
    if not config.is_lecture:
        self_play = find_data_files(config.data_dir, SELF_PLAY_GAMES) if config.self_play else []
        return open_game_samples(
            find_data_files(config.data_dir, "games_*.npz"), PLANE_SETS[config.features], config.board_sizes,
            config.batch_size, config.seed, config.test_share, config.teacher_weight, self_play)
    files = open_files(find_data_files(config.data_dir, "sl_data_*.npz"), config.test_share)
    return DataSet(files, config.board_size, config.batch_size, config.seed, config.ownership_weight > 0.0)


def _open_window(config: TrainConfig) -> TrainingData:
    """Return the newest games of self-play."""
    window = (config.board_size, config.batch_size, config.seed, config.window_size, config.test_share)
    if not config.is_lecture:
        return GameWindow(config.data_dir, PLANE_SETS[config.features], *window)
    return ReplayWindow(config.data_dir, *window)


SUPERVISED = Recipe("sl", _open_games, plan_supervised, SUPERVISED_LAYOUT, keeps_best=True, goes_on=False)
# The loss of REINFORCE says nothing about strength: the newest network is kept.
POLICY_GRADIENT = Recipe("pg", _open_games, plan_supervised, SUPERVISED_LAYOUT, keeps_best=False, goes_on=False)
REINFORCEMENT = Recipe("rl", _open_window, plan_reinforcement, REINFORCEMENT_LAYOUT, keeps_best=False, goes_on=True)
RECIPES = {recipe.name: recipe for recipe in (SUPERVISED, POLICY_GRADIENT, REINFORCEMENT)}


def make_schedule(config: TrainConfig) -> Schedule:
    """Return the schedule a config names; raises TrainError for an unknown name."""
    if config.schedule not in SCHEDULES:
        *names, last = SCHEDULES
        raise TrainError(f"unknown schedule {config.schedule!r}: say {', '.join(names)} or {last}")
    return SCHEDULES[config.schedule](config.learning_rate)
