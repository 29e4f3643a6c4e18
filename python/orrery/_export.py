"""A formula as a function of NumPy, JAX or PyTorch, from the library's printer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as lib
from ._arguments import array_of
from ._search import columns_of, free_name, language

# A name in quotes, a word, or a number with its sign; binary operators stand between blanks.
_NAMED = re.compile(r"(\w+)\s*=")  # of definitions
_TOKEN = re.compile(r'"(?:[^"]|"")*"|[^\W\d]\w*|(\^ )?(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)')


@dataclass(frozen=True)
class Source:
    """A formula as a Python expression of columns and constants."""

    text: str
    columns: tuple[int, ...]  # of X
    names: tuple[str, ...]  # of these columns, then of the constants, in the expression
    constants: tuple[float, ...]

    def function(self, module: dict[str, Any]) -> Callable[..., Any]:
        """The expression as a function of the columns, then the constants. module: np, jnp or torch
        by this name."""
        made: Callable[..., Any] = eval(self._code(), module)  # the printer's text
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


def source(equation: str, names: list[str], define: str | None, notation: int,
           free: bool) -> Source:
    """The formula in a notation; free: constants but whole exponents are names, not numbers."""
    used = columns_of(equation, names)
    columns, values = [names[i] for i in used], []
    text = language(columns, define).write(equation, lib.TEXT)

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
    printer = language(every, define)
    exported = (printer.write('"' + name.replace('"', '""') + '"', notation) for name in every)
    return Source(printer.write(text, notation), tuple(used), tuple(exported), tuple(values))


class NumpyFunction:
    """A formula of the columns of an array (n, features), as an array (n)."""

    def __init__(self, of: Source):
        self._source = of

    @property
    def source(self) -> str:
        """The expression, of np and the columns' names."""
        return self._source.text

    def __call__(self, X: Any) -> np.ndarray:
        X = array_of("X", X)
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
        import jax.numpy as jnp

        X = jnp.asarray(X)
        y = jnp.asarray(self._source.values(X, parameters, {"jnp": jnp}))
        return y if y.ndim else jnp.broadcast_to(y, X.shape[:1])


def jax_function(of: Source) -> dict[str, Any]:
    """PySR's dict: "callable" of X and parameters, and "parameters"."""
    try:
        import jax.numpy as jnp
    except ImportError as error:
        raise ImportError(f"jax: expected the package jax: pip install jax ({error})") from error
    return {"callable": JaxFunction(of), "parameters": jnp.asarray(np.array(of.constants))}


def torch_module(of: Source) -> Any:
    """A torch.nn.Module whose parameter `constants` can be trained."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(f"pytorch: expected the package torch: pip install torch ({error})"
                          ) from error
    from ._torch import Formula

    return Formula(of)
