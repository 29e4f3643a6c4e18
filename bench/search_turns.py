#!/usr/bin/env python3
"""search_turns.py - searches of two builds of this repository, in turns on one machine.

usage: search_turns.py [--rounds N] [--evaluations N] [--json FILE] BEFORE AFTER TABLE...

BEFORE and AFTER are source trees with bin/symreg. Every TABLE, a CSV file whose last column is the
target, is searched N (3) times by each, one after the other, on one thread, until N (60000)
formulas were tried. Compared is the processor time of the process in user mode and in the kernel,
as wall times of a shared machine say little. Prints for every table both medians, the ratio
AFTER / BEFORE of the times, and how the fronts compare: a front is as good where it has, for every
row of the
other one, a row that is no more complex and has no larger loss (by more than a millionth, or both
count as 0). At the end: the ratio of the sums, median and quartiles of the ratios, the same of the
times per formula that was tried, and how many fronts are equal, better, worse or neither. (Builds
before --evaluations was shared out among the islands to the end stop at 62 to 94% of them.)
Tables of the held-out laws without noise:
build/bench/bench_symreg_laws --held-out --noise 0 --samples 1 --export DIR. Tables of few rows:
bench/few_rows_cost.sh. Needs Python 3 alone.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROW = re.compile(r"\s*(\d+)\s+([0-9.e+-]+)\s+(\S+)\s+\S")
TRIED = re.compile(r"([0-9.e+]+) formulas in ")


def target_of(table):
    with open(table, encoding="utf-8") as file:
        return next(line for line in file if not line.startswith("#")).strip().split(",")[-1]


def search(tree, table, evaluations):
    """Seconds of processor time, formulas tried, and the front as pairs of complexity and loss."""
    command = [str(tree / "bin" / "symreg"), str(table), "--target", target_of(table),
               "--evaluations", str(evaluations), "--threads", "1"]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        log.seek(0)
        tried = TRIED.search(log.read())
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not tried:
        sys.exit(f"search_turns.py: {' '.join(command)}: status {process.returncode}")
    front = []
    for line in printed.splitlines():
        if line.startswith("alternatives"):
            break
        row = ROW.match(line)
        if row:
            front.append((int(row[1]), float(row[2])))
    return usage.ru_utime + usage.ru_stime, float(tried[1]), front


def covers(front, other):
    return all(any(c <= complexity and (l <= loss * (1 + 1e-6)) for c, l in front)
               for complexity, loss in other)


def compared(before, after):
    better, worse = covers(after, before), covers(before, after)
    return "equal" if better and worse else "better" if better else "worse" if worse else "neither"


def quartiles(ratios):
    return statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("table", type=pathlib.Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=60000)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    for table in options.table:
        times, tried, fronts = {"before": [], "after": []}, {}, {}
        for i in range(options.rounds):
            order = ("before", "after") if i % 2 == 0 else ("after", "before")
            for which in order:
                tree = getattr(options, which).resolve()
                seconds, tried[which], fronts[which] = search(tree, table, options.evaluations)
                times[which].append(seconds)
        before, after = (statistics.median(times[which]) for which in ("before", "after"))
        row = {"table": table.stem, "before": round(before, 4), "after": round(after, 4),
               "ratio": round(after / before, 4),
               "per_formula": round(after / before * tried["before"] / tried["after"], 4),
               "front": compared(fronts["before"], fronts["after"])}
        rows.append(row)
        print(f"{row['ratio']:6.3f} {row['per_formula']:6.3f}  {before:8.2f} s {after:8.2f} s  "
              f"{row['front']:8s}{row['table']}", flush=True)
    quarters, each = (quartiles([row[key] for row in rows]) for key in ("ratio", "per_formula"))
    total = sum(row["after"] for row in rows) / sum(row["before"] for row in rows)
    counts = ", ".join(f"{sum(row['front'] == kind for row in rows)} {kind}"
                       for kind in ("equal", "better", "worse", "neither"))
    print(f"{len(rows)} tables, {options.rounds} rounds: sum {total:.3f}, median {quarters[1]:.3f},"
          f" quartiles {quarters[0]:.3f} and {quarters[2]:.3f}; of a formula: median {each[1]:.3f},"
          f" quartiles {each[0]:.3f} and {each[2]:.3f}; fronts {counts}")
    if options.json:
        partial = options.json.with_name(options.json.name + ".orrery-partial")
        partial.write_text(json.dumps({"rounds": options.rounds,
                                       "evaluations": options.evaluations, "sum": total,
                                       "rows": rows}, indent=1) + "\n")
        partial.rename(options.json)


if __name__ == "__main__":
    main()
