"""The description of a sweep: what its file, or the arguments of `Sweep`, say, checked as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from . import functions, toml
from .design import DESIGNS, Axis, Point, grid, latin_hypercube, pointwise
from .errors import Problem, Problems, SweepError, suggestion
from .measures import Measure, read_measures
from .scenes import SceneTemplate
from .values import Range, read_range, seconds

__all__ = ["Description", "describe", "read"]

KEYS = (
    "checkpoint_every",
    "design",
    "design_seed",
    "frames",
    "function",
    "measures",
    "out",
    "parameters",
    "samples",
    "scene",
    "seeds",
    "threads",
    "title",
    "zip",
)


@dataclass
class Description:
    """A checked sweep. ``folder`` is that to which paths are relative; times are in seconds."""

    folder: Path
    out: Path
    scene: Optional[SceneTemplate] = None
    function: Optional[str] = None
    points: List[Point] = field(default_factory=list)
    seeds: List[Optional[int]] = field(default_factory=lambda: [None])
    measures: Dict[str, Measure] = field(default_factory=dict)
    threads: int = 1
    checkpoint_every: Optional[float] = None
    frames: bool = False
    title: str = ""

    @property
    def parameters(self) -> List[str]:
        """Names of the parameters, in the order of the file."""
        return list(self.points[0]) if self.points else []


def read(path: Path) -> Description:
    """Reads a sweep file; ``SweepError`` lists all mistakes."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SweepError([Problem(0, f"cannot read the sweep file: {error}")], path) from error
    try:
        document = toml.parse(text)
    except toml.TOMLDecodeError as error:
        raise SweepError([Problem(0, f"not valid TOML: {error}")], path) from error
    return describe(document, path.resolve().parent, Problems(path, text), f"{path.stem}-results")


def describe(document: Dict[str, Any], folder: Path, problems: Problems, out: str = "sweep-results") -> Description:
    """Checks the keys of a sweep; ``SweepError`` lists all mistakes."""
    problems.unknown_keys(document, KEYS)
    result = Description(folder, folder / str(document.get("out", out)), title=str(document.get("title", "")))
    _read_subject(document, result, problems)
    result.points = _read_points(document, problems)
    result.seeds = _read_seeds(document.get("seeds"), problems)
    result.threads = _whole(document, "threads", 1, problems)
    if "checkpoint_every" in document:
        result.checkpoint_every = seconds(document["checkpoint_every"])
        if result.checkpoint_every is None or result.checkpoint_every <= 0:
            problems.add(["checkpoint_every"], f"`checkpoint_every` is {document['checkpoint_every']!r}; expected a time, such as \"0.1 s\"")
    result.frames = document.get("frames", False)
    if not isinstance(result.frames, bool):
        problems.add(["frames"], f"`frames` is {result.frames!r}; expected true or false")
    _check_names(result, problems)
    problems.raise_if_any()
    return result


def _read_subject(document: Dict[str, Any], result: Description, problems: Problems) -> None:
    """What is run: a scene or a function, and what is measured."""
    if ("scene" in document) == ("function" in document):
        problems.add(["scene" if "scene" in document else ""], "a sweep needs either `scene`, a scene file, or `function`, a Python function")
        return
    measures = document.get("measures", {})
    if not isinstance(measures, dict):
        problems.add(["measures"], "`measures` must be a table")
        measures = {}
    if "function" in document:
        try:
            result.function = functions.reference(document["function"])
            functions.load(result.function, result.folder)
        except ValueError as error:
            problems.add(["function"], f"`function`: {error}")
        for key in [key for key in ("measures", "checkpoint_every", "frames") if key in document]:
            problems.add([key], f"`{key}` does not apply to a function; its result is a dictionary of measures")
        return
    try:
        result.scene = SceneTemplate(result.folder / str(document["scene"]))
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError) as error:
        problems.add(["scene"], f"cannot read the scene {document['scene']}: {error}")
    result.measures = read_measures(measures, result.folder, problems)


def _read_points(document: Dict[str, Any], problems: Problems) -> List[Point]:
    design = document.get("design", "grid")
    if design not in DESIGNS:
        problems.add(["design"], f"`design` is {design!r}{suggestion(str(design), DESIGNS)}")
        design = "grid"
    for key in ("samples", "design_seed"):
        if key in document and design != "random":
            problems.add([key], f"`{key}` only applies to design = \"random\"")
    before = len(problems.found)
    axes = _read_axes(document, design, problems)
    if design == "random" and "samples" not in document:
        problems.add(["design"], "design = \"random\" needs `samples`, the number of points")
    samples, seed = _whole(document, "samples", 1, problems), _whole(document, "design_seed", 1, problems, least=0)
    if len(problems.found) > before:
        return []
    try:
        return latin_hypercube(axes, samples, seed) if design == "random" else grid(axes) if design == "grid" else pointwise(axes)
    except ValueError as error:
        problems.add(["parameters"], str(error))
        return []


def _read_axes(document: Dict[str, Any], design: str, problems: Problems) -> List[Axis]:
    axes: List[Axis] = []
    parameters, groups = document.get("parameters", {}), document.get("zip", [])
    if not isinstance(parameters, dict):
        problems.add(["parameters"], "`parameters` must be a table")
        parameters = {}
    for name, entry in parameters.items():
        rows, span = _read_values(name, entry, design, problems)
        axes.append(Axis((name,), [(value,) for value in rows], span))
    groups = [groups] if isinstance(groups, dict) else groups
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        problems.add(["zip"], "`zip` must be a list of tables")
        groups = []
    for number, group in enumerate(groups, 1):
        columns = [_read_values(name, entry, "grid", problems, "zip")[0] for name, entry in group.items()]
        if len({len(column) for column in columns}) > 1:
            told = ", ".join(f"`{name}` {len(column)}" for name, column in zip(group, columns))
            problems.add(["zip"], f"parameters of group {number} of `zip` vary together and need the same number of values, but there are: {told}")
        axes.append(Axis(tuple(group), list(zip(*columns))))
    names = [name for axis in axes for name in axis.names]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(["zip"], f"parameter `{name}` is given twice")
    return axes


def _read_values(name: str, entry: Any, design: str, problems: Problems, table: str = "parameters") -> Tuple[List[Any], Optional[Range]]:
    at, label = (table, name), f"{table}.{name}"
    entry = entry.tolist() if hasattr(entry, "tolist") else entry  # arrays and numbers of NumPy
    if isinstance(entry, (list, tuple)):
        if not entry:
            problems.add(at, f"`{label}` has no values")
        values = [value.tolist() if hasattr(value, "tolist") else value for value in entry]
        return values, None
    if not isinstance(entry, dict):
        return [entry], None
    problems.unknown_keys(entry, ("from", "to", "count", "scale"), at)
    try:
        span = read_range(entry)
    except ValueError as error:
        problems.add(at, f"`{label}`: {error}")
        return [], None
    if design == "random":
        if "count" in entry:
            problems.add((*at, "count"), f"`{label}.count` does not apply to design = \"random\"; `samples` is the number of points")
        return [], span
    count = entry.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        problems.add((*at, "count"), f"`{label}` needs `count`, the number of values of the range, at least 1")
        return [], None
    return span.spaced(count), span


def _read_seeds(seeds: Any, problems: Problems) -> List[Optional[int]]:
    """Seeds from a number of them or a list; one case with the seed of the scene if there are none."""
    seeds = seeds.tolist() if hasattr(seeds, "tolist") else seeds
    if seeds is None:
        return [None]
    if isinstance(seeds, int) and not isinstance(seeds, bool) and seeds >= 1:
        return list(range(1, seeds + 1))
    if isinstance(seeds, (list, tuple, range)) and len(seeds) and all(_is_seed(seed) for seed in seeds):
        if len(set(seeds)) < len(seeds):
            problems.add(["seeds"], "`seeds` contains a seed twice")
        return list(seeds)
    problems.add(["seeds"], f"`seeds` is {seeds!r}; expected a number of seeds of at least 1, or a list of seeds")
    return [None]


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _whole(document: Dict[str, Any], key: str, default: int, problems: Problems, least: int = 1) -> int:
    value = document.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    problems.add([key], f"`{key}` is {value!r}; expected a whole number of at least {least}")
    return default


def _check_names(result: Description, problems: Problems) -> None:
    """Names of parameters must be in the scene and differ from those of measures and of other columns of the table."""
    for name in result.parameters:
        if name in RESERVED:
            problems.add(["parameters", name], f"`{name}` is a column of the table; choose another name" + ("; seeds are given by `seeds`" if name == "seed" else ""))
        if result.scene is not None and name not in RESERVED:
            try:
                result.scene.case({name: result.points[0][name]}, None, True)
            except ValueError as error:
                problems.add(["parameters", name], str(error))
        if name in result.measures:
            problems.add(["measures", name], f"`{name}` is both a parameter and a measure")
    for name in result.measures:
        if name in RESERVED:
            problems.add(["measures", name], f"`{name}` is a column of the table; choose another name")


# Columns of the table besides parameters and measures.
RESERVED = ("case", "seed", "status", "wall_time", "version", "hash", "error")
