#!/usr/bin/env bash
# test_smooth.sh - tables whose target has a small smooth error, as derivatives by differences have
# it: rule best selects the law, not a longer formula that explains the error; a tolerance ends a
# search at the law.
. tests/cli/lib.sh
fast_pictures

CASES=tests/cases
# fit NAME TABLE TARGET FEATURES OPTION...: the terminal's text in $WORK/NAME
fit() {
    local name=$1 table=$2 target=$3 features=$4
    shift 4
    program symreg "$CASES/$table.csv" --target "$target" --features "$features" --threads 1 \
        --seconds 100000 "$@" >"$WORK/$name" 2>"$WORK/$name.err"
}
# selects NAME MOST LEAST_LOSS MOST_LOSS: rule best selects a formula of at most this complexity
# whose loss is that of the law
selects() {
    awk -v most="$2" -v low="$3" -v high="$4" '
        /<- .*best/ { found = 1; right = $1 <= most && $2 >= low && $2 <= high }
        END { exit !(found && right) }' "$WORK/$1" || { cat "$WORK/$1"; return 1; }
}
few=(--evaluations 25000)
fit ds i1_sir_derivatives ds s,i,r "${few[@]}"
check "the law -0.5 s i is selected, though it leaves the error of the differences" \
    selects ds 6 3.5e-9 6e-9
fit di i1_sir_derivatives di s,i,r "${few[@]}" --seed 2
check "the law (0.5 s - 0.25) i is selected" selects di 9 1.2e-9 2e-9
fit dr i1_sir_derivatives dr s,i,r "${few[@]}" --seed 3
check "the law 0.25 i is selected" selects dr 3 2.4e-9 2.6e-9
fit dw large/i2_pendulum_derivatives dw th,w "${few[@]}"
check "the law of the pendulum is selected" selects dw 8 3.2e-5 3.4e-5
fit u_t large/i3_burgers u_t u,u_x,u_xx --evaluations 22000 --seed 2
check "the law of Burgers is selected, without a number that adds nothing" \
    selects u_t 7 1.7e-7 1.8e-7
check "a remark says how many rows the 299 count as" \
    grep -qE 'remark: .*follow each other along .*: the 299 rows count as [0-9]+ ' "$WORK/dw"
fit out i1_sir_derivatives ds s,i,r "${few[@]}" --out "$WORK/o"
check "front.json has the rows that the table is worth" \
    grep -qE '"rows_independent":	[0-9.]+' "$WORK/o/front.json"

fit within large/i2_pendulum_derivatives dw th,w --tolerance 0.01
check "--tolerance ends the search where the law is found" \
    grep -q 'the search ended: the relative error asked for (--tolerance) is reached' \
    "$WORK/within.err"
check "--tolerance: the simplest formula within it is selected" selects within 8 3.2e-5 3.4e-5
check "--tolerance: longer formulas are left out, and every rule selects the last" \
    grep -q '^ *8 .*<- accuracy, score, best, mdl' "$WORK/within"
fit loose large/i2_pendulum_derivatives dw th,w --tolerance 0.1
check "a larger tolerance selects a simpler formula" selects loose 4 0.07 0.08
fit absolute large/i2_pendulum_derivatives dw th,w --tolerance 0.01 --loss l1
check "with another loss it is the rms residual that counts, too" \
    grep -q '(--tolerance) is reached' "$WORK/absolute.err"
for wrong in 0 -1 1 x; do
    bad=$(program symreg $CASES/i1_sir_derivatives.csv --target ds --tolerance $wrong 2>&1)
    check "--tolerance $wrong is refused" grep -q \
        "tolerance: expected a number above 0, below 1, found \"$wrong\"" <<<"$bad"
done
finish
