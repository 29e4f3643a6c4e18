#!/usr/bin/env bash
# test_motion.sh - symreg motion: from positions to a law; tracks that cannot be used are refused.
. tests/cli/lib.sh
fast_pictures
PLANETS=docs/data/planet_tracks.csv
# what a search of seconds needs: few formulas
FEW=(--threads 1 --iterations 1 --maxsize 9 --set symreg.enumerate=5000)
# motion OUT OPTION...: a search, its texts in OUT.txt
motion() {
    local out=$1
    shift
    program symreg motion "${FEW[@]}" "$@" >"$out.txt" 2>&1
}

# ---- Newton's law from the planets by VSOP87: nine bodies that all attract each other
real=$WORK/real
check "planets" motion "$real" "$PLANETS" --time t_yr --position x_au,y_au,z_au --body body \
    --mass mass_msun --set symreg.enumerate=20000 --out "$real"
cat "$real.txt"
# F r^2 / (m1 m2) of pairs, mean
constant() { # PAIR LOW HIGH
    awk -F, -v pair="$1" -v low="$2" -v high="$3" '
        $2 "-" $3 == pair { sum += $8 * $5 ^ 2 / ($6 * $7); n++ }
        END { print pair, sum / n, n; exit !(n > 50 && sum / n > low && sum / n < high) }' \
        "$real/accelerations.csv"
}
check "columns" equal "system,body,other,t,r,m1,m2,F,sigma" \
    "$(head -n 1 "$real/accelerations.csv")"
check "the Sun and Venus: 4 pi^2 to 1e-6" constant sun-venus 39.47837 39.47846
check "the Sun and Neptune to 2e-4" constant sun-neptune 39.47 39.487
check "Jupiter and Saturn to 2%" constant jupiter-saturn 38.7 40.3
best() { # FRONT AWK-CONDITION on complexity and equation of the rule best
    sed -n 's/^ *\([0-9]*\) .*  \((.*)\|[a-z(].*\)   <- .*best.*/\1 \2/p' "$1"
}
check "the law: size 8, m1 m2 / r^2" prints '^8 ' best "$real.txt"
check "the law: size 8, m1 m2 / r^2: with a constant near 4 pi^2" \
    prints '39\.4[78]|0\.02533' best "$real.txt"
check "notations" prints 'latex' cat "$real/front.json"
check "noise is told" prints 'noise of a coordinate, estimated: ' cat "$real.txt"

# ---- a light third body, whose rows are left out as noise: the paths need both masses all the same
awk 'BEGIN {
    n = 3; m[0] = 1; m[1] = 0.3; m[2] = 0.002; seed = 1; h = 0.001
    split("-0.23 0.77 4", x, " "); split("-1.65 5.5 3.6", v, " "); print "t,body,m,x,y"
    for (i = 0; i < n; i++) { p[i] = x[i + 1]; q[i] = 0; u[i] = 0; w[i] = v[i + 1] }
    for (k = 0; k < 2000; k++) {
        for (i = 0; i < n && k % 10 == 0; i++) {
            printf "%.3f,%d,%g", k * h, i, m[i]
            for (d = 0; d < 2; d++) {
                g = -6; for (j = 0; j < 12; j++) {
                    seed = (seed * 69069 + 1) % 4294967296; g += seed / 4294967296
                }
                printf ",%.9f", (d ? q[i] : p[i]) + 0.015 * g
            }
            print ""
        }
        for (i = 0; i < n; i++) { a[i] = b[i] = 0
            for (j = 0; j < n; j++) if (i != j) {
                r = ((p[i] - p[j]) ^ 2 + (q[i] - q[j]) ^ 2) ^ 1.5
                a[i] += 39.478 * m[j] * (p[j] - p[i]) / r; b[i] += 39.478 * m[j] * (q[j] - q[i]) / r
            } }
        for (i = 0; i < n; i++) {
            u[i] += h * a[i]; w[i] += h * b[i]; p[i] += h * u[i]; q[i] += h * w[i]
        }
    }
}' >"$WORK/light.csv"
check "a light body" motion "$WORK/light" "$WORK/light.csv" --time t --position x,y --body body \
    --mass m --out "$WORK/light"
check "a light body: no row is of the pair without the first body" equal 0 \
    "$(grep -c '^,1,2,' "$WORK/light/accelerations.csv")"
check "a light body: the law may have both masses" prints '"r", "m1", "m2"' \
    cat "$WORK/light/front.json"
check "a light body: Newton's law by the paths, with both masses" \
    prints '^9 .*39\.[0-9]+ \* m1\) \* m2\) / \(r \* r' best "$WORK/light.txt"

# ---- a Yukawa force, uneven times, 1% of noise: its amplitude and length nearly cancel, so that
# fits to whole paths have to be continued
awk 'function noise(j, g) {
    g = -6
    for (j = 0; j < 12; j++) { seed = (seed * 69069 + 1) % 4294967296; g += seed / 4294967296 }
    return 0.02 * g
}
BEGIN {
    seed = 3; h = 0.004; split("1 0 -3", X, " "); split("0 2 0", Y, " ")
    split("0 -0.5 0.1", U, " "); split("0.8 0.1 -0.3", V, " "); print "run,t,x,y"
    for (k = 1; k <= 3; k++) { x = X[k]; y = Y[k]; u = U[k]; v = V[k]; at = 0
        for (i = 0; i <= 5000; i++) {
            if (i == at) {
                at += 11 + int(6 * (noise() + 0.5) + 1.5)
                printf "%d,%.3f,%.9f,%.9f\n", k, i * h, x + noise(), y + noise()
            }
            x += u * h / 2; y += v * h / 2; r = sqrt(x * x + y * y)
            f = exp(-r / 3) * (1 + r / 3) / r ^ 3
            u -= h * f * x; v -= h * f * y; x += u * h / 2; y += v * h / 2
        }
    }
}' >"$WORK/yukawa.csv"
program symreg motion --threads 1 --iterations 1 --maxsize 15 --set symreg.enumerate=5000 \
    "$WORK/yukawa.csv" --time t --position x,y --centre 0,0 --system run >"$WORK/yukawa.txt" 2>&1
check "the Yukawa force is chosen" prints \
    'best: a = 0\.33[0-9]* \* \(r \+ [23]\.[09][0-9]*\) / \(r\^2 \* exp\(r / [23]\.[09]' \
    cat "$WORK/yukawa.txt"

# ---- one body around a point that is in no row, uneven times, noise
orbit() { # NOISE CENTRE_X: e = 0.3, G M = 20
    awk -v noise="$1" -v cx="$2" 'BEGIN {
        seed = 1; print "t,x,y"
        for (k = 0; k < 160; k++) {
            seed = (seed * 69069 + 1) % 4294967296; t = k * 0.05 + 0.02 * seed / 4294967296
            M = sqrt(20 / 1.728) * t + 0.3; E = M
            for (i = 0; i < 40; i++) E = M + 0.3 * sin(E)
            printf "%.12g", t
            for (d = 0; d < 2; d++) {
                g = -6
                for (i = 0; i < 12; i++) {
                    seed = (seed * 69069 + 1) % 4294967296
                    g += seed / 4294967296
                }
                x = d ? 1.2 * sqrt(0.91) * sin(E) : 1.2 * (cos(E) - 0.3) + cx
                printf ",%.12g", x + noise * g
            }
            print ""
        }
    }'
}
orbit 0.01 3 >"$WORK/orbit.csv"
check "a hidden mass" motion "$WORK/hidden" "$WORK/orbit.csv" --time t --position x,y --centre 3,0 \
    --units "r=AU, a=AU/yr^2"
cat "$WORK/hidden.txt"
# near PATTERN VALUE TOLERANCE FILE: the number behind the pattern, where it stands last
near() {
    awk -v pattern="$1" -v value="$2" -v tolerance="$(awk "BEGIN { print $3 }")" '
        match($0, pattern) { x = substr($0, RSTART + RLENGTH) + 0; found = 1 }
        END { print x; exit !found || x < value - tolerance || x > value + tolerance }' "$4"
}
check "noise of 1% is told" near 'estimated: ' 0.01 0.002 "$WORK/hidden.txt"
check "G M / r^2" prints 'square' best "$WORK/hidden.txt"
check "the point is found" motion "$WORK/fit" "$WORK/orbit.csv" --time t --position x,y --centre fit
cat "$WORK/fit.txt"
check "the point is found: with its error" \
    near 'standard error of a coordinate ' 0.01 0.009 "$WORK/fit.txt"
error=$(sed -n 's/.*error of a coordinate //p' "$WORK/fit.txt")
check "the point is found: within three of it" near 'centre fit: ' 3 "${error:-0}*3" "$WORK/fit.txt"
gzip -c "$WORK/orbit.csv" >"$WORK/packed.csv.gz"
check "compressed, by the plain name" motion "$WORK/gz" "$WORK/packed.csv" --time t --position x,y \
    --centre 3,0 --units "r=AU, a=AU/yr^2"
check "compressed: gives the same front" equal "$(best "$WORK/hidden.txt")" "$(best "$WORK/gz.txt")"
check "compressed: a note says once which file was read" equal 1 \
    "$(grep -c 'packed.csv: no such file; read .*packed.csv.gz$' "$WORK/gz.txt")"

# ---- a search that goes on
check "a search in a folder" motion "$WORK/first" "$WORK/orbit.csv" --time t --position x,y \
    --centre 3,0 --out "$WORK/on"
check "its page has the track beside the model" grep -q '<h2>Tracks beside the model</h2>' \
    "$WORK/on/report.html"
near_model() { # the largest of the standard deviations between positions and model
    sed -n 's/.*"residuals":true.*"y":\[\([^]]*\)\].*/\1/p' "$WORK/on/report.html" |
        tr -s ',' '\n' | awk '{ n++; v = $1 < 0 ? -$1 : $1; most = v > most ? v : most }
            END { print n, most; exit !(n > 50 && most > 0 && most < 40) }'
}
check "its page has the track beside the model: which is near" near_model
mass() { # the hidden one, by the table: a r^2, weighted
    awk -F, 'NR > 1 { w = 1 / ($9 * $5 ^ 2) ^ 2; n += w; sum += w * $8 * $5 ^ 2 }
        END { print sum / n; exit !(sum / n > 19.4 && sum / n < 20.6) }' \
        "$WORK/on/accelerations.csv"
}
check "G M = 20 to 3%" mass
check "G M = 20 to 3%: goes on" \
    motion "$WORK/second" "$WORK/orbit.csv" --time t --position x,y --centre 3,0 \
    --out "$WORK/on" --resume --iterations 2
check "whole" motion "$WORK/whole" "$WORK/orbit.csv" --time t --position x,y --centre 3,0 \
    --out "$WORK/at_once" --iterations 2
check "whole: to the same bytes" same_file "$WORK/on/front.csv" "$WORK/at_once/front.csv"

# ---- accelerations relative to a body
check "relative to the Sun" motion "$WORK/sun" "$PLANETS" --time t_yr --position x_au,y_au,z_au \
    --body body --centre sun
check "relative to the Sun: needs no masses" prints 'acceleration a' cat "$WORK/sun.txt"

# ---- what is refused
KEEP=$WORK/keep
mkdir "$KEEP"
F=$WORK/track.csv
bad() { # NAME STATUS PATTERN TEXT OPTION...
    local name=$1 status=$2 pattern=$3
    printf "$4" >"$F"
    shift 4
    refuse "$name" "$status" "$pattern" -- timeout "$LIMIT" "$BIN/symreg" motion "$F" --quiet \
        --threads 1 --out "$KEEP/out" "$@"
}
TX="--time t --position x,y"
rows() { # BODY MASS FIRST-TIME
    local i
    for i in 1 2 3 4 5 6 7 8; do
        printf '%s' "$(($3 + i)),1.$((i * i)),2.$((i * 7 % 5)),$1,$2\n"
    done
}
eight="t,x,y,b,m\n$(rows a 1 0)" second=$(rows b 2 0) third=$(rows c 3 0) later=$(rows b 2 20)
bad "a time twice" 1 "$F:3: column \"t\": body \"a\": expected a time after 1 of line 2, found 1" \
    't,x,y,b\n1,2,3,a\n1,2,3,a\n' $TX --body b
bad "times that fall" 1 \
    "$F:4: column \"t\": body \"a\": expected a time after 2 of line 2, found 1" \
    't,x,y,b\n2,2,3,a\n1,2,3,b\n1,2,3,a\n' $TX --body b
bad "several bodies as one" 1 \
    'column "t": expected a time after 1 of line 2, found 1; rows of several bodies need --body' \
    't,x,y,b\n1,2,3,a\n1,2,3,b\n' $TX --centre 0,0
bad "few rows" 1 "$F:3: body \"a\": expected at least 8 rows, found 2" \
    't,x,y,b\n1,2,3,a\n2,2,3,a\n' $TX --body b
bad "one body" 1 'has one body, "a": a force needs two; --centre 0,0 is' "$eight" $TX --body b
bad "one body without a name, on a line" 1 \
    'the file has one body: a force needs two; --centre 0 is a point that pulls' \
    "$eight" --time t --position x
bad "NaN" 1 "$F:3: column \"x\": expected a finite number, found \"nan\"" \
    't,x,y\n1,2,3\n2,nan,3\n' $TX --centre 0,0
bad "no time" 1 'no column "t"; expected one of "x", "y"' 'x,y\n1,2\n' $TX
bad "a column of positions twice" 2 '"x" stands twice' "$eight" --time t --position x,x
bad "too many columns" 2 'at most 3 columns' "$eight" --time t --position x,y,t,m
bad "a mass of 0" 1 "$F:2: column \"m\": expected a mass above 0, found 0" \
    't,x,y,b,m\n1,1,1,a,0\n' $TX --mass m
bad "a mass that changes" 1 \
    "$F:3: column \"m\": body \"a\": expected the mass 1 of line 2, found 2" \
    't,x,y,b,m\n1,1,1,a,1\n2,1,1,a,2\n' $TX --mass m --body b
bad "a mass that changes in its last digits" 1 \
    'expected the mass 0.57243851400000001 of line 2, found 0.57243851400099999' \
    't,x,y,b,m\n1,1,1,a,0.572438514\n2,1,1,a,0.572438514001\n' $TX --mass m --body b
bad "a time that falls by its last digits" 1 \
    'expected a time after 2459740.5000000019 of line 2, found 2459740.5000000009' \
    't,x,y,b\n2459740.500000002,1,1,a\n2459740.500000001,1,1,a\n' $TX --body b
bad "no masses of three" 2 'give --mass COLUMN' "$eight$second$third" $TX --body b
bad "no such centre" 1 "--centre: no body \"c\"" "$eight$second" $TX --body b --centre c
bad "a centre of three" 2 'expected 2 coordinates, as --position has, found 3' "$eight" $TX \
    --centre 1,2,3
bad "no common times" 1 'no time at which all bodies' "$eight$later" $TX --body b
bad "a target" 2 '--target: belongs to a table (FILE.csv), not to symreg motion' "$eight" $TX \
    --target x
# a table is not replaced by a result, and only a search that runs writes
mkdir "$KEEP/out"
cp "$WORK/orbit.csv" "$KEEP/out/accelerations.csv"
refuse "a table of a result's name" 2 'accelerations.csv is the table, and would be replaced' -- \
    "$BIN/symreg" motion "$KEEP/out/accelerations.csv" $TX --centre 3,0 --quiet --out "$KEEP/out"
check "a table of a result's name: is kept" \
    same_file "$WORK/orbit.csv" "$KEEP/out/accelerations.csv"
rm -r "$KEEP/out"
ways() { # NAME STATUS PATTERN OPTION...: no file of a refused search, and none of another one
    local name=$1 status=$2 pattern=$3
    shift 3
    refuse "$name" "$status" "$pattern" -- "$BIN/symreg" motion "$WORK/orbit.csv" $TX --quiet \
        --centre 3,0 --out "$KEEP/out" "$@"
    check "$name: without a file" test ! -e "$KEEP/out"
}
ways "a unit of no column" 2 '"x" is no feature' --units x=m
ways "a guess of no column" 2 '--guess' --guess 'q'
sed '2d' "$WORK/orbit.csv" >"$WORK/less.csv"
cp -r "$WORK/on" "$WORK/other"
refuse "a checkpoint of another table" 1 'the table is another one' -- "$BIN/symreg" motion \
    "$WORK/less.csv" $TX "${FEW[@]}" --centre 3,0 --quiet --out "$WORK/other" --resume
check "a checkpoint of another table: keeps its accelerations" \
    same_file "$WORK/on/accelerations.csv" \
    "$WORK/other/accelerations.csv"
rm "$WORK/other/accelerations.csv"
check "resumed without them" motion "$WORK/again" "$WORK/orbit.csv" $TX --centre 3,0 --resume \
    --iterations 3 --out "$WORK/other"
check "resumed without them: they are written" \
    same_file "$WORK/on/accelerations.csv" "$WORK/other/accelerations.csv"
check "a search of them in the same folder" "$BIN/symreg" "$WORK/other/accelerations.csv" \
    --target a --quiet --seconds 1 --iterations 1 --out "$WORK/other"
check "a search of them in the same folder: keeps them" \
    same_file "$WORK/on/accelerations.csv" "$WORK/other/accelerations.csv"
awk 'BEGIN { print "t,x,y"; for (i = 0; i < 200; i++) {
    t = i * 10 / 199; printf "%.17g,%.17g,%.17g\n", t, 3 * t, 2 * t + 1 } }' >"$WORK/free.csv"
refuse "no force" 1 'that forces bend, found straight lines within the noise' -- \
    "$BIN/symreg" motion "$WORK/free.csv" $TX --centre 0,0 --quiet
awk -F, -v OFS=, 'NR > 1 { $2 += 0.01 * sin(NR * NR); $3 += 0.01 * cos(NR ^ 3) } 1' \
    "$WORK/free.csv" >"$WORK/noisy.csv"
refuse "no force: with noise" 1 'straight lines within the noise' -- \
    "$BIN/symreg" motion "$WORK/noisy.csv" $TX --centre 0,0 --quiet
bad "no positions" 2 'motion needs --time COLUMN and --position' "$eight" --time t
refuse "of a table" 2 '--time: belongs to symreg motion' -- "$BIN/symreg" "$F" --target x --time t
refuse "no file" 2 'expected TRACKS.csv' -- "$BIN/symreg" motion $TX
if quick; then finish; fi

# a fly-by: few strong rows among many weak ones
awk 'BEGIN { x = -20; y = 1.5; v = 1; w = 0; h = 0.002; print "t,x,y"
for (i = 0; i <= 20000; i++) {
    if (i % 200 == 0)
        printf "%.6f,%.6f,%.6f\n", i * h, x + 0.001 * sin(i * i), y + 0.001 * cos(i ^ 3)
    r = sqrt(x * x + y * y) ^ 3; v -= h * x / r; w -= h * y / r; x += h * v; y += h * w } }' \
    >"$WORK/fly.csv"
check "a fly-by" motion "$WORK/fly" "$WORK/fly.csv" $TX --centre 0,0
check "a fly-by: has its law" prints '^3 (inv.square.r|square.inv.r)' best "$WORK/fly.txt"
# distances within their errors say nothing of the dependence on r
awk 'BEGIN { print "t,x,y"; for (i = 0; i < 100; i++) { t = i / 25
    printf "%.6f,%.9g,%.9g\n", t, cos(6.283185307179586 * t) + 0.001 * sin(i * i),
        sin(6.283185307179586 * t) + 0.001 * cos(i ^ 3) } }' >"$WORK/circle.csv"
check "a circle" motion "$WORK/circle" "$WORK/circle.csv" $TX --centre 0,0
check "a circle: is said to tell little" prints 'hardly how it depends on r' cat "$WORK/circle.txt"
check "a circle: not so an ellipse" lacks 'hardly how it depends on r' "$WORK/hidden.txt"
# what a remark and the front say of the law that paths chose, of 8 rows
cat >"$WORK/few.csv" <<'EOF'
t,x,y
0.00000000,1.40012882,0.00014494
0.42857143,1.16453928,0.59069934
0.85714286,0.45345963,0.91521259
1.28571429,-0.50684723,0.38640676
1.71428571,-0.11001310,-0.78843397
2.14285714,0.82664569,-0.82915381
2.57142857,1.32724677,-0.34333828
3.00000000,1.35378147,0.27489092
EOF
few() { # OPTION...: a search with $TX about the origin
    program symreg motion "$WORK/few.csv" $TX --centre 0,0 --evaluations 3000 --threads 1 "$@" \
        --set symreg.seconds=0
}
few >"$WORK/few.txt" 2>&1
few --maxsize 4 >"$WORK/fewer.txt" 2>&1
residual() {
    grep -oE 'residuals are [0-9.]+' "$1"
}
check "residuals are those of the chosen law, whatever other laws leave" \
    equal "$(residual "$WORK/fewer.txt")" "$(residual "$WORK/few.txt")"
check "its constant by the paths is given with its error" \
    prints '1 path chose this law.*errors: 4\.999[0-9]* \+- 0\.0005' cat "$WORK/few.txt"
check "chi^2 is that of the paths" \
    prints '^remark: .* chi\^2 = [0-9.]+ with [0-9]+ degrees .*positions along the paths' \
    cat "$WORK/few.txt"
check "the law has the error that the paths give" \
    prints '^best: a = .* \(.*\+- 0\.0005; R2' tail -n 1 "$WORK/few.txt"
# ---- three bodies, which are integrated together
awk '
    function noise() { n++; return 1.4e-3 * sin(1.7 * n * n) } # of rms 1e-3
    function pull(i, j, dx, dy, f) {
        dx = x[j] - x[i]; dy = y[j] - y[i]; f = 20 / (dx * dx + dy * dy)^1.5
        ax[i] += f * m[j] * dx; ay[i] += f * m[j] * dy
        ax[j] -= f * m[i] * dx; ay[j] -= f * m[i] * dy
    }
    function pulls(i) {
        for (i = 1; i <= 3; i++) ax[i] = ay[i] = 0
        pull(1, 2); pull(1, 3); pull(2, 3)
    }
    BEGIN {
        print "t,b,x,y,m"; h = 0.0005
        m[1] = 1; m[2] = 0.1; m[3] = 0.2; x[2] = 1; y[3] = 2.5; v[2] = 4.4; u[3] = -3; u[1] = 0.6
        v[1] = -0.44
        pulls()
        for (k = 0; k < 80; k++) {
            for (i = 1; i <= 3; i++)
                printf "%.9g,%s,%.9g,%.9g,%g\n", k * 0.04, substr("abc", i, 1),
                    x[i] + noise(), y[i] + noise(), m[i]
            for (s = 0; s < 80; s++) {
                for (i = 1; i <= 3; i++) {
                    u[i] += h / 2 * ax[i]; v[i] += h / 2 * ay[i]; x[i] += h * u[i]; y[i] += h * v[i]
                }
                pulls()
                for (i = 1; i <= 3; i++) { u[i] += h / 2 * ax[i]; v[i] += h / 2 * ay[i] }
            }
        }
    }' >"$WORK/triple.csv"
program symreg motion "$WORK/triple.csv" $TX --body b --mass m --evaluations 3000 --threads 1 \
    --set symreg.seconds=0 --maxsize 12 --out "$WORK/triple" >"$WORK/triple.txt" 2>&1
check "three paths choose a law" prints 'remark: 3 paths chose this law' cat "$WORK/triple.txt"
check "it is the law of the three, within its error" \
    prints '^best: F = .*m1.*\((19\.9[89]|20\.0[01])[0-9]* \+- 0\.00' tail -n 1 "$WORK/triple.txt"
check "chi^2 of three bodies is that of the paths" \
    prints ' with 467 degrees .*positions along the paths' cat "$WORK/triple.txt"
check "report.md has their standard error" \
    prints '^\| (19\.9|20\.0|0\.0[0-9]*)[0-9.]* \| 0\.0' cat "$WORK/triple/report.md"
check "the front has a column of the paths' losses" prints '^complexity +loss  of the paths ' \
    cat "$WORK/triple.txt"
loss_of_paths() { # of the chosen row: chi^2 of the remark over its degrees of freedom
    python3 - "$WORK" <<'END'
import json, re, sys
rows = json.load(open(sys.argv[1] + "/triple/front.json"))["front"]
chosen = next(row for row in rows if "best" in row["selected_by"])
text = open(sys.argv[1] + "/triple.txt").read()
chi2, freedom = map(float, re.search(r"chi\^2 = (\S+) with (\d+) degrees", text).groups())
print(chosen["path_loss"], chi2 / freedom, [row["path_loss"] for row in rows])
assert abs(chosen["path_loss"] / (chi2 / freedom) - 1) < 1e-3 and rows[0]["path_loss"] is None
END
}
check "the loss of the paths is not chi^2 over its degrees of freedom" loss_of_paths
check "front.json has no profile of the table beside it" lacks 'low_95' "$WORK/triple/front.json"
check_not "the front has no second form of the same law" grep -qF '(r * r))' "$WORK/few.txt"
bad "a logarithm of negative accelerations" 1 'table of motion:' \
    't,x,y\n1,1,0\n2,2,0\n3,4,0\n4,7,0\n5,11,0\n6,16,0\n7,22,0\n8,29,0\n9,37,0\n' \
    $TX --centre 0,0 --log-target
finish
