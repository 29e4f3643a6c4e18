"""Files of JPL Horizons as arrays, by the reader of `symreg motion`."""

from __future__ import annotations

import ctypes
import os
from typing import NamedTuple

import numpy as np

from . import _library

__all__ = ["Horizons", "read_horizons"]


class Horizons(NamedTuple):
    """Tracks of bodies: what force_law() and Motion take."""
    t: np.ndarray               # (n) days, as a rule Julian dates
    body: np.ndarray            # (n) names
    positions: np.ndarray       # (n, 3) in `unit`
    mass: np.ndarray | None     # (n) GM in unit^3 / day^2, if known of all of several bodies
    unit: str                   # "AU" or "km", of the first file
    centre: str
    frame: str


def read_horizons(*files: str | os.PathLike[str]) -> Horizons:
    """Positions in files of JPL Horizons, one body each: vectors or elements, text or CSV, in AU or
    km, which become those of the first file. A centre with a known GM that is in none of several
    files is a body at the origin, as the Sun of heliocentric planets.

    force_law(h.t, h.positions, h.body, h.mass) searches for the law between them, in which masses
    are GM: Newton's is m1 * m2 / r^2.
    """
    names = [os.fsencode(file) for file in files]
    handle = _library.Handle("results")
    handle.status("horizons", (ctypes.c_char_p * len(names))(*names), len(names))
    rows = ctypes.c_size_t()
    handle.status("size", ctypes.byref(rows), None)

    def column(name: str) -> np.ndarray:
        of = _library.Column()
        handle.status("find", name.encode(), ctypes.byref(of))
        if of.kind == _library.WORDS:
            return np.array([of.words[k].decode("utf-8", "replace") for k in range(rows.value)])
        return np.ctypeslib.as_array(of.numbers, (rows.value,)).copy()

    try:
        mass = column("GM")
    except _library.ValueRefused:  # not known, or of one body
        mass = None
    unit, centre, frame = (str(column(name)[0]) for name in ("unit", "centre", "frame"))
    return Horizons(column("t"), column("body"), np.stack([column(x) for x in "xyz"], axis=1),
                    mass, unit, centre, frame)
