// find.js - part 3: the search for formulas in a worker, on the throw of part 1 or on a CSV file.
const SECONDS = 20, TRIES = 40000; // where a search ends
let worker = null, table = null, front = [], chosen = null;

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
    const force = law.force(gm(), state.power, r, v);
    const gauss = Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    if (!Number.isFinite(force)) continue;
    columns[0].push(r); columns[1].push(v);
    y.push(force * (1 + state.noise / 100 * gauss));
  }
  law.free();
  const moves = /\bv\b/.test(state.a);
  return { names: moves ? ['r', 'v'] : ['r'], columns: moves ? columns : [columns[0]], y, target: 'force', from: 'the track of law A', track: true };
}
function tableOfText(text, from) {
  const at = []; // the line of the file of each line that is kept
  const lines = text.split(/\r\n?|\n/).filter((l, i) => l.trim() && !l.startsWith('#') && at.push(i + 1));
  if (lines.length < 3) throw new Error(`${from}: expected a line of names and at least 2 rows, found ${lines.length} lines`);
  const mark = [',', ';', '\t'].find((one) => lines[0].replace(/"[^"]*"/g, '').includes(one)) || ',';
  const split = (l) => { // a mark between quotes is text
    const cells = [''];
    let quoted = false;
    for (const c of l) {
      if (c === '"') quoted = !quoted;
      else if (c === mark && !quoted) cells.push('');
      else cells[cells.length - 1] += c;
    }
    return cells;
  };
  const names = split(lines[0]).map((n) => n.trim());
  if (names.length < 2 || names.length > 20) throw new Error(`${from}: line ${at[0]}: expected 2 to 20 columns with commas, semicolons or tabs between, found ${names.length}`);
  if (names.includes('')) throw new Error(`${from}: line ${at[0]}: expected a name for each column, found none for column ${names.indexOf('') + 1}`);
  const twice = names.find((name, c) => names.indexOf(name) < c);
  if (twice) throw new Error(`${from}: line ${at[0]}: expected different names, found "${twice.slice(0, 40)}" twice`);
  if (lines.length > 5001) throw new Error(`${from}: expected at most 5000 rows, found ${lines.length - 1}`);
  const rows = lines.slice(1).map((l, i) => {
    const cells = split(l);
    if (cells.length !== names.length) throw new Error(`${from}: line ${at[i + 1]}: expected ${names.length} columns, found ${cells.length}`);
    return cells;
  });
  // where semicolons or tabs stand between columns, a comma may stand in a number
  const numberOf = (cell) => (cell.trim() ? Number(mark !== ',' ? cell.replace(',', '.') : cell) : NaN);
  const isNumber = (cell) => Number.isFinite(numberOf(cell));
  const kept = names.map((_, c) => c).filter((c) => rows.some((cells) => isNumber(cells[c]))); // names of things are left out
  rows.forEach((cells, i) => kept.forEach((c) => {
    if (!isNumber(cells[c])) throw new Error(`${from}: line ${at[i + 1]}, column "${names[c].slice(0, 40)}": expected a number, found "${cells[c].slice(0, 40)}"`);
  }));
  if (kept.length < 2) throw new Error(`${from}: expected at least 2 columns of numbers, found ${kept.length}`);
  const columns = kept.map((c) => rows.map((cells) => numberOf(cells[c]))), left = kept.map((c) => names[c]);
  return { names: left.slice(0, -1), columns: columns.slice(0, -1), y: columns.at(-1), target: left.at(-1), from, lines: at.slice(1) };
}
function ends(text) {
  if (worker) worker.terminate();
  worker = null;
  $('stop').disabled = true;
  $('find').disabled = false;
  $('find-state').textContent = text;
}
const count = (n, one) => `${n} ${one}${n === 1 ? '' : 's'}`;
// What the library says of a table, whose rows it counts from 0 and whose target it calls y, as of a line of the file.
function ofFile(message) {
  return message.replace(/^table:(?:(\d+): column|0:)?/, (_, row) => (row && table.lines ? `${table.from}: line ${table.lines[row]}, column` : `${table.from}:`)).replace('column "y"', () => `column "${table.names.includes('y') ? 'y' : table.target.slice(0, 40)}"`);
}
function search(of) {
  if (worker) ends('');
  let tried = 0;
  const begun = performance.now();
  table = of; front = [];
  showFront(); plot(null);
  worker = workerOf(`onmessage = async ({ data }) => {
  try {
    const lab = await labOpen(data.bytes, (progress) => postMessage({ progress }));
    postMessage({ front: lab.search(data.columns, data.y, data.names, data.options) });
  } catch (error) { postMessage({ error: error.message }); }
};`);
  worker.onmessage = ({ data }) => {
    if (data.progress) {
      tried = Math.round(data.progress.evaluations);
      $('find-state').textContent = `Searching: ${count(tried, 'formula')} tried. So far: ${data.progress.best}`;
    } else if (data.error) ends(ofFile(data.error));
    else {
      front = data.front;
      showFront();
      // the same formulas on every machine, unless the clock ended the search
      const late = tried < TRIES && performance.now() - begun > 1000 * SECONDS;
      ends(`${count(front.length, 'formula')} for ${table.target} from ${table.from} (${count(table.y.length, 'row')}), the best of ${tried} that were tried${late ? `; ${SECONDS} s ended the search, so that a faster machine may find others` : ''}.`);
    }
  };
  worker.onerror = (event) => ends(`The search failed: ${event.message}`);
  $('find').disabled = true;
  $('stop').disabled = false;
  $('find-state').textContent = 'Searching ...';
  worker.postMessage({ bytes: lab.compiled, columns: of.columns, y: of.y, names: of.names, options: `seed=1\nseconds=${SECONDS}\nevaluations=${TRIES}` });
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
  chosen = row;
  drawField();
  $('code').value = row ? `Python: ${row.numpy}\nC: ${row.c}\nLaTeX: ${row.latex}` : '';
  if (!table) { $('plot').replaceChildren(); return; }
  const x = table.columns[0], all = row ? table.y.concat(row.values.filter(Number.isFinite)) : table.y;
  const [x0, x1] = range(x), [y0, y1] = range(all);
  const spans = (...list) => list.map((v) => String(Number(v.toPrecision(3)))).join(' to ');
  const part = (v, a, b) => (v / 2 - a / 2) / (b / 2 - a / 2 || 1); // halves, as a difference may be too large for a number
  const px = (v) => 20 + 360 * part(v, x0, x1), py = (v) => 225 - 195 * part(v, y0, y1);
  const nodes = table.y.slice(0, 1000).map((v, i) => make('circle', { cx: px(x[i]), cy: py(v), r: 3, class: 'mark' })).filter((one) => one.getAttribute('cy') !== 'NaN');
  if (row) {
    const order = x.map((_, i) => i).filter((i) => Number.isFinite(row.values[i])).sort((i, j) => x[i] - x[j]);
    nodes.push(make('path', { class: 'a', d: order.map((i, k) => `${k ? 'L' : 'M'}${px(x[i])} ${py(row.values[i])}`).join('') }));
  }
  nodes.push(make('text', { x: 20, y: 18 }, `${table.target.slice(0, 30)}: ${spans(y0, y1)}`), make('text', { x: 20, y: 248 }, `${table.names[0].slice(0, 30)}: ${spans(x0, x1)}`));
  $('plot').replaceChildren(...nodes);
}
function open(file) {
  if (!file) return;
  if (/\.safetensors$/.test(file.name)) { openOwn(file); return; }
  const refuse = (text) => { table = null; front = []; showFront(); ends(text); }; // no formulas of another table beside it
  if (file.size > 2e6) { refuse(`${file.name}: expected at most 2 MB, found ${(file.size / 1e6).toFixed(1)} MB`); return; }
  file.text().then((text) => search(tableOfText(text, file.name))).catch((error) => refuse(error.message.startsWith(file.name) ? error.message : `${file.name}: it cannot be read: ${error.message}`));
}
// Arrows of law A, and of the chosen formula behind them, on a grid; as long as the logarithm of the force.
let fieldOf = '';
function drawField() {
  const known = [state.a, gm(), state.power, state.view, table && table.track && chosen ? chosen.formula : '', state.noise].join('|');
  if (known === fieldOf) return;
  fieldOf = known;
  const size = state.view, nodes = [make('circle', { class: 'star', r: 0.025 * size })];
  $('field').setAttribute('viewBox', `${-size} ${-size} ${2 * size} ${2 * size}`);
  $('noise-text').textContent = `${state.noise} %`;
  let law = null, found = null;
  const far = [];
  try {
    law = lab.law(state.a);
    found = chosen && table && table.track ? lab.law(chosen.formula) : null;
    for (let i = 0; i < 81; i++) {
      const x = (i % 9 - 4) * size / 4.5, y = (Math.floor(i / 9) - 4) * size / 4.5, r = Math.hypot(x, y);
      if (!r) continue;
      const arrow = (force, name) => {
        const length = Math.sign(force) * Math.min(0.2, 0.03 * Math.log1p(Math.abs(force))) * size;
        const [ux, uy] = [-x / r * length, -y / r * length], tip = [x + ux, y + uy];
        const wing = (s) => [tip[0] - 0.3 * (ux - s * uy), tip[1] - 0.3 * (uy + s * ux)];
        if (Number.isFinite(length)) nodes.push(make('path', { class: name, d: pathOf([[x, y], tip, wing(0.7)]) + pathOf([tip, wing(-0.7)]) }));
      };
      const force = law.force(gm(), state.power, r, 0), other = found ? found.force(gm(), state.power, r, 0) : NaN;
      if (found) arrow(other, 'field-b');
      arrow(force, 'field-a');
      if (found) far.push(Math.abs(other / force - 1));
    }
  } catch { /* part 1 says what is wrong with the law */ }
  if (law) law.free();
  if (found) found.free();
  const median = medianOf(far);
  $('field').replaceChildren(...nodes);
  $('field-text').textContent = found ? `Thin arrows: law A. Thick arrows behind them: the chosen formula, which differs by ${Number.isFinite(median) ? (100 * median).toPrecision(2) : 'no number of'} % (median of the arrows; the track is only a part of the picture).`
    : 'Thin arrows: the force field of law A. A formula that was found on the track is drawn behind them.';
}
$('save-plot').addEventListener('click', () => save('plot.svg', 'image/svg+xml', svgText($('plot'))));
$('save-front').addEventListener('click', () => {
  const quoted = (text) => `"${text.replace(/"/g, '""')}"`;
  save('formulas.csv', 'text/csv', csv(['length', 'error', 'formula', 'python'], front.map((row) => [row.complexity, row.loss, quoted(row.formula), quoted(row.numpy)])));
});
async function findLaw() {
  drawRest(); // of the throw as it is now
  await answered;
  try { search(tableOfTrack()); } catch (error) { ends(`Law A: ${error.message}`); }
}
$('find').addEventListener('click', findLaw);
$('stop').addEventListener('click', () => ends('Stopped.'));
$('file').addEventListener('click', () => { $('file').value = ''; }); // a file that was mended may be chosen again
$('file').addEventListener('change', () => open($('file').files[0]));
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => { event.preventDefault(); open(event.dataTransfer.files[0]); });

