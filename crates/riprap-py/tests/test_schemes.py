"""Schemes: events, accounts of energy, settling, and options that contradict each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import riprap as rr


def bouncing(scheme: rr.Scheme, restitution: float = 0.8) -> tuple[rr.Simulation, rr.BodyHandle]:
    rubber = rr.Material("rubber", density=1100.0, restitution=restitution)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=rubber)
    ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rubber, position=(0, 0, 1.1)))
    return rr.Simulation(scene.build(), scheme), ball


@pytest.mark.parametrize("control", ["root-finding", "halving"])
def test_events_find_the_time_of_an_impact(control: str) -> None:
    scheme = rr.RigidEvents(dt=0.02, step_control=control, dt_min=1e-10 if control == "halving" else None)
    run, ball = bouncing(scheme)
    run.until(0.5)
    fall = math.sqrt(2.0 / 9.81)
    since = 0.5 - fall
    height = 0.1 + 0.8 * 9.81 * fall * since - 0.5 * 9.81 * since**2
    assert run.body(ball).position[2] == pytest.approx(height, abs=1e-7)
    assert run.events.collisions == 1 and run.time == 0.5
    assert (run.events.halvings > 10) == (control == "halving")


def test_events_stop_a_sliding_block_exactly() -> None:
    steel = rr.Material("steel", density=7800.0, friction=0.3)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=steel)
    box = scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), steel, position=(0, 0, 0.05), velocity=(1, 0, 0)))
    run = rr.Simulation(scene.build(), rr.RigidEvents(dt=0.01, facets=16))
    account = rr.EnergyAccount(run)
    run.until(0.5, observer=account.add)
    assert run.body(box).position[0] == pytest.approx(1 / (2 * 0.3 * 9.81), abs=1e-7)
    assert account.friction == pytest.approx(3.9, rel=1e-6) and account.initial == pytest.approx(account.potential + 3.9)
    assert run.events.stops >= 1


@pytest.mark.parametrize("options", [{"step_control": "bisect"}, {"collision_friction": "some"}, {"facets": 5}])
def test_words_and_facets_are_checked(options: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        rr.RigidEvents(dt=0.01, **options)  # type: ignore[arg-type]


def test_numbers_are_checked_by_the_simulation() -> None:
    for scheme in (rr.RigidEvents(dt=0.01, gap_tolerance=1.0), rr.RigidEvents(dt=0.01, dt_min=1.0), rr.MoreauJean(dt=-1.0)):
        with pytest.raises(rr.StepError):
            bouncing(scheme)


def test_the_account_of_an_impact_is_what_restitution_takes() -> None:
    run, ball = bouncing(rr.MoreauJean(dt=1e-4))
    account, count = rr.EnergyAccount(run), rr.ContactCount()

    def observe(frame: rr.Simulation) -> None:
        account.add(frame)
        count.add(frame)

    run.until(0.6, observer=observe)
    energy = run.body(ball).mass * 9.81 * 1.0
    assert account.impact == pytest.approx((1 - 0.8**2) * energy, rel=1e-3)
    assert account.dissipated == account.impact + account.friction and count.onsets == 1
    balance = run.balance()
    assert account.kinetic == balance.kinetic and account.potential == balance.potential
    assert account.kinetic + account.potential + account.dissipated == pytest.approx(account.initial + account.other)


def test_an_account_of_another_simulation_is_no_crash() -> None:
    first, _ = bouncing(rr.MoreauJean(dt=1e-3))
    second, _ = bouncing(rr.RigidEvents(dt=1e-3))
    account = rr.EnergyAccount(first)
    second.until(0.1)
    account.add(second)
    assert account.kinetic == second.balance().kinetic


def bed(settle: rr.Settle | None) -> rr.SceneBuilder:
    rock = rr.Material("rock", density=2700.0, friction=0.6)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.open_box(0.2, 0.2, 0.3), material=rock, name="box")
    scene.add(rr.Body(rr.Shape.sphere(0.03), rock, name="tool", position=(0, 0, 2)))
    inside = ((-0.1, -0.1, 0.0), (0.1, 0.1, 1.0))
    scene.add_grains(rr.Grains.stones(15, grading=(0.03, 0.05), material=rock, seed=4, inside=inside, settle=settle))
    return scene


def test_grains_settle_before_the_start_and_everything_else_waits() -> None:
    settle = rr.Settle(speed=0.05, at_most=2.0, drag=10.0)
    scheme = rr.MoreauJean(dt=1e-3)
    scene = bed(settle).build()
    run = rr.Simulation(scene, scheme)
    assert run.time == 0.0 and abs(run.velocities).max() < 0.05
    assert run.body("tool").position.tolist() == [0, 0, 2]
    falling = rr.Simulation(scene, scheme, settle=False)
    assert run.grains("grains").positions[:, 2].mean() < falling.grains("grains").positions[:, 2].mean()
    # As in a scene file.
    read = rr.Simulation(rr.Scene.from_toml_str(scene.to_toml(scheme, until=1.0)))
    assert read.state == run.state


def test_cone_complementarity_settles_with_coulombs_law() -> None:
    scene = bed(rr.Settle(speed=0.05, at_most=0.5, drag=10.0)).build()
    run = rr.Simulation(scene, rr.ConeComplementarity(dt=1e-3))
    assert np.isfinite(run.positions).all()


@pytest.mark.parametrize("options", [{"speed": 0.0}, {"at_most": -1.0}, {"drag": math.nan}])
def test_settling_needs_positive_numbers(options: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        rr.Settle(**options)


def test_relaxation_belongs_to_projected_methods() -> None:
    solver = rr.Solver("projected-jacobi", omega=0.2, relaxation=0.9)
    run, _ = bouncing(rr.ConeComplementarity(dt=1e-3, solver=solver), restitution=0.0)
    run.until(0.5)
    with pytest.raises(ValueError, match="does not use omega"):
        rr.Solver("apgd", omega=0.5)
