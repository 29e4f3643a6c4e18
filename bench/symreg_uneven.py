"""How often rule best of bin/symreg selects the law where the noise of a table is uneven.

    python3 bench/symreg_uneven.py [--cpu-time]    (Python with numpy, mpmath)

Twelve laws of two to four columns, uniform over 1 to 4; noise whose rms is 3% of the target's:
    even      normal, of one size
    column    normal, its size proportional to a^3
    quarter   normal, five times as large in every fourth row
    student   Student's t with three degrees of freedom
    outlier   normal, and one row a hundred times as far off
Two rules are judged on the same fronts: best as it is, where uneven residuals make rows worth less
and a row at which a formula has a pole is left out (docs/symreg.md, Rules), and best with all rows
counted. A selected formula is the law if it is the simplest of the front whose distance from the
law (rms, without noise) is at most 3 sqrt(10 / rows) of the noise's rms. Where no formula of the
front is so near, no rule is right.
"""

import argparse
import csv
import math
import os
import tempfile

import numpy as np

from newtonbench import CPU_CLOCK, DEFAULT_RULE, search

COLUMNS = "abcd"
LAWS = [
    "a*b/c**2 + d", "a*b/(c*d)", "a*exp(-b/c)", "c*sqrt(a**2 + b**2)", "a*sin(b) + c",
    "a/(1 + b*c)", "a*b*(1 - 1/c)", "c*log(a + b)", "a**2/(2*b) + c*d", "a*cos(b)/c**2",
    "a/b + c**2", "a*(b - c)/d",
]
KINDS = ["even", "column", "quarter", "student", "outlier"]
SHARE = 0.03


def values(text, x):
    names = {name: getattr(np, name) for name in ("sqrt", "exp", "log", "sin", "cos", "square")}
    names |= {name: x[:, k] for k, name in enumerate(COLUMNS)} | {"np": np, "numpy": np}
    with np.errstate(all="ignore"):
        return np.broadcast_to(eval(text, {"__builtins__": {}}, names), len(x)).astype(float)


def noise(kind, x, rng):
    row = np.arange(len(x))
    size = {"column": x[:, 0] ** 3, "quarter": np.where(row % 4 == 0, 5.0, 1.0),
            "outlier": np.where(row == len(x) // 2, 100.0, 1.0)}
    unit = rng.standard_t(3, len(x)) if kind == "student" else rng.standard_normal(len(x))
    unit = unit * size.get(kind, 1.0)
    return unit / np.sqrt(np.mean(unit**2))


def all_rows(front, rows):
    """The row that rule best selects with every row counted (sr_front_correct())."""
    cost = [r["description_length"] - rows / 2 * math.log(r["loss"]) for r in front]
    fair = [math.log(r["loss"]) + 2 * c / rows for r, c in zip(front, cost)]
    close, before, chosen, score = min(math.log(1.5), 8 / rows), 0, None, []
    for i, row in enumerate(front):
        step = row["complexity"] - front[before]["complexity"]
        score.append((fair[before] - fair[i]) / step if step else 0)
        before = i if fair[i] < fair[before] else before
    for i in range(len(front)):
        if fair[i] <= min(fair) + close and (chosen is None or score[i] > score[chosen]):
            chosen = i
    return chosen


def judge(law, kind, rows, o, folder):
    rng = np.random.default_rng([LAWS.index(law), KINDS.index(kind), rows])
    x = rng.uniform(1, 4, (rows, len(COLUMNS)))
    truth = values(law, x)
    size = SHARE * np.sqrt(np.mean(truth**2))
    table = os.path.join(folder, "table.csv")
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, "y"])
        writer.writerows(np.column_stack([x, truth + size * noise(kind, x, rng)]).tolist())
    front, _, _ = search(o, table, os.path.join(folder, "out"), [])
    near = 3 * math.sqrt(10 / rows) * size
    far = [np.sqrt(np.mean((values(r["numpy"], x) - truth) ** 2)) for r in front]
    right = next((i for i, d in enumerate(far) if d <= near), None)
    best = next(i for i, r in enumerate(front) if DEFAULT_RULE in r["selected_by"])
    return right is not None, best == right, all_rows(front, rows) == right


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--program", default="bin/symreg")
    p.add_argument("--rows", default="100,1000,10000")
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--cpu-time", action="store_true",
                   help=f"seconds of processor time ({CPU_CLOCK})")
    o = p.parse_args()
    o.options = "--weights equal"
    if o.cpu_time and not os.path.exists(CPU_CLOCK):
        p.error(f"--cpu-time: {CPU_CLOCK} is missing; make {CPU_CLOCK}")
    print("| noise | rows | laws | on the front | best | best, all rows counted |")
    print("|---" * 6 + "|")
    for kind in KINDS:
        for rows in map(int, o.rows.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                found = [judge(law, kind, rows, o, folder) for law in LAWS]
            sums = " | ".join(str(sum(column)) for column in zip(*found))
            print(f"| {kind} | {rows} | {len(LAWS)} | {sums} |", flush=True)


if __name__ == "__main__":
    main()
