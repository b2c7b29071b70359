"""What the doctor asks about the protocols: short sessions with the program as a controller would hold them."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from engine.finding import FAIL, OK, Finding, Patient
from engine.speed_check import find_evaluator
from program import PROGRAM_NAME, PROTOCOL_VERSION

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


def run_program(patient: Patient, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the program over an input; raises subprocess.TimeoutExpired."""
    options = patient.options
    command = [sys.executable, str(patient.program), "--model", options.model, "--visits", str(SESSION_VISITS),
               "--resign-threshold", "0", "--use-gpu", str(options.use_gpu).lower(), *more]
    if options.gpus:
        command += ["--gpus", ",".join(map(str, options.gpus))]
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
