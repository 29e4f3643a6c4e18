// unpack.js - node unpack.js PAGE.html FOLDER: writes the module and the networks of a page as files.
'use strict';
const fs = require('fs');
const zlib = require('zlib');
const { labNumbers } = require('../../lab/page/module.js');
const [page, folder] = process.argv.slice(2);
const lines = fs.readFileSync(page, 'utf8').split('\n');
const behind = (id) => lines[lines.findIndex((line) => line.endsWith(` id="${id}">`)) + 1];
fs.writeFileSync(`${folder}/orrery.wasm`, zlib.gunzipSync(Buffer.from(behind('wasm'), 'base64')));
JSON.parse(behind('run')).networks.forEach(({ name, forces, data }) =>
  fs.writeFileSync(`${folder}/${name}_${forces ? 'forces' : 'next'}.safetensors`, labNumbers(zlib.inflateSync(Buffer.from(data, 'base64')))));
