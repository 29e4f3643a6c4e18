#!/usr/bin/env python3
"""turns.py - benchmarks of two builds of this repository, in turns on one machine.

usage: turns.py [--rounds N] [--json FILE] BEFORE AFTER -- NAME [ARGUMENT...]

BEFORE and AFTER are source trees in which `make build/bench/bench_NAME` was run. The benchmark is
run N (3) times in each, one after the other, so that other work on the machine slows both down.
Every row is the median over the rounds, and its ratio says how many times as fast AFTER is as
BEFORE: of times before over after, of rates after over before. Prints each row's ratio with the
ratios of the single rounds, the lowest rows, and the median and the quartiles over all rows. Needs
Python 3 alone.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

TIMES = {"ms", "ns", "us", "s", "ms of processor", "ns per element and core"}
RATES = {"1/s", "1/s/core", "MB/s", "tokens/s"}


def rows(tree, name, arguments):
    """name -> (value, unit) of one run, in a folder of its own: committed results stay."""
    with tempfile.TemporaryDirectory(prefix="orrery-turns-") as work:
        results = pathlib.Path(work) / "bench" / "results"
        results.mkdir(parents=True)
        command = [str(tree / "build" / "bench" / f"bench_{name}"), *arguments]
        done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True,
                               env={**os.environ, "ORRERY_PRESETS": str(tree / "presets")})
        if done.returncode:
            sys.exit(f"turns.py: {' '.join(command)}: status {done.returncode}\n{done.stderr}")
        made = list(results.glob("*.json"))
        if len(made) != 1:
            sys.exit(f"turns.py: {command[0]}: expected one file of results, found {len(made)}")
        return {r["name"]: (r["value"], r["unit"])
                for r in json.loads(made[0].read_text())["rows"]
                if r["unit"] in TIMES | RATES and r["value"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("benchmark", nargs=argparse.REMAINDER, help="name and arguments, after --")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    name, *arguments = options.benchmark
    rounds = []
    for i in range(options.rounds):
        order = (options.before, options.after) if i % 2 == 0 else (options.after, options.before)
        found = {tree: rows(tree.resolve(), name, arguments) for tree in order}
        rounds.append((found[options.before], found[options.after]))
    common = [n for n in rounds[0][0] if all(n in b and n in a for b, a in rounds)]
    if not common:
        sys.exit(f"turns.py: {name}: the builds have no row in common")
    table = []
    for row in common:
        unit = rounds[0][0][row][1]
        pairs = [(b[row][0], a[row][0]) for b, a in rounds]
        before = statistics.median(b for b, _ in pairs)
        after = statistics.median(a for _, a in pairs)
        faster = [b / a if unit in TIMES else a / b for b, a in pairs]
        table.append({"name": row, "unit": unit, "before": before, "after": after,
                      "ratio": statistics.median(faster), "rounds": faster})
    for r in table:
        rounds = " ".join(f"{x:.3f}" for x in r["rounds"])
        print(f"{r['ratio']:6.3f}  {r['before']:12.5g} {r['after']:12.5g} {r['unit']:9s} "
              f"{r['name']}  ({rounds})")
    ratios = sorted(r["ratio"] for r in table)
    quarters = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    print(f"{name}: {len(ratios)} rows, {options.rounds} rounds: median {quarters[1]:.3f}, "
          f"quartiles {quarters[0]:.3f} and {quarters[2]:.3f}, lowest "
          + ", ".join(f"{x:.3f}" for x in ratios[:3]))
    if options.json:
        partial = options.json.with_name(options.json.name + ".orrery-partial")
        partial.write_text(json.dumps({"benchmark": options.benchmark, "rows": table}, indent=1)
                           + "\n")
        partial.rename(options.json)


if __name__ == "__main__":
    main()
