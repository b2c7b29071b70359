"""Random sessions, valid and not: one well-formed reply per command, no state change on failure, memory that stays."""

import gc
import os
import re
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.gtp.players import Controller

SIZE = 3
# Sessions of about ten lines; more for a longer fuzz (HIYOKO_FUZZ_SESSIONS=10000).
EXAMPLES = int(os.environ.get("HIYOKO_FUZZ_SESSIONS", "60"))
COLORS = ("b", "w", "B", "White", "black", "green", "")
VERTICES = ("A1", "b2", "C3", "a3", "pass", "PASS", "resign", "I1", "J9", "Z99", "A0", "", "\u00e9")
NUMBERS = ("0", "1", "2", "7", "-1", "3.5", "1e9", "nan", "inf", "99999999999", "x", "")
WORDS = ("true", "false", "ownership", "rootInfo", "interval", "minmoves", "avoid", "allow", "A1,B2", "alive", "dead",
         "fischer", "byoyomi", "absolute", "chinese", "maxVisits", "name", "value", "Visits", "none",
         "(;SZ[3]B[aa];W[bb])", '{"ko":"SIMPLE"}', "ko", "POSITIONAL")
# Commands that end the session, write files or take their time by design.
LEFT_OUT = {"quit", "printsgf", "kata-set-param", "lz-setoption", "search_params"}
FRAME = re.compile(r"([=?])(\d*)(?: [^\n]*|)\n(?:[^\n]+\n)*\n")

arguments = st.lists(st.one_of(*(st.sampled_from(kind) for kind in (COLORS, VERTICES, NUMBERS, WORDS))), max_size=6)
moves = st.builds(lambda color, vertex: f"play {color} {vertex}", st.sampled_from(("b", "w")),
                  st.sampled_from(("A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3", "pass")))
garbage = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30)


def new_controller() -> Controller:
    controller = Controller(visits=2, size=SIZE, tree_size=200)
    controller.engine.get_dead_stones = lambda: []  # type: ignore[method-assign]  # random games take long
    return controller


NAMES = sorted(set(Controller(visits=2, size=SIZE).ask("list_commands").split("\n")) - LEFT_OUT)
commands = st.builds(lambda number, name, words: f"{number} {name} {' '.join(words)}",
                     st.sampled_from(("", "1", "77")), st.sampled_from(NAMES), arguments)
sessions = st.lists(st.one_of(moves, commands, garbage), min_size=1, max_size=25)


def check_line(gtp: Controller, line: str) -> None:
    """Send a line; assert what holds for every reply."""
    before = gtp.state()
    reply = gtp.raw(line)
    if reply is None:
        return
    assert FRAME.fullmatch(reply), (line, reply)
    assert "internal error" not in reply and "Traceback" not in reply, (line, reply)
    # Control characters are dropped, and nothing but blanks and tabs separates words.
    words = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line).replace("\t", " ").split(" ")
    words = [word for word in words if word]
    if words and words[0].isdecimal() and len(words) > 1:
        assert reply[1:].startswith(words[0]), (line, reply)
    if reply.startswith("?"):
        assert reply.count("\n") == 2
        assert gtp.state() == before, (line, reply)
    assert not any(part.startswith(("=", "?")) for part in reply.split("\n")[1:]), (line, reply)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions)
def test_any_session_gets_one_well_formed_reply_per_command(lines: list[str]):
    gtp = new_controller()
    for line in lines:
        check_line(gtp, line)
    assert gtp.ask("name")


@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(st.binary(max_size=40), moves.map(str.encode), commands.map(lambda line: line.encode())),
                max_size=12), st.sampled_from((b"\n", b"\r\n")))
def test_any_bytes_get_frames_through_the_whole_loop(lines: list[bytes], newline: bytes):
    gtp = new_controller()
    status, output = gtp.serve(*(line.replace(b"quit", b"") + newline for line in lines), b"4242 name" + newline)
    assert status == 0
    frames = output.split("\n\n")
    assert frames[-1] == "" and frames[-2].startswith("=4242 ")
    assert all(frame.startswith(("=", "?")) for frame in frames[:-1])


SOAK_LINES = (
    "clear_board", "boardsize 3", "komi 0.5", "play b B2", "play w A1", "1 genmove b", "undo", "kata-analyze b 1",
    "lz-genmove_analyze w 1 maxmoves 1", "cgos-genmove_analyze b", "showboard", "play w B2", "foo", "time_left b 10 0",
    "time_settings 0 1 0", "kata-search b", "final_status_list dead", "gogui-play_sequence b A3 w C3", "gg-undo 1",
    "known_command x", "set_position b A1 w C3", "kata-get-rules", "printsgf", "loadsgf nothing.sgf", "\t# comment",
)


@pytest.mark.slow
def test_two_thousand_commands_leave_memory_flat():
    gtp = new_controller()

    def run(rounds: int) -> int:
        for _ in range(rounds):
            for line in SOAK_LINES:
                gtp.raw(line)
            gtp.replies.clear()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        begin = run(20)
        end = run(2_000 // len(SOAK_LINES))
    finally:
        tracemalloc.stop()
    assert end - begin < 100_000  # bytes; 20,102 to 52,322 measured, and some hundreds in the next 2,000 commands
