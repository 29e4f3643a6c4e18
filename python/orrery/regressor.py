"""SymbolicRegressor: formulas from tables, as an estimator of scikit-learn."""

from __future__ import annotations

import inspect
import os
import pathlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _export, _files, _fronts, _library, _options, _present, _targets
from ._arguments import INT_MAX, doubles, flag, number, path_of, threads, whole
from ._category import Category
from ._estimator import BaseEstimator, NotFittedError, RegressorMixin
from ._dates import Dates
from ._estimator import (ends_of, middles, r_squared, sigmas_of, table, table_and_target,
                         weights_of)
from ._search import Formula, Row, Search, Seen, columns_of, evaluate, free_name, interval
from .anomalies import sympy_names


def _table(rows: list[dict[str, Any]], columns: list[str]) -> Any:
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows, columns=columns)


def _listed(names: Any) -> list[str]:
    """variable_names: a list, an array or another collection of texts."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueError(f"variable_names: expected a list, found {names!r}")
    return [str(name) for name in names]


_Call = TypeVar("_Call", bound=Callable[..., Any])


def _named_only(call: _Call) -> _Call:
    """Its signature without **unknown, which is there to answer PySR's other parameters."""
    whole = inspect.signature(call)
    setattr(call, "__signature__", whole.replace(
        parameters=[p for p in whole.parameters.values() if p.kind != p.VAR_KEYWORD]))
    return call


def _ranges(X: np.ndarray) -> list[tuple[float, float]]:
    return [(float(low), float(high)) for low, high in zip(X.min(axis=0), X.max(axis=0))]


class SymbolicRegressor(RegressorMixin, BaseEstimator):
    """Finds formulas y = f(X), one for each complexity: the Pareto front of complexity and loss.

    Parameters have PySR's names where they mean the same (docs/python.md); what is given is only
    read by fit(). The front is the same for the same numbers, parameters and random_state, for any
    n_jobs, unless timeout_in_seconds, Ctrl-C or early_stop_condition as a function ends the search.

    Parameters
    ----------
    niterations : epochs of the search; None: as many as timeout_in_seconds allows.
    binary_operators, unary_operators : names, or formulas as "g(x) = x * exp(-x)"; []: none. None
        stands for + - * / in the first, and for none in the second.
    operators : both lists as one dict, {1: ["sin"], 2: ["+", "*"]}; an arity without a list has no
        operators.
    maxsize, maxdepth : the largest complexity (at most 64), and nodes on the longest path.
    constraints : largest complexity of arguments, {"^": (-1, 1), "sin": 5}.
    nested_constraints : {"sin": {"cos": 0}}: no cos inside sin.
    complexity_of_operators, complexity_of_constants, complexity_of_variables : prices of nodes;
        the last one also as a list, a price for each column.
    elementwise_loss : "l2", "l1", "relative", "huber", "logcosh", "quantile", "poisson", "gamma",
        "bernoulli", a loss of PySR ("HuberLoss(0.5)"), a function of prediction and target in
        Julia's notation, or a formula of p and t: "abs(p-t)^1.5".
    model_selection : "best", "accuracy", "score" or "mdl": which row predict() uses.
    parsimony : cost of each node of a formula.
    timeout_in_seconds, max_evals : limits of the search; None: none.
    early_stop_condition : a loss, or a function of orrery's progress (members seconds, evaluations,
        epoch, rows, loss, best) that returns true to end the search.
    tolerance : the simplest formula whose rms residual is at most so large a share of the rms
        spread of y is chosen, and the search ends there; None: none.
    random_state : None is 0; an int, or a RandomState or Generator that a seed is drawn from.
    warm_start : fit() resumes the last search of the same table and parameters.
    guesses : formulas that the search starts with.
    batching, batch_size : "auto": 4,096 rows of tables of more than 10,000; True: batch_size rows
        (None: 4,096).
    n_jobs : threads; None and -1: all cores.
    deterministic : accepted; searches always are.
    enumerate : most small formulas that are enumerated first; None: 500,000.
    patience : epochs without a gain of 1% after which the search ends, 0: never; None: 30.
    units_penalty : wrong dimensions cost so many losses of the best constant; None: forbidden.
    required_features : names of columns that every formula uses; None: any.
    constant_bounds : (low, high), between which every number of a formula lies, or
        {"k": (0, None)} of constants of the template; None: any.
    monotone : {"x0": "+", "x1": "-"}: formulas rise or fall with these columns; None: any.
    positive : formulas are above 0 over the table's range.
    round_constants : "integers" or "rationals": preferred where the loss does not grow
        significantly; "digits": the fewest digits; None: "likely", fractions that a random
        constant would hardly meet.
    alternatives : how many other formulas of each complexity alternatives_ lists, which are as good
        as the one that "best" chooses; 0: none.
    permutations : so many searches on shuffled targets after that of fit(), each as long, give a
        p-value (permutations_): 19 suffice for 0.05; 0: none.
    template : a form with unknown functions of named columns and unknown constants,
        "sin(x0)*f(x1) + h*g(x2, x3)"; None: any formula.
    named_constants : names of well-known constants, ["G", "c"], or a dict of names with values or
        (value, unit), {"G": (6.674e-11, "m^3/kg/s^2"), "c": None}; None: the well-known value.
    output_directory, run_id : where hall_of_fame.csv is written; None: nowhere.
    progress, verbosity : a line on a terminal or in a notebook; verbosity 0: none.
    """

    # Labels reach fit(), predict() and score() through cross_val_score and pipelines by themselves
    # (scikit-learn's defaults of metadata routing); set_fit_request() and so on change that.
    __metadata_request__fit = {"category": True}
    __metadata_request__predict = {"category": True}
    __metadata_request__score = {"category": True}

    _state: bytes | None
    _category: Category | None = None
    _define: str | None
    _alternatives: Sequence[dict[str, Any]] = ()
    _remarks: Sequence[str] = ()
    _dates: Dates | None = None  # columns of the fit that are dates
    _sigma = False  # whether the noise of each row was given
    _ranges: list[tuple[float, float]] | None = None  # of the columns of the fit
    permutations_: dict[str, Any] | None = None
    _outputs: list[SymbolicRegressor] | None = None

    @_named_only
    def __init__(
        self,
        niterations: int | None = 100,
        *,
        binary_operators: Sequence[str] | None = _options.DEFAULTS["binary_operators"],
        unary_operators: Sequence[str] | None = _options.DEFAULTS["unary_operators"],
        operators: Mapping[int, Sequence[str]] | None = None,
        maxsize: int = 30,
        maxdepth: int | None = None,
        constraints: Mapping[str, Any] | None = None,
        nested_constraints: Mapping[str, Mapping[str, int]] | None = None,
        complexity_of_operators: Mapping[str, int] | None = None,
        complexity_of_constants: int | None = None,
        complexity_of_variables: int | Sequence[int] | None = None,
        elementwise_loss: str | None = None,
        model_selection: str = "best",
        parsimony: float = 0.0,
        populations: int = 31,
        population_size: int = 27,
        ncycles_per_iteration: int = 380,
        timeout_in_seconds: float | None = 60.0,
        max_evals: float | None = None,
        early_stop_condition: float | Callable[[Seen], Any] | None = None,
        tolerance: float | None = None,
        random_state: Any = None,
        deterministic: bool = True,
        warm_start: bool = False,
        guesses: str | Sequence[str] | None = None,
        batching: bool | str | None = "auto",
        batch_size: int | None = 4096,
        n_jobs: int | None = None,
        enumerate: float | None = None,
        patience: int | None = None,
        units_penalty: float | None = None,
        required_features: Sequence[str] | None = None,
        constant_bounds: (tuple[float, float] | dict[str, tuple[float | None, float | None]]
                          | None) = None,
        monotone: Mapping[str, str] | None = None,
        positive: bool = False,
        round_constants: str | None = None,
        named_constants: Mapping[str, Any] | Sequence[str] | None = None,
        template: str | None = None,
        alternatives: int = 0,
        permutations: int = 0,
        output_directory: str | os.PathLike[str] | None = None,
        run_id: str | None = None,
        progress: bool = True,
        verbosity: int = 1,
        **unknown: Any,
    ):
        if unknown:
            _options.refuse(unknown, self._get_param_names())
        self.niterations = niterations
        self.binary_operators = binary_operators
        self.unary_operators = unary_operators
        self.operators = operators
        self.maxsize = maxsize
        self.maxdepth = maxdepth
        self.constraints = constraints
        self.nested_constraints = nested_constraints
        self.complexity_of_operators = complexity_of_operators
        self.complexity_of_constants = complexity_of_constants
        self.complexity_of_variables = complexity_of_variables
        self.elementwise_loss = elementwise_loss
        self.model_selection = model_selection
        self.parsimony = parsimony
        self.populations = populations
        self.population_size = population_size
        self.ncycles_per_iteration = ncycles_per_iteration
        self.timeout_in_seconds = timeout_in_seconds
        self.max_evals = max_evals
        self.early_stop_condition = early_stop_condition
        self.tolerance = tolerance
        self.random_state = random_state
        self.deterministic = deterministic
        self.warm_start = warm_start
        self.guesses = guesses
        self.batching = batching
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.enumerate = enumerate
        self.patience = patience
        self.units_penalty = units_penalty
        self.required_features = required_features
        self.constant_bounds = constant_bounds
        self.monotone = monotone
        self.positive = positive
        self.round_constants = round_constants
        self.named_constants = named_constants
        self.template = template
        self.alternatives = alternatives
        self.permutations = permutations
        self.output_directory = output_directory
        self.run_id = run_id
        self.progress = progress
        self.verbosity = verbosity

    # ------------------------------------------------------------------------------- fit

    @_named_only
    def fit(self, X: Any, y: Any = None, *, weights: Any = None, sample_weight: Any = None,
            sigma: Any = None, sigma_x: Any = None, y_low: Any = None, y_high: Any = None,
            X_test: Any = None, y_test: Any = None,
            variable_names: Sequence[str] | None = None, X_units: Sequence[str] | None = None,
            y_units: str | Sequence[str] | None = None,
            category: Any = None, **unknown: Any) -> SymbolicRegressor:
        """Searches for formulas of the columns of X, (rows, columns), that are y, (rows).

        weights: of rows, at least 0, also by the name sample_weight; "relative": 1/y^2; "equal":
        alike; None: 1/prediction^2 where a short first search shows that noise grows with y, as the
        program symreg does (remarks_ says so), else alike. sigma: standard deviations of y, above
        0, in place of weights: constants have the errors that follow from them. sigma_x: standard
        deviations of X, one number, one for each column or an array like X, 0 where X is exact;
        needs sigma: constants are those of orthogonal distance regression. y_low, y_high: numbers
        between which the targets lie, in place of y, as of detection limits and rounded numbers;
        NaN or infinity: no end. The loss is the mean square of the distance to the interval, and
        formulas are compared by the likelihood of the intervals with normal noise. X_test, y_test:
        rows that the search does not use, for test_loss and test_r2 of equations_.
        variable_names: of columns; those of a DataFrame, else x0, x1, ... X_units, y_units: texts
        as "kg*m/s^2", for each column and for y. category: a value for each row, text or number:
        the formulas have one form, whose constants are fitted for every value or are shared,
        whichever is the shorter description. Ctrl-C ends the search with the front so far and a
        warning. y (rows, targets): a search for each column, in estimators_.
        """
        if unknown:
            _options.refuse(unknown, inspect.signature(self.fit).parameters, _options.OF_FIT, "fit")
        if sample_weight is not None and weights is not None:
            raise ValueError("sample_weight: expected weights or sample_weight, found both")
        given = {"weights": sample_weight if weights is None else weights, "sigma": sigma,
                 "sigma_x": sigma_x, "y_low": y_low, "y_high": y_high,
                 "X_test": X_test, "y_test": y_test, "variable_names": variable_names,
                 "X_units": X_units, "category": category}
        before = dict(self.__dict__)
        try:
            if _targets.count(y) > 1:
                _targets.fit(self, X, y, y_units, given)
            else:
                self._outputs = None
                self._fit(X, y, y_units=y_units, **given)
        except BaseException:  # what was fitted before is still whole
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Any, y: Any, weights: Any, sigma: Any, sigma_x: Any, y_low: Any,
             y_high: Any, X_test: Any, y_test: Any, variable_names: Any, X_units: Any, y_units: Any,
             category: Any) -> None:
        self._rule()
        ends = ends_of(y, y_low, y_high)
        X, y = table_and_target(self, X, middles(ends) if ends else y)
        text = weights if isinstance(weights, str) else None
        if text not in (None, "relative", "equal"):
            raise ValueError(f'weights: expected numbers, "relative" or "equal", found {text!r}')
        rows = {"weights": weights_of(None if text else weights, len(y)),
                "sigma": weights_of(sigma, len(y), "sigma")}
        if sigma is not None and weights is not None:
            raise ValueError("sigma: expected weights or sigma, found both")
        if sigma_x is not None and sigma is None:
            raise ValueError("sigma_x: needs sigma, the standard deviations of y")
        if sigma_x is not None and category is not None:
            raise ValueError("sigma_x: not with category")
        rows["sigma_x"] = sigmas_of(sigma_x, X.shape)
        if category is not None and self.permutations:
            raise ValueError("permutations: not with fit(category=...)")
        names = self._names(variable_names)
        settings = _options.settings(self, names)
        settings["rule"] = self.model_selection
        if text:
            settings["weights"] = text
        self._category = None if category is None else Category.of(category, len(y), names)
        columns = names
        if self._category:
            columns = [*names, self._category.name]
            X = np.column_stack([X, self._category.codes(category, len(y)).astype(X.dtype)])
            settings["category"] = self._category.name
        target = free_name("y", columns)
        units = _options.units(X_units, y_units, names, target)
        if units:
            settings["units"] = units
        settings["seed"] = str(self._seed())
        test = self._test(X_test, y_test)
        file = self._file()
        self._sigma, self._ranges = sigma is not None, _ranges(X[:, :len(names)])
        self._search(settings, {"x": X, "y": y, "names": columns, "target": target, "ends": ends,
                                **rows}, test)
        self.variable_names_ = names
        if file is not None:
            self._write(file)

    def _test(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray] | None:
        if (X is None) != (y is None):
            raise ValueError("X_test, y_test: expected both or none")
        if X is None:
            return None
        if self._category:
            raise ValueError("X_test: not with category; score(X, y, category=...) does it")
        return table_and_target(self, X, y, reset=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_version": _library.version()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Parameters that an older version did not have get their defaults."""
        if not isinstance(state, dict):
            raise ValueError("SymbolicRegressor: expected the pickle of an estimator, found "
                             f"{type(state).__name__}")
        state = dict(state)
        made_by, here = state.pop("_version", "an older version"), _library.version()
        if made_by != here:
            warnings.warn(f"SymbolicRegressor: a pickle of orrery {made_by} is read by {here}: "
                          "parameters that it lacks have their defaults, and what it does not know "
                          "of its formulas is missing; fit again for all", UserWarning,
                          stacklevel=2)
        defaults = inspect.signature(type(self).__init__).parameters
        for name in self._get_param_names():
            state.setdefault(name, defaults[name].default)
        super().__setstate__(state)

    def refit(self, X: Any, y: Any, *, weights: Any = None, sigma: Any = None,
              sigma_x: Any = None) -> SymbolicRegressor:
        """Fits the constants of all formulas anew, to other rows of the same columns.

        A row of the front that gains nothing over a shorter one goes. Units, constraints and
        guesses of the search are not asked for, and rows without weights or sigma count alike.
        """
        rows = self._rows()
        if self._category:
            raise ValueError("refit: not after fit(category=...): fit again")
        X, y = table_and_target(self, X, y, reset=False)
        weights, sigma = weights_of(weights, len(y)), weights_of(sigma, len(y), "sigma")
        sigma_x = sigmas_of(sigma_x, X.shape)
        names = self.variable_names_
        settings = {**_options.settings(self), "define": self._define or ""}
        for lost in ("constants", "guess", "units-penalty", "template", "alternatives", "require",
                     "constrain", "nest", "maxdepth", "complexity"):
            settings.pop(lost, None)  # (values of constants stand in the definitions)
        settings["rule"] = self.model_selection
        if not settings["define"]:
            del settings["define"]
        settings["seed"] = str(self._seed())
        used = sorted({i for row in rows for i in columns_of(row.equation, names, self._define)})
        prices = _options.prices(self.complexity_of_operators, self.complexity_of_constants,
                                 self._prices_of(used), [names[i] for i in used])
        if prices:
            settings["complexity"] = prices
        search = Search(settings)
        search.data(X[:, used], y, weights, [names[i] for i in used], free_name("y", names),
                    sigma, None if sigma_x is None else sigma_x[:, used])
        search.refit([row.equation for row in rows])
        self._front, self._chosen = search.front(), search.select()
        self._alternatives, self._remarks = [], search.remarks()
        self._state, self._sigma, self.permutations_ = None, sigma is not None, None
        self._ranges = _ranges(X)
        return self

    def _prices_of(self, used: Sequence[int]) -> Any:
        """complexity_of_variables of these columns."""
        prices = self.complexity_of_variables
        if not isinstance(prices, Iterable):
            return prices
        each = list(prices)
        return [each[i] for i in used]

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *,
                  variable_names: Sequence[str] | None = None, n_features_in: int | None = None,
                  **parameters: Any) -> SymbolicRegressor:
        """An estimator with the front of a file, or of a folder that has it.

        path: front.json, front.csv or front_full.csv of the program symreg, laws/front_*.csv of a
        run, or PySR's hall_of_fame.csv. variable_names: of the columns of X in their order;
        front.json has them, and x0, x1, ... are known. parameters: of the estimator; formulas as
        operators ("g(x) = x * exp(-x)") are needed to read a CSV file that has them.
        """
        model: SymbolicRegressor = cls(**parameters)
        model._rule()
        names = None if variable_names is None else _listed(variable_names)
        if n_features_in is not None:
            whole("n_features_in", n_features_in, 1)
        front = _fronts.read(path, names, n_features_in, _options.settings(model).get("define"))
        model.n_features_in_ = len(front.names)
        model.variable_names_, model._define = front.names, front.define
        model._front, model._chosen = front.rows, front.chosen
        model._alternatives = front.alternatives
        model._epochs, model._state = 0, None
        model._category, model._remarks, model._sigma = None, [], front.sigma
        model._ranges, model._dates = front.ranges, front.dates
        model.permutations_ = None
        model.stopped_, model.n_iter_ = None, 0
        return model

    def _names(self, given: Any) -> list[str]:
        if given is None:
            named = getattr(self, "feature_names_in_", None)
            return [f"x{i}" for i in range(self.n_features_in_)] if named is None else list(named)
        names = _listed(given)
        if len(names) != self.n_features_in_:
            raise ValueError(f"variable_names: expected a list of {self.n_features_in_} names, "
                             f"found {given!r}")
        return names

    def _rule(self) -> str:
        known = _options.choices("rule")
        if self.model_selection not in known:
            raise ValueError(f"model_selection: expected one of {', '.join(known)}, found "
                             f"{self.model_selection!r}")
        return self.model_selection

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return 0
        if hasattr(state, "randint"):
            return int(state.randint(2**31))
        if hasattr(state, "integers"):
            return int(state.integers(2**31))
        return whole("random_state", state, 0, 2**64 - 1)

    def _search(self, settings: dict[str, str], data: dict[str, Any],
                test: tuple[np.ndarray, np.ndarray] | None) -> None:
        state = getattr(self, "_state", None) if flag("warm_start", self.warm_start) else None
        before: int = getattr(self, "_epochs", 0) if state else 0
        if self.warm_start:
            settings["keep-state"] = "1"
            if self.niterations is not None:
                settings["iterations"] = str(before + int(settings["iterations"]))
        jobs = threads(self.n_jobs)
        stop = self.early_stop_condition if callable(self.early_stop_condition) else None
        shown, loud = flag("progress", self.progress), number("verbosity", self.verbosity) > 0
        line, last = _present.Line(shown and loud), None
        search = Search(settings)
        shuffled = whole("permutations", self.permutations, 0, 9999)
        search.data(**data)
        if test:
            search.test(*test)
        if state:
            search.resume(state)

        def seen(now: Seen) -> bool:
            nonlocal last
            last = now
            line.draw(now)
            return bool(stop and stop(now))

        try:
            ended = search.run(jobs, seen)
        finally:
            line.end()
        if ended == "interrupt":
            warnings.warn("fit: stopped by an interrupt; the front is what was found until then",
                          RuntimeWarning, stacklevel=4)
        self.stopped_ = ended
        self.n_iter_ = last.epoch + 1 if last else 1
        self._front, self._chosen = search.front(), search.select()
        self._alternatives = search.alternatives()
        self._define, self._remarks = search.definitions(), search.remarks()
        self.permutations_ = None
        if shuffled and ended != "interrupt":
            found, broken = search.permutations(shuffled, jobs)
            self.permutations_ = found if found["searches"] else None
            if broken:
                warnings.warn(f"fit: permutations: stopped by an interrupt after "
                              f"{found['searches']} of {shuffled} searches", RuntimeWarning,
                              stacklevel=4)
        self._epochs = before + (self.niterations or 0)
        self._state = self._state_of(search) if self.warm_start else None

    @staticmethod
    def _state_of(search: Search) -> bytes | None:
        try:
            return search.state()
        except _library.Error as error:
            if error.status != _library.EMISSING:
                raise
            return None

    def _file(self) -> pathlib.Path | None:
        """hall_of_fame.csv; its folder is made before the search, which might be for nothing."""
        if self.output_directory is None:
            return None
        run = path_of("run_id", "run" if self.run_id is None else self.run_id)
        if run.is_absolute() or not run.parts or ".." in run.parts:
            raise ValueError("run_id: expected the name of a folder inside output_directory, found "
                             f"{self.run_id!r}")
        folder = path_of("output_directory", self.output_directory) / run
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(error.errno, f"output_directory: {error.strerror}", str(folder)
                              ) from None
        return folder / "hall_of_fame.csv"

    def _write(self, file: pathlib.Path) -> None:
        """The front with PySR's columns. A file that cannot be written is a warning: raised by
        fit(), an error would lose the front of the search."""
        lines = ["Complexity,Loss,Equation"]
        for row in self._front:
            quoted = row.equation.replace('"', '""')
            lines.append(f'{row.complexity},{row.loss!r},"{quoted}"')
        try:
            _files.replace(file, ("\n".join(lines) + "\n").encode())
        except OSError as error:
            warnings.warn(f"fit: output_directory: {file}: cannot write: {error.strerror}; the "
                          "front is in equations_", RuntimeWarning, stacklevel=4)

    # ----------------------------------------------------------------------------- front

    def _rows(self) -> list[Row]:
        if self._outputs:
            raise ValueError(f"this estimator has {len(self._outputs)} targets: use "
                             "estimators_[k], each with a front of its own")
        if not hasattr(self, "_front"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call "
                                 "'fit' with appropriate arguments before using this estimator.")
        return self._front

    @property
    def estimators_(self) -> list[SymbolicRegressor]:
        """An estimator for each column of y; this one where y has one."""
        if not self._outputs:
            self._rows()
        return self._outputs or [self]

    @property
    def remarks_(self) -> list[str]:
        """What the table cannot decide, or what its noise looks like, in sentences."""
        self._rows()
        dates = self._dates.say(self.variable_names_) if self._dates else []
        return [*self._remarks, *dates]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_front") or bool(self._outputs)

    def _index(self, index: Any) -> int:
        rows = self._rows()
        if index is None:
            rule = self._rule()
            if rule not in self._chosen:
                raise ValueError(f"model_selection: {rule!r} chooses no row of this front; choose "
                                 f"one of {', '.join(self._chosen)}, or give index")
            return self._chosen[rule]
        at = whole("index", index, -INT_MAX)
        if not -len(rows) <= at < len(rows):
            raise IndexError(f"index: expected a row of the front, 0 to {len(rows) - 1}, "
                             f"found {at}")
        return at % len(rows)

    @property
    def equations_(self) -> Any:
        """The front: a DataFrame where pandas is installed, else a list of dicts.

        test_loss, test_r2: after fit(X_test=, y_test=). A list of fronts for several targets."""
        if self._outputs:
            return [each.equations_ for each in self._outputs]
        names = ["complexity", "loss", "score", "equation", "description_length"]
        if any(not np.isnan(r.test_loss) for r in self._rows()):
            names += ["test_loss", "test_r2"]
        return _table([{name: getattr(r, name) for name in names} for r in self._rows()], names)

    @property
    def alternatives_(self) -> Any:
        """Other functions as good as the one that "best" chooses, after alternatives=N.

        nats: how much longer the description is. A DataFrame where pandas is installed, else a list
        of dicts; empty with alternatives=0, where none was found, and after an interrupt.
        """
        self._rows()
        tested = any("test_loss" in row for row in self._alternatives)
        return _table(list(self._alternatives), [
            "complexity", "loss", "nats", "equation", "description_length",
            *(["test_loss", "test_r2"] if tested else [])])

    def get_best(self, index: int | None = None) -> Any:
        """The row of equations_ that model_selection chooses, or number `index`."""
        at, equations = self._index(index), self.equations_
        return equations[at] if isinstance(equations, list) else equations.iloc[at]

    def predict(self, X: Any, index: int | None = None, category: Any = None) -> np.ndarray:
        """Values of the chosen formula, or of row `index`; NaN where it has none.

        category: the category of each row, after fit(category=...). (rows, targets) for several
        targets.
        """
        if self._outputs:
            return np.column_stack([each.predict(X, index, category) for each in self._outputs])
        at = self._index(index)
        X, names = table(self, X), self.variable_names_
        if not self._category and category is not None:
            raise ValueError("predict: category: the estimator was fitted without one")
        row, codes = self._front[at], None
        if self._category and category is not None:
            codes = self._category.codes(category, len(X))
        if self._category and row.category:
            if codes is None:
                raise ValueError("predict: category: expected one for each row, found None")
            names = [*names, *self._category.constants(len(row.category))]
            X = np.column_stack([X.astype(float), np.array(row.category)[:, codes].T])
        return evaluate(row.equation, names, X, self._define)

    def outside(self, X: Any, index: int | None = None) -> np.ndarray:
        """Rows in which a column of the formula is outside the range of the fit: extrapolations.

        True for each such row of X, for the chosen formula or that of row `index`. A formula that
        fits may be far off there; symreg predict notes such rows.
        """
        row = self._rows()[self._index(index)]
        X, names = table(self, X), self.variable_names_
        if self._ranges is None:
            raise ValueError("outside: the ranges of the columns are not known: they are those of "
                             "fit(), or of a front.json")
        used = columns_of(row.equation, names if not self._category else [
            *names, *self._category.constants(len(row.category))], self._define)
        of = [i for i in used if i < len(names)]
        low, high = np.array(self._ranges, float)[of].T if of else (0, 0)
        return ((X[:, of] < low) | (X[:, of] > high)).any(axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None, category: Any = None) -> float:
        """The coefficient of determination R^2 of predict(X, category=category)."""
        return r_squared(y, self.predict(X, category=category), sample_weight)

    def category_constants(self, index: int | None = None) -> Any:
        """The constants of each category, after fit(category=...), with their standard errors.

        A row for each category: a DataFrame where pandas is installed, else a list of dicts.
        """
        row, of = self._rows()[self._index(index)], self._category
        if not of:
            raise ValueError("category_constants: the estimator was fitted without category")
        names, rows = of.constants(len(row.category)), []
        for k, label in enumerate(of.labels):
            rows.append({of.name: label})
            for name, values, errors in zip(names, row.category, row.category_errors):
                rows[-1].update({name: values[k], f"{name}_standard_error": errors[k]})
        return _table(rows, list(rows[0]))

    def predict_interval(self, X: Any, index: int | None = None, *, level: float = 0.95,
                         sigma: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Bounds (low, high) between which new observations lie with the probability `level`.

        They include the uncertainty of the formula's constants and the noise: the scatter of the
        residuals, or `sigma`, the standard deviation of the noise of each row, or of all rows (0:
        the formula's own value). NaN where the formula has no value. For elementwise_loss "l2".
        """
        row = self._rows()[self._index(index)]
        share = number("level", level)
        if not 0 < share < 1:
            raise ValueError(f"level: expected a probability between 0 and 1, such as 0.95, found "
                             f"{level!r}")
        X = table(self, X)
        sigma = None if sigma is None else doubles("sigma", sigma)
        noise = row.variance if sigma is None else sigma**2
        if sigma is not None and np.any(np.less(sigma, 0)):
            raise ValueError("sigma: expected standard deviations of at least 0, found "
                             f"{np.min(sigma):g}")
        if np.ndim(noise) and np.shape(noise) != (len(X),):
            raise ValueError(f"sigma: expected a number or {len(X)}, one a row, found shape "
                             f"{np.shape(noise)}")
        if sigma is None and self._sigma:
            raise ValueError("predict_interval: sigma: expected that of the new rows, as the fit "
                             "had standard deviations of its own")
        if len(row.covariance) != len(row.constants) * (len(row.constants) + 1) // 2:
            raise ValueError("predict_interval: a pickle of an older version lacks the uncertainty "
                             "of constants: fit again")
        if not np.isfinite([row.variance, *row.covariance]).all():
            raise ValueError("predict_interval: expected a formula whose constants the rows "
                             "determine by least squares (elementwise_loss \"l2\"), found "
                             f"{row.equation}")
        return interval(row, self.variable_names_, X, self._define, share, noise)

    def sympy(self, index: int | None = None) -> Any:
        """The formula as an expression of SymPy."""
        try:
            import sympy
        except ImportError as error:
            raise ImportError(f"sympy: expected the package sympy: pip install sympy ({error})"
                              ) from error
        return sympy.sympify(self._rows()[self._index(index)].sympy, locals=sympy_names())

    def _source(self, index: int | None, notation: int, free: bool) -> _export.Source:
        row = self._rows()[self._index(index)]
        equation = row.equation
        if row.category:
            raise ValueError("the formula has constants of each category, which are no columns of "
                             "X: use predict(X, category=...) or sympy()")
        return _export.source(equation, self.variable_names_, self._define, notation, free,
                              getattr(self, "feature_names_in_", None))

    def numpy(self, index: int | None = None) -> _export.NumpyFunction:
        """The formula as a function of an array (n, features); `source` is its text."""
        return _export.NumpyFunction(self._source(index, _library.NUMPY, False))

    def jax(self, index: int | None = None) -> dict[str, Any]:
        """{"callable": a function of X and parameters, "parameters": the formula's constants}.

        In float32, with a warning, unless jax_enable_x64 is set.
        """
        return _export.jax_function(self._source(index, _library.JAX, True))

    def pytorch(self, index: int | None = None) -> Any:
        """The formula as a torch.nn.Module of X (n, features), whose `constants` can be trained."""
        return _export.torch_module(self._source(index, _library.PYTORCH, True))

    def constants(self, index: int | None = None) -> Any:
        """The formula's numbers and their standard errors, in the order of the equation.

        low and high are 95% profile intervals, infinite where there is no bound; a row that no rule
        chooses has none (NaN). Errors are those of least squares (elementwise_loss "l2"), NaN where
        the rows do not determine them. A DataFrame where pandas is installed, else a list of dicts.
        """
        row = self._rows()[self._index(index)]
        none = (float("nan"),) * len(row.constants)
        return _table([{"value": value, "standard_error": error, "low": low, "high": high}
                       for value, error, low, high in zip(row.constants, row.errors,
                                                          row.low or none, row.high or none)],
                      ["value", "standard_error", "low", "high"])

    def latex(self, index: int | None = None) -> str:
        return self._rows()[self._index(index)].latex

    def mathml(self, index: int | None = None) -> str:
        """The formula as the content of a <math> element of HTML."""
        row, names = self._rows()[self._index(index)], self.variable_names_
        if row.mathml or row.category:
            return row.mathml
        # (of an older pickle)
        return Formula(row.equation, names, self._define).write(_library.MATHML)

    def latex_table(self, indices: Sequence[int] | None = None) -> str:
        """A tabular of the front, or of some of its rows."""
        rows = self._rows()
        chosen = rows if indices is None else [rows[self._index(i)] for i in indices]
        return _present.latex_table(chosen)

    def __str__(self) -> str:
        if self._outputs:
            return "\n".join(str(each) for each in self._outputs)
        if not hasattr(self, "_front"):
            return repr(self)
        front = _present.text(self._front, self._chosen)
        return "\n".join([front, *filter(None, [self._answer()])])

    def __repr__(self, *given: Any, **more: Any) -> str:
        lines = [super().__repr__(*given, **more)]
        if not self._outputs and hasattr(self, "_front"):
            lines += filter(None, [self._answer()])
        return "\n".join(lines)

    def _answer(self) -> str:
        return _present.answer(self._front, self._chosen, self.model_selection)

    def _repr_html_(self) -> str:
        if self._outputs:
            return "".join(each._repr_html_() for each in self._outputs)
        if not hasattr(self, "_front"):
            import html

            return f"<pre>{html.escape(repr(self))}</pre>"
        return _present.page(self._front, self._chosen, self._chosen.get(self.model_selection))

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}
