"""Arguments as the library takes them; an error names the argument, what was expected and what was
found. ctypes itself would cut a text at a NUL, a fraction from a number, and the bits of a number
that do not fit into an int."""

from __future__ import annotations

import datetime
import numbers
import os
import pathlib
from typing import Any

import numpy as np

INT_MAX = 2**31 - 1


def whole(name: str, value: Any, least: int = 0, most: int = INT_MAX) -> int:
    """A whole number from least to most; NumPy's are taken, too."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name}: expected a whole number, found {value!r}")
    if not least <= int(value) <= most:
        raise ValueError(f"{name}: expected a whole number from {least} to {most}, found {value}")
    return int(value)


def number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name}: expected a number, found {value!r}")
    return float(value)


def power(p: Any) -> float:
    """p of re-weighted attention."""
    if not number("p", p) >= 1:
        raise ValueError(f"p: expected at least 1, found {p}")
    return float(p)


_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def array_of(name: str, values: Any) -> np.ndarray:
    """Values as an array; masks and dates, which conversions to numbers drop, are refused."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name}: expected numbers, found masked ones "
                         f"({np.ma.getmaskarray(values).sum()}): leave their rows out")
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name}: {error}") from None
    if array.dtype.kind in "mMO" and array.ndim and array.size:
        names = getattr(values, "columns", range(array.size))
        for column, cell in zip(names, array[:1] if array.ndim == 1 else array[0].ravel()):
            if isinstance(cell, _TIMES):
                where = f"column {column!r}: " if array.ndim == 2 else ""
                raise ValueError(f"{name}: {where}expected numbers, found the time {cell}: convert "
                                 "times, (t - t[0]) / np.timedelta64(1, 's')")
    return array


def doubles(name: str, values: Any) -> np.ndarray:
    """An array of finite numbers."""
    given = array_of(name, values)
    try:
        array = np.asarray(given, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers, found {values!r}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers, found NaN or infinity")
    return array


def flag(name: str, value: Any) -> bool:
    """True or False; a text ("False") is neither."""
    if not isinstance(value, (bool, np.bool_, numbers.Integral)):
        raise ValueError(f"{name}: expected True or False, found {value!r}")
    return bool(value)


def path_of(name: str, value: Any) -> pathlib.Path:
    try:
        path = pathlib.Path(value)
    except TypeError:
        raise TypeError(f"{name}: expected a path, found {value!r}") from None
    if "\0" in str(path):
        raise ValueError(f"{name}: expected a path without NUL, found {value!r}")
    return path


def encoded(name: str, value: Any) -> bytes:
    """A text in UTF-8, for C."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a text, found {value!r}")
    if "\0" in value:
        raise ValueError(f"{name}: expected a text without NUL, found {value!r}")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: expected a text of Unicode, found {value!r}") from None


def threads(n_jobs: Any) -> int:
    """Threads for n_jobs as joblib counts them: 0 stands for all cores, as None and -1 do."""
    if n_jobs is None:
        return 0
    jobs = whole("n_jobs", n_jobs, -INT_MAX, 4096)
    return 0 if jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + jobs) if jobs < 0 else jobs
