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
refuse "predict takes no other text for a date" 1 ':2: column "date": expected a date' -- \
    program symreg predict "$WORK/out/front.json" "$WORK/new.csv"
sed '5s/^[^,]*/2021-02-30/' "$WORK/table.csv" | sed '1s/$/,x/; 2,$s/$/,1/' |
    awk -F, -v OFS=, '{ $3 = NR > 1 ? NR : $3; print }' >"$WORK/wrong.csv"
check "a day that does not exist leaves the column out" search "$WORK/wrong.csv" wrong
check "a note says that it is left out" grep -q 'column "date" has .* and is left out' \
    "$WORK/notes"
check "a note names the cell that is no date" grep -qF \
    'wrong.csv:5: column "date" has dates, but here none that exists ("2021-02-30")' "$WORK/notes"
cut -d, -f1,2 "$WORK/wrong.csv" >"$WORK/only.csv"
refuse "the only column has a day that does not exist: the error names its row" 1 \
    'only.csv:5: column "date": expected a date that exists' -- \
    program symreg "$WORK/only.csv" --target mag --evaluations 100 --out "$WORK/only"
printf 'date,mag\n2021-01-11,11.9\nsoon,12\n' >"$WORK/test.csv"
refuse "the table of --test has another text: the error names its row" 1 \
    'test.csv:3: column "date": expected a date that exists' -- \
    program symreg "$WORK/table.csv" --target mag --test "$WORK/test.csv" --evaluations 100 \
    --quiet --out "$WORK/only"
printf 'date\n2021-13-11\n' >"$WORK/new.csv"
refuse "predict names a day that does not exist" 1 \
    ':2: column "date": expected a date that exists' -- \
    program symreg predict "$WORK/out/front.json" "$WORK/new.csv"
check "report.md says from which day the days count" grep -qF \
    'features `date` (days since 2021-01-01T12:00:00)' "$WORK/out/report.md"
check "report.html says from which day the days count" grep -qF \
    'features date (days since 2021-01-01T12:00:00)' "$WORK/out/report.html"
printf 'date\n2021-03-01T12:00:00\n' >"$WORK/new.csv"
program symreg predict "$WORK/out/front.json" "$WORK/new.csv" >"$WORK/text" 2>"$WORK/notes"
check "predict gives the range of the search in dates" grep -qF \
    'outside of 2021-01-01T12:00:00 .. 2021-01-28T12:00:00' "$WORK/notes"

# days with hours are exact
awk 'BEGIN { print "date,mag"; for (i = 0; i < 40; i++) { h = (i * 37) % 600
    printf "2021-01-%02dT%02d:00:00,%.17g\n", int(h / 24) + 1, h % 24, h / 24 } }' \
    >"$WORK/hours.csv"
search "$WORK/hours.csv" hours
check "hours are parts of days to the last digit" equal 'Complexity,Loss,Equation 1,0,"date"' \
    "$(paste -sd' ' "$WORK/hours/front.csv")"
sed '7s/^[^,]*/9999-12-31/' "$WORK/hours.csv" >"$WORK/never.csv"
refuse "the last day of all is a missing one" 1 'never.csv:7: column "date"' -- \
    program symreg "$WORK/never.csv" --target mag --evaluations 100 --quiet
check "the last day of all is a missing one: which --missing drop leaves out" \
    search "$WORK/never.csv" never --missing drop
check "the last day of all is a missing one: and no day is counted to it" \
    grep -q '^best: mag = date ' "$WORK/text"

# 2.5 per day between two dates, whose first days differ
awk 'BEGIN { print "start,end,mag"; for (i = 0; i < 28; i++) { k = i * 11 % 19; n = i * 5 % 9 + 1
    printf "2021-03-%02d,2021-04-%02d,%.1f\n", k + 1, k + n, 2.5 * (30 + n) } }' \
    >"$WORK/two.csv"
check "two columns of dates are searched with" search "$WORK/two.csv" two
check "their difference is the days between them" grep -q \
    '^best: mag = 2.50* \* (end - start)' "$WORK/text"
check "both count from one day" equal "2021-03-01 2021-03-01" \
    "$(sed -n 's/.*"first":[^"]*"\(.*\)",/\1/p' "$WORK/two/front.json" | paste -sd' ' -)"
finish
