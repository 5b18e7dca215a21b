"""Cohesion and static friction."""

from __future__ import annotations

from pathlib import Path

import pytest

import riprap as rr


def pulled(material: rr.Material, share: float) -> rr.Simulation:
    """A ball on a plane that is thrown upwards, without gravity."""
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.add_fixed(rr.Shape.half_space(), material=material)
    scene.add(rr.Body(rr.Shape.sphere(0.01), material, position=(0, 0, 0.01), velocity=(0, 0, share), name="ball"))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-5))


def test_a_ball_escapes_if_it_is_fast_enough() -> None:
    material = rr.Material("clay", density=2500.0, cohesion=0.05, cohesion_range=2e-4)
    mass = 2500.0 * 4 / 3 * 3.141592653589793 * 1e-6
    escape = (2 * 0.05 * 2e-4 / mass) ** 0.5
    for share, away in [(0.95, False), (1.05, True)]:
        run = pulled(material, share * escape)
        account = rr.EnergyAccount(run)
        run.until(0.1, observer=account.add)
        assert (run.body("ball").position[2] > 0.0105) == away
        if away:
            assert account.cohesion == pytest.approx(0.05 * 2e-4, rel=0.02)


def test_pairs_have_the_cohesion_of_the_weaker_side() -> None:
    clay = rr.Material("clay", density=2000.0, friction=0.3, static_friction=0.5, cohesion=0.2, cohesion_range=1e-3)
    wet = rr.Material("wet", density=2000.0, friction=0.4, cohesion=0.1, surface_energy=0.05)
    law = rr.PairLaw.combined(clay, wet)
    assert (law.cohesion, law.surface_energy, law.cohesion_range) == (0.1, 0.0, 1e-3)
    assert (law.friction, law.static_friction) == (0.3, 0.4)
    given = rr.PairLaw(friction=0.3, surface_energy=0.05)
    assert given.pull_off(2e-3) == pytest.approx(1.5 * 3.141592653589793 * 0.05 * 2e-3)


def test_scenes_with_cohesion_are_saved(tmp_path: Path) -> None:
    material = rr.Material("clay", density=2500.0, friction=0.3, static_friction=0.5, cohesion=0.05, cohesion_range=2e-4)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=material)
    scene.add(rr.Body(rr.Shape.sphere(0.01), material, position=(0, 0, 0.01), name="ball"))
    path = tmp_path / "scene.toml"
    scene.build().save(path, rr.MoreauJean(dt=1e-3), until=0.01)
    text = path.read_text()
    for line in ["static_friction = 0.5", "cohesion = 0.05", "cohesion_range = 0.0002"]:
        assert line in text


def test_bad_values_are_refused() -> None:
    for keys, says in [({"cohesion": -1.0}, "cohesion"), ({"friction": 0.5, "static_friction": 0.1}, "static friction")]:
        material = rr.Material("bad", density=1000.0, **keys)  # type: ignore[arg-type]
        with pytest.raises(rr.SceneError, match=says):
            pulled(material, 1.0)
