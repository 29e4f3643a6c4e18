"""Orbits of stars: orbit_fit() has the numbers of the program, and predicts the velocities."""

import json
import pathlib
import subprocess

import numpy as np
import pytest

import orrery

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYMREG = ROOT / "bin" / "symreg"
DATA = ROOT / "docs" / "data" / "velocities.csv"

if not SYMREG.exists():
    pytest.skip("no programs in bin/ beside the package", allow_module_level=True)


@pytest.fixture(scope="module")
def velocities():
    t, v, sigma = np.loadtxt(DATA, delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    return t, v, sigma, np.loadtxt(DATA, delimiter=",", skiprows=1, usecols=3, dtype=str)


def test_numbers_of_the_program(velocities, tmp_path):
    t, v, sigma, instrument = velocities
    order = np.random.default_rng(5).permutation(len(t))
    fit = orrery.orbit_fit(t[order], v[order], sigma[order], instrument=instrument[order],
                           star_mass=(0.92, 0.02))
    subprocess.run([SYMREG, "orbit", DATA, "--time", "bjd", "--velocity", "rv_m_s", "--sigma",
                    "error_m_s", "--instrument", "instrument", "--star-mass", "0.92,0.02", "--out",
                    tmp_path, "--quiet"], check=True, capture_output=True)
    answer = json.loads((tmp_path / "orbit.json").read_text())
    assert fit.planets == answer["planets"] and fit.models == answer["models"]
    assert fit.recommended_planets == 2 and "planet 2" in str(fit)
    gamma = {i["name"]: i["gamma"]["value"] for i in fit.instruments}
    offsets = np.array([gamma[name] for name in instrument])
    left = (v - offsets - fit.predict(t))[order]
    assert np.allclose(left, fit.residuals, atol=1e-6)
    assert np.std(left) < 3


def test_options_and_errors(velocities, monkeypatch):
    t, v, sigma, _ = velocities
    one = orrery.orbit_fit(t, v, 2.0, planets=1, period=(20, 80))
    each = orrery.orbit_fit(t, v, np.full(len(t), 2.0), planets=1, period=(20, 80))
    assert len(one.planets) == 1 and one.planets == each.planets
    with pytest.raises(ValueError, match="sigma: expected 90 values, as t has, found 3"):
        orrery.orbit_fit(t, v, sigma[:3])
    with pytest.raises(ValueError, match=r"v: expected one dimension, found the shape \(90, 1\)"):
        orrery.orbit_fit(t, v[:, None])
    with pytest.raises(ValueError, match="planets: expected a whole number from 0 to 2, found 3"):
        orrery.orbit_fit(t, v, planets=3)
    with pytest.raises(ValueError, match="velocities: expected at least 6 velocities, found 4"):
        orrery.orbit_fit(t[:4], v[:4])
    with pytest.raises(FileNotFoundError, match="expected orrery or symreg"):
        orrery.orbit_fit(t, v, programs="/nowhere")
    monkeypatch.setattr(orrery.judging, "__file__", "/nowhere/a/b/c.py")  # as of a wheel
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileNotFoundError, match="/nowhere/bin, or orrery on the PATH, found none"):
        orrery.orbit_fit(t, v)
