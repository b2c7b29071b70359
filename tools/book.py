"""Make an opening book for `main.py --book FILE`, by searching the positions that are likely to come first.

    python tools/book.py --out book.txt --minutes 60
    python tools/book.py --out book.txt --minutes 60 --kifu-dir games

In a position of its own the book has one move, the one that a search finds; after it come the replies that the
network's policy finds likely and those that were played in games. A line is as likely as its replies together, and the
likeliest one is searched next: the book grows deep where few moves are good. It has the moves of both colors. Stopped
at any time, the same command goes on; engine/book.py tells what the file looks like.
"""

import heapq
import sys
import time
from collections import Counter
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from board.constant import BOARD_SIZE, DEFAULT_KOMI, MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE, PASS
from board.go_board import GoBoard, IllegalMoveError
from board.ruleset import format_komi
from board.stone import Stone
from common.command_line import FiniteRange, run_command
from common.exit_status import tell_failures
from common.lock_file import hold_lock
from common.print_console import print_err
from engine.book import Book, BookError, find_key, turn_back, turn_move
from engine.engine import Engine
from engine.loader import make_source
from engine.options import DEFAULT_MODEL, EngineOptions, find_model
from nn.data.game_report import GameReport
from sgf.collection import read_folder

# The share of the games in a reply's likelihood, where the position was met so often or more.
GAMES_SHARE, MET_OFTEN = 0.5, 20
Replies = dict[int, Counter[int]]  # by position, as the book knows it: how often each move was played


def count_replies(folder: Path, board_size: int, plies: int) -> Replies:
    """Return what was played in the first moves of a folder's games."""
    found: Replies = {}
    for game in read_folder(folder, board_size, GameReport().skip):
        board = GoBoard(board_size)
        for pos, color in zip(game.pos[:plies], game.color, strict=False):
            if len(game.setup_pos) or color != board.get_to_move():
                break
            key = find_key(board, board.get_to_move())
            found.setdefault(key.hash, Counter())[turn_move(board_size, int(pos), key.symmetry)] += 1
            try:
                board.put_stone(int(pos), board.get_to_move())
            except IllegalMoveError:
                break
    if not found:
        print_err(f"{folder} has no {board_size}x{board_size} game that tells of replies")
    return found


class BookMaker:
    """Makes a book larger, the likeliest position first."""

    def __init__(self, engine: Engine, book: Book, replies: Replies, least: float, plies: int) -> None:
        """Begin with both colors' first positions.

        Replies less likely than `least` are left aside, and so are positions after `plies` moves.
        """
        self.engine, self.book, self.least, self.plies = engine, book, least, plies
        self._replies = replies
        self._seen: set[int] = set()
        self._queue: list[tuple[float, int, GoBoard]] = []
        start = GoBoard(book.board_size, book.komi)
        self._add(1.0, start)
        self._add_replies(1.0, start)

    def _add(self, likelihood: float, board: GoBoard) -> None:
        """Take a position in which the book is to move into the queue, if it is new."""
        position = find_key(board, board.get_to_move()).hash
        if position not in self._seen and board.moves - 1 < self.plies:
            self._seen.add(position)
            heapq.heappush(self._queue, (-likelihood, len(self._seen), board))

    def _add_replies(self, likelihood: float, board: GoBoard) -> None:
        """Take the positions after the opponent's likely replies into the queue."""
        for pos, share in self._weigh_replies(board).items():
            if share * likelihood >= self.least:
                after = board.copy()
                after.put_stone(pos, board.get_to_move())
                self._add(share * likelihood, after)

    def _weigh_replies(self, board: GoBoard) -> dict[int, float]:
        """Return how likely each reply is, by policy and games; those that are symmetric to each other count once."""
        color, size = board.get_to_move(), board.board_size
        self.engine.set_board(board)
        policy = self.engine.get_policy(color)
        key = find_key(board, color)
        played = self._replies.get(key.hash, Counter())
        met, shares = sum(played.values()), dict(zip(board.onboard_pos, policy[:-1].tolist(), strict=True))
        if met >= MET_OFTEN:
            games = {turn_back(size, pos, key.symmetry): count / met for pos, count in played.items()}
            shares = {pos: (1.0 - GAMES_SHARE) * share + GAMES_SHARE * games.get(pos, 0.0)
                      for pos, share in shares.items()}
        merged: dict[int, tuple[int, float]] = {}
        for pos, share in shares.items():
            if board.is_legal_not_eye(pos, color):
                after = board.copy()
                after.put_stone(pos, color)
                reached = find_key(after, Stone.get_opponent_color(color)).hash
                first, before = merged.get(reached, (pos, 0.0))
                merged[reached] = first, before + share
        return dict(merged.values())

    def search_next(self) -> bool | None:
        """Have the likeliest position in the book; return whether it was searched for, None when none is left."""
        if not self._queue:
            return None
        likelihood, _, board = heapq.heappop(self._queue)
        color = board.get_to_move()
        known = self.book.find(board, color)
        if known is None:
            self.engine.set_board(board)
            result = self.engine.look(color)
            pos = result.pos
            self.book.add(board, pos, result.winrate, result.total_visits)
        else:
            pos = known[0]
        if pos != PASS:
            after = board.copy()
            after.put_stone(pos, color)
            self._add_replies(-likelihood, after)
        return known is None


def make_book(maker: BookMaker, out: Path, minutes: float, positions: int) -> None:
    """Search until the time is over or so many positions are in the book; the file is written after each."""
    begin, searched = time.monotonic(), 0
    while time.monotonic() - begin < 60.0 * minutes and len(maker.book) < positions:
        found = maker.search_next()
        if found is None:
            print_err("book: every line is as deep as --least-likely and --plies allow")
            break
        if found:
            searched += 1
            maker.book.write(out)
    print_err(f"{out}: {len(maker.book)} positions, {searched} of them new")


@click.command(context_settings={"show_default": True})
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The book, old or new.")
@click.option("--size", "board_size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE), default=BOARD_SIZE,
              help="Board size.")
@click.option("--komi", type=FiniteRange(-MAX_KOMI, MAX_KOMI), default=DEFAULT_KOMI, help="Points given to White.")
@click.option("--model", default=DEFAULT_MODEL, help="Model file, as for main.py.")
@click.option("--visits", type=click.IntRange(1), default=2000, help="Visits of each search.")
@click.option("--minutes", type=FiniteRange(0.0, min_open=True), default=60.0, help="Minutes after which to stop.")
@click.option("--positions", type=click.IntRange(1), default=100000, help="Positions at which to stop.")
@click.option("--plies", type=click.IntRange(1), default=16,
              help="Moves, of both sides together, after which lines end.")
@click.option("--least-likely", type=FiniteRange(0.0, 1.0), default=0.001,
              help="Least likelihood of a line that is searched: that of all its replies, multiplied.")
@click.option("--kifu-dir", type=click.Path(exists=True, file_okay=False, path_type=Path), default=None,
              help="Folder of SGF files: what was played in them counts among the replies, too.")
def main(out: Path, board_size: int, komi: float, model: str, visits: int, minutes: float, positions: int, plies: int,
         least_likely: float, kifu_dir: Path | None) -> None:
    """Make an opening book, or make one larger."""
    taken = BookError(f"another run is at work on {out}: let it end, or give another --out")
    stopped = "stopped; the same command goes on from here"
    with tell_failures(out, stopped=stopped), hold_lock(out.with_name(f".{out.name}.lock"), taken):
        book = Book.read(out) if out.exists() else Book(board_size, komi)
        if (book.board_size, book.komi) != (board_size, komi):
            raise BookError(f"{out} is for size {book.board_size} and komi {format_komi(book.komi)}: "
                            "give --size and --komi so")
        options = EngineOptions(size=board_size, komi=komi, visits=visits, strict_visits=visits,
                                model=find_model(model))
        engine = Engine(options.for_model(), make_source(options))
        replies = count_replies(kifu_dir, board_size, plies) if kifu_dir else {}
        make_book(BookMaker(engine, book, replies, least_likely, plies), out, minutes, positions)


if __name__ == "__main__":
    sys.exit(run_command(main, "book.py"))
