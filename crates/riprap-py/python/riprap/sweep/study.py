"""`Sweep`: many runs over parameters and seeds, their results and their table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import plot, slurm, store
from .cases import Case, execute, measure, prepare
from .description import Description, describe, read
from .engines import DaskEngine, PoolEngine, drive
from .errors import Problem, Problems, SweepError
from .progress import Bar, open_bar
from .table import Row, build, convert, write

__all__ = ["Counts", "Result", "Sweep"]

PathLike = Union[str, "os.PathLike[str]"]


class Counts(NamedTuple):
    """Numbers of cases by status; ``left`` includes those that were interrupted.

    >>> from riprap.sweep import Sweep
    >>> import tempfile
    >>> sweep = Sweep(function="math:cos", parameters={"x": [0.0, 1.0]}, out=tempfile.mkdtemp())
    >>> sweep.status()
    Counts(finished=0, failed=0, running=0, left=2)
    """

    finished: int
    failed: int
    running: int
    left: int


@dataclass(frozen=True)
class Result:
    """One case: its number, parameters and seed, how it ended, its measures, wall time [s], version of riprap and hash.

    ``status`` is ``finished``, ``failed``, ``running``, ``interrupted`` or ``waiting``; ``error`` says why it failed or why a measure is missing.
    ``folder`` is that of the case; a scene has its run folder, with series and summary, in ``run`` below it.

    >>> from riprap.sweep import Sweep
    >>> import tempfile
    >>> sweep = Sweep(function="math:cos", parameters={"x": [0.0, 1.0]}, out=tempfile.mkdtemp())
    >>> [(result.parameters["x"], result.status) for result in sweep.results()]
    [(0.0, 'waiting'), (1.0, 'waiting')]
    """

    number: int
    parameters: Dict[str, Any]
    seed: Optional[int]
    status: str
    measures: Dict[str, float]
    wall_time: Optional[float]
    version: str
    hash: str
    error: Optional[str]
    folder: Path
    entries: Dict[str, Any]


class Sweep:
    """Many runs of a scene file, or of a Python function, over parameters and seeds.

    ``scene`` is a scene file; ``function`` is called as ``function(**parameters, seed=seed)`` and returns a dictionary of measures. Give one of them. ``parameters`` are lists of
    values or ranges ``{"from": …, "to": …, "count": …, "scale": "linear" or "log"}``, named as in ``[parameters]`` of the scene or by the path of a key
    (``materials.rock.friction``); those in a dictionary of ``zip`` vary together. ``design`` is ``grid``, ``list`` or ``random`` (a Latin hypercube of ``samples`` points).
    ``seeds`` is a number of seeds or a list. ``measures`` say what is read from each run, see `riprap.sweep.Measure`. ``threads`` is the number of threads of a run, ``checkpoint_every`` the interval of its
    checkpoints [s of simulated time], by default a tenth of the run. Paths are relative to ``folder``, by default the current one.

    Results are kept in ``out``, each case in a folder named by the hash of everything that determines it. Whatever has finished there is never run again.

    >>> import tempfile
    >>> from riprap.sweep import Sweep
    >>> sweep = Sweep(function="math:hypot_of", parameters={"x": [3.0]}, out=tempfile.mkdtemp())
    Traceback (most recent call last):
    ...
    riprap.sweep.errors.SweepError: `function`: `math` has no function `hypot_of`
    """

    def __init__(
        self,
        *,
        scene: Optional[PathLike] = None,
        function: Union[str, Callable[..., Mapping[str, float]], None] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        zip: Optional[Sequence[Mapping[str, Any]]] = None,
        design: Optional[str] = None,
        samples: Optional[int] = None,
        design_seed: Optional[int] = None,
        seeds: Union[int, Sequence[int], None] = None,
        measures: Optional[Mapping[str, Mapping[str, Any]]] = None,
        out: PathLike = "sweep-results",
        threads: int = 1,
        checkpoint_every: Union[float, str, None] = None,
        frames: Optional[bool] = None,
        title: str = "",
        folder: PathLike = ".",
    ) -> None:
        given: Dict[str, Any] = {
            "scene": None if scene is None else os.fspath(scene),
            "function": function,
            "parameters": dict(parameters or {}),
            "zip": [dict(group) for group in zip or []],
            "design": design,
            "samples": samples,
            "design_seed": design_seed,
            "seeds": seeds,
            "measures": None if measures is None else {name: dict(entry) for name, entry in measures.items()},
            "out": os.fspath(out),
            "threads": threads,
            "checkpoint_every": checkpoint_every,
            "frames": frames,
            "title": title,
        }
        given = {key: value for key, value in given.items() if value is not None}
        self._start(describe(given, Path(folder).resolve(), Problems()), None)

    def _start(self, description: Description, path: Optional[Path]) -> None:
        self._description = description
        self._path = path
        points = [(point, seed) for point in description.points for seed in description.seeds]
        try:
            self._cases = [prepare(description, i, point, seed) for i, (point, seed) in enumerate(points)]
        except ValueError as error:
            raise SweepError([Problem(0, str(error))], path) from error

    @classmethod
    def from_file(cls, path: PathLike) -> Sweep:
        """The sweep of a sweep file; `SweepError` lists all mistakes with their lines."""
        path = Path(path)
        sweep = cls.__new__(cls)
        sweep._start(read(path), path)
        return sweep

    @property
    def out(self) -> Path:
        """The folder of the results."""
        return self._description.out

    @property
    def cases(self) -> List[Case]:
        """All cases: for each point of the design, one per seed."""
        return list(self._cases)

    @property
    def notes(self) -> List[str]:
        """What may not be as intended."""
        scene, seeds = self._description.scene, self._description.seeds
        fixed = scene.fixed_seeds() if scene is not None and len(seeds) > 1 else []
        return [f"grains `{name}` have a `seed` of their own, which the seeds of the sweep do not change" for name in fixed]

    def __len__(self) -> int:
        return len(self._cases)

    def __repr__(self) -> str:
        return f"<Sweep: {len(self)} cases in {str(self.out)!r}>"

    def run(
        self, *, jobs: Optional[int] = None, client: Any = None, progress: Bar = None, retry_failed: bool = False
    ) -> Counts:
        """Runs all cases that have not ended and writes the table.

        They run in ``jobs`` processes of this machine (by default as many as there are cores for, with `threads` each), or on the cluster of
        ``client``, a `dask.distributed.Client` whose workers have riprap and see the same file system. ``progress=True`` shows a line in the terminal, and a
        class with the interface of ``tqdm.tqdm`` a bar. Ctrl-C leaves checkpoints; calling `run` again continues, also after the process or a worker was killed. A case that fails is recorded and
        does not stop the others; ``retry_failed`` runs those again.
        """
        left = [case for case in self._cases if self._ended(case, retry_failed) is None]
        # The same case may be there twice, for instance if a scene does not depend on a parameter.
        unique = list({case.hash: case for case in left}.values())
        if unique:
            engine = DaskEngine(client) if client is not None else PoolEngine(self._jobs(jobs, len(unique)), self._description.threads)
            total = len({case.hash for case in self._cases})
            bar = open_bar(progress, total, total - len(unique), self._description.title)
            failed = 0

            def ended(case: Case, status: str) -> None:
                nonlocal failed
                failed += status == "failed"
                bar.set_postfix(failed=failed)
                bar.update(1)

            try:
                drive(unique, engine, retry_failed, ended)
            finally:
                bar.close()
        self.collect()
        return self.status()

    def run_case(self, number: int, retry_failed: bool = False) -> str:
        """Runs one case in this process and returns its status; waits if another process is working on it."""
        if not 0 <= number < len(self):
            raise SweepError([Problem(0, f"there is no case {number}; the sweep has cases 0 to {len(self) - 1}")])
        return execute(self._cases[number], retry_failed, wait=True)

    def _jobs(self, jobs: Optional[int], left: int) -> int:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if jobs is not None and jobs < 1:
            raise SweepError([Problem(0, f"the number of jobs is {jobs}; expected at least 1")])
        return min(jobs or max(1, cores // self._description.threads), left)

    @staticmethod
    def _ended(case: Case, retry_failed: bool) -> Optional[str]:
        result = store.read_result(case.folder)
        return None if result is None or (retry_failed and result["status"] == "failed") else str(result["status"])

    def results(self) -> List[Result]:
        """All cases with their measures so far."""
        return [self._result(case) for case in self._cases]

    def _result(self, case: Case) -> Result:
        found: Optional[Dict[str, Any]] = measure(case)
        if found is None:
            begun = bool(store.starts(case.folder))
            found = {"status": "running" if store.is_locked(case.folder) else "interrupted" if begun else "waiting"}
        entries: Dict[str, Any] = found.get("measures", {})
        errors = [found.get("error")] + [f"measure `{name}`: {entry['error']}" for name, entry in entries.items() if "error" in entry]
        return Result(
            case.number,
            case.parameters,
            case.seed,
            found["status"],
            {name: entry["value"] for name, entry in entries.items() if "value" in entry},
            found.get("wall_s"),
            found.get("version", case.version),
            case.hash,
            "; ".join(error for error in errors if error) or None,
            case.folder,
            entries,
        )

    def status(self) -> Counts:
        """How many cases have finished, have failed, are running and are left."""
        words = [self._status(case) for case in self._cases]
        return Counts(*(words.count(word) for word in ("finished", "failed", "running", "left")))

    @staticmethod
    def _status(case: Case) -> str:
        result = store.read_result(case.folder)
        return str(result["status"]) if result is not None else "running" if store.is_locked(case.folder) else "left"

    def table(self) -> Any:
        """One row per case, as a pandas data frame if pandas is installed, otherwise as a list of dictionaries."""
        return convert(self._rows())

    def _rows(self) -> List[Row]:
        return build(self._description.parameters, self.results())

    def collect(self) -> Path:
        """Writes ``table.csv``, and ``table.parquet`` if pyarrow is installed, and returns the path of the former."""
        return write(self._rows(), self.out)[0]

    def plot(self, path: Optional[PathLike] = None) -> Path:
        """Draws every measure against the first parameter, means over seeds with 95 % confidence intervals (Student's t), and returns the path of the picture."""
        target = self.out / "plot.svg" if path is None else Path(path)
        results = self.results()
        units: Dict[str, str] = {}
        for result in results:
            units.update({name: units.get(name) or entry.get("unit", "") for name, entry in result.entries.items()})
        plot.draw(results, units, self._description.title, target)
        return target

    def write_slurm(
        self,
        path: PathLike,
        *,
        time: Optional[str] = None,
        memory: Optional[str] = None,
        partition: Optional[str] = None,
        cases_per_task: int = 1,
    ) -> Path:
        """Writes a script that runs the cases as a SLURM array and then collects the table; submit it with ``bash``."""
        if self._path is None:
            raise SweepError([Problem(0, "a SLURM script needs a sweep file, which its tasks read")])
        if cases_per_task < 1:
            raise SweepError([Problem(0, f"the number of cases per task is {cases_per_task}; expected at least 1")])
        path = Path(path)
        text = slurm.script(
            self._path.resolve(),
            path.name,
            self.out.resolve() / "slurm",
            len(self),
            self._description.threads,
            title=self._description.title,
            time=time,
            memory=memory,
            partition=partition,
            cases_per_task=cases_per_task,
        )
        store.atomic_write(path, text.encode())
        path.chmod(0o755)
        return path
