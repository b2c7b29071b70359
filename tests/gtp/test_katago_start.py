"""KataGo's command lines, as programs start that engine."""
from __future__ import annotations

from pathlib import Path

import pytest

import main
from engine.options import EngineOptions
from gtp.katago_start import NO_RESIGNING, StartError, translate_arguments

KNOWN = {str(param.name) for param in main.main.params}
CONFIG = """# KataGo's example
logDir = gtp_logs
maxVisits = 500   # a comment
ponderingEnabled = false
# maxTime = 10
resignThreshold=-0.8
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "gtp_example.cfg"
    path.write_text(CONFIG)
    return str(path)


def test_own_options_stay_as_they_are():
    for arguments in ([], ["--visits", "5"], ["--model", "gtp"]):
        assert translate_arguments(arguments, KNOWN) == (arguments, [])


def test_gtp_with_a_configuration(config: str):
    arguments, notes = translate_arguments(["gtp", "-model", "m.bin", "-config", config], KNOWN)
    assert arguments == ["--analysis-json", "false", "--model", "m.bin", "--visits", "500", "--ponder", "False",
                         "--resign-threshold", "0.1"]
    assert notes == [f"Note: no effect here: logDir of {config}"]


def test_analysis_as_katrain_starts_it(config: str):
    arguments, notes = translate_arguments(
        ["analysis", "-model", "m.bin", "-config", config, "-analysis-threads", "12", "-override-config",
         "homeDataDir=/tmp,maxTime=2.5", "-quit-without-waiting", "--size", "9", "-override-version", "1.2"], KNOWN)
    assert arguments[:2] == ["--analysis-json", "true"]
    assert arguments[-6:] == ["--const-time", "2.5", "--size", "9", "--override-version", "1.2"]
    assert [note.rpartition(": ")[2] for note in notes] == [
        f"logDir of {config}", "-analysis-threads 12", "homeDataDir of -override-config", "-quit-without-waiting"]


@pytest.mark.parametrize(("lines", "override", "options"), [
    ("resignThreshold = -0.5\nallowResignation = false", "", NO_RESIGNING),
    ("allowResignation = false\nresignThreshold = -0.5", "", NO_RESIGNING),
    ("resignThreshold = -0.5", "allowResignation=false", NO_RESIGNING),
    ("allowResignation = false", "resignThreshold=-0.5", NO_RESIGNING),
    ("allowResignation = false\nresignThreshold = -0.5", "allowResignation=true", ()),
    ("allowResignation = true\nresignThreshold = -0.5", "", ()),
])
def test_whether_to_resign(tmp_path: Path, lines: str, override: str, options: tuple[str, ...]):
    """The two settings are independent: their order does not count."""
    (tmp_path / "x.cfg").write_text(f"{lines}\n")
    arguments, notes = translate_arguments(
        ["gtp", "-config", str(tmp_path / "x.cfg"), "-override-config", override], KNOWN)
    assert arguments == ["--analysis-json", "false", "--resign-threshold", "0.25", *options] and not notes


def test_what_the_command_line_says_itself_comes_last(tmp_path: Path):
    (tmp_path / "x.cfg").write_text("allowResignation = false\n")
    arguments, _ = translate_arguments(["gtp", "-config", str(tmp_path / "x.cfg"), "--resign-threshold", "0.1"], KNOWN)
    assert arguments[-4:] == [*NO_RESIGNING, "--resign-threshold", "0.1"]


def test_a_negative_number_is_the_value_of_an_option():
    arguments, notes = translate_arguments(["gtp", "--komi", "-5.5", "-model", "m.bin"], KNOWN)
    assert arguments[2:4] == ["--komi", "-5.5"] and arguments[4:6] == ["--model", "m.bin"] and not notes


def test_the_translation_is_understood_by_the_program(config: str):
    arguments, _ = translate_arguments(["gtp", "-config", config], KNOWN)
    values = main.main.make_context("main.py", arguments).params
    assert (values["visits"], values["ponder"], values["resign_threshold"]) == (500, False, 0.1)
    assert {*values} - {"analysis_json", "doctor", "animation_pv_wait", "animation_move_wait"} <= {
        *EngineOptions.__dataclass_fields__}


@pytest.mark.parametrize("arguments, message", [
    (["gtp", "-model"], "-model needs a value"), (["gtp", "-config", "no/such.cfg"], "no/such.cfg"),
    (["gtp", "-override-config", "maxVisits=many"], "maxVisits = many of -override-config"),
])
def test_what_cannot_be_translated_is_one_line(arguments: list[str], message: str):
    with pytest.raises(StartError, match=message):
        translate_arguments(arguments, KNOWN)


def test_the_perspective_of_the_analysis_engine_is_taken_over_in_its_mode_alone(tmp_path: Path):
    (tmp_path / "x.cfg").write_text("reportAnalysisWinratesAs = SIDETOMOVE\n")
    config = ["-config", str(tmp_path / "x.cfg")]
    arguments, notes = translate_arguments(["analysis", *config], KNOWN)
    assert arguments == ["--analysis-json", "true", "--winrates-as", "SIDETOMOVE"] and not notes
    arguments, notes = translate_arguments(["gtp", *config], KNOWN)
    assert arguments == ["--analysis-json", "false"] and "reportAnalysisWinratesAs" in notes[0]
