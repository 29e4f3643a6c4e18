#!/usr/bin/env bash
# test_motion_categories.sh - symreg motion --category: equations of one form with constants of each
# track or of each value of a column, found and beside the truth; columns that cannot be used are
# refused.
. tests/cli/lib.sh
fast_pictures

# tracks NAME: a table of tracks by Runge and Kutta's rule, every value with 1% of normal noise:
# decays and pendulums with a friction of each run, logistic growth with a capacity of each dish
# (two runs in each), decays that are driven, by u and by the time
tracks() {
    awk -v name="$1" '
    function normal(  k, g) {
        g = -6
        for (k = 0; k < 12; k++) {
            seed = (seed * 69069 + 1) % 4294967296
            g += seed / 4294967296
        }
        return g
    }
    function rate(t, x, w) {
        fw = 0
        if (name == "decay") fx = -own * x
        if (name == "growth") fx = 0.7 * x - 0.7 * x * x / own
        if (name == "forced") fx = 0.8 * sin(1.3 * t) - own * x
        if (name == "driven") fx = 0.8 * sin(1.3 * t + r) - own * x
        if (name == "pendulum") { fx = w; fw = -2.3 * sin(x) - own * w }
    }
    BEGIN {
        seed = 11
        print name == "pendulum" ? "run,t,x,w" : name == "growth" ? "run,dish,t,x" \
            : name == "driven" ? "run,t,u,x" : "run,t,x"
        count = split(name == "decay" ? "0.3 0.5 0.8 1.1 1.7 2.2" \
            : name == "growth" ? "3 3 6 6 11 11" : name ~ "driven|forced" ? "0.4 0.9 1.5" \
            : "0.05 0.12 0.2 0.31 0.44 0.6", value, " ")
        rows = name == "decay" ? 40 : 60
        end = name == "decay" ? 2.5 : 10
        for (r = 1; r <= count; r++) {
            own = value[r]; w = 0.3 * (r - 1)
            x = name == "growth" ? own * (0.1 + 0.1 * r) : 1.2 + (name == "decay" ? 0.6 : -0.15) * r
            h = (name == "decay" ? end / own : end) / (rows - 1) / 20
            for (k = 0; k < rows * 20; k++) {
                t = k * h
                if (k % 20 == 0) {
                    printf "r%d,", r
                    if (name == "growth") printf "d%d,", (r + 1) / 2
                    printf "%.12g,", t
                    if (name == "driven") printf "%.12g,", sin(1.3 * t + r)
                    printf "%.12g", x + 0.01 * (name == "growth" ? x : 1) * normal()
                    printf name == "pendulum" ? ",%.12g\n" : "\n", w + 0.01 * normal()
                }
                rate(t, x, w); ax = fx; aw = fw
                rate(t + h / 2, x + h / 2 * ax, w + h / 2 * aw); bx = fx; bw = fw
                rate(t + h / 2, x + h / 2 * bx, w + h / 2 * bw); cx = fx; cw = fw
                rate(t + h, x + h * cx, w + h * cw)
                x += h / 6 * (ax + 2 * bx + 2 * cx + fx); w += h / 6 * (aw + 2 * bw + 2 * cw + fw)
            }
        }
    }'
}
FEW=(--time t --threads 1 --iterations 2 --maxsize 11 --set symreg.enumerate=20000)
motion() { # NAME OPTION...: the terminal in $WORK/NAME.txt, files in $WORK/NAME
    local name=$1
    shift
    program symreg motion "$WORK/$name.csv" "${FEW[@]}" --track run --out "$WORK/$name" "$@" \
        >"$WORK/$name.txt" 2>&1
}
for name in decay growth driven forced pendulum; do
    tracks $name >"$WORK/$name.csv"
done
awk -F, -v OFS=, 'NR > 1 { $2 = sprintf("%.9f", $2 + 2460000.5) } 1' "$WORK/forced.csv" \
    >"$WORK/dates.csv"
# near NAME K VALUE...: constant K of each category is VALUE within three standard errors, which are
# below 3% of it
cat >"$WORK/near.py" <<'END'
import json, sys
found = json.load(open(sys.argv[1]))["category_constants"]
of, exact = found[int(sys.argv[2]) - 1], [*map(float, sys.argv[3:])]
print(found)
assert len(of["values"]) == len(of["standard_errors"]) == len(exact), len(exact)
for value, error, true in zip(of["values"], of["standard_errors"], exact):
    assert abs(value - true) < 3 * error < 0.09 * abs(true), (value, error, true)
END
near() {
    local name=$1
    shift
    python3 "$WORK/near.py" "$WORK/$name/equations.json" "$@"
}
# equation NAME N PATTERN: the N-th right-hand side of the terminal's last lines, without errors
equation() {
    local found
    found=$(sed -n '/^equations, /,$p' "$WORK/$1.txt" | sed -n "$(($2 + 1))p" | sed 's/   (.*//')
    echo "$found"
    [[ $found =~ $3 ]]
}

# ---- decays, each run with a constant of its own
check "decays of each run are found" motion decay --state x --category run
check "decays have one form" equation decay 1 '^dx/dt = c1\[run\] \* x$'
check "decays have the constants of their runs" near decay 1 -0.3 -0.5 -0.8 -1.1 -1.7 -2.2
check "constants of each run are printed with errors" prints \
    '^  r3 +c1 = -0\.(79|80)[0-9]* \+- 0\.00[0-9]+$' cat "$WORK/decay.txt"
check "the report has constants of each run" grep -qF '| `r6` | -2.' "$WORK/decay/report.md"
check "the page has constants of each run" grep -q '<code>r6</code></td><td>-2\.' \
    "$WORK/decay/report.html"
check "the page's command has the category" grep -q -- '--category r1 --times' \
    "$WORK/decay/report.html"
simulate() { # CATEGORY
    program symreg simulate "$WORK/decay/equations.json" --start x=5 --times 0:2:0.5 --category "$1"
}
follows() { # another start, of the fifth run: 5 exp(-1.7 t) within 1.5%
    simulate r5 | awk -F, 'NR > 1 { off = $2 / (5 * exp(-1.7 * $1)) - 1; off = off < 0 ? -off : off
        if (off > worst) worst = off; n++ } END { print worst; exit !(n == 5 && worst < 0.015) }'
}
check "another start of a run is predicted" follows
refuse "a category is needed" 2 'equations.json: --category VALUE of "run" is needed: "r1"' -- \
    bin/symreg simulate "$WORK/decay/equations.json" --start x=5 --times 0:2:0.5
refuse "a category that is unknown" 2 '--category: expected a value of "run"' 'found "r9"' -- \
    simulate r9
echo '{"equations": ["-x0"]}' >"$WORK/plain.json"
refuse "a category of equations without" 2 'plain.json has no categories' -- \
    bin/symreg simulate "$WORK/plain.json" --start x0=5 --times 0:2:0.5 --category r1
cat >"$WORK/main.c" <<'END'
#include <stdio.h>
#include "equations.c"
int main(void)
{
    const double state[] = {2};
    double rate[1];
    for (int k = 0; k < 6; k++) {
        rhs(0, state, 0, k, rate);
        printf("%.17g\n", rate[0]);
    }
}
END
c_agrees() { # the C function with the numbers of equations.json
    cc -std=c99 -Wall -Werror -I "$WORK/decay" -o "$WORK/main" "$WORK/main.c" -lm &&
        "$WORK/main" >"$WORK/rates" && python3 - "$WORK" <<'END'
import json, sys
found = json.load(open(sys.argv[1] + "/decay/equations.json"))["category_constants"][0]["values"]
assert [*map(float, open(sys.argv[1] + "/rates"))] == [2 * value for value in found]
END
}
check "equations.c takes the number of a category" c_agrees

# ---- categories that several runs share, constants that all share
check "growth with capacities is found" motion growth --state x --category dish
check "growth shares its rate" equation growth 1 \
    '^dx/dt = (c1\[dish\] \* x \* x \+ 0\.[67][0-9]* \* x|0\.[67][0-9]* \* x [-+] .*c1\[dish\].*)$'
check "growth has -rate / capacity of each dish" near growth 1 -0.233333 -0.116667 -0.0636364
check "pendulums with friction are found" motion pendulum --state x,w --category run
check "pendulums have their velocity" equation pendulum 1 '^dx/dt = w$'
check "pendulums share gravity" equation pendulum 2 '2\.[23][0-9]* \* sin\(x\)'
check "pendulums have the friction of their runs" near pendulum 1 \
    -0.05 -0.12 -0.2 -0.31 -0.44 -0.6
check "driven decays are found" motion driven --state x --category run --input u
check "driven decays share the drive" equation driven 1 '0\.[78][0-9]* \* u'
check "driven decays have the constants of their runs" near driven 1 -0.4 -0.9 -1.5

# ---- Julian dates: what is found of the track from 0 on
by_time() { motion "$1" --state x --category run --explicit-time --unary sin; }
check "forced decays are found" by_time forced
check "forced decays have the time" equation forced 1 \
    '^dx/dt = (c1\[run\] \* x \+ )?0\.[78][0-9]* \* sin\((t \* )?1\.[23][0-9]*( \* t)?\)'\
'( [-+] c1\[run\] \* x)?$'
check "forced decays of Julian dates are found" by_time dates
check "the time of Julian dates counts from the first one" equation dates 1 \
    '^dx/dt = (c1\[run\] \* x \+ )?0\.[78][0-9]* \* sin\((\(t - 2460000\.5\) \* )?1\.[23][0-9]*'\
'( \* \(t - 2460000\.5\))?\)( [-+] c1\[run\] \* x)?$'
cat >"$WORK/alike.py" <<'END'
import json, sys
one, other = (json.load(open(f"{sys.argv[1]}/{name}/equations.json"))
              for name in ("forced", "dates"))
numbers = [sorted(found["constants"][0]) + found["category_constants"][0]["values"]
           for found in (one, other)]
print(numbers, other["standard_errors"])
assert numbers[1].pop(2) == 2460000.5 and other["standard_errors"][0].count(None) == 1
assert all(abs(a - b) < 1e-4 for a, b in zip(*numbers, strict=True))
END
check "Julian dates have the constants of times from 0 on" python3 "$WORK/alike.py" "$WORK"
follows_dates() { # the equations, solved at Julian dates, are 2 sigma of the first run or less off
    program symreg simulate "$WORK/dates/equations.json" --category r1 --start x=1.05 \
        --times "$WORK/r1.csv" | paste -d, "$WORK/r1.csv" - | awk -F, 'NR > 1 { off = $3 - $5
        sum += off * off; n++ } END { print sqrt(sum / n); exit !(n == 60 && sum / n < 4e-4) }'
}
awk -F, 'NR == 1 || $1 == "r1"' "$WORK/dates.csv" >"$WORK/r1.csv"
check "equations of Julian dates are solved at these" follows_dates

# ---- what cannot be used
sed 's/^r1,d1,0,/r1,d7,0,/' "$WORK/growth.csv" >"$WORK/changes.csv"
awk -F, 'NR == 1 || $1 == "r1"' "$WORK/changes.csv" >"$WORK/unlabelled.csv"
sed 's/,d[123],/,d1,/' "$WORK/growth.csv" >"$WORK/one.csv"
sed 's/^r2,d1,/r2,,/' "$WORK/growth.csv" >"$WORK/empty.csv"
awk 'BEGIN { print "run,t,x"; for (r = 0; r < 129; r++) for (i = 0; i < 8; i++)
    print "r" r "," i "," i * i + r }' >"$WORK/many.csv"
export OF="--track run --category"
for file in changes unlabelled one empty many growth; do
    declare "$file=$WORK/$file.csv"
done
refusals bin/symreg motion --time t --state x --out "$WORK/refused" <<'END'
a category that changes in a track | 1 'changes.csv:3:' 'found "d1"' | $changes $OF dish
a category that changes without tracks | 1 'need --track COLUMN' | $unlabelled --category dish
one category in all tracks | 1 'one.csv: column "dish": expected at least two' | $one $OF dish
an empty category | 1 'empty.csv:62: column "dish": expected a category' | $empty $OF dish
a state as category | 2 '--category: "x" is the time, a state or an input' | $growth $OF x
a category that is no column | 1 'growth.csv: no column "plate"' | $growth $OF plate
too many categories | 1 'expected at most 128 categories' | $many $OF run
END
refuse "a category of bodies" 2 '--category: needs --state or --general' -- \
    bin/symreg motion docs/data/planet_tracks.csv --time t_yr --position x_au,y_au --body body \
    --category body
check "nothing is written by a refusal" test ! -e "$WORK/refused"
finish
