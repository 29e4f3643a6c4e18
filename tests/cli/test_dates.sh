#!/usr/bin/env bash
# test_dates.sh - a column of ISO dates is a feature of symreg: days since the first, which a note
# and front.json say, and by which predict and --test count, too.
. tests/cli/lib.sh

# 12.5 - 0.06 per day, every third day, the first row is not the first day
awk 'BEGIN { print "date,mag"; for (i = 0; i < 28; i++) { k = (i + 5) % 28
    printf "2021-01-%02dT12:00:00,%.2f\n", k + 1, 12.5 - 0.06 * k } }' >"$WORK/table.csv"
search() { # text in $WORK/text, notes in $WORK/notes
    local table=$1 out=$2
    shift 2
    program symreg "$table" --target mag --threads 1 --evaluations 3000 --out "$WORK/$out" "$@" \
        >"$WORK/text" 2>"$WORK/notes"
}
check "a column of dates is searched with" search "$WORK/table.csv" out --test "$WORK/table.csv"
check "the days are those since the first date" grep -q '^best: mag = 12.50* - 0.060* \* date' \
    "$WORK/text"
check "a note says which day is 0" grep -qF \
    'column "date" has dates, which count as days since 2021-01-01T12:00:00' "$WORK/notes"
check_not "dates were taken for something else" grep -q 'true and false\|left out' "$WORK/notes"
check "front.json has that day" grep -q '"first":.*"2021-01-01T12:00:00"' "$WORK/out/front.json"
printf 'date\n2021-01-11T12:00:00\n2021-01-01 12:00\n2021-01-02\n' >"$WORK/new.csv"
predicted() {
    program symreg predict "$WORK/out/front.json" "$WORK/new.csv" 2>"$WORK/notes" |
        awk 'NR > 1 { $1 = sprintf("%.6g", $1) } { print }' | paste -sd' ' -
}
check "predict counts from that day" equal "mag 11.9 12.5 12.47" "$(predicted)"
printf 'date\nyesterday\n' >"$WORK/new.csv"
refuse "predict takes no other text for a date" 1 ':2: column "date": expected a finite number' -- \
    program symreg predict "$WORK/out/front.json" "$WORK/new.csv"
sed '5s/^[^,]*/2021-02-30/' "$WORK/table.csv" | sed '1s/$/,x/; 2,$s/$/,1/' |
    awk -F, -v OFS=, '{ $3 = NR > 1 ? NR : $3; print }' >"$WORK/wrong.csv"
check "a day that does not exist leaves the column out" search "$WORK/wrong.csv" wrong
check "a note says that it is left out" grep -q 'column "date" has .* and is left out' \
    "$WORK/notes"
finish
