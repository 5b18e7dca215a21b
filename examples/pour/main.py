"""Ballast poured into a box: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 1.2  # s


def simulation() -> rr.Simulation:
    rock = rr.Material("rock", density=2700.0, friction=0.7)
    steel = rr.Material("steel", friction=0.4)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.open_box(0.4, 0.4, 0.3, wall=0.02), material=steel, name="box")
    scene.add_grains(
        rr.Grains.stones(
            300,
            name="ballast",
            material=rock,
            grading="EN 13450 31.5-50",
            inside=((-0.2, -0.2, 0.01), (0.2, 0.2, 2.0)),
            seed=1,
        )
    )
    solver = rr.Solver(tolerance=5e-4)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=0.25e-3, solver=solver))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.1):
        heights = frame.grains("ballast").positions[:, 2]
        weight = -frame.contact_force("box")[2]
        print(f"{frame.time:4.1f} s  mean height {heights.mean():.4f} m, load {weight:6.1f} N")
