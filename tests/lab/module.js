// module.js - node module.js MODULE.js MODULE.wasm FILE.csv [EVALUATIONS [TIMES]]: the orbit lab's module is asked what
// tests/lab/native.c asks the native library, and prints the same lines, numbers in 17 digits.
'use strict';
const fs = require('fs');
const path = require('path');
const { labOpen } = require(path.resolve(process.argv[2]));

(async () => {
  const lab = await labOpen(fs.readFileSync(process.argv[3]), null);
  const lines = fs.readFileSync(process.argv[4], 'utf8').trim().split('\n').slice(1);
  const rows = lines.map((line) => line.split(',').map(Number));
  for (const [text, vy] of [['GM/r^2', 6.283185307179586], ['GM/r^2', 4.1],
    ['GM/r^p*(1+0.01/r)', 5.5], ['GM/r^2+1/r^3', 5.5], ['GM/r^3', 1.5]]) {
    const law = lab.law(text);
    const track = law.orbit(39.47841760435743, 2, 0.05, 101, [1, 0, 0, vy]);
    console.log('orbit', track.length / 4, ...Array.from(track.slice(-4)));
    const turn = law.precession(39.47841760435743, 2, 5, [1, 0, 0.5, 3]);
    if (Number.isFinite(turn)) console.log('precession', turn);
    law.free();
  }
  let front = [];
  for (let time = 0; time < Number(process.argv[6] || 1); time++) {
    const begun = process.cpuUsage();
    front = lab.search([rows.map((row) => row[0])], rows.map((row) => row[1]), ['r'],
      `seed=3\nevaluations=${process.argv[5] || 20000}\nseconds=100000`);
    console.log('user', process.cpuUsage(begun).user / 1e6);
  }
  for (const row of front)
    console.log('row', row.best ? 1 : 0, row.complexity, row.loss, row.formula);
})();
