"""Files of fronts: those of the program symreg, and PySR's hall_of_fame.csv."""

from __future__ import annotations

import csv
import io
import math
import pathlib
import re
from dataclasses import dataclass
from typing import Any, Callable

from . import _library as lib
from . import _options
from ._arguments import path_of
from ._dates import Dates
from ._export import numbers_of
from ._files import FileError, expect, member, read_json, read_text, real
from ._search import Formula, Row
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
    sigma: bool  # the rows of the search had standard deviations
    ranges: list[tuple[float, float]] | None  # of the columns; None: not known
    dates: Dates


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
    """Of a cell or of JSON; what is not known is NaN."""
    try:
        return NAN if value is None else real(value) if isinstance(value, str) else (
            float(expect(value, float, where)))
    except ValueError:
        raise FileError(f"{where}: expected a number, found {value!r:.60}") from None


def _checked(row: dict[str, Any], where: str) -> dict[str, Any]:
    """A row of a file whose values are of the kinds that a front has."""
    complexity = _number(row["complexity"], f"{where}: complexity")
    if not complexity.is_integer() or complexity < 1:
        raise FileError(f"{where}: complexity: expected a whole number from 1, found "
                         f"{row['complexity']!r}")
    if not isinstance(row["equation"], str) or not row["equation"].strip():
        raise FileError(f"{where}: equation: expected a formula, found {row['equation']!r}")
    loss = _number(row["loss"], f"{where}: loss")
    if loss < 0:
        raise FileError(f"{where}: loss: expected a number of at least 0, found {loss}")
    numbers = {key: _number(row[key], f"{where}: {key}") for key in ("score", "description_length")}
    return {**row, **numbers, "complexity": int(complexity), "loss": loss}


def _numbers(row: dict[str, Any], key: str, where: str, count: int) -> list[float | None] | None:
    """A list of as many numbers, null for one that is not known; None without the key."""
    if row.get(key) is None:
        return None
    values: list[float | None] = member(row, key, list, where)
    for value in values:
        if value is not None:
            expect(value, float, f"{where}: {key}")
    if len(values) != count:
        raise FileError(f"{where}: {key}: expected {count} numbers, found {len(values)}")
    return values


def _known(of: dict[str, Any], key: str, where: str) -> Any:
    """A number, or None where it is not known; the key is there."""
    return None if key in of and of[key] is None else member(of, key, float, where)


def _json_row(row: Any, where: str) -> dict[str, Any]:
    rules = member(row, "selected_by", list, where)
    known = _options.choices("rule")
    for rule in rules:
        if rule not in known:
            raise FileError(f"{where}: selected_by: expected some of {', '.join(known)}, found "
                             f"{rule!r:.60}")
    constants = member(row, "constants", list, where) if "constants" in row else []
    n = len(constants)
    for value in constants:
        expect(value, float, f"{where}: constants")
    errors = _numbers(row, "standard_errors", where, n)
    for key, values in (("standard_errors", errors or []),
                        ("residual_variance", [_known(row, "residual_variance", where)]
                         if "residual_variance" in row else [])):
        for value in values:
            if value is not None and value < 0:
                raise FileError(f"{where}: {key}: expected a number of at least 0, found {value}")
    return {"complexity": member(row, "complexity", int, where),
            "equation": member(row, "equation", str, where), "rules": rules,
            "answer": member(row, "answer", str, where) if "answer" in row else "",
            "constants": constants,
            **{key: _known(row, key, where) for key in ("loss", "score", "description_length")},
            "errors": errors,
            "low": _numbers(row, "low_95", where, n), "high": _numbers(row, "high_95", where, n),
            "covariance": _numbers(row, "covariance", where, n * (n + 1) // 2),
            **{to: _known(row, key, where) if key in row else None for to, key in (
                ("variance", "residual_variance"), ("freedom", "degrees_of_freedom"),
                ("test_loss", "test_loss"), ("test_r2", "test_r2"))}}


def _json(path: pathlib.Path) -> tuple[list[dict[str, Any]], list[str], str | None,
                                       list[dict[str, Any]], bool,
                                       list[tuple[float, float]] | None, dict[str, float]]:
    where = f"{path}: expected the front.json of symreg"
    whole = expect(read_json(path), dict, str(path))
    check_sum(path)
    if "front" not in whole:
        raise FileError(f"{where}, found no \"front\"")
    if "category" in whole:
        raise FileError(f"{path}: has constants of each category: use symreg predict, or "
                         "fit(X, y, category=...)")
    rows = [_json_row(row, f"{path}: row {i}")
            for i, row in enumerate(member(whole, "front", list, str(path)))]
    chosen: dict[str, int] = {}
    for i, row in enumerate(rows):
        for rule in row["rules"]:
            if chosen.setdefault(rule, i) != i:
                raise FileError(f"{path}: row {i}: selected_by: {rule!r} has chosen row "
                                f"{chosen[rule]} already")
    beside = []
    for i, row in enumerate(member(whole, "alternatives", list, str(path))
                            if "alternatives" in whole else ()):
        at = f"{path}: alternatives: row {i}"
        beside.append({"complexity": member(row, "complexity", int, at),
                       "equation": member(row, "equation", str, at),
                       **{key: _number(_known(row, key, at), at)
                          for key in ("loss", "nats", "description_length")}})
    features = member(whole, "features", list, str(path))
    for name in features:
        expect(name, str, f"{path}: features")
    define = whole.get("define")
    if define is not None:
        expect(define, str, f"{path}: define")
    n = len(features)
    low, high = (_numbers(whole, key, str(path), n) if key in whole else None
                 for key in ("features_low", "features_high"))
    ranges = None if low is None or high is None else list(zip(low, high))
    return rows, features, define, beside, "sigma" in whole, ranges, _days(whole, path)


def _days(whole: dict[str, Any], path: pathlib.Path) -> dict[str, float]:
    """The columns of dates, and the day that counts as 0."""
    days = {}
    for i, of in enumerate(member(whole, "dates", list, str(path)) if "dates" in whole else ()):
        at = f"{path}: dates: {i}"
        days[member(of, "column", str, at)] = _number(_known(of, "first_day", at), at)
    return days


def _dates(days: dict[str, float], columns: list[str]) -> Dates:
    """Of the columns that formulas have, all of which count from one day."""
    dates = Dates()
    dates.columns = [i for i, name in enumerate(columns) if name in days]
    dates.first = days[columns[dates.columns[0]]] if dates.columns else None
    return dates


def _csv(path: pathlib.Path) -> list[dict[str, Any]]:
    """PySR's columns, and those of symreg; the oldest files of PySR have "|" and MSE."""
    text = read_text(path, "utf-8-sig")  # with a mark of the byte order or without
    delimiter = "|" if "|" in text.partition("\n")[0] else ","
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise FileError(f"{path}: expected CSV, found {error}") from None
    columns = [name.strip().lower() for name in table[0]] if table else []
    columns = ["loss" if name == "mse" else name for name in columns]
    twice = next((name for i, name in enumerate(columns) if name in columns[:i]), None)
    if twice is not None:
        raise FileError(f"{path}: the column {twice!r} stands twice")
    if not {"complexity", "loss", "equation"} <= set(columns):
        raise FileError(f"{path}: expected the columns Complexity,Loss,Equation, found "
                         f"{','.join(columns) or 'none'}")
    rows = []
    for line, cells in enumerate(table[1:], 2):
        if not cells:
            continue
        if len(cells) != len(columns):
            raise FileError(f"{path}: line {line}: expected {len(columns)} cells, found "
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
            raise FileError(f"{path}: variable_names: expected {', '.join(missing)} among them, "
                             f"found {', '.join(given)}")
        return given
    numbers = [int(name[1:]) for name in used if re.fullmatch(r"x[0-9]{1,6}", name)]
    if len(numbers) < len(used):
        raise FileError(f"{path}: expected variable_names, the names of X's columns in their "
                         f"order; the formulas have {', '.join(used)}")
    least = max(numbers, default=0) + 1
    if count is not None and count < least:
        raise FileError(f"{path}: n_features_in: expected at least {least}, found {count}")
    return [f"x{i}" for i in range(count or least)]


def _scores(rows: list[dict[str, Any]]) -> None:
    """PySR's score, where the file has none: the fall of ln(loss) per unit of complexity."""
    for i, row in enumerate(rows):
        if math.isnan(row["score"]):
            row["score"] = 0.0
            if i:
                before, gap = rows[i - 1], row["complexity"] - rows[i - 1]["complexity"]
                row["score"] = (math.inf if row["loss"] <= 0 else 0.0 if before["loss"] <= 0 else
                                (math.log(before["loss"]) - math.log(row["loss"])) / gap
                                if gap > 0 else 0.0)


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
               mathml=text(lib.MATHML), test_loss=_number(row.get("test_loss"), "test_loss"),
               test_r2=_number(row.get("test_r2"), "test_r2"), answer=row.get("answer") or "")


def read(path: Any, names: list[str] | None, count: int | None, define: str | None) -> Front:
    """A front from front.json, front.csv, front_full.csv, hall_of_fame.csv, or a folder."""
    path = _file(path)
    features: list[str] | None = None
    beside: list[dict[str, Any]] = []
    sigma, ranges = False, None
    days: dict[str, float] = {}
    if path.suffix == ".json":
        rows, features, own, beside, sigma, ranges, days = _json(path)
        define = define or own
    else:
        rows = _csv(path)
    if not rows:
        raise FileError(f"{path}: expected formulas, found none")
    rows = [_checked(row, f"{path}: " + (f"line {row['line']}" if "line" in row else f"row {i}"))
            for i, row in enumerate(rows)]
    rows = [row for row in rows if not math.isnan(row["loss"])]  # (a formula without values)
    if not rows:
        raise FileError(f"{path}: expected formulas with a loss, found none")
    for row in rows:
        row["equation"] = re.sub(r"\bsafe_(\w+)\(", r"\1(", _options.julia(row["equation"]))
    used, functions = _words([row["equation"] for row in rows])
    columns = _names(path, names or features, count, used)
    known = [_options.DEFINED[f] for f in functions
             if f in _options.DEFINED and f"{f}(" not in (define or "")]
    define = "; ".join([*([define] if define else []), *known]) or None
    _scores(rows)
    made: list[Row] = []
    where = "names and definitions"
    try:
        Formula("0", columns[:1], define)
        for i, row in enumerate(rows):
            where = f"line {row['line']}" if "line" in row else f"row {i}"
            made.append(_row(row, Formula(row["equation"], columns, define).write))
            numbers = numbers_of(row["equation"])
            if row.get("constants") and row["constants"] != numbers:
                raise ValueError("constants: expected those of the equation, "
                                 f"{', '.join(map(str, numbers)) or 'none'}, found "
                                 f"{', '.join(map(str, row['constants']))}")
    except (lib.Error, ValueError) as error:
        raise FileError(f"{path}: {where}: {error}") from None
    return Front(columns, define, made, _chosen(rows), beside, sigma, ranges, _dates(days, columns))
