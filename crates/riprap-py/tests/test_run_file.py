"""`run.vtkhdf`, read by VTK, h5py and riprap: frames, points, names and forces; and after kills."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import pytest

import riprap as rr

SCENE = """
seed = 1
[run]
dt = "1 ms"
until = "0.1 s"
output_every = "10 ms"
contacts_every = "20 ms"

[materials.rock]
density = 2700
friction = 0.5

[[body]]
name = "floor"
kind = "fixed"
material = "rock"
shape = { type = "half-space" }

[[body]]
name = "block"
material = "rock"
position = [0, 0, 0.1]
velocity = [0.5, 0, 0]
shape = { type = "box", size = [0.2, 0.2, 0.2] }

[[body]]
name = "ball"
material = "rock"
position = [1, 0, 0.1]
shape = { type = "sphere", radius = 0.1 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("file")
    (base / "scene.toml").write_text(SCENE)
    return rr.run(base / "scene.toml", out=base / "out").folder


class Vtk:
    """A run file as VTK reads it."""

    def __init__(self, path: Path) -> None:
        self.vtk = pytest.importorskip("vtk")
        self.reader = self.vtk.vtkHDFReader()
        assert self.reader.CanReadFile(str(path))
        self.reader.SetFileName(str(path))
        self.reader.UpdateInformation()
        # VTK lists field data of single data sets only.
        for name in ("names", "materials"):
            self.reader.GetFieldDataArraySelection().AddArray(name)
        key = self.vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        information = self.reader.GetOutputInformation(0)
        self.times = [information.Get(key, k) for k in range(information.Length(key))]

    def blocks(self, k: int) -> Dict[str, Any]:
        """The blocks of a frame by name."""
        self.reader.SetStep(k)
        self.reader.Update()
        data = self.reader.GetOutputDataObject(0)
        found = {}
        for i in range(data.GetNumberOfPartitionedDataSets()):
            name = data.GetMetaData(i).Get(self.vtk.vtkCompositeDataSet.NAME())
            part = data.GetPartitionedDataSet(i)
            assert part.GetNumberOfPartitions() == 1
            found[name] = part.GetPartition(0)
        return found


def numbers(array: Any) -> Any:
    from vtk.util.numpy_support import vtk_to_numpy  # type: ignore[import-untyped]

    return vtk_to_numpy(array)


def points(block: Any) -> Any:
    return numbers(block.GetPoints().GetData())


def texts(block: Any, name: str) -> List[str]:
    array = block.GetFieldData().GetAbstractArray(name)
    return [array.GetValue(k) for k in range(array.GetNumberOfValues())]


def test_vtk_finds_the_frames_points_names_and_forces_that_were_written(folder: Path) -> None:
    file, run = Vtk(folder / "run.vtkhdf"), rr.Simulation(rr.Scene.from_toml_str(SCENE))
    assert file.times == pytest.approx(np.arange(11) * 0.01)
    for k, t in enumerate(file.times):
        run.until(t)
        blocks = file.blocks(k)
        assert set(blocks) == {"stones", "walls", "centres", "contacts"}
        stones, centres, contacts = blocks["stones"], blocks["centres"], blocks["contacts"]
        assert np.array_equal(points(centres), run.positions)
        data = centres.GetPointData()
        assert np.array_equal(numbers(data.GetArray("velocity [m s^-1]")), run.velocities.astype(np.float32))
        assert texts(centres, "names") == ["floor", "block", "ball"] and texts(centres, "materials") == ["rock"]
        # The block moves as a whole: its corners are around its centre.
        cells = numbers(stones.GetCellData().GetArray("body"))
        assert np.bincount(cells).tolist() == [0, 6, 512] and stones.GetNumberOfCells() == 518
        corners = points(stones)[:8]
        assert corners.mean(axis=0) == pytest.approx(run.positions[1], abs=2e-6)
        assert np.ptp(corners, axis=0).min() > 0.19
        speed = numbers(stones.GetCellData().GetArray("speed [m s^-1]"))[0]
        assert speed == np.float32(np.linalg.norm(run.velocities[1]))
        # Contacts are written at every other frame.
        ours = run.contacts()
        if k % 2 == 0 and len(ours):
            force = {name: numbers(contacts.GetPointData().GetArray(f"{name}force [N]")) for name in ("", "normal ", "tangential ")}
            assert np.array_equal(force[""], ours["force"].astype(np.float32))
            assert force["normal "] + force["tangential "] == pytest.approx(force[""], rel=1e-5, abs=1e-4)
            assert np.einsum("ij,ij->i", force["tangential "], ours["normal"]) == pytest.approx(0, abs=1e-4)
            assert np.array_equal(numbers(contacts.GetPointData().GetArray("bodies")), ours["bodies"])
            assert contacts.GetNumberOfCells() == len(ours)


def test_h5py_reads_the_file(folder: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "run.vtkhdf") as file:
        assert file["VTKHDF/centres/Steps"].attrs["NSteps"] == 11
        assert [name.decode() for name in file["VTKHDF/centres/FieldData/names"][:3]] == ["floor", "block", "ball"]
        found: List[str] = []
        file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) and len(item[()]) else None)
        assert len(found) > 30


def test_a_folder_gives_poses_contacts_and_names(folder: Path) -> None:
    run, simulation = rr.open_run(folder), rr.Simulation(rr.Scene.from_toml_str(SCENE))
    assert len(run.times) == 11 and len(run.contact_times) == 6
    simulation.until(0.06)
    frame = run.poses(0.061)
    assert frame["time"] == simulation.time and frame["names"] == ["floor", "block", "ball"]
    assert np.array_equal(frame["position"], simulation.positions)
    assert np.array_equal(frame["rotation"], simulation.rotations.astype(np.float32))
    assert np.array_equal(frame["velocity"], simulation.velocities.astype(np.float32))
    assert np.array_equal(run.contacts(0.06)["force"], simulation.contacts()["force"].astype(np.float32))
    with pytest.raises(rr.FileError, match="no frame 11"):
        rr.RunFile(folder).frame(11)
    (folder.parent / "broken.vtkhdf").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(rr.FileError, match="not a run file"):
        rr.RunFile(folder.parent / "broken.vtkhdf")


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_vtk_opens_what_20_kills_leave(tmp_path: Path) -> None:
    pytest.importorskip("vtk")
    text = SCENE.replace('"0.1 s"', '"900 s"').replace("10 ms", "1 ms").replace("20 ms", "2 ms")
    (tmp_path / "scene.toml").write_text(text)
    moments = random.Random(3)
    for k in range(20):
        out = tmp_path / str(k)
        program = f"import riprap as rr; rr.run({str(tmp_path / 'scene.toml')!r}, out={str(out)!r})"
        child = subprocess.Popen([sys.executable, "-c", program])
        begin = time.monotonic()
        while not (out / "run.vtkhdf").exists() and time.monotonic() < begin + 60:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.2))
        child.send_signal(signal.SIGKILL)
        child.wait()
        ours, file = rr.RunFile(out), Vtk(out / "run.vtkhdf")
        n = len(ours)
        assert n > 0 and (file.times == ours.times.tolist() or n == 1)
        for frame in {0, n // 2, n - 1}:
            blocks = file.blocks(frame)
            assert np.array_equal(points(blocks["centres"]), ours.frame(frame)["position"])
            assert blocks["contacts"].GetNumberOfPoints() == len(ours.contacts(frame)["gap"])
