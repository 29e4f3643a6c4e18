#!/usr/bin/env bash
# test_one_engine.sh - a table has one answer: the library gives the front, choice, alternatives,
# remarks, tests and permutations that the program prints for the same table, options and seed.
. tests/cli/lib.sh
unset ORRERY_PRESETS

root=$WORK/tree/usr
env BIN="$BIN" B="$BUILT" PREFIX=/usr DESTDIR="$WORK/tree" LIBDIR=lib tools/install.sh install \
    >"$WORK/log" 2>&1 || exit
if nm -D "$root/lib/liborrery.so.2" | grep -qE '__(asan|tsan|lsan|gcov)'; then
    skip "programs that link the library" "it is built with a sanitizer"
    finish
fi
check "a program of the library compiles" ${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 \
    tests/api/fit_table.c -o "$WORK/fit_table" -I"$root/include" -L"$root/lib" -lorrery \
    -Wl,-rpath,"$root/lib" -lm

# what the program prints of an answer; the permutations as fit_table prints them
answer() {
    local p='^permutations: ([0-9]+) of ([0-9]+) .*: p = ([^;]*); .* loss of ([^ ]*)'
    sed -nE '/^complexity/,$p' "$1" | grep -vE '^(parts|constants of each|  [^ 0-9])' |
        sed -E "s/$p \(median ([^)]*)\).*/permutations: \1 of \2, p = \3, \4, \5/"
}
# both NAME FILE TARGET "OPTIONS OF THE PROGRAM" WORD...: those of the library
both() {
    local name=$1 file=$2 target=$3 options=$4
    shift 4
    # shellcheck disable=SC2086 # options are words
    "$BIN/symreg" "$file" --target "$target" $options --threads 1 --quiet >"$WORK/p" 2>"$WORK/perr"
    answer "$WORK/p" >"$WORK/program"
    "$WORK/fit_table" "$file" "$target" "$@" >"$WORK/l" 2>&1
    cp "$WORK/l" "$WORK/library"
    check "$name: the program answers" grep -q '   <- ' "$WORK/program"
    check "$name: the library answers the same" same_file "$WORK/program" "$WORK/library"
}
no_law() { # alternatives without the row of the law
    filled "$1" && ! grep -E '^ +8 .*\(G \*' "$1"
}
cases=tests/cases
few="--evaluations 3000"
tables() { # NAME... of tests/cases, whose target is the last column
    local table
    for table in "$@"; do
        both "${table#*/}" $cases/$table.csv "$(sed -n '/^[^#]/{s/.*,//;p;q}' $cases/$table.csv)" \
            "$few" evaluations=3000
    done
}
tables large/gauss_0 s9_line3x2

# refusals: in the words of each, of the same thing
awk 'BEGIN { OFS = ","; print "k,x,r,F"
    for (i = 0; i < 40; i++) print i % 4, i + 1, 40 - i, 3 * i }' \
    >"$WORK/named.csv"
refused() { # "OPTIONS" TEXT WORD...
    local options=$1 text=$2
    shift 2
    # shellcheck disable=SC2086
    "$BIN/symreg" "$WORK/named.csv" --target F $options --quiet >"$WORK/p" 2>&1
    "$WORK/fit_table" "$WORK/named.csv" F "$@" >"$WORK/l" 2>&1
    check "the program refuses $options" grep -qF -- "$text" "$WORK/p"
    check "the library refuses ${1%%=*} in its words" grep -qF -- "${text#--}" "$WORK/l"
}
refused "--alternatives 21" "--alternatives: expected a whole number from 0 to 20" alternatives=21
refused "--units-penalty 3" "--units-penalty: needs --units" units-penalty=3
refused "--round-constants some" "--round-constants: expected one of digits" round-constants=some
refused "--maxdepth 0" "--maxdepth: expected a whole number from 1" maxdepth=0
refused "--category k --alternatives 2" "--alternatives: not with --category" category=k \
    alternatives=2
refused "--category k --template f(x)" "--template: not with --category" category=k \
    'template=f(x)'
refused "--units-penalty x --units r=m" "--units-penalty: expected a number above 0" \
    units-penalty=x units=r=m
refused "--tolerance 1" "--tolerance: expected a number above 0, below 1" tolerance=1
refused "--category k --tolerance 0.1" "--tolerance: not with --category" category=k tolerance=0.1

if quick; then finish; fi
tables large/{grav6_1,s3_gravity_SI,s6_modulated_phase} s9_noisy_line_8
# tables whose roles, options and answers have gone different ways before
awk 'BEGIN { srand(14); print "a,b,c,y"
    for (i = 0; i < 400; i++) {
        a = 0.2 + 4.8 * rand(); b = 0.2 + 4.8 * rand(); c = 0.2 + 4.8 * rand(); e = 0
        for (k = 0; k < 12; k++) e += rand()
        printf "%.6g,%.6g,%.6g,%.6g\n", a, b, c, a * b * b / (b + c) * (1 + 0.03 * (e - 6)) } }' \
    >"$WORK/noise.csv"
both "noise that grows with y" "$WORK/noise.csv" y "--evaluations 12000" evaluations=12000
check "noise that grows with y: weights are chosen" \
    grep -q 'so rows count by 1 / prediction^2' "$WORK/library"
head -n 121 "$WORK/noise.csv" >"$WORK/short.csv"
both "weights equal" "$WORK/short.csv" y "$few --weights equal" evaluations=3000 weights=equal
both "weights relative" "$WORK/short.csv" y "$few --weights relative" evaluations=3000 \
    weights=relative
both "a test beside chosen weights" "$WORK/short.csv" y "$few --test $WORK/short.csv" \
    evaluations=3000 "test:$WORK/short.csv"
both "the logarithm" "$WORK/short.csv" y "$few --log-target" evaluations=3000 log-target=1
both "a template" "$WORK/short.csv" y "$few --template f(a,b)/g(b,c)" evaluations=3000 \
    "template=f(a,b)/g(b,c)"

awk 'BEGIN { srand(2); print "m1,m2,r,F"
    for (i = 0; i < 60; i++) {
        m = 0.5 + 2 * rand(); n = 0.5 + 2 * rand(); r = 0.5 + 3 * rand(); e = 0
        for (k = 0; k < 12; k++) e += rand()
        force = 6.6743e-11 * m * n / (r * r)
        printf "%.6g,%.6g,%.6g,%.6g\n", m, n, r, force * (1 + 0.02 * (e - 6)) } }' \
    >"$WORK/named.csv"
both "named constants beside alternatives" "$WORK/named.csv" F \
    "$few --constants G --alternatives 5" evaluations=3000 constants=G alternatives=5
check "named constants: the law has the name G" grep -q 'G.*<- .*best' "$WORK/library"
sed -n '/^alternatives/,$p' "$WORK/library" >"$WORK/beside"
check "named constants: the law is no alternative of itself" no_law "$WORK/beside"

awk 'BEGIN { srand(3); print "x,s,y"
    for (i = 0; i < 60; i++) {
        x = 0.2 + 5 * rand(); s = 0.01 + 0.3 * rand(); e = 0
        for (k = 0; k < 12; k++) e += rand()
        printf "%.5g,%.3g,%.5g\n", x, s, 2.5 * x * x + 1 + s * (e - 6) } }' >"$WORK/sigma.csv"
both "standard deviations" "$WORK/sigma.csv" y "$few --sigma s" evaluations=3000 sigma:s
check "standard deviations: a remark gives chi^2" grep -q 'chi^2' "$WORK/library"
both "weights of a column" "$WORK/sigma.csv" y "$few --weights s" evaluations=3000 weights:s
both "a shape that is required" "$WORK/short.csv" y \
    "$few --monotone a=+,c=- --positive --constrain-constants 0.5,2" evaluations=3000 \
    monotone=a=+,c=- positive=1 constrain-constants=0.5,2
both "permutations" "$WORK/sigma.csv" y "--evaluations 2000 --permutations 3 --features x" \
    evaluations=2000 features:1 permutations:3
check "permutations: those as good are counted" grep -q '^permutations: 0 of 3' "$WORK/library"

both "smooth errors" $cases/i1_sir_derivatives.csv ds "--evaluations 22000 --features s,i,r" \
    evaluations=22000 features:3
check "smooth errors: a remark says that the rows count as fewer" \
    grep -q 'rows count as' "$WORK/library"
both "a tolerance" $cases/i1_sir_derivatives.csv ds "--features s,i,r --tolerance 0.01" \
    features:3 tolerance=0.01
finish
