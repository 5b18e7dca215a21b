"""A picture of a sweep: every measure against the first parameter, means over seeds with 95 % confidence intervals."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from .._optional import need
from .errors import Problem, SweepError
from .statistics import Mean, mean
from .store import atomic_write
from .values import quantity, shared_unit

__all__ = ["draw", "series"]

# Curves in one picture that can still be told apart.
CURVES = 12


def series(results: Sequence[Any], measure: str) -> Dict[str, List[Tuple[Any, Mean]]]:
    """Means of a measure by the values of the first parameter, for every combination of the others."""
    curves: Dict[str, Dict[str, Tuple[Any, List[float]]]] = {}
    for result in results:
        value = result.measures.get(measure)
        if value is None or math.isnan(value):
            continue
        names = list(result.parameters)
        label = ", ".join(f"{name} = {_told(result.parameters[name])}" for name in names[1:])
        x = result.parameters[names[0]] if names else 0
        curves.setdefault(label, {}).setdefault(repr(x), (x, []))[1].append(value)
    return {label: [(x, mean(values)) for x, values in points.values()] for label, points in curves.items()}


def draw(results: Sequence[Any], units: Dict[str, str], title: str, path: Path) -> None:
    """Writes the picture; its format follows from the ending, such as ``.svg``."""
    measures = [name for name in units if any(result.measures.get(name) is not None for result in results)]
    if not measures:
        raise SweepError([Problem(0, "there is nothing to plot: no case has a value of any measure")])
    matplotlib = need("matplotlib", by="a plot of a sweep")
    figure_class = need("matplotlib.figure", by="a plot of a sweep").Figure
    with matplotlib.rc_context({"svg.hashsalt": "riprap", "svg.fonttype": "none"}):
        figure = figure_class(figsize=(6.4, 0.6 + 3.2 * len(measures)), layout="constrained")
        for axes, name in zip(figure.subplots(len(measures), 1, squeeze=False)[:, 0], measures):
            _panel(axes, results, name, units[name])
        figure.suptitle(title)
        picture = io.BytesIO()
        file_format = path.suffix.lstrip(".") or "svg"
        figure.savefig(picture, format=file_format, metadata={"Date": None} if file_format == "svg" else None)
    atomic_write(path, picture.getvalue())


def _panel(axes: Any, results: Sequence[Any], name: str, unit: str) -> None:
    curves = series(results, name)
    first = list(results[0].parameters)[:1]
    values = [result.parameters[first[0]] if first else 0 for result in results]
    shared = shared_unit(values)
    # Quantities with a common unit are placed by their number, anything else in the order of the design.
    places = {repr(value): float(i) for i, value in enumerate(values)}
    if shared is not None:
        numbers = {repr(value): quantity(value) for value in values}
        places = {key: read[0] for key, read in numbers.items() if read is not None}
    for label, points in list(curves.items())[:CURVES]:
        pairs = sorted((places[repr(x)], point) for x, point in points)
        errors = [0.0 if math.isnan(point.interval) else point.interval for _, point in pairs]
        style = {"marker": "o", "markersize": 4, "capsize": 3, "linewidth": 1}
        axes.errorbar([x for x, _ in pairs], [point.value for _, point in pairs], yerr=errors, label=label, **style)
    if shared is None:
        axes.set_xticks(list(places.values()), list(places))
    axes.set_xlabel((first[0] if first else "") + (f" [{shared}]" if shared else ""))
    axes.set_ylabel(name + (f" [{unit}]" if unit else ""))
    axes.grid(alpha=0.3)
    _legend(axes, curves)


def _legend(axes: Any, curves: Dict[str, List[Tuple[Any, Mean]]]) -> None:
    """The other parameters, and over how many runs the means are."""
    if any(curves):
        title = f"the first {CURVES} of {len(curves)}" if len(curves) > CURVES else None
        axes.legend(fontsize="small", title=title)
    counts = sorted({point.n for points in curves.values() for _, point in points})
    runs = f"{counts[0]} to {counts[-1]} runs" if len(counts) > 1 else f"{counts[0]} runs"
    axes.annotate(f"means of {runs}, 95 % intervals", (1, 1), xycoords="axes fraction", ha="right", va="bottom", fontsize="x-small")


def _told(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
