// table_page.js - report.html of a table: a row of the front is shown beside the data. Texts come
// from the page; only numbers are drawn.
'use strict';
const read = id => JSON.parse(document.getElementById(id)?.textContent ?? 'null');
const data = read('data'); // null: a page without a front
const space = 'http://www.w3.org/2000/svg';
const box = { width: 480, height: 330, left: 66, right: 12, top: 24, bottom: 44 };

function element(name, attributes, text) {
  const made = document.createElementNS(space, name);
  for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}

// round numbers between the limits, and the limits themselves where doubles have no digits between
function ticks(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
  const first = Math.ceil(low / step), last = Math.floor(high / step + 1e-9);
  const counted = Math.max(Math.abs(low), Math.abs(high)) / step < 2 ** 51; // whole numbers of steps
  if (!counted || !Number.isFinite(step) || last < first) return low < high ? [low, high] : [low];
  return Array.from({ length: last - first + 1 }, (_, k) => (first + k) * step);
}

// ticks as texts, with the digits that tell them apart
function labels(list) {
  const step = list.length > 1 ? list[1] - list[0] : 0;
  const large = Math.max(...list.map(Math.abs));
  const digits = step > 0 ? Math.floor(Math.log10(large)) - Math.floor(Math.log10(step) + 1e-6) + 1 : 6;
  return list.map(t => String(+t.toPrecision(Math.min(Math.max(digits, 6), 17))));
}

function limits(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  const margin = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low - margin, high + margin];
}

// axes: where a value is drawn (map), the limits there, and ticks with their texts
function linear(values) {
  const [low, high] = limits(values), list = ticks(low, high);
  return { map: v => v, low, high, ticks: list, labels: labels(list) };
}

// of positive values: each of several bodies is seen, not only the one with the largest values
function decades(values) {
  const [low, high] = limits(values.map(Math.log10)), every = Math.ceil((high - low) / 5);
  const first = Math.ceil(low / every), last = Math.floor(high / every);
  const list = Array.from({ length: last - first + 1 }, (_, k) => (first + k) * every);
  return { map: Math.log10, low, high, ticks: list, labels: list.map(t => `1e${t}`) };
}

// of residuals in sigmas, from some to thousands: 1, 3, 10, 30 ... on both sides of 0
function sigmas(values) {
  const size = 1.15 * Math.max(2.2, ...values.map(Math.abs));
  if (size < 7) {
    const list = [-6, -4, -2, 0, 2, 4, 6].filter(t => Math.abs(t) <= size);
    return { map: v => v, low: -size, high: size, ticks: list, labels: list.map(String) };
  }
  const every = size < 5000 ? 1 : size < 5e6 ? 2 : 6, marks = [0];
  for (let k = 0; 10 ** (k / 2) <= size; k += every)
    marks.push(...[-1, 1].map(sign => sign * (k % 2 ? 3 : 1) * 10 ** Math.floor(k / 2)));
  const high = Math.asinh(size);
  return { map: Math.asinh, low: -high, high, ticks: marks.map(Math.asinh), labels: marks.map(String) };
}

const spread = values => values.every(v => v > 0) && Math.max(...values) > 316 * Math.min(...values);

// points as dots, with bars from the low to the high end of an interval where they have one (null: an
// open end), over them a curve of points and below them arrows of a field, if given
function draw(place, title, names, pairs, line, [acrossAxis, upAxis], curve, field = []) {
  const points = pairs.map(p => [acrossAxis.map(p[0]), upAxis.map(p[1]), p[3]]);
  const x0 = acrossAxis.low, x1 = acrossAxis.high, y0 = upAxis.low, y1 = upAxis.high;
  const across = acrossAxis.ticks, up = upAxis.ticks;
  const acrossLabels = acrossAxis.labels, upLabels = upAxis.labels;
  const wide = texts => 7.5 * Math.max(...texts.map(t => t.length));
  const left = Math.max(box.left, 10 + wide(upLabels));
  const every = Math.ceil(across.length * (wide(acrossLabels) + 10) / (box.width - left));
  const x = v => left + (v - x0) / (x1 - x0) * (box.width - left - box.right);
  const y = v => box.height - box.bottom -
    (v - y0) / (y1 - y0) * (box.height - box.top - box.bottom);
  const svg = element('svg', {
    viewBox: `0 0 ${box.width} ${box.height}`, role: 'img', 'aria-label': title });
  svg.append(element('text', { x: left, y: 14 }, title));
  for (const [k, t] of across.entries()) {
    svg.append(element('line', { class: 'axis', x1: x(t), x2: x(t), y1: box.top, y2: box.height - box.bottom }));
    if (k % every === 0)
      svg.append(element('text', { x: x(t), y: box.height - 26, 'text-anchor': 'middle' }, acrossLabels[k]));
  }
  for (const [k, t] of up.entries()) {
    svg.append(element('line', { class: 'axis', x1: left, x2: box.width - box.right, y1: y(t), y2: y(t) }));
    svg.append(element('text', { x: left - 6, y: y(t) + 4, 'text-anchor': 'end' }, upLabels[k]));
  }
  svg.append(element('text', { x: (left + box.width) / 2, y: box.height - 6, 'text-anchor': 'middle' }, names[0]));
  const from = Math.max(x0, line === 'equal' ? y0 : x0), to = Math.min(x1, line === 'equal' ? y1 : x1);
  const at = v => line === 'equal' ? y(v) : y(0);
  if (line !== 'none' && from < to && (line === 'equal' || (y0 <= 0 && y1 >= 0)))
    svg.append(element('line', { class: 'line', x1: x(from), y1: at(from), x2: x(to), y2: at(to) }));
  for (const [px, py, dx, dy] of field) {
    const u = x(x0 + dx) - x(x0), v = y(y0 + dy) - y(y0), length = Math.hypot(u, v);
    if (!(length > 0)) continue;
    const end = [x(px) + 12 * u / length, y(py) + 12 * v / length];
    svg.append(element('line', { class: 'line', x1: x(px).toFixed(1), y1: y(py).toFixed(1),
      x2: end[0].toFixed(1), y2: end[1].toFixed(1) }),
    element('circle', { class: 'tip', cx: end[0].toFixed(1), cy: end[1].toFixed(1), r: 1.6 }));
  }
  for (const p of points.filter(p => p[2]))
    svg.append(element('line', { class: 'line', x1: x(p[0]).toFixed(1), x2: x(p[0]).toFixed(1),
      y1: y(p[2][0] === null ? y0 : Math.max(upAxis.map(p[2][0]), y0)).toFixed(1),
      y2: y(p[2][1] === null ? y1 : Math.min(upAxis.map(p[2][1]), y1)).toFixed(1) }));
  for (const p of points)
    svg.append(element('circle', { class: 'dots', cx: x(p[0]).toFixed(1), cy: y(p[1]).toFixed(1), r: 3 }));
  if (curve)
    svg.append(element('polyline', { class: 'model',
      points: curve.map(p => `${x(acrossAxis.map(p[0])).toFixed(1)},${y(upAxis.map(p[1])).toFixed(1)}`)
        .join(' ') }));
  place.replaceChildren(svg);
}

function show(row) {
  const pairs = data.values[row].map((v, i) => [v, data.y[i], data.sigma[i], data.bars[i]])
    .filter(p => p[0] !== null && p[2] !== null);
  for (const each of document.querySelectorAll('tr[data-row], .point')) {
    const on = Number(each.dataset.row) === row;
    each.classList.toggle('shown', on);
    const button = each.querySelector('button');
    if (button) button.setAttribute('aria-pressed', String(on));
  }
  for (const each of document.querySelectorAll('.detail')) each.hidden = Number(each.dataset.row) !== row;
  if (pairs.length === 0) return;
  const x = pairs.map(p => p[0]), y = pairs.map(p => p[1]);
  const wide = spread([...x, ...y]), axis = wide ? decades : linear;
  draw(document.getElementById('fit'), 'data against prediction', ['prediction'], pairs, 'equal',
    [axis(x), axis(y)]);
  const known = data.sigma.length > 0;
  const nearest = (v, y, bar) => bar ? Math.max(bar[0] ?? v, Math.min(bar[1] ?? v, v)) : y;
  const rest = pairs.map(([v, t, s, bar]) => [v, nearest(v, t, bar), s]).map(([v, y, s]) => [v, known ? (y - v) / s : wide ? (y - v) / v : y - v]);
  draw(document.getElementById('rest'), known ? 'residual in sigmas' : wide ?
    'residual relative to the prediction' : 'residual (data less prediction)', ['prediction'], rest,
  'zero', [axis(x), (known ? sigmas : linear)(rest.map(p => p[1]))]);
}

// groups of charts, of which one is shown: those of a track, of an orbit
function showGroup(group) {
  document.getElementById('drawn').replaceChildren(...group.charts.map(chart => {
    const made = document.createElement('figure'), defined = p => p[0] !== null && p[1] !== null;
    const points = chart.x.map((x, i) => [x, chart.y[i], null,
      chart.sigma[i] > 0 ? [chart.y[i] - chart.sigma[i], chart.y[i] + chart.sigma[i]] : null]).filter(defined);
    const line = chart.curveX.map((x, i) => [x, chart.curveY[i]]).filter(defined);
    const across = [...points, ...line].map(p => p[0]), up = points.flatMap(p => p[3] ?? [p[1]]);
    const least = Math.min(...up), most = Math.max(...up), wide = most - least;
    // a curve that leaves the points far behind does not hide them
    const near = points.length ? line.filter(p => p[1] > least - wide && p[1] < most + wide) : line;
    up.push(...near.map(p => p[1]));
    if (up.length)
      draw(made, chart.title, [chart.across], points, chart.residuals ? 'zero' : 'none',
        [(chart.decades ? decades : linear)(across), (chart.residuals ? sigmas : linear)(up)], near,
        chart.fieldX.map((x, i) => [x, chart.fieldY[i], chart.fieldDx[i], chart.fieldDy[i]]));
    return made;
  }));
}

const groups = read('groups');
if (groups && groups.length) {
  const choice = document.getElementById('choice'), list = choice.querySelector('select');
  list.append(...groups.map((group, k) => new Option(group.label, k)));
  choice.hidden = groups.length < 2;
  list.addEventListener('change', () => showGroup(groups[Number(list.value)]));
  showGroup(groups[0]);
}

for (const each of document.querySelectorAll('tr[data-row] button'))
  each.addEventListener('click', () => show(Number(each.closest('tr').dataset.row)));
for (const each of document.querySelectorAll('.point'))
  each.addEventListener('click', () => show(Number(each.dataset.row)));
const first = document.querySelector('tr.shown') || document.querySelector('tr[data-row]');
if (first) show(Number(first.dataset.row));
