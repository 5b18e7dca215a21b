"""Forces as laws of time and state, servos, and stop conditions."""

import math
import os
import pathlib
import time

import pytest

import riprap as rr

STEEL = rr.Material("steel", density=7800.0, friction=0.3)


def bob() -> rr.Body:
    return rr.Body(rr.Shape.sphere(0.05), STEEL, name="bob", position=(0.1, 0, 0), mass=2.0)


@pytest.mark.parametrize("force", [("-80*x", 0, 0), lambda t, own: (-80 * own[0][0], 0.0, 0.0)])
def test_a_spring_swings_with_its_frequency(force: object) -> None:
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.apply(scene.add(bob()), force=force)  # type: ignore[arg-type]
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(1.0)
    assert run.positions[0, 0] == pytest.approx(0.1 * math.cos(math.sqrt(40.0)), abs=1e-5)


def test_laws_see_other_bodies() -> None:
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    anchor = scene.add_moving(
        rr.Shape.sphere(0.01), material=STEEL, velocity=(1, 0, 0), position=(0, 1, 0), name="anchor"
    )
    one = scene.add(bob())
    other = scene.add(rr.Body(rr.Shape.sphere(0.05), STEEL, position=(0.1, 0.5, 0), mass=2.0))
    scene.apply(one, force=("80*(anchor.x - x)", 0, 0))
    scene.apply(other, force=lambda t, own, seen: (80 * (seen[0][0] - own[0][0]), 0, 0), sees=[anchor])
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(1.0)
    assert run.positions[1, 0] == pytest.approx(run.positions[2, 0], abs=1e-12)
    assert run.positions[1, 0] > 0.5


def test_a_servo_pushes_with_its_force_below_its_speed(tmp_path: pathlib.Path) -> None:
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=STEEL)
    plate = rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.02), STEEL, name="plate", position=(0, 0, 0.06))
    scene.add_servo(plate, along="-z", force="500 + 10*t", speed=0.1)
    built = scene.build()
    run = rr.Simulation(built, rr.MoreauJean(dt=1e-3))
    run.until(0.2)
    assert run.velocities[1, 2] == pytest.approx(-0.1)
    run.until(1.0)
    assert run.positions[1, 2] == pytest.approx(0.01, abs=1e-9)
    path = tmp_path / "plate.toml"
    built.save(path, rr.MoreauJean(dt=1e-3), 1.0)
    text = path.read_text()
    assert 'kind = "servo"' in text and "500 + 10*t" in text
    again = rr.Simulation(rr.Scene.from_toml(path), rr.MoreauJean(dt=1e-3))
    again.until(1.0)
    assert (again.positions == run.positions).all()


def test_a_servo_may_push_with_a_stress_and_without_a_limit_of_speed(tmp_path: pathlib.Path) -> None:
    def press(**options: object) -> rr.SceneBuilder:
        scene = rr.SceneBuilder()
        scene.add_fixed(rr.Shape.half_space(), material=STEEL)
        plate = rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.02), STEEL, name="plate", position=(0, 0, 0.01))
        scene.add_servo(plate, along="-z", **options)  # type: ignore[arg-type]
        return scene

    stress = press(stress="1e4 + 1e3*t", area="0.2*0.2 + 0*z", speed=0.1).build()
    run = rr.Simulation(stress, rr.MoreauJean(dt=1e-3))
    run.until(0.5)
    # 10.5 kPa on 0.04 m², on average over the last step; the drive carries the weight.
    assert run.contact_force("plate")[2] == pytest.approx(0.04 * (1e4 + 1e3 * 0.5), rel=1e-3)
    stress.save(tmp_path / "press.toml", rr.MoreauJean(dt=1e-3), 0.5)
    again = rr.Simulation(rr.Scene.from_toml(tmp_path / "press.toml"))
    again.until(0.5)
    assert again.state == run.state
    free = press(force=50.0).build()
    run = rr.Simulation(free, rr.MoreauJean(dt=1e-3))
    run.until(0.1)
    assert run.contact_force("plate")[2] == pytest.approx(50.0, rel=1e-3)
    with pytest.raises(rr.SceneError, match="no `speed`"):
        free.to_toml(rr.MoreauJean(dt=1e-3), until=1.0)
    for wrong in [{"stress": 1.0}, {"area": 1.0}, {"stress": 1.0, "area": 1.0, "force": 1.0}, {}]:
        with pytest.raises(ValueError, match="`stress` and `area`"):
            press(speed=1.0, **wrong)


def test_laws_cost_nothing_for_names_that_they_do_not_use() -> None:
    builder, count = rr.SceneBuilder(gravity=(0, 0, 0)), 5000
    shape = rr.Shape.sphere(0.05)
    handles = [builder.add(rr.Body(shape, STEEL, name=f"stone_{k}", position=(k % 70, k // 70, 0))) for k in range(count)]
    begin = time.perf_counter()
    for handle in handles:
        builder.apply(handle, force=("-x", 0, "-vz + 0*stone_7.x"))
    built = builder.build()
    # A second here; it was minutes if each law knew all names.
    assert time.perf_counter() - begin < 60.0
    run = rr.Simulation(built, rr.MoreauJean(dt=1e-3))
    begin = time.perf_counter()
    run.step()
    # 45 000 values for each of 15 000 laws would take seconds.
    assert time.perf_counter() - begin < 1.0


def test_more_than_7281_bodies_may_have_names() -> None:
    builder = rr.SceneBuilder(gravity=(0, 0, 0))
    shape = rr.Shape.sphere(0.05)
    balls = [builder.add(rr.Body(shape, STEEL, name=f"ball_{k}", position=(k % 100, k // 100, 0))) for k in range(10000)]
    builder.apply(balls[0], force=("100*(ball_9998.x - x)", 0, 0))
    with pytest.raises(ValueError, match="ball_9998.q"):
        builder.apply(balls[1], force=("ball_9998.q", 0, 0))
    run = rr.Simulation(builder.build(), rr.MoreauJean(dt=1e-3))
    far = run.positions[9998, 0] - run.positions[0, 0]
    run.step()
    mass = run.masses[0]
    assert run.velocities[0, 0] == pytest.approx(100 * far / mass * 1e-3, rel=1e-3)


def test_mistakes_are_told() -> None:
    scene = rr.SceneBuilder()
    ball = scene.add(bob())
    with pytest.raises(ValueError, match="unknown variable `xx`"):
        scene.apply(ball, force=("xx", 0, 0))
    scene.apply(ball, force=(1, 0, "t"))
    with pytest.raises(ValueError, match="already has a force"):
        scene.apply(ball, force=(0, 0, 1))
    with pytest.raises(ValueError, match="`along` and `force`"):
        scene.add_servo(bob(), along="z", torque=1.0, speed=1.0)
    floor = scene.add_fixed(rr.Shape.half_space(), material=STEEL)
    with pytest.raises(ValueError, match="free bodies only"):
        scene.apply(floor, force=(0, 0, 1))


def test_an_exception_in_a_law_is_raised() -> None:
    scene = rr.SceneBuilder()
    scene.apply(scene.add(bob()), force=lambda t, own: (1 / 0, 0.0, 0.0))
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    with pytest.raises(ZeroDivisionError):
        run.step()


def test_a_servo_of_a_joint_keeps_its_speed() -> None:
    press = rr.Mechanism("press")
    ram = press.prismatic(rr.GROUND, axis="z", body=rr.Body.point(3.0))
    press.servo(ram, force=60.0, speed=0.1)
    scene = rr.SceneBuilder(gravity=(0, 0, -9.81))
    scene.add_mechanism(press)
    run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    run.until(0.5)
    assert run.velocities[-1, 2] == pytest.approx(0.1)


def test_a_run_says_what_stopped_it(tmp_path: pathlib.Path) -> None:
    scene = tmp_path / "ball.toml"
    scene.write_text(
        """
run = { dt = "1 ms", until = "1 s", frames = false, stop = "ball.z < 0.5 m" }
materials.steel = { density = 7800 }
[[body]]
name = "ball"
position = [0, 0, 1]
material = "steel"
shape = { type = "sphere", radius = 0.1 }
"""
    )
    summary = rr.run(scene, out=tmp_path / "out")
    assert summary.ending == "finished" and summary.stopped_by == "ball.z < 0.5 m"
    assert summary.time == pytest.approx(math.sqrt(1 / 9.81), abs=2e-3)
    assert os.path.isfile(tmp_path / "out" / "series.csv")
