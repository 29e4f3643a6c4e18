"""A front as text, as a page of a notebook and as LaTeX. Names and rules may be those of a file:
nothing of them reaches a terminal or a page as it stands there."""

from __future__ import annotations

import html
import math
import sys

from ._files import plain
from ._search import Row, Seen


def _html(text: str) -> str:
    return html.escape(plain(text))


def _number(value: float) -> str:
    return f"{value:.6g}"


def text(rows: list[Row], chosen: dict[str, int]) -> str:
    lines = [f"{'complexity':>10} {'loss':>13} {'score':>9}  equation"]
    for i, row in enumerate(rows):
        rules = ", ".join(rule for rule, at in chosen.items() if at == i)
        mark = f"   <- {rules}" if rules else ""
        lines.append(f"{row.complexity:10d} {_number(row.loss):>13} {row.score:9.4g}  "
                     f"{plain(row.equation)}{plain(mark)}")
    return "\n".join(lines)


def answer(rows: list[Row], chosen: dict[str, int], rule: str) -> str:
    """What the rule chooses, in a person's words; "" where that is not known."""
    line = rows[chosen[rule]].answer if rule in chosen else ""
    return plain(f"{rule}: {line}") if line else ""


def _plot(rows: list[Row], best: int | None) -> str:
    """Loss (logarithmic) by complexity, as SVG."""
    chosen = None if best is None else rows[best].complexity
    points = [(r.complexity, math.log10(r.loss)) for r in rows if 0 < r.loss < math.inf]
    if len(points) < 2:
        return ""
    left, right = points[0][0], points[-1][0]
    low, high = min(p[1] for p in points), max(p[1] for p in points)

    def at(x: float, y: float) -> tuple[float, float]:
        return (50 + 300 * (x - left) / max(right - left, 1),
                15 + 120 * (high - y) / max(high - low, 1e-9))

    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in (at(*p) for p in points))
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{5 if p[0] == chosen else 3}" '
        'fill="currentColor"/>' for p in points for a, b in [at(*p)])
    labels = "".join(f'<text x="{x}" y="{y}" text-anchor="{anchor}">{label}</text>'
                     for x, y, anchor, label in (
                         (44, 19, "end", f"1e{high:.0f}"), (44, 139, "end", f"1e{low:.0f}"),
                         (50, 158, "middle", left), (350, 158, "middle", right),
                         (200, 172, "middle", "complexity"), (56, 12, "start", "loss")))
    return ('<svg width="380" height="178" font-size="11" fill="currentColor" role="img" '
            'aria-label="loss by complexity">'
            f'<polyline points="{line}" fill="none" stroke="currentColor"/>{dots}{labels}</svg>')


def page(rows: list[Row], chosen: dict[str, int], best: int | None) -> str:
    body = []
    for i, row in enumerate(rows):
        rules = ", ".join(rule for rule, at in chosen.items() if at == i)
        weight = ' style="font-weight:bold"' if i == best else ""
        body.append(f"<tr{weight}><td>{row.complexity}</td><td>{_number(row.loss)}</td>"
                    f"<td>{row.score:.4g}</td>"
                    f'<td style="text-align:left">${_html(row.latex)}$</td>'
                    f'<td style="text-align:left"><code>{_html(row.equation)}</code></td>'
                    f"<td>{_html(rules)}</td></tr>")
    return ("<table><thead><tr><th>complexity</th><th>loss</th><th>score</th><th>formula</th>"
            "<th>equation</th><th>chosen by</th></tr></thead><tbody>" + "".join(body)
            + "</tbody></table>" + _plot(rows, best))


def latex_table(rows: list[Row]) -> str:
    lines = [r"\begin{tabular}{rrrl}", r"complexity & loss & score & equation \\ \hline"]
    lines += [rf"{r.complexity} & {_number(r.loss)} & {r.score:.4g} & ${r.latex}$ \\" for r in rows]
    return "\n".join([*lines, r"\end{tabular}"])


class Line:
    """One line of progress on a terminal or in a notebook, drawn again after every epoch."""

    def __init__(self, wanted: bool):
        shows = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self.shows = wanted and shows
        self.drawn = False

    def draw(self, now: Seen) -> None:
        if self.shows:
            self.drawn = True
            sys.stderr.write(f"\r{now.seconds:6.1f} s  epoch {now.epoch:4d}  loss {now.loss:<12.6g}"
                             f" {plain(now.best)[:48]:<48}")
            sys.stderr.flush()

    def end(self) -> None:
        if self.drawn:
            sys.stderr.write("\n")
