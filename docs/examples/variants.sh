#!/bin/sh
# variants.sh - an attention variant beside softmax: trained the same way, losses in one table and
# one picture. A variant of one's own is one line of kernels/variants.c (docs/attention.md).
#
#   docs/examples/variants.sh [VARIANT]    from the root of the repository; PRESET=smoke: in seconds
set -eu
PRESET=${PRESET:-quick}
OUT=${OUT:-runs/variants}

make pretrain PRESET="$PRESET" ATTENTION="${1:-lssa}" RUN="$OUT"
make pretrain PRESET="$PRESET" ATTENTION=softmax RUN="$OUT"
bin/compare losses "$OUT" --out "$OUT/losses.png"
