"""Tables of other packages, and the names of their columns: DataFrames of pandas, polars and dask,
tables and record batches of Arrow, tables of Astropy, structured arrays, arrays of xarray."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ._arguments import array_of, floats, usual
from ._dates import Dates, count, days_of

__all__ = ["Table", "columns_are", "table_of"]


class Table(NamedTuple):
    values: Any  # of X: a DataFrame of plain numbers as it is, else an array
    names: list[Any] | None


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "num_columns") and hasattr(X, "schema")


def _is_structured(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.names is not None


def _labels(X: Any) -> list[Any] | None:
    """Texts of the coordinates along an xarray's second dimension."""
    dims: tuple[Any, ...] = getattr(X, "dims", ())
    if not hasattr(X, "coords") or len(dims) != 2 or dims[1] not in X.coords:
        return None
    labels = np.asarray(X.coords[dims[1]]).tolist()
    return labels if all(isinstance(label, str) for label in labels) else None


def _names(X: Any) -> list[Any] | None:
    if _is_arrow(X):  # (whose `columns` are the data)
        return list(X.schema.names)
    if hasattr(X, "colnames"):  # Astropy
        return list(X.colnames)
    if _is_structured(X):
        return list(X.dtype.names)
    if hasattr(X, "columns") and not callable(X.columns):
        return list(X.columns)
    return _labels(X)


def _column(X: Any, i: int, name: Any) -> Any:
    if _is_arrow(X):
        return X.column(i)
    if hasattr(X, "iloc") and not hasattr(X, "colnames"):  # pandas, whose names may be of any kind
        return X.iloc[:, i]
    return X[name]


def _are_plain(X: Any) -> bool:
    """Whether a DataFrame has numbers alone, none of which can be missing."""
    if not hasattr(X, "dtypes"):
        return False
    kinds = [getattr(dtype, "kind", None) if isinstance(dtype, np.dtype) else
             "f" if getattr(dtype, "is_numeric", bool)() else None
             for dtype in X.dtypes]
    return all(kind in tuple("fiub") for kind in kinds)


def _matrix(name: str, X: Any, names: list[Any], dates: Dates, known: bool) -> np.ndarray:
    """(rows, columns), each column converted by itself: float32 if all are, else float64."""
    if not names:
        return np.empty((len(X), 0))
    columns = []
    given = count([_column(X, i, label) for i, label in enumerate(names)], dates, known)
    for label, of in zip(names, given):
        where = f"{name}: column {label!r}"
        column = array_of(where, of)
        if column.ndim != 1:
            raise ValueError(f"{where}: expected a number in each row, found shape {column.shape}")
        columns.append(floats(where, column))
    return np.column_stack(columns)


def _dated(X: Any, dates: Dates, known: bool) -> Any:
    """An array, or rows of a list, whose columns of dates count as days; else as it is."""
    rows = X if isinstance(X, np.ndarray) or not isinstance(X, (list, tuple)) else None
    if rows is None and len(X) and isinstance(X[0], (list, tuple)):
        rows = np.empty((len(X), len(X[0])), object)
        if any(not isinstance(row, (list, tuple)) or len(row) != len(X[0]) for row in X):
            return X
        for i, row in enumerate(X):
            rows[i, :] = row
    if type(rows) is not np.ndarray or rows.ndim != 2 or rows.dtype.kind not in "MO":
        return X
    if days_of(rows[0, :1]) is None and all(days_of(rows[:1, i]) is None
                                            for i in range(rows.shape[1])):
        return X
    return np.column_stack(count(list(rows.T), dates, known))


def table_of(name: str, X: Any, keep: bool = True, dates: Dates | None = None,
             known: bool = False) -> Table:
    """X, and the names of its columns, which have to differ. Times, masks and cells that are no
    numbers are refused by the column's name. keep: a DataFrame of plain numbers may stay one.
    dates: which columns are dates, filled unless they are `known`; None: none may be."""
    if type(X) is np.ndarray and X.dtype.kind in "fiubc":
        return Table(X, None)
    if isinstance(X, (Mapping, Iterator)) and not hasattr(X, "shape"):
        raise ValueError(f"{name}: expected a table, found {type(X).__name__}: give a DataFrame or "
                         "an array (rows, columns)")
    if hasattr(X, "collect") and not hasattr(X, "to_numpy"):
        raise ValueError(f"{name}: expected a table, found {type(X).__name__}: give the result of "
                         "its method collect()")
    if hasattr(X, "compute") and hasattr(X, "columns"):  # dask
        X = X.compute()
    names, dates, known = _names(X), dates or Dates(), known or dates is None
    if names is None:
        X = _dated(X, dates, known)
        array = array_of(name, X)
        known = hasattr(X, "dtype") and array.dtype.kind != "O"
        return Table(usual(name, X) if known or not array.ndim else array, None)
    listed = [str(label) for label in names]
    twice = next((label for i, label in enumerate(listed) if label in listed[:i]), None)
    if twice is not None:
        raise ValueError(f"{name}: expected columns of different names, found {twice!r} twice")
    if hasattr(X, "coords"):
        return Table(floats(name, array_of(name, X)), names)
    if keep and names and _are_plain(X):
        return Table(X, names)
    if not known:
        dates.names = listed
    elif dates.columns and dates.names and len(listed) == len(dates.names):
        columns_are(listed, dates.names)  # before days are taken for those of another column
    return Table(_matrix(name, X, names, dates, known), names)


def columns_are(names: list[Any] | None, expected: Any) -> None:
    """ValueError if a table has names and they are not those of the table that was fitted."""
    if names is not None and list(names) != list(expected):
        raise ValueError("The feature names should match those that were passed during fit: "
                         f"expected {', '.join(map(str, expected))}, found "
                         f"{', '.join(map(str, names))}")
