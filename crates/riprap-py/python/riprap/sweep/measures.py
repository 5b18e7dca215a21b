"""Measures: one number per case, from `series.csv`, from `summary.json` or from a Python function of the run folder."""

from __future__ import annotations

import csv
import json
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import functions
from .errors import Problems, suggestion
from .values import seconds

__all__ = ["REDUCTIONS", "Measure", "read_measures"]

# `std` divides by the number of rows.
REDUCTIONS: Dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "max": max,
    "min": min,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "std": statistics.pstdev,
}
_KINDS = ("column", "summary", "function")
_KEYS = (*_KINDS, "reduce", "from", "to", "unit")


@dataclass(frozen=True)
class Measure:
    """How to get one number from a run folder.

    ``kind`` is ``column`` (reduced over the rows of ``series.csv`` with ``start`` ≤ time ≤ ``end`` [s]), ``summary`` (an entry of
    ``summary.json``, with dots for entries inside others) or ``function`` (called with the run folder).

    >>> import tempfile, pathlib
    >>> from riprap.sweep.measures import Measure
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "series.csv").write_text("time [s],force [N]\\n0,1\\n1,2\\n2,6\\n")
    >>> Measure("column", "force", start=1.0).evaluate(folder)
    (4.0, 'N')
    """

    kind: str
    name: str
    reduce: str = "mean"
    start: float = -math.inf
    end: float = math.inf
    unit: str = ""
    folder: Optional[Path] = None

    def identity(self) -> List[Any]:
        """What determines the value, for comparison with a stored one."""
        if self.kind == "column":
            return [self.kind, self.name, self.reduce, repr(self.start), repr(self.end)]
        if self.kind == "summary":
            return [self.kind, self.name]
        return [self.kind, self.name, functions.source_hash(self.name, self.folder or Path())]

    def evaluate(self, run: Path) -> Tuple[float, str]:
        """The value and its unit; ``ValueError`` says why there is none."""
        if self.kind == "column":
            value, unit = self._column(run)
        elif self.kind == "summary":
            value, unit = _entry(json.loads((run / "summary.json").read_text(encoding="utf-8")), self.name), ""
        else:
            value, unit = functions.load(self.name, self.folder or Path())(run), ""
        return _number(value), self.unit or unit

    def _column(self, run: Path) -> Tuple[float, str]:
        with open(run / "series.csv", encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            header = next(rows)
            names = [name.partition(" [")[0] for name in header]
            index = next((i for i, name in enumerate(header) if self.name in (name, names[i])), None)
            if index is None:
                raise ValueError(f"series.csv has no column `{self.name}`{suggestion(self.name, names)}")
            table = [(float(row[0]), float(row[index])) for row in rows if row]
        # Output times are multiples of a step up to rounding.
        slack = 1e-9 * max((abs(time) for time, _ in table), default=0.0)
        values = [value for time, value in table if self.start - slack <= time <= self.end + slack]
        if not values:
            raise ValueError(f"series.csv has no rows from {self.start} s to {self.end} s")
        unit = header[index].partition(" [")[2].rstrip("]")
        return REDUCTIONS[self.reduce](values), "" if unit == "-" else unit


def _entry(summary: Any, name: str) -> Any:
    for key in name.split("."):
        if not isinstance(summary, dict) or key not in summary:
            known = list(summary) if isinstance(summary, dict) else []
            raise ValueError(f"summary.json has no entry `{name}`{suggestion(key, known)}")
        summary = summary[key]
    return summary


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a number, not {value!r}") from None


def read_measures(table: Dict[str, Any], folder: Path, problems: Problems) -> Dict[str, Measure]:
    """Measures from the table ``[measures]`` of a sweep file."""
    measures = {}
    for name, entry in table.items():
        at = ("measures", name)
        if not isinstance(entry, dict):
            problems.add(at, f"`measures.{name}` is {entry!r}; expected a table such as {{ column = \"kinetic_energy\", reduce = \"last\" }}")
            continue
        problems.unknown_keys(entry, _KEYS, at)
        measure = _read_measure(entry, at, folder, problems)
        if measure is not None:
            measures[name] = measure
    return measures


def _read_measure(entry: Dict[str, Any], at: Tuple[str, str], folder: Path, problems: Problems) -> Optional[Measure]:
    before, label = len(problems.found), ".".join(at)
    kinds = [kind for kind in _KINDS if kind in entry]
    if len(kinds) != 1:
        problems.add(at, f"`{label}` needs exactly one of `column`, `summary` and `function`")
        return None
    kind = kinds[0]
    if kind != "column":
        for key in ("reduce", "from", "to"):
            if key in entry:
                problems.add((*at, key), f"`{label}.{key}` only applies to a `column`")
    reduce = entry.get("reduce", "mean")
    if not isinstance(reduce, str) or reduce not in REDUCTIONS:
        problems.add((*at, "reduce"), f"`{label}.reduce` is {reduce!r}{suggestion(str(reduce), REDUCTIONS)}")
    bounds = []
    for key, default in (("from", -math.inf), ("to", math.inf)):
        bound = seconds(entry[key]) if key in entry else default
        if bound is None:
            problems.add((*at, key), f"`{label}.{key}` is {entry[key]!r}; expected a time, such as 0.5 or \"20 ms\"")
        bounds.append(bound if bound is not None else default)
    name = entry[kind]
    if kind == "function":
        try:
            name = functions.reference(name)
            functions.load(name, folder)
        except ValueError as error:
            problems.add((*at, kind), f"`{label}`: {error}")
    elif not isinstance(name, str):
        problems.add((*at, kind), f"`{label}.{kind}` is {name!r}; expected a name")
    if len(problems.found) > before:
        return None
    return Measure(kind, name, reduce, bounds[0], bounds[1], str(entry.get("unit", "")), folder)
