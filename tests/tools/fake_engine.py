"""A GTP engine that knows hardly more than the rules, and can be told to misbehave."""

import argparse
import os
import random
import sys
import time

CGOS_COMMANDS = ("cgos-opponent_name", "cgos-genmove_analyze", "cgos-gameover")
COLUMNS = "ABCDEFGHJKLMNOPQRST"
Point = tuple[int, int]
Position = dict[Point, str]


class FakeEngine:
    """Plays random legal moves that fill no eye of one point, and passes when there are none."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.random = random.Random(options.seed)
        self.size = 9
        self.genmoves = 0
        self.games = 0
        self.clear()

    def clear(self) -> None:
        self.stones: Position = {}
        self.seen: set[frozenset] = {frozenset()}

    def neighbors(self, point: Point) -> list[Point]:
        x, y = point
        around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
        return [(a, b) for a, b in around if 0 <= a < self.size and 0 <= b < self.size]

    def captured(self, stones: Position, point: Point) -> set[Point]:
        """Return the string at `point` if it has no liberty, else nothing."""
        string, todo = {point}, [point]
        while todo:
            for other in self.neighbors(todo.pop()):
                if other not in stones:
                    return set()
                if stones[other] == stones[point] and other not in string:
                    string.add(other)
                    todo.append(other)
        return string

    def after(self, color: str, point: Point) -> Position | None:
        """Return the position after a move; None when it is illegal."""
        if point in self.stones:
            return None
        stones = {**self.stones, point: color}
        for other in self.neighbors(point):
            if stones.get(other, color) != color:
                for dead in self.captured(stones, other):
                    del stones[dead]
        if self.captured(stones, point) or frozenset(stones.items()) in self.seen:
            return None
        return stones

    def put(self, color: str, stones: Position) -> None:
        self.stones = stones
        self.seen.add(frozenset(stones.items()))

    def play(self, color: str, vertex: str) -> str:
        if vertex.lower() == "pass":
            return "="
        stones = self.after(color, (COLUMNS.index(vertex[0].upper()), int(vertex[1:]) - 1))
        if stones is None or self.options.refuse_play:
            return "? illegal move"
        self.put(color, stones)
        return "="

    def genmove(self, color: str) -> str:
        self.genmoves += 1
        options = self.options
        time.sleep(options.slow)
        if self.genmoves == options.crash_at:
            sys.stderr.write("fake: out of luck\n")
            sys.stderr.flush()
            os._exit(3)
        if self.genmoves == options.hang_at:
            time.sleep(600)
        if self.genmoves == options.error_at:
            return "? cannot think"
        if self.genmoves == options.resign_at:
            return "= resign"
        if self.genmoves == options.illegal_at:
            return "= I99"
        if self.genmoves >= options.pass_from:
            return "= pass"
        points = [(x, y) for x in range(self.size) for y in range(self.size)]
        self.random.shuffle(points)
        for point in points:
            if all(self.stones.get(other) == color for other in self.neighbors(point)):
                continue
            stones = self.after(color, point)
            if stones is not None:
                self.put(color, stones)
                return f"= {COLUMNS[point[0]]}{point[1] + 1}"
        return "= pass"

    def answer(self, words: list[str]) -> str:
        name, arguments = words[0], words[1:]
        if name == "list_commands" and not self.options.unlisted:
            commands = "protocol_version name version list_commands quit boardsize clear_board play genmove"
            commands += "" if self.options.bare else " komi time_settings time_left"
            return "= " + "\n".join((commands + " ".join(["", *CGOS_COMMANDS] if self.options.cgos else [])).split())
        if name in ("komi", "time_settings", "time_left", "cgos-opponent_name", "cgos-gameover"):
            sys.stderr.write(" ".join(words) + "\n")
            sys.stderr.flush()
            return "? unknown command" if self.options.bare else "="
        if name == "boardsize":
            self.size = int(arguments[0])
            return "? unacceptable size" if self.size == 13 else "="
        if name == "clear_board":
            self.clear()
            if self.options.each_game:
                self.genmoves = 0
            return "="
        if name == "play":
            return self.play(arguments[0].lower(), arguments[1])
        if name == "genmove":
            return self.genmove(arguments[0].lower())
        if name == "cgos-genmove_analyze":
            move = self.genmove(arguments[0].lower())
            return f'=\n{self.options.cgos}\nplay {move[2:]}' if move.startswith("=") else move
        return {"name": f"= {self.options.name}", "version": "= 1.0", "quit": "="}.get(name, "? unknown command")


def main() -> None:
    """Answer GTP on stdin until it ends or `quit`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="Fake")
    parser.add_argument("--slow", type=float, default=0.0)
    for event in ("crash", "hang", "error", "resign", "illegal"):
        parser.add_argument(f"--{event}-at", type=int, default=0)
    parser.add_argument("--pass-from", type=int, default=10**9)
    parser.add_argument("--refuse-play", action="store_true")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--unlisted", action="store_true", help="do not know list_commands")
    parser.add_argument("--cgos", default="", help="know the commands of CGOS; the analysis to give")
    parser.add_argument("--deaf", action="store_true", help="do not quit when told to")
    parser.add_argument("--each-game", action="store_true", help="count moves anew in each game")
    engine = FakeEngine(parser.parse_args())
    sys.stdout.write("stray greeting\n\n")
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "quit" and engine.options.deaf:
            time.sleep(600)
        sys.stdout.write(engine.answer(words) + "\n\n")
        sys.stdout.flush()
        if words[0] == "quit":
            return


if __name__ == "__main__":
    main()
