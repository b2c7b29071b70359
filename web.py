"""Hiyoko in a browser: play, analyze and look at games.

    python web.py --visits 400

opens the page; it needs the packages of the extra [web]: pip install "aiohttp>=3.10".
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until run_command: Ctrl-C during the imports is no traceback

import asyncio
import sys
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import aiohttp  # noqa: F401 (the server needs it)
    import click
    import numpy  # noqa: F401 (everything needs it)
except ModuleNotFoundError as error:
    sys.exit(f"web.py: {error}; start with the Python of the environment, such as .venv/bin/python (README.md, Start), "
             f'or type: {sys.executable} -m pip install -r requirements.txt "aiohttp>=3.10"')

from board.constant import DEFAULT_KOMI, MAX_BOARD_SIZE, MAX_KOMI, MIN_BOARD_SIZE
from browser.server import serve
from common.command_line import FiniteRange, run_command
from common.exit_status import EXIT_FAILED, ProgramError, leave
from common.print_console import print_err
from engine.levels import FULL_LEVEL
from engine.options import DEFAULT_MODEL, EngineOptions, find_model
from mcts.searches import DEFAULT_SEARCH, SEARCHES

if TYPE_CHECKING:
    from browser.hall import Hall

MAX_PORT = 65535
COUNT = click.IntRange(min=1)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 110})
@click.option("--port", type=click.IntRange(0, MAX_PORT), default=8765, help="Port to listen on; 0: any that is free.")
@click.option("--host", default="127.0.0.1",
              help="Address to listen on; any but this machine's own asks visitors for a token.")
@click.option("--token", default="", show_default=False,
              help="Ask for this token.  [default: a new one where others can reach the page]")
@click.option("--open", "opens", type=click.BOOL, default=True, help="Open the page in the browser.")
@click.option("--model", default=DEFAULT_MODEL,
              help="Model file, as main.py takes it; none: playouts choose the moves.")
@click.option("--use-gpu", type=click.BOOL, default=False, help="Run the network on the first GPU.")
@click.option("--size", type=click.IntRange(MIN_BOARD_SIZE, MAX_BOARD_SIZE),
              show_default="the size the model was made for", help="Board size at the start.")
@click.option("--komi", type=FiniteRange(-MAX_KOMI, MAX_KOMI), default=DEFAULT_KOMI, help="Points given to White.")
@click.option("--superko", type=click.BOOL, default=False,
              help="Whether a player's move that repeats an earlier position is illegal. The engine itself never "
                   "repeats one.")
@click.option("--search", type=click.Choice(list(SEARCHES)), default=DEFAULT_SEARCH,
              help="How moves are searched, as for main.py.")
@click.option("--visits", type=COUNT, show_default="200; the page can change it",
              help="Visits per move, fewer when the move is decided.")
@click.option("--const-time", type=FiniteRange(0.0, min_open=True), show_default="none; the page can change it",
              help="Seconds per move; beats --visits.")
@click.option("--level", type=click.IntRange(1, FULL_LEVEL), default=FULL_LEVEL,
              show_default="20; the page can change it", help="Strength, from a beginner (1) to all it can (20).")
@click.option("--watch", multiple=True, type=click.Path(exists=True, file_okay=False, path_type=Path),
              show_default="the current one",
              help="Folder of a training or a pipeline to show, with model/ and archive/ in it; may be given more than "
                   "once.")
def main(port: int, host: str, token: str, opens: bool, model: str, watch: tuple[Path, ...], **arguments: Any) -> None:
    """Play and analyze in a browser."""
    try:
        found = find_model(model)
    except OSError as error:
        raise click.UsageError(str(error)) from None
    options = EngineOptions(model=found, **arguments)

    def open_hall() -> "Hall":
        """Import the heavy part when the first page can be served already."""
        from browser.hall import Hall
        return Hall.open(options)

    def on_ready(address: str) -> None:
        """Tell where the page is, and show it."""
        print_err(f"Hiyoko is at {address} (Ctrl-C ends it).")
        if opens:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(open_hall, host, port, token, on_ready, watch or (Path(),)))
    except (OSError, UnicodeError) as error:  # the latter for a host that is no name
        reason = getattr(error, "strerror", None) or error
        raise ProgramError(f"cannot listen on {host}:{port}: {reason}; give another --host or --port",
                           EXIT_FAILED) from None


def start() -> None:
    """Run the command line and end the process, whatever is still being loaded or searched."""
    leave(run_command(main, "web.py"))


if __name__ == "__main__":
    start()
