"""The estimator of python/orrery beside pyoperon and gplearn (pip install pyoperon gplearn), on
twenty generated tables, one thread each, the same seconds: from the start of the process, and from
fit().

    PYTHONPATH=python python3 bench/peer_symreg.py bench/results/symreg_python.json \
        [--seconds 5] [--tables 20] [--learners orrery,pyoperon,gplearn]

A table has 200 rows without noise. A law counts as found where the root mean square error on 1,000
other rows of the same ranges is below 1e-6 of their standard deviation. Every fit is a process of
its own, which ends when its learner reports a loss of about 0: its time to the first right law is
when it ended, from the start of the process. Operators: + - * / sqrt exp log sin cos, 1/x and x^2
where a learner has them. pyoperon: 2,000 members, 10 steps of Levenberg-Marquardt, with which it
finds the most (15 of 20 in 5 s; 11 with 200 members and 5 steps, 13 with 1,000 and 5, 14 with 1,000
and 1), whole seconds. gplearn: 1,000 members. The last part times the same search by the C
library's handle alone and by the estimator.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import time

# name, formula of NumPy, ranges of the columns
LAWS = (
    ("kepler", "a * np.sqrt(a / m)", {"a": (0.3, 30), "m": (0.5, 2)}),
    ("newton", "6.674 * m * M / r**2", {"m": (1, 5), "M": (1, 5), "r": (1, 3)}),
    ("coulomb", "q * p / (12.566 * e * r**2)",
     {"q": (1, 5), "p": (1, 5), "e": (1, 5), "r": (1, 3)}),
    ("pendulum", "6.283 * np.sqrt(l / g)", {"l": (0.1, 2), "g": (1, 20)}),
    ("kinetic", "0.5 * m * (u**2 + v**2)", {"m": (1, 5), "u": (0, 3), "v": (0, 3)}),
    ("gas", "n * 8.314 * t / v", {"n": (1, 5), "t": (200, 400), "v": (1, 5)}),
    ("lens", "1 / (1 / a + n / b)", {"a": (1, 5), "n": (1, 3), "b": (1, 5)}),
    ("decay", "a * np.exp(-0.7 * t)", {"a": (1, 5), "t": (0, 4)}),
    ("oscillation", "a * np.cos(w * t)", {"a": (1, 3), "w": (1, 3), "t": (0, 3)}),
    ("gaussian", "np.exp(-x**2 / 2)", {"x": (-2, 2)}),
    ("escape", "np.sqrt(2 * g * m / r)", {"g": (1, 3), "m": (1, 5), "r": (1, 5)}),
    ("doppler", "f * (1 + v / c)", {"f": (1, 5), "v": (1, 2), "c": (3, 20)}),
    ("snell", "np.sin(x) * n / m", {"x": (0, 1.5), "n": (1, 2), "m": (1, 2)}),
    ("relativity", "m / np.sqrt(1 - v**2)", {"m": (1, 5), "v": (0, 0.9)}),
    ("entropy", "n * np.log(v / w)", {"n": (1, 5), "v": (2, 5), "w": (1, 2)}),
    ("drag", "0.5 * d * v**2 * c * a", {"d": (1, 2), "v": (1, 5), "c": (0.1, 1), "a": (1, 3)}),
    ("parallel", "r * s / (r + s)", {"r": (1, 5), "s": (1, 5)}),
    ("yukawa", "m * np.exp(-r / 2) / r", {"m": (1, 5), "r": (0.5, 4)}),
    ("throw", "v * t - 4.905 * t**2", {"v": (1, 10), "t": (0, 3)}),
    ("wave", "np.sin(x) + 0.5 * np.sin(2 * x)", {"x": (0, 6)}),
)
RIGHT = 1e-6  # of the standard deviation


def table(number, rows, seed):
    import numpy as np

    _, formula, ranges = LAWS[number]
    rng = np.random.default_rng([number, seed])
    X = np.column_stack([rng.uniform(*limits, size=rows) for limits in ranges.values()])
    y = eval(formula, {"np": np}, dict(zip(ranges, X.T)))
    return X, y * np.ones(rows)


# -------------------------------------------------------------------------------- learners


def fit_orrery(X, y, seconds):
    from orrery import SymbolicRegressor

    model = SymbolicRegressor(
        niterations=10**6, timeout_in_seconds=seconds, n_jobs=1, verbosity=0, maxsize=20,
        early_stop_condition=1e-20 * float((y**2).mean()), model_selection="accuracy")
    model.fit(X, y)
    return model.predict


def fit_pyoperon(X, y, seconds):
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(
        allowed_symbols="add,sub,mul,div,square,sqrt,exp,log,sin,cos,constant,variable",
        max_length=20, max_depth=10, objectives=["r2"], optimizer_iterations=10,
        population_size=2000,
        generations=10**6, max_evaluations=10**9, max_time=max(int(seconds), 1), n_threads=1,
        epsilon=1e-14, random_state=0)
    model.fit(X, y)
    return model.predict


def fit_gplearn(X, y, seconds):
    import numpy as np
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    end = time.monotonic() + seconds
    exp = make_function(function=lambda x: np.exp(np.clip(x, -50, 50)), name="exp", arity=1)
    model = SymbolicRegressor(
        population_size=1000, generations=1, warm_start=True, metric="rmse", n_jobs=1,
        function_set=("add", "sub", "mul", "div", "sqrt", "log", "inv", "sin", "cos", exp),
        parsimony_coefficient=1e-5, stopping_criteria=0, random_state=0)
    while True:
        model.fit(X, y)
        if time.monotonic() > end or model._program.raw_fitness_ < 1e-9 * y.std():
            return model.predict
        model.set_params(generations=model.generations + 1)


LEARNERS = {"orrery": fit_orrery, "pyoperon": fit_pyoperon, "gplearn": fit_gplearn}
IMPORTS = {"orrery": "orrery.regressor", "pyoperon": "pyoperon.sklearn",
           "gplearn": "gplearn.genetic"}


def child(learner, number, seconds, counted, started):
    """One fit in a process of its own; seconds count from its start, or from fit()."""
    import importlib
    import warnings

    warnings.simplefilter("ignore")
    import numpy as np

    np.seterr(all="ignore")
    importlib.import_module(IMPORTS[learner])
    X, y = table(number, 200, 1)
    ready = time.time() - started
    left = seconds - ready if counted == "start" else seconds
    predict = LEARNERS[learner](X, y, max(left, 0.5))
    ended = time.time() - started
    test, truth = table(number, 1000, 2)
    guess = np.asarray(predict(test), float).ravel()
    error = float(np.sqrt(np.mean((guess - truth) ** 2)) / truth.std())
    print(json.dumps({"error": error if np.isfinite(error) else None, "ready_s": ready,
                      "ended_s": ended}))


def measure(learner, number, seconds, counted):
    command = [sys.executable, __file__, "--child", learner, str(number), str(seconds), counted,
               repr(time.time())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds * 4 + 120)
    if done.returncode:
        raise SystemExit(f"{learner}, {LAWS[number][0]}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    error = found["error"]
    return {"learner": learner, "table": LAWS[number][0], "counted": counted,
            "right": error is not None and error < RIGHT,
            "r2": 1 - error**2 if error is not None else None, **found}


def overhead(seconds, rounds=5):
    """The share of a fit's time that is not the library's search: the same search twice, in
    processor time, which other work on the machine does not count in."""
    import statistics

    import numpy as np
    from orrery import SymbolicRegressor, _options
    from orrery._search import Search

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 5)), rng.normal(size=1000)
    model = SymbolicRegressor(niterations=1, timeout_in_seconds=None, n_jobs=1, patience=0,
                              verbosity=0, enumerate=20000)
    begun = time.process_time()
    model.fit(X, y)
    each = time.process_time() - begun
    model.set_params(niterations=max(2, round(seconds / each)))
    shares, whole = [], []
    for _ in range(rounds):
        settings = {**_options.settings(model), "seed": "0"}
        begun = time.process_time()
        search = Search(settings)
        search.data(X, y, names=[f"x{i}" for i in range(5)], target="y")
        begun_c = time.process_time()
        search.status("search", 1, _none(), None)
        alone = time.process_time() - begun_c
        begun = time.process_time()
        model.fit(X, y)
        whole.append(time.process_time() - begun)
        shares.append(whole[-1] / alone - 1)
    return {"fit_cpu_s": statistics.median(whole), "share": statistics.median(shares),
            "spread": [min(shares), max(shares)], "rounds": rounds}


def _none():
    from orrery import _library

    return _library.PROGRESS_CALL(0)


def summary(rows, learner, counted):
    import statistics

    mine = [r for r in rows if r["learner"] == learner and r["counted"] == counted]
    right = [r for r in mine if r["right"]]
    return {
        "learner": learner, "counted": counted, "tables": len(mine), "found": len(right),
        "median_r2": statistics.median(-1 if r["r2"] is None else r["r2"] for r in mine),
        "worst_r2": min(-1 if r["r2"] is None else r["r2"] for r in mine),
        "median_start_s": statistics.median(r["ready_s"] for r in mine),
        "median_time_to_law_s": statistics.median(r["ended_s"] for r in right) if right else None}


def machine():
    def output(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout.strip()

    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = (line.split(":")[1].strip() for line in file if line.startswith("model name"))
        cpu = next(models, "")
    return {"date": datetime.date.today().isoformat(), "cpu": cpu, "cores": os.cpu_count(),
            "commit": output("git", "rev-parse", "--short", "HEAD"),
            "load": os.getloadavg()[0]}


def versions(learners):
    from importlib import metadata

    import orrery

    return {name: orrery.__version__ if name == "orrery" else metadata.version(name)
            for name in learners}


def earlier(path, about):
    """Rows of a file that an interrupted call left, of as many seconds and the same versions."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        known = json.load(file)
    same = all(known[key] == about[key] for key in ("seconds", "versions", "cpu"))
    return known["rows"] if same else []


def write(path, result):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def main():
    if sys.argv[1:2] == ["--child"]:
        learner, number, seconds, counted, started = sys.argv[2:]
        child(learner, int(number), float(seconds), counted, float(started))
        return
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", metavar="FILE.json")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--tables", type=int, default=len(LAWS))
    parser.add_argument("--learners", default=",".join(LEARNERS))
    options = parser.parse_args()
    learners = options.learners.split(",")
    about = {**machine(), "seconds": options.seconds, "versions": versions(learners)}
    rows = earlier(options.output, about)
    done = {(r["counted"], r["table"], r["learner"]) for r in rows}
    for counted in ("start", "fit"):
        for number in range(options.tables):
            for learner in learners:
                if (counted, LAWS[number][0], learner) in done:
                    continue
                rows.append(measure(learner, number, options.seconds, counted))
                r = rows[-1]
                write(options.output, {**about, "rows": rows})
                print(f"{counted:5} {r['table']:12} {learner:9} {'right' if r['right'] else '':5} "
                      f"{r['ended_s']:6.2f} s", flush=True)
    table_ = [summary(rows, learner, counted) for counted in ("start", "fit")
              for learner in learners]
    result = {**about, "summary": table_, "overhead_of_the_binding": overhead(2.0), "rows": rows,
              "load_at_the_end": os.getloadavg()[0]}
    write(options.output, result)
    for row in table_:
        print(row)
    print(result["overhead_of_the_binding"])


if __name__ == "__main__":
    main()
