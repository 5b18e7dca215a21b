"""Entries of the gallery give the same bits from Python and from their scene files."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import ROOT

import riprap as rr

ENTRIES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/main.py"))
# Long runs are compared over their first part [s].
SHORT = {"pour": 0.3}


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("main", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_entries() -> None:
    assert len(ENTRIES) >= 3


@pytest.mark.parametrize("name", ENTRIES)
def test_python_and_toml_give_the_same_bits(name: str, tmp_path: Path) -> None:
    folder = ROOT / "examples" / name
    main = load(folder / "main.py")
    end: float = main.UNTIL
    built: rr.Simulation = main.simulation()
    scene = rr.Scene.from_toml(folder / "scene.toml")
    assert scene.until == end
    read = rr.Simulation(scene)
    until = SHORT.get(name, end)
    report = built.until(until)
    read.until(until)
    assert report.steps > 100
    assert built.scene.names == scene.names
    for ours, theirs in zip(built.arrays().values(), read.arrays().values()):
        assert np.array_equal(ours, theirs)
    assert built.state == read.state
    # And as `riprap run` does.
    summary = rr.run(folder / "scene.toml", tmp_path / "out", until=until, cache=False)
    assert summary.state == built.state


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_are_typed(name: str) -> None:
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    done = subprocess.run([*command, str(ROOT / "examples" / name / "main.py")], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
