"""A SLURM array script: every task runs some of the cases, and a last job collects the table."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Optional

__all__ = ["script"]

_SCRIPT = """\
#!/bin/bash
# {title}: {count} cases in {tasks} tasks. Submit with `bash {script}`; submitting it again runs what is left.
#SBATCH --job-name={job}
#SBATCH --cpus-per-task={threads}
#SBATCH --requeue
{options}\
#SBATCH --output={logs}/%x-%A-%a.log
set -euo pipefail

riprap=({riprap})
sweep={sweep}

if [[ -z "${{SLURM_ARRAY_TASK_ID:-}}" ]]; then
    mkdir -p {logs}
    job=$(sbatch --parsable --array=0-{last} "$0")
    sbatch --dependency="afterany:${{job%%;*}}" --job-name={job}-table --output={logs}/%x-%j.log {collect_options}\\
        --wrap="$(printf '%q ' "${{riprap[@]}}" sweep "$sweep" --collect)"
    exit
fi

failed=0
first=$((SLURM_ARRAY_TASK_ID * {per_task}))
for ((case = first; case < first + {per_task} && case < {count}; case++)); do
    "${{riprap[@]}}" sweep "$sweep" --case "$case" || failed=$?
done
exit "$failed"
"""


def script(
    sweep: Path,
    name: str,
    logs: Path,
    count: int,
    threads: int,
    *,
    title: str = "",
    time: Optional[str] = None,
    memory: Optional[str] = None,
    partition: Optional[str] = None,
    cases_per_task: int = 1,
) -> str:
    """The text of the script. ``time`` is that of one task, in a form that SLURM accepts, such as ``2:00:00``; ``memory`` such as ``4G``.

    >>> from pathlib import Path
    >>> text = script(Path("/data/sweep.toml"), "job.sh", Path("/data/logs"), 10, 4, partition="long", cases_per_task=3)
    >>> [line for line in text.splitlines() if "array=" in line or line.startswith("#SBATCH --partition")]
    ['#SBATCH --partition=long', '    job=$(sbatch --parsable --array=0-3 "$0")']
    """
    given = {"time": time, "mem": memory, "partition": partition}
    options = "".join(f"#SBATCH --{key}={value}\n" for key, value in given.items() if value)
    tasks = max(1, -(-count // cases_per_task))
    job = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in sweep.stem)
    return _SCRIPT.format(
        title=(title or sweep.stem).replace("\n", " "),
        script=shlex.quote(name),
        count=count,
        tasks=tasks,
        job=f"riprap-{job}",
        threads=threads,
        options=options,
        logs=shlex.quote(str(logs)),
        riprap=f"{shlex.quote(sys.executable)} -m riprap",
        sweep=shlex.quote(str(sweep)),
        last=tasks - 1,
        per_task=cases_per_task,
        collect_options=f"--partition={shlex.quote(partition)} " if partition else "",
    )
