"""Which positions are captured, found backwards over all positions that can come: the twin of mcts/tactics/dfpn.py.

A position is captured where the attacker has a move to a captured one, or where all the defender's moves, the pass
among them, lead to such; nothing else is, least of all what repeats itself.
"""
from __future__ import annotations

from board.go_board import GoBoard
from board.stone import Stone
from tests.reference.slow_board import EMPTY, OTHER, Point, SlowBoard

Position = tuple[tuple[str, ...], str]


class TooLargeError(Exception):
    """There are too many positions for a slow reader."""


def at_once(board: SlowBoard, target: Point, defender: str, color: str) -> bool | None:
    """Return whether the string is captured, as far as one look tells."""
    if board.grid[target] != defender:
        return True
    liberties = board.liberties(target)
    if color != defender and len(liberties) == 1 and not takes_ko(board, min(liberties), color):
        return True
    return None


def takes_ko(board: SlowBoard, point: Point, color: str) -> bool:
    """Return whether a stone takes a single one and can be taken back."""
    result = board.after(point, color)
    return (result is not None and len(result[1]) == 1 and board.flood(point, result[0]) == {point}
            and board.liberties(point, result[0]) == result[1])


def successors(board: SlowBoard, region: set[Point], defender: str, color: str) -> list[tuple[str, ...]]:
    """Return the positions after each move that counts."""
    found = [board.position()] if color == defender else []
    for point in sorted(region):
        if board.grid[point] != EMPTY or board.after(point, color) is None:
            continue
        if board.is_complete_eye(point, color) if color == defender else takes_ko(board, point, color):
            continue
        found.append(tuple(board.after(point, color)[0].values()))  # type: ignore[index]
    return found


def is_captured(board: SlowBoard, target: Point, region: set[Point], color: str, most: int) -> bool:
    """Return whether the string at a point is captured, `color` to move, by moves in a region."""
    graph: dict[Position, list[Position]] = {}
    defender, won = board.grid[target], set()
    queue: list[Position] = [(board.position(), color)]
    while queue:
        key = queue.pop()
        if key in graph:
            continue
        if len(graph) > most:
            raise TooLargeError
        board.grid = dict(zip(board.points, key[0], strict=True))
        known = at_once(board, target, defender, key[1])
        graph[key] = []
        if known:
            won.add(key)
            continue
        graph[key] = [(after, OTHER[key[1]]) for after in successors(board, region, defender, key[1])]
        queue += graph[key]
    start = next(iter(graph))
    changed = True
    while changed:
        changed = False
        for key, after in graph.items():
            test = all if key[1] == defender else any
            if key not in won and after and test(one in won for one in after):
                won.add(key)
                changed = True
    return start in won


def find_region(board: GoBoard, target: int, most_points: int) -> list[int]:
    """Return the points around a string that the opponent's stones close in; none where too many of them are empty.

    Opponent's strings beside it that have less than three liberties outside belong to it with these.
    """
    stones, width = board.state.stones, board.coordinate.width
    defender = int(stones[target])
    region, queue = {target}, [target]
    while queue:
        pos = queue.pop()
        for side in (pos - width, pos - 1, pos + 1, pos + width):
            if side not in region and stones[side] in (Stone.EMPTY.value, defender):
                region.add(side)
                queue.append(side)
    empty = {pos for pos in region if stones[pos] == Stone.EMPTY.value}
    if len(empty) > most_points:
        return []
    more: set[int] = set()
    for string in board.strings.string.values():
        own = set(string.get_stones())
        is_beside = any(pos + step in region for pos in own for step in (-width, -1, 1, width))
        if string.get_color() != defender and is_beside and len(set(string.get_liberties()) - empty) < 3:
            more |= own | set(string.get_liberties())
    return sorted(region | more)
