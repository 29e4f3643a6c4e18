"""How often bin/symreg --category finds the eight laws of PhySO's class benchmark.

    git clone https://github.com/WassimTenachi/PhySO DIR
    python3 bench/class_laws.py DIR [--cpu-time]    (Python with numpy, scipy, mpmath)

Class symbolic regression (Tenachi et al., arXiv 2312.01816; PhySO is MIT) looks for one law of
several objects, each with constants of its own. The benchmark has eight laws, ten objects of 100
rows each, five trials, and noise of 0, 0.1, 1 and 10% of each object's rms. Tables are drawn as the
benchmark draws them, from the same numpy seeds, without units as published. Every table is given to
bin/symreg with the operators of the benchmark; the formula that the default rule chooses is judged.

It is the law when, with its constants fitted again to the rows without noise, less than 1e-10 of
their variance is left, and it has at most as many constants as the law as written (those of an
object and numbers other than whole ones): a term that is fitted away is not allowed. Results are
written after every search, and the same command goes on where it was stopped.
"""

import argparse
import csv
import os
import re
import sys
import tempfile
import warnings

import numpy as np
from scipy.optimize import least_squares

from newtonbench import DEFAULT_RULE, first_line, open_results, search, write_results

EQUATIONS = "physo/benchmark/ClassDataset/ClassEquations.csv"
PUBLISHED = "benchmarking/ClassBenchmark/results/results_summary.csv"
OBJECTS, EACH = 10, 100
OPERATORS = ["--binary", "+,-,*,/", "--unary", "inv,square,sqrt,neg,exp,log,sin,cos"]
MOST_LEFT = 1e-10  # of the variance
FRACTION = re.compile(r"\d*\.\d+")
LITERAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+)(?:e[+-]?\d+)?(?![\w.])")


class Law:
    def __init__(self, row):
        self.number, self.name = int(row["Number"]), row["Name"].strip()
        self.text = row["Formula"]
        self.columns, self.own = [], []  # (name, low, high)
        for k in range(1, int(row["# variables"]) + int(row["# spe"]) + 1):
            kept = self.columns if row[f"v{k}_type"] == "var" else self.own
            kept.append((row[f"v{k}_name"], float(row[f"v{k}_low"]), float(row[f"v{k}_high"])))
        self.constants = len(self.own) + sum(
            float(number) != int(float(number)) for number in FRACTION.findall(self.text))
        self.code = compile(self.text, self.name, "eval")

    def value(self, x, own):
        names = {n: v for (n, _, _), v in zip(self.columns + self.own, [*x, *own])}
        return eval(self.code, {"exp": np.exp, "cos": np.cos, "sqrt": np.sqrt, **names})

    def draw(self, trial, percent):
        """(x, y without noise, y, own constants): objects one after the other, in the order of
        classbench_run.py."""
        rng = np.random.RandomState(trial)
        x, y, constants = [], [], []
        for _ in range(OBJECTS):
            own = [rng.uniform(low, high) for _, low, high in self.own]
            constants.append(own)
            x.append([rng.uniform(low, high, EACH) for _, low, high in self.columns])
            y.append(self.value(x[-1], own))
        noisy = [v + percent / 100 * rng.normal(0, np.sqrt(np.mean(v**2)), EACH) for v in y]
        return np.hstack(x), np.hstack(y), np.hstack(noisy), np.transpose(constants)


def read_laws(checkout):
    with open(os.path.join(checkout, EQUATIONS), encoding="utf-8") as file:
        return [Law(row) for row in csv.DictReader(file, delimiter=";")]


def published(checkout):
    """{(number of the law, percent): share of trials}, with ten objects"""
    with open(os.path.join(checkout, PUBLISHED), encoding="utf-8") as file:
        return {(int(row["i_eq"]) + 1, 100 * float(row["noise"])): float(row["symbolic_solution"])
                for row in csv.DictReader(file) if int(row["n_reals"]) == OBJECTS}


# ---- the judge


class Form:
    """A row of the front with its constants free: shared ones (numbers that are not whole), and
    those of each object."""

    def __init__(self, row):
        self.own = [c["name"].split("[")[0] for c in row.get("category_constants", [])]
        self.first = []

        def free(match):
            number = float(match[0])
            if number == int(number):
                return match[0]
            self.first.append(number)
            return f"shared[{len(self.first) - 1}]"

        text = LITERAL.sub(free, re.sub(r"\bc(\d+)_object\b", r"c\1", row["numpy"]))
        self.count = len(self.first) + len(self.own)
        self.code = compile(text, "form", "eval")
        values = np.array([c["values"] for c in row.get("category_constants", [])])
        self.first = np.concatenate([self.first, values.ravel()])

    def value(self, names, x, constants):
        shared = constants[:self.count - len(self.own)]
        own = constants[len(shared):].reshape(len(self.own), OBJECTS).repeat(EACH, axis=1)
        known = {**dict(zip(names, x)), **dict(zip(self.own, own)), "shared": shared, "np": np}
        return eval(self.code, known) + np.zeros(x.shape[1])


def is_law(row, law, x, y):
    form = Form(row)
    if form.count > law.constants:
        return False
    names = [name for name, _, _ in law.columns]

    def residuals(constants):
        left = form.value(names, x, constants) - y
        return np.where(np.isfinite(left), left, 1e150)

    constants = form.first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(constants):
            constants = least_squares(residuals, constants, method="lm", xtol=1e-14, ftol=1e-14,
                                      gtol=1e-14, max_nfev=100 * (len(constants) + 1)).x
        left = residuals(constants)
    return bool(np.mean(left**2) < MOST_LEFT * np.var(y))


def self_check(laws):
    """Every law is itself, also from constants a tenth off, and is not when a term is added."""
    complaints = []
    for law in laws:
        x, y, _, own = law.draw(0, 0)
        text = re.sub(r"\b(exp|cos|sqrt)\b", r"np.\1", law.text)
        for k, (name, _, _) in enumerate(law.own):
            text = re.sub(rf"\b{name}\b", f"c{k + 1}_object", text)
        row = {"numpy": text, "category_constants": [
            {"name": f"c{k + 1}[object]", "values": 1.1 * values} for k, values in enumerate(own)]}
        if not is_law(row, law, x, y):
            complaints.append(f"{law.name}: is not found to be itself")
        if is_law({**row, "numpy": f"{text} + 0.001*{law.columns[0][0]}"}, law, x, y):
            complaints.append(f"{law.name}: is found to be a law with a term more")
        if is_law({**row, "numpy": f"np.sqrt(3 + ({text})**2)"}, law, x, y):
            complaints.append(f"{law.name}: is found to be another law")
    return complaints


# ---- searches


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("checkout", help="folder of a checkout of PhySO")
    p.add_argument("--noise", default="0,0.1,1,10", help="percent of the rms [%(default)s]")
    p.add_argument("--trials", type=int, default=5, help="tables of each law [%(default)s]")
    p.add_argument("--seconds", type=float, default=10, help="of each search [%(default)s]")
    p.add_argument("--cpu-time", action="store_true",
                   help="seconds of processor time (make build/bench/cpu_clock.so)")
    p.add_argument("--program", default="bin/symreg", help="[%(default)s]")
    p.add_argument("--out", default="bench/results/class_laws.json", help="[%(default)s]")
    p.add_argument("--self-check", action="store_true", help="try the judge on the laws, and end")
    o = p.parse_args()
    o.noise = [float(word) for word in o.noise.split(",")]
    if not set(o.noise) <= {0, 0.1, 1, 10}:
        p.error(f"--noise: expected some of 0, 0.1, 1 and 10, found {o.noise}")
    o.options = "--category object"
    return o


def asked(o):
    at = first_line(f"git -C '{o.checkout}' rev-parse --short HEAD 2>/dev/null", "unknown")
    return {"benchmark": f"PhySO's class benchmark {at}", "rows_of_a_table": OBJECTS * EACH,
            "noise_of": "the rms of an object", "seconds": o.seconds,
            "seconds_are": "processor time" if o.cpu_time else "wall time",
            "options": " ".join([*OPERATORS, o.options]), "rule": DEFAULT_RULE}


def search_law(o, law, trial, percent):
    x, y, noisy, _ = law.draw(trial, percent)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join([*(name for name, _, _ in law.columns), "object", "y"]) + "\n")
            for k, row in enumerate(np.vstack([x, noisy]).T):
                at = f"o{k // EACH}"
                file.write(",".join([*(f"{v:.17g}" for v in row[:-1]), at, f"{row[-1]:.17g}"])
                           + "\n")
        front, seconds, cpu_s = search(o, path, os.path.join(folder, "out"), OPERATORS)
    chosen = next(row for row in front if DEFAULT_RULE in row["selected_by"])
    right = is_law(chosen, law, x, y)
    return {"law": law.name, "number": law.number, "trial": trial, "noise": percent, "right": right,
            "front": right or any(is_law(row, law, x, y) for row in front),
            "formula": chosen["equation"], "seconds": round(seconds, 2), "cpu_s": round(cpu_s, 2)}


def summary(rows, known):
    """Rows as those of bench.h's files; the peer is what was published."""
    made = []
    for noise in sorted({row["noise"] for row in rows}):
        of_noise = [row for row in rows if row["noise"] == noise]
        share = 100 * np.mean([row["right"] for row in of_noise])
        peer = 100 * np.mean([known[row["number"], noise] for row in of_noise])
        made.append({"name": f"{noise:g}% noise: {len(of_noise)} searches",
                     "value": round(share, 1), "unit": "% right",
                     "front": round(100 * np.mean([row["front"] for row in of_noise]), 1),
                     "spread": None, "peer": round(peer, 1),
                     "ratio": round(share / peer, 3) if peer else None})
    return made


def main():
    o = arguments()
    laws, known = read_laws(o.checkout), published(o.checkout)
    if o.self_check:
        complaints = self_check(laws)
        print("\n".join(complaints) or f"self-check: {len(laws)} laws, no complaint")
        return 1 if complaints else 0
    results = open_results(o, asked(o))
    done = {(row["law"], row["trial"], row["noise"]) for row in results["laws"]}
    for trial in range(o.trials):
        for percent in o.noise:
            for law in laws:
                if (law.name, trial, percent) in done:
                    continue
                row = search_law(o, law, trial, percent)
                results["laws"].append(row)
                write_results(o.out, results, summary(results["laws"], known))
                print(f"{law.name:30} {trial} {percent:4g}%  "
                      f"{'right' if row['right'] else 'front' if row['front'] else 'wrong'} "
                      f"{row['cpu_s']:5.1f} s  {row['formula']}", flush=True)
    for row in summary(results["laws"], known):
        print(f"{row['name']}: {row['value']}% right, {row['front']}% on the front, "
              f"published {row['peer']}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
