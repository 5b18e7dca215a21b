"""Stones that break and wear: pieces, dust, handles, sieve curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import riprap as rr

BRITTLE = rr.Fragmentation(stress=1e5, smallest=0.02)


def press(fragmentation: rr.Fragmentation | None = BRITTLE, wear: rr.Wear | None = None) -> rr.Simulation:
    """A cube between the ground and a plate with a load of 2 kN, twice its strength: it breaks again and again."""
    rock = rr.Material("rock", density=2500.0, friction=0.5, fragmentation=fragmentation, wear=wear)
    steel = rr.Material("steel", density=7800.0, friction=0.5)
    scene = rr.SceneBuilder(seed=1)
    scene.add_fixed(rr.Shape.half_space(), material=steel, name="ground")
    scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), rock, name="stone", position=(0, 0, 0.05)))
    scene.add(rr.Body(rr.Shape.cuboid(0.3, 0.3, 0.1), steel, name="plate", position=(0, 0, 0.15), force=(0, 0, -2000)))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))


def test_a_loaded_stone_breaks_into_pieces_of_the_same_mass() -> None:
    run = press()
    stone = run.scene.body("stone")
    before = run.grading()
    assert run.ids.tolist() == [0, 1, 2] and run.names == ["ground", "stone", "plate"]
    run.until(0.005)
    account = run.degradation
    assert account.breaks >= 1 and account.pieces >= 2
    pieces = run.pieces()
    assert {piece.name.split(".")[0] for piece in pieces} == {"stone"}
    assert all(piece.origin == stone for piece in pieces)
    assert sum(piece.mass for piece in pieces) + account.dust_mass == pytest.approx(2.5)
    # Arrays have a row for every body that exists, and say which.
    assert len(run.positions) == len(run.ids) == len(run.names) == 2 + len(pieces)
    assert 1 not in run.ids and np.isfinite(run.positions).all()
    row = run.ids.tolist().index(pieces[0].body.index)
    assert np.array_equal(run.positions[row], run.body(pieces[0].body).position)
    assert run.masses[row] == pieces[0].mass and run.names[row] == pieces[0].name
    assert run.body(pieces[0].name).mass == pieces[0].mass
    assert run.shape(pieces[0].body).volume == pytest.approx(pieces[0].mass / 2500.0)
    assert 0 < before.breakage(run.grading(), smallest=0.02) <= 1


def test_the_handle_of_a_broken_stone_is_an_error() -> None:
    run = press()
    stone = run.scene.body("stone")
    run.until(0.005)
    for gone in (stone, "stone"):
        with pytest.raises(rr.HandleError, match="broken"):
            run.body(gone)
        with pytest.raises(rr.HandleError, match="broken"):
            run.contact_force(gone)
    # Pieces of this run are unknown to another one.
    with pytest.raises(rr.HandleError):
        press().body(run.pieces()[0].body)


def test_states_with_pieces_are_restored(tmp_path: Path) -> None:
    run = press()
    start = run.state
    run.until(0.003)
    run.save(tmp_path / "state")
    run.until(0.005)
    other = rr.Simulation(run.scene, rr.MoreauJean(dt=1e-3))
    other.load(tmp_path / "state")
    other.until(0.005)
    assert other.state == run.state
    run.state = start
    assert run.ids.tolist() == [0, 1, 2] and run.pieces() == []


def test_stones_can_be_kept_whole() -> None:
    run = press()
    run.allow_degradation(False)
    run.until(0.005)
    assert run.degradation.breaks == 0
    assert press(None).grading().passing(0.4) == 1.0


def test_friction_wears_a_stone() -> None:
    rock = rr.Material("rock", density=2500.0, friction=0.5, wear=rr.Wear(coefficient=1.0, hardness=1e6, chamfer=1e-4))
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=rock)
    scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), rock, name="stone", position=(0, 0, 0.05), velocity=(3, 0, 0)))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(1.0)
    account = run.degradation
    # All of its kinetic energy is work of friction; K W / H of it is gone, up to the part of a chamfer.
    volume = account.friction_work / 1e6
    assert account.friction_work == pytest.approx(0.5 * 2.5 * 9.0, rel=0.02)
    assert account.chamfers > 5 and account.worn_mass == pytest.approx(2500.0 * volume, rel=0.1)
    assert run.shape("stone").volume == pytest.approx(1e-3 - account.worn_mass / 2500.0)
    assert run.masses[1] == pytest.approx(2.5 - account.worn_mass)
    assert [piece.name for piece in run.pieces()] == ["stone"] and run.ids.tolist() == [0, 1]


def test_scene_files_give_the_same_pieces(tmp_path: Path) -> None:
    run = press()
    path = tmp_path / "press.toml"
    run.scene.save(path, rr.MoreauJean(dt=1e-3), until=0.005)
    read = rr.Simulation(rr.Scene.from_toml(path))
    assert read.scene.materials == run.scene.materials
    run.until(0.005)
    read.until(0.005)
    assert read.state == run.state and read.degradation == run.degradation


@pytest.mark.parametrize(
    "options",
    [
        {"smallest": 0.01},
        {"stress": 1e5, "peak_force": 1e3, "smallest": 0.01},
        {"stress": 1e5, "smallest": 0.01, "weibull": 3.0},
    ],
)
def test_contradictions_are_errors(options: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        rr.Fragmentation(**options)


def test_numbers_out_of_range_are_reported_by_the_scene() -> None:
    rock = rr.Material("rock", density=2500.0, fragmentation=rr.Fragmentation(stress=-1.0, smallest=0.01))
    scene = rr.SceneBuilder()
    scene.add(rr.Body(rr.Shape.cuboid(1, 1, 1), rock))
    with pytest.raises(rr.SceneError, match="strength"):
        scene.build()
    with pytest.raises(ValueError, match="sizes"):
        rr.SieveCurve([1.0], [1.0, 2.0])
