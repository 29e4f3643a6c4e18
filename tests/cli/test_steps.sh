#!/usr/bin/env bash
# test_steps.sh - laws with floor, whose constants have no derivatives: symreg finds them with the
# operators that it has when asked.
. tests/cli/lib.sh

# exact NAME FILE TARGET OPTION...: the formula of rule best has no residuals
exact() {
    local name=$1 file=$2 target=$3
    shift 3
    program symreg "tests/cases/$file" --target "$target" "$@" --threads 1 --seed 1 \
        --out "$WORK/$name" >"$WORK/$name.out"
    grep -q '^ .* 0  *inf  .*floor.*best' "$WORK/$name.out"
}
check "floor(0.37 x) is found" exact floor l2_floor.csv y --unary floor --evaluations 20000
check "a floor of a product of sums is found" \
    exact stat l1_floor_stat.csv stat --unary floor --evaluations 120000
check "floor is no operator unless it is asked for" \
    program symreg tests/cases/l2_floor.csv --target y --evaluations 3000 --threads 1 \
    --out "$WORK/plain"
check_not "floor was used without being asked for" grep -q floor "$WORK/plain/front.csv"
finish
