"""A model file that has been read: how weights travel to where the file is not."""

from dataclasses import dataclass, field
from pathlib import Path

# Stands for a network with random (seeded) weights wherever a model file may be named.
RANDOM_MODEL = "none"


@dataclass(frozen=True)
class ModelFile:
    """The bytes of a model file, and its path for messages."""

    path: str
    content: bytes = field(repr=False)

    def __str__(self) -> str:
        """Return the path."""
        return self.path


def read_model_file(path: str | Path) -> ModelFile:
    """Return a model file's bytes, whatever they are; raises OSError."""
    return ModelFile(str(path), Path(path).read_bytes())
