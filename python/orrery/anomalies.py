"""The operators true_anomaly(M, e) and eccentric_anomaly(M, e) as functions of arrays of NumPy, JAX
and PyTorch, with derivatives, and of SymPy's expressions: what formulas in these notations call."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

__all__ = ["eccentric_anomaly", "true_anomaly"]
_TURN = 2 * math.pi


def _package(*arguments: Any) -> str:
    """Which package the arguments are of: "torch", "jax", "sympy", else "numpy"."""
    for name, kinds in (("torch", ("Tensor",)), ("sympy", ("Basic",)), ("jax", ("Array",))):
        module = sys.modules.get(name)
        known = tuple(getattr(module, kind) for kind in kinds if hasattr(module, kind))
        if known and any(isinstance(a, known) for a in arguments):
            return name
    return "numpy"


def _of(package: str) -> tuple[Any, Any]:
    """The module of arrays of a package, and what stops its derivatives."""
    if package == "torch":
        import torch
        return torch, lambda x: x.detach()
    if package == "jax":
        import jax
        import jax.numpy as jnp
        return jnp, jax.lax.stop_gradient
    return np, lambda x: x


def _start(xp: Any, x: Any, e: Any) -> Any:
    """E of x in [0, pi], to 4e-4 or better (Markley 1995, Celest. Mech. Dyn. Astron. 63, 101)."""
    alpha = (3 * math.pi**2 + 1.6 * math.pi * (math.pi - x) / (1 + e)) / (math.pi**2 - 6)
    d = 3 * (1 - e) + alpha * e
    r = 3 * alpha * d * (d - 1 + e) * x + x**3
    q = 2 * alpha * d * (1 - e) - x**2
    w = (xp.abs(r) + xp.sqrt(q**3 + r**2)) ** (2 / 3)
    return (2 * r * w / (w**2 + w * q + q**2) + x) / d


def _solve(xp: Any, stop: Any, M: Any, e: Any) -> tuple[Any, Any]:
    """The turns of M, as an angle, and E of what is left. The last step, from a start without
    derivatives, has those of E."""
    turns = _TURN * xp.round(stop(M) / _TURN)
    left, fixed = M - turns, stop(e)
    size = xp.abs(stop(left))
    E = _start(xp, size, fixed)
    for _ in range(3):
        E = E - (E - fixed * xp.sin(E) - size) / (1 - fixed * xp.cos(E))
    E = stop(E) * xp.sign(stop(left))
    return turns, E - (E - e * xp.sin(E) - left) / (1 - e * xp.cos(E))


def _evaluate(true: bool, M: Any, e: Any) -> Any:
    package = _package(M, e)
    if package == "sympy":
        return _symbolic()[true](M, e)
    xp, stop = _of(package)
    if package == "torch":
        M, e = (xp.as_tensor(a, dtype=xp.float64) if not isinstance(a, xp.Tensor) else a
                for a in (M, e))
    else:
        M, e = xp.asarray(M), xp.asarray(e)
    with np.errstate(all="ignore"):
        valid = (e >= 0) & (e < 1)
        e = xp.where(valid, e, xp.zeros_like(e))
        turns, angle = _solve(xp, stop, M, e)
        if true:
            b = e / (1 + xp.sqrt(1 - e * e))
            angle = angle + 2 * xp.arctan(b * xp.sin(angle) / (1 - b * xp.cos(angle)))
        found = xp.where(valid, turns + angle, xp.full_like(turns + angle, math.nan))
    return found if package != "numpy" or found.ndim else float(found)


def true_anomaly(M: Any, e: Any) -> Any:
    """The true anomaly of a mean anomaly M at eccentricity e, radians; it grows with M through all
    turns. 0 <= e < 1, else nan."""
    return _evaluate(True, M, e)


def eccentric_anomaly(M: Any, e: Any) -> Any:
    """E with E - e sin E = M (Kepler's equation), radians; 0 <= e < 1, else nan."""
    return _evaluate(False, M, e)


_made: list[Any] = []


def _symbolic() -> list[Any]:
    """SymPy's functions eccentric_anomaly and true_anomaly, with their derivatives; lambdify() and
    evalf() take their values."""
    if _made:
        return _made
    import sympy

    class EccentricAnomaly(sympy.Function):
        nargs = 2
        _imp_ = staticmethod(eccentric_anomaly)

        def fdiff(self, argindex: int = 1) -> Any:
            e = self.args[1]
            return (1 if argindex == 1 else sympy.sin(self)) / (1 - e * sympy.cos(self))

    class TrueAnomaly(sympy.Function):
        nargs = 2
        _imp_ = staticmethod(true_anomaly)

        def fdiff(self, argindex: int = 1) -> Any:
            e = self.args[1]
            if argindex == 1:
                return (1 + e * sympy.cos(self))**2 / (1 - e**2)**sympy.Rational(3, 2)
            return sympy.sin(self) * (2 + e * sympy.cos(self)) / (1 - e**2)

    EccentricAnomaly.__name__, TrueAnomaly.__name__ = "eccentric_anomaly", "true_anomaly"
    _made.extend([EccentricAnomaly, TrueAnomaly])
    return _made


def sympy_names() -> dict[str, Any]:
    """What sympify() needs to read the texts of formulas."""
    eccentric, true = _symbolic()
    return {"eccentric_anomaly": eccentric, "true_anomaly": true}
