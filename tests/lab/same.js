// same.js - node same.js WORD BOUND A B: the lines of two outputs that begin with WORD: equal words, and numbers within
// a relative difference of BOUND (0: to the last bit). Formulas are words. Ends with status 1 and the first difference.
'use strict';
const fs = require('fs');
const [word, bound] = [process.argv[2], Number(process.argv[3])];
const [a, b] = process.argv.slice(4).map((name) => fs.readFileSync(name, 'utf8').split('\n')
  .filter((line) => line.startsWith(word + ' ')));
const fail = (text) => { console.log(text); process.exit(1); };
if (!a.length || a.length !== b.length) fail(`${a.length} and ${b.length} lines`);
a.forEach((line, i) => {
  const [of, other] = [line.split(' '), b[i].split(' ')];
  // of a row: its mark, length and loss are numbers, and the rest is its formula
  const numbers = word === 'row' ? 4 : of.length;
  if (of.length !== other.length || of.slice(numbers).join() !== other.slice(numbers).join())
    fail(`${line}\n${b[i]}`);
  for (let j = 1; j < numbers; j++) {
    const [x, y] = [Number(of[j]), Number(other[j])];
    if (!(Math.abs(x - y) <= bound * Math.abs(x))) fail(`${line}\n${b[i]}`);
  }
});
