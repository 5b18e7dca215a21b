"""Files of a case: results and starts, written atomically, and the lock that lets one process at a time work on it.

    cases/HASH/case.json     parameters, seed, version
    cases/HASH/scene.toml    its scene, and run/ with the results of riprap
    cases/HASH/starts.csv    one row per start: time, host, process, from the beginning or from a checkpoint
    cases/HASH/result.json   how it ended, once it has
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Set

__all__ = ["add_start", "atomic_write", "is_locked", "locked", "read_result", "starts", "write_result"]

_held: Set[str] = set()
_guard = threading.Lock()


def atomic_write(path: Path, content: bytes) -> None:
    """Writes a file under a temporary name and renames it, so that it is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def read_result(folder: Path) -> Optional[Dict[str, Any]]:
    """The result of a case; ``None`` if it has not ended."""
    try:
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if isinstance(result, dict) else None


def write_result(folder: Path, result: Dict[str, Any]) -> None:
    """Replaces the result of a case."""
    atomic_write(folder / "result.json", (json.dumps(result, indent=1) + "\n").encode())


def add_start(folder: Path) -> None:
    """Notes that a process starts to work on a case, from the beginning or from a checkpoint; the caller holds its lock."""
    start = "checkpoint" if (folder / "run" / "checkpoint.bin").is_file() else "beginning"
    row = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())},{socket.gethostname()},{os.getpid()},{start}\n"
    with open(folder / "starts.csv", "ab") as file:
        file.write(row.encode())


def starts(folder: Path) -> List[str]:
    """The starts of a case so far: time, host, process, and where it started from."""
    try:
        return (folder / "starts.csv").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


@contextlib.contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[bool]:
    """Holds the lock of a case, and says whether it does; with ``wait`` it waits for it.

    The lock is one of the operating system and ends with its process. On a file system without locks it is ignored; the run
    folder then still refuses a second run on the same machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key = str(folder.resolve())
    while not _hold(key):
        if not wait:
            yield False
            return
        time.sleep(0.1)
    try:
        with open(folder / "case.lock", "a+b") as file:
            if _lock(file.fileno(), wait):
                yield True
            else:
                yield False
    finally:
        with _guard:
            _held.discard(key)


def is_locked(folder: Path) -> bool:
    """Whether some process is working on a case."""
    if not (folder / "case.lock").is_file():
        return False
    with locked(folder) as free:
        return not free


def _hold(key: str) -> bool:
    """Locks of this process, for threads: some file systems give a lock to a process, not to an open file."""
    with _guard:
        if key in _held:
            return False
        _held.add(key)
        return True


def _lock(descriptor: int, wait: bool) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
