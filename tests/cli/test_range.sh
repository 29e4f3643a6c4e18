#!/usr/bin/env bash
# test_range.sh - symreg predict notes rows outside of the range that the columns of the formula had
# in the search.
. tests/cli/lib.sh

awk 'BEGIN { print "a,b,y"; for (i = 0; i < 40; i++) print i / 10, i % 7, 3 * i / 10 + 2 }' \
    >"$WORK/table.csv"
check "a line is searched for" program symreg "$WORK/table.csv" --target y --threads 1 \
    --evaluations 3000 --out "$WORK/out"
options=()
predict() { # rows "a b" per argument; notes go to $WORK/notes
    printf 'a,b\n' >"$WORK/new.csv"
    printf '%s\n' "$@" >>"$WORK/new.csv"
    program symreg predict "$WORK/out/front.json" "$WORK/new.csv" "${options[@]}" \
        >"$WORK/y" 2>"$WORK/notes"
}
check "rows in the range are predicted" predict 0,0 3.9,99
check "no note is made of rows in the range, or of columns that are not used" \
    test ! -s "$WORK/notes"
check "rows outside of the range are predicted" predict 1,1 5,1 -2,1
check "a note says how many rows are outside of which range" grep -qF \
    'column "a": 2 of 3 rows are outside of 0 .. 3.9, the range of the search (line 3: 5)' \
    "$WORK/notes"
options=(--missing-value -999)
check "rows with a number that stands for a missing value are predicted" predict -999,1 1,1
check "a note says that the formula is extrapolated in a row that is left out" \
    test ! -s "$WORK/notes"
check "rows of both kinds are predicted" predict -999,1 7,1 1,1
check "the note about the range counts a row that is left out" grep -qF \
    'column "a": 1 of 3 rows are outside of 0 .. 3.9, the range of the search (line 3: 7)' \
    "$WORK/notes"
finish
