"""The problems of bench_symreg with Operon (pip install pyoperon), the same tables, cores and time.

    build/bench/bench_symreg --export build/bench/tables [--noise 0,3 --samples 2]
    python3 bench/peer_operon.py build/bench/tables build/bench/operon.txt [seconds] [threads] \
        [restarts] [error|front]
    build/bench/bench_symreg --judge build/bench/operon.txt [--noise 0,3]

Operators + - * / square sqrt exp log sin cos (its inverse is a division), 20 nodes, 5 steps of
Levenberg-Marquardt for every formula; the first problem has the study's + * / sin cos exp.
Two ways, 200 members each: "error" has the error as its only objective and returns one formula,
"front" is NSGA-II over error and length. In a trial on problems 2, 3, 12, 15, 16, 23, 24 without
noise, 5 s on a loaded machine, "error" recovered 5 of 7, "front" 3, with 1000 members 2. Every
formula that it returns is written, and which one its own rule selects. Tables whose name is already
in the output are left out: the script goes on where it was stopped.
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


def fit(names, x, y, number, seed, seconds, threads, objectives):
    model = SymbolicRegressor(
        allowed_symbols=STUDY if number == 1 else OPERATORS,
        max_length=20,
        max_depth=10,
        objectives=objectives,
        optimizer_iterations=5,
        population_size=200,
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
    rows = [(0, model.get_model_string(entry["tree"], precision=17))
            for entry in model.pareto_front_]
    return spent, [(int(text == chosen), text) for _, text in rows] or [(1, chosen)]


def main():
    folder, output = sys.argv[1:3]
    given = sys.argv[3:] + ["1", "2", "1", "error"][len(sys.argv) - 3 :]
    seconds, threads, restarts = (int(a) for a in given[:3])
    objectives = ["r2"] if given[3] == "error" else ["r2", "length"]
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
                spent, rows = fit(names, x, y, int(number), seed, seconds, threads, objectives)
                for selected, text in rows:
                    file.write(f"{number} {noise} {sample} {run} {spent:.3f} {selected} "
                               f"{our_notation(text, names)}\n")
                file.flush()
                print(number, noise, sample, run, f"{spent:.2f} s, {len(rows)} formulas")


if __name__ == "__main__":
    main()
