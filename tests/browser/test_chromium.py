"""The pages in a real browser: Chromium without a window, driven by Playwright."""
from __future__ import annotations

import asyncio
import os
import queue
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.hall import Hall
from browser.server import serve
from tests.browser.tabs import SECONDS, SIZE, make_hall
from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright import sync_api as playwright
    from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, WebSocketRoute
else:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = pytest.mark.slow

# Seconds after which something should be seen, on a busy machine.
PATIENCE = 20
expect = playwright.expect
expect.set_options(timeout=1000 * PATIENCE)

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
RECORD = "(;FF[4]GM[1]SZ[5]KM[3.5]PB[Kuro];B[cc];W[bb](;B[dd];W[ee])(;B[cb]))"
# A folder that is watched, as the server tells of it.
FOLDER = {"folder": "self-play", "tables": [], "archive": {
    "generation": 3, "games": 2, "wanted": None, "perHour": None, "secondsLeft": None, "settings": {},
    "newest": [1, 2], "newestFrom": 3}}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a running Chromium, or skip where there is none."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip("no Chromium is installed (on Debian: apt-get install chromium)")
    # Root may run it without its sandbox only; the pages are our own.
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        chromium = driver.chromium.launch(executable_path=path, args=options)
        yield chromium
        chromium.close()


@contextmanager
def serve_in_thread() -> Iterator[str]:
    """Run a server with a network that needs no file, and return where it is."""
    addresses: queue.Queue[str] = queue.Queue()
    loop, opened = asyncio.new_event_loop(), threading.Event()

    def open_hall() -> Hall:
        """Return a hall whose engine is loaded, and compiled."""
        hall = make_hall(warm_up=True)
        hall.engines.loader.get()
        opened.set()
        return hall

    watched = [ROOT / "doc" / "img"]
    server = loop.create_task(serve(open_hall, "127.0.0.1", 0, "", addresses.put, watched))

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(server)

    thread = threading.Thread(target=run)
    thread.start()
    assert opened.wait(SECONDS)
    yield addresses.get(timeout=SECONDS)
    loop.call_soon_threadsafe(server.cancel)
    thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Run a server and return where it is."""
    with serve_in_thread() as address:
        yield address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Return a tab with the page; whatever goes wrong in it fails the test."""
    context = browser.new_context(locale="en-US", viewport={"width": 1100, "height": 800},
                                  permissions=["clipboard-read", "clipboard-write"])
    with no_errors(context):
        yield open_page(context, address)
    context.close()


@contextmanager
def no_errors(context: BrowserContext) -> Iterator[None]:
    """See that the program of no page of these fails; a test that waited in vain then tells why."""
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield
    assert not errors, f"in the page: {errors}"


def open_page(context: BrowserContext, address: str) -> Page:
    """Open the page and wait for the board."""
    page = context.new_page()
    page.goto(address)
    expect(page.locator(".shudan-vertex")).to_have_count(SIZE * SIZE)
    return page


def click(page: Page, x: int, y: int) -> None:
    """Click a point, counted from the top left, from 0."""
    page.click(f'.shudan-vertex[data-x="{x}"][data-y="{y}"]')


def expect_stones(page: Page, black: int, white: int) -> None:
    """Wait for so many stones."""
    expect(page.locator(".shudan-vertex.shudan-sign_1")).to_have_count(black)
    expect(page.locator(".shudan-vertex.shudan-sign_-1")).to_have_count(white)


def wait_for_seconds(page: Page, seconds: float) -> None:
    """Wait until the server has agreed to so many seconds a move: only then does the tab keep them for a reload."""
    deadline = time.monotonic() + PATIENCE
    while page.evaluate("JSON.parse(sessionStorage.getItem('settings')).seconds") != seconds:
        assert time.monotonic() < deadline, "the server does not agree"
        page.wait_for_timeout(20)


def load(page: Page, record: str) -> None:
    """Open a record as a file."""
    file: FilePayload = {"name": "game.sgf", "mimeType": "application/x-go-sgf", "buffer": record.encode()}
    page.set_input_files("#file", file)


def test_a_whole_game_by_clicks(page: Page) -> None:
    page.click("[data-do=new]")
    page.select_option("#new-size", "4")
    page.fill("#new-komi", "14.5")
    page.click("#new-dialog button.main")
    expect(page.locator(".shudan-vertex")).to_have_count(16)
    for number, point in enumerate([(1, 1), (2, 1), (1, 2)], start=1):
        click(page, *point)
        expect_stones(page, number, number)
    page.click("[data-do=undo]")
    expect_stones(page, 2, 2)
    click(page, 1, 1)
    expect(page.locator("#notice")).to_contain_text("there is a stone")
    page.select_option("#side", "none")
    page.click("[data-do=pass]")
    expect(page.locator("#status")).to_contain_text("Black passed. White to move.")
    page.click("[data-do=pass]")
    expect(page.locator("#status")).to_contain_text(re.compile(r"White passed. (Black|White) wins by [\d.]+\."))


def test_a_game_at_a_level_with_a_handicap(page: Page) -> None:
    page.click("[data-do=new]")
    expect(page.locator("#new-level option")).to_have_count(20)
    page.select_option("#new-level", "1")
    page.select_option("#new-handicap", "9")
    page.select_option("#new-size", "3")  # nine stones would fill it
    expect(page.locator("#new-handicap")).to_have_value("0")
    expect(page.locator("#new-handicap option:disabled")).to_have_count(1)
    page.select_option("#new-size", "5")
    page.select_option("#new-handicap", "2")
    expect(page.locator("#new-komi")).to_have_value("0.5")
    page.click("#new-dialog button.main")
    expect_stones(page, 2, 1)  # the engine's move
    expect(page.locator("#level")).to_have_value("1")
    expect(page.locator("#strength")).to_be_disabled()  # it does not search
    page.reload()
    expect(page.locator("#level")).to_have_value("1")
    page.click("[data-do=new]")  # proposes the same once more: handicap and komi belong together
    expect(page.locator("#new-handicap")).to_have_value("2")
    expect(page.locator("#new-komi")).to_have_value("0.5")
    page.select_option("#new-handicap", "0")
    page.fill("#new-komi", "20")
    page.select_option("#new-size", "3")  # which has nine points
    expect(page.locator("#new-komi")).to_have_value("9")
    page.select_option("#new-size", "5")  # where there is room for it again
    expect(page.locator("#new-komi")).to_have_value("20")
    page.keyboard.press("Escape")
    page.click("#language")
    expect(page.locator("#level option").first).to_have_text("1 (入門)")
    page.select_option("#level", "20")
    expect(page.locator("#level")).to_have_value("20")
    expect(page.locator("#strength")).to_be_enabled()


def test_analysis_with_lines_policy_graph_and_mistakes(page: Page) -> None:
    page.select_option("#side", "none")
    load(page, RECORD)
    expect(page.locator("#tree circle")).to_have_count(6)
    page.check("#analyze")
    expect(page.locator(".shudan-heatlabel").first).to_contain_text("50")
    expect(page.locator(".shudan-paint").first).to_be_attached()
    page.hover("#candidates tbody tr:first-child")
    expect(page.locator(".shudan-marker", has_text=re.compile("^1$"))).to_have_count(1)
    page.select_option("#view", "policy")
    page.hover("h1")
    expect(page.locator(".shudan-heatlabel").first).to_have_text(re.compile(r"^\d\.\d$"))
    page.click("[data-do=review]")
    expect(page.locator("#graph polyline.rate")).to_have_attribute("points", re.compile(r"^(\S+ ){4}\S+$"))
    expect(page.locator("#progress")).to_be_hidden()
    page.click("#graph svg", position={"x": 3, "y": 20})
    expect(page.locator("#number")).to_have_text("0")


def test_candidates_tree_and_mistakes_without_a_mouse(page: Page) -> None:
    page.select_option("#side", "none")
    load(page, RECORD)
    expect(page.locator("#tree circle")).to_have_count(6)
    page.check("#analyze")
    expect(page.locator("#candidates tbody tr").first).to_be_visible()
    page.focus("#candidates tbody button")
    expect(page.locator(".shudan-marker", has_text=re.compile("^1$"))).to_have_count(1)
    chosen = page.locator(":focus").inner_text()
    page.wait_for_timeout(300)  # the table is drawn anew meanwhile
    expect(page.locator(":focus")).to_have_text(chosen)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text(f"Black {chosen}. White to move.")
    expect(page.locator("#candidates tbody button").first).to_be_focused()  # of the next position
    page.focus("#search-tree summary")
    page.keyboard.press("Enter")
    expect(page.locator("#branch tbody button").first).to_be_visible()
    page.focus("#branch tbody button")
    page.keyboard.press("Enter")
    expect(page.locator("#branch-path button")).to_have_count(2)
    expect(page.locator("#branch-path button").nth(1)).to_be_focused()
    page.focus("#level")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    expect(page.locator("#level")).to_have_value("17")
    expect(page.locator("#level")).to_be_focused()
    page.select_option("#level", "20")
    page.locator("#level").blur()
    page.keyboard.press("Home")
    expect(page.locator("#number")).to_have_text("0")
    page.click("[data-do=new]")
    page.click("#new-dialog button.main")
    expect_stones(page, 0, 0)
    page.click("[data-do=review]")
    expect(page.locator("#notice")).to_have_text("No move lost much.")


def test_the_search_tree_begins_anew_with_every_position_and_game(page: Page) -> None:
    steps, rows = page.locator("#branch-path button"), page.locator("#branch tbody button")

    def expect_begin(sum_begins: str) -> None:
        """Wait for the tree at its root."""
        expect(page.locator("#branch-sum")).to_have_text(re.compile(f"^{sum_begins}"))
        expect(steps).to_have_count(1)

    def go_down() -> None:
        rows.first.click()
        expect(page.locator("#branch-sum")).to_have_text(re.compile("^White to move"))
        expect(steps).to_have_count(2)

    page.select_option("#side", "none")
    page.check("#analyze")
    page.click("#search-tree summary")
    go_down()
    load(page, RECORD)  # of the same node 0
    expect_begin("Black to move")
    page.click("[data-do=new]")
    page.click("#new-dialog button.main")
    go_down()
    page.click("[data-do=new]")
    page.select_option("#new-size", "3")
    page.click("#new-dialog button.main")  # on which the branch of the larger board has no place
    expect(page.locator(".shudan-vertex")).to_have_count(9)
    expect_begin("Black to move")
    expect(page.locator("#notice")).to_be_hidden()
    go_down()
    page.select_option("#level", "5")
    page.click("[data-do=genmove]")  # which is there before the wish for the old branch
    page.mouse.move(0, 0)  # away from candidates, whose expected line would be on the board
    expect_stones(page, 1, 0)
    expect_begin("White to move")


def test_a_record_goes_in_and_out_with_its_variations(page: Page, tmp_path: Path) -> None:
    page.select_option("#side", "none")
    load(page, RECORD)
    expect(page.locator("#tree circle")).to_have_count(6)
    page.keyboard.press("End")
    expect_stones(page, 2, 2)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")  # the other variation
    expect_stones(page, 2, 1)
    click(page, 4, 4)
    expect_stones(page, 2, 2)
    with page.expect_download() as download:
        page.click("[data-do=save]")
    download.value.save_as(tmp_path / "saved.sgf")
    saved = (tmp_path / "saved.sgf").read_text(encoding="utf-8").replace("\n", "")
    assert "PB[Kuro]" in saved and ";W[bb](;B[dd];W[ee])(;B[cb];W[ee])" in saved
    load(page, "hello")
    expect(page.locator("#notice")).to_contain_text("this is no SGF game")
    expect_stones(page, 2, 2)


def test_a_reload_in_the_middle_keeps_the_game_even_if_the_server_forgot_it(page: Page) -> None:
    click(page, 2, 2)
    expect_stones(page, 1, 1)
    page.reload()
    expect_stones(page, 1, 1)
    expect(page.locator("#number")).to_have_text("2")
    page.select_option("#strength", "1 s")
    wait_for_seconds(page, 1)
    page.select_option("#view", "policy")
    page.keyboard.press("t")
    page.evaluate("sessionStorage.setItem('table', 'of a server before')")
    page.reload()
    expect_stones(page, 1, 1)
    expect(page.locator("#strength")).to_have_value("1 s")
    expect(page.locator("#view")).to_have_value("policy")
    expect(page.locator("#ownership")).not_to_be_checked()
    click(page, 1, 1)
    expect_stones(page, 2, 2)


def test_what_is_clicked_before_a_new_server_has_the_game_is_not_lost_in_silence(page: Page) -> None:
    held: list[str | bytes] = []
    lines: list[WebSocketRoute] = []

    def pass_on(line: WebSocketRoute) -> None:
        """Keep what the server says from the second line of the page, until there is a third one."""
        lines.append(line)
        is_second = len(lines) == 2
        line.connect_to_server().on_message(lambda text: held.append(text) if is_second else line.send(text))

    page.route_web_socket("**/tab", pass_on)
    page.reload()
    click(page, 2, 2)
    expect_stones(page, 1, 1)
    page.evaluate("sessionStorage.setItem('table', 'of a server before')")
    lines[0].close()
    deadline = time.monotonic() + PATIENCE
    while not held and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert "hello" in str(held[0])
    expect(page.locator("#status")).to_contain_text("The server does not answer")
    lines[1].close()
    expect(page.locator("#status")).not_to_contain_text("The server does not answer")
    click(page, 1, 1)
    expect_stones(page, 2, 2)


def test_a_page_that_was_put_aside_has_its_line_again_at_once(page: Page) -> None:
    assert page.evaluate("""async () => {
        const { connection } = await import('/static/js/connection.js');
        const cut = connection.socket;
        cut.close();
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
        return connection.socket !== cut;
    }""")
    click(page, 2, 2)
    expect_stones(page, 1, 1)


def test_a_click_on_a_line_that_is_being_opened_again_is_done_when_it_is_open(page: Page) -> None:
    page.evaluate("""async () => {
        const { connection } = await import('/static/js/connection.js');
        connection.open();
        document.querySelector('.shudan-vertex[data-x="2"][data-y="2"]').click();
    }""")
    expect_stones(page, 1, 1)


def test_a_game_that_the_server_s_model_does_not_play_is_kept(page: Page) -> None:
    kept = '{"sgf": "(;GM[1]SZ[13];B[cc];W[kk])", "path": [0, 0], "reply": false}'
    page.evaluate("kept => sessionStorage.setItem('kept', kept)", kept)
    page.evaluate("sessionStorage.setItem('table', 'of a server before')")
    page.reload()
    expect(page.locator("#notice")).to_contain_text("not 13x13: start with another one")
    page.keyboard.press("End")
    assert "W[kk]" in page.evaluate("sessionStorage.getItem('kept')")


def test_a_link_where_the_line_is_not_encrypted(page: Page) -> None:
    click(page, 2, 2)
    expect_stones(page, 1, 1)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    page.focus("[data-do=link]")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("on the clipboard")
    expect(page.locator("[data-do=link]")).to_be_focused()
    page.evaluate("delete navigator.clipboard")
    assert "#game=" in page.evaluate("navigator.clipboard.readText()")


def test_a_link_where_the_clipboard_takes_nothing_after_the_click_was_answered(page: Page) -> None:
    page.evaluate("""() => {
        navigator.clipboard.writeText = async () => { throw new DOMException("as Safari does", "NotAllowedError"); };
        document.execCommand = () => false;
    }""")
    page.click("[data-do=link]")
    expect(page.locator("#notice")).to_contain_text("on the clipboard")
    assert "#game=" in page.evaluate("navigator.clipboard.readText()")


def test_a_part_of_a_second_that_the_server_was_started_with_can_be_chosen_again(page: Page) -> None:
    page.evaluate("import('/static/js/connection.js').then((m) => m.connection.send('set', {seconds: 0.5}))")
    expect(page.locator("#strength")).to_have_value("0.5 s")
    for seconds in ("3 s", "0.5 s"):
        page.select_option("#strength", seconds)
        page.wait_for_timeout(300)  # for the server's answer, after which the list shows what was set
        expect(page.locator("#strength")).to_have_value(seconds)


def test_keys_that_are_held_or_go_through_a_list_do_no_harm(page: Page) -> None:
    page.focus("#side")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#side")).to_have_value("none")
    expect(page.locator("#number")).to_have_text("0")
    page.keyboard.press("ArrowUp")
    for number, x in enumerate(range(3), start=1):
        click(page, x, 2)
        expect_stones(page, number, number)
    page.focus("[data-do=undo]")
    for _ in range(3):
        page.keyboard.down("Enter")  # once, and twice again while it is held
    page.keyboard.up("Enter")
    expect_stones(page, 2, 2)
    page.wait_for_timeout(300)
    expect_stones(page, 2, 2)


def test_two_tabs_and_a_link_from_one_to_the_other(page: Page, address: str) -> None:
    other = open_page(page.context, address)
    click(page, 2, 2)
    expect_stones(page, 1, 1)
    expect_stones(other, 0, 0)
    page.keyboard.press("ArrowLeft")
    expect_stones(page, 1, 0)
    page.click("[data-do=link]")
    expect(page.locator("#notice")).to_contain_text("clipboard")
    other.goto(page.evaluate("navigator.clipboard.readText()"))
    expect_stones(other, 1, 0)
    expect(other.locator("#tree circle")).to_have_count(3)
    click(other, 0, 0)
    expect_stones(other, 1, 1)
    expect_stones(page, 1, 0)


def test_a_phone(browser: Browser, address: str) -> None:
    context = browser.new_context(locale="ja-JP", viewport={"width": 360, "height": 740}, is_mobile=True,
                                  has_touch=True)
    with no_errors(context):
        page = open_page(context, address)
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.tap('.shudan-vertex[data-x="2"][data-y="2"]')
        expect_stones(page, 1, 1)
        page.set_viewport_size({"width": 320, "height": 568})  # as small, too, as a page of 1280 at 400 %
        page.click("#language")  # to the longer words
        page.click("[data-do=new]")
        assert page.evaluate("(d => d.scrollWidth - d.clientWidth)(document.getElementById('new-dialog'))") == 0
        page.keyboard.press("Escape")
        page.check("#analyze")
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        assert page.evaluate("(b => b.scrollWidth - b.clientWidth)(document.getElementById('candidates-box'))") == 0
        page.uncheck("#analyze")
        page.click("#language")
        page.set_viewport_size({"width": 360, "height": 740})
    box = page.locator(".shudan-goban").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 360
    expect(page.locator("[data-do=pass]")).to_have_text("パス")
    context.close()


def test_keyboard_readers_and_languages(page: Page) -> None:
    page.fill("#point", "C3")
    page.keyboard.press("Enter")
    expect(page.locator("#board-text")).to_contain_text("Board 5 by 5. Black: C3. White: E1.")
    expect(page.locator("#status")).to_contain_text("White E1. Black to move.")
    page.fill("#point", "I9")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("I9 is no point")
    page.fill("#point", "Ｄ４")
    page.keyboard.press("Enter")
    expect_stones(page, 2, 2)
    page.locator("#point").blur()
    page.keyboard.press("u")
    expect_stones(page, 1, 1)
    page.keyboard.press("u")
    expect_stones(page, 0, 0)
    page.click("#language")
    expect(page.locator("#status")).to_contain_text("黒の番です")
    click(page, 2, 2)
    expect_stones(page, 1, 1)
    click(page, 2, 2)
    expect(page.locator("#notice")).to_have_text("C3 には打てません。石があります。")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_the_runs_that_are_watched(browser: Browser, address: str) -> None:
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    with no_errors(context):
        page.goto(f"{address}runs")
        expect(page.locator(".card")).to_contain_text("sl: step 13440")
        expect(page.locator("figure")).to_have_count(11)
        expect(page.locator("figcaption", has_text="Elo (generation) · now")).to_have_count(1)
        page.uncheck(".run:has-text('sl') input")
        expect(page.locator("figure")).to_have_count(7)
    context.close()


def test_a_watched_game_that_is_gone_or_empty_is_told(page: Page) -> None:
    # The files are looked at each half second instead of every five: a line stays for six, which a slow machine takes.
    page.add_init_script("const later = setTimeout;"
                         "window.setTimeout = (run, ms) => later(run, ms === 5000 ? 500 : ms);")
    page.route("**/runs/data", lambda route: route.fulfill(json=[FOLDER]))
    page.route("**/runs/0/3/2", lambda route: route.fulfill(body=""))
    page.click("header a")
    expect(page.locator("#game-0-1")).to_be_visible()
    page.click("#game-0-1")
    expect(page.locator("#notice")).to_have_text("Game 1 is not there any more, or cannot be read.")
    assert page.evaluate("""() => new Promise((resolve) => new MutationObserver(
        () => resolve(!document.getElementById("notice").hidden)
    ).observe(document.getElementById("cards"), { childList: true }))""")  # the next look at the files leaves it there
    page.route("**/runs/0/3/1", lambda route: route.abort())
    page.click("#game-0-1")
    expect(page.locator("#notice")).to_contain_text("The server does not answer")
    assert page.context.pages == [page]
    with page.expect_popup() as opened:
        page.click("#game-0-2")
    expect(opened.value.locator("#notice")).to_contain_text("this game cannot be read")


def test_a_table_without_rows_has_no_step(page: Page) -> None:
    table = {"name": "sl", "key": "step", "columns": {"step": []}, "age": 1}
    page.route("**/runs/data", lambda route: route.fulfill(json=[FOLDER | {"tables": [table]}]))
    page.click("header a")
    expect(page.locator(".run")).to_have_text(re.compile(r"sl: nothing yet, changed 1 s ago"))


def test_a_file_that_is_dropped_on_the_dialog_of_a_new_game_takes_its_place(page: Page) -> None:
    page.click("[data-do=new]")
    page.evaluate("""record => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([record], "game.sgf"));
        document.getElementById("new-dialog").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
    }""", RECORD)
    expect(page.locator("#tree circle")).to_have_count(6)
    expect(page.locator("#new-dialog")).to_be_hidden()


def test_a_message_has_more_than_half_of_a_narrow_page(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 568})
    load(page, "hello")
    expect(page.locator("#notice")).to_be_visible()
    box = page.locator("#notice").bounding_box()
    assert box is not None and box["width"] > 240 and box["x"] >= 0 and box["x"] + box["width"] <= 320


def test_territory_and_runs_keep_their_colors_where_a_high_contrast_is_forced(page: Page) -> None:
    def colors(selector: str) -> int:
        """Return how many backgrounds these elements have."""
        number: int = page.evaluate("""selector => new Set(Array.from(document.querySelectorAll(selector),
            (element) => getComputedStyle(element).backgroundColor)).size""", selector)
        return number

    page.emulate_media(forced_colors="active")
    load(page, "(;GM[1]SZ[5]KM[3.5]AB[ba][bb][bc][bd][be]AW[da][db][dc][dd][de])")
    page.check("#analyze")
    expect(page.locator(".shudan-paint_1").first).to_be_attached()
    expect(page.locator(".shudan-paint_-1").first).to_be_attached()
    assert colors(".shudan-paint_1 .shudan-paint > .shudan-inner, .shudan-paint_-1 .shudan-paint > .shudan-inner") == 2
    page.click("header a")
    expect(page.locator(".mark")).to_have_count(2)
    assert colors(".mark") == 2
