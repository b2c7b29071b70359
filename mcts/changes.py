"""Other numbers for a search than the usual ones, by their names in params.py."""

import math
from dataclasses import fields, replace
from typing import Any, TypeVar

from mcts.params import SearchParams, Selection

# Fields that count something.
WHOLE = {"playouts", "batch_size", "visits_per_leaf", "ahead", "tree_size", "max_memory_mb", "max_considered", "expand"}


def read_change(text: str) -> dict[str, float]:
    """Return the fields that a text `name=value,...` changes; raises ValueError, naming what is wrong."""
    changes: dict[str, float] = {}
    known = (*Selection._fields, *(field.name for field in fields(SearchParams) if field.name != "selection"))
    for part in filter(None, text.replace(" ", "").split(",")):
        name, _, number = part.partition("=")
        if name not in known:
            raise ValueError(f"{name} is none of {', '.join(known)}")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"{part}: {name} wants a number")
        changes[name] = round(value) if value.is_integer() and name in WHOLE else value
    return changes


Params = TypeVar("Params", bound=SearchParams)


def change(params: Params, changes: dict[str, Any]) -> Params:
    """Return the parameters with other numbers, given by their names."""
    own = {name: value for name, value in changes.items() if name in Selection._fields}
    others = {name: value for name, value in changes.items() if name not in own}
    return replace(params, selection=params.selection._replace(**own), **others)
