"""What a tournament came to: the table for the terminal, and a page with the table and all games."""

from collections.abc import Iterator
from html import escape

from tools.matchlib.rating import Rating
from tools.matchlib.record import MatchRecord
from tools.matchlib.report import align
from tools.matchlib.store import game_file_name
from tools.tournamentlib.round_robin import Entrant, Pairing, score_of

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .2rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr:nth-child(even) { background: #8881; }
code { font-size: 85%; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } a { color: #8cf; } }
"""


def make_rows(ratings: dict[str, Rating], pairings: list[Pairing]) -> Iterator[list[str]]:
    """Yield the head of the table and a row for each player, the strongest first."""
    names = list(ratings)
    yield ["", "Elo", "95 %", "score", "games", *names]
    for name, rating in ratings.items():
        cells, points = [], 0.0
        for other in names:
            score, games = score_of(pairings, name, other)
            points += score
            cells.append(f"{score:g}/{games}" if games else "")
        share = f"{100 * points / rating.games:.1f} %" if rating.games else ""
        yield [name, f"{rating.elo:+.0f}", f"[{rating.low:+.0f}, {rating.high:+.0f}]", share, str(rating.games), *cells]


def format_ratings(ratings: dict[str, Rating], pairings: list[Pairing]) -> str:
    """Return the table as text."""
    return "\n".join(align(list(make_rows(ratings, pairings))))


def _table(rows: list[list[str]]) -> str:
    """Return rows of HTML as a table, the first one as its head."""
    lines = ["<tr>" + "".join(f"<th>{cell}</th>" for cell in rows[0]) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:]]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _game_row(pairing: Pairing, record: MatchRecord) -> list[str]:
    first, second = pairing.names
    black, white = (first, second) if record.black == "first" else (second, first)
    link = f"{pairing.config.directory.name}/sgf/{game_file_name(record.index)}"
    return [f'<a href="{escape(link)}">{record.index + 1}</a>', escape(black), escape(white), escape(record.result),
            escape(record.reason), str(record.moves), escape(" ".join(record.opening))]


def make_page(title: str, players: list[Entrant], ratings: dict[str, Rating], pairings: list[Pairing]) -> str:
    """Return the page: players with their commands, the table, and each game with a link to its record."""
    rows = [[escape(cell) for cell in row] for row in make_rows(ratings, pairings)]
    parts = [f"<h1>{escape(title)}</h1>", _table(rows), "<h2>Players</h2>",
             _table([["name", "command"], *([escape(p.name), f"<code>{escape(p.command)}</code>"] for p in players)])]
    for pairing in pairings:
        parts.append(f"<h2>{escape(' against '.join(pairing.names))}</h2>")
        parts.append(_table([["game", "Black", "White", "result", "by", "moves", "opening"],
                             *(_game_row(pairing, record) for record in pairing.records)]))
    body = "\n".join(parts)
    return (f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
            f"<style>{STYLE}</style>\n{body}\n</html>\n")
