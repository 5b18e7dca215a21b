"""Direct access: mechanisms, contact problems, runs; and handles of other scenes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, pendulum

import riprap as rr


def four_bar() -> tuple[rr.Mechanism, rr.Link]:
    mechanism = rr.Mechanism("four-bar")
    crank = mechanism.revolute(rr.GROUND, "z", body=rr.Body.rod((0, 1, 0), mass=1.0), name="crank")
    coupler = mechanism.revolute(crank, "z", (0, 1, 0), rr.Body.rod((2, 0, 0), mass=2.0), name="coupler")
    rocker = mechanism.revolute(rr.GROUND, "z", (2, 0, 0), rr.Body.rod((0, 1, 0), mass=1.0), name="rocker")
    mechanism.close_loop(coupler, rocker, rr.Cut.pin("z"), at_a=(2, 0, 0), at_b=(0, 1, 0))
    mechanism.start_velocity(crank, 1.0)
    return mechanism, coupler


def test_the_equations_of_a_pendulum() -> None:
    system = pendulum()[0].build(gravity=(0, 0, -10))
    assert system.mass_matrix([0.3]).tolist() == [[2.0]]
    # m g l sin φ, with the sign of a rotation about y.
    assert system.bias([0.3], [5.0])[0] == pytest.approx(20 * math.sin(0.3))
    assert system.acceleration([0.3], [0.0])[0] == pytest.approx(-10 * math.sin(0.3))
    kinetic, potential = system.energy([0.3], [2.0])
    assert kinetic == pytest.approx(4.0) and potential == pytest.approx(-20 * math.cos(0.3))
    arm = system.link_named("arm")
    jacobian = system.jacobian([0.0], arm, (0, 0, -1))
    assert np.allclose(jacobian[:, 0], [-1, 0, 0, 0, 1, 0])


def test_loops_close_and_their_gradient_is_a_derivative() -> None:
    mechanism, coupler = four_bar()
    system = mechanism.build()
    q, v = system.start()
    assert system.n_equations == 2 and np.abs(system.loop_residual(q)).max() < 1e-12
    gradient = system.loop_jacobian(q)
    assert gradient.shape == (2, 3) and np.abs(gradient @ v).max() < 1e-12
    step = 1e-6
    for k in range(3):
        moved = q.copy()
        moved[k] += step
        difference = (system.loop_residual(moved) - system.loop_residual(q)) / step
        # A forward difference of a smooth function: O(step).
        assert np.allclose(difference, gradient[:, k], atol=1e-5)
    independent, dependent = system.partition()
    assert len(independent) == 1 and sorted(independent + dependent) == sorted(system.coordinate_names)
    assert system.link_names == ["crank", "coupler", "rocker"]


def test_wrong_sizes_are_refused() -> None:
    mechanism, coupler = four_bar()
    system = mechanism.build()
    calls: list[Callable[[], object]] = [
        lambda: system.mass_matrix([0.0]),
        lambda: system.bias([0.0] * 3, [0.0] * 4),
        lambda: system.loop_residual([]),
        lambda: mechanism.coordinate(coupler, 1),
        lambda: mechanism.coordinate(rr.GROUND),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()


def test_handles_of_other_scenes_and_mechanisms_are_refused(
    steel: rr.Material, ball: tuple[rr.Scene, rr.BodyHandle], heap: tuple[rr.Scene, rr.GrainsHandle]
) -> None:
    run = rr.Simulation(heap[0], rr.MoreauJean(dt=1e-3))
    other, link = pendulum()
    mechanism, _ = four_bar()
    builder = rr.SceneBuilder()
    handle = builder.add_mechanism(mechanism)
    calls: list[Callable[[], object]] = [
        lambda: run.body(ball[1]),
        lambda: run.body("nobody"),
        lambda: run.grains("nothing"),
        lambda: run.mechanism(handle),
        lambda: run.joint(handle, link),
        lambda: mechanism.start(link, 0.0),
        lambda: mechanism.revolute(link, "z"),
        lambda: mechanism.start("nowhere", 0.0),
        lambda: builder.add_joint("ball", None, ball[1]),
        lambda: builder.ignore_contact((handle, link), None),
        lambda: mechanism.build().jacobian([0.0] * 3, link),
        lambda: heap[0].link("pendulum", "arm"),
    ]
    for call in calls:
        with pytest.raises(rr.HandleError):
            call()
    with pytest.raises(IndexError):
        heap[1][40]
    assert heap[1][-1].index == heap[0].n_bodies - 1


def test_the_contact_problem_of_a_step_is_solved_again(heap: tuple[rr.Scene, rr.GrainsHandle], tmp_path: Path) -> None:
    run = rr.Simulation(heap[0], rr.MoreauJean(dt=1e-3, solver=rr.Solver(tolerance=1e-8)))
    run.until(0.45)
    problem = run.contact_problem()
    n = len(problem)
    assert n > 20 and problem.v_free.shape == (n, 3) and problem.friction.tolist() == [0.3] * n
    w = problem.w()
    assert np.allclose(w, w.T) and np.linalg.eigvalsh(w).min() > -1e-9
    sparse = pytest.importorskip("scipy.sparse")
    assert sparse.issparse(problem.w_sparse()) and np.array_equal(problem.w_sparse().toarray(), w)
    own = problem.impulses
    assert own is not None and problem.residual(own) < 1e-6
    problem.write(tmp_path / "problem.hdf5", impulses=own)
    read = rr.ContactProblem.read(tmp_path / "problem.hdf5")
    assert len(read) == n and np.allclose(read.w(), w)
    assert read.impulses is not None and np.array_equal(read.impulses, own)
    velocity = w @ own.ravel() + problem.v_free.ravel()
    for name in ["auto", "anderson", "gauss-seidel", "conjugate-gradient"]:
        solution = rr.solve(read, name, tolerance=1e-6)
        assert solution.report.converged and read.residual(solution.impulses) <= 1e-6
    solved = w @ rr.solve(problem, tolerance=1e-10, max_sweeps=200_000, start=own).impulses.ravel() + problem.v_free.ravel()
    # Velocities of a solution are nearly unique; impulses are not.
    assert np.abs(solved - velocity).max() < 1e-3


def test_cone_problems_have_their_own_solvers() -> None:
    w, v_free, friction = 0.5 * np.eye(3), [[-1.0, 2.0, 0.0]], [0.5]
    problem = rr.ContactProblem(w, v_free, friction, law="cone")
    solutions = [rr.solve(problem, name, tolerance=1e-9).impulses for name in ["auto", "barzilai-borwein", "interior-point"]]
    assert np.allclose(solutions[0], solutions[1], atol=1e-6) and np.allclose(solutions[0], solutions[2], atol=1e-6)
    with pytest.raises(ValueError, match="apgd"):
        rr.solve(problem, "anderson")
    with pytest.raises(ValueError, match="friction law"):
        rr.solve(rr.ContactProblem(w, v_free, friction), rr.Solver("apgd"))


@pytest.mark.parametrize(
    "w, v_free, friction",
    [
        (np.eye(2), [[0, 0, 0]], [0.1]),
        (np.eye(3), [[0, 0, 0]], []),
        (np.eye(3), [[0, 0, 0]], [-0.1]),
        (np.full((3, 3), np.nan), [[0, 0, 0]], [0.1]),
        (np.eye(3), [[0, 0]], [0.1]),
        ("text", [[0, 0, 0]], [0.1]),
    ],
)
def test_impossible_problems_are_refused(w: object, v_free: object, friction: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        rr.ContactProblem(w, v_free, friction)  # type: ignore[arg-type]


def test_files_that_are_not_problems_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.hdf5").write_bytes(b"not a file")
    with pytest.raises(rr.FileError, match="x.hdf5"):
        rr.ContactProblem.read(tmp_path / "x.hdf5")


def test_a_run_writes_its_folder(tmp_path: Path) -> None:
    scene = ROOT / "examples/bouncing-ball/scene.toml"
    summary = rr.run(scene, tmp_path / "out", until=0.1)
    assert summary.ending == "finished" and summary.time == pytest.approx(0.1) and summary.report.steps == 100
    assert (tmp_path / "out/series.csv").is_file() and summary.folder == tmp_path / "out"
    assert json.loads((tmp_path / "out/summary.json").read_text())
    with pytest.raises(rr.FileError):
        rr.run(scene, tmp_path / "out", until=0.1)
    rr.run(scene, tmp_path / "out", until=0.1, overwrite=True)
    with pytest.raises(ValueError, match="first step"):
        rr.run(scene, tmp_path / "other", until=1e-9)
    with pytest.raises(rr.SceneError):
        rr.run(tmp_path / "missing.toml", tmp_path / "other")


def test_shapes_have_distances_and_contact_points() -> None:
    brick, ball = rr.Shape.cuboid(0.2, 0.1, 0.05), rr.Shape.sphere(0.1)
    assert ball.distance(ball, other_pose=rr.Pose((0.5, 0, 0))) == pytest.approx(0.3)
    assert ball.distance(ball, other_pose=rr.Pose((0.15, 0, 0))) == pytest.approx(-0.05)
    # A capsule and a cylinder on their sides, a cylinder on end, above a floor.
    floor, lying = rr.Shape.half_space(), rr.Pose((0, 0, 0.3), rr.Rotation("x", np.pi / 2))
    capsule, cylinder = rr.Shape.capsule(0.1, 0.5), rr.Shape.cylinder(0.1, 0.5)
    assert floor.distance(capsule, other_pose=lying) == pytest.approx(0.2)
    assert len(floor.manifold(capsule, other_pose=lying, alert=0.3)) == 2
    assert len(floor.manifold(cylinder, other_pose=lying, alert=0.3)) == 2
    assert len(floor.manifold(cylinder, other_pose=rr.Pose((0, 0, 0.3)), alert=0.1)) == 4
    assert capsule.distance(cylinder, other_pose=rr.Pose((0, 0.5, 0))) == pytest.approx(0.3)
    # A corner above a floor, and far away from a brick: distances of points.
    tilted = rr.Pose((0, 0, 1), rr.Rotation("y", 0.3))
    corner = 1 - (0.1 * np.sin(0.3) + 0.025 * np.cos(0.3))
    assert rr.Shape.half_space().distance(brick, other_pose=tilted) == pytest.approx(corner)
    assert brick.distance(brick, other_pose=rr.Pose((3, 4, 0))) == pytest.approx(np.hypot(2.8, 3.9), rel=1e-6)
    above = rr.Pose((0.05, 0, 0.06))
    points = brick.manifold(brick, other_pose=above, alert=0.02)
    assert len(points) == 4 and np.allclose(points["gap"], 0.01) and np.allclose(points["normal"], (0, 0, 1))
    assert points["point"][:, 0].min() == pytest.approx(-0.05) and points["point"][:, 0].max() == pytest.approx(0.1)
    assert np.allclose(points["point"][:, 2], 0.03) and len(set(points["feature"])) == 4
    assert len(brick.manifold(brick, other_pose=above)) == 0
    reversed_ = brick.manifold(brick, above, alert=0.02)
    assert np.allclose(reversed_["normal"], (0, 0, -1))
    pair = rr.Shape.compound([(rr.Pose((-1, 0, 0)), ball), (rr.Pose((1, 0, 0)), ball)])
    both = pair.manifold(rr.Shape.half_space(), rr.Pose((0, 0, 0.1)), alert=1e-9)
    assert both["parts"].tolist() == [[0, 0], [1, 0]] and np.allclose(both["normal"], (0, 0, -1))
    with pytest.raises(ValueError, match="half-spaces"):
        rr.Shape.half_space().distance(rr.Shape.half_space())
    with pytest.raises(ValueError, match="planar"):
        ball.distance(rr.Shape.polygon([(0, 0), (1, 0), (0, 1)]))
    halves = brick.split("x", (0.05, 0, 0))
    assert sum(half.volume for half in halves) == pytest.approx(brick.volume)
    assert ball.sieve_size == pytest.approx(0.2) and brick.sieve_size == pytest.approx(0.1, rel=0.5)


def test_meshes_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "corner.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    assert rr.Shape.from_file(path).volume == pytest.approx(1 / 6)
    assert rr.Shape.from_file(path, scale=0.1, max_parts=4).volume == pytest.approx(1e-3 / 6, rel=1e-6)
    with pytest.raises(rr.FileError, match="extension"):
        rr.Shape.from_file(tmp_path / "corner.txt")
    with pytest.raises(rr.FileError, match="none.stl"):
        rr.Shape.from_file(tmp_path / "none.stl")
    with pytest.raises(ValueError, match="scale"):
        rr.Shape.from_file(path, scale=0.0)


def test_analyses_of_a_pendulum_have_closed_forms() -> None:
    pendulum = rr.Mechanism("pendulum")
    arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
    pendulum.spring(arm, stiffness=5.0, damping=0.4)
    pendulum.start(arm, 0.5)
    system = pendulum.build()
    found = system.equilibrium()
    assert found.q == pytest.approx([0.0], abs=1e-9) and found.stability == "stable" and found.coordinate is None
    modes = system.modes(found.q, [0.0])
    stiffness = 5.0 + 2.0 * 9.81
    assert modes.stiffness.tolist() == [pytest.approx([stiffness], rel=1e-6)] and modes.mass.tolist() == [pytest.approx([2.0])]
    assert modes.frequencies == pytest.approx([np.sqrt(stiffness / 2) / (2 * np.pi)], rel=1e-6)
    assert modes.damping_ratios == pytest.approx([0.4 / (2 * np.sqrt(stiffness * 2))], rel=1e-5)
    assert modes.poles.dtype == np.complex128 and modes.shapes.shape == (1, 1) and len(modes) == 1
    force = system.inverse_dynamics([0.5], [0.0], [2.0])
    assert force == pytest.approx([2.0 * 2.0 + 2.0 * 9.81 * np.sin(0.5)])
    upside = rr.Mechanism("up")
    top = upside.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, 1)), name="top")
    upside.start(top, 0.0)
    assert upside.build().equilibrium([0.0]).stability == "unstable"
    with pytest.raises(rr.HandleError):
        system.modes(hold=["leg"])
    with pytest.raises(rr.StepError, match="are free"):
        system.follow([0.0, 1.0])
