"""PySR's parameters as settings of the library; those that have no meaning here say what to use."""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from . import _arguments
from . import _library as lib

HUGE = 10**40  # the library says what it takes

ARITHMETIC = ("+", "-", "*", "/")
SAME = {"plus": "+", "sub": "-", "mult": "*", "div": "/", "pow": "^", "**": "^", "ln": "log"}
DEFAULTS = {"binary_operators": ARITHMETIC,
            "unary_operators": ("inv", "square", "sqrt", "exp", "log", "sin", "cos")}
# Operators of PySR that are formulas of those above.
DEFINED = {
    "log2": "log2(x)=log(x)/0.6931471805599453",
    "exp2": "exp2(x)=exp(0.6931471805599453*x)",
    "relu": "relu(x)=max(x,0)",
    "cos2": "cos2(x)=cos(x)^2",
}

# Parameters of PySR without a meaning here -> what to use instead.
REFUSED = {
    "cluster_manager": "run one process per table, each with its own n_jobs",
    "worker_imports": "there are no worker processes; leave it out",
    "autodiff_backend": "derivatives are exact; leave it out",
    "precision": "everything is computed in 64 bits; leave it out",
    "type_spec": "everything is computed with real numbers of 64 bits; leave it out",
    **dict.fromkeys(("mutations", "default_mutations"),
                    "the search of Orrery has no such rate; leave it out"),
    **dict.fromkeys(("plugins", "use_tracing", "tracing_file"),
                    "use early_stop_condition, a Python function that every epoch calls"),
    "default_plugins": "there are none; leave it out",
    **dict.fromkeys(("loss_function", "full_objective", "loss_function_expression"),
                    "a loss is a mean over rows: use elementwise_loss, a formula of p and t"),
    "loss_scale": "losses are compared by their logarithm; leave it out",
    "expression_spec": 'use template="sin(x0)*f(x1) + g(x2)", or binary_operators and guesses',
    "complexity_mapping": "use complexity_of_operators, complexity_of_constants and "
                          "complexity_of_variables",
    "dimensional_constraint_penalty": "use units_penalty, in losses of the best constant; without "
                                      "it wrong dimensions are forbidden",
    "dimensionless_constants_only": "a constant takes the dimension that its formula needs",
    "should_simplify": "formulas are always simplified",
    "should_optimize_constants": "constants are always fitted",
    "denoise": "noise is weighed by model_selection='mdl' or 'best'; leave it out",
    "select_k_features": "of more than 64 columns those most related to y are used; leave it out",
    **dict.fromkeys(("temp_equation_file", "tempdir"),
                    "use output_directory; without it nothing is written"),
    "logger_spec": "use progress, or a function as early_stop_condition",
    "extra_sympy_mappings": "user-defined operators are written out in sympy()",
    "extra_torch_mappings": "user-defined operators are written out in pytorch()",
    "extra_jax_mappings": "user-defined operators are written out in jax()",
    **dict.fromkeys(("ncycles", "ncyclesperiteration"), "its name is ncycles_per_iteration"),
    "npop": "its name is population_size",
    "loss": "its name is elementwise_loss",
    **dict.fromkeys(("variable_names", "weights", "X_units", "y_units"), "give it to fit()"),
    # of from_file()
    "equation_file": "use output_directory and run_id, and in from_file() the first argument, path",
    "run_directory": "give it to from_file() as its first argument, path",
    "feature_names_in": "give them to from_file() as variable_names",
    "selection_mask": "variable_names of from_file() are all columns of X, used or not",
    "nout": "the columns of y say how many there are",
}


# Arguments of fit() of PySR and of other estimators -> what to use instead.
OF_FIT = {
    "Xresampled": "there is no denoising; fit the rows of Xresampled with their own y",
    "complexity_of_variables": "give it to SymbolicRegressor()",
}


# Parameters of PySR that leave the answer as it is, whatever their value: only a warning.
IGNORED = frozenset("""
    turbo bumper parallelism procs multithreading heap_size_hint_in_bytes worker_timeout
    julia_project julia_kwargs update fast_cycle use_frequency use_frequency_in_tournament
    adaptive_parsimony_scaling optimizer_algorithm optimizer_nrestarts optimizer_f_calls_limit
    optimizer_iterations optimize_probability alpha annealing probability_negate_constant
    crossover_probability skip_mutation_failures migration hof_migration topn
    fraction_replaced fraction_replaced_hof fraction_replaced_guesses perturbation_factor
    tournament_selection_n tournament_selection_p warmup_maxsize_by delete_tempfiles
    update_verbosity input_stream print_precision output_torch_format output_jax_format
    """.split())
# Values with which those of REFUSED ask for nothing, where that is not None: a warning, too.
NOTHING = {"precision": 64, "denoise": False, "should_simplify": True,
           "should_optimize_constants": True, "temp_equation_file": False,
           "dimensionless_constants_only": False, "use_tracing": False}


def _asks_for_nothing(name: str, value: Any, refused: Mapping[str, str]) -> bool:
    """Whether the parameter with this value leaves the answer as it is."""
    if name in IGNORED or name.startswith("weight_"):  # (rates of mutations)
        return True
    nothing = NOTHING.get(name)
    return name in refused and type(value) is type(nothing) and bool(value == nothing)


def refuse(unknown: Mapping[str, Any], known: Iterable[str],
           refused: Mapping[str, str] = REFUSED, call: str = "SymbolicRegressor") -> None:
    """One TypeError for all that cannot be honoured, with what to use instead; a warning for what
    asks for nothing."""
    import warnings

    complaints, ignored = [], []
    for name, value in unknown.items():
        if _asks_for_nothing(name, value, refused):
            ignored.append(name)
            continue
        instead = refused.get(name)
        if name.startswith("exclude"):  # (the program's --exclude)
            instead = "leave the columns out of X"
        near = difflib.get_close_matches(name, list(known), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        complaints.append(f"{name} has no meaning here: {instead}" if instead
                          else f"unknown parameter {name}{hint}")
    if complaints:
        raise TypeError(f"{call}: " + "; ".join(complaints))
    if ignored:
        warnings.warn(f"{call}: {', '.join(ignored)}: of PySR's search, without effect here",
                      UserWarning, stacklevel=4)


@functools.cache
def choices(key: str) -> tuple[str, ...]:
    """The words that an option of the library takes."""
    return next(tuple(row["choices"].split("|")) for row in lib.options() if row["key"] == key)


@functools.cache
def parameters() -> dict[str, str]:
    """Options of the library and of the program -> parameters."""
    named = {name.removeprefix("--"): row["python"].removesuffix(" of fit()")
             for row in lib.options() if row["python"]
             for name in (row["program"], row["key"]) if name}
    return {**named, "resume": "warm_start"}


def renamed(message: str) -> str:
    """A message of the library, whose options are called as the parameters are."""
    message = re.sub(r"^\S*/state: ", "warm_start: ", message)  # a file that the library made
    message = re.sub(r"^table(:\d+)?: (?=names?:|the name of column)", "variable_names: ", message)
    message = message.replace("give the table a header row of names", "give other names")
    message = re.sub(r"^table:(\d+): column (\".*?\"): ", r"column \2, row \1: ", message)
    message = re.sub(r" \(lines? \d+(, \d+)*\)", "", message)  # (of a file)
    message = re.sub(r"`--missing-value \S+` leaves these rows out",
                     "leave these rows out of X and y of fit()", message)
    message = re.sub(r" \(`--loss logcosh --set symreg\.loss_parameter=X`: X times .*?\)", "",
                     message)
    message = re.sub(r"`(?:--loss huber )?--set symreg\.loss_parameter=X`: X times .*?\)",
                     "another one: elementwise_loss=\"HuberLoss(X)\")", message)
    message = re.sub(r"(--\w[\w-]*: )?\bsymreg\.(\w+)|--(\w[\w-]*)",
                     lambda m: parameters().get(m[2] or m[3], m[2] or m[3]), message)
    return message.removeprefix("set: ")


def number(name: str, value: Any, whole: bool = False) -> str:
    if whole:
        return str(_arguments.whole(name, value, -HUGE, HUGE))
    return repr(_arguments.number(name, value))


def _of(name: str, value: Any, kind: Any, expected: str) -> Any:
    """The value, or what is empty where there is none."""
    if value is None:
        return {}
    if not isinstance(value, kind):
        raise ValueError(f"{name}: expected {expected}, found {value!r}")
    return value


# ------------------------------------------------------------------------------- operators

_FUNCTION = re.compile(r"^\s*(\w+)\s*\(\s*(\w+(?:\s*,\s*\w+)*)\s*\)\s*=\s*(.+?)\s*$", re.DOTALL)


def julia(text: str) -> str:
    """Julia's way of writing arithmetic as the library reads it: 1f0 is 1.0, x.^2 is x^2."""
    text = re.sub(r"(?<=[\d.])f([+-]?\d+)", r"e\1", text)
    return re.sub(r"\.([-+*/^])", r"\1", text)


# What users of PySR write for operators that the library has.
_BUILT_IN = {
    "inv": ("1/x", "x^-1", "x^(-1)"), "square": ("x^2", "x*x"), "cube": ("x^3", "x*x*x"),
    "neg": ("-x", "0-x"), "log10": ("log(x)/2.302585092994046", "log(x)/log(10)"),
}


def _is_built_in(word: str, argument: str, body: str) -> bool:
    plain = re.sub(r"\s|(?<=\d)\.0*(?!\d)", "", julia(body))
    return re.sub(rf"\b{re.escape(argument)}\b", "x", plain) in _BUILT_IN.get(word, ())


def operators(given: Any, arity: int, name: str) -> tuple[list[str], list[str]]:
    """Names for the library, and definitions of those that are the user's."""
    if isinstance(given, str):
        raise ValueError(f"{name}: expected a list of operators, found the text {given!r}")
    names: list[str] = []
    definitions: list[str] = []
    known = choices("binary" if arity == 2 else "unary")
    listed = _of(name, given, Iterable, "a list of operators")
    if isinstance(listed, (set, frozenset)):  # whose order is another in every process
        listed = sorted(listed, key=str)
    for operator in listed:
        if not isinstance(operator, str):
            raise ValueError(f"{name}: expected texts, found {operator!r}")
        function = _FUNCTION.match(operator)
        word = function.group(1) if function else operator.strip()
        word = SAME.get(word, word)
        if word in known:
            if function and not _is_built_in(word, function.group(2), function.group(3)):
                raise ValueError(f"{name}: {word} is an operator of the library, which "
                                 f"{operator!r} does not change; give the formula another name")
            names.append(word)
        elif function:
            count = len(function.group(2).split(","))
            if count != arity:
                raise ValueError(f"{name}: expected an operator of {arity} arguments, found "
                                 f"{operator!r}, of {count}")
            if ";" in function.group(3):
                raise ValueError(f"{name}: expected one formula, found {operator!r}")
            definitions.append(f"{word}({function.group(2)})={julia(function.group(3))}")
        elif arity == 1 and word in DEFINED:
            definitions.append(DEFINED[word])
        else:
            raise ValueError(f"{name}: expected one of {', '.join(known)}, or a formula as "
                             f"\"g(x) = x * exp(-x)\", found {operator!r}")
    return names, definitions


def prices(of: Mapping[str, Any] | None, constants: Any, variables: Any,
           names: list[str] | None = None) -> str:
    """Of nodes; variables: a number for all, or one for each column, whose names it needs."""
    given = _of("complexity_of_operators", of, Mapping, 'a dict, {"exp": 2}')
    parts = {SAME.get(k, k): v for k, v in given.items()}
    if constants is not None:
        parts["constant"] = int(number("complexity_of_constants", constants, True))
    if isinstance(variables, Iterable) and not isinstance(variables, str):
        each = list(variables)
        if names is not None and len(each) != len(names):
            raise ValueError(f"complexity_of_variables: expected a number, or {len(names)}, one a "
                             f"column, found {len(each)}")
        for name, value in zip(names or [], each):
            quoted = '"' + name.replace('"', '""') + '"'
            parts[quoted] = int(number("complexity_of_variables", value, True))
    elif variables is not None:
        parts["variable"] = int(number("complexity_of_variables", variables, True))
    return ",".join(f"{k}={number(f'complexity_of_operators: {k}', v, True)}"
                    for k, v in parts.items())


def _constraints(given: Mapping[str, Any] | None) -> str:
    parts = []
    for operator, sizes in _of("constraints", given, Mapping, 'a dict, {"^": (-1, 1)}').items():
        sizes = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
        sizes = [number(f"constraints: {operator}", s, True) for s in sizes]
        parts.append(f"{SAME.get(operator, operator)}:{','.join(sizes)}")
    return ";".join(parts)


def _nested(given: Mapping[str, Mapping[str, int]] | None) -> str:
    parts = []
    expected = 'a dict of dicts, {"sin": {"cos": 0}}'
    for outer, inner in _of("nested_constraints", given, Mapping, expected).items():
        inner = _of("nested_constraints", inner, Mapping, expected)
        each = [f"{SAME.get(k, k)}={number(f'nested_constraints: {k}', v, True)}"
                for k, v in inner.items()]
        parts.append(f"{SAME.get(outer, outer)}:{','.join(each)}")
    return ";".join(parts)


# ------------------------------------------------------------------------------------ loss

_NAMED = {"L2DistLoss": "l2", "L1DistLoss": "l1", "LogCoshLoss": "logcosh"}


def _parametric(name: str, p: str) -> str | None:
    """LossFunctions.jl's losses of a parameter, as formulas of prediction p and target t."""
    r = "abs(p-t)"
    if name == "HuberLoss":
        return f"min({r},{p})*({r}-0.5*min({r},{p}))"
    if name == "LPDistLoss":
        return f"{r}^{p}"
    if name == "QuantileLoss":
        return f"max({p}*(t-p),({p}-1)*(t-p))"
    if name == "L1EpsilonInsLoss":
        return f"max({r}-{p},0)"
    if name == "L2EpsilonInsLoss":
        return f"max({r}-{p},0)^2"
    return None


def loss(given: str) -> str:
    """A loss of PySR, a Julia function of prediction and target, or a formula of p and t."""
    text = str(_of("elementwise_loss", given, str, "a text")).strip()
    if text in choices("loss"):
        return text
    named = re.match(r"^(\w+?)(?:\{\s*([\d.]+)\s*\})?\(\s*([\d.eE+-]*)\s*\)$", text)
    if named and named.group(1)[0].isupper():
        name, parameter = named.group(1), named.group(2) or named.group(3)
        if name in _NAMED and not parameter:
            return _NAMED[name]
        formula = _parametric(name, parameter or "1.0")
        if formula:
            return formula
        raise ValueError(f"elementwise_loss: {given!r} is not known here; write it as a formula of "
                         'prediction p and target t, "abs(p-t)^1.5"')
    arrow = re.match(r"^\(?\s*(\w+(?:\s*,\s*\w+)*)\s*\)?\s*->\s*(.+)$", text, re.DOTALL)
    function = _FUNCTION.match(text)
    if not arrow and not function:
        return julia(text)
    listed, body = arrow.group(1, 2) if arrow else function.group(2, 3)  # type: ignore[union-attr]
    names = [n.strip() for n in listed.split(",")]
    if len(names) != 2:
        raise ValueError(f"elementwise_loss: expected a function of prediction and target, found "
                         f"{given!r}; weights, given to fit(), multiply every loss by themselves")
    swap = dict(zip(names, "pt"))
    return re.sub(r"[^\W\d]\w*", lambda m: swap.get(m.group(), m.group()), julia(body))


# ---------------------------------------------------------------------------------- units


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _required(names: Any) -> str:
    if isinstance(names, str):
        raise ValueError(f"required_features: expected a list of names, found the text {names!r}")
    return ",".join(quoted(str(n)) for n in
                    _of("required_features", names, Iterable, "a list of names"))


def _bounds(given: Any) -> str:
    if given is None:
        return ""
    named = given.items() if isinstance(given, Mapping) else [("", given)]
    for _, pair in named:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError("constant_bounds: expected (low, high), or a dict of constants of "
                             f"the template with these, found {given!r}")
    if not isinstance(given, Mapping):
        return ",".join(number("constant_bounds", value) for value in given)
    bounds = []
    for name, pair in named:
        bounds += [f"{name}{sign}{number('constant_bounds', value)}"
                   for sign, value in zip((">=", "<="), pair)
                   if value is not None and abs(value) != math.inf]
    return ",".join(bounds)


def _monotone(given: Any) -> str:
    signs = _of("monotone", given, Mapping, 'a dict of names with "+" or "-"')
    for name, sign in signs.items():
        if sign not in ("+", "-"):
            raise ValueError(f'monotone: {name}: expected "+" or "-", found {sign!r}')
    return ",".join(f"{quoted(str(name))}={sign}" for name, sign in signs.items())


def _unit(name: str, given: Any) -> str:
    """A unit as a text; None, "" and 1 stand for pure numbers."""
    if given is None or given == "" or given == 1:
        return "1"
    return str(_of(name, given, str, 'units as texts, "kg*m/s^2"'))


def units(x_units: Any, y_units: Any, names: list[str], target: str) -> str:
    if x_units is None:
        x_units = ()
    elif isinstance(x_units, str) or not isinstance(x_units, Iterable):
        raise ValueError(f"X_units: expected a list of {len(names)} units, found {x_units!r}")
    elif len(x_units := list(x_units)) != len(names):
        raise ValueError(f"X_units: expected a list of {len(names)} units, found {x_units!r}")
    parts = [f"{quoted(n)}={_unit('X_units', u)}" for n, u in zip(names, x_units)]
    if y_units is not None:
        if isinstance(y_units, (list, tuple)):
            if len(y_units) != 1:
                raise ValueError(f"y_units: expected one unit, found {y_units!r}")
            y_units = y_units[0]
        parts.append(f"{quoted(target)}={_unit('y_units', y_units)}")
    return ", ".join(parts)


def _named(constants: Any) -> str:
    """Named constants as the program's option reads them, "G=6.674e-11 m^3/kg/s^2, c"."""
    if constants is None:
        return ""
    if isinstance(constants, str) or not isinstance(constants, (Mapping, Iterable)):
        raise ValueError("named_constants: expected a list of names, or a dict of names with "
                         f"values or (value, unit), found {constants!r}")
    given = constants if isinstance(constants, Mapping) else dict.fromkeys(constants)
    parts = []
    for name, value in given.items():
        if not isinstance(name, str) or not name or set(name) & set(",=;"):
            raise ValueError(f"named_constants: expected a name, found {name!r}")
        value, unit = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, "")
        if not isinstance(unit, str) or "," in unit:
            raise ValueError(f"named_constants: {name}: expected a unit as \"m^3/kg/s^2\", found "
                             f"{unit!r}")
        text = "" if value is None else f"={number('named_constants', value, False)} {unit}"
        parts.append(f"{name}{text}".rstrip())
    return ", ".join(parts)


# -------------------------------------------------------------------------------- settings


def _by_arity(m: Any) -> tuple[list[str], list[str], list[str]]:
    """Binary and unary operators for the library, and the definitions of the user's: those of
    `operators`, {arity: list}, or of the two parameters that it replaces."""
    binary = ARITHMETIC if m.binary_operators is None else m.binary_operators  # as in PySR
    if m.operators is None:
        binary, defined2 = operators(binary, 2, "binary_operators")
        unary, defined1 = operators(m.unary_operators, 1, "unary_operators")
        return binary, unary, defined2 + defined1
    given = _of("operators", m.operators, Mapping, 'a dict of lists, {1: ["sin"], 2: ["+", "*"]}')
    for name, default in DEFAULTS.items():
        value = getattr(m, name)
        if value is not None and tuple(value) != default:
            raise ValueError(f"operators: expected no {name} beside it, found {value!r}")
    for arity in given:
        if arity not in (1, 2):
            raise ValueError(f"operators: expected 1 or 2 arguments, found {arity!r}")
    binary, defined2 = operators(given.get(2, ()), 2, "operators: 2")
    unary, defined1 = operators(given.get(1, ()), 1, "operators: 1")
    return binary, unary, defined2 + defined1


# Numbers whose parameters are more than a number, or none of a search (None).
NOT_PLAIN = ("seed", "batch", "stop_loss", None)


def settings(m: Any, names: list[str] | None = None) -> dict[str, str]:
    """Settings of the library for the parameters of an estimator, but for those of a table.

    names: of the columns, where there is a table."""
    chosen: dict[str, str] = {}
    binary, unary, defined = _by_arity(m)
    chosen["binary"], chosen["unary"] = ",".join(binary), ",".join(unary)
    for row in lib.options():
        key, name = row["key"], row["python"]
        if row["type"] not in (lib.OPTION_WHOLE, lib.OPTION_NUMBER) or key in NOT_PLAIN or not name:
            continue
        value = getattr(m, name)
        limit = name in ("timeout_in_seconds", "max_evals")
        if limit and value == 0:  # (the library's 0 is no limit)
            raise ValueError(f"{name}: expected a number above 0, or None for no limit, found 0")
        if value is not None and not (limit and value == math.inf):
            chosen[key] = number(name, value, row["type"] == lib.OPTION_WHOLE)
    chosen.setdefault("seconds", "0")
    guesses = [m.guesses] if isinstance(m.guesses, str) else list(
        _of("guesses", m.guesses, Iterable, "formulas"))
    for guess in guesses:
        _of("guesses", guess, str, "formulas as texts")
    texts = {
        "define": "; ".join(dict.fromkeys(defined)),
        "loss": loss(m.elementwise_loss) if m.elementwise_loss else "",
        "constants": _named(m.named_constants),
        "constrain": _constraints(m.constraints),
        "nest": _nested(m.nested_constraints),
        "complexity": prices(m.complexity_of_operators, m.complexity_of_constants,
                              m.complexity_of_variables, names),
        "guess": "; ".join(guesses),
        "require": _required(m.required_features),
        "constrain-constants": _bounds(m.constant_bounds),
        "monotone": _monotone(m.monotone),
        "positive": "1" if m.positive else "",
        "round-constants": _of("round_constants", m.round_constants, str, "a text") or "",
        "template": "" if m.template is None else _of(
            "template", m.template, str, 'a form as text, "f(x0) + g(x1)"'),
    }
    chosen.update({key: text for key, text in texts.items() if text})
    size = str(_arguments.whole("batch_size", 4096 if m.batch_size is None else m.batch_size, 1))
    if m.batching is not None and m.batching != "auto":
        if m.batching not in (True, False):
            raise ValueError(f'batching: expected "auto", True or False, found {m.batching!r}')
        chosen["batch"] = size if m.batching else "0"
    if isinstance(m.early_stop_condition, str):
        raise ValueError("early_stop_condition: expected a number (a loss) or a Python function of "
                         f"the search's progress, found the text {m.early_stop_condition!r}")
    if m.early_stop_condition is not None and not callable(m.early_stop_condition):
        chosen["stop_loss"] = number("early_stop_condition", m.early_stop_condition)
    return chosen
