#!/usr/bin/env bash
# test_errors_in_x.sh - symreg --sigma-x: constants by orthogonal distance regression, chi^2 of it,
# and what is refused.
. tests/cli/lib.sh
fast_pictures

TABLE=tests/cases/k1_line_errors_in_x.csv
few=(--target y --threads 1 --evaluations 3000)
program symreg $TABLE "${few[@]}" --sigma sy --sigma-x x=sx --out "$WORK/line" >"$WORK/line.out"
# 2 x + 1: scipy.odr (SciPy 1.17.1) has 2.0188 +- 0.0519 and 0.973 +- 0.052, chi^2 373.2
slope_is_right() {
    awk '/^best: y = / { split($0, v, /[(,)]/)
        for (k in v) if (v[k] ~ /\+-/ && split(v[k], w, " ") && w[1] > 2 && w[1] < 2.04 &&
            w[3] >= 0.045 && w[3] <= 0.055) found = 1 }
        END { exit !found }' "$WORK/line.out"
}
check "the slope of a line with errors in x is that of orthogonal distances" slope_is_right
check "chi^2 is that of the distances" \
    grep -q 'chi^2 = 373\.[0-9] with 398 degrees' "$WORK/line.out"
check "the columns of --sigma-x are no features" equal "x" \
    "$(sed -n 's/.*features `\([^`]*\)`.*/\1/p' "$WORK/line/report.md")"
program symreg $TABLE "${few[@]}" --sigma sy --features x --sigma-x x=0.5 --quiet \
    >"$WORK/number.out"
program symreg $TABLE "${few[@]}" --sigma sy --features x --sigma-x x=sx --quiet \
    >"$WORK/column.out"
check "a number stands for a column of it" same_file "$WORK/number.out" "$WORK/column.out"
awk -F, -v OFS=, '{ $5 = NR == 1 ? "z, m" : NR % 7; $6 = NR == 1 ? "s=z" : 0.1; print }' $TABLE |
    sed '1s/z, m/"z, m"/' >"$WORK/odd.csv"
check "names with commas and signs stand in quotes" program symreg "$WORK/odd.csv" "${few[@]}" \
    --features 'x,"z, m"' --sigma sy --sigma-x 'x=sx, "z, m"="s=z"' --quiet
awk -F, -v OFS=, 'NR == 3 { $3 = -1 } { print }' $TABLE >"$WORK/negative.csv"
refusals program symreg $TABLE "${few[@]}" <<'TABLE'
errors in x need those of y | 2 "--sigma-x: needs --sigma" | --sigma-x x=sx
a feature without a value | 2 "expected feature=column or feature=number" | --sigma sy --sigma-x x
a negative number | 2 "expected a standard deviation of at least 0" | --sigma sy --sigma-x x=-1
a column that is missing | 1 'no column "sz"' | --sigma sy --sigma-x x=sz
a feature that is missing | 1 'no column "w"' | --sigma sy --sigma-x w=sx
a feature twice | 2 '--sigma-x: "x" stands twice' | --sigma sy --sigma-x x=sx,x=0.1
the target as feature | 2 '--sigma-x: "y" is the target' | --sigma sy --sigma-x y=sx
a feature that is its error | 2 '--sigma-x: "x" is the feature' | --sigma sy --sigma-x x=x
errors in x with another loss | 2 'needs the loss l2' | --sigma sy --sigma-x x=sx --loss l1
errors in x, alternatives | 2 "not with --alternatives" | --sigma sy --sigma-x x=sx --alternatives 3
errors in x with a category | 2 'not with --category' | --sigma sy --sigma-x x=sx --category sx
TABLE
refuse "a negative standard deviation has its line" 1 ':3: column "sx": expected a standard' -- \
    program symreg "$WORK/negative.csv" "${few[@]}" --sigma sy --sigma-x x=sx
finish
