"""The comparison as a table of Markdown."""

from tools.comparelib.runs import CALL, CompareConfig, Outcome

# Columns of a training's table: title, name there, and how its number is shown.
COLUMNS = (
    ("steps", "step", "{:.0f}"), ("policy loss", "test_policy_loss", "{:.3f}"),
    ("teacher's first choice", "test_policy_top1", "{:.1%}"), ("moves played", "test_move_top1", "{:.1%}"),
    ("value loss", "test_value_loss", "{:.3f}"), ("win rate, rms", "test_rate_error", "{:.3f}"),
    ("ownership, mean", "test_ownership_error", "{:.3f}"), ("lead, points", "test_lead_error", "{:.2f}"),
)


def format_cell(row: dict[str, str], name: str, pattern: str) -> str:
    """Return a number of a training's table, or a dash where there is none."""
    number = float(row.get(name) or 0.0)
    return pattern.format(number) if number else "–"


def format_page(config: CompareConfig, outcomes: list[Outcome], command: str) -> str:
    """Return the page: what was done, and a row for each way."""
    titles = ["way", "options", *(title for title, _, _ in COLUMNS), f"positions/s in calls of {CALL}"]
    if config.games:
        board = f"{config.board_size}x{config.board_size}"
        titles.append(f"Elo against the base on {board} at {config.seconds:g} s a move, 95 % interval")
    lines = [f"Each way was trained for {config.minutes:g} minutes on the same data, from the same seed, with "
             f"`{config.base}` and its own options; the numbers are those of held-out positions.", "",
             "```sh", command, "```", "",
             f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for outcome in outcomes:
        cells = [outcome.way.name, f"`{outcome.way.options}`" if outcome.way.options else "",
                 *(format_cell(outcome.row, name, pattern) for _, name, pattern in COLUMNS), f"{outcome.speed:,.0f}"]
        if config.games:
            cells.append("0" if outcome.match is None
                         else f"{outcome.match.describe_elo()}, {outcome.match.games} games")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
