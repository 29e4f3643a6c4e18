#!/usr/bin/env bash
# pysindy 2.1.0: SmoothedFiniteDifference takes the times t, and smooths as if they were even.
#
# Guess: a class that gets (x, t) and whose parent, FiniteDifference, is right on uneven times is right on them, too.
# Seen: on sin(t), free of noise, at times of two spacings (50 a unit, then 200 a unit, with gaps of 0.07), the parent
# is right to 1e-3 and SmoothedFiniteDifference is wrong by more than 1, although cos(t) never exceeds 1. Its smoother
# is a Savitzky-Golay filter, which counts samples and never sees t; only the difference quotient after it does, so
# that where the spacing changes a polynomial in the number of the sample bends the curve. No warning is printed. On
# even times both agree.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q 'pysindy==2.1.0' 'numpy==2.4.6' 'scipy==1.17.1' 'scikit-learn==1.9.1'
"$folder/v/bin/python" -W ignore - <<'PYTHON'
import sys
from importlib.metadata import version
import numpy as np
import pysindy

uneven = np.concatenate([np.arange(0, 5, 0.02), np.arange(5.07, 6, 0.005), np.arange(6.07, 10, 0.02)])
even = np.linspace(0, 10, len(uneven))
print("pysindy", version("pysindy"), "- largest error of the derivative of sin(t), ends left out")
worst = {}
for name, times in (("even", even), ("uneven", uneven)):
    x = np.sin(times)[:, None]
    for kind in (pysindy.FiniteDifference, pysindy.SmoothedFiniteDifference):
        error = np.abs(kind()(x, times)[:, 0] - np.cos(times))[20:-20]
        worst[name, kind.__name__] = error.max()
        print(f"{name:7} {kind.__name__:25} {error.max():.2e}")
ok = (worst["uneven", "FiniteDifference"] < 5e-3 and worst["even", "SmoothedFiniteDifference"] < 5e-3
      and worst["uneven", "SmoothedFiniteDifference"] > 0.3)
sys.exit(0 if ok else "the behaviour has changed")
PYTHON
