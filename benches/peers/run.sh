#!/bin/sh
# Runs one pile of stones with riprap, Rapier and MuJoCo, each alone on the machine, and judges all alike. Usage:
#   benches/peers/run.sh [SCENE] [SETTLE] [WINDOW]
# SCENE is a pile as `riprap bench export` writes it (.json or .json.gz; without one, 500 stones are made), SETTLE and WINDOW are times [s],
# 0.5 each without. RIPRAP_OPTIONS are more options of `riprap bench pile`, such as `--solver gauss-seidel`. Rapier is built from its pinned version, MuJoCo comes from PyPI into a virtual environment; without either, it is left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work="$root/target/peers"
mkdir -p "$work"

cargo build --release --manifest-path "$root/Cargo.toml" -p riprap-cli
riprap="$root/target/release/riprap"
scene=${1:-}
if [ -z "$scene" ]; then
    scene="$work/stones.json.gz"
    "$riprap" bench export --grains 500 "$scene"
fi

set -- --scene "$scene" --settle "${2:-0.5}" --window "${3:-0.5}" --folder "$work" --riprap "$riprap"
if CARGO_TARGET_DIR="$work/rapier" cargo build --release --locked --manifest-path "$here/rapier/Cargo.toml"; then
    set -- "$@" --rapier "$work/rapier/release/peers-rapier"
else
    echo "Rapier is left out: it could not be built" >&2
fi
if [ ! -x "$work/venv/bin/python" ]; then
    python3 -m venv "$work/venv" || true
fi
if "$work/venv/bin/pip" install --quiet mujoco==4.0.0 numpy; then
    set -- "$@" --mujoco "$work/venv/bin/python"
else
    echo "MuJoCo is left out: it could not be installed" >&2
fi
exec python3 "$here/compare.py" "$@"
