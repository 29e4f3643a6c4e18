"""Files of fronts: those of the program symreg, and PySR's hall_of_fame.csv."""

from __future__ import annotations

import csv
import io
import json
import math
import pathlib
import re
from dataclasses import dataclass
from typing import Any, Callable

from . import _library as lib
from . import _options
from ._arguments import path_of
from ._search import Row, columns_of, language
from ._tables import check_sum

NAN = float("nan")
IN_FOLDERS = ("front.json", "front.csv", "hall_of_fame.csv")
_WORD = re.compile(r'"((?:[^"]|"")*)"|([^\W\d]\w*)(\s*\()?')


@dataclass(frozen=True)
class Front:
    """A front as a file has it."""

    names: list[str]  # of the columns of X
    define: str | None
    rows: list[Row]
    chosen: dict[str, int]
    alternatives: list[dict[str, Any]]


def _file(path: Any) -> pathlib.Path:
    given = path_of("path", path)
    if given.is_dir():
        found = [given / name for name in IN_FOLDERS if (given / name).is_file()]
        if not found:
            raise FileNotFoundError(f"{given}: expected {', '.join(IN_FOLDERS)}, found none of "
                                    "them")
        return found[0]
    if not given.is_file():
        raise FileNotFoundError(f"{given}: expected the file of a front, found none")
    return given


def _number(value: Any, where: str) -> float:
    try:
        return NAN if value is None else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: expected a number, found {value!r}") from None


def _text(path: pathlib.Path) -> str:
    """In UTF-8, with a mark of the byte order or without."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected UTF-8, found {error}") from None


def _checked(row: dict[str, Any], where: str) -> dict[str, Any]:
    """A row of a file whose values are of the kinds that a front has."""
    complexity = _number(row["complexity"], f"{where}: complexity")
    if not complexity.is_integer() or complexity < 1:
        raise ValueError(f"{where}: complexity: expected a whole number from 1, found "
                         f"{row['complexity']!r}")
    if not isinstance(row["equation"], str) or not row["equation"].strip():
        raise ValueError(f"{where}: equation: expected a formula, found {row['equation']!r}")
    loss = _number(row["loss"], f"{where}: loss")
    if loss < 0:
        raise ValueError(f"{where}: loss: expected a number of at least 0, found {loss}")
    numbers = {key: _number(row[key], f"{where}: {key}") for key in ("score", "description_length")}
    return {**row, **numbers, "complexity": int(complexity), "loss": loss}


def _json(path: pathlib.Path) -> tuple[list[dict[str, Any]], list[str], str | None,
                                       list[dict[str, Any]]]:
    try:
        whole = json.loads(_text(path))
        check_sum(path)
        if "category" in whole:
            raise ValueError(f"{path}: has constants of each category: use symreg predict, or "
                             "fit(X, y, category=...)")
        rows = [{"complexity": row["complexity"], "loss": row["loss"], "score": row["score"],
                 "description_length": row["description_length"], "equation": row["equation"],
                 "rules": list(row["selected_by"]), "constants": row.get("constants"),
                 "errors": row.get("standard_errors"), "low": row.get("low_95"),
                 "high": row.get("high_95"), "covariance": row.get("covariance"),
                 "variance": row.get("residual_variance"),
                 "freedom": row.get("degrees_of_freedom")} for row in whole["front"]]
        beside = [{"complexity": row["complexity"], "equation": row["equation"],
                   **{key: _number(row[key], f"{path}: alternatives: {key}")
                      for key in ("loss", "nats", "description_length")}}
                  for row in whole.get("alternatives", [])]
        return rows, [str(name) for name in whole["features"]], whole.get("define"), beside
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: expected the front.json of symreg, found {error!r}") from None


def _csv(path: pathlib.Path) -> list[dict[str, Any]]:
    """PySR's columns, and those of symreg; the oldest files of PySR have "|" and MSE."""
    text = _text(path)
    delimiter = "|" if "|" in text.partition("\n")[0] else ","
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ValueError(f"{path}: expected CSV, found {error}") from None
    columns = [name.strip().lower() for name in table[0]] if table else []
    columns = ["loss" if name == "mse" else name for name in columns]
    if not {"complexity", "loss", "equation"} <= set(columns):
        raise ValueError(f"{path}: expected the columns Complexity,Loss,Equation, found "
                         f"{','.join(columns) or 'none'}")
    rows = []
    for line, cells in enumerate(table[1:], 2):
        if not cells:
            continue
        if len(cells) != len(columns):
            raise ValueError(f"{path}: line {line}: expected {len(columns)} cells, found "
                             f"{len(cells)}")
        row: dict[str, Any] = dict(zip(columns, cells))
        row["score"] = row.get("score") or None
        row["description_length"] = row.get("descriptionlength") or None
        row["line"] = line
        rows.append(row)
    return rows


def _words(equations: list[str]) -> tuple[list[str], list[str]]:
    """Names and functions in formulas, in the order of their first appearance."""
    names: dict[str, bool] = {}
    functions: dict[str, bool] = {}
    for equation in equations:
        for quoted, word, call in _WORD.findall(equation):
            if quoted:
                names[quoted.replace('""', '"')] = True
            elif word and not re.fullmatch(r"[eE]\d*", word):
                (functions if call else names)[word] = True
    return list(names), list(functions)


def _names(path: pathlib.Path, given: list[str] | None, count: int | None,
           used: list[str]) -> list[str]:
    """The names of X's columns: as given, or x0, x1, ... where all are such."""
    if given is not None:
        missing = [name for name in used if name not in given]
        if missing:
            raise ValueError(f"{path}: variable_names: expected {', '.join(missing)} among them, "
                             f"found {', '.join(given)}")
        return given
    numbers = [int(name[1:]) for name in used if re.fullmatch(r"x\d+", name)]
    if len(numbers) < len(used):
        raise ValueError(f"{path}: expected variable_names, the names of X's columns in their "
                         f"order; the formulas have {', '.join(used)}")
    least = max(numbers, default=0) + 1
    if count is not None and count < least:
        raise ValueError(f"{path}: n_features_in: expected at least {least}, found {count}")
    return [f"x{i}" for i in range(count or least)]


def _scores(rows: list[dict[str, Any]]) -> None:
    """PySR's score, where the file has none: the fall of ln(loss) per unit of complexity."""
    for i, row in enumerate(rows):
        if math.isnan(row["score"]):
            row["score"] = 0.0
            if i:
                before, gap = rows[i - 1], row["complexity"] - rows[i - 1]["complexity"]
                row["score"] = (math.inf if row["loss"] <= 0 else 0.0 if before["loss"] <= 0 else
                                math.log(before["loss"] / row["loss"]) / gap if gap > 0 else 0.0)


def _chosen(rows: list[dict[str, Any]]) -> dict[str, int]:
    """The rows of PySR's rules, or those that the file names."""
    if any("rules" in row for row in rows):
        return {rule: i for i, row in enumerate(rows) for rule in row["rules"]}
    every = range(len(rows))
    accurate = min(every, key=lambda i: float(rows[i]["loss"]))
    near = [i for i in every if rows[i]["loss"] <= 1.5 * rows[accurate]["loss"]]
    return {"accuracy": accurate, "score": max(every, key=lambda i: rows[i]["score"]),
            "best": max(near, key=lambda i: rows[i]["score"])}


def _row(row: dict[str, Any], text: Callable[[int], str]) -> Row:
    constants = tuple(row.get("constants") or ())

    def numbers(key: str, absent: float = NAN) -> tuple[float, ...]:
        return tuple(absent if x is None else x for x in row.get(key) or ())

    n = len(constants)
    covariance = numbers("covariance")
    if len(covariance) != n * (n + 1) // 2:  # an older file
        covariance = (NAN,) * (n * (n + 1) // 2)
    errors = numbers("errors") or (NAN,) * n
    return Row(row["complexity"], row["loss"], row["score"], text(lib.TEXT),
               row["description_length"], constants, errors,
               text(lib.LATEX), text(lib.SYMPY), text(lib.C), low=numbers("low", -math.inf),
               high=numbers("high", math.inf), covariance=covariance,
               variance=_number(row.get("variance"), "residual_variance"),
               freedom=_number(row.get("freedom"), "degrees_of_freedom"),
               mathml=text(lib.MATHML))


def read(path: Any, names: list[str] | None, count: int | None, define: str | None) -> Front:
    """A front from front.json, front.csv, front_full.csv, hall_of_fame.csv, or a folder."""
    path = _file(path)
    features: list[str] | None = None
    beside: list[dict[str, Any]] = []
    if path.suffix == ".json":
        rows, features, own, beside = _json(path)
        define = define or own
    else:
        rows = _csv(path)
    if not rows:
        raise ValueError(f"{path}: expected formulas, found none")
    rows = [_checked(row, f"{path}: " + (f"line {row['line']}" if "line" in row else f"row {i}"))
            for i, row in enumerate(rows)]
    rows = [row for row in rows if not math.isnan(row["loss"])]  # (a formula without values)
    if not rows:
        raise ValueError(f"{path}: expected formulas with a loss, found none")
    for row in rows:
        row["equation"] = re.sub(r"\bsafe_(\w+)\(", r"\1(", _options.julia(row["equation"]))
    used, functions = _words([row["equation"] for row in rows])
    columns = _names(path, names or features, count, used)
    known = [_options.DEFINED[f] for f in functions
             if f in _options.DEFINED and f"{f}(" not in (define or "")]
    define = "; ".join([*([define] if define else []), *known]) or None
    _scores(rows)
    at = sorted({i for row in rows for i in columns_of(row["equation"], columns)})
    reader = language([columns[i] for i in at], define)
    made = []
    for i, row in enumerate(rows):
        where = f"line {row['line']}" if "line" in row else f"row {i}"
        try:
            made.append(_row(row, lambda n: reader.write(row["equation"], n)))
        except lib.Error as error:
            raise ValueError(f"{path}: {where}: {error}") from None
    return Front(columns, define, made, _chosen(rows), beside)
