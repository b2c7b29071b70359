"""Writes doc/options.md: the --help of every program, in one page.

    tools/list_options.py --out doc/options.md

A test compares the page with the programs, so that neither goes its own way.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.atomic_file import write_atomically
from common.command_line import run_command
from common.exit_status import tell_failures
from program import PROGRAM_FOLDER

# Those that stand before the tools.
PROGRAMS = ("main.py", "web.py", "train.py", "selfplay_main.py", "get_final_status.py")
HEAD = """# Options

What each program says to `--help`, written by `tools/list_options.py --out doc/options.md`.

*Values* says what to type behind the option: a boolean is `true` or `false`, a file or directory is its name, words in
capitals are to be replaced. Nothing stands behind an option without values. *Default* is what holds where the option is
not given. [README.md](README.md#words) explains words such as visit, playout and policy.
"""
# A default that --help tells in words, at the end of the text.
TOLD_DEFAULT = re.compile(r"\s*\[default: ([^][]*)\]$")


def format_bound(value: float) -> str:
    """Return a bound as people write it, whole millions not as 1e+06."""
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def describe_values(option: click.Option) -> str:
    """Return what may stand behind an option: nothing behind a flag."""
    kind = option.type
    if option.is_flag:
        return ""
    if isinstance(kind, click.Choice):
        return " or ".join(map(str, kind.choices))
    if option.metavar and kind is click.STRING:  # a number's bounds tell more
        return option.metavar
    name = kind.name.split()[0].split("_")[0]
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    begin = "above" if getattr(kind, "min_open", False) else "from"
    bounds = [f"{begin} {format_bound(least)}"] if least is not None else []
    bounds += [f"to {format_bound(most)}"] if most is not None else []
    return " ".join([name, *bounds])


def describe_default(command: click.Command, option: click.Option) -> str:
    """Return the default as --help shows it, nothing where it shows none."""
    if option.required or isinstance(option.show_default, str):
        return "required" if option.required else str(option.show_default)
    if told := TOLD_DEFAULT.search(option.help or ""):
        return told[1]
    shows = command.context_settings.get("show_default") if option.show_default is None else option.show_default
    values = option.default if isinstance(option.default, tuple) else (option.default,)
    if not shows or not all(isinstance(one, str | int | float) for one in values):
        return ""
    return ", ".join(str(one).lower() if isinstance(one, bool) else str(one) for one in values)


def list_rows(command: click.Command) -> Iterator[str]:
    """Yield a row of a table for each option."""
    for option in command.params:
        if isinstance(option, click.Option):
            names = ", ".join(f"`{name}`" for name in option.opts)
            meaning = TOLD_DEFAULT.sub("", option.help or "")
            cells = (names, describe_values(option), describe_default(command, option), meaning)
            yield f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def format_program(name: str, command: click.Command) -> str:
    """Return the section of one program."""
    arguments = " ".join(param.make_metavar(click.Context(command)) for param in command.params
                         if isinstance(param, click.Argument))
    text = (command.help or "").partition("\f")[0].strip().partition("\n\n")[0]
    rows = "\n".join(list_rows(command))
    return (f"\n## {name} {arguments}".rstrip() + f"\n\n{' '.join(text.split())}\n\n"
            f"| option | values | default | meaning |\n|---|---|---|---|\n{rows}\n")


def list_programs() -> Iterator[tuple[str, click.Command]]:
    """Yield all programs, and the commands of those that have some, by name."""
    tools = sorted(path.name for path in PROGRAM_FOLDER.glob("tools/*.py") if path.name != "__init__.py")
    for name in (*PROGRAMS, *(f"tools/{tool}" for tool in tools)):
        program = importlib.import_module(name.removesuffix(".py").replace("/", ".")).main
        if isinstance(program, click.Group):
            yield from ((f"{name} {command}", program.commands[command]) for command in program.commands)
        else:
            yield name, program


def format_page() -> str:
    """Return the page."""
    return HEAD + "".join(format_program(name, command) for name, command in list_programs())


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The page.")
def main(out: Path) -> None:
    """Write the options of all programs as a page."""
    with tell_failures(out):
        write_atomically(out, format_page().encode())


if __name__ == "__main__":
    sys.exit(run_command(main, "list_options.py"))
