"""Bucket digging in gravel: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 2.0  # s
# The profile of the bucket in the x–z plane [m]: hinge, top, back, heel, cutting edge.
PROFILE = [(-0.02, 0), (0.1, -0.03), (0.13, -0.12), (0.07, -0.19), (-0.05, -0.21)]
# Its outer plates: two corners of the profile and the same corners 8 mm further out.
PLATES = [
    [*PROFILE[0:2], (-0.0181, 0.0078), (0.1019, -0.0222)],
    [*PROFILE[1:3], (0.1076, -0.0275), (0.1376, -0.1175)],
    [*PROFILE[2:4], (0.1361, -0.1252), (0.0761, -0.1952)],
    [*PROFILE[3:5], (0.0713, -0.1979), (-0.0487, -0.2179)],
]
TOOTH = [(-0.05, -0.21), (-0.0487, -0.2179), (-0.0845, -0.2158), (-0.0842, -0.2177)]


def prism(profile: list[tuple[float, float]], y: tuple[float, float]) -> rr.Shape:
    """A profile in the x–z plane between two values of y."""
    return rr.Shape.hull([(x, side, z) for side in y for x, z in profile])


def bar(size: tuple[float, float, float], x: float, steel: rr.Material) -> rr.Body:
    return rr.Body(rr.Shape.cuboid(*size), steel, position=(x, 0, 0))


def swing(start: float, *parts: tuple[float, float, float]) -> rr.Motor:
    """An angle [rad] that changes by amounts [rad] from one time to another [s], smoothly."""
    terms = [f" + {by}*(0.5 - 0.5*cos(pi*ramp(t, {begin}, {end})))" for by, begin, end in parts]
    return rr.Motor.motion(f"{start}" + "".join(terms))


def backhoe(steel: rr.Material) -> tuple[rr.Mechanism, dict[str, rr.Link]]:
    machine = rr.Mechanism("backhoe", position=(-0.05, 0, 0.3))
    links: dict[str, rr.Link] = {"ground": rr.GROUND}

    def hinge(name: str, parent: str, at: tuple[float, float, float], body: rr.Body) -> None:
        links[name] = machine.revolute(links[parent], "-y", at, body, name=name)

    hinge("boom", "ground", (0, 0, 0), bar((0.7, 0.05, 0.08), 0.35, steel))
    hinge("stick", "boom", (0.7, 0, 0), bar((0.5, 0.04, 0.05), 0.25, steel))
    hinge("bucket", "stick", (0.5, 0, 0), rr.Body(prism(PROFILE, (-0.1, -0.092)), steel))
    hinge("rocker", "stick", (0.4, 0, 0), bar((0.11, 0.06, 0.02), 0.055, steel))
    hinge("link", "rocker", (0.11, 0, 0), bar((0.13, 0.03, 0.02), 0.065, steel))
    hinge("barrel", "stick", (0.1, 0, 0.07), bar((0.2, 0.04, 0.04), 0.1, steel))
    rod = bar((0.2, 0.02, 0.02), -0.1, steel)
    links["piston"] = machine.prismatic(links["barrel"], "x", body=rod, name="piston", joint_name="stroke")

    bucket = links["bucket"]
    for plate in [prism(PROFILE, (0.092, 0.1)), *(prism(plate, (-0.1, 0.1)) for plate in PLATES)]:
        machine.attach(bucket, plate, steel, solid=True)
    for y in (-0.085, -0.0283, 0.0283, 0.085):
        machine.attach(bucket, prism(TOOTH, (-0.012, 0.012)), steel, (0, y, 0), solid=True)
    machine.attach(bucket, rr.Shape.cuboid(0.06, 0.02, 0.07), steel, (0.055, 0, 0.01), solid=True)

    machine.drive("boom", swing(0.9703, (-0.2383, 0.2, 0.6), (0.0949, 0.6, 1.3), (0.5047, 1.3, 1.9)))
    machine.drive("stick", swing(-1.4881, (-0.1976, 0.2, 0.6), (-0.3947, 0.6, 1.3), (0.0542, 1.3, 1.9)))
    for name, guess in [("bucket", 1.268), ("rocker", 1.9293), ("link", -2.1087), ("barrel", 0.1256)]:
        machine.start(name, guess, guess=True)
    machine.start("stroke", 0.2635)
    pin = rr.Cut.pin("-y")
    machine.close_loop(links["rocker"], links["piston"], pin, at_a=(0.11, 0, 0), name="crosshead")
    machine.close_loop(bucket, links["link"], pin, at_a=(0.073, 0, 0.034), at_b=(0.13, 0, 0), name="lug")
    machine.dependent(["bucket", "rocker", "link", "barrel"])

    # The cylinder holds, curls while the stick drags, and closes while the boom lifts: its control
    # pushes with at most 5 kN towards a length [m].
    def control(length: str) -> str:
        return f"max(-5e3, min(5e3, 2e5*({length} - q.stroke) - 4e3*v.stroke))"

    hold = rr.Phase(control("0.2635"), until=0.6)
    curl = rr.Phase(control("0.2635 + (0.3065 - 0.2635)*ramp(t, 0.6, 1.3)"), until=1.3)
    close = rr.Phase(control("0.3065 + (0.3789 - 0.3065)*ramp(t, 1.3, 1.7)"))
    machine.actuate_in_phases("stroke", [hold, curl, close], name="cylinder")
    return machine, links


def simulation() -> rr.Simulation:
    gravel = rr.Material("gravel", density=2600.0, friction=0.6)
    steel = rr.Material("steel", density=7800.0, friction=0.4)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=steel, position=(0, 0, -0.015), name="floor")
    tub, pedestal = rr.Shape.open_box(0.7, 0.32, 0.28, wall=0.015), rr.Shape.cuboid(0.16, 0.2, 0.275)
    scene.add_fixed(tub, material=steel, position=(0.62, 0, 0), name="box")
    scene.add_fixed(pedestal, material=steel, position=(-0.05, 0, 0.1225), name="pedestal")
    # They settle while the bucket does not move.
    scene.add_grains(
        rr.Grains.lattice(
            (14, 6, 7),
            (0.0495, 0.051, 0.05),
            name="gravel",
            material=gravel,
            grading=(0.04, 0.048),
            origin=(0.298, -0.128, 2.8 / 100),  # "2.8 cm"; 0.028 is the next larger number
            jitter=0.0004,
        )
    )
    machine, links = backhoe(steel)
    handle = scene.add_mechanism(machine)
    for a, b in [
        ("piston", "stick"), ("piston", "link"), ("barrel", "rocker"), ("barrel", "link"),
        ("barrel", "boom"), ("stick", "link"), ("rocker", "bucket"), ("piston", "bucket"),
    ]:  # fmt: skip
        scene.ignore_contact((handle, links[a]), (handle, links[b]))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1.6e-3, solver=rr.Solver(tolerance=1e-3)))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.16):
        x, _, z = frame.body("backhoe/bucket").position
        fx, _, fz = frame.contact_force("backhoe/bucket")
        print(f"{frame.time:4.2f} s  bucket at ({x:.3f}, {z:.3f}) m, gravel pushes ({fx:+7.1f}, {fz:+7.1f}) N")
