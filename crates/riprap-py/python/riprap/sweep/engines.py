"""Where cases run: worker processes of this machine, or a dask client. Both have the interface of `concurrent.futures`, so that one loop drives them.

The loop hands cases out, takes those back whose worker died, and waits for those that another sweep is working on.
"""

from __future__ import annotations

import collections
import concurrent.futures
import concurrent.futures.process
import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional, Protocol, Sequence, Tuple, Type

from .._optional import need
from ..errors import Error
from . import store
from .cases import BUSY, Case, death, execute, use_threads

__all__ = ["DaskEngine", "PoolEngine", "drive"]

# A case whose process died this often is run alone; if it dies again, it has failed.
DEATHS = 2
# Workers that die one after the other before they start a case cannot start at all.
FALSE_STARTS = 5
# Pause before a case that was busy is tried again [s].
PATIENCE = 0.5

NO_WORKERS = (
    "worker processes end before they start a case. They import the script that runs the sweep: "
    'call `run` under `if __name__ == "__main__":`, and see the messages above'
)

Died = Tuple[Type[BaseException], ...]


class Engine(Protocol):
    """What `drive` needs."""

    slots: int
    died: Died

    def submit(self, case: Case, retry_failed: bool) -> Any:
        """Starts a case and returns its future."""

    def lost(self, future: Any) -> bool:
        """A future ended by the death of its worker; returns whether it may be tried again."""
        ...

    def close(self, interrupted: bool) -> None:
        """Ends the workers; on an interrupt, running cases end with a checkpoint first."""


def _worker(threads: int) -> None:
    """Prepares a worker process: it waits quietly on Ctrl-C, and ends with its parent."""
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


class PoolEngine:
    """Worker processes of this machine. A pool that lost a worker is replaced by a new one."""

    died: Died = (concurrent.futures.process.BrokenProcessPool,)

    def __init__(self, jobs: int, threads: int) -> None:
        self.slots = jobs
        self._threads = threads
        # The pool of every future that is still waited for.
        self._pools: "weakref.WeakKeyDictionary[Any, concurrent.futures.ProcessPoolExecutor]" = weakref.WeakKeyDictionary()
        self._pool = self._new()

    def _new(self) -> concurrent.futures.ProcessPoolExecutor:
        # A forked process would inherit threads and locks in any state.
        context = multiprocessing.get_context("spawn")
        return concurrent.futures.ProcessPoolExecutor(self.slots, mp_context=context, initializer=_worker, initargs=(self._threads,))

    def submit(self, case: Case, retry_failed: bool) -> Any:
        """Starts a case and returns its future."""
        try:
            future = self._pool.submit(execute, case, retry_failed)
        except self.died:
            self._pool = self._new()
            future = self._pool.submit(execute, case, retry_failed)
        self._pools[future] = self._pool
        return future

    def lost(self, future: Any) -> bool:
        """Replaces the pool of this future, if that has not been done for another one."""
        if self._pools.pop(future, None) is self._pool:
            self._pool.shutdown(wait=True)
            self._pool = self._new()
        return True

    def close(self, interrupted: bool) -> None:
        """Ends the workers; on an interrupt, running cases end with a checkpoint first."""
        if interrupted:
            # Only the terminal sends Ctrl-C to all processes. There is no public list of the workers.
            for pid in list(getattr(self._pool, "_processes", None) or {}):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGINT)
        self._pool.shutdown(wait=True, cancel_futures=True)


def _execute(case: Case, retry_failed: bool) -> str:
    """Runs a case in a worker of dask."""
    use_threads(case.threads)
    return execute(case, retry_failed)


class DaskEngine:
    """A client of dask.distributed. Dask itself hands the cases of a lost worker to others, up to its limit of allowed failures."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.slots = sys.maxsize
        self._futures: List[Any] = []
        distributed = need("distributed", by="a sweep with a dask client")
        self.died: Died = (distributed.KilledWorker,)

    def submit(self, case: Case, retry_failed: bool) -> Any:
        """Starts a case and returns its future."""
        future = self._client.submit(_execute, case, retry_failed, pure=False, key=f"riprap-{case.hash}-{len(self._futures)}")
        self._futures.append(future)
        return future

    def lost(self, future: Any) -> bool:
        """Dask has tried often enough."""
        return False

    def close(self, interrupted: bool) -> None:
        """Cancels what has not started; the client belongs to the user."""
        if interrupted:
            self._client.cancel(self._futures)


def drive(cases: Sequence[Case], engine: Engine, retry_failed: bool, ended: Callable[[Case, str], None]) -> None:
    """Runs all cases on an engine and calls ``ended(case, status)`` for each."""
    interrupted = True
    try:
        _drive(cases, engine, retry_failed, ended)
        interrupted = False
    finally:
        engine.close(interrupted)


def _drive(cases: Sequence[Case], engine: Engine, retry_failed: bool, ended: Callable[[Case, str], None]) -> None:
    waiting: Deque[Case] = collections.deque(cases)
    # Cases that another sweep is working on, with the time of the next attempt; cases to be run alone.
    later: Deque[Tuple[float, Case]] = collections.deque()
    suspects: Deque[Case] = collections.deque()
    running: Dict[Any, Tuple[Case, int]] = {}
    false_starts = 0
    deaths: Dict[str, int] = collections.Counter()
    done: "queue.SimpleQueue[Any]" = queue.SimpleQueue()

    def start(case: Case) -> None:
        before = len(store.starts(case.folder))
        future = engine.submit(case, retry_failed)
        running[future] = case, before
        future.add_done_callback(done.put)

    def lost(future: Any, case: Case, before: int) -> Optional[str]:
        nonlocal false_starts
        again = engine.lost(future)
        if again and len(store.starts(case.folder)) == before:
            false_starts += 1
            if false_starts > FALSE_STARTS:
                raise Error(NO_WORKERS)
            waiting.append(case)
            return None
        false_starts = 0
        deaths[case.hash] += 1
        if again and deaths[case.hash] <= DEATHS:
            (waiting if deaths[case.hash] < DEATHS else suspects).append(case)
            return None
        return death(case, deaths[case.hash])

    while waiting or running or suspects or later:
        while later and later[0][0] <= time.monotonic():
            waiting.append(later.popleft()[1])
        alone = any(deaths[case.hash] >= DEATHS for case, _ in running.values())
        while waiting and len(running) < engine.slots and not alone:
            start(waiting.popleft())
        # Cases whose process died repeatedly run alone, so that only the culprit fails.
        if not running and suspects:
            start(suspects.popleft())
        try:
            future = done.get(timeout=PATIENCE)
        except queue.Empty:
            continue
        case, before = running.pop(future)
        try:
            status: Optional[str] = str(future.result())
        except engine.died:
            status = lost(future, case, before)
        if status == BUSY:
            later.append((time.monotonic() + PATIENCE, case))
        elif status is not None:
            ended(case, status)
