"""Draw strength against playouts as SVG, from a table of matches against one opponent.

    python tools/strength_curve.py doc/uct-strength.csv --out doc/img/uct-strength.svg

The table has the columns `player`, `playouts`, `percent` and `games`. With `games` the 95 % interval is drawn, without
(a published figure) the point alone.
"""

import csv
import math
import sys
from collections import defaultdict
from html import escape
from pathlib import Path
from typing import NamedTuple

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.atomic_file import write_atomically
from common.command_line import NamedFile, run_command
from common.exit_status import ProgramError, tell_failures
from tools.matchlib.elo import get_wilson_interval
from tools.treelib.svg import FONT

# Pixels.
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 664, 360, 56, 20, 44, 48
COLORS = ("#3b7dd8", "#d08a00", "#2f9e44", "#8a4fbf")
COLUMNS = ("player", "playouts", "percent", "games")
MOST = 1e15  # playouts or games that a table may name


class MatchPoint(NamedTuple):
    """One match."""

    playouts: float
    percent: float
    games: int  # 0 where it is not known


def read_table(path: Path) -> dict[str, list[MatchPoint]]:
    """Return the matches of each player, by playouts; raises ValueError and OSError."""
    curves: dict[str, list[MatchPoint]] = defaultdict(list)
    with open(path, encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            try:
                point = MatchPoint(float(row["playouts"]), float(row["percent"]), int(row["games"] or 0))
                if not (MOST >= point.playouts >= 1.0 and 0.0 <= point.percent <= 100.0 and 0 <= point.games <= MOST):
                    raise ValueError
                player = row["player"].strip()
            except (AttributeError, KeyError, TypeError, ValueError):
                raise ValueError(f"{path}, line {number}: not {', '.join(COLUMNS)}") from None
            curves[player].append(point)
    if not curves:
        raise ValueError(f"{path}: no matches")
    return {player: sorted(points) for player, points in curves.items()}


def draw_curves(curves: dict[str, list[MatchPoint]]) -> str:
    """Return the picture: playouts on a logarithmic axis, percents won above."""
    exponents = [math.log10(point.playouts) for points in curves.values() for point in points]
    low, high = math.floor(min(exponents)), max(math.ceil(max(exponents)), math.floor(min(exponents)) + 1)

    def place(playouts: float, percent: float) -> tuple[float, float]:
        share = (math.log10(playouts) - low) / (high - low)
        return (round(LEFT + share * (WIDTH - LEFT - RIGHT), 1),
                round(HEIGHT - BOTTOM - percent / 100.0 * (HEIGHT - TOP - BOTTOM), 1))

    right, parts = WIDTH - RIGHT, [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for percent in range(0, 101, 25):
        y = place(10.0**low, percent)[1]
        parts += [f'<path d="M{LEFT} {y}H{right}" stroke="#d9dee4"/>',
                  f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{percent} %</text>']
    for exponent in range(low, high + 1):
        x, y = place(10.0**exponent, 0.0)
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{10**exponent:,}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 8}" text-anchor="middle">playouts a move</text>')
    for number, (player, points) in enumerate(curves.items()):
        color, places = COLORS[number % len(COLORS)], [place(point.playouts, point.percent) for point in points]
        line = "L".join(f"{x} {y}" for x, y in places)
        parts.append(f'<path d="M{line}" stroke="{color}" stroke-width="2" fill="none"/>')
        for point, (x, y) in zip(points, places, strict=True):
            if point.games:
                ends = get_wilson_interval(point.percent / 100.0, point.games)
                top, bottom = (place(point.playouts, 100.0 * end)[1] for end in (max(ends), min(ends)))
                parts.append(f'<path d="M{x} {top}V{bottom}" stroke="{color}"/>')
            parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{color}"/>')
        # Names stand where few matches are: many playouts, and a low score.
        name_y = HEIGHT - BOTTOM - 12 - 18 * (len(curves) - 1 - number)
        parts.append(f'<text x="{right}" y="{name_y}" text-anchor="end" fill="{color}">{escape(player)}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
            f'<style>text{{{FONT};font-size:13px}}</style>{"".join(parts)}</svg>\n')


@click.command()
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", type=NamedFile(".svg"), required=True, help="The picture, ending in .svg.")
def main(table: Path, out: Path) -> None:
    """Draw the curves of a table."""
    try:
        curves = draw_curves(read_table(table))
    except (UnicodeDecodeError, csv.Error):
        raise ProgramError(f"{table} is no table") from None
    except ValueError as error:
        raise ProgramError(str(error)) from None
    with tell_failures(out):
        write_atomically(out, curves.encode())


if __name__ == "__main__":
    sys.exit(run_command(main, "strength_curve.py"))
