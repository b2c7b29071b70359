"""Who may ask: this machine's own pages, and others with the token."""
from __future__ import annotations

import asyncio
import re

import pytest
from aiohttp import WSServerHandshakeError

from browser.hall import MAX_LEFT
from browser.server import STATIC, is_local, name_of, serve
from tests.browser.tabs import SECONDS, make_hall, room, run


@pytest.mark.parametrize(("headers", "status"), [
    ({}, 200),
    ({"Host": "localhost:8765"}, 200),
    ({"Host": "[::1]:8765"}, 200),
    ({"Host": "evil.example"}, 403),  # a name that somebody made point to this machine
    ({"Host": "[broken"}, 403),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://[::1"}, 403),
])
def test_only_our_own_pages_are_answered(headers: dict, status: int) -> None:
    async def ask() -> None:
        async with room() as here:
            answer = await here.client.get("/", headers=headers)
            assert answer.status == status
            assert (await answer.text()).count("\n") == 1 or status == 200
    run(ask)


def test_a_tab_of_another_site_is_refused() -> None:
    async def connect() -> None:
        async with room() as here:
            with pytest.raises(WSServerHandshakeError, match="403"):
                await here.client.ws_connect("/tab", headers={"Origin": "http://evil.example"})
    run(connect)


def test_a_tab_that_says_nothing_takes_no_table_from_others() -> None:
    async def come_and_go() -> None:
        hall = make_hall()
        async with room(hall=hall) as here:
            seat, _ = await hall.sit_down("-")
            hall.leave(seat)
            for _ in range(MAX_LEFT):
                socket = await here.client.ws_connect("/tab")
                await socket.close()
            for _ in range(3):  # what is under way is done
                await (await here.open()).socket.close()
            assert (await hall.sit_down(seat.name))[1]
    run(come_and_go)


def test_with_a_token_nothing_is_shown_without_it() -> None:
    async def ask() -> None:
        async with room(token="secret") as here:
            for path in ("/", "/static/js/main.js", "/tab", "/?token=wrong", "/?token=%C3%A9", "/?token=%ff%00"):
                assert (await here.client.get(path, headers={"Host": "somewhere.example"})).status == 401
            assert "script-src" not in await (await here.client.get("/")).text()
            assert "not the token" not in await (await here.client.get("/")).text()
            assert "not the token" in await (await here.client.get("/?token=wrong")).text()
            answer = await here.client.get("/?token=secret")
            assert answer.status == 200 and "shudan" in await answer.text()  # after the redirection, with the cookie
            assert (await here.client.get("/runs?token=secret", allow_redirects=False)).status == 200
            here.client.session.cookie_jar.clear()
            asked = await here.client.get("/runs?token=secret", allow_redirects=False)
            assert asked.headers["Location"] == "/runs"
            assert str(here.client.port) in asked.headers["Set-Cookie"].partition("=")[0]  # cookies know no ports
            for path in "/runs", "/static/js/main.js":
                assert (await here.client.get(path)).status == 200
    run(ask)


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/js/", "/nothing",
                                  "/static/" + "x" * 300])
def test_nothing_but_the_pages_can_be_read(path: str) -> None:
    async def ask() -> None:
        async with room() as here:
            assert (await here.client.get(path)).status in (403, 404)
    run(ask)


def test_pages_ask_for_nothing_from_elsewhere() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in STATIC.rglob("*")
             if path.suffix in (".html", ".css", ".js") and "vendor" not in path.parts}
    assert len(texts) > 8
    assert not [path for path, text in texts.items() if re.search(r"(?:src|href|url|import).{0,3}https?://", text)]


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1", True), ("LOCALHOST", True), ("::1", True), ("0.0.0.0", False), ("", False), ("192.168.1.2", False),
])
def test_which_addresses_are_this_machine_alone(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_the_address_that_is_shown_has_the_token_in_its_own_letters() -> None:
    async def listen() -> str:
        address = asyncio.get_running_loop().create_future()
        server = asyncio.create_task(serve(make_hall, "127.0.0.1", 0, "a&b あ", address.set_result))
        try:
            return str(await asyncio.wait_for(address, SECONDS))
        finally:
            server.cancel()

    assert asyncio.run(listen()).endswith("/?token=a%26b%20%E3%81%82")


def test_a_request_that_is_no_http_is_answered_and_fills_no_terminal(caplog: pytest.LogCaptureFixture) -> None:
    async def ask() -> bytes:
        address = asyncio.get_running_loop().create_future()
        server = asyncio.create_task(serve(make_hall, "127.0.0.1", 0, "", address.set_result))
        try:
            port = int((await asyncio.wait_for(address, SECONDS)).rstrip("/").rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            answer = await asyncio.wait_for(reader.readline(), SECONDS)
            writer.close()
            return answer
        finally:
            server.cancel()

    assert b" 400 " in asyncio.run(ask())
    assert not caplog.records


def test_names_of_hosts() -> None:
    assert [name_of(host) for host in ("a.b:1", "[::1]:2", "", "[")] == ["a.b", "::1", "", ""]
