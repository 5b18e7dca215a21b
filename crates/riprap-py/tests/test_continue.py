"""Simulations that start from the end of other runs, and keys that are set and explained."""

from pathlib import Path

import numpy as np
import pytest

import riprap as rr

BALL = """
run = { dt = "1 ms", until = "0.1 s", output_every = "50 ms" }
parameters = { height = 0.2 }
materials.rock = { density = 2500, friction = 0.5 }
[[body]]
name = "floor"
kind = "fixed"
material = "rock"
shape = { type = "half-space" }
[[body]]
name = "ball"
material = "rock"
position = [0, 0, "height"]
shape = { type = "sphere", radius = 0.1 }
"""


def pile(density: float = 2500.0) -> rr.SceneBuilder:
    rock = rr.Material("rock", density=density, friction=0.5)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=rock, name="floor")
    scene.add(rr.Body(rr.Shape.sphere(0.1), rock, position=(0, 0, 0.2), name="ball"))
    return scene


def test_a_simulation_starts_from_another_one() -> None:
    scene, scheme = pile().build(), rr.MoreauJean(dt=1e-3)
    first = rr.Simulation(scene, scheme)
    first.until(0.2)
    second = rr.Simulation(scene, scheme, start_from=first)
    assert second.time == 0.0
    np.testing.assert_array_equal(second.positions, first.positions)
    assert second.continued is not None and "bodies: 2 carry over" in second.continued
    first.until(0.3)
    second.until(0.1)
    np.testing.assert_array_equal(second.positions, first.positions)
    later = rr.Simulation(pile(7800.0).build(), scheme, start_from=first, continue_time=True)
    assert later.time == first.time
    assert later.continued is not None and "another mass: `ball`" in later.continued
    assert rr.Simulation(scene, scheme).continued is None


def test_a_simulation_starts_from_the_folder_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "ball.toml").write_text(BALL)
    summary = rr.run(tmp_path / "ball.toml", tmp_path / "a", set={"height": 0.15})
    assert summary.time == pytest.approx(0.1)
    run = rr.Simulation(pile().build(), rr.MoreauJean(dt=1e-3), start_from=tmp_path / "a")
    assert run.positions[1][2] == pytest.approx(0.1, abs=1e-3)
    again = rr.run(tmp_path / "ball.toml", tmp_path / "b", start_from=tmp_path / "a")
    assert again.state is not None and summary.state is not None
    with pytest.raises(rr.FileError, match="there is no such run to start from"):
        rr.Simulation(pile().build(), rr.MoreauJean(dt=1e-3), start_from=tmp_path / "none")
    with pytest.raises(ValueError, match="`continue_time` needs a run"):
        rr.Simulation(pile().build(), rr.MoreauJean(dt=1e-3), continue_time=True)


def test_a_new_body_must_not_overlap(tmp_path: Path) -> None:
    first = rr.Simulation(pile().build(), rr.MoreauJean(dt=1e-3))
    first.until(0.3)
    changed = pile()
    changed.add(rr.Body(rr.Shape.sphere(0.02), rr.Material("rock", density=2500.0, friction=0.5), position=(0, 0, 0.05), name="tool"))
    with pytest.raises(rr.SceneError, match="`ball` and `tool` overlap by"):
        rr.Simulation(changed.build(), rr.MoreauJean(dt=1e-3), start_from=first)


def test_keys_are_set_in_scene_files(tmp_path: Path) -> None:
    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    scene = rr.Scene.from_toml(path, set={"body.ball.position": (1, 0, 2), "run.dt": "0.5 ms", "planar": False})
    np.testing.assert_array_equal(rr.Simulation(scene).positions[1], [1, 0, 2])
    with pytest.raises(rr.SceneError, match="did you mean `ball`"):
        rr.Scene.from_toml(path, set={"body.bal.position": (1, 0, 2)})
    with pytest.raises(ValueError, match="cannot have a value of type object"):
        rr.Scene.from_toml(path, set={"title": object()})


def test_keys_are_explained() -> None:
    assert "time [s], greater than 0" in rr.explain("run.dt")
    assert "mechanism.joint" in rr.explain()
    with pytest.raises(ValueError, match="did you mean `run.scheme`"):
        rr.explain("run.shceme")
