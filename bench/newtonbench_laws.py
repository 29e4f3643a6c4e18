"""The 108 laws of NewtonBench (arXiv 2510.07172, MIT), read from a checkout that the user fetched:

    git clone https://github.com/HKUST-KnowComp/NewtonBench DIR

DIR/modules/mN_DOMAIN/laws.py has the functions. Ranges are those from which the benchmark's own
evaluation (evaluate_law in core.py) draws its points: its assignments are executed with a NumPy
that notes ranges in place of random numbers, so that nothing is written down twice.
"""

import ast
import contextlib
import importlib.util
import inspect
import os
import re
import subprocess
import types

import mpmath
import numpy as np

DIFFICULTIES = ("easy", "medium", "hard")
FUNCTIONS = "exp log sqrt sin cos tan asin acos atan".split()  # all that the laws use
POINTS_A_ROUND, ROUNDS = 1000, 200


class Range:
    """low .. high, drawn uniformly or, of positive numbers, uniformly in the logarithm."""

    def __init__(self, low, high, log=False):
        self.low, self.high, self.log = float(low), float(high), log

    def draw(self, rng, count):
        if self.log:
            return np.exp(rng.uniform(np.log(self.low), np.log(self.high), count))
        return rng.uniform(self.low, self.high, count)

    def wider(self, factor):
        """low / factor .. high * factor of positive numbers, else about the middle."""
        if self.low > 0:
            return Range(self.low / factor, self.high * factor, self.log)
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2 * factor
        return Range(middle - half, middle + half)

    def __repr__(self):
        return f"{self.low:g}..{self.high:g}{' (log)' if self.log else ''}"


class NotingNumpy:
    """In place of numpy: random.uniform() gives its range, exp() of a range is logarithmic."""

    pi, log, e = np.pi, staticmethod(np.log), np.e

    class random:
        @staticmethod
        def uniform(low, high, _count):
            return Range(low, high)

    @staticmethod
    def exp(drawn):
        return Range(np.exp(drawn.low), np.exp(drawn.high), True)


def read_ranges(core):
    """Columns of evaluate_law's test_data in `core`, a path: {name: Range}."""
    with open(core, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    body = next(n.body for n in tree.body
                if isinstance(n, ast.FunctionDef) and n.name == "evaluate_law")
    known = {"np": NotingNumpy}
    for statement in body:
        names = {n.id for n in ast.walk(statement)
                 if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        if isinstance(statement, ast.Assign) and names <= set(known):
            exec(compile(ast.Module([statement], []), core, "exec"), known)
    if not known.get("test_data"):
        raise SystemExit(f"{core}: expected test_data drawn by np.random.uniform in evaluate_law")
    return known["test_data"]


class PreciseNumpy:
    """In place of numpy and math: functions of mpmath; outside their domain they are complex."""

    pi, e = mpmath.mp.pi, mpmath.mp.e
    exp, log, sqrt, pow = mpmath.exp, mpmath.log, mpmath.sqrt, mpmath.power
    sin, cos, tan = mpmath.sin, mpmath.cos, mpmath.tan
    asin, acos, atan = arcsin, arccos, arctan = mpmath.asin, mpmath.acos, mpmath.atan
    radians, degrees, isfinite = mpmath.radians, mpmath.degrees, mpmath.isfinite

    @staticmethod
    def errstate(**_ignored):
        return contextlib.nullcontext()


class Text:
    """A formula being written down in the notation of bin/symreg: a law that is called with it
    passes its checks of the domain and returns itself as text."""

    def __init__(self, text):
        self.text = text if isinstance(text, str) else repr(float(text))

    def _binary(name, sign):
        def forward(self, other):
            return Text(f"({self.text} {sign} {as_text(other).text})")

        def backward(self, other):
            return Text(f"({as_text(other).text} {sign} {self.text})")

        return {f"__{name}__": forward, f"__r{name}__": backward}

    for _name, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("pow", "^")):
        locals().update(_binary(_name, _sign))

    def __neg__(self):
        return Text(f"(-1.0 * {self.text})")

    def __lt__(self, _other):
        return False

    def __gt__(self, _other):
        return True

    __le__ = __eq__ = __lt__
    __ge__ = __ne__ = __gt__
    __hash__ = None


def as_text(value):
    return value if isinstance(value, Text) else Text(value)


def numpy_function(name):
    return getattr(np, "arc" + name[1:] if name in ("asin", "acos", "atan") else name)


def write_call(name):
    def call(value):
        if not isinstance(value, Text):
            return numpy_function(name)(value)
        return Text(f"{name}({value.text})")

    return call


class WritingNumpy:
    """In place of numpy and math: writes the formula down."""

    pi, e = np.pi, np.e
    errstate = PreciseNumpy.errstate
    exp, log, sqrt, sin, cos, tan, asin, acos, atan = map(write_call, FUNCTIONS)
    arcsin, arccos, arctan = asin, acos, atan

    @staticmethod
    def isfinite(_value):
        return True

    @staticmethod
    def radians(value):
        return value * (np.pi / 180)

    @staticmethod
    def degrees(value):
        return value * (180 / np.pi)


class Law:
    """name "m0_gravity easy v0"; columns and ranges in the order of the arguments."""

    def __init__(self, domain, difficulty, version, function, ranges):
        self.domain, self.difficulty, self.version = domain, difficulty, version
        self.name = f"{domain} {difficulty} {version}"
        self.function = function
        self.columns = list(inspect.signature(function).parameters)
        if set(self.columns) != set(ranges):
            raise SystemExit(f"{self.name}: its arguments are {self.columns}, but its points have "
                             f"{sorted(ranges)}")
        self.ranges = [ranges[name] for name in self.columns]

    def _calling(self, library, number):
        names = {**self.function.__globals__, "np": library, "math": library, "float": number}
        return types.FunctionType(self.function.__code__, names)

    def text(self):
        return self._calling(WritingNumpy, lambda v: v)(*map(Text, self.columns)).text

    def value(self, point):
        """In double precision, by the benchmark's function; NaN where it is not defined."""
        with np.errstate(all="ignore"):
            try:
                value = self.function(*map(float, point))
            except (ArithmeticError, ValueError):
                return np.nan
        return float(value) if np.isrealobj(value) else np.nan

    def precise(self, point):
        """By the benchmark's function in the precision of mpmath; None where it is not defined."""
        call = self._calling(PreciseNumpy, lambda v: mpmath.nan if isinstance(v, str) else v)
        try:
            value = call(*map(mpmath.mpf, point))
        except (ArithmeticError, ValueError, TypeError):  # TypeError: complex numbers compared
            return None
        if isinstance(value, mpmath.mpc) or not mpmath.isfinite(value):
            return None
        return value

    def draw(self, rng, count, factor=1):
        """Points (count, columns) where the law is defined, of ranges `factor` times as wide:
        points where it is not are drawn again, and fewer are left where hardly any is."""
        ranges = [r if factor == 1 else r.wider(factor) for r in self.ranges]
        kept = []
        for _ in range(ROUNDS):
            for point in np.transpose([r.draw(rng, POINTS_A_ROUND) for r in ranges]):
                if np.isfinite(self.value(point)) and len(kept) < count:
                    kept.append(point)
            if len(kept) == count:
                break
        return np.array(kept)


def read_laws(folder):
    """All laws of a checkout, by number of the module, difficulty and version."""
    modules = os.path.join(folder, "modules")
    if not os.path.isdir(modules):
        raise SystemExit(f"{folder}: expected a checkout of NewtonBench (git clone "
                         "https://github.com/HKUST-KnowComp/NewtonBench DIR), found no modules/")
    domains = [d for d in os.listdir(modules) if re.fullmatch(r"m\d+_\w+", d)]
    laws = []
    for domain in sorted(domains, key=lambda d: int(d[1:d.index("_")])):
        path = os.path.join(modules, domain, "laws.py")
        spec = importlib.util.spec_from_file_location(f"newtonbench_{domain}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        ranges = read_ranges(os.path.join(modules, domain, "core.py"))
        for difficulty in DIFFICULTIES:
            for version, function in sorted(module.LAW_REGISTRY[difficulty].items()):
                laws.append(Law(domain, difficulty, version, function, ranges))
    if not laws:
        raise SystemExit(f"{modules}: expected folders mN_DOMAIN with laws.py, found none")
    return laws


def checkout_commit(folder):
    done = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True,
                          text=True)
    return done.stdout.strip() or "unknown"
