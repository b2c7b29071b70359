"""Tuning: what may vary is read strictly, good settings are found, bad ones end early, and a study goes on."""
from __future__ import annotations

import importlib.util
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.exit_status import ProgramError
from common.lock_file import take_lock
from tests.marks import unix_only
from tests.tools.in_process import run_in_process
from tools.matchlib.config import MatchConfig
from tools.matchlib.errors import MatchError
from tools.tune import main
from tools.tunelib.space import check_space, fill, read_range, read_words

HAS_OPTUNA = importlib.util.find_spec("optuna") is not None
TRIALS = 7
needs_optuna = pytest.mark.skipif(not HAS_OPTUNA, reason="Optuna is not installed")


def tune(tmp_path: Path, *options: str) -> Any:
    """Run the program."""
    return run_in_process(main, "--dir", str(tmp_path), "--second", "python", *options)


@pytest.mark.parametrize(("options", "complaint"), [
    (["--first", "main.py"], "nothing varies"),
    (["--first", "main.py {c}", "--float", "c:1"], "c:1 is not NAME:LOW:HIGH"),
    (["--first", "main.py {c}", "--float", "c:2:1"], "c:2:1: the range must go up"),
    (["--first", "main.py {c}", "--float", "c:0:nan"], "c:0:nan: the range must go up"),
    (["--first", "main.py {c}", "--float", "c:-1e308:1e308"], "c:-1e308:1e308: the range must go up"),
    (["--first", "main.py {c}", "--float", "c:0:much"], "0 and much must be numbers"),
    (["--first", "main.py {c}", "--float", "c:0:1:log"], "must begin above 0"),
    (["--first", "main.py {c}", "--int", "c:0:1.5"], "whole numbers"),
    (["--first", "main.py {c}", "--choice", "c:one"], "two different words"),
    (["--first", "main.py", "--float", "c:0:1"], "c has no place in --first"),
    (["--first", "main.py {c} {d}", "--float", "c:0:1"], "what may stand at {d}"),
    (["--first", "main.py {c}", "--float", "c:0:1", "--int", "c:0:1"], "c is given twice"),
    (["--first", "main.py {c}", "--float", "c:0:1", "--batch", "5"], "even"),
    (["--first", "no-such-engine {c}", "--float", "c:0:1"], "command not found: no-such-engine"),
])
@needs_optuna
def test_a_bad_option_is_one_line(tmp_path: Path, options: list[str], complaint: str) -> None:
    done = tune(tmp_path, *options)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("tune.py: ") and complaint in done.stderr


def test_without_optuna_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = tune(tmp_path, "--first", "main.py {c}", "--float", "c:0:1")
    assert done.returncode == 2 and done.stderr == (
        "tune.py: Optuna is not installed: pip install '.[tune]', or pip install optuna\n")


def test_values_come_to_their_places() -> None:
    tunables = [read_range("c:0.1:10:log", False), read_range("n:1:4", True), read_words("word:yes,no")]
    check_space(tunables, "main.py --c {c} --n={n} {word}")
    assert [tunable.describe() for tunable in tunables] == ["c:0.1:10:log", "n:1:4:whole", "word:yes,no"]
    ranges = [read_range(text, True).describe() for text in ("n:1:1000001", "n:1:1000002")]
    assert ranges == ["n:1:1000001:whole", "n:1:1000002:whole"], "a study of another range is another study"
    assert read_range("n:1:1000000", True).describe() == "n:1:1e+06:whole", "as studies of earlier versions have it"
    assert fill("main.py --c {c} --n={n} {word}", {"c": "0.5", "n": "2", "word": "no"}) == "main.py --c 0.5 --n=2 no"


@needs_optuna
def test_a_setting_that_an_engine_refuses_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    from tools.tunelib.study import MOST_FAILED, Standing, TuneConfig, judged_trials, run_study

    def play(config: MatchConfig) -> Standing:
        """Take whole numbers below 4 alone."""
        if int(config.first.split()[1]) > most:
            raise MatchError(f"{config.first}: ended at 'list_commands'")
        return Standing(1, 0, 1)

    most = 3
    config = TuneConfig(MatchConfig("main.py {n}", "other", tmp_path, games=2), [read_range("n:0:6", True)], 6, batch=2)
    study = run_study(config, play)
    assert len(judged_trials(study)) == 6 and all(trial.params["n"] <= 3 for trial in judged_trials(study))
    said = capsys.readouterr().err.splitlines()
    assert said and all("is left out: main.py " in line for line in said)
    most = -1
    with pytest.raises(MatchError, match="ended at"):
        run_study(replace(config, trials=20), play)
    assert len(capsys.readouterr().err.splitlines()) == MOST_FAILED


@needs_optuna
def test_a_study_lies_in_its_folder_whatever_that_is_called(tmp_path: Path) -> None:
    from tools.tunelib.study import LOCK_FILE, STUDY_FILE, Standing, TuneConfig, run_study

    for name in ("50%25", "lead?=1", "lead?=2"):
        match = MatchConfig("main.py {n}", "other", tmp_path / name, games=2)
        study = run_study(TuneConfig(match, [read_range("n:0:6", True)], 1, batch=2), lambda _: Standing(1, 0, 1))
        assert len(study.trials) == 1
        assert {path.name for path in match.directory.iterdir()} == {STUDY_FILE, LOCK_FILE}


@unix_only
@needs_optuna
def test_a_full_disk_is_one_line_and_the_study_goes_on(tmp_path: Path) -> None:
    """What cannot be written ended with three tracebacks of SQLAlchemy's."""
    import resource

    from tools.tunelib.study import Standing, TuneConfig, judged_trials, run_study
    match = MatchConfig(first="main.py {n}", second="gnugo", games=2, directory=tmp_path)
    config = TuneConfig(match, [read_range("n:0:6", True)], 2, batch=2)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    asked = 0

    def play(_: MatchConfig) -> Standing:
        nonlocal asked
        asked += 1
        if asked == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, old[1]))
        return Standing(1, 0, 1)

    try:
        with pytest.raises(ProgramError, match=r"cannot write the study .*study\.db: .*; the games are kept") as failed:
            run_study(config, play)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert failed.value.status == 1 and "\n" not in str(failed.value)
    assert len(judged_trials(run_study(config, play))) == 2


@unix_only
@needs_optuna
def test_a_study_is_not_begun_while_another_run_may_begin_it(tmp_path: Path) -> None:
    from tools.tunelib.study import LOCK_FILE, STUDY_FILE, Standing, TuneConfig, run_study

    config = TuneConfig(MatchConfig("main.py {n}", "other", tmp_path, games=2), [read_range("n:0:6", True)], 1, batch=2)
    lock = take_lock(tmp_path / LOCK_FILE)
    assert lock is not None
    with lock, pytest.raises(ProgramError, match="another tune.py is at work"):
        run_study(config, lambda _: Standing(1, 0, 1))
    assert not (tmp_path / STUDY_FILE).exists()


@pytest.mark.slow
@needs_optuna
def test_good_settings_are_found_bad_ones_end_early_and_a_study_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    from tools.tunelib.study import Standing, TuneConfig, format_study, judged_trials, run_study

    played: Counter[Path] = Counter()

    def play(config: MatchConfig) -> Standing:
        """Win the more games the nearer the value is to 3; the fifth is interrupted."""
        if len(played) == 4 and not stopped:
            stopped.append(config.first)
            raise KeyboardInterrupt
        played[config.directory] = max(played[config.directory], config.games)
        wins = round(config.games * max(0.0, 1.0 - abs(float(config.first.split()[1]) - 3.0) / 5.0))
        return Standing(wins, 0, config.games - wins)

    def config(trials: int, second: str = "other") -> TuneConfig:
        match = MatchConfig("main.py {c}", second, tmp_path, games=40)
        return TuneConfig(match, [read_range("c:0:10", False)], trials, batch=20)

    stopped: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        run_study(config(TRIALS), play)
    with pytest.raises(MatchError, match="holds a study with second other, not another"):
        run_study(config(TRIALS, "another"), play)
    study = run_study(config(TRIALS), play)
    commands = [line.split("] c ")[1].split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert stopped[0].split()[1] in commands, "the interrupted setting is tried again"
    assert len(judged_trials(study)) == TRIALS == len(commands)
    title, best, *others = format_study(study).splitlines()
    assert title.split()[:2] == ["trial", "c"] and len(others) == TRIALS - 1
    scores = [float(row.split()[2].rstrip("%")) for row in (best, *others) if not row.endswith("ended early")]
    assert 1 < len(scores) < TRIALS and scores == sorted(scores, reverse=True)
    assert "of 40 games" in best and set(played.values()) >= {20, 40}
    assert any(row.endswith("ended early") and "of 20 games" in row for row in others)


@needs_optuna
def test_a_lucky_first_batch_does_not_save_a_setting() -> None:
    import optuna

    from tools.tunelib.study import MedianPruner
    study = optuna.create_study(direction="maximize", pruner=MedianPruner())

    def play(scores: list[float]) -> int:
        """Return how many batches are played."""
        trial = study.ask()
        for number, score in enumerate(scores, start=1):
            trial.report(score, 10 * number)
            if trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                return number
        study.tell(trial, scores[-1])
        return len(scores)

    assert [play([0.5, 0.5, 0.5]) for _ in range(5)] == [3] * 5
    assert play([0.6, 0.35, 0.3]) == 2 and play([0.45, 0.9, 0.9]) == 1 and play([0.5, 0.5, 0.5]) == 3
