"""Scenes that several tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

import riprap as rr

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def steel() -> rr.Material:
    return rr.Material("steel", density=7800.0, friction=0.3)


@pytest.fixture
def ball(steel: rr.Material) -> tuple[rr.Scene, rr.BodyHandle]:
    """A ball 1 m above a floor."""
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.half_space(), material=steel, name="floor")
    handle = scene.add(rr.Body(rr.Shape.sphere(0.1), steel, name="ball", position=(0, 0, 1)))
    return scene.build(), handle


@pytest.fixture
def heap(steel: rr.Material) -> tuple[rr.Scene, rr.GrainsHandle]:
    """Forty stones above a box."""
    scene = rr.SceneBuilder()
    scene.add_fixed(rr.Shape.open_box(0.3, 0.3, 0.3), material=steel)
    stones = rr.Grains.stones(
        40, grading=(0.03, 0.05), material=steel, seed=3, inside=((-0.15, -0.15, 0.0), (0.15, 0.15, 1.0))
    )
    handle = scene.add_grains(stones)
    return scene.build(), handle


def pendulum(law: object = None) -> tuple[rr.Mechanism, rr.Link]:
    """A mass of 2 kg on an arm of 1 m, released at 0.1 rad."""
    mechanism = rr.Mechanism("pendulum")
    arm = mechanism.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
    mechanism.start(arm, 0.1)
    if law is not None:
        mechanism.actuate(arm, law)  # type: ignore[arg-type]
    return mechanism, arm
