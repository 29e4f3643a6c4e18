"""liborrery.so by ctypes: where it is, its structs and functions as api/orrery.h has them."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import re
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any, Callable

from ._files import plain

INTERFACE = 2
OK, EUSAGE, EINVAL, EDOM, EIO, EFORMAT, EMISSING, ENOMEM = range(8)
STOPPED, EBUSY, EVERSION = 10, 20, 21
FLOAT64, FLOAT32 = 0, 1
ROWS, COLUMNS = 0, 1
TEXT, LATEX, C, SYMPY, NUMPY, JAX, PYTORCH, MATHML = range(8)
BINS, COORDINATES, CHARACTERS, SPACE = 0, 1, 2, 3
HEAD_BINS, HEAD_NUMBERS, HEAD_CHARACTERS = 0, 1, 2
GATE_NONE, GATE_SIGMOID, GATE_SOFTPLUS = 0, 1, 2
LEARNED, ROPE, NO_POSITIONS = 0, 1, 2
NUMBERS, WORDS = 0, 1
OPTION_TEXT, OPTION_FLAG, OPTION_WHOLE, OPTION_NUMBER, OPTION_WORD, OPTION_WORDS = range(6)

LIBRARY = "liborrery.so.2"
_HANDLES = ("regression", "formula", "simulation", "model", "attention", "results")


def _type(declared: str) -> Any:
    """The type of ctypes for one of C, as "int" or "double *"; those of orrery.h by their names."""
    name, stars = declared.replace("*", "").strip(), declared.count("*")
    if name == "progress_call":
        return PROGRESS_CALL
    kind: Any
    if name in ("void", "char", *_HANDLES):
        kind, stars = (c_char_p if name == "char" else c_void_p if stars else None), stars - 1
    else:
        kind = next((getattr(ctypes, c) for c in (f"c_{name}", f"c_{name.removesuffix('_t')}")
                     if hasattr(ctypes, c)), None) or STRUCTS[f"orrery_{name}"]
    for _ in range(stars):
        kind = POINTER(kind)
    return kind


def members(declared: str) -> list[tuple[str, Any]]:
    """Members of a struct as C declares them: "size_t rows, columns; double *y"."""
    return [(name.strip(" *"), _type(of + "*" * name.count("*")))
            for of, names in (each.strip().split(" ", 1) for each in declared.split(";"))
            for name in names.split(",")]


class Struct(ctypes.Structure):
    """A struct of orrery.h that begins with its size, which is filled in."""

    def __init__(self, **members: Any):
        super().__init__(bytes=ctypes.sizeof(type(self)), **members)


class Table(Struct):
    _fields_ = members(
        "size_t bytes, rows, columns; int type, order; void *x, *y, *weights; char "
        "**names, *target; void *sigma, *sigma_x, *y_low, *y_high")


class Progress(Struct):
    _fields_ = members(
        "size_t bytes; double seconds, evaluations; int epoch, rows; double loss; "
        "char *best")


class Row(Struct):
    _fields_ = members(
        "size_t bytes; int complexity, constants, category_constants; double loss, "
        "score, description_length, nats, test_loss, test_r2")


class Counts(Struct):
    _fields_ = members("size_t bytes; int rows, alternatives, remarks; size_t categories")


class Permutations(Struct):
    _fields_ = members(
        "size_t bytes; int searches, as_good, complexity; double p, least_loss, "
        "median_loss")


class Option(Struct):
    _fields_ = members(
        "size_t bytes; char *key, *program, *value, *python; int type; char *initial; "
        "double low, high; char *choices, *unit, *needs, *without; int recorded; char "
        "*help")


class Set(Struct):
    _fields_ = members(
        "size_t bytes; uint64_t sequences; size_t positions; int tokens, labelled")


class Arrays(Struct):
    _fields_ = members(
        "size_t bytes; uint16_t *tokens; float *coordinates; uint8_t *bodies; float "
        "*full_state, *state, *force_magnitude, *force, *scale")


class Tracks(Struct):
    _fields_ = members(
        "size_t bytes, steps; int bodies; double dt, *position, *velocity, *mass; int dimensions")


class Division(Struct):
    _fields_ = members(
        "size_t bytes; int steps; double val, test; int by_time; uint64_t seed; int force; "
        "char *name, *units")


class Column(Struct):
    _fields_ = members("size_t bytes; char *name; int kind; double *numbers; char **words")


class Elements(ctypes.Structure):
    _fields_ = members("double a_au, e, omega_rad, phase_rad; int clockwise")


class Shape(Struct):
    _fields_ = members(
        "size_t bytes; int layers, heads, width, feedforward, context, input, head, "
        "outputs, vocabulary, positions, gate; char *attention; double power; int "
        "window; uint64_t parameters; int64_t step; int reference, reweight, "
        "unshifted_rows; double rope_base")


class Sequences(Struct):
    _fields_ = members(
        "size_t bytes, sequences, rows, stride; uint16_t *tokens; float *coordinates")


class Attend(Struct):
    _fields_ = members(
        "size_t bytes; char *attention; int reweight; double power; int set_window, "
        "window, context, ntk")


class AttentionShape(Struct):
    _fields_ = members(
        "size_t bytes; char *variant; double power; int window, type, reference, "
        "sequences, rows, heads, size, threads")


class AttentionLine(Struct):
    _fields_ = members(
        "size_t bytes; char *name, *score, *bias, *phi, *norm, *transform; int "
        "reweight, reweightable, unshifted_rows; char *source")


PROGRESS_CALL = ctypes.CFUNCTYPE(c_int, POINTER(Progress), c_void_p)

# orrery.h's structs.
STRUCTS = {
    "orrery_table": Table,
    "orrery_progress": Progress,
    "orrery_row": Row,
    "orrery_counts": Counts,
    "orrery_permutations": Permutations,
    "orrery_option": Option,
    "orrery_set": Set,
    "orrery_arrays": Arrays,
    "orrery_elements": Elements,
    "orrery_shape": Shape,
    "orrery_sequences": Sequences,
    "orrery_attend": Attend,
    "orrery_attention_shape": AttentionShape,
    "orrery_attention_line": AttentionLine,
    "orrery_column": Column,
    "orrery_tracks": Tracks,
    "orrery_division": Division,
}

# orrery.h's functions.
_DECLARED = """
int orrery_attention_create(int, attention **)
void orrery_attention_free(attention *)
char *orrery_attention_variant(int)
int orrery_attention_describe(attention *, char *, attention_line *)
int orrery_attention_saved(attention *, attention_shape *, size_t *)
int orrery_attention_forward(attention *, attention_shape *, void *, void *, void *)
int orrery_attention_weights(attention *, attention_shape *, void *, double *)
int orrery_attention_backward(attention *, attention_shape *, void *, void *, void *, void *,
    void *)
char *orrery_version()
char *orrery_status_text(int)
char *orrery_message(void *)
void orrery_stop(void *)
int orrery_formula_parse(int, char *, char **, size_t, char *, formula **)
int orrery_formula_of_row(regression *, int, formula **)
int orrery_formula_of_alternative(regression *, int, formula **)
void orrery_formula_free(formula *)
int orrery_formula_print(formula *, int, char *, size_t, size_t *)
int orrery_formula_evaluate(formula *, table *, double *)
int orrery_formula_columns(formula *, size_t, int *)
int orrery_formula_constants(formula *, int *, double *)
int orrery_formula_deviation(formula *, table *, int, double *, double *, double *)
int orrery_model_create(int, model **)
void orrery_model_free(model *)
int orrery_model_open(model *, char *, int, int)
int orrery_model_describe(model *, shape *)
int orrery_model_metadata(model *, char *, char *, size_t, size_t *)
int orrery_model_attend(model *, attend *)
int orrery_model_outputs(model *, sequences *, float *)
int orrery_model_next(model *, sequences *, double, double *)
int orrery_model_forces(model *, sequences *, double *)
int orrery_model_attention(model *, sequences *, int, double *)
int orrery_model_rollout(model *, sequences *, size_t, double, float *)
int orrery_fit(table *, char *, regression **)
int orrery_regression_create(int, regression **)
void orrery_regression_free(regression *)
int orrery_regression_set(regression *, char *, char *)
int orrery_option_count()
int orrery_option_at(int, option *)
int orrery_regression_data(regression *, table *)
int orrery_regression_test(regression *, table *)
int orrery_regression_search(regression *, int, progress_call, void *)
int orrery_regression_state(regression *, void **, size_t *)
int orrery_regression_resume(regression *, void *, size_t)
int orrery_regression_refit(regression *, char **, int)
int orrery_regression_permutations(regression *, int, int, permutations *)
int orrery_regression_counts(regression *, counts *)
int orrery_regression_row(regression *, int, row *)
int orrery_regression_alternative(regression *, int, row *)
int orrery_regression_remark(regression *, int, char *, size_t, size_t *)
int orrery_regression_answer(regression *, int, char *, size_t, size_t *)
int orrery_regression_select(regression *, char *, int *)
int orrery_regression_print(regression *, int, int, char *, size_t, size_t *)
int orrery_regression_predict(regression *, int, table *, double *)
int orrery_regression_definitions(regression *, char *, size_t, size_t *)
int orrery_regression_constants(regression *, int, double *, double *)
int orrery_regression_category(regression *, int, int, size_t *, double *, double *)
int orrery_regression_intervals(regression *, int, double *, double *)
int orrery_regression_covariance(regression *, int, double *, double *, double *)
double orrery_interval_factor(double, double)
int orrery_results_create(int, results **)
void orrery_results_free(results *)
int orrery_results_open(results *, char *)
int orrery_results_horizons(results *, char **, int)
int orrery_results_check(results *, char *)
int orrery_results_size(results *, size_t *, size_t *)
int orrery_results_column(results *, size_t, column *)
int orrery_results_find(results *, char *, column *)
int orrery_simulation_create(int, simulation **)
void orrery_simulation_free(simulation *)
int orrery_simulation_set(simulation *, char *)
int orrery_simulation_describe(simulation *, char *, set *)
int orrery_simulation_sequences(simulation *, char *, uint64_t, size_t, int, arrays *)
int orrery_simulation_orbit(simulation *, elements *, double, double, double, size_t, double *)
int orrery_simulation_orbit_in_space(simulation *, elements *, double, double, double, double, \
double, size_t, double *)
int orrery_simulation_bodies(simulation *, int, double *, double *, double, size_t, double *)
int orrery_simulation_import(simulation *, char *, size_t, tracks **, division *)
int orrery_simulation_force(simulation *, double, double, size_t, double *, double *, double *)
"""
# Function -> (result, arguments).
FUNCTIONS = {name: (_type(result), [_type(each) for each in arguments.split(",") if each])
             for result, name, arguments in re.findall(r"(.*?)(orrery_\w+)\(([^)]*)\)",
                                                       _DECLARED)}


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


@functools.cache
def options() -> tuple[dict[str, Any], ...]:
    """The options of a table: the library's rows, struct orrery_option."""
    row, rows = Option(), []
    for number in range(loaded().orrery_option_count()):
        loaded().orrery_option_at(number, ctypes.byref(row))
        values = {name: getattr(row, name) for name, _ in Option._fields_}
        rows.append({name: value.decode() if isinstance(value, bytes) else value
                     for name, value in values.items()})
    return tuple(rows)


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
