#!/usr/bin/env bash
# test_determinism.sh - the same seed gives the same bytes: whatever the number of threads where
# that is promised, in whatever folder; another seed gives others.
. tests/cli/lib.sh
fast_pictures

# numbers of an evaluation, without the digests and names beside them
figures() {
    grep -E '"(loss|teacher_forced|persistence|rollout_[0-9]+)":' "$1"
}

# the beginning of an array of coordinates, without the 128 bytes of its header
beginning() {
    local bytes=$((rows * 41 * 8))
    head -c $((128 + bytes)) "$1" | tail -c +129 >"$WORK/.array"
    [ "$(wc -c <"$WORK/.array")" -eq $bytes ] && cksum <"$WORK/.array"
}

# ---- data sets: more than one block of sequences, awkward counts
ORBITS=(--quiet --set orbits.train=1531 --set orbits.train_files=1531 --set orbits.val=7)
for preset in smoke smoke_tokens; do
    for threads in 1 2 3; do
        check "$preset: orbits with $threads threads" program orbits --preset $preset \
            "${ORBITS[@]}" --threads $threads --out "$WORK/$preset-$threads"
    done
    check "$preset: other seed" program orbits --preset $preset "${ORBITS[@]}" --threads 2 \
        --seed 1 --out "$WORK/$preset-seed"
    check "$preset: 1 and 2 threads, the same files" same_files "$WORK/$preset-1" "$WORK/$preset-2"
    check "$preset: 1 and 3 threads, the same files" same_files "$WORK/$preset-1" "$WORK/$preset-3"
    kind=coords
    [ $preset = smoke ] || kind=obs
    check "$preset: another seed, other data" other_files "$WORK/$preset-1" "$WORK/$preset-seed" \
        ${kind}_{train,val,test,two_body_train,two_body_val,two_body_test}.npy \
        force_magnitude_two_body_{train,test}.npy
    # the splits of one seed are not copies of each other
    rows=5
    for pair in val:test train:val test:two_body_test two_body_train:train; do
        check "$preset: ${pair%:*} is not ${pair#*:}" other_by beginning \
            "$WORK/$preset-1/${kind}_${pair%:*}.npy" "$WORK/$preset-1/${kind}_${pair#*:}.npy"
    done
done
for pair in train:val val:test test:train; do
    check "planet runs: ${pair%:*} is not ${pair#*:}" other_by beginning \
        "$WORK/smoke-1/coords_planets_${pair%:*}.npy" "$WORK/smoke-1/coords_planets_${pair#*:}.npy"
done
# --seed is the setting, and --set seed the same
check "--set seed=1" program orbits --preset smoke "${ORBITS[@]}" --threads 1 --set seed=1 \
    --out "$WORK/set-seed"
check "--seed 1 is --set seed=1" same_files "$WORK/smoke-seed" "$WORK/set-seed" coords_train.npy \
    manifest.json
# a longer set begins with the shorter one: sequence i depends on (seed, i) alone
check "a longer set" program orbits --preset smoke --quiet --threads 2 --set orbits.train=1700 \
    --set orbits.train_files=1700 --out "$WORK/longer"
rows=1531
check "a longer set begins with the shorter" same_by beginning \
    "$WORK/smoke-1/coords_train.npy" "$WORK/longer/coords_train.npy"

# ---- training and regression
run() {
    local dir=$1 program
    shift
    program orbits --preset smoke --run "$dir" --quiet "$@" || return 1
    for program in pretrain finetune symreg; do
        program $program --preset smoke --run "$dir" --attention lssar --quiet "$@" || return 1
    done
}
tables="lssar/finetune/forces_magnitude.csv lssar/finetune/forces_vector.csv
    oracle/finetune/forces_magnitude.csv untrained/finetune/forces_vector.csv"
models="lssar/pretrain/last.safetensors lssar/pretrain/best.safetensors
    lssar/pretrain_planets/last.safetensors lssar/pretrain/evaluation.json
    lssar/finetune/magnitude.safetensors lssar/finetune/vector.safetensors"
log=lssar/pretrain/log.jsonl
fronts="laws/laws.json laws/laws.md laws/front_truth_0.csv laws/front_oracle_1.csv
    laws/front_lssar_1.csv laws/front_untrained_1.csv laws/front_positions_0.csv"
check "a run" run "$WORK/a" --threads 1
check "the same run elsewhere" run "$WORK/deeper/b" --threads 1
check "the same models" same_files "$WORK/a" "$WORK/deeper/b" $models
check "the same predictions" same_files "$WORK/a" "$WORK/deeper/b" $tables
check "the same fronts and laws" same_files "$WORK/a" "$WORK/deeper/b" $fronts
check "the same settings" same_files "$WORK/a" "$WORK/deeper/b" preset.json
check "the same log" same_by numbers "$WORK/a/$log" "$WORK/deeper/b/$log"
for threads in 2 3; do
    check "symreg with $threads threads" program symreg --preset smoke --run "$WORK/a" --quiet \
        --attention lssar --threads $threads --out "$WORK/laws-$threads"
    check "the same fronts with $threads threads" same_files "$WORK/a/laws" "$WORK/laws-$threads"
done
# several threads: the same again with the same number
for again in 1 2; do
    check "pretrain with 2 threads ($again)" program pretrain --preset smoke --quiet --threads 2 \
        --attention lssar --orbits "$WORK/a/orbits" --out "$WORK/two-$again"
done
check "2 threads, the same model" same_files "$WORK/two-1" "$WORK/two-2" last.safetensors \
    best.safetensors

# ---- another seed: what is compared are numbers, not the seed that a file names
check "another seed" run "$WORK/c" --threads 1 --seed 18446744073709551615
for file in $models; do
    case $file in
    *.safetensors) check "another seed, other tensors: $file" other_by tensors "$WORK/a/$file" \
        "$WORK/c/$file" ;;
    *) check "another seed, other errors: $file" other_by figures "$WORK/a/$file" "$WORK/c/$file" ;;
    esac
done
check "another seed, other predictions" other_files "$WORK/a" "$WORK/c" $tables
for json in preset.json orbits/manifest.json laws/laws.json; do
    check "the largest seed survives $json" \
        grep -q '"seed":[[:space:]]*"18446744073709551615"' "$WORK/c/$json"
done
# the data alone make models differ: weights that no step has changed come from the seed only
slow=(--preset smoke --quiet --threads 1 --attention lssar --set pretrain.lr=1e-12
      --set pretrain_planets.steps=0)
initial() {
    tensor "$1/last.safetensors" embed.weight
}
check "one step" program pretrain "${slow[@]}" --set pretrain.steps=1 --run "$WORK/a" \
    --out "$WORK/one"
check "two steps" program pretrain "${slow[@]}" --set pretrain.steps=2 --run "$WORK/a" \
    --out "$WORK/two"
check "one step, another seed" program pretrain "${slow[@]}" --set pretrain.steps=1 \
    --run "$WORK/c" --seed 18446744073709551615 --out "$WORK/other"
check "one step, another seed: these are the initial weights" \
    same_by initial "$WORK/one" "$WORK/two"
check "one step, another seed: which depend on the seed" other_by initial "$WORK/one" "$WORK/other"
# the same tables, searched with another seed; laws.json and laws.md name it
cp -r "$WORK/a" "$WORK/tables"
without_records "$WORK/tables" forces_magnitude.csv
without_records "$WORK/tables" forces_vector.csv
check "symreg with another seed" program symreg --preset smoke --run "$WORK/tables" --quiet \
    --attention lssar --threads 1 --seed 5 --out "$WORK/laws-seed"
# (a single front may be found with either seed)
all_fronts() {
    cat "$1"/front_{oracle,lssar,untrained}_[0-9].csv
}
check "another seed, other fronts" other_by all_fronts "$WORK/a/laws" "$WORK/laws-seed"

# ---- data from files or made on the fly: the same training
check "streamed data" run "$WORK/d" --threads 1 --set orbits.train_files=10
check "streamed data, fewer in files" test "$(wc -c <"$WORK/d/orbits/coords_train.npy")" -lt \
    "$(wc -c <"$WORK/a/orbits/coords_train.npy")"
check "streamed data, the same training" same_by numbers "$WORK/a/$log" "$WORK/d/$log"
# a finished run is not trained further
times "$WORK/deeper/b" >"$WORK/before"
check "resumed when complete" run "$WORK/deeper/b" --threads 1 --resume
check "resumed when complete: nothing changes" \
    same_files "$WORK/a" "$WORK/deeper/b" $models $tables $fronts
times "$WORK/deeper/b" >"$WORK/after"
check "resumed when complete: nothing is written" same_file "$WORK/before" "$WORK/after"

finish
