"""Where OpenVINO's form of a model file is kept: beside the compiled kernels, converted once."""

import hashlib
import os
import shutil
from pathlib import Path

import openvino

from common.cores import count_usable_cores
from common.kernel_cache import cache_folder, source_key
from common.print_console import print_err
from nn.inference.openvino_evaluator import FACTS_FILE, OpenVinoEvaluator
from nn.model_file import ModelFile

# Networks whose compiled form is kept on disk, 20 to 40 MB each for the bundled one.
KEPT_NETWORKS = 20
EXPORTER = Path(__file__).with_name("openvino_export.py")


def find_folder(model: ModelFile, board_size: int | None) -> Path:
    """Return the folder for what is exported of a model file, made and marked as used; raises OSError without one."""
    base = cache_folder()
    if base is None:
        raise OSError("no folder can be written")
    digest = hashlib.sha256(f"{openvino.__version__} {board_size} {source_key(EXPORTER)} ".encode() + model.content)
    folder = base / f"openvino-{digest.hexdigest()[:20]}"
    if not folder.is_dir():
        for old in sorted(base.glob("openvino-*"), key=os.path.getmtime, reverse=True)[KEPT_NETWORKS - 1:]:
            shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    os.utime(folder)
    return folder


def load_openvino(
    model: ModelFile, board_size: int | None, symmetries: int, threads: int | None
) -> OpenVinoEvaluator | None:
    """Return the evaluator of a model file, None where torch has to run it; raises ModelFileError."""
    try:
        folder = find_folder(model, board_size)
        if not (folder / FACTS_FILE).is_file():
            from nn.inference.openvino_export import export
            export(model, board_size, folder)
        return OpenVinoEvaluator(folder, symmetries, threads or count_usable_cores())
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        print_err(f"OpenVINO cannot run {model}, torch does: {' '.join(str(error).split())[:200]}")
        return None
