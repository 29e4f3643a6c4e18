#!/usr/bin/env python3
"""How often 95% intervals of constants contain the constant that made the table.

    bench/coverage.py [--tables 200] [--symreg bin/symreg] [--kinds line,decay] [--json FILE]

Each table has 40 rows of a law with normal noise. bin/symreg is given the law's form with wrong
constants, and fits it. Counted are the intervals of its standard errors (Student's t, or normal
with known sigmas) and its profile intervals (low_95 and high_95 of front.json). Kinds that end in
_sx have errors in x and in y, known to the program (--sigma, --sigma-x). The true constants are
those at which the form of the front, whichever it is written in, gives the table without its noise.
A share of 0.95 of TABLES has a standard error of 1.5% at 200."""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

ROWS = 40
JD = 2459015.5
NUMBER = re.compile(r"(?<![A-Za-z_.0-9])\d+\.?\d*(?:e[-+]?\d+)?")
NAMES = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "sqrt": np.sqrt,
         "square": np.square, "inv": np.reciprocal}
# where the column begins, law, guess as a function of this 0, standard deviation of x
KINDS = {
    "line": (0, lambda d: 3.7 * d + 11, lambda z: "3*x+9"),
    "decay": (0, lambda d: 50 * np.exp(-d / 8.02), lambda z: "45*exp(x/-7.5)"),
    "sine": (0, lambda d: 5.6 * np.sin(2 * np.pi * d / 11.3 + 1.1), lambda z: "5*sin(x*0.55+1.2)"),
    "line_jd": (JD, lambda d: 3.7 * d + 11, lambda z: f"(x-{z - 4:.6f})*3"),
    "decay_jd": (JD, lambda d: 50 * np.exp(-d / 8.02), lambda z: f"exp(({z + 30:.6f}-x)/8)"),
    "sine_jd": (JD, lambda d: 5.6 * np.sin(2 * np.pi * d / 11.3 + 1.1),
                lambda z: f"5*sin((x-{z - 2:.6f})*0.55)"),
    "period_jd": (JD, lambda d: 5.6 * np.sin(2 * np.pi * d / 4.2308 + 1.1) + 12,
                  lambda z: f"5*sin((x-{z - 0.7:.6f})*1.485)+11"),
    "line_sx": (0, lambda d: 3.7 * d + 11, lambda z: "3*x+9", 2),
    "decay_sx": (0, lambda d: 50 * np.exp(-d / 8.02), lambda z: "45*exp(x/-7.5)", 0.5),
    "line_jd_sx": (JD, lambda d: 3.7 * d + 11, lambda z: f"(x-{z - 4:.6f})*3", 2),
    "decay_jd_sx": (JD, lambda d: 50 * np.exp(-d / 8.02), lambda z: f"exp(({z + 30:.6f}-x)/8)",
                    0.5),
    "sine_jd_sx": (JD, lambda d: 5.6 * np.sin(2 * np.pi * d / 11.3 + 1.1),
                   lambda z: f"5*sin((x-{z - 2:.6f})*0.55)", 0.3),
}


def quantile(freedom):
    """The 97.5% point of Student's t, by its asymptotic series (error below 1e-5 from 20 on)."""
    z, n = 1.959963984540054, freedom
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2) + (
        3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)


def function_of(row):
    """The formula of a row as a function of x and the sizes of its numbers (a minus before one is
    part of the text), and how many numbers it has."""
    parts = NUMBER.split(row["equation"])
    text = parts[0] + "".join(f"c[{k}]{part}" for k, part in enumerate(parts[1:]))
    code = compile(text, row["equation"], "eval")
    return lambda x, c: eval(code, dict(NAMES, x=x, c=c)) + 0 * x, len(parts) - 1


def true_constants(row, x, exact, sigma):
    """The constants at which the form gives the exact values, from those found; None: another
    form. Steps are in units of the covariance, as constants of dates are correlated."""
    value, count = function_of(row)
    n = len(row["constants"])
    if count != n or None in row["standard_errors"]:
        return None
    found = np.array(row["constants"])
    cov = np.zeros((n, n))
    cov[np.tril_indices(n)] = row["covariance"]
    cov = cov + np.tril(cov, -1).T
    try:
        step = np.linalg.cholesky(cov)
    except np.linalg.LinAlgError:
        step = np.diag(row["standard_errors"])
    z = np.zeros(n)

    def at(z):
        return value(x, (found + step @ z) * np.sign(found))

    for _ in range(20):
        r = exact - at(z)
        jac = np.column_stack([(at(z + h) - at(z - h)) / 2e-3 for h in 1e-3 * np.eye(n)])
        if not np.all(np.isfinite(jac)) or not np.all(np.isfinite(r)):
            return None
        dz, *_ = np.linalg.lstsq(jac, r, rcond=None)
        z = z + dz
        if np.max(np.abs(dz)) < 1e-6:
            break
    if not np.sqrt(np.mean((exact - at(z))**2)) < 0.02 * sigma:
        return None
    return found + step @ z


PICTURE = """#!/bin/sh
case $5 in # -c SCRIPT INPUT PICTURE FORMAT
png) printf '\\211PNG\\r\\n\\032\\n 12 bytes of it IEND\\256B`\\202' ;;
*) printf '<svg xmlns="http://www.w3.org/2000/svg"></svg>\\n' ;;
esac >"$4"
"""


def without_pictures(folder):
    """An environment whose gnuplot draws nothing, as pictures take nine tenths of the time."""
    program = folder / "gnuplot"
    program.write_text(PICTURE)
    program.chmod(0o755)
    return dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")


def cover(symreg, kind, index, folder, environment):
    """Hits of standard and profile intervals, and how many constants there were."""
    zero, law, guess, *rest = KINDS[kind]
    sigma_x = rest[0] if rest else 0
    rng = np.random.default_rng([index, sum(map(ord, kind))])
    d = np.sort(rng.uniform(0, 40, ROWS))
    x = np.round(zero + d, 5)
    exact = law(x - zero)
    sigma = 0.05 * np.std(exact)
    y = exact + sigma * rng.standard_normal(ROWS)
    table = folder / "table.csv"
    seen = x + sigma_x * rng.standard_normal(ROWS)
    known = ["--features", "x", "--sigma", "s", "--sigma-x", f"x={sigma_x}"] if sigma_x else []
    table.write_text("x,y,s\n" if known else "x,y\n")
    with table.open("a") as file:
        for a, b in zip(seen, y):
            file.write(f"{a:.5f},{b:.9g}" + (f",{sigma:.9g}\n" if known else "\n"))
    subprocess.run([symreg, table, "--target", "y", "--threads", "1", "--evaluations", "20",
                    "--guess", guess(zero), "--out", folder / "out", "--quiet", *known], check=True,
                   capture_output=True, env=environment)
    for row in json.loads((folder / "out" / "front.json").read_text())["front"]:
        if not row["constants"]:
            continue
        true = true_constants(row, x, exact, sigma)
        if true is None:
            continue
        c, error = np.array(row["constants"]), np.array(row["standard_errors"])
        low = np.array([-math.inf if v is None else v for v in row["low_95"]])
        high = np.array([math.inf if v is None else v for v in row["high_95"]])
        most = quantile(math.inf if known else row["degrees_of_freedom"])
        standard = np.abs(c - true) <= most * error
        return standard.sum(), ((low <= true) & (true <= high)).sum(), len(c)
    return 0, 0, 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--symreg", default="bin/symreg")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = without_pictures(folder)
        for kind in args.kinds.split(","):
            hits = [cover(args.symreg, kind, i, folder, environment) for i in range(args.tables)]
            standard, profile, constants = map(int, np.sum(hits, axis=0))
            found = sum(h[2] > 0 for h in hits)
            results[kind] = {"tables": args.tables, "with_law": found, "constants": constants,
                             "standard": round(standard / max(constants, 1), 4),
                             "profile": round(profile / max(constants, 1), 4)}
            print(kind, results[kind], flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
