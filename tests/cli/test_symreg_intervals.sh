#!/usr/bin/env bash
# test_symreg_intervals.sh - profile intervals of constants in report.md and front.json, and symreg
# predict --interval, against closed forms of F = a m / r^2.
. tests/cli/lib.sh
fast_pictures

# r, m, F = 6 m / r^2 with a little noise, s (0.02 and 0.05), v = 1 / s^2, large; deterministic
awk 'BEGIN {
    print "r,m,F,s,v"
    for (i = 1; i <= 60; i++) {
        r = 0.5 + (i * 37 % 101) / 32; m = 0.5 + (i * 53 % 97) / 32; s = i % 4 ? 0.02 : 0.05
        printf "%.10g,%.10g,%.10g,%g,%.17g\n", r, m, 6 * m / (r * r) + 0.02 * sin(i * i), s,
            1 / (s * s)
    }
}' >"$WORK/law.csv"
# search FOLDER OPTION...: the law alone, with its constant fitted, which would become 6
search() {
    local folder=$1
    shift
    timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target F --threads 1 --quiet --features r,m \
        --binary '*,/' --unary '' --iterations 0 --guess '6*m/(r*r)' --set symreg.enumerate=0 \
        --round-constants digits --out "$WORK/$folder" "$@"
}
check "with sigmas" search sigma --sigma s
check "with weights" search weights --weights v
check "with neither" search plain
check "with relative weights" search relative --weights relative
check "of a logarithm" search log --sigma s --log-target --unary log --binary +,-,* \
    --guess '1.8+log(m)-2*log(r)'
check "with another loss" search l1 --loss l1

# ---- constants
# constant FOLDER: the constant, its standard error and bounds in the report
constant() {
    sed -n '/^| constant |/,$ s/^| \([0-9]\)/\1/p' "$WORK/$1/report.md" | tr -d '|'
}
bounds() { # FOLDER: those of front.json
    tr -d ' \t\n' <"$WORK/$1/front.json" | tr '{' '\n' |
        sed -n 's/.*"low_95":\[\([^]]*\)\],"high_95":\[\([^]]*\)\].*/\1 \2/p'
}
# The profile of a is symmetric about the best a, which the constant is rounded from.
profile() { # FOLDER QUANTILE
    local a error
    read -r a error _ <<<"$(constant "$1")"
    echo "$a $error $(bounds "$1")" | awk -v q="$2" '
        { n++; reach = ($4 - $3) / 2 / $2; off = ($3 + $4) / 2 - $1 }
        END { print reach, off; exit !(n == 1 && (reach / q - 1)^2 < 1e-6 && off^2 < ($2 / 15)^2) }'
}
check "profile intervals from the sigmas: the normal distribution" profile sigma 1.95996
check "profile intervals from the sigmas: from the scatter: Student's, of 59 degrees of freedom" \
    profile plain 2.00100
check "profile intervals from the sigmas: the normal distribution: with weights" \
    profile weights 2.00100
in_report() {
    local low high
    read -r _ _ low high <<<"$(constant sigma)"
    equal "$low $high" "$(bounds sigma | awk '{ printf "%.7g %.7g\n", $1, $2 }')"
}
check "profile intervals from the sigmas: the normal distribution: in the report" in_report
check "profile intervals from the sigmas: the normal distribution: not for other losses" \
    lacks profile "$WORK/l1/report.md"
check "profile intervals from the sigmas: the normal distribution: nor in their front.json" \
    lacks '_95\|covariance' "$WORK/l1/front.json"
printf 'x,y\n1,8.3\n2,10.3\n3,19\n4,16\n5,15.6\n7,19.8\n' >"$WORK/few.csv"
check "a curve of three constants, six rows" timeout "$LIMIT" "$BIN/symreg" "$WORK/few.csv" \
    --target y --threads 1 --quiet --binary '+,-,*' --unary exp --iterations 0 \
    --guess '20*(1-exp(-0.5*x))' --set symreg.enumerate=0 --rule accuracy --out "$WORK/few"
check "a curve of three constants, six rows: no bounds" \
    grep -qE '^\|.*\| (-inf \| [0-9.-]+|[0-9.-]+ \| inf|-inf \| inf) \|$' \
    "$WORK/few/report.md"
check "a curve of three constants, six rows: null in front.json" \
    grep -qE '"(low|high)_95":.*null' "$WORK/few/front.json"

# ---- predictions
predict() {
    timeout "$LIMIT" "$BIN/symreg" predict "$WORK/$1/front.json" "${@:2}"
}
# intervals FOLDER FILE REACH NOISE OPTION...: in every row, half the width is REACH times
# sqrt(noise^2 + (error g)^2), where g = m / r^2 and NOISE is awk's expression of the noise of a row
# from s, v, value and the root mean squares of the residuals: alike, weighted, relative
intervals() {
    local folder=$1 file=$2 reach=$3 noise=$4 a error tenth
    shift 4
    read -r a error _ <<<"$(constant "$folder")"
    tenth=$(tail -n +2 "$WORK/law.csv" | cut -d, -f3 | sort -g |
        awk '{ y[NR] = $1 } END { print (y[30] + y[31]) / 20 }')
    predict "$folder" "$file" --rule accuracy "$@" >"$WORK/bounds" 2>"$WORK/err" || return 1
    equal "F,low,high" "$(head -n 1 "$WORK/bounds")" || return 1
    paste -d, "$WORK/law.csv" "$WORK/bounds" >"$WORK/both"
    awk -F, -v q="$reach" -v a="$a" -v error="$error" -v tenth="$tenth" '
        function size(y) { return y > tenth ? y : tenth }
        FNR == 1 { file++; next }
        { g = $2 / ($1 * $1); F = $3; s = $4; v = $5; value = $6 }
        file == 1 { d = F - a * g; alike += d * d / 59; weighted += v * d * d / 59
            relative += (d / size(F))^2 / 59; next }
        { expected = sqrt(('"$noise"')^2 + (error * g)^2)
          n += (($8 - $7) / 2 / expected / q - 1)^2 < 1e-8 && (($8 + $7) / 2 / value - 1)^2 < 1e-12
        } END { print n; exit n != 60 }' "$WORK/both" "$WORK/both"
}
check "predict --interval: sigmas of the table" intervals sigma "$WORK/law.csv" 1.95996 s \
    --interval 95
check "predict --interval: sigmas of the table: 50%" \
    intervals sigma "$WORK/law.csv" 0.67449 s --interval 50%
check "predict --interval: sigmas of the table: scatter of the residuals" \
    intervals plain "$WORK/law.csv" 2.00100 'sqrt(alike)' \
    --interval 95
check "predict --interval: sigmas of the table: weights of the table" \
    intervals weights "$WORK/law.csv" 2.00100 'sqrt(weighted / v)' \
    --interval 95
check "predict --interval: sigmas of the table: noise in proportion" \
    intervals relative "$WORK/law.csv" 2.00100 \
    'sqrt(relative) * size(value)' --interval 95
cut -d, -f1,2 "$WORK/law.csv" >"$WORK/bare.csv"
for folder in sigma weights; do
    check "predict --interval: sigmas of the table: without the column of $folder, the scatter" \
        intervals $folder "$WORK/bare.csv" \
        2.00100 'sqrt(alike)' --interval 95
    check "predict --interval: sigmas of the table: which is said" \
        grep -q "bare.csv: no column \"[sv]\"; the noise of every row is" \
        "$WORK/err"
done
logarithm() {
    predict log "$WORK/law.csv" --rule accuracy --interval 95 | paste -d, "$WORK/law.csv" - |
        awk -F, 'NR > 1 { n++; share = ($8 - $7) / 2 / 1.95996 / ($4 / exp($6))
            wrong += !(share > 1 && share < 2) } END { print n, wrong; exit !(n == 60 && !wrong) }'
}
check "predict --interval: sigmas of the table: the sigma of a logarithm is sigma / y" logarithm
check "--missing drop keeps the lines" equal $'F,low,high\n,,\n,,' \
    "$(predict sigma - --interval 95 --missing drop <<<$'r,m,s\n,2,0.1\n1,1,NA')"
check "no value, no bounds" equal $'F,low,high\nnan,nan,nan' \
    "$(predict sigma - --interval 95 --quiet <<<$'r,m,s\n0,2,0.1')"
check "no weight, no bound" equal 'low,high -inf,inf' \
    "$(predict weights - --interval 95 <<<$'r,m,v\n1,1,0' | cut -d, -f2,3 | paste -sd ' ')"
bare='s/"xxh64"/"without"/' # files that were made by hand state no sum
sed "$bare;"'s/"covariance"/"other"/' "$WORK/plain/front.json" >"$WORK/older.json"
sed "$bare;"'s/"equation":\t"[^"]*"/"equation":\t"9 * m"/' "$WORK/plain/front.json" \
    >"$WORK/edited.json"
sed "$bare;"'s/"covariance":\t\[[^]]*\]/"covariance":\t[null]/' "$WORK/plain/front.json" \
    >"$WORK/flat.json"
mkdir "$WORK/run"
bad() { # NAME STATUS PATTERN FRONT OPTION...
    refuse "$1" "$2" "$3" -- "$BIN/symreg" predict "$4" "$WORK/law.csv" --rule accuracy "${@:5}"
}
F=$WORK/plain/front.json
for text in 0.95 0 100 -5 nan 95x "'95'" %; do
    bad "--interval $text" 2 'expected percent from 1 to less than 100, such as 95, found' "$F" \
        --interval "$text"
done
bad "an older file" 1 'of the front: expected the "covariance" of its constants' \
    "$WORK/older.json" --interval 95
bad "another loss" 1 'which a search with the loss l2 writes' "$WORK/l1/front.json" --interval 95
bad "an edited file" 1 'its constants are not those of its equation' "$WORK/edited.json" \
    --interval 95
bad "constants without covariance" 1 'the table does not determine its constants' \
    "$WORK/flat.json" --interval 95
refuse "a sigma of 0" 1 'standard input:2: column "s": expected a standard deviation above 0' -- \
    "$BIN/symreg" predict "$WORK/sigma/front.json" - --interval 95 <<<$'r,m,s\n1,1,0'
refuse "--interval of a search" 2 '--interval: belongs to symreg predict' -- \
    "$BIN/symreg" "$WORK/law.csv" --target F --interval 95
finish
