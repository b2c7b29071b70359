"""What benchmarks take of games: positions as they stood, those that began with stones on the board among them."""

import random
from itertools import product
from pathlib import Path

from board.stone import Stone
from tools.benchlib.ownership_bench import STAGES, read_samples
from tools.benchlib.target_bench import draw_positions

MOVES = "".join(f";{color}[{x}{y}]" for color, (y, x) in
                zip("WB" * 31, [*product("acegi", "abcdefghijklm")][:62], strict=True))


def test_handicap_stones_stand_on_the_board(tmp_path: Path) -> None:
    path = tmp_path / "handicap.sgf"
    path.write_text(f"(;GM[1]SZ[13]KM[0.5]HA[2]AB[dd][jj]PL[W]{MOVES};W[];B[])")
    [board] = draw_positions(path, 13, random.Random(1), 1)
    stones = [board.coordinate.convert_from_sgf_format(point) for point in ("dd", "jj")]
    assert all(board.board[pos] == Stone.BLACK for pos in stones)
    samples = read_samples(path, 13)
    assert [(sample.stage, sample.board.moves - 1) for sample in samples] == [(stage, stage) for stage in STAGES]
    assert all(sample.board.board[pos] == Stone.BLACK for sample in samples for pos in stones)
