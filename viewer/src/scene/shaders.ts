// Shader text shared by all bodies. Poses and colours are fetched from textures by the index of the body, so a
// frame is one upload and all stones are one draw call. Face normals come from screen derivatives.

/** Bodies per row of the pose textures (two texels each) and of the colour texture. */
export const ROW = 512;

export const POSE = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler2D;
uniform sampler2D uPoseA;
uniform sampler2D uPoseB;
uniform sampler2D uColours;
uniform float uMix;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;

void fetchPose(int body, out vec3 position, out vec4 rotation) {
  ivec2 at = ivec2(2 * (body % ${ROW}), body / ${ROW});
  vec4 p = texelFetch(uPoseA, at, 0);
  vec4 q = texelFetch(uPoseA, at + ivec2(1, 0), 0);
  if (uMix > 0.0) {
    vec4 p2 = texelFetch(uPoseB, at, 0);
    vec4 q2 = texelFetch(uPoseB, at + ivec2(1, 0), 0);
    p = mix(p, p2, uMix);
    q = normalize(mix(q, dot(q, q2) < 0.0 ? -q2 : q2, uMix));
  }
  position = p.xyz;
  rotation = q;
}

vec3 rotate(vec4 q, vec3 v) {
  return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

vec4 fetchColour(int body) {
  return texelFetch(uColours, ivec2(body % ${ROW}, body / ${ROW}), 0);
}
`;

const VARYINGS_OUT = /* glsl */ `
out vec3 vWorld;
out vec3 vView;
flat out vec4 vColour;
flat out int vBody;
`;

/** Vertices of polyhedra, and of the ends of their edges. */
export const SOLID_VERTEX = /* glsl */ `${POSE}
in vec3 position;
in uint body;
${VARYINGS_OUT}
void main() {
  vec3 p;
  vec4 q;
  vBody = int(body);
  fetchPose(vBody, p, q);
  vWorld = p + rotate(q, position);
  vec4 view = viewMatrix * vec4(vWorld, 1.0);
  vView = view.xyz;
  vColour = fetchColour(vBody);
  gl_Position = projectionMatrix * view;
}
`;

/** Spheres: instances scaled along the axes of the body. */
export const INSTANCE_VERTEX = /* glsl */ `${POSE}
in vec3 position;
in uint instanceBody;
in vec3 instanceCentre;
in vec3 instanceScale;
${VARYINGS_OUT}
out vec3 vNormal;
void main() {
  vec3 p;
  vec4 q;
  vBody = int(instanceBody);
  fetchPose(vBody, p, q);
  vWorld = p + rotate(q, instanceCentre + instanceScale * position);
  vNormal = mat3(viewMatrix) * rotate(q, position);
  vec4 view = viewMatrix * vec4(vWorld, 1.0);
  vView = view.xyz;
  vColour = fetchColour(vBody);
  gl_Position = projectionMatrix * view;
}
`;

const FRAGMENT_HEAD = /* glsl */ `
precision highp float;
precision highp int;
precision highp sampler2DShadow;
in vec3 vWorld;
in vec3 vView;
flat in vec4 vColour;
flat in int vBody;
out vec4 outColour;
uniform vec4 uCuts[3];

// Cut planes: x, y, z of the normal and the offset; a zero normal cuts nothing.
void cut() {
  for (int i = 0; i < 3; i++) if (dot(uCuts[i].xyz, vWorld) > uCuts[i].w) discard;
}
`;

const LIGHT = /* glsl */ `
uniform vec3 uLight;
uniform vec3 uUpView;
uniform vec3 uShadowOn;
uniform mat4 uShadowMatrix;
uniform sampler2DShadow uShadow;

vec3 toLinear(vec3 c) { return pow(c, vec3(2.2)); }
vec3 toDisplay(vec3 c) { return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2)); }

// Share of the light that arrives, 0 to 1, from a few samples of the shadow map.
float lit(vec3 world) {
  if (uShadowOn.x < 0.5) return 1.0;
  vec4 s = uShadowMatrix * vec4(world, 1.0);
  vec3 at = s.xyz / s.w * 0.5 + 0.5;
  if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++) {
    sum += texture(uShadow, vec3(at.xy + uShadowOn.y * vec2(i, j), at.z - uShadowOn.z));
  }
  return sum / 9.0;
}

vec3 shade(vec3 base, vec3 n, float light) {
  float sky = 0.5 + 0.5 * dot(n, uUpView);
  vec3 ambient = mix(vec3(0.22, 0.21, 0.20), vec3(0.46, 0.48, 0.51), sky);
  float key = max(dot(n, uLight), 0.0) * light;
  float fill = 0.16 * max(n.z, 0.0);
  return base * (ambient + fill + 0.62 * key * vec3(1.0, 0.98, 0.94));
}
`;

/** Lit faces. With `SMOOTH` the normal is interpolated, otherwise it is that of the face. */
export const FACE_FRAGMENT = /* glsl */ `${FRAGMENT_HEAD}${LIGHT}
uniform float uOpacity;
uniform int uPicked;
uniform vec3 uAccent;
#ifdef SMOOTH
in vec3 vNormal;
#endif
void main() {
  cut();
  vec3 n = normalize(cross(dFdx(vView), dFdy(vView)));
#ifdef SMOOTH
  if (gl_FrontFacing) n = normalize(vNormal);
#endif
  vec3 base = toLinear(vColour.rgb);
  if (vBody == uPicked) base = mix(base, toLinear(uAccent), 0.75);
#if defined(FLAT)
  // Planar scenes: exactly the colours of the legend.
  vec3 colour = base;
#elif defined(WALL)
  vec3 colour = shade(base, n, 1.0);
#else
  vec3 colour = shade(base, n, lit(vWorld));
#endif
#ifdef INSIDE
  // Inner faces are seen only through a cut: a flat colour makes the body look solid.
  if (!gl_FrontFacing) colour = base * 0.42;
#endif
#ifdef WALL
  float opacity = uOpacity;
#else
  // Only stones become see-through.
  float opacity = vColour.a > 0.75 ? uOpacity : 1.0;
#endif
  outColour = vec4(toDisplay(colour), opacity);
}
`;

/** Ground of half-spaces, which is not cut: faded at the border, with grid lines. With `PLANE` it is a translucent wall. */
export const GROUND_FRAGMENT = /* glsl */ `${FRAGMENT_HEAD}${LIGHT}
uniform vec3 uGround;
uniform vec3 uFitCentre;
uniform float uFitRadius;
uniform float uGrid;
uniform vec3 uGridU;
uniform vec3 uGridV;
#ifdef PLANE
uniform float uOpacity;
#endif
void main() {
  vec3 d = vWorld - uFitCentre;
  float fade = 1.0 - smoothstep(1.2, 3.4, length(d) / uFitRadius);
#ifdef PLANE
  fade *= uOpacity;
  if (fade < 0.02) discard;
  outColour = vec4(uGround * 0.9, fade);
#else
  vec2 at = vec2(dot(vWorld, uGridU), dot(vWorld, uGridV)) / uGrid;
  vec2 width = fwidth(at);
  vec2 line = abs(fract(at - 0.5) - 0.5) / max(width, 1e-6);
  float grid = (1.0 - min(min(line.x, line.y), 1.0)) * (1.0 - smoothstep(0.1, 0.5, max(width.x, width.y)));
  // The grid lies in the horizontal plane.
  vec3 n = normalize(cross(dFdx(vWorld), dFdy(vWorld)));
  grid *= step(0.7, abs(dot(n, cross(uGridU, uGridV))));
  if (fade < 0.02) discard;
  float light = lit(vWorld);
  vec3 colour = uGround * mix(0.62, 1.0, light) * (1.0 - 0.07 * grid);
  outColour = vec4(colour, fade);
#endif
}
`;

/** Edges of faces: the colour of the body, darker. */
export const EDGE_FRAGMENT = /* glsl */ `${FRAGMENT_HEAD}
uniform float uEdge;
void main() {
  cut();
  outColour = vec4(vColour.rgb * 0.25, uEdge);
}
`;

/** Index of the body as a colour, for picking. */
export const PICK_FRAGMENT = /* glsl */ `${FRAGMENT_HEAD}
void main() {
  cut();
  int i = vBody + 1;
  outColour = vec4(float(i & 255), float((i >> 8) & 255), float((i >> 16) & 255), 255.0) / 255.0;
}
`;

/** Depth only, for the shadow map and for translucent bodies. */
export const DEPTH_FRAGMENT = /* glsl */ `${FRAGMENT_HEAD}
void main() {
  cut();
  outColour = vec4(0.0);
}
`;

/** Ribbons that face the camera: lines of a given width in metres or, if negative, in pixels. */
export const RIBBON_VERTEX = /* glsl */ `
precision highp float;
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform float uPixel;
uniform float uPerspective;
uniform float uNear;
in vec3 position;
in vec3 instanceA;
in vec3 instanceB;
in float instanceWidth;
in vec4 instanceColour;
out vec3 vWorld;
out vec4 vColour;
out float vSide;
void main() {
  vec3 a = (viewMatrix * vec4(instanceA, 1.0)).xyz;
  vec3 b = (viewMatrix * vec4(instanceB, 1.0)).xyz;
  // A ribbon that starts behind the camera is shortened.
  if (uPerspective > 0.5) {
    if (a.z > -uNear && b.z < -uNear) a = mix(b, a, (-uNear - b.z) / (a.z - b.z));
    if (b.z > -uNear && a.z < -uNear) b = mix(a, b, (-uNear - a.z) / (b.z - a.z));
  }
  vec3 at = position.y > 0.5 ? b : a;
  vec3 eye = uPerspective > 0.5 ? normalize(-at) : vec3(0.0, 0.0, 1.0);
  vec3 along = b - a;
  vec3 side = cross(along, eye);
  side = length(side) > 1e-12 ? normalize(side) : vec3(1.0, 0.0, 0.0);
  float pixel = uPixel * (uPerspective > 0.5 ? max(-at.z, uNear) : 1.0);
  // A thin ribbon keeps one pixel and becomes fainter instead.
  float wanted = instanceWidth >= 0.0 ? instanceWidth : -instanceWidth * pixel;
  float width = max(wanted, pixel);
  vColour = vec4(instanceColour.rgb, instanceColour.a * clamp(wanted / pixel, 0.25, 1.0));
  vSide = position.x;
  vWorld = mix(instanceA, instanceB, position.y);
  gl_Position = projectionMatrix * vec4(at + side * position.x * 0.5 * width, 1.0);
}
`;

export const RIBBON_FRAGMENT = /* glsl */ `
precision highp float;
in vec3 vWorld;
in vec4 vColour;
in float vSide;
out vec4 outColour;
uniform vec4 uCuts[3];
void main() {
  for (int i = 0; i < 3; i++) if (dot(uCuts[i].xyz, vWorld) > uCuts[i].w) discard;
  outColour = vec4(vColour.rgb * (0.62 + 0.38 * sqrt(max(0.0, 1.0 - vSide * vSide))), vColour.a);
}
`;

/** Background: a vertical gradient. */
export const BACKGROUND_VERTEX = /* glsl */ `
precision highp float;
in vec3 position;
out float vHeight;
void main() {
  vHeight = 0.5 + 0.5 * position.y;
  gl_Position = vec4(position.xy, 1.0, 1.0);
}
`;

export const BACKGROUND_FRAGMENT = /* glsl */ `
precision highp float;
in float vHeight;
out vec4 outColour;
uniform vec3 uTop;
uniform vec3 uBottom;
void main() {
  // A little noise avoids visible bands.
  float noise = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5;
  outColour = vec4(mix(uBottom, uTop, vHeight) + noise / 255.0, 1.0);
}
`;
