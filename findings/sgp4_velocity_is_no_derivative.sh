#!/usr/bin/env bash
# sgp4 2.27: the velocity that SGP4 returns is not the derivative of the positions that it returns.
#
# Guess: propagate() gives position and velocity of one trajectory, so that central differences of the positions at
# 0.2 s give the velocity back to some 1e-9, the rounding of coordinates in km; then any track of positions can be
# checked, or its derivative replaced, by the velocities.
# Seen: they differ by 1 to 2 cm/s for a satellite in a low orbit, 2e-6 of the speed, at every step of the difference
# from 2 s down to 0.02 s. SGP4 is an analytic theory: its velocity leaves out the rates of some periodic terms that
# its position has, so the two never meet. Who learns forces from such tracks must use one of the two, not both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q 'sgp4==2.27' 'numpy==2.4.6'
"$folder/v/bin/python" - <<'PYTHON'
import sys
import numpy as np
import sgp4
from sgp4.api import WGS72, Satrec

DAY = 86400.0
satellite = Satrec()  # elements made up: a low, nearly circular orbit
satellite.sgp4init(WGS72, "i", 90001, 25000.5, 3e-5, 0.0, 0.0, 0.0012, 1.3, 0.9, 0.4, 0.0662, 2.1)

def state(seconds):
    error, r, v = satellite.sgp4(2458449.0, 0.5 + seconds / DAY)
    assert error == 0
    return np.array(r), np.array(v)

print(f"sgp4 {sgp4.__version__}: |difference quotient of r - v|, m/s, beside the speed in km/s")
largest = {}
for half_step in (1.0, 0.1, 0.01):
    gaps = []
    for at in np.linspace(0, 6000, 61):
        quotient = (state(at + half_step)[0] - state(at - half_step)[0]) / (2 * half_step)
        gaps.append(1000 * np.linalg.norm(quotient - state(at)[1]))
    largest[half_step] = max(gaps)
    print(f"half step {half_step:5} s: median {np.median(gaps):.4f}, largest {max(gaps):.4f}; "
          f"speed {np.linalg.norm(state(0)[1]):.3f}")
# a difference quotient's own error falls with the square of its step, until rounding (about 1e-6 m/s at 0.1 s) counts
constant = abs(largest[0.1] / largest[1.0] - 1) < 0.3
sys.exit(0 if constant and 0.002 < largest[0.1] < 0.2 else "the behaviour has changed")
PYTHON
