"""The game of one tab: a tree of moves, the place in it that is looked at, and what searches said about its nodes.

Points are numbered as in points.py. Win rates and leads are Black's.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from board.go_board import GoBoard
from board.ruleset import Rules
from board.stone import Stone
from browser.clock import MINUTE, GameClock
from browser.points import PASS_POINT, to_pos
from sgf.game_tree import ROOT, GameTree
from sgf.grammar import SGFError, has_several_games, to_utf8
from sgf.match_result import format_score

MAX_NODES = 20_000
MAX_SGF_BYTES = 2_000_000
MAX_HANDICAP = 30


class TableError(ValueError):
    """What was asked for cannot be done; the text is one line for the player.

    Attributes:
        sentence: the text with {0}, {1}, ... for what it tells of, by which the page finds it in other languages.
        values: what stands in their place.
    """

    def __init__(self, sentence: str, *values: object) -> None:
        """Take a sentence and what belongs into it."""
        super().__init__(sentence.format(*values) if values else sentence)
        self.sentence, self.values = sentence, values


@dataclass(frozen=True)
class NodeView:
    """What a search said about a node: win rate in [0, 1], lead in points (None if unknown), and its visits."""

    winrate: float
    lead: float | None
    visits: int


@dataclass(frozen=True)
class GameEnd:
    """A result that came about here, not in a record that was read.

    Attributes:
        node: where.
        loser: who has lost without counting, None where it was counted.
        on_time: whether the clock was the reason.
        before: the result that the record had.
    """

    node: int
    loser: Stone | None
    on_time: bool
    before: str


class Table:
    """A game and where its player stands in it."""

    def __init__(self, rules: Rules, sizes: range, size: int) -> None:
        """Begin a game on an empty board; `sizes` are those that can be played."""
        self._rules, self._sizes = rules, sizes
        self.clock: GameClock | None = None
        self._take(GameTree.new(size, rules), ROOT)  # with the komi of the options, however much it is
        self.is_fresh = True  # until somebody begins, brings or plays a game

    # --- beginning ----------------------------------------------------------------------------------------------

    def new(self, size: int, komi: float, handicap: int, minutes: float = 0.0) -> None:
        """Begin another game, with so many minutes for each side (0: without a clock); raises TableError."""
        self._check_size(size)
        if not 0 <= handicap <= MAX_HANDICAP or handicap == 1:
            raise TableError("handicap {0} is not 0 or 2 to {1}", handicap, MAX_HANDICAP)
        if not abs(komi) <= size * size:
            raise TableError("komi {0} is more than the board has points", f"{komi:g}")
        try:
            tree = GameTree.new(size, replace(self._rules, komi=komi), handicap)
        except ValueError as error:
            raise TableError(str(error)) from None
        self._take(tree, ROOT)
        if minutes:
            self.clock = GameClock(MINUTE * minutes, MINUTE * minutes)

    def load(self, record: str | bytes, path: Iterable[int] = ()) -> bool:
        """Go on from the first game of an SGF record, and return whether it has others; raises TableError.

        `path` says which child to take at each step.
        """
        data = to_utf8(record)
        if len(data) > MAX_SGF_BYTES:
            raise TableError("the record has {0} bytes, {1} at most can be read",
                             *map("{:,}".format, (len(data), MAX_SGF_BYTES)))
        try:
            tree = GameTree.read(data.decode(), self._rules, MAX_NODES)
            self._check_size(tree.size)
            here = tree.follow(path)
            tree.board_at(here)
        except SGFError as error:
            raise TableError("this game cannot be read: {0}", error) from None
        self._take(tree, here)
        for node in tree:
            if (winrate := tree.winrate(node)) is not None:
                self.views[node] = NodeView(winrate, tree.lead(node), 0)
        return has_several_games(data)

    def _check_size(self, size: int) -> None:
        """Raise TableError for a size that the network does not play."""
        if size in self._sizes:
            return
        first, last = self._sizes[0], self._sizes[-1]
        if first == last:
            raise TableError("this model plays {0}, not {1}x{1}: start with another one (--model)", first, size)
        raise TableError("this model plays {0} to {1}, not {2}x{2}: start with another one (--model)",
                         first, last, size)

    def _take(self, tree: GameTree, here: int) -> None:
        """Make a tree the game."""
        self.tree, self.here, self.is_fresh = tree, here, False
        self.board = tree.board_at(here)
        self.views: dict[int, NodeView] = {}
        self.clock = None
        self.ending: GameEnd | None = None

    # --- looking ------------------------------------------------------------------------------------------------

    @property
    def to_move(self) -> Stone:
        """The side to move."""
        return self.board.get_to_move()

    @property
    def loss(self) -> GameEnd | None:
        """How the game has ended at this node without counting, None if it has not."""
        ending = self.ending
        return ending if ending is not None and ending.node == self.here and ending.loser is not None else None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended at this node."""
        return self.board.is_over or self.loss is not None

    # --- moving -------------------------------------------------------------------------------------------------

    def play(self, point: int) -> None:
        """Play a point, or PASS_POINT, for the side to move; raises TableError for what the rules forbid."""
        board, color = self.board, self.to_move
        if not PASS_POINT <= point < len(board.onboard_pos):
            raise TableError("{0} is no point of this board", point)
        pos = to_pos(board.board_size, point)
        if not board.is_legal(pos, color):
            name = board.coordinate.convert_to_gtp_format(pos)
            raise TableError(f"{{0}} cannot be played: {self._why_not(pos)}", name)
        self.add_move(color, pos)

    def _why_not(self, pos: int) -> str:
        """Return which rule forbids a move."""
        if self.board.board[pos] != Stone.EMPTY:
            return "there is a stone"
        if pos == self.board.ko_pos:
            return "the ko cannot be retaken at once"
        if self.board.check_superko and self.board.is_superko(pos, self.to_move):
            return "it repeats an earlier position"
        return "the stones would have no liberty"

    def add_move(self, color: Stone, pos: int) -> None:
        """Play a legal move and stand after it; raises TableError when the tree is full."""
        if len(self.tree) >= MAX_NODES:
            raise TableError("the game has {0} nodes, more cannot be kept", f"{MAX_NODES:,}")
        if self.ending is not None and self.ending.node == self.here:  # it goes on
            self.forget_result()
        self.is_fresh = False
        self.here = self.tree.play(self.here, color, pos)
        self.board.put_stone(pos, color)
        if self.clock is not None:
            self.clock.stop()
            if not self.is_over:
                self.clock.run(self.to_move)

    def go(self, node: int) -> None:
        """Stand at another node; raises TableError."""
        self.here, self.board = node, self.board_at(node)
        self.stop_clock()

    def board_at(self, node: int) -> GoBoard:
        """Return the position at a node; raises TableError where a record's moves before it are impossible."""
        if node not in self.tree:
            raise TableError("that position is gone")
        try:
            return self.tree.board_at(node)
        except SGFError as error:
            raise TableError("this variation cannot be shown: {0}", error) from None

    def stop_clock(self) -> None:
        """Let the clock stand until the next move."""
        if self.clock is not None:
            self.clock.stop()

    def undo(self, moves: int) -> list[int]:
        """Take back moves at the end of a line; return the nodes that are gone: not those of another line."""
        if self.tree.children(self.here):
            raise TableError("moves are taken back at the end of a line: go there, or delete from here")
        line = self.tree.line_to(self.here)
        if len(line) == 1:
            raise TableError("there is no move to take back")
        depth, first = max(0, len(line) - 1 - moves), line[-1]
        for node in reversed(line[depth + 1:-1]):
            if len(self.tree.children(node)) > 1:
                break
            first = node
        gone = self.remove(first)
        self.go(line[depth])
        return gone

    def remove(self, node: int) -> list[int]:
        """Take a node with all that comes after it out of the game; return the nodes that are gone."""
        if node not in self.tree or node == ROOT:
            raise TableError("that position cannot be taken out")
        if node in self.tree.line_to(self.here):
            self.go(self.tree.parent(node) or ROOT)
        gone = self.tree.remove(node)
        for number in gone:
            self.views.pop(number, None)
        if self.ending is not None and self.ending.node in gone:
            self.forget_result()
        return gone

    def lose(self, color: Stone, on_time: bool = False) -> None:
        """End the game with the loss of `color`, which resigns or whose time is up."""
        self.stop_clock()
        self._end(f"{'W' if color == Stone.BLACK else 'B'}+{'T' if on_time else 'R'}", color, on_time)

    def count(self, lead: float) -> bool:
        """End the game with Black's lead in points, unless its record brought a result; tell whether that is news."""
        result, known = format_score(lead, 0), self.tree.result()
        if known and self.ending is None:
            return False
        self._end(result)
        return result != known

    def _end(self, result: str, loser: Stone | None = None, on_time: bool = False) -> None:
        """Write a result that has come about at this node."""
        self.is_fresh = False
        before = self.tree.result() if self.ending is None else self.ending.before
        self.tree.set_result(result)
        self.ending = GameEnd(self.here, loser, on_time, before)

    def forget_result(self) -> None:
        """Take back the result that came about here: the game goes on, without a clock if the time of a side was up.

        One that a record brought stays.
        """
        if self.ending is not None:
            if self.ending.on_time:
                self.clock = None
            self.tree.set_result(self.ending.before)
        self.ending = None

    # --- what searches say --------------------------------------------------------------------------------------

    def note(self, node: int, view: NodeView) -> bool:
        """Keep what a search said about a node, unless a longer one did; tell whether it was kept."""
        known = self.views.get(node)
        if node not in self.tree or (known is not None and known.visits > view.visits):
            return False
        self.views[node] = view
        self.tree.set_view(node, view.winrate, view.lead)
        return True

    def copy_board(self) -> GoBoard:
        """Return the position for a search, which may change it."""
        return self.board.copy()
