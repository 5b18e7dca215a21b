"""Slider-crank with clearance: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 0.1369  # s


def engine(steel: rr.Material) -> tuple[rr.Mechanism, rr.Link]:
    def link(shape: rr.Shape, at: tuple[float, float, float], mass: float, x: float, moment: float) -> rr.Body:
        inertia = (moment / 2, moment / 2, moment)
        return rr.Body(shape, steel, position=at, mass=mass, centre=(x, 0, 0), inertia=inertia)

    engine = rr.Mechanism("engine")
    crank = engine.revolute(
        rr.GROUND,
        axis="z",
        body=link(rr.Shape.cuboid(0.153, 0.014, 0.008), (0.0765, 0, -0.006), 0.038, 0.0765, 7.5e-5),
        name="crank",
    )
    rod = engine.revolute(
        crank,
        axis="z",
        at=(0.153, 0, 0),
        body=link(rr.Shape.cuboid(0.306, 0.012, 0.008), (0.153, 0, 0.006), 0.038, 0.153, 5.9e-4),
        name="rod",
    )
    slider = engine.add(
        rr.Joint.planar(),
        rr.GROUND,
        link(rr.Shape.cuboid(0.1, 0.05, 0.04), (0, 0, -0.035), 0.076, 0.0, 2.7e-6),
        name="slider",
        joint_name="slide",
    )
    engine.start_velocity(crank, 150.0)
    engine.start_velocity(rod, -225.0)  # relative to the crank: -75 rad/s in the world
    for k, value in enumerate([0.459, 0.0, 0.0]):
        engine.start(engine.coordinate(slider, k), value, guess=True)
    engine.close_loop(rod, slider, rr.Cut.pin("z"), at_a=(0.306, 0, 0), name="gudgeon_pin")
    # Model (c) of the paper: the height of the slider is independent.
    engine.dependent(["slide.x", "crank"])
    return engine, slider


def simulation() -> rr.Simulation:
    steel = rr.Material("steel")
    scene = rr.SceneBuilder(gravity=(0, -10, 0))
    rail = rr.Shape.cuboid(0.44, 0.008, 0.04)
    upper = scene.add_fixed(rail, material=steel, position=(0.306, 0.03, -0.035), name="upper_rail")
    lower = scene.add_fixed(rail, material=steel, position=(0.306, -0.03, -0.035), name="lower_rail")
    mechanism, slider = engine(steel)
    handle = scene.add_mechanism(mechanism)
    # The guide: planes 1 mm above and below the corners of the slider.
    law = rr.PairLaw(restitution=0.4)
    for y, normal in [(1, "-y"), (-1, "y")]:
        for x in [-0.05, 0.05]:
            corner, plane = (x, 0.025 * y, 0), (0, 0.026 * y, 0)
            scene.add_point_contact(((handle, slider), corner), (None, plane), normal, law)
    scene.ignore_contact(upper, (handle, slider))
    scene.ignore_contact(lower, (handle, slider))
    # One mechanism and four corners: the contact problem is small, so it is solved to round-off.
    scheme = rr.MoreauJean(dt=1e-5, solver=rr.Solver(tolerance=1e-12))
    return rr.Simulation(scene.build(), scheme)


if __name__ == "__main__":
    run = simulation()
    for frame in run.frames(until=UNTIL, every=0.01):
        q = frame.mechanism("engine").q
        print(f"{1e3 * frame.time:6.1f} ms  crank {q[0]:7.3f} rad, slider at ({q[2]:.4f}, {q[3]:+.5f}) m")
    print(run.report)
