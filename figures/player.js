/* player.js - the orbit player of report.html: plain canvas, no network, no need of a mouse. Its data
 * is the JSON of the element "player-data" (figures/html_player.c). */
(function () {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('player-data').textContent);
  const canvas = byId('player-canvas');
  const pen = canvas.getContext('2d');
  const controls = {
    body: byId('player-body'), step: byId('player-step'), play: byId('player-play'),
    speed: byId('player-speed'), forces: byId('player-forces'), paths: byId('player-paths'),
  };
  const shown = data.sources.map((_, s) => byId('player-source-' + s));
  const dark = matchMedia('screen and (prefers-color-scheme: dark)');
  const CUT = 2; // arrows are at most so many times as long as the true one
  const STEPS_PER_S = 8;
  let body = data.bodies[0];
  let timer = 0;
  let printing = false;

  /* ---- what is where */

  const firstStep = (b) => (b.path ? 0 : b.first);
  const lastStep = (b) => (b.path ? b.path.length / 2 : b.first + b.at.length / 2) - 1;
  const pair = (list, i) => // null as well where a model put out no position
    (list && i >= 0 && 2 * i + 1 < list.length && list[2 * i] !== null && list[2 * i + 1] !== null
      ? [list[2 * i], list[2 * i + 1]] : null);
  const position = (b, step) => (b.path ? pair(b.path, step) : pair(b.at, step - b.first));

  /* The conic around the Sun through all positions: r = p - u x - v y, by least squares. Null where
   * they are on none (another law than Newton's), or where it is no ellipse. */
  function ellipse(b) {
    const list = b.path || b.at;
    const m = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]];
    for (let i = 0; i < list.length; i += 2) {
      const row = [1, -list[i], -list[i + 1], Math.hypot(list[i], list[i + 1])];
      for (let a = 0; a < 3; a++) for (let c = 0; c < 4; c++) m[a][c] += row[a] * row[c];
    }
    for (let a = 0; a < 3; a++) {
      if (Math.abs(m[a][a]) < 1e-12) return null;
      for (let k = 0; k < 3; k++) {
        const share = k === a ? 0 : m[k][a] / m[a][a];
        for (let c = 0; c < 4; c++) m[k][c] -= share * m[a][c];
      }
    }
    const [p, u, v] = [0, 1, 2].map((a) => m[a][3] / m[a][a]);
    for (let i = 0; i < list.length; i += 2) {
      const r = Math.hypot(list[i], list[i + 1]);
      if (Math.abs(p - u * list[i] - v * list[i + 1] - r) > 0.01 * r) return null;
    }
    if (!(p > 0) || Math.hypot(u, v) > 0.99) return null;
    const points = [];
    const e = Math.hypot(u, v);
    const turn = Math.atan2(v, u);
    for (let k = 0; k <= 240; k++) { // even in eccentric anomaly, so that no end is coarse
      const E = (2 * Math.PI * k) / 240;
      const a = p / (1 - e * e);
      const x = a * (Math.cos(E) - e);
      const y = a * Math.sqrt(1 - e * e) * Math.sin(E);
      points.push(x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn));
    }
    return points;
  }

  /* The tip of an arrow of a force beside the true one, `length` AU where they are equal. */
  function tip(at, found, truth, length) {
    const unit = Math.hypot(...truth);
    const scale = (length / unit) * Math.min(1, (CUT * unit) / Math.hypot(...found));
    return [at[0] + scale * found[0], at[1] + scale * found[1]];
  }

  /* Square that holds the orbit, the Sun and every arrow; of rollouts that leave it, what is not far
   * away: one that is lost must not shrink the orbit to a dot. `arrow`: the true one, AU. */
  function frameOf(b) {
    const box = (lists) => {
      let [x0, x1, y0, y1] = [0, 0, 0, 0];
      for (const points of lists) for (let i = 0; i < points.length; i += 2) {
        x0 = Math.min(x0, points[i]); x1 = Math.max(x1, points[i]);
        y0 = Math.min(y0, points[i + 1]); y1 = Math.max(y1, points[i + 1]);
      }
      return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, half: 0.5 * Math.max(x1 - x0, y1 - y0) };
    };
    const orbit = box([b.curve]);
    const arrow = 0.5 * orbit.half;
    const tips = [];
    for (const list of Object.values(b.forces)) for (let i = 0; 2 * i < b.at.length; i++) {
      const [at, found, truth] = [pair(b.at, i), pair(list, i), pair(b.force, i)];
      if (at && found && truth) tips.push(...tip(at, found, truth, arrow));
    }
    const all = box([b.curve].concat(Object.values(b.rollouts || {})));
    const paths = all.half < 1.6 * orbit.half ? Object.values(b.rollouts || {}) : [];
    const view = box([b.curve, tips].concat(paths));
    return { x: view.x, y: view.y, half: Math.max(1.2 * orbit.half, 1.06 * view.half), arrow };
  }

  /* ---- drawing */

  const night = () => dark.matches && !printing;
  /* Colours of the tables, on a dark page mixed with white. */
  function colour(hex) {
    if (!night()) return hex;
    const part = (i) => parseInt(hex.slice(i, i + 2), 16);
    const mixed = [1, 3, 5].map((i) => Math.round(part(i) + 0.35 * (255 - part(i))));
    return 'rgb(' + mixed.join(',') + ')';
  }
  const ink = () => (night() ? '#e4e8ec' : '#1c2126');
  const faint = () => (night() ? '#7d8894' : '#8b95a0');

  function line(points, style, width, dash) {
    pen.beginPath();
    for (let i = 0; i < points.length; i += 2) pen.lineTo(points[i], points[i + 1]);
    pen.strokeStyle = style; pen.lineWidth = width; pen.setLineDash(dash || []);
    pen.stroke(); pen.setLineDash([]);
  }
  function disc(x, y, radius, fill, edge) {
    pen.beginPath(); pen.arc(x, y, radius, 0, 2 * Math.PI);
    if (fill) { pen.fillStyle = fill; pen.fill(); }
    if (edge) { pen.strokeStyle = edge; pen.lineWidth = 2; pen.stroke(); }
  }
  function arrow(x, y, dx, dy, style, width) {
    const length = Math.hypot(dx, dy);
    if (length < 1) return;
    const head = Math.min(10, 0.5 * length);
    const [ux, uy] = [dx / length, dy / length];
    line([x, y, x + dx - ux * head, y + dy - uy * head], style, width);
    pen.beginPath(); pen.moveTo(x + dx, y + dy);
    for (const side of [-1, 1]) {
      pen.lineTo(x + dx - head * (ux + 0.45 * side * uy), y + dy - head * (uy - 0.45 * side * ux));
    }
    pen.closePath(); pen.fillStyle = style; pen.fill();
  }

  /* A source's force at a step, the true one beside it. */
  function forces(source, step) {
    const truth = pair(body.force, step - body.first);
    const found = source.role === 'truth' ? truth
      : pair(body.forces[source.name], step - body.first);
    return truth && found ? { truth, found } : null;
  }
  const rollout = (source) => (body.rollouts || {})[source.name];

  function draw() {
    const size = Math.max(100, canvas.clientWidth || 500);
    const ratio = printing ? 3 : window.devicePixelRatio || 1;
    const step = Number(controls.step.value);
    const dots = Math.round(size * ratio);
    if (canvas.width !== dots) canvas.width = canvas.height = dots;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = night() ? '#14181c' : '#ffffff';
    pen.fillRect(0, 0, size, size);
    const view = body.view;
    const unit = size / (2 * view.half);
    const px = (p) => [size / 2 + (p[0] - view.x) * unit, size / 2 - (p[1] - view.y) * unit];
    const mapped = (list, from, to) => {
      const out = [];
      for (let i = from; i <= to; i++) out.push(...px(pair(list, i)));
      return out;
    };
    const all = body.curve.length / 2 - 1;
    line(mapped(body.curve, 0, all), faint(), 1.25);
    disc(...px([0, 0]), 6, night() ? '#ffd166' : '#e8a200');
    if (controls.paths.checked) {
      data.sources.forEach((source, s) => {
        const path = rollout(source);
        if (!path || !shown[s].checked) return;
        const start = px(position(body, body.known - 1));
        const to = Math.min(step - body.known, path.length / 2 - 1);
        line(start.concat(to < 0 ? [] : mapped(path, 0, to)), colour(source.colour), 1.75, [5, 3]);
        if (to >= 0) disc(...px(pair(path, to)), 4, null, colour(source.colour));
      });
    }
    const here = px(position(body, step));
    if (controls.forces.checked) {
      data.sources.forEach((source, s) => {
        const both = shown[s].checked && forces(source, step);
        if (!both) return;
        const end = px(tip(position(body, step), both.found, both.truth, view.arrow));
        const isTruth = source.role === 'truth';
        arrow(here[0], here[1], end[0] - here[0], end[1] - here[1],
          isTruth ? ink() : colour(source.colour), isTruth ? 4 : 2);
      });
    }
    const labelled = body.labelled[step - body.first] === '1';
    disc(...here, 5, labelled ? faint() : ink(), ink());
  }

  /* ---- the same in words */

  const degrees = (a, b) =>
    (180 / Math.PI) * Math.atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
  function words() {
    const step = Number(controls.step.value);
    const lines = [];
    const at = position(body, step);
    let head = body.title + ', step ' + step + ' of ' + lastStep(body) + ': ' +
      Math.hypot(...at).toPrecision(4) + ' AU from the Sun';
    if (body.labelled[step - body.first] === '1') head += ', a labelled position';
    lines.push(head + '.');
    data.sources.forEach((source, s) => {
      if (!shown[s].checked || source.role === 'truth') return;
      const said = [];
      const both = controls.forces.checked && forces(source, step);
      if (both) {
        const size = Math.hypot(...both.found) / Math.hypot(...both.truth);
        const sized = size < 10 ? (100 * size).toFixed(0) + '%' : size.toFixed(0) + ' times';
        said.push('force turned by ' + Math.abs(degrees(both.truth, both.found)).toFixed(1) +
          '\u00b0, ' + sized + (size < 10 ? ' of' : '') + ' the true size');
      }
      const path = controls.paths.checked && rollout(source);
      const guess = path && pair(path, step - body.known);
      if (guess) {
        const off = Math.hypot(guess[0] - at[0], guess[1] - at[1]);
        said.push('position off by ' + off.toPrecision(2) + ' AU');
      }
      if (said.length) lines.push(source.title + ': ' + said.join('; ') + '.');
    });
    const out = byId('player-words');
    out.replaceChildren(...lines.map((text) => {
      const span = document.createElement('span');
      span.textContent = text;
      return span;
    }));
    controls.step.setAttribute('aria-valuetext', 'step ' + step + ' of ' + lastStep(body));
  }
  function show() { draw(); words(); }

  /* ---- controls */

  function stop() {
    clearInterval(timer); timer = 0;
    controls.play.textContent = 'Play';
  }
  function next() {
    if (Number(controls.step.value) >= lastStep(body)) { stop(); return; }
    controls.step.value = Number(controls.step.value) + 1;
    show();
  }
  function play() {
    if (timer) { stop(); return; }
    if (Number(controls.step.value) >= lastStep(body)) controls.step.value = firstStep(body);
    timer = setInterval(next, 1000 / (STEPS_PER_S * Number(controls.speed.value)));
    controls.play.textContent = 'Pause';
    show();
  }
  /* Another body: begins with its last step, where all of its rollouts are seen. */
  function choose() {
    body = data.bodies[Number(controls.body.value)];
    controls.step.min = firstStep(body);
    controls.step.max = lastStep(body);
    controls.step.value = lastStep(body);
    canvas.setAttribute('aria-label',
      'Orbit of ' + body.title + ' around the Sun, in words beside it');
    stop();
    show();
  }
  data.bodies.forEach((b) => {
    b.curve = ellipse(b) || b.path || b.at;
    b.view = frameOf(b);
  });
  controls.play.form.addEventListener('submit', (event) => event.preventDefault());
  controls.play.addEventListener('click', play);
  controls.body.addEventListener('change', choose);
  controls.step.addEventListener('input', () => { stop(); show(); });
  controls.speed.addEventListener('change', () => { if (timer) { stop(); play(); } });
  for (const box of shown.concat(controls.forces, controls.paths)) {
    box.addEventListener('change', show);
  }
  dark.addEventListener('change', draw);
  new ResizeObserver(draw).observe(canvas);
  window.addEventListener('beforeprint', () => { stop(); printing = true; show(); });
  window.addEventListener('afterprint', () => { printing = false; show(); });
  byId('player').hidden = false;
  controls.body.value = '0';
  choose();
})();
