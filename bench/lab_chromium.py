"""lab_chromium.py - the orbit lab's speed in headless Chromium, in processor time of its threads:

    bench/lab_speed.sh                               search, in turns with the native program
    python3 bench/lab_chromium.py frames [PAGE.html]     frames while a planet is dragged on a phone

bench/lab_speed.sh calls `lab_chromium.py search PAGE.html NATIVE TABLE.csv TURNS`. Wants playwright
(tests/browser/check_report.py says what installs it).
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys

from playwright.sync_api import sync_playwright

EVALUATIONS = 60000
# What find.js does for one search, in a worker that stays, so that its code has been optimised.
WORKER = """async (table) => {
  const code = `'use strict';` + document.getElementById('module').textContent + `
let lab = null;
onmessage = async ({ data }) => {
  lab = lab || await labOpen(data.bytes, (progress) => postMessage({ progress }));
  postMessage({ front: lab.search(data.columns, data.y, data.names, data.options) });
};`;
  window.bench = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  window.searched = () => new Promise((done, fail) => {
    bench.onmessage = ({ data }) => { if (data.front) done(data.front.map((row) => row.formula)); };
    bench.onerror = fail;
    bench.postMessage({ bytes: lab.compiled, ...table });
  });
}"""


def thread_seconds(name):
    """Processor time (s) so far of the threads of this name in all descendants of this process."""
    parents, total = {}, 0.0
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                parents[int(entry.name)] = int(stat[stat.rindex(")") + 2:].split()[1])
            except OSError:
                continue
    for pid in parents:
        at = pid
        while at in parents and at != os.getpid():
            at = parents[at]
        if at != os.getpid():
            continue
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
            try:
                stat = task.read_text()
            except OSError:
                continue
            if stat[stat.index("(") + 1:stat.rindex(")")].startswith(name):
                user, system = stat[stat.rindex(")") + 2:].split()[11:13]
                total += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return total


def native_seconds(program, table):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([program, table, str(EVALUATIONS)], check=True, capture_output=True,
                          text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    formulas = [line.split(" ", 4)[4] for line in said.splitlines() if line.startswith("row ")]
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), formulas


def search(browser, address, program, table, turns):
    lines = pathlib.Path(table).read_text().split()[1:]
    r, force = zip(*(map(float, line.split(",")) for line in lines))
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.evaluate(WORKER, {"columns": [r], "y": force, "names": ["r"],
                           "options": f"seed=3\nevaluations={EVALUATIONS}\nseconds=100000"})
    for _ in range(2):
        page.evaluate("searched()")
    ratios = []
    for _ in range(turns):
        native, formulas = native_seconds(program, table)
        before = thread_seconds("DedicatedWorker")
        found = page.evaluate("searched()")
        took = thread_seconds("DedicatedWorker") - before
        if found != formulas:
            sys.exit("lab_chromium: error: the page found other formulas than the native program")
        ratios.append(native / took)
        print(f"native {native:.2f} s, Chromium {took:.2f} s, ratio {ratios[-1]:.2f}", flush=True)
    print(f"Chromium {browser.version}: median ratio {statistics.median(ratios):.2f} "
          f"({min(ratios):.2f} to {max(ratios):.2f}, {turns} turns)")


# A phone: 390 px, three device pixels each. The planet goes round the star in 120 frames.
DRAG = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const handle = document.getElementById("planet");
  const sky = document.getElementById("sky"), box = () => sky.getBoundingClientRect();
  const send = (type, x, y) => handle.dispatchEvent(new PointerEvent(type, {
    bubbles: true, pointerId: 1, clientX: box().left + box().width * (0.5 + x),
    clientY: box().top + box().width * (0.5 + y) }));
  handle.setPointerCapture = handle.hasPointerCapture = () => true;
  send('pointerdown', 0.25, 0);
  for (let i = 0; i < 120; i++) {
    await frame();
    performance.mark('move');
    send('pointermove', 0.25 * Math.cos(i / 19), 0.2 * Math.sin(i / 19));
  }
  await frame();
  performance.mark('move');
}"""


def frames(browser, address):
    """Milliseconds of the main thread (script, style, layout, paint) from one frame to the next, in
    its own processor time, times the slowdown of a phone."""
    page = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=3,
                            has_touch=True)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    tool = page.context.new_cdp_session(page)
    events, ended = [], []
    tool.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    tool.on("Tracing.tracingComplete", lambda data: ended.append(data))
    page.evaluate(DRAG)
    tool.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {
        "includedCategories": ["toplevel", "blink.user_timing"]}})
    page.evaluate(DRAG)
    tool.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    marks = [event for event in events if event["name"] == "move"]
    main = {(event["pid"], event["tid"]) for event in marks}
    tasks = sorted((event["ts"], event.get("tdur", 0)) for event in events
                   if event["name"] == "ThreadControllerImpl::RunTask"
                   and (event["pid"], event["tid"]) in main)
    times = sorted(event["ts"] for event in marks)
    spent = [sum(took for at, took in tasks if a <= at < b) / 1000
             for a, b in zip(times, times[1:])]
    print(f"Chromium {browser.version}, first paint {paint:.0f} ms after the start, by the clock")
    for slower in (1, 4, 6):
        of = [slower * one for one in spent]
        print(f"slower by {slower}: median {statistics.median(of):.1f} ms, 95% below "
              f"{statistics.quantiles(of, n=20)[-1]:.1f} ms, most {max(of):.1f} ms, "
              f"{len(of)} frames")
    page.close()


def main():
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        _, what, address, *rest = sys.argv
        address = pathlib.Path(address).resolve().as_uri()
        if what == "search":
            search(browser, address, rest[0], rest[1], int(rest[2]))
        else:
            frames(browser, address)
        browser.close()


main()
