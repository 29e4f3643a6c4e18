#!/usr/bin/env bash
# test_space.sh - orbits in three dimensions through all stages: orbits.dimensions=3 is a setting of
# a run as any other, and what works in the plane alone says so in one line.
. tests/cli/lib.sh
PROGRAMS="$PROGRAMS probe" # refuse() knows the programs by name
fast_pictures
run=$WORK/run plane=$WORK/plane
# world DIMENSIONS RUN
world() {
    timeout "$LIMIT" "$BIN/orrery" world PRESET=smoke RUN="$2" THREADS=1 \
        SET="orbits.dimensions=$1 pretrain.steps=6 pretrain_planets.steps=6 \
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
check "... also in the player" grep -q '<option value="[0-9]*">Mars, x and z' "$run/report.html"
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
check "resumed: nothing is made again" prints 'keep' program finetune --run "$run" --resume --plan
check "a picture of both projections" program orbits show "$run/orbits" --out "$WORK/a.svg"

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
check "probe linear" program probe linear --run "$run" "${P[@]}" --sequences 160
check "probe linear: the observer knows the vector of angular momentum" awk -F, '{ gsub(/"/, "") }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $at["quantity"] == "angular momentum" && $at["measure"] == "R^2" && $at["context"] > 2 {
        n++; bad += !($at["upper_bound"] > 0.999)
    }
    END { exit !(n > 0 && !bad) }' "$run/softmax/probe/linear.csv"
check "probe labels" program probe labels --run "$run" "${P[@]}" --sizes 8,32 --steps 4 --draws 1
for probe in intervene length planets export; do
    KEEP=$run refuse "probe $probe" 2 "orbits.dimensions: probe $probe needs 2, found 3" -- \
        program probe $probe --run "$run"
done

# ---- the real planets, by VSOP87, as a set
program probe ephemeris --preset smoke --out "$WORK/real" >"$WORK/said" 2>&1
if grep -q 'libnova is not built in' "$WORK/said"; then
    refuse "real planets without libnova: the package" 1 libnova-dev -- \
        program probe ephemeris --preset smoke --out "$WORK/real"
else
    table=$WORK/real/real_planets.csv
    check "tracks of the real planets" prints '^planet,body,t,x,y,z,m$' head -1 "$table"
    # largest height of Mercury over the ecliptic: the sine of its inclination of 7.0 degrees
    check "... Mercury's plane is inclined" awk -F, '$1 == "mercury" && $2 == "planet" {
            sine = $6 / sqrt($4 ^ 2 + $5 ^ 2 + $6 ^ 2); most = sine > most ? sine : most
        }
        END { exit !(most > 0.1213 && most < 0.1220) }' "$table"
    check "... the Earth on 2000 January 1, 12 h" awk -F, '$1 == "earth" && $2 == "planet" {
            exit !(($4 + 0.17714) ^ 2 + ($5 - 0.96724) ^ 2 + $6 ^ 2 < 1e-8)
        }' "$table"
    check "... a data set of them" program orbits import "$table" --time t --position x,y,z \
        --body body --system planet --mass m --units yr,AU,Msun --val 0.2 --test 0.2 \
        --out "$WORK/planets"
    check "... in three dimensions" prints '^  z ' program orbits stat "$WORK/planets"
    check "... which a model is trained on" program pretrain --preset smoke --set pretrain.steps=2 \
        --orbits "$WORK/planets" --run "$WORK/trained" --threads 1
    check "... and continues" program probe rollout --run "$WORK/trained" "${P[@]}"
fi
refuse "real planets without a folder" 2 '--out DIR' -- program probe ephemeris --preset smoke

# ---- what is refused
KEEP=$run refuse "tokens in space" 2 'expected 2 with orbits.output = tokens' -- \
    program orbits --preset vafa2025 --set orbits.dimensions=3 --out "$WORK/none"
KEEP=$run refuse "a checkpoint of the plane" 1 'expected 3 (--set orbits.dimensions=2)' -- \
    program finetune --run "$run" --checkpoint "$plane/softmax/pretrain/last.safetensors" \
    --resume --force --source softmax
finish
