"""A table has one answer: SymbolicRegressor gives the front, choice, constants with errors,
alternatives, remarks and tests that bin/symreg writes for the same table, options and seed."""

import json
import math
import os
import pathlib
import subprocess

import numpy as np
import pytest

from orrery import SymbolicRegressor
from orrery import _options

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYMREG = pathlib.Path(os.environ.get("BIN", ROOT / "bin")) / "symreg"
CASES = ROOT / "tests" / "cases"
pytestmark = pytest.mark.skipif(not SYMREG.exists(), reason="no program symreg beside the package")
EVALUATIONS = 6000


def table(kind):
    """Columns by name, the target last."""
    rng = np.random.default_rng(5)
    if kind == "noise":
        x = dict(zip("abc", rng.uniform(0.2, 5, (3, 400))))
        truth = x["a"] * x["b"]**2 / (x["b"] + x["c"])
        return {**x, "y": truth * (1 + 0.03 * rng.normal(size=400))}
    if kind == "gravity":
        x = dict(zip(("m1", "m2", "r"), rng.uniform(0.5, 3, (3, 60))))
        force = 6.6743e-11 * x["m1"] * x["m2"] / x["r"]**2
        return {**x, "F": force * (1 + 0.02 * rng.normal(size=60))}
    if kind == "sigma":
        x, s = rng.uniform(0.2, 5, 60), rng.uniform(0.01, 0.3, 60)
        return {"x": x, "s": s, "y": 2.5 * x**2 + 1 + s * rng.normal(size=60)}
    if kind == "stars":
        star, x = np.arange(90) % 3, rng.uniform(0.2, 5, 90)
        return {"star": star.astype(float), "x": x,
                "y": (1 + star) * x + 2 / x + 0.01 * rng.normal(size=90)}
    names = (CASES / kind).read_text().splitlines()[0].split(",")
    return dict(zip(names, np.loadtxt(CASES / kind, delimiter=",", skiprows=1).T))


def write(path, of):
    """With the digits that the library counts: a zero at the end would be one more."""
    rows = zip(*of.values())
    lines = [",".join(of), *(",".join(repr(float(v)).removesuffix(".0") for v in row)
                             for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def program(folder, of, target, options):
    write(folder / "table.csv", of)
    done = subprocess.run(
        [SYMREG, folder / "table.csv", "--target", target, "--threads", "1", "--evaluations",
         str(EVALUATIONS), "--out", folder / "out", *options],
        capture_output=True, text=True, check=True)
    remarks = [line.removeprefix("remark: ") for line in done.stdout.splitlines()
               if line.startswith("remark: ")]
    return json.loads((folder / "out" / "front.json").read_text()), remarks


def same(ours, theirs):
    if theirs is None or (isinstance(theirs, float) and math.isnan(theirs)):
        assert ours is None or math.isnan(ours) or math.isinf(ours)
    else:
        assert math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=0) or ours == theirs


CASE = {
    "noise that grows": ("noise", [], {}, {}),
    "weights equal": ("noise", ["--weights", "equal"], {}, {"weights": "equal"}),
    "weights relative": ("noise", ["--weights", "relative"], {}, {"weights": "relative"}),
    "named constants, alternatives": (
        "gravity", ["--constants", "G", "--alternatives", "4"],
        {"named_constants": ["G"], "alternatives": 4}, {}),
    "sigma": ("sigma", ["--sigma", "s"], {}, {"sigma": "s"}),
    "sigma_x": ("sigma", ["--sigma", "s", "--sigma-x", "x=0.02"], {},
                {"sigma": "s", "sigma_x": [0.02]}),
    "a column of weights": ("sigma", ["--weights", "s"], {}, {"weights": "s"}),
    "shape": ("noise", ["--monotone", "a=+,c=-", "--positive", "--constrain-constants", "0.5,2"],
              {"monotone": {"a": "+", "c": "-"}, "positive": True, "constant_bounds": (0.5, 2)},
              {}),
    "template": ("noise", ["--template", "f(a,b)/g(b,c)+h", "--constrain-constants", "h>0.5"],
                 {"template": "f(a,b)/g(b,c)+h", "constant_bounds": {"h": (0.5, None)}}, {}),
    "prices": ("noise", ["--complexity", "a=3,b=1,c=2"], {"complexity_of_variables": [3, 1, 2]},
               {}),
    "test": ("noise", ["--test"], {}, {"test": True}),
    "category": ("stars", ["--category", "star"], {}, {"category": "star"}),
    "SI units": ("large/s3_gravity_SI.csv", [], {}, {}),
    "few rows": ("s9_noisy_line_8.csv", [], {}, {}),
    "a line": ("s9_line3x2.csv", [], {}, {}),
    "gravity": ("large/grav6_1.csv", [], {}, {}),
}


@pytest.mark.parametrize("case", CASE)
def test_one_answer(tmp_path, case):
    kind, options, parameters, fit = CASE[case]
    fit = dict(fit)
    of = table(kind)
    of["y"] = of.pop(list(of)[-1])  # as the estimator calls it
    target = "y"
    if "test" in fit:
        options = ["--test", str(tmp_path / "table.csv")]
    front, remarks = program(tmp_path, of, target, options)
    columns = [n for n in of if n not in (target, fit.get("sigma"), fit.get("weights"),
                                          fit.get("category"))]
    X, y = np.column_stack([of[n] for n in columns]), of[target]
    for name in ("sigma", "weights", "category"):
        if fit.get(name) in of:
            fit[name] = of[fit[name]]
    if fit.pop("test", False):
        fit.update(X_test=X, y_test=y)
    if "category" in fit:
        fit["category"] = fit["category"].view(type("Named", (np.ndarray,), {"name": "star"}))
    model = SymbolicRegressor(max_evals=EVALUATIONS, n_jobs=1, **parameters)
    model.fit(X, y, variable_names=columns, **fit)

    assert len(model._front) == len(front["front"])
    for ours, theirs in zip(model._front, front["front"]):
        # (the library's target has a name that no formula uses)
        assert ours.equation == theirs["equation"] and ours.sympy == theirs["sympy"]
        assert ours.complexity == theirs["complexity"] and ours.answer == theirs["answer"]
        for name in ("loss", "score", "description_length", "test_loss", "test_r2"):
            if name in theirs:
                same(getattr(ours, name), theirs[name])
        if "constants" in theirs:
            for a, b in zip(ours.constants, theirs["constants"], strict=True):
                same(a, b)
            for a, b in zip(ours.errors, theirs["standard_errors"], strict=True):
                same(a, b)
    rules = {rule: i for i, row in enumerate(front["front"]) for rule in row["selected_by"]}
    assert model._chosen == rules
    assert [a["equation"] for a in model._alternatives] == [
        a["equation"] for a in front.get("alternatives", [])]
    assert model.remarks_ == [_options.renamed(r) for r in remarks]


@pytest.mark.parametrize("options, parameters", [
    (["--alternatives", "21"], {"alternatives": 21}),
    (["--units-penalty", "3"], {"units_penalty": 3}),
    (["--round-constants", "some"], {"round_constants": "some"}),
    (["--maxdepth", "0"], {"maxdepth": 0}),
    (["--tolerance", "1.5"], {"tolerance": 1.5}),
    (["--complexity", "q=2"], {"complexity_of_operators": {"q": 2}}),
    (["--require", "q"], {"required_features": ["q"]}),
    (["--template", "f(q)"], {"template": "f(q)"}),
    (["--maxsize", "100"], {"maxsize": 100}),
])
def test_one_refusal(tmp_path, options, parameters):
    """Both refuse, in one sentence but for the names of options."""
    of = table("s9_line3x2.csv")
    write(tmp_path / "table.csv", of)
    target = list(of)[-1]
    done = subprocess.run([SYMREG, tmp_path / "table.csv", "--target", target, *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    X = np.column_stack([of[n] for n in list(of)[:-1]])
    with pytest.raises(ValueError) as raised:
        SymbolicRegressor(n_jobs=1, **parameters).fit(X, of[target],
                                                      variable_names=list(of)[:-1])
    said = done.stderr.strip().splitlines()[-1].removeprefix("symreg: error: ")
    said = said.removeprefix(f"{tmp_path}/table.csv: ")
    assert str(raised.value) == _options.renamed(said)
