"""One search of the library: a table in, a front out, in a thread that can be interrupted."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from . import _library as lib
from . import _options
from ._arguments import encoded

RULES = ("accuracy", "score", "best", "mdl")


@dataclass(frozen=True)
class Row:
    """A formula of the front; texts as the library prints them."""

    complexity: int
    loss: float
    score: float
    equation: str
    description_length: float
    constants: tuple[float, ...]
    errors: tuple[float, ...]
    latex: str
    sympy: str
    c: str
    # (constants of each category, categories)
    category: tuple[tuple[float, ...], ...] = ()
    category_errors: tuple[tuple[float, ...], ...] = ()
    low: tuple[float, ...] = ()  # profile intervals of the constants
    high: tuple[float, ...] = ()
    covariance: tuple[float, ...] = ()  # of the constants: the lower triangle, row by row
    variance: float = float("nan")  # of the residuals
    freedom: float = float("nan")  # rows minus constants
    mathml: str = ""


@dataclass(frozen=True)
class Seen:
    """What a search has so far."""

    seconds: float
    evaluations: float
    epoch: int
    rows: int
    loss: float
    best: str


def _array(values: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(values, dtype=dtype)
    return array if array.flags.c_contiguous or array.flags.f_contiguous else array.copy()


def _filled(x: np.ndarray, y: Any = None, weights: Any = None, names: list[str] | None = None,
            target: str | None = None) -> lib.Table:
    """A struct orrery_table, which keeps the arrays that it points to."""
    single = x.dtype == np.float32 and (y is None or y.dtype == np.float32)
    dtype = np.float32 if single else np.float64
    x = _array(x, dtype)
    y, weights = (None if a is None else np.ascontiguousarray(a, dtype) for a in (y, weights))
    words = [encoded("variable_names", name) for name in names or []]
    texts = (ctypes.c_char_p * len(words))(*words) if words else None
    table = lib.Table(
        rows=x.shape[0],
        columns=x.shape[1],
        type=lib.FLOAT32 if single else lib.FLOAT64,
        order=lib.ROWS if x.flags.c_contiguous else lib.COLUMNS,
        x=x.ctypes.data,
        y=None if y is None else y.ctypes.data,
        weights=None if weights is None else weights.ctypes.data,
        names=ctypes.cast(texts, ctypes.POINTER(ctypes.c_char_p)) if texts else None,
        target=encoded("target", target) if target else None,
    )
    setattr(table, "kept", (x, y, weights, texts))
    return table


class Search(lib.Handle):
    def __init__(self, settings: dict[str, str]):
        super().__init__("regression")
        for key, value in settings.items():
            self.status("set", key.encode(), encoded(_options.PARAMETERS.get(key, key), value))

    def status(self, name: str, *arguments: Any) -> int:
        """As of every handle; a message has the parameter's name in place of the option's."""
        try:
            return super().status(name, *arguments)
        except lib.Error as error:
            raise type(error)(error.status, _options.renamed(str(error))) from None

    def data(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None,
             names: list[str] | None = None, target: str | None = None) -> None:
        table = _filled(x, y, weights, names, target)
        self.status("data", ctypes.byref(table))

    def run(self, threads: int, seen: Callable[[Seen], bool] | None = None) -> str | None:
        """Searches; None, or what ended it: "callback" or "interrupt".

        `seen` is called after every epoch, in the thread of the search; true ends it. An interrupt
        (Ctrl-C) of the calling thread ends the search within about a second.
        """
        outcome: dict[str, Any] = {}
        done = threading.Event()

        def call(progress: Any, _context: Any) -> int:
            try:
                p = progress.contents
                now = Seen(p.seconds, p.evaluations, p.epoch, p.rows, p.loss, p.best.decode())
                return int(bool(seen(now))) if seen else 0
            except BaseException as error:  # raised again by the caller's thread
                outcome.setdefault("error", error)
                return 1

        callback = lib.PROGRESS_CALL(call)

        def work() -> None:
            try:
                outcome["status"] = self.status("search", threads, callback, None)
            except BaseException as error:
                outcome.setdefault("error", error)
            finally:
                done.set()

        thread = threading.Thread(target=work, name="orrery", daemon=True)
        interrupted = False
        thread.start()
        # (an interrupted Thread.join() takes the thread for ended, in Python 3.11)
        while not done.is_set():
            try:
                done.wait(0.1)
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                self._call("stop")(self.pointer)
        if "error" in outcome:
            if interrupted and isinstance(outcome["error"], lib.Error):
                raise KeyboardInterrupt from outcome["error"]  # there is no front
            raise outcome["error"]
        if outcome["status"] != lib.STOPPED:
            return None
        return "interrupt" if interrupted else "callback"

    def resume(self, state: bytes) -> None:
        self.status("resume", state, len(state))

    def state(self) -> bytes:
        start, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.status("state", ctypes.byref(start), ctypes.byref(size))
        return ctypes.string_at(start, size.value)

    def _text(self, call: str, *what: Any) -> str:
        needed = ctypes.c_size_t()
        self.status(call, *what, None, 0, ctypes.byref(needed))
        text = ctypes.create_string_buffer(needed.value)
        self.status(call, *what, text, needed.value, None)
        return text.value.decode()

    def definitions(self) -> str | None:
        """Named constants and operators of the formulas, as the option "define" reads them."""
        return self._text("definitions") or None

    def write(self, formula: str, notation: int) -> str:
        """A formula of the table's names in another notation."""
        return self._text("write", encoded("formula", formula), notation)

    def refit(self, formulas: list[str]) -> None:
        """The front becomes that of these formulas, their constants fitted to the table."""
        texts = (ctypes.c_char_p * len(formulas))(
            *(encoded("formula", formula) for formula in formulas))
        self.status("refit", texts, len(formulas))

    def _constants(self, row: int, count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The constants of a row and their standard errors."""
        values, errors = ((ctypes.c_double * count)() for _ in range(2))
        self.status("constants", row, values, errors)
        return tuple(values), tuple(errors)

    def _category(self, row: int) -> tuple[tuple[tuple[float, ...], ...], ...]:
        """Constants that a row has in each category, and their errors."""
        constants: list[tuple[float, ...]] = []
        errors: list[tuple[float, ...]] = []
        count = ctypes.c_size_t()
        while True:
            try:
                self.status("category", row, len(constants), ctypes.byref(count), None, None)
            except lib.Error as error:
                if error.status != lib.EMISSING:
                    raise
                return tuple(constants), tuple(errors)
            values, wrong = ((ctypes.c_double * count.value)() for _ in range(2))
            self.status("category", row, len(constants), None, values, wrong)
            constants.append(tuple(values))
            errors.append(tuple(wrong))

    def _intervals(self, row: int, count: int) -> dict[str, Any]:
        """Bounds of profile intervals; a row that no rule chooses has none, as they cost time."""
        low, high = ((ctypes.c_double * count)() for _ in range(2))
        self.status("intervals", row, low, high)
        return {"low": tuple(low), "high": tuple(high)}

    def _covariance(self, row: int, count: int) -> dict[str, Any]:
        triangle = (ctypes.c_double * (count * (count + 1) // 2))()
        variance, freedom = ctypes.c_double(), ctypes.c_double()
        self.status("covariance", row, triangle, ctypes.byref(variance), ctypes.byref(freedom))
        return {"covariance": tuple(triangle), "variance": variance.value,
                "freedom": freedom.value}

    def front(self) -> list[Row]:
        count = ctypes.c_int()
        self.status("rows", ctypes.byref(count))
        rows, chosen = [], set(self.select().values())
        for i in range(count.value):
            known = lib.Formula()
            self.status("formula", i, ctypes.byref(known))
            texts = [self._text("print", i, n) for n in (lib.TEXT, lib.LATEX, lib.SYMPY, lib.C)]
            constants, errors = self._constants(i, known.constants)
            category, category_errors = self._category(i)
            rows.append(Row(known.complexity, known.loss, known.score, texts[0],
                            known.description_length, constants, errors, texts[1], texts[2],
                            texts[3], category, category_errors,
                            mathml=self._text("print", i, lib.MATHML),
                            **self._covariance(i, known.constants),
                            **(self._intervals(i, known.constants) if i in chosen else {})))
        return rows

    def alternatives(self) -> list[dict[str, Any]]:
        """Formulas beside the front, which are the rows after it."""
        first = ctypes.c_int()
        self.status("rows", ctypes.byref(first))
        rows: list[dict[str, Any]] = []
        while True:
            known, row = lib.Formula(), first.value + len(rows)
            try:
                self.status("formula", row, ctypes.byref(known))
            except lib.Error as error:
                if error.status != lib.EINVAL:
                    raise
                return rows
            rows.append({"complexity": known.complexity, "loss": known.loss, "nats": known.score,
                         "equation": self._text("print", row, lib.TEXT),
                         "description_length": known.description_length})

    def select(self) -> dict[str, int]:
        """The row that each rule chooses; rules that choose none are left out."""
        chosen = {}
        for rule in RULES:
            row = ctypes.c_int()
            try:
                self.status("select", rule.encode(), ctypes.byref(row))
            except lib.Error as error:
                if error.status != lib.EMISSING:
                    raise
                continue
            chosen[rule] = row.value
        return chosen

    def evaluate(self, formula: str, x: np.ndarray) -> np.ndarray:
        y, table = np.empty(x.shape[0]), _filled(x)
        self.status("evaluate", encoded("formula", formula), ctypes.byref(table), _doubles(y))
        return y

    def deviation(self, formula: str, x: np.ndarray, constants: int,
                  covariance: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Values of a formula and their standard deviations, by its constants' covariance."""
        y, deviation, table = np.empty(x.shape[0]), np.empty(x.shape[0]), _filled(x)
        triangle = (ctypes.c_double * len(covariance))(*covariance)
        self.status("deviation", encoded("formula", formula), ctypes.byref(table), constants,
                    triangle, _doubles(y), _doubles(deviation))
        return y, deviation


def _doubles(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def language(names: list[str], define: str | None) -> Search:
    """A handle that reads and writes formulas of columns with these names, 64 at most."""
    search = Search({"define": define} if define else {})
    two = np.tile(np.array([[1.0], [2.0]]), (1, len(names)))
    search.data(two, two[:, 0], names=names, target=free_name("y", names))
    return search


def evaluate(formula: str, names: list[str], x: np.ndarray, define: str | None) -> np.ndarray:
    """A printed formula of columns with these names, by the library.

    Each call has a handle to itself, so that threads and copies of an estimator share nothing.
    """
    used = columns_of(formula, names)
    return language([names[i] for i in used], define).evaluate(formula, x[:, used])


def interval(row: Row, names: list[str], x: np.ndarray, define: str | None, level: float,
             noise: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of new observations whose noise has these variances."""
    used = columns_of(row.equation, names)
    y, deviation = language([names[i] for i in used], define).deviation(
        row.equation, x[:, used], len(row.constants), row.covariance)
    reach = lib.loaded().orrery_interval_factor(level, row.freedom) * np.sqrt(deviation**2 + noise)
    return y - reach, y + reach


def columns_of(formula: str, names: list[str]) -> list[int]:
    """Columns that a formula may use: the library takes 64 at most."""
    import re

    words = {w[1:-1].replace('""', '"') if w[0] == '"' else w
             for w in re.findall(r'"(?:[^"]|"")*"|[^\W\d]\w*(?:\[\w+\])?', formula)}
    return [i for i, name in enumerate(names) if name in words] or [0]


def free_name(name: str, names: list[str]) -> str:
    """The name, with underscores where a column has it already."""
    while name in names:
        name += "_"
    return name


