#!/bin/sh
# Regenerates the pictures of the examples: run it in the root of the repository. It takes about two minutes.
set -e

riprap="cargo run --release -q -p riprap-cli --"

for example in bucket crane wheel wrecking-ball; do
    [ -e "out/$example/run.vtkhdf" ] || $riprap run "examples/$example/scene.toml" --out "out/$example"
done

bucket="--eye 0.9,-2.6,1.3 --target 0.45,0,0.42 --color-by speed"
# shellcheck disable=SC2086
$riprap render out/bucket --out examples/bucket/picture.png --time 1.73 --size 900x560 $bucket
# shellcheck disable=SC2086
$riprap render out/bucket --video examples/bucket/animation.gif --fps 12 --speed 0.8 --size 420x280 --samples 4 --plain $bucket
$riprap render out/crane --out examples/crane/picture.png --time 4 --size 900x700 --color-by speed
$riprap render out/wheel --out examples/wheel/picture.png --time 1.24 --size 900x460 --color-by speed --eye 0.9,-1.9,1.0 --target 0.45,0,0.14
$riprap render out/wrecking-ball --out examples/wrecking-ball/picture.png --time 1.04 --size 900x640 --color-by speed --eye 4.6,-4.2,2.6 --target 0.3,0,1.4
