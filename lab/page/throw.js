// throw.js - part 1: a planet that is thrown under two laws, and the numbers of its motion.
const ROWS = 600;
const STEPS_DRAWN = 4000;
const FIELDS = [['law-a', 'a'], ['law-b', 'b'], ['mass', 'mass'], ['power', 'power'], ['years', 'years'], ['view', 'view'], ['noise', 'noise'],
  ['given', 'given'], ['share', 'share'], ['layer', 'layer']];
const tracks = { a: new Float64Array(0), b: new Float64Array(0) };
// AU of the picture per AU/yr
const speed = () => SPEED * state.view / 2;

// Energy per mass (the potential is 0 at 1 AU, by Simpson's rule in ln r) and angular momentum per mass.
function energyOf(law, x, y, vx, vy) {
  const r = Math.hypot(x, y), n = 2 * Math.ceil(32 * Math.max(1, Math.abs(Math.log(r)))), h = Math.log(r) / n;
  let sum = 0;
  for (let i = 0; i <= n; i++) {
    const at = Math.exp(i * h);
    sum += (i === 0 || i === n ? 1 : i % 2 ? 4 : 2) * law.force(state.mass * GM_SUN, state.power, at, 0) * at;
  }
  return (vx * vx + vy * vy) / 2 + sum * h / 3;
}
// The numbers of a motion under law a or b, or null where there is none.
function numbersOf(which) {
  const text = state[which].trim();
  tracks[which] = new Float64Array(0);
  if (!text) return null;
  const law = lab.law(text);
  try {
    const from = [state.x, state.y, state.vx, state.vy];
    const made = tracks[which] = law.orbit(gm(), state.power, state.years / (ROWS - 1), ROWS, from);
    const end = made.length - 4, motion = made.length < 4 * ROWS ? law.end() : 'has no end here';
    const first = energyOf(law, state.x, state.y, state.vx, state.vy);
    return { energy: first, drift: energyOf(law, ...made.slice(end)) - first,
      momentum: state.x * state.vy - state.y * state.vx, precession: law.precession(gm(), state.power, state.years, from) * 180 / Math.PI,
      motion: motion + (drawnTo[which] < state.years && made.length === 4 * ROWS ? `, drawn for ${shown(drawnTo[which], 1)} years` : '') };
  } finally {
    law.free();
  }
}
const motions = { a: null, b: null };
const drawnTo = { a: 0, b: 0 }; // years
function showMotion(which) {
  try {
    motions[which] = numbersOf(which);
  } catch { // drawThrow() says what is wrong with the law
    motions[which] = null;
  }
  const both = (f) => ['a', 'b'].map((one) => (motions[one] ? f(motions[one]) : ''));
  $('values').replaceChildren(
    line(['Energy, potential 0 at 1 AU (AU²/yr²)', ...both((v) => shown(v.energy, 4))]),
    line(['Its change on the way', ...both((v) => (Number.isFinite(v.drift) ? v.drift.toExponential(1) : 'none'))]),
    line(['Angular momentum (AU²/yr)', ...both((v) => shown(v.momentum, 4))]),
    line(['Precession (degrees a turn)', ...both((v) => shown(v.precession, 2))]),
    line(['The motion', ...both((v) => v.motion)]));
}
// The path of the planet under a law, for a picture.
function pathUnder(which) {
  const text = state[which].trim();
  if (!text) return '';
  const law = lab.law(text);
  const steps = law.path(gm(), state.power, state.years, [state.x, state.y, state.vx, state.vy], STEPS_DRAWN);
  law.free();
  drawnTo[which] = steps.at(-1);
  return curveOf(steps);
}
// What is wrong with a number's field: its state keeps the last number that was right. Any number of its range is: the
// field's step is that of its arrows.
function wrongOf(field) {
  const right = field.value && !field.validity.rangeUnderflow && !field.validity.rangeOverflow;
  return field.type !== 'number' || right ? [] : [`${field.labels[0].textContent}: expected ${field.min} to ${field.max}, found "${field.value}"; ${state[field.id]} is drawn.`];
}
function drawThrow() {
  if (!lab) return;
  const wrong = FIELDS.flatMap(([id]) => wrongOf($(id)));
  for (const which of ['a', 'b']) {
    let path = '';
    try {
      path = pathUnder(which);
    } catch (error) {
      wrong.push(`Law ${which.toUpperCase()}: ${error.message}. A law is written like GM/r^2, of r, v, GM and p.`);
    }
    $('orbit-' + which).setAttribute('d', path);
  }
  $('law-error').textContent = wrong.join(' ');
  const size = state.view;
  $('sky').setAttribute('viewBox', `${-size} ${-size} ${2 * size} ${2 * size}`);
  const put = (id, attributes) => Object.entries(attributes).forEach(([k, v]) => $(id).setAttribute(k, v));
  const tip = [state.x + speed() * state.vx, -(state.y + speed() * state.vy)];
  const scale = size / 2; // handles keep their size on the screen
  put('planet', { transform: `translate(${state.x} ${-state.y}) scale(${scale})` });
  put('tip', { transform: `translate(${tip[0]} ${tip[1]}) scale(${scale})` });
  put('star', { r: 0.05 * scale });
  put('speed', { x1: state.x, y1: -state.y, x2: tip[0], y2: tip[1] });
}
const within = (x, most) => Math.max(-most, Math.min(most, x));
function place(id, x, y) {
  if (id === 'planet') {
    const r = Math.hypot(x, y), out = r < 0.05 ? 0.05 / (r || 1) : 1;
    state.x = within(r ? x * out : 0.05, 0.95 * state.view);
    state.y = within(y * out, 0.95 * state.view);
  } else {
    state.vx = within((x - state.x) / speed(), 30);
    state.vy = within((y - state.y) / speed(), 30);
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
    const by = (event.shiftKey ? 0.05 : 0.01) * state.view;
    const from = id === 'planet' ? [state.x, state.y] : [state.x + speed() * state.vx, state.y + speed() * state.vy];
    place(id, from[0] + by * way[0], from[1] + by * way[1]);
  });
}
for (const [id, key] of FIELDS) {
  $(id).addEventListener('input', () => {
    const field = $(id);
    if (field.type === 'text') state[key] = field.value;
    else if (!wrongOf(field).length) state[key] = Number(field.value);
    drawSoon();
  });
}
function showFields() {
  for (const [id, key] of FIELDS) $(id).value = state[key];
}
$('save-svg').addEventListener('click', () => save('orbit.svg', 'image/svg+xml', svgText($('sky'))));
$('save-png').addEventListener('click', () => savePng('orbit.png', $('sky')));
$('save-csv').addEventListener('click', () => {
  drawRest();
  const rows = [];
  for (const which of ['a', 'b'])
    for (let i = 0; i < tracks[which].length; i += 4)
      rows.push([which.toUpperCase(), state.years / (ROWS - 1) * i / 4, ...tracks[which].slice(i, i + 4)]);
  save('tracks.csv', 'text/csv', csv(['law', 't_yr', 'x_au', 'y_au', 'vx_au_yr', 'vy_au_yr'], rows));
});
