// Preparation of the drawing: groups of bodies, flexible bodies, levels of detail, quality.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Matrix4, PerspectiveCamera } from "three";
import { load, unload } from "./load.mjs";
import { SyntheticRun } from "./synthetic.mjs";

const { prepare, boundsOf } = await load("scene/geometry.ts");
const { Detail } = await load("scene/detail.ts");
const { positionOf, pointOf } = await load("scene/pose.ts");
const { QualityControl, LEVELS } = await load("quality.ts");
const { OrbitCamera } = await load("camera.ts");
const { decodeRrb } = await load("data/rrb.ts");
const { parseModel, parseFrame } = await load("data/protocol.ts");
after(unload);

const read = (file, parse) => parse(decodeRrb(new Uint8Array(file).buffer, "f"));
const run = new SyntheticRun({ stones: 200, frames: 40 });
const [model, frame] = [read(run.model(0), parseModel), read(run.frame(0), parseFrame)];

const UPRIGHT = { up: [0, 0, 1], planar: false };

/** Volume enclosed by triangles; positive if they are anticlockwise from outside. */
function volume(points, triangles) {
  let sum = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => points(triangles[t + k]));
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6;
}

test("walls, half-spaces, spheres and solids are drawn apart", () => {
  const geometry = prepare(model, frame, UPRIGHT);
  const names = (list) => [...new Set(list.map((i) => model.names[i]))];
  assert.deepEqual(names(geometry.walls.bodies), ["box"]);
  assert.deepEqual(names(geometry.ground.bodies), ["ground"]);
  assert.equal(geometry.spheres.length, 8);
  assert.equal(geometry.solids.bodies.length, 203);
});

test("half-spaces that face upwards are ground, and steep ones are walls", () => {
  const ground = model.names.indexOf("ground");
  const of = (angle, kind) => {
    const turned = { ...frame, rotation: frame.rotation.slice() };
    turned.rotation.set([Math.sin(angle / 2), 0, 0, Math.cos(angle / 2)], 4 * ground);
    const geometry = prepare(model, turned, kind);
    assert.equal(geometry.ground.bodies.length + geometry.planes.bodies.length, 1);
    return geometry.ground.bodies.length === 1 ? "ground" : "wall";
  };
  for (const [degrees, expected] of [[0, "ground"], [30, "ground"], [-45, "ground"], [70, "wall"], [90, "wall"], [-90, "wall"], [180, "wall"]]) {
    assert.equal(of((degrees * Math.PI) / 180, UPRIGHT), expected, `${degrees}°`);
  }
  // The strips of planar scenes lie in the picture, across their direction upwards.
  assert.equal(of(0, { up: [0, 1, 0], planar: true }), "ground");
  assert.equal(of(0, { up: [0, 1, 0], planar: false }), "wall");
});

test("a driven body around most of the stones is drawn like a wall, also if it is turned", () => {
  const kind = Uint8Array.from(model.kind);
  const box = model.names.indexOf("box");
  kind[box] = 2;
  const walls = (inside, rotation) => {
    const low = { ...frame, position: frame.position.slice(), rotation: frame.rotation.slice() };
    low.rotation.set(rotation, 4 * box);
    // About the height of the box; turned about x by 90°, its height lies along −y.
    const turned = rotation[0] !== 0;
    for (let i = 0; i < model.n; i++) {
      if (kind[i] === 0) low.position.set(i < inside ? (turned ? [0, -0.05, 0] : [0, 0, 0.05]) : [9, 9, 9], 3 * i);
    }
    return prepare({ ...model, kind }, low, UPRIGHT).walls.bodies.map((i) => model.names[i]);
  };
  const turned = [Math.SQRT1_2, 0, 0, Math.SQRT1_2];
  for (const rotation of [[0, 0, 0, 1], turned]) {
    assert.deepEqual(walls(150, rotation), ["box"]);
    assert.deepEqual(walls(80, rotation), []);
  }
});

test("the surface of a flexible body is closed and faces outwards, whatever the order of its outline", () => {
  const [flexible] = model.flexible;
  for (const outline of [flexible.outline, [...flexible.outline].reverse()]) {
    const geometry = prepare({ ...model, flexible: [{ ...flexible, outline }] }, frame, UPRIGHT);
    const shown = { a: frame, b: null, mix: 0 };
    const at = (v) => pointOf(shown, geometry.body[v], Array.from(geometry.vertex.subarray(3 * v, 3 * v + 3)));
    const expected = 12 * 0.5 * 0.008 ** 2 * Math.sin(Math.PI / 6) * run.width;
    // Straight at the first frame: a prism with twelve sides.
    assert.ok(Math.abs(volume(at, geometry.tubes) / expected - 1) < 1e-3);
  }
});

test("bounds contain the bodies and leave out half-spaces", () => {
  const geometry = prepare(model, frame, UPRIGHT);
  const { low, high } = boundsOf([0], frame, geometry);
  const p = positionOf({ a: frame, b: null, mix: 0 }, 0);
  for (let d = 0; d < 3; d++) assert.ok(low[d] < p[d] && p[d] < high[d] && high[d] - low[d] < 0.05);
  assert.equal(boundsOf([], frame, geometry), null);
});

test("levels of detail keep near bodies whole and stay within the limit", () => {
  const geometry = prepare(model, frame, UPRIGHT);
  const detail = new Detail(model, geometry);
  const camera = new PerspectiveCamera(30, 1.5, 0.01, 10);
  camera.position.set(0, -0.3, 0.1);
  camera.up.set(0, 0, 1);
  camera.lookAt(0, 0, 0.1);
  camera.updateMatrixWorld();
  const viewer = { matrix: new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse), scale: 1000, perspective: true };
  detail.update(frame, viewer, Infinity);
  const all = detail.nTriangles;
  detail.update(frame, viewer, 800);
  assert.ok(detail.nTriangles < all);
  // At most the limit, and eight faces for each other body.
  assert.ok(detail.nTriangles <= 3 * (800 + 8 * geometry.solids.bodies.length) + geometry.tubes.length);
  assert.ok(detail.nEdges > 0);
});

test("quality falls while pictures are late, and returns at rest and when they are in time again", () => {
  const control = new QualityControl();
  let now = 0;
  for (let k = 0; k < 20; k++) control.drawn((now += 16));
  assert.equal(control.level, 0);
  for (let k = 0; k < 40; k++) control.drawn((now += 100));
  assert.equal(control.level, LEVELS.length - 1);
  assert.equal(control.rests(now + 100), false);
  assert.equal(control.rests(now + 1000), true);
  for (let k = 0; k < 70; k++) control.drawn((now += 16));
  assert.equal(control.level, LEVELS.length - 2);
  for (let k = 0; k < 600; k++) control.drawn((now += 16));
  assert.equal(control.level, 0);
  control.drawn((now += 1000));
  assert.equal(control.level, 0, "one late picture");
  for (let k = 0; k < 2; k++) control.drawn((now += 1000));
  assert.equal(control.level, 2, "each further one that is far too late");
  const fixed = new QualityControl(false);
  for (let k = 0; k < 40; k++) fixed.drawn(100 * k);
  assert.equal(fixed.level, 0);
});

test("a quality that proved too high is tried again after a longer time", () => {
  const control = new QualityControl();
  let [now, attempts] = [0, 0];
  // Level 0 is too slow.
  for (let k = 0; k < 1000; k++) {
    const before = control.level;
    control.drawn((now += before === 0 ? 100 : 16));
    if (control.level < before) attempts++;
  }
  assert.ok(attempts >= 2 && attempts <= 4, `${attempts}`);
});

test("the camera is fitted so that the whole box is in the picture, from every standard view", () => {
  for (const orthographic of [false, true]) for (const view of ["front", "side", "top", "iso"]) for (const up of [[0, 0, 1], [0, 1, 0]]) {
    const orbit = new OrbitCamera();
    orbit.setUp(up);
    orbit.orthographic = orthographic;
    orbit.view(view);
    const [low, high] = [[-1, -2, 0], [1, 2, 5]];
    orbit.fit(low, high, 1.6);
    const camera = orbit.camera(1.6, 3);
    const matrix = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).elements;
    for (let c = 0; c < 8; c++) {
      const p = [0, 1, 2].map((d) => ((c >> d) & 1 ? high[d] : low[d]));
      const row = (r) => matrix[r] * p[0] + matrix[4 + r] * p[1] + matrix[8 + r] * p[2] + matrix[12 + r];
      for (const r of [0, 1, 2]) assert.ok(Math.abs(row(r)) <= row(3), `${view} ${orthographic} ${up}`);
    }
  }
});
