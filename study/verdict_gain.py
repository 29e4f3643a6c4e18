#!/usr/bin/env python3
"""verdict_gain.py - the verdict of two recipes beside each other, seed by seed.

usage: verdict_gain.py [--json FILE] BEFORE AFTER

BEFORE and AFTER are folders of cells (bin/verdict --cell) of the same grid of seeds and attentions,
which differ in how models were trained. For each value and attention it prints mean and 95% half
width (Student's t) of both, of the untrained baseline and of the upper bound, and by how much
nearer to the bound AFTER is; and for each value, where attentions differ from softmax. The rules
are in study/docs/verdict.md, "A better predictor"; with fewer than five seeds nothing is ruled.
Bounds are those of AFTER. Cells that one folder lacks are left out and named, as are values that a
cell lacks. Needs Python 3 alone.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

from student import half_width

VALUE, BOUND, BASELINE = 0, 1, 2
SEEDS = 5  # with fewer nothing is ruled


def read(folder):
    """(seed, attention) -> id -> [value, upper bound, untrained baseline, raw]"""
    cells = {}
    for path in sorted(folder.glob("seed*.json")):
        cell = json.loads(path.read_text())
        if cell.get("format") != "orrery-cell-1":
            sys.exit(f"verdict_gain.py: {path}: format: expected orrery-cell-1, "
                     f"found {cell.get('format')}")
        for part in cell["cells"]:
            cells[cell["settings"]["seed"], part["attention"]] = part["figures"]
    return cells


def interval(values):
    """(mean, 95% half width or None with one value)"""
    return statistics.fmean(values), half_width(values)


def text(mean, half):
    if half is None:
        return f"{mean:.4g}"
    digits = max(0, 1 - math.floor(math.log10(half))) if half > 0 else 4
    return f"{mean:.{digits}f} +- {half:.{digits}f}"


def sign(pair, n):
    """+1 or -1 where the interval over the five seeds of the rules excludes 0, else 0"""
    mean, half = pair
    if n < SEEDS or abs(mean) <= half:
        return 0
    return 1 if mean > 0 else -1


def complete(cells, seed, attention, name):
    """whether the cell has value, bound and baseline"""
    figures = cells.get((seed, attention), {})
    return name in figures and None not in figures[name][:3]


def compare(before, after):
    """The bound of both is that of AFTER, which may be measured on more sequences."""
    keys = sorted(before.keys() & after.keys())
    attentions = sorted({a for _, a in keys}, key=lambda a: (a != "softmax", a))
    ids = list(after[keys[0]])
    rows, orders, missing = [], [], []
    for name in ids:
        for attention in attentions:
            of = [s for s, a in keys if a == attention]
            seeds = [s for s in of if complete(before, s, attention, name)
                     and complete(after, s, attention, name)]
            if len(seeds) < len(of):
                missing.append(f"{name}, {attention}: {len(of) - len(seeds)} of {len(of)} seeds")
            if not seeds:
                continue
            old = [before[s, attention][name] for s in seeds]
            new = [after[s, attention][name] for s in seeds]
            gains = [abs(o[VALUE] - n[BOUND]) - abs(n[VALUE] - n[BOUND]) for o, n in zip(old, new)]
            gain = interval(gains)
            rows.append({"id": name, "attention": attention, "seeds": seeds,
                         "before": interval([o[VALUE] for o in old]),
                         "after": interval([n[VALUE] for n in new]),
                         "baseline": interval([n[BASELINE] for n in new]),
                         "upper_bound": statistics.fmean(n[BOUND] for n in new),
                         "gain": gain, "ruling": sign(gain, len(seeds))})
            if attention == "softmax":
                continue
            both = [s for s in seeds if complete(before, s, "softmax", name)
                    and complete(after, s, "softmax", name)]
            if not both:
                continue
            pairs = [interval([c[s, attention][name][VALUE] - c[s, "softmax"][name][VALUE]
                               for s in both]) for c in (before, after)]
            orders.append({"id": name, "attention": attention, "seeds": both,
                           "before": pairs[0], "after": pairs[1],
                           "signs": [sign(p, len(both)) for p in pairs]})
    return keys, rows, orders, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    before, after = read(options.before), read(options.after)
    if not before.keys() & after.keys():
        sys.exit(f"verdict_gain.py: {options.before} and {options.after} have no cell in common")
    for s, a in sorted(before.keys() ^ after.keys()):
        print(f"seed {s}, {a}: in one folder alone, left out", file=sys.stderr)
    keys, rows, orders, missing = compare(before, after)
    for text_of in missing:
        print(f"{text_of} without value, bound or baseline, left out", file=sys.stderr)
    print(f"{len(keys)} cells of each; means +- 95% half widths over seeds\n")
    print("| value | attention | n | before | after | untrained | upper bound | nearer by | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        ruling = {1: "gains", -1: "loses", 0: ""}[r["ruling"]]
        print(f"| {r['id']} | {r['attention']} | {len(r['seeds'])} | {text(*r['before'])} "
              f"| {text(*r['after'])} | {text(*r['baseline'])} | {r['upper_bound']:.4g} "
              f"| {text(*r['gain'])} | {ruling} |")
    counts = {k: sum(r["ruling"] == k for r in rows) for k in (1, -1)}
    print(f"\nOf {len(rows)} values {counts[1]} gain and {counts[-1]} lose; "
          f"{len(rows) / 40:.1f} of each are expected by chance.")
    turned = [o for o in orders if o["signs"][0] * o["signs"][1] < 0]
    lost = [o for o in orders if o["signs"][0] and not o["signs"][1]]
    found = [o for o in orders if o["signs"][1] and not o["signs"][0]]
    kept = [o for o in orders if o["signs"][0] * o["signs"][1] > 0]
    if orders:
        print(f"\nOf {len(orders)} differences from softmax {len(kept) + len(lost) + len(turned)} "
              f"were significant before: {len(kept)} still are, {len(turned)} turned around, "
              f"{len(lost)} are not significant any more; {len(found)} are new "
              f"({len(orders) / 20:.1f} expected by chance).\n")
        print("| value | attention | before | after | |\n|---|---|---|---|---|")
        for kind, part in (("kept", kept), ("turned", turned), ("lost", lost), ("new", found)):
            for o in part:
                print(f"| {o['id']} | {o['attention']} | {text(*o['before'])} "
                      f"| {text(*o['after'])} | {kind} |")
    if options.json:
        new = options.json.with_name(options.json.name + ".new")
        new.write_text(json.dumps({"format": "orrery-verdict-gain-1",
                                   "cells": [list(k) for k in keys],
                                   "values": rows, "order": orders}, indent=1) + "\n")
        new.replace(options.json)


if __name__ == "__main__":
    main()
