"""Unique contact forces, their statistics, and forces by Dantzig's algorithm."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import riprap as rr

FRAME = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
UNIT = np.eye(3).tolist()


def cube_on_slope(angle: float, friction: float = 0.5) -> rr.Simulation:
    """A cube of 8 kg on a slope, after a few steps."""
    rock = rr.Material("rock", density=1000.0, friction=friction)
    scene = rr.SceneBuilder(gravity=(9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)))
    scene.add_fixed(rr.Shape.half_space(), material=rock)
    scene.add(rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.2), rock, name="cube", position=(0, 0, 0.1)))
    scheme = rr.MoreauJean(dt=1e-3, solver=rr.Solver("gauss-seidel", tolerance=1e-12, approach_tolerance=1e-12))
    run = rr.Simulation(scene.build(), scheme)
    run.until(0.02)
    return run


@pytest.mark.parametrize("angle, slides", [(0.3, False), (0.6, True)])
def test_a_cube_at_rest_and_one_that_slides_have_the_forces_of_their_motion(angle: float, slides: bool) -> None:
    network = cube_on_slope(angle).force_network()
    weight = 8.0 * 9.81
    contacts = network.contacts()
    assert len(contacts) == 4 and network.converged and network.n_moving == int(slides)
    total = contacts["force"].sum(axis=0)
    assert total[2] == pytest.approx(weight * math.cos(angle), rel=1e-6)
    friction = 0.5 * total[2] if slides else weight * math.sin(angle)
    assert total[0] == pytest.approx(-friction, rel=1e-6)
    assert set(contacts["status"]) == {"sliding" if slides else "sticking"}
    assert network.counts == ((0, 0, 4) if slides else (0, 4, 0))
    # Friction acts half a cube below the centre: the lower edge carries more, its two contacts alike.
    share = 0.25 * (total[2] + np.sign(contacts["point"][:, 0]) * friction)
    assert np.allclose(contacts["force"][:, 2], share, atol=2e-3 * weight)


def test_what_cannot_rest_is_listed() -> None:
    run = cube_on_slope(0.6)
    network = run.force_network(resultant="rest")
    assert [name for name, _ in network.unbalanced] == ["cube"] and network.fastest > 0.01
    assert run.force_network(resultant="step").converged


@pytest.mark.parametrize("options", [{"law": "cubic"}, {"friction": "none"}, {"resultant": "all"}, {"view": "w"}])
def test_wrong_words_are_listed_with_the_right_ones(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"`{next(iter(options.values()))}`: "):
        cube_on_slope(0.3).force_network(**options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ratio"):
        cube_on_slope(0.3).force_network(ratio=-1.0)


def test_statistics_describe_a_crystal() -> None:
    """Discs on a square lattice touch along x and y, with the weight of those above along y."""
    rock = rr.Material("rock", density=1000.0, friction=0.5)
    scene = rr.SceneBuilder(planar=True)
    scene.add_fixed(rr.Shape.half_space((0, 1, 0)), material=rock)
    disc = rr.Shape.disc(0.05)
    for k in range(5):
        scene.add(rr.Body(disc, rock, position=(0, 0.05 + 0.1 * k, 0)))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(0.05)
    network = run.force_network()
    one = math.pi * 0.05**2 * 1000 * 9.81
    assert sorted(network.normal_forces() / one) == pytest.approx([1, 2, 3, 4, 5], rel=1e-6)
    distribution = network.distribution(width=0.5)
    assert distribution.count == 5 and distribution.mean == pytest.approx(3 * one, rel=1e-6)
    assert distribution.density.sum() * distribution.width == pytest.approx(1.0)
    fabric = network.fabric()
    assert fabric is not None and fabric.planar and fabric.anisotropy == pytest.approx(2.0)
    assert fabric.angle == pytest.approx(math.pi / 2) and fabric.values == pytest.approx([1, 0, 0])
    rose = network.rose(4)
    assert rose.mean() == pytest.approx(1.0) and rose.max() == pytest.approx(4.0)
    with pytest.raises(ValueError, match="planar"):
        cube_on_slope(0.3).force_network().rose()


SCENE = """
run = { dt = "1 ms", until = "0.2 s", checkpoint_every = "0.1 s", frames = false }
materials.rock = { density = 1000, friction = 0.5 }
[[body]]
kind = "fixed"
material = "rock"
shape = { type = "half-space" }
[[body]]
name = "lower"
material = "rock"
position = [0, 0, 0.1]
shape = { type = "box", size = [0.2, 0.2, 0.2] }
[[body]]
name = "upper"
material = "rock"
position = [0.02, 0, 0.3]
shape = { type = "box", size = [0.2, 0.2, 0.2] }
"""


def test_run_folders_have_the_network_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(SCENE)
    rr.run(tmp_path / "scene.toml", tmp_path / "out")
    network = rr.force_network(tmp_path / "out", write=True)
    for name in ("forces.csv", "force-chains.vtp", "force-chains.svg"):
        assert (tmp_path / "out" / name).stat().st_size > 100
    command = [sys.executable, "-m", "riprap", "forces", str(tmp_path / "out"), "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    distribution, fabric = network.distribution(), network.fabric()
    assert fabric is not None
    ours = {
        "t": network.time,
        "bodies": network.n_bodies,
        "moving": network.n_moving,
        "contacts": len(network.contacts()),
        "sticking": network.counts[1],
        "mean_normal_force": distribution.mean,
        "largest_normal_force": distribution.largest,
        "balance": network.residual,
        "solver_balance": network.solver_residual,
        "solver_distance": network.distance[0],
        "largest_difference": network.distance[1],
        "iterations": network.iterations,
    }
    assert {key: told[key] for key in ours} == ours
    assert told["fabric"]["anisotropy"] == fabric.anisotropy
    later = rr.force_network(tmp_path / "out", time=0.25)
    assert later.time == pytest.approx(0.251)
    with pytest.raises(ValueError, match="not stored"):
        rr.force_network(tmp_path / "out", time=0.01)
    with pytest.raises(rr.FileError, match="not the folder of a run"):
        rr.force_network(tmp_path)


def beam(supports: list[float], centre: float) -> rr.ContactProblem:
    """A beam of 3 kg on supports along x."""
    arms = [[[0.0, 0.0, 0.0], [x - centre, 0.0, 0.0]] for x in supports]
    n = len(supports)
    return rr.ContactProblem.factored(
        [1 / 3], [UNIT], [[-1, 0]] * n, [FRAME] * n, arms, np.zeros((n, 3)), [0.5] * n
    )


def test_a_beam_on_three_supports_has_the_forces_of_equal_springs() -> None:
    problem = beam([-1, 0, 1], 0.2)
    for method in ("newton", "relaxation"):
        found = rr.rest_forces(problem, [[0, 0, 30, 0, 0, 0]], method=method)
        assert found.converged and found.forces[:, 0] == pytest.approx([7, 10, 13])
        assert found.status == ["sticking"] * 3 and found.unbalanced == []
    soft = rr.rest_forces(problem, [[0, 0, 30, 0, 0, 0]], stiffness=[1.0, 1e-6, 1.0])
    assert soft.forces[:, 0] == pytest.approx([12, 0, 18], abs=1e-3)


def test_force_laws_may_be_callables_and_their_exceptions_are_raised() -> None:
    problem = beam([-1, 0, 1], 0.2)
    square = (lambda contact, xi: xi * xi, lambda contact, xi: 2.0 * xi)
    found = rr.rest_forces(problem, [[0, 0, 30, 0, 0, 0]], square)
    roots = np.sqrt(found.forces[:, 0])
    # Equilibrium, and deformations that belong to a rigid beam.
    assert found.forces[:, 0].sum() == pytest.approx(30) and roots[1] == pytest.approx(roots[[0, 2]].mean())
    with pytest.raises(ZeroDivisionError):
        rr.rest_forces(problem, [[0, 0, 30, 0, 0, 0]], (lambda contact, xi: 1 / 0, lambda contact, xi: 1.0))
    with pytest.raises(ValueError, match="two callables"):
        rr.rest_forces(problem, [[0, 0, 30, 0, 0, 0]], (1.0, 2.0))  # type: ignore[arg-type]


def test_wrong_lengths_are_errors() -> None:
    problem = beam([-1, 0, 1], 0.2)
    with pytest.raises(ValueError, match="2 resultants, but 1 are needed"):
        rr.rest_forces(problem, np.zeros((2, 6)))
    with pytest.raises(ValueError, match="weights"):
        rr.rest_forces(problem, np.zeros((1, 6)), weights=[1.0, 2.0])
    stored = rr.ContactProblem(np.eye(3), [[0, 0, 0]], [0.5])
    with pytest.raises(ValueError, match="factors"):
        rr.rest_forces(stored, np.zeros((1, 6)))


@pytest.mark.parametrize("angle, list_", [(0.3, "static"), (0.6, "sliding")])
def test_a_block_on_a_slope_sticks_below_the_angle_of_friction(angle: float, list_: str) -> None:
    b = [[-9.81 * math.cos(angle), -9.81 * math.sin(angle), 0.0]]
    solution = rr.dantzig(0.5 * np.eye(3), b, [0.5])
    normal = 2 * 9.81 * math.cos(angle)
    assert solution.outcome == "solved" and solution.classes == [list_] and solution.residual < 1e-10
    assert solution.forces[0, 0] == pytest.approx(normal)
    if list_ == "static":
        assert solution.forces[0, 1] == pytest.approx(2 * 9.81 * math.sin(angle))
    else:
        # The polyhedral cone is inscribed in the exact one.
        assert 0.5 * normal * math.cos(math.pi / 8) * (1 - 1e-9) <= solution.forces[0, 1] <= 0.5 * normal * (1 + 1e-9)
    again = rr.dantzig(0.5 * np.eye(3), b, [0.5], classes=solution.classes, forces=solution.forces)
    assert again.pivots[0] <= solution.pivots[0] and np.allclose(again.forces, solution.forces)


def test_contacts_break_and_slide_as_told() -> None:
    assert rr.dantzig(np.eye(3), [[1.0, 0, 0]], [0.3]).classes == ["breaking"]
    slides = rr.dantzig(np.eye(3), [[-1.0, 0, 0]], [0.3], sliding=[(0.0, 2.0)])
    assert slides.forces.tolist() == [pytest.approx([1.0, 0.0, 0.3])]
    # The operator of a simulation can be used directly.
    problem = cube_on_slope(0.3).contact_problem()
    free = np.tile([-1.0, 0, 0], (len(problem), 1))
    assert rr.dantzig(problem, free, [0.5] * len(problem)).residual < 1e-8
    for wrong in ([[1.0, 0, 0]] * 2, [[math.nan, 0, 0]]):
        with pytest.raises(ValueError):
            rr.dantzig(np.eye(3), wrong, [0.3])
    with pytest.raises(ValueError, match="facets"):
        rr.dantzig(np.eye(3), [[1.0, 0, 0]], [0.3], facets=3)


def test_factors_give_w_dense_and_sparse() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    pile = rr.Material("rock", density=1000.0, friction=0.5, rolling=1e-3)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=pile)
    for k in range(3):
        scene.add(rr.Body(rr.Shape.sphere(0.1), pile, position=(0, 0, 0.1 + 0.2 * k)))
    arm = rr.Mechanism("arm", position=(0.5, 0, 0.1))
    link = arm.revolute(rr.GROUND, axis="y", body=rr.Body(rr.Shape.sphere(0.1), pile, position=(0.5, 0, 0)), name="arm")
    scene.add_mechanism(arm)
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(0.01)
    problem = run.contact_problem()
    h, solved, w = problem.h(), problem.m_inverse_h(), problem.w()
    assert h.shape == (6 * problem.n_blocks, 3 * len(problem)) and len(problem) > 4
    assert np.allclose(h.T @ solved, w, atol=1e-12 * abs(w).max())
    assert sparse.issparse(problem.h_sparse()) and np.allclose(problem.h_sparse().toarray(), h)
    assert np.allclose(problem.m_inverse_h_sparse().toarray(), solved)
    assert np.allclose(problem.w_sparse().toarray(), w)
    impulses = problem.impulses
    assert impulses is not None
    # V = W I + V_free obeys the laws.
    velocities = (w @ impulses.ravel() + problem.v_free.ravel()).reshape(-1, 3)
    contacts = [k for k, law in enumerate(problem.laws) if law == "coulomb"]
    assert velocities[contacts, 0].min() > -1e-6
    assert link.index == 0
