"""What thinks about one table: it plays the engine's side, analyzes the position, goes through whole games, counts.

Everything here runs in the event loop but the functions named `work`, which run in the thinker's thread. A search is
told to stop by a new number of `_epoch`: whatever changes the position changes that.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import numpy as np

from board.constant import RESIGN
from board.go_board import GoBoard
from board.stone import Stone
from browser.describe import (
    Message,
    SearchDescriber,
    describe_branch,
    describe_error,
    describe_game,
    describe_memory,
    describe_nodes,
    describe_position,
    describe_score,
    describe_view,
)
from browser.engines import Engines, Thinker
from browser.settings import SIDES, PlaySettings
from browser.table import NodeView, Table, TableError
from common.print_console import print_err
from engine.choosing import Watch
from engine.engine import Engine
from engine.loader import LoadError, describe
from mcts.analysis import SearchResult
from mcts.params import SearchLimit
from sgf.game_tree import GameTree

# Seconds from one report of a search to the next, and to the first one.
REPORT_INTERVAL, FIRST_REPORT = 0.2, 0.05
# A record of more nodes is not sent to the page to be kept there.
MAX_KEPT_NODES = 2000

Send = Callable[[Message], None]


class Player:
    """The thinking about one table; `is_replying` tells whether it is about the engine's move."""

    def __init__(self, table: Table, settings: PlaySettings, engines: Engines, thinker: Thinker, send: Send) -> None:
        """Prepare to think; `send` takes messages for the page."""
        self.table, self.settings = table, settings
        self._engines, self._thinker, self._send = engines, thinker, send
        self._engine: Engine | None = None
        self._epoch, self._wake = 0, asyncio.Event()
        self._reply_wanted = self._hurries = self.is_replying = False
        self._analyzed = self._counted = -1
        self._branch: list[int] | None = None
        self._branch_due = False
        self._to_review: list[int] = []
        self._review_total = self._review_visits = self._review_number = 0
        self._policy: tuple[GameTree, int, np.ndarray] | None = None
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None

    # --- asked from outside -------------------------------------------------------------------------------------

    def disturb(self, wants_reply: bool = False) -> None:
        """Begin to think anew, since something has changed; `wants_reply`: the engine may have to move."""
        self._epoch += 1
        self._reply_wanted, self._hurries = wants_reply, False
        self._tell_thinking(False)
        self._branch = None if self._branch is None else []
        self._wake.set()
        self._set_alarm()

    @property
    def owns_turn(self) -> bool:
        """Whether the engine is about to move."""
        return self._reply_wanted and self.table.to_move in SIDES[self.settings.side] and not self.table.is_over

    def _tell_thinking(self, is_on: bool) -> None:
        """Tell the page whether the engine thinks about its move."""
        if self.is_replying != is_on:
            self.is_replying = is_on
            self._send({"type": "thinking", "on": is_on})

    def _set_alarm(self) -> None:
        """Be there when the time of the side to move is up."""
        if self._alarm is not None:
            self._alarm.cancel()
        clock = self.table.clock
        if clock is not None and clock.running is not None:
            self._alarm = self._loop.call_later(clock.left(clock.running), self._end_by_time, clock.running)

    def _end_by_time(self, color: Stone) -> None:
        """End the game, since the time of a side is up, unless its clock stands by now."""
        if self.table.clock is None or self.table.clock.running != color:
            return
        self.table.lose(color, on_time=True)
        self._send(describe_game(self.table))
        self.show([self.table.here])
        self.disturb()

    def hurry(self) -> None:
        """Play what the search has found so far."""
        self._hurries = True

    def look_into(self, path: list[int] | None) -> None:
        """Show the search tree after these moves (points) from the position, and as it grows; None: no more."""
        self._branch, self._branch_due = path, path is not None
        self._wake.set()

    def review(self, visits: int) -> None:
        """Go through the line that is looked at, with so many visits for each position."""
        tree = self.table.tree
        self._to_review = tree.line_to(tree.end_of_line(self.table.here))
        self._review_total, self._review_visits = len(self._to_review), visits
        self._review_number += 1
        self._send({"type": "progress", "done": 0, "total": self._review_total})
        self.disturb(self.owns_turn)

    def stop_review(self) -> None:
        """Go through no further positions."""
        self.end_review()
        self.disturb(self.owns_turn)

    def end_review(self) -> None:
        """Go through no further positions, and tell the page."""
        if self._review_total:
            self._to_review, self._review_total, self._review_number = [], 0, self._review_number + 1
            self._send({"type": "progress", "done": 0, "total": 0})

    # --- the loop -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Think whenever there is something to think about, until cancelled."""
        while True:
            work = self._choose_work()
            if work is None:
                await self._wake.wait()
                self._wake.clear()
                continue
            epoch = self._epoch
            try:
                await work(epoch)
            except (LoadError, TableError) as error:
                self._fail(error)
            except Exception as error:
                print_err(f"browser: {describe(error)}")
                self._fail(RuntimeError(f"the search failed: {type(error).__name__}"))

    def _fail(self, error: Exception) -> None:
        """Tell the page what went wrong and wait for the next change."""
        self._send(describe_error(error))
        self._reply_wanted = False
        self.end_review()
        self._tell_thinking(False)
        self._analyzed = self._counted = self._epoch

    def _choose_work(self) -> Callable[[int], Awaitable[None]] | None:
        """Return what is to be done next, None for nothing."""
        if self.owns_turn:  # its clock may run
            return self._reply
        if self._to_review:
            return self._review_next
        if self.table.is_over:
            return self._count if self.table.board.is_over and self._counted != self._epoch else None
        if self.settings.analyze and self._analyzed != self._epoch:
            return self._analyze
        if self._branch_due and self._analyzed == self._epoch:
            return self._look
        return None

    def _prepare(self, board: GoBoard) -> Engine:
        """Return the engine at a position (in the thinker's thread); raises LoadError."""
        if self._engine is None:
            self._engine = self._engines.make()
        self._engine.look_at(board)
        return self._engine

    def _describer(self, tree: GameTree, node: int, board: GoBoard) -> SearchDescriber:
        """Return what describes searches of a game's position (in the thinker's thread)."""
        engine = self._prepare(board)
        color = board.get_to_move()
        if self._policy is None or self._policy[0] is not tree or self._policy[1] != node:
            self._policy = tree, node, engine.get_policy(color)
        return SearchDescriber(node, board, engine.make_estimator(color), self._policy[2])

    def _describe_branch(self, node: int) -> Message | None:
        """Return the part of the search tree that is looked into (in the thinker's thread), None for none."""
        path, engine = self._branch, self._engine
        return None if path is None or engine is None else describe_branch(engine.tree, node, path)

    def _reporter(self, epoch: int, describer: SearchDescriber) -> Callable[[SearchResult], None]:
        """Return what shows the state of a search to the page (called in the thinker's thread)."""
        loop = self._loop

        def report(result: SearchResult) -> None:
            if self._epoch == epoch and result.total_visits > 1:
                message, view = describer.describe(result, is_final=False)
                branch = self._describe_branch(message["node"])
                loop.call_soon_threadsafe(self._publish, epoch, message, view, branch)

        return report

    def _publish(self, epoch: int, message: Message, view: NodeView, branch: Message | None = None) -> None:
        """Send what a search found, unless the page has gone elsewhere."""
        if self._epoch == epoch:
            self._note(message["node"], view)
            self._send(message)
            if branch is not None:
                self._send(branch)

    def _note(self, node: int, view: NodeView) -> None:
        """Keep what a search said about a node, and tell the page."""
        if self.table.note(node, view):
            self._send({"type": "view", "id": node, **describe_view(view)})

    # --- the work -----------------------------------------------------------------------------------------------

    async def _analyze(self, epoch: int) -> None:
        """Search the position for one turn, and show what is found."""
        tree, node, board = self.table.tree, self.table.here, self.table.copy_board()
        limit = SearchLimit(self.settings.analysis_visits, strict=True)

        def work() -> tuple[Message, NodeView, bool]:
            describer = self._describer(tree, node, board)
            watch = Watch(lambda: self._epoch != epoch or self._thinker.turn_is_over(),
                          self._reporter(epoch, describer), REPORT_INTERVAL, first=FIRST_REPORT, quiet=True)
            result = self._prepare(board).analyze(board.get_to_move(), watch, limit)
            is_done = result.total_visits >= limit.visits or result.tree_is_full
            return *describer.describe(result, is_done), is_done

        message, view, is_done = await self._thinker.run(work)
        self._publish(epoch, message, view)
        if is_done and self._epoch == epoch:
            self._analyzed, self._branch_due = epoch, self._branch is not None

    async def _look(self, epoch: int) -> None:
        """Show the part of the finished search that is looked into."""
        self._branch_due = False
        branch = await self._thinker.run(partial(self._describe_branch, self.table.here))
        if branch is not None and self._epoch == epoch:
            self._send(branch)

    async def _reply(self, epoch: int) -> None:
        """Choose the engine's move and play it."""
        tree, node, board, settings = self.table.tree, self.table.here, self.table.copy_board(), self.settings
        color, asked_at = board.get_to_move(), time.monotonic()
        clock, found = self.table.clock, list[SearchResult]()

        def work() -> tuple[int, SearchDescriber]:
            engine, describer = self._prepare(board), self._describer(tree, node, board)
            engine.configure(visits=settings.visits, const_time=settings.seconds or None, level=settings.level)
            if clock is None:
                engine.time.clear_settings()
            else:
                engine.time.report(color, clock.left(color), 0)
            report = self._reporter(epoch, describer)

            def keep(result: SearchResult) -> None:
                found[:] = [result]
                if self.settings.analyze:
                    report(result)

            should_stop = self._thinker.make_stop(lambda: self._epoch != epoch or self._hurries)
            return engine.genmove(color, asked_at, Watch(should_stop, keep, REPORT_INTERVAL, quiet=True)), describer

        self._tell_thinking(True)
        pos, describer = await self._thinker.run(work)
        if self._epoch != epoch:
            return
        self._tell_thinking(False)
        if pos == RESIGN:
            self.table.lose(color)
            self._send(describe_game(self.table))
        else:
            self.table.add_move(color, pos)
            self._set_alarm()
        self.show([self.table.here])
        # The move is seen before what was thought about it; without a search there is nothing to tell.
        if found and found[0].total_visits > 1:
            _, view = await self._thinker.run(partial(describer.describe, found[0], True))
            if self.table.tree is tree:
                self._note(node, view)
                self.keep()
        if self._epoch == epoch:
            self.disturb(wants_reply=self.settings.side == "both")

    async def _review_next(self, _: int) -> None:
        """Search the next position of the game that is gone through."""
        node, tree, number = self._to_review[0], self.table.tree, self._review_number
        limit = SearchLimit(self._review_visits, strict=True)
        board = self.table.board_at(node) if node in tree else None

        def work() -> NodeView | None:
            if board is None or board.is_over:
                return None
            describer = self._describer(tree, node, board)
            watch = Watch(self._thinker.make_stop(lambda: self._review_number != number or self.owns_turn))
            result = self._prepare(board).analyze(board.get_to_move(), watch, limit)
            return describer.describe(result, True)[1]

        view = await self._thinker.run(work)
        if self._review_number != number or self.owns_turn:  # then once more when the engine has moved
            return
        del self._to_review[0]
        if view is not None:
            self._note(node, view)
        left = len(self._to_review)
        self._send({"type": "progress", "done": self._review_total - left, "total": self._review_total})
        if not left:
            self._review_total = 0
            self.keep()

    async def _count(self, epoch: int) -> None:
        """Count the game that has ended, and show which stones are dead."""
        node, board = self.table.here, self.table.copy_board()

        def work() -> tuple[list[int], float]:
            engine = self._prepare(board)
            dead = engine.get_dead_stones()
            return dead, board.final_score(dead)

        dead, lead = await self._thinker.run(work)
        if self._epoch != epoch:
            return
        self._counted = epoch
        if self.table.count(lead):
            self._send(describe_game(self.table))
            self.keep()
        self._send(describe_score(node, board.board_size, lead, dead))

    # --- showing ------------------------------------------------------------------------------------------------

    def show(self, changed: Sequence[int], reset: bool = False, removed: Sequence[int] = ()) -> None:
        """Send the position that is looked at and the nodes that have changed."""
        if changed or removed or reset:
            self._send(describe_nodes(self.table, changed, reset, removed))
        self._send(describe_position(self.table))
        if changed or removed or reset:
            self.keep()

    def keep(self) -> None:
        """Send what the page keeps of the game; of a fresh table nothing: the page may have a game of its own."""
        if not self.table.is_fresh:
            self._send(describe_memory(self.table, MAX_KEPT_NODES))
