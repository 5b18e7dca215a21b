"""Time series: columns of numbers with units, from the file `series.csv` of a run or recorded from a simulation."""

from __future__ import annotations

import csv
import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._optional import need
from .errors import FileError

if TYPE_CHECKING:
    from ._riprap import Simulation

__all__ = ["Quantity", "Series", "record", "split_unit"]

Quantity = Callable[["Simulation"], ArrayLike]

AXES = "xyz"


def split_unit(name: str) -> Tuple[str, str]:
    """A name and its unit in brackets, "-" if it has none.

    >>> from riprap.series import split_unit
    >>> split_unit("kinetic_energy [J]"), split_unit("contacts")
    (('kinetic_energy', 'J'), ('contacts', '-'))
    """
    found = re.fullmatch(r"(.*?)\s*\[(.*)\]", name)
    return (found.group(1), found.group(2)) if found else (name, "-")


class Series(Mapping[str, "NDArray[np.float64]"]):
    """Columns of numbers over time [s]. A column is found by its name with or without its unit.

    >>> import riprap as rr
    >>> series = rr.Series({"time [s]": [0.0, 0.1], "height [m]": [1.0, 0.95]})
    >>> series["height"].tolist(), series.units["height"], series.time.tolist()
    ([1.0, 0.95], 'm', [0.0, 0.1])
    """

    def __init__(self, columns: Mapping[str, ArrayLike], *, title: str = "") -> None:
        """`columns` are numbers by name with unit; one of them is `time [s]`. `title` is that of a run."""
        arrays = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
        self._columns: Dict[str, NDArray[np.float64]] = {split_unit(name)[0]: a for name, a in arrays.items()}
        #: Unit of each column, by name; "-" for pure numbers.
        self.units: Dict[str, str] = dict(split_unit(name) for name in arrays)
        #: Title of the run, or empty.
        self.title = title
        if "time" not in self._columns:
            raise ValueError("a series needs a column `time [s]`")
        for name, column in self._columns.items():
            if column.shape != self.time.shape:
                raise ValueError(f"the column `{name}` has shape {column.shape}, the time {self.time.shape}")

    @staticmethod
    def read(path: Union[str, PathLike[str]]) -> Series:
        """Reads a file with a header line and one row per time, such as `series.csv`."""
        path = Path(path)
        try:
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
        except OSError as error:
            raise FileError(f"cannot read the series {path}: {error.strerror}") from None
        if not rows:
            raise FileError(f"{path} is empty: a series has a header line with names and units")
        try:
            numbers = np.array([[float(cell) for cell in row] for row in rows[1:]], dtype=np.float64)
            numbers = numbers.reshape(len(rows) - 1, len(rows[0]))
        except ValueError as error:
            raise FileError(f"{path} is not a table of numbers below one header line: {error}") from None
        return Series(dict(zip(rows[0], numbers.T)))

    @property
    def time(self) -> NDArray[np.float64]:
        """Times [s]."""
        return self._columns["time"]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A column, by its name with or without unit."""
        column = self._columns.get(split_unit(name)[0])
        if column is None:
            import difflib

            near = difflib.get_close_matches(split_unit(name)[0], self._columns, n=3) or list(self._columns)[:8]
            raise KeyError(f"no column `{name}`; there is {', '.join(near)}")
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of columns; `len(series.time)` is that of the rows."""
        return len(self._columns)

    def label(self, name: str) -> str:
        """The name of a column with its unit, such as `kinetic_energy [J]`; `–` for pure numbers."""
        name = split_unit(name)[0]
        unit = self.units[name]
        return f"{name} [{'–' if unit == '-' else unit}]"

    def to_pandas(self, *, units: bool = True) -> Any:
        """A pandas.DataFrame with the time [s] as index; without `units` the columns have bare names."""
        pandas = need("pandas", by="to_pandas")
        name = (lambda n: f"{n} [{self.units[n]}]") if units else (lambda n: n)
        columns = {name(n): column for n, column in self._columns.items() if n != "time"}
        frame = pandas.DataFrame(columns, index=pandas.Index(self.time, name=name("time")))
        if self.title:
            frame.attrs["title"] = self.title
        return frame

    def to_xarray(self) -> Any:
        """An xarray.Dataset over the coordinate `time` [s]; units are the attributes `units` of its variables."""
        xarray = need("xarray", by="to_xarray")
        variables = {n: ("time", c, {"units": self.units[n]}) for n, c in self._columns.items() if n != "time"}
        coordinates = {"time": ("time", self.time, {"units": "s"})}
        return xarray.Dataset(variables, coords=coordinates, attrs={"title": self.title} if self.title else {})

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        try:
            return str(self.to_pandas()._repr_html_())
        except ImportError:
            return f"<code>{self!r}</code>"

    def __repr__(self) -> str:
        rows, end = len(self.time), self.time[-1] if len(self.time) else 0.0
        return f"<Series: {len(self)} columns, {rows} rows until {end:.6g} s>"


def _row(run: Simulation, quantities: Mapping[str, Quantity]) -> Dict[str, float]:
    """The numbers of one time. Vectors get a column per component."""
    balance = run.balance()
    row = {
        "time [s]": run.time,
        "kinetic_energy [J]": balance.kinetic,
        "potential_energy [J]": balance.potential,
        "total_energy [J]": balance.kinetic + balance.potential,
        "contacts [-]": float(len(run.contacts())),
    }
    for given, quantity in quantities.items():
        name, unit = split_unit(given)
        value = np.asarray(quantity(run), dtype=np.float64)
        if value.ndim > 1:
            raise ValueError(f"the quantity `{given}` has shape {value.shape}: return a number or a vector")
        if value.ndim == 0:
            row[f"{name} [{unit}]"] = float(value)
            continue
        suffixes: Iterable[object] = AXES if len(value) == 3 else range(len(value))
        row.update({f"{name}_{suffix} [{unit}]": float(x) for suffix, x in zip(suffixes, value)})
    return row


def record(frames: Iterable[Simulation], quantities: Optional[Mapping[str, Quantity]] = None) -> Series:
    """Records energies, the number of contacts and given quantities at each frame of a simulation.

    `Simulation.record` calls it with frames at equal intervals:

    >>> import riprap as rr
    >>> scene = rr.SceneBuilder()
    >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), position=(0, 0, 1)))
    >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    >>> series = run.record(until=0.2, every=0.1, quantities={"ball [m]": lambda run: run.body(ball).position})
    >>> list(series)[-3:], series["ball_z"].round(3).tolist()
    (['ball_x', 'ball_y', 'ball_z'], [1.0, 0.951, 0.804])
    """
    rows: List[Dict[str, float]] = [_row(run, quantities or {}) for run in frames]
    if not rows:
        raise ValueError("nothing to record: the simulation is already past `until`")
    try:
        return Series({name: [row[name] for row in rows] for name in rows[0]})
    except KeyError as error:
        raise ValueError(f"a quantity changed its length: {error} is missing at some times") from None
