"""Ladders read on the slow board by plain recursion: the twin of board/ladder.py."""
from __future__ import annotations

from tests.reference.slow_board import OTHER, Point, SlowBoard


class TooLongError(Exception):
    """The tree is too large for a slow reader."""


class SlowReader:
    """Reads one string; `nodes` positions at most."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes

    def caught(self, board: SlowBoard, target: Point, depth: int = 0) -> bool:
        """Return whether the string is caught by ataris with its owner to move; the first ko works for him."""
        liberties, color = board.liberties(target), board.grid[target]
        if self._is_long(board, depth):
            return True
        if not depth:
            board = board.copy()
            board.ko = None
        if len(liberties) > 1 or board.ko:
            return False
        captures = {next(iter(board.liberties(min(other)))) for other in board.adjacent_strings(target)
                    if len(board.liberties(min(other))) == 1}
        return all(self.cornered(after, target, depth + 1) for after in moves(board, liberties | captures, color))

    def cornered(self, board: SlowBoard, target: Point, depth: int) -> bool:
        """Return whether the string is caught by ataris with the attacker to move."""
        liberties, attacker = board.liberties(target), OTHER[board.grid[target]]
        if self._is_long(board, depth):
            return True
        if len(liberties) != 2:
            return len(liberties) < 2
        if is_between_kos(board, target):
            return True
        return any(self.caught(after, target, depth + 1) for after in moves(board, liberties, attacker))

    def _is_long(self, board: SlowBoard, depth: int) -> bool:
        self.nodes -= 1
        if self.nodes < 0:
            raise TooLongError
        return depth >= len(board.points) * 3 // 2


def moves(board: SlowBoard, points: set[Point], color: str) -> list[SlowBoard]:
    """Return the boards after each of the moves that is legal without superko, no ko forbidding anything to others."""
    boards = []
    for point in points:
        if board.after(point, color) is not None and not (board.ko and board.ko[0] == point):
            after = board.copy()
            after.play(point, color)
            boards.append(after)
    return boards


def is_between_kos(board: SlowBoard, target: Point) -> bool:
    """Return whether both liberties of a string are kos for the attacker which the owner gains nothing by filling."""
    color = board.grid[target]
    if any(len(board.liberties(min(other))) == 1 for other in board.adjacent_strings(target)):
        return False
    for point in board.liberties(target):
        if {board.grid[near] for near in board.neighbors[point]} != {color}:
            return False
        taken = {frozenset(board.flood(near)) for near in board.neighbors[point] if len(board.liberties(near)) == 1}
        if [len(string) for string in taken] != [1]:
            return False
        filled = board.copy()
        filled.grid[point] = color
        if len(filled.liberties(point)) > 2:
            return False
    return True


def find_ladders(board: SlowBoard, nodes: int) -> tuple[set[Point], dict[str, set[Point]]]:
    """Return the stones that ladders catch, and by color the moves that catch one of its; may raise TooLongError."""
    caught: set[Point] = set()
    catching: dict[str, set[Point]] = {"b": set(), "w": set()}
    for string in board.strings():
        target, liberties = min(string), board.liberties(min(string))
        color, reader = board.grid[target], SlowReader(nodes)
        if len(liberties) == 1 and reader.caught(board, target):
            caught |= string
        for point in liberties if len(liberties) == 2 else ():
            if any(reader.caught(after, target) for after in moves(board, {point}, OTHER[color])):
                caught |= string
                catching[color].add(point)
    return caught, catching
