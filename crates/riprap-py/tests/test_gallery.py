"""Entries of the gallery give bitwise identical results from Python and from their scene files."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import ROOT

import riprap as rr

GALLERY = ROOT / "examples"
ENTRIES = sorted(path.parent.name for path in GALLERY.glob("*/scene.toml"))
# Long runs are compared over their first part [s]: contacts and drives are then already at work, and one different
# bit would spread.
PARTS = {
    "angle-of-repose": 0.1,
    "bucket": 0.5,
    "crane": 0.8,
    "granular-chains": 1.0,
    "hopper": 0.6,
    "oedometer": 0.4,
    "pour": 0.2,
    "rotating-drum": 0.5,
    "shear-box": 0.3,
    "sheared-cell": 0.2,
    "silo": 0.3,
    "slider-crank": 0.02,
    "tamping": 0.06,
    "triaxial": 0.5,
    "tumbler": 0.8,
    "wheel": 0.3,
    "wrecking-ball": 0.2,
}


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("main", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_entry_has_a_program() -> None:
    assert len(ENTRIES) >= 20
    assert [name for name in ENTRIES if not (GALLERY / name / "main.py").is_file()] == []


@pytest.mark.parametrize("name", ENTRIES)
def test_python_and_toml_give_the_same_bits(name: str, tmp_path: Path) -> None:
    folder = GALLERY / name
    main = load(folder / "main.py")
    end: float = main.UNTIL
    built: rr.Simulation = main.simulation()
    scene = rr.Scene.from_toml(folder / "scene.toml")
    assert scene.until == end
    assert built.scene.names == scene.names
    read = rr.Simulation(scene)
    assert built.state == read.state
    until = PARTS.get(name, end)
    report = built.until(until)
    read.until(until)
    assert report.steps >= 100
    for ours, theirs in zip(built.arrays().values(), read.arrays().values()):
        assert np.array_equal(ours, theirs)
    assert built.state == read.state


@pytest.mark.parametrize("name", ["bouncing-ball", "pour", "slider-crank"])
def test_python_and_the_command_give_the_same_bits(name: str, tmp_path: Path) -> None:
    folder = GALLERY / name
    built: rr.Simulation = load(folder / "main.py").simulation()
    until = PARTS.get(name, 1.0)
    built.until(until)
    summary = rr.run(folder / "scene.toml", tmp_path / "out", until=until, cache=False)
    assert summary.state == built.state


def test_entries_are_typed(tmp_path: Path) -> None:
    # One call for all: as copies, because modules of one call need different names.
    for name in ENTRIES:
        shutil.copy(GALLERY / name / "main.py", tmp_path / f"{name.replace('-', '_')}.py")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
