"""SymbolicRegressor: fits, what is read from a front, PySR's parameters, errors."""

import dataclasses
import importlib.util
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from orrery import SymbolicRegressor
from orrery import _library, _options

PLANETS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "data" / "planets.csv"


def small(**parameters):
    return SymbolicRegressor(**{"niterations": 2, "populations": 2, "enumerate": 500, "maxsize": 9,
                                "n_jobs": 1, "timeout_in_seconds": None, **parameters})


def columns(rows=100, count=3, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2, size=(rows, count))


def column(model, name):
    """Of equations_, with pandas and without."""
    equations = model.equations_
    listed = isinstance(equations, list)
    return [row[name] for row in equations] if listed else list(equations[name])


@pytest.fixture(scope="module")
def product():
    X = columns()
    return small().fit(X, X[:, 0] * X[:, 2] / 2), X


def test_kepler():
    a, T = np.loadtxt(PLANETS, delimiter=",", skiprows=1, usecols=(1, 2)).T
    model = SymbolicRegressor(maxsize=9, niterations=30, model_selection="score")
    model.fit(a[:, None], T, variable_names=["a"])
    assert model.get_best()["equation"] == "(a * sqrt(a))"
    assert np.allclose(model.predict(a[:, None]), a**1.5, rtol=1e-12)


def test_front(product):
    model, X = product
    assert list(model.get_best().keys())[:4] == ["complexity", "loss", "score", "equation"]
    assert (np.diff(column(model, "complexity")) > 0).all()
    assert (np.diff(column(model, "loss")) < 0).all()
    assert model.score(X, X[:, 0] * X[:, 2] / 2) == pytest.approx(1)
    assert model.get_best(0)["complexity"] == 1
    assert model.predict(X[:3], index=0).shape == (3,)
    with pytest.raises(IndexError, match="index"):
        model.get_best(99)


def test_formulas_agree(product):
    """SymPy's form, and the library's evaluation, of every row."""
    sympy = pytest.importorskip("sympy")
    model, X = product
    for i in range(len(model.equations_)):
        formula = sympy.lambdify(sympy.symbols("x0 x1 x2"), model.sympy(i), "numpy")
        expected = formula(*X.T) * np.ones(len(X))
        assert np.allclose(model.predict(X, i), expected, rtol=1e-9)
    assert "<msub><mi>x</mi><mn>0</mn></msub>" in model.mathml()
    assert "x_{0}" in model.latex() and r"\begin{tabular}" in model.latex_table()


def test_presentation(product):
    model, _ = product
    assert "<- " in str(model) and "complexity" in str(model)
    page = model._repr_html_()
    assert "<table>" in page and "<svg" in page and "$" in page
    assert "SymbolicRegressor" in SymbolicRegressor()._repr_html_()


def test_pickle(product):
    model, X = product
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert str(again) == str(model)


def test_pickles_of_other_versions(product, monkeypatch):
    """They say so; parameters that they lack have their defaults."""
    model, X = product
    state = model.__getstate__()
    assert state["_version"] == _library.version() and "_version" not in vars(model)
    assert "_version" not in vars(pickle.loads(pickle.dumps(model)))
    old = {name: value for name, value in state.items()
           if name not in ("_version", "alternatives", "operators", "_alternatives")}
    old["_front"] = [dataclasses.replace(row, covariance=(), mathml="") for row in old["_front"]]
    for given, said in ((old, "an older version"), ({**old, "_version": "7.0"}, "orrery 7.0")):
        read = SymbolicRegressor.__new__(SymbolicRegressor)
        with pytest.warns(UserWarning, match=f"pickle of .*{said}.* is read by"):
            read.__setstate__(given)
        assert read.alternatives == 0 and "alternatives=" not in repr(read)
        assert np.array_equal(read.predict(X), model.predict(X)) and len(read.alternatives_) == 0
        assert read.mathml() == model.mathml()
        with pytest.raises(ValueError, match="older version.*fit again"):
            read.predict_interval(X)
        read.fit(X, X[:, 0])
        assert read.predict_interval(X)
    with pytest.raises(ValueError, match="expected the pickle of an estimator, found list"):
        SymbolicRegressor().__setstate__([])


def test_same_front_for_all_threads():
    X = columns(300)
    y = np.sin(X[:, 0] * X[:, 1]) + X[:, 2] ** 2
    fronts = [str(small(n_jobs=n, niterations=3).fit(X, y)) for n in (1, 2, 7)]
    found = []
    thread = threading.Thread(target=lambda: found.append(str(small(niterations=3).fit(X, y))))
    thread.start()
    thread.join()
    assert len({*fronts, *found}) == 1


def test_layouts():
    """Rows, columns, slices of larger arrays and single precision give the law."""
    whole = np.round(np.random.default_rng(1).uniform(1, 2, size=(200, 40)), 3)
    X = whole[:, ::13]
    y = X[:, 0] * X[:, 1]
    for table in (X, X.copy(), np.asfortranarray(X), X.astype(np.float32), X.tolist()):
        model = small().fit(table, y.astype(getattr(table, "dtype", float)))
        assert sorted(model.get_best()["equation"].strip("()").split(" * ")) == ["x0", "x1"]


def test_many_columns():
    X = columns(300, 100)
    model = small().fit(X, X[:, 77] ** 2 + X[:, 3])
    assert "x77" in str(model)
    assert np.allclose(model.predict(X), X[:, 77] ** 2 + X[:, 3])


def test_names():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(columns(count=2), columns=['mass "kg", all', "exp"])
    model = small().fit(X, X["exp"] * 2, X_units=["kg", "m"], y_units="m")
    assert model.get_best()["equation"] == '(2 * "exp")'
    assert np.allclose(model.predict(X), X["exp"] * 2)
    model = small().fit(X.to_numpy(), X["exp"] * 2, variable_names=["y", "b"])
    assert model.get_best()["equation"] == "(2 * b)"
    with pytest.raises(ValueError, match="variable_names"):
        model.fit(X.to_numpy(), X["exp"], variable_names=["a"])


def test_named_constants():
    X = np.column_stack([1e-27 * (1 + columns(count=1)[:, 0]),
                         299792458 * (0.05 + np.linspace(0, 0.9, len(columns(count=1))))])
    y = X[:, 0] * 299792458**2 / np.sqrt(1 - (X[:, 1] / 299792458)**2)
    model = small(named_constants={"c": None, "k": (2.5, "m")}, elementwise_loss="relative",
                  enumerate=10000, maxsize=20)
    model.fit(X, y, variable_names=["m", "v"], X_units=["kg", "m/s"], y_units="kg*m^2/s^2")
    equation = model.get_best()["equation"]
    assert "c" in equation and "299792458" not in equation
    for again in (model, pickle.loads(pickle.dumps(model))):
        assert np.allclose(again.predict(X), y, rtol=1e-9)
    if importlib.util.find_spec("sympy"):
        assert "89875517873681764" in str(model.sympy())  # c^2
    assert np.allclose(model.numpy()(X), y, rtol=1e-9)
    model.refit(X[:50], y[:50])  # named constants keep their values
    assert "c" in model.get_best()["equation"] and np.allclose(model.predict(X), y, rtol=1e-9)


def test_user_operators():
    X = columns(count=2)
    y = X[:, 0] * np.exp(-X[:, 0]) + X[:, 1]
    model = small(unary_operators=["g(x) = x * exp(-1f0 * x)", "log10"], enumerate=5000).fit(X, y)
    assert "g(x0)" in model.get_best()["equation"]
    again = pickle.loads(pickle.dumps(model))
    assert np.allclose(again.predict(X), y)
    pytest.importorskip("sympy")
    assert str(model.sympy()) == "x0*exp(-x0) + x1"


def test_functions_of_the_plane():
    X = columns(count=2)
    y = 2.5 * np.hypot(X[:, 0], X[:, 1])
    model = small(binary_operators=["+", "*", "hypot"], unary_operators=["ln", "cbrt", "log10"],
                  enumerate=20000, nested_constraints={"ln": {"ln": 0}}).fit(X, y)
    assert "hypot(" in model.get_best()["equation"]
    assert np.allclose(model.predict(X), y)


def test_required_features():
    X = columns(count=3)
    model = small(required_features=["x2"]).fit(X, 2 * X[:, 0] + X[:, 1])
    rows = model.equations_
    found = [r["equation"] for r in rows] if isinstance(rows, list) else list(rows["equation"])
    assert found and all("x2" in equation for equation in found)
    with pytest.raises(ValueError, match='required_features: "x7" is not among'):
        small(required_features=["x7"]).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="required_features: expected a list of names"):
        small(required_features="x2").fit(X, X[:, 0])


def test_alternatives():
    rng = np.random.default_rng(3)
    X = rng.uniform(0.2, 3, size=(60, 2))
    y = X[:, 1] * np.log(1 + X[:, 0]) + rng.normal(0, 0.05, 60)
    model = small(alternatives=3, maxsize=12, niterations=4, populations=6).fit(X, y)
    rows = model.alternatives_
    rows = rows if isinstance(rows, list) else rows.to_dict("records")
    assert rows and list(rows[0]) == ["complexity", "loss", "nats", "equation",
                                      "description_length"]
    sizes = [row["complexity"] for row in rows]
    assert sizes == sorted(sizes) and max(map(sizes.count, sizes)) <= 3
    best = model.get_best()["description_length"]
    for row in rows:
        assert row["nats"] == pytest.approx(row["description_length"] - best) and row["nats"] < 4.01
        assert row["equation"] not in column(model, "equation")
    assert len(pickle.loads(pickle.dumps(model)).alternatives_) == len(rows)
    model.refit(X, y)
    assert len(model.alternatives_) == 0
    assert len(small().fit(X, y).alternatives_) == 0
    with pytest.raises(ValueError, match="^alternatives: expected a whole number from 0 to 20"):
        small(alternatives=21).fit(X, y)
    with pytest.raises((TypeError, ValueError), match="^alternatives: expected"):
        small(alternatives="three").fit(X, y)
    with pytest.raises(ValueError, match="alternatives: not with"):
        small(alternatives=1).fit(X, y, category=np.arange(60) % 3)


def test_template():
    X = columns(count=3)
    y = np.sin(X[:, 0]) / X[:, 1]**2 + 2 * X[:, 2]
    model = small(template="sin(x0)*f(x1) + g(x2)").fit(X, y)
    assert model.get_best()["equation"].startswith("((sin(x0) * ")
    assert np.allclose(model.predict(X), y)
    model = small(template="0.5*f(x0) + h").fit(X, 0.5 * X[:, 0] + 3)
    model.refit(X, 0.5 * X[:, 0] + 4)  # the template's number stays
    assert "(0.5 * " in model.get_best()["equation"]
    assert np.allclose(model.predict(X), 0.5 * X[:, 0] + 4)
    with pytest.raises(ValueError, match=r'^template: f: expected a column .* found "x7"'):
        small(template="f(x7)").fit(X, y)
    with pytest.raises(ValueError, match="template: expected a form as text"):
        small(template=["f(x0)"]).fit(X, y)
    with pytest.raises(TypeError, match="template="):
        small(expression_spec="f(x)")


def test_round_constants():
    X = columns(count=1)
    y = 7 * X[:, 0] + 0.01 * np.random.default_rng(0).normal(size=len(X))
    model = small(round_constants="integers", unary_operators=[], maxsize=3).fit(X, y)
    assert model.get_best()["equation"] in ("(7 * x0)", "(x0 * 7)")
    with pytest.raises(ValueError, match="round_constants: expected one of digits"):
        small(round_constants="whole").fit(X, y)


def test_empty_lists_of_operators():
    """[] is none, and None of binary operators PySR's + - * /; an outer factor is always free."""
    X = columns(count=2)
    y = np.sin(X[:, 0]) + X[:, 1]
    sum_ = small(binary_operators=None, unary_operators=["sin"]).fit(X, y)
    assert sum_.get_best()["equation"] in ("(sin(x0) + x1)", "(x1 + sin(x0))")
    free = re.compile(r"\(?(-?[\d.e-]+ \* )?((sin|g)\()*(x\d|-?[\d.e-]+)\)*")
    for unary, y in ((["sin"], 3 * np.sin(X[:, 0])), (("g(x) = x^2 + 1",), X[:, 1] ** 2 + 1)):
        equations = column(small(binary_operators=[], unary_operators=unary).fit(X, y), "equation")
        assert all(free.fullmatch(equation) for equation in equations)
        assert equations[-1] in ("(3 * sin(x0))", "g(x1)")
    for unary in ([], None):
        with pytest.raises(ValueError, match="^binary_operators, unary_operators: expected at"):
            small(binary_operators=[], unary_operators=unary).fit(X, y)
        sums = small(binary_operators=["+"], unary_operators=unary).fit(X, y)
        assert not re.search("[a-wyz]", "".join(column(sums, "equation")))


def test_weights():
    X = columns(count=1)
    y = np.where(np.arange(100) < 50, 2 * X[:, 0], 100.0)
    model = small().fit(X, y, weights=np.arange(100) < 50)
    assert model.get_best()["equation"] in ("(2 * x0)", "(x0 + x0)")
    with pytest.raises(ValueError, match="weights"):
        model.fit(X, y, weights=-np.ones(100))


def test_constraints_reach_the_search():
    X = columns(count=2)
    y = np.sin(np.cos(X[:, 0])) + X[:, 1]
    free = small(enumerate=20000).fit(X, y)
    assert "sin(cos(x0))" in str(free)
    bound = small(enumerate=20000, nested_constraints={"sin": {"cos": 0}}).fit(X, y)
    assert "sin(cos(" not in str(bound)
    dear = small(complexity_of_variables=3, maxsize=12).fit(X, y)
    assert any("x1" in equation for equation in column(dear, "equation"))
    assert not any("x" in equation and complexity < 3 for equation, complexity in
                   zip(column(dear, "equation"), column(dear, "complexity")))


@pytest.mark.parametrize("given, found", [
    ("L2DistLoss()", "l2"), ("L1DistLoss()", "l1"), ("relative", "relative"),
    ("LPDistLoss{3}()", "abs(p-t)^3"), ("abs(p-t)^1.5", "abs(p-t)^1.5"),
    ("loss(x, y) = abs(x - y)^1.5", "abs(p - t)^1.5"),
    ("(prediction, target) -> (prediction - target)^2", "(p - t)^2"),
    ("f(t, p) = (t .- 1f0*p).^2", "(p - 1e0*t)^2"),
])
def test_losses(given, found):
    assert _options.loss(given) == found
    small().fit(columns(), columns()[:, 0], weights=None).set_params(elementwise_loss=given)


@pytest.mark.parametrize("given", ["LogitDistLoss()", "f(a, b, w) = w * (a - b)^2", "nonsense(p)"])
def test_losses_that_are_refused(given):
    with pytest.raises(ValueError, match="loss"):
        small(elementwise_loss=given).fit(columns(), columns()[:, 0])


# Parameters of PySRRegressor of PySR 2.7.2, and of its from_file().
PYSR = """model_selection binary_operators unary_operators operators expression_spec type_spec
niterations populations population_size max_evals maxsize maxdepth warmup_maxsize_by
timeout_in_seconds constraints nested_constraints elementwise_loss loss_function
loss_function_expression loss_scale complexity_of_operators complexity_of_constants
complexity_of_variables complexity_mapping parsimony dimensional_constraint_penalty
dimensionless_constants_only use_frequency use_frequency_in_tournament adaptive_parsimony_scaling
alpha annealing early_stop_condition ncycles_per_iteration fraction_replaced fraction_replaced_hof
fraction_replaced_guesses weight_add_node weight_insert_node weight_delete_node weight_do_nothing
weight_mutate_constant weight_mutate_operator weight_mutate_feature weight_swap_operands
weight_rotate_tree weight_randomize weight_simplify weight_optimize weight_backsolve mutations
default_mutations crossover_probability skip_mutation_failures migration hof_migration topn
should_simplify should_optimize_constants optimizer_algorithm optimizer_nrestarts
optimizer_f_calls_limit optimize_probability optimizer_iterations perturbation_factor
probability_negate_constant tournament_selection_n tournament_selection_p parallelism procs
cluster_manager heap_size_hint_in_bytes worker_timeout worker_imports batching batch_size fast_cycle
turbo bumper precision autodiff_backend random_state deterministic warm_start guesses verbosity
update_verbosity print_precision progress logger_spec plugins default_plugins input_stream
use_tracing tracing_file run_id output_directory temp_equation_file tempdir delete_tempfiles update
output_jax_format output_torch_format extra_sympy_mappings extra_torch_mappings extra_jax_mappings
denoise select_k_features equation_file run_directory feature_names_in selection_mask
nout""".split()


def test_operators_by_arity():
    X = columns(count=2)
    y = np.sin(X[:, 0]) + X[:, 1]
    model = small(operators={1: ["sin", "g(x) = x^2"], 2: ["+"]}).fit(X, y)
    assert str(model) == str(small(binary_operators=["+"], unary_operators=["sin", "g(x) = x^2"]
                                   ).fit(X, y))
    assert not re.search("[a-wyz]", "".join(column(
        small(operators={2: ("+", "*")}).fit(X, y), "equation")))
    for wrong, said in (({1: "sin"}, "operators: 1: expected a list"), ({3: ["f"]}, "found 3"),
                        ({1: ["%"]}, "operators: 1: expected one of"), (["+"], "a dict of lists"),
                        ({"2": ["+"]}, "found '2'"), ({}, "expected at least")):
        with pytest.raises(ValueError, match=said):
            small(operators=wrong).fit(X, y)
    for name in ("binary_operators", "unary_operators"):
        with pytest.raises(ValueError, match=f"operators: expected no {name} beside it"):
            small(operators={2: ["+"]}, **{name: ["+"]}).fit(X, y)
    small(batching=True, batch_size=None).fit(X, y)


def test_parameters_that_are_refused():
    with pytest.raises(TypeError, match="^[^;]*: leave the columns out of X$"):
        SymbolicRegressor(exclude_features=["x0"])
    with pytest.raises(TypeError, match="did you mean niterations"):
        SymbolicRegressor(niteration=3)
    for name in PYSR:
        if name not in SymbolicRegressor._get_param_names():
            wanted = object()  # what no parameter takes for nothing
            if name in _options.IGNORED or name.startswith("weight_"):
                with pytest.warns(UserWarning, match=f"^SymbolicRegressor: {name}: of PySR's"):
                    SymbolicRegressor(**{name: wanted})
                continue
            with pytest.raises(TypeError, match=f"^SymbolicRegressor: {name} has no meaning here"):
                SymbolicRegressor(**{name: wanted})
    X = columns()
    for name, said in (("Xresampled", "no denoising"),
                       ("complexity_of_variables", "give it to SymbolicRegressor"),
                       ("weight", "unknown parameter weight; did you mean weights")):
        with pytest.raises(TypeError, match=f"^fit: .*{said}"):
            small().fit(X, X[:, 0], **{name: 5})
    for name, value in (("binary_operators", ["%"]), ("unary_operators", "sin"),
                        ("maxsize", 1000), ("niterations", 1.5), ("model_selection", "least"),
                        ("early_stop_condition", "f(l, c) = l < 1"), ("n_jobs", "all"),
                        ("random_state", -1),
                        ("constraints", {"^": "x"}), ("unary_operators", ["f(x, y) = x + y"])):
        with pytest.raises(ValueError, match=name):
            small(**{name: value}).fit(X, X[:, 0])


def test_all_refusals_are_named_at_once():
    """Parameters of PySR: what asks for nothing warns, all else is in one error."""
    with pytest.warns(UserWarning, match="turbo, bumper, parallelism, precision, denoise: of PySR"):
        model = SymbolicRegressor(turbo=True, bumper=True, parallelism="serial", precision=64,
                                  denoise=False)
    assert "turbo" not in model.get_params()
    with pytest.raises(TypeError) as raised:
        SymbolicRegressor(turbo=True, denoise=True, precision=32, niteration=3,
                          loss_function="f(x)")
    for part in ("denoise has no", "precision has no", "unknown parameter niteration",
                 "loss_function has no"):
        assert part in str(raised.value)
    assert "turbo" not in str(raised.value)


def test_the_answer_in_words():
    X = columns(60, 1)
    model = small().fit(X, 3 * X[:, 0]**2 + 0.02 * np.sin(40 * X[:, 0]), variable_names=["a"])
    for text in (str(model), repr(model)):
        last = text.splitlines()[-1]
        assert last.startswith("best: y = ") and last.endswith("; 60 rows)") and "R2 0.9" in last
    assert repr(model).startswith("SymbolicRegressor(")
    assert "best:" not in repr(small()) and str(small()) == repr(small())
    # the formula of the line, read back, predicts what the row predicts
    formula = last.removeprefix("best: y = ").partition("   (")[0]
    again = small(guesses=[formula], niterations=0, maxsize=12).fit(X, model.predict(X),
                                                                    variable_names=["a"])
    assert min(column(again, "loss")) < 1e-20


def test_sigma_test_rows_and_permutations():
    rng = np.random.default_rng(4)
    X = rng.uniform(0.3, 5, (80, 1))
    sigma = rng.uniform(0.01, 0.3, 80)
    y = 2.5 * X[:, 0]**2 + 1 + sigma * rng.normal(size=80)
    model = small(maxsize=9, permutations=3, model_selection="mdl").fit(
        X[:60], y[:60], sigma=sigma[:60], X_test=X[60:], y_test=y[60:])
    front = model.equations_
    chosen = model.get_best()
    rest = y[60:] - model.predict(X[60:])
    assert np.isclose(chosen["test_loss"], np.mean(rest**2))
    assert np.isclose(chosen["test_r2"], 1 - np.sum(rest**2) / np.sum((y[60:] - y[60:].mean())**2))
    assert len(front) > 1 and any("chi^2" in text for text in model.remarks_)
    p = model.permutations_
    assert p["searches"] == 3 and p["p"] == (p["as_good"] + 1) / 4 and p["least_loss"] > 0
    # errors of a mean are those of the sigmas, whatever the residuals are
    mean = small(unary_operators=[], binary_operators=["+"], maxsize=1).fit(X, y, sigma=sigma)
    error = pandas_free(mean.constants())[0]["standard_error"]
    assert np.isclose(error, 1 / np.sqrt(np.sum(1 / sigma**2)))
    for given, said in (({"sigma": -sigma}, "sigma: expected above 0"),
                        ({"sigma": sigma, "weights": sigma}, "expected weights or sigma"),
                        ({"weights": sigma, "sample_weight": sigma}, "expected weights or sample"),
                        ({"X_test": X}, "X_test, y_test: expected both"),
                        ({"sigma": "x"}, "sigma: expected numbers, found 'x'"),
                        ({"weights": "some"}, '"relative" or "equal"')):
        with pytest.raises(ValueError, match=said):
            small().fit(X, y, **given)
    one = small().fit(X, y, weights=1 / sigma**2).equations_
    other = small().fit(X, y, sample_weight=1 / sigma**2).equations_
    assert str(one) == str(other)


def test_targets_that_the_loss_does_not_have_are_refused_in_both_tables() -> None:
    X, y = np.arange(12.0)[:, None], np.arange(1.0, 13.0)
    for bad, rows in ((0, "in row 3 of "), (1, "test: ")):
        tables = [y.copy(), y.copy()]
        tables[bad][2] = 0
        with pytest.raises(ValueError, match=rows) as refused:
            SymbolicRegressor(elementwise_loss="gamma", max_evals=100).fit(
                X, tables[0], X_test=X, y_test=tables[1])
        assert "elementwise_loss gamma: expected targets above 0, found 0" in str(refused.value)


def pandas_free(rows):
    return rows if isinstance(rows, list) else rows.to_dict("records")


def test_weights_are_chosen_as_by_the_program():
    rng = np.random.default_rng(1)
    X = rng.uniform(0.2, 5, (400, 3))
    truth = X[:, 0] * X[:, 1]**2 / (X[:, 1] + X[:, 2])
    y = truth * (1 + 0.03 * rng.normal(size=400))
    model = SymbolicRegressor(max_evals=20000, n_jobs=1).fit(X, y)
    assert any("1 / prediction^2" in text for text in model.remarks_)
    alike = SymbolicRegressor(max_evals=20000, n_jobs=1).fit(X, y, weights="equal")
    assert not any("1 / prediction^2" in text for text in alike.remarks_)
    relative = SymbolicRegressor(max_evals=20000, n_jobs=1).fit(X, y, weights="relative")
    assert np.std(relative.predict(X) / truth - 1) < 0.03


def test_refit_asks_for_formulas_alone():
    """What guided the search is not asked for: guesses, templates, penalties of other columns."""
    X = columns(count=3)
    y = X[:, 0] * X[:, 1]
    other = X * 0.5
    for given, fit in (({"guesses": ["x0*x1+sin(x2)"]}, {}), ({"guesses": ["sqrt(x0-0.4)"]}, {}),
                       ({"template": "f(x0,x1)+g(x2)"}, {}),
                       ({"units_penalty": 1}, {"X_units": ["m", "m", "s"], "y_units": "m^2"})):
        model = small(maxsize=7, **given).fit(X, y, **fit)
        model.refit(other, other[:, 0] * other[:, 1])
        assert np.allclose(model.predict(other), other[:, 0] * other[:, 1])
    model = small(maxsize=9, complexity_of_variables=[3, 1, 1]).fit(X, y)
    best = model.get_best()["complexity"]
    assert model.refit(X, y).get_best()["complexity"] == best == 5
    with pytest.raises(ValueError, match=r"permutations: not with fit\(category"):
        small(permutations=2).fit(X, y, category=np.arange(len(y)) % 2)


def test_noise_of_rows_is_asked_for_again():
    rng = np.random.default_rng(2)
    X = rng.uniform(0.3, 5, (60, 1))
    sigma = 0.05 * X[:, 0]**2
    model = small().fit(X, X[:, 0]**2 + sigma * rng.normal(size=60), sigma=sigma)
    with pytest.raises(ValueError, match="predict_interval: sigma: expected that of the new rows"):
        model.predict_interval(X)
    low, high = model.predict_interval(X, sigma=sigma)
    assert np.all(low < high)


def test_several_targets():
    X = columns(count=3)
    Y = np.column_stack([X[:, 0] * X[:, 1], 2 * X[:, 2]])
    model = small(maxsize=5).fit(X, Y)
    assert len(model.estimators_) == 2 and len(model.equations_) == 2
    assert model.predict(X).shape == Y.shape and np.allclose(model.predict(X), Y)
    assert model.score(X, Y) > 0.999
    for each, y in zip(model.estimators_, Y.T):
        alone = small(maxsize=5).fit(X, y)
        assert str(alone.equations_) == str(each.equations_)
    with pytest.raises(ValueError, match=r"2 targets: use estimators_\[k\]"):
        model.latex()
    assert model.permutations_ is None and model.n_iter_ >= 1 and model.stopped_ is None
    assert model._repr_html_().count("<table") >= 2
    drawn = small(random_state=np.random.RandomState(3))
    drawn.fit(X, Y)
    assert {each.random_state for each in drawn.estimators_} == {
        int(np.random.RandomState(3).randint(2**31))}
    warm = small(maxsize=5, warm_start=True).fit(X, Y).fit(X, Y)
    assert [each._epochs for each in warm.estimators_] == [4, 4]
    one = model.fit(X, Y[:, 0])
    assert one.estimators_ == [one] and one.predict(X).ndim == 1


def test_prices_of_single_columns():
    X = columns(count=2)
    X[:, 1] = X[:, 0] + 1e-3 * np.sin(np.arange(len(X)))
    y = X.mean(axis=1)
    cheap = small(maxsize=3, unary_operators=[], complexity_of_variables=[3, 1]).fit(X, y)
    assert "x1" in cheap.equations_.iloc[-1]["equation"] if hasattr(
        cheap.equations_, "iloc") else True
    first = pandas_free(cheap.equations_)
    assert not any(row["complexity"] < 3 and "x0" in row["equation"] for row in first)
    with pytest.raises(ValueError, match="complexity_of_variables: expected a number, or 2"):
        small(complexity_of_variables=[1]).fit(X, y)


def test_category():
    """One form for all rows, with constants of each category, text or number."""
    rng = np.random.default_rng(11)
    X = rng.uniform(0.3, 5, (150, 2))
    stars = np.array(["vega", "sun", "sirius"])[np.arange(150) % 3]
    mass = {"vega": 2.1, "sun": 1.0, "sirius": 0.7}
    y = np.array([mass[star] for star in stars]) * X[:, 0] / X[:, 1] + 0.5
    model = small(n_jobs=1).fit(X, y, category=stars)
    np.testing.assert_allclose(model.predict(X, category=stars), y, rtol=1e-9)
    chosen = model._rows()[model._index(None)]
    assert "c1[category]" in chosen.equation and "c1_category" in chosen.sympy
    constants = model.category_constants()
    rows = constants if isinstance(constants, list) else constants.to_dict("records")
    assert {row["category"]: round(row["c1[category]"], 6) for row in rows} == mass
    assert all(row["c1[category]_standard_error"] < 1e-9 for row in rows)
    some = np.flatnonzero(stars == "sun")
    np.testing.assert_allclose(model.predict(X[some], category=stars[some]), y[some], rtol=1e-9)
    again = small(n_jobs=2).fit(X, y, category=[{"vega": 7, "sun": 0.5, "sirius": -1}[star]
                                                for star in stars])
    assert [row.loss for row in again._rows()] == [row.loss for row in model._rows()]
    for call, message in ((lambda: model.predict(X), "expected one for each row, found None"),
                          (lambda: model.predict(X[:1], category=["mars"]), "found 'mars'"),
                          (lambda: model.numpy(), "constants of each category"),
                          (lambda: model.refit(X, y), "not after fit"),
                          (lambda: small().fit(X, y, category=stars[:2]), "150 rows"),
                          (lambda: small().fit(X, y, category=[None] * 150), "row 0"),
                          (lambda: small().fit(X, y).predict(X, category=stars), "without one"),
                          (lambda: small().fit(X, y).category_constants(), "without category")):
        with pytest.raises(ValueError, match=message):
            call()


def noise():
    rng = np.random.default_rng(5)
    return rng.normal(size=(2000, 6)), rng.normal(size=2000)


def test_early_stop():
    model = small(niterations=1000, patience=0, early_stop_condition=lambda now: now.epoch >= 1)
    assert model.fit(*noise()).stopped_ == "callback"
    assert model.n_iter_ == 2

    def wrong(now):
        raise ZeroDivisionError("in the function")

    with pytest.raises(ZeroDivisionError):
        model.set_params(early_stop_condition=wrong).fit(*noise())


def test_interrupt():
    """An interrupt after the first epoch: the front so far, and a warning."""
    def interrupt(now):
        if now.epoch == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return False

    model = small(niterations=10**6, patience=0, early_stop_condition=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job ignores it
    try:
        with pytest.warns(RuntimeWarning, match="interrupt") as caught:
            model.fit(*noise())
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught[0].filename == __file__  # else Python shows only the first of a process
    assert model.stopped_ == "interrupt"
    assert len(model.equations_) and model.n_iter_ >= 2


def test_warm_start():
    """Two fits of two epochs are one of four."""
    warm = small(warm_start=True, patience=0)
    warm.fit(*noise())
    assert str(warm.fit(*noise())) == str(small(niterations=4, patience=0).fit(*noise()))


def test_random_state():
    X, y = (a[:200] for a in noise())
    first, again, other = (  # few operators: stages that draw no numbers would find the rows
        str(small(random_state=seed, maxsize=20, enumerate=10,
                  unary_operators=["square"]).fit(X, y)) for seed in (1, 1, 2))
    assert first == again != other
    small(random_state=np.random.RandomState(1)).fit(X[:50], y[:50])


def test_output_directory(tmp_path):
    X = columns()
    model = small(output_directory=tmp_path, run_id="mine").fit(X, X[:, 1])
    lines = (tmp_path / "mine" / "hall_of_fame.csv").read_text().splitlines()
    assert lines[0] == "Complexity,Loss,Equation"
    assert len(lines) == 1 + len(model.equations_)


def test_fork():
    """A search after fork(), where the parent has searched before."""
    X = columns()
    small(n_jobs=2).fit(X, X[:, 0])
    pid = os.fork()
    if pid == 0:
        small(n_jobs=2).fit(X, X[:, 0])
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def test_estimator_battery():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    results = checks.check_estimator(small(maxsize=7, verbosity=0), on_fail=None)
    bad = {r["check_name"]: r["exception"] for r in results if r["status"] not in
           ("passed", "skipped")}
    assert not bad
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {
        "check_array_api_input"}


def test_grid_search():
    selection = pytest.importorskip("sklearn.model_selection")
    X = columns()
    search = selection.GridSearchCV(small(), {"maxsize": [1, 5]}, cv=2, n_jobs=2)
    assert search.fit(X, X[:, 0] * X[:, 1]).best_params_ == {"maxsize": 5}


WITHOUT = """
import sys
for name in ("sklearn", "pandas", "sympy"):
    sys.modules[name] = None
import numpy as np
from orrery import SymbolicRegressor
X = np.random.default_rng(0).uniform(1, 2, (50, 2))
model = SymbolicRegressor(niterations=2, populations=2, enumerate=500, maxsize=5)
for ask in (lambda: model.predict(X), lambda: model.equations_):
    try:
        ask()
    except ValueError as error:
        assert "not fitted" in str(error)
    else:
        sys.exit("no error before fit")
model.set_params(maxsize=7).fit(X, X[:, 0] * X[:, 1])
assert isinstance(model.equations_, list)
assert model.score(X, X[:, 0] * X[:, 1]) == 1
assert "maxsize=7" in repr(model)
for bad in (X[0], X[:, :1], X * np.nan, X + 1j):
    try:
        model.predict(bad)
    except ValueError:
        continue
    sys.exit(f"no error for {bad.shape}")
print(model.get_best()["equation"])
"""


def test_with_numpy_alone():
    out = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert out.stdout.strip() in ("(x0 * x1)", "(x1 * x0)")


def test_import_is_light():
    code = """import sys, numpy, orrery
print([m for m in ("sklearn", "pandas") if m in sys.modules])"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_readme(capsys):
    """The example of README.md runs, and the rules choose what the text below it says."""
    readme = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()
    example, text = readme.partition("```python\n")[2].split("```", 1)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    said = re.search(r"law twice: `(.*?)`, which the default rule \(`(\w+)`\) and `(\w+)` choose,"
                     r"\s+and\s+`(.*?)`, which fits .*? which `(\w+)` and `(\w+)` choose",
                     text, re.DOTALL)
    for formula, rules in ((said[1], {said[2], said[3]}), (said[4], {said[5], said[6]})):
        line = next(line for line in printed.splitlines() if formula in line)
        assert set(line.partition("<- ")[2].split(", ")) == rules, line


def test_targets_between_two_numbers():
    """Rows of which only a limit is known do not draw the slope to it."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 10, (80, 1))
    y = 2.5 * x[:, 0] + 1.2 + rng.normal(0, 0.5, 80)
    low, high = np.where(y > 12, 12, y), np.where(y > 12, np.nan, y)
    model = SymbolicRegressor(max_evals=6000, n_jobs=1, binary_operators=["+", "*"],
                              unary_operators=[])
    model.fit(x, y_low=low, y_high=high)
    at = model.predict([[0.0], [10.0]])
    assert abs(at[0] - 1.2) < 0.6 and abs(at[1] - 26.2) < 1.5
    assert any("noise of standard deviation 0." in remark for remark in model.remarks_)
    for wrong, message in (({"y_low": low}, "expected both"),
                           ({"y": y, "y_low": low, "y_high": high}, "found all"),
                           ({"y_low": low, "y_high": low[:-1]}, "expected 80 numbers"),
                           ({"y_low": low + 1, "y_high": low}, "row 0: expected the low end up to"),
                           ({"y_low": [None, *low[1:]], "y_high": [None, *low[1:]]},
                            "row 0: expected an interval with an end"),
                           ({"y_low": low, "y_high": high, "weights": "relative"}, "not with")):
        with pytest.raises((ValueError, RuntimeError), match=message):
            model.fit(x, **wrong)


def test_the_remark_of_a_loss_without_a_parameter():
    """Of logcosh, which takes none here, no other loss is named."""
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 3, (60, 1))
    y = 2 * x[:, 0] + 1 + 0.1 * rng.standard_t(2, 60)
    for loss, other in (("logcosh", False), ("huber", True)):
        model = SymbolicRegressor(elementwise_loss=loss, max_evals=3000, n_jobs=1).fit(x, y)
        said = [remark for remark in model.remarks_ if remark.startswith("Deviations above")]
        assert said and ("HuberLoss" in said[0]) is other and "--" not in said[0]
