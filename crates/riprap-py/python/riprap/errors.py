"""Exceptions of riprap. Their messages are those of the command line."""

from __future__ import annotations

from typing import List, Optional, Tuple

__all__ = ["BusyError", "Error", "FileError", "HandleError", "SceneError", "StepError"]


class Error(Exception):
    """Base of all exceptions of riprap.

    >>> import riprap as rr
    >>> try:
    ...     rr.Scene.from_toml("missing.toml")
    ... except rr.Error as error:
    ...     print(type(error).__name__)
    SceneError
    """


class SceneError(Error, ValueError):
    """A description is wrong: all mistakes of a scene or scene file, one per line.

    ``problems`` lists those of a scene file as (line, column, message, help).

    >>> import riprap as rr
    >>> try:
    ...     rr.Scene.from_toml_str("planar = 1")
    ... except rr.SceneError as error:
    ...     print([problem[:2] for problem in error.problems])
    [(1, 1), (1, 1), (1, 10)]
    """

    problems: List[Tuple[int, int, str, Optional[str]]] = []


class StepError(Error, RuntimeError):
    """A step failed; the state is as it was before the step.

    >>> import riprap as rr
    >>> scene = rr.SceneBuilder()
    >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
    >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=-1.0))
    Traceback (most recent call last):
        ...
    riprap.errors.StepError: the time step dt is -1, but must be positive, in seconds
    """


class FileError(Error, OSError):
    """A file cannot be read or written.

    >>> import riprap as rr
    >>> rr.State.from_bytes(b"text")
    Traceback (most recent call last):
        ...
    riprap.errors.FileError: this is not a stored state of riprap
    """


class HandleError(Error, LookupError):
    """A handle or name does not belong to the scene or mechanism.

    >>> import riprap as rr
    >>> first, second = rr.SceneBuilder(), rr.SceneBuilder()
    >>> ball = first.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
    >>> second.add_joint("ball", ball, None)
    Traceback (most recent call last):
        ...
    riprap.errors.HandleError: the body belongs to another scene
    """


class BusyError(Error, RuntimeError):
    """The simulation is used while a step is in progress, from one of its laws or from another thread.

    >>> import riprap as rr
    >>> arm = rr.Mechanism("arm")
    >>> link = arm.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)))
    >>> runs = []
    >>> arm.actuate(link, lambda t, q, v: runs[0].time if runs else 0.0)
    >>> scene = rr.SceneBuilder()
    >>> handle = scene.add_mechanism(arm)
    >>> runs.append(rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)))
    >>> try:
    ...     runs[0].step()
    ... except rr.BusyError:
    ...     print("busy")
    busy
    """
