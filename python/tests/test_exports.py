"""Formulas as functions of NumPy, JAX and PyTorch, fronts from files, constants fitted anew."""

import json
import os
import pathlib
import pickle
import shutil
import subprocess

import numpy as np
import pytest

from orrery import SymbolicRegressor, anomalies

SYMREG = pathlib.Path(__file__).resolve().parents[2] / "bin" / "symreg"
# Every operator that the library has, with operators of the user; PySR's file without its index.
PYSR = """Complexity,Loss,Equation
1,2.5,"0.75"
3,1.5,"x0 * -1.5"
5,0.75,"square(x2) ^ 1.5 + inv(x0)"
8,0.25,"exp(x0) - log(x1 + 2.5f0) / sqrt(x2)"
9,0.125,"sin(x0) * cos(x1) + tan(x2) ^ 2"
10,0.0625,"asin(x0 / 9) + acos(x1 / 9) - atan(x2)"
11,0.03125,"sinh(x0) + cosh(x1) * tanh(x2) - sign(x0 - x1)"
12,0.015625,"min(x0, x1) + max(x1, x2) + abs(x0 - 1.25) + neg(cube(x1))"
13,0.0078125,"hypot(x0, x1) * atan2(x1 - 1, x2 - 1) + cbrt(x2 - x0) - ln(x1)"
14,0,"g(x0) + log10(x1) * relu(x2 - 1) + x0 ^ x1"
"""
G = {"unary_operators": ["g(x) = x * exp(-0.5 * x)"]}


def small(**parameters):
    return SymbolicRegressor(**{"niterations": 2, "populations": 2, "enumerate": 500, "maxsize": 9,
                                "n_jobs": 1, "timeout_in_seconds": None, **parameters})


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    path = tmp_path_factory.mktemp("pysr") / "hall_of_fame.csv"
    path.write_text(PYSR)
    return SymbolicRegressor.from_file(path, **G), np.random.default_rng(0).uniform(
        0.5, 2, size=(50, 3))


def expected(X):
    x0, x1, x2 = X.T
    return [
        0.75 + 0 * x0, -1.5 * x0, (x2**2) ** 1.5 + 1 / x0,
        np.exp(x0) - np.log(x1 + 2.5) / np.sqrt(x2), np.sin(x0) * np.cos(x1) + np.tan(x2) ** 2,
        np.arcsin(x0 / 9) + np.arccos(x1 / 9) - np.arctan(x2),
        np.sinh(x0) + np.cosh(x1) * np.tanh(x2) - np.sign(x0 - x1),
        np.minimum(x0, x1) + np.maximum(x1, x2) + abs(x0 - 1.25) - x1**3,
        np.hypot(x0, x1) * np.arctan2(x1 - 1, x2 - 1) + np.cbrt(x2 - x0) - np.log(x1),
        x0 * np.exp(-0.5 * x0) + np.log10(x1) * np.maximum(x2 - 1, 0) + x0**x1]


def test_front_of_pysr(front):
    model, X = front
    equations = model.equations_
    get = (lambda i, k: equations[i][k]) if isinstance(equations, list) else (
        lambda i, k: equations[k][i])
    assert [get(i, "complexity") for i in range(10)] == [1, 3, 5, 8, 9, 10, 11, 12, 13, 14]
    assert get(1, "loss") == 1.5 and get(9, "score") == np.inf
    assert get(1, "score") == pytest.approx(np.log(2.5 / 1.5) / 2)
    assert model.get_best()["complexity"] == 14
    for i, y in enumerate(expected(X)):
        assert np.allclose(model.predict(X, i), y, rtol=1e-12), i
    assert "<- " in str(model) and "$" in model._repr_html_()


def test_numpy(front):
    model, X = front
    for i, y in enumerate(expected(X)):
        formula = model.numpy(i)
        assert np.allclose(formula(X), y, rtol=1e-12), formula.source
        assert formula(X).shape == (50,)
        assert np.array_equal(pickle.loads(pickle.dumps(formula))(X), formula(X))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint32, np.float16, np.float32])
def test_numbers_of_any_type(front, dtype):
    """Whole numbers and short floats do not overflow, and give what predict() gives."""
    model, _ = front
    X = np.array([[100, 120, 90], [3, 2, 1]], dtype)
    for i in (2, 7, 9):
        assert np.allclose(model.numpy(i)(X), model.predict(X, i), rtol=1e-12, equal_nan=True), i
    assert model.numpy(7)(X).dtype == np.float64 and model.numpy(7)(X)[0] < -1e6


def test_operators_with_jumps(tmp_path):
    """Every export has the values of floor, round, mod, greater and cond, also at the jumps."""
    path = tmp_path / "hall_of_fame.csv"
    path.write_text("Complexity,Loss,Equation\n"
                    "9,2,\"floor(x0 * 1.5) + round(x1) - mod(x0, x1)\"\n"
                    "11,1,\"cond(x0 - 1.5, 1 / (x1 - 3))\"\n"  # infinite where x0 is small
                    "12,0,\"greater(x0, x1) * 2.5 + cond(x0 - 1.5, x1) / 2\"\n")
    model = SymbolicRegressor.from_file(path)
    x = np.array([[-3.5, 0.5], [2, 2], [1.5, 1.25], [7, -2], [0.25, 3]])
    X = np.vstack([x, np.random.default_rng(3).uniform(0.5, 4, size=(20, 2))])
    x0, x1 = X.T
    for i, y in enumerate((np.floor(x0 * 1.5) + np.round(x1) - np.mod(x0, x1),
                           np.where(x0 > 1.5, 1 / np.where(x1 == 3, 1, x1 - 3), 0),
                           2.5 * (x0 > x1) + np.where(x0 > 1.5, x1, 0) / 2)):
        assert np.allclose(model.predict(X, i), y, rtol=1e-12, atol=1e-12), i
        assert np.allclose(model.numpy(i)(X), y, rtol=1e-12, atol=1e-12), i
        try:
            import sympy
            found = sympy.lambdify(sympy.symbols("x0 x1"), model.sympy(i), "numpy")(*X[1:].T)
            assert np.allclose(found, y[1:], rtol=1e-9, atol=1e-9), f"SymPy differs at {i}"
        except ImportError:
            pass
        try:
            import torch
            found = model.pytorch(i)(torch.tensor(X)).detach().numpy()
            assert np.allclose(found, y, rtol=1e-9, atol=1e-9), f"PyTorch differs at {i}"
        except ImportError:
            pass


def test_anomalies(tmp_path):
    """Every export has the values of both anomalies, at all eccentricities and through many turns;
    derivatives of torch, JAX and SymPy are those of differences."""
    path = tmp_path / "hall_of_fame.csv"
    path.write_text("Complexity,Loss,Equation\n"
                    "5,1,\"true_anomaly(x0 * 1.5, x1) - x0\"\n"
                    "7,0,\"cos(eccentric_anomaly(x0 + 0.3, x1))\"\n")
    model = SymbolicRegressor.from_file(path)
    draw = np.random.default_rng(6)
    X = np.column_stack([draw.uniform(-20, 20, 200), draw.uniform(0, 0.99, 200)])
    E = anomalies.eccentric_anomaly(X[:, 0], X[:, 1])
    assert np.allclose(E - X[:, 1] * np.sin(E), X[:, 0], rtol=0, atol=1e-13)
    assert np.isnan(anomalies.true_anomaly(1.0, 1.0)) and anomalies.true_anomaly(2.0, 0) == 2
    step = np.array([1e-6, 0])
    for i in range(2):
        y = model.predict(X, i)
        slope = (model.predict(X + step, i) - model.predict(X - step, i)) / 2e-6
        assert np.allclose(model.numpy(i)(X), y, rtol=1e-11, atol=1e-11), i
        try:
            import sympy
            text = model.sympy(i)
            for expected, of in ((y, text), (slope, sympy.diff(text, "x0"))):
                found = sympy.lambdify(sympy.symbols("x0 x1"), of, "numpy")(*X.T)
                assert np.allclose(found, expected, rtol=1e-5, atol=1e-6), f"SymPy differs at {i}"
        except ImportError:
            pass
        try:
            import torch
            x = torch.tensor(X, requires_grad=True)
            found = model.pytorch(i)(x)
            found.sum().backward()
            assert np.allclose(found.detach().numpy(), y, rtol=1e-11, atol=1e-11), i
            assert np.allclose(x.grad[:, 0].numpy(), slope, rtol=1e-5, atol=1e-6), i
        except ImportError:
            pass
        try:
            import jax
            export = model.jax(i)

            def total(X, export=export):
                return export["callable"](X, export["parameters"]).sum()
            assert np.allclose(export["callable"](X, export["parameters"]), y, rtol=1e-3, atol=1e-3)
            assert np.allclose(jax.grad(total)(X)[:, 0], slope, rtol=2e-2, atol=2e-2), i
        except ImportError:
            pass


def test_rows_outside_the_range(tmp_path):
    """Rows beyond the table of the search are found, by a fit and by a front.json."""
    X = np.random.default_rng(4).uniform(1, 2, size=(40, 2))
    model = small(output_directory=str(tmp_path)).fit(X, 3 * X[:, 0])
    new = np.array([[1.5, 1.5], [2.5, 1.5], [0.5, 9], [1.5, 9]])
    assert model.outside(new).tolist() == [False, True, True, False]
    assert pickle.loads(pickle.dumps(model)).outside(new)[1]
    table = tmp_path / "table.csv"
    np.savetxt(table, np.column_stack([X, 3 * X[:, 0]]), delimiter=",", header="a,b,y", comments="")
    subprocess.run([SYMREG, table, "--target", "y", "--threads", "1", "--evaluations", "2000",
                    "--quiet", "--out", tmp_path / "out"], check=True, capture_output=True)
    read = SymbolicRegressor.from_file(tmp_path / "out" / "front.json")
    assert read.outside(new).tolist() == [False, True, True, False]
    whole = tmp_path / "hall_of_fame.csv"
    whole.write_text("Complexity,Loss,Equation\n1,0,x0\n")
    with pytest.raises(ValueError, match="^outside: the ranges of the columns are not known"):
        SymbolicRegressor.from_file(whole, n_features_in=2).outside(new)


def test_tables_of_another_width(front):
    model, X = front
    for wrong in (X[:, :2], np.column_stack([X, X]), X[0]):
        with pytest.raises(ValueError, match=r"^X: expected shape \(n, 3\), found"):
            model.numpy(1)(wrong)


def test_sympy(front):
    sympy = pytest.importorskip("sympy")
    model, X = front
    for i, y in enumerate(expected(X)):
        formula = sympy.lambdify(sympy.symbols("x0 x1 x2"), model.sympy(i), "numpy")
        assert np.allclose(formula(*X.T) * np.ones(50), y, rtol=1e-9), i


def test_jax(front):
    jax = pytest.importorskip("jax")
    model, X = front
    jax.config.update("jax_enable_x64", True)
    for i, y in enumerate(expected(X)):
        formula = model.jax(i)
        call, parameters = jax.jit(formula["callable"]), formula["parameters"]
        assert np.allclose(call(X, parameters), y, rtol=1e-10), formula["callable"].source
    formula = model.jax(1)
    assert list(formula["parameters"]) == [-1.5]
    assert np.allclose(formula["callable"](X, np.array([3.0])), 3 * X[:, 0])
    slope = jax.grad(lambda p: formula["callable"](X, p).sum())(formula["parameters"])
    assert np.allclose(slope, X[:, 0].sum())


def test_jax_in_float32(front, tmp_path):
    """It says so, and whole numbers do not overflow."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", False)
    try:
        model, _ = front
        with pytest.warns(UserWarning, match="float32, with 7 digits.*jax_enable_x64") as caught:
            formula = model.jax(7)
        assert caught[0].filename == __file__
        X = np.array([[100, 120, 90]], np.uint8)
        found = jax.jit(formula["callable"])(X, formula["parameters"])
        assert np.allclose(found, model.predict(X, 7), rtol=1e-6)
        for short in ("float16", "bfloat16"):  # whose 120^3 is inf, and whose 101 is no number
            given = jax.numpy.asarray(X, short)
            found = jax.jit(formula["callable"])(given, formula["parameters"])
            assert found.dtype == "float32", f"{short} is not computed as float32"
            assert np.allclose(found, model.predict(X, 7), rtol=1e-6), f"{short} loses digits"
        with pytest.raises(ValueError, match=r"expected shape \(n, 3\)"):
            formula["callable"](X[:, :2], formula["parameters"])
        path = tmp_path / "hall_of_fame.csv"
        path.write_text("Complexity,Loss,Equation\n3,1,1e300 * x0\n")
        with pytest.warns(UserWarning, match="cannot hold the constant 1e\\+300"):
            SymbolicRegressor.from_file(path).jax()
    finally:
        jax.config.update("jax_enable_x64", True)


def test_pytorch(front):
    torch = pytest.importorskip("torch")
    model, X = front
    for i, y in enumerate(expected(X)):
        formula = model.pytorch(i)
        assert np.allclose(formula(torch.tensor(X)).detach(), y, rtol=1e-10), formula.source
        single = formula(torch.tensor(X, dtype=torch.float32))
        assert single.shape == (50,) and np.allclose(single.detach(), y, rtol=1e-4)
    X8 = torch.tensor([[100, 120, 90]], dtype=torch.uint8)
    assert np.allclose(model.pytorch(7)(X8).detach(), model.predict(X8.numpy(), 7))
    for short in (torch.float16, torch.bfloat16):  # whose 120^3 is inf, or has 3 digits
        found = model.pytorch(7)(X8.to(short)).detach()
        assert found.dtype == torch.float32, f"{short} is not computed as float32"
        assert np.allclose(found, model.predict(X8.numpy(), 7), rtol=1e-6), f"{short} loses digits"
    formula = pickle.loads(pickle.dumps(model.pytorch(1)))
    formula(torch.tensor(X)).sum().backward()
    assert np.allclose(formula.constants.grad, X[:, 0].sum())


def test_names_of_exports():
    """Columns whose names are no names of Python, or those that constants would have."""
    X = np.random.default_rng(0).uniform(0.5, 2, size=(60, 3))
    names = ["m, kg", "exp", "c0"]
    model = small().fit(X, 2.5 * X[:, 0] + X[:, 1] * X[:, 2], variable_names=names)
    assert np.allclose(model.numpy()(X), model.predict(X))
    if pytest.importorskip("torch"):
        import torch

        assert np.allclose(model.pytorch()(torch.tensor(X)).detach(), model.predict(X))


def test_packages_that_are_not_there(front, monkeypatch):
    import sys

    for name in ("jax", "jax.numpy", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    for call, package in ((front[0].jax, "pip install jax"),
                          (front[0].pytorch, "pip install torch")):
        with pytest.raises(ImportError, match=package):
            call()


# ------------------------------------------------------------------------------------ files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the program symreg writes."""
    if not SYMREG.exists():
        pytest.skip("no bin/symreg beside the package")
    work = tmp_path_factory.mktemp("symreg")
    rng = np.random.default_rng(1)
    table = rng.uniform(1, 3, size=(60, 2))
    y = 2.385 * table[:, 0] * np.sqrt(table[:, 1]) + 0.01 * rng.normal(size=60)
    np.savetxt(work / "t.csv", np.column_stack([table, y]), delimiter=",", header="mass,r,y",
               comments="")
    subprocess.run([SYMREG, work / "t.csv", "--target", "y", "--out", work / "out", "--quiet",
                    "--define", "h(x)=x*sqrt(x)", "--set", "symreg.iterations=2",
                    "--set", "symreg.maxsize=9"],
                   check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return work / "out", table, y


def test_intervals_of_a_file(folder):
    """A front that is read predicts as the program does, and has the bounds of constants."""
    path, X, _ = folder
    model = SymbolicRegressor.from_file(path / "front.json")
    printed = subprocess.run([SYMREG, "predict", path / "front.json", path.parent / "t.csv",
                              "--interval", "90"], check=True, capture_output=True,
                             text=True).stdout
    expected = np.array([line.split(",") for line in printed.splitlines()[1:]], float)
    assert printed.startswith("y,low,high\n")
    assert np.allclose(np.transpose(model.predict_interval(X, level=0.9)), expected[:, 1:])
    found = model.constants()
    assert np.all(column(found, "low") < column(found, "value"))
    assert np.all(column(found, "value") < column(found, "high"))
    whole = json.loads((path / "front.json").read_text())["front"]
    row = next(row for row in whole if "best" in row["selected_by"])
    assert row["low_95"] == list(column(found, "low"))


@pytest.mark.parametrize("name", ["", "front.json", "front.csv", "front_full.csv"])
def test_front_of_symreg(folder, name):
    path, X, y = folder
    more = {} if name in ("", "front.json") else {
        "variable_names": ["mass", "r"], "unary_operators": ["h(x) = x*sqrt(x)"]}
    model = SymbolicRegressor.from_file(path / name, **more)
    assert model.variable_names_ == ["mass", "r"]
    assert model.score(X, y) > 0.99
    assert (np.diff([row.loss for row in model._front]) < 0).all()
    if not more:
        assert 0 < model._front[model._index(None)].errors[0] < 0.1


def test_files_that_are_refused(folder, tmp_path):
    path, _, _ = folder
    read = SymbolicRegressor.from_file
    with pytest.raises(FileNotFoundError, match="none.csv"):
        read(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError, match="front.json, front.csv"):
        read(tmp_path)
    with pytest.raises(ValueError, match="front.csv: expected variable_names.*mass"):
        read(path / "front.csv")
    with pytest.raises(ValueError, match="mass among them"):
        read(path / "front.csv", variable_names=["m", "r"])
    for text, message in (
            ("a,b\n1,2\n", "expected the columns"), ("Complexity,Loss,Equation\n", "found none"),
            ("Complexity,Loss,Equation\n1,z,x0\n", "line 2: loss.*'z'"),
            ("Complexity,Loss,Equation\n1,1\n", "line 2: expected 3 cells"),
            ("Complexity,Loss,Equation\n1,1,x0\n2,1,wrong(x0)\n", "line 3: .*wrong")):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(ValueError, match="bad.csv: .*" + message):
            read(tmp_path / "bad.csv")
    (tmp_path / "front.json").write_text("{}")
    with pytest.raises(ValueError, match="front.json: expected"):
        read(tmp_path)
    shutil.copy(path / "front.csv", tmp_path / "good.csv")
    with pytest.raises(ValueError, match="n_features_in: expected at least 3"):
        (tmp_path / "bad.csv").write_text("Complexity,Loss,Equation\n1,1,x2\n")
        read(tmp_path / "bad.csv", n_features_in=2)


def test_old_front_of_pysr(tmp_path):
    (tmp_path / "hof.csv").write_text("Complexity|MSE|Equation\n1|0.5|x1\n")
    model = SymbolicRegressor.from_file(tmp_path / "hof.csv", n_features_in=3)
    assert model.predict([[1, 2, 3]]) == [2]


# ------------------------------------------------------------------------------------ refit


def test_refit():
    rng = np.random.default_rng(3)
    X, other = rng.uniform(1, 3, size=(80, 2)), rng.uniform(1, 3, size=(40, 2))
    model = small(maxsize=12, niterations=4, unary_operators=["k(x) = x * exp(-x)"])
    model.fit(X, 2.5 * X[:, 0] + 7 * X[:, 1])
    copy = pickle.loads(pickle.dumps(model))
    assert copy.refit(other, -0.3 * other[:, 0] + 90 * other[:, 1]) is copy
    assert model.score(X, 2.5 * X[:, 0] + 7 * X[:, 1]) == pytest.approx(1)
    assert copy.score(other, -0.3 * other[:, 0] + 90 * other[:, 1]) == pytest.approx(1, abs=1e-9)


def test_standard_errors(tmp_path):
    """Those of the normal equations. The formula is written (c1 x1) - (c0 x0)."""
    rng = np.random.default_rng(3)
    X = rng.uniform(1, 3, size=(40, 2))
    y = -0.3 * X[:, 0] + 90 * X[:, 1] + 0.01 * rng.normal(size=40)
    (tmp_path / "hof.csv").write_text("Complexity,Loss,Equation\n7,0.5,2 * x0 + 3 * x1\n")
    model = SymbolicRegressor.from_file(tmp_path / "hof.csv").refit(X, y)
    found = model.constants()
    values, errors = ([row[key] for row in found] if isinstance(found, list) else list(found[key])
                      for key in ("value", "standard_error"))
    exact, residual = np.linalg.lstsq(X, y, rcond=None)[:2]
    assert np.allclose(values, [exact[1], -exact[0]], rtol=1e-3)
    expected = np.sqrt(np.diag(np.linalg.inv(X.T @ X)) * residual[0] / 38)
    assert np.allclose(errors, expected[::-1], rtol=1e-2)


def a_line(tmp_path):
    """Noise of 0.1 about 2 x + 1, its fit, and the covariance by the normal equations."""
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 4, size=(40, 1))
    y = 2 * X[:, 0] + 1 + 0.1 * rng.normal(size=40)
    (tmp_path / "hof.csv").write_text("Complexity,Loss,Equation\n5,0.5,1.5 * x0 + 1.5\n")
    model = SymbolicRegressor.from_file(tmp_path / "hof.csv").refit(X, y)
    design = np.column_stack([X[:, 0], np.ones(40)])
    (b, a), residual = np.linalg.lstsq(design, y, rcond=None)[:2]
    return model, a, b, residual[0] / 38 * np.linalg.inv(design.T @ design), residual[0] / 38


def column(table, key):
    return np.array([row[key] for row in table] if isinstance(table, list) else list(table[key]))


STUDENT = 2.024394164  # 97.5% of 38 degrees of freedom


def test_profile_intervals(tmp_path):
    """Student's, of a line that is written as x0 / (1 / b) + a."""
    model, a, b, covariance, _ = a_line(tmp_path)
    assert "/" in model.get_best()["equation"]
    reach = STUDENT * np.sqrt(np.diag(covariance))
    found = model.constants()
    assert np.allclose(column(found, "low"), [1 / (b + reach[0]), a - reach[1]], rtol=1e-4)
    assert np.allclose(column(found, "high"), [1 / (b - reach[0]), a + reach[1]], rtol=1e-4)
    again = pickle.loads(pickle.dumps(model)).constants()
    assert np.array_equal(column(again, "low"), column(found, "low"))


def test_predict_interval(tmp_path):
    model, a, b, covariance, s2 = a_line(tmp_path)
    X = np.array([[0.0], [2.0], [10.0]])
    design = np.column_stack([X[:, 0], np.ones(3)])
    mean = np.einsum("ia,ab,ib->i", design, covariance, design)
    for sigma, noise in ((None, s2), (0, 0), ([0.1, 0.2, 0.3], np.array([0.01, 0.04, 0.09]))):
        low, high = model.predict_interval(X, sigma=sigma)
        assert np.allclose((high - low) / 2, STUDENT * np.sqrt(mean + noise), rtol=1e-3)
        assert np.allclose((high + low) / 2, model.predict(X))
    low, high = model.predict_interval(X, level=0.5)
    assert np.all(high - low < 0.4 * np.subtract(*model.predict_interval(X)[::-1]))


def test_predict_interval_is_checked(tmp_path):
    model = a_line(tmp_path)[0]
    X = np.zeros((3, 1))
    for level in (95, 0, 1, "0.9", float("nan")):
        with pytest.raises(ValueError, match="level: expected"):
            model.predict_interval(X, level=level)
    for sigma in ([1, 2], "one", [[1], [2], [3]], -1, -1e-300, [1, 2, -3], [0, 0, float("nan")]):
        with pytest.raises(ValueError, match="sigma: expected"):
            model.predict_interval(X, sigma=sigma)
    unknown = SymbolicRegressor.from_file(tmp_path / "hof.csv")
    with pytest.raises(ValueError, match="least squares"):
        unknown.predict_interval(X)


def test_refit_of_a_file(tmp_path):
    (tmp_path / "hof.csv").write_text("Complexity,Loss,Equation\n3,0.5,x0 * 1.0\n"
                                      "5,0.4,cos(x0 * 3.1)\n")
    X = np.linspace(1, 2, 50)[:, None]
    model = SymbolicRegressor.from_file(tmp_path / "hof.csv").refit(X, 3.25 * X[:, 0])
    assert model.get_best()["equation"] in ("(x0 * 3.25)", "(3.25 * x0)")


def test_refit_is_checked():
    X = np.random.default_rng(0).uniform(1, 2, size=(30, 2))
    with pytest.raises(ValueError, match="not fitted"):
        small().refit(X, X[:, 0])
    model = small().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="2 features"):
        model.refit(X[:, :1], X[:, 0])
    with pytest.raises(ValueError, match="inconsistent"):
        model.refit(X, X[:9, 0])


def test_set_output():
    """In a pipeline whose steps give DataFrames, formulas have the columns' names."""
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).uniform(1, 2, size=(60, 2)), columns=["m", "r"])
    line = pipeline.make_pipeline(preprocessing.MinMaxScaler(), small())
    line.set_output(transform="pandas").fit(X, X["m"] * 3)
    assert isinstance(line.predict(X), np.ndarray)
    assert "m" in line[-1].get_best()["equation"]
    assert list(line[-1].feature_names_in_) == ["m", "r"]
