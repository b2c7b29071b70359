"""Made-up games of self-play for the tests of nn/."""

import random
from collections.abc import Iterable
from pathlib import Path

from board.constant import PASS
from board.coordinate import Coordinate
from board.stone import Stone
from sgf.match_result import MatchResult
from sgf.selfplay_record import SelfPlayRecord
from tests.reference.slow_board import SlowBoard

SIZE = 5


def write_games(folder: Path, numbers: Iterable[int], seed: int = 0, length: tuple[int, int] = (4, 25)) -> Path:
    """Write random legal games with made-up policies and values; every fifth move is without; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    coordinate = Coordinate(SIZE)
    record = SelfPlayRecord(folder, coordinate)
    for number in numbers:
        rng = random.Random(f"{seed} {folder.name} {number}")
        record.clear()
        record.set_index(number)
        board, color = SlowBoard(SIZE), "b"
        for ply in range(rng.randint(*length)):
            points = [point for point in board.points if board.is_legal(point, color)]
            move = rng.choice(points) if points and rng.random() < 0.9 else None
            board.play(move, color)
            pos = {point: point[0] + point[1] * (SIZE + 2) for point in points}
            weights = {pos[point]: rng.random() for point in points} | {PASS: rng.random()}
            policy = {where: weight / sum(weights.values()) for where, weight in weights.items()}
            stone = Stone.BLACK if color == "b" else Stone.WHITE
            value = rng.random() if rng.random() < 0.8 else None
            record.save_record(policy if ply % 5 != 4 else None, pos[move] if move else PASS, stone, value)
            color = "w" if color == "b" else "b"
        result = rng.choice([MatchResult.BLACK_WIN, MatchResult.WHITE_WIN, MatchResult.DRAW, MatchResult.UNKNOWN])
        record.write_record(result, 7.0, score=3.0)
    return folder
