#!/usr/bin/env bash
# lab_speed.sh - formulas per second of the orbit lab's search beside those of the native library
# with plain loops and one thread: lab_speed.sh [TURNS]. Processor time of a search of one table, in
# turns, in Node and, where $PYTHON has playwright, in Chromium; wants node and `make lab`.
set -eu
turns=${1:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk 'BEGIN { print "r,F"; for (i = 0; i < 120; i++) { r = 0.4 + 0.02 * i
    noise = 0.01 * ((i * 37 % 61) / 61 - 0.5)
    printf "%.15g,%.15g\n", r, 39.47841760435743 / r ^ 2 * (1 + noise) } }' >"$work/table.csv"
"${CC:-cc}" -O2 -std=c17 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -I. \
    tests/lab/native.c lab/search.c lab/orbit.c build/liborrery.so.2 \
    build/lib{symreg,formula,stage,base}.a -Wl,-rpath,"$PWD/build" -lgsl -lgslcblas -lcjson -lz \
    -fopenmp -lm -ldl -o "$work/native"
export ORRERY_ISA=plain OMP_NUM_THREADS=1
for ((i = 0; i < turns; i++)); do
    native=$(TIMEFORMAT=%U; { time "$work/native" "$work/table.csv" 60000 >/dev/null; } 2>&1)
    node tests/lab/module.js lab/page/module.js build/lab/orrery.wasm "$work/table.csv" 60000 3 \
        >"$work/page"
    page=$(sed -n 's/^user //p' "$work/page" | tail -1)
    awk -v n="$native" -v p="$page" 'BEGIN {
        printf "native %.2f s, Node %.2f s, ratio %.2f\n", n, p, n / p }'
done
! "${PYTHON:-python3}" -c 'import playwright' 2>/dev/null ||
    "${PYTHON:-python3}" bench/lab_chromium.py search build/lab/lab.html "$work/native" \
        "$work/table.csv" "$turns"
