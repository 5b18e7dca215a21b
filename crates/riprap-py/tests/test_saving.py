"""Scenes built in Python, saved as scene files and read again: bitwise identical results, or a reason why not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Callable

import numpy as np
import pytest
from conftest import ROOT
from test_gallery import load

import riprap as rr

STEEL = rr.Material("steel", density=7800.0, friction=0.3)
ROCK = rr.Material("rock", density=2700.0, friction=0.6, restitution=0.1, rolling=1e-3)
SCHEME = rr.MoreauJean(dt=1e-3)


def same(scene: rr.Scene, scheme: rr.Scheme = SCHEME, until: float = 0.05) -> rr.Scene:
    """Saves a scene, reads it, runs both, compares; returns the scene that was read."""
    read = rr.Scene.from_toml_str(scene.to_toml(scheme, until=until, title="a test"))
    assert read.names == scene.names and np.array_equal(read.masses, scene.masses)
    ours, theirs = rr.Simulation(scene, scheme), rr.Simulation(read)
    ours.until(until)
    theirs.until(until)
    assert read.until == until and theirs.time == ours.time
    for name, values in ours.arrays().items():
        assert np.array_equal(values, theirs.arrays()[name]), name
    assert theirs.state == ours.state
    return read


def test_strengths_of_stones_follow_the_seed() -> None:
    brittle = rr.Fragmentation(stress=1e4, smallest=0.02, weibull=2.0, reference_size=0.1)
    stone = rr.Material("stone", density=2700.0, friction=0.5, fragmentation=brittle)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=STEEL)
    for k in range(8):
        scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), stone, position=(0.2 * k, 0, 0.06)))
    same(scene.build(), until=0.1)


def test_names_of_materials_are_made_valid_and_stay_different() -> None:
    wet, other = rr.Material("wet sand", density=2000.0), rr.Material("material-1", density=1000.0)
    scene = rr.SceneBuilder()
    scene.pair(wet, other, rr.PairLaw(friction=0.1))
    scene.add(rr.Body(rr.Shape.sphere(0.1), wet, name="sand"))
    scene.add(rr.Body(rr.Shape.sphere(0.1), other, name="ball", position=(1, 0, 0)))
    assert same(scene.build()).names == ["sand", "ball"]


def test_bodies_of_all_kinds() -> None:
    scene = rr.SceneBuilder(gravity=(0, 0.5, -9.81), alert=0.01, detection="common-plane", seed=7)
    scene.pair(STEEL, ROCK, rr.PairLaw(friction=0.4, restitution=0.2, law="moreau-newton", stiffness=1e5, damping=3.0))
    scene.add_fixed(rr.Shape.half_space((0, 0.1, 1)), material=STEEL, name="ground")
    tilted = rr.Rotation("x", 0.3)
    scene.add_fixed(rr.Shape.open_box(1, 1, 0.5), material=ROCK, position=(3, 0, 0), rotation=tilted)
    scene.add_moving(
        rr.Shape.cuboid(0.5, 0.5, 0.1), material=STEEL, velocity=("0.1*sin(t)", "0", "0"), angular_velocity=(0, 0, 0.5),
        position=(-3, 0, 1), name="table",
    )  # fmt: skip
    scene.add_moving(rr.Shape.sphere(0.1), material=STEEL, path=("6", "t^2", "1"), position=(6, 0, 1))
    wedge = rr.Shape.hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    pair = rr.Shape.compound([(rr.Pose((0, 0, 0.2), tilted), rr.Shape.sphere(0.1)), (rr.Pose(), rr.Shape.cuboid(0.1, 0.2, 0.3))])
    for k, shape in enumerate([rr.Shape.capsule(0.1, 0.3), rr.Shape.cylinder(0.1, 0.3), rr.Shape.cone(0.1, 0.3), rr.Shape.rounded(wedge, 0.02)]):
        scene.add(rr.Body(shape, ROCK, position=(-6, k, 1), rotation=tilted))
    scene.add(rr.Body(wedge, ROCK, position=(0, 0, 1), rotation=tilted, velocity=(1, 0, 0), angular_velocity=(0, 2, 0)))
    scene.add(rr.Body(pair, STEEL, position=(0, 2, 1), name="pair", locked=["x", "rz"], force=(0, 0, 3), torque=(0.1, 0, 0)))
    inertia = [[0.3, 0.01, 0], [0.01, 0.4, 0], [0, 0, 0.5]]
    ball = rr.Body(rr.Shape.sphere(0.2), STEEL, position=(0, -2, 1), mass=5.0, centre=(0, 0, 0.01), inertia=inertia)
    scene.add(ball)
    read = same(scene.build())
    assert np.array_equal(read.gravity, [0, 0.5, -9.81]) and read.materials == scene.build().materials


def test_grains_of_all_kinds(tmp_path: Path) -> None:
    table = tmp_path / "stones.csv"
    table.write_text("x,y,z,scale\n0,0,2,1\n0.5,0,2,0.5\n")
    scene = rr.SceneBuilder()
    inside = ((-0.2, -0.2, 0.0), (0.2, 0.2, 1.0))
    scene.add_fixed(rr.Shape.half_space(), material=ROCK)
    scene.add_grains(rr.Grains.spheres(5, radius=(0.02, 0.03), material=ROCK, inside=inside, seed=1, name="balls"))
    scene.add_grains(rr.Grains.lattice((2, 2, 1), (0.3, 0.3, 1), shape=rr.Shape.cuboid(0.1, 0.1, 0.1), material=STEEL,
                                       origin=(2, 0, 1), jitter=0.01, random_rotation=True, name="boxes"))  # fmt: skip
    scene.add_grains(rr.Grains.table(table, rr.Shape.sphere(0.1), material=STEEL, name="listed"))
    built = scene.build()
    masses = built.masses[[built.names.index("listed-1"), built.names.index("listed-2")]]
    assert masses[1] == pytest.approx(masses[0] / 8)
    same(built)


def four_bar() -> rr.Mechanism:
    """A closed loop with a motor, a spring, stops and forces."""
    bars = rr.Mechanism("bars", position=(0, 0, 2), rotation=rr.Rotation("z", 0.2))
    body = rr.Body(rr.Shape.cuboid(0.04, 0.04, 1), STEEL, position=(0, 0, 0.5))
    crank = bars.revolute(rr.GROUND, axis="y", body=body, name="crank")
    rocker = bars.revolute(rr.GROUND, axis="y", at=(1, 0, 0), body=rr.Body.rod((0, 0, 1), mass=1.0), name="rocker")
    coupler = bars.revolute(crank, axis="y", at=(0, 0, 1), body=rr.Body.rod((1, 0, 0), mass=1.0), name="coupler")
    bars.attach(coupler, rr.Shape.sphere(0.05), STEEL, position=(0.5, 0, 0))
    bars.close_loop(coupler, rocker, rr.Cut.pin("y"), at_a=(1, 0, 0), at_b=(0, 0, 1), name="window")
    bars.dependent(["coupler", "rocker"])
    bars.start(coupler, 0.0, guess=True)
    bars.start(rocker, 0.0, guess=True)
    bars.drive(crank, rr.Motor.motion("0.2*sin(5*t)"))
    bars.spring(rocker, stiffness=10.0, damping=0.5, rest=0.1)
    bars.stops(coupler, lower=-1.0, upper=1.0, stiffness=1e3, damping=2.0)
    bars.point_spring(rr.GROUND, coupler, at_a=(0.5, 0, 0), at_b=(0.5, 0, 0), stiffness=50.0, length=0.9, name="tie")
    bars.actuate(rocker, "3*cos(t) - 0.1*v.rocker", name="brake")
    bars.actuate_in_phases(rocker, [rr.Phase(1.0, until=0.02), rr.Phase("0.5*t", until="t > 0.04"), rr.Phase(0.0)], name="kick")
    zero = [0.0] * 5
    bars.push(coupler, [rr.Phase([*zero[:2], "10*t", *zero[:3]])], point=(0.5, 0, 0), in_body=True, name="wind")
    return bars


def test_mechanisms_with_loops_motors_springs_and_forces() -> None:
    scene = rr.SceneBuilder()
    scene.add_mechanism(four_bar())
    motor = rr.Mechanism("motor", position=(5, 0, 0))
    disc = motor.revolute(rr.GROUND, axis=(0, 1, 1), body=rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.1), STEEL), name="disc")
    motor.start(disc, 0.3)
    motor.drive(disc, rr.Motor.velocity(15.0))
    scene.add_mechanism(motor)
    same(scene.build())


@pytest.mark.parametrize("kind", ["cylindrical", "universal", "planar", "spherical", "free", "fixed"])
def test_joints_of_all_kinds(kind: str) -> None:
    joints: dict[str, Callable[[], rr.Joint]] = {
        "cylindrical": lambda: rr.Joint.cylindrical("z"),
        "universal": lambda: rr.Joint.universal("y", "x"),
        "planar": rr.Joint.planar,
        "spherical": rr.Joint.spherical,
        "free": rr.Joint.free,
        "fixed": rr.Joint.fixed,
    }
    mechanism = rr.Mechanism("one")
    body = rr.Body.inertial(rr.MassProperties(2.0, (0.1, 0, -0.5), (0.1, 0.2, 0.3)))
    link = mechanism.add(joints[kind](), rr.GROUND, body, at=(0, 0, 1), rotation=rr.Rotation("x", 0.1), name="part")
    names = mechanism.coordinate_names
    if kind in ("spherical", "free"):
        mechanism.start_rotation(link, rr.Rotation("y", 0.4))
    for k, name in enumerate(names):
        if not name.split(".")[-1].startswith("w"):
            mechanism.start(name, 0.1 * (k + 1))
        mechanism.start_velocity(name, 0.2 * (k + 1))
    scene = rr.SceneBuilder()
    scene.add_mechanism(mechanism)
    same(scene.build())


def test_flexible_bodies_joints_ropes_chains_and_point_contacts() -> None:
    scene = rr.SceneBuilder()
    ground = scene.add_fixed(rr.Shape.half_space(), material=STEEL, name="ground")
    ball = scene.add(rr.Body(rr.Shape.sphere(0.1), STEEL, position=(0, 0, 1), name="ball"))
    other = scene.add(rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.2), STEEL, position=(1, 0, 1)))
    scene.add_chain("chain", 4, radius=0.05, link=0.12, material=STEEL, start=(None, (3, 0, 2)), along="x", tie="surface")
    rod = rr.Flexible.beam("rod", [(5, 0, 1), (6, 0, 1)], radius=0.02, elements=4, start="clamped", damping=1e-4)
    rod.attach(rr.Shape.sphere(0.05), STEEL, [4])
    handle = scene.add_flexible(rod)
    scene.add_flexible(rr.Flexible.bar("bar", [(7, 0, 1), (8, 0, 1)], area=1e-4, elements=3, velocity=0.3))
    scene.add_joint("hinge", ball, other, position=(0.5, 0, 1), axis="y", project=True, name="hinge")
    scene.add_rope("rope", [(None, (0, 0, 3)), (ball, (0, 0, 0.1))], breaking_load=1e5)
    scene.add_point_contact((other, (0.1, 0, 0)), (None, (0, 0, 0.5)), "z", rr.PairLaw(friction=0.2), name="edge")
    scene.ignore_contact(ground, (handle, 4))
    same(scene.build())


def test_materials_without_a_name_get_one() -> None:
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=rr.Material(density=1000.0, friction=0.5))
    scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material(density=2000.0, friction=0.2), position=(0, 0, 0.2)))
    read = same(scene.build())
    assert [material.name for material in read.materials] == ["material-1", "material-2"]


def test_planar_scenes() -> None:
    scene = rr.SceneBuilder(planar=True)
    scene.add_fixed(rr.Shape.half_space((0, 1, 0)), material=ROCK)
    scene.add(rr.Body(rr.Shape.disc(0.1, 0.5), ROCK, position=(0, 0.2, 0), angular_velocity=(0, 0, 3)))
    scene.add(rr.Body(rr.Shape.polygon([(0, 0), (0.2, 0), (0, 0.3)]), ROCK, position=(1, 0.1, 0), velocity=(1, 0, 0)))
    same(scene.build())


@pytest.mark.parametrize(
    "scheme",
    [
        rr.MoreauJean(dt=1e-3, theta=0.6, solver=rr.Solver("gauss-seidel", tolerance=1e-6), position_correction=True),
        rr.GeneralizedAlpha(dt=1e-3, rho=0.7, formulation="modified-lcp"),
        rr.ConeComplementarity(dt=1e-3, solver="barzilai-borwein", recovery=0.5),
        rr.ConeComplementarity(dt=1e-3, friction_law="coulomb"),
        rr.Penalty(dt=1e-4, stiffness=1e6, integrator="rk4"),
        rr.Penalty(dt=1e-4, law="hertz", dissipation=1e-5),
        rr.RigidEvents(dt=1e-2, facets=16, step_control="halving", collision_friction="none", dt_min=1e-6),
    ],
    ids=lambda scheme: repr(scheme)[:40],
)
def test_schemes_with_their_options(scheme: rr.Scheme) -> None:
    rubber = rr.Material("rubber", density=1100.0, friction=0.5, young=1e7, poisson=0.4)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=rubber)
    scene.add(rr.Body(rr.Shape.sphere(0.1), rubber, position=(0, 0, 0.105), velocity=(1, 0, 0)))
    same(scene.build(), scheme)


def test_adaptive_steps() -> None:
    pendulum = rr.Mechanism("pendulum")
    arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
    pendulum.start(arm, 0.5)
    scene = rr.SceneBuilder()
    scene.add_mechanism(pendulum)
    same(scene.build(), rr.DormandPrince(dt=0.01, tolerance=1e-10), until=0.3)


GALLERY = sorted(path.parent.name for path in (ROOT / "examples").glob("*/main.py"))


@pytest.mark.parametrize("name", GALLERY)
def test_entries_of_the_gallery_can_be_saved(name: str) -> None:
    run: rr.Simulation = load(ROOT / "examples" / name / "main.py").simulation()
    scheme: rr.Scheme = rr.MoreauJean(dt=run.dt)
    if "dormand-prince" in (ROOT / "examples" / name / "scene.toml").read_text():
        scheme = rr.DormandPrince(dt=run.dt)
    try:
        text = run.scene.to_toml(scheme, until=1.0)
    except rr.SceneError as error:
        # Entries with callables, and forces applied to servos, say so.
        assert "callable" in str(error) or "applied to a servo" in str(error)
        return
    assert rr.Scene.from_toml_str(text).names == run.scene.names


def test_everything_that_has_no_form_in_a_scene_file_is_listed() -> None:
    scene = rr.SceneBuilder(drag=1.0)
    shake = lambda t: (math.sin(t), 0.0, 0.0)  # noqa: E731
    scene.add_moving(rr.Shape.sphere(0.1), material=STEEL, velocity=shake, name="shaker")
    pendulum = rr.Mechanism("pendulum")
    arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
    pendulum.actuate(arm, lambda t, q, v: 0.0, name="motor")
    scene.add_mechanism(pendulum)
    with pytest.raises(rr.SceneError) as raised:
        scene.build().to_toml(SCHEME, until=1.0)
    lines = str(raised.value).splitlines()
    assert len(lines) == 4 and "drag" in lines[1] and "`shaker`" in lines[2] and "callable" in lines[2]
    assert "`pendulum`, force `motor`" in lines[3]


def test_a_force_applied_to_a_servo_has_no_form_in_a_scene_file() -> None:
    scene = rr.SceneBuilder()
    plate = scene.add_servo(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.01), STEEL, name="plate"), along="-z", force=5.0, speed=0.1)
    assert "servo" in scene.build().to_toml(SCHEME, until=1.0)
    scene.apply(plate, force=("0", "0", "t"))
    with pytest.raises(rr.SceneError, match="`plate`: a force applied to a servo"):
        scene.build().to_toml(SCHEME, until=1.0)


def test_options_without_a_key_are_errors(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    for scheme in (rr.MoreauJean(dt=1e-3, gaps=False), rr.GeneralizedAlpha(dt=1e-3, tolerance=1e-9),
                   rr.RigidEvents(dt=1e-3, rounds=0), rr.MoreauJean(dt=1e-3, solver=rr.Solver("accurate"))):  # fmt: skip
        with pytest.raises(rr.SceneError, match="scene file"):
            ball[0].to_toml(scheme, until=1.0)
    with pytest.raises(ValueError, match="scheme and an end time"):
        ball[0].to_toml()
    with pytest.raises(rr.SceneError, match="until"):
        ball[0].to_toml(SCHEME, until=-1.0)


def test_a_scene_file_says_how_it_runs() -> None:
    scene = rr.Scene.from_toml(ROOT / "examples/bouncing-ball/scene.toml")
    assert rr.Scene.from_toml_str(scene.to_toml()).names == scene.names
    with pytest.raises(ValueError, match="comes from a file"):
        scene.to_toml(SCHEME, until=1.0)


def test_mechanisms_of_files_are_extended_and_driven() -> None:
    data = ROOT / "crates/riprap-io/tests/data"
    arm = rr.Mechanism.from_urdf(data / "crane.urdf", name="crane", material=STEEL, limits=(1e4, 10.0))
    assert len(arm.coordinate_names) >= 1 and arm.build().n_v == len(arm.coordinate_names)
    arm.drive(arm.coordinate_names[0], rr.Motor.velocity(0.1))
    scene = rr.SceneBuilder()
    scene.add_mechanism(arm)
    with pytest.raises(rr.SceneError, match="was read from"):
        scene.build().to_toml(SCHEME, until=1.0)
    crank = rr.Mechanism.from_toml(ROOT / "examples/slider-crank/scene.toml")
    assert crank.build().n_v == len(crank.coordinate_names)
    with pytest.raises(rr.HandleError, match="name one of"):
        rr.Mechanism.from_toml(ROOT / "examples/slider-crank/scene.toml", "none")


PLATE: dict[str, object] = {"name": "plate", "body": "ball", "quantities": ["position", "velocity", "force"]}


def test_keys_of_runs_and_probes_are_part_of_the_file(ball: tuple[rr.Scene, rr.BodyHandle], tmp_path: Path) -> None:
    keys = {
        "stop": "ball.z < height and t > 0.1", "account": True, "force_chains": True, "impact_speed": 0.5, "series_every": "2 ms",
        "frames_every": 0.05, "contacts_every": 0.1, "frames": "both", "checkpoint_every": 0.1, "on_unconverged": "fail",
        "output_every": 0.1,
    }  # fmt: skip
    probes: list[dict[str, object]] = [
        PLATE,
        {"name": "bed", "region": {"min": (-1, -1, 0), "max": np.ones(3)}, "quantities": ["stress", "coordination"]},
        {"name": "gate", "plane": {"point": [0, 0, "height"], "normal": "-z"}, "quantities": ["flow_rate"]},
    ]
    folder = tmp_path / "out"
    summary = rr.run(ball[0], folder, scheme=SCHEME, until=1.0, title="a drop", run=keys, probes=probes, parameters={"height": 0.5})
    # It falls by 0.5 m.
    assert summary.stopped_by == keys["stop"] and summary.time == pytest.approx(math.sqrt(1 / 9.81), abs=2e-3)
    results = summary.open()
    assert results.series.title == "a drop" and results.series["plate.position_z"][-1] == pytest.approx(0.5, abs=5e-3)
    assert results.series["gate.passed_mass"][-1] == ball[0].masses[1]
    assert {"dissipated_impact", "bed.stress_zz", "plate.force_mean_z", "plate.velocity_z"} <= set(results.series)
    assert (folder / "run.pvd").is_file() and (folder / "impacts.csv").is_file()
    assert np.allclose(np.diff(results.times[:3]), 0.05) and np.diff(results.series.time)[0] == pytest.approx(2e-3)
    # The file and the folder give bitwise identical results.
    ball[0].save(tmp_path / "ball.toml", SCHEME, 1.0, run=keys, probes=probes, parameters={"height": 0.5})
    assert rr.run(tmp_path / "ball.toml", tmp_path / "again").state == summary.state
    assert rr.run(folder / "scene.toml", tmp_path / "once-more").state == summary.state


def test_a_run_of_a_scene_starts_from_another_one(ball: tuple[rr.Scene, rr.BodyHandle], tmp_path: Path) -> None:
    first = rr.run(ball[0], tmp_path / "first", scheme=SCHEME, until=0.1)
    goes_on = {"start_from": tmp_path / "first", "start_time": "continue", "until": 0.2}
    second = rr.run(ball[0], tmp_path / "second", scheme=SCHEME, run=goes_on)
    assert first.time == pytest.approx(0.1) and second.time == pytest.approx(0.2)
    whole = rr.Simulation(ball[0], SCHEME)
    whole.until(0.2)
    assert second.open().series["kinetic_energy"][-1] == whole.balance().kinetic


def test_mistakes_in_keys_are_those_of_the_file(ball: tuple[rr.Scene, rr.BodyHandle], tmp_path: Path) -> None:
    def told(**options: object) -> str:
        with pytest.raises((rr.SceneError, ValueError)) as raised:
            rr.run(ball[0], tmp_path / "out", **{"scheme": SCHEME, "until": 0.1, **options})  # type: ignore[arg-type]
        return str(raised.value)

    assert "did you mean `stop`" in told(run={"stopp": "t > 1"})
    assert "ball.q" in told(run={"stop": "ball.q > 1"})
    assert "`nobody`" in told(probes=[{"name": "x", "body": "nobody"}])
    assert "flow" in told(probes=[{"name": "x", "region": "all", "quantities": ["flow"]}])
    assert "which the scheme provides" in told(run={"dt": 1e-3})
    assert "not both" in told(run={"until": 0.1})
    assert "a probe is a dictionary" in told(probes=["ball"])
    assert "type object" in told(run={"stop": object()})
    assert "Scene.from_toml" in told(set={"run.dt": 1e-4})
    assert "needs a scheme" in told(scheme=None)
    assert not (tmp_path / "out").exists()
    scene = rr.Scene.from_toml(ROOT / "examples/bouncing-ball/scene.toml")
    with pytest.raises(ValueError, match="comes from a file"):
        rr.run(scene, tmp_path / "out", probes=[PLATE])
    assert rr.run(scene, tmp_path / "out", until=0.01).time == pytest.approx(0.01)
    with pytest.raises(ValueError, match="built in Python"):
        rr.run(ROOT / "examples/bouncing-ball/scene.toml", tmp_path / "out", title="x", overwrite=True)


def test_callables_are_named_with_what_to_do_instead(tmp_path: Path) -> None:
    def shake(t: float) -> tuple[float, float, float]:
        return (math.sin(t), 0.0, 0.0)

    scene = rr.SceneBuilder()
    scene.add_moving(rr.Shape.sphere(0.1), material=STEEL, velocity=shake, name="shaker")
    scene.add(rr.Body(rr.Shape.sphere(0.1), STEEL, position=(0, 0, 1)))
    built = scene.build()
    with pytest.raises(rr.SceneError, match="`shaker`.*shake` is a Python callable(.|\n)*FrameWriter"):
        rr.run(built, tmp_path / "out", scheme=SCHEME, until=0.1)
    run = rr.Simulation(built, SCHEME)
    frames = rr.FrameWriter(tmp_path / "run.vtkhdf", run)
    run.until(0.01, observer=frames.add)
    frames.add(run)  # A frame that it has is not added again.
    assert np.allclose(rr.RunFile(tmp_path / "run.vtkhdf").times, np.arange(11) * 1e-3)
    with pytest.raises(rr.FileError):
        rr.FrameWriter(tmp_path / "nowhere/run.vtkhdf", run).add(run)
