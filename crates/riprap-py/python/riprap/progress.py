"""Progress bars over the simulated time, with tqdm or anything that is called like it."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

from ._optional import need

__all__ = ["Bar"]

# {bar} and its surroundings: tqdm would show many digits of the simulated time.
FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {n:.3g}/{total:.3g} s [{elapsed}<{remaining}]"


class Bar:
    """A bar from one time [s] to another.

    `progress` is True for the bar of tqdm (a widget in notebooks), false for none, or a callable like `tqdm.tqdm`: it gets
    `total` [s], `desc`, `unit` and `bar_format`, and returns an object with `update(seconds)` and `close()`.

    >>> from riprap.progress import Bar
    >>> class Printed:
    ...     def __init__(self, total, desc, **options):
    ...         print(desc, total, "s")
    ...     def update(self, seconds):
    ...         print("+", seconds, "s")
    ...     def close(self):
    ...         print("over")
    >>> bar = Bar(Printed, "run", 1.0, 3.0)
    run 2.0 s
    >>> bar.show(1.5)
    + 0.5 s
    >>> bar.close()
    over
    """

    def __init__(self, progress: Union[bool, Callable[..., Any]], label: str, start: float, end: float) -> None:
        self._last, self._end = start, end
        self._bar: Optional[Any] = None
        if progress is True:
            progress = need("tqdm.auto", by="progress=True").tqdm
        if callable(progress):
            self._bar = progress(total=max(end - start, 0.0), desc=label, unit="s", bar_format=FORMAT)
        elif progress:
            raise TypeError(f"progress is True, False or a callable like tqdm.tqdm, not {progress!r}")

    def show(self, time: float) -> None:
        """Moves the bar to a time [s], at most to its end: the last step may pass it by rounding."""
        time = min(time, self._end)
        if self._bar is not None and time > self._last:
            self._bar.update(time - self._last)
            self._last = time

    def close(self) -> None:
        """Closes the bar; closing it again does nothing."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
