"""Speaks KataGo's analysis protocol and judges every position by its number; dies, babbles or errs when told."""

import json
import sys


def answer(query: dict, turn: int) -> dict:
    """Return what is said of a position."""
    points = query["boardXSize"] * query["boardYSize"]
    policy = [float(1 + (turn + point) % 7) for point in range(points + 1)]
    policy[turn % points] = -1.0
    return {
        "id": query["id"], "turnNumber": turn, "isDuringSearch": False, "policy": policy,
        "moveInfos": [{"move": "A1", "visits": 3}, {"move": "pass", "visits": 1}],
        "ownership": [((turn + point) % 16) / 7.5 - 1.0 for point in range(points)],
        "rootInfo": {"winrate": (turn % 10) / 10, "scoreLead": turn - query["komi"]},
    }


def spoil(said: dict, what: str) -> None:
    """Say something that cannot be."""
    if what == "percent":
        said["rootInfo"]["winrate"] = 55.3
    elif what == "lead":
        said["rootInfo"]["scoreLead"] = float("nan")
    elif what == "policy":
        said["policy"] = [-1.0 for _ in said["policy"]]
    elif what == "owner":
        said["ownership"][0] = float("inf")
    elif what == "number":
        said["policy"][0] = 10**400
    elif what == "id":
        said["id"] = ["a"]


def main() -> None:
    """Answer queries in odd order, after greetings; "die N" ends after N answers, "babble" and "gtp" say no answers."""
    print("hello\n3\n[1, 2]", "[" * 20_000, sep="\n", flush=True)
    left = int(sys.argv[2]) if sys.argv[1:2] == ["die"] else 10**9
    for line in sys.stdin:
        if sys.argv[1:2] == ["gtp"]:
            print("? unknown command\n", flush=True)
            continue
        query = json.loads(line)
        assert query["overrideSettings"]["ignorePreRootHistory"] is False  # labels are worse without the moves before
        for turn in sorted(query["analyzeTurns"], key=lambda turn: turn % 3):
            if left == 0:
                print("out of memory", file=sys.stderr)
                sys.exit(3)
            left -= 1
            said = {"id": query["id"], "turnNumber": turn} if sys.argv[1:2] == ["babble"] else answer(query, turn)
            if sys.argv[1:2] == ["spoil"]:
                spoil(said, sys.argv[2])
            print(json.dumps(said), flush=True)


main()
