"""An engine on stdin and stdout that needs no model file: python tests/gtp/fake_main.py [VISITS]."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.engine import Engine, EvaluatorSource  # noqa: E402
from engine.options import EngineOptions  # noqa: E402
from gtp.client import GtpClient, leave  # noqa: E402
from gtp.reader import LineReader  # noqa: E402
from nn.model_file import ANY_SIZE  # noqa: E402
from tests.gtp.players import FakeEvaluator  # noqa: E402


def make_engine(options: EngineOptions) -> Engine:
    """Return an engine for boards of any size."""
    source = EvaluatorSource(lambda size: FakeEvaluator(size or 5), ANY_SIZE)
    return Engine(replace(options, size=options.size or 5), source)


if __name__ == "__main__":
    visits = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    leave(GtpClient(EngineOptions(size=5, visits=visits), make_engine).run(LineReader()))
