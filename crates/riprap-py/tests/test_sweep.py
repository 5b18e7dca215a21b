"""Sweeps: designs, sweep files, scenes of cases, measures, tables and pictures."""

from __future__ import annotations

import doctest
import importlib
import json
import math
import pkgutil
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from sweeping import BALL, LAST, ball, rows, starts

import riprap as rr
import riprap.sweep
from riprap.sweep import Sweep, SweepError, mean, toml
from riprap.sweep.command import main
from riprap.sweep.design import Axis, latin_hypercube
from riprap.sweep.scenes import PATH_KEYS, SceneTemplate
from riprap.sweep.statistics import t_quantile
from riprap.sweep.values import Range

MODULES = [riprap.sweep.__name__] + [f"riprap.sweep.{module.name}" for module in pkgutil.iter_modules(riprap.sweep.__path__)]

FUNCTION = """\
from pathlib import Path

def case(x, seed=0):
    if x < 0 and not Path(__file__).with_name("repaired").exists():
        raise RuntimeError(f"x is {x}")
    return {"y": x * x, "z": x + seed}
"""


def function(folder: Path) -> str:
    (folder / "cases.py").write_text(FUNCTION)
    return f"{folder / 'cases.py'}:case"


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_documented_and_their_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    for item in getattr(module, "__all__", []):
        value = getattr(module, item)
        if callable(value) and getattr(value, "__module__", "").startswith("riprap"):
            assert value.__doc__, f"{name}.{item}"
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_a_sweep_combines_a_grid_with_zipped_parameters_and_seeds(tmp_path: Path) -> None:
    sweep = Sweep(
        scene=ball(tmp_path),
        parameters={"height": {"from": "1 m", "to": "3 m", "count": 3}},
        zip=[{"radius": ["5 cm", "10 cm"], "run.until": ["0.1 s", "0.2 s"]}],
        seeds=[4, 5],
        out=tmp_path / "out",
    )
    assert len(sweep) == 3 * 2 * 2
    assert [case.parameters["height"] for case in sweep.cases[::4]] == ["1.0 m", "2.0 m", "3.0 m"]
    assert {(case.parameters["radius"], case.parameters["run.until"]) for case in sweep.cases} == {("5 cm", "0.1 s"), ("10 cm", "0.2 s")}
    assert len({case.hash for case in sweep.cases}) == len(sweep)


def test_ranges_are_those_of_numpy() -> None:
    assert np.allclose(Range(0.0, 1.0, "", False).spaced(7), np.linspace(0, 1, 7), rtol=0, atol=1e-15)
    assert np.allclose(Range(1e-3, 1e3, "", True).spaced(7), np.logspace(-3, 3, 7), rtol=1e-14)


def test_a_latin_hypercube_has_one_point_in_each_stratum_of_each_parameter() -> None:
    axes = [Axis(("a",), [], Range(0.0, 1.0, "", False)), Axis(("b",), [], Range(1.0, 1e4, "", True)), Axis(("c",), [(1,), (2,)])]
    points = latin_hypercube(axes, 40, seed=3)
    assert sorted(int(40 * point["a"]) for point in points) == list(range(40))
    assert sorted(int(10 * math.log10(point["b"])) for point in points) == list(range(40))
    assert sum(point["c"] for point in points) == 60
    assert points == latin_hypercube(axes, 40, seed=3) != latin_hypercube(axes, 40, seed=4)


def test_all_mistakes_of_a_sweep_file_are_reported_with_their_lines(tmp_path: Path) -> None:
    ball(tmp_path)
    (tmp_path / "sweep.toml").write_text(
        """\
scene = "ball.toml"
seeds = 0
desing = "grid"
threads = "many"

[parameters]
heigth = [1, 2]
radius = { from = "1 cm", to = "2 mm", count = 3 }
"materials.rubber.restitution" = []

[measures]
z = { column = "ball.position_z", reduce = "average" }
t = { column = "time", from = "3 m" }
n = { summary = "steps", function = "math:cos" }
"""
    )
    with pytest.raises(SweepError) as caught:
        Sweep.from_file(tmp_path / "sweep.toml")
    told = {problem.line: problem.message for problem in caught.value.problems}
    assert sorted(told) == [2, 3, 4, 8, 9, 12, 13, 14]
    assert told[3] == "unknown key `desing`; did you mean `design`?"
    assert "from` is in cm and `to` in mm" in told[8]
    assert "`measures.z.reduce` is 'average'" in told[12] and "exactly one of" in told[14]
    assert str(tmp_path / "sweep.toml") + ":2: `seeds` is 0" in str(caught.value)
    # Names are looked up in the scene once the values are right.
    with pytest.raises(SweepError, match="no parameter `heigth`; did you mean `height`"):
        Sweep(scene=tmp_path / "ball.toml", parameters={"heigth": [1]})
    with pytest.raises(SweepError, match="`materials.ruber.density`: the scene has no `ruber`; did you mean `rubber`"):
        Sweep(scene=tmp_path / "ball.toml", parameters={"materials.ruber.density": [1]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "either `scene`, a scene file, or `function`"),
        ('scene = "none.toml"', "cannot read the scene none.toml"),
        ("scene = ", "not valid TOML"),
        ('function = "nowhere:f"', "cannot import `nowhere`"),
        ('function = "math:cos"\nmeasures = {}', "does not apply to a function"),
        ('function = "math:cos"\ndesign = "list"\nparameters = { a = [1], b = [1, 2] }', "the same number of values, but there are: `a` 1, `b` 2"),
        ('function = "math:cos"\ndesign = "random"', "needs `samples`"),
        ('function = "math:cos"\nsamples = 3', "only applies to design"),
        ('function = "math:cos"\nparameters = { seed = [1] }', "seeds are given by `seeds`"),
        ('function = "math:cos"\nparameters = { a = { from = 0, to = 1, scale = "log", count = 2 } }', "must be greater than 0"),
        ('function = "math:cos"\nseeds = [1, 1]', "contains a seed twice"),
        ('function = "math:cos"\nzip = [{ a = [1], b = [1, 2] }]', "vary together"),
        ('function = "math:cos"\nzip = 3', "list of tables"),
        ('function = "math:cos"\nzip = ["a"]', "list of tables"),
    ],
)
def test_a_wrong_sweep_file_says_what_to_do(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sweep.toml").write_text(text)
    assert main([str(tmp_path / "sweep.toml")]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*/scene.toml")), ids=lambda path: path.parent.name)
def test_scenes_are_written_back_unchanged(path: Path) -> None:
    document = toml.parse(path.read_text())
    assert toml.parse(toml.write(document)) == document


def test_the_scene_of_a_case_gives_the_state_of_the_same_scene_written_by_hand(tmp_path: Path) -> None:
    sweep = Sweep(scene=ball(tmp_path), parameters={"height": ["2 m"], "materials.rubber.restitution": [0.5]}, out=tmp_path / "out")
    assert sweep.run_case(0) == "finished"
    (tmp_path / "hand.toml").write_text(BALL.replace('height = "1 m"', 'height = "2 m"').replace("restitution = 0.7", "restitution = 0.5"))
    run = rr.Simulation(rr.Scene.from_toml(tmp_path / "hand.toml"))
    run.until(0.1)
    case = sweep.cases[0]
    theirs = rr.run(case.folder / "scene.toml", tmp_path / "again", cache=False)
    assert theirs.state == run.state
    series = (case.run_folder / "series.csv").read_text()
    assert series == (tmp_path / "again/series.csv").read_text()


def test_paths_in_scenes_are_those_of_the_schema() -> None:
    found: set[str] = set()

    def visit(node: object, key: str) -> None:
        if isinstance(node, dict):
            if "relative to the scene file" in str(node.get("description", "")):
                found.add(key)
            for name, inner in node.items():
                visit(inner, name)
        elif isinstance(node, list):
            for inner in node:
                visit(inner, key)

    visit(json.loads(rr.scene_schema()), "")
    assert found == set(PATH_KEYS)


def test_the_hash_follows_the_content_of_files_not_their_place(tmp_path: Path) -> None:
    def hashes(folder: Path) -> str:
        scene = SceneTemplate(folder / "scene.toml")
        return scene.hash(scene.case({"omega": 100}, 1, False))

    for name in ("a", "b"):
        shutil.copytree(ROOT / "examples/tamping", tmp_path / name)
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    with open(tmp_path / "b/stones-3.csv", "a") as file:
        file.write("\n")
    assert hashes(tmp_path / "a") != hashes(tmp_path / "b")


def test_finished_cases_are_not_repeated_when_parameters_are_added(tmp_path: Path) -> None:
    few = Sweep(function=function(tmp_path), parameters={"x": [1, 2]}, seeds=2, out=tmp_path / "out")
    assert all(few.run_case(i) == "finished" for i in range(4))
    more = Sweep(function=function(tmp_path), parameters={"x": [0, 1, 2]}, seeds=3, out=tmp_path / "out")
    assert more.status() == (4, 0, 0, 5)
    assert all(more.run_case(i) == "finished" for i in range(9))
    assert set(map(tuple, starts(more).values())) == {("beginning",)}
    # Another version of the function is another case.
    (tmp_path / "cases.py").write_text(FUNCTION.replace("x * x", "x + x"))
    assert Sweep(function=f"{tmp_path / 'cases.py'}:case", parameters={"x": [1]}, seeds=2, out=tmp_path / "out").status().left == 2


def test_a_failed_case_is_recorded_and_repeated_only_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function(tmp_path)
    (tmp_path / "sweep.toml").write_text('function = "cases.py:case"\nseeds = 1\n[parameters]\nx = [-1, 2]\n')
    command = [str(tmp_path / "sweep.toml"), "-j", "1", "--quiet"]
    assert main(command) == 1
    assert "case 0 (failed): RuntimeError: x is -1 (cases.py:5)" in capsys.readouterr().err
    table = rows(tmp_path / "sweep-results/table.csv")
    assert [row["status"] for row in table] == ["failed", "finished"]
    assert table[1]["y"] == "4.0" and table[0]["error"].startswith("RuntimeError")
    (tmp_path / "repaired").touch()
    assert main(command) == 1
    sweep = Sweep.from_file(tmp_path / "sweep.toml")
    assert [len(each) for each in starts(sweep).values()] == [1, 1]
    assert main([*command, "--retry-failed"]) == 0
    assert [len(each) for each in starts(sweep).values()] == [2, 1]


def test_a_scene_that_is_wrong_for_one_value_fails_with_the_message_of_riprap(tmp_path: Path) -> None:
    sweep = Sweep(scene=ball(tmp_path), parameters={"materials.rubber.restitution": [0.5, 1.5]}, out=tmp_path / "out")
    assert [sweep.run_case(i) for i in range(2)] == ["finished", "failed"]
    error = sweep.results()[1].error
    assert error is not None and "restitution" in error and "1.5" in error


def test_measures_reduce_columns_over_a_window_and_read_the_summary(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import csv\ndef rows(run):\n    return len(list(csv.reader(open(run / 'series.csv')))) - 1\n")
    measures: dict[str, dict[str, object]] = {
        "last": {"column": "ball.position_z", "reduce": "last"},
        "fall": {"column": "ball.velocity_z", "reduce": "min", "to": "50 ms"},
        "mean": {"column": "time [s]", "from": 0.06},
        "std": {"column": "time", "reduce": "std", "from": "80 ms"},
        "steps": {"summary": "steps"},
        "begin": {"summary": "energy_begin.kinetic_J", "unit": "J"},
        "rows": {"function": f"{tmp_path / 'own.py'}:rows"},
    }
    sweep = Sweep(scene=ball(tmp_path), measures=measures, out=tmp_path / "out")
    assert sweep.run_case(0) == "finished"
    found = sweep.results()[0].measures
    assert found["last"] == pytest.approx(1.0 - 9.81 * 0.1**2 / 2, rel=1e-12)
    assert found["fall"] == pytest.approx(-9.81 * 0.05, rel=1e-12)
    assert found["mean"] == pytest.approx(0.08, rel=1e-12)
    assert found["std"] == pytest.approx(np.std([0.08, 0.09, 0.1]), rel=1e-9)
    assert (found["steps"], found["begin"], found["rows"]) == (100.0, 0.0, 11.0)
    assert {"last [m]", "fall [m/s]", "mean [s]", "steps", "begin [J]"} <= set(sweep._rows()[0])


def test_a_new_measure_is_read_from_the_run_that_is_there(tmp_path: Path) -> None:
    scene = ball(tmp_path)
    assert Sweep(scene=scene, measures={"v": LAST["v"]}, out=tmp_path / "out").run_case(0) == "finished"
    sweep = Sweep(scene=scene, measures={**LAST, "typo": {"column": "ball.positon_z"}}, out=tmp_path / "out")
    result = sweep.results()[0]
    assert result.status == "finished" and set(result.measures) == {"z", "v"}
    assert result.error == "measure `typo`: series.csv has no column `ball.positon_z`; did you mean `ball.position_z`?"
    assert list(starts(sweep).values()) == [["beginning"]]


def test_the_table_is_the_same_as_csv_parquet_and_data_frame(tmp_path: Path) -> None:
    import pandas

    sweep = Sweep(scene=ball(tmp_path), parameters={"height": ["1 m", "2 m"]}, seeds=[7], measures=LAST, out=tmp_path / "out")
    sweep.run_case(0)
    path = sweep.collect()
    frame = sweep.table()
    assert list(frame.columns) == ["case", "height [m]", "seed", "z [m]", "v [m/s]", "status", "wall_time [s]", "version", "hash", "error"]
    assert list(frame["height [m]"]) == [1.0, 2.0] and list(frame["status"]) == ["finished", "waiting"]
    assert frame["version"][0] == rr.__version__ and frame["hash"][0] == sweep.cases[0].hash
    table = rows(path)
    assert list(table[0]) == list(frame.columns)
    assert float(table[0]["z [m]"]) == frame["z [m]"][0] and table[1]["z [m]"] == ""
    read = pandas.read_parquet(path.with_suffix(".parquet"))
    assert list(read.columns) == list(frame.columns)
    first, second = read["z [m]"].tolist()
    assert first == frame["z [m]"][0] and math.isnan(second)


def test_the_table_is_a_list_of_dictionaries_without_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    sweep = Sweep(function=function(tmp_path), parameters={"x": [3]}, seeds=2, out=tmp_path / "out")
    sweep.run_case(1)
    assert [row["z"] for row in sweep.table()] == [None, 5.0]
    assert sweep.collect().is_file() and not (tmp_path / "out/table.parquet").exists()
    with pytest.raises(ImportError, match="a plot of a sweep needs the package `matplotlib`"):
        sweep.plot()


def test_quantiles_of_student_s_distribution_are_those_of_scipy() -> None:
    from scipy.stats import t

    for degrees in (1, 2, 3, 4, 9, 30, 201):
        for probability in (0.9, 0.975, 0.995):
            assert t_quantile(probability, degrees) == pytest.approx(t.ppf(probability, degrees), rel=1e-9)
    values = [3.1, 2.9, 3.4, 3.0]
    low, high = t.interval(0.95, 3, np.mean(values), np.std(values, ddof=1) / 2)
    assert mean(values) == pytest.approx((np.mean(values), (high - low) / 2, 4), rel=1e-9)


def test_the_plot_shows_means_with_intervals_for_each_measure(tmp_path: Path) -> None:
    sweep = Sweep(function=function(tmp_path), parameters={"x": [1, 2, 3]}, seeds=3, out=tmp_path / "out", title="Squares")
    for i in range(9):
        sweep.run_case(i)
    path = sweep.plot()
    svg = path.read_text()
    assert path.name == "plot.svg" and all(word in svg for word in (">y<", ">z<", ">x<", "Squares", "means of 3 runs"))
    # Equal results give the same picture.
    assert sweep.plot(tmp_path / "again.svg").read_text() == svg
    from riprap.sweep.plot import series

    points = series(sweep.results(), "z")[""]
    assert [(x, point.value) for x, point in points] == [(1, 3.0), (2, 4.0), (3, 5.0)]
    assert points[0][1].interval == pytest.approx(t_quantile(0.975, 2) / math.sqrt(3))


def test_list_status_and_collect_run_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function(tmp_path)
    file = tmp_path / "sweep.toml"
    file.write_text('function = "cases.py:case"\nseeds = 2\nout = "results"\n[parameters]\nx = [1, 2]\n')
    assert main([str(file), "--case", "3"]) == 0
    assert main([str(file), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert len(lines) == 4 and "waiting" in lines[0] and "finished" in lines[3] and "x=2  seed=2" in lines[3]
    assert main([str(file), "--status"]) == 0
    assert capsys.readouterr().out.startswith("4 cases: 1 finished, 3 left")
    assert main([str(file), "--collect"]) == 0
    assert [row["status"] for row in rows(tmp_path / "results/table.csv")] == ["waiting"] * 3 + ["finished"]
    assert main(["--collect", "--plot", str(file)]) == 0
    assert "<svg" in (tmp_path / "results/plot.svg").read_text()
    capsys.readouterr()
    assert main([str(file), "--case", "4"]) == 2
    assert "there is no case 4; the sweep has cases 0 to 3" in capsys.readouterr().err


def test_the_sweep_file_of_the_book_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "book/src/how-to/sweep.md").read_text()
    for path, text in re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", page, re.M | re.S):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert main(["--quiet", "-j", "2", "drop/sweep.toml"]) == 0
    told = re.search(r"^```text\n(6 cases.*?)^```$", page, re.M | re.S)
    assert told and re.sub(r"; \d+ s of", "; 0 s of", capsys.readouterr().out) == told.group(1)
    table = rows(tmp_path / "drop/results/table.csv")
    # A ball of 5 cm rebounds to e² h: the first maximum of its centre, to the resolution of the output.
    for row in table:
        height, restitution = float(row["height [m]"]) - 0.05, float(row["materials.rubber.restitution"])
        assert float(row["rebound [m]"]) == pytest.approx(0.05 + restitution**2 * height, abs=2e-3)


def test_seeds_that_a_scene_would_ignore_are_noted(tmp_path: Path) -> None:
    scene = tmp_path / "scene.toml"
    scene.write_text(BALL + '[[grains]]\nname = "sand"\nseed = 3\nmaterial = "rubber"\ngenerator = "rain"\n')
    assert "grains `sand` have a `seed` of their own" in Sweep(scene=scene, seeds=2).notes[0]
    assert Sweep(scene=scene).notes == []
