// module.js - the calls of build/lab/orrery.wasm (lab/lab.h) for a page, a worker and Node. The module sees
// no file and no network: of the system's calls it has the clock, and what it writes is dropped.
'use strict';
function labSystem(memory, onProgress) {
  const view = () => new DataView(memory().buffer);
  const none = () => 8; // EBADF: there are no files
  const start = Date.now();
  const system = {
    clock_time_get(id, precision, at) {
      const ms = id === 0 ? Date.now() : Date.now() - start;
      view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
      return 0;
    },
    clock_res_get(id, at) { view().setBigUint64(at, 1000000n, true); return 0; },
    environ_sizes_get(count, bytes) {
      view().setUint32(count, 0, true); view().setUint32(bytes, 0, true); return 0;
    },
    environ_get: () => 0,
    proc_exit(status) { throw new Error('the module ended with status ' + status); },
  };
  return {
    wasi_snapshot_preview1: new Proxy(system, { get: (has, name) => has[name] || none }),
    env: { lab_progress: onProgress },
  };
}

// Makes a module of the bytes. progress({epoch, evaluations, loss, best}) is called after each epoch of a search.
async function labOpen(bytes, progress) {
  let calls = null;
  const memory = () => calls.memory;
  const text = (at) => {
    if (!at) return '';
    const all = new Uint8Array(memory().buffer);
    return new TextDecoder().decode(all.slice(at, all.indexOf(0, at)));
  };
  const imports = labSystem(memory, (epoch, evaluations, loss, best) => progress &&
    progress({ epoch, evaluations, loss, best: text(best) }));
  const compiled = await WebAssembly.compile(bytes);
  // what a search never reaches (files) may be asked for under any name: it fails like a file that is not there
  const given = {};
  for (const { module, name, kind } of WebAssembly.Module.imports(compiled)) {
    given[module] = given[module] || {};
    if (kind === 'function') given[module][name] = imports[module][name] || (() => -1);
  }
  calls = (await WebAssembly.instantiate(compiled, given)).exports;
  calls._initialize();
  const alloc = (size) => {
    const at = calls.lab_alloc(size);
    if (!at) throw new Error('out of memory');
    return at;
  };
  const put = (string) => {
    const coded = new TextEncoder().encode(string + '\0');
    const at = alloc(coded.length);
    new Uint8Array(memory().buffer).set(coded, at);
    return at;
  };
  const doubles = (at, n) => new Float64Array(memory().buffer, at, n);
  const putDoubles = (list) => {
    const at = alloc(8 * list.length);
    doubles(at, list.length).set(list);
    return at;
  };
  const check = (status) => {
    if (status) throw new Error(text(calls.lab_message()) || 'status ' + status);
  };
  return {
    // a law as a formula of r, v, GM and p; free() it
    law(formula) {
      const source = put(formula), place = alloc(4);
      try {
        check(calls.lab_law_open(source, place));
        const law = view32(place);
        return {
          force: (gm, p, r, v) => calls.lab_law_force(law, gm, p, r, v),
          // (rows, 4) numbers x, y, vx, vy; fewer rows where the motion ends
          orbit(gm, p, dt, rows, from) {
            const track = alloc(32 * rows);
            doubles(track, 4).set(from);
            const made = calls.lab_orbit(law, gm, p, dt, rows, track);
            const copy = doubles(track, 4 * made).slice();
            calls.lab_free(track);
            return copy;
          },
          free: () => calls.lab_law_free(law),
        };
      } finally {
        calls.lab_free(source); calls.lab_free(place);
      }
    },
    // columns: arrays of numbers; options: lines KEY=VALUE. Returns the front
    search(columns, y, names, options) {
      const x = putDoubles([].concat(...columns.map((c) => Array.from(c))));
      const at = [x, putDoubles(y), put(names.join('\n')), put(options)];
      try {
        check(calls.lab_search(at[0], at[1], y.length, columns.length, at[2], at[3]));
        const best = calls.lab_best();
        return Array.from({ length: calls.lab_rows() }, (_, row) => ({
          best: row === best, loss: calls.lab_loss(row), complexity: calls.lab_complexity(row),
          formula: text(calls.lab_formula(row, 0)), c: text(calls.lab_formula(row, 2)),
          numpy: text(calls.lab_formula(row, 4)), latex: text(calls.lab_formula(row, 1)),
          values: predict(row, x, y.length, columns.length),
        }));
      } finally {
        at.forEach((memory) => calls.lab_free(memory));
      }
    },
  };
  function view32(at) { return new DataView(memory().buffer).getUint32(at, true); }
  function predict(row, x, rows, columns) {
    const y = alloc(8 * rows);
    check(calls.lab_predict(row, x, rows, columns, y));
    const copy = Array.from(doubles(y, rows));
    calls.lab_free(y);
    return copy;
  }
}
if (typeof module !== 'undefined') module.exports = { labOpen };
