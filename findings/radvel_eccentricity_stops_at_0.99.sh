#!/usr/bin/env bash
# radvel 1.6.7: above an eccentricity of 0.99 the radial velocities are those of 0.99.
#
# Guess: radvel.kepler.rv_drive(t, [P, tp, e, omega, K]) gives the velocity of the orbit that it is asked for, for any e
# below 1, or refuses: radvel.orbit.true_anomaly, its solver, accepts e = 0.995 and converges, and the message of
# EccentricityPrior (whose limit of 0.99 is a default, another can be given) recommends HardBounds from 0 to 1 where
# nothing else is known.
# Seen: no error and no warning; the curve of e = 0.995 is that of 0.99 to the last bit, 40% of K off near periastron,
# while true_anomaly of the same package, put into the textbook formula, gives the right one. The likelihood is
# therefore flat from 0.99 to 1: data say nothing of e there, whatever they are. Who writes a table of velocities
# of a nearly parabolic orbit by radvel gets another orbit's.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q 'radvel==1.6.7' 'numpy==2.3.5'
"$folder/v/bin/python" - <<'PYTHON'
import sys
import warnings
import numpy as np
import radvel
from radvel.kepler import rv_drive
from radvel.orbit import true_anomaly

warnings.simplefilter("error")
times = np.linspace(0.0, 100.0, 2001)
period, periastron, omega, amplitude = 100.0, 50.0, 0.3, 10.0

def formula(e):
    nu = true_anomaly(times, periastron, period, e)
    return amplitude * (np.cos(nu + omega) + e * np.cos(omega))

print(f"radvel {radvel.__version__}: largest |rv_drive - K (cos(nu + omega) + e cos(omega))|, K = {amplitude} m/s")
gap = {}
for e in (0.5, 0.95, 0.99, 0.992, 0.995, 0.999):
    curve = rv_drive(times, [period, periastron, e, omega, amplitude])
    gap[e] = np.abs(curve - formula(e)).max()
    same = np.array_equal(curve, rv_drive(times, [period, periastron, 0.99, omega, amplitude]))
    print(f"e = {e:5}: {gap[e]:9.2e} m/s{', the curve of 0.99 bit for bit' if same else ''}")
    if same != (e >= 0.99):
        sys.exit("the behaviour has changed")
right = max(gap[e] for e in (0.5, 0.95, 0.99))
sys.exit(0 if right < 1e-8 and gap[0.995] > 1 else "the behaviour has changed")
PYTHON
