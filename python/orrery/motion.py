"""Equations of motion from tracks, by the programs `symreg motion` and `symreg simulate`."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _library as lib
from ._arguments import array_of, flag, floats, is_missing, number, threads, whole
from ._estimator import BaseEstimator, NotFittedError, r_squared
from ._export import NumpyFunction, source
from ._files import member, parse_json, read_text, replace, there
from ._frames import _names, columns_are, table_of
from ._programs import quoted, run, write_table
from ._search import free_name
from ._terms import terms_of
from .regressor import SymbolicRegressor

__all__ = ["Motion", "force_law"]


def _finite(name: str, array: np.ndarray, columns: Sequence[str]) -> np.ndarray:
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, k = bad[0]
        raise ValueError(f"{name}: row {row}, column {columns[k]!r}: expected a finite number, "
                         f"found {array[row, k]}")
    return array


def _table(name: str, values: Any, letter: str) -> tuple[np.ndarray, list[str], bool]:
    """Numbers (n, k), the names of their columns, and whether the table had these names (texts:
    the numbers of a DataFrame's columns are no names)."""
    label = getattr(values, "name", None)  # of a Series
    values, given = table_of(name, values, keep=False)
    if given is None and np.ndim(values) == 1 and isinstance(label, str):
        given = [label]
    if given is not None and not all(isinstance(of, str) for of in given):
        given = None
    array = floats(name, array_of(name, values)).astype(np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name}: expected shape (n, columns), found {array.shape}; tracks are a "
                         "list of such arrays" if array.ndim > 2 else
                         f"{name}: expected shape (n, columns), found {array.shape}")
    names = [f"{letter}{k}" for k in range(array.shape[1])] if given is None else given
    return _finite(name, array, names), names, given is not None


def _times(t: Any, rows: int) -> np.ndarray:
    """Times (rows); of one number, the step, from 0 on."""
    array = floats("t", array_of("t", t)).astype(np.float64)
    if array.ndim == 0:
        if not array > 0:
            raise ValueError(f"t: expected times, or a step above 0, found {array}")
        return array * np.arange(rows)
    if array.ndim != 1:
        raise ValueError(f"t: expected times of shape (n,), found {array.shape}: fit(t, X) has the "
                         "times first")
    if len(array) != rows:
        raise ValueError(f"t: expected {rows} times, as X has rows, found {len(array)}")
    return _finite("t", array[:, None], ["t"])[:, 0]


def _rise(t: np.ndarray, track: Sequence[Any] | np.ndarray | None = None) -> None:
    """Refuses times that do not rise along the rows of each track."""
    labels = np.zeros(len(t)) if track is None else np.asarray(track)
    for label in dict.fromkeys(labels.tolist()):
        rows = np.flatnonzero(labels == label)
        bad = np.flatnonzero(~(np.diff(t[rows]) > 0))
        if len(bad):
            row, of = rows[bad[0] + 1], "" if track is None else f" of track {label!r}"
            raise ValueError(f"t: row {row}{of}: expected times that rise, found {t[row]:g} after "
                             f"{t[rows[bad[0]]]:g}")


def _labels(name: str, values: Any, rows: int) -> list[str]:
    labels = np.asarray(values, dtype=object).ravel().tolist()
    if len(labels) != rows:
        raise ValueError(f"{name}: expected {rows} values, as X has rows, found {len(labels)}")
    for row, label in enumerate(labels):
        if is_missing(label) or str(label) == "":
            raise ValueError(f"{name}: row {row}: expected a name or a number, found {label!r}")
    return [*map(str, labels)]


def _is_list(of: Any, least: int) -> bool:
    """Whether these are values of several tracks, which have at least so many dimensions."""
    return isinstance(of, (list, tuple)) and len(of) > 0 and all(np.ndim(v) >= least for v in of)


def _taken(X: Any, wanted: Any, what: str) -> list[str]:
    """The columns of a table that an argument names."""
    names = [wanted] if isinstance(wanted, str) else [*wanted]
    for name in names:
        if not isinstance(name, str) or name not in map(str, _names(X) or []):
            raise ValueError(f"{what}: expected a column of X, found {name!r}; its columns are "
                             f"{', '.join(map(str, _names(X) or [])) or 'without names'}")
    return names


class _Tracks:
    """The rows of all tracks, one below the other: t (n), X (n, k), u (n, m), track (n) and
    category (n)."""

    def __init__(self, t: Any, X: Any, u: Any, track: Any, category: Any = None):
        self.time, self.category_name = "t", "category"
        self.track: list[str] | None = None
        self.category: list[str] | None = None
        if X is None:
            raise ValueError("X: expected numbers, found None")
        if _is_list(X, 2) or (_is_list(X, 1) and _is_list(t, 1)):
            self._join(t, X, u, track, category)
        else:
            self._read(t, X, u, track, category)
        _rise(self.t, self.track)

    def _read(self, t: Any, X: Any, u: Any, track: Any, category: Any) -> None:
        if isinstance(t, str):  # (a table that has everything)
            self.time, = _taken(X, t, "t")
            inputs: list[str] = [] if u is None else _taken(X, u, "u")
            tracks: list[str] = [] if track is None else _taken(X, track, "track")
            kinds: list[str] = [] if category is None else _taken(X, category, "category")
            rest = [name for name in map(str, _names(X) or [])
                    if name not in (self.time, *inputs, *tracks, *kinds)]
            if kinds:
                self.category_name, category = category, X[category]
            t, u, track = X[t], X[inputs] if inputs else None, X[track] if tracks else None
            X = X[rest]
        self.X, self.states, self.named = _table("X", X, "x")
        self.t = _times(t, len(self.X))
        if track is not None:
            self.track = _labels("track", track, len(self.X))
        if category is not None:
            self.category = _labels("category", category, len(self.X))
        self.u, self.inputs = np.empty((len(self.X), 0)), list[str]()
        if u is not None:
            self.u, self.inputs, _ = _table("u", u, "u")
            if len(self.u) != len(self.X):
                raise ValueError(f"u: expected {len(self.X)} rows, as X has, found {len(self.u)}")

    def _join(self, t: Any, X: Sequence[Any], u: Any, track: Any, category: Any) -> None:
        if track is not None:
            raise ValueError("track: expected none, as X is a list of tracks")
        parts = []
        for name, of, least in (("t", t, 1), ("u", u, 2)):
            if _is_list(of, least) and len(of) != len(X):
                raise ValueError(f"{name}: expected {len(X)} tracks, as X has, found {len(of)}")
        column = category if isinstance(category, str) else None
        if category is not None and column is None and np.shape(category) != (len(X),):
            raise ValueError(f"category: expected one value for each of {len(X)} tracks, found "
                             f"the shape {np.shape(category)}")
        for k, part in enumerate(X):
            try:
                parts.append(_Tracks(t[k] if _is_list(t, 1) else t, part,
                                     u[k] if _is_list(u, 2) else u, None, column))
            except ValueError as error:
                raise ValueError(f"track {k}: {error}") from None
        first = parts[0]
        for k, part in enumerate(parts):
            if (part.states, part.inputs, part.time) != (first.states, first.inputs, first.time):
                raise ValueError(f"track {k}: X: expected the columns {', '.join(first.states)}, "
                                 f"found {', '.join(part.states)}")
        self.time, self.states, self.inputs = first.time, first.states, first.inputs
        self.named = first.named
        self.t, self.X, self.u = (np.concatenate([getattr(part, name) for part in parts])
                                  for name in ("t", "X", "u"))
        self.track = [str(k) for k, part in enumerate(parts) for _ in part.t]
        if column is not None:
            self.category_name = column
            self.category = [label for part in parts for label in part.category or []]
        elif category is not None:
            self.category = _labels("category", np.repeat(np.asarray(category, dtype=object),
                                                          [len(part.t) for part in parts]),
                                    len(self.track))

    def each(self) -> list[np.ndarray]:
        """The rows of each track."""
        labels = np.asarray(self.track or [""] * len(self.t))
        return [np.flatnonzero(labels == label) for label in dict.fromkeys(labels.tolist())]


class Motion(BaseEstimator):
    """Equations of motion from tracks of any system, as `symreg motion` finds them.

    order: 1, dx/dt = f(x), or 2, accelerations of positions. explicit_time: whether equations may
    contain the time. seconds: of the search of each equation. binary_operators, unary_operators,
    maxsize, random_state and n_jobs: those of SymbolicRegressor. units: of the columns, {"x": "m",
    "t": "s"}. programs: the folder of Orrery's programs, where it is not beside the package.

    After fit(): equations_ (texts, the derivative of each state), constants_ and standard_errors_
    (for each equation the numbers in its order; NaN of a number without an error), intervals_
    (their 95% intervals by profiles of the likelihood, arrays (numbers, 2); NaN where there is
    none), conserved_ (dicts of formula and change), noise_ (standard deviation of each state),
    residual_ (of the solutions, in standard deviations of the noise), chosen_by_track_,
    feature_names_in_, velocity_names_ (of order 2), input_names_, text_ (what the program prints).
    With categories: categories_ (texts), category_constants_ and category_standard_errors_, dicts
    by the names of constants in equations_, c1[run], of dicts by categories.
    """

    def __init__(self, *, order: int = 1, explicit_time: bool = False, seconds: float = 60,
                 binary_operators: Sequence[str] | None = None,
                 unary_operators: Sequence[str] | None = None, maxsize: int | None = None,
                 units: Mapping[str, str] | None = None, random_state: int | None = None,
                 n_jobs: int | None = None, programs: str | os.PathLike[str] | None = None):
        self.order = order
        self.explicit_time = explicit_time
        self.seconds = seconds
        self.binary_operators = binary_operators
        self.unary_operators = unary_operators
        self.maxsize = maxsize
        self.units = units
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.programs = programs

    def _options(self) -> list[str]:
        options = _search_options(self.seconds, self.maxsize, self.random_state, self.n_jobs)
        for name in ("binary", "unary"):
            operators = getattr(self, f"{name}_operators")
            if operators is None:
                continue
            if isinstance(operators, str) or not all(isinstance(of, str) for of in operators):
                raise ValueError(f"{name}_operators: expected a list of names, found "
                                 f"{operators!r}")
            options += [f"--{name}", ",".join(operators)]
        if self.units is not None:
            if not isinstance(self.units, Mapping):
                raise ValueError(f"units: expected a dict, {{'x': 'm'}}, found {self.units!r}")
            options += ["--units", ",".join(f"{quoted(k)}={v}" for k, v in self.units.items())]
        return options + ["--explicit-time"] * flag("explicit_time", self.explicit_time)

    def fit(self, t: Any, X: Any, *, u: Any = None, track: Any = None, category: Any = None
            ) -> Motion:
        """Finds the equations of the states X (n, k) at times t (n), or at one step.

        X may be a DataFrame, whose columns name the states, or a list of tracks, as t and u then
        may be. u: known inputs (n, m). track: which track each row is of. category: a value for
        each row, one in each track, or with a list of tracks for each of them: some constants of
        the equations are of each value. With a DataFrame t, u, track and category may also be names
        of its columns; all other columns are states.
        """
        order = whole("order", self.order, 1, 2)
        options, of = self._options(), _Tracks(t, X, u, track, category)
        columns = dict(zip([of.time, *of.states, *of.inputs],
                           [of.t.tolist(), *of.X.T.tolist(), *of.u.T.tolist()]))
        if len(columns) != 1 + len(of.states) + len(of.inputs):
            raise ValueError("X: expected names of states and inputs that differ from each other "
                             f"and from {of.time!r}, the time, found "
                             f"{', '.join([*of.states, *of.inputs])}")
        options += _columns(order, of.time, of.states, of.inputs)
        if of.track is not None:
            name = free_name("track", [*columns])
            options += ["--track", name]
            columns[name] = of.track
        if of.category is not None:
            name = free_name(of.category_name, [*columns])
            options += ["--category", quoted(name)]
            columns[name] = of.category
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "tracks.csv"
            write_table(file, columns)
            self._run(file, "tracks", options)
        self._named = of.named
        return self

    def fit_file(self, path: str | os.PathLike[str], t: str, states: Sequence[str], *,
                 u: Sequence[str] = (), track: str | None = None, category: str | None = None
                 ) -> Motion:
        """fit() of columns of a file, which the program reads: CSV, .gz, layouts of
        astronomy. Errors name file, line and column."""
        lists = [[name] if isinstance(name, str) else [*name] for name in (states, u)]
        for name in (t, *lists[0], *lists[1], *([] if track is None else [track]),
                     *([] if category is None else [category])):
            if not isinstance(name, str) or not name:
                raise ValueError(f"fit_file: expected names of columns, found {name!r}")
        if not lists[0]:
            raise ValueError("states: expected names of columns, found none")
        options = self._options() + _columns(whole("order", self.order, 1, 2), t, *lists)
        options += [] if track is None else ["--track", quoted(track)]
        options += [] if category is None else ["--category", quoted(category)]
        self._run(pathlib.Path(path), str(path), options)
        self._named = True
        return self

    def _run(self, file: pathlib.Path, called: str, options: list[str]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "motion"
            self.text_ = run(self.programs, ["motion", str(file), *options, "--out", str(out)],
                             file, called)
            self._file = (out / "equations.json").read_text(encoding="utf-8")
            self._python = (out / "equations.py").read_text(encoding="utf-8")
        self._adopt(json.loads(self._file))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *,
                  programs: str | os.PathLike[str] | None = None) -> Motion:
        """The equations that `symreg motion --out DIR` wrote to DIR/equations.json, or save()."""
        text = read_text(there(pathlib.Path(path)))
        found = parse_json(text, str(path))
        for key in ("equations", "columns", "constants", "standard_errors", "conserved", "noise",
                    "latex"):
            member(found, key, list, str(path))
        model = cls(order=int(member(found, "order", float, str(path))), programs=programs)
        member(found, "time", str, str(path))
        for key in ("residual", "chosen_by_track", "explicit_time"):
            if key not in found:
                member(found, key, object, str(path))
        model._file, model._python, model._named = text, "", True
        model._adopt(found)
        model.explicit_time = model._of_time
        before, behind = ("d2", "2") if model.order == 2 else ("d", "")
        model.text_ = "\n\n" + "\n".join(
            f"{before}{name}/d{model._time}{behind} = {of}"
            for name, of in zip(model.feature_names_in_, model.equations_))
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file of from_file() and `symreg simulate`."""
        self._fitted()
        replace(path, self._file.encode())

    def _adopt(self, found: dict[str, Any]) -> None:
        """The attributes of a fit, of what equations.json has."""
        self.equations_: list[str] = found["equations"]
        self.constants_ = [np.array(row, float) for row in found["constants"]]
        self.standard_errors_ = [np.array(row, float) for row in found["standard_errors"]]
        none = [np.full(len(row), np.nan) for row in self.constants_]  # of an older file
        self.intervals_ = [np.array(bounds, float).T for bounds in zip(
            found.get("interval_low", none), found.get("interval_high", none))]
        self.conserved_: list[dict[str, Any]] = found["conserved"]
        self.noise_, self.residual_ = np.array(found["noise"], float), found["residual"]
        self.chosen_by_track_: bool = found["chosen_by_track"]
        self.feature_names_in_ = np.array(found["columns"], dtype=object)
        self.n_features_in_ = len(found["columns"])
        self.velocity_names_: list[str] = found.get("velocities", [])
        self.input_names_: list[str] = found.get("inputs", [])
        self._time, self._latex = found["time"], found["latex"]
        self._of_time = found["explicit_time"]
        self.categories_: list[str] = found.get("category", {}).get("values", [])
        constants = found.get("category_constants", [])
        self.category_constants_, self.category_standard_errors_ = (
            {of["name"]: dict(zip(self.categories_, map(float, np.array(of.get(
                key, [np.nan] * len(self.categories_)), float)))) for of in constants}
            for key in ("values", "standard_errors"))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "equations_")

    def _fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This Motion instance is not fitted yet. Call 'fit' first.")

    def __str__(self) -> str:
        """The equations as the program prints them, with standard errors."""
        if not self.__sklearn_is_fitted__():
            return repr(self)
        start = max(self.text_.rfind("\n\n") + 2, 0)
        return self.text_[start:].rstrip("\n")

    def print(self) -> None:
        """Prints the equations with the standard errors of their constants."""
        self._fitted()
        print(self)

    def get_feature_names(self) -> list[str]:
        """The terms of all equations, multiplied out: columns of coefficients()."""
        self._fitted()
        terms = dict.fromkeys(term for text in self.equations_ for term in terms_of(text))
        return sorted(terms, key=lambda term: (term != "1", len(term), term))

    def coefficients(self) -> np.ndarray:
        """The coefficient (k, terms) of each term in each equation, as pysindy's: terms are those
        of get_feature_names(), multiplied out; functions and sums below a fraction are factors."""
        names = self.get_feature_names()
        return np.array([[terms_of(text).get(name, 0.0) for name in names]
                         for text in self.equations_])

    def latex(self) -> list[str]:
        """The right-hand side of each equation as LaTeX."""
        self._fitted()
        return list(self._latex)

    def to_python(self) -> Callable[..., np.ndarray]:
        """The system as a function rhs(t, state, input=()) of scipy.integrate.solve_ivp; with
        order 2 the state is the positions, then the velocities. With constants of each category
        its argument category_ is one of categories_. Its attribute `source` is the text
        of the program's equations.py; after from_file() it has none, as no file is executed."""
        self._fitted()
        if not self._python:
            return self._rhs
        names: dict[str, Any] = {}
        # the program's own text
        exec(compile(self._python, "equations.py", "exec"), names)  # noqa: S102
        names["rhs"].source = self._python
        made: Callable[..., np.ndarray] = names["rhs"]
        return made

    def _rhs(self, t: float, state: Any, input: Any = (), *, category_: Any = None) -> np.ndarray:
        x = np.asarray(state, float)
        rates = self.predict(x[None], t=t if self._of_time else None, category=category_,
                             u=np.atleast_2d(input) if self.input_names_ else None)[0]
        return np.concatenate([x[self.n_features_in_:], rates])

    def _category(self, category: Any, rows: int) -> list[str]:
        """The categories of rows, which fit() has seen; empty where equations have no constants of
        each."""
        if category is None:
            if self.category_constants_:
                raise ValueError("category: expected one of "
                                 f"{', '.join(map(repr, self.categories_))}, found none")
            return []
        if not self.categories_:
            raise ValueError("category: expected none, as fit() had none")
        labels = _labels("category", [category] * rows if np.ndim(category) == 0 else category,
                         rows)
        for row, label in enumerate(labels):
            if label not in self.categories_:
                raise ValueError(f"category: row {row}: expected one of "
                                 f"{', '.join(map(repr, self.categories_))}, found {label!r}")
        return labels if self.category_constants_ else []

    def predict(self, X: Any, *, t: Any = None, u: Any = None, category: Any = None) -> np.ndarray:
        """The derivatives (n, k) at states X (n, k); with order 2 the accelerations at positions
        and velocities X (n, 2 k). t: times (n) or one time, of equations with the time; u: inputs
        (n, m); category: of each row (n), or one of all."""
        self._fitted()
        states = [*self.feature_names_in_, *self.velocity_names_]
        parts, names = [self._shaped("X", X, states, None)], states + self.input_names_
        rows = len(parts[0])
        if self.input_names_:
            parts.append(self._shaped("u", u, self.input_names_, rows))
        elif u is not None:
            raise ValueError("u: expected none, as the equations have no inputs")
        if self._of_time:
            if t is None:
                raise ValueError("t: expected times, as the equations may contain the time")
            times = np.repeat(t, rows) if np.ndim(t) == 0 else t  # one time is no step here
            parts.append(_times(times, rows)[:, None])
            names.append(self._time)
        labels = self._category(category, rows)
        for name, of in self.category_constants_.items():
            parts.append(np.array([of[label] for label in labels])[:, None])
            names.append(name)
        everything = np.hstack(parts)
        return np.stack([NumpyFunction(source(text, names, None, lib.NUMPY, False))(everything)
                         for text in self.equations_], axis=1)

    def _shaped(self, name: str, values: Any, expected: list[str], rows: int | None) -> np.ndarray:
        if values is None:
            raise ValueError(f"{name}: expected the columns {', '.join(expected)}, found none")
        array, names, named = _table(name, values, name.lower())
        if array.shape[1] != len(expected) or rows not in (None, len(array)):
            raise ValueError(f"{name}: expected shape ({'n' if rows is None else rows}, "
                             f"{len(expected)}), of {', '.join(expected)}, found {array.shape}")
        if named and self._named and name != "X_dot":
            columns_are(names, expected)
        return array

    def simulate(self, x0: Any, t: Any, *, u: Any = None, category: Any = None) -> np.ndarray:
        """The solution (n, k) at times t (n) that starts from x0 at t[0], as `symreg simulate`.

        x0: (k), or a dict by names; with order 2 positions, then velocities, as the columns of the
        result, (n, 2 k). u: inputs (n, m) at the times t, lines between them. category: whose
        constants the equations have.
        """
        self._fitted()
        states = [*self.feature_names_in_, *self.velocity_names_]
        if isinstance(x0, Mapping):
            if sorted(map(str, x0)) != sorted(states):
                raise ValueError(f"x0: expected {', '.join(states)}, found "
                                 f"{', '.join(map(str, x0)) or 'nothing'}")
            x0 = [x0[name] for name in states]
        start = floats("x0", np.atleast_1d(array_of("x0", x0))).ravel()
        if len(start) != len(states) or not np.isfinite(start).all():
            raise ValueError(f"x0: expected {len(states)} finite numbers, of {', '.join(states)}, "
                             f"found {x0!r}")
        times = _times(t, np.size(t))
        if np.ndim(t) == 0 or not len(times):
            raise ValueError("t: expected times, from that of x0 on, found a number" if
                             np.ndim(t) == 0 else "t: expected times, found none")
        _rise(times)
        columns = {self._time: times.tolist()}
        if self.input_names_:
            inputs = self._shaped("u", u, self.input_names_, len(times))
            columns |= dict(zip(self.input_names_, inputs.T.tolist()))
        elif u is not None:
            raise ValueError("u: expected none, as the equations have no inputs")
        kind = self._category(category, 1)
        given = ",".join(f"{quoted(name)}={value!r}"
                         for name, value in zip(states, start.astype(float).tolist()))
        with tempfile.TemporaryDirectory() as folder:
            file, table = pathlib.Path(folder) / "equations.json", pathlib.Path(folder) / "t.csv"
            out = pathlib.Path(folder) / "solution.csv"
            file.write_text(self._file, encoding="utf-8")
            write_table(table, columns)
            run(self.programs, ["simulate", str(file), "--start", given, "--times", str(table),
                                "--out", str(out)]
                + (["--input", str(table)] if self.input_names_ else [])
                + (["--category", *kind] if kind else []), file, "equations")
            return np.loadtxt(out, delimiter=",", skiprows=1, ndmin=2)[:, 1:]

    def score(self, t: Any, X: Any, X_dot: Any = None, *, u: Any = None, track: Any = None,
              category: Any = None) -> float:
        """R^2 of the derivatives, the mean over the equations, as pysindy's score(); arguments are
        those of fit(). X_dot: the measured derivatives (n, k), accelerations with order 2; without
        them they are central differences of the tracks, whose noise and steps lower R^2."""
        self._fitted()
        of = _Tracks(t, X, u, track, category)
        if of.named and self._named:
            columns_are(of.states, self.feature_names_in_)
        self._shaped("X", of.X, [*self.feature_names_in_], None)
        states, rates = of.X, np.empty_like(of.X)
        if len(self.velocity_names_):
            states = np.hstack([of.X, np.empty_like(of.X)])
        for rows in of.each():
            if len(rows) < 3:
                raise ValueError(f"X: expected at least 3 rows of a track, found {len(rows)}")
            rates[rows] = np.gradient(of.X[rows], of.t[rows], axis=0, edge_order=2)
            if len(self.velocity_names_):
                states[rows, of.X.shape[1]:] = rates[rows]
                rates[rows] = np.gradient(rates[rows], of.t[rows], axis=0, edge_order=2)
        found = self.predict(states, t=of.t if self._of_time else None,
                             u=of.u if of.inputs else None, category=of.category)
        if X_dot is not None:
            rates = self._shaped("X_dot", X_dot, [*self.feature_names_in_], len(of.X))
        return float(np.mean([r_squared(a, b) for a, b in zip(rates.T, found.T)]))


def _columns(order: int, t: str, states: Sequence[str], inputs: Sequence[str]) -> list[str]:
    options = ["--time", quoted(t), "--state" if order == 1 else "--position",
               ",".join(map(quoted, states))] + ["--general"] * (order == 2)
    return options + (["--input", ",".join(map(quoted, inputs))] if inputs else [])


def _search_options(seconds: Any, maxsize: Any, random_state: Any, n_jobs: Any) -> list[str]:
    options = ["--seconds", repr(number("seconds", seconds))]
    if maxsize is not None:
        options += ["--maxsize", str(whole("maxsize", maxsize, 1))]
    if random_state is not None:
        options += ["--seed", str(whole("random_state", random_state))]
    jobs = threads(n_jobs)
    return options + (["--threads", str(jobs)] if jobs else [])


def force_law(t: Any, positions: Any, body: Any = None, mass: Any = None, *, system: Any = None,
              centre: Any = None, seconds: float = 60, random_state: int | None = None,
              n_jobs: int | None = None, programs: str | os.PathLike[str] | None = None
              ) -> SymbolicRegressor:
    """The law of force between bodies, as `symreg motion` finds it: a front of formulas of the
    distance r and the masses m1, m2, of the force F or the acceleration a.

    t (n), positions (n, 1 to 3), body: whose row it is, mass (n) or a dict by bodies. system:
    bodies of one value attract each other. centre: a point, a body's name or "fit". constants() of
    the result has standard errors from the noise of the positions.
    """
    X = _table("positions", positions, "x")[0]
    if isinstance(t, str) or np.ndim(t) != 1:
        raise ValueError(f"t: expected {len(X)} times, found {t!r:.60}")
    columns: dict[str, Any] = {"t": _times(t, len(X)).tolist()}
    columns |= {f"x{k}": column for k, column in enumerate(X.T.tolist())}
    options = _search_options(seconds, None, random_state, n_jobs)
    options += ["--time", "t", "--position", ",".join(f"x{k}" for k in range(X.shape[1]))]
    for name, of in (("body", body), ("system", system)):
        if of is not None:
            columns[name] = _labels(name, of, len(X))
            options += [f"--{name}", name]
    if mass is not None:
        if isinstance(mass, Mapping):
            known = {str(name): value for name, value in mass.items()}
            lost = [name for name in columns.get("body", []) if name not in known]
            if lost or body is None:
                raise ValueError(f"mass: expected a mass of each body, found none of {lost[0]!r}"
                                 if lost else "mass: expected numbers, as there is no body")
            mass = [known[name] for name in columns["body"]]
        masses = _table("mass", mass, "mass")[0]
        if masses.shape != (len(X), 1):
            raise ValueError(f"mass: expected shape ({len(X)},), found {masses.shape}")
        columns["mass"] = masses[:, 0].tolist()
        options += ["--mass", "mass"]
    if centre is not None:
        options += ["--centre", centre if isinstance(centre, str) else
                    ",".join(repr(number("centre", part)) for part in np.atleast_1d(centre))]
    with tempfile.TemporaryDirectory() as folder:
        file, out = pathlib.Path(folder) / "tracks.csv", pathlib.Path(folder) / "motion"
        write_table(file, columns)
        run(programs, ["motion", str(file), *options, "--out", str(out)], file, "tracks")
        return SymbolicRegressor.from_file(out / "front.json")
