#!/usr/bin/env bash
# spiceypy 8.3.0 (JPL's SPICE): convrt() has another astronomical unit than the tables that are converted by it.
#
# Guess: convrt(1, "AU", "KM"), of the toolkit of those who publish the planetary ephemerides, is the astronomical unit
# of the IAU of 2012, 149597870.7 km exactly, as in Horizons, in astropy and in DE430 to DE441.
# Seen: it is 149597870.6136889 km, 86 m less, a value from before that definition; a parsec is this AU times the right
# ratio, a light year is exact. Positions of Horizons in AU become kilometres that are 2.6 km short at Neptune, and
# DE440's GM of the Sun becomes 2.9591220880e-4 AU^3/d^2 in place of 2.9591220828e-4. That is 1.7e-9 too much, which no
# check of plausibility finds, and more than the relativistic term of Neptune's acceleration (3 GM / (c^2 a) = 1e-9).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install -q 'spiceypy==8.3.0' 'numpy==2.4.6' 'astropy==8.0.2' 'pyerfa==2.0.1.5'
"$folder/v/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version
import erfa
import spiceypy
from astropy import units

au = spiceypy.convrt(1.0, "AU", "KM")
iau = units.au.to(units.km)
print(f"spiceypy {version('spiceypy')}, {spiceypy.tkvrsn('TOOLKIT')}: 1 AU = {au:.7f} km")
print(f"astropy {version('astropy')}: {iau:.7f} km; ERFA: {erfa.DAU / 1000:.7f} km; light years differ by",
      f"{spiceypy.convrt(1.0, 'LIGHTYEARS', 'KM') / units.lyr.to(units.km) - 1:.0e}")
gm = 132712440041.279419  # DE440, km^3/s^2
for name, unit in (("spiceypy", au), ("IAU", iau)):
    print(f"GM of the Sun by {name}: {gm * 86400**2 / unit**3:.10e} AU^3/d^2")
parsec = spiceypy.convrt(1.0, "PARSECS", "AU")
print(f"Neptune at 30.07 AU: {1000 * 30.07 * (iau - au):.0f} m short; a parsec is {parsec:.6f} AU")
ok = abs(au - 149597870.6136889) < 1e-6 and iau == 149597870.7 == erfa.DAU / 1000
sys.exit(0 if ok else "the behaviour has changed")
PYTHON
