"""Files of a run as arrays and tables; errors name the file and the line."""

from __future__ import annotations

import csv
import math
import os
import pathlib
import tokenize
from typing import Any, Iterator, Sequence

import numpy as np

from . import _library
from ._files import FileError, expect, member, parse_json, read_json, read_text, real, there

__all__ = ["FileError", "expect", "frame", "json_line", "member", "of_rows", "read_csv",
           "read_json", "read_jsonl", "read_npy", "read_text", "there"]

# Columns of text; all others are of numbers (docs/formats.md).
TEXTS = frozenset({"name", "quantity", "measure", "Equation", "LaTeX", "C", "SymPy", "NumPy", "JAX",
                   "PyTorch", "MathML"})


def frame(columns: dict[str, Any]) -> Any:
    """A DataFrame where pandas is installed, else the dict of arrays."""
    try:
        import pandas
    except ImportError:
        return {name: np.asarray(values) for name, values in columns.items()}
    return pandas.DataFrame(columns)


def of_rows(rows: Sequence[dict[str, Any]]) -> Any:
    """A table of objects; a key that one has not is NaN there, None in columns of text."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns: dict[str, Any] = {}
    for key in keys:
        values = [row.get(key) for row in rows]
        if all(isinstance(v, bool) for v in values):
            columns[key] = np.array(values, dtype=bool)
        elif all(v is None or isinstance(v, (int, float)) for v in values):
            columns[key] = _numbers([math.nan if v is None else float(v) for v in values])
        else:
            columns[key] = np.array([None, *values], dtype=object)[1:]
    return frame(columns)


def _numbers(values: list[float]) -> np.ndarray:
    """Whole numbers as int64."""
    array = np.array(values, dtype=np.float64)
    whole = np.isfinite(array).all() and (array == np.rint(array)).all() and (
        np.abs(array) < 2**53).all()
    return array.astype(np.int64) if whole else array


def check_sum(path: pathlib.Path) -> None:
    """Refuses a file of results that was changed since it was made, and one beside which a file
    that it names was changed (docs/provenance.md). Without cJSON nothing is checked."""
    try:
        _library.Handle("results").status("check", os.fsencode(path))
    except _library.Error as error:
        if error.status != _library.EMISSING:
            raise FileError(str(error)) from None


def read_result(path: pathlib.Path) -> Any:
    """A file of results that a program wrote, as it was made."""
    value = read_json(path)
    check_sum(path)
    return value


def json_line(text: str | bytes, where: str) -> dict[str, Any]:
    value: dict[str, Any] = expect(parse_json(text, where), dict, where)
    return value


def read_jsonl(path: pathlib.Path) -> list[dict[str, Any]]:
    """A log; the last line may be unfinished, as of a training under way."""
    lines = read_text(there(path)).split("\n")
    return [json_line(line, f"{path}: line {i}") for i, line in enumerate(lines[:-1], 1) if line]


def _number(text: str, where: str) -> float:
    try:
        return real(text) if text else math.nan
    except ValueError:
        raise FileError(f"{where}: expected a number, found {text!r}") from None


def _rows(path: pathlib.Path) -> Iterator[list[str]]:
    try:
        with there(path).open(newline="", encoding="utf-8") as file:
            yield from csv.reader(file, strict=True)
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileError(f"{path}: expected CSV, found {error}") from None


def read_csv(path: pathlib.Path, needed: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """The columns of a CSV file with a header; `needed` must be among them."""
    rows = _rows(path)
    names = next(rows, [])
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise FileError(f"{path}: line 1: the column {twice!r} stands twice")
    missing = [name for name in needed if name not in names]
    if missing or not names:
        raise FileError(f"{path}: line 1: expected the columns {', '.join(needed)}, found "
                        f"{', '.join(names) or 'none'}")
    cells: list[list[Any]] = [[] for _ in names]
    for line, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise FileError(f"{path}: line {line}: expected {len(names)} cells, found {len(row)}")
        for name, text, column in zip(names, row, cells):
            column.append(text if name in TEXTS else
                          _number(text, f"{path}: line {line}: {name}"))
    return {name: np.array(column, dtype=object) if name in TEXTS else _numbers(column)
            for name, column in zip(names, cells)}


def read_npy(path: pathlib.Path) -> np.ndarray:
    """An array, mapped and not copied."""
    try:
        array = np.load(there(path), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OverflowError, SyntaxError, TypeError, MemoryError,
            tokenize.TokenError) as error:  # (the last four of a damaged header, NumPy 2.4)
        raise FileError(f"{path}: expected an array of NumPy, found {error}") from None
    if not isinstance(array, np.ndarray):  # an archive of several
        raise FileError(f"{path}: expected an array of NumPy, found {type(array).__name__}")
    return array
