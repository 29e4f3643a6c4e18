#!/usr/bin/env bash
# test_kinks.sh - a transistor's current, k/2 (max(vg - v0, 0)^2 - max(vg - v0 - vd, 0)^2): kinks
# with a shared threshold, which symreg finds where max is an operator.
. tests/cli/lib.sh

for seed in 1 2; do
    program symreg tests/cases/m1_transistor.csv --target ids --binary +,-,*,/,max --unary square \
        --threads 1 --seed $seed --evaluations 20000 --out "$WORK/m1" >"$WORK/m1.out"
    check "the law of a transistor is found exactly with seed $seed" \
        grep -qE '^ +17 +0 .*\(vg - 0\.45\).*best' "$WORK/m1.out"
done
finish
