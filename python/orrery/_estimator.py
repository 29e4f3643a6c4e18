"""What an estimator inherits: scikit-learn's classes where it is installed, else as much of them
as SymbolicRegressor needs. Validation raises the same exceptions either way."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from ._arguments import array_of

__all__ = ["SKLEARN", "BaseEstimator", "NotFittedError", "RegressorMixin", "table",
           "table_and_target", "weights_of"]

try:
    from sklearn.base import BaseEstimator, RegressorMixin
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

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self).__init__).parameters
            changed = [f"{k}={v!r}" for k, v in self.get_params().items()
                       if repr(v) != repr(defaults[k].default)]
            return f"{type(self).__name__}({', '.join(changed)})"

    class RegressorMixin:  # type: ignore[no-redef]
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The coefficient of determination R^2 of the predictions."""
            y, predicted = np.asarray(y, float), self.predict(X)  # type: ignore[attr-defined]
            w = np.ones_like(y) if sample_weight is None else np.asarray(sample_weight, float)
            residual = np.sum(w * (y - predicted) ** 2)
            spread = np.sum(w * (y - np.average(y, weights=w)) ** 2)
            return float(1 - residual / spread) if spread else float(residual == 0)


def _finite(name: str, array: np.ndarray) -> None:
    if not np.isfinite(array).all():
        what = "NaN" if np.isnan(array).any() else "infinity"
        raise ValueError(f"Input {name} contains {what}.")


def _real(name: str, values: Any) -> np.ndarray:
    array = array_of(name, values)
    if array.dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return array


def _plain_table(estimator: Any, X: Any, reset: bool) -> np.ndarray:
    names = getattr(X, "columns", None)
    array = _real("X", X)
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
        if names is not None and all(isinstance(n, str) for n in names):
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif array.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {array.shape[1]} features, but {type(estimator).__name__} is "
                         f"expecting {estimator.n_features_in_} features as input")
    elif names is not None and hasattr(estimator, "feature_names_in_"):
        if list(names) != list(estimator.feature_names_in_):
            raise ValueError("The feature names should match those that were passed during fit.")
    return array


def table(estimator: Any, X: Any, reset: bool = False) -> np.ndarray:
    """X of predict(): (rows, columns), finite, float32 or float64."""
    array_of("X", X)
    if SKLEARN:
        checked: np.ndarray = validate_data(estimator, X, reset=reset,
                                            dtype=[np.float64, np.float32])
        return checked
    return _plain_table(estimator, X, reset)


def table_and_target(estimator: Any, X: Any, y: Any,
                     reset: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """X and y of fit(); sets n_features_in_ and, for a DataFrame, feature_names_in_.

    reset=False: X and y of refit(), whose columns are those of the fit."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is "
                         "None")
    named = [str(name) for name in getattr(X, "columns", ())]
    twice = next((name for i, name in enumerate(named) if name in named[:i]), None)
    if twice is not None:
        raise ValueError(f"X: expected columns of different names, found {twice!r} twice")
    array_of("X", X), array_of("y", y)
    if SKLEARN:
        both: tuple[np.ndarray, np.ndarray] = validate_data(
            estimator, X, y, reset=reset, dtype=[np.float64, np.float32], y_numeric=True,
            ensure_min_samples=2)
        return both
    x, target = _plain_table(estimator, X, reset), _real("y", y)
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


def weights_of(weights: Any, rows: int) -> np.ndarray | None:
    if weights is None:
        return None
    weights = array_of("weights", weights)
    try:
        array = _real("weights", weights)
    except (TypeError, ValueError):
        raise ValueError(f"weights: expected numbers, found {weights.dtype}") from None
    if array.shape != (rows,):
        raise ValueError(f"weights: expected shape ({rows},), found {array.shape}")
    _finite("weights", array)
    if (array < 0).any():
        raise ValueError(f"weights: expected at least 0, found {array.min():g}")
    if not array.any():
        raise ValueError("weights: expected a weight above 0, found none")
    return array
