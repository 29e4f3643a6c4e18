// same_network.js A B - whether two checkpoints hold the same network: names, shapes, settings and
// bytes of tensors. The versions of the programs that wrote them may differ.
const fs = require('fs')
function read(path) {
  const file = fs.readFileSync(path)
  const length = Number(file.readBigUInt64LE(0))
  const header = JSON.parse(file.subarray(8, 8 + length).toString())
  delete header.__metadata__.version
  delete header.__metadata__.xxh64_metadata // a sum of all of it
  return [JSON.stringify(header), file.subarray(8 + length)]
}
const [a, b] = process.argv.slice(2).map(read)
if (a[0] !== b[0] || !a[1].equals(b[1])) {
  console.log(a[0].slice(0, 400) + '\n' + b[0].slice(0, 400))
  process.exit(1)
}
