"""Where OpenVINO's form of a model file is kept: beside the compiled kernels, converted once."""

import contextlib
import hashlib
import os
import tempfile
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import openvino

from common.atomic_file import write_atomically
from common.kernel_cache import cache_folder, keep_latest, source_key
from common.print_console import print_err
from nn.inference.board_evaluator import BoardEvaluator, NetworkFacts
from nn.inference.openvino_evaluator import FACTS_FILE, NETWORK_FILE, Compiler, OpenVinoEvaluator
from nn.inference.openvino_precision import Format, choose_formats
from nn.inference.shared import share_threads
from nn.model_file import ModelFile
from nn.plane_sets import find_plane_set

# Networks whose compiled form is kept on disk, 20 to 40 MB each for the bundled one.
KEPT_NETWORKS = 20
# What they come from, beside the model file, with all that these import.
MAKERS = [Path(__file__).with_name(name) for name in ("openvino_export.py", "openvino_integers.py")]
# The network in integers, and whether it bears them.
INTEGER_FILE, VERDICT_FILE = "integers.xml", "integers.txt"
SUITS, SUITS_NOT = "suits", "suits not"
# What comes of a disk that cannot be written, of a network that OpenVINO does not know and of damaged files.
FAILURES = (OSError, RuntimeError, TypeError, ValueError)

_core_lock = Lock()  # two threads that load their first networks at once would make two cores, and one would end


@cache
def make_core() -> openvino.Core:
    """Return a core, once a tensor was looked at: two threads that do so for the first time at once stop forever.

    OpenVINO then asks numpy for its functions. Whoever asks lets go of the interpreter's lock, which the other one
    takes and keeps while it waits for the answer.
    """
    _ = openvino.Tensor(openvino.Type.f32, openvino.Shape([1])).data
    return openvino.Core()


def find_core() -> Any:
    """Return OpenVINO's core, the same for every network and until the program ends.

    The thread that first asks a core about the CPU gets from it a stack for its signals (sigaltstack), which is gone
    when the core ends. Where cores end in another order than they began, or in another thread, nothing else takes its
    place, and the next Ctrl-C ends the program by a segmentation fault. That of find_fastest ends where it began.
    """
    with _core_lock:
        return make_core()


def find_folder(model: ModelFile, board_size: int | None) -> Path:
    """Return the folder for what is exported of a model file, made and marked as used; raises OSError without one."""
    base = cache_folder()
    if base is None:
        raise OSError("no folder can be written")
    makers = " ".join(source_key(path) for path in MAKERS)
    digest = hashlib.sha256(f"{openvino.__version__} {board_size} {makers} ".encode() + model.content)
    folder = base / f"openvino-{digest.hexdigest()[:20]}"
    if not folder.is_dir():
        keep_latest(base, "openvino-*", KEPT_NETWORKS - 1)
    folder.mkdir(exist_ok=True)
    os.utime(folder)
    return folder


def write_network(network: openvino.Model, path: Path) -> None:
    """Write a network, which OpenVINO keeps in two files of one name, to last before what vouches for it is written."""
    with tempfile.TemporaryDirectory(dir=path.parent) as draft:
        openvino.save_model(network, Path(draft) / path.name, compress_to_fp16=False)
        for file in Path(draft).iterdir():
            write_atomically(path.with_name(file.name), file.read_bytes())


def make_floats(model: ModelFile, board_size: int | None, folder: Path) -> None:
    """Write the network of a model file to a folder; the facts come last, so that they vouch for the rest."""
    from nn.inference.openvino_export import export
    network, facts = export(model, board_size)
    write_network(network, folder / NETWORK_FILE)
    write_atomically(folder / FACTS_FILE, facts.to_bytes())


def make_integers(core: Any, folder: Path) -> None:
    """Write the network of a folder once more, in integers, and whether it bears them; the verdict comes last."""
    from nn.inference.openvino_integers import quantize
    facts = NetworkFacts.parse((folder / FACTS_FILE).read_bytes())
    network = core.read_model(folder / NETWORK_FILE)
    try:
        suits = quantize(core, network, find_plane_set(facts.features), facts.board_size)
    except RuntimeError:  # OpenVINO cannot run the network so, or torch has no inverse for such numbers
        suits = False
    if suits:
        write_network(network, folder / INTEGER_FILE)
    write_atomically(folder / VERDICT_FILE, (SUITS if suits else SUITS_NOT).encode())


def bears_integers(core: Any, folder: Path) -> bool:
    """Tell whether the network of a folder has a file in integers; the first call makes it."""
    if not (folder / VERDICT_FILE).is_file():
        make_integers(core, folder)
    return (folder / VERDICT_FILE).read_text(encoding="ascii") == SUITS


def find_network(core: Any, folder: Path) -> tuple[Path, Format, Format]:
    """Return the file of the network to run, its format that is fastest here, and that of what is not in integers."""
    *integers, floats = choose_formats(core)
    if integers and bears_integers(core, folder):
        return folder / INTEGER_FILE, Format.INTEGER, floats
    return folder / NETWORK_FILE, floats, floats


def make_anew(core: Any, model: ModelFile, board_size: int | None, folder: Path) -> tuple[Path, Format, Format]:
    """Write all that a folder keeps of a model file once more, but for what is compiled of it; as find_network."""
    folder.mkdir(exist_ok=True)
    (folder / VERDICT_FILE).unlink(missing_ok=True)
    make_floats(model, board_size, folder)
    return find_network(core, folder)


def make_compiler(model: ModelFile, board_size: int | None, threads: int) -> Compiler:
    """Return what compiles the network of a model file; what an earlier start has kept, and is damaged, is made anew.

    Raises ModelFileError, and what load_openvino catches.
    """
    folder, core = find_folder(model, board_size), find_core()
    renew = partial(make_anew, core, model, board_size, folder)
    if (folder / FACTS_FILE).is_file():
        with contextlib.suppress(*FAILURES):
            return Compiler(core, *find_network(core, folder), threads, renew)
    return Compiler(core, *renew(), threads, renew)


def load_openvino(model: ModelFile, board_size: int | None, symmetries: int, threads: int) -> BoardEvaluator | None:
    """Return the evaluator of a model file, None where torch has to run it; raises ModelFileError."""
    try:
        compiler = make_compiler(model, board_size, threads)
        return share_threads(partial(OpenVinoEvaluator, compiler), symmetries, threads)
    except FAILURES as error:
        print_err(f"OpenVINO cannot run {model}, torch does: {' '.join(str(error).split())[:200]}")
        return None
