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
# (a fiftieth of the enumerated formulas: they take most of the time, and options act on them all)
law() { # OPTION...
    program symreg "$WORK/law.csv" --target F --quiet --threads 1 --set symreg.enumerate=10000 "$@"
}
fit=(--features r,m1,m2 --set symreg.populations=6 --set symreg.cycles=100)

# ---- the law, and all files
check "a search" law "${fit[@]}" --iterations 25 --out "$WORK/fit"
for file in front.csv front_full.csv front.json log.jsonl report.md report.html; do
    check "$file is written" test -s "$WORK/fit/$file"
done
check "columns of PySR" equal Complexity,Loss,Equation "$(head -n 1 "$WORK/fit/front.csv")"
check "columns of all" equal \
    Complexity,Loss,Score,DescriptionLength,Equation,LaTeX,C,SymPy,NumPy,JAX,PyTorch,MathML \
    "$(head -n 1 "$WORK/fit/front_full.csv")"
check "as many rows" equal "$(wc -l <"$WORK/fit/front.csv")" "$(wc -l <"$WORK/fit/front_full.csv")"
check "an exact formula" grep -q ',0,"' "$WORK/fit/front.csv"
for rule in accuracy score best mdl; do
    check "report: $rule" grep -q "^| $rule |" "$WORK/fit/report.md"
done
# (a front with an exact formula is final after 10 epochs without change)
epochs=$(sed -n 's/^{"epoch": \([0-9]*\), .*"seconds": [0-9.e+-]*}$/\1/p' "$WORK/fit/log.jsonl" |
    paste -sd ' ')
last=${epochs##* }
check "the log has all epochs" equal "$(seq -s ' ' 0 "${last:-0}")" "$epochs"
check "the log has all epochs: up to the end of the search" test "${last:-0}" -ge 10
if command -v gnuplot >/dev/null; then
    check "pictures" is_png "$WORK/fit/front.png" 1250
    check "pictures: of residuals" is_png "$WORK/fit/residuals.png" 1250
    check "nothing temporary" only '[^.].*' "$WORK/fit"
    # what gnuplot is told: a box for what no font of the pictures has, and no more than has room
    mkdir "$WORK/figures"
    for name in front residuals; do
        printf '%s\n' 'load ARG1' "set print '$WORK/told-$name'" 'print target' 'unset print' \
            'set terminal pngcairo' 'set output ARG2' 'plot x' >"$WORK/figures/symreg_$name.gp"
    done
    ten=Ωabcdefghi
    printf 'a,%s,%s\n1,2,3\n2,3,5\n3,4,7\n' '加速度_μ² "`x\' $ten$ten$ten$ten$ten |
        sed '1s/"`/""`/; 1s/,\([^,]*\),/,"\1",/' >"$WORK/names.csv"
    drawn() { # TARGET TEXT PICTURE
        ORRERY_FIGURES=$WORK/figures program symreg "$WORK/names.csv" --target "$1" --threads 1 \
            --quiet --iterations 0 --out "$WORK/names" &&
            equal "$2" "$(cat "$WORK/told-$3")"
    }
    check "a name in a picture" drawn '加速度_μ² "`x\' '□□□_μ² "'"'"'x\' front
    check "a long name above a picture" drawn $ten$ten$ten$ten$ten "$ten$ten$ten$ten..." front
    check "a long name beside an axis" drawn $ten$ten$ten$ten$ten "$ten${ten}Ωabcdefg..." residuals
    # residuals are drawn in the sigmas of the table, where it has any
    printf '%s\n' 'load ARG1' "set print '$WORK/told-sigmas'" \
        'stats $points using 4 nooutput' 'print sprintf("%d %g %g", sigmas, STATS_min, STATS_max)' \
        'unset print' 'set terminal pngcairo' 'set output ARG2' 'plot x' \
        >"$WORK/figures/symreg_residuals.gp"
    awk 'BEGIN { print "x,y,s"
        for (i = 1; i <= 40; i++) printf "%d,%g,%g\n", i, 3 * i + i % 2, 0.25 * i }' >"$WORK/s.csv"
    sigma=("$WORK/s.csv" --target y --threads 1 --quiet --iterations 0 --guess '3 * x'
           --binary '*' --unary '')
    check "a table with sigmas" env ORRERY_FIGURES="$WORK/figures" "$BIN/symreg" "${sigma[@]}" \
        --features x --sigma s --out "$WORK/sigmas"
    check "a table with sigmas: which the picture has" \
        equal "1 0.25 10" "$(cat "$WORK/told-sigmas")"
    check "a table with sigmas: without them it has none" \
        env ORRERY_FIGURES="$WORK/figures" "$BIN/symreg" \
        "${sigma[@]}" --features x --out "$WORK/sigmas0"
    check "a table with sigmas: and says so" equal "0 0 0" "$(cat "$WORK/told-sigmas")"
    check "the picture of residuals in sigmas" program symreg "${sigma[@]}" --features x --sigma s \
        --out "$WORK/sigmas"
    check "the picture of residuals in sigmas: is drawn" is_png "$WORK/sigmas/residuals.png" 1250
    check "the picture of residuals in sigmas: is drawn: also over decades" \
        program symreg "${sigma[@]}" --features x --sigma s \
        --guess '2 * x' --log-target --out "$WORK/far"
    check "the picture of residuals in sigmas: is drawn" is_png "$WORK/far/residuals.png" 1250
    check "the page has the sigmas, too" equal "True" "$(python3 -c '
import json, re, sys
page = open(sys.argv[1]).read()
data = json.loads(re.search("id=\"data\">(.*?)</script>", page)[1])
print(all(abs(s / (0.25 * (i + 1)) - 1) < 1e-12 for i, s in enumerate(data["sigma"])))' \
        "$WORK/sigmas/report.html")"
else
    skip "pictures" "no gnuplot"
fi
mkdir "$WORK/bin" && ln -s "$(command -v timeout)" "$WORK/bin/timeout"
check "without gnuplot" env PATH="$WORK/bin" timeout "$LIMIT" "$PWD/$BIN/symreg" "$WORK/law.csv" \
    --target F --iterations 0 --threads 1 --quiet --out "$WORK/bare"
check "without gnuplot: a report without pictures" \
    test -s "$WORK/bare/report.md" -a ! -e "$WORK/bare/front.png"
touch "$WORK/bare"/{front,residuals}.png # of a front before
check "resumed without gnuplot" env PATH="$WORK/bin" timeout "$LIMIT" "$PWD/$BIN/symreg" \
    "$WORK/law.csv" --target F --iterations 0 --threads 1 --quiet --resume --out "$WORK/bare"
check "resumed without gnuplot: no pictures of another front" only \
    'front(_full)?.csv|front.json|report.md|report.html|log.jsonl|checkpoint.bin|[.].*' "$WORK/bare"

# ---- the page: all in one file, a row with a button for each row of the front, one of them shown
page=$WORK/fit/report.html
rows=$(($(wc -l <"$WORK/fit/front.csv") - 1))
check "the page: a button for each row" equal "$rows" "$(grep -c '<tr data-row=.*<button' "$page")"
check "the page: a button for each row: and its predictions" equal "$rows" \
    "$(sed -n 's/.*"values"://p' "$page" | grep -o '\[[-0-9.e+,nul]*\]' | grep -c .)"
check "the page: a button for each row: one of them is shown" equal 1 \
    "$(grep -c '<div class="detail" data-row="[0-9]*">' "$page")"
check "the page: a button for each row: one of them is shown: nothing from elsewhere" \
    lacks 'src=\|href=\|@import' "$page"
check "the page: a button for each row: the answer in words" grep -qF \
    "$(sed -n 's/^`\(best: .*\)`$/\1/p' "$WORK/fit/report.md")" "$page"
script=$(sed -n '/^<script>$/,/^<\/script>$/p' "$page" | sed '1d;$d')
if command -v openssl >/dev/null; then # browsers run a script whose hash the policy names
    check "the page: a button for each row: the answer in words: its script is allowed" \
        grep -qF "'sha256-$(printf '\n%s\n' "$script" |
        openssl dgst -sha256 -binary | base64)'" "$page"
fi

# times of transits: the page subtracts predictions that agree with y in nine digits
awk 'BEGIN { print "n,t"
    for (i = 0; i < 60; i++) printf "%d,%.10f\n", i, 2459000.5 + 0.00123 * i + (i % 3 - 1) * 1e-6
}' >"$WORK/times.csv"
check "times of large offset" program symreg "$WORK/times.csv" --target t --quiet --threads 1 \
    --guess '0.00123 * n + 2459000.5' --iterations 0 --binary '+,*' --unary '' --out "$WORK/times"
check "times of large offset: the page has their residuals" equal "60 True 1e-06" "$(python3 -c '
import json, re, sys
page = open(sys.argv[1]).read()
data = json.loads(re.search("id=\"data\">(.*?)</script>", page)[1])
table = [float(line.split(",")[1]) for line in open(sys.argv[2]).read().split()[1:]]
rest = min((max(abs(v - y) for v, y in zip(row, data["y"])) for row in data["values"]))
print(len(data["y"]), data["y"] == table, "%.1g" % rest)' \
    "$WORK/times/report.html" "$WORK/times.csv")"
if command -v node >/dev/null; then # of its axes
    sed -n '/^function ticks/,/^}/p; /^function labels/,/^}/p' figures/table_page.js \
        >"$WORK/axes.js"
    echo 'for (const [a, b] of [[0, 1], [2459000.5, 2459000.6], [1e16, 1e16 + 2], [1, 1 + 2 ** -52],
        [-1e308, 1.2e308], [3e-9, 4e-9]]) console.log(...labels(ticks(a, b)));' >>"$WORK/axes.js"
    check "times of large offset: ticks end, and their labels differ" \
        equal "$(printf '%s\n' '0 0.5 1' \
        '2459000.5 2459000.55 2459000.6' '10000000000000000 10000000000000002' \
        '1 1.0000000000000002' '-1e+308 1.2e+308' '3e-9 3.5e-9 4e-9')" \
        "$(timeout "$LIMIT" node "$WORK/axes.js")"
    sed -n '/^function \(ticks\|labels\|limits\|linear\|decades\|sigmas\)/,/^}/p' \
        figures/table_page.js >"$WORK/axes.js"
    cat >>"$WORK/axes.js" <<'END_SCRIPT'
const axis = (made, values) => console.log(...made(values).labels, '|',
    ...values.map(made(values).map).map(v => made(values).low <= v && v <= made(values).high));
axis(decades, [2e-10, 1e-5, 3e-3]);
axis(sigmas, [0.3, -0.4]);
axis(sigmas, [-4, 1]);
axis(sigmas, [140, -0.5, -61]);
axis(sigmas, [2e4, 0]);
END_SCRIPT
    check "times of large offset: the page has their residuals: of decades, and of sigmas" \
        equal "$(printf '%s\n' '1e-8 1e-6 1e-4 | true true true' \
        '-2 0 2 | true true' '-4 -2 0 2 4 | true true' \
        '0 -1 1 -3 3 -10 10 -30 30 -100 100 | true true true' \
        '0 -1 1 -10 10 -100 100 -1000 1000 -10000 10000 | true true')" \
        "$(timeout "$LIMIT" node "$WORK/axes.js")"
else
    skip "axes of the page" "no node"
fi

# ---- the same bytes for any threads; another seed is another search
for n in 2 4; do
    check "$n threads" law "${fit[@]}" --iterations 4 --threads "$n" --out "$WORK/threads-$n"
done
check "the same on any threads" same_files "$WORK/threads-2" "$WORK/threads-4" \
    front{,_full}.csv front.json
check "one seed" law "${fit[@]}" --compat pysr --iterations 1 --seed 1 --out "$WORK/seed-1"
check "another seed" law "${fit[@]}" --compat pysr --iterations 1 --seed 2 --out "$WORK/seed-2"
check "another seed: another search" other_files "$WORK/seed-1" "$WORK/seed-2" front.csv

# ---- the answer in a person's words: the last line, what the report begins with, and what --guess
# reads back
law "${fit[@]}" --iterations 3 --out "$WORK/words" >"$WORK/printed"
last=$(tail -n 1 "$WORK/printed")
check "the last line" grep -Eq '^best: F = .*\br\b.*   \(.*R2 [0-9.]+; 120 rows\)$' <<<"$last"
check "the last line: the report has it" grep -qF "$last" "$WORK/words/report.md"
formula=${last#best: F = }
law "${fit[@]}" --iterations 0 --binary + --unary '' --guess "${formula%%   *}" >"$WORK/printed"
check "the last line: --guess reads it back" \
    equal "${last##*R2 }" "$(sed -n '$s/.*R2 //p' "$WORK/printed")"

law "${fit[@]}" --iterations 0 --log-target --guess 'log(m1*m2) - 2*log(r)' \
    --out "$WORK/logarithm" >"$WORK/printed"
check "the last line of a logarithm" grep -q '^best: log(F) = .*log(.*)   (' "$WORK/printed"
check "the last line of a logarithm: the page has one name for it, too" grep -q \
    '<math[^>]*><mrow><mrow><mi>ln</mi>.*<mo>=</mo>.*<mi>ln</mi>' \
    "$WORK/logarithm/report.html"

# ---- options; what each of them changes is seen beside a search without it
# printed OPTION...: the equations of the front
printed() {
    law "${fit[@]}" --iterations 3 "$@" | sed '1d; /^best: /d'
}
# x and z, and targets that are one formula each; h is 3 x where u is 1, and else another thing
awk 'BEGIN {
    print "x,z,u,wave,growth,fourth,power,h"
    for (i = 1; i <= 90; i++) {
        x = 0.5 + (i * 37 % 83) / 64; z = 0.5 + (i * 53 % 79) / 64; u = i % 2
        printf "%.10g,%.10g,%d,%.15g,%.15g,%.15g,%.15g,%.15g\n", x, z, u, 2 * sin(3.1 * x) + z,
            z * exp(x), z * x^4, x^(x + z), u ? 3 * x : 7 - 2 * z
    }
}' >"$WORK/many.csv"
# many TARGET OPTION...: the equations of the front of one of these
many() {
    local target=$1
    shift
    program symreg "$WORK/many.csv" --target "$target" --features x,z --quiet --threads 1 \
        --set symreg.enumerate=10000 --set symreg.populations=6 --set symreg.cycles=100 \
        --iterations 3 "$@" | tail -n +2
}
holds() { # NAME PATTERN COMMAND...
    local name=$1 pattern=$2
    shift 2
    check "$name" prints "$pattern" "$@"
}
no_formula() { # NAME PATTERN COMMAND...
    local name=$1 pattern=$2
    shift 2
    "$@" >"$WORK/printed"
    check "$name" lacks "$pattern" "$WORK/printed"
}
# a line of the front: formulas that fit exactly, and those that hold TEXT
exact='^ +[0-9]+ +([0-9.]+e-(2[0-9]|3[0-9])|0) .*'
holds "a wave" 'sin\(' many wave
no_formula "--unary without sin" '(sin|cos|exp|log|sqrt)\(' many wave --unary inv,square
holds "--unary with cos" 'cos\(' many wave --unary cos
holds "a growth" "$exact"'exp\(x\)' many growth
holds "a growth: of numbers" "$exact"'exp\(x\)' many growth --units 'growth=m,z=m'
no_formula "--units keeps lengths out of exp" 'exp\(x\)|x [-+] z|z [-+] x' \
    many growth --units 'growth=m,x=m,z=m'
many growth --units 'growth=m,x=m,z=m' --units-penalty 0.001 >"$WORK/printed"
check "--units-penalty lets them in, and asks its price" awk 'NR == 1 { constant = $2 }
    / exp\(x\)\)/ && /z/ { ratio = $2 / constant; found = ratio > 0.999e-3 && ratio < 1.001e-3 }
    END { exit !found }' "$WORK/printed"
no_formula "--units-penalty at a price" 'exp\(x\)' \
    many growth --units 'growth=m,x=m,z=m' --units-penalty 1e6
holds "squares of squares" "$exact"'square\(square\(x\)\)' many fourth
no_formula "--nest" 'inv\(inv|square\(square' many fourth --nest 'inv:inv=0;square:square=0'
holds "a square at the usual price" '^ +5 .*z.*square\(square\(x\)\)' many fourth
holds "--complexity: a higher price" '^ +7 .*z.*square\(square\(x\)\)' many fourth \
    --complexity square=2
no_formula "--complexity: too much" 'square' many fourth --complexity square=64
holds "exponents of any size" "$exact"'\^ \(' many power --binary '+,*,^' --unary ''
# products that nobody allowed: an outer factor alone is free
awk 'BEGIN {
    print "x,z,y"
    for (i = 1; i <= 60; i++) {
        x = 1 + (i * 37 % 83) / 64; z = 1 + (i * 53 % 79) / 64
        printf "%.10g,%.10g,%.15g\n", x, z, x * z
    }
}' >"$WORK/product.csv"
product() {
    program symreg "$WORK/product.csv" --target y --quiet --threads 1 --set symreg.enumerate=2000 \
        --set symreg.populations=6 --set symreg.cycles=100 --iterations 3 --unary '' "$@" |
        tail -n +2
}
for operator in + - min; do
    no_formula "--binary $operator: no product of columns" '[xz)] \* [xz(]' \
        product --binary $operator
done
holds "exponents of any size: but that of a guess" \
    "$exact"'\([xz] \* [xz]\)' product --binary + --guess 'x*z'
no_formula "--constrain: exponents of one node" '\^ [(]|\^ [a-z]+[(]' \
    many power --binary '+,*,^' --unary '' --constrain '^:-1,1'
check "--constrain: exponents of one node: which are there" \
    grep -Eq '\^ (-?[0-9]|[xz])' "$WORK/printed"
# every parenthesis is one node more on the way to a name or number
deepest() {
    awk '{ gsub(/[^()]/, ""); depth = 1; for (i = 1; i <= length; i++) {
        depth += substr($0, i, 1) == "(" ? 1 : -1; if (depth > most) most = depth } }
        END { print most + 0 }' "$WORK/printed"
}
widest() {
    awk '$1 > most { most = $1 } END { print most + 0 }' "$WORK/printed"
}
printed >"$WORK/printed"
check "without --maxdepth and --maxsize" test "$(deepest)" -gt 3 -a "$(widest)" -gt 6
printed --maxdepth 3 >"$WORK/printed"
check "--maxdepth" equal 3 "$(deepest)"
printed --maxsize 6 >"$WORK/printed"
check "--maxsize" test "$(widest)" -le 6 -a "$(widest)" -gt 2
holds "--guess" "$exact"'r \^ 2' printed --guess '3*m1*m2/r^2' --iterations 0 --binary + --unary ''
holds "--define" "$exact"'fall\(' printed --define 'fall(x)=1/(x*x)' --binary '*' --unary inv
holds "--log-target" "$exact"'log\(' printed --log-target --guess '1.5 + log(m1*m2) - 2*log(r)' \
    --iterations 0 --maxsize 12 --unary log

# ---- losses: that of the constant is the mean that the options ask for
# constant_loss FOLDER TABLE COLUMN EXPONENT WEIGHT: both of them awk's, of the row
constant_loss() {
    awk -F, -v column="$3" -v exponent="$4" '
        function loss(c,   i, sum, all) {
            for (i = 1; i <= n; i++) {
                all += w[i]; sum += w[i] * (y[i] > c ? y[i] - c : c - y[i])^exponent
            }
            return sum / all
        }
        FNR == NR { if ($1 == 1) { gsub(/"/, "", $3); said = $2; c = $3 + 0 } next }
        FNR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
        { y[++n] = $at; w[n] = '"$5"' }
        END {
            printf "constant %.17g, loss %.17g, expected %.17g\n", c, said, loss(c)
            d = said / loss(c) - 1 # of nine digits
            exit !(n && c != 0 && d < 5e-9 && -d < 5e-9 && loss(0.9 * c) > said &&
                loss(1.1 * c) > said)
        }' "$WORK/$1/front.csv" "$2"
}
check "squares" law "${fit[@]}" --iterations 3 --out "$WORK/squares"
check "squares: their mean" constant_loss squares "$WORK/law.csv" F 2 1
check "report: the default rule" grep -q '^Residuals of what `best` selects' \
    "$WORK/squares/report.md"
check "--rule" law "${fit[@]}" --iterations 0 --rule accuracy --out "$WORK/rule"
check "--rule: is the report's" \
    grep -q '^Residuals of what `accuracy` selects' "$WORK/rule/report.md"
check "--loss of a formula" law "${fit[@]}" --iterations 3 --loss 'abs(p-t)^1.5' --out "$WORK/loss"
check "--loss of a formula: its mean" constant_loss loss "$WORK/law.csv" F 1.5 1
check "--weights" law "${fit[@]}" --iterations 3 --weights w --out "$WORK/weighted"
check "--weights: the weighted mean" constant_loss weighted "$WORK/law.csv" F 2 '$5'
no_formula "a law of some rows, without --weights" "$exact" many h
holds "a law of some rows, without --weights: with --weights" "$exact" many h --weights u
# the search sees 30 rows, the front's constants and losses all of them
check "--batch" law "${fit[@]}" --iterations 3 --batch 30 --out "$WORK/batch"
check "--batch: the mean of all rows" constant_loss batch "$WORK/law.csv" F 2 1
check "--batch: another search" other_files "$WORK/squares" "$WORK/batch" front.csv
# G is F, off by 10% up or down; w2 is 1 / G^2, for rows below a tenth of the median |G| that one's
median=$(awk -F, 'NR > 1 { printf "%.17g\n", $6 * (NR % 2 ? 1.1 : 0.9) }' "$WORK/law.csv" |
    sort -g | awk '{ y[NR] = $1 } END { printf "%.17g", (y[NR / 2] + y[NR / 2 + 1]) / 2 }')
awk -F, -v least="$median" 'NR == 1 { print $0 ",G,w2"; next }
    { g = $6 * (NR % 2 ? 1.1 : 0.9); b = g < least / 10 ? least / 10 : g
      printf "%s,%.17g,%.17g\n", $0, g, 1 / (b * b) }' "$WORK/law.csv" >"$WORK/noisy.csv"
noisy() { # OPTION...
    program symreg "$WORK/noisy.csv" --target G --quiet --threads 1 "${fit[@]}" --iterations 0 \
        --set symreg.enumerate=5000 --complexity variable=2 "$@"
}
check "--weights relative" noisy --weights relative --out "$WORK/relative"
check "--weights w2" noisy --weights w2 --out "$WORK/column"
check "no weights" noisy --weights equal --out "$WORK/plain"
check "--weights relative: the mean" constant_loss relative "$WORK/noisy.csv" G 2 '$8'
check "--weights w2: the mean" constant_loss column "$WORK/noisy.csv" G 2 '$8'
check "no weights: the mean" constant_loss plain "$WORK/noisy.csv" G 2 1
check "--weights relative: another search" other_files "$WORK/relative" "$WORK/plain" front.csv
weights_in() { # FOLDER TEXT
    grep -q "\"weights\":[[:space:]]*$2" "$WORK/$1/front.json"
}
check "front.json: weights 1/y^2" weights_in relative '"1/y^2"'
check "front.json: weights of a column" weights_in column '"column w2"'
check "front.json: no weights" weights_in plain null
check "report: weights 1/y^2" grep -q '^Rows have the weights 1/y^2' "$WORK/relative/report.md"
check "report: weights of a column" grep -q 'weights of column `w2`' "$WORK/column/report.md"
check "page: weights 1/y^2" grep -q '>Rows have the weights 1/y^2;' "$WORK/relative/report.html"
check "page: weights of a column" grep -q 'weights of column <code>w2</code>\.' \
    "$WORK/column/report.html"
check "page: no weights" lacks "have the weights" "$WORK/plain/report.html"
check "report: no weights" lacks "have the weights" "$WORK/plain/report.md"
check "a seed that is no double" law --features r,m1 --iterations 0 --seed 9007199254740993 \
    --out "$WORK/seed"
check "front.json has all of its digits" grep -q '"seed":[[:space:]]*"9007199254740993"' \
    "$WORK/seed/front.json"
# names that C and SymPy cannot have (tests/symreg/test_export.c) are told
check "columns of plain names are exported as they are" \
    grep -q '"exported_names":[[:space:]]*\[\]' "$WORK/plain/front.json"
check "columns of plain names are exported as they are: and nothing is said" \
    lacks 'SymPy' "$WORK/plain/report.md"
sed '1s/r,m1,m2/半径,lambda,E/' "$WORK/law.csv" >"$WORK/odd.csv"
check "awkward names" program symreg "$WORK/odd.csv" --target F --quiet --threads 1 \
    --features 半径,lambda,E --binary '*,/' --unary '' --guess '6*lambda*E' --iterations 0 \
    --out "$WORK/odd"
tr -d ' \t\n' <"$WORK/odd/front.json" >"$WORK/odd/dense.json"
for pair in 半径:x1 lambda:lambda_ E:E_; do
    check "report: $pair" grep -qxF "| \`${pair%:*}\` | \`${pair#*:}\` |" "$WORK/odd/report.md"
    check "page: $pair" grep -qF "<td>${pair%:*}</td><td><code>${pair#*:}</code></td>" \
        "$WORK/odd/report.html"
    check "front.json: $pair" grep -q "\"column\":\"${pair%:*}\",\"name\":\"${pair#*:}\"" \
        "$WORK/odd/dense.json"
done
check "the page of plain names has none" lacks 'other names for these' "$WORK/plain/report.html"
check "the exported formula has them" grep -q '"sympy":"[^"]*E_' "$WORK/odd/dense.json"
sed '1s/r,m1,m2,w,F/<i>r,"a|b`","\&lt;",w,"``"/' "$WORK/law.csv" >"$WORK/mark*up.csv"
check "names that are markup" program symreg "$WORK/mark*up.csv" --target '``' --quiet --threads 1 \
    --features '<i>r,a|b`,&lt;' --iterations 0 --out "$WORK/markup"
check "names that are markup: do nothing in the report's head" grep -qF -- \
    "\`$WORK/mark*up.csv\`; features \`<i>r\`, \`\` a|b\` \`\`, \`&lt;\`. Loss" \
    "$WORK/markup/report.md"
check "names that are markup: in its title" grep -qxF '# ``` `` ```' "$WORK/markup/report.md"
check "names that are markup: in its tables" grep -qF '`` a\|b` ``' "$WORK/markup/report.md"
check "names that are markup: in the page" lacks '<i>r' "$WORK/markup/report.html"
check "names that are markup: which has them" grep -qF 'features &lt;i&gt;r, a|b`, &amp;lt;;' \
    "$WORK/markup/report.html"
sed '1s/w2/relative/' "$WORK/noisy.csv" >"$WORK/named.csv"
"$BIN/symreg" "$WORK/named.csv" --target G --threads 1 "${fit[@]}" --iterations 0 --seconds 1 \
    --weights relative --out "$WORK/named" >"$WORK/printed" 2>"$WORK/err" </dev/null
check "a column \"relative\" goes first" grep -q '"column relative"' "$WORK/named/front.json"
check "a column \"relative\" goes first: a note says so" \
    grep -q 'the column of this name' "$WORK/err"

# ---- ends. No formula of this table is exact, and patience does not end a search
endless() { # FOLDER OPTION...
    noisy --set symreg.patience=0 --iterations 100000 --out "$WORK/$1" "${@:2}"
}
# ends FOLDER CONDITION: awk's, on the numbers of an epoch; it holds in the last one and in no other
ends() {
    awk 'function number(key) { match($0, "\"" key "\": [^,}]*")
            return substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0 }
        { evaluations = number("evaluations"); loss = number("loss"); seconds = number("seconds")
          early += holds; holds = '"$2"' }
        END { print NR, evaluations, loss, seconds; exit !(holds && !early) }' "$WORK/$1/log.jsonl"
}
check "--evaluations" endless evaluations --evaluations 40000
spent=$(tail -n 1 "$WORK/evaluations/log.jsonl" | grep -o '"evaluations": [0-9]*' | tr -dc 0-9)
check "--evaluations: ends it within some per island: $spent" \
    test "$spent" -gt 39000 -a "$spent" -lt 41000
check "--seconds" endless seconds --seconds 0.8
check "--seconds: ends it" ends seconds 'seconds >= 0.8'
check "--seconds: and constants are rounded" lacks '[1-9][0-9.]{12,}' "$WORK/seconds/front.csv"
check "--stop-loss" endless loss --stop-loss 1e6
check "--stop-loss: ends it" ends loss 'loss <= 1e6'
# an epoch of minutes does not keep it: status 0, and all files are there
check "--seconds ends an epoch" timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target F --quiet \
    --threads 1 --features r,m1,m2,w --loss 'abs(p-t)^1.5' --seconds 1 \
    --set symreg.cycles=100000 --set symreg.patience=0 --binary + --unary cube --out "$WORK/short"
check "--seconds ends an epoch: with a report" test -s "$WORK/short/report.md"
# 0 is no limit of time, hence none to use: patience ends it
check "--seconds 0" timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target F --quiet --threads 1 \
    --features r,m1,m2,w --seconds 0 --set symreg.cycles=20 --set symreg.patience=1 \
    --set symreg.enumerate=10000 --binary + --unary cube

# epochs that are asked for end it, however they are: as an option, or as a setting
for way in "--iterations 2" "--set symreg.iterations=2"; do
    # shellcheck disable=SC2086 # an option and its value
    check "$way beside --seconds" timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target F \
        --quiet --threads 1 --features r,m1 --seconds 1000 $way --set symreg.cycles=20 \
        --set symreg.enumerate=10000 --binary + --unary cube
done

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
      --set symreg.enumerate=20000 --maxsize 9 --iterations 1500 --complexity 'square=3,inv=4,/=4')
# results FOLDER: those of a search before, with a file that is not ours
results() {
    mkdir -p "$1/sub" && touch "$1"/{front,front_full}.csv \
        "$1"/{front.json,report.md,report.html,mine.md} \
        "$1"/{front,residuals}.png
}
left() { # FOLDER: what a search wrote at its end
    (cd "$1" && ls -d *.csv *.json *.md *.html *.png sub 2>/dev/null | LC_ALL=C sort |
        paste -sd ' ')
}
results "$WORK/stopped"
"$BIN/symreg" "${LONG[@]}" --out "$WORK/stopped" >"$WORK/printed" 2>"$WORK/err" </dev/null &
pid=$!
for ((tries = 0; tries < 100 * LIMIT; tries++)); do
    [ ! -e "$WORK/stopped/checkpoint.bin" ] || break # after the epoch in which a second is over
    kill -0 $pid 2>/dev/null || break
    sleep 0.01
done
check "while it runs: no result of another search" equal 'mine.md sub' "$(left "$WORK/stopped")"
kill -INT $pid
wait $pid
check "Ctrl-C: status 130" test $? -eq 130
check "Ctrl-C: status 130: no report of another front" \
    equal 'front.csv front.json front_full.csv mine.md sub' \
    "$(left "$WORK/stopped")"
check "Ctrl-C: says how to go on" grep -q -- '--resume continues' "$WORK/err"
check "Ctrl-C: the front" grep -q '^[0-9]*,' "$WORK/stopped/front.csv"
for other in '--weights w' '--weights relative' '--guess r' '--units r=m' '--nest inv:inv=0' \
    '--define g(x)=x*x' '--log-target' '--binary +,*' '--unary inv' '--loss l2' '--maxsize 8' \
    '--maxdepth 5' '--complexity square=2' '--constrain inv:1' '--batch 300' '--seed 4' \
    '--features r,m1' '--compat pysr'; do
    KEEP=$WORK/stopped refuse "--resume with $other" 1 "${other%% *} was \"" -- \
        "$BIN/symreg" "${LONG[@]}" ${other} --out "$WORK/stopped" --resume
done
results "$WORK/stopped"
lines=$(wc -l <"$WORK/stopped/log.jsonl")
start "$BIN/symreg" "${LONG[@]}" --out "$WORK/stopped" --resume
goes_on() {
    [ "$(wc -l <"$WORK/stopped/log.jsonl")" -gt "$lines" ]
}
check "--resume goes on" until_true goes_on
stop INT
check "--resume goes on: stopped again" equal 130 "$status"
check "--resume goes on: no report of an older front" \
    equal 'front.csv front.json front_full.csv mine.md sub' \
    "$(left "$WORK/stopped")"
check "--resume" program symreg "${LONG[@]}" --out "$WORK/stopped" --resume
check "--resume: with a report" test -s "$WORK/stopped/report.md"
check "never stopped" program symreg "${LONG[@]}" --out "$WORK/whole"
check "never stopped: the same front" \
    same_files "$WORK/stopped" "$WORK/whole" front{,_full}.csv front.json

if quick; then finish; fi
# ---- named constants: E = m c^2 / sqrt(1 - v^2 / c^2) in SI units, from the search to predictions
awk 'BEGIN {
    print "m,v,E"
    for (i = 1; i <= 80; i++) {
        m = (1 + i * 37 % 101 / 30) * 1e-27; v = 299792458 * (0.05 + i * 53 % 97 / 110)
        printf "%.17g,%.17g,%.17g\n", m, v, m * 299792458 ^ 2 / sqrt(1 - (v / 299792458) ^ 2)
    }
}' >"$WORK/gamma.csv"
gamma() { # OPTION...
    program symreg "$WORK/gamma.csv" --target E --threads 1 --set symreg.enumerate=10000 \
        --loss relative --units 'm=kg,v=m/s,E=kg*m^2/s^2' --iterations 0 "$@"
}
check "named constants" gamma --constants 'c, h' --out "$WORK/gamma"
front=$WORK/gamma/front.json
check "named constants: have their values in use" \
    grep -q '"define":[[:space:]]*"c=299792458; h=6.62607015e-34"' "$front"
check "named constants: stand in the law" grep -qE '"equation":.*square\(c\) - square\(v\)' "$front"
check "named constants: and in the report" \
    grep -q 'Formulas use .*c=299792458' "$WORK/gamma/report.md"
check "named constants: as numbers in C" lacks '"c":[[:space:]]*"[^"]*[^a-z0-9_.]c[^a-z(]' "$front"
check "named constants: which predict reads" \
    program symreg predict "$front" "$WORK/gamma.csv" --rule accuracy
program symreg predict "$front" "$WORK/gamma.csv" --rule accuracy >"$WORK/predicted"
check "named constants: and evaluates" awk -F, 'FNR == 1 { next } NR == FNR { is[FNR] = $1; next }
    { off = is[FNR] / $3 - 1; bad += !(off < 1e-9 && off > -1e-9); n++ }
    END { exit bad || n != 80 }' \
    "$WORK/predicted" "$WORK/gamma.csv"
check "named constants: and --guess" gamma --constants 'c' --set symreg.enumerate=0 \
    --guess 'm * c ^ 2 / sqrt(1 - v ^ 2 / c ^ 2)'
KEEP=$WORK/gamma refuse "--resume with other constants" 1 '--constants was' -- \
    "$BIN/symreg" "$WORK/gamma.csv" --target E --threads 1 --set symreg.enumerate=10000 \
    --loss relative --units 'm=kg,v=m/s,E=kg*m^2/s^2' --iterations 0 --out "$WORK/gamma" --resume
finish
