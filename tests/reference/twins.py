"""A GoBoard and a SlowBoard that play the same game and must agree about everything."""
from __future__ import annotations

import numpy as np

from board.constant import PASS
from board.go_board import GoBoard
from board.state import EMPTIES
from board.stone import Stone
from board.zobrist_hash import HASH_TABLE
from tests.reference.slow_board import EMPTY, OTHER, Point, SlowBoard, parse_diagram

STONES = {"b": Stone.BLACK, "w": Stone.WHITE, EMPTY: Stone.EMPTY}


class Twins:
    """Two boards, one fast and one obvious, moved together."""

    def __init__(self, size: int, check_superko: bool = False) -> None:
        self.size = size
        self.fast = GoBoard(board_size=size, check_superko=check_superko)
        self.slow = SlowBoard(size)

    @classmethod
    def from_diagram(cls, diagram: str, check_superko: bool = False) -> Twins:
        """Return twins with the stones of a drawing (see parse_diagram) set up."""
        size, black, white = parse_diagram(diagram)
        twins = cls(size, check_superko)
        twins.fast.set_up([twins.pos(p) for p in black], [twins.pos(p) for p in white])
        twins.slow.set_stones(black, white)
        return twins

    def pos(self, point: Point | None) -> int:
        """Return the padded index of a point; None is a pass."""
        return PASS if point is None else point[0] + point[1] * (self.size + 2)

    def point(self, pos: int) -> Point:
        """Return the point of a padded index."""
        y, x = divmod(pos, self.size + 2)
        return x, y

    def name(self, point: Point) -> str:
        """Return what GTP calls a point: "D4"."""
        return self.fast.coordinate.convert_to_gtp_format(self.pos(point))

    def play(self, point: Point | None, color: str) -> set[Point]:
        """Play a legal move (None is a pass) on both boards and return the stones taken."""
        self.fast.put_stone(self.pos(point), STONES[color])
        return self.slow.play(point, color)

    def legal(self, color: str) -> list[Point]:
        """Return the legal points of a color as the slow board sees them, superko included where it is on."""
        points = [point for point in self.slow.points if self.slow.is_legal(point, color)]
        if self.fast.check_superko:
            points = [point for point in points if not self.slow.is_superko(point, color)]
        return points

    def compare(self) -> None:
        """Assert that both boards agree about stones, strings, legality, eyes, score and hash."""
        self.compare_stones()
        self.compare_strings()
        for color in "bw":
            self.compare_moves(color)
        assert self.fast.count_score() == self.slow.area_score()
        check_consistency(self.fast)

    def compare_stones(self) -> None:
        """Assert that stones, prisoners, ko point and hash are equal."""
        slow, fast = self.slow, self.fast
        cells = fast.board
        assert [cells[self.pos(p)] for p in slow.points] == [STONES[slow.grid[p]] for p in slow.points]
        assert [int(n) for n in fast.prisoner] == [slow.captured_by["b"], slow.captured_by["w"]]
        assert fast.ko_pos == (self.pos(slow.ko[0]) if slow.ko else 0)

    def compare_strings(self) -> None:
        """Assert that both boards know the same strings, liberties and neighbor strings."""
        strings = self.fast.strings
        by_id = strings.string
        assert len(by_id) == len(self.slow.strings())
        for group in self.slow.strings():
            pos = self.pos(min(group))
            string_id = strings.get_id(pos)
            string = by_id[string_id]
            members = {self.pos(p) for p in group}
            assert {strings.get_id(p) for p in members} == {string_id}
            assert list(strings.get_stone_coordinates(string_id)) == sorted(members)
            assert string.exist() and string.get_size() == len(group) and string.get_origin() in members
            assert string.get_color() == STONES[self.slow.grid[min(group)]]
            liberties = {self.pos(p) for p in self.slow.liberties(min(group))}
            assert string.get_num_liberties() == strings.get_num_liberties(pos) == len(liberties)
            assert sorted(string.get_liberties()) == sorted(liberties)
            touching = {frozenset(self.pos(p) for p in other) for other in self.slow.adjacent_strings(min(group))}
            neighbors = [frozenset(strings.get_stone_coordinates(other)) for other in string.get_neighbors()]
            assert len(neighbors) == len(set(neighbors)) and set(neighbors) == touching
        assert all(strings.get_id(self.pos(p)) == 0 for p in self.slow.points if self.slow.grid[p] == EMPTY)

    def compare_moves(self, color: str) -> None:
        """Assert that both boards say the same about every point as a move of a color."""
        slow, fast, stone = self.slow, self.fast, STONES[color]
        legal = []
        for point in slow.points:
            pos, result = self.pos(point), slow.after(point, color)  # which floods the board: once is enough
            repeats = result is not None and slow.was_seen(result[0])
            may_play = result is not None and (point, color) != slow.ko and not (fast.check_superko and repeats)
            assert fast.is_legal(pos, stone) == may_play, (point, color)
            if result is not None:
                assert fast.is_superko(pos, stone) == repeats, (point, color)
                if may_play:
                    legal.append(pos)
                    expected = slow.self_atari_size(point, *result)
                    assert fast.check_self_atari_stone(pos, stone) == expected, (point, color)
            if slow.grid[point] == EMPTY:
                eye = slow.is_complete_eye(point, color)
                assert fast.is_complete_eye(pos, stone) == eye, (point, color)
                assert fast.is_legal_not_eye(pos, stone) == (may_play and not eye), (point, color)
        assert fast.is_legal(PASS, stone) and fast.get_all_legal_pos(stone) == legal


def check_consistency(board: GoBoard) -> None:
    """Assert that everything a state keeps up to date equals what its stones alone say."""
    state, width = board.state, board.board_size + 2
    stones = {pos: int(state.stones[pos]) for pos in board.onboard_pos}
    slow = SlowBoard(board.board_size)
    as_text = {0: EMPTY, 1: "b", 2: "w"}
    slow.set_stones(*([(pos % width, pos // width) for pos in stones if stones[pos] == color] for color in (1, 2)))
    assert slow.position() == tuple(as_text[stones[pos]] for pos in board.onboard_pos)
    ring = [pos for pos in range(width * width) if pos not in stones]
    assert all(state.stones[pos] == Stone.OUT_OF_BOARD and state.string_id[pos] == 0 for pos in ring)
    expected_hash = np.uint64(0)
    for pos, color in stones.items():
        if color:
            expected_hash ^= HASH_TABLE[color, pos]
    assert state.hash[0] == expected_hash == board.positional_hash[0]
    for group in slow.strings():
        members = {x + y * width for x, y in group}
        ids = {int(state.string_id[pos]) for pos in members}
        assert len(ids) == 1 and ids <= members
        (name,) = ids
        walked, pos = [name], int(state.string_next[name])
        while pos != name and len(walked) <= len(members):
            walked.append(pos)
            pos = int(state.string_next[pos])
        assert sorted(walked) == sorted(members)
        assert state.size[name] == len(members) and state.liberties[name] == len(slow.liberties(min(group)))
    assert_empties(board, {pos for pos, color in stones.items() if not color})


def assert_empties(board: GoBoard, expected: set[int]) -> None:
    """Assert that the list of empty points and its index fit together and hold exactly the expected points."""
    state = board.state
    listed = [int(pos) for pos in state.empties[: state.info[EMPTIES]]]
    assert len(listed) == len(set(listed)) and set(listed) == expected
    assert all(state.empty_index[pos] == i for i, pos in enumerate(listed))


def semantics(board: GoBoard) -> dict[str, object]:
    """Return all that a player can ask of a board, in a form that can be compared."""
    return {
        "stones": board.get_board_data(),
        "prisoners": [int(n) for n in board.prisoner],
        "moves": board.moves,
        "hash": int(board.positional_hash[0]),
        "ko": (board.ko_pos, board.ko_move) if board.ko_move else None,
        "to move": board.get_to_move(),
        "history": list(board.get_move_history()),
        "handicap": list(board.get_handicap_history()),
        "legal": {color: sorted(board.get_all_legal_pos(STONES[color])) for color in OTHER},
        "superko": [
            (color, pos) for color in OTHER for pos in board.get_all_legal_pos(STONES[color])
            if board.is_superko(pos, STONES[color])
        ],
        "score": board.count_score(),
        "komi": board.get_komi(),
        "over": board.is_over,
    }
