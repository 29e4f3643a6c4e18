#!/usr/bin/env bash
# test_symreg_tables.sh - where tables come from and what is done with further ones: standard input,
# compressed files, missing values.
. tests/cli/lib.sh

# r, m, w, s, F = 6 m / r^2 with a little noise; deterministic
awk 'BEGIN {
    print "name,r,m,w,F"
    for (i = 1; i <= 60; i++) {
        r = 0.5 + (i * 37 % 101) / 32; m = 0.5 + (i * 53 % 97) / 32
        printf "n%d,%.10g,%.10g,%d,%.10g\n", i, r, m, 1 + i % 3,
            6 * m / (r * r) + 0.02 * sin(i * i)
    }
}' >"$WORK/law.csv"
small=(--set symreg.enumerate=2000 --set symreg.populations=4 --set symreg.cycles=30)
# search FILE OPTION...
search() {
    local file=$1
    shift
    timeout "$LIMIT" "$BIN/symreg" "$file" --target F --threads 1 --iterations 3 "${small[@]}" "$@"
}
run=$WORK/run
mkdir "$run"
bad() { # NAME STATUS PATTERN FILE OPTION...
    local name=$1 status=$2 pattern=$3 file=$4
    shift 4
    refuse "$name" "$status" "$pattern" -- search "$file" --quiet --out "$run/out" "$@"
}

# ---- standard input and compressed files
check "a file" search "$WORK/law.csv" --quiet --features r,m --out "$WORK/plain"
from_pipe() {
    cat "$1" | search - --quiet --features r,m --out "$2"
}
check "standard input" from_pipe "$WORK/law.csv" "$WORK/stdin"
check "... the same front" same_files "$WORK/plain" "$WORK/stdin" front.csv front_full.csv
check "... has a name in the report" grep -q '60 rows of `standard input`' "$WORK/stdin/report.md"
(head -n 31 "$WORK/law.csv" | gzip -9n && tail -n +32 "$WORK/law.csv" | gzip -1n) \
    >"$WORK/law.csv.gz"
check "gzip, two members" search "$WORK/law.csv.gz" --quiet --features r,m --out "$WORK/gz"
check "... the same front" same_files "$WORK/plain" "$WORK/gz" front.csv front_full.csv
check "gzip from standard input" from_pipe "$WORK/law.csv.gz" "$WORK/stdin-gz"
check "... the same front" same_files "$WORK/plain" "$WORK/stdin-gz" front.csv front_full.csv
head -c 300 "$WORK/law.csv.gz" >"$WORK/cut.csv.gz"
bad "gzip that is cut" 1 "$WORK/cut.csv.gz: the compressed file (gzip) ends too early" \
    "$WORK/cut.csv.gz"
(head -c 200 "$WORK/law.csv.gz" && printf 'xxxxxxxx' && tail -c +209 "$WORK/law.csv.gz") \
    >"$WORK/damaged.gz"
bad "gzip that is damaged" 1 "$WORK/damaged.gz: the compressed file (gzip) is damaged" \
    "$WORK/damaged.gz"
bad "nothing on standard input" 1 'standard input: empty, expected a header row' - </dev/null
bad "an error on standard input" 1 'standard input:3: expected 2 cells, found 1' - \
    <<<$'x,F\n1,2\n3'

# ---- missing values
awk -F, -v OFS=, 'NR % 7 == 3 { print "gap", (NR % 2 ? "" : " na "), $3, $4, $5 }
    NR % 11 == 5 { print "gap", $2, $3, $4, "NaN" }
    NR % 13 == 6 { print "gap", $2, $3, "", $5; next } { print }' "$WORK/law.csv" >"$WORK/gaps.csv"
awk 'NR % 13 != 6' "$WORK/law.csv" >"$WORK/whole.csv"
bad "a missing value" 1 "$WORK/gaps.csv:3: column \"r\": expected a finite number, found \"\"" \
    "$WORK/gaps.csv"
bad "... with --missing error" 1 'expected a finite number, found ""' "$WORK/gaps.csv" \
    --missing error
check "--missing drop" search "$WORK/gaps.csv" --missing drop --weights w --quiet --out "$WORK/drop"
missing_is_said() {
    search "$WORK/gaps.csv" --missing drop --weights w --out "$WORK/drop" 2>&1 >"$WORK/printed" |
        grep -q 'gaps.csv: 20 of 75 rows have a missing value and are left out'
}
check "... is said" missing_is_said
check "the rows that are left" search "$WORK/whole.csv" --quiet --weights w --out "$WORK/whole"
check "... have the same front" same_files "$WORK/whole" "$WORK/drop" front.csv front_full.csv
check "... in fewer rows" grep -q '^55 rows of' "$WORK/drop/report.md"
# a column that is not used may have gaps: w without --weights and among no features
check "gaps in other columns" search "$WORK/gaps.csv" --quiet --missing drop --features r,m \
    --out "$WORK/other"
check "... cost no rows" grep -q '^60 rows of' "$WORK/other/report.md"
printf 'x,F\n1,2\n,3\n4,n/a\nfour,5\n2,2\n' >"$WORK/text.csv"
bad "text is not missing" 1 "$WORK/text.csv:5: column \"x\": expected a finite number, found \"four\"" \
    "$WORK/text.csv" --missing drop
printf 'x,F\n1,\n,3\n4,5\n' >"$WORK/few.csv"
bad "too few rows are left" 1 'at least 2 rows, found 1' "$WORK/few.csv" --missing drop
bad "--missing of another word" 2 '--missing: expected drop or error, found "fill"' \
    "$WORK/law.csv" --missing fill
finish
