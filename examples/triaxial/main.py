"""Triaxial test of glass beads: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 2.0  # s
CONFINING = 20e3  # Pa

# Lengths of the sample along x, y and z, from the positions of the plates.
LENGTHS = ("(right.x - left.x - 0.02)", "(back.y - front.y - 0.02)", "(top.z - 0.5*0.02)")

# Each plate with its size, its position, the direction in which it pushes, and its speed.
PLATES = {
    "left": ((0.02, 0.5, 0.5), (-0.13, 0, 0.14), "x", 0.1),
    "right": ((0.02, 0.5, 0.5), (0.13, 0, 0.14), "-x", 0.1),
    "front": ((0.5, 0.02, 0.5), (0, -0.13, 0.14), "y", 0.1),
    "back": ((0.5, 0.02, 0.5), (0, 0.13, 0.14), "-y", 0.1),
    "top": ((0.5, 0.5, 0.02), (0, 0, 0.3), "-z", 0.05),
}


def simulation() -> rr.Simulation:
    glass = rr.Material("glass", density=2500.0, friction=0.5)
    smooth = rr.Material("smooth", density=2500.0, friction=0.0)
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    bottom = scene.add_fixed(rr.Shape.cuboid(0.5, 0.5, 0.02), material=smooth, position=(0, 0, -0.01), name="bottom")
    plates = {}
    for name, (size, at, axis, speed) in PLATES.items():
        body = rr.Body(rr.Shape.cuboid(*size), smooth, name=name, position=at, mass=1.0)
        plates[name] = scene.add_servo(body, along=axis, force=0.0, speed=speed)
    # The force is the stress times the area. It depends on all plates, so it is applied once they are all there.
    x, y, z = LENGTHS
    across = {"x": f"({y}*{z})", "y": f"({x}*{z})", "z": f"({x}*{y})"}
    for name, (_, _, axis, _) in PLATES.items():
        # Once the sample is compressed from all sides, the top comes down at its speed.
        stress = f"{CONFINING}*if(t < 0.7, 1, 50)" if name == "top" else f"{CONFINING}"
        force = ["0", "0", "0"]
        force["xyz".index(axis[-1])] = f"{axis[:-1]}({stress}*{across[axis[-1]]})"
        scene.apply(plates[name], force=force)
    # The plates are wider than the sample and pass through each other.
    apart = [*plates.values(), bottom]
    for k, a in enumerate(apart):
        for b in apart[k + 1 :]:
            scene.ignore_contact(a, b)
    scene.add_grains(
        rr.Grains.lattice(
            (9, 9, 11),
            (0.026, 0.026, 0.026),
            name="beads",
            material=glass,
            grading=(0.017, 0.023),
            origin=(-0.104, -0.104, 0.013),
            jitter=1.2e-3,
        )
    )
    solver = rr.Solver(tolerance=1e-3, approach_tolerance=1e-3)
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=5e-4, solver=solver))


def state(run: rr.Simulation) -> tuple[float, float, float]:
    """Height of the sample [m], and the stresses on its top and its sides [Pa]."""
    at = {name: run.body(name).position for name in PLATES}
    x = at["right"][0] - at["left"][0] - 0.02
    y = at["back"][1] - at["front"][1] - 0.02
    z = at["top"][2] - 0.01
    axial = run.contact_force("top")[2] / (x * y)
    sides = 0.5 * (run.contact_force("right")[0] / (y * z) + run.contact_force("back")[1] / (x * z))
    return float(z), float(axial), float(sides)


if __name__ == "__main__":
    run = simulation()
    run.until(0.7)
    start, _, _ = state(run)
    for k in range(13):
        # Means over 20 ms.
        run.until(0.78 + 0.1 * k)
        rows = []
        for _ in range(40):
            run.step()
            rows.append(state(run))
        height, axial, sides = (sum(column) / 40 for column in zip(*rows))
        angle = math.degrees(math.asin((axial - sides) / (axial + sides)))
        strain = 1 - height / start
        print(f"{strain:5.1%}  axial {1e-3 * axial:4.1f} kPa, sides {1e-3 * sides:4.1f} kPa, {angle:4.1f}°")
