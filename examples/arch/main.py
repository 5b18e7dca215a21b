"""Arch of voussoirs: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 1.0  # s
STONES = 21
INNER, OUTER = 0.9425, 1.0575  # m


def voussoir(k: int) -> rr.Shape:
    """The k-th stone from the right, in coordinates of the arch."""

    def corner(radius: float, angle: float) -> tuple[float, float]:
        # To the nanometre, as in scene.toml.
        return round(radius * math.cos(angle), 9), round(radius * math.sin(angle), 9)

    a, b = math.pi * k / STONES, math.pi * (k + 1) / STONES
    return rr.Shape.polygon([corner(INNER, a), corner(OUTER, a), corner(OUTER, b), corner(INNER, b)])


def simulation() -> rr.Simulation:
    stone = rr.Material("stone", density=2700.0, friction=1.0)  # high enough that no joint slides
    abutment = rr.Shape.polygon([(-0.2, -0.2), (0.2, -0.2), (0.2, 0), (-0.2, 0)])
    scene = rr.SceneBuilder(planar=True)
    scene.add_fixed(abutment, material=stone, position=(1, 0, 0), name="right")
    scene.add_fixed(abutment, material=stone, position=(-1, 0, 0), name="left")
    for k in range(STONES):
        scene.add(rr.Body(voussoir(k), stone, name=f"voussoir-{k + 1}"))
    solver = rr.Solver(
        tolerance=1e-6,
        approach_tolerance=1e-6,
        velocity_change_tolerance=1e-5,
        max_velocity_change_tolerance=1e-4,
    )
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3, solver=solver))


if __name__ == "__main__":
    run = simulation()
    start = run.body("voussoir-11").position[1]
    run.until(UNTIL)
    sunk = start - run.body("voussoir-11").position[1]
    thrust, weight, _ = run.contact_force("right")
    print(f"keystone sinks by {1e6 * sunk:.3f} µm; thrust {thrust:.0f} N, load {-weight:.0f} N")
