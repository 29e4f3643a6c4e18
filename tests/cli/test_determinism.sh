#!/usr/bin/env bash
# test_determinism.sh - the same seed gives the same bytes: whatever the number of threads where
# that is promised, in whatever folder; another seed gives others.
. tests/cli/lib.sh

# same A B FILE...: each file is the same in both folders, and there is one
same() {
    local a=$1 b=$2 file
    shift 2
    for file in "$@"; do
        cmp "$a/$file" "$b/$file" || return 1
    done
    [ $# -gt 0 ]
}
# other A B FILE...: each file is there in both and differs
other() {
    local a=$1 b=$2 file
    shift 2
    for file in "$@"; do
        [ -s "$a/$file" ] && [ -s "$b/$file" ] || { echo "missing: $file"; return 1; }
        ! cmp -s "$a/$file" "$b/$file" || { echo "the same: $file"; return 1; }
    done
    [ $# -gt 0 ]
}
files() {
    (cd "$1" && ls)
}
# the numbers of a log without its rate, which is a matter of time
numbers() {
    sed 's/, "tokens_per_s": [^}]*//' "$1"
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
    check "$preset: 1 and 2 threads, the same files" same "$WORK/$preset-1" "$WORK/$preset-2" \
        $(files "$WORK/$preset-1")
    check "$preset: 1 and 3 threads, the same files" same "$WORK/$preset-1" "$WORK/$preset-3" \
        $(files "$WORK/$preset-1")
    check "$preset: the same list of files" diff <(files "$WORK/$preset-1") \
        <(files "$WORK/$preset-2")
    kind=coords
    [ $preset = smoke ] || kind=obs
    check "$preset: another seed, other data" other "$WORK/$preset-1" "$WORK/$preset-seed" \
        ${kind}_{train,val,test,two_body_train,two_body_val,two_body_test}.npy \
        force_magnitude_two_body_{train,test}.npy
    # the splits of one seed are not copies of each other
    # the splits of one seed are not copies of each other; 128 bytes are the header
    for pair in val:test train:val test:two_body_test two_body_train:train; do
        check_not "$preset: ${pair%:*} is not ${pair#*:}" cmp -s -n 1600 -i 128 \
            "$WORK/$preset-1/${kind}_${pair%:*}.npy" "$WORK/$preset-1/${kind}_${pair#*:}.npy"
    done
done
# --seed is the setting, and --set seed the same
check "--set seed=1" program orbits --preset smoke "${ORBITS[@]}" --threads 1 --set seed=1 \
    --out "$WORK/set-seed"
check "--seed 1 is --set seed=1" same "$WORK/smoke-seed" "$WORK/set-seed" coords_train.npy \
    manifest.json
# a longer set begins with the shorter one: sequence i depends on (seed, i) alone
check "a longer set" program orbits --preset smoke --quiet --threads 2 --set orbits.train=1700 \
    --set orbits.train_files=1700 --out "$WORK/longer"
check "a longer set begins with the shorter" cmp -n $((1531 * 41 * 8)) -i 128 \
    "$WORK/smoke-1/coords_train.npy" "$WORK/longer/coords_train.npy"

# ---- training and regression
run() {
    local dir=$1 program
    shift
    for program in orbits pretrain finetune symreg; do
        program $program --preset smoke --run "$dir" --attention lssar --quiet "$@" || return 1
    done
}
tables="lssar/finetune/forces_magnitude.csv lssar/finetune/forces_vector.csv
    oracle/finetune/forces_magnitude.csv untrained/finetune/forces_vector.csv"
models="lssar/pretrain/last.safetensors lssar/pretrain/best.safetensors
    lssar/pretrain_planets/last.safetensors lssar/pretrain/evaluation.json
    lssar/finetune/magnitude.safetensors lssar/finetune/vector.safetensors"
fronts="laws/laws.json laws/laws.md laws/front_truth_0.csv laws/front_oracle_1.csv
    laws/front_lssar_2.csv laws/front_untrained_4.csv"
check "a run" run "$WORK/a" --threads 1
check "the same run elsewhere" run "$WORK/deeper/b" --threads 1
check "the same models" same "$WORK/a" "$WORK/deeper/b" $models
check "the same predictions" same "$WORK/a" "$WORK/deeper/b" $tables
check "the same fronts and laws" same "$WORK/a" "$WORK/deeper/b" $fronts
check "the same settings" same "$WORK/a" "$WORK/deeper/b" preset.json
check "the same log" diff <(numbers "$WORK/a/lssar/pretrain/log.jsonl") \
    <(numbers "$WORK/deeper/b/lssar/pretrain/log.jsonl")
for threads in 2 3; do
    check "symreg with $threads threads" program symreg --preset smoke --run "$WORK/a" --quiet \
        --attention lssar --threads $threads --out "$WORK/laws-$threads/laws"
    check "the same fronts with $threads threads" same "$WORK/a" "$WORK/laws-$threads" $fronts
    check "all of them" diff <(files "$WORK/a/laws") <(files "$WORK/laws-$threads/laws")
done
# several threads: the same again with the same number
for again in 1 2; do
    check "pretrain with 2 threads ($again)" program pretrain --preset smoke --quiet --threads 2 \
        --attention lssar --orbits "$WORK/a/orbits" --out "$WORK/two-$again"
done
check "2 threads, the same model" same "$WORK/two-1" "$WORK/two-2" last.safetensors best.safetensors
check "another seed" run "$WORK/c" --threads 1 --seed 18446744073709551615
check "another seed, other models" other "$WORK/a" "$WORK/c" $models
check "another seed, other predictions" other "$WORK/a" "$WORK/c" $tables
check "another seed, other fronts" other "$WORK/a" "$WORK/c" laws/laws.json \
    laws/front_lssar_0.csv
for json in preset.json orbits/manifest.json laws/laws.json; do
    check "the largest seed survives $json" \
        grep -q '"seed":[[:space:]]*"18446744073709551615"' "$WORK/c/$json"
done
# data from files or made on the fly: the same training
check "streamed data" run "$WORK/d" --threads 1 --set orbits.train_files=10
check "streamed data, the same training" diff <(numbers "$WORK/a/lssar/pretrain/log.jsonl") \
    <(numbers "$WORK/d/lssar/pretrain/log.jsonl")
# a finished run is not trained further
check "resumed when complete" run "$WORK/deeper/b" --threads 1 --resume
check "... nothing changes" same "$WORK/a" "$WORK/deeper/b" $models $tables $fronts

finish
