"""Measures of packings, passed mass and impacts, compared with closed forms as in the validation case `measures`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import riprap as rr

G = 9.81
SMOOTH = rr.Material("smooth", density=2500.0)


def simulation(scene: rr.SceneBuilder, dt: float = 1e-3) -> rr.Simulation:
    solver = rr.Solver("gauss-seidel", tolerance=1e-12, velocity_change_tolerance=1e-12, max_velocity_change_tolerance=1e-12)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=dt, solver=solver))


def test_a_column_bears_the_mean_weight_above() -> None:
    n, side = 10, 0.2
    scene = rr.SceneBuilder(gravity=(0, 0, -G))
    scene.add_fixed(rr.Shape.half_space(), material=SMOOTH)
    for k in range(n):
        scene.add(rr.Body(rr.Shape.cuboid(side, side, side), SMOOTH, position=(0, 0, side * (k + 0.5))))
    run = simulation(scene)
    run.until(0.01)
    mass, half = 2500.0 * side**3, 0.5 * side + 1e-3
    for low, high in [(0, n), (0, 1), (n // 2, n)]:
        measures = run.measures(((-half, -half, side * low), (half, half, side * high)))
        stress = measures.stress
        assert stress is not None and measures.pressure == pytest.approx(np.trace(stress) / 3)
        expected = (n - 0.5 * (low + high)) * mass * G / (4 * half**2)
        # The tolerance of the solver, summed over ten contacts.
        assert stress[2, 2] == pytest.approx(expected, rel=1e-6) and abs(stress[0, 0]) < 1e-6 * expected
    forces = run.measures().normal_forces
    assert forces.distribution.count == n and forces.distribution.mean == pytest.approx(5.5 * mass * G, rel=1e-6)
    # (Σk)²/(10 Σk²), and 9.1 weights for k = 1 … 10.
    assert forces.participation == pytest.approx(3025 / 3850, rel=1e-6)
    assert forces.percentile_90 == pytest.approx(9.1 * mass * G, rel=1e-6)
    fabric = run.measures().fabric
    assert fabric is not None and fabric.anisotropy == pytest.approx(5.0, rel=1e-12)


def test_a_cubic_crystal_has_six_neighbours_and_an_isotropic_fabric() -> None:
    a = 0.2
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    for k in range(64):
        scene.add(rr.Body(rr.Shape.sphere(0.1), SMOOTH, position=(a * (k % 4), a * (k // 4 % 4), a * (k // 16))))
    run = simulation(scene)
    run.step()
    everything, inside = run.measures(), run.measures(([0.15] * 3, [0.45] * 3))
    assert everything.coordination_all == 4.5 and everything.rattlers == 0.0 and inside.coordination == 6.0
    assert everything.stress is None and everything.solid_fraction is None and everything.pressure is None
    # Without gravity nothing is up, and nothing presses.
    assert everything.slope is None and everything.segregation is None and everything.normal_forces.distribution.count == 0
    fabric = everything.fabric
    assert fabric is not None and np.allclose(fabric.tensor, np.eye(3) / 3, atol=1e-13)
    cell = run.measures(([0.2] * 3, [0.4] * 3))
    # The error of the integrals.
    assert cell.solid_fraction == pytest.approx(math.pi / 6, abs=1e-12) and cell.time == run.time


def test_a_periodic_cell_is_everything() -> None:
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.periodic(x=(0, 1), y=(0, 1), z=(0, 1))
    scene.add(rr.Body(rr.Shape.sphere(0.3), SMOOTH, position=(0, 0, 0)))
    run = simulation(scene)
    for region in [None, "all"]:
        solid = run.measures(region).solid_fraction  # type: ignore[arg-type]
        assert solid == pytest.approx(4 / 3 * math.pi * 0.3**3, abs=1e-12)


def test_the_slope_of_a_layer_and_its_segregation() -> None:
    slope, turn = 0.5, 0.3
    scene = rr.SceneBuilder(gravity=(0, 0, -G))
    for k in range(64):
        x, y = 0.4 * (k % 8) + 0.01, 0.4 * (k // 8) + 0.01
        z = -math.tan(slope) * (x * math.cos(turn) + y * math.sin(turn))
        scene.add(rr.Body(rr.Shape.sphere(0.1), SMOOTH, position=(x, y, z)))
    found = simulation(scene).measures().slope
    assert found is not None and found.angle == pytest.approx(slope, abs=1e-12)
    assert found.direction == pytest.approx(turn, abs=1e-12)
    assert np.allclose(found.descent, [math.cos(turn), math.sin(turn), 0], atol=1e-12)
    sorted_by_size = rr.SceneBuilder(gravity=(0, 0, -G))
    for k in range(1, 5):
        sorted_by_size.add(rr.Body(rr.Shape.sphere(0.01 * k), SMOOTH, position=(0, 0, k)))
    assert simulation(sorted_by_size).measures().segregation == pytest.approx(1.0, abs=1e-14)


def test_mass_counts_with_its_sign_when_it_passes_a_plane_or_a_disc() -> None:
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    for x, u in [(0.0, -1.0), (2.0, -1.0), (0.4, 1.0)]:
        scene.add(rr.Body(rr.Shape.sphere(0.1), SMOOTH, mass=3.0, position=(x, 0, -0.05 * u), velocity=(0, 0, u)))
    run = simulation(scene, dt=1e-2)
    flows = [rr.Flow(normal="-z", radius=radius) for radius in (math.inf, 1.0, 0.3)]

    def add(run: rr.Simulation) -> None:
        for flow in flows:
            flow.add(run)

    run.until(0.1, observer=add)
    # Two fall and one rises; one falls beyond the disc of 1 m, only one passes that of 0.3 m.
    assert [flow.mass for flow in flows] == [3.0, 0.0, 3.0]


def test_an_impact_has_its_speed_and_impulse() -> None:
    rubber = rr.Material("rubber", density=2500.0, restitution=0.5)
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.add_fixed(rr.Shape.half_space(), material=rubber)
    ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rubber, mass=2.0, position=(0, 0, 0.2), velocity=(1, 0, -3)))
    run = simulation(scene)
    seen: list[Any] = []
    for _ in range(100):
        run.step()
        seen.extend(run.impacts(0.1))
    (hit,) = seen
    # Round-off and the tolerance of the solver.
    assert hit["speed"] == pytest.approx(3.0, abs=1e-12) and hit["impulse"] == pytest.approx(9.0, abs=1e-10)
    assert hit["bodies"].tolist() == [0, ball.index] and hit["point"][2] == pytest.approx(0.0, abs=5e-3)


def test_impossible_regions_and_planes_are_refused(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = rr.Simulation(ball[0], rr.MoreauJean(dt=1e-3))
    for region in ["box", 3.0, ((0, 0, 0), (1, 1)), ((0, 0, 0), (1, -1, 1)), ((0, 0, 0), (1, math.nan, 1))]:
        with pytest.raises(ValueError):
            run.measures(region)  # type: ignore[arg-type]
    for radius in [0.0, -1.0, math.nan]:
        with pytest.raises(ValueError):
            rr.Flow(normal="z", radius=radius)
    with pytest.raises(ValueError):
        rr.Flow(normal=(0, 0, 0))
    with pytest.raises(ValueError):
        run.impacts(-1.0)
    nowhere = run.measures(((9, 9, 9), (10, 10, 10)))
    assert math.isnan(nowhere.coordination) and math.isnan(nowhere.rattlers) and nowhere.solid_fraction == 0.0
