#!/usr/bin/env bash
# test_steps.sh - laws with floor, whose constants have no derivatives: symreg finds them with the
# operators that it has when asked.
. tests/cli/lib.sh
fast_pictures

# exact NAME FILE TARGET OPTION...: the formula of rule best has no residuals
exact() {
    local name=$1 file=$2 target=$3
    shift 3
    [[ $file == */* ]] || file=tests/cases/$file
    program symreg "$file" --target "$target" --threads 1 --seed 1 "$@" \
        --out "$WORK/$name" >"$WORK/$name.out"
    grep -Eq '^ .* 0  *inf  .*(floor|round).*best' "$WORK/$name.out"
}
check "floor(0.37 x) is found" exact floor l2_floor.csv y --unary floor --evaluations 20000
for seed in 1 2 3 4; do
    check "a floor of a product of sums is found, seed $seed" \
        exact stat l1_floor_stat.csv stat --unary floor --evaluations 20000 --seed "$seed"
    check "a floor of a product of sums is found, seed $seed: without further terms, seed $seed" \
        grep -q '^ *10  .*floor.*best' "$WORK/stat.out"
done
awk 'BEGIN { print "a,b,c,y"; for (i = 1; i <= 200; i++) {
        a = 1 + i * 7.13 % 29; b = 1 + i * 3.71 % 23; c = 2 + i * 5.3 % 11
        printf "%.2f,%.2f,%.2f,y\n", a, b, c } }' >"$WORK/columns.csv"
awk -F, -v OFS=, 'NR > 1 { $4 = int(0.8 * sqrt($1 * $1 + $2 * $2)) } 1' "$WORK/columns.csv" \
    >"$WORK/length.csv"
awk -F, -v OFS=, 'NR > 1 { $4 = int($1 * $2 / $3 + 0.5) } 1' "$WORK/columns.csv" >"$WORK/ratio.csv"
check "a floor of a root is found" exact length "$WORK/length.csv" y \
    --unary floor,sqrt,square --evaluations 20000
check "a rounded quotient is found" exact ratio "$WORK/ratio.csv" y --unary round \
    --evaluations 20000
check "a rounded quotient is found: in its shortest form" \
    grep -q '^ *6  .*round.*best' "$WORK/ratio.out"
check "floor is no operator unless it is asked for" \
    program symreg tests/cases/l2_floor.csv --target y --evaluations 3000 --threads 1 \
    --out "$WORK/plain"
check_not "floor was used without being asked for" grep -q floor "$WORK/plain/front.csv"
finish
