#!/usr/bin/env bash
# test_shape.sh - formulas that symreg is required to keep: numbers between bounds, monotone in
# columns, positive; and what is refused.
. tests/cli/lib.sh

# a noisy rise, and a decay whose noise is below 0 in places
awk 'BEGIN { srand(3); print "x,k,y,d"
    for (i = 0; i < 60; i++) { x = i / 15; e = rand() + rand() + rand() - 1.5
        printf "%.4f,%d,%.5f,%.5f\n", x, i % 5, 2 + log(x + 0.3) + 0.4 * e, 0.3 * exp(-x) + 0.1 * e
    } }' >"$WORK/table.csv"
# front NAME TARGET OPTION...: the formulas of a short search
front() {
    local name=$1 target=$2
    shift 2
    program symreg "$WORK/table.csv" --target "$target" --features x --threads 1 \
        --evaluations 6000 --out "$WORK/$name" "$@" >"$WORK/$name.out"
}
# values NAME LINE: the predictions of a row of the front on a fine grid
awk 'BEGIN { print "x"; for (i = 0; i <= 236; i++) print i / 60 }' >"$WORK/grid.csv"
all_rows() { # NAME "awk program that exits with 1 where y is wrong"
    local k
    for k in $(seq $(($(wc -l <"$WORK/$1/front.csv") - 1))); do
        program symreg predict "$WORK/$1/front.json" "$WORK/grid.csv" --index "$k" \
            2>"$WORK/notes" >"$WORK/y" || return 1
        awk "NR > 1 $2" "$WORK/y" || { echo "row $k of $1"; return 1; }
    done
}
check "a search for falling formulas ends" front falls y --monotone x=-
check "no formula rises that must fall" \
    all_rows falls '{ if (NR > 2 && $1 > before + 1e-9) exit 1; before = $1 }'
check "a search for rising formulas ends" front rises y --monotone x=+
check "no formula falls that must rise" \
    all_rows rises '{ if (NR > 2 && $1 < before - 1e-3) exit 1; before = $1 }'
check "formulas that rise fit what rises" grep -q 'R2 0\.[89]' "$WORK/rises.out"
check "a search for positive formulas ends" front positive d --positive
check "no formula is below 0 that must be positive" all_rows positive '{ if ($1 < -1e-3) exit 1 }'
check "a search with bounds of numbers ends" front bounds y --constrain-constants 0.5,1.5
numbers_are_bounded() {
    awk -F'"' 'NR > 1 { gsub(/[^0-9.e]/, " ", $2); n = split($2, v, " ")
        for (k = 1; k <= n; k++) if (v[k] ~ /^[0-9]/ && (v[k] < 0.5 || v[k] > 1.5)) exit 1 }' \
        "$WORK/bounds/front.csv"
}
check "every number lies between its bounds" numbers_are_bounded
awk 'BEGIN { print "x,y"
    for (i = 0; i < 40; i++) printf "%g,%.4f\n", i, 2.4 * i + sin(i * i) / 9 }' >"$WORK/line.csv"
# bounded OPTION...: a search of a line of slope 2.4
bounded() {
    program symreg "$WORK/line.csv" --target y --threads 1 --iterations 0 --evaluations 1 \
        --unary '' --binary '*' --maxsize 3 --guess '1.5*x' "$@" >"$WORK/line.out"
}
check "a search with a bound that stops the slope ends" bounded --constrain-constants 0,2
check "a number at its bound is remarked on" \
    grep -q '^remark: .*number 1, 2, is at its bound 2 (its standard error' "$WORK/line.out"
check "a search by l1 with a bound that stops the slope ends" \
    bounded --constrain-constants 0,2 --loss l1
check "a number at its bound is remarked on without errors, which l1 does not have" \
    grep -q '^remark: number 1, 2, is at its bound 2$' "$WORK/line.out"
check "a search with bounds far from the slope ends" bounded --constrain-constants 0,9
check "a number far from its bounds is not remarked on" \
    test "$(grep -c 'its bound' "$WORK/line.out")" -eq 0
refusals program symreg "$WORK/table.csv" --target y --evaluations 2000 <<'TABLE'
a sign that is none | 2 "--monotone: expected column=+ or column=-" | --monotone x=up
a column without a sign | 2 "--monotone: expected column=+ or column=-" | --monotone x
a column that is no feature | 2 '--monotone: "z" is no feature' | --monotone z=+
a column twice | 2 '--monotone: "x" stands twice' | --monotone x=+,x=-
one bound | 2 "--constrain-constants: expected LOW,HIGH" | --constrain-constants 1
bounds in the wrong order | 2 "--constrain-constants: expected LOW,HIGH" | --constrain-constants 2,1
a monotone formula of categories | 2 "--monotone: not with --category" | --monotone x=+ --category k
TABLE
finish
