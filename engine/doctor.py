"""What --doctor tells: is everything here that the engine needs, how fast is it, and what to type where it is not.

Each check is a generator of findings, one line of output each. A check whose ground is missing (torch, the model) is
left out, since the line about that says what to do first. Everything heavy is imported inside the checks.
"""

import importlib
import importlib.metadata
import os
import platform
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from common.cores import count_own_cores, count_usable_cores, get_load
from common.exit_status import EXIT_FAILED, EXIT_OK
from common.print_console import print_out
from engine.finding import FAIL, OK, WARN, Check, Finding, Patient
from engine.options import EngineOptions, find_file, find_model
from nn.model_file import ANY_SIZE, RANDOM_MODEL
from program import PROGRAM_NAME, VERSION

MEBIBYTE = 2**20
# Memory that the engine takes with the bundled model: 380 MiB were measured while it plays, 600 while it compiles.
ENGINE_MB = 700
# A load average that is higher than the number of cores by so much slows the engine down.
BUSY = 0.5
PROC_MEMORY = Path("/proc/meminfo")
# The part of the program that shows whether a package can be used, where that is not the package itself.
USERS = {"torch": "nn.device", "numba": "common.kernel"}
REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)\s*(?:>=\s*([0-9.]+))?")
NUMBER = re.compile(r"[0-9]+")
DISABLE_JIT = "NUMBA_DISABLE_JIT"


def how_to_install(folder: Path) -> str:
    """Return what to type to get the packages."""
    windows = os.name == "nt"
    python = folder / ".venv" / ("Scripts" if windows else "bin") / ("python.exe" if windows else "python")
    if python.is_file() and Path(sys.prefix).resolve() != (folder / ".venv").resolve():
        return f"start with {python} instead of {sys.executable}"
    requirements = folder / "requirements.txt"
    if sys.prefix != sys.base_prefix:
        return f"type: {sys.executable} -m pip install -r {requirements}"
    return (f"type: {sys.executable} -m venv {python.parents[1]}, then: {python} -m pip install -r {requirements}, "
            f"and start with {python}")


def how_to_unset(variable: str) -> str:
    """Return what to do about a variable of the environment."""
    return f'type: $env:{variable}="" (in cmd: set {variable}=)' if os.name == "nt" else f"type: unset {variable}"


def how_to_own(folder: Path) -> str:
    """Return what makes a folder, and the one that it lies in, the user's, and what else there is to do."""
    if os.name == "nt":
        return ""
    return f"type: sudo chown -R $USER {folder.parent} && chmod go-w {folder}, or "


def check_python(_: Patient) -> Iterator[Finding]:
    """Tell the program and the Python it runs in; one that is too old has ended the program before (common/)."""
    yield Finding(OK, "python", f"{PROGRAM_NAME} {VERSION} in Python {platform.python_version()}, {sys.executable}, "
                                f"{platform.system()} {platform.machine()}")


def read_requirements(folder: Path) -> dict[str, str]:
    """Return the packages that are needed, each with the oldest version that will do ("" for any).

    A clone names them in pyproject.toml; where the program was installed with pip, the installation does.
    """
    try:
        needed = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    except FileNotFoundError:
        needed = [text for text in importlib.metadata.requires(PROGRAM_NAME) or () if "extra ==" not in text]
    matches = (REQUIREMENT.match(text) for text in needed)
    return {match[1]: match[2] or "" for match in matches if match}


def is_older(version: str, least: str) -> bool:
    """Tell whether a version comes before another."""
    numbers, needed = ([int(number) for number in NUMBER.findall(text)[:3]] for text in (version, least))
    return numbers < needed


def check_packages(patient: Patient) -> Iterator[Finding]:
    """Tell the version of each package, or why it cannot be used."""
    for name, least in read_requirements(patient.folder).items():
        advice = how_to_install(patient.folder)
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = "of unknown version"
        try:
            importlib.import_module(USERS.get(name, name))
        except Exception as error:  # a damaged package may raise anything
            yield Finding(FAIL, name, f"cannot be imported ({type(error).__name__}: {error}); {advice}")
            continue
        if least and is_older(version, least):
            yield Finding(FAIL, name, f"{version} is older than {least}; {advice}")
        else:
            yield Finding(OK, name, version)


def available_memory() -> int | None:
    """Return the memory that a program can get, in MiB, None where the system does not tell."""
    try:
        for line in PROC_MEMORY.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MEBIBYTE
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(_: Patient) -> Iterator[Finding]:
    """Tell whether the memory suffices for the engine, and for the largest tree."""
    from mcts.params import SearchParams

    free, tree = available_memory(), SearchParams().max_memory_mb
    if free is None:
        yield Finding(WARN, "memory", f"this system does not tell what is free; {ENGINE_MB + tree:,} MiB are enough")
    elif free < ENGINE_MB:
        yield Finding(FAIL, "memory", f"{free:,} MiB are free, the engine needs {ENGINE_MB}: close other programs")
    elif free < ENGINE_MB + tree:
        yield Finding(WARN, "memory", f"{free:,} MiB are free; a long search may want {ENGINE_MB + tree:,}: "
                                      "give --visits 10000 or fewer, or close other programs")
    else:
        yield Finding(OK, "memory", f"{free:,} MiB are free")


def check_load(_: Patient) -> Iterator[Finding]:
    """Tell whether other programs leave the processor free."""
    cores, load = count_usable_cores(), get_load() or 0.0  # in a container the load is the whole machine's
    if load > count_own_cores() + BUSY:
        yield Finding(WARN, "processor", f"{cores} cores, load average {load:.1f}: other programs keep them busy, and "
                                         "the speeds below are too low; close them and ask again")
    else:
        yield Finding(OK, "processor", f"cores: {cores}, load average: {load:.1f}")


def check_cache(_: Patient) -> Iterator[Finding]:
    """Tell where compiled code is kept, and whether there is any."""
    from common.kernel_cache import cache_folder, temporary_folder, user_cache_folder

    if os.environ.get(DISABLE_JIT, "0") not in ("", "0"):
        yield Finding(WARN, "kernel cache", f"{DISABLE_JIT} is set, so nothing is compiled and all is a hundred times "
                                            f"slower; {how_to_unset(DISABLE_JIT)}")
        return
    own, folder = os.environ.get("NUMBA_CACHE_DIR"), cache_folder()
    if own and folder is None:
        yield Finding(FAIL, "kernel cache", f"{own} cannot be written; {how_to_unset('NUMBA_CACHE_DIR')}")
    elif folder is None or (not own and folder == temporary_folder()):
        try:
            base = user_cache_folder()
            why, advice = f"{base} cannot be written, or other users can write there", how_to_own(base)
        except RuntimeError as error:  # there is no home
            why, advice = str(error).rstrip("."), ""
        yield Finding(WARN, "kernel cache", f"{why}, so that each start may compile for half a minute; {advice}set "
                                            "XDG_CACHE_HOME to a folder of your own")
    else:
        count = sum(1 for _ in folder.rglob("*.nbc"))
        state = f"{count} compiled kernels" if count else "empty, the first start compiles for half a minute"
        yield Finding(OK, "kernel cache", f"{folder}: {state}")


def check_device(patient: Patient) -> Iterator[Finding]:
    """Tell what the network runs on."""
    from nn.device import describe_machine, find_missing, name_gpus

    machine = describe_machine()
    if missing := find_missing(patient.options.gpus, machine.gpus):
        yield Finding(FAIL, "device", missing)
    elif machine.gpu is not None:
        use = "" if patient.options.use_gpu else "; not used: --use-gpu true does"
        yield Finding(OK, "device", f"{name_gpus(patient.options.gpus) or machine.gpu}{use}")
    elif patient.options.use_gpu:
        yield Finding(FAIL, "device", "--use-gpu true, but torch finds no CUDA device; leave the option out, or "
                                      "install NVIDIA's driver and a torch for CUDA "
                                      "(https://pytorch.org/get-started/locally)")
    else:
        yield Finding(OK, "device", f"CPU, threads: {machine.threads}")


def check_model(patient: Patient) -> Iterator[Finding]:
    """Tell the network's shape, its number format and the board sizes that can be played."""
    from engine.speed_check import find_evaluator
    from nn.model_file import ModelFileError

    options = patient.options
    try:
        evaluator = find_evaluator(options)
    except ModelFileError as error:
        yield Finding(FAIL, "model", f"{error}, or get the bundled one back: git checkout -- model/model.bin")
        return
    if options.model == RANDOM_MODEL:
        yield Finding(WARN, "model", f"{evaluator.description} with random weights; the engine plays by playouts "
                                     "instead; leave out --model none, or give a file")
        yield Finding(OK, "board sizes", "2x2 to 19x19")
        return
    yield Finding(OK, "model", f"{evaluator.description} ({options.model})")
    sizes = [f"{size}x{size}" for size in (evaluator.sizes[0], evaluator.sizes[-1])]
    text = sizes[0] if len(evaluator.sizes) == 1 else f"{sizes[0]} to {sizes[1]}"
    others = "" if evaluator.sizes == ANY_SIZE else "; others are played by playouts"
    yield Finding(OK, "board sizes", text + others)


def locate_files(patient: Patient) -> tuple[Patient, list[Finding]]:
    """Return the patient with the paths of the files that its options name, and which of them are missing."""
    options, paths, missing = patient.options, dict[str, Any](), list[Finding]()
    try:
        paths["model"] = find_model(options.model, folder=patient.folder)
    except OSError as error:
        missing.append(Finding(FAIL, "model", f"{error}, or get the bundled one back: "
                                              "git checkout -- model/model.bin"))
    for name, path, advice in (("value_model", options.value_model, "give its path with --value-model"),
                               ("book", options.book, "tools/book.py makes one")):
        if path:
            try:
                paths[name] = find_file(path, name.replace("_", " "), advice, patient.folder)
            except FileNotFoundError as error:
                missing.append(Finding(FAIL, name.replace("_", " "), str(error)))
    return replace(patient, options=replace(options, **paths)), missing


def run_check(check: Check, patient: Patient) -> Iterator[Finding]:
    """Yield what a check of the network finds, and what torch says of a GPU that is full, taken or too old for it."""
    try:
        yield from check(patient)
    except RuntimeError as error:
        advice = "; end what else uses the GPU, or leave out --use-gpu and --gpus" if patient.options.use_gpu else ""
        yield Finding(FAIL, "device", f"the network cannot be run: {' '.join(str(error).split())[:200]}{advice}")


def examine(patient: Patient, last_checks: Sequence[Check]) -> Iterator[Finding]:
    """Yield the findings of all checks that can be made, `last_checks` where network and model are well."""
    from engine.speed_check import check_network_speed, check_search_speed

    yield from check_python(patient)
    sick = False
    for finding in check_packages(patient):
        sick = sick or finding.level == FAIL
        yield finding
    if sick:
        return
    yield from check_memory(patient)
    yield from check_load(patient)
    yield from check_cache(patient)
    device = list(check_device(patient))
    yield from device
    patient, missing = locate_files(patient)
    model = missing or list(run_check(check_model, patient))
    yield from model
    if any(finding.level == FAIL for finding in (*device, *model)):
        return
    for check in (check_network_speed, check_search_speed, *last_checks):
        yield from run_check(check, patient)


def run_doctor(options: EngineOptions, program: Path, last_checks: Sequence[Check] = ()) -> int:
    """Print a line for each finding, those of `last_checks` at the end, and return 0, or 1 if something is wrong."""
    failures = 0
    for finding in examine(Patient(options, program), last_checks):
        print_out(finding)
        failures += finding.level == FAIL
    if failures:
        print_out(f"{failures} to mend: do what the line with {FAIL} says, the first one first, and ask again.")
    return EXIT_FAILED if failures else EXIT_OK
