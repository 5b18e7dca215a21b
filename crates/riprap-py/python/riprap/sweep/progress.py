"""Progress over all runs of a sweep: a line in the terminal, or any bar with the interface of tqdm."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, TextIO, Union

# Interval between lines in a log [s].
LOG_EVERY = 10.0

__all__ = ["Line", "Silent", "duration", "open_bar"]


class Silent:
    """Shows nothing."""

    def __init__(self, *, total: int, initial: int = 0, desc: str = "", unit: str = "run") -> None:
        pass

    def update(self, n: int = 1) -> None:
        """Counts runs."""

    def set_postfix(self, **entries: int) -> None:
        """Further numbers."""

    def close(self) -> None:
        """Ends the display."""


class Line(Silent):
    """One line that is replaced in a terminal, or at most one new line every ten seconds in a log.

    >>> import io
    >>> bar = Line(total=4, initial=1, file=io.StringIO())
    >>> bar.update()
    >>> bar.text(elapsed=30.0)
    '2 of 4 done, 2 left, about 1 min 00 s'
    """

    def __init__(
        self, *, total: int, initial: int = 0, desc: str = "", unit: str = "run", file: Optional[TextIO] = None
    ) -> None:
        self._file = file if file is not None else sys.stderr
        self._total, self._initial, self._done, self._failed = total, initial, initial, 0
        self._desc, self._started, self._shown = desc, time.monotonic(), 0.0
        self._terminal = self._file.isatty()
        self._show()

    def update(self, n: int = 1) -> None:
        """Counts runs that have ended."""
        self._done += n
        self._show()

    def set_postfix(self, **entries: int) -> None:
        """The number of failed runs."""
        self._failed = entries.get("failed", 0)

    def close(self) -> None:
        """Shows the final numbers."""
        self._show(last=True)

    def text(self, elapsed: float) -> str:
        """The line after a time [s]; what is left is estimated from the runs since the start."""
        left, new = self._total - self._done, self._done - self._initial
        parts = [f"{self._done} of {self._total} done"]
        if self._failed:
            parts[0] += f" ({self._failed} failed)"
        if left:
            parts.append(f"{left} left")
            if new:
                parts.append(f"about {duration(elapsed / new * left)}")
        return (f"{self._desc}: " if self._desc else "") + ", ".join(parts)

    def _show(self, last: bool = False) -> None:
        now = time.monotonic()
        if not last and not self._terminal and now - self._shown < LOG_EVERY:
            return
        self._shown = now
        text = self.text(now - self._started)
        if self._terminal:
            self._file.write(f"\r\x1b[K{text}" + ("\n" if last else ""))
        else:
            self._file.write(text + "\n")
        self._file.flush()


Bar = Union[bool, Callable[..., Any], None]


def open_bar(progress: Bar, total: int, initial: int, desc: str) -> Any:
    """A bar: ``True`` is a line in the terminal, ``False`` or ``None`` nothing, and a callable such as ``tqdm.tqdm`` is called
    with ``total``, ``initial``, ``desc`` and ``unit``."""
    make = Line if progress is True else progress or Silent
    return make(total=total, initial=initial, desc=desc, unit="run")


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(5.2), duration(250.0), duration(7320.0)
    ('5 s', '4 min 10 s', '2 h 02 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
