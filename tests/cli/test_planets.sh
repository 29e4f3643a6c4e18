#!/usr/bin/env bash
# test_planets.sh - bin/probe planets on a trained run: files, figures, what they say of the real
# planets, and what is refused. Where libnova is not built in, that it says so.
. tests/cli/lib.sh
PROGRAMS="$PROGRAMS probe"

run=$WORK/run
BASE=(--quiet --threads 1)
probe=(program probe planets)
TINY+=(--set attention=lssar,softmax) # the untrained model has the first one's shape
check "data sets" program orbits "${TINY[@]}" --run "$run"
check "models" program pretrain "${TINY[@]}" --run "$run"
lssar=$run/lssar/pretrain_planets/last.safetensors

program probe planets --checkpoint "$lssar" "${BASE[@]}" >"$WORK/table" 2>"$WORK/err"
if grep -q 'libnova' "$WORK/err"; then
    refuse "without libnova: the package" 1 libnova-dev -- \
        "${probe[@]}" --checkpoint "$lssar" "${BASE[@]}"
    skip "real planets" "libnova is not built in"
    finish
fi
out=$run/lssar/probe_pretrain_planets

# ---- next positions alone, before anything is fine-tuned
check "a table" grep -q '^| next position, Neptune | separations |' "$WORK/table"
check "a table: and no forces" lacks 'force, Mars' "$WORK/table"
check "a table: its picture" is_png "$out/planets.png"
check "a table: its files" \
    test "$(ls -A "$out" | tr '\n' ' ')" = "planets.csv planets.json planets.png "
check "a table: a row per planet and mean, thrice" test "$(wc -l <"$out/planets.csv")" -eq 28
check "ephemeris" grep -q '"VSOP87, libnova ' "$out/planets.json"

# number QUANTITY MEASURE COLUMN: of planets.csv; columns count behind quantity and measure, from
# layer and context on
value=3 upper_bound=6 baseline=7 raw=8 count=9
number() {
    awk -F'"' -v q="$1" -v m="$2" -v c="$3" \
        '$2 == q && $4 == m { split($5, cell, ","); print cell[c + 1] }' "$out/planets.csv"
}
# within A LOW HIGH
within() {
    [ -n "$1" ] && awk -v a="$1" -v l="$2" -v h="$3" 'BEGIN { exit !(a >= l && a <= h) }'
}
# a chord of a fortieth of the orbit, 2 sin(pi / 40) = 0.1569 in mean distances; Venus starts 0.4%
# inside hers. A fortieth of a year is 9 days: the Moon moves the Earth by some 1e-5 of its
# distance, and no planet leaves Mercury's osculating orbit by more than 1e-7
check "persistence of Venus" \
    within "$(number 'next position, Venus' separations $raw)" 0.1569 0.1580
check "osculating orbit of Mercury" within \
    "$(number 'next position, Mercury' separations $upper_bound)" 1e-10 1e-7
check "osculating orbit of the Earth, without its Moon" within \
    "$(number 'next position, Earth' separations $upper_bound)" 1e-5 2e-4
check "the Kepler orbit of step 0 is its own" within \
    "$(number 'next position, two bodies, Saturn' separations $upper_bound)" 0 1e-12
check "perturbed Saturn leaves it" within \
    "$(number 'Kepler orbit of step 0, Saturn' separations $value)" 0.002 0.1
check "one orbit" equal 40 "$(number 'next position, Mars' separations $count)"

# ---- forces, after fine-tuning
for source in lssar untrained; do
    check "vector head, $source" program finetune "${TINY[@]}" --run "$run" --source $source
done
check "truth" program finetune "${TINY[@]}" --run "$run" --source truth
cp "$out/planets.csv" "$WORK/before.csv"
check "with forces" "${probe[@]}" --checkpoint "$lssar" "${BASE[@]}" --resume
head -n 28 "$out/planets.csv" >"$WORK/after.csv"
check "with forces: next positions are the same" same_file "$WORK/before.csv" "$WORK/after.csv"
for name in mercury venus earth mars jupiter saturn uranus neptune; do
    check "with forces: arrows of $name" is_png "$out/planets_forces_$name.png"
done
cp -r "$out" "$WORK/undrawn"
check "without gnuplot" env PATH=/nonexistent "$(cd "$BIN" && pwd)/probe" planets \
    --checkpoint "$lssar" "${BASE[@]}" --out "$WORK/undrawn"
check "without gnuplot: the same numbers" \
    same_files "$out" "$WORK/undrawn" planets.csv planets_forces.csv
check_not "without gnuplot: no older picture" compgen -G "$WORK/undrawn/*.png"
table=$out/planets_forces.csv
check "without gnuplot: their table" test "$(head -n 1 "$table")" = \
    planet,name,step,x,y,fx_true,fy_true,fx,fy,fx_baseline,fy_baseline
check "without gnuplot: one orbit each, as far as sequences go" test "$(wc -l <"$table")" -eq 313
check "without gnuplot: true forces point to the Sun" every_row "$table" \
    '($4 * $6 + $5 * $7) / sqrt(($4 * $4 + $5 * $5) * ($6 * $6 + $7 * $7)) < -0.999999'
# by Newton's law |F| r^2 is one number along an orbit
check "without gnuplot: and go by 1 / r^2" \
    awk -F, 'NR > 1 { k = sqrt($6 * $6 + $7 * $7) * ($4 * $4 + $5 * $5)
    if (!($2 in first)) first[$2] = k
    d = k / first[$2] - 1; if (d > 1e-6 || d < -1e-6) exit 1 }' "$table"
check "direction towards the Sun" equal 1 "$(number 'force, Mars' cosine $raw)"
check "a baseline" within "$(number 'force, Mars' cosine $baseline)" -1 1
check "kept" "${probe[@]}" --checkpoint "$lssar" --threads 1 --resume
check "kept: as it is" prints 'planets.json: complete' "${probe[@]}" --checkpoint "$lssar" \
    --threads 1 --resume
check "means over seeds" \
    prints '^. lssar . next position, mean . separations ' program compare seeds \
    "$out/planets.json" --out "$WORK/seeds"
# a trained head in the baseline's place is no baseline: values of forces are made again without
cp "$run/lssar/finetune/vector.safetensors" "$run/untrained/finetune/vector.safetensors"
"${probe[@]}" --checkpoint "$lssar" --threads 1 --resume >"$WORK/out" 2>&1
check_not "another baseline is seen" grep -q 'planets.json: complete' "$WORK/out"
check "another baseline is seen: and is none" \
    grep -q 'without a baseline: .* made from the pretrained model' "$WORK/out"
check "another baseline is seen: nor in the table" \
    equal nan "$(number 'force, Mars' cosine $baseline)"
check "forces stay" within "$(number 'force, Mars' cosine $value)" -1 1
rm "$table"
check "without its table it is made again" "${probe[@]}" --checkpoint "$lssar" "${BASE[@]}" --resume
check "without its table it is made again: with the table" filled "$table"

# a head of another model than the one that is probed
cp "$run/lssar/finetune/vector.safetensors" "$WORK/own"
check "another attention" program finetune "${TINY[@]}" --run "$run" --source softmax
cp "$run/softmax/finetune/vector.safetensors" "$run/lssar/finetune/vector.safetensors"
check "another model's head is not taken" prints 'no forces: .*made from another model' \
    "${probe[@]}" --checkpoint "$lssar" --threads 1
check "another model's head is not taken: and its arrows go" test ! -e "$table"
mv "$WORK/own" "$run/lssar/finetune/vector.safetensors"
rm -r "$run/softmax/finetune"

# ---- of a run: the models of planet runs
check "a run" program probe planets --run "$run" "${BASE[@]}"
check "a run: each in its place" filled "$run"/{softmax,lssar}/probe_pretrain_planets/planets.csv
check "a run: no forces where none were fine-tuned" test ! -e \
    "$run/softmax/probe_pretrain_planets/planets_forces.csv"
check "changed, in its place: next positions alone" "${probe[@]}" --checkpoint "$lssar" \
    "${BASE[@]}" --p 2
check "changed, in its place: next positions alone: no forces of the unchanged one" \
    test "$(ls -A "$out" | tr '\n' ' ')" = \
    "planets.csv planets.json planets.png "

# ---- refused
KEEP=$run
refuse "no model of planet runs" 1 planets 'stage pretrain_planets' 'found stage pretrain' -- \
    "${probe[@]}" --checkpoint "$run/lssar/pretrain/last.safetensors" "${BASE[@]}"
refuse "there are eight planets" 2 --sequences: 'the eight planets' -- \
    "${probe[@]}" --checkpoint "$lssar" "${BASE[@]}" --sequences 9
refuse "no next position" 2 planets '3 positions' -- \
    "${probe[@]}" --checkpoint "$lssar" "${BASE[@]}" --length 3
refuse "a preset without planet runs" 1 planets smoke_tokens planets.enabled -- \
    program probe planets --preset smoke_tokens --run "$WORK/nowhere"
check "nothing temporary stays" clean "$WORK"
finish
