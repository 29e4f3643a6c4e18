// hostile.js - node hostile.js MODULE.js MODULE.wasm CHECKPOINT: damaged checkpoints are refused in one line each, which
// begins with the file's name. Prints what passed or has another message, and ends with status 1 then.
'use strict';
const fs = require('fs');
const path = require('path');
const { labOpen } = require(path.resolve(process.argv[2]));

(async () => {
  const lab = await labOpen(fs.readFileSync(process.argv[3]), null);
  const whole = fs.readFileSync(process.argv[4]), size = Number(whole.readBigUInt64LE(0));
  const header = JSON.parse(whole.subarray(8, 8 + size).toString()), data = whole.subarray(8 + size);
  const packed = (text) => {
    const bytes = Buffer.from(text), first = Buffer.alloc(8);
    first.writeBigUInt64LE(BigInt(bytes.length));
    return Buffer.concat([first, bytes, data]);
  };
  const changed = (change) => {
    const copy = structuredClone(header);
    change(copy);
    return packed(JSON.stringify(copy));
  };
  const meta = (key, value) => changed((h) => { h.__metadata__[key] = value; });
  const huge = Buffer.alloc(16, 255);
  const cases = { empty: Buffer.alloc(0), 'cut in its size': whole.subarray(0, 5), 'cut in its header': whole.subarray(0, 200),
    'cut in its weights': whole.subarray(0, whole.length - 1000), 'a size of 2^64': huge, 'no JSON': packed('<script>alert(1)</script>'),
    'a list': packed('[]'), 'null': packed('null'), 'no tensors': packed(JSON.stringify({ __metadata__: header.__metadata__ })),
    'no metadata': changed((h) => { delete h.__metadata__; }), 'of another program': meta('orrery_format', 'x'),
    'a width of a million': meta('width', '1000000'), 'two thousand million layers': meta('layers', '2000000000'), 'layers below 0': meta('layers', '-1'),
    'a context of 0': meta('context', '0'), 'heads that do not divide': meta('heads', '7'), 'an unknown attention': meta('attention', '<b>x</b>'),
    'a line break': meta('attention', 'softmax\nwidth=9'), 'a tensor elsewhere': changed((h) => { h['embed.bias'].data_offsets = [4e9, 4e9 + 128]; }),
    'a tensor before the file': changed((h) => { h['embed.bias'].data_offsets = [-128, 0]; }),
    'a tensor of another shape': changed((h) => { h['embed.bias'].shape = [31]; }), 'a tensor of text': changed((h) => { h['embed.bias'].dtype = 'TEXT'; }),
    'a name with a line break': changed((h) => { h['a\nb'] = h['embed.bias']; }), 'text input': meta('input', '2') };
  const nan = Buffer.from(whole);
  nan.fill(255, nan.length - 64);
  cases['weights that are no numbers'] = nan;
  let wrong = 0;
  const complain = (text) => { wrong++; console.log(text); };
  for (const [what, bytes] of Object.entries(cases)) {
    try {
      const network = lab.network(bytes, '<img src=x>.safetensors');
      network.next(network.rows(new Float64Array(80).fill(1), 0.5, 0.04));
      complain(`${what}: accepted`);
    } catch (error) {
      const text = error.message;
      if (error instanceof WebAssembly.RuntimeError || /\n/.test(text) || text.length < 20) complain(`${what}: ${text}`);
    }
  }
  const network = lab.network(whole, 'whole'); // the module still works
  if (!network.next(network.rows(new Float64Array(80).fill(1), 0.5, 0.04)).every(Number.isFinite)) complain('the whole one fails afterwards');
  process.exit(wrong ? 1 : 0);
})();
