"""Takes the pictures of doc/web.md: the pages in Chromium, with the bundled model.

    python -m tests.browser.pictures

Run it from the folder of the program, on a machine that has nothing else to do.
"""
from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "doc" / "img"
CHROMIUM = "/usr/bin/chromium"
GAME = ("(;FF[4]GM[1]SZ[9]KM[7];B[ee];W[ec];B[dc];W[cc];B[eb];W[fc];B[db];W[gd];B[gf];W[cf];B[cg];W[dg];B[dh];W[eg]"
        "(;B[df];W[ce];B[eh])(;B[fg];W[df];B[bg];W[be]))")
MILLISECONDS = 120_000
COLORS = 255


def save(picture: bytes, name: str) -> None:
    """Save a picture with a palette of colors."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLORS, dither=Image.Dither.NONE).save(PICTURES / name, optimize=True)


def open_game(page: Page, address: str) -> None:
    """Load the game, go through it, and stand before its last moves with the analysis on."""
    page.goto(address)
    expect(page.locator("#status")).not_to_contain_text(re.compile("loading|読み込"), timeout=MILLISECONDS)
    page.set_input_files("#file", {"name": "game.sgf", "mimeType": "application/x-go-sgf", "buffer": GAME.encode()})
    expect(page.locator("#tree circle")).to_have_count(22)
    page.select_option("#side", "none")
    page.click("[data-do=review]")
    expect(page.locator("#mistakes button").first).to_be_visible(timeout=MILLISECONDS)
    expect(page.locator("#progress")).to_be_hidden(timeout=MILLISECONDS)
    page.keyboard.press("End")
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    page.check("#analyze")
    expect(page.locator("#candidates tbody td:nth-child(4)").first).to_contain_text("k", timeout=MILLISECONDS)
    page.wait_for_timeout(3000)


def take_pictures(browser: Browser, address: str) -> None:
    """Take all pictures."""
    page = browser.new_page(viewport={"width": 1180, "height": 800}, locale="en-US")
    open_game(page, address)
    save(page.screenshot(full_page=True), "web-analysis.png")
    page.click("#search-tree summary")
    expect(page.locator("#branch tbody tr").first).to_be_visible()
    save(page.locator("#search-tree").screenshot(), "web-tree.png")
    context = browser.new_context(viewport={"width": 390, "height": 780}, is_mobile=True, has_touch=True,
                                  locale="ja-JP", color_scheme="dark")
    phone = context.new_page()
    open_game(phone, address)
    phone.evaluate("scrollTo(0, 0)")
    save(phone.screenshot(), "web-phone.png")
    page.goto(f"{address}runs")
    expect(page.locator("figure").first).to_be_visible()
    page.uncheck(".run:has-text('sl') input")
    save(page.screenshot(full_page=True), "web-runs.png")


def main() -> None:
    """Start a server and take the pictures."""
    command = [sys.executable, str(ROOT / "web.py"), "--open", "false", "--port", "0", "--watch", str(PICTURES)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            take_pictures(browser, found[0])
            browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
