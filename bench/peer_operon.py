"""The problems of bench_symreg with Operon (pip install pyoperon), the same tables, cores and time.

    build/bench/bench_symreg --export build/bench/tables [--noise 0,3 --samples 2]
    python3 bench/peer_operon.py build/bench/tables build/bench/operon.txt [seconds] [threads] [restarts]
    build/bench/bench_symreg --judge build/bench/operon.txt [--noise 0,3]

Operators + - * / square sqrt exp log sin cos (its inverse is a division), 20 nodes, NSGA-II over
error and length, local search of constants by Levenberg-Marquardt, populations as large as in
Operon's own examples (1000); the first problem has the study's + * / sin cos exp. Every formula of the
Pareto front is written, and which one its own rule (minimum description length) selects. Tables
whose name is already in the output are left out: the script goes on where it was stopped.
"""
import glob
import os
import re
import sys
import time

import numpy as np
from pyoperon.sklearn import SymbolicRegressor

OPERATORS = "add,sub,mul,div,square,sqrt,exp,log,sin,cos,constant,variable"
STUDY = "add,mul,div,sin,cos,exp,constant,variable"


def columns(path):
    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    return names[:-1], values[:, :-1], values[:, -1]


def our_notation(text, names):
    """X1, X2, ... are the features in their order; powers are ^."""
    text = re.sub(r"\bX(\d+)\b", lambda m: names[int(m.group(1)) - 1], text)
    return text.replace("**", "^").replace("\n", " ")


def fit(names, x, y, number, seed, seconds, threads):
    model = SymbolicRegressor(
        allowed_symbols=STUDY if number == 1 else OPERATORS,
        max_length=20,
        max_depth=10,
        objectives=["r2", "length"],
        optimizer_iterations=5,
        population_size=1000,
        generations=10**6,
        max_evaluations=10**9,
        max_time=seconds,
        n_threads=threads,
        random_state=seed,
    )
    start = time.monotonic()
    model.fit(x, y)
    spent = time.monotonic() - start
    chosen = model.get_model_string(model.model_, precision=17)
    rows = [(0, model.get_model_string(entry["tree"], precision=17)) for entry in model.pareto_front_]
    return spent, [(int(text == chosen), text) for _, text in rows] or [(1, chosen)]


def main():
    folder, output = sys.argv[1:3]
    seconds, threads, restarts = (int(a) for a in (sys.argv[3:] + ["1", "2", "1"][len(sys.argv) - 3 :]))
    done = set()
    if os.path.exists(output):
        with open(output, encoding="utf-8") as file:
            done = {tuple(line.split()[:4]) for line in file}
    tables = [(re.split(r"[_/]|\.csv", path)[-4:-1], path) for path in glob.glob(f"{folder}/*.csv")]
    with open(output, "a", encoding="utf-8") as file:
        for (number, noise, sample), path in sorted(tables, key=lambda t: [float(v) for v in t[0]]):
            names, x, y = columns(path)
            for run in range(restarts):
                if (number, noise, sample, str(run)) in done:
                    continue
                seed = int(sample) * restarts + run
                spent, rows = fit(names, x, y, int(number), seed, seconds, threads)
                for selected, text in rows:
                    file.write(f"{number} {noise} {sample} {run} {spent:.3f} {selected} "
                               f"{our_notation(text, names)}\n")
                file.flush()
                print(number, noise, sample, run, f"{spent:.2f} s, {len(rows)} formulas")


if __name__ == "__main__":
    main()
