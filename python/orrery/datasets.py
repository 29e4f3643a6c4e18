"""Tracks of other programs as a folder of data sets, which all programs of Orrery read."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any

import numpy as np

from . import _library as lib
from ._arguments import doubles, encoded, flag, number, path_of, whole

_EVEN = 1e-3  # times may differ from even ones by this share of a step
_DOUBLES = ctypes.POINTER(ctypes.c_double)


def _systems(name: str, values: Any, dims: tuple[int, ...]) -> list[np.ndarray]:
    """An array of systems, of one system, or a list of arrays, as a list of arrays of `dims`
    dimensions."""
    if isinstance(values, (list, tuple)) and all(np.ndim(v) in dims for v in values):
        return [np.ascontiguousarray(doubles(f"{name}[{i}]", v)) for i, v in enumerate(values)]
    array = doubles(name, values)
    if array.ndim in dims:
        return [np.ascontiguousarray(array)]
    if array.ndim - 1 in dims:
        return [np.ascontiguousarray(one) for one in array]
    raise ValueError(f"{name}: expected {' or '.join(str(d) for d in dims)} dimensions for a "
                     f"system, found shape {array.shape}")


def _per_system(name: str, values: Any, count: int, dims: int) -> list[np.ndarray | None]:
    """Values of each system, or common to all."""
    if values is None:
        return [None] * count
    made = _systems(name, values, (dims,))
    if len(made) == 1:
        made *= count
    if len(made) != count:
        raise ValueError(f"{name}: expected 1 or {count} systems, found {len(made)}")
    return list(made)


def _step(name: str, time: np.ndarray | None, dt: float | None, steps: int) -> float:
    """The constant step of times; ValueError where it is none."""
    if time is None:
        if dt is None:
            raise ValueError("dt: expected a time step, or time, found None")
        return dt
    if time.shape != (steps,) or steps < 2:
        raise ValueError(f"{name}: time: expected {steps} times, found shape {time.shape}")
    step = (time[-1] - time[0]) / (steps - 1)
    away = np.abs(time - (time[0] + step * np.arange(steps)))
    if not step > 0:
        raise ValueError(f"{name}: time: expected times that rise, found {time[0]:.9g} to "
                         f"{time[-1]:.9g}")
    if away.max() > _EVEN * step:
        at = int(away.argmax())
        raise ValueError(f"{name}: time: uneven times: expected {time[0] + at * step:.9g}, by the "
                         f"mean step {step:.6g}, found {time[at]:.9g}; `orbits import --resample` "
                         "interpolates tables")
    return float(step)


def _archive(path: pathlib.Path, dt: float | None
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Positions, velocities, masses and time step of a REBOUND Simulationarchive, read by the
    package rebound: its snapshots or, with dt, states that rebound integrates to those times."""
    try:
        import rebound
    except ImportError:
        raise ImportError(f"{path}: a Simulationarchive is read by the package rebound, which is "
                          "not installed") from None
    if not path.exists():
        raise FileNotFoundError(f"{path}: not found")
    try:
        archive = rebound.Simulationarchive(str(path))
        count = len(archive)
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"{path}: not a Simulationarchive: {error}") from None
    if count < 2:
        raise ValueError(f"{path}: expected 2 snapshots or more, found {count}")
    if dt is None:
        sims = [archive[i] for i in range(count)]
    else:
        times = archive.tmin + dt * np.arange(int((archive.tmax - archive.tmin) / dt + 1e-9) + 1)
        sims = [archive.getSimulation(float(t), mode="exact") for t in times]
    n = {sim.N for sim in sims}
    if len(n) > 1:
        raise ValueError(f"{path}: expected the same bodies at all times, found {min(n)} to "
                         f"{max(n)}")
    state = np.array([[[p.x, p.y, p.z, p.vx, p.vy, p.vz] for p in sim.particles] for sim in sims])
    mass = np.array([p.m for p in sims[0].particles])
    step = _step(str(path), np.array([sim.t for sim in sims]), None, len(sims))
    return state[..., :3], state[..., 3:], mass, step


def dataset(positions: Any, out: str | os.PathLike[str], *, dt: float | None = None,
            time: Any = None, mass: Any = None, velocity: Any = None, steps: int | None = None,
            val: float = 0.1, test: float = 0.1, split_by: str = "system", seed: int = 0,
            units: str | None = None, name: str = "arrays", force: bool = False,
            projected: bool = False) -> pathlib.Path:
    """Writes tracks as the folder `out`, for `pretrain --orbits`, `make world ORBITS_DIR=` and
    probes (docs/tracks.md); returns its path.

    positions: an array (systems, steps, bodies, d), one of a system (steps, bodies, d), or a list
    of these, whose sizes may differ, with d = 2 coordinates or 3; or the path of a REBOUND
    Simulationarchive, or a list of paths. velocity: as positions; mass: (bodies) or (systems,
    bodies). Times are even: `dt`, or `time` of (steps) or (systems, steps). Of an archive, `dt`
    asks for states at this step; projected=True takes x and y of bodies in space. Archives of
    bodies in the plane z = 0 have two coordinates.

    steps: time steps of a sequence; val, test: shares of the systems, which are in one set alone;
    split_by="time" divides each track instead. units and name are texts for the manifest. Tracks
    that `out` already holds stay; other ones are replaced with force=True.
    """
    step = None if dt is None else number("dt", dt)
    paths = _paths(positions)
    if paths:
        if not (time is None and mass is None and velocity is None):
            raise ValueError("time, mass, velocity: expected None beside archives, which have "
                             "their own")
        read = [_archive(path, step) for path in paths]
        flat = flag("projected", projected) or not any(np.any(x[..., 2]) or np.any(v[..., 2])
                                                       for x, v, _, _ in read)
        d = 2 if flat else 3
        places = [r[0][..., :d] for r in read]
        velocities: list[np.ndarray | None] = [r[1][..., :d] for r in read]
        masses: list[Any] = [r[2] for r in read]
        step_of = [r[3] for r in read]
        name = paths[0].name if name == "arrays" else name
    else:
        places = _systems("positions", positions, (3,))
        velocities = _per_system("velocity", velocity, len(places), 3)
        masses = _per_system("mass", mass, len(places), 1)
        times = _per_system("time", time, len(places), 1)
        step_of = [_step(f"positions[{i}]", times[i], step, len(x)) for i, x in enumerate(places)]
    if split_by not in ("system", "time"):
        raise ValueError(f"split_by: expected 'system' or 'time', found {split_by!r}")
    tracks = [_tracks(i, x, velocities[i], masses[i], step_of[i]) for i, x in enumerate(places)]
    division = lib.Division(
        steps=0 if steps is None else whole("steps", steps, 4, 100000), val=number("val", val),
        test=number("test", test), by_time=split_by == "time",
        seed=whole("seed", seed, 0, 2**64 - 1), force=flag("force", force),
        name=encoded("name", name), units=None if units is None else encoded("units", units))
    pointers = (ctypes.POINTER(lib.Tracks) * len(tracks))(*[ctypes.pointer(t) for t in tracks])
    folder = path_of("out", out)
    lib.Handle("simulation").status("import", encoded("out", str(folder)), len(tracks), pointers,
                                    ctypes.byref(division))
    return folder


def _paths(positions: Any) -> list[pathlib.Path]:
    if isinstance(positions, (str, os.PathLike)):
        return [path_of("positions", positions)]
    if isinstance(positions, (list, tuple)) and positions and all(
            isinstance(p, (str, os.PathLike)) for p in positions):
        return [path_of("positions", p) for p in positions]
    return []


def _tracks(i: int, position: np.ndarray, velocity: np.ndarray | None, mass: np.ndarray | None,
            dt: float) -> lib.Tracks:
    steps, bodies = position.shape[:2]
    where = f"positions[{i}]"
    if position.shape[2] not in (2, 3):
        raise ValueError(f"{where}: expected two or three coordinates, found {position.shape[2]}")
    if velocity is not None and velocity.shape != position.shape:
        raise ValueError(f"{where}: expected velocity of shape {position.shape}, found "
                         f"{velocity.shape}")
    if mass is not None and mass.shape != (bodies,):
        raise ValueError(f"{where}: expected {bodies} masses, found shape {mass.shape}")
    made = lib.Tracks(steps=steps, bodies=bodies, dt=dt, dimensions=position.shape[2])
    kept = []  # arrays live as long as the struct
    for part, array in (("position", position), ("velocity", velocity), ("mass", mass)):
        if array is not None:
            kept.append(np.ascontiguousarray(array, float))
            setattr(made, part, kept[-1].ctypes.data_as(_DOUBLES))
    made._kept = kept
    return made
