"""How a figure is measured: the same work over and over for some seconds, several times; compilation is left out."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from common.exit_status import ProgramError

# Does some work and returns how many units (playouts, visits, ...) it was.
Workload = Callable[[], int]

NANOSECONDS = 1e9


class NoGamesError(ProgramError):
    """A folder has no game that could be measured on; the text is one line for the user."""


@dataclass(frozen=True)
class BenchSettings:
    """What the command line decides."""

    seconds: float = 1.0  # of each run
    runs: int = 3
    search_visits: int = 20000
    engine_visits: int = 1000
    search: str = "puct"  # whose numbers are tried
    judge_model: str = ""
    changes: tuple[str, ...] = ()  # settings to try, `name=value,...` each; none: the usual ones
    model: str = "none"
    use_gpu: bool = False
    kifu_dir: Path | None = None
    labels: tuple[str, ...] = ()  # of the games in kifu_dir: files, and folders of them
    classifier: str = ""
    board_size: int = 9
    games: int = 60
    selfplay_visits: int = 16
    processes: int | None = None  # None: one per core
    ray_address: str | None = None  # of a cluster to measure
    positions: int | None = None  # per network call of self-play; None: what suits the device
    limit: float = 60.0  # seconds of one point of a curve
    picture: Path | None = None  # to draw the curves to


@dataclass(frozen=True)
class Figure:
    """One line of the table: the values of all runs, and what they are compared with."""

    name: str
    unit: str
    values: tuple[float, ...]
    per_cpu_second: float | None = None  # what a core of its own would give; None where several threads work
    target: float | None = None
    tamago: tuple[float, float] | None = None  # lowest and highest known value of TamaGo
    lower_is_better: bool = False

    @property
    def value(self) -> float:
        """The median of the runs."""
        return statistics.median(self.values)

    @property
    def ratio(self) -> float | None:
        """How many times TamaGo's best value this is, as speed; None where there is none."""
        if self.tamago is None:
            return None
        return self.tamago[0] / self.value if self.lower_is_better else self.value / self.tamago[1]


def measure_rate(work: Workload, seconds: float) -> tuple[float, float]:
    """Repeat the work for at least so many seconds; return units per second of the clock and of this thread's CPU."""
    units = 0
    begin, cpu_begin = time.perf_counter(), time.thread_time()
    while units == 0 or time.perf_counter() - begin < seconds:
        units += work()
    return units / (time.perf_counter() - begin), units / max(time.thread_time() - cpu_begin, 1e-9)


def measure(
    name: str, unit: str, work: Workload, settings: BenchSettings, one_core: bool = True, target: float | None = None,
    tamago: float | None = None,
) -> Figure:
    """Return the rate of some work; it is done once before, so that nothing is compiled while the clock runs."""
    work()
    rates = [measure_rate(work, settings.seconds) for _ in range(settings.runs)]
    return Figure(
        name, unit, tuple(rate for rate, _ in rates),
        per_cpu_second=statistics.median(rate for _, rate in rates) if one_core else None,
        target=target, tamago=None if tamago is None else (tamago, tamago),
    )


def measure_nanoseconds(
    name: str, work: Workload, settings: BenchSettings, one_core: bool = True, target: float | None = None,
    tamago: float | None = None,
) -> Figure:
    """Return the duration of one unit of some work in nanoseconds (measure, turned round)."""
    figure = measure(name, "ns", work, settings, one_core, target, tamago)
    return Figure(name, "ns", tuple(NANOSECONDS / value for value in figure.values),
                  figure.per_cpu_second and NANOSECONDS / figure.per_cpu_second, target, figure.tamago,
                  lower_is_better=True)


def interleave(first: Workload, second: Workload, seconds: float) -> tuple[float, float]:
    """Do two works in turn for at least so many seconds each; return the rate of each.

    Whatever else the machine does slows both alike, so that their ratio can be trusted.
    """
    first()
    second()
    units, spent = [0, 0], [0.0, 0.0]
    while min(spent) < seconds or min(units) == 0:
        for i, work in enumerate((first, second)):
            begin = time.perf_counter()
            units[i] += work()
            spent[i] += time.perf_counter() - begin
    return units[0] / spent[0], units[1] / spent[1]
