"""Bouncing ball: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 4.0  # s


def simulation() -> rr.Simulation:
    rubber = rr.Material("rubber", density=1000.0, restitution=0.8)
    scene = rr.SceneBuilder(gravity=(0, 0, -10))
    scene.add_fixed(rr.Shape.half_space(), material=rubber, name="ground")
    scene.add(rr.Body(rr.Shape.sphere(0.2), rubber, name="ball", position=(0, 0, 1.001)))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.1):
        print(f"{frame.time:5.2f} s  {frame.body('ball').position[2]:.4f} m")
