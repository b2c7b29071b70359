"""The real program, started and asked as KaTrain does it."""

import signal
import sys
import time

import pytest

from tests.gtp.analysts import Answer, KaTrain, make_query, to_lines
from tests.gtp.players import start_main

pytestmark = pytest.mark.slow


def test_a_session_of_katrain():
    katrain = KaTrain()
    moves = [("B", "E5"), ("W", "C3"), ("B", "pass")]
    ids = [katrain.request(moves[:count], priority=-count) for count in range(4)]
    answers = [katrain.wait() for _ in ids]
    assert [answer["id"] for answer in answers] == ids
    for count, answer in enumerate(answers):
        assert answer["turnNumber"] == count and answer["isDuringSearch"] is False
        root, infos = answer["rootInfo"], answer["moveInfos"]
        assert root["visits"] >= 25 and 0 <= root["winrate"] <= 1 and abs(root["scoreLead"]) < 82
        assert len(answer["ownership"]) == 81 and len(answer["policy"]) == 82
        assert infos and all(info.keys() >= {"move", "visits", "winrate", "scoreLead", "prior", "order", "pv"}
                             for info in infos)
    # Looking for other moves than those found, then an ownerless look at one reply, as for "equalize" and "sweep".
    found = [info["move"] for info in answers[0]["moveInfos"]]
    katrain.request([], avoidMoves=[{"moves": found, "player": "B", "untilDepth": 1}])
    assert not {info["move"] for info in katrain.wait()["moveInfos"]} & set(found)
    katrain.request([("B", "E5"), ("W", "E5")], includeOwnership=False, includeMovesOwnership=False,
                    includePolicy=False)
    assert "Illegal move" in katrain.wait()["error"]
    # Pondering with reports, ended by a new game.
    pondering = katrain.request(moves, visits=10_000_000, reportDuringSearchEvery=0.05)
    report = katrain.wait()
    assert report["id"] == pondering and report["isDuringSearch"] is True and report["moveInfos"]
    katrain.send({"action": "terminate", "terminateId": pondering})
    finals: list[Answer] = []
    while len(finals) < 2:
        answer = katrain.wait()
        if not answer.get("isDuringSearch"):
            finals.append(answer)
    assert finals[0]["terminateId"] == pondering and finals[1]["id"] == pondering
    # What is asked before the end of the input is answered behind it.
    last = katrain.request([], visits=50)
    assert katrain.close() == 0 and katrain.wait()["id"] == last
    assert b"Traceback" not in b"".join(katrain.errors)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_ends_quietly():
    process = start_main("--analysis-json", "true", "--model", "none", "--size", "5")
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write(to_lines(make_query(maxVisits=10**9)))
    process.stdin.flush()
    while process.stderr.readline()[:7] not in (b"Started", b""):
        continue
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"")
    assert b"Traceback" not in err
