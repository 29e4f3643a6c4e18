// page.js - the orbit lab: the throw under two laws, and the search for formulas in a worker. Texts of strangers
// (laws, names of columns and files) are only ever set as textContent or as values.
'use strict';
const $ = (id) => document.getElementById(id);
const GM_SUN = 4 * Math.PI * Math.PI; // AU^3/yr^2
const SPEED = 0.1; // AU of the picture per AU/yr
const ROWS = 600;
const FIRST = { x: 1, y: 0, vx: 0, vy: 5, a: 'GM/r^2', b: 'GM/r^p', mass: 1, power: 2.1, years: 4, noise: 1 };
const state = readState();
const tracks = { a: new Float64Array(0), b: new Float64Array(0) };
let lab = null, worker = null, table = null, front = [];

function readState() {
  const read = { ...FIRST };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (!Object.hasOwn(FIRST, key)) continue;
    const number = Number(value);
    if (typeof FIRST[key] === 'string') read[key] = value.slice(0, 200);
    else if (value && Number.isFinite(number) && Math.abs(number) <= 100) read[key] = number;
  }
  return read;
}
function keepState() {
  history.replaceState(null, '', '#' + new URLSearchParams(state));
}
const moduleBytes = () => Uint8Array.from(atob($('wasm').textContent.trim()), (c) => c.charCodeAt(0));

// ------------------------------------------------------------------------------------------------ the throw

// Energy per mass (the potential is 0 at 1 AU, by Simpson's rule in ln r) and angular momentum per mass.
function energyOf(law, x, y, vx, vy) {
  const r = Math.hypot(x, y), n = 64, h = Math.log(r) / n;
  let sum = 0;
  for (let i = 0; i <= n; i++) {
    const at = Math.exp(i * h);
    sum += (i === 0 || i === n ? 1 : i % 2 ? 4 : 2) * law.force(state.mass * GM_SUN, state.power, at, 0) * at;
  }
  return (vx * vx + vy * vy) / 2 + sum * h / 3;
}
// Angle between the first two points nearest to the star, less a turn, in degrees: each between rows, by a parabola.
function precessionOf(track) {
  const angles = [];
  const r = (i) => Math.hypot(track[4 * i], track[4 * i + 1]);
  for (let i = 1; i + 1 < track.length / 4 && angles.length < 2; i++) {
    const [p, q, s] = [r(i - 1), r(i), r(i + 1)];
    if (!(q < p && q <= s) || p - 2 * q + s < 1e-9 * q) continue;
    const shift = 0.5 * (p - s) / (p - 2 * q + s), j = shift < 0 ? i - 1 : i + 1;
    const turn = (k) => Math.atan2(track[4 * k + 1], track[4 * k]);
    const step = Math.atan2(Math.sin(turn(j) - turn(i)), Math.cos(turn(j) - turn(i)));
    angles.push(turn(i) + Math.abs(shift) * step);
  }
  if (angles.length < 2) return NaN;
  const d = angles[1] - angles[0];
  return Math.atan2(Math.sin(d), Math.cos(d)) * 180 / Math.PI;
}
function follow(which) {
  const text = state[which].trim();
  tracks[which] = new Float64Array(0);
  if (!text) return null;
  const law = lab.law(text);
  try {
    tracks[which] = law.orbit(state.mass * GM_SUN, state.power, state.years / (ROWS - 1), ROWS,
      [state.x, state.y, state.vx, state.vy]);
    const made = tracks[which], end = made.length - 4;
    const first = energyOf(law, state.x, state.y, state.vx, state.vy);
    return { energy: first, drift: energyOf(law, ...made.slice(end)) - first,
      momentum: state.x * state.vy - state.y * state.vx, precession: precessionOf(made),
      ended: made.length < 4 * ROWS };
  } finally {
    law.free();
  }
}
const shown = (x, digits) => (Number.isFinite(x) ? x.toFixed(digits) : 'none');
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
function draw() {
  const of = {};
  $('law-error').textContent = '';
  for (const which of ['a', 'b']) {
    try {
      of[which] = follow(which);
    } catch (error) {
      $('law-error').textContent = `Law ${which.toUpperCase()}: ${error.message}`;
    }
    let path = '';
    for (let i = 0; i < tracks[which].length; i += 4)
      path += `${i ? 'L' : 'M'}${tracks[which][i].toFixed(4)} ${(-tracks[which][i + 1]).toFixed(4)}`;
    $('orbit-' + which).setAttribute('d', path);
  }
  const put = (id, attributes) => Object.entries(attributes).forEach(([k, v]) => $(id).setAttribute(k, v));
  const tip = [state.x + SPEED * state.vx, -(state.y + SPEED * state.vy)];
  put('planet', { cx: state.x, cy: -state.y });
  put('tip', { x: tip[0] - 0.055, y: tip[1] - 0.055 });
  put('speed', { x1: state.x, y1: -state.y, x2: tip[0], y2: tip[1] });
  const both = (f) => ['a', 'b'].map((which) => (of[which] ? f(of[which]) : ''));
  $('values').replaceChildren(
    line(['Energy (AU²/yr²)', ...both((v) => shown(v.energy, 4))]),
    line(['Its change on the way', ...both((v) => (Number.isFinite(v.drift) ? v.drift.toExponential(1) : 'none'))]),
    line(['Angular momentum (AU²/yr)', ...both((v) => shown(v.momentum, 4))]),
    line(['Precession (degrees a turn)', ...both((v) => shown(v.precession, 2))]),
    line(['The motion', ...both((v) => (v.ended ? 'ends at the star' : 'goes on'))]));
  $('noise-text').textContent = `${state.noise} %`;
  keepState();
}
let waits = false;
function drawSoon() {
  if (!waits) requestAnimationFrame(() => { waits = false; draw(); });
  waits = true;
}
const within = (x, most) => Math.max(-most, Math.min(most, x));
function place(id, x, y) {
  if (id === 'planet') {
    const r = Math.hypot(x, y), out = r < 0.05 ? 0.05 / (r || 1) : 1;
    state.x = within(r ? x * out : 0.05, 1.9);
    state.y = within(y * out, 1.9);
  } else {
    state.vx = within((x - state.x) / SPEED, 30);
    state.vy = within((y - state.y) / SPEED, 30);
  }
  for (const key of ['x', 'y', 'vx', 'vy']) state[key] = Number(state[key].toFixed(4));
  drawSoon();
}
for (const id of ['planet', 'tip']) {
  $(id).addEventListener('pointerdown', (event) => { $(id).setPointerCapture(event.pointerId); event.preventDefault(); $(id).focus(); });
  $(id).addEventListener('pointermove', (event) => {
    if (!$(id).hasPointerCapture(event.pointerId)) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform($('sky').getScreenCTM().inverse());
    place(id, at.x, -at.y);
  });
  $(id).addEventListener('keydown', (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    const by = event.shiftKey ? 0.1 : 0.02;
    const from = id === 'planet' ? [state.x, state.y] : [state.x + SPEED * state.vx, state.y + SPEED * state.vy];
    place(id, from[0] + by * way[0], from[1] + by * way[1]);
  });
}
for (const [id, key] of [['law-a', 'a'], ['law-b', 'b'], ['mass', 'mass'], ['power', 'power'], ['years', 'years'], ['noise', 'noise']]) {
  $(id).value = state[key];
  $(id).addEventListener('input', () => {
    const field = $(id);
    if (field.type === 'text') state[key] = field.value;
    else if (field.value && field.validity.valid) state[key] = Number(field.value);
    drawSoon();
  });
}
function save(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
$('save-svg').addEventListener('click', () => {
  const copy = $('sky').cloneNode(true);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  const names = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray'];
  [...$('sky').children].forEach((from, i) => names.forEach((n) => copy.children[i].setAttribute(n, getComputedStyle(from)[n])));
  save('orbit.svg', 'image/svg+xml', new XMLSerializer().serializeToString(copy));
});
$('save-csv').addEventListener('click', () => {
  const rows = ['t,x,y,vx,vy'];
  for (let i = 0; i < tracks.a.length; i += 4)
    rows.push([state.years / (ROWS - 1) * i / 4, ...tracks.a.slice(i, i + 4)].join(','));
  save('track.csv', 'text/csv', rows.join('\n') + '\n');
});

// ------------------------------------------------------------------------------------------------ the search

// Forces along the track of law A with relative Gaussian noise, by a generator with a constant seed (mulberry32).
function tableOfTrack() {
  let seed = 1;
  const uniform = () => {
    seed = (seed + 0x6D2B79F5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const law = lab.law(state.a), columns = [[], []], y = [];
  for (let i = 0; i < tracks.a.length; i += 12) {
    const [px, py, vx, vy] = tracks.a.slice(i, i + 4);
    const r = Math.hypot(px, py), v = Math.hypot(vx, vy);
    const force = law.force(state.mass * GM_SUN, state.power, r, v);
    const gauss = Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    if (!Number.isFinite(force)) continue;
    columns[0].push(r); columns[1].push(v);
    y.push(force * (1 + state.noise / 100 * gauss));
  }
  law.free();
  const moves = /\bv\b/.test(state.a);
  return { names: moves ? ['r', 'v'] : ['r'], columns: moves ? columns : [columns[0]], y, target: 'force', from: 'the track of law A' };
}
function tableOfText(text, from) {
  const lines = text.split(/\r?\n/).filter((l) => l.trim() && !l.startsWith('#'));
  if (lines.length < 3) throw new Error(`${from}: expected a line of names and at least 2 rows, found ${lines.length} lines`);
  const names = lines[0].split(',').map((n) => n.trim().replace(/^"|"$/g, ''));
  if (names.length < 2 || names.length > 20) throw new Error(`${from}: line 1: expected 2 to 20 columns, found ${names.length}`);
  if (lines.length > 5001) throw new Error(`${from}: expected at most 5000 rows, found ${lines.length - 1}`);
  const columns = names.map(() => []);
  lines.slice(1).forEach((l, i) => {
    const cells = l.split(',');
    if (cells.length !== names.length) throw new Error(`${from}: row ${i + 1}: expected ${names.length} columns, found ${cells.length}`);
    cells.forEach((cell, c) => {
      const number = Number(cell);
      if (!cell.trim() || !Number.isFinite(number)) throw new Error(`${from}: row ${i + 1}, column "${names[c].slice(0, 40)}": expected a number, found "${cell.slice(0, 40)}"`);
      columns[c].push(number);
    });
  });
  return { names: names.slice(0, -1), columns: columns.slice(0, -1), y: columns.at(-1), target: names.at(-1), from };
}
function ends(text) {
  if (worker) worker.terminate();
  worker = null;
  $('stop').disabled = true;
  $('find').disabled = false;
  $('find-state').textContent = text;
}
function search(of) {
  if (worker) ends('');
  table = of; front = [];
  showFront(); plot(null);
  const code = $('module').textContent + `
onmessage = async ({ data }) => {
  try {
    const lab = await labOpen(data.bytes, (progress) => postMessage({ progress }));
    postMessage({ front: lab.search(data.columns, data.y, data.names, data.options) });
  } catch (error) { postMessage({ error: error.message }); }
};`;
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = ({ data }) => {
    if (data.progress) $('find-state').textContent = `Searching: ${Math.round(data.progress.evaluations)} formulas tried. So far: ${data.progress.best}`;
    else if (data.error) ends(data.error);
    else {
      front = data.front;
      showFront();
      ends(`${front.length} formulas for ${table.target} from ${table.from} (${table.y.length} rows).`);
    }
  };
  worker.onerror = (event) => ends(`The search failed: ${event.message}`);
  $('find').disabled = true;
  $('stop').disabled = false;
  $('find-state').textContent = 'Searching ...';
  worker.postMessage({ bytes: moduleBytes(), columns: of.columns, y: of.y, names: of.names, options: 'seed=1\nseconds=20\nevaluations=40000' });
}
function showFront() {
  $('front').replaceChildren(...front.map((row, i) => {
    const tr = line(['', String(row.complexity), row.loss.toPrecision(4), row.formula]);
    const choose = document.createElement('input');
    Object.assign(choose, { type: 'radio', name: 'row', checked: row.best });
    choose.setAttribute('aria-label', `Show formula ${i + 1}`);
    choose.addEventListener('change', () => plot(row));
    const cell = document.createElement('td');
    cell.append(choose);
    tr.firstChild.replaceWith(cell);
    tr.lastChild.className = 'formula';
    return tr;
  }));
  plot(front.find((row) => row.best) || null);
}
function plot(row) {
  const make = (name, attributes, text) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    Object.entries(attributes).forEach(([k, v]) => node.setAttribute(k, v));
    if (text) node.textContent = text;
    return node;
  };
  $('code').value = row ? `Python: ${row.numpy}\nC: ${row.c}\nLaTeX: ${row.latex}` : '';
  if (!table) return;
  const x = table.columns[0], all = row ? table.y.concat(row.values.filter(Number.isFinite)) : table.y;
  const range = (list) => list.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const [x0, x1] = range(x), [y0, y1] = range(all);
  const px = (v) => 20 + 360 * (v - x0) / (x1 - x0 || 1), py = (v) => 225 - 195 * (v - y0) / (y1 - y0 || 1);
  const nodes = table.y.slice(0, 1000).map((v, i) => make('circle', { cx: px(x[i]), cy: py(v), r: 3 }));
  if (row) {
    const order = x.map((_, i) => i).filter((i) => Number.isFinite(row.values[i])).sort((i, j) => x[i] - x[j]);
    nodes.push(make('path', { d: order.map((i, k) => `${k ? 'L' : 'M'}${px(x[i])} ${py(row.values[i])}`).join('') }));
  }
  nodes.push(make('text', { x: 20, y: 18 }, table.target.slice(0, 40)), make('text', { x: 20, y: 248 }, table.names[0].slice(0, 40)));
  $('plot').replaceChildren(...nodes);
}
function open(file) {
  if (!file) return;
  if (file.size > 2e6) { ends(`${file.name}: expected at most 2 MB, found ${(file.size / 1e6).toFixed(1)} MB`); return; }
  file.text().then((text) => search(tableOfText(text, file.name))).catch((error) => ends(error.message));
}
$('find').addEventListener('click', () => {
  try { search(tableOfTrack()); } catch (error) { ends(`Law A: ${error.message}`); }
});
$('stop').addEventListener('click', () => ends('Stopped.'));
$('file').addEventListener('change', () => open($('file').files[0]));
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => { event.preventDefault(); open(event.dataTransfer.files[0]); });

labOpen(moduleBytes(), null).then((opened) => { lab = opened; draw(); document.body.dataset.ready = 'yes'; })
  .catch((error) => { $('law-error').textContent = `The page needs WebAssembly with SIMD: ${error.message}`; });
