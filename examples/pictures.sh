#!/bin/sh
# Regenerates the pictures of the examples, without ParaView: run it in the root of the repository. It takes about two minutes.
set -e

riprap="cargo run --release -q -p riprap-cli --"
picture="cargo run --release -q -p riprap-validation --example picture --"

for example in bucket crane wheel wrecking-ball; do
    [ -e "out/$example/run.pvd" ] || $riprap run "examples/$example/scene.toml"
done

# Bodies: 0 floor, 1 box, 591 to 597 the machine. Material 0 is the gravel.
bucket="eye=0.9,-2.6,1.3 at=0.45,0,0.42 speed=0 max=2 ghost=1"
bucket="$bucket paint=0:efece4,591:33567a,592:33567a,593:c8962e,594:b04a33,595:b04a33,596:4a525c,597:8a929c"
# shellcheck disable=SC2086
$picture out/bucket examples/bucket/picture.png time=1.73 view=0.46 $bucket
# shellcheck disable=SC2086
$picture out/bucket examples/bucket/animation.gif time=0.1,2 every=2 size=480,340 view=0.5 $bucket

# Bodies: 0 ground, 1 tower, 2 bucket, 3 hook, 54 jib, 55 winch, 56 trolley.
$picture out/crane examples/crane/picture.png time=4 size=900,700 eye=8.6,-7.4,8.2 at=1.8,1.0,3.1 view=0.62 speed=0 max=2 \
    paint=0:e9e5dc,1:7b858f,2:33567a,3:c8962e,54:b04a33,55:39424c,56:39424c

# Bodies: 0 box, 602 carriage, 603 wheel.
$picture out/wheel examples/wheel/picture.png time=1.24 size=900,460 eye=0.9,-1.9,1.0 at=0.45,0,0.14 view=0.4 \
    speed=0 max=0.4 ghost=0 paint=602:d1553a,603:39424c

# Bodies: 0 floor, 1 to 3 the frame, 89 and 90 the links with the ball.
$picture out/wrecking-ball examples/wrecking-ball/picture.png time=1.04 size=900,640 eye=4.6,-4.2,2.6 at=0.3,0,1.4 view=0.64 \
    speed=0 max=5 paint=0:e9e5dc,1:7b858f,2:7b858f,3:7b858f,89:8c3a2e,90:8c3a2e
