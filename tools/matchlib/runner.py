"""A whole match: workers with an engine of each side, playing the games that are still missing."""

import threading
from collections import deque
from contextlib import closing

from common.exit_status import status_of
from common.print_console import print_err, print_out
from tools.matchlib.command import split_command
from tools.matchlib.config import SIDES, MatchConfig
from tools.matchlib.engine import MatchEngine
from tools.matchlib.errors import MatchError
from tools.matchlib.game import MatchGame
from tools.matchlib.game_sgf import format_sgf
from tools.matchlib.openings import Opening, get_openings
from tools.matchlib.report import format_game_line, format_table
from tools.matchlib.store import MatchStore

POLL_SECONDS = 0.2


def run_match(config: MatchConfig) -> None:
    """Play the games of a match that its directory does not hold yet, and print the table.

    Raises:
        MatchError: The match cannot be started or continued.
        KeyboardInterrupt: The user stopped it; finished games are kept, and the table has been printed.
    """
    with closing(open_match(config)) as store:
        try:
            play_missing_games(config, store)
        except KeyboardInterrupt:
            _print_table(config, store)
            print_err("stopped: the same command continues the match")
            raise
        _print_table(config, store)


def open_match(config: MatchConfig) -> MatchStore:
    """Return the games that a directory holds; raises MatchError for a match that cannot be started or continued."""
    for command in (config.first, config.second):
        split_command(command)
    get_openings(config)
    return MatchStore(config)


def play_missing_games(config: MatchConfig, store: MatchStore) -> None:
    """Play the games that the store lacks; raises as run_match does, with finished games kept."""
    openings = get_openings(config)
    pending = [index for index in range(config.games) if index not in store.records]
    if len(store.records):
        print_err(f"{len(store.records)} games found in {config.directory}, {len(pending)} to play")
    if not pending:
        return
    if len(openings) < (config.games + 1) // 2:
        print_err(f"{len(openings)} different openings are used in turn")
    commands = {"first": split_command(config.first), "second": split_command(config.second)}
    pool = MatchPool(config, store, commands, openings, pending)
    try:
        pool.run()
    except BaseException as error:
        pool.stop()
        if isinstance(error, MatchError) and not store.records:
            store.forget_options()
        raise


def _print_table(config: MatchConfig, store: MatchStore) -> None:
    names = config.names or store.names or SIDES
    print_out("\n" + format_table(config, names, (record for _, record in sorted(store.records.items()))))


class MatchPool:
    """Threads that take game numbers from one queue; each keeps its two engine processes from game to game."""

    def __init__(
        self, config: MatchConfig, store: MatchStore, commands: dict[str, list[str]], openings: list[Opening],
        pending: list[int],
    ) -> None:
        """Prepare the workers; nothing is started yet."""
        self.config = config
        self.store = store
        self.openings = openings
        self.names = SIDES
        self._pending = deque(pending)
        self._stop = threading.Event()
        self._print_lock = threading.Lock()
        self._failures: list[Exception] = []
        self._engines = [
            {
                side: MatchEngine(commands[side], store.log_directory / f"worker{number}-{side}.log", config.hang_limit)
                for side in SIDES
            }
            for number in range(min(config.parallel, len(pending)))
        ]
        self._threads = [
            threading.Thread(target=self._work, args=(engines,), name=f"worker-{number}")
            for number, engines in enumerate(self._engines)
        ]

    def run(self) -> None:
        """Play all games; raises MatchError or OSError as soon as a worker cannot go on."""
        self._greet()
        for thread in self._threads:
            thread.start()
        while any(thread.is_alive() for thread in self._threads) and not self._failures:
            self._wait()
        if self._failures:
            raise self._failures[0]

    def stop(self) -> None:
        """End all workers and engines now; games under way are not kept."""
        self._stop.set()
        while True:
            for engines in self._engines:
                for engine in engines.values():
                    engine.kill()
            if not any(thread.is_alive() for thread in self._threads):
                return
            self._wait()

    def _wait(self) -> None:
        """Wait a moment for a worker that is still busy."""
        for thread in self._threads:
            if thread.is_alive():
                thread.join(POLL_SECONDS)
                return

    def _greet(self) -> None:
        """Start the first worker's engines, to see that both can play, and learn their names."""
        own_names = []
        for side in SIDES:
            engine = self._engines[0][side]
            self._start(engine)
            own_names.append(engine.get_name() or side)
        if own_names[0] == own_names[1]:
            own_names = [f"{name} ({side})" for name, side in zip(own_names, SIDES, strict=True)]
        self.names = self.config.names or (own_names[0], own_names[1])
        self.store.save_names(self.names)

    def _start(self, engine: MatchEngine) -> None:
        engine.start(self.config.size, self.config.time_seconds is not None)

    def _work(self, engines: dict[str, MatchEngine]) -> None:
        try:
            while not self._stop.is_set():
                try:
                    index = self._pending.popleft()
                except IndexError:
                    break
                self._play(index, engines)
        except Exception as error:
            if not self._stop.is_set():
                self._failures.append(error)
        finally:
            for engine in engines.values():
                if self._stop.is_set():
                    engine.kill()
                else:
                    engine.close()

    def _play(self, index: int, engines: dict[str, MatchEngine]) -> None:
        for engine in engines.values():
            self._start(engine)
        game = MatchGame(self.config, index, self.openings[index // 2 % len(self.openings)], engines)
        record = game.play()
        if self._stop.is_set():
            return
        try:
            self.store.add(record, format_sgf(game, record, self.names))
        except OSError as error:
            raise MatchError(f"cannot keep game {index + 1} in {self.store.directory}: {error.strerror or error}; the "
                             "games before it are kept, and the same command goes on", status_of(error)) from error
        with self._print_lock:
            records = list(self.store.records.values())
            print_out(format_game_line(record, records, self.config, self.names))
