"""Equations as sums of terms: products of powers, multiplied out."""

from __future__ import annotations

import ast
import re

_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_MOST = 6  # whole powers of sums that are multiplied out
Term = tuple[tuple[str, float], ...]  # factors and their powers, in order


def _times(a: Term, b: Term) -> Term:
    powers = dict(a)
    for factor, power in b:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted((factor, power) for factor, power in powers.items() if power))


def _product(a: dict[Term, float], b: dict[Term, float]) -> dict[Term, float]:
    made: dict[Term, float] = {}
    for left, x in a.items():
        for right, y in b.items():
            term = _times(left, right)
            made[term] = made.get(term, 0.0) + x * y
    return made


class _Expander:
    """What a printed equation is as a sum."""

    def __init__(self, equation: str):
        self.names: list[str] = []
        text = _QUOTED.sub(self._hide, equation).replace("^", "**")
        self.sum = self._expand(ast.parse(text.strip(), mode="eval").body)

    def _hide(self, quoted: re.Match[str]) -> str:
        self.names.append(quoted.group(0))
        return f"quoted_{len(self.names) - 1}_"

    def _text(self, node: ast.expr) -> str:
        text = ast.unparse(node).replace(" ** ", "^").replace("**", "^")
        return re.sub(r"\bquoted_(\d+)_", lambda of: self.names[int(of.group(1))], text)

    def _factor(self, node: ast.expr, power: float = 1) -> dict[Term, float]:
        """What is not multiplied out, as one factor."""
        plain = isinstance(node, (ast.Name, ast.Call))
        return {((self._text(node) if plain else f"({self._text(node)})", power),): 1.0}

    def _power(self, base: ast.expr, power: float) -> dict[Term, float]:
        terms = self._expand(base)
        if len(terms) == 1:
            ((term, value),) = terms.items()
            if value > 0 or power == int(power):
                return {tuple((factor, of * power) for factor, of in term): value**power}
        if power == int(power) and 0 <= power <= _MOST:
            made: dict[Term, float] = {(): 1.0}
            for _ in range(int(power)):
                made = _product(made, terms)
            return made
        return self._factor(base, power)

    def _expand(self, node: ast.expr) -> dict[Term, float]:
        if isinstance(node, ast.Constant):
            return {(): float(node.value)}  # type: ignore[arg-type]
        if isinstance(node, ast.UnaryOp):
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            return {term: sign * value for term, value in self._expand(node.operand).items()}
        if not isinstance(node, ast.BinOp):
            return self._factor(node)
        if isinstance(node.op, ast.Pow):
            power = self._expand(node.right)
            return self._power(node.left, power[()]) if [*power] == [()] else self._factor(node)
        left = self._expand(node.left)
        if isinstance(node.op, ast.Mult):
            return _product(left, self._expand(node.right))
        if isinstance(node.op, ast.Div):
            return _product(left, self._power(node.right, -1))
        sign = -1.0 if isinstance(node.op, ast.Sub) else 1.0
        for term, value in self._expand(node.right).items():
            left[term] = left.get(term, 0.0) + sign * value
        return left


def terms_of(equation: str) -> dict[str, float]:
    """The coefficients of an equation's terms by their text: "1", "x", "x^2 y", "x sin(y)"."""
    made: dict[str, float] = {}
    for term, value in _Expander(equation).sum.items():
        text = " ".join(factor if power == 1 else f"{factor}^{power:g}" for factor, power in term)
        made[text or "1"] = value
    return made
