"""web.py as a user starts it: what goes wrong is one line and a status."""
from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import web
from browser.hall import Hall
from browser.server import serve
from engine.loader import LoadError
from engine.options import EngineOptions
from tests.browser.tabs import SECONDS, make_hall
from tests.tools.in_process import ProgramRunner


def start(*options: str) -> tuple[int, str]:
    """Return the exit status of web.py and what it says."""
    result = ProgramRunner().invoke(web.main, ["--open", "false", *options])
    return result.exit_code, result.stderr


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, told = start("--port", str(taken.getsockname()[1]))
    assert status == 1 and "cannot listen on 127.0.0.1" in told and told.count("\n") == 1


def test_what_a_user_asks_for_reaches_server_and_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []

    async def listen(open_hall: Callable[[], Any], *others: Any) -> None:
        heard.append((open_hall(), *others[:3], *others[4:]))

    monkeypatch.setattr(web, "serve", listen)
    monkeypatch.setattr(Hall, "open", lambda options: options)
    assert start("--model", "none")[0] == 0
    assert start("--model", "none", "--host", "::1", "--port", "7", "--token", "mine", "--watch", str(tmp_path),
                 "--size", "5", "--komi", "0.5", "--superko", "true", "--visits", "3", "--level", "4")[0] == 0
    (_, *plain), (options, *others) = heard
    assert plain == ["127.0.0.1", 8765, "", (Path(),)] and others == ["::1", 7, "mine", (tmp_path,)]
    assert (options.size, options.komi, options.superko, options.visits, options.level) == (5, 0.5, True, 3, 4)


def test_a_model_that_is_not_there_and_one_that_is_none(tmp_path: Path) -> None:
    assert "model file not found" in start("--model", str(tmp_path / "no.bin"))[1]
    damaged = tmp_path / "damaged.bin"
    damaged.write_bytes(b"PK nothing")
    status, told = start("--port", "0", "--model", str(damaged))
    assert status == 2 and "cannot use model" in told.splitlines()[-1]


def test_others_are_let_in_with_a_token_only() -> None:
    async def listen(host: str, token: str) -> str:
        address = asyncio.get_running_loop().create_future()
        server = asyncio.create_task(serve(make_hall, host, 0, token, address.set_result))
        try:
            return str(await asyncio.wait_for(address, SECONDS))
        finally:
            server.cancel()

    assert asyncio.run(listen("127.0.0.1", "")).endswith("/")
    assert asyncio.run(listen("127.0.0.1", "mine")).endswith("?token=mine")
    found = asyncio.run(listen("0.0.0.0", ""))
    assert socket.gethostname() in found and len(found.partition("?token=")[2]) >= 20


def test_the_engines_failure_ends_the_server() -> None:
    def open_hall() -> Hall:
        return Hall.open(EngineOptions(model="/nothing/here.bin"))

    with pytest.raises(LoadError, match="cannot use model"):
        asyncio.run(serve(open_hall, "127.0.0.1", 0, "", lambda _: None))
