#!/usr/bin/env bash
# test_symreg.sh - formulas from a table by the command line: every option does what it says, the
# same on any number of threads, and all that is written is there.
. tests/cli/lib.sh

# r, m1, m2, w, F = 6 m1 m2 / r^2; deterministic, no two rows alike
awk 'BEGIN {
    print "name,r,m1,m2,w,F"
    for (i = 1; i <= 120; i++) {
        r = 0.5 + (i * 37 % 101) / 32; a = 0.5 + (i * 53 % 97) / 32; b = 0.5 + (i * 71 % 89) / 32
        printf "n%d,%.10g,%.10g,%.10g,%d,%.15g\n", i, r, a, b, i % 3, 6 * a * b / (r * r)
    }
}' >"$WORK/law.csv"
law() { # OPTION...
    program symreg "$WORK/law.csv" --target F --quiet --threads 1 "$@"
}
fit=(--features r,m1,m2 --set symreg.populations=6 --set symreg.cycles=100)

# ---- the law, and all files
check "a search" law "${fit[@]}" --iterations 25 --out "$WORK/fit"
for file in front.csv front_full.csv front.json log.jsonl report.md; do
    check "$file is written" test -s "$WORK/fit/$file"
done
check "columns of PySR" grep -qx 'Complexity,Loss,Equation' <(head -n 1 "$WORK/fit/front.csv")
check "columns of all" grep -qx 'Complexity,Loss,Score,DescriptionLength,Equation,LaTeX,C,SymPy' \
    <(head -n 1 "$WORK/fit/front_full.csv")
check "as many rows" test "$(wc -l <"$WORK/fit/front.csv")" -eq \
    "$(wc -l <"$WORK/fit/front_full.csv")"
check "an exact formula" grep -q ',0,"' "$WORK/fit/front.csv"
for rule in accuracy score best mdl; do
    check "report: $rule" grep -q "^| $rule |" "$WORK/fit/report.md"
done
check "the log has all epochs" grep -q '^{"epoch": 0, .*"seconds": ' "$WORK/fit/log.jsonl"
if command -v gnuplot >/dev/null; then
    check "pictures" test -s "$WORK/fit/front.png" -a -s "$WORK/fit/residuals.png"
    check "nothing temporary" test -z "$(leftovers "$WORK/fit")$(find "$WORK/fit" -name '.?*')"
    # what gnuplot is told: a box for what no font of the pictures has, and no more than has room
    mkdir "$WORK/figures"
    for name in front residuals; do
        printf 'load ARG1\nset print ARG2\nprint target\n' >"$WORK/figures/symreg_$name.gp"
    done
    ten=Ωabcdefghi
    printf 'a,%s,%s\n1,2,3\n2,3,5\n3,4,7\n' '加速度_μ² "`x\' $ten$ten$ten$ten$ten |
        sed '1s/"`/""`/; 1s/,\([^,]*\),/,"\1",/' >"$WORK/names.csv"
    drawn() { # TARGET TEXT PICTURE
        ORRERY_FIGURES=$WORK/figures program symreg "$WORK/names.csv" --target "$1" --threads 1 \
            --quiet --iterations 0 --out "$WORK/names" &&
            test "$(cat "$WORK/names/$3.png")" = "$2"
    }
    check "a name in a picture" drawn '加速度_μ² "`x\' '□□□_μ² "'"'"'x\' front
    check "a long name above a picture" drawn $ten$ten$ten$ten$ten "$ten$ten$ten$ten..." front
    check "a long name beside an axis" drawn $ten$ten$ten$ten$ten "$ten${ten}Ωabcdefg..." residuals
else
    skip "pictures" "no gnuplot"
fi
mkdir "$WORK/bin" && ln -s "$(command -v timeout)" "$WORK/bin/timeout"
check "without gnuplot" env PATH="$WORK/bin" timeout 60 "$PWD/$BIN/symreg" "$WORK/law.csv" \
    --target F --iterations 0 --threads 1 --quiet --out "$WORK/bare"
check "... a report without pictures" test -s "$WORK/bare/report.md" -a ! -e "$WORK/bare/front.png"

# ---- the same bytes for any threads; another seed is another search
for n in 2 4; do
    check "$n threads" law "${fit[@]}" --iterations 4 --threads "$n" --out "$WORK/threads-$n"
done
check "the same on any threads" cmp "$WORK/threads-2/front_full.csv" \
    "$WORK/threads-4/front_full.csv"
check "one seed" law "${fit[@]}" --compat pysr --iterations 1 --seed 1 --out "$WORK/seed-1"
check "another seed" law "${fit[@]}" --compat pysr --iterations 1 --seed 2 --out "$WORK/seed-2"
check_not "... another search" cmp -s "$WORK/seed-1/front.csv" "$WORK/seed-2/front.csv"

# ---- options
# printed OPTION...: the equations of the front
printed() {
    law "${fit[@]}" --iterations 3 "$@" | tail -n +2
}
holds() { # NAME PATTERN OPTION...
    local name=$1 pattern=$2
    shift 2
    printed "$@" >"$WORK/printed"
    check "$name: a front" test -s "$WORK/printed"
    check "$name" grep -q -- "$pattern" "$WORK/printed"
}
lacks() { # NAME PATTERN OPTION...
    local name=$1 pattern=$2
    shift 2
    printed "$@" >"$WORK/printed"
    check "$name: a front" test -s "$WORK/printed"
    check_not "$name" grep -q -- "$pattern" "$WORK/printed"
}
lacks "--unary without sin" 'sin\|cos\|exp\|log' --unary inv,square
lacks "--units keeps lengths out of exp" 'exp(r)\|log(r)\|sin(r)\|cos(r)\|m1 + r\|r + m' \
    --units 'r=m,m1=kg,m2=kg,F=N'
lacks "--complexity" 'square' --complexity square=64
lacks "--nest" 'inv(inv\|square(square' --nest 'inv:inv=0;square:square=0'
holds "--guess" '^ *[0-9]*  *0  .*r \^ 2' --guess '3*m1*m2/r^2' --iterations 0 --binary + --unary ''
holds "--define" 'fall(' --define 'fall(x)=1/(x*x)' --binary '*' --unary inv
holds "--log-target" 'log' --log-target --guess '1.5 + log(m1*m2) - 2*log(r)' --iterations 0
holds "--loss of a formula" 'r' --loss 'abs(p-t)^1.5'
holds "--weights" 'r' --weights w
# G is F, off by 10% up or down
awk -F, 'NR == 1 { print $0 ",G,w2"; next }
    { g = $6 * (NR % 2 ? 1.1 : 0.9); printf "%s,%.17g,%.17g\n", $0, g, 1 / (g * g) }' \
    "$WORK/law.csv" >"$WORK/noisy.csv"
noisy() { # OPTION...
    program symreg "$WORK/noisy.csv" --target G --quiet --threads 1 "${fit[@]}" --iterations 3 "$@"
}
check "--weights relative" noisy --weights relative --out "$WORK/relative"
check "--weights w2" noisy --weights w2 --out "$WORK/column"
check "no weights" noisy --out "$WORK/plain"
check_not "--weights relative: another search" cmp -s "$WORK/relative/front.csv" \
    "$WORK/plain/front.csv"
weights_in() { # FOLDER TEXT
    grep -q "\"weights\":[[:space:]]*$2" "$WORK/$1/front.json"
}
check "front.json: weights 1/y^2" weights_in relative '"1/y^2"'
check "front.json: weights of a column" weights_in column '"column w2"'
check "front.json: no weights" weights_in plain null
check "report: weights 1/y^2" grep -q '^Rows have the weights 1/y^2' "$WORK/relative/report.md"
check "report: weights of a column" grep -q 'weights of column `w2`' "$WORK/column/report.md"
check_not "report: no weights" grep -q weights "$WORK/plain/report.md"
check "a seed that is no double" law --features r,m1 --iterations 0 --seed 9007199254740993 \
    --out "$WORK/seed"
check "front.json has all of its digits" grep -q '"seed":[[:space:]]*"9007199254740993"' \
    "$WORK/seed/front.json"
# names that C and SymPy cannot have (tests/symreg/test_export.c) are told
check "columns of plain names are exported as they are" \
    grep -q '"exported_names":[[:space:]]*\[\]' "$WORK/plain/front.json"
check_not "... and nothing is said" grep -q 'SymPy' "$WORK/plain/report.md"
sed '1s/r,m1,m2/半径,lambda,E/' "$WORK/law.csv" >"$WORK/odd.csv"
check "awkward names" program symreg "$WORK/odd.csv" --target F --quiet --threads 1 \
    --features 半径,lambda,E --binary '*,/' --unary '' --guess '6*lambda*E' --iterations 0 \
    --out "$WORK/odd"
for pair in 半径:x1 lambda:lambda_ E:E_; do
    check "report: $pair" grep -qxF "| \`${pair%:*}\` | \`${pair#*:}\` |" "$WORK/odd/report.md"
    check "front.json: $pair" grep -q "\"column\":\"${pair%:*}\",\"name\":\"${pair#*:}\"" \
        <(tr -d ' \t\n' <"$WORK/odd/front.json")
done
check "the exported formula has them" grep -q '"sympy":"[^"]*E_' \
    <(tr -d ' \t\n' <"$WORK/odd/front.json")
sed '1s/w2/relative/' "$WORK/noisy.csv" >"$WORK/named.csv"
"$BIN/symreg" "$WORK/named.csv" --target G --threads 1 "${fit[@]}" --iterations 0 \
    --weights relative --out "$WORK/named" >"$WORK/printed" 2>"$WORK/err" </dev/null
check "a column \"relative\" goes first" grep -q '"column relative"' "$WORK/named/front.json"
check "... a note says so" grep -q 'the column of this name' "$WORK/err"
holds "--batch" 'r' --batch 30
holds "--maxdepth" 'r' --maxdepth 3
holds "--constrain" 'r' --binary '*,^' --constrain '^:-1,1'
holds "--units-penalty" 'r' --units 'r=m,m1=kg' --units-penalty 0.1
widest() { awk '$1 > most { most = $1 } END { print most }' "$WORK/printed"; }
printed --maxsize 6 >"$WORK/printed"
check "--maxsize" test "$(widest)" -le 6
check "--evaluations ends it" law "${fit[@]}" --iterations 100000 --evaluations 20000
check "--seconds ends it" law "${fit[@]}" --iterations 100000 --seconds 0.5 --loss 'abs(p-t)'
# an epoch of minutes does not keep it: status 0, and all files are there
check "--seconds ends an epoch" timeout 60 "$BIN/symreg" "$WORK/law.csv" --target F --quiet \
    --threads 1 --features r,m1,m2,w --loss 'abs(p-t)^1.5' --seconds 1 \
    --set symreg.cycles=100000 --set symreg.patience=0 --binary + --unary cube --out "$WORK/short"
check "... with a report" test -s "$WORK/short/report.md"
check "--stop-loss ends it" law "${fit[@]}" --iterations 100000 --stop-loss 1e6 --seconds 30

# ---- stopped: the front so far, status 130; --resume ends in the bytes of a search never stopped
# as large as takes the look at few rows
awk 'BEGIN {
    print "r,m1,m2,w,F"
    for (i = 1; i <= 600; i++) {
        r = 0.5 + (i * 37 % 101) / 32; a = 0.5 + (i * 53 % 97) / 32; b = 0.5 + (i * 71 % 89) / 32
        printf "%.10g,%.10g,%.10g,%d,%.15g\n", r, a, b, 1 + i % 3,
            6 * a * b / (r * r) * (1 + (i * 29 % 13) / 1000) # no formula is exact: no early end
    }
}' >"$WORK/large.csv"
LONG=("$WORK/large.csv" --target F --quiet --threads 1 "${fit[@]}" --loss l1
      --set symreg.populations=4 --set symreg.cycles=400 --set symreg.patience=0
      --maxsize 9 --iterations 60 --complexity 'square=3,inv=4,/=4')
"$BIN/symreg" "${LONG[@]}" --out "$WORK/stopped" >"$WORK/printed" 2>"$WORK/err" </dev/null &
pid=$!
for ((tries = 0; tries < 3000; tries++)); do
    [ ! -e "$WORK/stopped/checkpoint.bin" ] || break # after the epoch in which a second is over
    kill -0 $pid 2>/dev/null || break
    sleep 0.01
done
kill -INT $pid
wait $pid
check "Ctrl-C: status 130" test $? -eq 130
check "Ctrl-C: says how to go on" grep -q -- '--resume goes on' "$WORK/err"
check "Ctrl-C: the front" grep -q '^[0-9]*,' "$WORK/stopped/front.csv"
for other in '--weights w' '--weights relative' \
    '--guess r' '--units r=m' '--nest inv:inv=0' '--define g(x)=x*x'; do
    cp "$WORK/stopped/checkpoint.bin" "$WORK/kept.bin"
    refuse "--resume with $other" 1 'other data or settings' -- "$BIN/symreg" "${LONG[@]}" \
        ${other} --out "$WORK/stopped" --resume
    mv "$WORK/kept.bin" "$WORK/stopped/checkpoint.bin"
done
check "--resume" program symreg "${LONG[@]}" --out "$WORK/stopped" --resume
check "never stopped" program symreg "${LONG[@]}" --out "$WORK/whole"
check "... the same front" cmp "$WORK/stopped/front_full.csv" "$WORK/whole/front_full.csv"
finish
