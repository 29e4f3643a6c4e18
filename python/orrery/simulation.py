"""Orbits of planets under any of Orrery's force laws, as arrays.

Units: AU, solar masses and Gaussian years (365.2569 days), in which G = 4 pi^2; in Julian years of
365.25 days, as of rebound's units, G is 39.476926.
"""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _library as lib
from ._arguments import doubles, encoded, flag, number, threads, whole
from ._files import expect, read_json

LAWS = ("newton", "power", "yukawa", "mond", "plummer", "post_newtonian", "hooke", "lambda",
        "expression")
# Columns behind (n, P) in d dimensions; None: an array (n).
_SHAPES: dict[str, Callable[[int], tuple[int, ...]] | None] = {
    "tokens": lambda d: (2,), "coordinates": lambda d: (d,), "bodies": None,
    "full_state": lambda d: (2 * d + 2,), "state": lambda d: (2 * d + 1,),
    "force_magnitude": lambda d: (), "force": lambda d: (d,), "scale": None,
}
# Settings of calls without data sets in space: tokens, the default, lie in a plane.
_SPACE = {"orbits.output": "continuous", "orbits.protocol": "identifiable",
          "orbits.mass_prior": "loguniform", "orbits.dimensions": "3"}
_DTYPES = {"tokens": np.uint16, "bodies": np.uint8}
_LABELS = ("full_state", "state", "force_magnitude", "force")
MOST = 10**12  # sequences of a set


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _preset(name: str | None) -> dict[str, str]:
    """Settings orbits.* and planets.* of a preset, by its name or as a JSON file."""
    if name is None:
        return {}
    here = pathlib.Path(__file__).resolve().parent
    folders = (here / "presets", here.parent.parent / "presets")
    files = [pathlib.Path(name)] if str(name).endswith(".json") else [
        folder / f"{name}.json" for folder in folders]
    path = next((file for file in files if file.exists()), None)
    if path is None:
        known = sorted({p.stem for f in folders if f.is_dir() for p in f.glob("*.json")})
        raise ValueError(f"preset: expected one of {', '.join(known)} or a JSON file, found "
                         f"{name!r}")
    groups = expect(read_json(path), dict, str(path))
    return {f"{group}.{key}": _text(value) for group in ("orbits", "planets")
            for key, value in expect(groups.get(group, {}), dict, f"{path}: {group}").items()}


def _key(name: str) -> str:
    """law_alpha is orbits.law_alpha; a name with a dot is whole."""
    return name if "." in name or name == "seed" else f"orbits.{name}"


def _law(law: str | None, settings: dict[str, str]) -> None:
    """Adds a law by its name, or an expression of r, m1, m2 and G."""
    if law is None:
        return
    encoded("law", law)
    if law.isidentifier() and law not in (*LAWS, "r", "m1", "m2", "G"):
        raise ValueError(f"law: expected one of {', '.join(LAWS)}, or an expression of r, m1, m2 "
                         f"and G, found {law!r}")
    for key in [k for k in settings if k.startswith("orbits.law")] + ["orbits.expression"]:
        settings.pop(key, None)
    settings["orbits.law"] = law if law in LAWS else "expression"
    if law not in LAWS:
        settings["orbits.expression"] = law


class _Simulation(lib.Handle):
    def __init__(self, settings: dict[str, str]):
        super().__init__("simulation")
        for key, value in settings.items():
            if "\n" in key + value:
                raise ValueError(f"settings: {key}: expected one line, found {value!r}")
        lines = "".join(f"{key}={value}\n" for key, value in settings.items())
        self.status("set", encoded("settings", lines))

    def describe(self, name: str) -> lib.Set:
        known = lib.Set()
        self.status("describe", encoded("name", name), ctypes.byref(known))
        return known


def _arrays(known: lib.Set, n: int, d: int) -> tuple[dict[str, np.ndarray], lib.Arrays]:
    absent = {"coordinates" if known.tokens else "tokens", *(() if known.labelled else _LABELS)}
    made, struct = {}, lib.Arrays()
    types: dict[str, Any] = {field[0]: field[1] for field in lib.Arrays._fields_}
    for name, columns in _SHAPES.items():
        if name not in absent:
            shape = (n,) if columns is None else (n, known.positions, *columns(d))
            made[name] = np.empty(shape, _DTYPES.get(name, np.float32))
            setattr(struct, name, made[name].ctypes.data_as(types[name]))
    return made, struct


def chosen_settings(preset: str | None, law: str | None, seed: int,
                    settings: dict[str, Any]) -> dict[str, str]:
    """Settings of the library: the preset's, the law's, then those that are given."""
    chosen = _preset(preset)
    chosen["seed"] = str(whole("seed", seed, 0, 2**64 - 1))
    _law(law, chosen)
    chosen.update({_key(k): _text(v) for k, v in settings.items()})
    return chosen


class Sequences:
    """A data set that is made in parts; with `least`, of at least so many sequences."""

    def __init__(self, name: str, settings: dict[str, str], least: int | None):
        chosen = dict(settings)
        key = f"planets.{name[8:]}" if name.startswith("planets_") else f"orbits.{name}"
        if least is not None and int(chosen.get(key, least)) < least:
            chosen[key] = str(least)  # a set is as large as it is asked for
        self.name, self._simulation = name, _Simulation(chosen)
        self._known = self._simulation.describe(name)
        self.count = int(self._known.sequences)
        self._dimensions = int(chosen.get("orbits.dimensions", "2"))

    def arrays(self, first: int, n: int, threads: int) -> dict[str, np.ndarray]:
        arrays, struct = _arrays(self._known, n, self._dimensions)
        self._simulation.status("sequences", encoded("name", self.name), first, n, threads,
                                ctypes.byref(struct))
        return arrays


# Numbers of a body in simulate(systems=...), by keys of a dict, in 2 and 3 dimensions.
_STATE = {2: ("x", "y", "vx", "vy"), 3: ("x", "y", "z", "vx", "vy", "vz")}


def _system(number_of: int, system: Any) -> tuple[np.ndarray, np.ndarray]:
    """Masses (bodies) and starts (bodies, 4) or (bodies, 6) of a system."""
    where = f"systems[{number_of}]"
    if isinstance(system, dict):
        keys = ("m", *_STATE[3 if "z" in system or "vz" in system else 2])
        missing = [key for key in keys if key not in system]
        if missing:
            raise ValueError(f"{where}: expected keys {', '.join(keys)}, found no {missing[0]}")
        columns = [np.atleast_1d(doubles(f"{where}[{key!r}]", system[key])) for key in keys]
        if any(c.shape != columns[0].shape or c.ndim != 1 for c in columns):
            raise ValueError(f"{where}: expected as many numbers of each key, found shapes "
                             f"{[c.shape for c in columns]}")
        rows = np.stack(columns, axis=1)
    else:
        rows = doubles(where, system)
    if rows.ndim != 2 or rows.shape[1] not in (5, 7):
        raise ValueError(f"{where}: expected rows m, x, y, vx, vy, or m, x, y, z, vx, vy, vz, of "
                         f"its bodies, found shape {rows.shape}")
    return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1:])


def _given(systems: Any, law: str | None, steps: int | None, dt_yr: Any,
           settings: dict[str, Any]) -> list[np.ndarray]:
    if steps is None or dt_yr is None:
        raise ValueError(f"{'steps' if steps is None else 'dt_yr'}: expected a number beside "
                         "systems, found None")
    count = whole("steps", steps, 1, MOST)
    systems = list(systems)
    simulation: dict[int, _Simulation] = {}
    step = np.broadcast_to(doubles("dt_yr", dt_yr), (len(systems),))
    made = []
    for i, system in enumerate(systems):
        mass, start = _system(i, system)
        width = start.shape[1]
        states = np.empty((len(mass), count, width))
        if width not in simulation:
            simulation[width] = _of_law(law or "newton", settings, width // 2)
        try:
            simulation[width].status("bodies", len(mass), mass.ctypes.data_as(_DOUBLES),
                              start.ctypes.data_as(_DOUBLES), float(step[i]), count,
                              states.ctypes.data_as(_DOUBLES))
        except lib.Error as error:
            raise type(error)(error.status, f"systems[{i}]: {error}") from None
        made.append(states)
    return made


def simulate(name: str = "two_body_train", *, preset: str | None = "quick", law: str | None = None,
             n: int | None = None, first: int = 0, seed: int = 0, n_jobs: int | None = None,
             systems: Any = None, steps: int | None = None, dt_yr: Any = None,
             **settings: Any) -> Any:
    """Sequences of a data set as a dict of arrays; docs/formats.md says what columns mean.

    With systems, starts of one's own instead: a list with an array (bodies, 5) of m, x, y, vx, vy,
    or in space (bodies, 7) of m, x, y, z, vx, vy, vz, for each system, or a dict of these columns
    (solar masses, AU, AU/yr, an inertial frame). All bodies attract each other under the law, from
    exactly these states. The result is a list of arrays (bodies, steps, 4) of x, y, vx, vy, or
    (bodies, steps, 6), at times 0, dt_yr, ...; dt_yr may differ by system.

    name: "train", "two_body_train" (with states and forces), "planets_train", ... law: a name of
    docs/laws.md, or an expression of r, m1, m2 and G, "G*m1*m2/r^2.1". n sequences from number
    `first` on; None: all. Other settings are those of `orbits --help`: positions=65, law_alpha=0.2,
    **{"planets.steps": 33}; dimensions=3 for orbits in space. Sequences depend on settings, name,
    seed and number alone.
    """
    if systems is not None:
        return _given(systems, law, steps, dt_yr, settings)
    for key, value in (("steps", steps), ("dt_yr", dt_yr)):
        if value is not None:  # settings of the preset have these names, too
            settings[key] = value
    encoded("name", name)
    first = whole("first", first, 0, MOST)
    least = None if n is None else first + whole("n", n, 0, MOST)
    made = Sequences(name, chosen_settings(preset, law, seed, settings), least)
    count = (made.count if least is None else least) - first
    return made.arrays(first, max(count, 0), threads(n_jobs))


def _of_law(law: str, settings: dict[str, Any], dimensions: int) -> _Simulation:
    """A simulation whose states have so many dimensions."""
    chosen: dict[str, str] = dict(_SPACE) if dimensions == 3 else {}
    _law(law, chosen)
    chosen.update({_key(k): _text(v) for k, v in settings.items()})
    if chosen.setdefault("orbits.dimensions", "2") != str(dimensions):
        raise ValueError(f"dimensions: expected {dimensions}, as the states have, found "
                         f"{chosen['orbits.dimensions']}")
    return _Simulation(chosen)


_DOUBLES = ctypes.POINTER(ctypes.c_double)


def law(r: Any, m1: Any, m2: Any, law: str = "newton", *, velocity: Any = (0.0, 0.0),
        **settings: Any) -> Any:
    """Attraction between masses m1 and m2 at distance r, solar mass AU / yr^2.

    Repulsion is negative. r, m1 and m2 are broadcast. velocity: of body 1 relative to body 2, along
    the line that joins them (outwards) and across it; only the law post_newtonian reads it.
    Settings: law_exponent=-1.5 and so on (docs/laws.md).
    """
    simulation = _of_law(law, settings, 2)
    r, m1, m2 = doubles("r", r), doubles("m1", m1), doubles("m2", m2)
    try:
        r, m1, m2 = np.broadcast_arrays(r, m1, m2)
    except ValueError:
        raise ValueError("r, m1, m2: expected shapes that can be broadcast, found "
                         f"{r.shape}, {m1.shape}, {m2.shape}") from None
    velocity = doubles("velocity", velocity)
    if velocity.shape != (2,):
        raise ValueError(f"velocity: expected two numbers, found shape {velocity.shape}")
    if (r < 0).any():
        raise ValueError(f"r: expected distances of at least 0, found {r.min():g}")
    attraction = np.empty(r.shape)
    flat, masses = r.ravel(), np.stack([m1.ravel(), m2.ravel()], axis=1)
    pairs, which = np.unique(masses, axis=0, return_inverse=True)
    out, which = attraction.reshape(-1), which.ravel()
    for i, (a, b) in enumerate(pairs):
        at = which == i if len(pairs) > 1 else slice(None)
        state = np.zeros((len(flat[at]), 4))
        state[:, 0], state[:, 2:] = flat[at], velocity
        force = np.empty((len(state), 2))
        simulation.status("force", a, b, len(state), state.ctypes.data_as(_DOUBLES),
                          force.ctypes.data_as(_DOUBLES), None)
        out[at] = -force[:, 0]
    return attraction if attraction.ndim else float(attraction)


def orbit(a_au: float, e: float, m1: float, m2: float, dt_yr: float, n: int, law: str = "newton", *,
          omega_rad: float = 0.0, phase_rad: float = 0.0, clockwise: bool = False,
          inclination_rad: float | None = None, node_rad: float | None = None,
          **settings: Any) -> np.ndarray:
    """Relative motion of two bodies, (n, 4): x, y, vx, vy at 0, dt_yr, ... (Gaussian years).

    With inclination_rad or node_rad the orbit lies in space, (n, 6): x, y, z, vx, vy, vz; omega_rad
    is then the angle of the periapsis from the ascending node.
    """
    simulation = _of_law(law, settings, 2)
    given = (number(name, value) for name, value in (
        ("a_au", a_au), ("e", e), ("omega_rad", omega_rad), ("phase_rad", phase_rad)))
    elements = lib.Elements(*given, flag("clockwise", clockwise))
    m1, m2, dt_yr = number("m1", m1), number("m2", m2), number("dt_yr", dt_yr)
    if inclination_rad is not None or node_rad is not None:
        state = np.empty((whole("n", n, 0, MOST), 6))
        simulation.status("orbit_in_space", ctypes.byref(elements),
                          number("inclination_rad", inclination_rad or 0.0),
                          number("node_rad", node_rad or 0.0), m1, m2, dt_yr, n,
                          state.ctypes.data_as(_DOUBLES))
        return state
    state = np.empty((whole("n", n, 0, MOST), 4))
    simulation.status("orbit", ctypes.byref(elements), m1, m2, dt_yr, n,
                      state.ctypes.data_as(_DOUBLES))
    return state
