"""A Go board so plain that it is right by inspection: the twin every fast kernel is compared with.

A point is a pair (x, y) counted from 1 at the top-left corner, a color is "b" or "w", an empty point is ".".
Nothing is kept up to date: strings, liberties and scores are found by flood fill whenever somebody asks.
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable

Point = tuple[int, int]
EMPTY = "."
OTHER = {"b": "w", "w": "b"}


class SlowBoard:
    """The rules of Go on a dictionary of points, suicide illegal, with simple ko and positional superko."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.points: list[Point] = [(x, y) for y in range(1, size + 1) for x in range(1, size + 1)]
        self.grid: dict[Point, str] = dict.fromkeys(self.points, EMPTY)
        self.ko: tuple[Point, str] | None = None  # the point that may not be retaken at once, and by whom
        self.captured_by = {"b": 0, "w": 0}
        self.seen = {self.position()}
        self.neighbors = {point: [near for near in orthogonal(point) if near in self.grid] for point in self.points}

    def position(self) -> tuple[str, ...]:
        """Return the colors of all points in row-major order."""
        return tuple(self.grid.values())

    def set_stones(self, black: Iterable[Point], white: Iterable[Point]) -> None:
        """Put stones down without playing them; the game starts from the position they make."""
        for color, points in (("b", black), ("w", white)):
            for point in points:
                self.grid[point] = color
        self.seen = {self.position()}

    def copy(self) -> SlowBoard:
        """Return an independent board with the same position and history."""
        twin = copy.copy(self)  # points and neighbors are those of every board of this size
        twin.grid, twin.captured_by, twin.seen = dict(self.grid), dict(self.captured_by), set(self.seen)
        return twin

    # Strings

    def flood(self, start: Point, grid: dict[Point, str] | None = None) -> set[Point]:
        """Return all points connected to start that have its color."""
        grid = self.grid if grid is None else grid
        color, group, frontier = grid[start], {start}, [start]
        while frontier:
            for near in self.neighbors[frontier.pop()]:
                if grid[near] == color and near not in group:
                    group.add(near)
                    frontier.append(near)
        return group

    def border(self, group: Iterable[Point], grid: dict[Point, str] | None = None) -> set[Point]:
        """Return the points next to a group that are not part of it."""
        members = set(group)
        return {near for point in members for near in self.neighbors[point] if near not in members}

    def liberties(self, start: Point, grid: dict[Point, str] | None = None) -> set[Point]:
        """Return the liberties of the string at start."""
        grid = self.grid if grid is None else grid
        return {point for point in self.border(self.flood(start, grid)) if grid[point] == EMPTY}

    def strings(self) -> list[set[Point]]:
        """Return every string of either color once."""
        return self._components(lambda point: self.grid[point], [p for p in self.points if self.grid[p] != EMPTY])

    def adjacent_strings(self, start: Point) -> set[frozenset[Point]]:
        """Return the enemy strings that touch the string at start."""
        enemy = OTHER[self.grid[start]]
        return {frozenset(self.flood(p)) for p in self.border(self.flood(start)) if self.grid[p] == enemy}

    def _components(self, kind: Callable[[Point], str], points: list[Point]) -> list[set[Point]]:
        remaining, found = set(points), []
        for start in points:
            if start not in remaining:
                continue
            group, frontier = {start}, [start]
            while frontier:
                for near in self.neighbors[frontier.pop()]:
                    if near in remaining and near not in group and kind(near) == kind(start):
                        group.add(near)
                        frontier.append(near)
            remaining -= group
            found.append(group)
        return found

    # Moves

    def after(self, point: Point, color: str) -> tuple[dict[Point, str], set[Point]] | None:
        """Return the grid after a move and the stones it takes, or None where it is occupied or suicide."""
        if self.grid[point] != EMPTY:
            return None
        grid, taken = dict(self.grid), set()
        grid[point] = color
        for near in self.neighbors[point]:
            if grid[near] == OTHER[color] and not self.liberties(near, grid):
                group = self.flood(near, grid)
                taken |= group
                grid.update(dict.fromkeys(group, EMPTY))
        return (grid, taken) if self.liberties(point, grid) else None

    def is_legal(self, point: Point, color: str) -> bool:
        """Return whether a move is legal under the simple ko rule."""
        return (point, color) != self.ko and self.after(point, color) is not None

    def is_superko(self, point: Point, color: str) -> bool:
        """Return whether a move that is no suicide would repeat a position seen before."""
        result = self.after(point, color)
        return result is not None and self.was_seen(result[0])

    def was_seen(self, grid: dict[Point, str]) -> bool:
        """Return whether the game has had this position."""
        return tuple(grid.values()) in self.seen

    def play(self, point: Point | None, color: str) -> set[Point]:
        """Play a legal move or a pass (None) and return the stones it takes."""
        self.ko = None
        if point is None:
            self.seen.add(self.position())
            return set()
        result = self.after(point, color)
        assert result is not None, f"illegal move {color} {point}"
        self.grid, taken = result
        self.captured_by[color] += len(taken)
        if len(taken) == 1 and self.flood(point) == {point} and self.liberties(point) == taken:
            self.ko = (min(taken), OTHER[color])
        self.seen.add(self.position())
        return taken

    # What the candidate filter asks

    def self_atari_size(self, point: Point, grid: dict[Point, str], taken: set[Point]) -> int:
        """Return how many stones a legal move, of which after() tells, leaves in atari without taking any, else 0."""
        return 0 if taken or len(self.liberties(point, grid)) > 1 else len(self.flood(point, grid))

    def is_eye_space(self, point: Point, color: str) -> bool:
        """Return whether a point is empty and all points beside it hold stones of one color."""
        return self.grid[point] == EMPTY and all(self.grid[near] == color for near in self.neighbors[point])

    def is_complete_eye(self, point: Point, color: str) -> bool:
        """Return whether a point is eye space that enemy stones on its diagonals cannot make false.

        One diagonal may be lost in the center and none at the edge; a diagonal that is eye space is not lost.
        """
        if not self.is_eye_space(point, color):
            return False
        x, y = point
        diagonals = [p for p in ((x - 1, y - 1), (x + 1, y - 1), (x - 1, y + 1), (x + 1, y + 1)) if p in self.grid]
        lost = [p for p in diagonals if self.grid[p] != color and not self.is_eye_space(p, color)]
        return len(lost) <= (1 if len(diagonals) == 4 else 0)

    def legal_position(self) -> bool:
        """Return whether every string on the board has a liberty."""
        return all(self.liberties(next(iter(group))) for group in self.strings())

    # Scoring

    def owners(self) -> dict[Point, str]:
        """Return who owns each point with all stones alive: empty regions belong to the one color they touch."""
        owner = dict(self.grid)
        empty = [point for point in self.points if self.grid[point] == EMPTY]
        for region in self._components(lambda point: EMPTY, empty):
            colors = {self.grid[point] for point in self.border(region)}
            owner.update(dict.fromkeys(region, colors.pop() if len(colors) == 1 else EMPTY))
        return owner

    def area_score(self) -> int:
        """Return black area minus white area."""
        owned = list(self.owners().values())
        return owned.count("b") - owned.count("w")

    def pass_alive(self, color: str) -> set[Point]:
        """Return the stones of a color no sequence of enemy moves can take (Benson 1976)."""
        chains = [group for group in self.strings() if self.grid[next(iter(group))] == color]
        others = [point for point in self.points if self.grid[point] != color]
        regions = self._components(lambda point: "inside", others)
        while True:
            alive = [chain for chain in chains if sum(self._is_vital(region, chain) for region in regions) >= 2]
            stones = set().union(*alive)
            kept = [region for region in regions if self.border(region) <= stones]
            if len(alive) == len(chains) and len(kept) == len(regions):
                return stones
            chains, regions = alive, kept

    def safe_area(self) -> dict[Point, str]:
        """Return who owns each point if both pass from now on, dead stones in pass-alive regions taken off.

        A region that borders pass-alive strings alone is safe if it holds no stone or if all of its points but one
        are beside those strings. Outside, empty regions belong to the one color they touch.
        """
        owner, safe = self.owners(), {}
        for color in "bw":
            alive = self.pass_alive(color)
            safe.update(dict.fromkeys(alive, color))
            for region in self._components(lambda point: "inside", [p for p in self.points if self.grid[p] != color]):
                hidden = [p for p in region if all(self.grid[near] != color for near in self.neighbors[p])]
                empty = all(self.grid[p] == EMPTY for p in region)
                if alive and self.border(region) <= alive and (empty or len(hidden) <= 1):
                    safe.update(dict.fromkeys(region, color))
        return owner | safe

    def _is_vital(self, region: set[Point], chain: set[Point]) -> bool:
        around = self.border(chain)
        return bool(region & around) and all(p in around for p in region if self.grid[p] == EMPTY)


def orthogonal(point: Point) -> list[Point]:
    """Return the four points above, left, right and below, on the board or not."""
    x, y = point
    return [(x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)]


def parse_diagram(diagram: str) -> tuple[int, list[Point], list[Point]]:
    """Return size, black points and white points of a drawing with one character per point.

    `X` or `b` is Black, `O` or `w` is White, `.` is empty; blanks do not count.
    """
    rows = ["".join(line.split()) for line in diagram.strip().splitlines()]
    assert all(len(row) == len(rows) for row in rows), "a diagram is square"
    stones: dict[str, list[Point]] = {"X": [], "O": []}
    for y, row in enumerate(rows, start=1):
        for x, char in enumerate(row, start=1):
            if char in "XbOw":
                stones["X" if char in "Xb" else "O"].append((x, y))
    return len(rows), stones["X"], stones["O"]
