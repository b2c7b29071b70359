"""A query of KataGo's analysis engine: a line of JSON becomes a `Query`, or a QueryError that says what is wrong."""

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from board.constant import MAX_BOARD_SIZE, MIN_BOARD_SIZE, PASS
from board.coordinate import Coordinate
from board.go_board import GoBoard
from board.stone import Stone
from engine.levels import FULL_LEVEL
from engine.options import WINRATES_AS
from gtp.analysis.fields import KATAGO_MAX_KOMI, MAX_ECHO, QueryError, QueryFields
from gtp.parameters import MAX_WIDE_ROOT_NOISE, widen_root
from gtp.rules import HANDICAP_BONUS, NAMED_RULES, Agreement, normalize_name, parse_rules, read_rules
from mcts.restriction import Restriction

MAX_VISITS = 2**50
MAX_PRIORITY = 2**62
MAX_DEPTH = 1_000_000_000
# Moves of a principal variation after the first one.
PV_LENGTH = 15
MAX_PV_LENGTH = 1000
REPORT_SECONDS = (0.001, 1_000_000.0)
MAX_SECONDS = 1e30
TEMPERATURES = (0.01, 100.0)

# EngineOptions.winrates_as as a color, None for the side to move.
PERSPECTIVES = dict(zip(WINRATES_AS, (Stone.BLACK, Stone.WHITE, None), strict=True))
FLAGS = ("includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includeMovesOwnershipStdev",
         "includePolicy", "includePVVisits", "includeNoResultValue")
BONUSES = ("0", "N-1", "N")
RULES_MESSAGE = ('Must specify rules string, such as "chinese" or "tromp-taylor", '
                 "or a JSON object with detailed rules parameters.")
SIZE_MESSAGE = f"Must provide an integer from {MIN_BOARD_SIZE} to {MAX_BOARD_SIZE}"
KOMI_MESSAGE = f"Must be a integer or half-integer from {-KATAGO_MAX_KOMI} to {KATAGO_MAX_KOMI}"
RESTRICTION_MESSAGE = "Must be a list of dicts with subfields 'player', 'moves', 'untilDepth'"


@dataclass
class Query:
    """Positions of one game, and what is to be known about them.

    Attributes:
        stones: color of each stone that stands on the board before the first move.
        to_move: the side to move first, None if the query does not say.
        turns: the numbers of moves after which the game is looked at, with their priorities.
        level: the level whose move is answered, too; None for that of the options.
        bonus: what White gets for N handicap stones: "0", "N-1" or "N".
        perspective: whose win rates, leads and ownership are answered; None for the side to move.
        flags: the names of the FLAGS that are true.
        first_report, interval: seconds until the first report while the search runs, and between two of them.
        warnings: fields, and why they do not do what they should.
    """

    id: str
    board_size: int
    stones: dict[int, Stone] = field(default_factory=dict)
    to_move: Stone | None = None
    moves: list[tuple[Stone, int]] = field(default_factory=list)
    turns: dict[int, int] = field(default_factory=dict)
    agreement: Agreement = Agreement()
    bonus: str = "0"
    komi: float | None = None
    visits: int | None = None
    seconds: float | None = None
    root_temperature: float = 1.0
    restriction: Restriction | None = None
    level: int | None = None
    perspective: Stone | None = Stone.BLACK
    pv_length: int = PV_LENGTH
    flags: frozenset[str] = frozenset()
    first_report: float | None = None
    interval: float = 0.0
    warnings: list[tuple[str, str]] = field(default_factory=list)

    def make_board(self, turn: int, default_komi: float) -> GoBoard:
        """Return the game after so many moves; raises QueryError for an impossible position or an illegal move."""
        komi = (default_komi if self.komi is None else self.komi) + self.handicap_bonus(turn)
        board = GoBoard.with_rules(self.board_size, replace(self.agreement.rules, komi=komi))
        black, white = ([pos for pos, color in self.stones.items() if color == side]
                        for side in (Stone.BLACK, Stone.WHITE))
        try:
            board.set_up(black, white, self.to_move or (self.moves[0][0] if self.moves else None))
        except ValueError as error:
            raise QueryError("initialStones", str(error)) from None
        for number, (color, pos) in enumerate(self.moves[:turn]):
            try:
                board.put_stone(pos, color)
            except ValueError:
                point = board.coordinate.convert_to_gtp_format(pos)
                raise QueryError("moves", f"Illegal move {number}: {point}") from None
        return board

    def handicap_bonus(self, turn: int) -> int:
        """Return the points that White gets for Black's stones before White's first one (KataGo's way to count)."""
        stones = len(self.stones)
        if Stone.WHITE in self.stones.values():
            return 0
        for color, pos in self.moves[:turn]:
            if color == Stone.WHITE and pos != PASS:  # some records have passes of White's between the stones
                break
            stones += pos != PASS
        return 0 if stones < 2 else {"0": 0, "N-1": stones - 1, "N": stones}[self.bonus]


def read_query(query_id: str, content: dict[str, Any], winrates_as: str = WINRATES_AS[0]) -> Query:
    """Return what a JSON object asks for, and the perspective `winrates_as` where it does not; raises QueryError."""
    fields = QueryFields(content)
    fields.get("id")
    query = Query(query_id, _read_size(fields), perspective=PERSPECTIVES[winrates_as])
    coordinate = Coordinate(query.board_size)
    if fields.has("initialStones"):
        stones = list(fields.moves("initialStones", coordinate))
        query.stones = {pos: color for color, pos in stones}
        if len(query.stones) < len(stones):
            raise QueryError("initialStones", "A point is named twice")
        if PASS in query.stones:
            raise QueryError("initialStones", "Could not parse board location: pass")
    if not fields.has("moves"):
        raise QueryError("moves", "Must specify an array of [player,location] pairs")
    query.moves = list(fields.moves("moves", coordinate))
    query.to_move = fields.player("initialPlayer")
    query.turns = _read_turns(fields, len(query.moves))
    _read_rules(fields, query)
    _read_search(fields, query)
    query.restriction = _read_restriction(fields, coordinate)
    query.flags = frozenset(name for name in FLAGS if fields.boolean(name))
    _read_overrides(fields, query)
    query.warnings += [(name, "Unexpected or unused field") for name in fields.unused]
    return query


def _read_size(fields: QueryFields) -> int:
    """Return the board size; both sides are the same."""
    sides = []
    for name in ("boardXSize", "boardYSize"):
        side = fields.integer(name, MIN_BOARD_SIZE, MAX_BOARD_SIZE, SIZE_MESSAGE)
        if side is None:
            raise QueryError(name, SIZE_MESSAGE)
        sides.append(side)
    if sides[0] != sides[1]:
        raise QueryError("boardYSize", "Must be the same as boardXSize: only square boards can be played")
    return sides[0]


def _read_turns(fields: QueryFields, moves: int) -> dict[int, int]:
    """Return the priority of each turn that is looked at: by default the last one, with priority 0."""
    wanted = "Must specify an array of integers indicating turns to analyze"
    turns = fields.integers("analyzeTurns", wanted)
    if turns == []:  # a query without turns would never be answered
        raise QueryError("analyzeTurns", wanted)
    for turn in turns or ():
        if not 0 <= turn <= moves:
            raise QueryError("analyzeTurns", f"Invalid turn number: {turn}")
    message = "Must be a number between -2^62 and 2^62"
    priority = fields.integer("priority", -MAX_PRIORITY, MAX_PRIORITY, message)
    priorities = fields.integers("priorities", "Must specify an array of integers indicating priorities")
    if priorities is None:
        return dict.fromkeys([moves] if turns is None else sorted(turns), priority or 0)
    if turns is None:
        raise QueryError("priorities", "Can only specify when also specifying analyzeTurns")
    if len(priorities) != len(turns):
        raise QueryError("priorities", "Must be of matching length to analyzeTurns")
    if priority is not None:
        raise QueryError("priority", "Cannot specify both priority and priorities")
    if any(abs(one) > MAX_PRIORITY for one in priorities):
        raise QueryError("priorities", message)
    return dict(zip(turns, priorities, strict=True))


def _read_rules(fields: QueryFields, query: Query) -> None:
    """Take over rules and komi; what cannot be played is replaced, and that is a warning."""
    value = fields.get("rules")
    if isinstance(value, str):
        wanted = _read_rules_text(value)
    elif isinstance(value, dict):
        wanted = dict(value)
    else:
        raise QueryError("rules", RULES_MESSAGE)
    bonus = fields.get("whiteHandicapBonus") if fields.has("whiteHandicapBonus") else wanted.get("whiteHandicapBonus")
    wanted.pop("whiteHandicapBonus", None)
    if bonus is not None and str(bonus) not in BONUSES:
        raise QueryError("whiteHandicapBonus", f"Must be one of {', '.join(BONUSES)}")
    query.bonus = "0" if bonus is None else str(bonus)
    try:
        query.agreement, unsupported = read_rules(wanted, Agreement())
    except ValueError as error:
        raise QueryError("rules", f"Could not parse rules: {error}") from None
    if unsupported:
        text = ", ".join(f"{name} {wanted[name]}" for name in unsupported)
        ko = query.agreement.rules.ko.name
        query.warnings.append(("rules", f"Rules {text} not supported, using scoring AREA, tax NONE, suicide false, "
                                        f"hasButton false, ko {ko} instead"))
    query.komi = fields.number("komi", -KATAGO_MAX_KOMI, KATAGO_MAX_KOMI, KOMI_MESSAGE)
    if query.komi is not None and not (2 * query.komi).is_integer():
        raise QueryError("komi", KOMI_MESSAGE)


def _read_rules_text(text: str) -> dict[str, Any]:
    """Return the fields of rules by their name, or written out; raises QueryError."""
    if (name := normalize_name(text)) in NAMED_RULES:
        return dict(NAMED_RULES[name], whiteHandicapBonus=HANDICAP_BONUS.get(name, "0"))
    try:
        return parse_rules(text)
    except ValueError:
        raise QueryError("rules", f"Could not parse rules: {text[:MAX_ECHO]}") from None


def _read_search(fields: QueryFields, query: Query) -> None:
    """Take over how long to search, how widely, and when to report."""
    query.visits = fields.integer("maxVisits", 1, MAX_VISITS, "Must be an integer from 1 to 2^50")
    length = fields.integer("analysisPVLen", 1, MAX_PV_LENGTH, "Must be an integer from 1 to 1000")
    query.pv_length = length or PV_LENGTH
    temperature = fields.number("rootPolicyTemperature", *TEMPERATURES, "Must be a number from 0.01 to 100.0")
    query.root_temperature = temperature or 1.0
    message = "Must be number of seconds from 0.001 to 1000000.0"
    interval = fields.number("reportDuringSearchEvery", *REPORT_SECONDS, message)
    query.first_report = fields.number("firstReportDuringSearchAfter", *REPORT_SECONDS, message)
    if interval is not None or query.first_report is not None:
        query.interval = interval or math.inf


def _read_restriction(fields: QueryFields, coordinate: Coordinate) -> Restriction | None:
    """Return the moves that avoidMoves and allowMoves leave out, None if there are none."""
    if fields.has("allowMoves") and fields.has("avoidMoves"):
        raise QueryError("allowMoves", "Cannot specify both allowMoves and avoidMoves")
    name = "allowMoves" if fields.has("allowMoves") else "avoidMoves"
    entries = fields.get(name)
    if not fields.has(name):
        return None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise QueryError(name, RESTRICTION_MESSAGE)
    restriction = Restriction(coordinate.board_size)
    allowed: set[Stone] = set()
    for entry in entries:
        part = QueryFields(entry, name)
        color, depth = part.player("player"), part.integer("untilDepth", 1, MAX_DEPTH, "Must be a positive integer")
        if color is None or depth is None or not part.has("moves"):
            raise QueryError(name, RESTRICTION_MESSAGE)
        if color in allowed:
            raise QueryError(name, "Cannot specify allowMoves more than once for the same player")
        if name == "allowMoves":
            allowed.add(color)
        restrict = restriction.allow if name == "allowMoves" else restriction.avoid
        restrict(color, part.points("moves", coordinate), depth)
    return restriction if entries else None


def _read_overrides(fields: QueryFields, query: Query) -> None:
    """Take over overrideSettings; the query's own maxVisits is stronger."""
    if not fields.has("overrideSettings"):
        return
    value = fields.get("overrideSettings")
    if not isinstance(value, dict):
        raise QueryError("overrideSettings", "Must be an object")
    settings = QueryFields({name: _as_number(text) for name, text in value.items()}, "overrideSettings")
    whose = settings.get("reportAnalysisWinratesAs")
    if whose is not None:
        if str(whose).upper() not in PERSPECTIVES:
            raise settings.error("reportAnalysisWinratesAs", "Must be BLACK, WHITE or SIDETOMOVE")
        query.perspective = PERSPECTIVES[str(whose).upper()]
    query.seconds = settings.number("maxTime", 0.0, MAX_SECONDS, "Must be a number of seconds")
    visits = settings.integer("maxVisits", 1, MAX_VISITS, "Must be an integer from 1 to 2^50")
    query.visits = visits if query.visits is None else query.visits
    noise = settings.number("wideRootNoise", 0.0, MAX_WIDE_ROOT_NOISE, f"Must be a number up to {MAX_WIDE_ROOT_NOISE}")
    query.root_temperature *= widen_root(noise or 0.0)
    query.level = settings.integer("level", 1, FULL_LEVEL, f"Must be an integer from 1 to {FULL_LEVEL}")
    if settings.get("ignorePreRootHistory") not in (None, False, "false"):
        query.warnings.append(("overrideSettings", "ignorePreRootHistory: the network always sees the moves before"))
    if settings.unused:
        query.warnings.append(("overrideSettings", f"Unknown config params: {','.join(settings.unused)}"))


def _as_number(value: Any) -> Any:
    """Return the number that a text stands for, anything else as it is: settings may be given as text."""
    if isinstance(value, str):
        for kind in (int, float):
            with suppress(ValueError):
                return kind(value)
    return value
