"""Two four-bars through their singular position: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 10.0  # s


def bars(steel: rr.Material) -> rr.Mechanism:
    upright, level = rr.Shape.cuboid(0.04, 1.0, 0.04), rr.Shape.cuboid(1.0, 0.04, 0.02)
    moment = 0.08333333333333333
    rod = rr.Body(upright, steel, position=(0, 0.5, 0), mass=1.0, centre=(0, 0.5, 0), inertia=moment)
    coupler = rr.Body(level, steel, position=(0.5, 0, 0), mass=1.0, centre=(0.5, 0, 0), inertia=moment)

    bars = rr.Mechanism("bars")
    rods = [
        bars.revolute(rr.GROUND, "z", (k, 0, 0), rod, name=f"rod_{k}", joint_name=f"turn_{k}")
        for k in range(3)
    ]
    for k in range(2):
        tip = bars.revolute(rods[k], "z", (0, 1, 0), coupler, name=f"coupler_{k}", joint_name=f"level_{k}")
        bars.close_loop(tip, rods[k + 1], rr.Cut.pin("z"), at_a=(1, 0, 0), at_b=(0, 1, 0), name=f"window_{k}")
    bars.start_velocity("turn_0", -1.0)
    return bars


def simulation() -> rr.Simulation:
    steel = rr.Material("steel")
    scene = rr.SceneBuilder(gravity=(0, -9.81, 0), accept_overlap=float("inf"))
    scene.add_mechanism(bars(steel))
    return rr.Simulation(scene.build(), rr.DormandPrince(dt=0.02, tolerance=1e-10))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.5):
        x, y = frame.body("bars/coupler_0").position[:2]
        print(f"{frame.time:5.2f} s  ({x:+.6f}, {y:+.6f}) m")
