#!/usr/bin/env bash
# test_space.sh - orbits in three dimensions through all stages: orbits.dimensions=3 is a setting of
# a run as any other, also for models of other programs (docs/exchange.md).
. tests/cli/lib.sh
. tests/cli/exchange.sh
PROGRAMS="$PROGRAMS probe" # refuse() knows the programs by name
fast_pictures
run=$WORK/run plane=$WORK/plane
# world DIMENSIONS RUN
world() {
    timeout "$LIMIT" "$BIN/orrery" world PRESET=smoke RUN="$2" THREADS=1 \
        SET="orbits.dimensions=$1 model.precision=fp32 pretrain.steps=6 pretrain_planets.steps=6 \
             finetune.magnitude.steps=4 finetune.vector.steps=4 symreg.iterations=2" </dev/null
}
check "make world in the plane" world 2 "$plane"
check "make world in the plane: and in space" world 3 "$run"

# ---- the twin of the plane: equal distances and forces, so that what is measured of truth is equal
column() { # FILE COLUMNS
    cut -d, -f"$2" "$1"
}
close() { # FILE FILE: numbers agree to 1e-6
    paste -d, "$1" "$2" | awk -F, 'NR > 1 {
        for (i = 1; i <= NF / 2; i++) {
            a = $i; b = $(i + NF / 2); size = (a < 0 ? -a : a) + 1e-9; d = a > b ? a - b : b - a
            if (d > 2e-6 * size) { print FILENAME ": row " NR ": " a ", " b; exit 1 }
        }
        n++
    }
    END { exit !(n > 10) }'
}
for d in plane run; do
    column "${!d}/truth/finetune/forces_magnitude.csv" 1-8 >"$WORK/$d.csv"
done
check "tables of true forces agree with the plane's" close "$WORK/plane.csv" "$WORK/run.csv"
persistence() {
    grep -ho '"persistence":[^,]*' "$1/softmax/pretrain/evaluation.json" |
        awk '{ printf "%.6f", $NF }'
}
check "persistence agrees with the plane's" \
    test "$(persistence "$run")" = "$(persistence "$plane")"
check "vectors have a z" \
    prints '^planet,name,step,x,y,z,fx_true,fy_true,fz_true,fx,fy,fz,labelled$' \
    head -1 "$run/lssar/finetune/forces_vector.csv"
check "rollouts have a z" prints '^name,step,x_true,y_true,x,y,known,z_true,z$' \
    head -1 "$run/lssar/pretrain_planets/rollouts.csv"
check "exponents of true forces" grep -q '^| truth | 1.0000 | 0.00% | -2.000 \[' "$run/laws/laws.md"
check "exponents of true forces: and of positions in three dimensions" \
    grep -q '^| positions | 1.0000 | 0.00% | \(-2.00\|-1.99\)' "$run/laws/laws.md"
check "a page with both projections" grep -q 'forces_halley_xz' "$run/report.html"
check "a page with both projections: also in the player" \
    grep -q '<option value="[0-9]*">Mars, x and z' "$run/report.html"
cosine=$(awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $2 == "halley" && $at["labelled"] == 0 {
        n++
        c = $at["fx"] * $at["fx_true"] + $at["fy"] * $at["fy_true"] + $at["fz"] * $at["fz_true"]
        f = sqrt($at["fx"] ^ 2 + $at["fy"] ^ 2 + $at["fz"] ^ 2)
        t = sqrt($at["fx_true"] ^ 2 + $at["fy_true"] ^ 2 + $at["fz_true"] ^ 2)
        sum += c / (f * t)
    }
    END { printf "%.3g", sum / n }' "$run/lssar/finetune/forces_vector.csv")
check "a picture with its data" program report --run "$run" --body halley --keep --out "$WORK/h.png"
check "a picture with its data: whose agreement counts z" \
    prints "mean cosine $cosine," sh -c "cat '$WORK'/h*"
check "an animation" env PATH="${PATH#"$WORK/.bin:"}" "$BIN/report" --run "$run" --quiet \
    --animate halley --out "$WORK/halley.gif"
check "an animation: of x and y, and another one of x and z" \
    other_file "$WORK/halley.gif" "$WORK/halley_xz.gif"
check "resumed: nothing is made again" prints 'keep' program finetune --run "$run" --resume --plan
check "a picture of both projections" program orbits show "$run/orbits" --out "$WORK/a.svg"

if quick; then finish; fi

# ---- probes
for probe in attention evaluate outputs; do
    check "probe $probe" program probe $probe --run "$run" --attention softmax --threads 1
done
P=(--attention softmax --threads 1)
check "probe rollout" program probe rollout --run "$run" "${P[@]}" --sequences 20
bound() { # FILE QUANTITY: whether the observer's bound of every row is good
    awk -F, -v of="$2" '{ gsub(/"/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["quantity"] == of { n++; bad += !($at["upper_bound"] < '"$3"') }
        END { exit !(n > 0 && !bad) }' "$1"
}
check "probe rollout: which an orbit that is fitted in space predicts" \
    bound "$run/softmax/probe/rollout.csv" position 1e-5
check "probe rollout: and whose angular momentum stays" \
    bound "$run/softmax/probe/rollout.csv" "angular momentum" 1e-2
check "probe linear" program probe linear --run "$run" "${P[@]}" --sequences 144
check "probe linear: the observer knows the vector of angular momentum" awk -F, '{ gsub(/"/, "") }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $at["quantity"] == "angular momentum" && $at["measure"] == "R^2" && $at["context"] > 2 {
        n++; bad += !($at["upper_bound"] > 0.999)
    }
    END { exit !(n > 0 && !bad) }' "$run/softmax/probe/linear.csv"
check "probe labels" program probe labels --run "$run" "${P[@]}" --sizes 8,32 --steps 4 --draws 1
LABELS=(--sizes 20 --draws 1 --steps 2 --quiet)
for d in plane run; do
    check "probe extrapolate of the $d" program probe extrapolate --run "${!d}" "${P[@]}" \
        "${LABELS[@]}" --no-untrained --out "$WORK/$d"
    grep '^"power law' "$WORK/$d/extrapolate.csv" | sed 's/, / /' >"$WORK/$d.truth"
done
check "probe extrapolate: a power law of r is fitted to the same labels as in the plane" \
    alike "$WORK/plane.truth" "$WORK/run.truth"
check "probe adaptation" program probe adaptation --run "$run" "${P[@]}" "${LABELS[@]}"
for d in plane run; do
    check "a model of the $d with relative positions" program pretrain --preset smoke --quiet \
        --set "orbits.dimensions=$([ $d = run ] && echo 3 || echo 2)" --set model.positions=rope \
        --set pretrain.steps=2 --set attention=softmax --set planets.enabled=false \
        --orbits "${!d}/orbits" --run "$WORK/rope_$d" --threads 1
    check "probe length of the $d" program probe length --run "$WORK/rope_$d" --sequences 4 \
        --quiet --threads 1
    grep '^"next position' "$WORK/rope_$d/softmax/probe/length.csv" | sed 's/, / /g' |
        cut -d, -f1-4,10 >"$WORK/$d.persistence"
done
check "probe length: distances of persistence agree with the plane's" \
    alike "$WORK/plane.persistence" "$WORK/run.persistence"

# ---- models of other programs: the answers of the run's own model give the numbers of its probes
answers=$run/answers bad=$run/answers/bad asked=$run/exchange
BASE=(--quiet --threads 1)
ASKED=(--sequences 144 --sizes 20,40 --draws 2)
check "probe export" program probe export --run "$run" "${BASE[@]}" "${ASKED[@]}"
check "probe export: rows have three numbers" grep -aq "'<f4'.*(152, 40, 3)" \
    "$asked/inputs_test.npy"
check "probe export: a trial more for the third velocity" grep -q '"continuations_layer<l>.npy"' \
    "$asked/export.json"
check "probe answer" program probe answer --run "$run" "${BASE[@]}" --steps 3 --attention lssar
real="planets"
program probe ephemeris --preset smoke --out "$WORK/real" >"$WORK/said" 2>&1
! grep -q 'libnova is not built in' "$WORK/said" || real=""
proof lssar rollout linear intervene labels extrapolate inductive $real evaluate
check "readings of three velocities" equal 2 "$(grep -c '^"velocity z","R^2, inner"' \
    "$answers/lssar/probe/intervene.csv")"
cp -r "$answers/lssar" "$answers/other"
rm -rf "$answers/other/probe"
check "orrery judge" "$BIN/orrery" judge --run "$run" "${BASE[@]}" --set symreg.iterations=2 \
    --answers "$answers/other" --untrained "$answers/lssar_untrained"
check "orrery judge: measures of all probes are on the card" test \
    "$(grep -c '"measure"' "$answers/other/card.json")" -gt 12
refused() { # NAME PROBE PATTERN...
    refuse "$1: one line" 1 "${@:3}" -- "$BIN/probe" "$2" --run "$run" "${BASE[@]}" --answers "$bad"
    spoiled lssar
}
spoiled lssar
printf '\000\000\300\177' | at predictions_test.npy 128
refused "the third number is none" evaluate predictions_test.npy 'sequence 0, row 10, column 2'
LC_ALL=C sed -i '1s/(152, 40, 3)/(152, 60, 2)/' "$bad/predictions_test.npy"
refused "numbers of the plane" evaluate 'expected the shape (152, 40, 3)' 'found (152, 60, 2)'
LC_ALL=C sed -i '1s/(152, 19, 3)/(152, 57, 1)/' "$bad/rollout_two_body_test.npy"
refused "rollouts of the plane" rollout 'expected the shape (152, 19, 3)' 'found (152, 57, 1)'
sed -i '7s/,[^,]*$/,nan/' "$bad/targets_inductive.csv"
refused "a target that is none" inductive targets_inductive.csv:7 'y: expected a finite number'
if [ "$real" ]; then
    awk -F, -v OFS=, 'NR == 9 { $6 *= 1.001 } 1' "$answers/lssar/forces_planets.csv" \
        >"$bad/forces_planets.csv"
    refused "another true force along z" planets forces_planets.csv:9 'fz_true: expected'
    sed -i 1s/fz$/force/ "$bad/forces_planets.csv"
    refused "a force without z" planets forces_planets.csv 'no column "fz"'
fi
check "an export of the plane" program probe export --run "$plane" "${BASE[@]}" "${ASKED[@]}"
cp "$plane/exchange/export.json" "$bad"
refused "answers to the plane" evaluate export.json 'answers to other data' 'as of this run'

# ---- tracks of another program: the law and its page, and models of the tracks with theirs
check "a table of tracks" program orbits export "$run/orbits" --csv --quiet
awk -F, -v OFS=, 'NR == 1 { print "t,system,body,x,y,z,m" }
    NR > 1 && $1 < 8 { print $4, $1, $5, $6, $7, $8, $21 }' "$run/orbits/two_body_test.csv" \
    >"$WORK/tracks.csv"
TRACKS=(--time t --position x,y,z --body body --system system --mass m)
check "the law of tracks" prints '^best: F = 39\.47[0-9]* \* m1 \* m2 / r\^2 ' program symreg \
    motion "$WORK/tracks.csv" "${TRACKS[@]}" --threads 1 --evaluations 5000 --out "$WORK/law"
check "the law of tracks: on a page" grep -q '<math' "$WORK/law/report.html"
check "tracks are imported" program orbits import "$WORK/tracks.csv" "${TRACKS[@]}" \
    --units yr,AU,Msun --out "$WORK/set" --quiet
check "a world of tracks" "$BIN/orrery" world PRESET=smoke RUN="$WORK/tracks" THREADS=1 \
    ORBITS_DIR="$WORK/set" SET="pretrain.steps=2 attention=softmax"
check "a world of tracks: has a page with errors" grep -q 'rollout, position 1' \
    "$WORK/tracks/report.html"
check "inductive bias of tracks" prints 'without states and forces: left out' program probe \
    inductive --run "$WORK/tracks"

# ---- the real planets, by VSOP87, as a set
program probe ephemeris --preset smoke --out "$WORK/real" >"$WORK/said" 2>&1
if grep -q 'libnova is not built in' "$WORK/said"; then
    refuse "real planets without libnova: the package" 1 libnova-dev -- \
        program probe ephemeris --preset smoke --out "$WORK/real"
else
    table=$WORK/real/real_planets.csv
    check "tracks of the real planets" prints '^planet,body,t,x,y,z,m$' head -1 "$table"
    # largest height of Mercury over the ecliptic: the sine of its inclination of 7.0 degrees
    check "tracks of the real planets: Mercury's plane is inclined" \
        awk -F, '$1 == "mercury" && $2 == "planet" {
            sine = $6 / sqrt($4 ^ 2 + $5 ^ 2 + $6 ^ 2); most = sine > most ? sine : most
        }
        END { exit !(most > 0.1213 && most < 0.1220) }' "$table"
    check "tracks of the real planets: the Earth on 2000 January 1, 12 h" \
        awk -F, '$1 == "earth" && $2 == "planet" {
            exit !(($4 + 0.17714) ^ 2 + ($5 - 0.96724) ^ 2 + $6 ^ 2 < 1e-8)
        }' "$table"
    check "tracks of the real planets: a data set of them" \
        program orbits import "$table" --time t --position x,y,z \
        --body body --system planet --mass m --units yr,AU,Msun --val 0.2 --test 0.2 \
        --out "$WORK/planets"
    check "tracks of the real planets: in three dimensions" \
        prints '^  z ' program orbits stat "$WORK/planets"
    check "tracks of the real planets: which a model is trained on" \
        program pretrain --preset smoke --set pretrain.steps=2 \
        --orbits "$WORK/planets" --run "$WORK/trained" --threads 1
    check "tracks of the real planets: and continues" \
        program probe rollout --run "$WORK/trained" "${P[@]}"
fi
refuse "real planets without a folder" 2 '--out DIR' -- program probe ephemeris --preset smoke

# ---- what is refused
KEEP=$run refuse "tokens in space" 2 'expected 2 with orbits.output = tokens' -- \
    program orbits --preset vafa2025 --set orbits.dimensions=3 --out "$WORK/none"
KEEP=$run refuse "a checkpoint of the plane" 1 'expected 3 (--set orbits.dimensions=2)' -- \
    program finetune --run "$run" --checkpoint "$plane/softmax/pretrain/last.safetensors" \
    --resume --force --source softmax
finish
