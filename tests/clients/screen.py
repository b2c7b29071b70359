"""A screen that nobody sees, with keys, a mouse and pictures: Xvfb, xdotool, and import of ImageMagick."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

NEEDED = ("Xvfb", "xdotool", "import", "openbox")
PATIENCE = 180.0
POLL = 0.25
# A picture that stays the same for so long is complete (seconds).
STEADY = 2.0
# On a picture that never stays the same (a clock runs) nobody waits longer.
MOST_STEADY = 8.0


def missing_tools() -> list[str]:
    """Return the programs that are needed and not installed."""
    return [name for name in NEEDED if shutil.which(name) is None]


class Screen:
    """A virtual screen with the programs that were started on it."""

    def __init__(self, width: int, height: int) -> None:
        """Start a screen under the first number that is free, and a window manager, which gives windows the keys."""
        reading, writing = os.pipe()
        self._programs = [subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.environment = os.environ | {"DISPLAY": f":{pipe.readline().strip()}"}
        self.start(["openbox"], {})

    def start(self, command: list[str], environment: dict[str, str], log: Path | None = None) -> int:
        """Start a program whose windows come to this screen and return its number; `log` gets what it says."""
        output = subprocess.DEVNULL if log is None else log.open("wb")
        self._programs.append(subprocess.Popen(command, env=self.environment | environment, stdin=subprocess.DEVNULL,
                                               stdout=output, stderr=subprocess.STDOUT))
        return self._programs[-1].pid

    def close(self) -> None:
        """End all programs, the screen last."""
        for program in reversed(self._programs):
            program.terminate()
        for program in reversed(self._programs):
            try:
                program.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                program.kill()

    def _do(self, *words: str) -> str:
        """Let xdotool do something, and return what it says."""
        return subprocess.run(["xdotool", *words], env=self.environment, capture_output=True, text=True).stdout

    def windows(self, title: str) -> list[str]:
        """Return the windows that can be seen and whose title matches an expression."""
        return self._do("search", "--onlyvisible", "--name", title).split()

    def wait_for(self, title: str, is_there: bool = True) -> str:
        """Wait for a window, or till it is gone, and return it; raises TimeoutError."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.windows(title)
            if bool(found) == is_there:
                self.settle()
                return found[-1] if found else ""
            time.sleep(POLL)
        raise TimeoutError(f"the window {title!r} {'did not come' if is_there else 'stays'}")

    def settle(self) -> None:
        """Wait till the screen shows the same for a while: a window that is there may not take keys yet."""
        end, seen, since = time.monotonic() + MOST_STEADY, b"", time.monotonic()
        while time.monotonic() < min(end, since + STEADY):
            shown = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], env=self.environment,
                                   capture_output=True).stdout
            if shown != seen:
                seen, since = shown, time.monotonic()
            time.sleep(POLL)

    def place(self, window: str, left: int, top: int, width: int, height: int) -> None:
        """Put a window somewhere."""
        self._do("windowsize", "--sync", window, str(width), str(height))
        self._do("windowmove", window, str(left), str(top))

    def window_of(self, program: int) -> str:
        """Return the newest window of a program that can be seen, for those without a title."""
        return self._do("search", "--onlyvisible", "--pid", str(program)).split()[-1]

    def focus(self, window: str) -> None:
        """Let a window have the keys."""
        self._do("windowactivate", "--sync", window)

    def press(self, *keys: str, pause: float = 0.5) -> None:
        """Press keys one after the other, under their X names."""
        for key in keys:
            self._do("key", key)
            time.sleep(pause)

    def write(self, text: str) -> None:
        """Type a text."""
        self._do("type", "--delay", "15", text)
        time.sleep(POLL)

    def click(self, x: int, y: int, button: int = 1) -> None:
        """Click a point of the screen."""
        self._do("mousemove", str(x), str(y))
        time.sleep(POLL)
        self._do("click", str(button))
        time.sleep(POLL)

    def colors(self) -> int:
        """Return how many colors the screen shows: one of them means that nothing was drawn."""
        found = subprocess.run(["import", "-window", "root", "-format", "%k", "info:"], env=self.environment,
                               capture_output=True, text=True, check=True)
        return int(found.stdout)

    def picture(self, path: Path, area: str = "") -> None:
        """Write a picture of the screen, or of an area such as 640x480+10+20, as a small PNG."""
        crop = ["-crop", area, "+repage"] if area else []
        small = ["-resize", "800x>", "-colors", "96", f"png8:{path}"]
        subprocess.run(["import", "-window", "root", *crop, *small], env=self.environment, check=True)
