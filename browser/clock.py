"""The clock of a game: so many minutes for each side and nothing more. It stands while one looks elsewhere."""

import time

from board.stone import Stone

MINUTE = 60.0


class GameClock:
    """Seconds that are left for each side."""

    def __init__(self, black: float, white: float) -> None:
        """Give each side so many seconds; nothing runs before the first move."""
        self._left = {Stone.BLACK: black, Stone.WHITE: white}
        self.running: Stone | None = None
        self._since = 0.0

    def left(self, color: Stone) -> float:
        """Return the seconds that a side has, 0 when its time is up."""
        used = time.monotonic() - self._since if color == self.running else 0.0
        return max(0.0, self._left[color] - used)

    def stop(self) -> None:
        """Let the clock stand."""
        if self.running is not None:
            self._left[self.running] = self.left(self.running)
            self.running = None

    def run(self, color: Stone) -> None:
        """Let the clock of a side run, and the other stand."""
        self.stop()
        self.running, self._since = color, time.monotonic()
