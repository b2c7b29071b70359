"""Draw a search tree: as SVG, or as one HTML page with nodes that fold and a board that follows the pointer.

    printf 'genmove b\\ntamago-dump_tree\\nquit\\n' | python main.py | grep dump_version > tree.json
    python tools/plot_tree.py tree.json --out tree.html

Takes what `tamago-dump_tree` answers, as it is, or gzipped. The page needs no network: it opens from the disk.
"""

import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.atomic_file import write_atomically
from common.command_line import NamedFile, run_command
from common.exit_status import ProgramError, tell_failures
from common.print_console import print_err
from tools.treelib.dump_reader import DumpError, read_dump
from tools.treelib.page import format_page
from tools.treelib.svg import format_svg
from tools.treelib.view import describe_view, make_view

FORMATS = {".svg": format_svg, ".html": format_page}
MAX_NODES = 5000


@click.command(context_settings={"show_default": True})
@click.argument("tree", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=NamedFile(*FORMATS),
              help="File to write, ending in .svg or .html.")
@click.option("--max-nodes", type=click.IntRange(1, MAX_NODES), default=200,
              help="Nodes to draw, the most visited ones; the picture says how many it leaves out.")
def main(tree: Path, out: Path, max_nodes: int) -> None:
    """Draw the search tree in TREE, the answer of tamago-dump_tree."""
    try:
        view = make_view(read_dump(tree), max_nodes)
    except DumpError as error:
        raise ProgramError(f"{tree}: {error}") from None
    with tell_failures(out):
        write_atomically(out, FORMATS[out.suffix](view).encode())
    print_err(f"{out}: {describe_view(view)[1]}")


if __name__ == "__main__":
    sys.exit(run_command(main, "plot_tree.py"))
