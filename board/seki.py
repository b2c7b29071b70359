"""Which strings of a finished game live in seki: without two eyes, because nobody can fill what lies between."""

from collections.abc import Callable

from board.go_board import GoBoard
from board.score import area_without
from board.state import EMPTY
from board.stone import Stone

# A group with so many points of its own in one place makes two eyes when it has to.
ROOM_FOR_TWO_EYES = 3
# Between the groups of a seki lie a few points; a larger region is a game that is not finished.
MAX_SHARED_POINTS = 3


def find_seki_stones(board: GoBoard, dead: list[int]) -> list[int]:
    """Return the stones in seki once the dead ones are taken off.

    A land is what one color has in one piece, stones and surrounded points. Two lands of different colors that touch
    the same small neutral region, neither of them with two eyes or room for them, live in seki.
    """
    _, owner = area_without(board.state, dead)
    gone = set(dead)
    is_empty = {pos: board.board[pos] == Stone.EMPTY or pos in gone for pos in board.onboard_pos}
    lands = _regions(board, lambda pos: int(owner[pos]), lambda pos: owner[pos] != EMPTY)
    weak = [land for land in lands if not _has_two_eyes(board, land, is_empty)]
    seki: set[int] = set()
    for region in _regions(board, lambda _: 0, lambda pos: owner[pos] == EMPTY and is_empty[pos]):
        if len(region) <= MAX_SHARED_POINTS:
            border = {neighbor for pos in region for neighbor in board.get_neighbor4(pos)}
            touching = [land for land in weak if border & land]
            if len({int(owner[next(iter(land))]) for land in touching}) == 2:
                seki.update(pos for land in touching for pos in land if not is_empty[pos])
    return sorted(seki)


def _has_two_eyes(board: GoBoard, land: set[int], is_empty: dict[int, bool]) -> bool:
    """Tell whether a land has two eyes, or room to make them."""
    eyes = _regions(board, lambda _: 0, lambda pos: pos in land and is_empty[pos])
    return len(eyes) >= 2 or any(len(eye) >= ROOM_FOR_TWO_EYES for eye in eyes)


def _regions(board: GoBoard, kind: Callable[[int], int], belongs: Callable[[int], bool]) -> list[set[int]]:
    """Return the connected regions of points that belong and are of one kind."""
    left = {pos for pos in board.onboard_pos if belongs(pos)}
    regions = []
    while left:
        stack = [left.pop()]
        region = set(stack)
        while stack:
            pos = stack.pop()
            for neighbor in board.get_neighbor4(pos):
                if neighbor in left and kind(neighbor) == kind(pos):
                    left.remove(neighbor)
                    region.add(neighbor)
                    stack.append(neighbor)
        regions.append(region)
    return regions
