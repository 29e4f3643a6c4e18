#!/usr/bin/env python3
"""recipe_table.py - what bench/recipe.sh measured, recipe beside recipe.

usage: recipe_table.py [--figure FILE.png [--also FILE.csv]] [RESULTS.csv]
                                                           default: bench/results/recipe.csv

For each preset and attention, and each recipe beside that of AdamW: mean errors over
the seeds that both have, the difference with its 95% half width (Student's t), in how many seeds
the error is at most that of AdamW, and the ratio of processor times, mean and range.
--figure draws held-out losses against processor time (gnuplot): a line for each seed, time divided
among steps in equal parts; --also adds the panels of another file. Needs Python 3 alone.
"""

import argparse
import csv
import pathlib
import statistics
import subprocess
import sys

from student import half_width


def read(path):
    """(preset, attention) -> recipe -> seed -> row, in the order of the file"""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            # settings have no comma: fields are those of the header
            what = [f", {word}" for word in ("planets", "forces") if word in row["recipe"]]
            kind = found.setdefault((row["preset"] + "".join(what), row["attention"]), {})
            kind.setdefault(row["recipe"], {})[int(row["seed"])] = row
    # before: AdamW, wherever its rows stand
    return {kind: dict(sorted(recipes.items(), key=lambda r: "adamw" not in r[0]))
            for kind, recipes in found.items()}


def interval(values):
    half = half_width(values)
    return "-" if half is None else f"{half:.2g}"


def table(found):
    print("| preset | attention | recipe | n | error before | error | difference "
          "| at most before in | processor s before | processor s | ratio |\n" + "|---" * 11 + "|")
    for (preset, attention), recipes in found.items():
        first, *others = recipes
        for name in others:
            seeds = sorted(recipes[first].keys() & recipes[name].keys())
            if not seeds:
                continue
            before, after = ([recipes[r][s] for s in seeds] for r in (first, name))
            errors = [[float(r["error"]) for r in rows] for rows in (before, after)]
            times = [[float(r["processor_s"]) for r in rows] for rows in (before, after)]
            differences = [b - a for a, b in zip(*errors)]
            ratios = [b / a for a, b in zip(*times)]
            print(f"| {preset} | {attention} | {name} | {len(seeds)} "
                  f"| {statistics.fmean(errors[0]):.4g} | {statistics.fmean(errors[1]):.4g} "
                  f"| {statistics.fmean(differences):+.2g} +- {interval(differences)} "
                  f"| {sum(d <= 0 for d in differences)} of {len(seeds)} "
                  f"| {statistics.fmean(times[0]):.0f} | {statistics.fmean(times[1]):.0f} "
                  f"| {statistics.fmean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |")


def curves(row):
    points = [p.split(":") for p in row["curve"].split()]
    last = float(points[-1][0])
    return [(float(step) / last * float(row["processor_s"]), loss) for step, loss in points]


def axis(name, values):
    """A logarithmic axis that ends at the values, with marks as dense as they leave legible."""
    low, high = min(values) / 1.1, max(values) * 1.1
    digits = ((1,) if high > 500 * low else (1, 2, 5) if high > 4 * low else
              (1, 1.5, 2, 2.5, 3, 4, 5, 7))
    marks = [digit * 10.0**power for power in range(-9, 7) for digit in digits]
    marks = ", ".join(f"{m:g}" for m in marks if low <= m <= high)
    return [f"set {name}range [{low:.6g}:{high:.6g}]", f"set {name}tics ({marks})"]


def figure(found, path):
    panels = [(kind, recipes) for kind, recipes in found.items()
              if len(recipes) > 1 and "," not in kind[0]]
    # rates that were tried are of the table alone
    panels = [(kind, {name: rows for name, rows in recipes.items() if "lr" not in name})
              for kind, recipes in panels]
    if not panels:
        sys.exit("recipe_table.py: no preset with two recipes: nothing to draw")
    columns = 2
    rows = (len(panels) + 1) // columns
    lines = [f"set terminal pngcairo size 1000,{360 * rows} font 'sans,11'",
             f"set output '{path.name}'",
             f"set multiplot layout {rows},{columns}",
             "set logscale xy", "set grid", "set termoption noenhanced",
             "set xlabel 'processor time, s'",
             "set ylabel 'held-out loss'", "set key top right", "set format y '%.2g'"]
    data = []
    for number, ((preset, attention), recipes) in enumerate(panels):
        points = [point for seeds in recipes.values() for row in seeds.values()
                  for point in curves(row)]
        lines += [f"set title '{preset}, {attention}'", *axis("x", [t for t, _ in points]),
                  *axis("y", [float(loss) for _, loss in points])]
        parts = []
        for colour, (name, seeds) in enumerate(recipes.items()):
            for i, row in enumerate(seeds.values()):
                block = f"$d{number}_{colour}_{i}"
                data.append(f"{block} << EOD\n" +
                            "\n".join(f"{t:.3f} {loss}" for t, loss in curves(row)) + "\nEOD")
                title = f"title '{name}'" if i == 0 else "notitle"
                parts.append(f"{block} using 1:2 with linespoints lt {colour + 1} "
                             f"pt {7 if colour else 6} {title}")
        lines.append("plot " + ", ".join(parts))
    lines.append("unset multiplot")
    done = subprocess.run(["gnuplot"], input="\n".join(data + lines) + "\n", text=True,
                          cwd=path.parent)
    if done.returncode:
        sys.exit("recipe_table.py: gnuplot failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=pathlib.Path,
                        default=pathlib.Path("bench/results/recipe.csv"))
    parser.add_argument("--figure", type=pathlib.Path)
    parser.add_argument("--also", type=pathlib.Path)
    options = parser.parse_args()
    found = read(options.results)
    table(found)
    if options.figure:
        figure(found | (read(options.also) if options.also else {}), options.figure)


if __name__ == "__main__":
    main()
