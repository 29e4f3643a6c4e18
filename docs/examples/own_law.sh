#!/bin/sh
# own_law.sh - orbits under another force law, read in NumPy, then all stages under that law.
#
#   docs/examples/own_law.sh        from the root of the repository; PRESET=smoke: in seconds
set -eu
PRESET=${PRESET:-quick}
OUT=${OUT:-runs/own_law}

bin/orbits --preset "$PRESET" --set orbits.law=power --set orbits.law_exponent=-1 --out "$OUT/data"
# shapes and columns: docs/formats.md; +inf marks rows without a label
if python3 -c 'import numpy' 2>/dev/null; then
    python3 - "$OUT/data/force_magnitude_two_body_test.npy" <<'END'
import sys
import numpy as np
force = np.load(sys.argv[1])
print(force.shape, "sequences, positions, 1;", np.isfinite(force).sum(), "labels")
END
fi
make world PRESET="$PRESET" SET="orbits.law=power orbits.law_exponent=-1" RUN="$OUT/run"
sed -n 1,12p "$OUT/run/laws/laws.md"
