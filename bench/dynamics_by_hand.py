"""Equations of motion by hand, the baseline of bench_dynamics: a spline's derivatives, then symreg.

    build/bench/bench_dynamics --keep DIR --run 'python3 bench/dynamics_by_hand.py bin/symreg 3'

Each state is smoothed by a cubic spline whose penalty generalised cross-validation chooses (SciPy's
make_smoothing_spline), its derivative at the rows is the target of `symreg --seconds S --threads 1`
with the smoothed states and, in a table whose time is asked for (`--time`), t. The formula of the
default rule `best` is the equation. With CPU_CLOCK=build/bench/cpu_clock.so in the environment the
seconds are of processor time. pip install numpy scipy
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy.interpolate import make_smoothing_spline


def smoothed(t, x):
    """States and derivatives at the rows, both (rows, states)."""
    splines = [make_smoothing_spline(t, column) for column in x.T]
    return (np.column_stack([spline(t) for spline in splines]),
            np.column_stack([spline.derivative()(t) for spline in splines]))


def chosen(printed):
    """The formula that rule `best` chooses in a printed front."""
    for line in printed.splitlines():
        front, mark, rules = line.partition("   <- ")
        if mark and "best" in rules.replace(",", " ").split():
            return front.split(None, 3)[3].strip()
    raise SystemExit("symreg printed no formula of rule best:\n" + printed)


def write(path, equations):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"equations": equations}, file, indent=1)
    os.replace(path + ".new", path)


def main():
    program, seconds, *options = sys.argv[1:]
    clock = os.environ.get("CPU_CLOCK")
    environment = os.environ | ({"LD_PRELOAD": os.path.abspath(clock)} if clock else {})
    names = os.environ["STATES"].split(",")
    values = np.loadtxt(os.environ["TABLE"], delimiter=",", skiprows=1)
    at, slopes = smoothed(values[:, 0], values[:, 1:])
    features = names + ["t"] * ("--time" in options)
    equations = []
    with tempfile.TemporaryDirectory() as folder:
        for slope in slopes.T:
            table = os.path.join(folder, "table.csv")
            with open(table, "w", newline="", encoding="utf-8") as file:
                rows = csv.writer(file)
                rows.writerow(["t", *names, "slope"])
                rows.writerows(np.column_stack([values[:, 0], at, slope]).tolist())
            printed = subprocess.run(
                [program, table, "--target", "slope", "--features", ",".join(features),
                 "--seconds", seconds, "--threads", "1", "--quiet"],
                check=True, capture_output=True, text=True, env=environment).stdout
            equations.append(chosen(printed))
    write(os.path.join(os.environ["OUT"], "equations.json"), equations)


if __name__ == "__main__":
    main()
