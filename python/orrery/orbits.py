"""Orbits of stars from radial velocities, by the program symreg orbit."""

from __future__ import annotations

import csv
import json
import math
import os
import pathlib
import tempfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._arguments import doubles, number, whole
from ._programs import run, write_table
from .anomalies import true_anomaly

__all__ = ["OrbitFit", "orbit_fit"]


@dataclass(frozen=True)
class OrbitFit:
    """Orbits of the planets of a star. Elements are dicts of value, standard_error, low and high
    (95%); None where there is none. print() shows what the program prints."""

    planets: list[dict[str, Any]]  # by period: P, K, e, omega_deg, T_periastron, T_conjunction ...
    instruments: list[dict[str, Any]]  # name, gamma, jitter
    models: list[dict[str, Any]]  # of 0, 1, 2 planets: bic, log_likelihood, chance_in_noise ...
    recommended_planets: int
    text: str = field(repr=False)
    residuals: np.ndarray = field(repr=False)  # (n) in the order of t

    def __str__(self) -> str:
        return self.text

    def predict(self, t: Any) -> np.ndarray:
        """The star's velocity at times t (n), without an instrument's offset."""
        t = doubles("t", t)
        v: np.ndarray = np.zeros_like(t)
        for planet in self.planets:
            P, K, e, omega, T = (planet[key]["value"] for key in (
                "P", "K", "e", "omega_deg", "T_periastron"))
            omega = math.radians(omega)
            nu = np.asarray(true_anomaly(2 * math.pi * (t - T) / P, e))
            v += K * (np.cos(nu + omega) + e * math.cos(omega))
        return v


def _column(name: str, values: Any) -> list[float]:
    array = doubles(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name}: expected one dimension, found the shape {array.shape}")
    return [*map(float, array)]


def _columns(t: Any, v: Any, sigma: Any, instrument: Any) -> dict[str, list[Any]]:
    """The columns that are given, of one length."""
    columns: dict[str, list[Any]] = {"t": _column("t", t), "v": _column("v", v)}
    if sigma is not None:
        one = np.ndim(sigma) == 0  # the error of all
        columns["sigma"] = _column("sigma", [sigma] * len(columns["t"]) if one else sigma)
    if instrument is not None:
        columns["instrument"] = [str(name) for name in np.asarray(instrument).ravel()]
    for name, column in columns.items():
        if len(column) != len(columns["t"]):
            raise ValueError(f"{name}: expected {len(columns['t'])} values, as t has, found "
                             f"{len(column)}")
    return columns


def _options(columns: dict[str, list[Any]], planets: Any, star_mass: Any, period: Any) -> list[str]:
    options = ["--time", "t", "--velocity", "v"]
    for name in ("sigma", "instrument"):
        if name in columns:
            options += [f"--{name}", name]
    if planets is not None:
        options += ["--planets", str(whole("planets", planets, 0, 2))]
    for name, value in (("star-mass", star_mass), ("period", period)):
        if value is not None:
            numbers = value if isinstance(value, (tuple, list)) else [value]
            options += [f"--{name}", ",".join(repr(number(name, part)) for part in numbers)]
    return options


def orbit_fit(t: Any, v: Any, sigma: Any = None, *, instrument: Any = None,
              planets: int | None = None, star_mass: Any = None, period: Any = None,
              programs: str | os.PathLike[str] | None = None) -> OrbitFit:
    """Fits Kepler's orbits to radial velocities v (n) at times t (n), as `symreg orbit` does.

    sigma: standard errors (n), or one for all; without them all count alike. instrument (n): each
    value has its own offset and jitter. planets: 0, 1 or 2; default: what is recommended.
    star_mass: solar masses, or (mass, error): m sin i and the axis, of times in days and velocities
    in m/s. period: (low, high), where periods are looked for. programs: the folder of Orrery's
    programs.
    """
    columns = _columns(t, v, sigma, instrument)
    with tempfile.TemporaryDirectory() as folder:
        table, out = pathlib.Path(folder) / "velocities.csv", pathlib.Path(folder) / "orbit"
        write_table(table, columns)
        text = run(programs, ["orbit", str(table), *_options(columns, planets, star_mass, period),
                              "--out", str(out)], table, "velocities")
        answer = json.loads((out / "orbit.json").read_text(encoding="utf-8"))
        with (out / "orbit.csv").open(newline="", encoding="utf-8") as file:
            by_time = [float(row["residual"]) for row in csv.DictReader(file)]
    residuals = np.empty(len(by_time))
    residuals[np.argsort(columns["t"], kind="stable")] = by_time
    return OrbitFit(answer["planets"], answer["instruments"], answer["models"],
                    answer["recommended_planets"], text, residuals)
