#!/usr/bin/env bash
# test_target_interval.sh - symreg --target-interval: targets between two numbers, of rounded
# numbers and of detection limits; its record, what it does not go with, and what is refused.
. tests/cli/lib.sh
fast_pictures

# y = 2.5 x / z + 1.2: `round` has it between halves, `limit` with noise and only up to 6
awk -v dir="$WORK" 'BEGIN { srand(4); round = dir "/round.csv"; limit = dir "/limit.csv"
    print "x,z,y_low,y_high" >round; print "x,z,y_low,y_high" >limit
    for (i = 0; i < 80; i++) { x = 10 * rand(); z = 1 + 4 * rand(); y = 2.5 * x / z + 1.2
        printf "%.5f,%.5f,%g,%g\n", x, z, int(y + 0.5) - 0.5, int(y + 0.5) + 0.5 >round
        y += 0.5 * sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
        printf(y > 6 ? "%.5f,%.5f,6,\n" : "%.5f,%.5f,%.5f,%.5f\n", x, z, y, y) >limit } }'
few=(--threads 1 --evaluations 8000 --binary '+,-,*,/')
both=(--target-interval y_low,y_high)
program symreg "$WORK/round.csv" "${both[@]}" "${few[@]}" --out "$WORK/round" >"$WORK/round.out"
check "the simplest formula inside of all intervals is chosen" \
    grep -Eq 'rule best lies in 80 of 80, .* middles$' "$WORK/round.out"
law() { # OUTPUT SLOPE_FROM SLOPE_TO: the chosen formula at x/z = 0 and 1
    printf 'x,z\n0,1\n1,1\n2,2\n' >"$WORK/at.csv"
    program symreg predict "$1" "$WORK/at.csv" 2>"$WORK/notes" |
        awk -v a="$2" -v b="$3" 'NR > 1 { y[NR - 2] = $1 }
            END { exit !(y[1] - y[0] > a && y[1] - y[0] < b && (y[2] - y[1]) ^ 2 < 1e-9 &&
                y[0] > 0.9 && y[0] < 1.5) }'
}
check "the simplest formula inside of all intervals is chosen: which is the law" \
    law "$WORK/round/front.json" 2.4 2.6
program symreg "$WORK/limit.csv" "${both[@]}" "${few[@]}" --out "$WORK/limit" >"$WORK/limit.out"
check "a law is found of which half the rows have a limit alone" \
    law "$WORK/limit/front.json" 2.2 2.8
check "the target is called what both names begin with" grep -q '^best: y = ' "$WORK/limit.out"
check "noise beyond the intervals is told" \
    grep -Eq 'noise of standard deviation 0\.[45][0-9]* explains' "$WORK/limit.out"
tr -d '\n\t' <"$WORK/limit/front.json" >"$WORK/front.line"
check "the columns are in front.json" grep -q '"target_interval":.*\[*"y_low"' "$WORK/front.line"
check "the ends are no features" equal '`x`, `z`' \
    "$(sed -n 's/.*features \(`.*`\)\. Loss.*/\1/p' "$WORK/limit/report.md")"
program symreg "$WORK/limit.csv" "${both[@]}" "${few[@]}" --test "$WORK/round.csv" --log-target \
    --quiet >"$WORK/test.out"
check "logarithms and a test table have intervals, too" grep -q 'best: log(y) = ' "$WORK/test.out"
sed 's/y_low,y_high/low,high/; s/,$/,inf/' "$WORK/limit.csv" >"$WORK/inf.csv"
program symreg "$WORK/inf.csv" --target-interval low,high "${few[@]}" --quiet >"$WORK/inf.out"
program symreg "$WORK/limit.csv" "${both[@]}" "${few[@]}" --quiet >"$WORK/again.out"
check "an infinite end is open, and names without a common part give y" \
    same_file "$WORK/inf.out" "$WORK/again.out"

# three low ends of 80 are a fill value, and one row has no end at all
awk -F, -v OFS=, 'NR % 25 == 5 { $3 = -999 } NR == 9 { $3 = -999; $4 = "" } 1' \
    "$WORK/round.csv" >"$WORK/fill.csv"
program symreg "$WORK/fill.csv" "${both[@]}" "${few[@]}" --missing-value -999 --out "$WORK/fill" \
    >"$WORK/fill.out" 2>"$WORK/fill.err"
check "a fill value is an open end" grep -Eq 'lies in 79 of 79, .* of the 75 that have' \
    "$WORK/fill.out"
check "a row with two missing ends is left out" \
    grep -q '1 of 80 rows .* used: 1 in "y_low"' "$WORK/fill.err"
awk -F, 'NR != 9' "$WORK/fill.csv" >"$WORK/filled.csv"
program symreg "$WORK/filled.csv" "${both[@]}" "${few[@]}" --out "$WORK/filled" >"$WORK/fill.out"
check "a remark names fill values of ends" grep -q 'y_low is -999 in rows' "$WORK/fill.out"
check_not "a remark recommends what intervals refuse" grep -q 'weights relative' "$WORK/fill.out"

awk -F, -v OFS=, 'NR > 1 { $4 = "" } 1' "$WORK/round.csv" >"$WORK/above.csv"
program symreg "$WORK/above.csv" "${both[@]}" "${few[@]}" >"$WORK/above.out"
check "a remark says that low ends alone determine no law" \
    grep -q 'none has a high end: every number that is large enough' "$WORK/above.out"

sed '3s/.*/1,2,5,4/' "$WORK/round.csv" >"$WORK/crossed.csv"
sed '3s/.*/1,2,,/' "$WORK/round.csv" >"$WORK/open.csv"
sed '3s/.*/1,2,<5,6/' "$WORK/round.csv" >"$WORK/text.csv"
refuse "ends that are crossed have their line" 1 \
    'crossed.csv:3: expected the low end of the target up to its high end, found 5 above 4' -- \
    program symreg "$WORK/crossed.csv" "${both[@]}"
refuse "a row without ends has its line" 1 'open.csv:3: expected an interval with an end' -- \
    program symreg "$WORK/open.csv" "${both[@]}"
refuse "a text has its line" 1 'text.csv:3: column "y_low"' -- \
    program symreg "$WORK/text.csv" "${both[@]}"
awk 'NR == 1 { print $0 ",k"; next } { print $0 "," NR % 4 }' "$WORK/round.csv" >"$WORK/k.csv"
refuse "categories" 2 "not with --category" -- \
    program symreg "$WORK/k.csv" "${both[@]}" --category k
refusals program symreg "$WORK/round.csv" <<'TABLE'
one column | 2 "expected LOW,HIGH" | --target-interval y_low
three columns | 2 "expected two columns" | --target-interval y_low,y_high,x
a column twice | 2 "one twice" | --target-interval y_low,y_low
a column that is missing | 1 'no column "w"' | --target-interval y_low,w
a target beside it | 2 "not with --target" | --target-interval y_low,y_high --target x
an end as feature | 2 '"y_high" is used by' | --target-interval y_low,y_high --features x,y_high
another loss | 2 "not with another loss" | --target-interval y_low,y_high --loss l1
permutations | 2 "not with --permutations" | --target-interval y_low,y_high --permutations 19
alternatives | 2 "not with --alternatives" | --target-interval y_low,y_high --alternatives 2
relative weights | 2 "not with --weights" | --target-interval y_low,y_high --weights relative
TABLE
finish
