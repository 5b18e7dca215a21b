#!/usr/bin/env python3
"""Runs a pile with every engine that is there, one after the other, and prints one table. Called by run.sh."""
import argparse
import json
import os
import subprocess


def object_of(command):
    """Runs a command that prints one JSON object."""
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(lines.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    for name in ("scene", "settle", "window", "folder", "riprap"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rapier")
    parser.add_argument("--mujoco")
    a = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    window = ["--settle", a.settle, "--window", a.window]
    pile = [a.riprap, "bench", "pile", "--json", "--from", a.scene] + window
    pile += os.environ.get("RIPRAP_OPTIONS", "").split()
    engines = [(f"riprap, {n} thread{'s'[: n - 1]}", pile + ["--threads", str(n)]) for n in (1, 2)]
    if a.rapier:
        engines.append(("Rapier f64, default", [a.rapier, a.scene] + window))
        engines.append(("Rapier f64, stiff", [a.rapier, a.scene, "--stiff"] + window))
    if a.mujoco:
        script = os.path.join(here, "mujoco_pile.py")
        engines.append(("MuJoCo, CG", [a.mujoco, script, a.scene] + window))
    head = ["code", "step [ms]", "processor [ms/step]", "contacts", "penetration mean / max [mm]", "wall max [mm]", "v_rms [m/s]", "v_max [m/s]", "drift mean / max [mm]"]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head), flush=True)
    for name, command in engines:
        states = [os.path.join(a.folder, f"{end}.txt") for end in ("begin", "end")]
        told = object_of(command + ["--states"] + states)
        j = object_of([a.riprap, "bench", "judge", "--json", a.scene] + states)
        drift = j["drift"]
        cells = [
            name,
            f"{told['ms_per_step']:.3g}",
            f"{told.get('cpu_ms_per_step') or 0:.3g}",
            f"{told['contacts']:.0f}",
            f"{j['penetration_mean_mm']:.2g} / {j['penetration_max_mm']:.2g}",
            f"{j['wall_max_mm']:.2g}",
            f"{j['v_rms']:.1e}",
            f"{j['v_max']:.1e}",
            f"{drift['mean_mm']:.2g} / {drift['max_mm']:.2g}",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
