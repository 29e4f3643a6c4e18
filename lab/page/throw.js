// throw.js - part 1: a planet that is thrown under two laws, and the numbers of its motion.
const ROWS = 600;
const STEPS_DRAWN = 4000;
const FIELDS = [['law-a', 'a'], ['law-b', 'b'], ['mass', 'mass'], ['power', 'power'], ['years', 'years'], ['view', 'view'], ['noise', 'noise'],
  ['given', 'given'], ['share', 'share'], ['layer', 'layer']];
const tracks = { a: new Float64Array(0), b: new Float64Array(0) };
// AU of the picture per AU/yr
const speed = () => SPEED * state.view / 2;

// In the worker (ask.js): energy per mass (the potential is 0 at 1 AU, by Simpson's rule in ln r) at x, y, vx, vy.
function energyOf(law, { gm, power }, [x, y, vx, vy]) {
  const r = Math.hypot(x, y), n = 2 * Math.ceil(32 * Math.max(1, Math.abs(Math.log(r)))), h = Math.log(r) / n;
  let sum = 0;
  for (let i = 0; i <= n; i++) {
    const at = Math.exp(i * h);
    sum += (i === 0 || i === n ? 1 : i % 2 ? 4 : 2) * law.force(gm, power, at, 0) * at;
  }
  return (vx * vx + vy * vy) / 2 + sum * h / 3;
}
// In the worker: the motion under a law, its track (rows, 4) and its numbers; null where the law cannot be read, which
// drawThrow() says.
function motionOf(text, question) {
  let law = null;
  try {
    law = text ? lab.law(text) : null;
  } catch { /* no motion */ }
  if (!law) return null;
  const { gm, power, years, rows, from } = question;
  const track = law.orbit(gm, power, years / (rows - 1), rows, from), whole = track.length === 4 * rows;
  const end = whole ? `followed for all ${years} years` : law.end(), energy = energyOf(law, question, from);
  const drift = energyOf(law, question, track.slice(-4)) - energy, precession = law.precession(gm, power, years, from) * 180 / Math.PI;
  law.free();
  return { track, whole, end, energy, drift, precession, momentum: from[0] * from[3] - from[1] * from[2] };
}
const drawnTo = { a: 0, b: 0 }; // years
function askMotions() {
  askWorker('motions', { ...thrown(), a: state.a.trim(), b: state.b.trim(), years: state.years, rows: ROWS }, showMotions);
}
function showMotions({ answer }) {
  const motions = ['a', 'b'].map((one) => answer && answer[one]), both = (f) => motions.map((one, i) => (one ? f(one, 'ab'[i]) : ''));
  ['a', 'b'].forEach((one, i) => { tracks[one] = motions[i] ? motions[i].track : new Float64Array(0); });
  const part = (it, one) => (it.whole && drawnTo[one] < state.years ? `, drawn for ${shown(drawnTo[one], 1)} years` : '');
  $('values').replaceChildren(
    line(['Energy, potential 0 at 1 AU (AU²/yr²)', ...both((v) => shown(v.energy, 4))]),
    line(['Its change on the way', ...both((v) => (Number.isFinite(v.drift) ? v.drift.toExponential(1) : 'none'))]),
    line(['Angular momentum (AU²/yr)', ...both((v) => shown(v.momentum, 4))]),
    line(['Precession (degrees a turn)', ...both((v) => shown(v.precession, 2))]),
    line(['The motion', ...both((v, one) => v.end + part(v, one))]));
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
    put($('orbit-' + which), { d: path });
  }
  putText($('law-error'), wrong.join(' '));
  const size = state.view;
  put($('sky'), { viewBox: `${-size} ${-size} ${2 * size} ${2 * size}` });
  const tip = [state.x + speed() * state.vx, -(state.y + speed() * state.vy)];
  const scale = size / 2; // handles keep their size on the screen
  put($('planet'), { transform: `translate(${state.x} ${-state.y}) scale(${scale})` });
  put($('tip'), { transform: `translate(${tip[0]} ${tip[1]}) scale(${scale})` });
  put($('star'), { r: 0.05 * scale });
  put($('speed'), { x1: state.x, y1: -state.y, x2: tip[0], y2: tip[1] });
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
$('known').addEventListener('change', () => {
  if ($('known').value) state.a = $('law-a').value = $('known').value;
  $('known').value = '';
  drawSoon();
});
function showFields() {
  for (const [id, key] of FIELDS) $(id).value = state[key];
}
$('save-svg').addEventListener('click', () => save('orbit.svg', 'image/svg+xml', svgText($('sky'))));
$('save-png').addEventListener('click', () => savePng('orbit.png', $('sky')));
$('save-csv').addEventListener('click', async () => {
  drawRest();
  await answered;
  const rows = [];
  for (const which of ['a', 'b'])
    for (let i = 0; i < tracks[which].length; i += 4)
      rows.push([which.toUpperCase(), state.years / (ROWS - 1) * i / 4, ...tracks[which].slice(i, i + 4)]);
  save('tracks.csv', 'text/csv', csv(['law', 't_yr', 'x_au', 'y_au', 'vx_au_yr', 'vy_au_yr'], rows));
});
