"""Exceptions of riprap. Their messages are those of the command line."""

from __future__ import annotations

from typing import List, Optional, Tuple

__all__ = ["BusyError", "Error", "FileError", "HandleError", "SceneError", "StepError"]


class Error(Exception):
    """Base of all exceptions of riprap."""


class SceneError(Error, ValueError):
    """A description is wrong: all mistakes of a scene or scene file, one per line.

    ``problems`` lists those of a scene file as (line, column, message, help).
    """

    problems: List[Tuple[int, int, str, Optional[str]]] = []


class StepError(Error, RuntimeError):
    """A step failed; the state is as it was before the step."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class HandleError(Error, LookupError):
    """A handle or name does not belong to the scene or mechanism."""


class BusyError(Error, RuntimeError):
    """The simulation is used while a step is in progress, from one of its laws or from another thread."""
