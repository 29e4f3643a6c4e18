#!/usr/bin/env bash
# test_losses.sh - losses by their names and as formulas: the law among outliers and counts is
# selected, heavy tails are found and said, targets out of a domain are refused with their line.
. tests/cli/lib.sh
fast_pictures

# selects FORM RULE...: the row of the front that matches has the marks of these rules
selects() {
    local form=$1 line rule
    shift
    line=$(grep -E -- "$form" "$WORK/out" | grep -- '<-' | head -1)
    for rule; do
        [[ "${line##*<-}" == *"$rule"* ]] || return 1
    done
}
# search ARGUMENT...: prints to $WORK/out and $WORK/err
search() {
    program symreg "$@" >"$WORK/out" 2>"$WORK/err"
}
SEARCH=(--threads 1 --seed 2 --evaluations 15000 --seconds 60 --binary '+,-,*,/'
        --unary 'inv,square,exp,sin,log')

for loss in huber l1; do
    check "$loss: a table with outliers is searched" search tests/cases/g2_outliers_100rows.csv \
        --target y --loss $loss "${SEARCH[@]}"
    check "$loss: rules best and mdl select 4 / x^2 + 0.3 beside outliers" \
        selects '^ +6 .*(4|3\.9[0-9]*|4\.0[0-9]*) / square\(x\)' best mdl
done

check "without --loss a table with outliers is searched" search \
    tests/cases/g2_outliers_100rows.csv --target y "${SEARCH[@]}" --out "$WORK/tails"
check "a table with outliers gets the loss huber" \
    grep -q 'of 100 rows are far .* the loss is huber (--loss l2: least squares)' "$WORK/err"
check "a remark says where huber turns linear" \
    grep -q 'Deviations above 0\.0[0-9]* count by their size' "$WORK/tails/report.md"
check "beside a chosen huber the parameter is not told with the --loss that it needs" \
    grep -q '(`--loss huber --set symreg.loss_parameter=X`: ' "$WORK/tails/report.md"
check "front.json has the loss that was chosen" grep -q '"loss":[[:space:]]*"huber"' \
    "$WORK/tails/front.json"
check "with --loss l2 a table with outliers is searched" search \
    tests/cases/g2_outliers_100rows.csv --target y --loss l2 --threads 1 --evaluations 4000
check_not "with --loss l2 another loss is chosen" grep -q huber "$WORK/err"

check "counts are searched with --loss poisson" search \
    tests/cases/h1_counts_with_zeros.csv --target counts --features mass --loss poisson \
    "${SEARCH[@]}"
check "poisson: best and mdl select the exponential of counts with zeros" \
    selects 'exp\(\((mass \* -0\.0055[0-9]*|-0\.0055[0-9]* \* mass|mass / -18[0-9.]*)\)\)' best mdl

# 0 below a threshold and 1 above: a curve as steep as the bounds allow leaves little, smoothly
awk 'BEGIN { print "x,y"; for (i = 0; i < 200; i++) print 3 * i / 200 "," (i > 100) }' \
    >"$WORK/divided.csv"
check "0 and 1 that a threshold divides are searched" search "$WORK/divided.csv" --target y \
    --loss bernoulli --guess '1/(exp(3-2*x)+1)' --constrain-constants=-20,20 --threads 1 \
    --iterations 0 --evaluations 300 --maxsize 12
check "bernoulli: mdl does not select the curve of 0 and 1 that a threshold divides" \
    selects '/ \(exp\(' mdl
check_not "0 and 1 are said to have errors that follow each other" grep -q 'follow each other' \
    "$WORK/out" "$WORK/err"

# note WORDS LOSS: what is said of a parameter beside --loss; "": nothing
note() {
    search tests/cases/h1_counts_with_zeros.csv --target counts --features mass --threads 1 \
        --evaluations 200 --loss "$2" --set symreg.loss_parameter=0.9
    local said="note: --set symreg.loss_parameter=0.9 has no effect: "
    [[ $(grep 'has no effect' "$WORK/err") == "${1:+$said$1}" ]]
}
for loss in huber logcosh quantile; do
    check "a parameter of --loss $loss, which has an effect, is said to have none" note '' $loss
done
check "no note says that --loss l1 has no parameter" note 'symreg.loss is l1' l1
check "no note says that the loss of a formula has no parameter" note '--loss is (p-t)^2' '(p-t)^2'

# front.json has the parameter that huber followed to, in units of the median of |n|
awk -v OFS=, 'BEGIN { srand(2); print "x,n"; for (i = 0; i < 61; i++) { x = i / 20
    print x, 2 * x + 1 + (rand() - 0.5) * (i % 9 ? 0.2 : 4) } }' >"$WORK/tails.csv"
search "$WORK/tails.csv" --target n --loss huber --evaluations 1000 --out "$WORK/huber"
median=$(tail -n +2 "$WORK/tails.csv" | cut -d, -f2 | tr -d - | sort -g | sed -n 31p)
parameter=$(sed -n 's/.*"loss_parameter":[^0-9]*\([0-9.e-]*\).*/\1/p' "$WORK/huber/front.json")
check "front.json has not the parameter of the loss huber" grep -qF \
    "Deviations above $(awk "BEGIN { printf \"%.3g\", $parameter * $median }") count" "$WORK/out"
check "report.md has not the parameter of the loss huber" \
    grep -q 'Loss `huber` (parameter 0\.[0-9]*)' "$WORK/huber/report.md"

printf 'x,n\n1,2\n2,5\n' >"$WORK/two.csv"
check "a table of two rows is searched" search "$WORK/two.csv" --target n --evaluations 300
check "of one constant the remark about few rows does not speak as of one" grep -qE \
    '2 rows cannot decide .*, which has (1 constant|[02-9] constants)$' "$WORK/out"

printf 'x,n\n1,3\n2,0\n3,7\n4,-2\n5,4\n6,8\n' >"$WORK/n.csv"
refusals program symreg "$WORK/n.csv" --target n <<'END'
poisson: a negative count is refused | 2 "at least 0, found -2 in line 5 of \"n\"" | --loss poisson
gamma: a target of 0 is refused | 2 "targets above 0, found 0 in line 3 of \"n\"" | --loss gamma
bernoulli: a target of 3 is refused | 2 "from 0 to 1, found 3 in line 2 of \"n\"" | --loss bernoulli
a target below 0 is refused with its file | 2 "n.csv: --loss poisson: expected" | --loss poisson
a loss not finite at p = t is refused | 2 "p = t = 0, in line 3" | --loss 'p-t*log(abs(t/p))'
a loss not finite is refused with its file | 2 "n.csv: --loss: it is not" | --loss 'log(p/t)^2'
END
printf 'x,n\n1,3\n2,1\n3,7\n4,0.5\n5,4\n6,8\n' >"$WORK/p.csv"
second=$WORK/n.csv
refusals program symreg "$WORK/p.csv" --target n <<END
a count below 0 of --test is refused | 2 "n.csv: --loss poisson: " | --loss poisson --test $second
a 0 of --test is refused by gamma | 2 "n.csv: --loss gamma: expected" | --loss gamma --test $second
gamma of a logarithm names it | 2 "found 0 in line 3 of \"log(n)\"" | --loss gamma --log-target
a formula without brackets is no name | 2 "smallest at p = t, found 0 there" | --loss p-t
a name in capitals is no formula | 2 "expected one of l1|l2|" | --loss Poisson
END
finish
