#!/bin/sh
# figures.sh - one figure for a paper, with its data, and a moving one for a talk (docs/report.md).
#
#   docs/examples/figures.sh [RUN]        from the root of the repository
set -eu
RUN=${1:-runs/quick}
OUT=${OUT:-$RUN}

bin/report --run "$RUN" --body earth --size 1600 --font "DejaVu Serif" --keep \
    --out "$OUT/figures/earth_large.png"
bin/report --run "$RUN" --animate earth --out "$OUT"
