"""Symbolic regression as a scikit-learn estimator, and orbits under any force law.

    from orrery import SymbolicRegressor
    model = SymbolicRegressor().fit(X, y)
    print(model)

Everything is computed by the C library liborrery.so; NumPy is the only package that is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._torch_import import register_operators as _register_operators

if TYPE_CHECKING:
    from ._attention import attention as attention
    from ._attention import attention_backward as attention_backward
    from ._attention import attention_line as attention_line
    from ._attention import attention_variants as attention_variants
    from ._attention import attention_weights as attention_weights
    from ._horizons import read_horizons as read_horizons
    from ._library import Error as Error
    from .datasets import dataset as dataset
    from .gpt import GPT as GPT
    from .judging import judge as judge
    from .motion import Motion as Motion
    from .motion import force_law as force_law
    from .orbits import orbit_fit as orbit_fit
    from .regressor import SymbolicRegressor as SymbolicRegressor
    from .runs import Run as Run
    from .runs import compare as compare
    from .runs import lab as lab
    from .simulation import law as law
    from .simulation import orbit as orbit
    from .simulation import simulate as simulate
    from .streaming import stream as stream

_register_operators()

__all__ = ["Error", "GPT", "Motion", "Run", "SymbolicRegressor", "attention",
           "attention_backward", "attention_line", "attention_variants", "attention_weights",
           "compare", "dataset", "force_law", "judge", "lab", "law", "orbit", "orbit_fit",
           "read_horizons", "simulate", "stream"]

# Modules are imported when a name of theirs is asked for: `import orrery` takes milliseconds.
_HOMES = {
    "Error": "_library",
    "GPT": "gpt",
    "Motion": "motion",
    "Run": "runs",
    "attention": "_attention",
    "attention_backward": "_attention",
    "attention_line": "_attention",
    "attention_variants": "_attention",
    "SymbolicRegressor": "regressor",
    "attention_weights": "_attention",
    "compare": "runs",
    "dataset": "datasets",
    "force_law": "motion",
    "judge": "judging",
    "lab": "runs",
    "law": "simulation",
    "orbit": "simulation",
    "orbit_fit": "orbits",
    "read_horizons": "_horizons",
    "simulate": "simulation",
    "stream": "streaming",
}
# Public modules, which are imported when they are asked for, too: orrery.gpt.torch_gpt().
_MODULES = ("anomalies", "crate", "datasets", "gpt", "judging", "log", "motion", "orbits",
            "regressor", "runs", "simulation", "streaming")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._library import version

        return version()
    if name not in _HOMES and name not in _MODULES:
        raise AttributeError(f"module 'orrery' has no attribute {name!r}")
    import importlib

    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    value = getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
