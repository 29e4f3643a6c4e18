"""A formula as a function of NumPy, JAX or PyTorch, from the library's printer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as lib
from ._arguments import array_of, floats
from ._frames import columns_are, table_of
from ._search import Formula, columns_of, free_name
from .anomalies import eccentric_anomaly, true_anomaly

_FUNCTIONS = {"true_anomaly": true_anomaly, "eccentric_anomaly": eccentric_anomaly}
# A name in quotes, a word, or a number with its sign; binary operators stand between blanks.
_NAMED = re.compile(r"(\w+)\s*=")  # of definitions
_TOKEN = re.compile(r'"(?:[^"]|"")*"|[^\W\d]\w*|(\^ )?(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)')


def numbers_of(equation: str) -> list[float]:
    """The numbers of a printed formula, in its order."""
    return [float(token.group(2)) for token in _TOKEN.finditer(equation) if token.group(2)]


@dataclass(frozen=True)
class Source:
    """A formula as a Python expression of columns and constants."""

    text: str
    columns: tuple[int, ...]  # of X
    names: tuple[str, ...]  # of these columns, then of the constants, in the expression
    constants: tuple[float, ...]
    width: int | None = None  # columns of X; None: unknown, of an older pickle
    features: tuple[str, ...] | None = None  # their names, if the fitted table had some

    def table(self, X: Any) -> Any:
        """X (n, features), whose columns have to be those of the fit: names, if both have them."""
        X, names = table_of("X", X, keep=False)
        if self.features is not None:
            columns_are(names, self.features)
        return X

    def fits(self, X: Any) -> Any:
        """X, if it has as many columns as the table of the fit."""
        if self.width is not None and (X.ndim != 2 or X.shape[1] != self.width):
            raise ValueError(f"X: expected shape (n, {self.width}), found {X.shape}")
        return X

    def function(self, module: dict[str, Any]) -> Callable[..., Any]:
        """The expression as a function of the columns, then the constants. module: np, jnp or torch
        by this name."""
        made: Callable[..., Any] = eval(self._code(), module | _FUNCTIONS)  # the printer's text
        return made

    def values(self, X: Any, constants: Any, module: dict[str, Any]) -> Any:
        parts = [X[:, i] for i in self.columns] + [constants[i] for i in range(len(self.constants))]
        return self.function(module)(*parts)

    def _code(self) -> Any:
        if "code" not in self.__dict__:
            text = f"lambda {', '.join(self.names)}: {self.text}"
            object.__setattr__(self, "code", compile(text, "<formula>", "eval"))
        return self.__dict__["code"]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "code"}


def source(equation: str, names: list[str], define: str | None, notation: int, free: bool,
           features: Any = None) -> Source:
    """The formula in a notation; free: constants but whole exponents are names, not numbers.

    features: names of the columns of X, if the fitted table had some."""
    used = columns_of(equation, names, define)
    columns, values = [names[i] for i in used], []
    text = Formula(equation, columns, define).write(lib.TEXT)

    def named(token: re.Match[str]) -> str:
        power, number = token.group(1) or "", token.group(2)
        if number is None or (power and float(number).is_integer()):
            return token.group()
        values.append(float(number))
        return f'{power}"{constants[len(values) - 1]}"'

    count = sum(1 for token in _TOKEN.finditer(text) if token.group(2))
    constants: list[str] = []
    for i in range(count):
        constants.append(free_name(f"c{i}", [*names, *constants, *_NAMED.findall(define or "")]))
    if free:
        text = _TOKEN.sub(named, text)
    every = columns + constants[:len(values)]
    exported = (Formula('"' + name.replace('"', '""') + '"', every, define).write(notation)
                for name in every)
    return Source(Formula(text, every, define).write(notation), tuple(used), tuple(exported),
                  tuple(values), len(names), None if features is None else tuple(features))


class NumpyFunction:
    """A formula of the columns of an array or table (n, features), as an array (n) of float64:
    whole numbers do not overflow, and float32 has the digits of predict()."""

    def __init__(self, of: Source):
        self._source = of

    @property
    def source(self) -> str:
        """The expression, of np and the columns' names."""
        return self._source.text

    def __call__(self, X: Any) -> np.ndarray:
        X = array_of("X", self._source.table(X))
        X = self._source.fits(floats("X", X).astype(np.float64, copy=False))
        with np.errstate(all="ignore"):
            y = np.asarray(self._source.values(X, (), {"np": np}))
        return y if y.ndim else np.full(X.shape[0], y)

    def __repr__(self) -> str:
        return f"NumpyFunction({self.source!r})"


class JaxFunction:
    """A formula of the columns of X (n, features) and of its constants; jit and grad take it."""

    def __init__(self, of: Source):
        self._source = of

    @property
    def source(self) -> str:
        """The expression, of jnp, the columns' names and the constants c0, c1, ..."""
        return self._source.text

    def __call__(self, X: Any, parameters: Any) -> Any:
        import jax
        import jax.numpy as jnp

        X = X if isinstance(X, jax.Array) else array_of("X", self._source.table(X))
        X = self._source.fits(jnp.asarray(X))
        if not jnp.issubdtype(X.dtype, jnp.floating):  # whole numbers would overflow
            X = X.astype(jnp.asarray(0.0).dtype)
        X = X.astype(jnp.promote_types(X.dtype, jnp.float32))  # float16 would; bfloat16: 3 digits
        y = jnp.asarray(self._source.values(X, parameters, {"jnp": jnp}))
        return y if y.ndim else jnp.broadcast_to(y, X.shape[:1])


def jax_function(of: Source) -> dict[str, Any]:
    """PySR's dict: "callable" of X and parameters, and "parameters"."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        raise ImportError(f"jax: expected the package jax: pip install jax ({error})") from error
    constants = np.array(of.constants)
    if not jax.config.jax_enable_x64:
        with np.errstate(all="ignore"):
            short = constants.astype(np.float32)
        lost = constants[~np.isfinite(short) | ((short == 0) & (constants != 0))]
        what = f"which cannot hold the constant {lost[0]:g}" if lost.size else "with 7 digits"
        warnings.warn(f"jax: numbers are of float32, {what}; those of predict() have 16 digits: "
                      'jax.config.update("jax_enable_x64", True) before jax() gives them',
                      UserWarning, stacklevel=3)
        constants = short
    return {"callable": JaxFunction(of), "parameters": jnp.asarray(constants)}


def torch_module(of: Source) -> Any:
    """A torch.nn.Module whose parameter `constants` can be trained."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(f"pytorch: expected the package torch: pip install torch ({error})"
                          ) from error
    from ._torch import Formula

    return Formula(of)
