/* report.css - the look of report.html: on paper, on a phone, light and dark. */
:root {
  color-scheme: light;
  --page: #ffffff; --ink: #1c2126; --soft: #56606b; --line: #d9dee3; --strong: #aab3bc;
  --tint: #f6f7f9; --good: #1a6e3f; --accent: #1f5fa8;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --page: #14181c; --ink: #e4e8ec; --soft: #a9b3bd; --line: #333b43; --strong: #5b6670;
    --tint: #1d2329; --good: #6fd69b; --accent: #7ab4f5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 2.5rem 1.5rem 4rem;
  color: var(--ink); background: var(--page);
  font: 16px/1.55 system-ui, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif;
}
h1 { font-size: 1.9rem; line-height: 1.25; font-weight: 600; margin: 0 0 .2rem; }
h2 {
  font-size: 1.25rem; font-weight: 600; margin: 2.8rem 0 .6rem; padding-top: .9rem;
  border-top: 1px solid var(--line);
}
p { max-width: 52rem; margin: .5rem 0 1rem; overflow-wrap: break-word; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.meta, figcaption, .caption, .note { color: var(--soft); font-size: .9rem; }
.caption { max-width: 60rem; margin: 1.4rem 0 .3rem; }

/* Tables and pictures that are wider than the screen scroll in a box of their own. */
.wide { overflow-x: auto; max-width: 100%; }
table {
  border-collapse: collapse; margin: 0 0 1rem; font-size: .92rem;
  font-variant-numeric: tabular-nums;
}
th, td {
  padding: .32rem .8rem .32rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line);
}
thead th { font-weight: 600; border-bottom: 2px solid var(--strong); white-space: nowrap; }
tbody th {
  font-weight: 500; white-space: nowrap; position: sticky; left: 0; background: var(--page);
}
td { white-space: nowrap; }
td.n, th.n { text-align: right; }
tr.floor th, tr.floor td { color: var(--soft); }
.yes { color: var(--good); font-weight: 600; }
.dot {
  display: inline-block; width: .65em; height: .65em; border-radius: 50%; margin-right: .5em;
  background: var(--dot, var(--ink)); box-shadow: 0 0 0 1px var(--strong);
}
@media screen and (prefers-color-scheme: dark) {
  .dot { background: color-mix(in srgb, var(--dot, #ffffff) 65%, white); } /* as player.js has it */
}

/* A law: the formula, and on demand the text that was found. */
.law { padding: .15rem 0; }
.law summary { color: inherit; width: max-content; }
math { font-size: 1.08em; }
code { font: .88em/1.5 ui-monospace, 'DejaVu Sans Mono', Menlo, monospace; }
td code { display: block; white-space: normal; overflow-wrap: anywhere; min-width: 15rem; max-width: 26rem; }
td .law code { color: var(--ink); font-weight: 400; }

figure { margin: 1rem 0 1.6rem; }
figure img { display: block; max-width: 100%; height: auto; background: #ffffff; }
figcaption { max-width: 60rem; margin-top: .3rem; }
details { margin: .8rem 0; }
td details { margin: 0; }
summary { cursor: pointer; }
pre {
  background: var(--tint); border: 1px solid var(--line); padding: 1rem; overflow-x: auto;
  font: .82rem/1.45 ui-monospace, 'DejaVu Sans Mono', Menlo, monospace;
}

/* The player: the picture beside its controls, above them on a phone. */
.player { display: grid; grid-template-columns: minmax(0, 34rem) minmax(16rem, 1fr); gap: 1rem 1.6rem; }
.player canvas {
  display: block; width: 100%; aspect-ratio: 1; border: 1px solid var(--line); border-radius: 4px;
}
.player form { display: flex; flex-direction: column; gap: .9rem; }
.player label, .player legend { font-size: .92rem; white-space: nowrap; }
.player .row { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; }
.player button, .player select { font: inherit; padding: .35rem .8rem; min-height: 2.4rem; min-width: 2.75rem; }
.player input[type=range] { width: 100%; min-height: 1.8rem; accent-color: var(--accent); }
.player fieldset { border: 1px solid var(--line); border-radius: 4px; padding: .4rem .8rem .6rem; margin: 0; }
.player fieldset label { display: flex; gap: .5rem; align-items: center; min-height: 1.9rem; }
.player fieldset .dot { margin: 0; flex: none; }
.player output { font-size: .9rem; font-variant-numeric: tabular-nums; min-height: 4.6em; }
.player output span { display: block; }

@media (max-width: 820px) {
  .player { grid-template-columns: minmax(0, 1fr); }
}
@media screen and (max-width: 600px) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  tbody th { white-space: normal; min-width: 6.6rem; max-width: 8rem; }
  figure .wide img { max-width: none; width: 46rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 11pt; }
  .wide { overflow: visible; }
  table { font-size: 8pt; }
  tbody th { position: static; white-space: normal; }
  figure, .player { break-inside: avoid; }
  .player { display: block; }
  .player canvas { width: 13cm; }
  .player .controls { display: none; }
}
