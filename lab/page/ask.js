// ask.js - numbers that take longer than a frame come from a worker, which has one question at a time; of each kind of
// question that comes meanwhile, the last is asked then.
let asks = null, asker = null, answered = Promise.resolve(), allAnswered = null;
const waiting = new Map();
const thrown = () => ({ gm: gm(), mass: state.mass, power: state.power, from: [state.x, state.y, state.vx, state.vy] });
// asker: the set of the names of the networks that the worker has.
function startAsker() {
  const worker = workerOf(`const opened = new Map();
${[energyOf, motionOf, orbitInSteps, impliedForces, ask].join('\n')}
let lab = null;
onmessage = async ({ data: { module, kind, question } }) => {
  try {
    lab = lab || await labOpen(module, null);
    if (question.bytes) opened.set(question.name, lab.network(question.bytes, question.name));
    postMessage({ answer: kind === 'motions' ? { a: motionOf(question.a, question), b: motionOf(question.b, question) }
      : ask(opened.get(question.name), question) });
  } catch (error) { postMessage({ error: error.message }); }
};`);
  asker = new Set();
  asker.post = (message) => worker.postMessage(message);
  worker.onmessage = ({ data }) => tell(data);
  worker.onerror = (event) => tell({ error: event.message });
}
function askWorker(kind, question, show) {
  waiting.set(kind, { kind, question, show });
  if (!allAnswered) answered = new Promise((done) => { allAnswered = done; });
  askNext();
}
function askNext() {
  if (asks || !waiting.size) return;
  [asks] = waiting.values();
  const { kind, question } = asks, one = asker.has(question.name) ? null : run.networks.find((it) => nameOf(it) === question.name);
  waiting.delete(kind);
  if (one) asker.add(question.name);
  asker.post({ module: lab.compiled, kind, question: { ...question, bytes: one && one.bytes } });
}
function tell(data) {
  const { show } = asks;
  asks = null;
  askNext();
  show(data);
  if (asks) return;
  allAnswered();
  allAnswered = null;
}
