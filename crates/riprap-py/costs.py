"""Measures what Python costs: stepping 5000 stones, callables as laws, copies of arrays, solving a problem."""

from __future__ import annotations

import statistics
import time
from typing import Callable

import riprap as rr


def best(action: Callable[[], object], repeat: int = 7) -> float:
    """Shortest wall time of an action [s]."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def stones(count: int) -> rr.Simulation:
    rock = rr.Material("rock", density=2700.0, friction=0.6)
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.open_box(1.0, 1.0, 0.8), material=rock)
    inside = ((-0.5, -0.5, 0.0), (0.5, 0.5, 4.0))
    scene.add_grains(rr.Grains.stones(count, grading=(0.03, 0.05), material=rock, seed=1, inside=inside))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))


def stepping(run: rr.Simulation, steps: int) -> tuple[float, float]:
    """Median wall time of a step [s], and what of it is not spent in the stages of the step [–]."""
    walls, shares = [], []
    for _ in range(steps):
        begin = time.perf_counter()
        report = run.step()
        wall = time.perf_counter() - begin
        walls.append(wall)
        shares.append(1 - report.wall / wall)
    return statistics.median(walls), statistics.median(shares)


def driven(law: object, bodies: int) -> rr.Simulation:
    """A pendulum with a prescribed motion beside some balls at rest."""
    mechanism = rr.Mechanism("pendulum")
    arm = mechanism.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
    mechanism.drive(arm, rr.Motor.motion(law))  # type: ignore[arg-type]
    scene = rr.SceneBuilder(gravity=(0, 0, 0))
    scene.add_mechanism(mechanism)
    if bodies:
        steel = rr.Material("steel", density=7800.0)
        scene.add_grains(rr.Grains.lattice((bodies, 1, 1), (1, 1, 1), shape=rr.Shape.sphere(0.1), material=steel))
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-5))


def per_call(bodies: int) -> tuple[float, int]:
    """Extra time per call of a callable compared with an expression [s], and calls per step."""
    calls = 0

    def law(t: float) -> tuple[float, float, float]:
        nonlocal calls
        calls += 1
        return (0.1, 0.0, 0.0)

    python, plain = driven(law, bodies), driven("0.1 + 0*t", bodies)
    steps = 1000
    times: list[tuple[float, float]] = []
    calls = 0
    for _ in range(60):
        pair = [best(lambda: run.until(run.time + steps * 1e-5), 1) for run in (python, plain)]
        times.append((pair[0], pair[1]))
    per_step = round(calls / (60 * steps))
    fastest = [min(column) for column in zip(*times)]
    return (fastest[0] - fastest[1]) / steps / per_step, per_step


def main() -> None:
    run = stones(5000)
    run.drag(5.0)
    run.until(0.6)
    wall, share = stepping(run, 60)
    print(f"step of 5000 stones {1e3 * wall:.1f} ms, of which outside the stages {100 * share:.2f} %")
    print(f"positions of 5001 bodies {1e6 * best(lambda: run.positions, 200):.1f} µs")
    print(f"contacts, {len(run.contacts())} of them {1e6 * best(lambda: run.contacts(), 50):.1f} µs")
    for bodies in (0, 600):
        cost, per_step = per_call(bodies)
        print(f"callable as drive beside {bodies} balls {1e6 * cost:.2f} µs per call, {per_step} calls per step")
    problem = run.contact_problem()
    begin = time.perf_counter()
    solution = rr.solve(problem, rr.Solver(tolerance=1e-4))
    wall = time.perf_counter() - begin
    print(f"solve {len(problem)} contacts {1e3 * wall:.1f} ms, outside the solver {100 * (1 - solution.report.wall / wall):.2f} %")


if __name__ == "__main__":
    main()
