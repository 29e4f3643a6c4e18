#!/usr/bin/env bash
# test_limits.sh - limits of bin/symreg on large tables, and the time that it is given, in some four
# minutes of an idle machine: seconds are measured, so that nothing else may run beside it.
#
#   make CUDA=0 && bash tests/long/test_limits.sh
. tests/cli/lib.sh
LIMIT=200
seconds_of() { # COMMAND...: what it took, in $took
    local begun=$EPOCHREALTIME
    "$@"
    local status=$?
    took=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    return $status
}
below() { # A B
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }' || { echo "$1 is not below $2"; return 1; }
}
# table ROWS COLUMNS FILE: random numbers a1, a2, ... and y = 3.5 a1 a2 / (1 + a3^2)
table() {
    awk -v rows="$1" -v columns="$2" 'BEGIN {
        srand(7)
        for (c = 1; c <= columns; c++) printf "a%d,", c
        print "y"
        for (i = 0; i < rows; i++) {
            for (c = 1; c <= columns; c++) { a[c] = 0.5 + rand(); printf "%.8f,", a[c] }
            printf "%.12g\n", 3.5 * a[1] * a[2] / (1 + a[3] * a[3])
        }
    }' >"$3"
}
fit() { # TABLE OPTION...
    local file=$1
    shift
    program symreg "$file" --target y --quiet "$@" >"$WORK/out" 2>"$WORK/err"
}
evaluations() {
    grep -oE '"evaluations":[[:space:]]*[0-9.e+]+' "$WORK/$1/front.json" | grep -oE '[0-9.e+]+$'
}

# ---- 1,000,000 rows; reading them is not the search's time
table 1000000 5 "$WORK/million.csv"
seconds_of fit "$WORK/million.csv" --iterations 0 --evaluations 1 --set symreg.enumerate=0
read_s=$took
for threads in 1 2; do
    check "5 s, $threads threads" seconds_of fit "$WORK/million.csv" --seconds 5 --threads $threads
    # (10% and 1 s, and the constants of the front on all rows)
    check "5 s, $threads threads: end by 6.5 s after the table is read" below "$took" \
        "$(awk "BEGIN { print $read_s + 6.5 }")"
    check "5 s, $threads threads: with a front" grep -qE '^ +[0-9]+ ' "$WORK/out"
done
check "1,000 evaluations" fit "$WORK/million.csv" --evaluations 1000 --out "$WORK/thousand"
check "1,000 evaluations: are about so many" below "$(evaluations thousand)" 3000
for signal in INT TERM; do
    "$BIN/symreg" "$WORK/million.csv" --target y --quiet --out "$WORK/stopped" >"$WORK/out" \
        2>"$WORK/err" </dev/null &
    pid=$!
    sleep "$(awk "BEGIN { print $read_s + 3 }")"
    begun=$EPOCHREALTIME
    stop $signal
    check "SIG$signal: stops at once" below "$(awk "BEGIN { print $EPOCHREALTIME - $begun }")" 1.5
    check "SIG$signal: status" test $status -gt 128
    check "SIG$signal: a front" test "$(wc -l <"$WORK/stopped/front.csv")" -gt 1
done

# ---- 200,000 x 40: the planted law in 20 s, in three times the memory of its numbers
table 200000 40 "$WORK/wide.csv"
"$BIN/symreg" "$WORK/wide.csv" --target y --quiet --seconds 20 --out "$WORK/wide" >"$WORK/out" \
    2>"$WORK/err" </dev/null &
pid=$!
most=0
while now=$(awk '$1 == "VmHWM:" { print $2 }' /proc/$pid/status 2>/dev/null) && [ -n "$now" ]; do
    most=$now
    sleep 0.2
done
wait $pid
check "200,000 x 40: status" test $? -eq 0
head -n 2000 "$WORK/wide.csv" >"$WORK/head.csv"
check "200,000 x 40: status: within three times the numbers" \
    below "$most" $((3 * 200000 * 41 * 8 / 1024))
has_law() { # NAME TARGET TABLE: a row leaves a billionth of the variance
    tail -n +2 "$WORK/$1/front.csv" | sed -E 's/^[^,]*,[^,]*,"(.*)"$/\1/' >"$WORK/.rows"
    while read -r formula; do
        ! awk -v formula="$formula" -v target="$2" -f tests/cases/evaluate.awk "$3" |
            awk '{ exit !($1 <= 1e-9 * $3) }' || return 0
    done <"$WORK/.rows"
    tail -n 3 "$WORK/.rows"
    return 1
}
check "200,000 x 40: status: the planted law" has_law wide y "$WORK/head.csv"

# ---- 60 s are used: the law comes after 22 s
check "gauss" fit tests/cases/large/gauss_0.csv --seconds 60 --threads 1 --out "$WORK/gauss"
check "gauss: the law" has_law gauss y tests/cases/large/gauss_0.csv
finish
