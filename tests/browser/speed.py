"""How fast the page is: `python -m tests.browser.speed`, from the folder of the program, with Chromium and Playwright.

It tells when the first page is there after a start, with the processor seconds till then, which a busy machine hardly
changes; and how long after the engine has chosen its move the stone is on the screen.
"""
from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request

from playwright.sync_api import expect, sync_playwright

from board.stone import Stone
from common.print_console import print_out
from engine.choosing import NO_WATCH, Watch
from engine.engine import Engine
from tests.browser.pictures import CHROMIUM, ROOT
from tests.browser.test_chromium import serve_in_thread

STARTS, MOVES = 5, 6
MILLISECONDS = 1000.0
STONES = ".shudan-vertex.shudan-sign_1, .shudan-vertex.shudan-sign_-1"
# In the page: note when a frame with another number of stones is drawn, milliseconds since 1970.
WATCH = """
window.seen = {};
(function look() {
  const stones = document.querySelectorAll("STONES").length;
  window.seen[stones] ??= performance.timeOrigin + performance.now();
  requestAnimationFrame(look);
})();
"""


def measure_start() -> tuple[float, float]:
    """Return the seconds from the start of web.py to the first page, and those of the processor."""
    began = time.monotonic()
    command = [sys.executable, str(ROOT / "web.py"), "--open", "false", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found
        urllib.request.urlopen(found[0]).read()
        seconds = time.monotonic() - began
        with open(f"/proc/{server.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        server.kill()
    return seconds, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_replies(address: str) -> list[float]:
    """Return the milliseconds from the engine's choice of a move to the stone on the screen, for several moves."""
    chosen: list[float] = []
    choose = Engine.genmove

    def genmove(self: Engine, color: Stone, asked_at: float, watch: Watch = NO_WATCH) -> int:
        pos = choose(self, color, asked_at, watch)
        chosen.append(MILLISECONDS * time.time())
        return pos

    Engine.genmove = genmove  # type: ignore[method-assign]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector(".shudan-vertex")
        page.evaluate(WATCH.replace("STONES", STONES))
        for move in range(MOVES):
            page.locator(".shudan-vertex.shudan-sign_0").nth(move).click()
            expect(page.locator(STONES)).to_have_count(2 * move + 2)
        seen = page.evaluate("window.seen")
        browser.close()
    return [seen[str(2 * move + 2)] - chosen[move] for move in range(MOVES)]


def main() -> None:
    """Measure and print."""
    starts = [measure_start() for _ in range(STARTS)]
    for name, values in zip(("clock", "processor"), zip(*starts, strict=True), strict=True):
        print_out(f"first page, seconds of the {name}: median {statistics.median(values):.2f}, most {max(values):.2f}")
    with serve_in_thread() as address:
        replies = measure_replies(address)
    print_out(f"reply shown after the engine's choice, ms: median {statistics.median(replies):.0f}, "
              f"most {max(replies):.0f}")


if __name__ == "__main__":
    main()
