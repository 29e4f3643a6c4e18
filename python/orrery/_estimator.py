"""What an estimator inherits: scikit-learn's classes where it is installed, else as much of them
as SymbolicRegressor needs. Validation raises the same exceptions either way."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from ._arguments import array_of, floats, usual
from ._dates import Dates
from ._frames import Table, columns_are, table_of

__all__ = ["SKLEARN", "BaseEstimator", "NotFittedError", "RegressorMixin", "clone", "r_squared",
           "table", "table_and_target", "weights_of"]

try:
    from sklearn.base import BaseEstimator, RegressorMixin, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import validate_data

    SKLEARN = True
except ImportError:
    SKLEARN = False

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An attribute of a fit was asked for before fit()."""

    class BaseEstimator:  # type: ignore[no-redef]
        @classmethod
        def _get_param_names(cls) -> list[str]:
            parameters = inspect.signature(cls.__init__).parameters.values()
            return sorted(p.name for p in parameters
                          if p.name != "self" and p.kind != p.VAR_KEYWORD)

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> Any:
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator "
                                     f"{type(self).__name__}. Valid parameters are: {known!r}.")
                setattr(self, name, value)
            return self

        def __getstate__(self) -> dict[str, Any]:
            return dict(self.__dict__)

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self).__init__).parameters
            changed = [f"{k}={v!r}" for k, v in self.get_params().items()
                       if repr(v) != repr(defaults[k].default)]
            return f"{type(self).__name__}({', '.join(changed)})"

    class RegressorMixin:  # type: ignore[no-redef]
        pass

    def clone(estimator: Any) -> Any:  # type: ignore[no-redef]
        return type(estimator)(**estimator.get_params())


def r_squared(y: Any, predicted: np.ndarray, weights: Any = None) -> float:
    """The coefficient of determination R^2 of predictions, as scikit-learn has it."""
    if SKLEARN:
        from sklearn.metrics import r2_score

        return float(r2_score(usual("y", y), predicted,
                              sample_weight=usual("sample_weight", weights)))
    y = floats("y", array_of("y", y))
    if y.shape != predicted.shape:
        raise ValueError(f"y: expected shape {predicted.shape}, found {y.shape}")
    _finite("y", y)
    _finite("the predictions", predicted)
    w = np.ones_like(y) if weights is None else weights_of(weights, len(y))
    residual = np.sum(w * (y - predicted) ** 2)
    spread = np.sum(w * (y - np.average(y, weights=w)) ** 2)
    return float(1 - residual / spread) if spread else float(residual == 0)


def _finite(name: str, array: np.ndarray) -> None:
    if not np.isfinite(array).all():
        what = "NaN" if np.isnan(array).any() else "infinity"
        raise ValueError(f"Input {name} contains {what}.")


def _plain_table(estimator: Any, given: Table, reset: bool) -> np.ndarray:
    names = given.names
    array = floats("X", array_of("X", given.values))
    if array.ndim != 2:
        raise ValueError(f"X: Expected 2D array, got {array.ndim}D array instead. Reshape your "
                         "data with X.reshape(-1, 1) if it has a single column")
    if 0 in array.shape:
        raise ValueError(f"X: expected rows and columns, found shape {array.shape}")
    _finite("X", array)
    if reset:
        estimator.n_features_in_ = array.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        kinds = sorted({type(n).__name__ for n in names or ()})
        texts = [isinstance(n, str) for n in names or ()]
        if any(texts) and not all(texts):
            raise TypeError("Feature names are only supported if all input features have string "
                            f"names, but your input has {kinds} as feature name / column name "
                            "types.")
        if any(texts):
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif array.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {array.shape[1]} features, but {type(estimator).__name__} is "
                         f"expecting {estimator.n_features_in_} features as input")
    elif hasattr(estimator, "feature_names_in_"):
        columns_are(names, estimator.feature_names_in_)
    return array


def _is_for_sklearn(X: Table) -> bool:
    """An array, or a DataFrame whose names scikit-learn reads, too."""
    return SKLEARN and (X.names is None or not isinstance(X.values, np.ndarray))


def _read(estimator: Any, X: Any, reset: bool) -> Table:
    """X with days in place of dates. reset: estimator._dates is made anew, else it says which."""
    if reset:
        estimator._dates = Dates()
    return table_of("X", X, keep=SKLEARN, dates=estimator._dates, known=not reset)


def table(estimator: Any, X: Any, reset: bool = False) -> np.ndarray:
    """X of predict(): (rows, columns), finite, float32 or float64."""
    given = _read(estimator, X, reset)
    if _is_for_sklearn(given):
        checked: np.ndarray = validate_data(estimator, given.values, reset=reset,
                                            dtype=[np.float64, np.float32])
        return checked
    return _plain_table(estimator, given, reset)


def table_and_target(estimator: Any, X: Any, y: Any,
                     reset: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """X and y of fit(); sets n_features_in_ and, for a table with names, feature_names_in_.

    reset=False: X and y of refit(), whose columns are those of the fit."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is "
                         "None")
    given, plain_y = _read(estimator, X, reset), array_of("y", y)
    if plain_y.dtype.kind == "O" and plain_y.ndim:
        y = floats("y", plain_y)
    else:
        y = usual("y", y) if hasattr(y, "dtype") else plain_y
    if _is_for_sklearn(given):
        both: tuple[np.ndarray, np.ndarray] = validate_data(
            estimator, given.values, y, reset=reset, dtype=[np.float64, np.float32],
            y_numeric=True, ensure_min_samples=2)
        return both
    x, target = _plain_table(estimator, given, reset), floats("y", plain_y)
    if target.ndim == 2 and target.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected", UserWarning,
                      stacklevel=4 if reset else 3)
        target = target.ravel()
    if target.ndim != 1:
        raise ValueError(f"y: expected a 1d array, found shape {target.shape}")
    if len(target) != len(x):
        raise ValueError("Found input variables with inconsistent numbers of samples: "
                         f"[{len(x)}, {len(target)}]")
    if len(x) < 2:
        raise ValueError("Found array with 1 sample(s) while a minimum of 2 is required.")
    _finite("y", target)
    return x, target


def weights_of(weights: Any, rows: int, name: str = "weights") -> np.ndarray | None:
    """A number of at least 0 for each row; sigma: above 0."""
    if weights is None:
        return None
    if isinstance(weights, str):
        raise ValueError(f"{name}: expected numbers, found {weights!r}")
    weights = array_of(name, weights)
    try:
        array = floats(name, weights)
    except ValueError:
        raise ValueError(f"{name}: expected numbers, found {weights.dtype}") from None
    if array.shape != (rows,):
        raise ValueError(f"{name}: expected shape ({rows},), found {array.shape}")
    _finite(name, array)
    least = "above 0" if name == "sigma" else "at least 0"
    if (array < 0).any() or (name == "sigma" and (array == 0).any()):
        raise ValueError(f"{name}: expected {least}, found {array.min():g}")
    if not array.any():
        raise ValueError(f"{name}: expected a weight above 0, found zero in every row")
    return array


def ends_of(y: Any, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The ends of intervals in place of y; NaN is an open end, as infinity is."""
    if low is None and high is None:
        return None
    if low is None or high is None:
        raise ValueError("y_low, y_high: expected both, found one")
    if y is not None:
        raise ValueError("y: expected y, or y_low and y_high in its place, found all")
    ends = []
    for name, given, open_end in (("y_low", low, -np.inf), ("y_high", high, np.inf)):
        array = floats(name, array_of(name, given))
        if array.ndim != 1:
            raise ValueError(f"{name}: expected a 1d array, found shape {array.shape}")
        ends.append(np.where(np.isnan(array), open_end, array))
    if len(ends[0]) != len(ends[1]):
        raise ValueError(f"y_high: expected {len(ends[0])} numbers as y_low has, found "
                         f"{len(ends[1])}")
    for row, (a, b) in enumerate(zip(*ends)):
        if a > b:
            raise ValueError(f"y_low, y_high: row {row}: expected the low end up to the high end, "
                             f"found {a:g} above {b:g}")
        if np.isinf(a) and np.isinf(b):
            raise ValueError(f"y_low, y_high: row {row}: expected an interval with an end, found "
                             f"{a:g} to {b:g}")
    return ends[0], ends[1]


def middles(ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """What stands for intervals as numbers: their middles, or their finite ends."""
    low, high = ends
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(low), high, np.where(np.isinf(high), low, low + (high - low) / 2))


def sigmas_of(sigma_x: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Standard deviations of X, one for all, for each column or each number, as an array like X."""
    if sigma_x is None:
        return None
    sigma_x = array_of("sigma_x", getattr(sigma_x, "to_numpy", lambda: sigma_x)())
    try:
        array = np.array(np.broadcast_to(floats("sigma_x", sigma_x), shape))
    except ValueError:
        raise ValueError(f"sigma_x: expected numbers: one, {shape[1]} (one a column) or shape "
                         f"{shape}, found {sigma_x.dtype} of shape {sigma_x.shape}") from None
    _finite("sigma_x", array)
    if (array < 0).any():
        raise ValueError(f"sigma_x: expected at least 0, found {array.min():g}")
    return array
