// networks.js - node networks.js MODULE.js MODULE.wasm CHECKPOINT ...: what tests/lab/networks.c asks the native library
// about each network, in its lines, numbers in 9 digits; then the milliseconds of a pass.
'use strict';
const fs = require('fs');
const path = require('path');
const { labOpen } = require(path.resolve(process.argv[2]));

(async () => {
  const lab = await labOpen(fs.readFileSync(process.argv[3]), null);
  const law = lab.law('GM/r^2');
  const track = law.orbit(39.47841760435743, 2, 0.04, 50, [1, 0, 0, 5]);
  law.free();
  const show = (word, list) => list.forEach((x) => console.log(word, x.toPrecision(9)));
  for (const name of process.argv.slice(4)) {
    const network = lab.network(fs.readFileSync(name), path.basename(name));
    const rows = network.rows(track, 0.3, 0.04);
    if (network.forces) {
      show('force', network.force(rows));
    } else {
      show('next', network.next(rows));
      show('continued', network.continued(rows, 21));
    }
    for (const n of [25, 101]) {
      const seen = network.attention(rows.subarray(0, 2 * n), network.layers - 1);
      show('attention', [seen.first, ...seen.weights]);
    }
    const begun = performance.now(), one = rows.subarray(0, 2 * network.context);
    for (let i = 0; i < 20; i++) network.forces ? network.force(one) : network.next(one);
    console.log('pass', ((performance.now() - begun) / 20).toFixed(2), 'ms');
    network.free();
  }
})();
