#!/usr/bin/env bash
# test_symreg_tables.sh - where tables come from and what is done with further ones: standard input,
# compressed files, missing values, --test, predict,
# standard deviations.
. tests/cli/lib.sh
fast_pictures

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
check "standard input: the same front" \
    same_files "$WORK/plain" "$WORK/stdin" front.csv front_full.csv
check "standard input: has a name in the report" \
    grep -q '60 rows of `standard input`' "$WORK/stdin/report.md"
(head -n 31 "$WORK/law.csv" | gzip -9n && tail -n +32 "$WORK/law.csv" | gzip -1n) \
    >"$WORK/law.csv.gz"
check "gzip, two members" search "$WORK/law.csv.gz" --quiet --features r,m --out "$WORK/gz"
check "gzip, two members: the same front" \
    same_files "$WORK/plain" "$WORK/gz" front.csv front_full.csv
check "gzip from standard input" from_pipe "$WORK/law.csv.gz" "$WORK/stdin-gz"
check "gzip from standard input: the same front" \
    same_files "$WORK/plain" "$WORK/stdin-gz" front.csv front_full.csv
head -c 300 "$WORK/law.csv.gz" >"$WORK/cut.csv.gz"
bad "gzip that is cut" 1 "$WORK/cut.csv.gz: the compressed file (gzip) ends too early" \
    "$WORK/cut.csv.gz"
(head -c 200 "$WORK/law.csv.gz" && printf 'xxxxxxxx' && tail -c +209 "$WORK/law.csv.gz") \
    >"$WORK/damaged.gz"
bad "gzip that is damaged" 1 "$WORK/damaged.gz: the compressed file (gzip) is damaged" \
    "$WORK/damaged.gz"
head -c 1000001 /dev/zero | gzip -9n >"$WORK/bomb.gz"
export ORRERY_UNPACK_MB=1
bad "gzip of more than the limit" 1 \
    "$WORK/bomb.gz: the compressed file (gzip) holds more than 1 MB" "$WORK/bomb.gz"
check "gzip of more than the limit: of less" \
    search "$WORK/law.csv.gz" --quiet --features r,m --out "$WORK/limited"
for limit in 0 1e9 -1 ' 1'; do
    ORRERY_UNPACK_MB=$limit
    bad "a limit of '$limit'" 2 "ORRERY_UNPACK_MB: expected a whole number of MB from 1 to" \
        "$WORK/law.csv.gz"
done
unset ORRERY_UNPACK_MB
bad "gzip of more than the limit: and the usual limit is larger" \
    1 "bomb.gz: not a text file" "$WORK/bomb.gz"
law() {
    cat "$WORK/law.csv"
}
slow_gzip() {
    head -c 99 "$WORK/law.csv.gz"
    sleep 0.3
    tail -c +100 "$WORK/law.csv.gz"
}
check "process substitution" from_substitution law search --quiet --features r,m --out "$WORK/pipe"
check "process substitution: the same front" \
    same_files "$WORK/plain" "$WORK/pipe" front.csv front_full.csv
check "process substitution: of gzip, that comes slowly" \
    from_substitution slow_gzip search --quiet \
    --features r,m --out "$WORK/pipe-gz"
check "process substitution: the same front" \
    same_files "$WORK/plain" "$WORK/pipe-gz" front.csv front_full.csv
refuse "process substitution: for several targets" 2 'is read once, for one column' -- \
    from_substitution law search --quiet --out "$run/out" --target r,m
mkfifo "$WORK/fifo"
bad "a FIFO, to which nobody may write" 1 \
    "$WORK/fifo: not a regular file; give it as standard input, whose name is -" "$WORK/fifo"
bad "nothing on standard input" 1 'standard input: empty, expected a header row' - </dev/null
bad "an error on standard input" 1 'standard input:3: expected 2 cells, found 1' - \
    <<<$'x,F\n1,2\n3'

# ---- functions of two arguments, roots and logarithms
awk -F, -v OFS=, 'NR == 1 { print "x,z,F"; next } { d = $3 - $2
    print $2, $3, 2.5 * sqrt($2 * $2 + $3 * $3) + (d < 0 ? -1 : 1) * (d * d) ^ (1 / 6) }' \
    "$WORK/law.csv" >"$WORK/functions.csv"
check "hypot and cbrt" search "$WORK/functions.csv" --quiet --binary +,-,*,hypot,atan2 \
    --unary cbrt,log10,ln --set symreg.enumerate=50000 --seed 3 --out "$WORK/functions"
check "hypot and cbrt: are found" grep -Eq '"[^"]*hypot\([^"]*cbrt\(|"[^"]*cbrt\([^"]*hypot\(' \
    "$WORK/functions/front.csv"
check "a guess and a loss with functions" search "$WORK/functions.csv" --quiet --binary + \
    --unary cbrt --guess 'ln(x) * hypot(x, 1.5) + atan2(z, x) - log10(z)' \
    --loss 'ln(1 + cbrt(abs(p - t)) ^ 6)' --nest 'ln:cbrt=0' --out "$WORK/guess"
bad "a misspelt function" 2 'no binary operator "hypto"; did you mean "hypot"' \
    "$WORK/functions.csv" --binary hypto
bad "a defined operator that there is" 2 '--define: there is already an operator "cbrt"' \
    "$WORK/functions.csv" --define 'cbrt(x)=x^0.3333'

# ---- columns that formulas must, or must not, use
check "--require" search "$WORK/law.csv" --quiet --require w,m --out "$WORK/require"
uses() { # FRONT COLUMN: every formula uses it, or none of them where it is -COLUMN
    tail -n +2 "$1" | grep -c . >"$WORK/rows"
    case $2 in
    -*) check_not "formulas of $1: without ${2#-}" grep -qw "${2#-}" "$1" ;;
    *) check "formulas of $1: with $2" test \
        "$(tail -n +2 "$1" | grep -cw "$2")" -eq "$(cat "$WORK/rows")" ;;
    esac
}
uses "$WORK/require/front.csv" w
uses "$WORK/require/front.csv" m
check "--require of the compatible search" search "$WORK/law.csv" --quiet --require w \
    --compat pysr --out "$WORK/require"
uses "$WORK/require/front.csv" w
awk -v OFS=, 'BEGIN {
    for (c = 1; c <= 70; c++) printf "c%d,", c
    print "F"
    for (i = 1; i <= 40; i++) {
        for (c = 1; c <= 70; c++) printf "%.6f,", 1 + (i * (c + 30) * (c + 30) % 97) / 97
        print 1 + (i * 32 * 32 % 97) / 97
    }
}' >"$WORK/many.csv"
for column in c22 c49 c67; do
    check "a required column of many: $column" search "$WORK/many.csv" --quiet \
        --require $column --seconds 1 --out "$WORK/require"
    uses "$WORK/require/front.csv" $column
done
check "--exclude" search "$WORK/law.csv" --quiet --exclude w,name --out "$WORK/exclude"
check "--exclude: is the front of the other features" \
    same_files "$WORK/plain" "$WORK/exclude" front.csv
uses "$WORK/exclude/front.csv" -w
refusals search "$WORK/law.csv" --quiet --out "$run/out" <<'END'
a required column that there is not | 2 '--require: "x" is not among the features' | --require x
... nearly | 2 'did you mean "m"?' | --require mm
... of text | 2 '--require: "name" is not among the features' | --require name
... that is the target | 2 '--require: "F" is not among the features' | --require F
... twice | 2 '--require: "r" stands twice' | --require r,r
... that is no feature | 2 '--require: "r" is not among the features' | --require r --features m,w
... that is excluded | 2 '--require: "r" is not among the features' | --require r --exclude r
... without a name | 2 '--require: expected names of columns' | --require ,r
... in too small a formula | 2 'of at least 3, symreg.maxsize is 2' | --require r,m --maxsize 2
--exclude beside --features | 2 '--exclude: --features lists the columns' | --exclude r --features m
--exclude of the target | 2 '--exclude: "F" is the target' | --exclude F
--exclude twice | 2 '--exclude: "r" stands twice' | --exclude r,r
--exclude of no column | 1 'no column "q"; expected one of' | --exclude q
END

# ---- whole numbers and fractions as constants
awk -v OFS=, 'BEGIN { print "x,z,F"
    for (i = 1; i <= 90; i++) {
        x = 0.5 + (i * 37 % 101) / 40; z = 0.5 + (i * 53 % 97) / 40
        printf "%.8f,%.8f,%.8f\n", x, z, 7 * x * x - z / 3 + 2 + 0.05 * sin(i * i)
    }
}' >"$WORK/whole_numbers.csv"
for kind in digits integers rationals likely; do
    check "--round-constants $kind" search "$WORK/whole_numbers.csv" --quiet --unary square \
        --guess '7.1 * square(x) - 0.31 * z + 2.1' --round-constants $kind --out "$WORK/$kind"
done
check "--exclude: whole numbers" \
    grep -q '^10,.*(7 \* square(x)).* + 2)' "$WORK/integers/front.csv"
check_not "--exclude: which digits alone do not give" \
    grep -q '^10,.*(7 \* square(x))' \
    "$WORK/digits/front.csv"
check "the default is likely" search "$WORK/whole_numbers.csv" --quiet --unary square \
    --guess '7.1 * square(x) - 0.31 * z + 2.1' --out "$WORK/as_default"
check "the default is likely: the same front" \
    same_file "$WORK/likely/front.csv" "$WORK/as_default/front.csv"
check "the default is likely: whole numbers that are no coincidence" \
    grep -q '^10,.*(7 \* square(x))' \
    "$WORK/likely/front.csv"
check "the default is likely: fractions" grep -q '^10,.*(z / 3)' "$WORK/rationals/front.csv"
awk 'BEGIN { print "x,z,F"
    for (i = 1; i <= 90; i++) {
        x = 1 + (i * 37 % 101) / 25; z = 1 + (i * 53 % 97) / 25
        printf "%.8f,%.8f,%.8f\n", x, z, 3 * x + 2 * z + 0.002 * sin(i * i)
    }
}' >"$WORK/line.csv"
for kind in integers likely; do # as 3 (x + z / 1.5) it would have no whole numbers
    check "--round-constants $kind: a line" search "$WORK/line.csv" --quiet --unary square \
        --guess '2.9 * (x + 0.66 * z)' --round-constants $kind --out "$WORK/line-$kind"
    check "--round-constants $kind: a line: 3 x + 2 z" grep -qE \
        '^7,[^,]*,"?\(\((x \* 3|3 \* x|z \* 2|2 \* z)\) \+ \((x \* 3|3 \* x|z \* 2|2 \* z)\)\)"?$' \
        "$WORK/line-$kind/front.csv"
done
bad "another kind" 2 'expected one of digits|integers|rationals|likely, found "free"' \
    "$WORK/law.csv" --round-constants free

# ---- no other operators than those given, not even for a law that is their sum
awk -v OFS=, 'BEGIN { print "a,b,F"
    for (i = 1; i <= 90; i++) {
        a = 0.5 + (i * 37 % 101) / 40; b = 0.5 + (i * 53 % 97) / 40
        printf "%.8f,%.8f,%.8f\n", a, b, 30 / a + b * b
    }
}' >"$WORK/sum.csv"
for binary in '*,/' '+,*,/'; do
    check "--binary '$binary'" search "$WORK/sum.csv" --quiet --unary sqrt,square \
        --binary "$binary" --out "$WORK/sum"
    sums=$(grep -c ' + ' "$WORK/sum/front.csv")
    check "--binary '$binary': has sums only where they are allowed" \
        test "$((sums > 0))" = "$((${#binary} > 3))"
done

# ---- several targets
awk -v OFS=, 'BEGIN { print "r,m,Fx,\"F,y\",bad,F/z"
    for (i = 1; i <= 60; i++) {
        r = 0.5 + (i * 37 % 101) / 32; m = 0.5 + (i * 53 % 97) / 32
        printf "%.8f,%.8f,%.8f,%.8f,%s,%.8f\n", r, m, 6 * m / (r * r), 2.5 * m * r,
            (i == 7 ? "x" : r), m + r
    }
}' >"$WORK/targets.csv"
targets() {
    timeout "$LIMIT" "$BIN/symreg" "$WORK/targets.csv" --threads 1 --iterations 3 "${small[@]}" \
        --quiet "$@"
}
each_target() {
    targets --target 'Fx,"F,y",F/z' --exclude bad --seed 3 \
        --units 'r=m, m=kg, Fx=kg/m^2, "F,y"=kg*m' --out "$WORK/targets" >"$WORK/printed"
}
check "a search for each target" each_target
check "a search for each target: names them" grep -qx 'target F,y' "$WORK/printed"
check "a search for each target: in reports" grep -qx '# `Fx`' "$WORK/targets/Fx/report.md"
check_not "a search for each target: none is a feature of another" \
    grep -q '"F' "$WORK/targets/Fx/report.md"
check "a search for each target: alone" \
    targets --target Fx --features r,m --seed 3 --units 'r=m, m=kg, Fx=kg/m^2' \
    --out "$WORK/alone"
check "a search for each target: the same front" \
    same_files "$WORK/alone" "$WORK/targets/Fx" front.csv
check "a folder without slashes" test -f "$WORK/targets/F_z/front.json"
check "one target with a comma" targets --target F,y --features r,m --out "$WORK/alone"
check "one target with a comma: has the folder itself" grep -qx '# `F,y`' "$WORK/alone/report.md"
one_fails() {
    targets --target bad,Fx --features r,m --out "$WORK/one_fails" 2>"$WORK/messages"
    test $? -eq 1 && grep -q 'target bad: .*targets.csv:8: column "bad"' "$WORK/messages" &&
        grep -q 'error: --target: 1 of 2 searches failed: "bad"' "$WORK/messages" &&
        test -f "$WORK/one_fails/Fx/front.csv"
}
check "a target that fails loses no other" one_fails
refusals targets --out "$run/out" <<'END'
targets of which one is unknown | 1 'no column "Fq"; did you mean "Fx"?' | --target Fx,Fq
a target twice | 2 '--target: "Fx" stands twice' | --target Fx,Fx
a list without its last target | 2 '--target: expected names of columns' | --target Fx,
END
bad "targets from standard input" 2 '--target: standard input is read once' \
    - --target F,r </dev/null

# ---- missing values
awk -F, -v OFS=, 'NR % 7 == 3 { print "gap", (NR % 2 ? "" : " na "), $3, $4, $5 }
    NR % 11 == 5 { print "gap", $2, $3, $4, "NaN" }
    NR % 13 == 6 { print "gap", $2, $3, "", $5; next } { print }' "$WORK/law.csv" >"$WORK/gaps.csv"
awk 'NR % 13 != 6' "$WORK/law.csv" >"$WORK/whole.csv"
bad "a missing value" 1 "$WORK/gaps.csv:3: column \"r\": expected a finite number, found \"\"" \
    "$WORK/gaps.csv"
bad "a missing value: with --missing error" \
    1 'expected a finite number, found ""' "$WORK/gaps.csv" \
    --missing error
check "--missing drop" search "$WORK/gaps.csv" --missing drop --weights w --quiet --out "$WORK/drop"
missing_is_said() {
    search "$WORK/gaps.csv" --missing drop --weights w --out "$WORK/drop" 2>&1 >"$WORK/printed" |
        grep -q 'gaps.csv: 20 of 75 rows have a missing value and are left out'
}
check "--missing drop: is said" missing_is_said
check "the rows that are left" search "$WORK/whole.csv" --quiet --weights w --out "$WORK/whole"
check "the rows that are left: have the same front" \
    same_files "$WORK/whole" "$WORK/drop" front.csv front_full.csv
check "the rows that are left: in fewer rows" grep -q '^55 rows of' "$WORK/drop/report.md"
# a column that is not used may have gaps: w without --weights and among no features
check "gaps in other columns" search "$WORK/gaps.csv" --quiet --missing drop --features r,m \
    --out "$WORK/other"
check "gaps in other columns: cost no rows" grep -q '^60 rows of' "$WORK/other/report.md"
printf 'x,F\n1,2\n,3\n4,n/a\nfour,5\n2,2\n' >"$WORK/text.csv"
bad "text is not missing" 1 "$WORK/text.csv:5: column \"x\": expected a finite number" \
    "$WORK/text.csv" --missing drop
printf 'x,F\n1,\n,3\n4,5\n' >"$WORK/few.csv"
bad "too few rows are left" 1 'at least 2 rows, found 1' "$WORK/few.csv" --missing drop
bad "--missing of another word" 2 '--missing: expected one of drop|error, found "fill"' \
    "$WORK/law.csv" --missing fill

# ---- --test: a second table
awk -F, -v OFS=, 'NR == 1 { print "F,m,extra,r"; next }
    { r = 0.4 + NR / 30; m = 3 - NR / 40; print 5 * m / (r * r) + 0.1 * cos(NR), m, "-", r }' \
    "$WORK/law.csv" >"$WORK/second.csv"
seen=(--quiet --features r,m)
check "--test with the table itself" search "$WORK/law.csv" "${seen[@]}" --test "$WORK/law.csv" \
    --out "$WORK/self"
check "--test with the table itself: adds two columns" \
    equal Complexity,Loss,Equation,TestLoss,TestR2 \
    "$(head -n 1 "$WORK/self/front.csv")"
# (equations have no commas here)
spread() { # FILE COLUMN: the mean squared deviation of a column from its mean
    awk -F, -v c="$2" \
        'NR > 1 { n++; s += $c; q += $c * $c } END { printf "%.17g", q / n - (s / n)^2 }' "$1"
}
check "--test with the table itself: which repeat the loss" every_row "$WORK/self/front.csv" \
    '($4 - $2)^2 <= 1e-14 * $2^2' 4
check "--test with the table itself: and give its share of the variance" \
    every_row "$WORK/self/front.csv" \
    "(\$5 - (1 - \$2 / $(spread "$WORK/law.csv" 5)))^2 < 1e-14" 4
check "--test with another table" search "$WORK/law.csv" "${seen[@]}" --test "$WORK/second.csv" \
    --out "$WORK/second"
without_test() {
    cut -d, -f1-3 "$1"
}
check "--test with another table: has the same front" same_by without_test "$WORK/plain/front.csv" \
    "$WORK/second/front.csv"
# the row 6 m / r^2 or one like it, by hand: its constant is the first number in it
by_hand() {
    search "$WORK/law.csv" --quiet --features r,m --binary '*,/' --unary '' --iterations 0 \
        --guess '6*m/(r*r)' --set symreg.enumerate=0 --test "$WORK/second.csv" --out "$WORK/hand" &&
        awk -F, 'FNR == NR { if (FNR > 1 && $3 ~ /m/ && $3 ~ /r.*r/) { c = $3; got = $4; r2 = $5 }
            next }
            FNR == 1 { gsub(/[^0-9.]/, "", c); next }
            { d = c * $2 / ($4 * $4) - $1; q += d * d; n++; s += $1; t += $1 * $1 }
            END { print c, got, q / n, r2, 1 - q / (t - s * s / n)
                  exit !(n == 60 && c > 5 && (got / (q / n) - 1)^2 < 1e-12 &&
                         (r2 - 1 + q / (t - s * s / n))^2 < 1e-14) }' "$WORK/hand/front.csv" \
            "$WORK/second.csv"
}
check "--test with another table: whose values are right" by_hand
check "--test with another table: in front.json" grep -q '"test_r2":' "$WORK/second/front.json"
check "--test with another table: in the report" \
    grep -q '| description length | test loss | test R2 | formula |' \
    "$WORK/second/report.md"
check "--test with another table: on the terminal" \
    prints '^complexity +loss +score +test loss +test R2 +equation$' \
    search "$WORK/law.csv" "${seen[@]}" --test "$WORK/second.csv"
check "--test with another table: and nowhere without --test" lacks 'test_' "$WORK/plain/front.json"
printf 'r,m,F\n0,1,2\n1,1,2\n' >"$WORK/zero.csv"
undefined() {
    search "$WORK/law.csv" "${seen[@]}" --test "$WORK/zero.csv" --out "$WORK/zero" &&
        grep -Eq '/ .*",,$' "$WORK/zero/front.csv" && grep -q ' | - | - | ' "$WORK/zero/report.md"
}
check "a formula that is not finite there" undefined
printf 'r,F\n1,2\n1,2\n' >"$WORK/lacks.csv"
bad "--test without a column" 1 "$WORK/lacks.csv: no column \"m\"" "$WORK/law.csv" \
    --features r,m --test "$WORK/lacks.csv"
bad "--test that is not there" 1 "$WORK/none.csv: not found" "$WORK/law.csv" \
    --test "$WORK/none.csv"
bad "standard input twice" 2 '--test: standard input is the table already' - --test - \
    <"$WORK/law.csv"

# ---- predict
predict() {
    timeout "$LIMIT" "$BIN/symreg" predict "$@"
}
# deviations FILE ROW: the mean squared deviation of a prediction from column F of the second table
deviations() {
    predict "$WORK/second/front.json" "$WORK/second.csv" --index "$1" | paste -d, - \
        "$WORK/second.csv" |
        awk -F, 'NR > 1 { n++; q += ($1 - $2)^2 } END { printf "%.17g", q / n }'
}
as_in_the_front() {
    local row=0 loss rows
    rows=$(($(wc -l <"$WORK/second/front.csv") - 1))
    for loss in $(tail -n +2 "$WORK/second/front.csv" | awk -F, '{ print $4 }'); do
        row=$((row + 1))
        awk -v a="$loss" -v b="$(deviations $row)" 'BEGIN { exit !((a / b - 1)^2 < 1e-14) }' ||
            return 1
    done
    [ $row -ge 4 ] && [ $row -eq "$rows" ]
}
check "predict: losses of every row of the front" as_in_the_front
check "predict: losses of every row of the front: the name of the target" equal F \
    "$(predict "$WORK/second/front.json" "$WORK/second.csv" | head -n 1)"
best=$(awk '/"selected_by"/ { n++ } /"best"/ { print n }' "$WORK/second/front.json")
chosen() {
    predict "$WORK/second/front.json" "$WORK/second.csv" "$@"
}
numbered() {
    chosen --index "$1"
}
by_rule() {
    chosen ${1:+--rule "$1"}
}
check "predict: losses of every row of the front: best by default" same_by by_rule "" best
check "predict: losses of every row of the front: which is a row of the front" \
    equal "$(numbered "$best")" "$(by_rule '')"
check "predict: losses of every row of the front: not another" \
    differ "$(numbered 1)" "$(by_rule '')"
check "predict: losses of every row of the front: from standard input" equal "$(by_rule '')" \
    "$(gzip <"$WORK/second.csv" | predict "$WORK/second/front.json" -)"
own=(search "$WORK/law.csv" --quiet --features r,m --define 'g(u)=1/(u*u)' --binary '*' --unary ''
    --guess '6*m*g(r)' --iterations 0 --set symreg.enumerate=0)
check "operators of the user" "${own[@]}" --out "$WORK/own"
check "operators of the user: predict" equal "$(printf 'F\n12\n')" \
    "$(predict "$WORK/own/front.json" - --rule accuracy <<<$'r,m\n1,2' |
        awk 'NR > 1 { $1 = sprintf("%.2g", $1) } { print }')"
check "--missing drop keeps the lines" equal "$(printf 'F\n\n-\n')" \
    "$(predict "$WORK/own/front.json" - --missing drop <<<$'r,m\n,2\n1,1' | sed 's/[0-9.]\+/-/')"
prints_nan() {
    predict "$WORK/own/front.json" - <<<$'r,m\n0,2\n1,1' >"$WORK/printed" 2>"$WORK/err" &&
        equal nan "$(sed -n 2p "$WORK/printed")" &&
        grep -q 'standard input: the formula is not finite on 1 of 2 rows' "$WORK/err"
}
check "no value: nan, and said" prints_nan
F=$WORK/second/front.json
bad_predict() { # NAME STATUS PATTERN ARGUMENT...
    local name=$1 status=$2 pattern=$3
    shift 3
    refuse "predict: $name" "$status" "$pattern" -- predict "$@"
}
bad_predict "a row too far" 2 '--index: expected a row of the front, from 1 to' "$F" \
    "$WORK/second.csv" --index 99
bad_predict "--index 0" 2 'found "0"' "$F" "$WORK/second.csv" --index 0
bad_predict "--index and --rule" 2 'give one of them' "$F" "$WORK/second.csv" --index 1 --rule best
bad_predict "no front" 1 'none.json' "$WORK/none.json" "$WORK/second.csv"
echo '{"front": 1, "features": []}' >"$WORK/odd.json"
bad_predict "another file" 1 'expected the front.json of a search' "$WORK/odd.json" \
    "$WORK/second.csv"
echo '{"front": [{"equation": "q +", "selected_by": ["best"]}], "features": ["r"]}' \
    >"$WORK/odd.json"
bad_predict "a formula that is none" 1 'odd.json: row 1 of the front: formula:' "$WORK/odd.json" \
    "$WORK/second.csv"
echo '{"front": [{"equation": "x", "selected_by": ["best"]}, {"equation": "x + x",
    "selected_by": ["score", "best"]}], "features": ["x"]}' >"$WORK/odd.json"
bad_predict "a rule of two rows" 1 'odd.json: best selects rows 1 and 2 of the front' \
    "$WORK/odd.json" "$WORK/few.csv"
bad_predict "a column that is not there" 1 "$WORK/lacks.csv: no column \"m\"" "$F" \
    "$WORK/lacks.csv"
echo '{"front": [{"equation": "x", "selected_by": ["best"]}], "features": ["x"]}' \
    >"$WORK/odd2.json"
bad_predict "a missing value" 1 "$WORK/few.csv:3: column \"x\"" "$WORK/odd2.json" "$WORK/few.csv"
bad_predict "one argument" 2 'expected FRONT.json and FILE.csv, found 1 argument' "$F"
bad_predict "an option of a search" 2 "--target: belongs to a table (FILE.csv), not" "$F" \
    "$WORK/second.csv" --target F
bad "two files" 2 'unexpected argument' "$WORK/law.csv" "$WORK/second.csv"
bad "--index of a search" 2 '--index: belongs to symreg predict' "$WORK/law.csv" --index 1

# ---- --sigma: weights, and standard errors of F = a m / r^2 in closed form
awk -F, -v OFS=, 'NR == 1 { print $0, "s"; next } { print $0, NR % 4 ? 0.02 : 0.05 }' \
    "$WORK/law.csv" >"$WORK/sigma.csv"
awk -F, -v OFS=, 'NR == 1 { print $0, "v"; next } { print $0, 1 / ($6 * $6) }' "$WORK/sigma.csv" \
    >"$WORK/weights.csv"
one=(--quiet --features r,m --binary '*,/' --unary '' --iterations 0 --guess '6*m/(r*r)'
    --set symreg.enumerate=0)
check "--sigma" search "$WORK/sigma.csv" "${one[@]}" --sigma s --out "$WORK/with-sigma"
check "weights 1/sigma^2" search "$WORK/weights.csv" "${one[@]}" --weights v --out "$WORK/with-v"
check "weights 1/sigma^2: are as good" same_files "$WORK/with-sigma" "$WORK/with-v" front.csv
check "weights 1/sigma^2: in front.json" grep -q '"sigma":	"s"' "$WORK/with-sigma/front.json"
# errors FOLDER: the constant and standard error of a row of the report
errors() {
    sed -n '/^| constant | standard error |/,$ s/^| \([0-9.]*\) | \([0-9.e-]*\) |.*$/\1 \2/p' \
        "$1/report.md"
}
closed_form() { # FOLDER KNOWN
    errors "$1" >"$WORK/errors" && [ "$(wc -l <"$WORK/errors")" -eq 1 ] &&
        awk -F, -v known="$2" 'FNR == NR { split($0, e, " "); next }
            FNR == 1 { next }
            { w = 1 / ($6 * $6); g = $3 / ($2 * $2); h += w * g * g; d = e[1] * g - $5
              q += w * d * d; n++ }
            END { expected = sqrt((known ? 1 : q / (n - 1)) / h); print expected, e[2]
                  exit !(n == 60 && (e[2] / expected - 1)^2 < 1e-10) }' "$WORK/errors" \
            "$WORK/sigma.csv"
}
check "standard errors from the sigmas" closed_form "$WORK/with-sigma" 1
check "standard errors from the sigmas: from the scatter, with weights" closed_form "$WORK/with-v" 0
check "standard errors from the sigmas: in front.json" grep -Pzq \
    '"constants":\t\[[0-9.]+\],\n\t+"standard_errors":\t\[[0-9.e-]+\]' \
    "$WORK/with-sigma/front.json"
chi2() { # SIGMAS FOLDER: chi^2 = sum of ((F - a g) / s)^2, of 59 degrees of freedom, in the report
    local expected
    errors "$2" >"$WORK/errors" && expected=$(awk -F, 'FNR == NR { split($0, e, " "); next }
        FNR > 1 { d = ($5 - e[1] * $3 / ($2 * $2)) / $6; q += d * d } END { printf "%.4g", q }' \
        "$WORK/errors" "$1") &&
        grep -F "chi^2 = $expected with 59 degrees of freedom; if formula" "$2/report.md" |
        grep -q 'sigmas are right it is 59 +- 11$'
}
check "chi^2 of the sigmas" chi2 "$WORK/sigma.csv" "$WORK/with-sigma"
awk -F, -v OFS=, 'NR > 1 { $6 /= 10 } 1' "$WORK/sigma.csv" >"$WORK/tenth.csv"
check "sigmas of a tenth" search "$WORK/tenth.csv" "${one[@]}" --sigma s --out "$WORK/tenth"
check "sigmas of a tenth: have a hundred times as much" chi2 "$WORK/tenth.csv" "$WORK/tenth"
check "sigmas of a tenth: none with weights" lacks 'chi^2' "$WORK/with-v/report.md"
check "sigmas of a tenth: not for other losses" \
    search "$WORK/sigma.csv" "${one[@]}" --sigma s --loss l1 \
    --out "$WORK/l1"
check "sigmas of a tenth: in no file" lacks 'standard' "$WORK/l1/front.json"
check "sigmas of a tenth: nor chi^2" lacks 'chi^2' "$WORK/l1/report.md"
check "--sigma with logarithms" search "$WORK/sigma.csv" --quiet --features r,m --sigma s \
    --log-target --test "$WORK/sigma.csv"
bad "--sigma and --weights" 2 '--sigma: the weights are 1/sigma^2' "$WORK/sigma.csv" --sigma s \
    --weights w
bad "--sigma of no column" 1 'no column "q"' "$WORK/sigma.csv" --sigma q
bad "--sigma of the target" 2 '--sigma: "F" is the target' "$WORK/sigma.csv" --sigma F
printf 'x,s,F\n1,1,2\n2,0,3\n' >"$WORK/zero-sigma.csv"
bad "a sigma of 0" 1 \
    "$WORK/zero-sigma.csv:3: column \"s\": expected a standard deviation above 0, found 0" \
    "$WORK/zero-sigma.csv" --sigma s

# ---- --permutations: the same search on shuffled targets
awk 'BEGIN {
    print "r,m,w,F"
    for (i = 1; i <= 40; i++)
        printf "%.10g,%.10g,%d,%.10g\n", 1 + (i * 37 % 101) / 32, 1 + (i * 53 % 97) / 32,
            1 + i * i % 7, sin(i * i) + cos(3 * i * i * i)
}' >"$WORK/noise.csv"
# said FOLDER KEY: a number of front.json's permutations
said() {
    sed -n '/"permutations"/,/}/s/.*"'"$2"'":[^0-9]*\([0-9.e+-]*\).*/\1/p' "$1/front.json"
}
for threads in 1 2; do
    check "a law, $threads threads" search "$WORK/law.csv" --features r,m --permutations 3 \
        --threads $threads --out "$WORK/shuffled-$threads"
done
check "a sigma of 0: chance is never as good" equal "3 0 0.25" "$(said "$WORK/shuffled-1" searches
    ) $(said "$WORK/shuffled-1" as_good) $(said "$WORK/shuffled-1" p)"
check "a sigma of 0: the same on any threads" \
    same_files "$WORK/shuffled-1" "$WORK/shuffled-2" front.json
check "a sigma of 0: the same front as without" \
    same_files "$WORK/shuffled-1" "$WORK/plain" front.csv
check "a sigma of 0: in the report" \
    grep -q '^0 of 3 searches on a shuffled target .* p = 0.25; at compl' \
    "$WORK/shuffled-1/report.md"
check "a sigma of 0: and on the terminal" prints '^permutations: 0 of 3 searches .* p = 0.25; ' \
    search "$WORK/law.csv" --features r,m --permutations 3 --quiet
check "a sigma of 0: which says what so few can tell" grep -q \
    'median [0-9.e+-]*); N = 3 gives no smaller p, N = 19 gives 0.05\. p is' \
    "$WORK/shuffled-1/report.md"
shuffles() {
    grep -q 'searches on shuffled targets' "$WORK/err"
}
start "$BIN/symreg" "$WORK/noise.csv" --target F --features r,m --threads 1 --permutations 50 \
    --seconds 3 --out "$WORK/stopped"
check "a stop in the first shuffled search" until_true shuffles
kill -INT $pid
wait $pid
check "a stop in the first shuffled search: has status 130" test $? -eq 130
check "a stop in the first shuffled search: keeps the front" filled "$WORK/stopped/front.json"
check "a stop in the first shuffled search: and claims nothing of permutations" \
    lacks permutations "$WORK/stopped/front.json"
check "a stop in the first shuffled search: on the terminal, either" \
    lacks 'permutations:' "$WORK/out"
check "noise" search "$WORK/noise.csv" --features r,m --weights w --permutations 4 --quiet \
    --maxsize 1 --out "$WORK/by-chance"
check "noise: few searches are enough to tell that" lacks 'no smaller p' "$WORK/by-chance/report.md"
check "noise: chance is always as good" equal "4 1" "$(said "$WORK/by-chance" as_good
    ) $(said "$WORK/by-chance" p)"
# of the best constant, which knows no order, as long as rows keep their weights
constant=$(awk -F, 'NR > 1 { w += $3; s += $3 * $4; q += $3 * $4 * $4 }
    END { printf "%.6g", (q - s * s / w) / w }' "$WORK/noise.csv")
check "noise: rows keep their weights" equal "$constant $constant" \
    "$(printf '%.6g %.6g' "$(said "$WORK/by-chance" least_loss)" \
        "$(said "$WORK/by-chance" median_loss)")"
for wrong in 0 10000 many 1.5; do
    bad "--permutations $wrong" 2 "--permutations: expected a whole number from 1 to 9999, found" \
        "$WORK/law.csv" --permutations $wrong
done

if quick; then finish; fi

# ---- noise in proportion to the target: weights are chosen, or advised, and only there
# noisy KIND: F = 5 m / r^2 over three decades; errors of 3%, of 20% up or down (twofold), of 0.1,
# of 3% in a narrow range, of digits; another law, which a short search misses by percents, with
# errors of 0.3 (lacking)
noisy() {
    awk -v kind="$1" '
        function uniform() { seed = seed * 16807 % 2147483647; return 2 * seed / 2147483647 - 1 }
        BEGIN { seed = 7; print "r,m,F"
        for (i = 1; i <= 200; i++) {
            r = 0.3 + (i * 37 % 101) / 32; m = 0.5 + (i * 53 % 97) / 48
            if (kind == "narrow") r = 1 + r / 10
            F = 5 * m / (r * r); u = (i * 71 % 89) / 44 - 1 + (i * 29 % 83) / 41 - 1
            if (kind == "twofold") u = (i % 2 ? 1 : -1) * 0.2 / 0.03
            if (kind == "lacking") F = exp(1.4 * r) * (1 + 0.15 * sin(2 * r * m))
            if (kind == "lacking") u = uniform() + uniform() + uniform()
            if (kind == "lacking") F += 0.3 * u
            else F += kind == "constant" ? 0.1 * u : kind == "digits" ? 1e-5 * F * u : 0.03 * F * u
            printf "%.8g,%.8g,%.8g\n", r, m, F } }' >"$WORK/noisy.csv"
}
fit() {
    program symreg "$WORK/noisy.csv" --target F --maxsize 8 --iterations 0 --threads 1 --quiet \
        --set symreg.enumerate=4000 "$@" >"$WORK/fitted"
}
symreg_said() { # TEXT
    program symreg "$WORK/noisy.csv" --target F --maxsize 8 --iterations 0 --threads 1 \
        --set symreg.enumerate=4000 2>&1 >/dev/null | grep -qF "$1"
}
advised='^remark: residuals grow with the size of F: .* `--weights relative` lets all rows count'
chosen='^remark: residuals of a short first search grew with the size of F'
noisy relative
check "noise in proportion to y" fit --out "$WORK/fit"
check "noise in proportion to y: weights are chosen" grep -q "$chosen" "$WORK/fitted"
check "noise in proportion to y: which the report says" \
    grep -q '^Rows have the weights 1/prediction^2' \
    "$WORK/fit/report.md"
check "noise in proportion to y: and front.json" \
    grep -q '"weights":[[:space:]]*"1/prediction^2"' "$WORK/fit/front.json"
check "noise in proportion to y: with the formula" \
    grep -qE '"weights_predicted_by":[[:space:]]*".*[rm]' \
    "$WORK/fit/front.json"
check "another number of threads" fit --threads 3 --out "$WORK/threads"
check "another number of threads: the same front" \
    same_file "$WORK/fit/front_full.csv" "$WORK/threads/front_full.csv"
check "begun" fit --out "$WORK/resumed"
check "resumed for two epochs" fit --iterations 2 --resume --out "$WORK/resumed"
check "resumed for two epochs: in one go" fit --iterations 2 --out "$WORK/fit"
check "resumed for two epochs: the same front" \
    same_file "$WORK/fit/front_full.csv" "$WORK/resumed/front_full.csv"
check "begun without time for the choice" fit --seconds 1 --out "$WORK/resumed"
check_not "begun without time for the choice: nothing is chosen" grep -q "$chosen" "$WORK/fitted"
check "begun without time for the choice: resumed with more" \
    fit --seconds 5 --iterations 2 --resume --out "$WORK/resumed"
check_not "begun without time for the choice: nothing is chosen" grep -q "$chosen" "$WORK/fitted"
check "a second table has these weights, too" fit --test "$WORK/noisy.csv" --out "$WORK/tested"
check "a second table has these weights, too: the losses agree" awk -F, 'FNR == 1 { next }
    NF < 5 || ($4 - $2) ^ 2 > 1e-20 * $2 ^ 2 { exit 1 }
    END { exit FNR < 3 }' "$WORK/tested/front.csv"
check "it is said" symreg_said 'the weights 1 / prediction^2 (--weights equal: all rows alike)'
# of one column, beside whose pole the other rows do not count in a search with equal weights
pole() { # SHARE ABSOLUTE: 60 rows of 3.7 (t - 1.9)^-1.2 with such errors
    awk -v share="$1" -v absolute="$2" '
        function uniform() { seed = seed * 16807 % 2147483647; return 2 * seed / 2147483647 - 1 }
        BEGIN { seed = 7; print "t,F"
        for (i = 0; i < 60; i++) { d = 0.2 * exp(i * log(300) / 59)
            u = uniform() + uniform() + uniform()
            printf "%.8g,%.8g\n", 1.9 + d, 3.7 * d ^ -1.2 * (1 + share * u) + absolute * u } }' \
        >"$WORK/pole.csv"
}
pole_fit() {
    program symreg "$WORK/pole.csv" --target F --threads 1 --evaluations 4000 "$@" \
        >"$WORK/fitted" 2>/dev/null
}
pole 0.03 0
check "a decay with errors of 3%" pole_fit --out "$WORK/pole" --iterations 0
check "a decay with errors of 3%: no weights are chosen" grep -q "$chosen" "$WORK/fitted"
check "a decay with errors of 3%: its power is not -1.2" grep -qE \
    '^best: F = .*(\^1\.(19|20)|\^\(-1 / 0\.8[34])' "$WORK/fitted"
check "a decay with errors of 3%: resumed" pole_fit --resume --out "$WORK/pole" --iterations 1
check "a decay with errors of 3%: in one go" pole_fit --out "$WORK/one" --iterations 1
check "a decay with errors of 3%: resumed it has another front" \
    same_file "$WORK/one/front_full.csv" "$WORK/pole/front_full.csv"
for errors in "0 0" "0 0.02"; do
    pole $errors
    check "a decay with errors of $errors" pole_fit --iterations 0
    check_not "a decay with errors of $errors: weights are chosen" grep -q "$chosen" "$WORK/fitted"
done
# weights from the noisy values themselves bias a factor, by twice the variance of 4%
printf 'r,m\n1,1\n2,1\n1,3\n' >"$WORK/points.csv"
factor() { # LOW HIGH: the formula of complexity 6 is that of LOW to HIGH m / r^2
    local index
    index=$(sed -n '/^6,/=' "$WORK/fit/front.csv")
    program symreg predict "$WORK/fit/front.json" "$WORK/points.csv" --quiet \
        --index $((index - 1)) >"$WORK/values" && awk -v low="$1" -v high="$2" '
        NR > 1 { v[NR - 1] = $1 }
        END { exit !(low < v[1] && v[1] < high && (v[1] / v[2] - 4) ^ 2 < 1e-4 &&
            (v[3] / v[1] - 3) ^ 2 < 1e-4) }' "$WORK/values"
}
noisy twofold
check "errors of 20%" fit --out "$WORK/fit"
check "errors of 20%: weights are chosen" grep -q "$chosen" "$WORK/fitted"
check "errors of 20%: the factor is 5" factor 4.95 5.05
check "errors of 20%: with --weights relative" fit --weights relative --out "$WORK/fit"
check "errors of 20%: it is 4.6" factor 4.57 4.66
noisy relative
check "with --weights equal" fit --weights equal --out "$WORK/fit"
check_not "with --weights equal: nothing is chosen" grep -q "$chosen" "$WORK/fitted"
check "with --weights equal: weights are advised" grep -q "$advised" "$WORK/fitted"
check "with --weights equal: also in the report" \
    grep -q 'residuals grow with the size' "$WORK/fit/report.md"
check "with --weights equal: by the formula of l1, too" fit --loss l1
check "with --weights equal: weights are advised" grep -q "$advised" "$WORK/fitted"
for option in "--weights relative" --log-target "--loss relative"; do
    check "with $option" fit $option
    check_not "with $option: nothing is advised or chosen" \
        grep -q -e "$advised" -e "$chosen" "$WORK/fitted"
done
check "a formula that is too short" fit --maxsize 3
check_not "a formula that is too short: nothing is advised or chosen" \
    grep -q -e "$advised" -e "$chosen" "$WORK/fitted"
for kind in constant narrow digits lacking; do
    noisy $kind
    check "noise: $kind" fit
    check_not "noise: $kind: nothing is advised or chosen" \
        grep -q -e "$advised" -e "$chosen" "$WORK/fitted"
done

# a wrong row, and a formula with a pole there: rules score and best choose without it, where less
# than 4 seconds leave no time for the short searches that find such rows before; noise that
# repeats itself would be a wave
awk 'BEGIN {
    print "r,y"
    for (i = 1; i <= 60; i++)
        printf "%d,%.6f\n", i, 2 * i + (i == 23 ? 40 : sin(i * i) / 10)
}' >"$WORK/wrong.csv"
wrong() {
    "$BIN/symreg" "$WORK/wrong.csv" --target y --iterations 0 --threads 1 --quiet --seconds 3 \
        --guess '2*r + 0.004/(r - 22.9999)' --out "$WORK/wrong" >"$WORK/fitted"
}
check "one wrong row" wrong
check "one wrong row: is named" \
    grep -q '^remark: row 23 of the 60 that are used (line 24) is far from' "$WORK/fitted"
check "one wrong row: also in the report" grep -q '^- row 23 of the 60' "$WORK/wrong/report.md"
check "one wrong row: and in front.json" \
    grep -q '"left_out_rows":.*23' "$WORK/wrong/front.json"
check "one wrong row: constants are those of all rows" \
    grep -q '^best: .* 59 rows)$' "$WORK/fitted"
check "one wrong row: the line is chosen" grep -q '^ *3 .*r.*best' "$WORK/fitted"

finish
