"""One search of the library: a table in, a front out, in a thread that can be interrupted."""

from __future__ import annotations

import ctypes
import math
import threading
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from . import _library as lib
from . import _options
from ._arguments import encoded


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
    test_loss: float = float("nan")  # on the rows of X_test
    test_r2: float = float("nan")
    answer: str = ""  # in a person's words; "" in fronts of older files


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


def _texts(name: str, texts: list[str]) -> Any:
    return (ctypes.c_char_p * len(texts))(*(encoded(name, text) for text in texts))


def _filled(x: np.ndarray, y: Any = None, weights: Any = None, names: list[str] | None = None,
            target: str | None = None, sigma: Any = None, sigma_x: Any = None,
            ends: tuple[Any, Any] | None = None) -> lib.Table:
    """A struct orrery_table, which keeps the arrays that it points to. ends: of y, in its place."""
    single = x.dtype == np.float32 and (y is None or y.dtype == np.float32)
    dtype = np.float32 if single else np.float64
    x = _array(x, dtype)
    y, weights, sigma = (None if a is None else np.ascontiguousarray(a, dtype)
                         for a in (y, weights, sigma))
    low, high = (None if a is None else np.ascontiguousarray(a, dtype)
                 for a in ends or (None, None))
    if ends:
        y = None
    if sigma_x is not None:  # in the order of x
        sigma_x = np.asarray(sigma_x, dtype, order="C" if x.flags.c_contiguous else "F")
    texts = _texts("variable_names", names) if names else None
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
        sigma=None if sigma is None else sigma.ctypes.data,
        sigma_x=None if sigma_x is None else sigma_x.ctypes.data,
        y_low=None if low is None else low.ctypes.data,
        y_high=None if high is None else high.ctypes.data,
    )
    setattr(table, "kept", (x, y, weights, sigma, sigma_x, low, high, texts))
    return table


class _Named(lib.Handle):
    """Whose messages have the parameters' names in place of the options'."""

    def _error(self, status: int) -> Exception:
        error = super()._error(status)
        return (type(error)(error.status, _options.renamed(str(error)))
                if isinstance(error, lib.Error) else error)


class Formula(_Named):
    """A printed formula of columns with these names, as the library reads it.

    Each use makes one, so that threads and copies of an estimator share nothing.
    """

    def __init__(self, text: str, names: list[str], define: str | None):
        self.names = names
        super().__init__("formula", "parse", encoded("formula", text),
                         _texts("variable_names", names), len(names),
                         encoded("define", define) if define else None)

    def columns(self) -> list[int]:
        """The columns that it uses."""
        used = (ctypes.c_int * len(self.names))()
        self.status("columns", len(self.names), used)
        return [i for i, is_used in enumerate(used) if is_used]

    def write(self, notation: int) -> str:
        return self.text("print", notation)

    def evaluate(self, x: np.ndarray) -> np.ndarray:
        y, table = np.empty(x.shape[0]), _filled(x)
        self.status("evaluate", ctypes.byref(table), _doubles(y))
        return y

    def deviation(self, x: np.ndarray, covariance: tuple[float, ...]
                  ) -> tuple[np.ndarray, np.ndarray]:
        """Values and their standard deviations, by the covariance of the constants."""
        y, deviation, table = np.empty(x.shape[0]), np.empty(x.shape[0]), _filled(x)
        count = ctypes.c_int()
        self.status("constants", ctypes.byref(count), None)
        self.status("deviation", ctypes.byref(table), count,
                    (ctypes.c_double * len(covariance))(*covariance), _doubles(y),
                    _doubles(deviation))
        return y, deviation


class Search(_Named):
    def __init__(self, settings: dict[str, str]):
        super().__init__("regression")
        for key, value in settings.items():
            self.status("set", key.encode(), encoded(_options.parameters().get(key, key), value))

    def data(self, x: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None,
             names: list[str] | None = None, target: str | None = None,
             sigma: np.ndarray | None = None, sigma_x: np.ndarray | None = None,
             ends: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        table = _filled(x, y, weights, names, target, sigma, sigma_x, ends)
        self.status("data", ctypes.byref(table))

    def test(self, x: np.ndarray, y: np.ndarray) -> None:
        """Rows that no search uses, for test_loss and test_r2."""
        table = _filled(x, y)
        self.status("test", ctypes.byref(table))

    def run(self, threads: int, seen: Callable[[Seen], bool] | None = None) -> str | None:
        """Searches; None, or what ended it: "callback" or "interrupt".

        `seen` is called after every epoch, in the thread of the search; true ends it. An interrupt
        (Ctrl-C) of the calling thread ends the search within about a second.
        """
        outcome: dict[str, Any] = {}

        def call(progress: Any, _context: Any) -> int:
            try:
                p = progress.contents
                now = Seen(p.seconds, p.evaluations, p.epoch, p.rows, p.loss, p.best.decode())
                return int(bool(seen(now))) if seen else 0
            except BaseException as error:  # raised again by the caller's thread
                outcome.setdefault("error", error)
                return 1

        return self._waited("search", threads, lib.PROGRESS_CALL(call), None, outcome=outcome)

    def _waited(self, name: str, *arguments: Any, outcome: dict[str, Any]) -> str | None:
        """Calls in a thread of its own, which an interrupt of this one stops."""
        done = threading.Event()

        def work() -> None:
            try:
                outcome["status"] = self.status(name, *arguments)
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
                self.stop()
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

    def definitions(self) -> str | None:
        """Named constants and operators of the formulas, as the option "define" reads them."""
        return self.text("definitions") or None

    def refit(self, formulas: list[str]) -> None:
        """The front becomes that of these formulas, their constants fitted to the table."""
        self.status("refit", _texts("formula", formulas), len(formulas))

    def _constants(self, row: int, count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The constants of a row and their standard errors."""
        values, errors = ((ctypes.c_double * count)() for _ in range(2))
        self.status("constants", row, values, errors)
        return tuple(values), tuple(errors)

    def _category(self, row: int, constants: int) -> tuple[list[Any], list[Any]]:
        """Constants that a row has in each category, and their errors."""
        found: tuple[list[Any], list[Any]] = ([], [])
        count = self.counts().categories
        for number in range(constants):
            values, wrong = ((ctypes.c_double * count)() for _ in range(2))
            self.status("category", row, number, None, values, wrong)
            found[0].append(tuple(values))
            found[1].append(tuple(wrong))
        return found

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

    def counts(self) -> lib.Counts:
        counts = lib.Counts()
        self.status("counts", ctypes.byref(counts))
        return counts

    def _describe(self, call: str, number: int) -> lib.Row:
        row = lib.Row()
        self.status(call, number, ctypes.byref(row))
        return row

    def front(self) -> list[Row]:
        rows, chosen = [], set(self.select().values())
        for i in range(self.counts().rows):
            known = self._describe("row", i)
            text, latex, sympy, c, mathml = (self.text("print", i, n) for n in (
                lib.TEXT, lib.LATEX, lib.SYMPY, lib.C, lib.MATHML))
            constants, errors = self._constants(i, known.constants)
            category, category_errors = self._category(i, known.category_constants)
            rows.append(Row(known.complexity, known.loss, known.score, text,
                            known.description_length, constants, errors, latex, sympy, c,
                            tuple(category), tuple(category_errors), mathml=mathml,
                            test_loss=known.test_loss, test_r2=known.test_r2,
                            answer=self.text("answer", i),
                            **self._covariance(i, known.constants),
                            **(self._intervals(i, known.constants) if i in chosen else {})))
        return rows

    def alternatives(self) -> list[dict[str, Any]]:
        """Other functions as good as the row of rule best."""
        rows = []
        for i in range(self.counts().alternatives):
            known, pointer = self._describe("alternative", i), ctypes.c_void_p()
            raised = lib.loaded().orrery_formula_of_alternative(self.pointer, i,
                                                                ctypes.byref(pointer))
            if raised:
                raise self._error(raised)
            row = {"complexity": known.complexity, "loss": known.loss, "nats": known.nats,
                   "equation": lib.Handle.of("formula", pointer).text("print", lib.TEXT),
                   "description_length": known.description_length}
            if not math.isnan(known.test_loss):
                row.update(test_loss=known.test_loss, test_r2=known.test_r2)
            rows.append(row)
        return rows

    def remarks(self) -> list[str]:
        """What the table cannot decide, or what its noise looks like, in sentences."""
        return [_options.renamed(self.text("remark", i)) for i in range(self.counts().remarks)]

    def permutations(self, searches: int, threads: int) -> tuple[dict[str, Any], str | None]:
        """What searches on shuffled targets found, and what ended them early."""
        found = lib.Permutations()
        ended = self._waited("permutations", searches, threads, ctypes.byref(found), outcome={})
        return {name: getattr(found, name) for name, _ in found._fields_ if name != "bytes"}, ended

    def select(self) -> dict[str, int]:
        """The row that each rule chooses; rules that choose none are left out."""
        chosen = {}
        for rule in _options.choices("rule"):
            row = ctypes.c_int()
            try:
                self.status("select", rule.encode(), ctypes.byref(row))
            except lib.Error as error:
                if error.status != lib.EMISSING:
                    raise
                continue
            chosen[rule] = row.value
        return chosen


def _doubles(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def evaluate(formula: str, names: list[str], x: np.ndarray, define: str | None) -> np.ndarray:
    """Values of a printed formula of columns with these names."""
    return Formula(formula, names, define).evaluate(x)


def interval(row: Row, names: list[str], x: np.ndarray, define: str | None, level: float,
             noise: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of new observations whose noise has these variances."""
    y, deviation = Formula(row.equation, names, define).deviation(x, row.covariance)
    reach = lib.loaded().orrery_interval_factor(level, row.freedom) * np.sqrt(deviation**2 + noise)
    return y - reach, y + reach


def columns_of(formula: str, names: list[str], define: str | None) -> list[int]:
    """The columns that a formula uses; the first where it uses none."""
    return Formula(formula, names, define).columns() or [0]


def free_name(name: str, names: list[str]) -> str:
    """The name, with underscores where a column has it already."""
    while name in names:
        name += "_"
    return name


