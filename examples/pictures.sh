#!/bin/sh
# Regenerates the pictures of the examples: run it in the root of the repository. It takes about five minutes.
set -e

riprap="cargo run --release -q -p riprap-cli --"

for example in angle-of-repose bucket crane hopper oedometer pour rotating-drum shear-box sheared-cell silo triaxial wheel wrecking-ball; do
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
$riprap render out/angle-of-repose --out examples/angle-of-repose/picture.png --size 900x620 --hide gate --hide 'side-*' --eye 0.95,-0.5,0.5 --target 0.14,0,0.02
$riprap render out/hopper --out examples/hopper/picture.png --size 560x700 --color-by speed --hide front --cut 'y<0' --eye 0.25,-1.3,0.35 --target 0,0,-0.04
$riprap render out/pour --out book/src/images/pour.png --size 720x620 --plain
$riprap render out/pour --out book/src/images/pour-chains.png --size 720x480 --chains --theme dark
$riprap render out/rotating-drum --out examples/rotating-drum/picture.png --time 5 --size 700x612 --color-by speed --hide front --hide rear --eye 0.25,-1.2,0.25 --target 0,0,-0.02
$riprap render out/shear-box --out examples/shear-box/picture.png --size 900x480 --color-by speed --hide front --hide rear --cut 'z>0.12' --eye 0.25,-0.75,0.25 --target 0.03,0,0.01
$riprap render out/silo --out examples/silo/picture.png --size 600x800 --plain --color-by force --hide front --hide left --hide right --hide rear --chains --eye 0.35,-1.1,0.4 --target 0,0,0.24
$riprap render out/sheared-cell --out examples/sheared-cell/picture.png --size 600x520 --color-by speed --eye 0.077,0.02,0.52 --target 0.09,0.075,0.077
$riprap render out/triaxial --out examples/triaxial/picture.png --size 640x700 --color-by force --hide front --hide right --hide top --eye 0.75,-0.9,0.6 --target 0,0,0.11
$riprap render out/oedometer --out examples/oedometer/picture.png --size 560x620 --color-by force --cut 'y<0' --eye 0.3,-0.9,0.4 --target 0,0,0.11
