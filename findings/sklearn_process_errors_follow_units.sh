#!/usr/bin/env bash
# sklearn_process_errors_follow_units.sh - known errors of a normalised target are taken as if it
# were not normalised.
#
# A good guess: GaussianProcessRegressor(alpha=sigma**2, normalize_y=True) smooths a track with
# errors sigma and does not depend on the unit of y. alpha is documented as the variance of noise
# on the training observations, normalize_y as a scaling that is reversed before anything is
# reported.
# Why it is wrong: y is divided by its standard deviation s, alpha is not divided by s^2, so that
# the process is fitted as if the errors were s sigma. The same velocities of a star with the same
# errors in km/s and in m/s have different curves: in km/s (s = 0.8) the errors are taken as too
# small by a quarter; in m/s (s = 800) the signal is taken for noise, the curve is flat, and the
# standard deviation that predict() returns is 54 m/s where the curve is wrong by 660. Without
# normalize_y both units give the same curve. A WhiteKernel does not have this, but it is one
# number and cannot hold an error of its own for each row.
# Exits with 0 while scikit-learn behaves so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'scikit-learn==1.9.1' 'numpy==2.4.6'
cat >"$folder/look.py" <<'END'
import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

rng = np.random.default_rng(1)
t = np.linspace(0, 10, 80)[:, None]
truth = np.sin(t[:, 0]) + 0.3 * np.sin(2 * t[:, 0] + 1)  # km/s
sigma = rng.uniform(0.1, 0.3, len(t))
v = truth + sigma * rng.standard_normal(len(t))
found = {}
print(f"scikit-learn {sklearn.__version__}: a velocity of 1 km/s with errors of 0.1 to 0.3 km/s")
for normalize in (False, True):
    for unit, per_km in (("km/s", 1), ("m/s", 1000)):
        size = 1 if normalize else per_km**2
        kernel = ConstantKernel(size, (1e-6 * size, 1e4 * size)) * RBF(1.5, (0.05, 50))
        model = GaussianProcessRegressor(kernel, alpha=(per_km * sigma) ** 2,
                                         normalize_y=normalize, n_restarts_optimizer=3,
                                         random_state=0).fit(t, per_km * v)
        mean, deviation = (a / per_km for a in model.predict(t, return_std=True))
        error = np.sqrt(np.mean((mean - truth) ** 2))
        found[normalize, unit] = error, deviation.mean()
        print(f"  normalize_y={normalize!s:5} in {unit:4}: the curve is wrong by {error:.3f} km/s, "
              f"says {deviation.mean():.4f}")
assert np.allclose(found[False, "km/s"], found[False, "m/s"], rtol=0.02), "units matter without it"
right, small, flat = found[False, "m/s"], found[True, "km/s"], found[True, "m/s"]
assert flat[0] > 5 * right[0] and flat[0] > 10 * flat[1], "scikit-learn behaves otherwise now"
assert not np.allclose(small, flat, rtol=0.5), "scikit-learn behaves otherwise now"
print("with normalize_y the same data in another unit are another fit; alpha is not normalised")
END
"$folder/venv/bin/python" -W ignore "$folder/look.py"
