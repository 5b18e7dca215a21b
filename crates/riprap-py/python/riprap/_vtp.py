"""Reads the frames of a run: VTK PolyData files (.vtp) with appended raw arrays, as riprap writes them, and their index (.pvd)."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
from numpy.typing import NDArray

from .errors import FileError

__all__ = ["PolyData", "parse", "read", "read_index"]

TYPES = {"Float32": "<f4", "Float64": "<f8", "Int64": "<i8"}


@dataclass(frozen=True)
class PolyData:
    """Points [m], cells as lists of point indices, and data by name."""

    points: NDArray[np.float64]
    #: Corners of all polygons, one after the other, and the end of each in this list.
    corners: NDArray[np.int64]
    ends: NDArray[np.int64]
    point_data: Dict[str, NDArray[Any]] = field(default_factory=dict)
    cell_data: Dict[str, NDArray[Any]] = field(default_factory=dict)

    def polygons(self) -> List[NDArray[np.int64]]:
        """The indices of the corners of each polygon."""
        return np.split(self.corners, self.ends[:-1]) if len(self.ends) else []

    def pick(self, which: NDArray[np.bool_]) -> PolyData:
        """Some of the polygons, with all points."""
        lengths = np.diff(self.ends, prepend=0)
        cells = {name: values[which] for name, values in self.cell_data.items()}
        corners, ends = self.corners[np.repeat(which, lengths)], np.cumsum(lengths[which])
        return PolyData(self.points, corners, ends, self.point_data, cells)


def parse(data: bytes, name: str = "the data") -> PolyData:
    """The content of a .vtp file; `name` is for errors."""
    head, mark, rest = data.partition(b'<AppendedData encoding="raw">\n_')
    try:
        if not mark:
            raise ValueError("there is no appended raw data")
        piece = ElementTree.fromstring(head.decode() + "</VTKFile>").find("PolyData/Piece")
        if piece is None:
            raise ValueError("there is no PolyData")
        sections = {part.tag: {a.attrib["Name"]: _array(a.attrib, rest) for a in part} for part in piece}
    except (ElementTree.ParseError, KeyError, ValueError, UnicodeDecodeError) as error:
        raise FileError(f"{name} is not a VTK file as riprap writes them: {error}") from None
    polygons = sections["Polys"]
    return PolyData(
        points=sections["Points"]["Points"].astype(np.float64),
        corners=polygons["connectivity"],
        ends=polygons["offsets"],
        point_data=sections["PointData"],
        cell_data=sections["CellData"],
    )


def _array(attributes: Dict[str, str], data: bytes) -> NDArray[Any]:
    """An appended array: its length in bytes as a UInt64, then its numbers."""
    start = int(attributes["offset"])
    length = int(np.frombuffer(data, "<u8", 1, start)[0])
    kind, width = np.dtype(TYPES[attributes["type"]]), int(attributes["NumberOfComponents"])
    values = np.frombuffer(data, kind, length // kind.itemsize, start + 8)
    return values.reshape(-1, width) if width > 1 else values


def read(path: Path) -> PolyData:
    """Reads a .vtp file."""
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot read the frame {path}: {error.strerror}") from None


def read_index(path: Path) -> Dict[str, List[Tuple[float, Path]]]:
    """Times [s] and files of each part of the frames, from a .pvd file; empty if there is none."""
    if not path.is_file():
        return {}
    index: Dict[str, List[Tuple[float, Path]]] = {}
    try:
        for entry in ElementTree.fromstring(path.read_bytes()).iter("DataSet"):
            frame = float(entry.attrib["timestep"]), path.parent / entry.attrib["file"]
            index.setdefault(entry.attrib["name"], []).append(frame)
    except (OSError, ElementTree.ParseError, KeyError, ValueError) as error:
        raise FileError(f"cannot read the index of the frames {path}: {error}") from None
    return index
