"""Plots: their data against known answers, units on axes, and pictures."""

from __future__ import annotations

import doctest
import importlib
import math
import sys
from pathlib import Path
from typing import Any, Iterator

import matplotlib
import numpy as np
import pytest

import riprap as rr
import riprap.plot as plot
from riprap import _riprap
from riprap.plot import _network, _source, _surface

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    pyplot.close("all")


def drop(builder: rr.SceneBuilder, until: float = 0.5) -> rr.Simulation:
    run = rr.Simulation(builder.build(), rr.MoreauJean(dt=1e-3, solver=rr.Solver(tolerance=1e-8)))
    run.until(until)
    return run


@pytest.fixture(scope="module")
def column() -> rr.Simulation:
    """Three balls of 1 kg, one on top of the other, held upright by their locks."""
    steel = rr.Material("steel", density=7800.0, friction=0.3)
    builder = rr.SceneBuilder(gravity=(0, 0, -10))
    builder.add_fixed(rr.Shape.half_space(), material=steel, name="floor")
    for k in range(3):
        ball = rr.Body(rr.Shape.sphere(0.1), steel, position=(0, 0, 0.1 + 0.2 * k), mass=1.0, locked=("x", "y", "rx", "ry", "rz"))
        builder.add(ball)
    return drop(builder)


@pytest.fixture(scope="module")
def bed() -> rr.Simulation:
    """Sixty stones in a box."""
    rock = rr.Material("rock", density=2700.0, friction=0.6)
    builder = rr.SceneBuilder(drag=5.0)
    builder.add_fixed(rr.Shape.open_box(0.25, 0.25, 0.3), material=rr.Material("steel", friction=0.4), name="box")
    inside = ((-0.12, -0.12, 0.0), (0.12, 0.12, 1.0))
    builder.add_grains(rr.Grains.stones(60, grading=(0.03, 0.05), material=rock, seed=3, inside=inside))
    run = rr.Simulation(builder.build(), rr.MoreauJean(dt=1e-3))
    run.until(0.8)
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a pendulum-free scene: a ball on a floor, with frames."""
    path = tmp_path_factory.mktemp("plots")
    (path / "scene.toml").write_text("""
        run = { dt = "1 ms", until = "0.1 s", output_every = "20 ms", account = true }
        materials.rock = { density = 2700, friction = 0.5 }
        [[body]]
        name = "floor"
        kind = "fixed"
        material = "rock"
        shape = { type = "half-space" }
        [[body]]
        name = "block"
        material = "rock"
        position = [0, 0, 0.05]
        velocity = [1, 0, 0]
        shape = { type = "box", size = [0.1, 0.1, 0.1] }
    """)
    rr.run(path / "scene.toml", path / "out")
    return path / "out"


# Forces


def test_pairs_carry_the_weight_above_them(column: rr.Simulation) -> None:
    pairs = _network.pairs_of(column.contacts())
    assert pairs.bodies.tolist() == [[0, 1], [1, 2], [2, 3]]
    # To the tolerance of the solver.
    assert pairs.force == pytest.approx([30.0, 20.0, 10.0], rel=1e-6)
    assert np.abs(pairs.normal) == pytest.approx(np.tile([0.0, 0.0, 1.0], (3, 1)), abs=1e-12)
    assert (pairs.normal[:, 2] > 0).all(), "from the first body to the second"


def test_chains_run_between_centres_and_end_at_the_floor(column: rr.Simulation) -> None:
    lines, force = _network.chains(_source.moment_of(column))
    expected = [[0.0, 0.1], [0.1, 0.3], [0.3, 0.5]]
    # Surfaces are 32-bit numbers.
    assert lines[:, :, 2] == pytest.approx(np.array(expected), abs=1e-6)
    assert force == pytest.approx([30.0, 20.0, 10.0], rel=1e-6)


def test_force_chains_are_as_wide_as_the_force_and_have_units(column: rr.Simulation) -> None:
    ax = plot.force_chains(column, view="y")
    bars = ax.collections[-1]
    widths = [np.ptp(np.asarray(path.vertices)[:, 0]) for path in bars.get_paths()]
    assert widths == pytest.approx([0.2 / 9, 0.4 / 9, 0.2 / 3], rel=0.01)  # a third of a grain at most
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "z [m]")
    assert "[N]" in pyplot.gcf().axes[-1].get_ylabel()


def test_centres_are_those_of_mass(bed: rr.Simulation) -> None:
    centres = _source.moment_of(bed, contacts=False).centres()
    assert centres[1:] == pytest.approx(bed.positions[1:], abs=2e-7)


def test_the_rose_of_a_column_is_vertical(column: rr.Simulation) -> None:
    ax: Any = plot.fabric(column, bins=36)
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert heights.mean() == pytest.approx(1.0)
    assert np.flatnonzero(heights > 0).tolist() in ([8, 26], [9, 27]), "up and down only"
    label = ax.get_legend_handles_labels()[1][0]
    assert "a = 2.00" in label and "90°" in label


def test_the_rose_of_a_hexagonal_packing_is_isotropic() -> None:
    # A disc amid six others that press on it from six directions: ⟨cos 2θ⟩ = ⟨sin 2θ⟩ = 0.
    rock = rr.Material("rock", density=1000.0)
    builder = rr.SceneBuilder(planar=True, gravity=(0, 0, 0))
    builder.add(rr.Body(rr.Shape.disc(0.1), rock))
    for angle in np.arange(6) * math.pi / 3:
        at = np.array([math.cos(angle), math.sin(angle), 0.0])
        builder.add(rr.Body(rr.Shape.disc(0.05), rock, position=0.15 * at, force=-10.0 * at))
    run = rr.Simulation(builder.build(), rr.MoreauJean(dt=1e-3, solver=rr.Solver(tolerance=1e-10)))
    run.step()
    ax: Any = plot.fabric(run, bins=12)
    assert "a = 0.00" in ax.get_legend_handles_labels()[1][0]


def test_the_distribution_of_forces_has_unit_area(bed: rr.Simulation) -> None:
    ax = plot.normal_forces(bed, bins=10)
    x, density = (np.asarray(a, dtype=float) for a in ax.lines[0].get_data())
    width = np.diff(x).min()
    assert (density * width).sum() == pytest.approx(1.0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("normal force f/⟨f⟩ [–]", "probability density [–]")


def test_unique_forces_come_from_the_table_of_riprap_forces(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text("""
        run = { dt = "1 ms", until = "20 ms", output_every = "10 ms", checkpoint_every = "10 ms" }
        materials.rock = { density = 2700, friction = 0.5 }
        [[body]]
        name = "floor"
        kind = "fixed"
        material = "rock"
        shape = { type = "half-space" }
        [[body]]
        name = "block"
        material = "rock"
        position = [0, 0, 0.05]
        shape = { type = "box", size = [0.1, 0.1, 0.1] }
    """)
    out = tmp_path / "out"
    rr.run(tmp_path / "scene.toml", out)
    with pytest.raises(rr.FileError, match="run `riprap forces"):
        plot.force_chains(out, unique=True)
    assert _riprap.main(["riprap", "forces", str(out)]) == 0
    # A block stands on its four corners, with a quarter of its weight on each.
    forces = rr.open_run(out).unique_forces()
    assert forces["force"][:, 2] == pytest.approx(np.full(4, 2.7 * 9.81 / 4))
    assert forces["bodies"].tolist() == [[0, 1]] * 4
    assert plot.force_chains(out, unique=True).get_xlabel() == "x [m]"
    with pytest.raises(ValueError, match="last checkpoint"):
        plot.force_chains(out, unique=True, time=0.0)
    run = rr.Simulation(rr.Scene.from_toml(tmp_path / "scene.toml"))
    run.until(0.01)
    assert plot.force_chains(run, unique=True).get_xlabel() == "x [m]"


def test_no_contacts_are_an_error_that_says_when(ball: tuple[rr.Scene, rr.BodyHandle]) -> None:
    run = rr.Simulation(ball[0], rr.MoreauJean(dt=1e-3))
    run.until(0.01)
    for function in (plot.force_chains, plot.normal_forces, plot.fabric):
        with pytest.raises(ValueError, match="t = 0.01 s"):
            function(run)


# Gradings


def test_a_sieve_curve_rises_by_the_mass_of_each_grain() -> None:
    ax = plot.grading(rr.SieveCurve([0.04, 0.02, 0.03], [1.0, 2.0, 1.0]))
    x, y = ax.lines[0].get_data()
    assert np.asarray(x).tolist() == pytest.approx([20, 20, 30, 40])
    assert np.asarray(y).tolist() == pytest.approx([0, 50, 75, 100])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("aperture [mm]", "passing mass [%]")


def test_gradings_of_a_simulation_are_those_asked_for(bed: rr.Simulation) -> None:
    curve = bed.grading()
    sizes = curve.points()[:, 0]
    assert len(sizes) == 60 and curve.mass == pytest.approx(bed.scene.masses[1:].sum())
    assert 0.0299 < sizes.min() and sizes.max() < 0.0501
    rock = rr.Material("rock", density=2700.0)
    grains = rr.Grains.spheres(50, radius=(0.01, 0.02), material=rock, inside=((0, 0, 0), (1, 1, 1)))
    x, _ = plot.grading(grains).lines[0].get_data()
    assert sorted(np.asarray(x)[1:]) == pytest.approx(sorted(1e3 * grains.sizes()))


def test_gradings_of_a_folder_are_those_of_its_scene(folder: Path) -> None:
    x, _ = plot.grading(folder).lines[0].get_data()
    assert np.asarray(x).tolist() == pytest.approx([100.0, 100.0])


def test_pieces_of_broken_stones_are_sieved_and_drawn() -> None:
    run = rr.Simulation(rr.Scene.from_toml_str("""
        run = { dt = "1 ms", until = "1 s" }
        materials.rock = { density = 2700, friction = 0.5, fragmentation = { strength = "5 kPa", smallest = "10 mm" } }
        [[body]]
        name = "floor"
        kind = "fixed"
        material = "rock"
        shape = { type = "half-space" }
        [[body]]
        name = "stone"
        material = "rock"
        position = [0, 0, 0.3]
        shape = { type = "box", size = [0.1, 0.1, 0.1] }
    """))
    run.until(0.4)
    curve = run.grading()
    assert len(curve.points()) > 1 and curve.largest < 0.1 and curve.mass == pytest.approx(2.7)
    # Pieces have indices of their own, which the scene does not list.
    moment = _source.moment_of(run)
    drawn = np.unique(moment.surface.cell_data["body"])
    assert drawn.max() >= run.scene.n_bodies and moment.free(drawn)[1:].all() and not moment.free(drawn)[0]
    run.show(forces=True)


# Series and solvers


def test_series_of_one_unit_share_an_axis_and_others_do_not(folder: Path) -> None:
    ax = plot.series(folder, ["kinetic_energy [J]", "total_energy"])
    assert ax.get_ylabel() == "[J]" and len(ax.lines) == 2 and ax.get_xlabel() == "time [s]"
    assert plot.series(folder, "contacts").get_ylabel() == "contacts [–]"
    assert len(plot.series(folder, "momentum_*").lines) == 3
    with pytest.raises(ValueError, match=r"\[J\] kinetic_energy; \[kg m/s\] momentum_x"):
        plot.series(folder, ["kinetic_energy", "momentum_x"])
    with pytest.raises(KeyError, match="kinetic_energy"):
        plot.series(folder, "kinetic")


def test_energies_show_what_friction_dissipates(folder: Path) -> None:
    ax = plot.energies(folder)
    lines = {str(line.get_label()): np.asarray(line.get_ydata(), dtype=float) for line in ax.lines}
    assert ax.get_ylabel() == "energy [J]"
    lost = lines["kinetic"][0] - lines["kinetic"][-1]
    # The block stays at its height, so that friction takes what the kinetic energy loses.
    assert abs(lines["dissipated by friction"][-1]) == pytest.approx(lost, rel=1e-6)


def test_a_simulation_has_no_history(bed: rr.Simulation) -> None:
    with pytest.raises(TypeError, match=r"run\.record"):
        plot.energies(bed)


def test_residuals_fall_below_the_tolerance(bed: rr.Simulation) -> None:
    problem = bed.contact_problem()
    sweeps, residual = plot.residual_history(problem, "gauss-seidel", tolerance=1e-5)
    assert sweeps[0] == 0 and (np.diff(sweeps) > 0).all()
    assert residual[-1] <= 1e-5 < residual[-2]
    solution = rr.solve(problem, "gauss-seidel", tolerance=1e-5)
    assert sweeps[-1] >= solution.report.sweeps > sweeps[-2]
    ax = plot.convergence(problem, ["gauss-seidel", "anderson"], tolerance=1e-5)
    assert (ax.get_xlabel(), ax.get_ylabel(), len(ax.lines)) == ("sweeps [–]", "residual [–]", 3)


def test_residuals_of_a_run_share_a_plot_with_its_sweeps(folder: Path) -> None:
    ax = plot.residuals(folder)
    assert ax.get_ylabel() == "residual [–]" and "[–]" in pyplot.gcf().axes[1].get_ylabel()


# Pictures


def colored(data: bytes) -> np.ndarray[Any, Any]:
    """The pixels of a picture as (height, width, 4) from 0 to 1."""
    import io

    return np.asarray(pyplot.imread(io.BytesIO(data)))


def test_a_picture_shows_stones_and_has_units(bed: rr.Simulation) -> None:
    ax: Any = bed.show()
    assert [getattr(ax, f"get_{axis}label")() for axis in "xyz"] == ["x [m]", "y [m]", "z [m]"]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"rock", "steel"}
    assert ax.get_title() == "t = 0.8 s"
    solid = next(c for c in ax.collections if c.get_zorder() == 5)
    # About half of the faces of the stones look at the camera.
    faces = np.count_nonzero(_source.moment_of(bed).surface.cell_data["body"] > 0)
    assert 0.4 < len(solid.get_facecolor()) / faces < 0.6
    picture = bed._repr_png_()
    assert picture is not None
    pixels = colored(picture)[..., :3]
    brown = (pixels[..., 0] > pixels[..., 2] + 0.08).mean()
    assert 0.05 < brown < 0.5, "stones fill part of the picture"


def test_pictures_are_coloured_by_numbers(bed: rr.Simulation) -> None:
    for color, label in [("speed", "speed [m/s]"), ("height", "height z of the centre [m]")]:
        bed.show(color=color)
        assert pyplot.gcf().axes[1].get_ylabel() == label
    bed.show(color=bed.scene.masses, label="mass [kg]")
    assert pyplot.gcf().axes[1].get_ylabel() == "mass [kg]"
    with pytest.raises(ValueError, match=r"61 bodies.*\(3,\)"):
        bed.show(color=[1.0, 2.0, 3.0])


def test_walls_and_forces_can_be_chosen(bed: rr.Simulation) -> None:
    with_walls: Any = bed.show()
    without: Any = bed.show(walls=False)
    assert len(with_walls.collections) == len(without.collections) + 2
    bed.show(forces=True)
    assert "normal force [N]" in [ax.get_ylabel() for ax in pyplot.gcf().axes]
    with pytest.raises(TypeError, match='projection="3d"'):
        bed.show(ax=pyplot.figure().add_subplot())


def test_a_box_around_stones_is_a_wall_and_a_tool_among_them_is_not(bed: rr.Simulation) -> None:
    surface = _surface.Surface(_source.moment_of(bed, contacts=False))
    assert set(surface.body[surface.walls]) == {0}
    rock = rr.Material("rock", density=2700.0)
    builder = rr.SceneBuilder()
    builder.add_fixed(rr.Shape.half_space(), material=rock)
    builder.add_fixed(rr.Shape.cuboid(0.1, 0.1, 1.0), material=rock, position=(0, 0, 0.5))
    for x in (-1.0, 1.0):
        builder.add(rr.Body(rr.Shape.cuboid(0.5, 2.0, 1.0), rock, position=(x, 0, 0.5)))
    moment = _source.moment_of(rr.Simulation(builder.build(), rr.MoreauJean(dt=1e-3)), contacts=False)
    surface = _surface.Surface(moment)
    assert set(surface.body[surface.planes]) == {0} and not surface.walls.any()


def test_a_plane_is_cut_at_the_box_around_the_bodies(column: rr.Simulation) -> None:
    surface = _surface.Surface(_source.moment_of(column, contacts=False))
    box = surface.box()
    assert box == pytest.approx(np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.6]]), abs=1e-6)
    (patch,) = surface.patches(box).corners
    pad = 0.04 * np.linalg.norm(box[1] - box[0])
    assert np.ptp(patch, axis=0) == pytest.approx([0.2 + 2 * pad, 0.2 + 2 * pad, 0.0], abs=1e-6)


def test_large_faces_are_cut_into_parts_that_cover_them() -> None:
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0.2, 0], [0, 0.2, 0]])
    triangle = square[:3]
    faces = _surface.Faces([square, triangle], np.tile([0.0, 0, 1], (2, 1)), np.array([7, 8]))
    parts, cut = faces.split(0.25)
    assert parts.index.tolist() == [7, 7, 7, 7, 8] and cut.tolist() == [True] * 4 + [False]
    assert sum(np.ptp(c[:, 0]) * np.ptp(c[:, 1]) for c in parts.corners[:4]) == pytest.approx(0.2)
    assert max(np.ptp(c[:, 0]) for c in parts.corners[:4]) == pytest.approx(0.25)


def test_planar_scenes_are_drawn_in_their_plane() -> None:
    rock = rr.Material("rock", density=2700.0, friction=0.5)
    builder = rr.SceneBuilder(planar=True)
    builder.add_fixed(rr.Shape.half_space((0, 1, 0)), material=rock)
    for k in range(2):
        builder.add(rr.Body(rr.Shape.polygon([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]), rock, position=(0, 0.1 + 0.2 * k, 0)))
    run = drop(builder, 0.1)
    ax = run.show(forces=True)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.name) == ("x [m]", "y [m]", "rectilinear")
    assert plot.force_chains(run).get_ylabel() == "y [m]"
    assert run._repr_png_() is not None


def test_a_folder_shows_the_viewer_or_a_picture(folder: Path) -> None:
    run = rr.open_run(folder)
    assert isinstance(run.show(), rr.ViewerPage) and isinstance(run.show(max_size=1, height=300), rr.ViewerPage)
    assert plot.show(folder).get_title() == "t = 0.1 s"
    picture = run.show(time=0.021)
    assert not isinstance(picture, rr.ViewerPage) and picture.get_title() == "t = 0.02 s"
    shown = run._repr_html_()
    assert "finished at t = 0.1 s" in shown and "<iframe" in shown
    with pytest.raises(ValueError, match="present time"):
        plot.show(rr.Simulation(run.scene), time=0.5)


def test_a_folder_without_a_run_file_shows_a_picture(folder: Path, tmp_path: Path) -> None:
    rr.run(folder / "scene.toml", tmp_path / "out", set={"run.frames": "vtp"})
    run = rr.open_run(tmp_path / "out")
    picture = run.show()
    assert not isinstance(picture, rr.ViewerPage) and picture.get_title() == "t = 0.1 s"
    shown = run._repr_html_()
    assert "finished at t = 0.1 s" in shown and "data:image/png;base64" in shown


def test_many_balls_are_discs_that_face_the_camera() -> None:
    rock = rr.Material("rock", density=2700.0)
    builder = rr.SceneBuilder()
    builder.add_grains(rr.Grains.lattice((5, 5, 3), (0.2, 0.2, 0.2), shape=rr.Shape.sphere(0.1), material=rock))
    surface = _surface.Surface(_source.moment_of(rr.Simulation(builder.build(), rr.MoreauJean(dt=1e-3)), contacts=False))
    discs, brightness = surface.discs(0.0, -90.0)
    assert len(discs.corners) == len(brightness) == 75 * _surface.LAYERS
    assert not surface.solids(0.0, -90.0).corners
    # Seen along y, the largest disc of a ball has its radius and no depth.
    assert np.ptp(discs.corners[0], axis=0) == pytest.approx([0.2, 0.0, 0.2], abs=1e-6)


# The package


def test_without_matplotlib_the_package_is_named(bed: rr.Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("matplotlib.pyplot", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    for function in (plot.show, plot.force_chains, plot.grading):
        with pytest.raises(ImportError, match=rf"riprap\.plot\.{function.__name__} needs .*`matplotlib`: pip install matplotlib"):
            function(bed)
    assert bed._repr_png_() is None


MODULES = ["riprap._optional", "riprap.progress", "riprap.series", "riprap.results", "riprap.plot"]
MODULES += [f"riprap.plot._{name}" for name in ("forces", "grading", "picture", "series", "solver")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_python_modules_run(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.failed == 0


@pytest.mark.parametrize("name", [name for name in plot.__all__ if name != "Source"])
def test_plots_are_documented_with_units_and_an_example(name: str) -> None:
    text = getattr(plot, name).__doc__
    assert text and ">>>" in text and ("[" in text or name == "png")
