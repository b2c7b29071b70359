"""The server: pages, and one WebSocket for each tab. Nothing heavy is imported before the first page can be served."""

import asyncio
import base64
import hashlib
import hmac
import logging
import re
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError

from engine.loader import LoadError

if TYPE_CHECKING:
    from browser.hall import Hall

STATIC = Path(__file__).resolve().parent / "static"
# The largest message of a tab: a record of the largest size, with its escapes.
MAX_MESSAGE = 5_000_000
HEARTBEAT = 20.0
# Seconds in which a tab may part when the server ends.
PARTING_SECONDS = 1.0
# Seconds in which a tab must say which one it is.
FIRST_SECONDS = 10.0
EVERYWHERE = ("", "0.0.0.0", "::")
LOCAL_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
TOKEN_BYTES = 16
WRONG_TOKEN = '<p role="alert">That is not the token. (トークンが違います。)</p>'
# No address of ours is so long, and no file system takes a longer name.
MAX_ADDRESS = 250
# WebSocket close codes (RFC 6455): try again later, and an error that trying again does not mend.
TRY_LATER, INTERNAL = 1013, 1011

RUNS = "/runs"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
OpenHall = Callable[[], "Hall"]

HALL = web.AppKey("hall", asyncio.Future)
WATCHED = web.AppKey("watched", list)
TABS = web.AppKey("tabs", set)


def is_local(host: str) -> bool:
    """Tell whether an address to listen on can be reached from this machine alone."""
    return host.lower() in LOCAL_NAMES


def name_of(host: str) -> str:
    """Return the name in a Host header or an origin, without the port."""
    with suppress(ValueError):
        return urlsplit(f"//{host}").hostname or ""
    return ""


def cookie_of(host: str) -> str:
    """Return the name of the cookie for the token; cookies do not tell the ports of a machine apart."""
    with suppress(ValueError):
        return f"hiyoko-token-{urlsplit(f'//{host}').port or 80}"
    return "hiyoko-token"


def is_of(origin: str, host: str) -> bool:
    """Tell whether an origin is that of a host."""
    with suppress(ValueError):
        return urlsplit(origin).netloc == host
    return False


def page_policy() -> str:
    """Return the content security policy: all from here, and of scripts in the page the map of imports alone."""
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r'<script type="importmap">(.*?)</script>', page, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (f"default-src 'self'; script-src 'self' {allowed}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
            "frame-ancestors 'none'; base-uri 'none'; form-action 'self'")


def is_our_fault(record: logging.LogRecord) -> bool:
    """Tell whether a message is about more than a request that is no HTTP, which its sender has been told."""
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


class Guard:
    """Lets in requests of our own pages, with the token where one is wanted."""

    def __init__(self, token: str) -> None:
        """Ask for `token`; "" for none, then only requests for a name of this machine are answered."""
        self._token = token
        self._headers = {"Content-Security-Policy": page_policy(), "X-Content-Type-Options": "nosniff",
                         "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}

    def _refuse(self, request: web.Request) -> str | None:
        """Return why a request is not answered, None if it is."""
        if not self._token and name_of(request.host) not in LOCAL_NAMES:
            return "This server answers under the names of this machine only."
        origin = request.headers.get("Origin")
        if origin is not None and not is_of(origin, request.host):
            return "This request comes from a page of another site."
        return None

    def _has_token(self, given: str) -> bool:
        """Tell whether a text is the token."""
        return hmac.compare_digest(given.encode(errors="replace"), self._token.encode())

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request, or tell why not."""
        if reason := self._refuse(request):
            return web.Response(status=403, text=f"{reason}\n")
        if len(request.path) > MAX_ADDRESS:
            return web.Response(status=404, text="There is no such page.\n")
        cookie = cookie_of(request.host)
        if self._token and not self._has_token(request.cookies.get(cookie, "")):
            given = request.query.get("token", "")
            if not self._has_token(given):
                text = (STATIC / "token.html").read_text(encoding="utf-8")
                text = text.replace("<!-- wrong -->", WRONG_TOKEN if given else "")
                return web.Response(status=401, text=text, content_type="text/html", headers=self._headers)
            answer = web.HTTPSeeOther(RUNS if request.path == RUNS else "/")
            answer.set_cookie(cookie, given, httponly=True, samesite="Strict")
            raise answer
        response = await handler(request)
        if not response.prepared:
            response.headers.update(self._headers)
        return response


async def show_page(_: web.Request) -> web.StreamResponse:
    """Answer with the page."""
    return web.FileResponse(STATIC / "index.html")


async def show_runs_page(_: web.Request) -> web.StreamResponse:
    """Answer with the page of the runs that are watched."""
    return web.FileResponse(STATIC / "runs.html")


async def tell_runs(request: web.Request) -> web.StreamResponse:
    """Answer with what the watched folders tell."""
    from browser.runs import Watcher

    watcher = Watcher(request.app[WATCHED])
    return web.json_response(await asyncio.get_running_loop().run_in_executor(None, watcher.read))


async def tell_game(request: web.Request) -> web.StreamResponse:
    """Answer with the record of a game of self-play."""
    from browser.runs import Watcher

    numbers = [int(request.match_info[name]) for name in ("folder", "generation", "number")]
    watcher = Watcher(request.app[WATCHED])
    record = await asyncio.get_running_loop().run_in_executor(None, lambda: watcher.read_game(*numbers))
    if record is None:
        raise web.HTTPNotFound(text="There is no such game.\n")
    return web.Response(text=record, content_type="application/x-go-sgf", charset="utf-8")


async def serve_tab(request: web.Request) -> web.StreamResponse:
    """Serve one tab until it is closed."""
    tab = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=MAX_MESSAGE)
    await tab.prepare(request)
    request.app[TABS].add(tab)
    try:
        await serve_socket(tab, request.app[HALL])
    finally:
        request.app[TABS].discard(tab)
    return tab


async def serve_socket(tab: web.WebSocketResponse, opened: "asyncio.Future[Hall]") -> None:
    """Serve a tab, once the hall is open, until it is closed."""
    try:
        hall = await asyncio.shield(opened)
    except LoadError as error:
        await tab.send_json({"type": "engine", "state": "failed", "text": str(error)})
        await tab.close(code=INTERNAL)
        return
    from browser.hall import HallFullError
    from browser.session import TabSession

    try:
        first = await tab.receive(FIRST_SECONDS)
    except TimeoutError:
        await tab.close()
        return
    if first.type is not WSMsgType.TEXT:  # it is gone again, or none of our pages: it takes nobody's seat
        await tab.close()
        return
    try:
        seat, is_known = await hall.sit_down(first.data)
    except (HallFullError, LoadError) as error:
        await tab.send_json({"type": "engine", "state": "failed", "text": str(error)})
        await tab.close(code=TRY_LATER)
        return
    session = TabSession(hall, seat, is_known)

    async def send_all() -> None:
        """Send what comes into the outbox."""
        with suppress(ConnectionError):
            while True:
                for text in await session.outbox.take():
                    await tab.send_str(text)

    tasks = [asyncio.create_task(work) for work in (send_all(), session.player.run(), session.watch_loading())]
    try:
        async for message in tab:
            if message.type is WSMsgType.TEXT:
                session.receive(message.data)
            if session.outbox.is_full:
                break
    finally:
        session.leave()
        for task in tasks:
            task.cancel()
        hall.leave(seat)


def make_app(open_hall: OpenHall, token: str = "", watched: Sequence[Path] = ()) -> web.Application:
    """Return the server; `open_hall` is called once in a thread of its own, and a token asked for unless "".

    `watched` are the folders whose runs can be seen.
    """
    app = web.Application(middlewares=[Guard(token).middleware], client_max_size=MAX_MESSAGE)
    app.router.add_get("/", show_page)
    app[WATCHED] = list(watched)
    app.router.add_get("/tab", serve_tab)
    app.router.add_get(RUNS, show_runs_page)
    app.router.add_get("/runs/data", tell_runs)
    app.router.add_get(r"/runs/{folder:\d{1,3}}/{generation:\d{1,9}}/{number:\d{1,9}}", tell_game)
    app.router.add_static("/static", STATIC)

    async def start(app: web.Application) -> None:
        """Begin to open the hall."""
        app[HALL] = asyncio.get_running_loop().run_in_executor(None, open_hall)

    async def part(app: web.Application) -> None:
        """Say goodbye to the tabs, for which the server would wait until they are gone."""
        await asyncio.gather(*(tab.close(code=WSCloseCode.GOING_AWAY) for tab in app[TABS].copy()))

    async def stop(app: web.Application) -> None:
        """Close the hall."""
        with suppress(Exception):
            (await app[HALL]).close()

    app[TABS] = set()
    app.on_startup.append(start)
    app.on_shutdown.append(part)
    app.on_cleanup.append(stop)
    return app


async def serve(open_hall: OpenHall, host: str, port: int, token: str, on_ready: Callable[[str], None],
                watched: Sequence[Path] = ()) -> None:
    """Serve until cancelled; `on_ready` gets the address to open.

    Raises OSError where it cannot listen there, and LoadError for a network that cannot be used.
    """
    closing = threading.Event()
    if not token and not is_local(host):
        token = secrets.token_urlsafe(TOKEN_BYTES)
    logging.getLogger("aiohttp.server").addFilter(is_our_fault)
    runner = web.AppRunner(make_app(open_hall, token, watched), access_log=None, shutdown_timeout=PARTING_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        bound = runner.addresses[0][1]
        shown = "127.0.0.1" if is_local(host) else socket.gethostname() if host in EVERYWHERE else host
        asked = f"?token={quote(token, safe='')}" if token else ""
        on_ready(f"http://{f'[{shown}]' if ':' in shown else shown}:{bound}/{asked}")
        hall = await asyncio.shield(runner.app[HALL])
        await asyncio.get_running_loop().run_in_executor(None, hall.engines.loader.get, closing.is_set)
        await asyncio.Event().wait()
    finally:
        closing.set()
        await runner.cleanup()
