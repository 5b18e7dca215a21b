"""Scenes for the tests of sweeps, and what they compare."""

from __future__ import annotations

import csv
import itertools
import shutil
from pathlib import Path
from typing import Any

from conftest import ROOT

from riprap.sweep import Sweep, store, toml

BALL = """\
title = "A ball that falls"
[run]
dt = "1 ms"
until = "0.1 s"
output_every = "10 ms"
frames = false

[parameters]
height = "1 m"
radius = "5 cm"

[materials.rubber]
density = "1100 kg/m^3"
restitution = 0.7

[[body]]
name = "ground"
kind = "fixed"
material = "rubber"
shape = { type = "half-space" }

[[body]]
name = "ball"
material = "rubber"
position = [0, 0, "height"]
shape = { type = "sphere", radius = "radius" }

[[probe]]
body = "ball"
"""

LAST = {"z": {"column": "ball.position_z", "reduce": "last"}, "v": {"column": "ball.velocity_z", "reduce": "min"}}


def ball(folder: Path) -> Path:
    """The scene of a falling ball, as a file in a folder."""
    path = folder / "ball.toml"
    path.write_text(BALL)
    return path


def small_tamping(folder: Path) -> Path:
    """The scene of examples/tamping with fewer stones and only the first part of the dive."""
    example = ROOT / "examples/tamping"
    for mesh in example.glob("*.obj"):
        shutil.copy(mesh, folder)
    document = toml.parse((example / "scene.toml").read_text())
    document["grains"] = document["grains"][:2]
    for group in document["grains"]:
        with open(example / group["file"]) as table:
            lines = list(itertools.islice(table, 31))
        (folder / group["file"]).write_text("".join(lines))
    document["run"] |= {"until": "0.15 s", "output_every": "10 ms"}
    document["mechanism"][0]["joint"][0]["start"] = 1.3
    path = folder / "tamping.toml"
    path.write_text(toml.write(document))
    return path


def starts(sweep: Sweep) -> dict[str, list[str]]:
    """How often each case was started, and from where, by hash."""
    return {case.hash: [row.split(",")[3] for row in store.starts(case.folder)] for case in sweep.cases}


def states(sweep: Sweep) -> dict[str, Any]:
    """The final state of each case as a hash, and its series, by the hash of the case."""
    found = {}
    for case in sweep.cases:
        result = store.read_result(case.folder)
        assert result is not None, case
        found[case.hash] = (result["state_sha256"], (case.run_folder / "series.csv").read_bytes())
    return found


def rows(path: Path) -> list[dict[str, str]]:
    """A table in CSV."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))
