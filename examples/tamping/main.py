"""Tamping at 30 Hz: the scene of scene.toml, built in Python."""

import csv
import math
from pathlib import Path

import riprap as rr

UNTIL = 2.6  # s
HERE = Path(__file__).parent
OPEN, CLOSED = 0.42542967802374065, 0.5321944288839185  # lengths of the actuator [m]

Vector = tuple[float, float, float]


def wedge(half: float, y: float, top: float, tip_half: float, tip: float) -> rr.Shape:
    """A bar of half the width and half the breadth, from z = top to z = tip, that tapers."""
    ends = [(half, top), (tip_half, tip)]
    return rr.Shape.hull([(sx * x, sy * y, z) for x, z in ends for sx in (-1, 1) for sy in (-1, 1)])


def tamper(steel: rr.Material) -> rr.Mechanism:
    box = rr.Shape.cuboid
    beam = box(0.6, 0.1, 0.06)
    shaft, plate = wedge(0.03, 0.05, -0.25, 0.025, -0.78), wedge(0.02, 0.14, -0.76, 0.0075, -0.9)

    def body(shape: rr.Shape, mass: float, centre: Vector, inertia: float, at: Vector = (0, 0, 0)) -> rr.Body:
        # Only the inertia about y matters in the plane.
        return rr.Body(shape, steel, position=at, mass=mass, centre=centre, inertia=inertia)

    m = rr.Mechanism("tamper")

    def hinge(parent: rr.Link, at: Vector, part: rr.Body, name: str, joint: str) -> rr.Link:
        return m.revolute(parent, "-y", at, part, name=name, joint_name=joint)

    frame = body(beam, 50, (0, 0, 0.4), 2.0, at=(0, 0, 0.65))
    support = m.prismatic(rr.GROUND, "z", body=frame, name="support", joint_name="zs")
    slide = m.prismatic(support, "x", name="chassis.xc", joint_name="xc")
    lift = m.prismatic(slide, "z", name="chassis.zc", joint_name="zc")
    chassis = hinge(lift, (0, 0, 0), body(beam, 20, (0, 0, 0.05), 0.87), "chassis", "thc")
    flywheel = body(rr.Shape.sphere(0.07), 15, (0.02, 0, 0), 0.11, at=(0.02, 0, 0))
    hinge(chassis, (0, 0, -0.15), flywheel, "flywheel", "phif")
    arm = body(shaft, 15, (0, 0, -0.3), 1.8)
    left = hinge(chassis, (-0.24, 0, 0), arm, "armL", "phiL")
    right = hinge(chassis, (0.24, 0, 0), arm, "armR", "phiR")
    for link in (left, right):
        m.attach(link, plate, steel)
    cylinder = body(box(0.24, 0.06, 0.06), 3, (0.12, 0, 0), 0.02, at=(0.12, 0, 0))
    barrel = hinge(left, (0, 0, 0.3), cylinder, "barrel", "phib")
    piston = body(box(0.24, 0.03, 0.03), 2, (-0.12, 0, 0), 0.013, at=(-0.12, 0, 0))
    rod = m.prismatic(barrel, "x", body=piston, name="rod", joint_name="xa")
    x = 0.2683281572999748
    bar = body(box(0.53, 0.03, 0.03), 3, (x, 0, 0), 0.072, at=(x, 0.1, 0))
    conrod = hinge(left, (0, 0, 0.12), bar, "conrod", "phik")

    for name, value in [("zs", 1.394), ("xc", 0), ("zc", 0), ("thc", 0), ("phif", 0), ("phiL", -0.089)]:
        m.start(name, value)
    for name, value in [("phiR", 0.09), ("phib", 0.09), ("xa", 0.425), ("phik", -0.37)]:
        m.start(name, value, guess=True)
    m.start_velocity("phif", 30 * math.tau)
    pin = rr.Cut.pin("y")
    m.close_loop(rod, right, pin, at_b=(0, 0, 0.3), name="actuator")
    m.close_loop(conrod, right, pin, at_a=(0.5366563145999496, 0, 0), at_b=(0, 0, -0.12), name="synchronisation")
    m.dependent(["phiR", "phib", "xa", "phik"])
    for side, x in [("left", -0.3), ("right", 0.3)]:
        at = (x, 0, 0.25)
        m.point_spring(support, chassis, at_a=at, at_b=at, stiffness=50e3, damping=200, name=f"bushing-{side}")

    def actuator(stretch: str) -> str:
        """Its force [N] for a stretch [m]: a spring and a damper."""
        return f"-5e5*({stretch}) - 1e4*v.xa"

    m.actuate("phif", "50*(2*pi*30 - v.phif)", name="drive")
    # Dive until 1 s or until the target depth, then hold the height reached, then rise.
    rise = "-1e6*(q.zs - min(height + (t - 2.2), 1.394)) - 1000*v.zs"
    phases = [
        rr.Phase("-1e4 - 3000*v.zs", until="q.zs <= 1.03 or t >= 1"),
        rr.Phase("-1e6*(q.zs - height) - 1000*v.zs", until=2.2, latch={"height": "q.zs"}),
        rr.Phase(rise),
    ]
    m.actuate_in_phases("zs", phases, name="support")
    phases = [
        rr.Phase(actuator(f"q.xa - {OPEN}"), until=1.0),
        rr.Phase(actuator(f"q.xa - {OPEN} - ({CLOSED} - {OPEN})*(t - 1)/0.8"), until=1.8),
        rr.Phase(actuator(f"q.xa - {CLOSED}"), until=2.0),
        rr.Phase(actuator(f"q.xa - {CLOSED} + ({CLOSED} - {OPEN})*(t - 2)/0.2"), until=2.2),
        rr.Phase(actuator(f"q.xa - {OPEN}")),
    ]
    m.actuate_in_phases("xa", phases, name="squeeze")
    return m


def add_ballast(scene: rr.SceneBuilder, rock: rr.Material) -> None:
    """The stones of six tables, each with one shape in all sizes."""
    for k in range(1, 7):
        with open(HERE / f"stones-{k}.csv") as table:
            for i, row in enumerate(csv.DictReader(table), 1):
                shape = rr.Shape.from_file(HERE / f"stone-{k}.obj", scale=float(row["scale"]))
                position = [float(row[name]) for name in ("x", "y", "z")]
                rotation = [float(row[name]) for name in ("qw", "qx", "qy", "qz")]
                name = f"ballast-{k}-{i}"
                scene.add(rr.Body(shape, rock, name=name, position=position, rotation=rotation))


def simulation() -> rr.Simulation:
    steel, rock = rr.Material("steel", friction=0.7), rr.Material("rock", density=2700.0, friction=0.7)
    scene = rr.SceneBuilder()
    # The box is 1.1 m long and 0.4 m wide; the sleeper is fixed in it.
    for name, normal, at in [
        ("floor", (0, 0, 1), (0, 0, 0)),
        ("left", (1, 0, 0), (-0.55, 0, 0)),
        ("right", (-1, 0, 0), (0.55, 0, 0)),
        ("front", (0, 1, 0), (0, -0.2, 0)),
        ("back", (0, -1, 0), (0, 0.2, 0)),
    ]:
        scene.add_fixed(rr.Shape.half_space(normal), material=rock, position=at, name=name)
    sleeper = rr.Shape.cuboid(0.25, 0.4, 0.215)
    scene.add_fixed(sleeper, material=rock, position=(0, 0, 0.4075), name="sleeper")
    add_ballast(scene, rock)
    scene.add_mechanism(tamper(steel))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=5e-4, solver=rr.Solver(tolerance=1e-3)))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.1):
        q = frame.mechanism("tamper").q
        print(f"{frame.time:3.1f} s  support at {q[0]:.4f} m, actuator {q[8]:.4f} m")
