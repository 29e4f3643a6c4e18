"""Columns of dates count as days since the first of them, as the program symreg has it."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ._arguments import is_missing

DAY_NS = 86400 * 10**9
NEVER = 2932896  # 9999-12-31, which stands for a missing date


class Dates:
    """Which columns are dates, by their places, and the day that counts as 0 for all of them:
    days since 1970-01-01. So differences of two such columns are durations. names: of all columns;
    None where they have none."""

    names: list[str] | None = None

    def __init__(self) -> None:
        self.first: float | None = None
        self.columns: list[int] = []

    def say(self, names: list[str]) -> list[str]:
        """What remarks_ says of them."""
        if self.first is None:
            return []
        return [f"column \"{names[i]}\" has dates, which count as days since {day_text(self.first)}"
                for i in self.columns]


def day_text(day: float) -> str:
    """2021-01-03, or with a time of the day 2021-01-03T12:30:00."""
    moment = np.datetime64(round(day * 86400), "s")
    return str(moment).removesuffix("T00:00:00")


def _day(cell: Any) -> float:
    """Days since 1970-01-01 of a date or date-time, which is UTC where it has no zone."""
    if is_missing(cell):
        return float("nan")
    if isinstance(cell, datetime.datetime):
        moment = cell if cell.tzinfo else cell.replace(tzinfo=datetime.timezone.utc)
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        since = moment - epoch  # (of pandas to microseconds, and more)
        rest = since.seconds + since.microseconds / 1e6 + getattr(since, "nanoseconds", 0) / 1e9
        return since.days + rest / 86400
    if isinstance(cell, np.datetime64):
        return float(_days(np.array([cell]))[0])
    return float(cell.toordinal() - 719163)


def _days(array: np.ndarray) -> np.ndarray:
    """Of an array of datetime64: whole days, and their parts by nanoseconds."""
    whole = array.astype("datetime64[D]")
    part = (array - whole).astype("timedelta64[ns]").astype(np.int64) / DAY_NS
    return np.where(np.isnat(array), np.nan, whole.astype(np.int64) + part)


def days_of(column: Any) -> np.ndarray | None:
    """Days since 1970-01-01 of a column of dates, NaN where one is missing; None: it has other
    cells."""
    if type(column) is np.ndarray and column.dtype.kind in "fiubc":
        return None
    try:
        array = np.asarray(column)
    except (TypeError, ValueError, RuntimeError):  # what it is, is said where it is converted
        return None
    if array.dtype.kind == "M":
        return _days(array)
    if array.dtype.kind != "O":
        return None
    cells = [cell for cell in array.flat if not is_missing(cell)]
    if not cells or not all(isinstance(cell, (datetime.date, np.datetime64)) for cell in cells):
        return None
    return np.array([_day(cell) for cell in array.flat]).reshape(array.shape)


def count(columns: list[Any], dates: Dates, known: bool) -> list[Any]:
    """The columns with days in place of dates. known: by the dates of an earlier table, whose other
    columns have none; else `dates` is filled. A column of dates may also be given as days."""
    found = {}
    for i, column in enumerate(columns):
        if known and i not in dates.columns:
            continue
        days = days_of(column)
        if days is not None:
            found[i] = np.where(np.floor(days) == NEVER, np.nan, days)
    if not known and found:
        dates.columns = list(found)
        dates.first = min(float(np.nanmin(days)) for days in found.values())
    return [_since(found[i], dates.first) if i in found else column
            for i, column in enumerate(columns)]


def _since(days: np.ndarray, first: float | None) -> np.ndarray:
    """Days since the first, which are exact to microseconds; their difference alone is not."""
    return np.rint((days - (first or 0)) * 86400e6) / 86400e6
