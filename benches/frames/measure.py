"""Measures by how much the frames of a run file slow a run of 5000 stones.

    python benches/frames/measure.py [--riprap target/release/riprap] [--repeats 3] [--threads 1]

The stones fall into a box without frames, once. Then they come to rest, in turns without and with a frame every 10 ms. Besides the wall
time, the time on the processor of the thread that simulates is measured, which other programs on the machine disturb less; frames are
encoded and written by a thread of their own.
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def threads(pid):
    """Time on the processor of each thread of a process [s]."""
    times = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            times[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            pass
    return times


def run(riprap, scene, out, options):
    """Runs a scene: wall time, and the times of its threads, the longest first [s]."""
    command = [riprap, "run", scene, "--out", out, "--force", *options]
    begin = time.monotonic()
    output = tempfile.TemporaryFile()
    child = subprocess.Popen(command, stdout=output, stderr=output)
    last = {}
    while child.poll() is None:
        try:
            last.update(threads(child.pid))
        except OSError:
            pass
        time.sleep(0.02)
    if child.returncode != 0:
        output.seek(0)
        raise SystemExit(output.read().decode())
    return time.monotonic() - begin, sorted(last.values(), reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--riprap", default="target/release/riprap")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", default="1")
    arguments = parser.parse_args()
    out = HERE.parent.parent / "out"
    options = ["--threads", arguments.threads]
    if not (out / "frames-pour" / "end.bin").exists():
        run(arguments.riprap, HERE / "pour.toml", out / "frames-pour", [])
    ratios = []
    for _ in range(arguments.repeats):
        times = {}
        for frames in ["false", "true"]:
            wall, busy = run(arguments.riprap, HERE / "rest.toml", out / f"frames-{frames}", [*options, "--set", f"run.frames={frames}"])
            times[frames] = (wall, busy[0])
            print(f"frames = {frames}: {wall:.2f} s, threads {', '.join(f'{t:.2f}' for t in busy if t > 0.005)} s", flush=True)
        ratios.append([with_frames / without for without, with_frames in zip(times["false"], times["true"])])
    for name, values in zip(["wall time", "simulating thread"], zip(*ratios)):
        changes = [f"{100 * (value - 1):+.1f} %" for value in values]
        print(f"{name} with frames: {', '.join(changes)}; median {100 * (statistics.median(values) - 1):+.1f} %")


if __name__ == "__main__":
    main()
