"""A game with its variations: numbered nodes over sgfmill's tree, so that properties nobody here knows survive."""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sgfmill.sgf import Sgf_game, Tree_node

from board.constant import MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE
from board.coordinate import Coordinate
from board.go_board import GoBoard
from board.handicap import get_fixed_handicap, get_free_handicap, max_fixed_handicap
from board.ruleset import Rules
from board.stone import Stone
from program import PROGRAM_NAME, VERSION
from sgf.grammar import ILLEGAL, MALFORMED, SET_UP, TOO_LONG, WRONG_SIZE, Node, SGFError, show, to_utf8
from sgf.reader import check_game, full_text, is_possible_lead, parse_number, simple_text, to_pos

COLORS = {"B": Stone.BLACK, "W": Stone.WHITE}
LETTERS = {color: letter for letter, color in COLORS.items()}
# Black's win rate in percent, as Sabaki writes and reads it, and SGF's own property for Black's estimated lead.
WINRATE, LEAD = "SBKV", "V"
ROOT = 0
# What sgfmill calls a property of small letters alone, which it leaves out: written, it could not be read again.
NAMELESS = ""
# What sgfmill says of a board that is no square.
RECTANGULAR = re.compile(r"bad SZ property: b'(\d+:\d+)'")


class GameTree:
    """A tree of positions; node ROOT is the first one, a child always has a higher number than its parent."""

    def __init__(self, game: Sgf_game, rules: Rules) -> None:
        """Number the nodes of a game, which is played by these rules; its own komi beats theirs."""
        self._game = game
        self.size: int = game.get_size()
        self.rules = rules
        self._coordinate = Coordinate(self.size)
        self._nodes: dict[int, Tree_node] = {}
        self._numbers: dict[int, int] = {}
        self._count = 0

    @classmethod
    def new(cls, size: int, rules: Rules, handicap: int = 0) -> "GameTree":
        """Return a game without moves; raises ValueError for a handicap that does not fit the board."""
        game = Sgf_game(size)
        root = game.get_root()
        root.set("AP", (PROGRAM_NAME, VERSION))
        root.set("KM", rules.komi)
        tree = cls(game, rules)
        if handicap:
            fixed = handicap <= max_fixed_handicap(size)
            points = (get_fixed_handicap if fixed else get_free_handicap)(size, handicap)
            root.set("HA", handicap)
            to_sgf = tree._coordinate.convert_to_sgf_format
            root.set_raw_list("AB", [to_sgf(pos).encode() for pos in points])
            root.set_raw("PL", b"W")
        tree._add(root)
        return tree

    @classmethod
    def read(cls, record: str | bytes, rules: Rules, max_nodes: int) -> "GameTree":
        """Return the first game of an SGF record; raises SGFError for one that cannot be used."""
        try:
            game = Sgf_game.from_bytes(to_utf8(record), override_encoding="UTF-8")
        except (ValueError, RecursionError) as error:
            text = " ".join(str(error).split())
            if size := RECTANGULAR.fullmatch(text):
                raise SGFError(WRONG_SIZE, f"SZ[{size[1]}] is not a size of a square board") from None
            raise SGFError(MALFORMED, f"this is no SGF game: {text}") from None
        if not MIN_BOARD_SIZE <= game.get_size() <= MAX_BOARD_SIZE:
            raise SGFError(WRONG_SIZE, f"board size {game.get_size()} is not {MIN_BOARD_SIZE} to {MAX_BOARD_SIZE}")
        root = game.get_root()
        check_game(root.get_raw_property_map())
        komi = parse_number(root.get_raw("KM").decode(errors="replace")) if root.has_property("KM") else None
        if komi is not None and abs(komi) <= MAX_KOMI:
            rules = replace(rules, komi=komi)
        elif root.has_property("KM"):  # no komi: the record has the one that is played by
            root.set("KM", rules.komi)
        tree = cls(game, rules)
        waiting = [game.get_root()]
        while waiting:
            node = waiting.pop()
            if node.has_property(NAMELESS):
                node.unset(NAMELESS)
            tree.move(tree._add(node))
            if len(tree._nodes) > max_nodes:
                raise SGFError(TOO_LONG, f"the game has more than {max_nodes:,} nodes")
            waiting += list(node)[::-1]
        tree.board_at(tree.end_of_line(ROOT))
        return tree

    def _add(self, node: Tree_node) -> int:
        """Give a node the next number and return it."""
        number, self._count = self._count, self._count + 1
        self._nodes[number] = node
        self._numbers[id(node)] = number
        return number

    # --- looking ------------------------------------------------------------------------------------------------

    def __contains__(self, number: int) -> bool:
        """Tell whether there is a node of this number."""
        return number in self._nodes

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers of all nodes, parents before their children."""
        return iter(self._nodes)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self._nodes)

    def parent(self, number: int) -> int | None:
        """Return the node before a node, None before the root."""
        above = self._nodes[number].parent
        return None if above is None else self._numbers[id(above)]

    def children(self, number: int) -> list[int]:
        """Return the nodes after a node, the main line first."""
        return [self._numbers[id(child)] for child in self._nodes[number]]

    def line_to(self, number: int) -> list[int]:
        """Return the nodes from the root to a node."""
        line: list[int] = []
        node: int | None = number
        while node is not None:
            line.append(node)
            node = self.parent(node)
        return line[::-1]

    def follow(self, path: Iterable[int]) -> int:
        """Return the node to which a path of children's places leads from the root, as far as there are any."""
        number = ROOT
        for index in path:
            children = self.children(number)
            if not 0 <= index < len(children):
                break
            number = children[index]
        return number

    def path_to(self, number: int) -> list[int]:
        """Return the path to a node."""
        line = self.line_to(number)
        return [self.children(parent).index(child) for parent, child in itertools.pairwise(line)]

    def end_of_line(self, number: int) -> int:
        """Return where the main line below a node ends."""
        while children := self.children(number):
            number = children[0]
        return number

    def move(self, number: int) -> tuple[Stone, int] | None:
        """Return color and pos of the move that leads to a node, None for none; raises SGFError."""
        node = self._nodes[number]
        moves = [(color, raw) for letter, color in COLORS.items() if node.has_property(letter)
                 for raw in node.get_raw_list(letter)]
        if not moves:
            return None
        try:
            if len(moves) > 1:
                raise ValueError
            return moves[0][0], self._coordinate.convert_from_sgf_format(moves[0][1].decode(errors="replace").strip())
        except ValueError:
            shown = show(b"][".join(raw for _, raw in moves))
            raise SGFError(MALFORMED, f"[{shown}] is not one point") from None

    def _properties(self, number: int) -> Node:
        """Return the raw properties of a node."""
        properties: Node = self._nodes[number].get_raw_property_map()
        return properties

    def comment(self, number: int) -> str:
        """Return the comment of a node."""
        raw = self._properties(number).get("C")
        return full_text(raw) if raw else ""

    def names(self) -> tuple[str, str]:
        """Return the names of Black and White, "" where the record has none."""
        root = self._properties(ROOT)
        return simple_text(root, "PB"), simple_text(root, "PW")

    def result(self) -> str:
        """Return the result that the record tells, "" for none."""
        return simple_text(self._properties(ROOT), "RE")

    def winrate(self, number: int) -> float | None:
        """Return Black's win rate, [0, 1], that a node of the record tells."""
        rate = self._number(number, WINRATE)
        return rate / 100 if rate is not None and 0 <= rate <= 100 else None

    def lead(self, number: int) -> float | None:
        """Return Black's lead in points that a node of the record tells."""
        lead = self._number(number, LEAD)
        return lead if lead is not None and is_possible_lead(lead, self.size) else None

    def _number(self, number: int, name: str) -> float | None:
        """Return the number in a property of a node, None where there is none."""
        node = self._nodes[number]
        return parse_number(node.get_raw(name).decode(errors="replace")) if node.has_property(name) else None

    def board_at(self, number: int) -> GoBoard:
        """Return the game up to a node on a board; raises SGFError where a move or a set-up is impossible."""
        board = GoBoard.with_rules(self.size, self.rules)
        for step in self.line_to(number):
            self._set_up(board, self._nodes[step])
            move = self.move(step)
            if move is None:
                continue
            try:
                board.put_stone(move[1], move[0])
            except ValueError as error:
                raise SGFError(ILLEGAL, f"move {board.moves}: {error}") from None
        return board

    def _set_up(self, board: GoBoard, node: Tree_node) -> None:
        """Put the set-up stones of a node on a board, or turn to its side to move; there the game begins anew."""
        letter = node.get_raw("PL").decode(errors="replace").strip()[:1].upper() if node.has_property("PL") else ""
        to_move, has_stones = COLORS.get(letter), node.has_setup_stones()
        if to_move is None and (has_stones or node.parent is None):
            to_move = self._next_mover(node) or (board.get_to_move() if board.moves > 1 else None)
        if not has_stones and to_move in (None, board.get_to_move()):
            return
        try:
            added = [{to_pos(row, column, self.size) for row, column in points} for points in node.get_setup_stones()]
            stones = {pos: board.board[pos] for pos in board.onboard_pos}
            for points, color in zip(added, (Stone.BLACK, Stone.WHITE, Stone.EMPTY), strict=True):
                stones.update(dict.fromkeys(points, color))
            black, white = ([pos for pos, stone in stones.items() if stone == color] for color in COLORS.values())
            board.set_up(black, white, to_move)
        except ValueError as error:
            raise SGFError(SET_UP, f"set-up stones: {str(error) or 'not a list of points'}") from None

    @staticmethod
    def _next_mover(node: Tree_node) -> Stone | None:
        """Return who moves first below a node, in its main line; None for nobody, or if stones are set up before."""
        while len(node):
            node = node[0]
            if node.has_setup_stones():
                return None
            for letter, color in COLORS.items():
                if node.has_property(letter):
                    return color
        return None

    # --- changing -----------------------------------------------------------------------------------------------

    def play(self, number: int, color: Stone, pos: int) -> int:
        """Return the node after a legal move at a node, which is made unless the tree has it."""
        for child in self.children(number):
            if self.move(child) == (color, pos):
                return child
        node = self._nodes[number].new_child()
        node.set_raw(LETTERS[color], self._coordinate.convert_to_sgf_format(pos).encode())
        return self._add(node)

    def remove(self, number: int) -> list[int]:
        """Take a node with all that comes after it out of the tree and return the numbers; the root stays."""
        node = self._nodes[number]
        node.delete()
        removed, waiting = [], [node]
        while waiting:
            gone = waiting.pop()
            waiting += list(gone)
            removed.append(self._numbers.pop(id(gone)))
            del self._nodes[removed[-1]]
        return removed

    def set_view(self, number: int, winrate: float, lead: float | None) -> None:
        """Keep Black's win rate at a node, and the lead where it is known."""
        node = self._nodes[number]
        node.set_raw(WINRATE, f"{100 * winrate:.2f}".encode())
        if lead is not None:
            node.set_raw(LEAD, f"{lead:.2f}".encode())

    def set_result(self, result: str) -> None:
        """Keep the result of the game; "" for none."""
        root = self._nodes[ROOT]
        if result:
            root.set("RE", result)
        elif root.has_property("RE"):
            root.unset("RE")

    def to_sgf(self) -> str:
        """Return the game with all variations as SGF."""
        data: bytes = self._game.serialise()
        return data.decode("utf-8", "replace")
