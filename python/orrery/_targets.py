"""Several targets: one search for each column of y, as the program's --target A,B."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._arguments import array_of
from ._estimator import clone


def count(y: Any) -> int:
    """Columns of y; 1 for what is no table."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)):
        shape = (len(y), *np.shape(y[0])) if len(y) else ()
    return int(shape[1]) if shape is not None and len(shape) == 2 else 1


def _column(name: str, y: Any, k: int) -> Any:
    return None if y is None else array_of(name, y)[:, k]


def fit(model: Any, X: Any, y: Any, y_units: Any, given: dict[str, Any]) -> None:
    """Fits an estimator a column; files of each go to a folder of its own."""
    targets, outputs = count(y), []
    weights, test = given.pop("weights"), given.pop("y_test")
    if y_units is not None and (isinstance(y_units, str) or len(y_units) != targets):
        raise ValueError(f"y_units: expected {targets} texts, one a column of y, found {y_units!r}")
    if test is not None and count(test) != targets:
        raise ValueError(f"y_test: expected {targets} columns, found {count(test)}")
    before = model._outputs or []
    seed = model._seed()
    for k in range(targets):
        each = clone(model)
        each.random_state = seed
        if model.warm_start and len(before) == targets:
            each._state, each._epochs = before[k]._state, before[k]._epochs
        if model.output_directory is not None:
            run = "run" if model.run_id is None else model.run_id
            each.run_id = os.path.join(os.fspath(run), f"target_{k}")
        each.fit(X, _column("y", y, k), weights=weights, y_test=_column("y_test", test, k),
                 y_units=None if y_units is None else y_units[k], **given)
        outputs.append(each)
    first = outputs[0]
    for name in ("n_features_in_", "feature_names_in_", "variable_names_"):
        if hasattr(first, name):
            setattr(model, name, getattr(first, name))
        elif hasattr(model, name):
            delattr(model, name)
    for name in ("_front", "_chosen", "_alternatives", "_remarks", "_category", "_state", "_epochs",
                 "_define", "_sigma", "_ranges", "_dates", "permutations_"):  # of an earlier fit
        model.__dict__.pop(name, None)
    model.stopped_ = next((each.stopped_ for each in outputs if each.stopped_), None)
    model.n_iter_ = max(each.n_iter_ for each in outputs)
    model._outputs = outputs
