"""What the user sees: a line for each game, and the table at the end."""

from collections.abc import Iterable, Sequence

from board.ruleset import format_komi
from tools.matchlib.config import SIDES, MatchConfig
from tools.matchlib.elo import estimate_elo, format_estimate
from tools.matchlib.record import REASONS, MatchRecord

WIN_LABELS = {
    "score": "won by score", "max-moves": "won by score at move limit", "resign": "won by resignation",
    "time": "won on time", "illegal": "won by illegal move", "crash": "won by crash", "timeout": "won by hang",
    "error": "won by GTP error",
}


def align(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return lines with the cells of each column below each other, the first `left` columns flush left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join([*map(str.ljust, row[:left], widths), *map(str.rjust, row[left:], widths[left:])]).rstrip()
            for row in rows]


def count_results(records: Iterable[MatchRecord]) -> tuple[int, int, int]:
    """Return wins, draws and losses of the first engine."""
    winners = [record.winner for record in records]
    return winners.count("first"), winners.count("draw"), winners.count("second")


def count_repeated(records: Iterable[MatchRecord]) -> int:
    """Return how many games the same side has played as Black, move for move, in a game before: they tell nothing new.

    Where openings are used in turn, engines without chance play them again, and so do those that several workers start
    with the same seed.
    """
    plays = [(record.black, record.play) for record in records if record.play]
    return len(plays) - len(set(plays))


def format_standing(records: Iterable[MatchRecord]) -> str:
    """Return the score of the first engine with its 95 % interval and the Elo difference."""
    wins, draws, losses = count_results(records)
    estimate = estimate_elo(wins, draws, losses)
    return (
        f"{wins}-{draws}-{losses}, {100 * estimate.score:.1f} % "
        f"[{100 * estimate.score_low:.1f}, {100 * estimate.score_high:.1f}], Elo {format_estimate(estimate)}"
    )


def format_game_line(
    record: MatchRecord, records: Iterable[MatchRecord], config: MatchConfig, names: tuple[str, str]
) -> str:
    """Return the line that reports a finished game and the standing of the first engine after it."""
    done = list(records)
    black = names[SIDES.index(record.black)]
    return (
        f"[{len(done)}/{max(config.games, len(done))}] game {record.index + 1}, {black} Black: {record.result} "
        f"({record.reason}, {record.moves} moves) | {names[0]}: {format_standing(done)}"
    )


def format_table(config: MatchConfig, names: tuple[str, str], records: Iterable[MatchRecord]) -> str:
    """Return the table at the end of a match; its columns are the engines."""
    games = list(records)
    clock = f", {config.time_seconds} s a side" if config.time_seconds is not None else ""
    title = (
        f"{names[0]} against {names[1]}: {len(games)} games, {config.size}x{config.size}, "
        f"komi {format_komi(config.komi)}, {config.scoring} scoring{clock}"
    )
    rows = [("", *names), *_get_result_rows(games), *_get_time_rows(games)]
    return "\n".join([title, "", *align(rows), "", *_get_summary(games, names)])


def _get_result_rows(games: list[MatchRecord]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    won = {side: [game for game in games if game.winner == side] for side in SIDES}
    rows.append(("wins", *(str(len(won[side])) for side in SIDES)))
    for color in ("Black", "White"):
        cells = []
        for side in SIDES:
            played = [game for game in games if (game.black == side) == (color == "Black")]
            cells.append(f"{sum(game.winner == side for game in played)} of {len(played)}")
        rows.append((f"wins as {color}", *cells))
    rows.append(("draws", *[str(sum(game.winner == "draw" for game in games))] * 2))
    for reason in REASONS:
        counts = [sum(game.reason == reason for game in won[side]) for side in SIDES]
        if any(counts):
            rows.append((WIN_LABELS[reason], *map(str, counts)))
    return rows


def _get_time_rows(games: list[MatchRecord]) -> list[tuple[str, ...]]:
    means, peaks = [], []
    for side in SIDES:
        times = [game.times[side] for game in games]
        moves = sum(time.moves for time in times)
        means.append(f"{sum(time.seconds for time in times) / moves:.3f}" if moves else "-")
        peaks.append(f"{max(time.max_seconds for time in times):.3f}" if moves else "-")
    return [("seconds a move", *means), ("slowest move, seconds", *peaks)]


def _get_summary(games: list[MatchRecord], names: tuple[str, str]) -> list[str]:
    lines = [f"{names[0]}: {format_standing(games)} (wins-draws-losses, 95 % intervals)"]
    if games:
        lengths = [game.moves for game in games]
        lines.append(f"moves a game: {sum(lengths) / len(lengths):.1f} on average, {max(lengths)} at most")
    if again := count_repeated(games):
        lines.append(f"games that were another one again, move for move: {again}; the interval is too narrow by these")
    scored = [game for game in games if game.area_score is not None]
    differing = [game.index + 1 for game in scored if game.area_score != game.friendly_score]
    lines.append(
        f"games where removing dead stones changes the score: {len(differing)} of {len(scored)} scored"
        + (f" (games {', '.join(map(str, differing))})" if differing else "")
    )
    return lines
