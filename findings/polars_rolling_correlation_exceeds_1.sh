#!/usr/bin/env bash
# polars 2.1.0: rolling correlations with Julian dates exceed 1, while the correlation of each window is right.
#
# Guess: rolling_corr("t", "x", window_size=10) is corr("t", "x") of each window, which polars computes to 1e-9 and
# better whatever the origin of the times; and rolling_cov / rolling_var, the slope of a line through each window, is the
# velocity of a body whose position is tabulated each minute. Julian dates leave six digits of a minute.
# Seen: with times from 0 both are right. With Julian dates (2460310.5 ...) rolling correlations of a planet's x (km)
# wander from 0.980 to 1.019 where all are above 0.99999999, and the slope of 25 km/s is off by up to 0.5 km/s, 2%; the
# slope by pl.cov and var of the windows one by one is right to 2e-6 km/s. No warning (the page of rolling_corr says
# "unstable" of its interface). Modified Julian dates lose less (4e-4); the remedy is to subtract the first time.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q 'polars==2.1.0' 'numpy==2.4.6'
"$folder/v/bin/python" - <<'PYTHON'
import sys
import numpy as np
import polars as pl

rows, window = 2000, 10
minutes = np.arange(rows) * 60.0
x = 1.2e8 + 25.0 * minutes - 1.5e-6 * minutes**2
true = 25.0 - 3e-6 * np.array([minutes[k:k + window].mean() for k in range(rows - window + 1)])
print("polars", pl.__version__, "- windows of", window, "minutes; velocities in km/s")
seen = {}
for name, origin in (("from 0", 0.0), ("MJD", 60310.0), ("JD", 2460310.5)):
    frame = pl.DataFrame({"t": origin + minutes / 86400, "x": x})
    rolled = frame.select(
        corr=pl.rolling_corr("t", "x", window_size=window),
        slope=pl.rolling_cov("t", "x", window_size=window) / pl.col("t").rolling_var(window) / 86400,
    )[window - 1:]
    each = [frame[k:k + window].select(corr=pl.corr("t", "x"), slope=pl.cov("t", "x") / pl.col("t").var() / 86400)
            for k in range(rows - window + 1)]
    each = pl.concat(each)
    corr, one = rolled["corr"], each["corr"]
    error = np.abs(rolled["slope"].to_numpy() - true).max()
    error_one = np.abs(each["slope"].to_numpy() - true).max()
    print(f"{name:6} rolling: {corr.min():.6f} to {corr.max():.6f}, slopes wrong by up to {error:.1e}; "
          f"each window: {one.min():.9f} to {one.max():.9f}, {error_one:.1e}")
    seen[name] = corr.min(), corr.max(), error, one.min(), error_one
ok = (seen["from 0"][0] > 0.999999 and seen["from 0"][2] < 1e-5
      and seen["JD"][0] < 0.99 and seen["JD"][1] > 1.01 and seen["JD"][2] > 0.1
      and all(s[3] > 0.99999999 and s[4] < 1e-4 for s in seen.values()))
sys.exit(0 if ok else "the behaviour has changed")
PYTHON
