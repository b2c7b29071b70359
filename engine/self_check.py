"""The doctor's measurements, and short sessions with the program as a controller would hold them."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from engine.finding import FAIL, OK, Finding, Patient
from engine.options import EngineOptions
from program import PROGRAM_NAME, PROTOCOL_VERSION

if TYPE_CHECKING:
    from nn.inference.evaluator import Evaluator

BATCH_SIZES = (1, 8, 64)
# Length of each measurement.
SECONDS = 0.5
# Longest time for a session: the first one compiles.
SESSION_SECONDS = 600
SESSION_VISITS = 8
REPORT = "this is a defect of the program: please report it with this line"

# Commands, and a pattern for the reply to each.
SESSION = (
    ("1 protocol_version", f"=1 {PROTOCOL_VERSION}"),
    ("2 name", f"=2 {re.escape(PROGRAM_NAME)}"),
    ("3 boardsize {size}", "=3 "),
    ("4 clear_board", "=4 "),
    ("5 komi 7", "=5 "),
    ("6 play black B2", "=6 "),
    ("7 play white B2", r"\?7 illegal move"),
    ("8 genmove white", "=8 ([A-HJ-T][0-9]{1,2}|pass)"),
    ("9 final_score", r"=9 ([BW]\+[0-9.]+|0)"),
    ("10 no_such_command", r"\?10 unknown command"),
    ("11 quit", "=11 "),
)
JSON_FIELDS = ("id", "turnNumber", "isDuringSearch", "moveInfos", "rootInfo", "ownership", "policy")


def find_evaluator(options: EngineOptions) -> "Evaluator":
    """Return the network; raises ModelFileError. A GPU that is missing was reported before."""
    from nn.device import describe_machine
    from nn.inference.evaluator import load_evaluator

    use_gpu = options.use_gpu and describe_machine().gpu is not None
    return load_evaluator(options.model, options.size, use_gpu)


def check_network_speed(patient: Patient) -> Iterator[Finding]:
    """Tell how many positions a second the network evaluates."""
    import numpy as np

    from board.go_board import GoBoard
    from nn.feature import encode_board

    evaluator = find_evaluator(patient.options)
    board = GoBoard(evaluator.board_size)
    rates = []
    for batch_size in BATCH_SIZES:
        planes = np.stack([encode_board(board, board.get_to_move(), evaluator.plane_set)] * batch_size)
        evaluator(planes)
        begin, calls = time.perf_counter(), 0
        while calls == 0 or time.perf_counter() - begin < SECONDS:
            evaluator(planes)
            calls += 1
        rates.append(f"{calls * batch_size / (time.perf_counter() - begin):,.0f}")
    yield Finding(OK, "network speed", f"{' / '.join(rates)} positions/s in batches of "
                                       f"{' / '.join(map(str, BATCH_SIZES))}")


def check_search_speed(patient: Patient) -> Iterator[Finding]:
    """Tell how many visits a second a search makes."""
    from board.go_board import GoBoard
    from mcts.params import SearchLimit
    from mcts.time_manager import UNLIMITED_VISITS
    from mcts.tree import MCTSTree

    evaluator = find_evaluator(patient.options)
    params = patient.options.search_params()
    board = GoBoard(evaluator.board_size)
    tree = MCTSTree(evaluator, board.board_size, params)
    tree.search(board, board.get_to_move(), SearchLimit(2 * params.batch_size, strict=True))  # compiles
    tree.clear()
    result = tree.search(board, board.get_to_move(), SearchLimit(UNLIMITED_VISITS, 2 * SECONDS, strict=True))
    yield Finding(OK, "search speed", f"{result.visits / result.seconds:,.0f} visits/s in batches of "
                                      f"{params.batch_size}")


def run_program(patient: Patient, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the program over an input; raises subprocess.TimeoutExpired."""
    options = patient.options
    command = [sys.executable, str(patient.program), "--model", options.model, "--visits", str(SESSION_VISITS),
               "--resign-threshold", "0", "--use-gpu", str(options.use_gpu).lower(), *more]
    if options.size is not None:
        command += ["--size", str(options.size)]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", errors="replace",
                          timeout=SESSION_SECONDS, check=False)


def describe_trouble(result: subprocess.CompletedProcess[str]) -> str:
    """Return the exit status and the last line that the program wrote to stderr."""
    lines = result.stderr.strip().splitlines() or ["nothing on stderr"]
    return f"exit status {result.returncode}, {lines[-1]}"


def check_gtp(patient: Patient) -> Iterator[Finding]:
    """Hold a session in GTP, and tell the first reply that is wrong."""
    size = find_evaluator(patient.options).board_size
    commands = [command.format(size=size) for command, _ in SESSION]
    begin = time.perf_counter()
    try:
        result = run_program(patient, "\n".join(commands) + "\n")
    except subprocess.TimeoutExpired:
        yield Finding(FAIL, "gtp", f"a session did not end within {SESSION_SECONDS} s; {REPORT}")
        return
    replies = result.stdout.split("\n\n")
    for number, (command, (_, pattern)) in enumerate(zip(commands, SESSION, strict=True)):
        reply = replies[number] if number < len(replies) - 1 else ""
        if not re.fullmatch(pattern, reply):
            yield Finding(FAIL, "gtp", f"'{command}' was answered {reply!r} ({describe_trouble(result)}); {REPORT}")
            return
    if result.returncode != 0 or replies[len(SESSION):] != [""]:
        yield Finding(FAIL, "gtp", f"it did not end with its last reply ({describe_trouble(result)}); {REPORT}")
        return
    yield Finding(OK, "gtp", f"{len(SESSION)} commands answered as they should be, with start and end in "
                             f"{time.perf_counter() - begin:.1f} s")


def check_json(patient: Patient) -> Iterator[Finding]:
    """Ask for one analysis in KataGo's JSON, and tell what is missing in the answer."""
    size = find_evaluator(patient.options).board_size
    query = {"id": "doctor", "rules": "chinese", "komi": 7, "boardXSize": size, "boardYSize": size, "moves": [],
             "maxVisits": SESSION_VISITS, "includeOwnership": True, "includePolicy": True}
    try:
        result = run_program(patient, json.dumps(query) + "\n", "--analysis-json", "true")
    except subprocess.TimeoutExpired:
        yield Finding(FAIL, "analysis json", f"a query was not answered within {SESSION_SECONDS} s; {REPORT}")
        return
    try:
        answer: Any = json.loads(result.stdout)
    except ValueError:
        answer = None
    missing = [name for name in JSON_FIELDS if not isinstance(answer, dict) or name not in answer]
    if missing or result.returncode != 0:
        yield Finding(FAIL, "analysis json", f"the answer to a query is {result.stdout[:60]!r} "
                                             f"({describe_trouble(result)}); {REPORT}")
        return
    yield Finding(OK, "analysis json", f"a query was answered with {len(answer['moveInfos'])} moves")
