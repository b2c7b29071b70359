"""A model file before torch is there: its name, its bytes, and what is said where it cannot be used."""

from dataclasses import dataclass, field
from pathlib import Path

# Stands for a network with random (seeded) weights wherever a model file may be named.
RANDOM_MODEL = "none"
SUGGESTION = "give another file with --model, or `--model none` for a network that knows nothing"


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


class ModelFileError(Exception):
    """A model file that cannot be used; one line with path, reason and what to do."""

    def __init__(self, path: str | Path | ModelFile, reason: str, advice: str = SUGGESTION) -> None:
        """Keep the three parts; str() joins them."""
        super().__init__(f"cannot use model {path}: {reason}; {advice}")
        self.path = str(path)
        self.reason = reason
        self.advice = advice
