// orbits.js - node orbits.js PAGE.html MODULE.wasm THROWS.csv TRACKS.csv LAW P: orbits of the page under a law beside those of
// bin/orbits: THROWS.csv has its systems of two bodies (docs/tracks.md), TRACKS.csv their exported positions. The constant
// GM of the sun is that of the page. Positions agree within the rounding of fp32, in which they are stored, and 1e-7 AU: errors of
// the page's steps are below 1e-11, of about 1,000 steps, and those in the period grow with each of some ten turns. Else the
// first difference is printed, with status 1.
'use strict';
const fs = require('fs');
const { labOpen } = require('../../lab/page/module.js');
const [page, wasm, throws, tracks, text, power] = process.argv.slice(2);
const table = (file) => fs.readFileSync(file, 'utf8').trim().split('\n').slice(1).map((line) => line.split(','));
const sun = Function(`return ${/const GM_SUN = ([^;]*);/.exec(fs.readFileSync(page, 'utf8'))[1]}`)();

(async () => {
  const law = (await labOpen(fs.readFileSync(wasm), null)).law(text);
  const given = table(throws).map((row) => row.slice(1).map(Number)), rows = table(tracks).map((row) => row.map(Number));
  let compared = 0;
  for (let system = 0; 2 * system < given.length; system++) {
    const [planet, star] = given.slice(2 * system, 2 * system + 2), of = (body) => rows.filter((row) => row[0] === system && row[4] === body);
    const [first, second] = [of(1), of(2)];
    const from = [1, 2, 3, 4].map((k) => planet[k] - star[k]);
    const track = law.orbit(sun * (planet[0] + star[0]), Number(power), first[1][3], first.length, from);
    for (let i = 0; i < first.length; i++)
      for (const axis of [0, 1]) {
        const [a, b] = [first[i][5 + axis], second[i][5 + axis]], away = Math.abs(a - b - track[4 * i + axis]);
        compared++;
        if (away <= 2 ** -24 * (Math.abs(a) + Math.abs(b)) * 1.001 + 1e-7) continue;
        console.log(`system ${system}, step ${i}, axis ${axis}: ${a - b} and ${track[4 * i + axis]}`);
        process.exit(1);
      }
  }
  process.exit(compared > 400 ? 0 : 1);
})();
