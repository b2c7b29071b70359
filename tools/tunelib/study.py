"""A study: Optuna proposes settings, matches against one opponent judge them, hopeless ones end early."""

import hashlib
import json
import sqlite3
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from common.exit_status import EXIT_FAILED, ProgramError
from common.lock_file import hold_lock
from common.print_console import print_err, print_out
from tools.matchlib.config import MatchConfig
from tools.matchlib.errors import MatchError
from tools.matchlib.report import align
from tools.matchlib.standing import Standing, play_games
from tools.tunelib.space import Tunable, fill, show

# Settings in a row whose games cannot be played, after which it is not the settings that are wrong.
MOST_FAILED = 5
STUDY_FILE, LOCK_FILE = "study.db", "tune.lock"
# Trials of random settings before the first is compared with a median, and before the sampler takes over.
FREE_TRIALS, RANDOM_TRIALS = 5, 10
# Of this many settings one goes on at each rung of successive halving.
HALVING = 3
# What the file keeps beside what Optuna does: of the study, and of a trial.
OPTIONS, STANDING = "options", "standing"


@dataclass(frozen=True)
class TuneConfig:
    """What is tuned, and how long.

    Attributes:
        match: the match of a setting; its first command has the places, its directory the study and all games.
        trials: settings to try in all.
        batch: games after which a setting is compared with the others.
    """

    match: MatchConfig
    tunables: Sequence[Tunable]
    trials: int
    batch: int
    pruner: str = "median"

    def fingerprint(self) -> dict[str, Any]:
        """Return what two runs of one study must share."""
        return {**self.match.get_fingerprint(), "varies": [tunable.describe() for tunable in self.tunables]}


PlayGames = Callable[[MatchConfig], Standing]


class MedianPruner(optuna.pruners.BasePruner):
    """Ends a setting whose score is below the median of what those before it had after as many games.

    Optuna's own compares its best score so far, which one lucky batch lifts for good.
    """

    def prune(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> bool:
        """Return whether a setting should end."""
        if (games := trial.last_step) is None:
            return False
        states = TrialState.COMPLETE, TrialState.PRUNED
        scores = [other.intermediate_values[games] for other in study.get_trials(deepcopy=False, states=states)
                  if games in other.intermediate_values]
        return len(scores) >= FREE_TRIALS and trial.intermediate_values[games] < statistics.median(scores)


def make_pruner(config: TuneConfig) -> optuna.pruners.BasePruner:
    """Return what ends hopeless settings early."""
    if config.pruner == "halving":
        return optuna.pruners.SuccessiveHalvingPruner(min_resource=config.batch, reduction_factor=HALVING)
    if config.pruner == "median":
        return MedianPruner()
    return optuna.pruners.NopPruner()


def open_study(config: TuneConfig) -> optuna.Study:
    """Return the study of a directory, a new one where there is none; raises MatchError where it is of another kind."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = config.match.directory / STUDY_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        url = URL.create("sqlite", database=str(path.absolute()))  # there may be ? and % in it
        study = optuna.create_study(
            study_name="tune", storage=url.render_as_string(), direction="maximize", load_if_exists=True,
            pruner=make_pruner(config))
    except Exception as error:  # of SQLAlchemy, which has dozens
        raise MatchError(f"cannot use the study {path}: {' '.join(str(error).split())[:200]}") from None
    study.sampler = optuna.samplers.TPESampler(n_startup_trials=RANDOM_TRIALS,
                                               seed=config.match.seed + len(study.trials))
    fingerprint = json.loads(json.dumps(config.fingerprint()))
    if OPTIONS not in study.user_attrs:
        study.set_user_attr(OPTIONS, fingerprint)
    known = study.user_attrs[OPTIONS]
    for name in {**known, **fingerprint}:
        if known.get(name) != fingerprint.get(name):
            raise MatchError(f"{path.parent} holds a study with {name} {known.get(name)}, not {fingerprint.get(name)}: "
                             "use the same options or another --dir")
    return study


@contextmanager
def tell_disk_failures(path: Path) -> Iterator[None]:
    """Turn what Optuna and SQLAlchemy raise where the study's file cannot be written, or read, into a ProgramError."""
    try:
        yield
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        cause = error.__cause__ or error
        reason = getattr(cause, "orig", None) or cause
        if not isinstance(reason, sqlite3.OperationalError):  # damaged: the next run would meet it, too
            raise ProgramError(f"cannot use the study {path}: {reason}; the games are kept", EXIT_FAILED) from error
        raise ProgramError(f"cannot write the study {path}: {reason}; the games are kept, the same command goes on",
                           EXIT_FAILED) from error


def repeat_broken_trials(study: optuna.Study) -> None:
    """Put settings whose games were interrupted first in line; their games are kept."""
    for trial in study.get_trials(states=[TrialState.RUNNING]):
        study.tell(trial.number, state=TrialState.FAIL)
        if trial.params:
            study.enqueue_trial(trial.params)


def try_setting(study: optuna.Study, config: TuneConfig, play: PlayGames) -> None:
    """Play the games of the next setting, a batch at a time, until they are over or the pruner has seen enough."""
    trial = study.ask()
    values = {tunable.name: tunable.suggest(trial) for tunable in config.tunables}
    command = fill(config.match.first, values)
    folder = config.match.directory / hashlib.sha256(command.encode()).hexdigest()[:12]
    for done in range(config.batch, config.match.games + config.batch, config.batch):
        games = min(done, config.match.games)
        standing = play(replace(config.match, first=command, games=games, directory=folder))
        trial.set_user_attr(STANDING, list(standing))
        trial.report(standing.score, games)
        if games < config.match.games and trial.should_prune():
            study.tell(trial, state=TrialState.PRUNED)
            break
    else:
        study.tell(trial, standing.score)
    print_out(f"[{trial.number + 1}/{config.trials}] {format_values(trial.params)}: {standing.describe()}")


def run_study(config: TuneConfig, play: PlayGames = play_games) -> optuna.Study:
    """Try settings until there are as many as asked for; raises MatchError and KeyboardInterrupt as a match does."""
    taken = ProgramError(f"another tune.py is at work in {config.match.directory}")
    folder = config.match.directory
    with hold_lock(folder / LOCK_FILE, taken), tell_disk_failures(folder / STUDY_FILE):
        study = open_study(config)
        repeat_broken_trials(study)
        failed = 0  # settings in a row
        while len(judged_trials(study)) < config.trials:
            try:
                try_setting(study, config, play)
                failed = 0
            except MatchError as error:
                failed += 1
                give_up_setting(study, error)
                if failed == MOST_FAILED:
                    raise
    return study


def give_up_setting(study: optuna.Study, error: MatchError) -> None:
    """Leave out the setting whose games cannot be played, as an engine may refuse a value, and say so."""
    for trial in study.get_trials(states=[TrialState.RUNNING]):
        study.tell(trial.number, state=TrialState.FAIL)
        print_err(f"tune.py: setting {format_values(trial.params)} is left out: {error}")


def judged_trials(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """Return the settings whose games are over, pruned ones among them."""
    return study.get_trials(states=[TrialState.COMPLETE, TrialState.PRUNED])


def format_values(params: dict[str, Any]) -> str:
    """Return a setting as text."""
    return ", ".join(f"{name} {show(value)}" for name, value in params.items())


def format_study(study: optuna.Study) -> str:
    """Return the table of all settings: those with all their games first, the best on top."""
    trials = judged_trials(study)
    trials.sort(key=lambda trial: (trial.state != TrialState.COMPLETE, -standing_of(trial).score))
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    rows = [["trial", *names, "score, 95 % interval", ""]]
    for trial in trials:
        ended = "" if trial.state == TrialState.COMPLETE else "ended early"
        values = [show(trial.params[name]) for name in names]
        rows.append([str(trial.number + 1), *values, standing_of(trial).describe(), ended])
    return "\n".join(align(rows, left=len(rows[0])))


def standing_of(trial: optuna.trial.FrozenTrial) -> Standing:
    """Return what a setting has scored."""
    return Standing(*trial.user_attrs[STANDING])
