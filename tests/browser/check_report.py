"""check_report.py - report.html in headless Chromium: python3 check_report.py REPORT.html OUT

Opens the page at three widths, light and dark, as a reader would, and judges what no test of the
text can: errors of the script, requests, what overflows, breaks or overlaps, WCAG AA (axe-core),
and the player by keyboard alone. Screenshots and the print go to OUT. Ends with a line
"N passed, N failed", exit status 1 when any failed; 2 when something to run it with is missing.
"""

import os
import pathlib
import shutil
import sys

NEEDS = """check-browser: error: %s not found. It needs, and nothing else of Orrery does:
    apt-get install chromium
    python3 -m venv build/venv && build/venv/bin/pip install playwright axe-core-python
    make check-browser PYTHON=build/venv/bin/python"""

try:
    from axe_core_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright
except ImportError as error:
    print(NEEDS % f"Python's {error.name}", file=sys.stderr)
    sys.exit(2)

WIDTHS = (390, 820, 1440)
SCHEMES = ("light", "dark")
AA = {"runOnly": {"type": "tag",
                  "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
MOST_BYTES = 5_000_000

# Lines of text of every cell that are not its last and have fewer than three characters: what a
# column too narrow for its words looks like. Words of one or two letters are let be.
BROKEN_CELLS = """() => {
  const bad = [];
  for (const cell of document.querySelectorAll('td, th')) {
    const lines = new Map();
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest('math')) continue;
      for (let i = 0; i < node.data.length; i++) {
        const range = document.createRange();
        range.setStart(node, i); range.setEnd(node, i + 1);
        const box = range.getClientRects()[0];
        if (!box || !node.data[i].trim()) continue;
        const key = Math.round(box.bottom / 4);
        lines.set(key, (lines.get(key) || '') + node.data[i]);
      }
    }
    const list = [...lines.values()];
    const words = cell.textContent.split(/\\s+/);
    const broken = list.slice(0, -1).filter((line) => line.length < 3 && !words.includes(line));
    if (broken.length) bad.push(cell.textContent.trim().slice(0, 60) + ': ' + broken.join('|'));
  }
  return bad;
}"""

# Texts that are wider than their cell, and so run into the next one.
WIDE_CELLS = """() => [...document.querySelectorAll('td, th')].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return cell.getClientRects().length &&
    range.getBoundingClientRect().right > cell.getBoundingClientRect().right + 0.5;
}).map((cell) => cell.textContent.slice(0, 60))"""

# Pairs of texts whose boxes intersect though neither holds the other. What lies outside of the box
# that it scrolls in is not seen; a head that stays while its row scrolls is meant to cover it.
OVERLAPS = """() => {
  const texts = [...document.querySelectorAll(
    'h1, h2, p, figcaption, img, canvas, label, button, select, summary, pre, output, td, ' +
    'thead th, table')]
    .filter((e) => e.getClientRects().length);
  const seen = (e) => {
    let b = e.getBoundingClientRect();
    b = { left: b.left, right: b.right, top: b.top, bottom: b.bottom };
    for (let p = e.parentElement; p; p = p.parentElement) {
      if (getComputedStyle(p).overflowX === 'visible') continue;
      const c = p.getBoundingClientRect();
      b.left = Math.max(b.left, c.left); b.right = Math.min(b.right, c.right);
      b.top = Math.max(b.top, c.top); b.bottom = Math.min(b.bottom, c.bottom);
    }
    return b;
  };
  const boxes = texts.map((e) => [e, seen(e)])
    .filter(([, b]) => b.right - b.left > 1 && b.bottom - b.top > 1);
  const name = (e) => e.tagName + ' "' + e.textContent.slice(0, 30) + '"';
  const bad = [];
  for (let i = 0; i < boxes.length; i++) for (let k = i + 1; k < boxes.length; k++) {
    const [e, a] = boxes[i], [f, b] = boxes[k];
    if (e.contains(f) || f.contains(e)) continue;
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1.5 && high > 1.5) bad.push(name(e) + ' and ' + name(f));
  }
  return bad;
}"""

# Controls and texts that are cut off by the edge of the page or, without a way to scroll, of a box.
CLIPPED = """() => [...document.querySelectorAll(
  'p, h1, h2, figcaption, label, button, select, input, canvas, output')]
  .filter((e) => e.getClientRects().length)
  .filter((e) => {
    const b = e.getBoundingClientRect();
    return b.left < -0.5 || b.right > innerWidth + 0.5;
  })
  .map((e) => e.tagName + ' "' + (e.id || e.textContent.slice(0, 40)) + '"')"""


# Tables that scroll in their box, and whether their captions say so.
SCROLLING = """() => [...document.querySelectorAll('.wide:has(> table)')]
  .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
  .map((box) => document.getElementById(box.getAttribute('aria-labelledby')))
  .map((caption) => [caption.id, caption.classList.contains('scrolls')])"""


class Checks:
    """Counts what held, and says what did not."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, where, what, wrong):
        if not wrong:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {where}: {what}: {wrong if isinstance(wrong, str) else str(wrong)[:1500]}")


def differs(page, act):
    """Whether the picture of the canvas changes by what act does."""
    picture = "() => document.getElementById('player-canvas').toDataURL()"
    before = page.evaluate(picture)
    act()
    page.wait_for_timeout(100)
    return page.evaluate(picture) != before


def check_player(page, check, where):
    """The player with the keyboard alone: focus, arrow keys, space, choice of another body."""
    if not page.query_selector("#player"):
        check(where, "player", "there is none")
        return
    step = page.locator("#player-step")
    value = lambda: int(step.input_value())
    step.focus()
    start = value()
    check(where, "the left arrow key goes one step back",
          "" if differs(page, lambda: page.keyboard.press("ArrowLeft")) and value() == start - 1
          else f"step {start} became {value()}, or the picture did not change")
    words = page.inner_text("#player-words")
    check(where, "the step in words", "" if f"step {value()}" in words else words)
    page.keyboard.press("Home")
    first = value()
    check(where, "Home goes to the first step", "" if first < start else f"{first}")
    page.focus("#player-play")
    check(where, "nothing plays unasked",
          "" if not differs(page, lambda: page.wait_for_timeout(500)) else "the picture changed")
    page.keyboard.press("Space")
    page.wait_for_timeout(900)
    playing = value()
    page.keyboard.press("Space")
    page.wait_for_timeout(100)
    stopped = value()
    page.wait_for_timeout(400)
    check(where, "the space bar plays and stops",
          "" if first < playing <= stopped == value()
          else f"steps {first}, {playing}, {stopped}, {value()}")
    page.focus("#player-body")
    check(where, "another body by the arrow key",
          "" if differs(page, lambda: page.keyboard.press("ArrowDown")) else "the picture stayed")
    page.focus("#player-forces")
    check(where, "arrows can be switched off",
          "" if differs(page, lambda: page.keyboard.press("Space")) else "the picture stayed")
    page.keyboard.press("Space")


def is_drawn(page):
    """Number of colours in the picture of the player."""
    return page.evaluate("""() => {
      const c = document.getElementById('player-canvas');
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      const seen = new Set();
      for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
      return seen.size; }""")


def check_view(browser, report, width, scheme, out, check):
    """One width in one colour scheme."""
    where = f"{width} px, {scheme}"
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    problems, requests = [], []
    page.on("console",
            lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: problems.append(str(e)))
    page.on("request", lambda r: requests.append(r.url)
            if not r.url.startswith(("file:", "data:")) else None)
    page.goto(report.as_uri())
    page.wait_for_timeout(300)
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(where, "the page is no wider than the screen", "" if overflow <= 0 else f"{overflow} px")
    page.screenshot(path=out / f"{width}-{scheme}.png", full_page=True)
    if page.query_selector("#player"):
        page.locator("#player").screenshot(path=out / f"{width}-{scheme}-player.png")
        check(where, "the player has drawn", "" if is_drawn(page) > 20 else "an empty picture")
    scrolling = page.evaluate(SCROLLING)
    check(where, "tables that scroll say so", [name for name, says in scrolling if not says])
    if width >= 1440:
        check(where, "no table scrolls", [name for name, _ in scrolling])
    # closed parts hold tables, too, and a law shows its text on a click
    for details in page.query_selector_all("main > details"):
        details.evaluate("e => { e.open = true; }")
    page.evaluate("() => document.querySelectorAll('.law').forEach((e) => { e.open = true; })")
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(where, "nor when all is open", "" if overflow <= 0 else f"{overflow} px")
    check(where, "no cell breaks into letters", page.evaluate(BROKEN_CELLS))
    check(where, "no text leaves its cell", page.evaluate(WIDE_CELLS))
    check(where, "no text over another", page.evaluate(OVERLAPS))
    check(where, "nothing is cut off", page.evaluate(CLIPPED))
    # axe enters no frame of another origin; check_lab.py judges the orbit lab
    page.evaluate("document.getElementById('lab-frame')?.remove()")
    found = Axe().run(page, options=AA)
    check(where, "WCAG AA", [(v["id"], v["help"], [n["target"] for n in v["nodes"]][:5])
                             for v in found["violations"]])
    laws = page.locator("main > .wide table").first
    laws.screenshot(path=out / f"{width}-{scheme}-laws-open.png")
    check_player(page, check, where)
    check(where, "no error in the console", problems)
    check(where, "no request to a network", requests)
    page.close()


def check_lab(browser, report, out, check):
    """The orbit lab in its frame: it draws, searches in its worker, and is missed where it is not
    there."""
    for width, scheme in ((390, "dark"), (1280, "light")):
        where = f"orbit lab, {width} {scheme}"
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        problems = []
        page.on("console", lambda m, p=problems: p.append(m.text) if m.type == "error" else 0)
        page.on("pageerror", lambda e, p=problems: p.append(str(e)))
        page.goto(report.as_uri())
        page.locator("#lab").scroll_into_view_if_needed()
        title = page.locator("#lab-frame").get_attribute("title")
        check(where, "its frame has a name", "" if title else "none")
        frame = page.frame_locator("#lab-frame")
        frame.locator("body[data-ready]").wait_for(timeout=60000)
        frame.locator("#planet").focus()
        before = frame.locator("#orbit-a").get_attribute("d")
        page.keyboard.press("ArrowUp")
        page.wait_for_timeout(200)
        check(where, "a key moves its planet",
              "" if frame.locator("#orbit-a").get_attribute("d") != before else before[:40])
        frame.locator("#find").click()
        frame.locator("#front tr:nth-child(2)").wait_for(timeout=90000)
        page.evaluate("document.getElementById('lab').scrollIntoView()")
        page.wait_for_timeout(1500)
        check(where, "the frame stays", "" if page.locator("#lab-frame").count() else "removed")
        check(where, "no error of the script", "; ".join(problems))
        page.screenshot(path=out / f"panel-{width}-{scheme}.png")
        page.close()
    alone = out / "alone" / "report.html"
    alone.parent.mkdir(exist_ok=True)
    shutil.copy(report, alone)
    page = browser.new_page()
    page.goto(alone.as_uri())
    page.locator("#lab").scroll_into_view_if_needed()
    page.locator("#lab-beside").filter(has_text="is not beside this page").wait_for(timeout=20000)
    check("orbit lab", "a report without its page says so, in place of a frame",
          "" if not page.locator("#lab-frame").count() else "the frame stays")
    page.close()


def main():
    report, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        print(NEEDS % "chromium", file=sys.stderr)
        return 2
    out.mkdir(parents=True, exist_ok=True)
    check = Checks()
    size = report.stat().st_size
    check(report.name, f"below {MOST_BYTES} bytes", "" if size < MOST_BYTES else f"{size} bytes")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium,
                                             args=["--headless=new", "--no-sandbox"])
        for width in WIDTHS:
            for scheme in SCHEMES:
                check_view(browser, report, width, scheme, out, check)
        if 'id="lab-frame"' in report.read_text(encoding="utf-8"):
            check_lab(browser, report, out, check)
        page = browser.new_page(color_scheme="dark")
        page.goto(report.as_uri())
        page.pdf(path=out / "print.pdf", format="A4")
        browser.close()
    print(f"{size} bytes; screenshots and print in {out}")
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
