"""Cantilever beam striking a stop: the scene of scene.toml, built in Python."""

import riprap as rr

UNTIL = 0.5  # s


def simulation() -> rr.Simulation:
    scene = rr.SceneBuilder()
    strip = scene.add_flexible(
        rr.Flexible.beam(
            "strip",
            [(0, 0, 0), (0.5, 0, 0)],
            rectangle=(0.002, 0.02),
            young=210e9,
            poisson=0.3,
            density=7800.0,
            elements=12,
            start="clamped",
        )
    )
    # The lower edge of the last section, 3 mm above the stop.
    edge, stop = ((strip, 12), (0, 0, -0.001)), (None, (0, 0, -0.004))
    scene.add_point_contact(edge, stop, "z", rr.PairLaw(), name="stop")
    return rr.Simulation(scene.build(), rr.MoreauJean(dt=2e-4))


if __name__ == "__main__":
    for frame in simulation().frames(until=UNTIL, every=0.02):
        middle, tip = (1e3 * frame.body(f"strip/{k}").position[2] for k in (6, 12))
        print(f"{1e3 * frame.time:5.0f} ms  middle {middle:+.3f} mm, tip {tip:+.3f} mm")
