"""Motion() finds, evaluates and solves equations of motion; force_law() finds Newton's law."""

import itertools
import json
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import orrery
from orrery._estimator import NotFittedError, clone
from orrery._export import numbers_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYMREG = ROOT / "bin" / "symreg"

if not SYMREG.exists():
    pytest.skip("no programs in bin/ beside the package", allow_module_level=True)

QUICK = {"seconds": 2, "n_jobs": 1, "unary_operators": []}


def solved(rhs, x0, t):
    """The solution at times t by the classical method of Runge and Kutta, 20 steps a row."""
    rows = [np.array(x0, float)]
    for a, b in itertools.pairwise(t):
        x, h = rows[-1], (b - a) / 20
        for i in range(20):
            s = a + i * h
            k1 = rhs(s, x)
            k2 = rhs(s + h / 2, x + h / 2 * k1)
            k3 = rhs(s + h / 2, x + h / 2 * k2)
            k4 = rhs(s + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        rows.append(x)
    return np.array(rows)


def prey(t, x):
    return np.array([x[0] * (1.1 - 0.4 * x[1]), x[1] * (0.1 * x[0] - 0.4)])


T = np.linspace(0, 15, 90)
TRACK = solved(prey, [10, 5], T)
OTHER = solved(prey, [6, 2], T[:40])


def force(t):
    return np.sin(1.3 * t) + 0.5 * np.sin(3.1 * t + 1)


INPUT = force(T)
SPRING = solved(lambda t, x: np.array([x[1], 2 * np.interp(t, T, INPUT) - 4 * x[0] - 0.3 * x[1]]),
                [1, 0], T)


@pytest.fixture(scope="module")
def model():
    return orrery.Motion(**QUICK).fit([T, T[:40]], [TRACK, OTHER])


@pytest.fixture(scope="module")
def spring():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"day": T, "my x": SPRING[:, 0], "u": INPUT, "run": "one"})
    fit = orrery.Motion(order=2, units={"my x": "m", "day": "s", "u": "m"}, **QUICK)
    return fit.fit("day", frame, u="u", track="run")


def test_equations_are_those_of_the_system(model, capsys):
    assert len(model.equations_) == 2 and list(model.feature_names_in_) == ["x0", "x1"]
    x = np.array([[3.7, 1.3], [8.1, 3.2], [12.3, 0.7]])
    truth = prey(0, x.T).T
    assert np.allclose(model.predict(x), truth, rtol=1e-3, atol=1e-4)
    assert np.allclose([model.to_python()(0, row) for row in x], model.predict(x), rtol=1e-13)
    assert "def rhs(" in model.to_python().source and "x_{0}" in model.latex()[0]
    for numbers, errors, bounds, text in zip(model.constants_, model.standard_errors_,
                                             model.intervals_, model.equations_):
        assert len(numbers) == len(errors) == len(bounds) > 0 and bounds.shape[1] == 2
        assert np.allclose(np.abs(numbers), np.abs(numbers_of(text)), rtol=1e-9)
    assert all(of["change"] < 0.01 for of in model.conserved_)
    assert model.conserved_ and "log(x0)" in model.conserved_[0]["formula"]
    model.print()
    printed = capsys.readouterr().out
    assert "dx0/dt = " in printed and "dx1/dt = " in printed and "+-" in printed
    assert printed.startswith("equations") and "complexity" in model.text_


def test_solutions_and_score(model):
    t = np.linspace(0, 4, 9)
    truth = solved(prey, [7, 3], t)
    found = model.simulate([7, 3], t)
    assert found.shape == (9, 2) and np.allclose(found, truth, atol=1e-2)
    assert np.array_equal(model.simulate({"x1": 3, "x0": 7}, t), found)
    rates = prey(0, TRACK.T).T
    assert model.score(T, TRACK, rates) > 0.99999
    assert 0.9 < model.score([T, T[:40]], [TRACK, OTHER]) < model.score(T, TRACK, rates)
    assert model.score(T, TRACK, rates[:, ::-1]) < 0


def test_the_numbers_are_those_of_the_program(model, tmp_path):
    table = tmp_path / "tracks.csv"
    rows = np.vstack([np.c_[T, TRACK, 0 * T], np.c_[T[:40], OTHER, 1 + 0 * T[:40]]])
    table.write_text("t,x0,x1,k\n" + "".join(",".join(map(repr, row)) + "\n"
                                            for row in rows.tolist()))
    subprocess.run([SYMREG, "motion", table, "--time", "t", "--state", "x0,x1", "--track", "k",
                    "--seconds", "2", "--threads", "1", "--unary", "", "--out", tmp_path / "out",
                    "--quiet"], check=True, capture_output=True)
    answer = json.loads((tmp_path / "out" / "equations.json").read_text())
    assert np.allclose(answer["noise"], model.noise_, rtol=1e-9)  # (the search ends by the clock)


def test_accelerations_inputs_and_names_of_a_table(spring):
    assert list(spring.feature_names_in_) == ["my x"] and spring.input_names_ == ["u"]
    assert spring.velocity_names_ == ["v_my x"]
    state, inputs = np.array([[0.3, -1.2], [-0.8, 0.4]]), np.array([0.9, -0.5])
    truth = 2 * inputs - 4 * state[:, 0] - 0.3 * state[:, 1]
    assert np.allclose(spring.predict(state, u=inputs)[:, 0], truth, rtol=1e-2)
    assert np.allclose(spring.simulate([1, 0], T[:30], u=INPUT[:30]), SPRING[:30], atol=1e-2)
    assert spring.score(T, SPRING[:, :1], u=INPUT) > 0.8
    rate = 2 * INPUT - 4 * SPRING[:, 0] - 0.3 * SPRING[:, 1]
    named = pytest.importorskip("pandas").DataFrame({"a rate": rate})
    assert spring.score(T, SPRING[:, :1], named, u=INPUT) > 0.8
    with pytest.raises(ValueError, match=r"X: expected shape \(n, 1\), of my x, found \(90, 2\)"):
        spring.score(T, SPRING, u=INPUT)
    with pytest.raises(ValueError, match="u: expected the columns u, found none"):
        spring.predict(state)
    with pytest.raises(ValueError, match="u: expected shape \\(2, 1\\), of u, found \\(3, 1\\)"):
        spring.predict(state, u=[1, 2, 3])
    with pytest.raises(ValueError, match="x0: expected 2 finite numbers, of my x, v_my x, found"):
        spring.simulate([1], T)


def test_the_time_in_equations():
    t = np.linspace(0, 6, 60)
    model = orrery.Motion(explicit_time=True, random_state=3, maxsize=9, **QUICK)
    model.fit(0.1016949152542373, 3 + t**2 - 0.7 * t)
    assert np.allclose(model.predict(np.ones(4), t=[1, 2, 3, 4])[:, 0], [1.3, 3.3, 5.3, 7.3], 1e-2)
    assert model.predict([1], t=3)[0, 0] == model.predict([1], t=[3])[0, 0] > 5
    assert model.simulate([3], [0, 2])[1, 0] == pytest.approx(5.6, rel=1e-2)
    with pytest.raises(ValueError, match="t: expected times, as the equations may contain"):
        model.predict(np.ones(4))


RATES = {"a": 0.4, "b": 0.9, "c": 1.7}


@pytest.fixture(scope="module")
def decays():
    times = np.linspace(0, 4, 50)
    tracks = [(2 + k) * np.exp(-rate * times)[:, None] for k, rate in enumerate(RATES.values())]
    return orrery.Motion(**QUICK).fit(times, tracks, category=[*RATES]), times, tracks


def test_constants_of_each_category(decays, tmp_path):
    found, times, tracks = decays
    assert "c1[category]" in found.equations_[0]  # (c1 x or x / c1)
    assert found.categories_ == [*RATES]
    assert [*found.category_constants_["c1[category]"]] == [*RATES]
    assert found.category_standard_errors_["c1[category]"]["b"] < 1e-3
    assert found.predict([[2.0], [3.0]], category=["c", "a"]).ravel() == pytest.approx(
        [-3.4, -1.2], rel=1e-4)
    assert found.predict([[2.0], [3.0]], category="b").ravel() == pytest.approx([-1.8, -2.7],
                                                                               rel=1e-4)
    assert found.simulate([5.0], times, category="b").ravel() == pytest.approx(
        5 * np.exp(-0.9 * times), rel=1e-4)
    assert found.score(times, tracks, category=[*RATES]) > 0.999
    assert found.to_python()(0, [2.0], category_="c") == pytest.approx([-3.4], rel=1e-4)
    found.save(tmp_path / "decays.json")
    read = orrery.Motion.from_file(tmp_path / "decays.json")
    assert read.category_constants_ == found.category_constants_
    assert read.to_python()(0, [2.0], category_="c") == pytest.approx([-3.4], rel=1e-4)


def test_categories_by_columns_of_a_table(decays):
    pandas = pytest.importorskip("pandas")
    _, times, tracks = decays
    table = pandas.DataFrame({"t": np.tile(times, 3), "x": np.concatenate(tracks).ravel(),
                              "run": np.repeat([*RATES], len(times))})
    found = orrery.Motion(**QUICK).fit("t", table, track="run", category="run")
    assert "c1[run]" in found.equations_[0]
    assert found.predict([[2.0]], category="c").ravel() == pytest.approx([-3.4], rel=1e-4)


def test_wrong_categories(decays, model):
    found, times, tracks = decays
    for call, message in (
            (lambda: found.predict([[2.0]]), "category: expected one of 'a', 'b', 'c', found none"),
            (lambda: found.predict([[2.0]], category="d"), "row 0: expected one of .* found 'd'"),
            (lambda: found.simulate([2.0], times), "category: expected one of .*, found none"),
            (lambda: model.predict([[2.0, 1.0]], category="a"), "category: expected none"),
            (lambda: orrery.Motion().fit(times, tracks, category=["a"]),
             "category: expected one value for each of 3 tracks")):
        with pytest.raises(ValueError, match=message):
            call()


def test_files(spring, tmp_path):
    path = tmp_path / "spring.json"
    spring.save(path)
    again = orrery.Motion.from_file(path)
    assert (again.order, again.equations_, again.input_names_) == (2, spring.equations_, ["u"])
    assert str(again) == f"d2my x/dday2 = {spring.equations_[0]}"
    state = SPRING[10:12]
    found = spring.predict(state, u=INPUT[10:12])
    assert np.array_equal(again.predict(state, u=INPUT[10:12]), found)
    for made in again.to_python(), spring.to_python():
        assert made(0, state[0], INPUT[10:11]) == pytest.approx([state[0, 1], found[0, 0]], 1e-12)
    assert np.array_equal(again.simulate([1, 0], T[:9], u=INPUT[:9]),
                          spring.simulate([1, 0], T[:9], u=INPUT[:9]))
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"spring.json: expected 'equations', found none"):
        orrery.Motion.from_file(path)
    with pytest.raises(FileNotFoundError, match="none.json: expected a file, found none"):
        orrery.Motion.from_file(tmp_path / "none.json")


def test_a_table_that_the_program_reads(tmp_path):
    path = tmp_path / "decay.csv"
    path.write_text("# a decay\nday,run,x\n" + "".join(
        f"{day},{run},{start * np.exp(-0.25 * day):.12g}\n"
        for run, start in (("a", 5), ("b", 3)) for day in range(1, 31)))
    model = orrery.Motion(**QUICK).fit_file(path, "day", ["x"], track="run")
    assert model.predict([[2.0]])[0, 0] == pytest.approx(-0.5, rel=1e-3)
    with pytest.raises(ValueError, match=r"decay.csv: no column \"y\""):
        orrery.Motion(**QUICK).fit_file(path, "day", ["y"])
    with pytest.raises(ValueError, match=r"decay.csv:33: column \"day\": expected a time after"):
        orrery.Motion(**QUICK).fit_file(path, "day", ["x"])
    with pytest.raises(ValueError, match="expected names of columns, found 3"):
        orrery.Motion(**QUICK).fit_file(path, "day", [3])


def test_habits_of_scikit_learn(model):
    twin = clone(model)
    assert twin.get_params() == model.get_params() and not hasattr(twin, "equations_")
    assert twin.set_params(seconds=5).seconds == 5
    again = pickle.loads(pickle.dumps(model))
    assert again.equations_ == model.equations_
    assert np.array_equal(again.predict(TRACK), model.predict(TRACK))
    for call in (twin.print, twin.latex, twin.to_python, lambda: twin.predict(TRACK),
                 lambda: twin.simulate([1, 1], T), lambda: twin.score(T, TRACK)):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()


@pytest.mark.parametrize("arguments, message", [
    ((T[:-1], TRACK), "t: expected 90 times, as X has rows, found 89"),
    ((TRACK, T), r"t: expected times of shape \(n,\), found \(90, 2\): fit\(t, X\) has the times"),
    ((T[::-1], TRACK), "t: row 1: expected times that rise, found 14.8315 after 15"),
    ((-1, TRACK), "t: expected times, or a step above 0, found -1.0"),
    ((T, np.where(TRACK == TRACK[7, 1], np.nan, TRACK)),
     "X: row 7, column 'x1': expected a finite number, found nan"),
    ((np.r_[T[:-1], np.inf], TRACK), "t: row 89, column 't': expected a finite number, found inf"),
    (("day", TRACK), "t: expected a column of X, found 'day'; its columns are without names"),
    (([T, T[:39]], [TRACK, OTHER]), "track 1: t: expected 40 times, as X has rows, found 39"),
    ((T, None), "X: expected numbers, found None"),
    ((T, np.stack([TRACK, TRACK])), r"found \(2, 90, 2\); tracks are a list of such arrays"),
    (([T], [TRACK, OTHER]), "t: expected 2 tracks, as X has, found 1"),
    (([T, T[:40]], [TRACK, OTHER[:, :1]]), "track 1: X: expected the columns x0, x1, found x0"),
    ((T[:5], TRACK[:5]), "tracks:6: expected at least 8 rows, found 5"),
])
def test_bad_tracks(arguments, message):
    with pytest.raises(ValueError, match=message):
        orrery.Motion(**QUICK).fit(*arguments)


@pytest.mark.parametrize("parameters, more, message", [
    ({"order": 3}, {}, "order: expected a whole number from 1 to 2, found 3"),
    ({"seconds": "2"}, {}, "seconds: expected a number, found '2'"),
    ({"unary_operators": "sin"}, {}, "unary_operators: expected a list of names, found 'sin'"),
    ({"unary_operators": [1]}, {}, r"unary_operators: expected a list of names, found \[1\]"),
    ({"unary_operators": ["sine"]}, {}, "sine"),
    ({"units": "x0=m"}, {}, "units: expected a dict"),
    ({"units": {"z": "m"}}, {}, "z"),
    ({}, {"track": [1, 2]}, "track: expected 90 values, as X has rows, found 2"),
    ({}, {"track": [None] * 90}, "track: row 0: expected a name or a number, found None"),
    ({}, {"u": T[:3]}, "u: expected 90 rows, as X has, found 3"),
    ({"programs": "/nowhere"}, {}, "expected orrery or symreg"),
])
def test_bad_parameters(parameters, more, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        orrery.Motion(**{**QUICK, **parameters}).fit(T, TRACK, **more)


def test_bad_tables_and_states(model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": T, "a": TRACK[:, 0], "b": TRACK[:, 1]})
    with pytest.raises(ValueError, match="t: expected a column of X, found 'time'; its columns are "
                                         "t, a, b"):
        orrery.Motion().fit("time", frame)
    with pytest.raises(ValueError, match="X: expected names of states and inputs that differ"):
        orrery.Motion().fit(T, frame)
    with pytest.raises(ValueError, match=r"X: expected shape \(n, 2\), of x0, x1, found \(90, 1\)"):
        model.predict(TRACK[:, :1])
    with pytest.raises(ValueError, match="x0: row 0: expected a number, found"):
        model.simulate("start", T)
    with pytest.raises(ValueError, match="x0: expected x0, x1, found x0, y"):
        model.simulate({"x0": 1, "y": 2}, T)
    with pytest.raises(ValueError, match="t: row 2: expected times that rise, found 1 after 1"):
        model.simulate([1, 2], [0, 1, 1])
    with pytest.raises(ValueError, match="u: expected none, as the equations have no inputs"):
        model.simulate([1, 2], [0, 1], u=[1, 1])


def test_names_of_series_and_columns_without_names():
    pandas = pytest.importorskip("pandas")
    wave = np.cos(T)
    some = {**QUICK, "seconds": 0.2}
    fit = orrery.Motion(order=2, **some).fit([T, T], [pandas.Series(wave, name="angle")] * 2)
    assert list(fit.feature_names_in_) == ["angle"] and fit.velocity_names_ == ["v_angle"]
    assert np.allclose(fit.predict([[0.5, 0.1]]), [[-0.5]], rtol=1e-3)
    fit = orrery.Motion(**some).fit(T, pandas.DataFrame(np.c_[wave, -np.sin(T)]))
    assert list(fit.feature_names_in_) == ["x0", "x1"]


def test_newton_of_the_planets():
    columns = np.genfromtxt(ROOT / "docs" / "data" / "planet_tracks.csv", delimiter=",",
                            names=True, dtype=None, encoding="utf-8")
    body = columns["body"]
    kept = np.isin(body, ["sun", "venus", "mars", "jupiter"])
    t, body = columns["t_yr"][kept], body[kept]
    place = np.stack([columns[name][kept] for name in ("x_au", "y_au", "z_au")], axis=1)
    masses = dict(zip(body.tolist(), columns["mass_msun"][kept].tolist()))
    law = orrery.force_law(t, place, body, masses, seconds=2, n_jobs=1)
    assert [*law.variable_names_] == ["r", "m1", "m2"]
    table = np.array([[2.0, 1.0, 1e-3], [0.5, 1.0, 1e-6]])
    assert np.allclose(law.predict(table), 4 * np.pi**2 * np.prod(table[:, 1:], 1)
                       / table[:, 0]**2, rtol=1e-3)
    with pytest.raises(ValueError, match="mass: expected a mass of each body, found none of"):
        orrery.force_law(t, place, body, {"sun": 1})
    with pytest.raises(ValueError, match="body: expected .* values, as X has rows, found 1"):
        orrery.force_law(t, place, "sun")
    with pytest.raises(ValueError, match="centre"):
        orrery.force_law(t, place, body, centre="pluto", seconds=1)


def test_coefficients_are_those_of_terms(tmp_path):
    """Equations of a file as pysindy has them, products of sums multiplied out."""
    file = tmp_path / "equations.json"
    file.write_text(json.dumps({
        "version": "0", "order": 1, "columns": ["x", "my y"], "time": "t", "inputs": [],
        "equations": ['0.5 * (x * (3 - "my y"))',
                      '(x - "my y")^2 / 4 - 2 * sin(x) / (1 + x^2) - 7'],
        "latex": ["", ""], "constants": [[], []], "standard_errors": [[], []], "conserved": [],
        "noise": [0, 0], "residual": 1, "chosen_by_track": True, "explicit_time": False}))
    model = orrery.Motion.from_file(file)
    names, found = model.get_feature_names(), model.coefficients()
    assert found.shape == (2, len(names)) and names[0] == "1" and names[1] == "x"
    first = {name: value for name, value in zip(names, found[0], strict=True) if value}
    second = {name: value for name, value in zip(names, found[1], strict=True) if value}
    assert first == {"x": 1.5, '"my y" x': -0.5}
    assert second == {"1": -7, "x^2": 0.25, '"my y" x': -0.5, '"my y"^2': 0.25,
                      "(1 + x^2)^-1 sin(x)": -2}
    x, y = np.random.default_rng(3).normal(size=(2, 20))
    terms = {"1": 1, "x": x, "x^2": x**2, '"my y" x': x * y, '"my y"^2': y**2,
             "(1 + x^2)^-1 sin(x)": np.sin(x) / (1 + x**2)}
    values = np.stack([sum(row[k] * terms[name] for k, name in enumerate(names)) for row in found])
    assert np.allclose(values.T, model.predict(np.stack([x, y], axis=1)), rtol=1e-12)


HEADING = """Target body name: {} {{source: drawn}}
Center body name: Sun (10) {{source: drawn}}
Output units    : {}
Reference frame : Ecliptic of J2000.0
"""
AU = 149597870.7


def drawn(path, name, units, factor, days, orbit):
    """A body's orbit in the layouts of JPL Horizons: text in AU, CSV in kilometres."""
    as_csv = path.suffix == ".csv"
    rows = [HEADING.format(name, units), "JDTDB, Calendar Date (TDB), X, Y, Z,\n" if as_csv else
            "JDTDB\n   X     Y     Z\n", "$$SOE\n"]
    for day, at in zip(2451545 + days, factor * orbit):
        x, y, z = (f"{value:.15E}" for value in at)
        rows.append(f"{day:.9f}, A.D. 2000-Jan-01, {x}, {y}, {z},\n" if as_csv else
                    f"{day:.9f} = A.D. 2000-Jan-01 TDB\n X = {x} Y = {y} Z = {z}\n")
    path.write_text("".join([*rows, "$$EOE\n"]))
    return path


def circle(a, days):
    angle = 0.01720209895 * a**-1.5 * days
    return a * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)


def test_read_horizons(tmp_path):
    days = np.arange(0, 80, 4.0)
    venus, mars = circle(0.7233, days), circle(1.5237, days)
    files = (drawn(tmp_path / "venus.txt", "Venus (299)", "AU-D", 1, days, venus),
             drawn(tmp_path / "mars.csv", "Mars Barycenter (4)", "KM-S", AU, days, mars))
    h = orrery.read_horizons(*files)
    assert (h.unit, h.centre, h.frame) == ("AU", "Sun", "Ecliptic of J2000.0")
    assert h.body.tolist() == [name for name in ("Sun", "Venus", "Mars Barycenter") for _ in days]
    np.testing.assert_array_equal(h.t, np.tile(2451545 + days, 3))
    np.testing.assert_allclose(h.positions, np.concatenate([0 * venus, venus, mars]), atol=1e-14)
    assert h.mass[0] == pytest.approx(0.01720209895**2, rel=1e-8)
    alone = orrery.read_horizons(files[1])
    assert alone.unit == "km" and alone.mass is None
    with pytest.raises(ValueError, match=r"expected another body than .*venus.txt, found \"Venus"):
        orrery.read_horizons(files[0], files[0])
    with pytest.raises(ValueError, match="1 to 16, found 0"):
        orrery.read_horizons()
    with pytest.raises(ValueError, match="none.txt: cannot open"):
        orrery.read_horizons(tmp_path / "none.txt")
