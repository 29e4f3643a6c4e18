// table_page.js - report.html of a table: a row of the front is shown beside the data. Texts come
// from the page; only numbers are drawn.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
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

function draw(place, title, names, points, line) {
  const [x0, x1] = limits(points.map(p => p[0])), [y0, y1] = limits(points.map(p => p[1]));
  const across = ticks(x0, x1), up = ticks(y0, y1);
  const acrossLabels = labels(across), upLabels = labels(up);
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
  if (from < to && (line === 'equal' || (y0 <= 0 && y1 >= 0)))
    svg.append(element('line', { class: 'line', x1: x(from), y1: at(from), x2: x(to), y2: at(to) }));
  for (const p of points)
    svg.append(element('circle', { class: 'dots', cx: x(p[0]).toFixed(1), cy: y(p[1]).toFixed(1), r: 3 }));
  place.replaceChildren(svg);
}

function show(row) {
  const pairs = data.values[row].map((v, i) => [v, data.y[i]]).filter(p => p[0] !== null);
  for (const each of document.querySelectorAll('tr[data-row], .point')) {
    const on = Number(each.dataset.row) === row;
    each.classList.toggle('shown', on);
    const button = each.querySelector('button');
    if (button) button.setAttribute('aria-pressed', String(on));
  }
  for (const each of document.querySelectorAll('.detail')) each.hidden = Number(each.dataset.row) !== row;
  if (pairs.length === 0) return;
  draw(document.getElementById('fit'), 'data against prediction', ['prediction'], pairs, 'equal');
  draw(document.getElementById('rest'), 'residual (data less prediction)', ['prediction'],
    pairs.map(([v, y]) => [v, y - v]), 'zero');
}

for (const each of document.querySelectorAll('tr[data-row] button'))
  each.addEventListener('click', () => show(Number(each.closest('tr').dataset.row)));
for (const each of document.querySelectorAll('.point'))
  each.addEventListener('click', () => show(Number(each.dataset.row)));
const first = document.querySelector('tr.shown') || document.querySelector('tr[data-row]');
if (first) show(Number(first.dataset.row));
