"""Arguments that ctypes would change: numbers that do not fit into an int, fractions, texts with a
NUL. All are refused, and the error names the argument as Python calls it."""

import inspect
import os
import pickle
import threading

import numpy as np
import pytest

import orrery
from orrery import _arguments, _library, _options

Q = np.random.default_rng(2).normal(size=(1, 2, 6, 4)).astype(np.float32)
X = np.random.default_rng(3).uniform(1, 2, (30, 2))
Y = X[:, 0] * X[:, 1]
QUICK = {"niterations": 1, "maxsize": 5, "enumerate": 300, "progress": False}


def fit(fit_arguments=None, **parameters):
    model = orrery.SymbolicRegressor(**{**QUICK, **parameters})
    return model.fit(X, Y, **(fit_arguments or {}))


@pytest.mark.parametrize("n_jobs, expected", [
    (None, 0), (-1, 0), (0, 0), (3, 3), (np.int64(2), 2), (-2, max(1, (os.cpu_count() or 1) - 1)),
    (-10**6, 1)])
def test_n_jobs(n_jobs, expected):
    assert _arguments.threads(n_jobs) == expected


@pytest.mark.parametrize("call, name", [
    (lambda n: orrery.attention(Q, Q, Q, window=n), "window"),
    (lambda n: orrery.attention(Q, Q, Q, n_jobs=n), "n_jobs"),
    (lambda n: orrery.attention_weights(Q, Q, window=n), "window"),
    (lambda n: orrery.simulate(n=n), "n"),
    (lambda n: orrery.simulate(n=1, first=n), "first"),
    (lambda n: orrery.simulate(n=1, n_jobs=n), "n_jobs"),
    (lambda n: orrery.orbit(1, 0, 1, 1, 0.1, n), "n"),
    (lambda n: fit(n_jobs=n), "n_jobs"),
    (lambda n: fit(batch_size=n), "batch_size"),
    (lambda n: fit(maxsize=n), "maxsize"),
])
@pytest.mark.parametrize("value", [1.5, "2", True, 10**13 + 1, float("nan")])
def test_whole_numbers(call, name, value):
    with pytest.raises(ValueError, match=f"^{name}: expected a whole number"):
        call(value)


def test_a_window_is_not_cut_to_32_bits():
    with pytest.raises(ValueError, match="window"):  # its low bits are those of window=1
        orrery.attention(Q, Q, Q, window=2**32 + 1)


@pytest.mark.parametrize("call", [
    lambda: orrery.attention(Q, Q, Q, "lssar\0x"),
    lambda: orrery.attention_line("lssar\0x"),
    lambda: orrery.simulate("two_body_train\0x", n=1),
    lambda: orrery.law(1, 1, 1, "G*m1*m2/r^2\0x"),
    lambda: orrery.simulate(n=1, positions="9\0x"),
    lambda: fit({"variable_names": ["a\0b", "a\0c"]}),
    lambda: fit({"X_units": ["m\0x", "m"], "y_units": "m^2"}),
    lambda: fit(guesses="x0 * x1\0x"),
])
def test_texts_are_not_cut_at_a_nul(call):
    with pytest.raises(ValueError, match="expected a text without NUL"):
        call()


@pytest.mark.parametrize("parameters, name", [
    ({"niterations": -1}, "niterations"), ({"ncycles_per_iteration": 0}, "ncycles_per_iteration"),
    ({"timeout_in_seconds": -1}, "timeout_in_seconds"), ({"max_evals": -1}, "max_evals"),
    ({"early_stop_condition": -1}, "early_stop_condition"), ({"maxdepth": 0}, "maxdepth"),
    ({"units_penalty": 1}, "units_penalty"), ({"guesses": "x0*"}, "guesses"),
    ({"named_constants": "G"}, "named_constants"), ({"named_constants": 5}, "named_constants"),
    ({"named_constants": ["q"]}, "named_constants"), ({"named_constants": [5]}, "named_constants"),
    ({"named_constants": {"x0": 2}}, "named_constants"),
    ({"named_constants": {"k": "x"}}, "named_constants"),
    ({"named_constants": {"k": (2, 3)}}, "named_constants"),
    ({"guesses": 5}, "guesses"), ({"guesses": [5]}, "guesses"), ({"constraints": 5}, "constraints"),
    ({"constraints": {"foo": 1}}, "constraints"), ({"nested_constraints": {"sin": 5}}, "nested_co"),
    ({"nested_constraints": {"q": {"cos": 0}}}, "nested_constraints"),
    ({"complexity_of_operators": 5}, "complexity_of_operators"),
    ({"complexity_of_operators": {"zz": 1}}, "complexity_of_operators"),
    ({"elementwise_loss": 5}, "elementwise_loss"), ({"elementwise_loss": "q"}, "elementwise_loss"),
    ({"batching": "x"}, "batching"), ({"batch_size": 0}, "batch_size"),
    ({"unary_operators": ["g(x) = x; h(x) = x"]}, "unary_operators"),
    ({"unary_operators": ["g(x) = g(x)"]}, "binary_operators, unary_operators"),
    ({"complexity_of_operators": {"+": 1.5}}, "complexity_of_operators: \\+: expected a whole"),
    ({"complexity_of_constants": 1.5}, "complexity_of_constants: expected a whole"),
    ({"timeout_in_seconds": 0}, "timeout_in_seconds: expected a number above 0, or None"),
    ({"max_evals": 0}, "max_evals: expected a number above 0, or None"),
    ({"timeout_in_seconds": float("nan")}, "timeout_in_seconds"),
    ({"warm_start": "False"}, "warm_start: expected True or False"),
    ({"progress": "no"}, "progress: expected True or False"),
    ({"verbosity": "a"}, "verbosity: expected a number"),
])
def test_names_of_parameters(parameters, name):
    with pytest.raises(ValueError, match=f"^{name}") as raised:
        fit(**parameters)
    assert "symreg" not in str(raised.value) and "--" not in str(raised.value)


@pytest.mark.parametrize("names", [["1", "2"], ["a\nb", "c"], ["", "c"], ["a" * 200, "b"],
                                   ["a", "a"], ["\udc80", "b"], "ab", 5, ["a"]])
def test_variable_names(names):
    with pytest.raises(ValueError, match="^variable_names: ") as raised:
        fit({"variable_names": names})
    assert "header row" not in str(raised.value)


def test_variable_names_of_any_collection():
    assert fit({"variable_names": (name for name in "ab")}).variable_names_ == ["a", "b"]


@pytest.mark.parametrize("units, name", [
    ({"X_units": 5}, "X_units: expected a list of 2 units, found 5"),
    ({"X_units": ["m"]}, "X_units: expected a list of 2 units"),
    ({"X_units": [5, "m"]}, "X_units: expected units as texts"),
    ({"y_units": 5}, "y_units: expected units as texts"),
    ({"y_units": ["m", "m"]}, "y_units: expected one unit"),
])
def test_units(units, name):
    with pytest.raises(ValueError, match=f"^{name}"):
        fit(units)


def test_units_of_pure_numbers():
    assert fit({"X_units": np.array(["m", "s"]), "y_units": "m*s"}).fit(X, Y, X_units=[1, None])


@pytest.mark.parametrize("weights, said", [
    (["a"] * 30, "expected numbers, found <U1"), (np.zeros(30), "expected a weight above 0"),
    ([2.0] * 29, "expected shape"), (2, "expected shape"), ([np.inf] * 30, "infinity"),
    (-np.ones(30), "expected at least 0"), ([[1.0]] * 30, "expected shape")])
def test_weights(weights, said):
    with pytest.raises(ValueError, match=f"weights.*{said}"):
        fit({"weights": weights})


def test_numbers_of_another_size():
    with pytest.raises(ValueError, match=r'^column "y", row 3: expected the largest number betwee'):
        orrery.SymbolicRegressor(**QUICK).fit(X, np.where(np.arange(30) == 3, 1e300, Y))


DAYS = np.datetime64("2000-01-01") + np.arange(30)
MASKED = np.ma.masked_greater(X, 1.5)


@pytest.mark.parametrize("call, name", [
    (lambda x, y: orrery.SymbolicRegressor(**QUICK).fit(x, Y), "X"),
    (lambda x, y: orrery.SymbolicRegressor(**QUICK).fit(X, y), "y"),
    (lambda x, y: fit().refit(x, Y), "X"), (lambda x, y: fit().refit(X, y), "y"),
    (lambda x, y: fit().predict(x), "X"), (lambda x, y: fit().numpy()(x), "X"),
    (lambda x, y: fit({"weights": y}), "weights"),
    (lambda x, y: orrery.law(y, 1, 1), "r"),
])
@pytest.mark.parametrize("x, said", [
    (MASKED, r"expected numbers, found masked ones \(\d+\): leave"),
    (np.stack([DAYS, DAYS], 1) - DAYS[0], "(column 0: )?expected numbers, found the time 0 days"),
])
def test_masks_and_times(call, name, x, said):
    with pytest.raises(ValueError, match=f"^{name}: {said}"):
        call(x, x[:, 0] if isinstance(x, np.ndarray) else [row[0] for row in x])


def test_dates_are_features_alone():
    """Of fit(), and of what follows it where the column was one of dates."""
    dates = np.stack([DAYS, DAYS], 1)
    for call, name in ((lambda: fit().predict(dates), "X"), (lambda: fit().refit(X, DAYS), "y"),
                       (lambda: fit({"weights": DAYS}), "weights"),
                       (lambda: fit().numpy()(dates), "X"), (lambda: orrery.law(DAYS, 1, 1), "r")):
        with pytest.raises(ValueError, match=f"^{name}: (column 0: )?expected numbers, found the"):
            call()


def test_a_column_of_times_has_its_name():
    pandas = pytest.importorskip("pandas")
    since = DAYS - DAYS[0]
    for table in (pandas.DataFrame({"a": X[:, 0], "t": since}), pandas.DataFrame({"t": since})):
        with pytest.raises(ValueError, match="^X: column 't': expected numbers, found the time 0 "):
            orrery.SymbolicRegressor(**QUICK).fit(table, Y)


def test_masks_of_models_and_attention():
    with pytest.raises(ValueError, match="^q: expected numbers, found masked ones"):
        orrery.attention(np.ma.masked_greater(Q, 1), Q, Q)
    whole = np.ma.masked_array(X)  # without a masked number
    assert orrery.SymbolicRegressor(**QUICK).fit(whole, Y).score(whole, Y) > 0.9


def test_columns_of_one_name():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="^X: expected columns of different names, found 'a' twi"):
        orrery.SymbolicRegressor(**QUICK).fit(pandas.DataFrame(X, columns=["a", "a"]), Y)


def test_no_limit_and_sets():
    model = fit(timeout_in_seconds=float("inf"), max_evals=float("inf"), progress=0)
    assert model.stopped_ is None
    assert _options.operators({"sin", "exp", "cos"}, 1, "unary_operators")[0] == [
        "cos", "exp", "sin"]  # (a set has another order in every process)


def test_the_output_is_possible_before_the_search(tmp_path):
    (tmp_path / "file").write_text("")
    calls = []
    for folder, kind in ((5, TypeError), (tmp_path / "file", OSError)):
        with pytest.raises(kind, match="output_directory"):
            fit(output_directory=folder, early_stop_condition=calls.append)
    assert not calls


@pytest.mark.parametrize("run_id", ["../x", "a/../../x", "/x", "..", ".", "", "a\0b"])
def test_a_run_stays_in_its_folder(tmp_path, run_id):
    with pytest.raises(ValueError, match="^run_id: expected "):
        fit(output_directory=tmp_path / "out", run_id=run_id)
    assert not list(tmp_path.iterdir())
    fit(output_directory=tmp_path / "out", run_id="a/b")
    assert (tmp_path / "out" / "a" / "b" / "hall_of_fame.csv").is_file()


@pytest.mark.parametrize("call", [
    lambda: orrery.SymbolicRegressor.from_file(5), lambda: orrery.GPT.from_checkpoint(5),
    lambda: orrery.Run(5), lambda: orrery.GPT.from_pretrained(5)])
def test_paths(call):
    with pytest.raises(TypeError, match="^(path|folder): expected a path, found 5"):
        call()


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(FileNotFoundError, match="format safetensors, found a folder"):
        orrery.GPT.from_checkpoint(tmp_path)


@pytest.mark.parametrize("call, said", [
    (lambda: orrery.law("a", 1, 1), "r: expected numbers, found 'a'"),
    (lambda: orrery.law(1, np.nan, 1), "m1: expected finite numbers"),
    (lambda: orrery.law(np.ones(3), np.ones(2), 1), r"r, m1, m2: expected shapes .*\(3,\), \(2,\)"),
    (lambda: orrery.law(1, 1, 1, velocity=3), "velocity: expected two numbers"),
    (lambda: orrery.orbit("a", 0, 1, 1, 0.1, 5), "a_au: expected a number"),
    (lambda: orrery.orbit(1, 0, 1, None, 0.1, 5), "m2: expected a number"),
    (lambda: orrery.orbit(1, 0, 1, 1, "x", 5), "dt_yr: expected a number"),
    (lambda: orrery.orbit(1, 0, 1, 1, 0.1, 5, clockwise="no"), "clockwise: expected True or"),
    (lambda: orrery.attention(Q, Q, Q, p=0), "p: expected at least 1, found 0"),
])
def test_numbers_of_laws_and_attention(call, said):
    with pytest.raises(ValueError, match="^" + said):
        call()


def test_tensors():
    torch = pytest.importorskip("torch")
    good, bad = torch.from_numpy(Q), torch.from_numpy(Q.copy())
    bad[0, 1, 3, 2] = float("nan")
    for i, name in enumerate("qkv"):
        tensors = [bad if k == i else good for k in range(3)]
        with pytest.raises(ValueError, match=f"^{name}: expected finite numbers"):
            orrery.attention(*tensors)
    for other in (good.to_sparse(), good.int(), good + 1j):
        with pytest.raises(TypeError, match="^q: expected"):
            orrery.attention(other, other, other)


def test_operators_of_the_library_keep_their_meaning():
    for same in ("inv(x) = 1/x", "inv(u) = 1.0 / u", "square(x) = x^2", "neg(x)=-x"):
        assert _options.operators([same], 1, "unary_operators")[1] == []
    for other in ("inv(x) = 1/x^2", "exp(x) = 2*x", "sin(x) = x"):
        with pytest.raises(ValueError, match="another name"):
            _options.operators([other], 1, "unary_operators")


def test_a_fit_that_fails_leaves_what_was_fitted():
    model = fit()
    before = model.predict(X)
    with pytest.raises(ValueError):
        model.fit(X[:, :1], Y, variable_names=["a", "b"])
    assert np.array_equal(model.predict(X), before) and model.n_features_in_ == 2


def test_a_rule_that_chooses_nothing(tmp_path):
    model = fit(output_directory=tmp_path, run_id="a")
    read = orrery.SymbolicRegressor.from_file(tmp_path / "a", model_selection="mdl")
    with pytest.raises(ValueError, match="model_selection: 'mdl' chooses no row"):
        read.predict(X)
    assert "table" in read._repr_html_()
    model.model_selection = "bets"
    with pytest.raises(ValueError, match="model_selection"):
        model.predict(X)


def test_warm_start_of_another_table():
    model = fit(warm_start=True)
    with pytest.raises(ValueError, match="^warm_start: the table is another one"):
        model.fit(X[1:], Y[1:])


def test_law_names_the_laws():
    with pytest.raises(ValueError, match="law: expected one of newton, power"):
        orrery.simulate(law="newtn", n=1)
    with pytest.raises(ValueError, match="r: expected distances"):
        orrery.law(-1, 1, 1)


# ---- models


@pytest.fixture(scope="module")
def model():
    pytest.importorskip("torch")
    from orrery.gpt import torch_gpt
    return orrery.GPT.from_torch(torch_gpt(layers=1, width=8, context=12, attention="lssar"))


ROWS = np.random.default_rng(4).normal(size=(3, 8, 2))


def test_numbers_of_a_model(model):
    for call, name in ((lambda n: model.attention(ROWS, layer=n), "layer"),
                       (lambda n: model.rollout(ROWS, prefix=n), "prefix"),
                       (lambda n: model.attend(window=n), "window"),
                       (lambda n: model.attend(context=n), "context")):
        for value in (-1, 1.5, 2**32 + 1):
            with pytest.raises(ValueError, match=f"^{name}: expected a whole number"):
                call(value)
    for p in (0, -1, float("nan")):  # (0 would stand for p as trained)
        with pytest.raises(ValueError, match="^p: "):
            model.attend(p=p)


def test_a_model_can_be_pickled(model):
    model.attend("softmax", window=3)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(ROWS), model.predict(ROWS))
    assert again.configuration == model.configuration
    model.attend()


def test_threads_share_a_model(model):
    expected, differ = model.predict(ROWS), []

    def work():
        try:
            differ.extend(1 for _ in range(20) if not np.array_equal(model.predict(ROWS), expected))
        except Exception as error:
            differ.append(error)

    team = [threading.Thread(target=work) for _ in range(4)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    assert differ == []


def test_numbers_of_numpy_are_taken():
    pytest.importorskip("torch")
    assert orrery.stream(batch_size=np.int64(4)).batch_size == 4
    assert len(orrery.simulate(n=np.int32(2), seed=np.uint64(3))["state"]) == 2


def test_defaults_are_those_of_the_options():
    """__init__ has the library's defaults, None where an option is not given by default."""
    parameters = inspect.signature(orrery.SymbolicRegressor.__init__).parameters
    compared = 0
    for row in _library.options():
        if row["python"] not in parameters or row["initial"] is None:
            continue
        default = parameters[row["python"]].default
        if row["type"] in (_library.OPTION_WHOLE, _library.OPTION_NUMBER):
            assert default is None or default == float(row["initial"]), row["key"]
        elif row["type"] == _library.OPTION_WORDS:
            assert ",".join(default) == row["initial"], row["key"]
        elif row["type"] == _library.OPTION_FLAG:
            assert default == bool(int(row["initial"])), row["key"]
        else:
            assert default in (None, row["initial"]), row["key"]
        compared += 1
    assert compared > 15
    of_fit = inspect.signature(orrery.SymbolicRegressor.fit).parameters
    for row in _library.options():
        for name in (row["python"] or "maxsize").removesuffix(" of fit()").split(", "):
            assert name in parameters or name in of_fit, row
