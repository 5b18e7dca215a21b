"""Two granular chains swing together: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 8.0  # s


def simulation() -> rr.Simulation:
    steel = rr.Material("steel", density=127.32395447351627, friction=0.3)  # discs of 1 kg
    scene = rr.SceneBuilder(gravity=(0, -9.81, 0), planar=True)
    scene.add_fixed(rr.Shape.half_space((0, 1, 0)), material=steel, position=(0, -3, 0), name="ground")
    for name, side in [("left", -1), ("right", 1)]:
        start = (None, (0.0625 * side, 0, 0))
        scene.add_chain(name, 10, radius=0.05, link=0.25, material=steel, start=start, along=(side, -1, 0))
    return rr.Simulation(scene.build(), rr.ConeComplementarity(dt=1e-3))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.5):
        energy = frame.balance()
        gap = frame.body("right-10").position[0] - frame.body("left-10").position[0] - 0.1
        total = energy.kinetic + energy.potential
        print(f"{frame.time:3.1f} s  energy {total:9.3f} J, gap of the lowest discs {gap:.4f} m")
