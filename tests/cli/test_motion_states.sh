#!/usr/bin/env bash
# test_motion_states.sh - symreg motion --state and --general: from tracks of any dynamics to a
# system of equations; tracks that cannot be used are refused.
. tests/cli/lib.sh
fast_pictures
NORMAL='function normal(  k, g) { # of awk: a normal number from `seed`
        g = -6
        for (k = 0; k < 12; k++) {
            seed = (seed * 69069 + 1) % 4294967296
            g += seed / 4294967296
        }
        return g
    }'
# track NAME NOISE TRACKS: t, x, y of a system by Runge and Kutta's rule, with normal noise as a
# share of every value
track() {
    awk -v name="$1" -v noise="$2" -v tracks="$3" "$NORMAL"'
    function rate(x, y) {
        if (name == "wave") { fx = y; fy = -4 * x - 0.2 * y }
        if (name == "prey") { fx = 1.1 * x - 0.4 * x * y; fy = 0.1 * x * y - 0.4 * y }
        if (name == "pendulum") { fx = y; fy = -9.81 * sin(x) - 0.3 * y }
    }
    BEGIN {
        seed = 5; print "run,t,x,y"
        for (r = 1; r <= tracks; r++) {
            x = name == "prey" ? 10 - 3 * r : 2.4 / r; y = name == "prey" ? 5 : 0
            h = (name == "pendulum" ? 0.04 : 0.1) / 20
            for (k = 0; k < 120 * 20; k++) {
                if (k % 20 == 0)
                    printf "%s,%.12g,%.15g,%.15g\n", "r" r, k * h, x * (1 + noise * normal()),
                        y * (1 + noise * normal())
                rate(x, y); ax = fx; ay = fy
                rate(x + h / 2 * ax, y + h / 2 * ay); bx = fx; by = fy
                rate(x + h / 2 * bx, y + h / 2 * by); cx = fx; cy = fy
                rate(x + h * cx, y + h * cy)
                x += h / 6 * (ax + 2 * bx + 2 * cx + fx); y += h / 6 * (ay + 2 * by + 2 * cy + fy)
            }
        }
    }'
}
for name in wave prey pendulum; do
    track $name 0 1 >"$WORK/$name.csv"
    track $name 0.01 1 >"$WORK/noisy_$name.csv"
done
track prey 0.01 2 >"$WORK/two.csv"
# what a search of a second needs; the constants below are right within four standard errors
FEW=(--time t --threads 1 --iterations 2 --maxsize 13 --set symreg.enumerate=20000)
motion() { # NAME OPTION...: the terminal in $WORK/NAME.txt, files in $WORK/NAME
    local name=$1
    shift
    program symreg motion "$WORK/$name.csv" "${FEW[@]}" --out "$WORK/$name" "$@" \
        >"$WORK/$name.txt" 2>&1
}
# right NAME TOLERANCE F G: both right-hand sides of equations.py are F and G of x and y, to this
# share of the largest, at points of the track
right() {
    local f g
    f=$(sed -n 's/^    rate_.append(\(.*\))$/\1/p' "$WORK/$1/equations.py" | head -n 1)
    g=$(sed -n 's/^    rate_.append(\(.*\))$/\1/p' "$WORK/$1/equations.py" | tail -n 1)
    printf '%s\n%s\n' "$f" "$g"
    f=${f//np./} g=${g//np./}
    f=${f//\*\*/^} g=${g//\*\*/^}
    awk -F, "
        NR > 1 && NR % 4 == 0 {
            x = \$3; y = \$4
            a = ($f) - ($3); b = ($g) - ($4)
            a = a < 0 ? -a : a; b = b < 0 ? -b : b
            if (a > f) f = a
            if (b > g) g = b
            c = ($3); d = ($4)
            c = c < 0 ? -c : c; d = d < 0 ? -d : d
            if (c > F) F = c
            if (d > G) G = d
        }
        END { print f / F, g / G; exit !(NR > 100 && f < $2 * F && g < $2 * G) }" \
        "$WORK/${1#noisy_}.csv"
}

# ---- without noise and with 1% of every value
check "a damped oscillation" motion wave --state x,y
check "a damped oscillation: has its equations" right wave 1e-6 'y' '-4*x-0.2*y'
check "a damped oscillation: chosen by the track" prints 'chosen by the tracks' cat "$WORK/wave.txt"
check "a damped oscillation: and conserves nothing" lacks 'conserved' "$WORK/wave.txt"
check "a damped oscillation: at 1%" motion noisy_wave --state x,y
check "a damped oscillation: has them within 1%" right noisy_wave 0.01 'y' '-4*x-0.2*y'
check "a damped oscillation: and its noise is told" \
    prints 'noise of x, estimated: [01]\.[0-9]+% of its value' \
    cat "$WORK/noisy_wave.txt"
check "predator and prey" motion prey --state x,y
check "predator and prey: have their equations" right prey 1e-6 '1.1*x-0.4*x*y' '0.1*x*y-0.4*y'
check "predator and prey: conserve what they do" prints \
    '^conserved: x \+ 4 \* y - 4 \* log\(x\) - 11 \* log\(y\)$' \
    cat "$WORK/prey.txt"
check "predator and prey: stand beside their solution" prints \
    '^track,"t","x","x of the model","x residual in sigmas","y"' cat "$WORK/prey/solutions.csv"
solution_follows() { # in the table itself
    awk -F, 'NR > 1 { for (k = 0; k < 2; k++) { off = $(3 + 3 * k) - $(4 + 3 * k)
            off = off < 0 ? -off : off; if (off > worst) worst = off }; n++ }
        END { print worst, n; exit !(n == 120 && worst < 1e-4) }' "$WORK/prey/solutions.csv"
}
check "predator and prey: which follows the track" solution_follows
page=$WORK/prey/report.html
check "the page of predator and prey has their equations" grep -q \
    '<mi>d</mi><mi>x</mi></mrow><mrow><mi>d</mi><mi>t</mi></mrow></mfrac><mo>=</mo>' "$page"
check "the page of predator and prey has what they conserve" grep -q '<p>Conserved: <math>' "$page"
check "the page of predator and prey has the command" \
    grep -q 'symreg motion .*prey.csv --time t .*--state x,y</code>' "$page"
cat >"$WORK/charts.py" <<'END'
import json, re, sys
page = open(sys.argv[1]).read()
assert "://" not in page.replace("http://www.w3.org/", ""), "an address"
group, = json.loads(re.search(r'id="groups">(.*?)</script>', page)[1])
x, rest_x, y, rest_y, portrait = group["charts"]
for chart in x, y, portrait:
    assert len(chart["x"]) == 120
    assert max(abs(a - b) for a, b in zip(chart["y"], chart["curveY"])) < 1e-4
assert rest_x["residuals"] and len(rest_x["y"]) == 120
arrows = list(zip(*(portrait[k] for k in ("fieldX", "fieldY", "fieldDx", "fieldDy"))))
assert len(arrows) == 225, len(arrows)
for x, y, dx, dy in arrows: # 4 digits
    right = 1.1 * x - 0.4 * x * y, 0.1 * x * y - 0.4 * y
    assert abs(dx - right[0]) + abs(dy - right[1]) < 0.02, (x, y, dx, dy)
END
check "the page has tracks beside solutions, and the directions of the plane" \
    python3 "$WORK/charts.py" "$page"
if command -v gnuplot >/dev/null; then
    check "the page has tracks beside solutions: in a picture, too" \
        filled "$WORK/prey/solutions.png"
else
    skip "the page has tracks beside solutions: in a picture, too" "no gnuplot"
fi
# ---- equations that no solution follows, here dx/dt = x, which overflows: there is nothing to draw
awk 'BEGIN { print "t,x"; for (i = 0; i < 40; i++) printf "%d,%.9g\n", 50 * i, 20 + sin(i) }' \
    >"$WORK/lost.csv"
check "equations without a solution are reported" prints 'chosen by the derivatives: no solution' \
    bin/symreg motion "$WORK/lost.csv" --time t --state x --seconds 0.3 --quiet --unary exp \
    --binary '' --maxsize 2 --require x --out "$WORK/lost"
if command -v gnuplot >/dev/null; then
    check "equations without a solution are reported: and the track is drawn without them" \
        filled "$WORK/lost/solutions.png"
fi
mkdir "$WORK/mine"
for file in solutions.csv equations.json report.md report.html; do
    echo mine >"$WORK/mine/$file"
    refuse "another $file" 2 "mine/$file is not a file of an earlier search" -- "$BIN/symreg" \
        motion "$WORK/prey.csv" --time t --state x,y --quiet --out "$WORK/mine"
    check "another $file: which stays" equal "$(cat "$WORK/mine/$file")" mine
    rm "$WORK/mine/$file"
done
check "equations without a solution are reported: are searched again into their folder" \
    motion prey --state x,y
check "equations without a solution are reported: are simulated from their file" \
    program symreg simulate "$WORK/prey/equations.json" \
    --start x=7,y=5 --times "$WORK/prey.csv" --out "$WORK/solution.csv"
follows_track() { # the solution is the track to 1e-4
    paste -d, "$WORK/prey.csv" "$WORK/solution.csv" | awk -F, '
        NR > 1 { off = $3 - $6; off = off < 0 ? -off : off; if (off > worst) worst = off; n++ }
        END { print worst, n; exit !(n == 120 && worst < 1e-4) }'
}
check "equations without a solution are reported: and follow the track" follows_track
check "equations without a solution are reported: and say so in JSON" \
    prints '"conserved":' cat "$WORK/prey/equations.json"

# ---- what is refused
head -n 6 "$WORK/prey.csv" >"$WORK/few.csv"
awk -F, -v OFS=, 'NR == 5 { $2 = 0.1 } 1' "$WORK/prey.csv" >"$WORK/falls.csv"
awk -F, -v OFS=, 'NR > 1 { $3 = 1; $4 = 2 } 1' "$WORK/prey.csv" >"$WORK/point.csv"
awk -F, -v OFS=, 'NR > 1 { $4 = 2 } 1' "$WORK/prey.csv" >"$WORK/constant.csv"
awk -F, -v OFS=, 'NR > 60 { $2 += 100 } 1' "$WORK/prey.csv" >"$WORK/gap.csv"
awk -F, -v OFS=, 'NR == 7 { $3 = "nan" } 1' "$WORK/prey.csv" >"$WORK/nan.csv"
sed 's/^run,t,x,y/v_x,t,x,y/; s/^r1/1/' "$WORK/prey.csv" >"$WORK/clash.csv"
refusals program symreg motion <<'END'
states too few rows | 1 few.csv:6 "at least 8 rows, found 5" | "$WORK/few.csv" --time t --state x,y
states whose times fall | 1 falls.csv:5 '"t"' "found 0.1" | "$WORK/falls.csv" --time t --state x,y
states at one point | 1 point.csv:2 "one point" | "$WORK/point.csv" --time t --state x,y
a constant state | 1 constant.csv '"y"' "same number" | "$WORK/constant.csv" --time t --state x,y
a gap | 1 gap.csv:61 "a gap of 100" "line 60" --track | "$WORK/gap.csv" --time t --state x,y
a cell that is no number | 1 nan.csv:7 '"x"' finite | "$WORK/nan.csv" --time t --state x,y
two tracks without --track | 1 two.csv:122 --track | "$WORK/two.csv" --time t --state x,y
an unknown state | 1 prey.csv '"z"' | "$WORK/prey.csv" --time t --state x,z
a state twice | 2 --state '"x" stands twice' | "$WORK/prey.csv" --time t --state x,x
the time as an input | 2 '"t" is the time' explicit | "$WORK/prey.csv" --time t --state x --input t
an input that is a state | 2 --input '"x"' | "$WORK/prey.csv" --time t --state x,y --input x
a state that is the time | 2 --time '"t"' | "$WORK/prey.csv" --time t --state x,t
states and positions | 2 --state --position | "$WORK/prey.csv" --time t --state x --position y
states without a time | 2 --time | "$WORK/prey.csv" --state x,y
general without positions | 2 --position | "$WORK/prey.csv" --time t --general
masses of states | 2 --mass --state | "$WORK/prey.csv" --time t --state x,y --mass x
inputs of bodies | 2 --input --state | "$WORK/prey.csv" --time t --position x,y --input x
an unknown operator | 2 symreg.unary '"floor"' | "$WORK/prey.csv" --time t --state x --unary foo
units of a derivative | 2 --units dx/dt | "$WORK/prey.csv" --time t --state x,y --units dx/dt=m
END

# ---- fill values are named
awk -F, -v OFS=, 'NR % 20 == 5 { $3 = -999 } 1' "$WORK/prey.csv" >"$WORK/filled.csv"
fills() { # OPTION...: whether or not there is a law in such tracks
    program symreg motion "$WORK/filled.csv" --time t --seconds 0.05 --threads 1 "$@" \
        >"$WORK/filled.txt" 2>&1 || true
    grep 'column "x" is' "$WORK/filled.txt" || echo none
}
check "a fill value of states is named" prints \
    'column "x" is -999 in 6 rows, and .* --missing-value -999 leaves such rows out' \
    fills --state x,y
check "a fill value of positions is named" prints 'column "x" is -999 in 6 rows' \
    fills --position x,y --centre 0,0
check "a fill value is left out" prints '^none$' fills --state x,y --missing-value -999

# ---- uniform motion has no acceleration, by components and as a sum of vectors
awk 'BEGIN { print "t,x,y"
    for (i = 0; i < 60; i++) printf "%.17g,%.17g,%.17g\n", i / 10, 1 + i / 5, 3 - 0.07 * i }' \
    >"$WORK/uniform.csv"
uniform() { # --position COLUMNS
    program symreg motion "$WORK/uniform.csv" --time t --position "$1" --general --seconds 1 \
        --threads 1 --quiet
}
check "uniform motion" prints '^d2x/dt2 = 0$' uniform x
check "uniform motion in a plane" prints '^d2x/dt2 = 0 d2y/dt2 = 0$' \
    eval 'uniform x,y | grep ^d2 | xargs'
awk 'BEGIN { print "track,t,x"
    for (k = 0; k < 3; k++)
        for (i = 0; i < 60; i++) {
            t = i / 6
            noise = (k > 1) * sin(i ^ 3)
            printf "%d,%.17g,%.17g\n", k, t, k + 1 + (k + 0.5) * t - 5e-5 * t * t + noise
        } }' >"$WORK/slow.csv"
check "a slow acceleration of exact tracks beside a noisy one" prints '^d2x/dt2 = -0.0001 ' \
    program symreg motion "$WORK/slow.csv" --time t --position x --general --track track \
    --seconds 1 --threads 1 --maxsize 3 --quiet

# ---- noise, several tracks, and other kinds of systems
if quick; then finish; fi
check "equations without a solution are reported: at 1%" motion noisy_prey --state x,y
check "equations without a solution are reported: have them within 2%" \
    right noisy_prey 0.02 '1.1*x-0.4*x*y' '0.1*x*y-0.4*y'
check "equations without a solution are reported: from two tracks" \
    motion two --state x,y --track run
check "the page of two tracks shows each" grep -q '"label":"r2"' "$WORK/two/report.html"
check "the page of two tracks has constants with errors" grep -qE \
    '<td><code>dx/dt</code></td><td>[0-9.-]+</td><td>[0-9.e-]+' \
    "$WORK/two/report.html"
check "the page of two tracks has constants with errors: have them within 2%" \
    right two 0.02 '1.1*x-0.4*x*y' '0.1*x*y-0.4*y'
check "a pendulum by its angle" motion pendulum --position x --general --unary sin
check "a pendulum by its angle: has its acceleration" prints \
    '9\.8(0999|1)[0-9]*\)? \* sin\(x\)|sin\(x\) \* \(?-?9\.8(0999|1)' tail -n 1 "$WORK/pendulum.txt"
check "a pendulum by its angle: and friction" prints \
    '0\.(3|29999)[0-9]*\)? \* v_x|v_x \* \(?-?0\.(3|29999)' tail -n 1 "$WORK/pendulum.txt"
check "a pendulum by its angle: with velocity and acceleration in C" \
    prints 'rate_\+\+ = state_\[1\]' \
    cat "$WORK/pendulum/equations.c"
check "a pendulum by its angle: and in JSON" \
    prints '"velocities":.*"v_x"' cat "$WORK/pendulum/equations.json"

# ---- what acts from outside: x = a e^(-t / 2) + (2 sin t - 4 cos t) / 5 of dx/dt = sin t - x / 2
awk 'BEGIN {
    print "t,x,u"
    for (k = 0; k < 120; k++) {
        t = k * 0.1
        printf "%.12g,%.15g,%.15g\n", t, 2 * exp(-t / 2) + (2 * sin(t) - 4 * cos(t)) / 5, sin(t)
    }
}' >"$WORK/driven.csv"
check "a driven state" motion driven --state x --input u
check "a driven state: has its input" prints '^dx/dt = .*0\.50* \* x|x / 2|2 \* u|x \* 0\.50*' \
    tail -n 1 "$WORK/driven.txt"
check "a driven state: written as an input of the right-hand side" \
    prints 'const double u = input_\[0\]' \
    cat "$WORK/driven/equations.c"
check "a state driven by the time" motion driven --state x --explicit-time --unary sin
check "a state driven by the time: has the time" prints '^dx/dt = .*sin\(t' cat "$WORK/driven.txt"
check "a driven state is searched without --explicit-time" motion driven --state x --unary sin
check "a driven state has the time without --explicit-time" \
    prints '^dx/dt = .*sin\(t' tail -n 1 "$WORK/driven.txt"
check "a remark says that the time was chosen" \
    prints '^remark: t: chosen with the time' cat "$WORK/driven.txt"
check "equations.json says that the time was chosen" \
    grep -q '"explicit_time":.true' "$WORK/driven/equations.json"
check "formulas with the time have a folder of their own" \
    test -s "$WORK/driven/with_time/x/front.json"
cp -r "$WORK/driven/with_time" "$WORK/foreign_time"
check "the same folder, with the time asked for" motion driven --state x --explicit-time --unary sin
check "formulas of an earlier search with the time are gone" test ! -e "$WORK/driven/with_time"
mv "$WORK/foreign_time" "$WORK/driven/with_time"
echo "my own notes" >"$WORK/driven/with_time/x/report.md"
refuse "another report in with_time" 2 \
    "with_time/x/report.md is not a file of an earlier search" -- "$BIN/symreg" motion \
    "$WORK/driven.csv" --time t --state x --seconds 1 --out "$WORK/driven"
check "another report in with_time stays" \
    grep -q "my own notes" "$WORK/driven/with_time/x/report.md"
check "results beside a refused folder stay" test -s "$WORK/driven/equations.json"
for name in wave noisy_wave prey noisy_prey; do
    check "$name is not searched with the time" lacks 'with the time' "$WORK/$name.txt"
    check "$name is no noise" lacks 'more than a constant with noise' "$WORK/$name.txt"
done
# ---- a track of noise alone, and one beside a wave
awk "$NORMAL"'
    BEGIN {
        seed = 11; print "t,x,y"
        for (k = 0; k < 120; k++)
            printf "%.12g,%.9g,%.9g\n", k * 0.1, 3 + normal(), 2 * sin(k * 0.1) + 0.01 * normal()
    }' >"$WORK/noise.csv"
check "noise" motion noise --state x
check "noise is known as noise" prints '^remark: x: no formula explains this more than a constant' \
    cat "$WORK/noise.txt"
check "the report names a state that is noise" \
    grep -q '^Remark: `x`: no formula' "$WORK/noise/report.md"
check "noise conserves nothing" lacks 'conserved' "$WORK/noise.txt"
check "noise beside a wave" motion noise --state x,y
check "noise beside a wave is known as noise" prints '^remark: x: no formula explains this' \
    cat "$WORK/noise.txt"
shake() {
    program symreg motion "$WORK/noise.csv" --time t --position x,y --general --seconds 0.5 \
        --threads 1 --quiet --out "$WORK/shaken" >"$WORK/shaken.txt" 2>&1
}
check "noise of a position" shake
check "noise of a position is known as noise" prints '^remark: x.*: no formula explains this' \
    cat "$WORK/shaken.txt"
check "noise of a position has no symmetries" \
    lacks 'vectors:|evidence|conservative|central' "$WORK/shaken.txt"
check "equations.json of noise has no symmetries" lacks '"symmetry"' "$WORK/shaken/equations.json"

# ---- rows that are too far apart: four for each oscillation, then ten
for rows in 4 10; do
    awk -v rows=$rows "$NORMAL"'
        BEGIN {
            seed = 23; print "t,x"
            for (k = 0; k < 40; k++) {
                t = k + 0.05 * normal()
                printf "%.4f,%.4f\n", t, 3 * sin(6.2831853 * t / rows) + 0.05 * normal()
            }
        }' >"$WORK/apart$rows.csv"
    program symreg motion "$WORK/apart$rows.csv" --time t --position x --general --seconds 0.3 \
        --threads 1 --quiet >"$WORK/apart$rows.txt" 2>&1
done
check "rows that are too far apart are named" \
    prints '^remark: x: fewer than five rows for each oscillation' cat "$WORK/apart4.txt"
check "rows that are near enough are not" lacks 'fewer than five rows' "$WORK/apart10.txt"

# ---- files
keys() {
    grep -oE '^	"[a-z_]+"' "$WORK/prey/equations.json" | tr -d '\t"\n'
}
check "keys of equations.json" prints '^versionequationscolumnsordertimeexplicit_timeconstants' keys
check "the right-hand side compiles" ${CC:-cc} -std=c17 -Wall -Wextra -Werror -c -o "$WORK/rhs.o" \
    "$WORK/prey/equations.c"
check "each equation has its front" test -s "$WORK/prey/x/front.json" -a \
    -s "$WORK/prey/y/front.json"
check "units of derivatives follow" motion wave --state x,y --units 'x=m, y=m/s, t=s'
check "units of derivatives follow: and forbid others" prints 'dx/dt = y$' cat "$WORK/wave.txt"
cp "$WORK/prey/equations.json" "$WORK/before.json"
check "the same again" motion prey --state x,y --threads 2
check "the same again: whatever the threads" \
    same_file "$WORK/before.json" "$WORK/prey/equations.json"

stop() { # a search into the folder of an earlier one, once its first front is there
    local job k rc=0
    rm -f "$WORK/two/x/front.json"
    "$BIN/symreg" motion "$WORK/two.csv" --time t --state x,y --track run --seconds 30 \
        --threads 1 --quiet --out "$WORK/two" >"$WORK/stop.txt" 2>&1 &
    job=$!
    for ((k = 0; k < 200; k++)); do
        test -s "$WORK/two/x/front.json" && break
        sleep 0.1
    done
    kill -INT "$job"
    wait "$job" || rc=$?
    equal "$rc" 130
}
check "a search that is stopped" stop
check "a search that is stopped leaves no equations of an earlier one" equal \
    "$(cd "$WORK/two" && echo *.*)" '*.*'
refuse "tracks in a file of results" 2 'solutions.csv has the tracks' -- "$BIN/symreg" motion \
    "$WORK/prey/solutions.csv" --time t --state x,y --quiet --out "$WORK/prey"
check "tracks in a file of results stay" filled "$WORK/prey/solutions.csv"
finish
