"""Results: series, recorded series, folders of runs, tables, progress."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riprap as rr
from riprap import _vtp

SCENE = """
title = "two balls"
[run]
dt = "1 ms"
until = "0.2 s"
output_every = "50 ms"
frames = "both"

[materials.steel]
density = 7800
friction = 0.3

[[body]]
name = "floor"
kind = "fixed"
material = "steel"
shape = { type = "half-space" }

[[body]]
name = "resting"
material = "steel"
position = [0, 0, 0.1]
shape = { type = "sphere", radius = 0.1 }

[[body]]
name = "falling"
material = "steel"
position = [1, 0, 2]
shape = { type = "sphere", radius = 0.1 }
"""


class Bar:
    """A progress bar that notes its calls, with the signature of tqdm."""

    made: list[Bar] = []

    def __init__(self, total: float, desc: str, unit: str, bar_format: str) -> None:
        self.total, self.desc, self.unit = total, desc, unit
        self.done, self.closed = 0.0, 0
        Bar.made.append(self)

    def update(self, n: float) -> None:
        self.done += n

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def bars() -> list[Bar]:
    Bar.made = []
    return Bar.made


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> rr.RunSummary:
    folder = tmp_path_factory.mktemp("run")
    (folder / "scene.toml").write_text(SCENE)
    return rr.run(folder / "scene.toml", folder / "out")


def start(scene: rr.Scene) -> rr.Simulation:
    return rr.Simulation(scene, rr.MoreauJean(dt=1e-3))


# Series


def test_columns_are_found_with_and_without_units() -> None:
    series = rr.Series({"time [s]": [0, 1], "height [m]": [2, 3], "contacts [-]": [0, 4]})
    assert series["height"].tolist() == series["height [m]"].tolist() == [2.0, 3.0]
    assert series.units == {"time": "s", "height": "m", "contacts": "-"}
    assert series.label("height") == "height [m]" and series.label("contacts") == "contacts [–]"
    assert list(series) == ["time", "height", "contacts"] and len(series) == 3


def test_an_unknown_column_names_similar_ones() -> None:
    series = rr.Series({"time [s]": [0.0], "kinetic_energy [J]": [1.0]})
    with pytest.raises(KeyError, match="kinetic_energy"):
        series["kinetik_energy"]


def test_series_refuse_what_is_not_a_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="time"):
        rr.Series({"height [m]": [1.0]})
    with pytest.raises(ValueError, match="height"):
        rr.Series({"time [s]": [0.0, 1.0], "height [m]": [1.0]})
    with pytest.raises(rr.FileError, match="cannot read"):
        rr.Series.read(tmp_path / "none.csv")
    for text in ["", "time [s],x [m]\n0,one\n", "time [s],x [m]\n0\n"]:
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(rr.FileError, match="bad.csv"):
            rr.Series.read(tmp_path / "bad.csv")


def test_recording_gives_the_motion_of_a_falling_ball(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    scene, handle = ball
    run = start(scene)
    quantities: dict[str, Any] = {
        "height [m]": lambda run: run.body(handle).position[2],
        "velocity [m/s]": lambda run: run.body(handle).velocity,
    }
    series = run.record(until=0.3, every=0.1, quantities=quantities)
    t = series.time
    assert t.tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    # The scheme is exact for a constant force.
    assert series["height"] == pytest.approx(1 - 9.81 * t**2 / 2, abs=1e-12)
    assert series["velocity_z"] == pytest.approx(-9.81 * t, abs=1e-12)
    assert series.units["velocity_x"] == "m/s"
    assert series["total_energy"] == pytest.approx(series["total_energy"][0])
    assert run.time == pytest.approx(0.3)


def test_recording_refuses_quantities_that_are_not_numbers(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = start(ball[0])
    with pytest.raises(ValueError, match=r"positions.*shape \(2, 3\)"):
        run.record(until=0.1, every=0.1, quantities={"positions [m]": lambda run: run.positions})
    with pytest.raises(ValueError, match="past `until`"):
        run.until(0.2)
        run.record(until=0.1, every=0.1)


# Folders of runs


def test_a_folder_has_the_summary_series_frames_and_contacts(summary: rr.RunSummary) -> None:
    run = rr.open_run(summary.folder)
    assert run.summary["state"] == "finished" and run.summary["steps"] == 200
    assert run.series.time.tolist() == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])
    assert run.times.tolist() == run.contact_times.tolist() == pytest.approx(run.series.time.tolist())
    assert run.scene.names == ["floor", "resting", "falling"]
    assert "two balls" in repr(run) and "finished" in repr(run)


def test_contacts_of_a_frame_are_those_of_the_simulation(summary: rr.RunSummary) -> None:
    contacts = rr.open_run(summary.folder).contacts()
    run = rr.Simulation(rr.Scene.from_toml_str(SCENE))
    run.until(0.2)
    ours = run.contacts()
    assert contacts.dtype == ours.dtype and len(contacts) == len(ours) == 1
    # Numbers of frames have 32 bits.
    for name in ("bodies", "point", "normal", "gap", "force"):
        assert np.array_equal(contacts[name], ours[name].astype(np.float32)), name


def test_surfaces_of_a_frame_are_those_of_the_simulation(summary: rr.RunSummary) -> None:
    frame = rr.open_run(summary.folder).surfaces(0.1)
    run = rr.Simulation(rr.Scene.from_toml_str(SCENE))
    run.until(0.1)
    ours = _vtp.parse(run._surfaces())
    assert frame.cell_data.keys() == {"body", "material", "speed [m/s]"}
    for body in range(3):
        shown, expected = (s.pick(s.cell_data["body"] == body) for s in (frame, ours))
        assert np.array_equal(np.diff(shown.ends), np.diff(expected.ends))
        # Points are rounded to 1e-5 of the size of a grain.
        assert shown.points[shown.corners] == pytest.approx(expected.points[expected.corners], abs=2e-6)
    speed = frame.cell_data["speed [m/s]"][frame.cell_data["body"] == 2]
    assert np.array_equal(speed, np.full(len(speed), np.float32(run.velocities[2, 2])) * -1)


def test_the_frame_nearest_to_a_time_is_read(summary: rr.RunSummary) -> None:
    run = rr.open_run(summary.folder)
    height = [run.surfaces(t).points[:, 2].max() for t in (0.0, 0.06, 10.0)]
    assert height == pytest.approx([2.1, 2.1 - 9.81 * 0.05**2 / 2, 2.1 - 9.81 * 0.2**2 / 2], abs=1e-5)


def test_what_is_not_a_run_is_named(tmp_path: Path, summary: rr.RunSummary) -> None:
    with pytest.raises(rr.FileError, match="summary.json"):
        rr.open_run(tmp_path)
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(rr.FileError, match="not JSON"):
        rr.open_run(tmp_path)
    (tmp_path / "summary.json").write_text(json.dumps({"state": "finished"}))
    empty = rr.open_run(tmp_path)
    assert len(empty.times) == 0
    with pytest.raises(rr.FileError, match="no frames"):
        empty.contacts()
    with pytest.raises(rr.FileError, match=r"series\.csv"):
        empty.series


def test_frames_are_also_read_from_vtp_files(summary: rr.RunSummary, tmp_path: Path) -> None:
    text = SCENE.replace('"both"', '"vtp"')
    (tmp_path / "scene.toml").write_text(text)
    run = rr.run(tmp_path / "scene.toml", out=tmp_path / "out").open()
    same = rr.open_run(summary.folder)
    assert run.file is None and np.array_equal(run.times, same.times)
    assert np.array_equal(run.contacts()["force"].astype(np.float32), same.contacts()["force"])
    assert run.surfaces().points[:, 2].max() == pytest.approx(same.surfaces().points[:, 2].max(), abs=2e-6)
    with pytest.raises(rr.FileError, match=r"no run\.vtkhdf"):
        run.poses()


def test_damaged_frames_are_an_error(summary: rr.RunSummary, tmp_path: Path) -> None:
    frame = sorted((summary.folder / "frames").glob("surfaces-*.vtp"))[0].read_bytes()
    for damaged in [b"", frame[:50], frame[: len(frame) // 2], frame.replace(b"PolyData", b"Nothing!")]:
        (tmp_path / "frame.vtp").write_bytes(damaged)
        with pytest.raises(rr.FileError, match=r"frame\.vtp"):
            _vtp.read(tmp_path / "frame.vtp")


# Tables


def test_series_become_pandas_and_xarray(summary: rr.RunSummary) -> None:
    frame, data = summary.to_pandas(), summary.to_xarray()
    assert frame.index.name == "time [s]" and frame.attrs["title"] == "two balls"
    assert "kinetic_energy [J]" in frame and len(frame) == 5
    assert "kinetic_energy" in summary.open().to_pandas(units=False)
    assert data["kinetic_energy"].attrs["units"] == "J" and data["time"].attrs["units"] == "s"
    # A ball of 0.1 m falls for 0.2 s.
    mass = 7800 * 4 / 3 * np.pi * 0.1**3
    assert float(data["kinetic_energy"].sel(time=0.2)) == pytest.approx(mass * (9.81 * 0.2) ** 2 / 2, rel=1e-9)
    assert frame["kinetic_energy [J]"].to_numpy() == pytest.approx(data["kinetic_energy"].to_numpy())


def test_bodies_become_pandas_and_xarray(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = start(ball[0])
    run.until(0.1)
    frame, data = run.to_pandas(), run.to_xarray()
    assert frame.index.tolist() == ["floor", "ball"]
    assert frame.loc["ball", "velocity_z [m/s]"] == pytest.approx(-0.981)
    assert np.isinf(frame.loc["floor", "mass [kg]"])
    assert float(data["position"].sel(body="ball", axis="z")) == pytest.approx(1 - 0.04905)
    assert data["angular_velocity"].attrs["units"] == "rad/s" and float(data["time"]) == pytest.approx(0.1)


def test_missing_packages_are_named_with_a_remedy(
    ball: tuple[rr.Scene, rr.BodyHandle], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(ball[0])
    series = run.record(until=0.01, every=0.01)
    for module in ("pandas", "xarray", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, module, None)
    for call, package in [
        (run.to_pandas, "pandas"),
        (run.to_xarray, "xarray"),
        (series.to_pandas, "pandas"),
        (series.to_xarray, "xarray"),
        (lambda: run.until(0.02, progress=True), "tqdm"),
    ]:
        with pytest.raises(ImportError, match=rf"`{package}`: pip install {package}"):
            call()
    assert "Series" in series._repr_html_()


# Progress


def test_a_bar_follows_the_time_of_a_simulation(ball: tuple[rr.Scene, rr.BodyHandle], bars: list[Bar]) -> None:
    run = start(ball[0])
    run.until(0.2, progress=Bar)
    run.until(0.5, progress=Bar, observer=lambda run: None)
    list(run.frames(until=0.7, every=0.1, progress=Bar))
    run.record(until=0.8, every=0.1, progress=Bar)
    assert [bar.total for bar in bars] == pytest.approx([0.2, 0.3, 0.2, 0.1])
    assert [bar.done for bar in bars] == pytest.approx([0.2, 0.3, 0.2, 0.1])
    assert all(bar.closed == 1 and bar.unit == "s" for bar in bars)


def test_a_bar_is_closed_when_an_observer_ends_or_fails(ball: tuple[rr.Scene, rr.BodyHandle], bars: list[Bar]) -> None:
    run = start(ball[0])
    run.until(1.0, lambda run: run.time > 0.0995, progress=Bar)

    def fail(run: rr.Simulation) -> None:
        raise RuntimeError("observer")

    with pytest.raises(RuntimeError, match="observer"):
        run.until(1.0, fail, progress=Bar)
    assert [bar.done for bar in bars] == pytest.approx([0.1, 0.0]) and all(bar.closed == 1 for bar in bars)


def test_a_bar_follows_a_run_of_a_scene_file(tmp_path: Path, bars: list[Bar]) -> None:
    (tmp_path / "scene.toml").write_text(SCENE.replace("0.2 s", "2 s"))
    rr.run(tmp_path / "scene.toml", tmp_path / "out", progress=Bar)
    assert [bar.desc for bar in bars] == ["run"]
    assert bars[0].total == 2.0 and bars[0].done == pytest.approx(2.0) and bars[0].closed == 1


def test_an_exception_of_a_bar_ends_the_run(tmp_path: Path, ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    def broken(**options: object) -> object:
        raise RuntimeError("no bar today")

    with pytest.raises(RuntimeError, match="no bar today"):
        start(ball[0]).until(0.1, progress=broken)
    (tmp_path / "scene.toml").write_text(SCENE)
    with pytest.raises(RuntimeError, match="no bar today"):
        rr.run(tmp_path / "scene.toml", tmp_path / "out", progress=broken)


def test_progress_is_that_of_tqdm_or_none(ball: tuple[rr.Scene, rr.BodyHandle], capsys: pytest.CaptureFixture[str]) -> None:
    run = start(ball[0])
    run.until(0.1, progress=False)
    assert capsys.readouterr().err == ""
    run.until(0.2, progress=True)
    shown = capsys.readouterr().err
    assert "run: 100%" in shown and "0.1/0.1 s" in shown
    with pytest.raises(TypeError, match="tqdm"):
        run.until(0.3, progress="bar")  # type: ignore[arg-type]


# Viewer


def test_the_viewer_of_a_run_is_a_page_for_notebooks_and_files(summary: rr.RunSummary, tmp_path: Path) -> None:
    page = summary.open().view(height=400)
    assert page.n_frames == 5 and repr(page).startswith("<riprap.ViewerPage: 5 frames, ")
    page.save(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text(encoding="utf-8") == page.html
    assert page.html.count('id="riprap-data"') == 1 and "two balls" in page.html
    frame = page._repr_html_()
    assert frame.startswith('<iframe srcdoc="') and "height:400px" in frame
    assert frame.count('"') == 6, "quotes in the page would end the attribute"


def test_mistakes_with_the_viewer_are_explained(summary: rr.RunSummary, tmp_path: Path) -> None:
    with pytest.raises(rr.FileError, match="is not the folder of a run"):
        rr.ViewerPage(tmp_path / "nothing")
    with pytest.raises(rr.FileError, match="contains no run.vtkhdf"):
        rr.ViewerPage(tmp_path)
    for size in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="megabytes"):
            summary.open().view(max_size=size)
