"""One network tells the policy, another the value."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nn.feature import BASIC
from nn.inference.paired import PairedEvaluator
from nn.model_file import ModelFileError
from nn.rich_feature import RICH


def made_up(number: float, tells_lead: bool, plane_set: object = BASIC, calls: int = 1) -> Any:
    """Return an evaluator whose answers are all one number, one more for averages, two more as boards lie."""
    def answer(planes: np.ndarray, more: float = 0.0) -> tuple[np.ndarray, ...]:
        shapes = ((10,), (3,), (), (9,)) if tells_lead else ((10,), (3,))
        return tuple(np.full((len(planes), *shape), number + more) for shape in shapes)

    class Evaluator(SimpleNamespace):
        prepared = False

        def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, ...]:
            return answer(planes)

        def prepare(self) -> None:
            self.prepared = True

    return Evaluator(
        plane_set=plane_set, board_size=3, tells_lead=tells_lead, calls_at_once=calls, note=f"note {number}",
        start=lambda planes: lambda: answer(planes), average=lambda planes: answer(planes, 1.0),
        evaluate_plainly=lambda planes: answer(planes, 2.0))


@pytest.mark.parametrize("tells_lead", [False, True])
def test_each_tells_its_part(tells_lead: bool) -> None:
    policy, value = made_up(10.0, not tells_lead, calls=2), made_up(20.0, tells_lead)
    pair, planes = PairedEvaluator(policy, value, "value.bin"), np.zeros((4, 6, 3, 3), dtype=np.float32)
    for answers, more in ((pair(planes), 0), (pair.start(planes)(), 0), (pair.average(planes), 1),
                          (pair.evaluate_plainly(planes), 2)):
        assert [float(one.flat[0]) - more for one in answers] == [10.0, *[20.0] * (3 if tells_lead else 1)]
        assert all(len(one) == 4 for one in answers)
    pair.prepare()
    assert policy.prepared and value.prepared
    assert pair.tells_lead == tells_lead and pair.calls_at_once == 1
    assert pair.note == "note 10.0" and pair.plane_set == BASIC and pair.board_size == 3


def test_other_planes_are_refused_in_one_line() -> None:
    with pytest.raises(ModelFileError, match="value.bin: it sees the rich planes, the policy's network the basic ones"):
        PairedEvaluator(made_up(1.0, False), made_up(2.0, True, RICH), "value.bin")
