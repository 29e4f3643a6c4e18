// networks.js - part 2: what the networks of a run make of the orbit of law A. They read two bodies around their centre of
// mass, so that the planet's part of the mass is a number of its own.
const STEPS = 40; // of the orbit that is shown
let run = { networks: [] };
const networks = new Map(); // name: the opened network, or an Error
let asked = null; // the numbers that are shown
let refused = ''; // why the last file was no network; stays until another is chosen

const stepOfRun = () => run.dt_yr || 0.04; // years
const nameOf = (one) => `${one.name}: ${one.forces ? 'forces' : 'next positions'}`;
function fillNetworks() {
  $('network').replaceChildren(...run.networks.map((one) => new Option(nameOf(one), nameOf(one))));
  if (!run.networks.some((one) => nameOf(one) === state.network)) state.network = run.networks.length ? nameOf(run.networks[0]) : '';
  $('network').value = state.network;
  $('network').disabled = !run.networks.length;
  const fixed = (x) => String(Number(x));
  $('ask-about').textContent = !run.networks.length ? 'This page holds no networks: orrery lab --run RUN --out lab.html makes one with those of a run. A checkpoint of your own can be opened.'
    : !Number.isFinite(run.m_min) ? '' : `They were trained on two bodies of ${fixed(run.m_min)} to ${fixed(run.m_max)} suns, on orbits with semi-major axes from ${fixed(run.a_min_au)} to ${fixed(run.a_max_au)} AU and eccentricities up to ${fixed(run.e_max)} under ${run.law === 'newton' ? 'Newton\'s law' : `the law "${run.law}"`}, at steps of ${fixed(run.dt_yr)} years. What you throw may lie outside of that. Names are those of kinds of attention (softmax, lssar ...); an untrained network saw no orbits before its labels of forces.`;
}
function networkOf(name) {
  if (!networks.has(name)) {
    const one = run.networks.find((it) => nameOf(it) === name);
    try {
      networks.set(name, lab.network(one.bytes, one.name));
    } catch (error) {
      networks.set(name, error);
    }
  }
  const network = networks.get(name);
  if (network instanceof Error) throw network;
  return network;
}
// Median of the numbers that are numbers.
function medianOf(list) {
  const sorted = list.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1] : NaN;
}
// The orbit of law A at the steps of the network, (steps, 4).
function orbitInSteps({ law: text, gm, power, dt, from, steps }) {
  const law = lab.law(text);
  try {
    const track = law.orbit(gm, power, dt, steps, from), force = [];
    for (let i = 0; i < track.length; i += 4)
      force.push(law.force(gm, power, Math.hypot(track[i], track[i + 1]), Math.hypot(track[i + 2], track[i + 3])));
    return { track, force };
  } finally {
    law.free();
  }
}
// Forces per mass toward the star by second differences of the planet's positions (of both bodies: over 1 - share): those
// of the orbit, and those of the network, which knows all steps up to each and says the next.
function impliedForces(rows, next, share, dt) {
  const n = (rows.length / 2 - 1) / 2, planet = (k, c) => rows[2 * (1 + 2 * k) + c];
  const toward = (k, x, y) => {
    const ax = (x - 2 * planet(k, 0) + planet(k - 1, 0)) / (dt * dt), ay = (y - 2 * planet(k, 1) + planet(k - 1, 1)) / (dt * dt);
    return -(ax * planet(k, 0) + ay * planet(k, 1)) / Math.hypot(planet(k, 0), planet(k, 1)) / (1 - share);
  };
  const truth = [NaN], said = [NaN];
  for (let k = 1; k < n; k++) {
    truth.push(k + 1 < n ? toward(k, planet(k + 1, 0), planet(k + 1, 1)) : NaN);
    said.push(toward(k, next[2 * (2 + 2 * k)], next[2 * (2 + 2 * k) + 1])); // the star's row says where the planet goes
  }
  return { truth, said };
}
// In the worker (ask.js).
function ask(network, question) {
  const { dt, share } = question, { track, force } = orbitInSteps(question), steps = track.length / 4;
  const given = Math.min(question.given, steps), rows = network.rows(track, share, dt), begun = performance.now();
  const answer = { track, steps, given, path: null };
  if (network.forces) {
    const reduced = share * (1 - share) * question.mass;
    answer.truth = force;
    answer.said = force.map(() => NaN);
    network.force(rows).forEach((f, i) => { if (i && i % 2 === 0) answer.said[i / 2 - 1] = f / reduced; });
  } else {
    Object.assign(answer, impliedForces(rows, network.next(rows), share, dt));
    const known = rows.slice();
    known.fill(0, 2 * (1 + 2 * given));
    const path = network.continued(known, 1 + 2 * given);
    answer.path = [];
    for (let k = 0; k < steps; k++)
      answer.path.push([path[2 * (1 + 2 * k)] - path[2 * (2 + 2 * k)], path[2 * (1 + 2 * k) + 1] - path[2 * (2 + 2 * k) + 1]]);
  }
  answer.layer = Math.min(question.layer, network.layers);
  answer.attention = network.attention(rows.subarray(0, 2 * (1 + 2 * given)), answer.layer - 1);
  answer.ms = performance.now() - begun;
  return answer;
}
function drawNetwork() {
  $('given-text').textContent = state.given;
  $('share-text').textContent = `${Math.round(100 * state.share)} %`;
  $('layer-text').textContent = state.layer;
  if (!state.network) { $('net-error').textContent = refused; return; }
  try {
    $('layer').max = networkOf(state.network).layers;
  } catch (error) {
    showAnswer({ error: error.message });
    return;
  }
  askWorker('network', { ...thrown(), name: state.network, law: state.a, dt: stepOfRun(), steps: STEPS,
    share: state.share, given: state.given, layer: state.layer }, showAnswer);
}
function showAnswer(data) {
  asked = data.answer || null;
  $('net-error').textContent = data.error || refused;
  drawNetworkSky();
  drawForces(networks.get(state.network));
  showNetworkNumbers();
}
function drawNetworkSky() {
  const size = state.view, nodes = [make('circle', { class: 'star', r: 0.025 * size })];
  $('net-sky').setAttribute('viewBox', `${-size} ${-size} ${2 * size} ${2 * size}`);
  if (asked) {
    const { track, given, path, steps } = asked, at = (k) => [track[4 * k], track[4 * k + 1]];
    nodes.push(make('path', { class: 'a', d: curveOf(Array.from({ length: steps }, (_, k) => [...track.slice(4 * k, 4 * k + 4), k * stepOfRun()]).flat()) }));
    for (let k = 0; k < given; k++) nodes.push(make('circle', { class: 'dot', cx: at(k)[0], cy: -at(k)[1], r: 0.016 * size }));
    const weights = weightsOfSteps();
    weights.forEach((w, k) => nodes.push(make('circle', { class: 'ring', cx: at(k)[0], cy: -at(k)[1], r: size * (0.02 + 0.14 * Math.sqrt(w)) })));
    const arm = 0.022 * size;
    for (let k = given; path && k < steps; k++)
      if (path[k].every(Number.isFinite)) nodes.push(make('path', { class: 'cross', d: pathOf([[path[k][0] - arm, path[k][1] - arm], [path[k][0] + arm, path[k][1] + arm]]) + pathOf([[path[k][0] - arm, path[k][1] + arm], [path[k][0] + arm, path[k][1] - arm]]) }));
  }
  $('net-sky').replaceChildren(...nodes);
}
// Weights of the last row by step, both bodies together; steps before the window have none.
function weightsOfSteps() {
  const { first, weights } = asked.attention, by = new Array(asked.given).fill(0);
  for (let i = 1; i < weights.length; i++) by[Math.floor((first + i - 2) / 2)] += weights[i];
  return by;
}
function drawForces(network) {
  const nodes = [];
  if (asked) {
    const { truth, said, given, steps } = asked, [low, most] = range([0, ...truth.filter(Number.isFinite)]), span = 1.4 * (most - low) || 1;
    const px = (k) => 44 + 344 * k / (steps - 1 || 1), py = (f) => 195 - 175 * Math.max(-0.05, Math.min(1, (f - low) / span));
    nodes.push(make('path', { class: 'edge', d: `M${px(given - 0.5)} 15V200` }), make('path', { class: 'edge', d: `M44 ${py(0)}H388` }));
    nodes.push(make('path', { class: 'a', d: pathOf(truth.map((f, k) => [px(k), Number.isFinite(f) ? -py(f) : NaN])) }));
    said.forEach((f, k) => {
      if (Number.isFinite(f)) nodes.push(make('path', { class: 'cross', d: `M${px(k) - 3} ${py(f) - 3}l6 6M${px(k) - 3} ${py(f) + 3}l6 -6` }));
    });
    for (const f of [low, (low + most) / 2, most]) nodes.push(make('text', { x: 40, y: py(f) + 4, 'text-anchor': 'end' }, Number(f.toPrecision(2)).toString()));
    nodes.push(make('text', { x: 388, y: 214, 'text-anchor': 'end' }, 'step'), make('text', { x: 48, y: 12 }, 'force per mass (AU/yr²)'));
    const beyond = said.filter((f) => Number.isFinite(f) && ((f - low) / span > 1 || (f - low) / span < -0.05)).length;
    if (beyond) nodes.push(make('text', { x: 388, y: 12, 'text-anchor': 'end' }, `${beyond} beyond the edge`));
  }
  $('net-plot').replaceChildren(...nodes);
  $('net-text').textContent = 'The line is the orbit of law A, dots are the steps that the network is given. '
    + (network && network.forces ? 'This network says forces, which are drawn beside, and continues no orbit. ' : 'Crosses are its own continuation. ')
    + 'Rings show the attention of its last row: the larger, the more weight.';
  $('net-how').textContent = !network || !asked ? '' : network.forces ? 'The network says the force at each step of the true orbit, of which it knows the steps before. It was fine-tuned to labels of forces.'
    : 'The network says the next position at each step of the true orbit, of which it knows the steps before; the second difference of positions is the force that this implies. The line is the same difference of the true orbit.';
}
// How far a point is from the line between a step of a track and the next.
function offSegment([x, y], track, i) {
  const [x0, y0, , , x1, y1] = track.slice(4 * i, 4 * i + 6), length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const along = Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length || 0));
  return Math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0));
}
function showNetworkNumbers() {
  const rows = [];
  if (asked) {
    const { truth, said, path, given, steps, track, attention } = asked;
    const wrong = medianOf(said.map((f, k) => Math.abs(f / truth[k] - 1)));
    const beside = (k) => Math.min(...Array.from({ length: steps - 1 }, (_, i) => offSegment(path[k], track, i)));
    const away = (k) => Math.hypot(path[k][0] - track[4 * k], path[k][1] - track[4 * k + 1]);
    rows.push(['Force, median error', Number.isFinite(wrong) ? `${(100 * wrong).toPrecision(3)} %` : 'none']);
    if (path && given < steps) rows.push(['First own step, error', `${away(given).toPrecision(2)} AU`], [`Error after ${steps - given} own steps`, `${away(steps - 1).toPrecision(2)} AU; ${beside(steps - 1).toPrecision(2)} AU beside the line, the rest too early or too late`]);
    rows.push(['Attention on its first row, which holds the time step', `${(100 * attention.weights[0]).toPrecision(3)} %`], ['This took', `${asked.ms.toFixed(0)} ms`]);
    const warnings = rangeWarnings();
    const own = networkOf(state.network).own;
    rows.push(['Its weights', own ? 'as in the file' : 'rounded to 16 significant bits']);
    rows.push(['Inside what it was trained on', warnings.length ? `no: ${warnings.join('; ')}` : Number.isFinite(run.m_min) ? 'yes' : 'unknown']);
  }
  $('net-values').replaceChildren(...rows.map(line));
}
// In which respects the throw lies outside the training; by Newton's elements of the throw.
function rangeWarnings() {
  if (!Number.isFinite(run.m_min)) return [];
  const list = [], masses = [state.share * state.mass, (1 - state.share) * state.mass], r = Math.hypot(state.x, state.y);
  const a = 1 / (2 / r - (state.vx ** 2 + state.vy ** 2) / gm()), h = state.x * state.vy - state.y * state.vx;
  const e = Math.sqrt(Math.max(0, 1 - h * h / (gm() * a)));
  if (masses.some((m) => m < run.m_min || m > run.m_max)) list.push(`masses ${masses.map((m) => m.toPrecision(2)).join(' and ')} suns`);
  if (!(a >= run.a_min_au && a <= run.a_max_au)) list.push(a > 0 ? `semi-major axis ${a.toPrecision(2)} AU` : 'the orbit is open');
  else if (e > run.e_max) list.push(`eccentricity ${e.toFixed(2)}`);
  if (!/^GM\/(r\^2|square\(r\))$/.test(state.a.replace(/\s/g, '')) && run.law === 'newton') list.push('another law');
  return list;
}
$('network').addEventListener('change', () => { state.network = $('network').value; refused = ''; drawSoon(); });
async function openOwn(file) {
  if (!file) return;
  refused = '';
  try {
    if (file.size > 1e8) throw new Error(`${file.name}: expected at most 100 MB, found ${(file.size / 1e6).toFixed(0)} MB`);
    const bytes = new Uint8Array(await file.arrayBuffer()), network = lab.network(bytes, file.name);
    const one = { name: file.name.slice(0, 60), forces: network.forces, bytes };
    network.own = true;
    run.networks = [...run.networks.filter((it) => nameOf(it) !== nameOf(one)), one]; // in place of one of this name
    networks.set(nameOf(one), network);
    asker.delete(nameOf(one));
    state.network = nameOf(one);
    fillNetworks();
    draw();
  } catch (error) {
    $('net-error').textContent = refused = error.message;
  }
}
$('own').addEventListener('change', () => openOwn($('own').files[0]));
$('save-net-svg').addEventListener('click', () => save('network.svg', 'image/svg+xml', svgText($('net-sky'))));
$('save-net-csv').addEventListener('click', () => {
  if (!asked) return;
  const weights = weightsOfSteps(), cell = (x) => (Number.isFinite(x) ? x : '');
  const rows = asked.truth.map((f, k) => [k, asked.track[4 * k], asked.track[4 * k + 1], ...(asked.path && k >= asked.given ? asked.path[k] : ['', '']), cell(f), cell(asked.said[k]), cell(weights[k])]);
  save('network.csv', 'text/csv', csv(['step', 'x_au', 'y_au', 'network_x_au', 'network_y_au', 'force', 'network_force', 'attention'], rows));
});
