"""One case of a sweep: what identifies it, and how a worker runs it, wherever the worker is.

A case is addressed by its content. A worker takes the lock of its folder, looks whether there already is a result, and otherwise starts the case or
continues it from its checkpoint; so it does not matter how often, or by how many processes, a case is handed out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

from . import functions, store, toml
from .description import Description
from .measures import Measure

__all__ = ["BUSY", "Case", "death", "execute", "measure", "prepare", "use_threads"]

# Outcome of a case that another process is working on.
BUSY = "busy"
# Checkpoints of a run unless the sweep or the scene says otherwise.
CHECKPOINTS = 10


@dataclass(frozen=True)
class Case:
    """One run of a sweep; it has all that a worker needs and can be pickled.

    >>> from riprap.sweep import Sweep
    >>> import tempfile
    >>> sweep = Sweep(function="math:cos", parameters={"x": [0.0, 1.0]}, out=tempfile.mkdtemp())
    >>> [(case.number, case.parameters) for case in sweep.cases]
    [(0, {'x': 0.0}), (1, {'x': 1.0})]
    """

    number: int
    parameters: Dict[str, Any]
    seed: Optional[int]
    hash: str
    folder: Path
    version: str
    scene: Optional[str] = None
    function: Optional[str] = None
    base: Path = Path()
    measures: Dict[str, Measure] = field(default_factory=dict)
    threads: int = 1
    checkpoint_every: Optional[float] = None

    @property
    def run_folder(self) -> Path:
        """The run folder of a scene."""
        return self.folder / "run"


def prepare(sweep: Description, number: int, parameters: Dict[str, Any], seed: Optional[int]) -> Case:
    """A case with its hash: over the scene with the files it refers to, or the function with its file and arguments, and the version of riprap."""
    from .. import __version__

    text: Optional[str] = None
    content: List[Any]
    if sweep.scene is not None:
        document = sweep.scene.case(parameters, seed, sweep.frames)
        text = sweep.scene.text(document)
        content = ["scene", sweep.scene.hash(document)]
    else:
        assert sweep.function is not None
        place, _, name = sweep.function.rpartition(":")
        content = ["function", functions.source_hash(sweep.function, sweep.folder) or place, name, parameters, seed]
    digest = hashlib.sha256(json.dumps([__version__, content], default=str).encode()).hexdigest()[:16]
    return Case(
        number,
        parameters,
        seed,
        digest,
        sweep.out / "cases" / digest,
        __version__,
        text,
        sweep.function,
        sweep.folder,
        sweep.measures,
        sweep.threads,
        sweep.checkpoint_every,
    )


def use_threads(threads: int) -> None:
    """Sets the number of threads of runs in this process, which must not have run anything in parallel yet."""
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads))


def execute(case: Case, retry_failed: bool = False, wait: bool = False) -> str:
    """Runs a case unless it has ended: ``finished``, ``failed``, or ``busy`` if another process is working on it."""
    with store.locked(case.folder, wait) as ours:
        if not ours:
            return BUSY
        result = store.read_result(case.folder)
        if result is not None and (result["status"] == "finished" or not retry_failed):
            return str(result["status"])
        (case.folder / "result.json").unlink(missing_ok=True)
        described = {"parameters": case.parameters, "seed": case.seed, "version": case.version}
        store.atomic_write(case.folder / "case.json", (json.dumps(described, indent=1, default=str) + "\n").encode())
        store.add_start(case.folder)
        started = time.perf_counter()
        try:
            with _interruptible():
                result = _run_scene(case) if case.scene is not None else _run_function(case)
        except Exception as error:
            result = {"status": "failed", "error": _told(error), "wall_s": time.perf_counter() - started}
        result.setdefault("wall_s", time.perf_counter() - started)
        result["version"] = case.version
        store.write_result(case.folder, result)
        return str(result["status"])


def _run_scene(case: Case) -> Dict[str, Any]:
    from .. import Scene, run

    path = case.folder / "scene.toml"
    text = (case.scene or "").encode()
    if not path.is_file() or path.read_bytes() != text:
        store.atomic_write(path, text)
    every = case.checkpoint_every
    if every is None and "checkpoint_every" not in toml.parse(case.scene or "")["run"]:
        until = Scene.from_toml(path).until
        every = until / CHECKPOINTS if until else None
    summary = run(path, case.run_folder, resume=True, overwrite=True, checkpoint_every=every)
    if summary.ending != "finished":
        raise KeyboardInterrupt
    state = summary.state
    result: Dict[str, Any] = {"status": "finished"}
    if state is not None:
        result["state_sha256"] = hashlib.sha256(state.to_bytes()).hexdigest()
    result["wall_s"] = json.loads((case.run_folder / "summary.json").read_text(encoding="utf-8"))["wall_s"]
    result["measures"] = {name: _evaluate(case, measured) for name, measured in case.measures.items()}
    return result


def _run_function(case: Case) -> Dict[str, Any]:
    function = functions.load(case.function or "", case.base)
    seed = {} if case.seed is None else {"seed": case.seed}
    measures = function(**case.parameters, **seed)
    if not isinstance(measures, dict):
        raise TypeError(f"`{case.function}` returned {type(measures).__name__}; expected a dictionary of measures")
    return {"status": "finished", "measures": {str(name): {"value": float(value), "unit": ""} for name, value in measures.items()}}


def _evaluate(case: Case, measured: Measure) -> Dict[str, Any]:
    """The value of a measure, or why there is none; a run is not lost because of it."""
    try:
        identity = measured.identity()
        value, unit = measured.evaluate(case.run_folder)
    except Exception as error:
        return {"identity": None, "error": _told(error)}
    return {"identity": identity, "value": value, "unit": unit}


def measure(case: Case) -> Optional[Dict[str, Any]]:
    """The result of a case with its measures up to date: those that are new or have changed are evaluated from the run folder."""
    result = store.read_result(case.folder)
    if result is None or result["status"] != "finished" or case.scene is None:
        return result
    stored = result.get("measures", {})
    fresh = {}
    for name, measured in case.measures.items():
        known = stored.get(name, {})
        try:
            current = known.get("identity") is not None and known["identity"] == measured.identity()
        except Exception:
            current = False
        fresh[name] = {**known, "unit": measured.unit or known["unit"]} if current else _evaluate(case, measured)
    if any(stored.get(name) != value for name, value in fresh.items()):
        with store.locked(case.folder) as ours:
            if ours:
                store.write_result(case.folder, {**result, "measures": {**stored, **fresh}})
    return {**result, "measures": fresh}


def death(case: Case, times: int) -> str:
    """Records that the process of a case died each time it was tried."""
    with store.locked(case.folder) as ours:
        if not ours:
            return BUSY
        result = store.read_result(case.folder)
        if result is None:
            error = f"the process died {times} times while running this case (killed, out of memory, or crashed)"
            result = {"status": "failed", "error": error, "wall_s": None, "version": case.version}
            store.write_result(case.folder, result)
        return str(result["status"])


def _told(error: Exception) -> str:
    """The message of an error of riprap; others with their type and place."""
    from ..errors import Error

    if isinstance(error, Error):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}" if not isinstance(error, ValueError) or not str(error) else str(error)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends a run with a checkpoint; workers ignore it while they wait for work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
