"""Results of runs: the folder that `riprap.run` and `riprap run` write, with its summary, series, frames and contacts."""

from __future__ import annotations

import csv
import html
import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _vtp
from ._riprap import RunFile, Scene, ViewerPage
from .errors import FileError
from .series import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RunFolder", "open_run"]

# As in Simulation.contacts().
CONTACT = np.dtype(
    [("bodies", "u4", (2,)), ("point", "f8", (3,)), ("normal", "f8", (3,)), ("gap", "f8"), ("force", "f8", (3,))]
)


class RunFolder:
    """The results of a run in its folder: read when they are asked for. A run that is still going on can be opened as well.

    >>> import riprap as rr, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "ball.toml").write_text('''
    ... run = { dt = "1 ms", until = "0.1 s", output_every = "50 ms" }
    ... materials.steel = { density = 7800 }
    ... [[body]]
    ... material = "steel"
    ... shape = { type = "sphere", radius = 0.1 }
    ... ''')
    >>> _ = rr.run(folder / "ball.toml", out=folder / "out")
    >>> run = rr.open_run(folder / "out")
    >>> run.summary["state"], run.times.tolist(), run.series.units["kinetic_energy"]
    ('finished', [0.0, 0.05, 0.1], 'J')
    """

    def __init__(self, folder: Union[str, PathLike[str]]) -> None:
        #: Folder of the results.
        self.folder = Path(folder)
        self.summary  # A folder without a run is an error at once.

    @cached_property
    def summary(self) -> Dict[str, Any]:
        """The content of `summary.json`; its keys end in their units, as in `wall_s`."""
        path = self.folder / "summary.json"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            hint = "give the folder that `riprap run --out` or riprap.run wrote"
            raise FileError(f"no run in {self.folder}: cannot read {path.name} ({error.strerror}); {hint}") from None
        except ValueError as error:
            raise FileError(f"{path} is not JSON: {error}") from None
        if not isinstance(found, dict):
            raise FileError(f"{path} is not the summary of a run")
        return found

    @cached_property
    def series(self) -> Series:
        """The series: one row per output time."""
        series = Series.read(self.folder / "series.csv")
        series.title = str(self.summary.get("title") or "")
        return series

    @cached_property
    def scene(self) -> Scene:
        """The scene of the run, with all defaults filled in."""
        return Scene.from_toml(self.folder / "scene.toml")

    @cached_property
    def _frames(self) -> Dict[str, List[Tuple[float, Path]]]:
        return _vtp.read_index(self.folder / "run.pvd")

    @cached_property
    def file(self) -> Optional[RunFile]:
        """The run file `run.vtkhdf`; None if the run wrote none. `RunFile.refresh` finds frames that a run has added since."""
        return RunFile(self.folder) if (self.folder / "run.vtkhdf").is_file() else None

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the frames with surfaces [s]; empty if the run wrote none."""
        return self._times("surfaces")

    @property
    def contact_times(self) -> NDArray[np.float64]:
        """Times of the frames with contacts [s]; empty if the run wrote none."""
        return self._times("contacts")

    def _times(self, part: str) -> NDArray[np.float64]:
        if self.file is not None:
            return np.unique(self.file.surface_times if part == "surfaces" else self.file.contact_times)
        return np.array([time for time, _ in self._frames.get(part, [])], dtype=np.float64)

    def _nearest(self, part: str, time: Optional[float]) -> int:
        """The number of the frame nearest to a time [s], or of the last one."""
        times = self._times(part)
        if not len(times):
            raise FileError(f"the run in {self.folder} has no frames with {part}: `frames = false` in its scene?")
        return len(times) - 1 if time is None else int(np.argmin(np.abs(times - time)))

    def _stored(self, part: str, time: Optional[float], file: RunFile) -> int:
        """The number of the frame of the run file with the part nearest to a time [s], or with the last one."""
        chosen = self._times(part)[self._nearest(part, time)]
        times = file.surface_times if part == "surfaces" else file.contact_times
        return int(np.searchsorted(times, chosen))

    def _frame(self, part: str, time: Optional[float]) -> _vtp.PolyData:
        """The frame nearest to a time [s], or the last one."""
        nearest = self._nearest(part, time)
        return _vtp.read(self._frames[part][nearest][1])

    def poses(self, time: Optional[float] = None) -> Dict[str, Any]:
        """Poses and velocities of all bodies in the frame nearest to a time [s], or in the last one: `time` [s], `names`, `ids`, and one
        row per body of `position` [m] (the centre of mass of a free body), `rotation` (a quaternion w, x, y, z), `velocity` [m/s]
        and `angular_velocity` [rad/s]. They are in the run file only, which `frames = "vtp"` leaves out.
        """
        if self.file is None:
            raise FileError(f"there is no run.vtkhdf in {self.folder}: `frames` in its scene is \"vtp\" or false")
        times = self.file.times
        frame = self.file.frame(len(times) - 1 if time is None else int(np.argmin(np.abs(times - time))))
        model = self.file.model(frame["model"])
        return {**frame, "names": model["names"], "ids": model["ids"]}

    def contacts(self, time: Optional[float] = None) -> NDArray[Any]:
        """The contacts of the frame nearest to a time [s], or of the last one, as `Simulation.contacts` gives them: bodies
        (indices), point [m], normal from the first body to the second, gap [m], force on the second body [N].
        """
        if self.file is not None:
            stored = self.file.contacts(self._stored("contacts", time, self.file))
            contacts = np.zeros(len(stored["gap"]), CONTACT)
            for name in CONTACT.names or ():
                contacts[name] = stored[name]
            return contacts
        frame = self._frame("contacts", time)
        contacts = np.zeros(len(frame.points), CONTACT)
        contacts["point"] = frame.points
        for name in ("bodies", "normal", "gap [m]", "force [N]"):
            contacts[name.partition(" ")[0]] = frame.point_data[name]
        return contacts

    def unique_forces(self) -> NDArray[Any]:
        """The unique contact forces that `riprap forces` computed from the last checkpoint, as `contacts` gives them. Gaps are
        not part of its table and are NaN.
        """
        path = self.folder / "forces.csv"
        try:
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            index = {name: k for k, name in enumerate(self.scene.names)}
            pieces = {name for row in rows for name in (row["first"], row["second"])} - set(index)
            if pieces:
                raise FileError(
                    f"{path} has `{min(pieces)}`, a piece of a broken stone, which the scene does not list: "
                    "use `riprap.force_network`"
                )
            contacts = np.zeros(len(rows), CONTACT)
            contacts["gap"] = np.nan
            for contact, row in zip(contacts, rows):
                contact["bodies"] = index[row["first"]], index[row["second"]]
                contact["point"] = [float(row[f"{axis} [m]"]) for axis in "xyz"]
                contact["normal"] = [float(row[f"normal_{axis} [-]"]) for axis in "xyz"]
                contact["force"] = [float(row[f"force_{axis} [N]"]) for axis in "xyz"]
        except FileNotFoundError:
            raise FileError(f"there are no unique forces in {self.folder}: run `riprap forces {self.folder}`") from None
        except FileError:
            raise
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise FileError(f"{path} is not a table of `riprap forces`: {error}") from None
        return contacts

    def surfaces(self, time: Optional[float] = None) -> _vtp.PolyData:
        """The surfaces of all bodies in the frame nearest to a time [s], or in the last one: points [m], polygons, and the
        arrays `body`, `material` and `speed [m/s]` of the polygons.
        """
        if self.file is None:
            return self._frame("surfaces", time)
        stored = self.file.surfaces(self._stored("surfaces", time, self.file))
        cells = {"body": stored["body"].astype(np.int64), "material": stored["material"].astype(np.int64)}
        cells["speed [m/s]"] = stored["speed"]
        corners, ends = stored["corners"].astype(np.int64), stored["ends"].astype(np.int64)
        return _vtp.PolyData(stored["points"], corners, ends, cell_data=cells)

    def to_pandas(self, *, units: bool = True) -> Any:
        """The series as a pandas.DataFrame: one row per output time [s]; without `units` the columns have bare names."""
        return self.series.to_pandas(units=units)

    def to_xarray(self) -> Any:
        """The series as an xarray.Dataset over time [s], units as attributes."""
        return self.series.to_xarray()

    def show(self, **options: Any) -> Union[ViewerPage, Axes]:
        """The viewer with this run inside, as `view` gives it, if the run has a run file and there are no options beside `max_size` and
        `height`. Otherwise draws the last frame with `riprap.plot.show`, which has the options; `time` [s] chooses another frame.
        """
        if self._has_viewer() and set(options) <= {"max_size", "height"}:
            return self.view(**options)
        from . import plot

        return plot.show(self, **options)

    def _has_viewer(self) -> bool:
        """Whether there are frames in a run file."""
        return self.file is not None and len(self.times) > 0

    def view(self, *, max_size: float = 20.0, height: int = 560) -> ViewerPage:
        """The viewer with this run inside, for a notebook, or to `save` as one file that opens in any browser: at most about `max_size`
        megabytes, for which frames are left out evenly. `height` is that in a notebook [pixels]. `riprap view` shows a run without
        a limit, and while it is going on.
        """
        return ViewerPage(self.folder, max_size=max_size, height=height)

    def _repr_html_(self) -> str:
        """The summary and the viewer, for notebooks; a picture of the last frame if the run wrote no run file."""
        if self._has_viewer():
            return f"<p>{html.escape(self._line())}</p>{self.view()._repr_html_()}"
        import base64

        from . import plot

        picture = plot.png(self) if len(self.times) else None
        shown = ""
        if picture is not None:
            shown = f'<img src="data:image/png;base64,{base64.b64encode(picture).decode()}" alt="the last frame">'
        return f"<p>{html.escape(self._line())}</p>{shown}"

    def _line(self) -> str:
        summary = self.summary
        title = summary.get("title") or self.folder.name
        return f"{title}: {summary.get('state')} at t = {summary.get('time_s', 0.0):.6g} s, {summary.get('steps')} steps"

    def __repr__(self) -> str:
        return f"<RunFolder {self._line()}, in {str(self.folder)!r}>"


def open_run(folder: Union[str, PathLike[str]]) -> RunFolder:
    """Opens the folder of a run. FileError if there is no run in it.

    >>> import riprap as rr
    >>> rr.open_run("nowhere")
    Traceback (most recent call last):
        ...
    riprap.errors.FileError: no run in nowhere: cannot read summary.json (No such file or directory); give the folder that `riprap run --out` or riprap.run wrote
    """
    return RunFolder(folder)
