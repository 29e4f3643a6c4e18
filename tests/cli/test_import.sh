#!/usr/bin/env bash
# test_import.sh - tracks of other programs as data sets: `orbits import`, and every stage on the
# folder that it writes. The tracks: a double pendulum by Runge and Kutta's method of order 4, three
# bodies by leapfrog, circles by NumPy 2.4.6 (tests/cases/tracks: circles.npz has positions, v, t
# and m of six systems of two bodies; space.npy three coordinates; others.npz has
# types that are not read).
. tests/cli/lib.sh
PROGRAMS="$PROGRAMS probe" # refuse() knows the programs by name
fast_pictures
CASES=tests/cases/tracks
N=$CASES/circles.npz A=$CASES/circles.npy O="--out $WORK/run" T=$WORK/three.csv

# Double pendulums of unit lengths and masses, columns side by side; the last rows of every run are
# left out where GAP is 1 in place of a constant step.
pendulums() {
    awk -v gap="${1:-0}" '
    function slope(y, d,   s, c, den) {
        s = sin(y[1] - y[2]); c = cos(y[1] - y[2]); den = 3 - cos(2 * (y[1] - y[2]))
        d[1] = y[3]; d[2] = y[4]
        d[3] = -3 * g * sin(y[1]) - g * sin(y[1] - 2 * y[2])
        d[3] = (d[3] - 2 * s * (y[4] ^ 2 + y[3] ^ 2 * c)) / den
        d[4] = 2 * s * (2 * y[3] ^ 2 + 2 * g * cos(y[1]) + y[4] ^ 2 * c) / den
    }
    function step(h,   i) {
        slope(y, p); for (i = 1; i <= 4; i++) z[i] = y[i] + h / 2 * p[i]
        slope(z, q); for (i = 1; i <= 4; i++) z[i] = y[i] + h / 2 * q[i]
        slope(z, r); for (i = 1; i <= 4; i++) z[i] = y[i] + h * r[i]
        slope(z, w); for (i = 1; i <= 4; i++) y[i] += h / 6 * (p[i] + 2 * q[i] + 2 * r[i] + w[i])
    }
    BEGIN {
        g = 9.81; print "run,t,x1,y1,x2,y2"
        for (n = 1; n <= 20; n++) {
            y[1] = sin(n); y[2] = cos(2.3 * n); y[3] = y[4] = 0
            for (k = 0; k < 20; k++) {
                if (!gap || k != 7)
                    printf "%d,%.4f,%.9g,%.9g,%.9g,%.9g\n", n, k * 0.05, sin(y[1]), -cos(y[1]),
                        sin(y[1]) + sin(y[2]), -cos(y[1]) - cos(y[2])
                for (j = 0; j < 5; j++) step(0.01)
            }
        }
    }'
}

# Three bodies under Newton's law: a row a body, with velocities and masses.
three_bodies() {
    awk '
    function pull(   i, j, dx, dy, r3) {
        for (i = 1; i <= 3; i++) ax[i] = ay[i] = 0
        for (i = 1; i <= 3; i++) for (j = 1; j <= 3; j++) if (i != j) {
            dx = x[j] - x[i]; dy = y[j] - y[i]; r3 = (dx * dx + dy * dy) ^ 1.5
            ax[i] += 39.4784176 * m[j] * dx / r3; ay[i] += 39.4784176 * m[j] * dy / r3
        }
    }
    BEGIN {
        m[1] = 0.001; m[2] = 0.002; m[3] = 1; print "t,system,name,x,y,vx,vy,m"
        for (s = 0; s < 12; s++) {
            for (i = 1; i <= 2; i++) {
                a = i + 0.02 * s; u = 6.2832 / sqrt(a); x[i] = a * cos(s * i); y[i] = a * sin(s * i)
                vx[i] = -u * sin(s * i); vy[i] = u * cos(s * i)
            }
            x[3] = y[3] = vx[3] = vy[3] = 0; pull()
            for (k = 0; k < 24; k++) {
                for (i = 1; i <= 3; i++)
                    printf "%.5f,s%02d,%s,%.10g,%.10g,%.10g,%.10g,%g\n", k * 0.05, s,
                        substr("abc", i, 1), x[i], y[i], vx[i], vy[i], m[i]
                for (n = 0; n < 10; n++) {
                    for (i = 1; i <= 3; i++) {
                        vx[i] += ax[i] * 0.0025; vy[i] += ay[i] * 0.0025
                        x[i] += vx[i] * 0.005; y[i] += vy[i] * 0.005
                    }
                    pull()
                    for (i = 1; i <= 3; i++) { vx[i] += ax[i] * 0.0025; vy[i] += ay[i] * 0.0025 }
                }
            }
        }
    }'
}
pendulums >"$WORK/pendulums.csv"
three_bodies >"$WORK/three.csv"
PEND=("$WORK/pendulums.csv" --time t --position x1,y1,x2,y2 --system run)
THREE=("$WORK/three.csv" --time t --position x,y --body name --system system)

# ---- the folder that is written
pend=$WORK/pend
check "columns side by side" prints 'train 16, val 2, test 2' \
    program orbits import "${PEND[@]}" --out "$pend"
check "columns side by side: whole" program orbits verify "$pend"
check "columns side by side: whole: nothing but data" \
    only '(coords|num_bodies)_(train|val|test)\.npy|manifest\.json' "$pend"
check "columns side by side: of whole systems in units of the file" \
    prints 'time step    0.05 to 0.05 in the unit of the file' \
    program orbits stat "$pend"
check "columns side by side: shown without elements" prints 'imported tracks of pendulums.csv' \
    program orbits show "$pend"
times "$pend" >"$WORK/times"
check "the same tracks again: up to date" prints 'up to date' \
    program orbits import "${PEND[@]}" --out "$pend"
check "the same tracks again: up to date: no file was written" \
    equal "$(cat "$WORK/times")" "$(times "$pend")"
cp -r "$pend" "$WORK/kept"
# a stopped import: files without a manifest, and the file that says whose they are
mv "$WORK/kept/manifest.json" "$WORK/kept/progress.json"
rm "$WORK/kept/coords_test.npy"
check "a stopped import goes on" program orbits import "${PEND[@]}" --out "$WORK/kept"
check "a stopped import goes on: with the same bytes" same_files "$pend" "$WORK/kept"

# Every system stands in one set alone, and every row of the file in the order of the file.
rows() { # SET: "x y" of the exported rows
    awk -F, 'NR > 1 { printf "%.3f %.3f\n", $6, $7 }' "$WORK/csv/$1.csv"
}
check "exported" program orbits export "$pend" --csv --out "$WORK/csv"
{ rows train; rows val; rows test; } >"$WORK/rows"
check "all rows are there" equal "$(wc -l <"$WORK/rows")" 800
# (the two bodies of all systems begin elsewhere)
starts_of_all() {
    awk -F, '$3 == 0 && FNR > 1 { print $6, $7 }' "$WORK"/csv/{train,val,test}.csv
}
check "no system is in two sets" equal "$(starts_of_all | sort -u | wc -l)" 40
# a sequence: all rows of one run, as they follow each other
first=$(rows val | head -n 40 | tr '\n' ';')
check "steps follow each other, bodies side by side" awk -F, -v first="$first" '
    NR > 1 { all = all sprintf("%.3f %.3f;%.3f %.3f;", $3, $4, $5, $6) }
    END { exit !(length(first) > 300 && index(all, first)) }' "$WORK/pendulums.csv"
check "another seed" program orbits import "${PEND[@]}" --seed 5 --out "$WORK/seed"
check "another seed: other systems" other_file "$pend/coords_val.npy" "$WORK/seed/coords_val.npy"

three=$WORK/three
check "a row a body, velocities, masses" \
    program orbits import "${THREE[@]}" --velocity vx,vy --mass m --out "$three"
check "a row a body, velocities, masses: whole" program orbits verify "$three"
check "a row a body, velocities, masses: whole: exported" \
    program orbits export "$three" --csv --split test --out "$WORK/csv"
check "a row a body, velocities, masses: whole: with masses" \
    prints ',0\.00200000009$' awk -F, 'NR == 3' "$WORK/csv/test.csv"
check "NumPy's arrays" prints '6 systems, sequences of 41 positions: train 4, val 1, test 1' \
    program orbits import $N --out "$WORK/circles"
check "NumPy's arrays: masses and velocities of the .npz" \
    test -s "$WORK/circles/velocity_train.npy" -a \
    -s "$WORK/circles/mass_train.npy"
check "NumPy's arrays: an array without times" \
    program orbits import $A --dt 0.25 --out "$WORK/array"
check "NumPy's arrays: the same positions" \
    same_file "$WORK/circles/coords_train.npy" "$WORK/array/coords_train.npy"
check "units: d and AU" program orbits import $N --units d,1 --out "$WORK/days"
check "units: d and AU: ln of 0.25 d in years" prints '0\.00068445 to 0\.00068445 yr' \
    program orbits stat "$WORK/days"

# the heading of Horizons, with twelve rows of a circle of 2.5 AU in place of its three
awk '/^\$\$SOE/ { print; for (k = 0; k < 12; k++)
        printf "%.9f, A.D., %.15E, %.15E, 0,0,0,0,0,0,0,\n",
        2459740.5 + 10 * k, 2.5 * cos(0.04 * k), 2.5 * sin(0.04 * k) }
    /^\$\$EOE/ { skip = 0 } !skip && !/^\$\$SOE/ { print } /^\$\$SOE/ { skip = 1 }' \
    tests/cases/layouts/horizons_vectors.csv.txt >"$WORK/horizons.txt"
check "Horizons: a body around the origin" prints '1 system, sequences of 25 positions' \
    program orbits import "$WORK/horizons.txt" --time JDTDB --position X,Y --origin \
    --val 0 --test 0 --out "$WORK/horizons"
check "Horizons: a body around the origin: in years and AU, which the file names" \
    prints 'time step    0\.027378 to 0\.027378 yr$' \
    program orbits stat "$WORK/horizons"
check "Horizons: a body around the origin: of two bodies" \
    prints 'bodies       2: 1' program orbits stat "$WORK/horizons"

# ---- uneven times
pendulums 1 >"$WORK/gap.csv"
GAP=("$WORK/gap.csv" "${PEND[@]:1}" --out "$WORK/gap")
refuse "uneven times" 1 'system "1"' 'uneven times' '--resample STEP' -- \
    program orbits import "${GAP[@]}"
check "interpolated" prints 'the error is at most about [0-9e.-]+ of the size' \
    program orbits import "${GAP[@]}" --resample 0.05
# the sixth-order interpolation finds the row that was left out
check "interpolated: exported" \
    program orbits export "$WORK/gap" --csv --split train --out "$WORK/csv" --quiet
check "interpolated: to what was left out" awk -F, '
    NR == FNR { if (FNR > 1) was[$1, $2 * 20] = $5; next }
    FNR > 1 && $5 == 2 && $3 == 0 {
        for (run = 1; run <= 20; run++) if ((was[run, 0] - $6) ^ 2 < 1e-12) this = run
    }
    FNR > 1 && $5 == 2 && $3 == 7 {
        n++; d = (was[this, 7] - $6) ^ 2; worst = d > worst ? d : worst
    }
    END { exit !(n == 16 && worst < 1e-5) }' "$WORK/pendulums.csv" "$WORK/csv/train.csv"
awk -F, 'NR == 1 || $2 < 0.2 || $2 > 0.7' "$WORK/pendulums.csv" >"$WORK/hole.csv"
refuse "a gap too wide to interpolate" 1 'too far apart to interpolate' 'system "1"' -- \
    program orbits import "$WORK/hole.csv" "${PEND[@]:1}" --resample 0.05 --out "$WORK/hole"

# ---- systems of one's own: the same throws under two laws
cat >"$WORK/throws.csv" <<'END'
system,m,x,y,vx,vy
circle,0.5,0.5,0,0.3,3.14159265
circle,0.5,-0.5,0,0.3,-3.14159265
three,0.001,1,0,0,6.2831853
three,0.002,-2,0.1,0.1,-4.4
three,1,0,0,0,0
END
throws() { # LAW: the exported rows of two periods
    program orbits --systems "$WORK/throws.csv" --steps 41 --set orbits.dt_yr=0.05 \
        --set orbits.law="$1" --out "$WORK/throws-$1" --quiet &&
        program orbits export "$WORK/throws-$1" --csv --out "$WORK/throws-$1" --quiet &&
        cat "$WORK/throws-$1/train.csv"
}
check "own state vectors" throws newton
# a circle of period 1 yr around a centre of mass that moves by 0.3 AU/yr
check "own state vectors: after a period where Newton has them" awk -F, '
    $1 == 0 && $3 == 20 && $5 == 1 {
        n++; d = ($6 - 0.8) ^ 2 + $7 ^ 2; v = ($8 - 0.3) ^ 2 + ($9 - 3.14159265) ^ 2
    }
    END { exit !(n == 1 && d < 1e-11 && v < 1e-9) }' "$WORK/throws-newton/train.csv"
check "own state vectors: under another law" throws yukawa
starts() {
    grep -E '^[01],,0,' "$1/train.csv"
}
check "own state vectors: under another law: with exactly the same starts" \
    same_by starts "$WORK/throws-newton" "$WORK/throws-yukawa"
check "own state vectors: and other orbits" \
    other_file "$WORK/throws-newton/train.csv" "$WORK/throws-yukawa/train.csv"
check "own state vectors: all bodies attract each other, masses as given" \
    prints '^1,,0,0,2,-2,0\.1[0-9]*,0\.1[0-9]*,-4\.4[0-9]*,0\.00200000009$' \
    starts "$WORK/throws-newton"
cat >"$WORK/elements.csv" <<'END'
system,m,a,e,omega,phase,dt
ellipse,0.25,1.5,0.3,0,0,0.01
ellipse,0.75,,,,,0.01
END
check "own elements" program orbits --systems "$WORK/elements.csv" --steps 10 --out "$WORK/elements"
check "own elements: a periapsis of a (1 - e) around the barycentre" \
    prints '^0,,0,0,1,0\.787500024,[0-9.e-]*,[0-9.e-]*,5\.2434[0-9]*,0\.25$' \
    sh -c "'$BIN/orbits' export '$WORK/elements' --csv --quiet && cat '$WORK/elements/train.csv'"
THROWS=$WORK/throws.csv PN=orbits.law=post_newtonian
printf 'system,m,x,y,vx\na,1,0,0,0\n' >"$WORK/short.csv"
printf 'system,m,x,y,vx,vy\na,1,0,0,0,0\n' >"$WORK/alone.csv"
printf 'm,x,y,vx,vy\n1,0,0,0,0\n0,1,0,0,6\n' >"$WORK/massless.csv"
sed 's/ellipse,0.75,,,,/ellipse,0.75,1,0,0,0/' "$WORK/elements.csv" >"$WORK/headless.csv"
refusals program orbits <<END
a column is missing | 1 'no column "vy"' 'short.csv' | --systems $WORK/short.csv $O
one body | 1 'system "a"' 'expected 2 to 11 bodies, found 1' | --systems $WORK/alone.csv $O
no mass | 1 'column "m"' 'above 0' 'found 0' | --systems $WORK/massless.csv $O
no central body | 1 'one row without elements' 'found 0' | --systems $WORK/headless.csv $O
a law of two bodies | 1 'equation of two bodies, found 3' | --systems $THROWS --set $PN $O
no folder for systems | 2 '--out DIR' | --systems $WORK/throws.csv
steps of no systems | 2 '--steps: belongs to --systems and orbits import' | --steps 5 $O
END

# ---- three dimensions: circles of two bodies whose plane is tilted, by rows and side by side
awk -v by_row="$WORK/tilted.csv" -v side="$WORK/side.csv" 'BEGIN {
    print "t,system,name,x,y,z,vx,vy,vz" >by_row; print "t,system,x1,y1,z1,x2,y2,z2" >side
    for (s = 0; s < 5; s++) for (k = 0; k < 30; k++) {
        t = k * 0.1; x = cos(t + s); y = 0.6 * sin(t + s); z = 0.8 * sin(t + s)
        u = -sin(t + s); v = 0.6 * cos(t + s); w = 0.8 * cos(t + s)
        printf "%g,%d,a,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", t, s, x, y, z, u, v, w >by_row
        printf "%g,%d,b,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", t, s, -x, -y, -z, -u, -v, -w >by_row
        printf "%g,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", t, s, x, y, z, -x, -y, -z >side
    }
}'
check "three coordinates" program orbits import "$WORK/tilted.csv" --time t --position x,y,z \
    --velocity vx,vy,vz --body name --system system --out "$WORK/tilted"
check "three coordinates: of several bodies side by side" \
    program orbits import "$WORK/side.csv" --time t \
    --position x1,y1,z1,x2,y2,z2 --dimensions 3 --system system --out "$WORK/side"
check "three coordinates: or of three bodies in the plane, with a note" \
    prints '3 bodies in the plane; --dimensions 3 for 2 in space' program orbits import \
    "$WORK/side.csv" --time t --position x1,y1,z1,x2,y2,z2 --system system --out "$WORK/flat"
check "three coordinates: as --dimensions 2 says" \
    prints '5 systems' program orbits import "$WORK/side.csv" \
    --time t --position x1,y1,z1,x2,y2,z2 --dimensions 2 --system system --out "$WORK/flat2"
check "three coordinates: without a note" lacks 'in the plane' "$WORK/.printed"
check "three coordinates: without a note: are equal rows" \
    same_file "$WORK/tilted/coords_train.npy" "$WORK/side/coords_train.npy"
check "three coordinates: verified" program orbits verify "$WORK/tilted"
check "three coordinates: verified: with a range of z" \
    prints '^  z  *-0\.800 to 0\.800' program orbits stat "$WORK/tilted"
check "three coordinates: and columns of z" prints '^sequence,name,step,t,body,x,y,z,vx,vy,vz$' \
    sh -c "'$BIN/orbits' export '$WORK/tilted' --csv --quiet && head -1 '$WORK/tilted/train.csv'"
check "three coordinates: whose numbers keep the plane" awk -F, 'NR > 1 {
        n++; d = ($8 - $7 * 4 / 3) ^ 2 + ($6 ^ 2 + $7 ^ 2 + $8 ^ 2 - 1) ^ 2
        worst = d > worst ? d : worst
    }
    END { exit !(n > 100 && worst < 1e-11) }' "$WORK/tilted/train.csv"
check_not "tracks that stay whole: the manifest has no pieces" grep -q '"pieces"' \
    "$WORK/tilted/manifest.json"
check "three coordinates, cut" program orbits import "$WORK/tilted.csv" --time t --position x,y,z \
    --body name --system system --steps 10 --test 0.4 --out "$WORK/cut"
check "three coordinates, cut: the manifest has the pieces of each track" test "$(tr -d ' \t\n' \
    <"$WORK/cut/manifest.json" | grep -o '"pieces":[^]]*' | tr '\n' ' ')" = \
    '"pieces":[3,3 "pieces":[3 "pieces":[3,3 '
check "three coordinates, cut: a model of the pieces" program pretrain --preset smoke --quiet \
    --orbits "$WORK/cut" --run "$WORK/pieces" --set pretrain.steps=2 --set attention=softmax \
    --threads 1
check "three coordinates, cut: intervals are over tracks" prints 'over held-out tracks' \
    program probe rollout --run "$WORK/pieces" --threads 1
check "three coordinates, cut: of two tracks the smaller and the larger mean" awk -F, \
    'NR == 2 { n = $6 < $5 && $5 < $7; exit } END { exit !n }' \
    "$WORK/pieces/softmax/probe/rollout.csv"
check "tracks for training alone" program orbits import "$WORK/tilted.csv" --time t \
    --position x,y,z --body name --system system --val 0 --test 0 --out "$WORK/alone"
check "tracks for training alone: a model" program pretrain --preset smoke --quiet --threads 1 \
    --orbits "$WORK/alone" --run "$WORK/alone_run" --set pretrain.steps=2 --set attention=softmax
refuse "tracks for training alone: no rollouts, because of the import's options" 1 \
    'no data set "val"' 'with --val above 0' -- program probe rollout --run "$WORK/alone_run"
check "tracks for training alone: no rollouts, because of the import's options: interpolated" \
    prints 'interpolated to a step of 0.07' program orbits import \
    "$WORK/tilted.csv" --time t --position x,y,z --body name --system system --resample 0.07 \
    --out "$WORK/finer"
check "three coordinates of arrays" program orbits import $CASES/space.npy --dt 1 --split-by time \
    --val 0 --test 0 --out "$WORK/space"
check "three coordinates of arrays: have z" prints '^  z ' program orbits stat "$WORK/space"
cat >"$WORK/inclined.csv" <<'END'
m,a,e,omega,phase,inclination,node
0.25,1.5,0.3,0,0,1.5707963267948966,0
0.75,,,,,,
END
check "elements in space" \
    program orbits --systems "$WORK/inclined.csv" --steps 10 --out "$WORK/inclined"
check "elements in space: a polar orbit moves along z at its node" \
    prints '^0,,0,0,1,0\.787500024,[0-9.e-]*,[0-9.e-]*,[0-9.e-]*,[0-9.e-]*,5\.2434[0-9]*,0\.25$' \
    sh -c "'$BIN/orbits' export '$WORK/inclined' --csv --quiet && cat '$WORK/inclined/train.csv'"
cat >"$WORK/tall.csv" <<'END'
system,m,x,y,z,vx,vy,vz
pair,0.5,0.5,0,0.1,0,3.14159265,0.3
pair,0.5,-0.5,0,0.1,0,-3.14159265,0.3
END
check "state vectors in space" program orbits --systems "$WORK/tall.csv" --steps 21 \
    --set orbits.dt_yr=0.05 --out "$WORK/tall"
check "state vectors in space: exported" program orbits export "$WORK/tall" --csv --quiet
check "state vectors in space: a circle that drifts along z" awk -F, '
    $3 == 20 && $5 == 1 { n++; d = ($6 - 0.5) ^ 2 + $7 ^ 2 + ($8 - 0.4) ^ 2 + ($11 - 0.3) ^ 2 }
    END { exit !(n == 1 && d < 1e-11) }' "$WORK/tall/train.csv"
refuse "state vectors without z where the settings have it" 1 'columns z and vz' 'throws.csv' -- \
    program orbits --systems "$WORK/throws.csv" --set orbits.dimensions=3 $O

# ---- what is refused
P="--time t --body name --position"
refusals program orbits import <<END
four dimensions | 2 'expected two or three' | $T --time t --position x,y,vx,vy --body name $O
five dimensions | 2 'expected 2 or 3' 'found "5"' | $T --time t --position x --dimensions 5 $O
... of an array | 2 '--dimensions: belongs to tables' | $CASES/space.npy --dt 1 --dimensions 3 $O
one column | 2 '--position: expected two or three columns' | $T --time t --position x --body name $O
two columns in space | 2 'expected 3 columns by' 'found 2' | $T $P x,y --dimensions 3 $O
three in the plane | 2 'expected 2 columns by' 'found 3' | $T $P x,y,z --dimensions 2 $O
a body and a half | 2 'for each body by' | $T --time t --position x1,y1,x2,y2 --dimensions 3 $O
no such column | 1 'no column "nope"' | $T --time t --position x,nope $O
one body | 1 'at least two bodies' | $WORK/pendulums.csv --time t --position x1,y1 --system run $O
too few systems | 1 'at least 7 systems' '--split-by time' | $A --dt 1 --val 0.4 --test 0.59 $O
nothing for train | 2 'sum below 1' 'found 0.9 and 0.5' | $A --dt 1 --val 0.9 --test 0.5 $O
... by time | 2 'sum below 1' 'found 0.9 and 0.1' | $A --dt 1 --split-by time --val 0.9 $O
too few steps | 1 'expected at least 30 time steps' 'found 20' | $A --dt 1 --steps 30 $O
no time step | 2 '--dt STEP' | $A $O
two times | 2 'has times of its own' | $N --dt 1 $O
an unknown unit | 2 '--units: expected a unit of length' 'parsec' | $N --units d,parsec $O
no folder | 2 '--out DIR' | $N
other options | 2 '--set' 'orbits import FILE' | $N --set seed=3 $O
END
refuse "options of import alone" 2 '--time: belongs to orbits import FILE' -- \
    program orbits verify "$pend" --time t
KEEP=$pend refuse "other tracks in the folder" 1 'holds tracks of pendulums.csv' '--force' -- \
    program orbits import $N --out "$pend"
mkdir "$WORK/own"
cp "$pend"/*_train.npy "$WORK/own"
KEEP=$WORK/own refuse "files of the user" 1 'choose another --out' -- \
    program orbits import "${PEND[@]}" --out "$WORK/own" --force
check "files of the user: which a run reads as they are" prints 'made elsewhere: read as it is' \
    program orbits --preset smoke --run "$WORK/elsewhere" --resume --out "$WORK/own"
check "a folder of a run that is not there is named" prints 'nope is not there yet: orbits are' \
    program orbits --preset smoke --set orbits.train=4 --run "$WORK/elsewhere" --resume \
    --out "$WORK/nope"
check "a folder of a run that is not there is named: and made" \
    prints 'up to date' program orbits --preset smoke \
    --set orbits.train=4 --run "$WORK/elsewhere" --resume --out "$WORK/nope"
check "a folder of a run that is not there is named: without a word after that" \
    lacks 'is not there yet' "$WORK/.printed"
check "--force replaces tracks" program orbits import $N --out "$WORK/seed" --force
check "--force replaces tracks: by all files of the new ones" \
    same_files "$WORK/circles" "$WORK/seed"

# one system of the pendulums that rests at a place, one that ends far away behind its sequences
awk -F, -v OFS=, '$1 == 7 { $3 = $5 = 0.3; $4 = $6 = -0.2 } 1' \
    "$WORK/pendulums.csv" >"$WORK/rest.csv"
sed '161s/,[^,]*$/,1e200/' "$WORK/pendulums.csv" >"$WORK/far.csv"
refuse "a system at one place" 1 'rest.csv' 'system "7"' 'at one position' -- \
    program orbits import "$WORK/rest.csv" "${PEND[@]:1}" $O
refuse "a system of no finite size" 1 'far.csv' 'system "8"' 'finite size' -- \
    program orbits import "$WORK/far.csv" "${PEND[@]:1}" --steps 9 $O
# others.npz: positions as '>f4', z of complex numbers
LC_ALL=C sed '1s/<f4/<c8/' $A >"$WORK/complex.npy"
X=$CASES/others.npz
refusals program orbits import <<END
big-endian positions | 1 '"positions": expected real' "found '>f4'" | $X --dt 1 $O
complex positions by name | 1 '"z": expected real' "found '<c8'" | $X --position z --dt 1 $O
... of a single array | 1 'an array of real' "found '<c8'" | $WORK/complex.npy --dt 1 $O
END
mkdir "$WORK/a-run"
echo '{}' >"$WORK/a-run/preset.json"
KEEP=$WORK/a-run refuse "the folder of a run" 1 'preset.json' 'choose another --out' -- \
    program orbits import $CASES/space.npy --dt 1 --split-by time --val 0 --test 0 \
    --out "$WORK/a-run" --force
# a number that float32 has not, in one system of its own columns each
sed '290s/,[^,]*$/,1e39/' "$WORK/pendulums.csv" >"$WORK/huge.csv"
sed '2,$s/,[^,]*$/,1e39/' "$WORK/three.csv" >"$WORK/heavy.csv"
KEEP=$pend refuse "a number beyond float32 leaves the old set" 1 'those of float32' 'huge.csv' -- \
    program orbits import "$WORK/huge.csv" "${PEND[@]:1}" --out "$pend" --force
refuse "a number beyond float32 leaves the old set: also a mass, and makes no folder" \
    1 'those of float32' 'heavy.csv' -- \
    program orbits import "$WORK/heavy.csv" "${THREE[@]:1}" --mass m --out "$WORK/run"
check_not "a system of no finite size: not even an empty one" test -e "$WORK/run"

# ---- every stage
# whole FOLDER RUN: the world on a folder of tracks
world() {
    timeout "$LIMIT" "$BIN/orrery" world PRESET=smoke RUN="$2" ORBITS_DIR="$1" THREADS=1 \
        SET="pretrain.steps=4" </dev/null
}
run=$WORK/run
snapshot "$pend" >"$WORK/before"
check "make world, which says what is left out" \
    prints 'tracks without forces: nothing to fine-tune to' world "$pend" "$run"
snapshot "$pend" >"$WORK/after"
check "make world, which says what is left out: leaves the tracks as they are" \
    same_file "$WORK/before" "$WORK/after"
check "make world, which says what is left out: a page" grep -q 'pendulums.csv' "$run/report.html"
check "make world, which says what is left out: a page: with the errors of next positions" \
    grep -q 'rollout, position 1' "$run/report.html"
check_not "make world, which says what is left out: a page: without laws" \
    grep -q 'Recovered laws' "$run/report.html"
grep -o 'href="#[^"]*' "$run/report.html" | sed 's/href="#//' | sort -u >"$WORK/links"
grep -o ' id="[^"]*' "$run/report.html" | sed 's/ id="//' | sort -u >"$WORK/ids"
check "make world, which says what is left out: with contents" test "$(wc -l <"$WORK/links")" -ge 4
comm -23 "$WORK/links" "$WORK/ids" >"$WORK/nowhere"
check_not "make world: without links that lead nowhere" test -s "$WORK/nowhere"
check "the run knows its tracks: all is kept" prints '^keep .*pend/train: imported tracks' \
    timeout "$LIMIT" "$BIN/orrery" plan RUN="$run"
check_not "the run knows its tracks: all is kept: nothing to make" \
    grep -E '^(make|remake|resume|refuse)' "$WORK/.printed"
PROBE=(--run "$run" --attention lssar --threads 1 --quiet)
check "probe attention" program probe attention "${PROBE[@]}"
check "probe evaluate" program probe evaluate "${PROBE[@]}"
check "probe evaluate: of all bodies, as in evaluation.json" equal \
    "$(value "$run/lssar/pretrain/evaluation.json" teacher_forced)" \
    "$(value "$run/lssar/probe/evaluate.json" teacher_forced)"
# the mean distance that a body, the last one too, moves in a step
check "exported" program orbits export "$pend" --csv --split test --out "$WORK/csv" --quiet
check "exported: persistence is of all bodies" equal \
    "$(awk -F, 'NR > 1 { if ($3) { n++; d += sqrt(($6 - x[$5]) ^ 2 + ($7 - y[$5]) ^ 2) }
        x[$5] = $6; y[$5] = $7 } END { printf "%.5f", d / n }' "$WORK/csv/test.csv")" \
    "$(printf %.5f "$(value "$run/lssar/pretrain/evaluation.json" persistence)")"
check "probe rollout" program probe rollout "${PROBE[@]}"
check "probe rollout: to the last step" \
    grep -q '^"position","distance",-1,9,' "$run/lssar/probe/rollout.csv"
check "probe linear is left out and says so" prints 'without states and forces: left out' \
    program probe linear --run "$run" --attention lssar --threads 1
for exchanged in export answer "linear --answers $WORK" "rollout --answers $WORK"; do
    # shellcheck disable=SC2086
    refuse "another program is not asked: $exchanged" 1 'imported tracks' 'needs simulated orbits' \
        -- program probe $exchanged --run "$run"
done
refuse "settings against the folder" 2 '--set: orbits.positions=41' 'orbits.positions=41' -- \
    program pretrain --preset smoke --run "$run" --orbits "$WORK/three" --set orbits.positions=41
refuse "sequences are not simulated in their place" 1 'needs simulated orbits' -- \
    program orbits prior --run "$run"
check "three bodies" world "$three" "$WORK/run3"
check "three bodies: rollouts" program probe rollout --run "$WORK/run3" "${PROBE[@]:2}"
# ---- a disk that fails, and a kill, at every operation on files while a set is replaced
if [ ! -e "$FAIL_WRITE" ]; then
    skip "a failure while a set is replaced" "$FAIL_WRITE is not there: make check builds it"
    finish
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
replace() { # DIR [SETTING...]: of circles by pendulums
    rm -rf "$1" && cp -r "$WORK/circles" "$1"
    env "${@:2}" LD_PRELOAD="$FAIL_WRITE" "$BIN/orbits" import "${PEND[@]}" --out "$1" --force \
        >"$WORK/out" 2>"$WORK/err" </dev/null
}
replace "$WORK/replaced" FAIL_REPORT="$WORK/counted"
check "a set is replaced, operations counted" same_files "$pend" "$WORK/replaced"
operations=$(wc -l <"$WORK/counted")
check "a set is replaced: arrays are written and put in their places" test "$operations" -ge 30
for how in full kill; do
    for ((n = 1; n <= operations; n++)); do
        operation=$(sed -n "${n}p" "$WORK/counted")
        name="$how at $(sed 's|/[^ ]*/||g; s|\.[0-9]*\.orrery-partial||' <<<"$operation")"
        { replace "$WORK/replaced" FAIL_AT=$n FAIL_HOW=$how; } 2>/dev/null
        check_not "$name: the import ends with an error" test $? -eq 0
        if [ $how = full ]; then
            check "$name: nothing temporary is left" test -z \
                "$(find "$WORK/replaced" -name '.import*' -o -name '*partial*')"
            # arrays that were written are moved, then the manifest is written
            [[ $operation == *" rename "*.npy* || $operation == */manifest.json* ]] ||
                check "$name: the old set is whole" same_files "$WORK/circles" "$WORK/replaced"
        fi
        check "$name: the same command ends it" program orbits import "${PEND[@]}" \
            --out "$WORK/replaced" --force
        check "$name: the new set is whole" same_files "$pend" "$WORK/replaced"
    done
done
finish
