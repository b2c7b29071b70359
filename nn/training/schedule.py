"""Learning-rate schedules: from where the run stands to a learning rate."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import learning_param

WARM_UP_STEPS = 200


@dataclass(frozen=True)
class LectureSchedule:
    """Fixed steps down at given parts of the run: in TamaGo's 15 epochs, after the 5th, the 8th and the 10th."""

    base: float
    first_rate: float
    steps: dict[int, float]  # epoch counted from 0 -> rate from there on, for a base of `first_rate`
    epochs: int  # that the steps belong to; longer and shorter runs stretch them

    def rate(self, step: int, share: float) -> float:
        """Return the learning rate once `share` (0..1) of the run is over; the step does not matter here."""
        rate = self.first_rate
        for start in sorted(self.steps):
            if share >= start / self.epochs:
                rate = self.steps[start]
        return rate * self.base / self.first_rate


@dataclass(frozen=True)
class ConstantSchedule:
    """The same rate throughout."""

    base: float

    def rate(self, step: int, share: float) -> float:
        """Return the learning rate; neither argument matters."""
        return self.base


@dataclass(frozen=True)
class CosineSchedule:
    """Half a cosine from the start down to 0 at the end of the run, times a linear warm-up of WARM_UP_STEPS steps."""

    base: float

    def rate(self, step: int, share: float) -> float:
        """Return the learning rate at `step` (from 0, over the whole run), `share` (0..1) of the run being over."""
        warm_up = min(1.0, (step + 1) / WARM_UP_STEPS)
        return self.base * warm_up * 0.5 * (1.0 + math.cos(math.pi * min(1.0, max(0.0, share))))


Schedule = LectureSchedule | CosineSchedule | ConstantSchedule


def batches_of_a_step(growth: float, share: float) -> int:
    """Return how many batches a step learns from once `share` (0..1) of the run is over.

    Ever more, by the same factor in each equal part of the run, `growth` of them at its end (S. Smith et al., "Don't
    decay the learning rate, increase the batch size", ICLR 2018).
    """
    return round(growth ** share)


def _lecture(rate: float) -> LectureSchedule:
    """Return TamaGo's schedule for another highest rate."""
    return LectureSchedule(rate, learning_param.SL_LEARNING_RATE, learning_param.LEARNING_SCHEDULE["learning_rate"],
                           learning_param.EPOCHS)


# By name; each takes the highest learning rate.
SCHEDULES: dict[str, Callable[[float], Schedule]] = {
    "lecture": _lecture, "cosine": CosineSchedule, "constant": ConstantSchedule,
}
