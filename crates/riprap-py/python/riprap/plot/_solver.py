"""Plots of solvers: the residual over the sweeps of one contact problem, and residuals and sweeps over the time of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .._riprap import ContactProblem, solve
from ..series import Series
from ._source import Source, axes, series_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["convergence", "residual_history", "residuals"]


def residual_history(
    problem: ContactProblem, solver: str = "auto", *, tolerance: float = 1e-8, max_sweeps: int = 10_000, factor: float = 1.3
) -> Tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of sweeps, and the residual [–] that a solver reaches with them, from zero impulses.

    Each point is a solve of its own with a limit on the sweeps, which grows by `factor` until the residual is below `tolerance`
    or the limit is `max_sweeps`; residuals are those of `ContactProblem.residual`. The whole history thus costs about
    factor / (factor − 1) times the last solve.

    >>> import riprap as rr
    >>> one = rr.ContactProblem([[1, 0, 0], [0, 1, 0], [0, 0, 1]], v_free=[[-1.0, 0.5, 0.0]], friction=[0.3])
    >>> sweeps, residual = rr.plot.residual_history(one, "gauss-seidel")
    >>> bool(residual[-1] < 1e-8)
    True
    """
    if not factor > 1:
        raise ValueError(f"factor must be greater than 1, not {factor}")
    sweeps: List[int] = [0]
    residual: List[float] = [problem.residual(np.zeros((len(problem), 3)))]
    limit = 1
    while residual[-1] > tolerance and sweeps[-1] < max_sweeps:
        solution = solve(problem, solver, tolerance=tolerance, max_sweeps=limit)
        done = int(solution.report.sweeps)
        if done <= sweeps[-1] and solution.report.converged:
            break
        sweeps.append(max(done, sweeps[-1] + 1))
        residual.append(problem.residual(solution.impulses))
        limit = min(max(limit + 1, int(limit * factor)), max_sweeps)
    return np.array(sweeps, dtype=np.int64), np.array(residual)


def convergence(
    problem: ContactProblem,
    solvers: Union[str, Sequence[str]] = ("gauss-seidel", "anderson"),
    *,
    tolerance: float = 1e-8,
    max_sweeps: int = 10_000,
    ax: Optional[Axes] = None,
) -> Axes:
    """Plots the residual [–] of solvers over their sweeps, for one contact problem, such as that of a step or of a file.

    >>> import riprap as rr
    >>> one = rr.ContactProblem([[1, 0, 0], [0, 1, 0], [0, 0, 1]], v_free=[[-1.0, 0.5, 0.0]], friction=[0.3])
    >>> rr.plot.convergence(one, "gauss-seidel").get_ylabel()
    'residual [–]'
    """
    ax = axes(ax, "convergence")
    for name in [solvers] if isinstance(solvers, str) else solvers:
        sweeps, residual = residual_history(problem, name, tolerance=tolerance, max_sweeps=max_sweeps)
        ax.plot(sweeps, residual, ".-", label=name)
    ax.axhline(tolerance, color="0.5", linewidth=0.8, linestyle="--", label="tolerance")
    ax.set_xscale("symlog", linthresh=10)
    ax.set_xlim(left=0)
    ax.set_yscale("log")
    ax.set_xlabel("sweeps [–]")
    ax.set_ylabel("residual [–]")
    ax.set_title(f"{len(problem)} contacts")
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def residuals(source: Union[Source, Series], *, ax: Optional[Axes] = None) -> Axes:
    """Plots the largest residual [–] of the solver since the previous row of a run over time [s], with its sweeps on the right.

    >>> import riprap as rr
    >>> columns = {"time [s]": [0.0, 0.1], "residual [-]": [0.0, 1e-4], "sweeps [-]": [0, 12]}
    >>> rr.plot.residuals(rr.Series(columns)).get_ylabel()
    'residual [–]'
    """
    data = series_of(source)
    ax = axes(ax, "residuals")
    # Rows without contacts have no residual.
    shown = np.where(data["residual"] > 0, data["residual"], np.nan)
    ax.semilogy(data.time, shown, ".-", markersize=3, label="residual")
    ax.set_xlabel("time [s]")
    ax.set_ylabel("residual [–]")
    ax.grid(alpha=0.3)
    right: Any = ax.twinx()
    right.plot(data.time, data["sweeps"], color="C1", linewidth=0.8, label="sweeps")
    right.set_ylabel("sweeps of the slowest step [–]")
    right.set_ylim(bottom=0)
    ax.legend(handles=[*ax.lines, *right.lines])
    return ax
