// stories.js - part 4: three stories of a minute each, which set the page and point at its numbers; then the start.
const CIRCLED = { x: 1, y: 0, vx: 0, vy: 5, a: 'GM/r^2', b: '', mass: 1, power: 2.1, years: 4, view: 2, share: 0.3, given: 8, noise: 1 };
const has = (pattern) => run.networks.map(nameOf).find((name) => pattern.test(name));
const percent = () => $('net-values').querySelector('td')?.textContent || 'no number';
const STORIES = [
  { title: 'From Kepler to Newton', steps: [
    { part: 'throw', set: CIRCLED, text: () => 'Kepler saw that planets run on ellipses with the sun in a focus. Here is one. It closes: look at "Precession", which is next to zero. Drag the planet or its velocity: unless it flies away, it stays closed.' },
    { part: 'throw', set: { ...CIRCLED, b: 'GM/r^p' }, text: () => 'Law B pulls with 1/r to the power 2.1 in place of 2. Its ellipse (dashed) turns a little with each round. Change the exponent p: of all powers, only the inverse square and the spring, GM*r, close every orbit. (On a spring the planet is nearest twice in a turn, so its number is 180.)' },
    { part: 'find-state', set: { ...CIRCLED, b: 'GM/r^p' }, does: findLaw, text: () => 'So the shape of an orbit tells what pulls. The search now reads forces along the orbit of law A, with 1 % of noise, and lists formulas, the shortest first. The marked one is its choice: a longer one must be much nearer to the numbers. Which one would Newton have taken?' }] },
  { title: 'What an untrained network already "knows"', steps: [
    { part: 'ask', set: CIRCLED, network: /^untrained/, text: () => { untrained = percent(); return `This network began with random weights. It never saw orbits before: it was only fine-tuned to labels of forces. Its median error of the force here is ${untrained}. A part of what looks like knowledge comes from the labels alone.`; } },
    { part: 'ask', set: CIRCLED, network: /^(lssar|softmax).*forces/, text: () => `This one was first trained to predict orbits, then fine-tuned to the same labels. Its median error here is ${percent()}, that of the untrained one is ${untrained}: ${parseFloat(percent()) >= parseFloat(untrained) ? 'on this throw the orbits taught it no more than the labels did' : 'only the difference can come from the orbits'}. One throw proves little: drag the planet, and look at both.` },
    { part: 'ask', set: CIRCLED, network: /next/, text: () => `And this one only ever predicts the next position. Its crosses continue the orbit, and its steps imply a force: its median error is ${percent()}. Nobody told it of forces.` }] },
  { title: 'How far a law goes beyond its labels', steps: [
    { part: 'ask', set: CIRCLED, network: /^(lssar|softmax).*forces/, text: () => `Inside the distances and masses of its training this network says the force with a median error of ${percent()}.` },
    { part: 'ask', set: { ...CIRCLED, x: 4, vy: 2.9, view: 5, years: 12 }, network: /^(lssar|softmax).*forces/, text: () => `The same network, four times as far out: its median error is now ${percent()}. What it learned is a fit to what it saw.` },
    { part: 'find-state', set: { ...CIRCLED, view: 5 }, does: findLaw, text: () => 'The formula was found on the inner orbit alone. Beyond it there were no data: the thick arrows are the formula\'s, the thin ones are the law\'s, at up to five AU. Choose other formulas of the list, and see which of them stay right outside.' }] },
];
let story = null, step = 0, untrained = 'no number'; // its error, of the step before

async function tellStory() {
  const { title, steps } = STORIES[story], it = steps[step];
  Object.assign(state, it.set);
  if (it.network && has(it.network)) state.network = has(it.network);
  fillNetworks();
  showFields();
  draw();
  if (it.does) it.does();
  $('story').hidden = false;
  $('story-title').textContent = `${title} (${step + 1} of ${steps.length})`;
  $('story-back').disabled = step === 0;
  $('story-next').textContent = step + 1 < steps.length ? 'Next' : 'End';
  $(it.part).scrollIntoView();
  $('story-title').focus({ preventScroll: true });
  $('story-text').textContent = '';
  await answered;
  if (STORIES[story].steps[step] === it)
    $('story-text').textContent = it.network && !has(it.network) ? 'The page holds no network for this step of the story.' : it.text();
}
function closeStory() {
  $('story').hidden = true;
  $('story-list').children[story].focus();
}
$('story-list').append(...STORIES.map(({ title }, i) => {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = title;
  button.addEventListener('click', () => { story = i; step = 0; tellStory(); });
  return button;
}));
$('story-back').addEventListener('click', () => { step--; tellStory(); });
$('story-next').addEventListener('click', () => {
  if (step + 1 === STORIES[story].steps.length) return closeStory();
  step++;
  tellStory();
});
$('story-close').addEventListener('click', closeStory);
addEventListener('keydown', (event) => { if (event.key === 'Escape' && !$('story').hidden) closeStory(); });

// ------------------------------------------------------------------------------------------------ the start
async function start() {
  let packed = [];
  try {
    packed = $('run').textContent.slice(1, -1).split('\t');
    run = JSON.parse(packed.pop());
  } catch { /* a page without a run */ }
  showFields();
  lab = await labOpen(await inflated($('wasm').textContent.slice(1, -1)), null);
  for (const [i, one] of run.networks.entries()) one.bytes = labNumbers(await inflated(packed[i]));
  fillNetworks();
  startAsker();
  draw();
  await answered;
  document.body.dataset.ready = 'yes';
}
start().catch((error) => { $('page-error').textContent = `The page needs a browser of 2023 or later (WebAssembly with SIMD): ${error.message}`; });
