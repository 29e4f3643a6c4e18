"""liborrery.so by ctypes: where it is, its structs and functions as api/orrery.h has them."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_size_t, c_uint8, c_uint16
from ctypes import c_int64, c_uint64, c_void_p
from typing import Any, Callable

from ._files import plain

INTERFACE = 2
OK, EUSAGE, EINVAL, EDOM, EIO, EFORMAT, EMISSING, ENOMEM = range(8)
STOPPED, EBUSY, EVERSION = 10, 20, 21
FLOAT64, FLOAT32 = 0, 1
ROWS, COLUMNS = 0, 1
TEXT, LATEX, C, SYMPY, NUMPY, JAX, PYTORCH, MATHML = range(8)
BINS, COORDINATES, CHARACTERS = 0, 1, 2
HEAD_BINS, HEAD_NUMBERS, HEAD_CHARACTERS = 0, 1, 2
GATE_NONE, GATE_SIGMOID, GATE_SOFTPLUS = 0, 1, 2
LEARNED, ROPE, NO_POSITIONS = 0, 1, 2
NUMBERS, WORDS = 0, 1

LIBRARY = "liborrery.so.2"


class Struct(ctypes.Structure):
    """A struct of orrery.h that begins with its size, which is filled in."""

    def __init__(self, **members: Any):
        super().__init__(bytes=ctypes.sizeof(type(self)), **members)


class Table(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("rows", c_size_t),
        ("columns", c_size_t),
        ("type", c_int),
        ("order", c_int),
        ("x", c_void_p),
        ("y", c_void_p),
        ("weights", c_void_p),
        ("names", POINTER(c_char_p)),
        ("target", c_char_p),
        ("sigma", c_void_p),
    ]


class Progress(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("seconds", c_double),
        ("evaluations", c_double),
        ("epoch", c_int),
        ("rows", c_int),
        ("loss", c_double),
        ("best", c_char_p),
    ]


class Row(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("complexity", c_int),
        ("constants", c_int),
        ("category_constants", c_int),
        ("loss", c_double),
        ("score", c_double),
        ("description_length", c_double),
        ("nats", c_double),
        ("test_loss", c_double),
        ("test_r2", c_double),
    ]


class Counts(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("rows", c_int),
        ("alternatives", c_int),
        ("remarks", c_int),
        ("categories", c_size_t),
    ]


class Permutations(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("searches", c_int),
        ("as_good", c_int),
        ("complexity", c_int),
        ("p", c_double),
        ("least_loss", c_double),
        ("median_loss", c_double),
    ]


class Set(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("sequences", c_uint64),
        ("positions", c_size_t),
        ("tokens", c_int),
        ("labelled", c_int),
    ]


class Arrays(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("tokens", POINTER(c_uint16)),
        ("coordinates", POINTER(c_float)),
        ("bodies", POINTER(c_uint8)),
        ("full_state", POINTER(c_float)),
        ("state", POINTER(c_float)),
        ("force_magnitude", POINTER(c_float)),
        ("force", POINTER(c_float)),
        ("scale", POINTER(c_float)),
    ]


class Column(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("name", c_char_p),
        ("kind", c_int),
        ("numbers", POINTER(c_double)),
        ("words", POINTER(c_char_p)),
    ]


class Elements(ctypes.Structure):
    _fields_ = [
        ("a_au", c_double),
        ("e", c_double),
        ("omega_rad", c_double),
        ("phase_rad", c_double),
        ("clockwise", c_int),
    ]


class Shape(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("layers", c_int),
        ("heads", c_int),
        ("width", c_int),
        ("feedforward", c_int),
        ("context", c_int),
        ("input", c_int),
        ("head", c_int),
        ("outputs", c_int),
        ("vocabulary", c_int),
        ("positions", c_int),
        ("gate", c_int),
        ("attention", c_char_p),
        ("power", c_double),
        ("window", c_int),
        ("parameters", c_uint64),
        ("step", c_int64),
        ("reference", c_int),
        ("reweight", c_int),
        ("unshifted_rows", c_int),
        ("rope_base", c_double),
        ("activation", c_int),
    ]


class Sequences(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("sequences", c_size_t),
        ("rows", c_size_t),
        ("stride", c_size_t),
        ("tokens", POINTER(c_uint16)),
        ("coordinates", POINTER(c_float)),
    ]


class Attend(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("attention", c_char_p),
        ("reweight", c_int),
        ("power", c_double),
        ("set_window", c_int),
        ("window", c_int),
        ("context", c_int),
        ("ntk", c_int),
    ]


class AttentionShape(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("variant", c_char_p),
        ("power", c_double),
        ("window", c_int),
        ("type", c_int),
        ("reference", c_int),
        ("sequences", c_int),
        ("rows", c_int),
        ("heads", c_int),
        ("size", c_int),
        ("threads", c_int),
    ]


class AttentionLine(Struct):
    _fields_ = [
        ("bytes", c_size_t),
        ("name", c_char_p),
        ("score", c_char_p),
        ("bias", c_char_p),
        ("phi", c_char_p),
        ("norm", c_char_p),
        ("transform", c_char_p),
        ("reweight", c_int),
        ("reweightable", c_int),
        ("unshifted_rows", c_int),
        ("source", c_char_p),
    ]


PROGRESS_CALL = ctypes.CFUNCTYPE(c_int, POINTER(Progress), c_void_p)

# Names of orrery.h's structs, for the test that compares them.
STRUCTS = {
    "orrery_table": Table,
    "orrery_progress": Progress,
    "orrery_row": Row,
    "orrery_counts": Counts,
    "orrery_permutations": Permutations,
    "orrery_set": Set,
    "orrery_arrays": Arrays,
    "orrery_elements": Elements,
    "orrery_shape": Shape,
    "orrery_sequences": Sequences,
    "orrery_attend": Attend,
    "orrery_attention_shape": AttentionShape,
    "orrery_attention_line": AttentionLine,
    "orrery_column": Column,
}

_HANDLE, _MADE, _DOUBLES = c_void_p, POINTER(c_void_p), POINTER(c_double)
_FLOATS, _SEQUENCES, _PASS = POINTER(c_float), POINTER(Sequences), POINTER(AttentionShape)
# Function -> (result, arguments).
FUNCTIONS = {
    "orrery_version": (c_char_p, []),
    "orrery_status_text": (c_char_p, [c_int]),
    "orrery_message": (c_char_p, [_HANDLE]),
    "orrery_stop": (None, [_HANDLE]),
    "orrery_fit": (c_int, [POINTER(Table), c_char_p, _MADE]),
    "orrery_formula_parse": (
        c_int,
        [c_int, c_char_p, POINTER(c_char_p), c_size_t, c_char_p, _MADE],
    ),
    "orrery_formula_of_row": (c_int, [_HANDLE, c_int, _MADE]),
    "orrery_formula_of_alternative": (c_int, [_HANDLE, c_int, _MADE]),
    "orrery_formula_free": (None, [_HANDLE]),
    "orrery_formula_print": (c_int, [_HANDLE, c_int, c_char_p, c_size_t, POINTER(c_size_t)]),
    "orrery_formula_evaluate": (c_int, [_HANDLE, POINTER(Table), _DOUBLES]),
    "orrery_formula_columns": (c_int, [_HANDLE, c_size_t, POINTER(c_int)]),
    "orrery_formula_constants": (c_int, [_HANDLE, POINTER(c_int), _DOUBLES]),
    "orrery_formula_deviation": (
        c_int,
        [_HANDLE, POINTER(Table), c_int, _DOUBLES, _DOUBLES, _DOUBLES],
    ),
    "orrery_regression_create": (c_int, [c_int, _MADE]),
    "orrery_regression_free": (None, [_HANDLE]),
    "orrery_regression_set": (c_int, [_HANDLE, c_char_p, c_char_p]),
    "orrery_regression_data": (c_int, [_HANDLE, POINTER(Table)]),
    "orrery_regression_search": (c_int, [_HANDLE, c_int, PROGRESS_CALL, c_void_p]),
    "orrery_regression_state": (c_int, [_HANDLE, POINTER(c_void_p), POINTER(c_size_t)]),
    "orrery_regression_resume": (c_int, [_HANDLE, c_void_p, c_size_t]),
    "orrery_regression_option": (c_char_p, [c_int]),
    "orrery_regression_test": (c_int, [_HANDLE, POINTER(Table)]),
    "orrery_regression_permutations": (c_int, [_HANDLE, c_int, c_int, POINTER(Permutations)]),
    "orrery_regression_counts": (c_int, [_HANDLE, POINTER(Counts)]),
    "orrery_regression_row": (c_int, [_HANDLE, c_int, POINTER(Row)]),
    "orrery_regression_alternative": (c_int, [_HANDLE, c_int, POINTER(Row)]),
    "orrery_regression_remark": (
        c_int,
        [_HANDLE, c_int, c_char_p, c_size_t, POINTER(c_size_t)],
    ),
    "orrery_regression_select": (c_int, [_HANDLE, c_char_p, POINTER(c_int)]),
    "orrery_regression_print": (
        c_int,
        [_HANDLE, c_int, c_int, c_char_p, c_size_t, POINTER(c_size_t)],
    ),
    "orrery_regression_predict": (c_int, [_HANDLE, c_int, POINTER(Table), _DOUBLES]),
    "orrery_regression_definitions": (
        c_int,
        [_HANDLE, c_char_p, c_size_t, POINTER(c_size_t)],
    ),
    "orrery_regression_refit": (c_int, [_HANDLE, POINTER(c_char_p), c_int]),
    "orrery_regression_constants": (c_int, [_HANDLE, c_int, _DOUBLES, _DOUBLES]),
    "orrery_regression_category": (c_int, [_HANDLE, c_int, c_int, POINTER(c_size_t), _DOUBLES,
                                           _DOUBLES]),
    "orrery_regression_intervals": (c_int, [_HANDLE, c_int, _DOUBLES, _DOUBLES]),
    "orrery_regression_covariance": (c_int, [_HANDLE, c_int, _DOUBLES, _DOUBLES, _DOUBLES]),
    "orrery_interval_factor": (c_double, [c_double, c_double]),
    "orrery_simulation_create": (c_int, [c_int, _MADE]),
    "orrery_simulation_free": (None, [_HANDLE]),
    "orrery_simulation_set": (c_int, [_HANDLE, c_char_p]),
    "orrery_simulation_describe": (c_int, [_HANDLE, c_char_p, POINTER(Set)]),
    "orrery_simulation_sequences": (
        c_int,
        [_HANDLE, c_char_p, c_uint64, c_size_t, c_int, POINTER(Arrays)],
    ),
    "orrery_simulation_orbit": (
        c_int,
        [_HANDLE, POINTER(Elements), c_double, c_double, c_double, c_size_t, _DOUBLES],
    ),
    "orrery_simulation_force": (
        c_int,
        [_HANDLE, c_double, c_double, c_size_t, _DOUBLES, _DOUBLES, _DOUBLES],
    ),
    "orrery_model_create": (c_int, [c_int, _MADE]),
    "orrery_model_free": (None, [_HANDLE]),
    "orrery_model_open": (c_int, [_HANDLE, c_char_p, c_int, c_int]),
    "orrery_model_describe": (c_int, [_HANDLE, POINTER(Shape)]),
    "orrery_model_metadata": (
        c_int,
        [_HANDLE, c_char_p, c_char_p, c_size_t, POINTER(c_size_t)],
    ),
    "orrery_model_attend": (c_int, [_HANDLE, POINTER(Attend)]),
    "orrery_model_outputs": (c_int, [_HANDLE, _SEQUENCES, _FLOATS]),
    "orrery_model_next": (c_int, [_HANDLE, _SEQUENCES, c_double, _DOUBLES]),
    "orrery_model_forces": (c_int, [_HANDLE, _SEQUENCES, _DOUBLES]),
    "orrery_model_attention": (c_int, [_HANDLE, _SEQUENCES, c_int, _DOUBLES]),
    "orrery_model_rollout": (c_int, [_HANDLE, _SEQUENCES, c_size_t, c_double, _FLOATS]),
    "orrery_attention_create": (c_int, [c_int, _MADE]),
    "orrery_attention_free": (None, [_HANDLE]),
    "orrery_attention_variant": (c_char_p, [c_int]),
    "orrery_attention_describe": (c_int, [_HANDLE, c_char_p, POINTER(AttentionLine)]),
    "orrery_attention_saved": (c_int, [_HANDLE, _PASS, POINTER(c_size_t)]),
    "orrery_attention_forward": (c_int, [_HANDLE, _PASS, c_void_p, c_void_p, c_void_p]),
    "orrery_attention_weights": (c_int, [_HANDLE, _PASS, c_void_p, _DOUBLES]),
    "orrery_attention_backward": (
        c_int,
        [_HANDLE, _PASS, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
    ),
    "orrery_results_create": (c_int, [c_int, _MADE]),
    "orrery_results_free": (None, [_HANDLE]),
    "orrery_results_open": (c_int, [_HANDLE, c_char_p]),
    "orrery_results_check": (c_int, [_HANDLE, c_char_p]),
    "orrery_results_size": (c_int, [_HANDLE, POINTER(c_size_t), POINTER(c_size_t)]),
    "orrery_results_column": (c_int, [_HANDLE, c_size_t, POINTER(Column)]),
    "orrery_results_find": (c_int, [_HANDLE, c_char_p, POINTER(Column)]),
}


class Error(RuntimeError):
    """What the library could not do; `status` is one of orrery.h's enum orrery_status."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[Error], tuple[int, str]]:
        return type(self), (self.status, self.args[0])


class ValueRefused(Error, ValueError):
    """A setting, an argument or a file that the library does not take."""


def find() -> list[pathlib.Path]:
    """The files that may be the library, the first that exists is loaded."""
    here = pathlib.Path(__file__).resolve().parent
    given = os.environ.get("ORRERY_LIBRARY")
    built = [here.parent.parent / folder / LIBRARY for folder in ("bin", "build")]
    return [here / LIBRARY, *([pathlib.Path(given)] if given else []), *built]


def load() -> ctypes.CDLL:
    candidates = find()
    path = next((p for p in candidates if p.exists()), None)
    if path is None:
        where = ", ".join(map(str, candidates))
        raise ImportError(f"orrery: expected {LIBRARY} at one of {where}, found none of them; "
                          "ORRERY_LIBRARY names another file")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"orrery: cannot load {path}: {error}; it needs GSL and the OpenMP "
                          "library of GCC (Debian: libgsl27, libgomp1)") from error
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_loaded: ctypes.CDLL | None = None
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


def in_team(call: Callable[[], Any]) -> Any:
    """Calls what computes with several threads of OpenMP.

    They belong to the thread that called first. A child of fork() has that thread, but not its
    team, and would wait for it: there the call is made in a thread of its own.
    """
    if not _forked:
        return call()
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def loaded() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        _loaded = load()
    return _loaded


def version() -> str:
    return str(loaded().orrery_version().decode())


class Handle:
    """A handle of the library: a regression, formula, simulation, model, attention or results.

    Calls are made by in_team(), so that a handle also works in a child of fork().
    """

    def __init__(self, kind: str, make: str = "create", *arguments: Any):
        self._library, self._kind = loaded(), kind
        self.pointer = c_void_p()
        status = in_team(lambda: self._call(make)(INTERFACE, *arguments,
                                                  ctypes.byref(self.pointer)))
        if status:
            raise self._error(status)

    @classmethod
    def of(cls, kind: str, pointer: c_void_p) -> Handle:
        """A handle that a call has made."""
        handle = cls.__new__(cls)
        handle._library, handle._kind, handle.pointer = loaded(), kind, pointer
        return handle

    def _call(self, name: str) -> Any:
        return getattr(self._library, f"orrery_{self._kind}_{name}")

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._call("free")(self.pointer)
            self.pointer = c_void_p()

    def status(self, name: str, *arguments: Any) -> int:
        """Calls a function of the handle; raises what it answers, unless it was stopped."""
        status: int = in_team(lambda: self._call(name)(self.pointer, *arguments))
        if status in (OK, STOPPED):
            return status
        raise self._error(status)

    def text(self, call: str, *what: Any) -> str:
        """What a call writes into a text whose size it says first."""
        needed = c_size_t()
        self.status(call, *what, None, 0, ctypes.byref(needed))
        text = ctypes.create_string_buffer(needed.value)
        self.status(call, *what, text, needed.value, None)
        return text.value.decode()

    def stop(self) -> None:
        """Ends a call that runs in another thread."""
        self._library.orrery_stop(self.pointer)

    def _error(self, status: int) -> Exception:
        if status in (EBUSY, EVERSION) or not self.pointer:
            message = self._library.orrery_status_text(status)
        else:
            message = self._library.orrery_message(self.pointer)
        text = plain(message.decode("utf-8", "replace"))  # it may quote a file
        if status == ENOMEM:
            return MemoryError(text)
        refused = status in (EUSAGE, EINVAL, EDOM, EFORMAT, EMISSING)
        return (ValueRefused if refused else Error)(status, text)
