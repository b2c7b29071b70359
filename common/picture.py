"""Pictures of curves, where matplotlib is there, which nothing else needs."""

import io
import warnings
from pathlib import Path
from typing import Any

from common.atomic_file import write_atomically
from common.print_console import print_err


def new_picture(width: float, height: float) -> Any | None:
    """Return an empty matplotlib Figure of a size in inches; says so in one line, and returns None, without it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
    except ImportError:
        print_err("No matplotlib: the curves are not drawn (pip install matplotlib).")
        return None
    picture = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    return picture


def write_picture(picture: Any, path: Path, dpi: int) -> None:
    """Write a Figure as PNG, complete or not at all; raises OSError."""
    image = io.BytesIO()
    picture.savefig(image, format="png", dpi=dpi)
    write_atomically(path, image.getvalue())
