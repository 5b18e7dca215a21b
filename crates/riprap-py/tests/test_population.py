"""Bodies that are inserted and removed during a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import riprap as rr

ROCK = rr.Material("rock", density=2700.0, friction=0.4)
BOX = ((-0.1, -0.1, 0.1), (0.1, 0.1, 0.3))


def feed() -> rr.SceneBuilder:
    scene = rr.SceneBuilder(seed=7)
    scene.add_fixed(rr.Shape.half_space(), material=ROCK, name="floor")
    scene.insert(rr.Insertion("feed", material=ROCK, spheres=(0.02, 0.03), inside=BOX, rate=100, velocity=(2, 0, -1)))
    scene.insert(
        rr.Insertion("bricks", material=ROCK, shape=rr.Shape.cuboid(0.02, 0.03, 0.04), inside=BOX, at=0.05, count=5)
    )
    scene.remove(rr.Removal(outside=((-1, -1, -1), (0.25, 1, 1))))
    return scene


def test_bodies_come_and_go_and_are_counted() -> None:
    run = rr.Simulation(feed().build(), rr.MoreauJean(dt=1e-3))
    assert run.names == ["floor"] and run.population.inserted == 0
    run.until(0.03)
    first = run.body("feed-1")
    assert first.mass > 0
    run.until(0.3)
    account = run.population
    assert account.inserted == 35 and 0 < account.removed < 35
    assert len(run.positions) == len(run.names) == 1 + account.inserted - account.removed
    assert len(set(run.ids.tolist())) == len(run.ids) and np.isfinite(run.positions).all()
    assert run.masses[1:].sum() == pytest.approx(account.inserted_mass - account.removed_mass, rel=1e-12)
    assert account.waited == 0 and not account.waits
    assert account.momentum[0] < 2 * account.inserted_mass
    gone = [name for name in (f"feed-{k}" for k in range(1, 31)) if name not in run.names]
    assert gone
    with pytest.raises(rr.HandleError):
        run.body(gone[0])


def test_a_saved_scene_inserts_the_same_bodies(tmp_path: Path) -> None:
    scene = feed().build()
    scene.save(tmp_path / "scene.toml", rr.MoreauJean(dt=1e-3), until=0.1)
    again = rr.Scene.from_toml(tmp_path / "scene.toml")
    states = []
    for one in (scene, again):
        run = rr.Simulation(one, rr.MoreauJean(dt=1e-3))
        run.until(0.1)
        states.append(run.positions)
    assert np.array_equal(states[0], states[1])


def test_a_state_continues_in_another_simulation() -> None:
    whole, part = (rr.Simulation(feed().build(), rr.MoreauJean(dt=1e-3)) for _ in range(2))
    part.until(0.1)
    again = rr.Simulation(feed().build(), rr.MoreauJean(dt=1e-3))
    again.state = part.state
    again.until(0.2)
    whole.until(0.2)
    assert np.array_equal(whole.positions, again.positions)
    assert whole.population == again.population


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, "give one of `shape`, `spheres`, `stones` and `scans`"),
        ({"scans": (0.02, 0.03), "rate": 1.0}, "needs a `folder`"),
        ({"spheres": (0.02, 0.03), "folder": "stones", "rate": 1.0}, "sizes of its `scans`"),
        ({"shape": [], "rate": 1.0}, "empty"),
        ({"shape": "ball", "rate": 1.0}, "a Shape or a list"),
        ({"spheres": (0.02, 0.03)}, "`rate`, `mass_rate` or `at` is missing"),
        ({"spheres": (0.02, 0.03), "rate": -1.0}, "greater than 0"),
        ({"spheres": (0.02, 0.03), "rate": 1.0, "at": 2.0}, "mutually exclusive"),
    ],
)
def test_mistakes_are_reported(keys: dict[str, object], told: str) -> None:
    with pytest.raises((ValueError, rr.SceneError), match=told):
        rr.SceneBuilder().insert(rr.Insertion("feed", material=ROCK, inside=BOX, **keys))  # type: ignore[arg-type]


def test_shapes_of_a_list_and_scanned_stones_are_inserted(tmp_path: Path) -> None:
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans/stone.obj").write_text("\n".join(lines) + "\n")
    scene = rr.SceneBuilder(gravity=(0, 0, 0), seed=3)
    shapes = [rr.Shape.sphere(0.01), rr.Shape.cuboid(0.02, 0.02, 0.02)]
    scene.insert(rr.Insertion("mix", material=ROCK, shape=shapes, inside=BOX, at=0.0, count=4))
    scanned = rr.Insertion("scan", material=ROCK, scans=(0.02, 0.03), folder=tmp_path / "scans", max_vertices=8, inside=BOX, at=0.0, count=3)
    scene.insert(scanned)
    built = scene.build()
    run = rr.Simulation(built, rr.MoreauJean(dt=1e-3))
    run.until(0.05)
    volumes = [run.shape(f"mix-{k}").volume for k in range(1, 5)]
    assert volumes == pytest.approx([s.volume for s in shapes] * 2)
    assert all(0 < run.shape(f"scan-{k}").volume < 0.03**3 for k in range(1, 4))
    with pytest.raises(rr.SceneError, match="list of shapes"):
        built.to_toml(rr.MoreauJean(dt=1e-3), until=1.0)


def test_a_removal_has_one_rule() -> None:
    with pytest.raises(ValueError, match="give one of"):
        rr.Removal(below=0.0, at=1.0)
    assert rr.Removal(at=1.0, bodies=["a*", "b"]).bodies == ["a*", "b"]
