#!/usr/bin/env bash
# test_choice.sh - which formula is chosen: of few rows, of tables whose digits end, under weights,
# a relative loss and a penalty for units.
. tests/cli/lib.sh
fast_pictures

fit() { # NAME OPTION...: $WORK/NAME.csv, what is printed to $WORK/NAME.txt
    program symreg "$WORK/$1.csv" --quiet --threads 1 --iterations 3 --out "$WORK/$1" "${@:2}" \
        >"$WORK/$1.txt"
}
chosen() { # NAME RULE: complexity
    sed -n "s/^ *\([0-9]*\) .*<-.*\b$2\b.*/\1/p" "$WORK/$1.txt"
}

# ---- about as many constants as rows: no law
printf 'x,y\n1,2.764\n2,4.770\n3,7.134\n4,8.541\n5,10.971\n' >"$WORK/five.csv"
printf 'x,y\n1,3.075\n2,5.507\n3,7.219\n4,9.223\n5,11.130\n6,13.077\n7,15.137\n8,16.999\n' \
    >"$WORK/eight.csv"
check "five rows" fit five --target y
check_not "five rows: no infinite score" grep -q ' inf ' "$WORK/five.txt"
check "five rows: a line without or with an offset" test "$(chosen five best)" -ge 3 -a \
    "$(chosen five best)" -le 5
check "five rows: they cannot decide" \
    grep -q '^remark: 5 rows cannot decide between' "$WORK/five.txt"
check "five rows: says the report" grep -q '^- 5 rows cannot decide between' "$WORK/five/report.md"
check "eight rows" fit eight --target y
check "eight rows: the line" equal 5 "$(chosen eight best)"
check "eight rows: by mdl" equal 5 "$(chosen eight mdl)"

# three constants for three rows: loss 0 within an epoch, and no end; a spare row or two: the end
printf 'x,y\n1,2.764\n2,4.770\n3,7.134\n' >"$WORK/three.csv"
printf 'x,y\n1,5\n2,8\n3,11\n4,14\n' >"$WORK/line.csv"
small=(--set symreg.patience=0 --set symreg.populations=2 --set symreg.cycles=20 --maxsize 9)
check "three rows" fit three --target y --iterations 40 "${small[@]}"
check "three rows: fitted to what rounding leaves" \
    grep -qE '^ +[0-9]+ +[0-9.]+e-[23][0-9] ' "$WORK/three.txt"
check_not "three rows: and no loss of 0" grep -qE '^ +[0-9]+ +0 ' "$WORK/three.txt"
check "three rows: go on to the last epoch" grep -q '"epoch": 40,' "$WORK/three/log.jsonl"
check "a line of four" fit line --target y --iterations 40 "${small[@]}"
check_not "a line of four: ends the search" grep -q '"epoch": 40,' "$WORK/line/log.jsonl"
check "a line of four: with an infinite score" grep -q ' inf .*best' "$WORK/line.txt"
check_not "a line of four: and no remark" grep -q '^remark' "$WORK/line.txt"

# ---- digits: 60 decades of G m1 m2 / r^2
awk 'BEGIN {
    u = 0.5
    for (i = 0; i < 360; i++) {
        u = (u * 997 + 0.123457) % 1
        printf "%.17g%s", u, i % 3 == 2 ? "\n" : " "
    }
}' >"$WORK/uniform"
for digits in 7 9 13 17; do
    awk -v d=$((digits - 1)) 'BEGIN { print "m1,m2,r,F"; f = "%." d "e" }
    {
        a = 10 ^ (20 + 10 * $1); b = 10 ^ (-20 + 25 * $2); r = 10 ^ (8 + 12 * $3)
        printf f "," f "," f "," f "\n", a, b, r, 6.6743e-11 * a * b / (r * r)
    }' "$WORK/uniform" >"$WORK/gravity$digits.csv"
    check "$digits digits" fit gravity$digits --target F --set symreg.enumerate=20000 \
        --set symreg.populations=8
    check "$digits digits: the law" equal 8 "$(chosen gravity$digits best)"
    check "$digits digits: ends the front" equal 8 "$(chosen gravity$digits accuracy)"
done
check "few rows make up the loss" grep -q '^- [0-9]* of 120 rows make up .*--weights relative' \
    "$WORK/gravity7/report.md"
check "few rows make up the loss: and --log-target" \
    grep -q -- '--log-target' "$WORK/gravity7/report.md"

# ---- weights, zeros, units
awk 'BEGIN {
    print "x,y,w,V,l,F,z"
    for (i = 1; i <= 40; i++)
        printf "%d,%.9g,%d,%.6f,%.6f,%.9g,%.9g\n",
            i, (i % 8 ? 2.5 * i + 1.2 : 1e6), (i % 8 ? 1 : 0), 1 + i % 7, 1 + i % 5 / 3,
            (1 + i % 7) ^ 2 + 0.3 * (i % 3), (i - 9) / 7
}' >"$WORK/mixed.csv"
check "rows of weight 0" fit mixed --target y --features x --weights w
share=$(sed -n 's/^| best | [0-9]* | \([^ ]*\) | \([^ ]*\) |.*/\1 \2/p' "$WORK/mixed/report.md")
check "rows of weight 0: leave 1 - R2 and the residual" awk -v v="$share" \
    'BEGIN { split(v, a, " "); exit !(a[1] != "" && a[1] < 1e-9 && a[2] < 1e-3) }'
check "a relative loss" fit mixed --target z --features x --loss relative
check "a relative loss: has a remark on zeros" grep -q '^- the target is 0 in 1 of 40 rows' \
    "$WORK/mixed/report.md"
check "a penalty" fit mixed --target F --features V,l --units 'V=volt,l=m,F=volt/m' \
    --units-penalty 1000
check_not "a penalty: V^2 pays it" grep -q ',"square(V)"' "$WORK/mixed/front.csv"
check "a penalty: a factor does not" \
    grep -q '\*.*square(V)\|square(V).*[*/]' "$WORK/mixed/front.csv"

finish
