"""Descriptions: shapes, bodies, grains, joints, ropes, scene files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import riprap as rr


def test_shapes_have_their_volume() -> None:
    assert rr.Shape.sphere(0.5).volume == pytest.approx(math.pi / 6)
    assert rr.Shape.half_space((0, 1, 1)).volume == math.inf
    assert rr.Shape.hull(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])).volume == pytest.approx(1 / 6)
    assert rr.Shape.disc(1.0, 0.5).volume == pytest.approx(math.pi / 2)
    assert rr.Shape.polygon([(0, 0), (1, 0), (0, 1)]).volume == pytest.approx(0.5)
    assert rr.Shape.capsule(0.5, 1.0).volume == pytest.approx(math.pi * (0.25 + 1 / 6))
    assert rr.Shape.cylinder(0.5, 2.0).volume == pytest.approx(math.pi / 2)
    assert rr.Shape.cone(0.5, 2.0).volume == pytest.approx(math.pi / 6)
    die = rr.Shape.rounded(rr.Shape.cuboid(1, 1, 1), 0.1)
    assert die.volume == pytest.approx(1 + 0.6 + 0.03 * math.pi + 4e-3 / 3 * math.pi)
    two = rr.Shape.compound([(rr.Pose((k, 0, 0)), rr.Shape.cuboid(0.5, 1, 1)) for k in range(2)])
    assert two.volume == pytest.approx(1.0) and len(two.parts()) == 2
    assert len(rr.Shape.open_box(1, 1, 1).parts()) == 5
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    faces = [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)]
    mesh = rr.Shape.mesh(corners, [face[::-1] for face in faces])
    assert mesh.mass_properties(2.0) is not None
    properties = rr.Shape.cuboid(1, 2, 3).mass_properties(1.0)
    assert properties is not None
    assert np.allclose(properties.inertia, np.diag([6.5, 5.0, 2.5]))
    vertices = rr.Shape.cuboid(1, 2, 3).vertices()
    assert vertices is not None and vertices.shape == (8, 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: rr.Shape.sphere(-1.0),
        lambda: rr.Shape.sphere(math.nan),
        lambda: rr.Shape.capsule(0.1, 0.0),
        lambda: rr.Shape.cylinder(-0.1, 1.0),
        lambda: rr.Shape.cone(0.1, math.inf),
        lambda: rr.Shape.rounded(rr.Shape.sphere(0.1), 0.1),
        lambda: rr.Shape.hull([(0, 0, 0), (1, 0, 0)]),
        lambda: rr.Shape.half_space((0, 0, 0)),
        lambda: rr.Shape.compound([]),
        lambda: rr.Shape.mesh([(0, 0, 0)], [(0, 1, 2)]),
        lambda: rr.Rotation("w", 1.0),
        lambda: rr.Rotation((0, 0, 0), 1.0),
        lambda: rr.Rotation.quaternion(0, 0, 0, 0),
        lambda: rr.Pose((math.inf, 0, 0)),
        lambda: rr.Body(rr.Shape.sphere(1), rr.Material("m"), locked=["roll"]),
        lambda: rr.PairLaw(law="sticky"),
        lambda: rr.Solver("nothing"),
        lambda: rr.Solver("apgd", refined_tolerance=1e-3),
        lambda: rr.Solver(tolerance=-1.0),
        lambda: rr.MoreauJean(1e-3, solver="apgd"),
        lambda: rr.ConeComplementarity(1e-3, solver="coloured"),
        lambda: rr.GeneralizedAlpha(1e-3, formulation="x"),
        lambda: rr.SceneBuilder(detection="x"),
    ],
)
def test_impossible_values_are_refused(make: object) -> None:
    with pytest.raises(ValueError):
        make()  # type: ignore[operator]


def test_wrong_shapes_of_arguments_are_refused(steel: rr.Material) -> None:
    for wrong in [(1, 2), (1, 2, 3, 4), "abc", 3.0, None]:
        with pytest.raises((TypeError, ValueError)):
            rr.Body(rr.Shape.sphere(1), steel, position=wrong)  # type: ignore[arg-type]


def test_rotations_and_poses_compose() -> None:
    a, b = rr.Rotation("z", 0.3), rr.Rotation((0, 1, 0), -0.7)
    v = np.array([1.0, 2.0, 3.0])
    assert np.allclose((a @ b).apply(v), a.apply(b.apply(v)))
    assert np.allclose((a @ a.inverse()).matrix(), np.eye(3))
    pose = rr.Pose((1, 2, 3), a)
    assert np.allclose(pose.inverse_point(pose.point(v)), v)
    assert np.allclose((pose @ rr.Pose((1, 0, 0))).position, pose.point((1, 0, 0)))
    assert pose == rr.Pose((1, 2, 3), a.wxyz) != rr.Pose()


def test_all_mistakes_of_a_scene_are_reported_together(steel: rr.Material) -> None:
    scene = rr.SceneBuilder()
    scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("air", friction=-1.0), name="a"))
    scene.add(rr.Body(rr.Shape.half_space(), steel, name="a", position=(0, 0, 5)))
    with pytest.raises(rr.SceneError) as error:
        scene.build()
    text = str(error.value)
    assert "friction" in text and "density" in text and "half-space" in text and len(text.splitlines()) >= 4


def test_grains_follow_from_their_seed(steel: rr.Material) -> None:
    inside = ((0.0, 0.0, 0.0), (0.3, 0.3, 1.0))
    one, same, other = (
        rr.Grains.spheres(20, radius=(0.01, 0.02), material=steel, inside=inside, seed=seed).sizes() for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same) and not np.array_equal(one, other)
    assert one.min() >= 0.02 and one.max() <= 0.04
    curve = rr.Grains.stones(30, grading=[(0.03, 0), (0.04, 50), (0.05, 100)], material=steel, inside=inside)
    assert len(curve.bodies()) == 30
    cubes = rr.Grains.rain(5, rr.Shape.cuboid(0.02, 0.02, 0.02), material=steel, inside=inside, name="cubes")
    assert [body.name for body in cubes.bodies()] == [f"cubes-{k}" for k in range(1, 6)]
    with pytest.raises(rr.SceneError, match="grading"):
        rr.Grains.stones(3, grading="EN 1", material=steel, inside=inside).bodies()
    with pytest.raises(rr.SceneError):
        rr.Grains.spheres(3, radius=(0.2, 0.3), material=steel, inside=inside).bodies()


def test_solids_of_a_body_add_up_and_other_shapes_do_not(steel: rr.Material) -> None:
    def moment(solid: bool) -> float:
        hammer = rr.Mechanism("hammer")
        handle = rr.Body(rr.Shape.cuboid(0.1, 0.1, 1.0), steel, position=(0, 0, -0.5))
        arm = hammer.revolute(rr.GROUND, "y", body=handle, name="arm")
        hammer.attach(arm, rr.Shape.cuboid(0.1, 0.1, 0.1), steel, (0, 0, -1), solid=solid)
        return float(hammer.build().mass_matrix([0.0])[0, 0])

    handle = 78 * ((1 + 0.01) / 12 + 0.25)
    assert moment(False) == pytest.approx(handle)
    assert moment(True) == pytest.approx(handle + 7.8 * (0.02 / 12 + 1))


def test_pairs_of_materials_override_the_smaller_friction(steel: rr.Material) -> None:
    ice = rr.Material("ice", density=900.0, friction=0.0)
    stops = []
    for law in [None, rr.PairLaw(friction=0.5)]:
        scene = rr.SceneBuilder()
        scene.add_fixed(rr.Shape.half_space(), material=steel)
        scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), ice, name="cube", position=(0, 0, 0.05), velocity=(1, 0, 0)))
        if law:
            scene.pair(steel, ice, law)
        run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
        run.until(0.3)
        stops.append(run.body("cube").position[0])
    assert stops[0] == pytest.approx(0.3) and stops[1] == pytest.approx(1 / (2 * 0.5 * 9.81), rel=1e-2)


def test_joints_ropes_and_chains_hold_their_bodies(steel: rr.Material) -> None:
    scene = rr.SceneBuilder()
    ball = scene.add(rr.Body(rr.Shape.sphere(0.1), steel, position=(1, 0, 0)))
    scene.add_joint("ball", None, ball, position=(0, 0, 0), project=True, name="pivot")
    weight = scene.add(rr.Body(rr.Shape.sphere(0.1), steel, position=(5, 0, -1), mass=3.0))
    rope = scene.add_rope("rope", [(None, (5, 0, 0)), (weight, (0, 0, 0.1))])
    chain = scene.add_chain("chain", 5, radius=0.02, link=0.1, material=steel, start=(None, (9, 0, 0)))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(0.3)
    assert np.linalg.norm(run.body(ball).position) == pytest.approx(1.0, abs=1e-9)
    assert run.tension(rope) == pytest.approx(3.0 * 9.81, rel=1e-6)
    assert run.tension("rope") == run.tension(rope)
    with pytest.raises(rr.HandleError, match="no rope `cable`"):
        run.tension("cable")
    assert len(chain) == 5 and run.grains(chain).positions[-1, 2] == pytest.approx(-0.5, abs=1e-3)
    for wrong in ["glue", "hinge-joint"]:
        with pytest.raises(ValueError, match="ball, hinge"):
            scene.add_joint(wrong, None, ball)


def test_a_clamped_beam_sags_by_its_weight(steel: rr.Material) -> None:
    length, radius = 1.0, 0.02
    beam = rr.Flexible.beam("beam", [(0, 0, 0), (length, 0, 0)], radius=radius, elements=10, start="clamped", damping=0.05)
    beam.attach(rr.Shape.sphere(0.01), steel, nodes=[10])
    scene = rr.SceneBuilder()
    handle = scene.add_flexible(beam)
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3, theta=1.0))
    # Overdamped: it has come to rest up to exp(-20).
    run.until(1.0)
    area, moment = math.pi * radius**2, math.pi * radius**4 / 4
    deflection = 7800 * area * 9.81 * length**4 / (8 * 2.1e11 * moment)
    # Ten elements of first order are stiffer by about a percent.
    assert -run.body((handle, 10)).position[2] == pytest.approx(deflection, rel=0.02)
    assert run.scene.flexible("beam") == handle
    with pytest.raises(rr.HandleError):
        run.body((handle, 11))


def test_a_ball_hangs_on_a_node_and_on_a_chain(steel: rr.Material) -> None:
    beam = rr.Flexible.beam("beam", [(0, 0, 0), (1, 0, 0)], rectangle=(0.04, 0.02), elements=4, start="clamped")
    scene = rr.SceneBuilder()
    handle = scene.add_flexible(beam)
    ball = scene.add(rr.Body(rr.Shape.sphere(0.05), steel, position=(1, 0, -0.2)))
    scene.add_joint("ball", (handle, 4), ball, position=(1, 0, 0), name="hook")
    with pytest.raises(rr.HandleError):
        scene.add_joint("ball", (handle, 5), ball)
    chain = scene.add_chain("chain", 3, radius=0.02, link=0.1, material=steel, start=(None, (3, 0, 0)))
    weight = scene.add(rr.Body(rr.Shape.sphere(0.05), steel, position=(3, 0, -0.4)))
    scene.add_joint("ball", chain[2], weight, position=(3, 0, -0.3))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(0.2)
    assert run.body((handle, 4)).position[2] < 0 < 0.01 > abs(run.body(ball).position[0] - 1)
    assert np.linalg.norm(run.body(weight).position - run.grains(chain).positions[2]) == pytest.approx(0.1, abs=1e-4)


def test_planar_scenes_stay_in_their_plane(steel: rr.Material) -> None:
    scene = rr.SceneBuilder(planar=True)
    scene.add_fixed(rr.Shape.half_space((0, 1, 0)), material=steel)
    discs = rr.Grains.lattice((3, 2), (0.25, 0.25), shape=rr.Shape.disc(0.1), material=steel, origin=(0, 0.2), jitter=0.01)
    handle = scene.add_grains(discs)
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(0.5)
    assert np.all(run.grains(handle).positions[:, 2] == 0.0)
    assert run.grains(handle).positions[:, 1].min() > 0.09


def test_scene_files_bring_their_scheme_and_their_mistakes(tmp_path: Path) -> None:
    scene = rr.Scene.from_toml(ROOT / "examples/slope/scene.toml")
    assert scene.names == ["slope", "stays", "slides"] and scene.dt == 1e-3 and scene.until == 1.0
    assert scene.body("slides").index == 2
    again = rr.Scene.from_toml_str(scene.to_toml())
    assert again.names == scene.names
    bad = (ROOT / "examples/slope/scene.toml").read_text().replace("friction = 0.4", "frictoin = 0.4")
    (tmp_path / "bad.toml").write_text(bad)
    with pytest.raises(rr.SceneError) as error:
        rr.Scene.from_toml(tmp_path / "bad.toml")
    assert "frictoin" in str(error.value) and "bad.toml:" in str(error.value)
    [(line, column, message, hint)] = error.value.problems
    assert bad.splitlines()[line - 1].startswith("frictoin") and column == 1 and "friction" in f"{message}{hint}"
    with pytest.raises(rr.SceneError, match="no such file"):
        rr.Scene.from_toml(tmp_path / "missing.toml")


def test_a_scene_built_in_python_needs_a_scheme(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    with pytest.raises(ValueError, match="scheme"):
        rr.Simulation(ball[0])
    with pytest.raises(rr.StepError, match="dt"):
        rr.Simulation(ball[0], rr.MoreauJean(dt=-1.0))


SETTLING = """
seed = 1
run = { dt = "1 ms", until = "10 ms" }
materials.rock = { density = 2700, friction = 0.6 }
[[body]]
name = "box"
kind = "fixed"
material = "rock"
shape = { type = "open-box", size = [0.3, 0.3, 0.3], wall = 0.02 }
[[grains]]
name = "bed"
material = "rock"
generator = "rain"
spheres = {}
grading = { uniform = ["3 cm", "4 cm"] }
count = 30
box = { min = [-0.15, -0.15, 0], max = [0.15, 0.15, 1] }
settle = { speed = "1 cm/s", at_most = "2 s", drag = 10 }
"""


def test_grains_of_a_scene_file_settle_first(tmp_path: Path) -> None:
    run = rr.Simulation(rr.Scene.from_toml_str(SETTLING))
    assert run.time == 0.0 and np.abs(run.grains("bed").velocities).max() < 0.02
    loose = rr.Simulation(rr.Scene.from_toml_str(SETTLING), settle=False)
    assert loose.grains("bed").positions[:, 2].mean() > run.grains("bed").positions[:, 2].mean()
    (tmp_path / "bed.toml").write_text(SETTLING)
    summary = rr.run(tmp_path / "bed.toml", tmp_path / "out", cache=False)
    run.until(0.01)
    assert summary.state == run.state


def test_grains_described_in_python_settle_as_those_of_a_scene_file() -> None:
    read = rr.Simulation(rr.Scene.from_toml_str(SETTLING))
    rock = rr.Material("rock", density=2700.0, friction=0.6)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.open_box(0.3, 0.3, 0.3), material=rock, name="box")
    inside = ((-0.15, -0.15, 0), (0.15, 0.15, 1))
    settle = rr.Settle(speed=0.01, at_most=2.0, drag=10.0)
    bed = rr.Grains.spheres(
        30, grading=(0.03, 0.04), material=rock, inside=inside, seed=1, name="bed", settle=settle
    )
    scene.add_grains(bed)
    scheme = rr.MoreauJean(dt=1e-3)
    built = rr.Simulation(scene.build(), scheme)
    assert built.state == read.state and built.time == 0.0
    assert rr.Simulation(scene.build(), scheme, settle=False).state != built.state
    with pytest.raises(ValueError, match="positive"):
        rr.Settle(speed=0.0)


def periodic_scene(**options: object) -> rr.SceneBuilder:
    glass = rr.Material("glass", density=2500.0, restitution=1.0)
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.periodic(x=(0, 1), y=(-0.5, 0.5), **options)  # type: ignore[arg-type]
    ball = rr.Shape.sphere(0.1)
    scene.add(rr.Body(ball, glass, position=(0.2, 0.25, 0), velocity=(-1, 0, 0), name="left"))
    scene.add(rr.Body(ball, glass, position=(0.9, 0.25, 0), name="right"))
    return scene


def test_bodies_meet_through_the_boundary_of_a_periodic_cell() -> None:
    scene = periodic_scene().build()
    sim = rr.Simulation(scene, rr.MoreauJean(dt=1e-3))
    sim.until(0.3)
    assert sim.body("right").velocity == pytest.approx([-1, 0, 0], abs=1e-6)
    assert sim.body("left").position[0] == pytest.approx(0.1, abs=2e-3)
    assert scene.wrapped((1.25, -0.75, 3.0)) == pytest.approx([0.25, 0.25, 3.0])


@pytest.mark.parametrize("shear", [{"shear_rate": 2.0}, {"shear_strain": "2*t"}, {"shear_strain": lambda t: 2 * t}])
def test_a_sheared_cell_flows(shear: dict[str, object]) -> None:
    builder = periodic_scene(**shear)
    sim = rr.Simulation(builder.build(), rr.MoreauJean(dt=1e-3))
    assert sim.body("right").velocity[0] == pytest.approx(0.5, rel=1e-6)
    still = rr.Simulation(periodic_scene(initial_flow=False, **shear).build(), rr.MoreauJean(dt=1e-3))
    assert still.body("right").velocity[0] == 0.0
    if not callable(shear.get("shear_strain")):
        again = rr.Scene.from_toml_str(builder.build().to_toml(rr.MoreauJean(dt=1e-3), until=1.0))
        assert rr.Simulation(again, rr.MoreauJean(dt=1e-3)).body("right").velocity[0] == pytest.approx(0.5, rel=1e-6)


def test_a_cell_that_is_too_small_is_an_error() -> None:
    scene = periodic_scene()
    scene.periodic(x=(0, 0.3))
    with pytest.raises(rr.SceneError, match="must be longer than"):
        scene.build()
    with pytest.raises(ValueError, match="not both"):
        scene.periodic(x=(0, 1), y=(0, 1), shear_rate=1.0, shear_strain="t")


def test_stones_and_scans_lie_on_a_lattice(steel: rr.Material, tmp_path: Path) -> None:
    (tmp_path / "stone.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    for options in ({"stones": True, "vertices": 12, "flatness": 0.5}, {"folder": tmp_path, "max_vertices": 8}):
        scene = rr.SceneBuilder(gravity=(0, 0, 0))
        lattice = rr.Grains.lattice((3, 2, 1), (0.2, 0.2, 0.2), material=steel, grading=(0.03, 0.05), name="stone", **options)
        assert all(0.03 <= size <= 0.05 for size in lattice.sizes())
        scene.add_grains(lattice)
        built = scene.build()
        assert np.allclose(rr.Simulation(built, rr.MoreauJean(dt=1e-3)).positions[:, 0], [0, 0.2, 0.4] * 2, atol=0.05)
        read = rr.Scene.from_toml_str(built.to_toml(rr.MoreauJean(dt=1e-3), until=1.0))
        assert np.array_equal(read.masses, built.masses)
    with pytest.raises(ValueError, match="not both"):
        rr.Grains.lattice((1, 1, 1), (1, 1, 1), material=steel, grading=(1, 2), stones=True, folder=tmp_path)
    with pytest.raises(ValueError, match="`shape` or `grading`"):
        rr.Grains.lattice((1, 1, 1), (1, 1, 1), material=steel, stones=True, shape=rr.Shape.sphere(0.1))
