"""The examples that fit and optimize with sweeps, in a small version."""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT


def load(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


def test_heaps_are_steeper_with_more_friction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = load(ROOT / "examples/fit-friction/fit.py", monkeypatch)
    heaps = fit.Heaps(tmp_path, count=30, jobs=2)
    angles = dict(heaps.angles([0.1, 0.6], [1]))
    # Single heaps scatter by two or three degrees.
    assert angles[0.6] > angles[0.1] + 5.0


def test_the_interval_of_the_fitted_friction_contains_the_true_one_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = load(ROOT / "examples/fit-friction/fit.py", monkeypatch)
    numbers = random.Random(1)

    def heap(friction: float) -> float:
        x = friction - float(fit.MIDDLE)
        return 19.0 + 69.0 * x - 60.0 * x * x + numbers.gauss(0.0, 2.3)

    inside, studies = 0, 300
    for _ in range(studies):
        measured = [heap(fit.TRUE_FRICTION) for _ in range(30)]
        target = fit.mean(measured)
        error = math.sqrt(sum((value - target.value) ** 2 for value in measured) / 29 / 30)
        samples = [(friction, heap(friction)) for friction in (0.2, 0.3, 0.4, 0.5) for _ in range(10)]
        result = fit.solve(samples, target, error)
        inside += abs(result.friction - fit.TRUE_FRICTION) < 1.96 * result.error
    # 95 % with three standard errors of 300 studies, and 1 % for quantiles of the normal instead of Student's distribution.
    assert 0.95 - 0.01 - 0.038 < inside / studies < 0.95 + 0.038


def test_the_optimum_of_a_known_merit_is_within_its_interval_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    optimize = load(ROOT / "examples/tamping-frequency/optimize.py", monkeypatch)
    numbers = random.Random(2)

    def study() -> list[Any]:
        runs = []
        for phase in range(6):
            level = numbers.gauss(280.0, 40.0)
            for frequency in (15.0, 25.0, 35.0, 45.0, 55.0):
                merit = level - 0.1 * (frequency - 32.0) ** 2 + numbers.gauss(0.0, 8.0)
                runs.append(optimize.Dive(frequency, float(phase), merit + 3.0 * optimize.PRICE, 3.0))
        return runs

    studies = [study() for _ in range(100)]
    found = [optimize.optimum(runs) for runs in studies]
    inside = sum(abs(each.frequency - 32.0) < each.interval for each in found)
    # 95 of 100, with three standard deviations of the binomial distribution.
    assert inside >= 95 - 7
    assert max(each.interval for each in found) < 10.0
    assert sum(each.scatter for each in found) / 100 == pytest.approx(8.0, rel=0.05)
    # Levels of the phases do not matter, and a merit without a maximum has its best frequency at an end.
    shifted = [run._replace(depth=run.depth + 9.0 * run.phase) for run in studies[0]]
    assert optimize.optimum(shifted).frequency == pytest.approx(found[0].frequency, abs=1e-4)
    rising = [run._replace(depth=2.0 * run.frequency, power=0.0) for run in studies[0]]
    assert optimize.optimum(rising).frequency == 55.0


def test_a_dive_is_measured_from_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    optimize = load(ROOT / "examples/tamping-frequency/optimize.py", monkeypatch)
    (dive,) = optimize.dives(tmp_path, [30.0], [90.0], jobs=1, until=0.02)
    assert (dive.frequency, dive.phase) == (30.0, 90.0)
    # Before the ballast is reached, the support of 50 kg and what hangs from it fall with 10 kN: at most 200 m/s².
    assert 0.0 < dive.depth < 1000 * 200 * 0.02**2 / 2
