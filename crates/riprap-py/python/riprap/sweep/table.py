"""The table of a sweep: one row per case with parameters, seed, measures, status, wall time, version and hash."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from pathlib import Path
from typing import Any, Dict, List, Sequence

from .._optional import need
from .store import atomic_write
from .values import quantity, shared_unit

__all__ = ["Row", "build", "convert", "write"]

Row = Dict[str, Any]


def build(parameters: Sequence[str], results: Sequence[Any]) -> List[Row]:
    """Rows from results. Units are in the names of the columns, as in ``series.csv``."""
    units = {name: shared_unit([result.parameters[name] for result in results]) for name in parameters}
    measured: Dict[str, str] = {}
    for result in results:
        for name, entry in result.entries.items():
            measured[name] = measured.get(name) or entry.get("unit", "")
    return [_row(result, units, measured) for result in results]


def _row(result: Any, units: Dict[str, Any], measured: Dict[str, str]) -> Row:
    row: Row = {"case": result.number}
    for name, unit in units.items():
        value = result.parameters[name]
        if unit:
            read = quantity(value)
            row[f"{name} [{unit}]"] = read[0] if read else None
        else:
            row[name] = json.dumps(value) if isinstance(value, (list, dict)) else value
    row["seed"] = result.seed
    for name, unit in measured.items():
        row[_column(name, unit)] = result.measures.get(name)
    row["status"] = result.status
    row["wall_time [s]"] = result.wall_time
    row["version"] = result.version
    row["hash"] = result.hash
    row["error"] = result.error
    return row


def _column(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def write(rows: Sequence[Row], folder: Path) -> List[Path]:
    """Writes ``table.csv``, and ``table.parquet`` if pyarrow is installed."""
    text = io.StringIO()
    names = list(rows[0]) if rows else []
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(names)
    lines.writerows([["" if row[name] is None else _cell(row[name]) for name in names] for row in rows])
    paths = [folder / "table.csv"]
    atomic_write(paths[0], text.getvalue().encode())
    if importlib.util.find_spec("pyarrow") is not None:
        paths.append(folder / "table.parquet")
        atomic_write(paths[1], _parquet(rows, names))
    return paths


def _cell(value: Any) -> Any:
    # Numbers with as many digits as are needed to read them back exactly.
    return repr(value) if isinstance(value, float) else value


def _parquet(rows: Sequence[Row], names: Sequence[str]) -> bytes:
    arrow, parquet = need("pyarrow", by="a parquet table"), need("pyarrow.parquet", by="a parquet table")
    columns = {}
    for name in names:
        values = [row[name] for row in rows]
        mixed = len({isinstance(value, str) for value in values if value is not None}) > 1
        columns[name] = [None if value is None else str(value) for value in values] if mixed else values
    sink = io.BytesIO()
    parquet.write_table(arrow.table(columns), sink)
    return sink.getvalue()


def convert(rows: List[Row]) -> Any:
    """A pandas data frame if pandas is installed, otherwise the rows."""
    if importlib.util.find_spec("pandas") is None:
        return rows
    return need("pandas", by="a data frame").DataFrame(rows)
