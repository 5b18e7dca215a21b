"""Engines of sweeps: a process pool, a dask cluster and a SLURM array, with workers that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sweeping import LAST, ball, rows, small_tamping, starts, states

from riprap.sweep import Sweep, store

POISON = """\
import os, time

def case(x):
    if x == 3:
        os._exit(9)
    time.sleep(0.05)
    return {"y": 2 * x}
"""


def tamping(folder: Path, out: str) -> Sweep:
    """Twelve small tamping runs: four frequencies and three frictions."""
    return Sweep(
        scene=folder / "tamping.toml",
        parameters={"omega": {"from": 90.0, "to": 270.0, "count": 4}, "materials.rock.friction": [0.4, 0.6, 0.8]},
        measures={"height": {"column": "tamper.zs.q", "reduce": "last"}},
        out=folder / out,
        checkpoint_every="5 ms",
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """The twelve runs without any disturbance."""
    folder = tmp_path_factory.mktemp("tamping")
    small_tamping(folder)
    sweep = tamping(folder, "undisturbed")
    assert sweep.run(jobs=2) == (12, 0, 0, 0)
    assert set(map(tuple, starts(sweep).values())) == {("beginning",)}
    return sweep


class Killer(threading.Thread):
    """Once three cases have finished, kills the worker of the next case that writes its first checkpoint."""

    def __init__(self, sweep: Sweep) -> None:
        super().__init__(daemon=True)
        self.sweep = sweep
        self.victim: str | None = None
        self.over = False
        self.seen: set[str] = set()

    def run(self) -> None:
        while not self.over and self.victim is None:
            time.sleep(0.002)
            begun = {case.hash: case for case in self.sweep.cases if (case.run_folder / "checkpoint.bin").exists()}
            finished = sum((case.folder / "result.json").exists() for case in begun.values())
            fresh = [case for case in begun.values() if case.hash not in self.seen]
            if finished >= 3 and fresh:
                os.kill(int(store.starts(fresh[0].folder)[-1].split(",")[2]), signal.SIGKILL)
                self.victim = fresh[0].hash
            self.seen |= set(begun)


def run_with_a_kill(sweep: Sweep, **engine: Any) -> Killer:
    killer = Killer(sweep)
    killer.start()
    try:
        assert sweep.run(**engine) == (12, 0, 0, 0)
    finally:
        killer.over = True
        killer.join()
    return killer


def check(sweep: Sweep, killer: Killer, undisturbed: Sweep, workers: int) -> None:
    """Nothing is lost, nothing is done twice, and the results are bitwise identical."""
    assert killer.victim is not None
    assert len(rows(sweep.out / "table.csv")) == 12
    counted = starts(sweep)
    # Only cases that were running are started again, and they continue from their checkpoints.
    again = {case: begun for case, begun in counted.items() if begun != ["beginning"]}
    assert killer.victim in again and len(again) <= workers
    assert again[killer.victim] == ["beginning", "checkpoint"]
    assert all(len(begun) == 2 for begun in again.values())
    assert states(sweep) == states(undisturbed)
    heights = [[result.measures["height"] for result in each.results()] for each in (sweep, undisturbed)]
    assert heights[0] == heights[1] and len(set(heights[0])) == 12


def test_a_killed_worker_of_the_process_pool_loses_nothing(undisturbed: Sweep) -> None:
    sweep = tamping(undisturbed.out.parent, "pool")
    killer = run_with_a_kill(sweep, jobs=2)
    # The pool ends its other worker as well.
    check(sweep, killer, undisturbed, workers=2)


def test_a_killed_worker_of_a_dask_cluster_loses_nothing(undisturbed: Sweep) -> None:
    distributed = pytest.importorskip("distributed")
    sweep = tamping(undisturbed.out.parent, "dask")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        killer = run_with_a_kill(sweep, client=client)
    check(sweep, killer, undisturbed, workers=1)


def test_a_case_that_kills_its_process_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "poison.py").write_text(POISON)
    sweep = Sweep(function=f"{tmp_path / 'poison.py'}:case", parameters={"x": [1, 2, 3, 4, 5]}, out=tmp_path / "out")
    assert sweep.run(jobs=2) == (4, 1, 0, 0)
    results = sweep.results()
    assert [result.measures.get("y") for result in results] == [2.0, 4.0, None, 8.0, 10.0]
    assert "the process died 3 times" in (results[2].error or "")


def test_a_script_without_a_main_guard_is_told_so_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "from riprap.sweep import Sweep\n"
        "Sweep(function='riprap.sweep.example:fall', parameters={'height': [1.0, 2.0]}, out='out').run(jobs=1)\n"
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and 'call `run` under `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("out/cases/*/result.json"))


def test_two_sweeps_in_one_folder_share_the_work(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ndef case(x):\n    time.sleep(0.15)\n    return {'y': x}\n")
    (tmp_path / "sweep.toml").write_text('function = "slow.py:case"\nparameters.x = [1, 2, 3, 4, 5, 6, 7, 8]\n')
    command = [sys.executable, "-m", "riprap", "sweep", str(tmp_path / "sweep.toml"), "-j", "1"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(each.wait(timeout=60), each.communicate()[0].startswith("8 cases: 8 finished")) for each in both] == [(0, True)] * 2
    sweep = Sweep.from_file(tmp_path / "sweep.toml")
    assert sweep.status().finished == 8 and all(begun == ["beginning"] for begun in starts(sweep).values())


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_sweep_that_is_ended_from_outside_continues_from_its_checkpoints(ending: signal.Signals, undisturbed: Sweep) -> None:
    folder = undisturbed.out.parent
    file = folder / f"{ending.name}.toml"
    file.write_text(
        """\
scene = "tamping.toml"
checkpoint_every = "5 ms"
[parameters]
omega = { from = 90.0, to = 270.0, count = 4 }
"materials.rock.friction" = 0.6
"""
    )
    sweep = Sweep.from_file(file)
    command = [sys.executable, "-m", "riprap", "sweep", str(file), "-j", "2", "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not any((case.run_folder / "checkpoint.bin").exists() for case in sweep.cases):
        time.sleep(0.005)
        assert process.poll() is None
    process.send_signal(ending)
    told = process.communicate(timeout=60)[1]
    if ending == signal.SIGINT:
        assert process.returncode == 130 and "interrupted; `riprap sweep" in told
    # Workers end with the sweep.
    patience = time.monotonic() + 20
    while sweep.status().running and time.monotonic() < patience:
        time.sleep(0.01)
    assert sweep.status().running == 0
    assert sweep.run(jobs=2) == (4, 0, 0, 0)
    assert ["beginning", "checkpoint"] in starts(sweep).values()
    expected = states(undisturbed)
    assert states(sweep) == {case.hash: expected[case.hash] for case in sweep.cases}


class Recorder:
    """A bar with the interface of tqdm."""

    made: list[Recorder] = []

    def __init__(self, *, total: int, initial: int, desc: str, unit: str) -> None:
        self.total, self.count, self.closed = total, initial, False
        Recorder.made.append(self)

    def update(self, n: int) -> None:
        self.count += n

    def set_postfix(self, **entries: int) -> None:
        assert entries == {"failed": 0}

    def close(self) -> None:
        self.closed = True


def test_progress_counts_every_run_on_any_bar(tmp_path: Path) -> None:
    sweep = Sweep(scene=ball(tmp_path), parameters={"height": ["1 m", "2 m", "3 m"]}, measures=LAST, out=tmp_path / "out")
    sweep.run_case(0)
    sweep.run(jobs=1, progress=Recorder)
    bar = Recorder.made[-1]
    assert (bar.total, bar.count, bar.closed) == (3, 3, True)


SBATCH = """\
#!/bin/bash
# Runs what is submitted at once, with the tasks of an array one after the other.
echo "$@" >> "$(dirname "$0")/submitted"
for argument in "$@"; do
    case "$argument" in
        --array=*) last="${argument#--array=0-}" ;;
        --wrap=*) wrapped="${argument#--wrap=}" ;;
        *) script="$argument" ;;
    esac
done
if [[ -n "${wrapped:-}" ]]; then
    bash -c "$wrapped" >&2 || true
else
    for ((task = 0; task <= last; task++)); do SLURM_ARRAY_TASK_ID=$task bash "$script" >&2 || true; done
    echo "4711;cluster"
fi
"""


def test_the_slurm_script_runs_every_case_and_collects_the_table(tmp_path: Path) -> None:
    ball(tmp_path)
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "sweep.toml").write_text('scene = "../ball.toml"\nparameters.height = ["1 m", "2 m", "-1 m"]\nmeasures.n = { summary = "steps" }\n')
    script = folder / "job.sh"
    command = [sys.executable, "-m", "riprap", "sweep", str(folder / "sweep.toml"), "--slurm", str(script)]
    subprocess.run([*command, "--time", "1:00:00", "--memory", "2G", "--partition", "long", "--cases-per-task", "2"], check=True)
    subprocess.run(["bash", "-n", str(script)], check=True)
    text = script.read_text()
    assert all(f"#SBATCH --{option}\n" in text for option in ("time=1:00:00", "mem=2G", "partition=long", "cpus-per-task=1"))
    fake = tmp_path / "bin/sbatch"
    fake.parent.mkdir()
    fake.write_text(SBATCH)
    fake.chmod(0o755)
    environment = {**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"}
    subprocess.run(["bash", str(script)], check=True, env=environment, capture_output=True)
    submitted = (fake.parent / "submitted").read_text().splitlines()
    assert "--array=0-1" in submitted[0] and "--dependency=afterany:4711 " in submitted[1]
    table = rows(folder / "sweep-results/table.csv")
    # The last one starts below the ground.
    assert [row["status"] for row in table] == ["finished", "finished", "failed"] and table[0]["n"] == "100.0"
