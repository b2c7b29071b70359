"""Write the weighted mean of two networks of the same shape, weight by weight, as a model file.

    tools/mix_weights.py model/model.bin model/rl-model.bin --share 0.5 --out mixed.bin

For a network and the one that it went on learning from (M. Wortsman et al., "Robust fine-tuning of zero-shot models",
CVPR 2022): what new games say by chance is halved, and what was known before is not forgotten. It costs nothing when
playing, unlike an ensemble (main.py --model A,B), but networks that have not learnt from each other have no such mean.
"""

import shlex
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common.command_line import FiniteRange, run_command
from common.exit_status import ProgramError, tell_failures
from common.print_console import print_out


def mix(first: Path, second: Path, share: float, out: Path) -> None:
    """Write `share` of the second network and the rest of the first; raises ProgramError where they have no mean."""
    from nn.model_file import ModelFileError
    from nn.network.weights import load_network, mix_networks, save_network
    from program import PROGRAM_NAME, VERSION

    try:
        network = mix_networks(load_network(first), load_network(second), share)
    except ModelFileError as error:
        raise ProgramError(f"cannot use model {error.path}: {error.reason}") from None
    except ValueError:
        raise ProgramError(f"{second} has another shape than {first}: only networks of one shape have a mean") from None
    save_network(network, out, {"program": f"{PROGRAM_NAME} {VERSION}", "command": shlex.join(sys.argv)})


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--share", type=FiniteRange(0.0, 1.0), default=0.5, show_default=True,
              help="Share of the second network in the mean.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Model file to write.")
def main(first: Path, second: Path, share: float, out: Path) -> None:
    """Write the weighted mean of two networks of the same shape."""
    with tell_failures(out):
        mix(first, second, share, out)
    print_out(f"{out}: {1.0 - share:g} of {first}, {share:g} of {second}")


if __name__ == "__main__":
    sys.exit(run_command(main, "mix_weights.py"))
