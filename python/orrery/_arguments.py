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


_TIMES = (datetime.date, datetime.timedelta, datetime.time, np.datetime64, np.timedelta64)
def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # the truth of pandas.NA is not known
        return True
    except ValueError:  # an array
        return False


def is_short(dtype: Any) -> bool:
    """Whether these are numbers that NumPy has no type for: bfloat16, float8 ... of ml_dtypes."""
    return getattr(dtype, "kind", None) == "V" and dtype.names is None


def usual(name: str, values: Any) -> Any:
    """Tensors of torch and bfloat16 numbers as arrays that NumPy and scikit-learn know (bfloat16 as
    float32); other values as they are. A tensor that requires a gradient is refused."""
    try:
        if hasattr(values, "detach"):
            if values.requires_grad:
                raise ValueError(f"{name}: expected numbers, found a tensor that requires a "
                                 "gradient, which cannot pass: give tensor.detach()")
            half = values.is_floating_point() and values.element_size() < 4
            return (values.float() if half else values).cpu().numpy()
        if is_short(getattr(values, "dtype", None)):
            return np.asarray(values).astype(np.float32)
    except (TypeError, RuntimeError) as error:
        raise ValueError(f"{name}: expected numbers, found {values.dtype}: {error}") from None
    return values


def _unmasked(name: str, values: Any) -> None:
    mask = np.ma.getmask(values)
    if mask is np.ma.nomask:
        given = getattr(values, "mask", None)  # (a method of frames)
        mask = given if isinstance(given, (np.ndarray, np.bool_)) else np.False_
    if mask.dtype.names is None and np.any(mask):
        raise ValueError(f"{name}: expected numbers, found masked ones ({np.sum(mask)}): leave "
                         "their rows out")


def _without_times(name: str, array: np.ndarray) -> None:
    """Refuses dates and durations, wherever they stand, by the column's number."""
    times = array.dtype.kind in "mM"
    for at in range(array.size) if array.dtype.kind in "mMO" else ():
        cell = array.flat[at]
        if times or isinstance(cell, _TIMES) or type(cell).__name__ == "Period":  # of pandas
            where = f"column {at % array.shape[1]}: " if array.ndim == 2 else ""
            raise ValueError(f"{name}: {where}expected numbers, found the time {cell}: convert "
                             "times, (t - t[0]) / np.timedelta64(1, 's')")


def array_of(name: str, values: Any) -> np.ndarray:
    """Values as an array, in which pandas.NA is NaN; masks and dates, which conversions to numbers
    drop, are refused."""
    if type(values) is np.ndarray and values.dtype.kind in "fiubc":
        return values
    _unmasked(name, values)
    try:
        array = np.asarray(usual(name, values))
    except (TypeError, ValueError) as error:  # rows of different lengths, of different types
        said = str(error).removeprefix(f"{name}: ")
        raise ValueError(f"{name}: {said}") from None
    if is_short(array.dtype):  # of a list
        array = usual(name, array)
    if array.dtype.names is not None:
        raise ValueError(f"{name}: expected numbers, found the fields "
                         f"{', '.join(array.dtype.names)}")
    _without_times(name, array)
    if array.dtype.kind == "O" and any(type(cell).__name__ == "NAType" for cell in array.flat):
        array = array.copy()
        array[np.array([is_missing(cell) for cell in array.flat]).reshape(array.shape)] = np.nan
    return array


def floats(name: str, array: np.ndarray) -> np.ndarray:
    """Numbers as float64, or float32 as they are; missing values of objects are NaN."""
    if array.dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported")
    if array.dtype in (np.float32, np.float64):
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        made = np.empty(array.shape)
        for at in range(array.size):
            cell = array.flat[at]
            try:
                made.flat[at] = np.nan if is_missing(cell) else float(cell)
            except (TypeError, ValueError, OverflowError):
                raise ValueError(f"{name}: row {at // (array.size // len(array))}: expected a "
                                 f"number, found {cell!r:.60}") from None
        return made


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
