"""Tamping unit at 30 Hz, squeezing: the scene of scene.toml, built in Python."""

import math

import riprap as rr

UNTIL = 0.7  # s
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

    frame = body(beam, 50, (0, 0, 0.4), 2.0, at=(0, 0, 0.4))
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
    middle = (0.2683281572999748, 0, 0)
    conrod = hinge(left, (0, 0, 0.12), body(box(0.53, 0.03, 0.03), 3, middle, 0.072, at=middle), "conrod", "phik")

    for name, value in [("zs", 1.37), ("xc", 0), ("zc", 0), ("thc", 0), ("phif", 0), ("phiL", -0.089)]:
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
    m.actuate("zs", "-1e6*(q.zs - 1.37) - 1000*v.zs", name="hold")
    phases = [
        rr.Phase(actuator(f"q.xa - {OPEN}"), until=0.1),
        rr.Phase(actuator(f"q.xa - {OPEN} - ({CLOSED} - {OPEN})*(t - 0.1)/0.4"), until=0.5),
        rr.Phase(actuator(f"q.xa - {CLOSED}")),
    ]
    m.actuate_in_phases("xa", phases, name="squeeze")
    return m


def simulation() -> rr.Simulation:
    scene = rr.SceneBuilder(accept_overlap=math.inf)  # the scheme has no contacts
    scene.add_mechanism(tamper(rr.Material("steel", friction=0.7)))
    return rr.Simulation(scene.build(), rr.DormandPrince(dt=2e-3, tolerance=1e-10))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.05):
        q = frame.mechanism("tamper").q
        print(f"{1e3 * frame.time:4.0f} ms  actuator {q[8]:.6f} m, left arm {q[5]:+.7f} rad")
