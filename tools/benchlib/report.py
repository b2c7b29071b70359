"""What the user sees: a line for each figure as it is measured, a line about the machine, and all of it as JSON."""

import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from common.cores import count_usable_cores, get_load
from common.print_console import print_out
from tools.benchlib.measure import Figure

COLUMNS = (("figure", 42), ("value", 11), ("min", 11), ("max", 11), ("per CPU s", 11), ("unit", 12), ("target", 10),
           ("TamaGo", 9), ("ratio", 7))


def format_number(value: float | None) -> str:
    """Return a number as people read it: thousands separated, small ones with three digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def format_row(cells: list[str]) -> str:
    """Return one line of the table: the first column and the unit to the left, numbers to the right."""
    padded = [f"{cell:<{width}}" if name in ("figure", "unit") else f"{cell:>{width}}"
              for cell, (name, width) in zip(cells, COLUMNS, strict=True)]
    return " ".join(padded).rstrip()


def format_figure(figure: Figure) -> str:
    """Return the line of one figure; the value is the median of the runs."""
    if not figure.unit:  # a number that is no measurement
        return f"{figure.name:<{COLUMNS[0][1]}} {figure.value:>{COLUMNS[1][1]}.0f}"
    sign = "<" if figure.lower_is_better else ">"
    tamago = "-" if figure.tamago is None else "-".join(format_number(x) for x in dict.fromkeys(figure.tamago))
    return format_row([
        figure.name, format_number(figure.value), format_number(min(figure.values)), format_number(max(figure.values)),
        format_number(figure.per_cpu_second), figure.unit,
        "-" if figure.target is None else f"{sign} {format_number(figure.target)}", tamago,
        "-" if figure.ratio is None else f"{format_number(figure.ratio)}x",
    ])


def get_cpu_model() -> str:
    """Return the name of the processor as far as the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


class Report:
    """Collects figures and prints them."""

    def __init__(self) -> None:
        """Note how busy the machine is before anything is measured."""
        self.figures: list[Figure] = []
        self.notes: list[str] = []
        self._load = get_load()

    def add(self, item: Figure | str) -> None:
        """Print a figure, or a note about those that follow."""
        if isinstance(item, str):
            self.notes.append(item)
            print_out(item)
            return
        if not self.figures and item.unit:
            print_out(format_row([name for name, _ in COLUMNS]))
        self.figures.append(item)
        print_out(format_figure(item))

    def describe_machine(self) -> dict[str, Any]:
        """Return what the figures depend on; torch_threads is None where nothing needed torch."""
        torch = sys.modules.get("torch")
        return {
            "cpu": get_cpu_model(), "cores": os.cpu_count(), "usable_cores": count_usable_cores(),
            "torch_threads": torch.get_num_threads() if torch else None,
            "load_at_start": self._load, "load_at_end": get_load(), "python": platform.python_version(),
        }

    def finish(self, json_path: Path | None) -> None:
        """Print the line about the machine and write the JSON file, if one is wanted; raises OSError."""
        machine = self.describe_machine()
        threads = machine["torch_threads"] or "not used"
        print_out(f"machine: {machine['cpu']}, {machine['cores']} cores ({machine['usable_cores']} usable), "
                  f"torch threads: {threads}, load average: {format_number(machine['load_at_start'])} at the start, "
                  f"{format_number(machine['load_at_end'])} at the end")
        if json_path is not None:
            figures = [asdict(figure) | {"value": figure.value, "ratio": figure.ratio} for figure in self.figures]
            content = {"machine": machine, "notes": self.notes, "figures": figures}
            json_path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
