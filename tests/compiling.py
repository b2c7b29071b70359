"""What tests/conftest.py has another process compile."""

from engine.precompile import compile_planes
from nn.plane_sets import PLANE_SETS


def compile_plane_sets() -> None:
    """Compile the planes of all sets."""
    for plane_set in PLANE_SETS.values():
        compile_planes(plane_set)
