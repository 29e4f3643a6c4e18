#!/usr/bin/env bash
# test_symreg_live.sh - the front on a terminal: lines within its width, whole characters, and q.
. tests/cli/lib.sh

if ! command -v script >/dev/null; then
    skip "the live view" "no script(1)"
    finish
fi
awk 'BEGIN {
    print "半径,質量,力"
    for (i = 1; i <= 60; i++) {
        r = 0.5 + (i * 37 % 61) / 16; m = 0.5 + (i * 23 % 59) / 16
        printf "%.9g,%.9g,%.9g\n", r, m, 3 * m / (r * r) * (1 + 0.02 * ((i * 29 % 13) - 6))
    }
}' >"$WORK/law.csv"
# on_terminal OUT OPTION...: 64 columns, 14 lines; keys from standard input
on_terminal() {
    local out=$1
    shift
    script -qec "stty cols 64 rows 14; '$BIN/symreg' '$WORK/law.csv' --target 力 --threads 1 \
        --out '$WORK/fit' $* >'$WORK/printed'" "$out" >/dev/null
}

on_terminal "$WORK/screen" --iterations 30 </dev/null
check "status" test $? -eq 0
check "drawn over and over" test "$(grep -c $'\033\\[[0-9]*A' "$WORK/screen")" -gt 1
check "the front" grep -q '半径' "$WORK/screen"
check "whole characters" iconv -f UTF-8 -t UTF-8 "$WORK/screen" -o /dev/null
# widest PATTERN: of the lines that match; a character of three bytes takes two cells
widest() {
    tr -d '\r' <"$WORK/screen" | sed 's/\x1b\[[0-9]*[A-Z]//g' | grep -v '^Script' | grep "$1" |
        LC_ALL=C sed 's/[\xe0-\xef][\x80-\xbf][\x80-\xbf]/##/g' | LC_ALL=C awk '
        length > most { most = length } END { print most }'
}
check "the width is used by formulas" test "$(widest '^ *[0-9]')" -ge 62
check "... and kept by all" test "$(widest '')" -le 63

start=$(date +%s)
(sleep 2 && printf q) | on_terminal "$WORK/screen" --seconds 50 --iterations 1000000 \
    --set symreg.patience=0
check "q: status 0" test $? -eq 0
check "q: before the time is over" test $(($(date +%s) - start)) -lt 40
check "q: the report" test -s "$WORK/fit/report.md"
check "q: the table" grep -q '質量' "$WORK/printed"
finish
