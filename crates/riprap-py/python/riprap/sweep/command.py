"""The command ``riprap sweep``. Exit codes are those of riprap: 0 success, 1 a case failed, 2 invalid input, 130 interrupted."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import List, Optional, Sequence

from ..errors import Error
from .cases import use_threads
from .errors import SweepError
from .progress import duration
from .study import Result, Sweep

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="riprap sweep",
        description="Run a scene over many parameters and seeds and collect one table. Cases that have finished are not repeated; interrupted ones are resumed.",
    )
    parser.add_argument("file", metavar="FILE", help="the sweep file")
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="number of runs at a time [default: cores / threads per run]")
    parser.add_argument("--retry-failed", action="store_true", help="run cases that failed again")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the cases with their parameters and status, and run nothing")
    what.add_argument("--status", action="store_true", help="count the cases by status, and run nothing")
    what.add_argument("--collect", action="store_true", help="write the table of the results so far, and run nothing")
    what.add_argument("--case", type=int, metavar="K", help="run only case K, counted from 0, in this process")
    what.add_argument("--slurm", metavar="SCRIPT", help="write a SLURM array script, and run nothing")
    parser.add_argument("--plot", action="store_true", help="also draw means over seeds with confidence intervals, as plot.svg in the folder of the results")
    script = parser.add_argument_group("options of --slurm")
    script.add_argument("--time", metavar="T", help="time limit of a task, such as 2:00:00")
    script.add_argument("--memory", metavar="SIZE", help="memory of a task, such as 4G")
    script.add_argument("--partition", metavar="NAME", help="partition")
    script.add_argument("--cases-per-task", type=int, default=1, metavar="N", help="cases run by one task [default: 1]")
    return parser


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command with these arguments and returns its exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        return _run(parsed)
    except KeyboardInterrupt:
        print(f"interrupted; `riprap sweep {parsed.file}` continues", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of the output has ended, as `head` does; nothing more is written, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Error, ImportError) as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        return 2 if isinstance(error, SweepError) else 1


def _run(parsed: argparse.Namespace) -> int:
    sweep = Sweep.from_file(parsed.file)
    for note in sweep.notes:
        print(f"note: {note}", file=sys.stderr)
    if parsed.list:
        return _list(sweep.results())
    if parsed.status:
        return _count(sweep)
    if parsed.slurm:
        options = {"time": parsed.time, "memory": parsed.memory, "partition": parsed.partition}
        path = sweep.write_slurm(parsed.slurm, cases_per_task=parsed.cases_per_task, **options)
        print(f"{path}  submit with: bash {shlex.quote(str(path))}")
        return 0
    if parsed.case is not None:
        return _case(sweep, parsed.case, parsed.retry_failed)
    if not parsed.collect:
        sweep.run(jobs=parsed.jobs, progress=not parsed.quiet, retry_failed=parsed.retry_failed)
    return _conclude(sweep, parsed.plot)


def _case(sweep: Sweep, number: int, retry_failed: bool) -> int:
    use_threads(sweep.cases[0].threads)
    status = sweep.run_case(number, retry_failed)
    print(f"case {number}: {status}")
    if status == "failed":
        print(f"error: {sweep.results()[number].error}", file=sys.stderr)
    return 0 if status == "finished" else 1


def _list(results: List[Result]) -> int:
    for result in results:
        values = [f"{name}={value}" for name, value in result.parameters.items()]
        seed = [] if result.seed is None else [f"seed={result.seed}"]
        print(f"{result.number:>5}  {result.hash}  {result.status:<11}  {'  '.join(values + seed)}")
    return 0


def _count(sweep: Sweep) -> int:
    counts = sweep.status()
    times = [result.wall_time for result in sweep.results() if result.wall_time is not None]
    told = ", ".join(f"{number} {word}" for word, number in counts._asdict().items() if number or word == "finished")
    print(f"{len(sweep)} cases: {told}" + (f"; {duration(sum(times))} of computation so far" if times else ""))
    return 0


def _conclude(sweep: Sweep, picture: bool) -> int:
    """Writes the table, and the picture if one is wanted, and says what failed."""
    path = sweep.collect()
    _count(sweep)
    bad = [result for result in sweep.results() if result.error]
    for result in bad[:10]:
        first = (result.error or "").splitlines()[0]
        print(f"case {result.number} ({result.status}): {first}\n  {_shown(result.folder)}", file=sys.stderr)
    if len(bad) > 10:
        print(f"… and {len(bad) - 10} more; see the column `error` of the table", file=sys.stderr)
    print(f"  {_shown(path)}  table of all cases")
    if picture:
        print(f"  {_shown(sweep.plot())}  means over seeds with 95 % confidence intervals")
    return 1 if bad else 0


def _shown(path: Path) -> Path:
    """A path relative to the current folder if it is below it."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
