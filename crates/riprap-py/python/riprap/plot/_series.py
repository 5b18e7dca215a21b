"""Plots of series over time: any columns, and energies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

from ..series import Series, split_unit
from ._source import Source, axes, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["energies", "series"]


def series(source: Union[Source, Series], columns: Union[str, Sequence[str]], *, ax: Optional[Axes] = None) -> Axes:
    """Plots columns of a series over time [s]. Columns with different units are an error: plot them into axes of their own.

    `source` is a `Series` or a run. Names are those of `series.csv`, with or without units; `*` stands for any characters.

    >>> import riprap as rr
    >>> recorded = rr.Series({"time [s]": [0.0, 0.1], "ball_x [m]": [0.0, 0.1], "ball_z [m]": [1.0, 0.95]})
    >>> ax = rr.plot.series(recorded, "ball_*")
    >>> ax.get_ylabel(), [line.get_label() for line in ax.lines]
    ('[m]', ['ball_x', 'ball_z'])
    """
    data = series_of(source)
    names = _matching(data, [columns] if isinstance(columns, str) else columns)
    by_unit: Dict[str, List[str]] = {}
    for name in names:
        by_unit.setdefault(data.units[name], []).append(name)
    if len(by_unit) > 1:
        groups = "; ".join(f"[{unit}] {', '.join(group)}" for unit, group in by_unit.items())
        raise ValueError(f"these columns have different units and need axes of their own: {groups}")
    ax = axes(ax, "series")
    for name in names:
        ax.plot(data.time, data[name], label=name)
    _finish(ax, data.label(names[0]) if len(names) == 1 else "[" + data.label(names[0]).rpartition("[")[2])
    if len(names) > 1:
        ax.legend()
    return ax


def energies(source: Union[Source, Series], *, ax: Optional[Axes] = None) -> Axes:
    """Plots kinetic, potential and total energy [J] over time [s], and the dissipated energies if the run has an account.

    The potential energy is relative to its first value, so that the exchange with the kinetic energy is visible.

    >>> import riprap as rr
    >>> fall = {"time [s]": [0.0, 0.1], "kinetic_energy [J]": [0.0, 2.0], "potential_energy [J]": [9.0, 7.0]}
    >>> ax = rr.plot.energies(rr.Series({**fall, "total_energy [J]": [9.0, 9.0]}))
    >>> [round(float(line.get_ydata()[-1]), 9) for line in ax.lines]
    [2.0, -2.0, 0.0]
    """
    data = series_of(source)
    ax = axes(ax, "energies")
    start: float = data["potential_energy"][0] if len(data.time) else 0.0
    shown: Dict[str, Any] = {
        "kinetic": data["kinetic_energy"],
        "potential, from its start": data["potential_energy"] - start,
        "total, from the same level": data["total_energy"] - start,
    }
    for column, word in [("impact", "impacts"), ("friction", "friction"), ("rolling", "rolling"), ("ropes", "ropes")]:
        if f"dissipated_{column}" in data and data[f"dissipated_{column}"].any():
            shown[f"dissipated by {word}"] = data[f"dissipated_{column}"]
    for label, values in shown.items():
        ax.plot(data.time, values, label=label, linestyle="--" if label.startswith("dissipated") else "-")
    _finish(ax, "energy [J]")
    ax.legend()
    return ax


def _matching(data: Series, columns: Sequence[str]) -> List[str]:
    """The names of columns that patterns match, in the order of the patterns."""
    import fnmatch

    names: List[str] = []
    for pattern in columns:
        bare = split_unit(pattern)[0]
        found = [name for name in data if name != "time" and fnmatch.fnmatchcase(name, bare)]
        if not found:
            data[bare]  # The error lists similar names.
        names += [name for name in found if name not in names]
    if not names:
        raise ValueError("name at least one column other than the time")
    return names


def _finish(ax: Any, label: str) -> None:
    ax.set_xlabel("time [s]")
    ax.set_ylabel(label)
    ax.grid(alpha=0.3)
    ax.margins(x=0)
