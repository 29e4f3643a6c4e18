// state.js - what the parts of the page share: its state, which the address holds, and small helpers. Texts of strangers
// (laws, names of columns, files and networks) are only ever set as textContent or as values.
'use strict';
const $ = (id) => document.getElementById(id);
const GM_SUN = 4 * Math.PI * Math.PI; // AU^3/yr^2
const SPEED = 0.1; // AU of the picture per AU/yr
const FIRST = { x: 1, y: 0, vx: 0, vy: 5, a: 'GM/r^2', b: 'GM/r^p', mass: 1, power: 2.1, years: 4, view: 2, noise: 1,
  network: '', given: 8, share: 0.3, layer: 1 };
const state = readState();
let lab = null; // the module (module.js)
if (parent !== window) parent.postMessage('orrery lab', '*'); // a report that shows the page in a frame keeps the frame

function readState() {
  const read = { ...FIRST };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (!Object.hasOwn(FIRST, key)) continue;
    const number = Number(value);
    if (typeof FIRST[key] === 'string') read[key] = value.slice(0, 200);
    else if (value && Number.isFinite(number) && Math.abs(number) <= 100 && fits($(key), number)) read[key] = number;
  }
  return Math.hypot(read.x, read.y) < 0.05 ? { ...read, x: FIRST.x, y: FIRST.y } : read;
}
// Whether a field takes a number; how many layers a network has is known later.
function fits(field, number) {
  if (!field) return true; // of the planet
  return number >= field.min && (field.id === 'layer' || number <= field.max) && (field.step !== '1' || Number.isInteger(number));
}
function keepState() {
  try { // a page in the frame of a notebook has no address
    history.replaceState(null, '', '#' + new URLSearchParams(state));
  } catch { /* and keeps its state to itself */ }
}
const gm = () => state.mass * GM_SUN;
// What the page holds as text of seven bits a byte, inflated.
async function inflated(text) {
  const packed = new Blob([labBytes(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
const shown = (x, digits) => (Number.isFinite(x) ? x.toFixed(digits) : 'none');
const range = (list) => list.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
// A row of a table: a heading, then cells.
function line(list) {
  const row = document.createElement('tr');
  list.forEach((text, i) => {
    const cell = document.createElement(i ? 'td' : 'th');
    if (!i) cell.scope = 'row';
    cell.textContent = text;
    row.append(cell);
  });
  return row;
}
// Sets attributes, and a text, that are not so already: what is set is laid out and painted again.
function put(node, attributes) {
  Object.entries(attributes).forEach(([k, v]) => { if (node.getAttribute(k) !== String(v)) node.setAttribute(k, v); });
}
function putText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
function make(name, attributes, text) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  Object.entries(attributes).forEach(([k, v]) => node.setAttribute(k, v));
  if (text) node.textContent = text;
  return node;
}
// The path of points x, y; a point that is no number begins another line.
function pathOf(points) {
  let path = '', joined = false;
  for (const [x, y] of points) {
    if (Number.isFinite(x) && Number.isFinite(y)) path += `${joined ? 'L' : 'M'}${x.toFixed(4)} ${(-y).toFixed(4)}`;
    joined = Number.isFinite(x) && Number.isFinite(y);
  }
  return path;
}
// The path of steps x, y, vx, vy, t: a curve from each step to the next that has their velocities.
function curveOf(steps) {
  const at = (x, y) => `${x.toFixed(4)} ${(-y).toFixed(4)}`;
  let path = steps.length ? 'M' + at(steps[0], steps[1]) : '';
  for (let i = 5; i < steps.length; i += 5) {
    const h = (steps[i + 4] - steps[i - 1]) / 3;
    path += `C${at(steps[i - 5] + h * steps[i - 3], steps[i - 4] + h * steps[i - 2])} ${at(steps[i] - h * steps[i + 2], steps[i + 1] - h * steps[i + 3])} ${at(steps[i], steps[i + 1])}`;
  }
  return path;
}
function save(name, type, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
// A picture as a text, with its colours in it; it ends with the address, which is its state.
function svgText(svg) {
  const copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', 800);
  copy.setAttribute('height', 800 * box.height / box.width);
  const inked = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'vector-effect'];
  const to = copy.querySelectorAll('*');
  svg.querySelectorAll('*').forEach((from, i) => inked.forEach((n) => to[i].setAttribute(n, getComputedStyle(from).getPropertyValue(n))));
  const ground = make('rect', { x: box.x, y: box.y, width: box.width, height: box.height, fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(make('desc', {}, location.hash), ground);
  return new XMLSerializer().serializeToString(copy);
}
function savePng(name, svg) {
  const picture = new Image(), box = svg.viewBox.baseVal;
  picture.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = 1600;
    canvas.height = 1600 * box.height / box.width;
    canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(name, 'image/png', blob));
  };
  picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svgText(svg));
}
const csv = (names, rows) => [names.join(','), ...rows.map((row) => row.join(','))].join('\n') + '\n';
// A worker of module.js and `code`.
function workerOf(code) {
  const url = URL.createObjectURL(new Blob([`'use strict';${$('module').textContent}\n${code}`], { type: 'text/javascript' }));
  const made = new Worker(url);
  URL.revokeObjectURL(url);
  return made;
}
// The throw is drawn in every frame in which it moved; the rest some ten times a second, part by part with room for frames
// between. What asks for numbers of the throw at once calls drawRest() and awaits `answered`.
let waits = false, rest = 0, kept = 0;
const REST = [() => askMotions(), () => drawNetwork(), () => drawField()];
function drawSoon() {
  if (!waits) requestAnimationFrame(() => { waits = false; drawThrow(); });
  waits = true;
  rest = rest || setTimeout(restSoon, 60, 0);
}
function restSoon(part) {
  rest = 0;
  if (!lab) return;
  REST[part]();
  if (part + 1 < REST.length) rest = setTimeout(restSoon, 20, part + 1);
  else keepSoon();
}
function keepSoon() {
  kept = kept || setTimeout(() => { kept = 0; keepState(); }, 300); // browsers limit how often an address changes
}
function drawRest() {
  if (!lab) return;
  clearTimeout(rest);
  rest = 0;
  REST.forEach((draw) => draw());
  keepSoon();
}
function draw() {
  if (lab) drawThrow();
  drawRest();
}
