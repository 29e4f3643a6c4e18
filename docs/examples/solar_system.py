#!/usr/bin/env python3
"""Makes docs/data/de421.csv.gz: barycentric positions of Sun, Moon and planets by JPL's DE421.

    pip install jplephem de421 && python3 docs/examples/solar_system.py docs/data/de421.csv
    gzip -9n docs/data/de421.csv

200 days from J2000 on, AU (12 decimals), equatorial (ICRF); gm: AU^3/day^2, DE421's own.
Folkner, Williams & Boggs (2009), IPN Progress Report 42-178.
"""
import sys

import de421
import numpy as np
from jplephem import Ephemeris

DAYS = 200


def main():
    jpl = Ephemeris(de421)
    t = 2451545.0 + np.arange(DAYS)
    moon_share = 1 / (1 + jpl.EMRAT)
    gm = {"sun": jpl.GMS, "earth": jpl.GMB * (1 - moon_share), "moon": jpl.GMB * moon_share}
    names = ("mercury", "venus", None, "mars", "jupiter", "saturn", "uranus", "neptune", "pluto")
    gm |= {name: getattr(jpl, f"GM{k}") for k, name in enumerate(names, 1) if name}
    bodies = ("sun", "mercury", "venus", "earth", "moon", *names[3:])
    # the Moon's position is geocentric
    moon, barycentre = jpl.position("moon", t), jpl.position("earthmoon", t)
    x = {name: jpl.position(name, t) for name in bodies if name not in ("earth", "moon")}
    x["earth"] = barycentre - moon * moon_share
    x["moon"] = x["earth"] + moon
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("t,body,gm,x,y,z\n")
        for i in range(DAYS):
            for name in bodies:
                place = ",".join(f"{axis[i] / jpl.AU:.12f}" for axis in x[name])
                file.write(f"{t[i]:.1f},{name},{gm[name]:.10g},{place}\n")


if __name__ == "__main__":
    main()
