"""Stored contact problems: all solvers by name, limits, files, and the same results as the command."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import riprap as rr

COULOMB = [
    "auto", "accurate", "anderson", "coloured", "conjugate-gradient", "gauss-seidel", "newton", "proximal", "admm",
    "alternating-directions",
    "exact-interior-point",
]  # fmt: skip
CONE = [
    "auto", "apgd", "barzilai-borwein", "gauss-seidel", "projected-gauss-seidel", "jacobi", "projected-jacobi", "admm",
    "interior-point",
]  # fmt: skip


@pytest.fixture(scope="module")
def problem() -> rr.ContactProblem:
    """The contacts of forty spheres that have fallen into a box."""
    steel = rr.Material("steel", density=7800.0, friction=0.3)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.open_box(0.3, 0.3, 0.3), material=steel)
    inside = ((-0.15, -0.15, 0.0), (0.15, 0.15, 1.0))
    scene.add_grains(rr.Grains.spheres(40, radius=(0.02, 0.03), material=steel, seed=3, inside=inside))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3, solver=rr.Solver(tolerance=1e-8)))
    run.until(0.45)
    return run.contact_problem()


def velocities(problem: rr.ContactProblem, solution: rr.Solution) -> NDArray[np.float64]:
    found: NDArray[np.float64] = problem.w() @ solution.impulses.ravel() + problem.v_free.ravel()
    return found


@pytest.mark.parametrize("law, name", [("coulomb", name) for name in COULOMB] + [("cone", name) for name in CONE])
def test_every_solver_solves_the_problems_of_its_law(problem: rr.ContactProblem, law: str, name: str) -> None:
    posed = problem.with_law(law)
    assert set(posed.laws) == {law} and len(posed) == len(problem) > 20
    solution = rr.solve(posed, name, tolerance=1e-6)
    assert solution.report.converged and posed.residual(solution.impulses) <= 1e-6
    best = rr.solve(posed, tolerance=1e-10)
    # Velocities of a solution are nearly unique; the residual is relative to the largest of them, of some m/s.
    assert np.abs(velocities(posed, solution) - velocities(posed, best)).max() < 1e-3
    if law == "coulomb":
        assert solution.objective is None
    else:
        assert solution.objective is not None and best.objective is not None
        assert solution.objective == pytest.approx(best.objective, rel=1e-4)
        assert posed.objective(solution.impulses) == solution.objective


def test_dantzig_solves_a_contact_in_the_plane() -> None:
    plane = rr.ContactProblem(np.eye(3), [[-1.0, 0.2, 0.0]], [0.5])
    solution = rr.solve(plane, "dantzig")
    assert solution.report.converged and np.allclose(solution.impulses, [[1.0, -0.2, 0.0]], atol=1e-12)


@pytest.mark.parametrize("name", ["auto", "anderson", "gauss-seidel", "conjugate-gradient", "newton", "proximal", "admm"])
def test_results_are_those_of_the_command(problem: rr.ContactProblem, name: str, tmp_path: Path) -> None:
    path, solved = tmp_path / "problem.hdf5", tmp_path / "solved.hdf5"
    problem.write(path, title="spheres", description="in a box")
    command = [sys.executable, "-m", "riprap", "solve", str(path), "--solver", name, "--tol", "1e-6", "--repeat", "1", "--json"]
    done = subprocess.run([*command, "--write-solution", str(solved)], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    read = rr.ContactProblem.read(path)
    assert read.info == {"title": "spheres", "description": "in a box", "math_info": "", "form": "local"}
    ours = rr.solve(read, name, tolerance=1e-6)
    theirs = rr.ContactProblem.read(solved).impulses
    assert theirs is not None and np.array_equal(ours.impulses, theirs)
    assert ours.report.sweeps == told["iterations"] and read.residual(ours.impulses) == told["residual"]
    # The same file from Python.
    read.write_solution(tmp_path / "ours.hdf5", ours.impulses)
    assert (tmp_path / "ours.hdf5").read_bytes() == solved.read_bytes()


def test_limits_of_sweeps_are_those_of_the_command() -> None:
    for name in ["anderson", "accurate", "newton", "proximal", "alternating-directions", "exact-interior-point"]:
        assert rr.Solver(name, stored=True).max_sweeps == 1_000_000
    for name in ["coloured", "conjugate-gradient", "gauss-seidel", "apgd", "admm"]:
        assert rr.Solver(name, stored=True).max_sweeps == 200_000
    assert rr.Solver(name).max_sweeps == 5000


@pytest.mark.parametrize("law, name", [("coulomb", "auto"), ("coulomb", "newton"), ("coulomb", "gauss-seidel"), ("cone", "apgd")])
def test_a_solve_gives_up_in_time(problem: rr.ContactProblem, law: str, name: str) -> None:
    begin = time.perf_counter()
    # No double is that accurate.
    solution = rr.solve(problem.with_law(law), name, tolerance=1e-30, time_limit=0.2, max_sweeps=10**9)
    assert not solution.report.converged and time.perf_counter() - begin < 30.0
    assert np.isfinite(solution.impulses).all() and solution.report.sweeps > 0


def test_the_residual_is_relative_to_what_was_asked_for(problem: rr.ContactProblem) -> None:
    solution = rr.solve(problem, "gauss-seidel", tolerance=1e-5, measure="impulses")
    assert solution.report.converged and problem.residual(solution.impulses, measure="impulses") <= 1e-5
    assert problem.residual(solution.impulses) != problem.residual(solution.impulses, measure="impulses")
    report = solution.report
    assert report.decided_by == "tolerance" and report.velocity_change_rms <= report.velocity_change_max


def test_problems_in_the_text_format_of_siconos(problem: rr.ContactProblem, tmp_path: Path) -> None:
    problem.write_dat(tmp_path / "problem.dat")
    read = rr.ContactProblem.read(tmp_path / "problem.dat")
    assert np.array_equal(read.v_free, problem.v_free) and np.array_equal(read.w(), problem.w())
    assert read.guesses == [] and read.impulses is None and problem.info == {}
    with pytest.raises(rr.FileError, match="Coulomb"):
        problem.with_law("cone").write_dat(tmp_path / "cone.dat")


def test_what_does_not_fit_is_refused(problem: rr.ContactProblem, tmp_path: Path) -> None:
    for wrong in [{"tolerance": 1e-8}, {"max_sweeps": 10}, {"measure": "all"}]:
        with pytest.raises(ValueError, match="own criteria"):
            rr.solve(problem, rr.Solver(), **wrong)  # type: ignore[arg-type]
    for value in [0.0, -1.0, float("nan")]:
        with pytest.raises(ValueError, match="time_limit"):
            rr.solve(problem, time_limit=value)
    with pytest.raises(ValueError, match="no measure `free`: all, impulses"):
        rr.solve(problem, measure="free")
    with pytest.raises(ValueError, match="no law `glue`"):
        problem.with_law("glue")
    with pytest.raises(ValueError, match="not read from a file"):
        problem.write_solution(tmp_path / "x.hdf5", np.zeros((len(problem), 3)))
    with pytest.raises(ValueError, match="have an objective"):
        problem.objective(np.zeros((len(problem), 3)))
