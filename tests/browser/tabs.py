"""Tabs of a server in this process, with a network that needs no file."""
from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import ClientWebSocketResponse, WSMsgType
from aiohttp.test_utils import TestClient, TestServer

from board.stone import Stone
from browser.hall import Hall
from browser.server import make_app
from engine.choosing import Watch
from engine.engine import Engine, EvaluatorSource
from engine.options import EngineOptions
from tests.gtp.players import FakeEvaluator

SIZE = 5
# Compiling for the first time, on a busy machine.
SECONDS = 300.0
# Once that is done, a message that has not come by then is lost.
SILENCE = 30.0
SOURCE = EvaluatorSource(lambda size: FakeEvaluator(size or SIZE), range(3, 10))


def make_hall(warm_up: bool = False, **options: Any) -> Hall:
    """Return a hall whose network likes points by number and plays 3x3 to 9x9."""
    given = {"visits": 8, "size": SIZE} | options
    return Hall(EngineOptions(**given), replace(SOURCE, warm_up=warm_up))


@cache
def compile_search() -> None:
    """Compile what every search needs."""
    Engine(EngineOptions(visits=8, size=SIZE), SOURCE).genmove(Stone.BLACK, 0.0, Watch(quiet=True))


class Tab:
    """One tab: what comes in is kept by type."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.latest: dict[str, Any] = {}
        self.seen: list[dict[str, Any]] = []

    async def send(self, name: str, **fields: Any) -> None:
        await self.socket.send_json({"do": name, **fields})

    async def receive(self) -> dict[str, Any]:
        message = await self.socket.receive(SILENCE)
        assert message.type is WSMsgType.TEXT, message
        content: dict[str, Any] = json.loads(message.data)
        self.latest[content["type"]] = content
        self.seen.append(content)
        return content

    async def until(self, kind: str, test: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """Return the next message of a type that passes a test."""
        while True:
            content = await self.receive()
            if content["type"] == kind and test(content):
                return content

    async def ask(self, name: str, **fields: Any) -> dict[str, Any]:
        """Do something that is refused and return the error."""
        await self.send(name, **fields)
        return await self.until("error")


class Room:
    """A server and its tabs."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    async def open(self, name: str = "-") -> Tab:
        """Open a tab, with the name that an earlier one got."""
        tab = Tab(await self.client.ws_connect("/tab", headers={"Origin": str(self.client.make_url("/")).rstrip("/")}))
        await tab.socket.send_str(name)
        await tab.until("hello")
        await tab.until("settings")
        return tab


@asynccontextmanager
async def room(token: str = "", hall: Hall | None = None, watched: Sequence[Path] = (), **options: Any,
               ) -> AsyncIterator[Room]:
    """Run a server."""
    chosen = hall or make_hall(**options)
    async with TestClient(TestServer(make_app(lambda: chosen, token, watched))) as client:
        yield Room(client)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in an event loop."""
    compile_search()

    async def limited() -> None:
        await asyncio.wait_for(test(), SECONDS)
    asyncio.run(limited())
