// unpack.js - node unpack.js PAGE.html FOLDER: writes the module and the networks of a page as files.
'use strict';
const fs = require('fs');
const zlib = require('zlib');
const { labBytes, labNumbers } = require('../../lab/page/module.js');
const [page, folder] = process.argv.slice(2);
const lines = fs.readFileSync(page, 'utf8').split('\n');
const behind = (id) => lines[lines.findIndex((line) => line.endsWith(` id="${id}">`)) + 1];
const inflated = (text) => zlib.inflateSync(Buffer.from(labBytes(text)));
const packed = behind('run').split('\t');
fs.writeFileSync(`${folder}/orrery.wasm`, inflated(behind('wasm')));
JSON.parse(packed.pop()).networks.forEach(({ name, forces }, i) =>
  fs.writeFileSync(`${folder}/${name}_${forces ? 'forces' : 'next'}.safetensors`, labNumbers(inflated(packed[i]))));
