#!/usr/bin/env python3
"""make.py - writes the tables of this folder: one table of invented planets in every layout that
astropy 8.0.2, NumPy 2.4.6 and pandas 3.1.1 write. Usage: make.py FOLDER"""
import pathlib
import sys
import warnings

import astropy.units as u
import numpy as np
from astropy.table import Table

folder = pathlib.Path(sys.argv[1])
warnings.simplefilter("ignore")
rng = np.random.default_rng(5)
n = 8
a = np.round(np.exp(rng.uniform(-2, 2, n)), 4)
M = np.round(rng.uniform(0.5, 1.6, n), 3)
P = np.round(365.25 * a**1.5 / np.sqrt(M), 6)
name = np.array([f"HD {i} b" if i % 3 else f"K{i}" for i in range(n)])
table = Table({"name": name, "a": a * u.AU, "M": M * u.solMass, "P": P * u.d, "hot": P < 400,
               "v": np.round(29.785 * np.sqrt(M / a), 5) * u.km / u.s}, masked=True)
table["M"].mask[3] = table["v"].mask[5] = True
formats = {"ascii.csv": "csv", "ascii.ecsv": "ecsv", "ascii.basic": "basic", "ascii.tab": "tab",
           "ascii.rdb": "rdb", "ascii.commented_header": "commented", "ascii.fixed_width": "bars",
           "ascii.fixed_width_two_line": "two_line", "ascii.rst": "rst", "ascii.ipac": "ipac",
           "ascii.mrt": "mrt"}
for form, end in formats.items():
    copy = table.copy()
    if end in ("ipac", "mrt"):
        copy["hot"] = copy["hot"].astype(int)
    copy.write(folder / f"planets.{end}", format=form, overwrite=True)
table.write(folder / "planets_commas.ecsv", format="ascii.ecsv", delimiter=",", overwrite=True)
table.to_pandas().to_csv(folder / "planets.pandas.tsv", sep="\t", index=False)

# arrays: NaN where a value is masked
columns = {"name": name, "a": a, "M": np.where(table["M"].mask, np.nan, M), "P": P, "hot": P < 400,
           "v": np.where(table["v"].mask, np.nan, table["v"].filled(0))}
np.savez(folder / "planets.npz", **columns, note=np.float64(1.5))
np.savez_compressed(folder / "planets_deflated.npz", **columns)
records = np.zeros(n, [("name", "U8"), ("a", "f8"), ("M", ">f8"), ("P", "f8"), ("hot", "?"),
                       ("v", "f8")])
for key, column in columns.items():
    records[key] = column
np.save(folder / "planets.npy", records)
kinds = np.zeros(3, [("half", "f2"), ("single", ">f4"), ("byte", "i1"), ("long", ">i8"),
                     ("word", "u2"), ("text", "S5"), ("day", "M8[D]"), ("ns", "M8[ns]")])
kinds["half"] = [0.5, -1.25, 6.1e-5]
kinds["single"] = [0.1, -2.5, 3e30]
kinds["byte"] = [-7, 0, 127]
kinds["long"] = [-(2**53), 5, 2**40]
kinds["word"] = [65535, 1, 2]
kinds["text"] = [b"ab", b'"c', b"d,e"]
kinds["day"] = np.array(["2021-01-03", "1969-07-20", "NaT"], "M8[D]")
kinds["ns"] = kinds["day"].astype("M8[ns]")
np.save(folder / "kinds.npy", kinds)
np.save(folder / "matrix.npy", np.asfortranarray(np.arange(6.0).reshape(3, 2) / 4))
np.savez(folder / "matrices.npz", x=np.arange(6).reshape(3, 2), y=np.array([7, 8, 9]))
np.savez(folder / "rows_differ.npz", x=np.arange(3), y=np.arange(4))
np.save(folder / "objects.npy", np.array([None, 1]), allow_pickle=True)
np.save(folder / "cube.npy", np.zeros((2, 2, 2)))
