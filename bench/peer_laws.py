"""A peer in the place of bin/symreg, for bench_symreg_laws (pip install pyoperon gplearn).

    build/bench/bench_symreg_laws --program "python3 bench/peer_laws.py pyoperon" --cpu-time

Prints the front that the peer returns as bin/symreg does, `best` at the formula that its own rule
selects. Operators + - * / sqrt exp log sin cos and what a peer has of 1/x and x^2, up to 30 nodes.
pyoperon: PYOPERON below has members, steps of Levenberg-Marquardt and objectives as environment
variables change them (default: see there). gplearn: 1,000 members. The seconds are those of the
fit.
"""
import os
import re
import sys
import time
import warnings

import numpy as np

from peer_operon import OPERATORS, columns, our_notation

MEMBERS, STEPS = (int(os.environ.get(k, v)) for k, v in (("MEMBERS", 1000), ("STEPS", 5)))
OBJECTIVES = os.environ.get("OBJECTIVES", "r2,length").split(",")


def pyoperon(names, x, y, seconds, seed):
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(
        allowed_symbols=OPERATORS, max_length=30, max_depth=12, objectives=OBJECTIVES,
        optimizer_iterations=STEPS, population_size=MEMBERS, pool_size=MEMBERS, generations=10**6,
        max_evaluations=10**9, max_time=int(seconds), n_threads=1, random_state=seed)
    model.fit(x, y)
    text = [model.get_model_string(entry["tree"], precision=17) for entry in model.pareto_front_]
    chosen = model.get_model_string(model.model_, precision=17)
    return [our_notation(t, names) for t in (text or [chosen])], our_notation(chosen, names)


def infix(text, names):
    """A formula of gplearn, add(X0, mul(X1, 2.0)), as one of symreg."""
    binary = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
    tokens = iter(re.findall(r"[a-z]+(?=\()|X\d+|-?\d[\d.e+-]*", text))

    def formula():
        token = next(tokens)
        if token in binary:
            left = formula()
            return f"({left} {binary[token]} {formula()})"
        if token[0] == "X":
            return names[int(token[1:])]
        return f"{token}({formula()})" if token.isalpha() else f"({token})"

    return formula()


def gplearn(names, x, y, seconds, seed):
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    end = time.monotonic() + seconds
    exp = make_function(function=lambda x: np.exp(np.clip(x, -50, 50)), name="exp", arity=1)
    model = SymbolicRegressor(
        population_size=1000, generations=1, warm_start=True, metric="rmse", n_jobs=1,
        function_set=("add", "sub", "mul", "div", "sqrt", "log", "inv", "sin", "cos", exp),
        parsimony_coefficient=1e-5, stopping_criteria=0, random_state=seed)
    model.fit(x, y)
    while time.monotonic() < end and model._program.raw_fitness_ > 1e-9 * y.std():
        model.set_params(generations=model.generations + 1)
        model.fit(x, y)
    chosen = infix(str(model._program), names)
    return [chosen], chosen


def main():
    learner, path, *options = sys.argv[1:]
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    given = dict(zip(options[::2], options[1::2]))
    names, x, y = columns(path)
    front, chosen = {"pyoperon": pyoperon, "gplearn": gplearn}[learner](
        names, x, y, float(given["--seconds"]), int(given["--seed"]))
    for text in front:
        print(f"  0  0  0  {text}" + ("   <- best" if text == chosen else ""))


if __name__ == "__main__":
    main()
