"""How many of NewtonBench's 108 laws bin/symreg finds from a table.

    git clone https://github.com/HKUST-KnowComp/NewtonBench DIR
    python3 bench/newtonbench.py DIR [--cpu-time]    (Python with numpy and mpmath)

NewtonBench (arXiv 2510.07172, MIT) changes laws of twelve fields so that nobody can know them by
heart; there a language model plans experiments and another one judges its law. Here each law is a
table of 1,000 rows, drawn from the ranges from which the benchmark's own evaluation draws its
points (newtonbench_laws.py), without noise and with normal noise of 0.1% of the target's rms. Every
table is given to bin/symreg with the same options; its operators are those of the 108 laws
together. The formula that the default rule chooses is judged by algebra and by values, within the
ranges and ten times wider (newtonbench_judge.py); it is right when it is right both ways.

study/docs/symreg_results.md says what was known of these laws when the engine was made. Results are
written after every search, and the same command resumes where it was stopped.
"""

import argparse
import ast
import datetime
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np

import newtonbench_judge as judge
from newtonbench_laws import DIFFICULTIES, checkout_commit, read_laws

ROWS = 1000
DEFAULT_RULE = "best"
OPERATORS = ["--binary", "+,-,*,/,^",
             "--unary", "inv,square,sqrt,exp,log,sin,cos,tan,asin,acos,atan"]
CPU_CLOCK = "build/bench/cpu_clock.so"
RESULTS = "bench/results/newtonbench.json"


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("checkout", help="folder of a checkout of NewtonBench")
    p.add_argument("--noise", default="0,0.1", help="percent of the target's rms [%(default)s]")
    p.add_argument("--relative-noise", action="store_true",
                   help="noise in percent of each value, as the benchmark's experiments have it")
    p.add_argument("--laws", default="", metavar="TEXT",
                   help="only laws whose name contains one of these, \"m0,hard v1\"")
    p.add_argument("--seconds", type=float, default=10, help="of each search [%(default)s]")
    p.add_argument("--cpu-time", action="store_true",
                   help=f"seconds of processor time ({CPU_CLOCK}), for a loaded machine")
    p.add_argument("--options", default="", help="more options of bin/symreg, between spaces")
    p.add_argument("--program", default="bin/symreg", help="[%(default)s]")
    p.add_argument("--out", default=RESULTS, help="[%(default)s]")
    p.add_argument("--list", action="store_true", help="print laws and ranges, and end")
    p.add_argument("--export", metavar="DIR", help="write the tables into DIR, and end")
    p.add_argument("--undecidable", action="store_true",
                   help="the misses of --out whose formula is shorter than the law and fits the "
                   "noisy table as well, and end")
    p.add_argument("--self-check", action="store_true",
                   help="judge every law against itself written differently and changed, and end")
    o = p.parse_args()
    try:
        o.noise = [float(word) for word in o.noise.split(",")]
    except ValueError:
        p.error(f"--noise: expected numbers between commas, found {o.noise!r}")
    if not all(0 <= percent < 1000 for percent in o.noise):
        p.error(f"--noise: expected percent from 0, found {o.noise}")
    if not o.seconds > 0:
        p.error(f"--seconds: expected more than 0, found {o.seconds:g}")
    searches = not (o.list or o.export or o.self_check or o.undecidable)
    if searches and not os.access(o.program, os.X_OK):
        p.error(f"--program: {o.program} is not there or no program; make builds bin/symreg")
    if searches and o.cpu_time and not os.path.exists(CPU_CLOCK):
        p.error(f"--cpu-time: {CPU_CLOCK} is missing; make {CPU_CLOCK}")
    return o


def generator(law, purpose):
    """A stream for each law, whichever laws are taken."""
    return np.random.default_rng([zlib.crc32(law.name.encode()), zlib.crc32(purpose.encode())])


def noise_unit(y, relative):
    """What percent of noise are percent of."""
    return np.abs(y) if relative else np.sqrt(np.mean(y**2))


def table(law, percent, relative):
    """(rows, columns + 1), the target last; rows and normal numbers are those of every noise."""
    rng = generator(law, "table")
    x = law.draw(rng, ROWS)
    y = np.array([law.value(point) for point in x])
    noise = percent / 100 * noise_unit(y, relative) * rng.standard_normal(len(y))
    return np.column_stack([x, y + noise])


def write_table(law, percent, relative, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(law.columns + ["y"]) + "\n")
        for row in table(law, percent, relative):
            file.write(",".join(f"{value:.17g}" for value in row) + "\n")


def export(laws, o):
    os.makedirs(o.export, exist_ok=True)
    for law in laws:
        for percent in o.noise:
            name = f"{law.name.replace(' ', '_')}_{percent:g}.csv"
            write_table(law, percent, o.relative_noise, os.path.join(o.export, name))
    print(f"{len(laws) * len(o.noise)} tables in {o.export}")


# ---- laws that their noisy table does not tell from a shorter formula


def nodes(text):
    """Columns, constants, operators and functions, each counted as one; powers of 2 and 0.5 are
    functions, and a factor of -1 counts nothing, as signs can be moved to a difference."""
    def count(node):
        below = sum(map(count, ast.iter_child_nodes(node)))
        if isinstance(node, ast.Call):
            return below  # one for its name
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            below -= 2 * (ast.unparse(node.left) in ("-1", "-1.0"))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            below -= ast.unparse(node.right) in ("2", "2.0", "0.5")
        return below + isinstance(node, (ast.BinOp, ast.Name, ast.Constant))

    return count(ast.parse(text.replace("^", "**"), mode="eval"))


def excess(law, formula, percent, relative):
    """chi^2 of the formula on the noisy table less that of the law's own values."""
    noisy = table(law, percent, relative)
    truth = np.array([law.value(point) for point in noisy[:, :-1]])
    found = judge.Formula(formula, law.columns).double(noisy[:, :-1])
    residuals = (np.array([found, truth]) - noisy[:, -1]) / noise_unit(truth, relative)
    return np.subtract(*np.sum((100 / percent * residuals)**2, axis=1))


def undecidable(laws, o):
    """A rule that prefers the shorter of two formulas that fit alike cannot select these laws."""
    results = read_results(o.out)
    if results["noise_of"] != noise_of(o):
        raise SystemExit(f"{o.out}: has noise of {results['noise_of']}, asked is {noise_of(o)}")
    names = {law.name: law for law in laws}
    rows = [row for row in results["laws"] if row["law"] in names and row["noise"] in o.noise]
    noises = sorted({row["noise"] for row in rows} - {0})
    if not noises:
        raise SystemExit(f"{o.out}: has none of these laws with a noise above 0 of {o.noise}")
    for percent in noises:
        of_noise = [row for row in rows if row["noise"] == percent]
        count = 0
        print(f"{percent:g}%{'':29} nodes  law's  chi^2 above the law's, selected formula")
        for row in of_noise:
            if row["right"]:
                continue
            law = names[row["law"]]
            own, of_law = nodes(row["formula"]), nodes(law.text())
            more = excess(law, row["formula"], percent, o.relative_noise)
            count += (hidden := own < of_law and more <= 0)
            print(f"{law.name:32} {own:5} {of_law:6} {more:10.3g}{' *' if hidden else '  '} "
                  f"{row['formula']}")
        print(f"* {count} of {len(of_noise)}: shorter than the law, and no worse on the noisy "
              f"table; {sum(row['right'] for row in of_noise)} are right")


# ---- searches


def search(o, path, folder, operators=OPERATORS):
    """(front, seconds, processor seconds)"""
    command = [o.program, path, "--target", "y", "--seconds", f"{o.seconds:g}", "--threads", "1",
               "--seed", "0", "--quiet", *operators, *o.options.split(), "--out", folder]
    environment = {**os.environ, **({"LD_PRELOAD": CPU_CLOCK} if o.cpu_time else {})}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    with open(os.path.join(folder, "front.json"), encoding="utf-8") as file:
        front = json.load(file)["front"]
    return front, seconds, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def search_law(o, law, percent):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        write_table(law, percent, o.relative_noise, path)
        front, seconds, cpu_s = search(o, path, os.path.join(folder, "out"))
    verdict = judge.Judge(law, generator(law, "judge"))
    chosen = next(row for row in front if DEFAULT_RULE in row["selected_by"])
    said = verdict(chosen["equation"], percent / 100)
    right = said["algebra"] and said["values"]
    others = [row for row in front if row is not chosen]
    on_front = right or any(v["algebra"] and v["values"] for v in
                            (verdict(row["equation"], percent / 100, True) for row in others))
    return {"law": law.name, "domain": law.domain, "difficulty": law.difficulty,
            "version": law.version, "noise": percent, "right": right, "algebra": said["algebra"],
            "values": said["values"], "front": on_front, "formula": chosen["equation"],
            "moved": finite(said["moved"]), "error_inside": finite(said["error_inside"]),
            "error_outside": finite(said["error_outside"]), "seconds": round(seconds, 2),
            "cpu_s": round(cpu_s, 2)}


def finite(value):
    return float(f"{value:.3g}") if np.isfinite(value) else None


# ---- results


def first_line(command, otherwise):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    return (done.stdout.splitlines() or [otherwise])[0].strip()


def noise_of(o):
    return "each value" if o.relative_noise else "the rms"


def read_results(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path}: expected results of this program ({error})") from error


def asked(o):
    """What results of one file must have in common."""
    return {"benchmark": f"NewtonBench {checkout_commit(o.checkout)}", "rows_of_a_table": ROWS,
            "noise_of": noise_of(o),
            "seconds": o.seconds, "seconds_are": "processor time" if o.cpu_time else "wall time",
            "options": " ".join([*OPERATORS, *o.options.split()]), "rule": DEFAULT_RULE}


def open_results(o, asked):
    """Those of o.out; `asked`: what all of a file have in common."""
    results = {"date": datetime.date.today().isoformat(),
               "cpu": first_line("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo", "unknown"),
               "threads": 1,
               "commit": first_line("git describe --always --dirty 2>/dev/null", "unknown"),
               "version": first_line(f"'{o.program}' --version", "unknown"), **asked, "laws": []}
    if not os.path.exists(o.out):
        return results
    before = read_results(o.out)
    for key, value in {**asked, "version": results["version"]}.items():
        if before.get(key) != value:
            raise SystemExit(f"{o.out}: has {key} {before.get(key)!r}, asked is {value!r}; remove "
                             "it, or give another --out")
    return before


def tally(rows, names):
    """{name: {noise: (right, algebra, values, on the front, searches)}}"""
    counts = {}
    for row in rows:
        for name in names(row):
            at = counts.setdefault(name, {}).setdefault(row["noise"], [0] * 5)
            for k, key in enumerate(("right", "algebra", "values", "front")):
                at[k] += row[key]
            at[4] += 1
    return counts


def summary(rows):
    """Rows as those of bench.h's files."""
    def names(row):
        return "all", row["difficulty"], row["domain"]

    return [{"name": f"{name}, {noise:g}% noise: {n[4]} laws", "value": n[0], "unit": "laws right",
             "algebra": n[1], "values": n[2], "front": n[3], "spread": None, "peer": None,
             "ratio": None}
            for name, of_noise in tally(rows, names).items() for noise, n in of_noise.items()]


def write_results(path, results, rows):
    """One law a line; the file is never there in part."""
    results["rows"] = rows
    lines = []
    for key, value in results.items():
        if isinstance(value, list):
            rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value)
            lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    os.replace(path + ".part", path)


def print_summary(rows):
    def names(row):
        return ("all", *(d for d in DIFFICULTIES if d == row["difficulty"]), row["domain"])

    counts = tally(rows, names)
    noises = sorted({row["noise"] for row in rows})
    print("\n%-24s" % "right / algebra / values" + "".join(f"{noise:>22g}%" for noise in noises))
    for name in ("all", *DIFFICULTIES, *(n for n in counts if n not in ("all", *DIFFICULTIES))):
        cells = [counts.get(name, {}).get(noise) for noise in noises]
        print("%-24s" % name + "".join(
            "%23s" % (f"{n[0]} / {n[1]} / {n[2]} of {n[4]}" if n else "") for n in cells))
    for noise in noises:
        of_noise = [row for row in rows if row["noise"] == noise]
        print(f"{noise:g}%: on the front {sum(row['front'] for row in of_noise)}, seconds a search "
              f"{np.mean([row['seconds'] for row in of_noise]):.1f}, of processor time "
              f"{np.mean([row['cpu_s'] for row in of_noise]):.1f}")


def main():
    o = arguments()
    laws = read_laws(o.checkout)
    wanted = [word for word in o.laws.split(",") if word]
    laws = [law for law in laws if not wanted or any(word in law.name for word in wanted)]
    if not laws:
        raise SystemExit(f"--laws: no law's name contains one of {wanted}; see --list")
    if o.list:
        for law in laws:
            print(f"{law.name:32} {law.text()}\n    "
                  + ", ".join(f"{c} {r}" for c, r in zip(law.columns, law.ranges)))
        return 0
    if o.export:
        return export(laws, o)
    if o.undecidable:
        return undecidable(laws, o)
    if o.self_check:
        complaints = judge.self_check(laws)
        print("\n".join(complaints) or f"self-check: {len(laws)} laws, no complaint")
        return 1 if complaints else 0
    results = open_results(o, asked(o))
    done = {(row["law"], row["noise"]) for row in results["laws"]}
    for percent in o.noise:
        for law in laws:
            if (law.name, percent) in done:
                continue
            row = search_law(o, law, percent)
            results["laws"].append(row)
            write_results(o.out, results, summary(results["laws"]))
            verdict = ("right" if row["right"] else "algebra" if row["algebra"] else
                       "values" if row["values"] else "wrong")
            print(f"{law.name:32} {percent:g}%  {verdict:8} {row['cpu_s']:5.1f} s  "
                  f"{row['formula']}", flush=True)
    print_summary(results["laws"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
