"""Mistakes in a sweep file, collected so that all of them are reported together with their lines."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Iterable, List, NamedTuple, Optional, Sequence

from ..errors import Error
from . import toml

__all__ = ["Problem", "Problems", "SweepError", "suggestion"]


class Problem(NamedTuple):
    """One mistake: its line in the file (0 if there is none) and what to do about it.

    >>> from riprap.sweep.errors import Problem
    >>> Problem(3, "`seeds` must be positive").line
    3
    """

    line: int
    message: str


class SweepError(Error, ValueError):
    """A sweep is described wrongly; the message lists all mistakes, one per line, and ``problems`` holds them.

    >>> from riprap.sweep import Sweep, SweepError
    >>> try:
    ...     Sweep(function="math:cos", parameters={"x": []}, seeds=-1)
    ... except SweepError as error:
    ...     print(error)
    `parameters.x` has no values
    `seeds` is -1; expected a number of seeds of at least 1, or a list of seeds
    """

    problems: List[Problem]

    def __init__(self, problems: Sequence[Problem], path: Optional[Path] = None) -> None:
        def told(problem: Problem) -> str:
            place = f"{path}:{problem.line}: " if path and problem.line else f"{path}: " if path else ""
            return place + problem.message

        super().__init__("\n".join(told(problem) for problem in problems))
        self.problems = list(problems)


class Problems:
    """Collects the mistakes of one sweep; keys are given as paths such as ``("parameters", "x")``."""

    def __init__(self, path: Optional[Path] = None, text: str = "") -> None:
        self.path = path
        self.text = text
        self.found: List[Problem] = []

    def add(self, key: Sequence[str], message: str) -> None:
        """Notes a mistake at a key."""
        self.found.append(Problem(toml.line_of(self.text, key) if self.text else 0, message))

    def unknown_keys(self, table: Iterable[str], known: Sequence[str], at: Sequence[str] = ()) -> None:
        """Notes every key that is not known, with the nearest one that is."""
        for key in table:
            if key not in known:
                path = ".".join([*at, key])
                self.add([*at, key], f"unknown key `{path}`{suggestion(key, known)}")

    def raise_if_any(self) -> None:
        """Raises all mistakes found so far, in the order of the file."""
        if self.found:
            raise SweepError(sorted(self.found, key=lambda problem: problem.line), self.path)


def suggestion(word: str, known: Iterable[str]) -> str:
    """``; did you mean `…`?``, or the known words if none is near."""
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean `{near[0]}`?"
    return f"; known: {', '.join(known)}" if 0 < len(known) <= 30 else ""
