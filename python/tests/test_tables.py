"""X, y, weights and category as tables and arrays of other packages: names of columns, times,
masks, missing values, bfloat16."""

import datetime
import subprocess
import sys

import numpy as np
import pytest

import orrery
from orrery import SymbolicRegressor

A = np.random.default_rng(0).uniform(1, 2, size=(40, 2))
Y = 3 * A[:, 0] + A[:, 1]
DAYS = [datetime.datetime(2026, 1, 1) + datetime.timedelta(days=i) for i in range(40)]


def small(**parameters):
    return SymbolicRegressor(**{"niterations": 1, "populations": 2, "enumerate": 500, "maxsize": 5,
                                "n_jobs": 1, "timeout_in_seconds": None, **parameters})


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def batch(columns):
    return arrow(columns).to_batches()[0]


def polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def dask(columns):
    return pytest.importorskip("dask.dataframe").from_pandas(pandas(columns), npartitions=2)


def astropy(columns):
    return pytest.importorskip("astropy.table").Table(columns)


def structured(columns):
    values = [np.asarray(column) for column in columns.values()]
    made = np.empty(len(values[0]), [(n, v.dtype) for n, v in zip(columns, values)])
    for name, value in zip(columns, values):
        made[name] = value
    return made


def xarray(columns):
    package = pytest.importorskip("xarray")
    return package.DataArray(np.column_stack(list(columns.values())), dims=("row", "column"),
                             coords={"column": list(columns)})


KINDS = [arrow, batch, polars, pandas, dask, astropy, structured, xarray]


@pytest.mark.parametrize("make", KINDS)
def test_names_of_columns(make):
    """The formula has them, and another order is refused, by predict and by exports."""
    table = make({"a": A[:, 0], "b": A[:, 1]})
    model = small().fit(table, Y)
    assert model.variable_names_ == ["a", "b"] == list(model.feature_names_in_)
    assert np.allclose(model.predict(table), Y) and model.score(table, Y) == pytest.approx(1)
    assert np.allclose(model.numpy()(table), Y) and np.allclose(model.numpy()(A), Y)
    model.refit(table, Y)
    for call in (model.predict, model.numpy(), model.predict_interval):
        with pytest.raises(ValueError, match="feature names should match"):
            call(make({"b": A[:, 1], "a": A[:, 0]}))


@pytest.mark.parametrize("make", [arrow, batch, polars, pandas])
def test_columns_that_print_alike(make):
    """Zero at both ends, which is all that pyarrow prints of a column."""
    a, b = np.zeros(40), np.zeros(40)
    a[12:20], b[22:30] = 1, 2
    model = small().fit(make({"a": a, "b": b}), 3 * a + b)
    assert model.variable_names_ == ["a", "b"]
    assert model.score(make({"a": a, "b": b}), 3 * a + b) == 1


def test_columns_of_one_name():
    package = pytest.importorskip("pyarrow")
    table = package.Table.from_arrays([package.array(A[:, 0])] * 2, names=["a", "a"])
    with pytest.raises(ValueError, match="^X: expected columns of different names, found 'a' tw"):
        small().fit(table, Y)


DATES = {"datetime": DAYS, "date": [day.date() for day in DAYS]}
TIMES = {"duration": [day - DAYS[0] for day in DAYS],
         "time": [datetime.time(1, i % 60) for i in range(40)]}


@pytest.mark.parametrize("what", DATES)
@pytest.mark.parametrize("make", [arrow, batch, polars, pandas])
def test_dates_count_from_the_first(make, what):
    """In every row, wherever the first one stands, and of later tables from the same day."""
    dates = DATES[what][5:] + DATES[what][:5]
    days = np.array([(day - DATES[what][0]).days for day in dates])
    y = A[:, 0] * days
    model = small().fit(make({"b": A[:, 0], "t": dates}), y)
    assert model.score(make({"b": A[:, 0], "t": dates}), y) == 1
    assert 'column "t" has dates, which count as days since 2026-01-01' in model.remarks_
    for later in (dates[7:9], days[7:9].astype(float)):
        assert np.allclose(model.predict(make({"b": A[7:9, 0], "t": later})), y[7:9])
    with pytest.raises(ValueError, match="names should match those that were passed during fit"):
        model.predict(make({"t": dates, "b": A[:, 0]}))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        small().fit(make({"t": [None, *dates[1:]]}), Y)
    with pytest.raises(ValueError, match="^X: column 'b': expected numbers, found the time"):
        model.predict(make({"b": dates, "t": dates}))
    with pytest.raises(ValueError, match="^(y|weights): expected numbers, found the time"):
        small().fit(A, Y, weights=make({"t": dates})["t"])
    with pytest.raises(ValueError, match="^y: expected numbers, found the time"):
        small().fit(A, make({"t": dates})["t"])


def test_dates_of_arrays_and_files(tmp_path):
    """Hours, time zones and rows of lists; a front of a file counts from the day of its search."""
    pytest.importorskip("pandas")
    hours = [datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=37 * i % 100)
             for i in range(40)]
    days = np.array([37 * i % 100 / 24 for i in range(40)])
    zone = datetime.timezone(datetime.timedelta(hours=9))
    aware = [(hour + datetime.timedelta(hours=9)).replace(tzinfo=zone) for hour in hours]
    array = np.array(hours, "datetime64[us]")
    for X in (array[:, None], [[hour] for hour in hours], [[hour] for hour in aware],
              pandas({"t": aware})):
        model = small().fit(X, days)
        assert model.equations_["loss"].iloc[-1] == 0  # to the last digit
        assert model.predict(X[:1] if isinstance(X, list) else X)[0] == days[0]
    assert model.remarks_[-1].endswith("days since 2026-01-01")
    model = small(output_directory=tmp_path, run_id="a").fit(
        np.column_stack([array + np.timedelta64(1, "D"), array]), days)
    assert model.remarks_[-2:] == [f'column "x{i}" has dates, which count as days since 2026-01-01'
                                   for i in (0, 1)]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        small().fit([[datetime.date(9999, 12, 31)], *([hour.date()] for hour in hours[1:])], days)


@pytest.mark.parametrize("what", TIMES)
@pytest.mark.parametrize("make", [arrow, batch, polars, pandas])
def test_times(make, what):
    """Beside a number and alone, also behind a row without one."""
    times = TIMES[what]
    for columns in ({"b": A[:, 0], "t": times}, {"t": times}, {"t": [None, *times[1:]]}):
        with pytest.raises(ValueError, match="^X: column 't': expected numbers, found the time"):
            small().fit(make(columns), Y)
    with pytest.raises(ValueError, match="^(y|weights): expected numbers, found the time"):
        small().fit(A, Y, weights=make({"t": times})["t"])
    with pytest.raises(ValueError, match="^y: expected numbers, found the time"):
        small().fit(A, make({"t": times})["t"])


def test_periods_and_other_cells():
    package = pytest.importorskip("pandas")
    period = package.period_range("2026", periods=40, freq="D")
    for X in (package.DataFrame({"t": period, "b": Y}), package.DataFrame({"t": period})):
        with pytest.raises(ValueError, match="^X: column 't': expected numbers, found the time 20"):
            small().fit(X, Y)
    for cell in ("x", [1], complex(1, 2)):
        X = package.DataFrame({"t": [*A[1:, 0], None], "b": Y}, dtype=object)
        X.at[3, "t"] = cell
        with pytest.raises(ValueError, match="^X: column 't': (row 3: expected a number|Complex)"):
            small().fit(X, Y)


@pytest.mark.parametrize("make", [arrow, polars, pandas, dask])
def test_missing_numbers(make):
    with pytest.raises(ValueError, match="Input X contains NaN"):
        small().fit(make({"a": [None, *A[1:, 0]], "b": A[:, 1]}), Y)


def test_missing_numbers_of_pandas():
    package = pytest.importorskip("pandas")
    for dtype in ("Float64", "Int64", "object"):
        X = package.DataFrame({"a": package.Series([package.NA, *range(1, 40)], dtype=dtype)})
        with pytest.raises(ValueError, match="Input X contains NaN"):
            small().fit(X, Y)
        whole = package.DataFrame({"a": package.Series(range(1, 41), dtype=dtype)})
        assert small().fit(whole, 2 * np.arange(1, 41)).score(whole, 2 * np.arange(1, 41)) == 1


WITHOUT = """
import sys
sys.modules["sklearn"] = None
import numpy as np, pandas, polars, pyarrow
from orrery import SymbolicRegressor
A = np.random.default_rng(0).uniform(1, 2, size=(40, 2))
for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
    model = SymbolicRegressor(niterations=1, populations=2, enumerate=500, maxsize=5, n_jobs=1)
    model.fit(make({"a": A[:, 0], "b": A[:, 1]}), 3 * A[:, 0] + A[:, 1])
    assert model.variable_names_ == ["a", "b"]
    for columns, said in (({"b": A[:, 1], "a": A[:, 0]}, "feature names should match"),
                          ({"a": [None, *A[1:, 0]], "b": A[:, 1]}, "Input X contains NaN"),
                          ({"a": A[:, 0].astype("M8[ms]"), "b": A[:, 1]}, "found the time")):
        try:
            model.predict(make(columns))
        except ValueError as error:
            assert said in str(error), error
        else:
            sys.exit(f"{make} {said}: no error")
try:
    model.predict(pandas.DataFrame({"a": pandas.array([None, *A[1:, 0]], "Float64"), "b": A[:, 1]}))
except ValueError as error:
    assert "NaN" in str(error), error
"""


def test_tables_without_scikit_learn():
    for name in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(name)
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_missing_numbers_of_objects():
    package = pytest.importorskip("pandas")
    cells = np.array([[1.0, package.NA]] * 40, dtype=object)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        small().fit(cells, Y)
    for y in (package.Series([package.NA, *Y[1:]], dtype=object), cells[:, 1],
              package.Series([package.NA, *Y[1:]], dtype="Float64"), [package.NA, *Y[1:]]):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            small().fit(A, y)


def test_names_of_two_kinds():
    package = pytest.importorskip("pandas")
    for dtype in (float, object):
        with pytest.raises(TypeError, match="Feature names are only supported if all"):
            small().fit(package.DataFrame(A, columns=["a", 1], dtype=dtype), Y)
        assert small().fit(package.DataFrame(A, dtype=dtype), Y).variable_names_ == ["x0", "x1"]


def test_what_is_no_table():
    for wrong in ({"a": A[:, 0]}, (row for row in A)):
        with pytest.raises(ValueError, match="^X: expected a table, found (dict|generator)"):
            small().fit(wrong, Y)
    package = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"^X: expected rows and columns, found shape \(40, 0\)"):
        small().fit(package.DataFrame(index=range(40)), Y)
    with pytest.raises(ValueError, match="^X: column 'a': row 0: expected a number, found Interv"):
        small().fit(package.DataFrame({"a": package.interval_range(0, 40)}), Y)


def test_tables_that_are_no_tables_yet():
    lazy = polars({"a": A[:, 0]}).lazy()
    with pytest.raises(ValueError, match=r"^X: expected a table, found LazyFrame: .*collect\(\)"):
        small().fit(lazy, Y)


def test_masks():
    table = astropy({"a": A[:, 0], "b": A[:, 1]})
    masked = type(table)(table, masked=True)
    masked["b"].mask[3] = True
    with pytest.raises(ValueError, match=r"^X: column 'b': expected numbers, found masked .*\(1\)"):
        small().fit(masked, Y)
    with pytest.raises(ValueError, match="^y: expected numbers, found masked ones"):
        small().fit(table, masked["b"])
    package = pytest.importorskip("astropy.utils.masked")  # its own kind, which is not NumPy's
    with pytest.raises(ValueError, match="^y: expected numbers, found masked ones"):
        small().fit(A, package.Masked(Y, mask=np.arange(40) == 2))


def test_structured_arrays():
    table = structured({"a": A[:, 0], "b": A[:, 1]})
    hidden = np.ma.array(table)
    hidden["b"] = np.ma.masked_less(hidden["b"], 1.1)
    with pytest.raises(ValueError, match="^X: column 'b': expected numbers, found masked ones"):
        small().fit(hidden, Y)
    with pytest.raises(ValueError, match="^y: expected numbers, found the fields a, b"):
        small().fit(A, table)


# ------------------------------------------------------------------------- short numbers


def takes(cast):
    """Every argument that takes numbers, with those of another package."""
    q = np.ones((1, 2, 4, 4))
    short = cast(A)
    model = small().fit(short, cast(Y))
    assert model.score(short, cast(Y)) > 0.9 and model.predict(short).shape == (40,)
    assert model.numpy()(short).dtype == np.float64
    assert small().fit(A, Y, weights=cast(Y)).refit(short, cast(Y), weights=cast(Y))
    assert small().fit(A, Y, category=cast(np.arange(40) % 2)) is not None
    assert orrery.law(cast(Y), 1, 1).shape == (40,)
    return q


def test_bfloat16():
    package = pytest.importorskip("ml_dtypes")

    def cast(x):
        return x.astype(package.bfloat16)

    q = cast(takes(cast))
    assert orrery.attention(q, q, q).dtype == np.float32
    assert orrery.attention_weights(q, q).shape == (1, 2, 4, 4)
    assert small().fit([list(row) for row in cast(A)], list(cast(Y)))


def test_bfloat16_of_jax():
    jnp = pytest.importorskip("jax.numpy")

    def cast(x):
        return jnp.asarray(x, jnp.bfloat16)

    q = cast(takes(cast))
    assert orrery.attention(q, q, q).dtype == np.float32


def test_tensors():
    torch = pytest.importorskip("torch")
    takes(lambda x: torch.tensor(x).bfloat16())
    takes(torch.tensor)
    with_gradient = torch.tensor(A, requires_grad=True)
    for name, call in (("X", lambda: small().fit(with_gradient, Y)),
                       ("y", lambda: small().fit(A, with_gradient[:, 0])),
                       ("weights", lambda: small().fit(A, Y, weights=with_gradient[:, 0])),
                       ("r", lambda: orrery.law(with_gradient[:, 0], 1, 1))):
        with pytest.raises(ValueError, match=f"^{name}: expected numbers, found a tensor that req"):
            call()


# ------------------------------------------------------------------------------ category


def test_missing_labels():
    labels = np.array(["p", "q"] * 20)
    masked = np.ma.array(np.arange(40) % 2, mask=np.arange(40) < 1)
    with pytest.raises(ValueError, match=r"^category: .*found masked ones \(1\)"):
        small().fit(A, Y, category=masked)
    model = small().fit(A, Y, category=np.arange(40) % 2)
    with pytest.raises(ValueError, match="^category: .*masked"):
        model.predict(A, category=masked)
    with pytest.raises(ValueError, match="^category: row 1: expected a category, found .1.$"):
        wrong = np.array(labels, dtype=object)
        wrong[1] = [1]
        small().fit(A, Y, category=wrong)
    package = pytest.importorskip("pandas")
    for series in (package.Series(labels, dtype="string"), package.Series(labels),
                   package.Series(labels, dtype="category"), package.Series(labels, dtype=object)):
        missing = series.copy()
        missing[5] = package.NA if series.dtype == object else None
        with pytest.raises(ValueError, match="^category: row 5: expected a category, found"):
            small().fit(A, Y, category=missing)
        assert small().fit(A, Y, category=series)._category.labels == ("p", "q")


def test_dates_as_labels():
    """Of any unit."""
    days = np.array(DAYS[:2] * 20, dtype="M8[us]")
    y = np.where(days == days[0], 2, 3) * A[:, 0] + 1
    model = small(maxsize=8, enumerate=2000).fit(A, y, category=days.astype("M8[ns]"))
    for unit in ("s", "us", "ns"):
        assert np.allclose(model.predict(A, category=days.astype(f"M8[{unit}]")), y)


def law_of_categories():
    labels = np.array(["p", "q"] * 20)
    return labels, np.where(labels == "p", 2, 3) * A[:, 0] + 1


def test_score_of_categories():
    labels, y = law_of_categories()
    model = small(maxsize=8, enumerate=2000).fit(A, y, category=labels)
    assert model.score(A, y, category=labels) == pytest.approx(1)
    weights = np.arange(40.0)
    assert model.score(A, y + 1, weights, category=labels) < 1
    with pytest.raises(ValueError, match="category: expected one for each row"):
        model.score(A, y)


def test_categories_are_cross_validated():
    """They reach fit, predict and score by scikit-learn's routing of metadata."""
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    labels, y = law_of_categories()
    model = small(maxsize=8, enumerate=2000)
    with sklearn.config_context(enable_metadata_routing=True):
        params = {"category": labels}
        scores = cross_val_score(model, A, y, params=params, cv=2, error_score="raise")
        assert np.allclose(scores, 1)
        search = GridSearchCV(model, {"maxsize": [3, 8]}, cv=2).fit(A, y, category=labels)
        assert search.best_params_ == {"maxsize": 8}
        line = make_pipeline(FunctionTransformer(), model).fit(A, y, category=labels)
        assert line.score(A, y, category=labels) == pytest.approx(1)
