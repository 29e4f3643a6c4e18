#!/usr/bin/env python3
"""Draws docs/data/velocities.csv: a star with two planets, seen by two instruments in seasons.

    python3 docs/examples/velocities.py docs/data/velocities.csv
"""
import math
import random
import sys

# period (days), K (m/s), e, omega (radians), mean anomaly at BJD 2458000
PLANETS = (43.317, 14.2, 0.31, 1.13, 0.4), (611.4, 21.6, 0.12, 4.2, 2.0)
# offset, jitter, and between which numbers errors are drawn (m/s)
INSTRUMENTS = {"A": (12.3, 1.5, (1.2, 2.2)), "B": (-7.9, 0.9, (0.7, 1.3))}


def velocity(t, period, K, e, omega, M0):
    M = (2 * math.pi * (t - 2458000) / period + M0) % (2 * math.pi)
    low, high = 0, 2 * math.pi
    for _ in range(80):
        E = (low + high) / 2
        low, high = (E, high) if E - e * math.sin(E) < M else (low, E)
    nu = 2 * math.atan2(math.sqrt(1 + e) * math.sin(low / 2), math.sqrt(1 - e) * math.cos(low / 2))
    return K * (math.cos(nu + omega) + e * math.cos(omega))


def main():
    random.seed(72)
    nights = [night for night in range(2457200, 2459000) if (night - 2457200) % 365 < 215]
    rows = []
    for _ in range(90):
        t = random.choice(nights) + 0.75 + random.gauss(0, 0.06)
        name = "A" if t < 2457900 else "B"
        offset, jitter, errors = INSTRUMENTS[name]
        sigma = random.uniform(*errors)
        v = sum(velocity(t, *planet) for planet in PLANETS) + offset
        v += random.gauss(0, sigma) + random.gauss(0, jitter)
        rows.append((t, v, sigma, name))
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("bjd,rv_m_s,error_m_s,instrument\n")
        for t, v, sigma, name in sorted(rows):
            file.write(f"{t:.5f},{v:.3f},{sigma:.2f},{name}\n")


if __name__ == "__main__":
    main()
