"""One tab: what it asks for is done at its table, and what happens there is told to it."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from board.constant import MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE
from board.stone import Stone
from browser.clock import MINUTE, GameClock
from browser.describe import LETTERS, MILLISECONDS, Message, describe_collection, describe_error, describe_game
from browser.fields import MessageError, MessageFields
from browser.hall import Hall, Seat
from browser.player import Player
from browser.points import PASS_POINT
from browser.settings import MAX_SECONDS, MAX_VISITS, SIDES, PlaySettings
from browser.table import MAX_HANDICAP, MAX_NODES, GameEnd, TableError
from common.print_console import print_err
from engine.levels import FIRST_SEARCH, FULL_LEVEL
from engine.loader import LOADING_POLL, LoadError
from nn.model_file import find_specialist
from program import PROGRAM_NAME, VERSION
from sgf.game_tree import ROOT

MAX_MINUTES = 600.0
# Depth to which the search tree is shown.
MAX_PATH = 100
# Messages that may wait for a tab that does not read.
MAX_WAITING = 500
# Messages that tell how far something has grown: one that was not sent yet gives way to a newer one.
REPLACED = ("analysis", "branch")


class Outbox:
    """Messages on their way to a tab."""

    def __init__(self) -> None:
        """Start empty."""
        self._messages: list[Message] = []
        self._filled = asyncio.Event()

    def put(self, message: Message) -> None:
        """Add a message."""
        if message["type"] in REPLACED:
            self._messages = [waiting for waiting in self._messages if waiting["type"] != message["type"]]
        self._messages.append(message)
        self._filled.set()

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nobody seems to read it."""
        return len(self._messages) > MAX_WAITING

    async def take(self) -> list[str]:
        """Return all messages as text, waiting for the first."""
        await self._filled.wait()
        self._filled.clear()
        messages, self._messages = self._messages, []
        return [json.dumps(message, separators=(",", ":"), allow_nan=False) for message in messages]


class TabSession:
    """Carries out the messages of a tab: `do_NAME` for {"do": NAME}."""

    def __init__(self, hall: Hall, seat: Seat, is_known: bool) -> None:
        """Serve the tab that sits at `seat`."""
        self._hall, self._seat = hall, seat
        self.outbox = Outbox()
        self._table = seat.table
        is_known = is_known and not seat.table.is_fresh
        self.player = Player(seat.table, seat.settings, hall.engines, hall.thinker, self.outbox.put)
        sizes = hall.engines.sizes
        self.outbox.put({"type": "hello", "table": seat.name, "known": is_known, "sizes": [sizes[0], sizes[-1]],
                         "levels": FULL_LEVEL, "searchLevel": FIRST_SEARCH, "komi": hall.options.komi,
                         "models": [Path(find_specialist(hall.options.model, size)).name for size in sizes],
                         "program": f"{PROGRAM_NAME} {VERSION}"})
        self._show_all()
        self._send_settings()
        if seat.awaits_reply:
            self.player.disturb(wants_reply=True)

    async def watch_loading(self) -> None:
        """Tell the tab when the engine is ready, or why it never will be."""
        loader = self._hall.engines.loader
        if not loader.done:
            self.outbox.put({"type": "engine", "state": "loading", "text": ""})
        while not loader.done:
            await asyncio.sleep(LOADING_POLL)
        state = "ready" if loader.is_ready else "failed"
        self.outbox.put({"type": "engine", "state": state, "text": loader.error or ""})

    def receive(self, text: str) -> None:
        """Carry out a message; what is wrong with it is told in one line."""
        try:
            fields = MessageFields(text)
            name = fields.text("do")
            action: Callable[[MessageFields], None] | None = getattr(self, f"do_{name}", None)
            if action is None:
                raise MessageError(f"{name[:20]!r} is nothing that can be done")
            with self._hall.engines.loader.at_once():
                action(fields)
        except (MessageError, TableError, LoadError) as error:
            self.outbox.put(describe_error(error))
        except Exception as error:
            text = " ".join(f"internal error: {type(error).__name__}: {error}".split())
            print_err(f"browser: {text}")
            self.outbox.put(describe_error(RuntimeError(text)))

    def leave(self) -> None:
        """Think no more about anything: the tab is gone."""
        self._table.stop_clock()
        self._seat.awaits_reply = self.player.owns_turn
        self.player.end_review()
        self.player.disturb()

    def _show_all(self) -> None:
        """Send everything about the game."""
        self.outbox.put(describe_game(self._table))
        self.player.show(list(self._table.tree), reset=True)

    def _show_change(self, changed: Sequence[int] = (), removed: Sequence[int] = (), wants_reply: bool = False) -> None:
        """Send what has become of the game, and think anew; `wants_reply`: the engine may have to move."""
        self.outbox.put(describe_game(self._table))
        self.player.show(changed, removed=removed)
        self.player.disturb(wants_reply)

    def _send_settings(self) -> None:
        """Send what was set."""
        settings = self.player.settings
        self._seat.settings = settings
        self.outbox.put({"type": "settings", "side": settings.side, "visits": settings.visits,
                         "seconds": settings.seconds, "level": settings.level, "analyze": settings.analyze,
                         "analysisVisits": settings.analysis_visits})

    # --- games --------------------------------------------------------------------------------------------------

    def do_new(self, fields: MessageFields) -> None:
        """Begin another game."""
        size = fields.integer("size", MIN_BOARD_SIZE, MAX_BOARD_SIZE)
        komi = fields.number("komi", -MAX_KOMI, MAX_KOMI, self._hall.options.komi)
        handicap = fields.integer("handicap", 0, MAX_HANDICAP, 0)
        settings = self._read_settings(fields)
        self._table.new(size, komi, handicap, fields.number("minutes", 0.0, MAX_MINUTES, 0.0))
        self.player.settings = settings
        self._begin(wants_reply=True)
        self._send_settings()  # last: the page then asks for the search tree of this game

    def do_load(self, fields: MessageFields) -> None:
        """Go on from a record: the bytes of a file, or a text that the page keeps.

        Beside that text a page keeps (browser/describe.py) the clock, and how the game ended.
        """
        record = fields.data("file") if fields.has("file") else fields.text("sgf")
        path, reply = fields.integers("path", MAX_NODES), fields.flag("reply", False)
        left, end = fields.integers("left", 2), fields.integers("end", MAX_NODES)
        ended, on_time, before = fields.flag("ended", False), fields.flag("onTime", False), fields.text("before", "")
        loser = {letter: color for color, letter in LETTERS.items()}.get(fields.choice("loser", ("", "b", "w"), ""))
        has_others = self._table.load(record, path)  # now that nothing can be refused any more
        if len(left) == 2 and min(left) >= 0 and max(left) <= MILLISECONDS * MINUTE * MAX_MINUTES:
            self._table.clock = GameClock(left[0] / MILLISECONDS, left[1] / MILLISECONDS)
        if ended:
            self._table.ending = GameEnd(self._table.tree.follow(end), loser, on_time, before[:20])
        self._begin(wants_reply=reply)
        if has_others:
            self.outbox.put(describe_collection())

    def do_record(self, fields: MessageFields) -> None:
        """Send the record of a game that is too long for the page to keep; `use` is the page's."""
        self.outbox.put({"type": "record", "sgf": self._table.tree.to_sgf(), "use": fields.text("use")[:20]})

    def _begin(self, wants_reply: bool = False) -> None:
        """Show another game and forget what was thought."""
        self.player.end_review()
        self.player.disturb(wants_reply)
        self._show_all()

    # --- moves --------------------------------------------------------------------------------------------------

    def do_play(self, fields: MessageFields) -> None:
        """Play a move for the side to move."""
        if self.player.owns_turn:
            raise TableError("it is the engine's turn: wait for its move, or let nobody be its side")
        self._table.play(fields.integer("point", PASS_POINT, MAX_BOARD_SIZE**2))
        self._show_change([self._table.here], wants_reply=True)

    def do_genmove(self, _: MessageFields) -> None:
        """Let the engine play the side to move, whichever it is, from now on."""
        if self._table.is_over:
            raise TableError("the game is over")
        side = next(name for name, colors in SIDES.items() if colors == (self._table.to_move,))
        if self.player.settings.side != "both":
            self.player.settings = replace(self.player.settings, side=side)
        self._send_settings()
        self.player.disturb(wants_reply=True)

    def do_hurry(self, _: MessageFields) -> None:
        """Play what the search has found so far."""
        self.player.hurry()

    def do_undo(self, _: MessageFields) -> None:
        """Take back the last move, or the engine's and the one before it; where the player has lost, the loss alone."""
        is_players = self._table.to_move not in SIDES[self.player.settings.side]
        if is_players and self._table.loss is not None:
            self._table.forget_result()
            self.player.keep()
            removed = []
        else:
            removed = self._table.undo(self._moves_of_a_turn(is_players))
        self._show_change(removed=removed)

    def _moves_of_a_turn(self, is_players: bool) -> int:
        """Return how many moves to take back, so that it is the player's turn; raises TableError where none is his."""
        table = self._table
        if not is_players or len(SIDES[self.player.settings.side]) != 1 or table.here == ROOT:
            return 1
        if table.tree.parent(table.here) == ROOT:  # the engine would only have to move again
            raise TableError("there is no move of yours to take back")
        return 2

    def do_go(self, fields: MessageFields) -> None:
        """Look at another node."""
        self._table.go(fields.integer("node", ROOT, 10**9))
        self.player.show([])
        self.player.disturb()

    def do_remove(self, fields: MessageFields) -> None:
        """Take a variation out."""
        self._show_change(removed=self._table.remove(fields.integer("node", ROOT, 10**9)))

    def do_resign(self, _: MessageFields) -> None:
        """End the game with the loss of the side to move, or of the player when it is the engine's turn."""
        if self._table.is_over:
            raise TableError("the game is over")
        if self._table.tree.children(self._table.here):
            raise TableError("one resigns at the end of a line: go there first")
        color, engine = self._table.to_move, SIDES[self.player.settings.side]
        self._table.lose(Stone.get_opponent_color(color) if self.player.owns_turn and len(engine) == 1 else color)
        self._show_change([self._table.here])

    # --- the engine ---------------------------------------------------------------------------------------------

    def do_set(self, fields: MessageFields) -> None:
        """Change settings; what is not named stays."""
        old = self.player.settings
        new = self.player.settings = self._read_settings(fields)
        self._send_settings()
        if self.player.is_replying and new == replace(old, analyze=new.analyze, analysis_visits=new.analysis_visits):
            return  # what is shown of a search does not begin it again
        self.player.disturb((new.side != old.side or self.player.owns_turn) and fields.flag("reply", True))

    def _read_settings(self, fields: MessageFields) -> PlaySettings:
        """Return the settings with those changed that are named."""
        old = self.player.settings
        return replace(
            old, side=fields.choice("side", tuple(SIDES), old.side),
            visits=fields.integer("visits", 1, MAX_VISITS, old.visits),
            seconds=fields.number("seconds", 0.0, MAX_SECONDS, old.seconds),
            level=fields.integer("level", 1, FULL_LEVEL, old.level),
            analyze=fields.flag("analyze", old.analyze),
            analysis_visits=fields.integer("analysisVisits", 1, MAX_VISITS, old.analysis_visits))

    def do_look(self, fields: MessageFields) -> None:
        """Show what the search compares after some moves, or nothing more of it."""
        path = fields.integers("path", MAX_PATH)
        points = len(self._table.board.onboard_pos)
        if not all(PASS_POINT <= point < points for point in path):
            raise MessageError("path must be points of the board")
        self.player.look_into(path if fields.flag("on") else None)

    def do_review(self, fields: MessageFields) -> None:
        """Go through the whole game."""
        self.player.review(fields.integer("visits", 1, MAX_VISITS, 100))

    def do_stop(self, _: MessageFields) -> None:
        """Go through the game no further."""
        self.player.stop_review()
