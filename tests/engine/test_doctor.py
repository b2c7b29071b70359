"""The doctor: healthy and sick states, each with what to type."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common import kernel_cache
from engine import doctor
from engine.finding import FAIL, OK, WARN, Finding, Patient
from engine.options import EngineOptions
from engine.speed_check import check_search_speed
from tests.gtp.players import ROOT, SLOW_START

LINE = re.compile(r"(ok  |warn|FAIL)  [a-z ]+\S.*")
BUNDLED = str(ROOT / "model" / "dual-net.bin")


def make_patient(**options: Any) -> Patient:
    given: dict[str, Any] = {"model": "none", "size": 5} | options
    return Patient(EngineOptions(**given), ROOT / "main.py")


def only(findings: Iterator[Finding]) -> Finding:
    """Return the only finding."""
    (finding,) = findings
    assert LINE.fullmatch(str(finding))
    return finding


def run_doctor(*options: str, **environment: str) -> tuple[int, list[str], str]:
    """Return exit status, lines and stderr of the doctor."""
    result = subprocess.run([sys.executable, str(ROOT / "main.py"), "--doctor", "true", *options], text=True,
                            capture_output=True, timeout=SLOW_START, env={**os.environ, **environment}, check=False)
    return result.returncode, result.stdout.splitlines(), result.stderr


@pytest.mark.slow
def test_a_healthy_machine():
    status, lines, err = run_doctor("--model", "none", "--size", "5")
    assert (status, err) == (0, "")
    assert all(LINE.fullmatch(line) for line in lines), lines
    names = [line[6:20].strip() for line in lines]
    assert names == ["python", "torch", "numpy", "numba", "click", "sgfmill", "tqdm", "memory", "processor",
                     "kernel cache", "device", "model", "board sizes", "network speed", "search speed", "gtp",
                     "analysis json"]
    assert not any(line.startswith(FAIL) for line in lines)
    speeds = [line for line in lines if "speed" in line]
    assert all(int(number.replace(",", "")) > 0 for line in speeds for number in re.findall(r"[0-9,]+(?= [/pv])", line))


@pytest.mark.slow
@pytest.mark.parametrize("packages", [["torch"], ["numba", "sgfmill"]])
def test_packages_that_cannot_be_imported(tmp_path: Path, packages: list[str]):
    for package in packages:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise ImportError('libfoo.so is\\nmissing')\n")
    status, lines, err = run_doctor(PYTHONPATH=str(tmp_path))
    assert status == 1 and "Traceback" not in err
    failures = [line for line in lines if line.startswith(FAIL)]
    assert [line.split()[1] for line in failures] == packages
    assert all("libfoo.so is missing" in line and "requirements.txt" in line for line in failures)
    assert lines[-1].startswith(f"{len(packages)} to mend")


@pytest.mark.parametrize("package", ["click", "numpy"])
def test_a_package_without_which_nothing_starts(tmp_path: Path, package: str):
    (tmp_path / f"{package}.py").write_text(f'raise ModuleNotFoundError("No module named {package!r}")\n')
    status, lines, err = run_doctor(PYTHONPATH=str(tmp_path))
    assert (status, lines) == (1, []) and err.count("\n") == 1
    assert err.startswith(f"main.py: No module named '{package}'") and "pip install -r" in err


@pytest.mark.slow
def test_a_model_that_is_not_there_and_a_cache_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").touch()
    status, lines, err = run_doctor("--model", "nothing.bin", XDG_CACHE_HOME=str(tmp_path / "file"), NUMBA_CACHE_DIR="")
    assert status == 1 and "Traceback" not in err
    (failure,) = (line for line in lines if line.startswith(FAIL))
    assert "nothing.bin" in failure and "--model" in failure and "git checkout" in failure
    (warning,) = (line for line in lines if line.startswith(WARN) and "kernel cache" in line)
    assert "cannot be written" in warning and "XDG_CACHE_HOME" in warning


@pytest.mark.parametrize("content, reason", [(b"", "damaged"), (b"PK\x03\x04 cut off", "damaged")])
def test_a_damaged_model(tmp_path: Path, content: bytes, reason: str):
    path = tmp_path / "broken.bin"
    path.write_bytes(content)
    finding = only(doctor.check_model(make_patient(model=str(path), size=None)))
    assert finding.level == FAIL and str(path) in finding.text and reason in finding.text


def test_a_model_of_another_size():
    finding = only(doctor.check_model(make_patient(model=BUNDLED, size=13)))
    assert finding.level == FAIL and "--size 9" in finding.text


def test_the_bundled_model_and_random_weights():
    model, sizes = doctor.check_model(make_patient(model=BUNDLED, size=None))
    assert model.level == sizes.level == OK and "9x9" in sizes.text
    model, sizes = doctor.check_model(make_patient())
    assert (model.level, sizes.level) == (WARN, OK) and "random" in model.text


@pytest.mark.parametrize("gpu, use_gpu, level, word", [
    (None, False, OK, "CPU"), (None, True, FAIL, "no CUDA device"), ("Tesla", True, OK, "Tesla"),
    ("Tesla", False, OK, "--use-gpu true"),
])
def test_devices(monkeypatch: pytest.MonkeyPatch, gpu: str | None, use_gpu: bool, level: str, word: str):
    import nn.device
    monkeypatch.setattr(nn.device, "describe_machine", lambda: nn.device.Machine(2, gpu))
    finding = only(doctor.check_device(make_patient(use_gpu=use_gpu)))
    assert finding.level == level and word in finding.text


def test_gpus_are_named_that_are_used(monkeypatch: pytest.MonkeyPatch):
    import nn.device
    monkeypatch.setattr(nn.device, "describe_machine", lambda: nn.device.Machine(2, "Tesla 0", 3))
    monkeypatch.setattr("torch.cuda.get_device_name", lambda number: f"Tesla {number}")
    for gpus, name in (((), "Tesla 0"), ((1,), "Tesla 1"), ((0, 2), "Tesla 0 and Tesla 2")):
        assert only(doctor.check_device(make_patient(use_gpu=True, gpus=gpus))).text == name


@pytest.mark.parametrize("use_gpu", [True, False])
@pytest.mark.parametrize("at", ["find_evaluator", "check_network_speed", "check_search_speed"])
def test_a_gpu_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch, at: str, use_gpu: bool):
    """It is there, but full, or taken by another program: torch says so in many lines where it is first used."""
    import nn.device

    def fail(_: object) -> None:
        raise RuntimeError("CUDA error: devices are busy\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1")

    monkeypatch.setattr(nn.device, "describe_machine", lambda: nn.device.Machine(2, "Tesla", 1))
    for name in ("check_network_speed", "check_search_speed"):
        monkeypatch.setattr(f"engine.speed_check.{name}", lambda _: iter(()))
    monkeypatch.setattr(f"engine.speed_check.{at}", fail)
    if at != "find_evaluator":
        monkeypatch.setattr(doctor, "check_model", lambda _: iter(()))
    patient = make_patient(use_gpu=use_gpu)
    *_, failure = (finding for finding in doctor.examine(patient, ()) if finding.level == FAIL)
    assert failure.name == "device" and "devices are busy" in failure.text and LINE.fullmatch(str(failure))
    assert ("leave out --use-gpu" in failure.text) == use_gpu


@pytest.mark.parametrize("free, level, word", [
    (100, FAIL, "close other programs"), (1500, WARN, "--visits"), (100_000, OK, "100,000"), (None, WARN, "not tell"),
])
def test_memory(monkeypatch: pytest.MonkeyPatch, free: int | None, level: str, word: str):
    monkeypatch.setattr(doctor, "available_memory", lambda: free)
    finding = only(doctor.check_memory(make_patient()))
    assert finding.level == level and word in finding.text


def test_memory_is_read_here():
    free = doctor.available_memory()
    assert free is None or 10 < free < 10**8


def test_a_busy_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "get_load", lambda: 1000.0)
    assert only(doctor.check_load(make_patient())).level == WARN
    monkeypatch.setattr(doctor, "get_load", lambda: None)
    assert only(doctor.check_load(make_patient())).level == OK


def test_a_container_on_a_machine_with_more_cores(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "count_usable_cores", lambda: 2)
    monkeypatch.setattr(doctor, "count_own_cores", lambda: 64)
    monkeypatch.setattr(doctor, "get_load", lambda: 20.0)
    finding = only(doctor.check_load(make_patient()))
    assert finding.level == OK and "cores: 2" in finding.text


def test_kernel_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(kernel_cache, "cache_folder", kernel_cache.cache_folder.__wrapped__)
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    assert "empty" in only(doctor.check_cache(make_patient())).text
    (tmp_path / "cache" / "kernel.nbc").touch()
    finding = only(doctor.check_cache(make_patient()))
    assert finding.level == OK and "1 compiled" in finding.text
    monkeypatch.setattr(os, "access", lambda *_: False)
    finding = only(doctor.check_cache(make_patient()))
    assert finding.level == FAIL and "unset NUMBA_CACHE_DIR" in finding.text
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    finding = only(doctor.check_cache(make_patient()))
    assert finding.level == WARN and "unset NUMBA_DISABLE_JIT" in finding.text


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(kernel_cache, "cache_folder", kernel_cache.cache_folder.__wrapped__)
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    finding = only(doctor.check_cache(make_patient()))
    assert finding.level == WARN and "home directory, so" in finding.text and "set XDG_CACHE_HOME" in finding.text


def test_advice_is_what_the_system_understands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(os, "name", "nt")
    advice = [doctor.how_to_install(tmp_path), doctor.how_to_unset("A"), doctor.how_to_own(tmp_path)]
    monkeypatch.undo()
    assert "Scripts" in advice[0] and advice[1].startswith('type: $env:A=""')
    assert not [text for text in advice for word in ("&&", "unset", "sudo") if word in text]


def test_an_old_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor.importlib.metadata, "version", lambda name: "0.59.1" if name == "numba" else "99.0")
    levels = {finding.name: finding.level for finding in doctor.check_packages(make_patient())}
    assert levels["numba"] == FAIL and {level for name, level in levels.items() if name != "numba"} == {OK}


def test_versions_are_compared_as_numbers():
    assert doctor.is_older("2.3.9+cpu", "2.4") and not doctor.is_older("2.13.0", "2.4")
    assert not doctor.is_older("2.4", "2.4") and not doctor.is_older("8.2.0rc1", "8.2")


def test_how_to_install_depends_on_where_python_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert "-m venv" in doctor.how_to_install(tmp_path)
    monkeypatch.setattr(sys, "prefix", "/elsewhere")
    assert "-m venv" not in doctor.how_to_install(tmp_path) and "pip install" in doctor.how_to_install(tmp_path)
    python = tmp_path / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    python.parent.mkdir(parents=True)
    python.touch()
    assert doctor.how_to_install(tmp_path).startswith(f"start with {python}")
    if os.name != "nt":  # there links are not everybody's to make
        (tmp_path / "link").symlink_to(tmp_path / ".venv", target_is_directory=True)
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "link"))
        assert "pip install" in doctor.how_to_install(tmp_path)


def test_the_exit_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    finding = Finding(OK, "one", "a\nb")
    monkeypatch.setattr(doctor, "examine", lambda *_: iter([finding, replace(finding, level=WARN)]))
    assert doctor.run_doctor(EngineOptions(), ROOT / "main.py") == 0
    assert capsys.readouterr().out == "ok    one            a b\nwarn  one            a b\n"
    monkeypatch.setattr(doctor, "examine", lambda *_: iter([replace(finding, level=FAIL)]))
    assert doctor.run_doctor(EngineOptions(), ROOT / "main.py") == 1


def test_files_are_found_beside_the_program_and_missed_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    patient, missing = doctor.locate_files(make_patient(value_model="model/dual-net.bin", book="README.md"))
    assert (patient.options.value_model, patient.options.book, missing) == (BUNDLED, str(ROOT / "README.md"), [])
    patient, missing = doctor.locate_files(make_patient(value_model="none.bin", book="none.txt"))
    assert [(one.level, one.name) for one in missing] == [(FAIL, "value model"), (FAIL, "book")]
    finding = only(check_search_speed(make_patient(book=str(ROOT / "README.md"))))
    assert (finding.level, finding.name) == (FAIL, "search") and "README.md" in finding.text
