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

// The bytes of a text that orr_html_sevens() wrote (base/html.h): seven bits a character, and 14 of those from 256 on.
function labBytes(text) {
  const forbidden = [0, 9, 10, 13, 27, 60], bytes = new Uint8Array(2 * text.length);
  let count = 0, held = 0, bits = 0;
  const add = (seven) => {
    held = (held << 7 | seven) & 0x7fff;
    bits += 7;
    if (bits >= 8) bytes[count++] = held >> (bits -= 8);
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i), k = (code >> 7) - 2;
    add(k < 0 ? code : forbidden[k % 6]);
    if (k >= 0 && k < 6) add(code & 127);
  }
  return bytes.subarray(0, count);
}

// A checkpoint as the page stores it (probe/lab.c), inflated: the bytes of its numbers stand by their places, all first
// ones, then all second ones ... Returns the file.
function labNumbers(stored) {
  const first = 8 + Number(new DataView(stored.buffer, stored.byteOffset, 8).getBigUint64(0, true));
  const file = new Uint8Array(stored), count = (stored.length - first) / 4;
  for (let plane = 0; plane < 4; plane++)
    for (let i = 0, from = first + plane * count; i < count; i++) file[first + 4 * i + plane] = stored[from + i];
  return file;
}

// The header of a checkpoint (*.safetensors) for lab_model_open(), and its metadata. `name` is the file's, for messages.
function labCheckpoint(bytes, name) {
  const fail = (why) => { throw new Error(`${name}: not a checkpoint of a network (*.safetensors): ${why}`); };
  if (bytes.length < 8) fail('it has fewer than 8 bytes');
  const size = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
  if (size > bytes.length - 8) fail('it ends before its header does');
  let header = null;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, 8 + size)));
  } catch { fail('its header is no JSON'); }
  const isObject = (x) => x !== null && typeof x === 'object' && !Array.isArray(x);
  if (!isObject(header)) fail('its header is no JSON object');
  const { __metadata__: meta = {}, ...tensors } = header;
  if (!isObject(meta)) fail('its metadata are no JSON object');
  const lines = Object.entries(meta).filter(([key, value]) => typeof value === 'string' && key !== 'made' &&
    !/[=\n\0]/.test(key) && !/[\n\0]/.test(value)).map(([key, value]) => `${key}=${value}`);
  lines.push('');
  for (const [tensor, at] of Object.entries(tensors)) {
    const whole = (list, least, most) => Array.isArray(list) && list.length >= least && list.length <= most &&
      list.every((n) => Number.isInteger(n) && n >= 0 && n < 2 ** 31);
    if (!/^[\x21-\x7e]{1,100}$/.test(tensor) || !isObject(at) || !/^[A-Z0-9]{1,8}$/.test(at.dtype) ||
        !whole(at.shape, 1, 2) || !whole(at.data_offsets, 2, 2)) fail('a tensor of its header has no name, shape and place');
    if (/^(adam|muon)\./.test(tensor)) continue; // the optimiser's
    lines.push(`${tensor} ${at.dtype} ${at.shape[0]} ${at.shape[1] || 0} ${at.data_offsets[0]}`);
  }
  return { meta, text: lines.join('\n') + '\n', data: bytes.subarray(8 + size) };
}

// Makes a module of the bytes, or of a compiled module. progress({epoch, evaluations, loss, best}) is called after each epoch of a search.
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
  const compiled = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
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
  const networks = labNetworks();
  return {
    // the compiled module, for a worker
    compiled,
    network: networks,
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
          // why the last orbit has fewer rows
        end: () => text(calls.lab_message()),
        // (steps, 5) numbers x, y, vx, vy and time, for a picture
        path(gm, p, years, from, most) {
          const at = putDoubles(from), path = alloc(40 * most);
          const copy = doubles(path, 5 * calls.lab_path(law, gm, p, years, at, most, path)).slice();
          calls.lab_free(at); calls.lab_free(path);
          return copy;
        },
        precession(gm, p, years, from) {
          const at = putDoubles(from), angle = calls.lab_precession(law, gm, p, years, at);
          calls.lab_free(at);
          return angle;
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
  // A network of a checkpoint's bytes. rows: Float32Array (n, 2), as network.rows() makes them; free() it.
  function labNetworks() {
    return (bytes, name) => {
      const { meta, text: header, data } = labCheckpoint(bytes, name);
      const at = [put(header), alloc(data.length || 1), alloc(4)];
      new Uint8Array(memory().buffer).set(data, at[1]);
      let network = 0;
      try {
        const status = calls.lab_model_open(at[0], at[1], data.length, at[2]);
        if (status) throw new Error(`${name}: ${text(calls.lab_message())}`);
        network = view32(at[2]);
      } finally {
        at.forEach((one) => calls.lab_free(one));
      }
      const floats = (from, n) => new Float32Array(memory().buffer, from, n);
      // calls of(rows at, output at) with room for `bytes` of output; returns what read(rows at, output at, result) does
      const on = (rows, size, of, read) => {
        const input = alloc(4 * rows.length), output = alloc(size);
        floats(input, rows.length).set(rows);
        try {
          const result = of(input, output);
          if (result && read.length < 3) check(result);
          return read(input, output, result);
        } finally {
          calls.lab_free(input); calls.lab_free(output);
        }
      };
      const number = (key) => Number(meta[key]);
      return {
        meta, layers: number('layers'), context: number('context'), forces: meta.stage === 'magnitude',
        rows(track, share, dt) {
          const steps = track.length / 4, input = putDoubles(track), output = alloc(8 * (1 + 2 * steps));
          calls.lab_model_rows(input, steps, share, dt, output);
          const copy = floats(output, 2 + 4 * steps).slice();
          calls.lab_free(input); calls.lab_free(output);
          return copy;
        },
        continued: (rows, known) => on(rows, 1, (input) => calls.lab_model_continue(network, known, rows.length / 2, input),
          (input, output) => floats(input, rows.length).slice()),
        next: (rows) => on(rows, 8 * rows.length, (input, output) => calls.lab_model_next(network, rows.length / 2, input, output),
          (input, output) => doubles(output, rows.length).slice()),
        force: (rows) => on(rows, 4 * rows.length, (input, output) => calls.lab_model_forces(network, rows.length / 2, input, output),
          (input, output) => doubles(output, rows.length / 2).slice()),
        // {first, weights}: weights[0] is of the time step, weights[i] of row first + i - 1
        attention: (rows, layer) => on(rows, 8 * number('context') + 4, (input, output) => calls.lab_model_attention(network,
          rows.length / 2, input, layer, output, output + 8 * number('context')), (input, output, result) => {
          if (result < 0) check(-result);
          return { first: view32(output + 8 * number('context')), weights: doubles(output, result).slice() };
        }),
        free: () => calls.lab_model_free(network),
      };
    };
  }
  function view32(at) { return new DataView(memory().buffer).getUint32(at, true); }
  function predict(row, x, rows, columns) {
    const y = alloc(8 * rows);
    check(calls.lab_predict(row, x, rows, columns, y));
    const copy = Array.from(doubles(y, rows));
    calls.lab_free(y);
    return copy;
  }
}
if (typeof module !== 'undefined') module.exports = { labBytes, labOpen, labNumbers };
