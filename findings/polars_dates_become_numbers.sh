#!/usr/bin/env bash
# polars 2.1.0: DataFrame.to_numpy() makes numbers of dates as soon as one column of floats stands beside them, in a
# unit that depends on their type.
#
# Guess: dates beside floats give an array of objects, as in pandas, or an error, as a date beside a duration does here
# (and as NumPy has no common type of datetime64 and float64).
# Seen: a float64 array. A Date is a number of days, a Datetime a number of microseconds since 1970, a Time a number of
# nanoseconds since midnight: the same instant is 18262 in one frame and 1.5778368e15 in another. Alone, the same column
# is datetime64. So np.asarray(frame) passes every check for real numbers, and a regression fits "t" in microseconds.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q 'polars==2.1.0' 'numpy==2.4.6'
"$folder/v/bin/python" - <<'PYTHON'
import datetime as dt
import sys
import numpy as np
import polars as pl

print("polars", pl.__version__)
columns = {"Date": [dt.date(2020, 1, 1)], "Datetime": [dt.datetime(2020, 1, 1)], "Time": [dt.time(1)]}
seen = {}
for name, values in columns.items():
    alone = pl.DataFrame({"t": values}).to_numpy()
    beside = np.asarray(pl.DataFrame({"t": values, "x": [1.5]}))
    seen[name] = (beside.dtype == np.float64, float(beside[0, 0]))
    print(f"{name:9} alone: {alone.dtype}; beside a float: {beside.dtype}, {beside[0, 0]!r}")
try:
    pl.DataFrame({"t": columns["Date"], "d": [dt.timedelta(1)]}).to_numpy()
    refused = False
except TypeError as error:
    refused = True
    print("Date beside a duration: TypeError:", error)
expected = {"Date": (True, 18262.0), "Datetime": (True, 1.5778368e15), "Time": (True, 3.6e12)}
sys.exit(0 if seen == expected and refused else "the behaviour has changed")
PYTHON
