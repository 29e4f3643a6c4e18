#!/usr/bin/env python3
"""What tables of counts, positive numbers and of 0 and 1 can tell about the law that made them.

    bench/deviance_choice.py [--symreg bin/symreg] [--rows 300] [--seeds 1,2,3]
                             [--evaluations 20000]        (Python with numpy, scipy)

Laws with logarithms, Hill's curve and sums, whose targets are drawn from a gamma distribution of
shape 8 or as 0 and 1. Printed for each table: the formula that rule best selects, and how many nats
likelier it is than the law's own form fitted to the same rows, and how much longer its description
is. The likelihoods are computed here."""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln

LAWS = {  # loss, the law as symreg reads it, ranges of its columns
    "logarithm": ("gamma", "2+1.5*log(a*b)", {"a": (2, 20), "b": (1, 9)}),
    "Hill": ("gamma", "8/(1+exp(3.69-2.3*log(a)))", {"a": (0.5, 30)}),
    "sum": ("gamma", "1.4*a+3*sqrt(b)", {"a": (1, 9), "b": (1, 30)}),
    "inhibitor": ("gamma", "12*a/(a+3+1.5*b)", {"a": (0.3, 30), "b": (0, 8)}),
    "logistic": ("bernoulli", "1/(1+exp(1-a-0.7*b))", {"a": (-3, 3), "b": (-3, 3)}),
    "logistic of a logarithm": ("bernoulli", "1/(1+exp(3-1.4*log(a)-0.5*b))",
                                {"a": (0.3, 60), "b": (-2, 2)}),
    "Hill of 0 and 1": ("bernoulli", "1/(1+exp(3.4-1.8*log(a)))", {"a": (0.3, 60)}),
    "a logistic and a number": ("bernoulli", "0.1+0.8/(1+exp(2-a-0.7*b))",
                                {"a": (-3, 6), "b": (-3, 3)}),
}
NAMES = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "np": np, "numpy": np}


def log_likelihood(loss, y, p):
    if loss == "bernoulli":
        return np.sum(np.log(np.where(y > 0, p, 1 - p)))
    deviance = 2 * np.mean(y / p - 1 - np.log(y / p))
    k = brentq(lambda k: 2 * (np.log(k) - digamma(k)) - deviance, 1e-3, 1e8)
    return np.sum(k * np.log(k * y / p) - k * y / p - np.log(y) - gammaln(k))


def selected(o, table, loss, folder, *more):
    """The row of the front that rule best selects, or the last one where more is given."""
    subprocess.run([o.symreg, table, "--target", "y", "--loss", loss, "--threads", "1", "--seed",
                    "1", "--quiet", "--out", folder / "out", *more], check=True,
                   capture_output=True)
    front = json.loads((folder / "out" / "front.json").read_text())["front"]
    law = "--guess" in more
    return front[-1] if law else next(r for r in front if "best" in r["selected_by"])


def search(o, name, seed, folder):
    loss, law, ranges = LAWS[name]
    rng = np.random.default_rng([seed, o.rows, *map(ord, name)])
    x = {c: np.round(rng.uniform(low, high, o.rows), 4) for c, (low, high) in ranges.items()}
    mean = eval(law, NAMES | x)
    y = (mean * rng.gamma(8, 1 / 8, o.rows) if loss == "gamma"
         else (rng.uniform(size=o.rows) < mean).astype(float))
    table = folder / "table.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([[*x, "y"], *zip(*x.values(), y)])
    found = selected(o, table, loss, folder, "--evaluations", str(o.evaluations))
    form = selected(o, table, loss, folder, "--guess", law, "--iterations", "0",
                    "--set", "symreg.enumerate=0")
    nats = [log_likelihood(loss, y, eval(row["numpy"], NAMES | x) + 0 * y)
            for row in (found, form)]
    print(f"| {name}, {loss} | {seed} | `{found['equation']}` | {nats[0] - nats[1]:.1f} | "
          f"{found['description_length'] - form['description_length']:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--symreg", default="bin/symreg")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--evaluations", type=int, default=20000)
    o = parser.parse_args()
    print("| law | seed | selected | nats likelier | nats longer |\n|---|---|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in LAWS:
            for seed in map(int, o.seeds.split(",")):
                search(o, name, seed, pathlib.Path(folder))


if __name__ == "__main__":
    main()
