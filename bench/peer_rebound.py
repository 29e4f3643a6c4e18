#!/usr/bin/env python3
"""Compares Orrery's orbits with REBOUND's IAS15 (Rein & Spiegel 2015); needs `pip install rebound`.

    make build/bench/orbit_states && python3 bench/peer_rebound.py

Prints, per case, the largest distance between the two in AU and relative to the size of the orbit.
"""
import math
import subprocess
import sys

try:
    import rebound
except ImportError:
    sys.exit("peer_rebound: REBOUND is not installed: pip install rebound")


def compare(arguments):
    text = subprocess.run(["build/bench/orbit_states", *arguments], check=True,
                          capture_output=True, text=True).stdout.splitlines()
    masses = [float(m) for m in text[0].split()[1:]]
    dt = float(text[1].split()[1])
    rows = [line.split() for line in text[2:]]
    states = {(int(r[0]), int(r[1])): [float(v) for v in r[2:]] for r in rows}
    steps = 1 + max(k for _, k in states)
    planets = len(masses) - 1
    sim = rebound.Simulation()
    sim.G = 4 * math.pi ** 2
    sim.integrator = "ias15"
    sim.add(m=masses[-1])
    for i in range(planets):
        x, y, vx, vy = states[i, 0]
        sim.add(m=masses[i], x=x, y=y, vx=vx, vy=vy)
    worst = relative = 0.0
    for k in range(1, steps):
        sim.integrate(k * dt, exact_finish_time=1)
        star = sim.particles[0]
        for i in range(planets):
            p, (x, y, _, _) = sim.particles[i + 1], states[i, k]
            error = math.hypot(p.x - star.x - x, p.y - star.y - y)
            worst = max(worst, error)
            relative = max(relative, error / math.hypot(*states[i, 0][:2]))
    print(f"{' '.join(arguments):24} {steps * dt:9.2f} yr  {worst:9.2e} AU  {relative:9.2e}")


print(f"{'case':24} {'time':>12}  {'difference':>12}  {'relative':>9}")
for e in ("0.017", "0.3", "0.6", "0.9", "0.99"):
    compare(["pair", e, "1000"])
compare(["solar", "1000"])
