"""Bricks on a slope: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 1.0  # s


def simulation() -> rr.Simulation:
    slope = rr.Material("slope", friction=1.0)
    rough = rr.Material("rough", density=2000.0, friction=0.4)
    smooth = rr.Material("smooth", density=2000.0, friction=0.2)
    brick = rr.Shape.cuboid(0.20, 0.10, 0.05)
    turned = rr.Rotation("y", math.radians(20))
    x, z = 0.008550503583141718, 0.023492315519647713  # half a brick above the slope

    scene = rr.SceneBuilder()
    normal = (0.3420201433256687, 0, 0.9396926207859084)  # slopes down towards +x
    scene.add_fixed(rr.Shape.half_space(normal), material=slope, name="slope")
    scene.add(rr.Body(brick, rough, name="stays", position=(x, -0.1, z), rotation=turned))
    scene.add(rr.Body(brick, smooth, name="slides", position=(x, 0.1, z), rotation=turned))
    solver = rr.Solver(
        tolerance=1e-8,
        approach_tolerance=1e-8,
        velocity_change_tolerance=1e-7,
        max_velocity_change_tolerance=1e-6,
    )
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3, solver=solver))


if __name__ == "__main__":
    run = simulation()
    run.until(UNTIL)
    for name in ["stays", "slides"]:
        speed = float(sum(run.body(name).velocity ** 2)) ** 0.5
        print(f"{name}: {speed:.4f} m/s")
