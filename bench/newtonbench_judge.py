"""Whether a formula of bin/symreg is a law, by algebra and by values (for newtonbench.py).

By algebra: with its constants free, the formula is the law. The constants are fitted to the law by
Levenberg-Marquardt steps in 60 digits; the formula has the law's form if it then agrees with the
law to 20 digits at random points of the ranges (two analytic formulas that agree on an open set
are one function), and no constant had to move by more than `constants` of itself. A term that is
fitted away, or a formula that only comes close (1/x for 1/(exp(x) - 1) at small x), is not the law.

By values: as found, within `error` of the law (relative) at a share of fresh points of the ranges,
and at a share of points of ten times wider ranges, where the law is defined. Without noise 0.001
at 98% and 90% of them; with noise 0.001 + noise at 90% and 50%, as in symreg_judge.h.
"""

import ast
import math
import signal
from dataclasses import dataclass

import mpmath
import numpy as np

from newtonbench_laws import FUNCTIONS, PreciseNumpy, numpy_function

DIGITS, AGREEING, LEAST_DAMPING = 60, mpmath.mpf(10) ** -20, mpmath.mpf(10) ** -30
MOST_STEPS, POINTS, FITTED = 60, 1000, 40
MOST_WEAK_STEPS = 10  # in a row: while damping falls from the first to the least
DEFINED, WIDER = 0.95, 10
MOST_SECONDS = 120  # of processor time, for the fit of one formula's constants

LARGEST = {"exp": 1e5, "sin": 1e30, "cos": 1e30, "tan": 1e30}  # the digits of more fill the memory


def careful(call, largest):
    def function(value):
        if abs(value) > largest:
            raise OverflowError
        return call(value)

    return function


PRECISE = {name: getattr(PreciseNumpy, name) for name in FUNCTIONS}
PRECISE.update((name, careful(PRECISE[name], largest)) for name, largest in LARGEST.items())
DOUBLE = {name: numpy_function(name) for name in FUNCTIONS}
OPERATORS = {"inv": lambda v: 1 / v, "neg": lambda v: -v, "square": lambda v: v * v,
             "cube": lambda v: v * v * v}


@dataclass
class Limits:
    error: float
    inside: float
    outside: float
    constants: float


def limits(noise):
    """noise: standard deviation over the rms of the target."""
    if not noise:
        return Limits(1e-3, 0.98, 0.90, 1e-3)
    return Limits(1e-3 + noise, 0.90, 0.50, 0.05)


def whole_number(node):
    """The number that `node` is, as int, or False."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return False
    return int(value) if value == int(value) else False


class Formula:
    """Text of bin/symreg over `columns`; each number in it is a constant that can be replaced, but
    whole powers, which negative numbers have too."""

    def __init__(self, text, columns):
        self.text, self.constants = text, []
        try:
            tree = ast.parse(text.replace("^", "**"), mode="eval")
        except SyntaxError as error:
            raise ValueError(f"{text}: not a formula ({error.msg})") from error
        known = set(columns) | set(PRECISE) | set(OPERATORS)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in known:
                raise ValueError(f"{text}: expected a column or operator, found {node.id}")
        self.columns = columns
        self.code = compile(ast.fix_missing_locations(self._free(tree)), "<formula>", "eval")

    def _free(self, tree):
        formula = self

        class Free(ast.NodeTransformer):
            def visit_BinOp(self, node):
                whole = isinstance(node.op, ast.Pow) and whole_number(node.right)
                if whole is False:
                    return self.generic_visit(node)
                node.left, node.right = self.visit(node.left), ast.Constant(whole)
                return node

            def visit_Constant(self, node):
                formula.constants.append(float(node.value))
                place = ast.Constant(len(formula.constants) - 1)
                return ast.Subscript(ast.Name("constant", ast.Load()), place, ast.Load())

        return Free().visit(tree)

    def double(self, points):
        """In double precision, at points (count, columns)."""
        names = {**DOUBLE, **OPERATORS, **dict(zip(self.columns, np.transpose(points)))}
        with np.errstate(all="ignore"):
            names["constant"] = np.array(self.constants)
            value = np.asarray(eval(self.code, {"__builtins__": {}}, names))
        return np.broadcast_to(value, len(points))

    def precise(self, point, constants):
        """None where it is not defined."""
        names = {**PRECISE, **OPERATORS, **dict(zip(self.columns, map(mpmath.mpf, point)))}
        names["constant"] = constants
        try:
            value = eval(self.code, {"__builtins__": {}}, names)
        except (ArithmeticError, ValueError, MemoryError):  # a power of 1e12 is beyond memory
            return None
        return None if isinstance(value, mpmath.mpc) or not mpmath.isfinite(value) else value


def relative_errors(formula, points, truths):
    """At each point; infinite where the formula is not defined. Double precision screens points at
    which it overflows."""
    constants = list(map(mpmath.mpf, formula.constants))
    errors = []
    for point, truth, screened in zip(points, truths, np.isfinite(formula.double(points))):
        found = formula.precise(point, constants) if screened else None
        size = max(abs(truth), abs(found)) if found is not None else 0  # truth is not 0
        errors.append(float(abs(found - truth) / size) if size else math.inf)
    return np.array(errors)


def share_error(errors, share):
    """The error that `share` of the points stay within."""
    return float(np.sort(errors)[math.ceil(share * len(errors)) - 1]) if len(errors) else math.inf


# ---- form


def residuals(formula, points, truths, constants):
    """Relative to the law; None if the formula is not defined at one of the points."""
    found = [formula.precise(point, constants) for point in points]
    if any(value is None for value in found):
        return None
    return [(value - truth) / truth for value, truth in zip(found, truths)]


def largest_move(formula, points, truths):
    """By how much of itself a constant moves until the formula is the law; infinite if it never
    is."""
    start = list(map(mpmath.mpf, formula.constants))
    scale = [value or mpmath.mpf(1) for value in start]
    count = len(start)

    def at(move):
        return [c + s * m for c, s, m in zip(start, scale, move)]

    move, damping, step = [mpmath.mpf(0)] * count, mpmath.mpf("1e-6"), mpmath.mpf(10) ** -25
    now, weak = residuals(formula, points, truths, at(move)), 0
    for _ in range(MOST_STEPS):
        if now is None:
            return math.inf
        if max(map(abs, now)) < AGREEING:
            return float(max(map(abs, move), default=0))
        slopes = []
        for k in range(count):
            moved = list(move)
            moved[k] += step
            then = residuals(formula, points, truths, at(moved))
            if then is None:
                return math.inf
            slopes.append([(b - a) / step for a, b in zip(now, then)])
        if not count:
            return math.inf
        gradient = [mpmath.fdot(row, now) for row in slopes]
        normal = mpmath.matrix([[mpmath.fdot(a, b) for b in slopes] for a in slopes])
        before, improved = mpmath.fdot(now, now), False
        while damping < 1e12 and not improved:
            damped = normal.copy()
            for k in range(count):
                damped[k, k] += damping * (normal[k, k] or 1)
            try:
                change = mpmath.lu_solve(damped, mpmath.matrix([-g for g in gradient]))
            except ZeroDivisionError:  # a singular matrix
                damping *= 1000
                continue
            tried = [m + change[k] for k, m in enumerate(move)]
            then = residuals(formula, points, truths, at(tried))
            improved = then is not None and mpmath.fdot(then, then) < before
            damping = max(damping / 1000, LEAST_DAMPING) if improved else damping * 10
        better = improved and mpmath.fdot(then, then) < before * mpmath.mpf("0.999")
        weak = 0 if better else weak + 1
        if not improved or weak == MOST_WEAK_STEPS:
            return math.inf
        move, now = tried, then
    return math.inf


# ---- verdict


def give_up(_number, _frame):
    raise TimeoutError


class Judge:
    """Points at which formulas for `law` are judged, drawn once, with the law's values."""

    def __init__(self, law, rng, points=POINTS):
        self.law = law
        self.inside = self._points(law.draw(rng, points))
        self.outside = self._points(law.draw(rng, points, WIDER))

    def _points(self, points):
        with mpmath.workdps(DIGITS):
            truths = [self.law.precise(point) for point in points]
        kept = [k for k, truth in enumerate(truths) if truth]
        return points[kept], [truths[k] for k in kept]

    def _moved(self, formula):
        points, truths = self.inside[0][:FITTED], self.inside[1][:FITTED]
        kept = np.flatnonzero(np.isfinite(formula.double(points)))
        if len(kept) < DEFINED * FITTED:
            return math.inf
        signal.signal(signal.SIGVTALRM, give_up)
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        try:
            return largest_move(formula, points[kept], [truths[k] for k in kept])
        except TimeoutError:
            return math.inf
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def __call__(self, text, noise, only_right=False):
        """{"algebra", "values", "moved", "error_inside", "error_outside"}

        only_right: algebra, which takes longest, is False where the values are wrong."""
        allowed = limits(noise)
        with mpmath.workdps(DIGITS):
            formula = Formula(text, self.law.columns)
            inside = share_error(relative_errors(formula, *self.inside), allowed.inside)
            outside = share_error(relative_errors(formula, *self.outside), allowed.outside)
            values = inside <= allowed.error and outside <= allowed.error
            moved = self._moved(formula) if values or not only_right else math.inf
        return {"algebra": moved <= allowed.constants, "values": values,
                "moved": moved, "error_inside": inside, "error_outside": outside}


# ---- self-check


class Rewritten(ast.NodeTransformer):
    """Other operators, the same function: powers of columns, which are positive, as exp(p log(x)),
    other powers as inv(x^-p), a/b as inv(b/a), a + b as a - neg(b), sqrt(a) as a^0.5."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        left, right = ast.unparse(node.left), ast.unparse(node.right)
        if isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Name):
            text = f"exp(({right}) * log({left}))"
        elif isinstance(node.op, ast.Pow):
            text = f"inv(({left}) ** {-ast.literal_eval(right)!r})"
        elif isinstance(node.op, ast.Div):
            text = f"inv(({right}) / ({left}))"
        elif isinstance(node.op, ast.Add):
            text = f"({left}) - neg({right})"
        else:
            return node
        return ast.parse(text, mode="eval").body

    def visit_Call(self, node):
        self.generic_visit(node)
        if node.func.id != "sqrt":
            return node
        return ast.parse(f"({ast.unparse(node.args[0])}) ** 0.5", mode="eval").body


class Perturbed(ast.NodeTransformer):
    """Every number times 1 + share, but 1 and the powers of what may be negative."""

    def __init__(self, share):
        self.share = share

    def visit_BinOp(self, node):
        if isinstance(node.op, ast.Pow) and not isinstance(node.left, ast.Name):
            node.left = self.visit(node.left)
            return node
        return self.generic_visit(node)

    def visit_Constant(self, node):
        return node if node.value == 1 else ast.Constant(node.value * (1 + self.share))


def rewritten(text, share):
    tree = ast.parse(text.replace("^", "**"), mode="eval")
    return ast.unparse(Perturbed(share).visit(Rewritten().visit(tree)))


def wrong_versions(law, value):
    """{what was done: text}: formulas that are not the law, `value` in size."""
    text, last, middle = law.text(), law.columns[-1], law.ranges[-1].low + law.ranges[-1].high
    return {"one percent too much": f"({text} * 1.01)",
            "times a power of a column": f"({text} * ({last} ^ 0.01))",
            "almost the law": f"({text} * (1.0 + ({last} * {1e-6 / middle!r})))",
            "a constant that should not be": f"({text} + {0.003 * value!r})",
            "another function": f"sin({text})"}


def self_check(laws):
    """Complaints: each law written differently must be right both ways, with a fit's errors in its
    constants too; changed laws must be wrong by algebra, and one percent too much by values."""
    complaints = []
    for number, law in enumerate(laws):
        judge = Judge(law, np.random.default_rng(number), POINTS // 10)
        for noise, off in ((0, 0), (0, 1e-7), (0.001, 1e-6)):
            text = rewritten(law.text(), off)
            said = judge(text, noise)
            if not (said["algebra"] and said["values"]):
                complaints.append(f"{law.name}: constants off by {off:g}, noise {noise:g}: {text}: "
                                  f"{said}")
        for what, text in wrong_versions(law, float(judge.inside[1][0])).items():
            said = judge(text, 0)
            if said["algebra"] or (said["values"] and what == "one percent too much"):
                complaints.append(f"{law.name}: {what}: {text}: {said}")
        print(f"{law.name:32} {len(complaints)} complaints", flush=True)
    return complaints
