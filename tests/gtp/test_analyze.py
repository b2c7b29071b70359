"""Analysis commands: arguments, framing, the formats of the lines, and when they stop."""

import json
import queue
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from board.stone import Stone
from gtp.analysis_format import OWNERSHIP_LETTERS, encode_ownership
from gtp.analysis_request import KATA_FLAGS, AnalysisRequest, RequestParser
from gtp.protocol import GtpError, parse_line
from gtp.reader import InputLine, LineReader
from tests.gtp.players import SLOW_START, Controller, FakeEvaluator
from tests.mcts.evaluators import TellingEvaluator

ANALYZE = ("lz-analyze", "kata-analyze", "cgos-analyze")
GENMOVE = ("lz-genmove_analyze", "kata-genmove_analyze", "cgos-genmove_analyze", "genmove_analyze")
# Sabaki's way to find the principal variation: vertices at the end of a piece between two "info".
SABAKI_PV = re.compile(r"(pass|[A-Za-z]\d+)(\s+(pass|[A-Za-z]\d+))*\s*$")


@pytest.fixture
def gtp() -> Controller:
    controller = Controller(visits=12)
    controller.ask("boardsize 5")
    return controller


def parse(gtp: Controller, text: str) -> AnalysisRequest:
    command = parse_line(f"kata-analyze {text}")
    assert command is not None
    board = gtp.engine.board
    return RequestParser(command, board.coordinate, board.get_to_move(), KATA_FLAGS).parse()


def lines_of(reply: str | None, command_id: str = "") -> list[str]:
    """Return the lines of a streamed reply after the first; asserts the framing."""
    assert reply is not None
    first, *lines, end, rest = reply.split("\n")
    assert (first, end, rest) == (f"={command_id}", "", ""), reply
    assert all(lines), reply
    return lines


def pairs_of(line: str) -> list[dict[str, str]]:
    """Return the keys and values of each move of an info line, the way Sabaki reads them."""
    assert line.startswith("info ") and "  " not in line and not line.endswith(" ")
    moves = []
    for piece in line.split("info ")[1:]:
        match = SABAKI_PV.search(piece)
        assert match
        words = piece[:match.start()].split()
        assert words.pop() == "pv"
        moves.append(dict(zip(words[::2], words[1::2], strict=True)) | {"pv": match.group().strip()})
    return moves


class Session:
    """A client that serves in a thread and gets its input piece by piece."""

    def __init__(self, **options) -> None:
        self.gtp = Controller(**options)
        self.gtp.ask("boardsize 5")
        self._source: queue.Queue[bytes] = queue.Queue()
        self._thread = threading.Thread(target=self.gtp.client.run, args=(LineReader(self._source.get),), daemon=True)
        self._thread.start()

    @property
    def output(self) -> str:
        return "".join(self.gtp.replies)

    def send(self, text: str) -> None:
        self._source.put(text.encode())

    def wait(self, condition: Callable[[str], bool], seconds: float = SLOW_START) -> str:
        """Return the output as soon as it fulfils the condition."""
        end = time.monotonic() + seconds
        while not condition(self.output):
            assert time.monotonic() < end, self.output
            time.sleep(0.005)
        return self.output

    def close(self) -> None:
        self._source.put(b"")
        self._thread.join(SLOW_START)
        assert not self._thread.is_alive()


@pytest.fixture
def session():
    opened = Session()
    yield opened
    opened.close()


# --- arguments ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text, color, seconds", [
    ("", "BLACK", 0.0), ("W", "WHITE", 0.0), ("10", "BLACK", 0.1), ("white 50", "WHITE", 0.5), ("50 w", "WHITE", 0.5),
    ("b interval 12.5", "BLACK", 0.125), ("interval 0", "BLACK", 0.0), ("ownership true 7 B", "BLACK", 0.07),
])
def test_color_and_interval_in_any_order(gtp: Controller, text: str, color: str, seconds: float):
    request = parse(gtp, text)
    assert (request.color.name, request.interval) == (color, pytest.approx(seconds))


def test_keys(gtp: Controller):
    request = parse(gtp, "w 10 minmoves 3 maxmoves 5 ownership true pvVisits false rootInfo true")
    assert (request.min_moves, request.max_moves, request.flags) == (3, 5, {"ownership", "rootInfo"})
    gtp.ask("play b C3")
    assert parse(gtp, "").color is Stone.WHITE


def banned(gtp: Controller, request: AnalysisRequest, color: Stone) -> dict[str, int]:
    """Return the plies for which moves of a color are banned."""
    coordinate = gtp.engine.board.coordinate
    moves = (*gtp.engine.board.onboard_pos, 0)
    assert request.restriction is not None
    plies = {coordinate.convert_to_gtp_format(pos): int(request.restriction.plies[color, pos]) for pos in moves}
    return {name: count for name, count in plies.items() if count}


@pytest.mark.parametrize("corners", ["A1:C2", "C2:A1", "A2:C1", "C1:A2"])
def test_any_two_corners_name_a_rectangle(gtp: Controller, corners: str):
    points = banned(gtp, parse(gtp, f"avoid b {corners} 3"), Stone.BLACK)
    assert points == dict.fromkeys(("A1", "B1", "C1", "A2", "B2", "C2"), 3)


@pytest.mark.parametrize("text", ["avoid", "avoid b", "allow b C3", "avoid b , 1"])
def test_a_restriction_names_what_it_lacks(gtp: Controller, text: str):
    with pytest.raises(GtpError, match=f"{text.split()[0]} needs color, moves and depth"):
        parse(gtp, text)


def test_avoid_and_allow(gtp: Controller):
    request = parse(gtp, "b avoid B c3,D4,,pass 3 avoid b c3,resign 2 allow w A1:B2,E5 1")
    assert banned(gtp, request, Stone.BLACK) == {"C3": 3, "D4": 3, "pass": 3}
    white = banned(gtp, request, Stone.WHITE)
    assert len(white) == 26 - 5 and set(white.values()) == {1}
    assert not {"A1", "A2", "B1", "B2", "E5"} & set(white) and "pass" in white


@pytest.mark.parametrize("text", [
    "foo", "foo true", "x", "-1", "1e3", "nan", "b w", "10 10", "10 interval 10", "interval", "interval b",
    "interval -1", "minmoves", "minmoves x", "minmoves -1", "minmoves 1.5", "maxmoves 0", "ownership", "ownership 1",
    "ownership TRUE x", "Ownership true", "pvvisits true", "avoid", "avoid b", "avoid b C3", "avoid b C3 0",
    "avoid b C3 x", "avoid x C3 1", "avoid b I5 1", "avoid b C3,Z9 1", "avoid b , 1", "avoid b A1:T19 1",
    "avoid b A1:pass 1", "avoid b A1:B2:C3 1", "allow b C3 1 allow b D4 1", "allow b C3 1 avoid b D4 1",
    "avoid b D4 1 allow b C3 1", "b 10 extra", "\u00e9", "minmoves 1 minmoves 2",
])
def test_malformed_arguments_get_one_failure_and_no_search(gtp: Controller, text: str):
    before, calls = gtp.state(), gtp.engine.evaluator.calls  # type: ignore[attr-defined]
    for name in ("kata-analyze", "kata-genmove_analyze", "kata-search_analyze_cancellable"):
        reply = gtp.raw(f"3 {name} {text}")
        assert reply is not None and reply.startswith("?3 ") and reply.count("\n") == 2
    assert gtp.state() == before
    assert gtp.engine.evaluator.calls == calls  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["lz-analyze", "lz-genmove_analyze", "cgos-analyze", "cgos-genmove_analyze"])
def test_keys_of_katago_are_unknown_elsewhere(gtp: Controller, name: str):
    assert "unknown argument" in gtp.fail(f"{name} b 10 ownership true")


# --- framing --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", GENMOVE)
@pytest.mark.parametrize("mode", [{}, {"policy_move": True}, {"sequential_halving": True}])
def test_genmove_analyze_ends_with_a_report_and_a_move(name: str, mode: dict):
    gtp = Controller(visits=12, **mode)
    gtp.ask("boardsize 5")
    *reports, last = lines_of(gtp.raw(f"8 {name} b"), "8")
    assert len(reports) == 1
    move = re.fullmatch(r"play ([A-E][1-5]|pass)", last)
    assert move and len(gtp.engine.board.get_move_history()) == 1
    if name.startswith("cgos"):
        assert json.loads(reports[0])["moves"][0]["move"] == move.group(1)
    else:
        assert pairs_of(reports[0])[0]["move"] == move.group(1)


@pytest.mark.parametrize("name", ANALYZE)
@pytest.mark.parametrize("line", ["\n", "# a comment\n", "9 name\n", "protocol_version\nlist_commands\n"])
def test_analysis_stops_at_any_line(session: Session, name: str, line: str):
    session.send(f"7 {name} b 1\n")
    session.wait(lambda text: text.startswith("=7\n"))
    text = session.wait(lambda text: text.count("\n") >= 4)
    assert "\n\n" not in text
    session.send(line)
    session.wait(lambda text: "\n\n" in text)
    session.send("10 komi 3\n")
    text = session.wait(lambda text: "=10 \n\n" in text)
    reports = text.split("\n\n")[0].split("\n")[1:]
    assert len(reports) >= 3
    assert all(report.startswith("{" if name == "cgos-analyze" else "info ") for report in reports)
    assert not session.gtp.engine.board.get_move_history()


def test_pipelined_lines_stop_each_analysis(session: Session):
    session.send("1 lz-analyze b 1\n2 kata-analyze 10\n3 cgos-analyze\n4 name\n5 lz-analyze foo\n6 name\n")
    text = session.wait(lambda text: "=6 " in text and text.endswith("\n\n"))
    frames = [frame for frame in text.split("\n\n") if frame]
    assert [frame.split("\n")[0][:2] for frame in frames] == ["=1", "=2", "=3", "=4", "?5", "=6"]


def test_without_an_interval_there_is_one_report_at_the_end(session: Session):
    tree = session.gtp.engine.tree
    session.send("1 lz-analyze b\n")
    session.wait(lambda text: text.startswith("=1\n"))
    while tree.num_nodes < 10:  # it searches, and says nothing
        time.sleep(0.01)
    assert session.output == "=1\n"
    session.send("2 name\n")
    text = session.wait(lambda text: "=2 " in text)
    assert text.startswith("=1\ninfo ") and text.split("\n\n")[0].count("\n") == 1


def test_the_end_of_the_input_stops_analysis():
    session = Session()
    session.send("lz-analyze b 1\n")
    session.wait(lambda text: text.count("\n") >= 3)
    session.close()
    assert session.output.endswith("\n\n")


def test_genmove_analyze_and_search_are_not_stopped_by_lines():
    fake = FakeEvaluator(5)
    gtp = Controller(make=lambda size: fake, any_size=True, strict_visits=40, size=5)
    status, output = gtp.serve(b"1 kata-genmove_analyze b 1\n2 kata-search w\n3 quit\n")
    assert status == 0
    assert gtp.engine.board.moves == 2
    first, second, *_ = output.split("\n\n")
    assert re.search(r"rootInfo|info .*\nplay [A-E][1-5]$", first)
    assert re.fullmatch(r"=2 [A-E][1-5]", second)


def test_a_full_tree_keeps_the_command_open():
    session = Session(tree_size=100)
    session.gtp.engine.tree._capacity = lambda nodes: (100, 100 * 26)  # type: ignore[method-assign]
    session.send("1 lz-analyze b 1\n")
    session.wait(lambda text: session.gtp.engine.tree.tree_is_full and text.count("info") > 0)
    time.sleep(0.1)
    assert "\n\n" not in session.output
    session.send("2 name\n")
    session.wait(lambda text: "=2 " in text)
    session.close()


class SlowEvaluator(FakeEvaluator):
    """Takes so long that a search cannot fill its memory before the next line comes."""

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        time.sleep(0.02)
        return super().__call__(planes)


def test_cancellable_searches():
    session = Session(const_time=600.0, make=SlowEvaluator)
    session.send("1 kata-search_cancellable b\n")
    time.sleep(0.2)
    session.send("2 kata-search_analyze_cancellable b 1\n")
    session.wait(lambda text: text.startswith("=1 cancelled\n\n=2\n") and text.count("\n") > 6)
    session.send("3 name\n")
    text = session.wait(lambda text: "=3 " in text)
    assert text.split("\n\n")[1].split("\n")[-1] == "play cancelled"
    assert session.gtp.engine.board.moves == 1
    session.close()


def test_search_does_not_play(gtp: Controller):
    before = gtp.state()
    move = gtp.ask("kata-search b")
    assert lines_of(gtp.raw("kata-search_analyze b"))[-1] == f"play {move}"
    assert gtp.state() == before
    assert gtp.ask("genmove b") == move


def test_an_error_on_the_way_still_ends_the_reply(gtp: Controller, monkeypatch: pytest.MonkeyPatch):
    def fail(*_) -> None:
        raise RuntimeError("something broke")

    monkeypatch.setattr(gtp.engine, "genmove", fail)
    assert gtp.raw("4 kata-genmove_analyze b") == "=4\n\n"


def test_plain_names_work_but_are_not_listed(gtp: Controller):
    listed = gtp.ask("list_commands").split("\n")
    for name in ("analyze", "genmove_analyze"):
        assert name not in listed and gtp.ask(f"known_command {name}") == "false"
    assert set(ANALYZE) < set(listed)
    assert re.search(r"winrate \d+ prior", gtp.raw("genmove_analyze b") or "")


# --- contents -------------------------------------------------------------------------------------------------------

def test_lz_line_has_whole_numbers_in_order(gtp: Controller):
    report = lines_of(gtp.raw("lz-genmove_analyze b"))[0]
    moves = pairs_of(report)
    for order, move in enumerate(moves):
        assert list(move) == ["move", "visits", "winrate", "prior", "lcb", "order", "pv"]
        numbers = [int(move[key]) for key in ("visits", "winrate", "prior", "lcb", "order")]
        assert numbers[-1] == order and numbers[0] > 0
        assert 0 <= numbers[3] <= numbers[1] <= 10000
        assert move["pv"].split()[0] == move["move"]
    assert sum(int(move["visits"]) for move in moves) == 12


def test_kata_line(gtp: Controller):
    gtp.ask("komi 2")
    flags = " ".join(f"{flag} true" for flag in sorted(KATA_FLAGS))
    report = lines_of(gtp.raw(f"kata-genmove_analyze w {flags}"))[0]
    head, _, tail = report.partition(" rootInfo ")
    root, _, rest = tail.partition(" ownership ")
    ownership, _, deviations = rest.partition(" ownershipStdev ")
    assert len(ownership.split()) == len(deviations.split()) == 25
    assert all(-1 <= float(value) <= 1 for value in ownership.split())
    assert root.split()[:2] == ["visits", "12"] and "winrate" in root.split()
    for piece in head.split("info ")[1:]:
        words = piece.split()
        lists = {name: words.index(name) for name in ("pv", "pvVisits", "pvEdgeVisits", "movesOwnership",
                                                      "movesOwnershipStdev")}
        assert list(lists.values()) == sorted(lists.values())
        assert lists["pvVisits"] - lists["pv"] == lists["pvEdgeVisits"] - lists["pvVisits"]
        assert lists["movesOwnershipStdev"] - lists["movesOwnership"] == 26
        for key in ("winrate", "prior", "lcb", "scoreLead", "scoreMean", "scoreStdev", "utility"):
            assert "." in words[words.index(key) + 1] and float(words[words.index(key) + 1]) < 1000


def test_lists_come_only_when_asked_for(gtp: Controller):
    report = lines_of(gtp.raw("kata-genmove_analyze b ownership false"))[0]
    assert not re.search("ownership|rootInfo|pvVisits|noResult", report)
    assert pairs_of(report)


def test_cgos_line(gtp: Controller):
    report, last = lines_of(gtp.raw("cgos-genmove_analyze b"))
    content = json.loads(report)
    assert content["visits"] == 12 and len(content["ownership"]) == 25
    assert last == f"play {content['moves'][0]['move']}"
    for move in content["moves"]:
        assert 0 <= move["lcb"] <= move["winrate"] <= 1 and move["pv"].split()[0] == move["move"]


@pytest.mark.parametrize("command", GENMOVE)
@pytest.mark.parametrize("mode", [{"policy_move": True}, {"level": 8}, {"book": "BOOK"}, {"cgos_mode": True}])
def test_a_move_that_was_not_searched_for_is_told_and_played(command: str, mode: dict, tmp_path: Path):
    """By the policy, a book or the rules for passing; the tree knows another position then, or none."""
    if "book" in mode:
        (tmp_path / "book.txt").write_text("# book size 5 komi 7\n = C3 0.5 100\nC3 = B2 0.5 90\n")
        mode = {"book": str(tmp_path / "book.txt")}
    gtp = Controller(visits=12, make=TellingEvaluator, **mode)
    gtp.ask("boardsize 5")
    for color in "bw":
        if mode.get("cgos_mode"):
            gtp.ask("komi 30")
            gtp.ask(f"play b {'pass' if color == 'w' else 'C3'}")
        report = lines_of(gtp.raw(f"{command} {color}"))
        assert report[-1].startswith("play ") and report[-1].split()[1] in report[0]


def test_scores_are_of_the_position_also_where_the_tree_is_another_ones():
    """What the engine has thought about meanwhile is the opponent's move."""
    gtp = Controller(visits=12, make=TellingEvaluator, cgos_mode=True)
    gtp.ask("boardsize 5")
    gtp.ask("komi 30")
    gtp.ask("play b C3")
    gtp.engine.look(Stone.BLACK)
    gtp.ask("play b pass")
    told = json.loads(lines_of(gtp.raw("cgos-genmove_analyze w"))[0])
    gtp.ask("undo")
    assert told["score"] == pytest.approx(gtp.engine.evaluate(Stone.WHITE).lead, abs=0.01)


def test_ownership_letters():
    assert len(OWNERSHIP_LETTERS) == 63
    assert encode_ownership([-1, 0, 1, -2, 2]) == "Af+A+"


@pytest.mark.parametrize("color, sign", [("b", 1), ("w", -1)])
def test_scores_are_those_of_the_side_asked_for(color: str, sign: int):
    gtp = Controller(visits=12)
    wall = "(;SZ[5]KM[0]AB[aa][ba][ca][da][ea][ab][cb][eb][ac][bc][cc][dc][ec][ad][cd][ed][ae][be][ce][de])"
    gtp.ask(f"tamago-readsgf {wall}")
    report = lines_of(gtp.raw(f"kata-search_analyze {color} ownership true avoid {color} pass 1"))[0]
    ownership = [float(value) for value in report.partition(" ownership ")[2].split()]
    assert sign * sum(ownership) > 15
    assert sign * float(pairs_of(report.partition(" ownership ")[0])[0]["scoreLead"]) > 15


def test_minmoves_and_maxmoves(gtp: Controller):
    assert len(pairs_of(lines_of(gtp.raw("lz-genmove_analyze b minmoves 26"))[0])) == 26
    assert len(pairs_of(lines_of(gtp.raw("lz-genmove_analyze w maxmoves 1"))[0])) == 1
    moves = pairs_of(lines_of(gtp.raw("lz-genmove_analyze b minmoves 30 maxmoves 20"))[0])
    assert len(moves) == 20 and any(move["visits"] == "0" for move in moves)


def test_what_is_said_of_the_position_is_the_same_however_few_moves_are_told():
    def told(arguments: str) -> tuple[str, float, str]:
        gtp = Controller(visits=60, make=TellingEvaluator)
        gtp.ask("boardsize 5")
        kata = lines_of(gtp.raw(f"kata-search_analyze b rootInfo true ownership true {arguments}"))[0]
        cgos = json.loads(lines_of(gtp.raw(f"cgos-genmove_analyze b {arguments}"))[0])
        return kata.partition(" rootInfo ")[2], cgos["score"], cgos["ownership"]

    assert told("") == told("maxmoves 1") == told("minmoves 26 maxmoves 3")


@pytest.mark.parametrize("mode", [{}, {"policy_move": True}, {"sequential_halving": True}])
def test_avoid_and_allow_hold(mode: dict):
    gtp = Controller(visits=30, **mode)
    gtp.ask("boardsize 5")
    lines = lines_of(gtp.raw("lz-genmove_analyze b allow b A1,B1 1 allow w E5 9"))
    assert lines[-1] in ("play A1", "play B1")
    for move in pairs_of(lines[0]):
        pv = move["pv"].split()
        assert pv[0] in ("A1", "B1") and set(pv[1::2]) <= {"E5", "pass"}
    assert lines_of(gtp.raw("lz-genmove_analyze w avoid w A1:E4,pass 2"))[-1][-1] == "5"


def test_order_0_is_genmoves_move_also_when_it_passes():
    gtp = Controller(visits=12, make=lambda size: FakeEvaluator(size, pass_logit=20.0))
    gtp.ask("boardsize 5")
    gtp.ask("komi 100")
    report = lines_of(gtp.raw("lz-genmove_analyze b"))  # passing would lose
    assert pairs_of(report[0])[0]["move"] == report[-1].split()[1] != "pass"
    gtp.ask("play b pass")
    report = lines_of(gtp.raw("kata-search_analyze w"))  # passing wins
    assert report[-1] == "play pass"
    assert pairs_of(report[0])[0]["move"] == "pass"


def test_an_interruption_is_for_this_command_only(gtp: Controller):
    reader = LineReader(lambda: b"")
    gtp.client.session.reader = reader
    reader.interrupted_at = 5
    reader._queue.put(InputLine("name", 6))
    begin = len(gtp.replies)
    end = gtp.client.execute(InputLine("kata-genmove_analyze b", number=4))
    lines = lines_of("".join(gtp.replies[begin:]) + str(end))
    assert lines[0].startswith("info ") and lines[-1].startswith("play ")


def test_moves_that_are_left_out_are_not_found() -> None:
    gtp = Controller()
    gtp.ask("boardsize 5")
    assert gtp.ask("kata-search b allow b A1 1") == "A1"
