#!/usr/bin/env bash
# test_muon.sh - a training by Muon: resumed, on any number of threads and ranks and with shared
# moments it has the bits of one that was not interrupted; less state than AdamW; another optimiser
# does not resume it. So is a fine-tuning.
. tests/cli/lib.sh
fast_pictures
. tests/cli/mpi.sh

MUON=(--quiet --preset smoke --attention lssar --set pretrain.optimizer=muon
      --set pretrain_planets.steps=0 --set pretrain.micro_batches=8 --set pretrain.ema=0.9)
check "orbits" program orbits --preset smoke --quiet --run "$WORK/smoke"
MUON+=(--run "$WORK/smoke")
check "never stopped" program pretrain "${MUON[@]}" --threads 1 --out "$WORK/whole"
check "two threads" program pretrain "${MUON[@]}" --threads 2 --out "$WORK/threads"
check "two threads, the same bits" same_training "$WORK/whole" "$WORK/threads"
check "stopped before its end" stopped_ranks 1 "${MUON[@]}" --threads 1 --out "$WORK/stopped"
cp "$WORK/stopped/last.safetensors" "$WORK/kept"
refuse "resumed by another optimiser" 1 "pretrain.optimizer" -- "$BIN/pretrain" "${MUON[@]}" \
    --set pretrain.optimizer=adamw --resume --out "$WORK/stopped"
check "resumed by another optimiser: which changes nothing" \
    same_file "$WORK/kept" "$WORK/stopped/last.safetensors"
check "resumed" program pretrain "${MUON[@]}" --threads 1 --resume --out "$WORK/stopped"
check "resumed, the same bits" same_training "$WORK/whole" "$WORK/stopped"

check "by AdamW" program pretrain "${MUON[@]}" --set pretrain.optimizer=adamw --threads 1 \
    --out "$WORK/adamw"
size() { stat -c %s "$WORK/$1/last.safetensors"; }
check "the checkpoint is smaller than AdamW's" test "$(size whole)" -lt "$(size adamw)"
check "moments of matrices are Muon's" prints 'muon\.m\.block\.0\.ffn\.up\.weight' \
    strings "$WORK/whole/last.safetensors"
check_not "moments of matrices are Muon's: with no second one" \
    prints 'adam\.v\.block\.0\.ffn\.up\.weight' \
    strings "$WORK/whole/last.safetensors"
check_not "settings of Muon are none of AdamW's record" prints 'muon_lr' \
    cat "$WORK/adamw/evaluation.json"

FORCE=(--quiet --source lssar --set finetune.magnitude.optimizer=muon --threads 1)
check "a model to fine-tune" program pretrain "${MUON[@]}" --threads 1
for run in forces stopped-forces adamw-forces; do
    cp -r "$WORK/smoke" "$WORK/$run"
done
magnitude=lssar/finetune/magnitude.safetensors
check "fine-tuned" program finetune "${FORCE[@]}" --run "$WORK/forces"
tuned_half() { # stopped by --minutes before its end, however fast the machine is
    local minutes
    for minutes in 0.003 0.001 0.0003 0.0001; do
        rm -rf "$WORK/stopped-forces/lssar/finetune"
        program finetune "${FORCE[@]}" --run "$WORK/stopped-forces" --minutes $minutes || return
        [ -e "$WORK/stopped-forces/lssar/finetune/forces_magnitude.csv" ] || return 0
    done
    return 1
}
check "fine-tuning stopped before its end" tuned_half
check "a stopped fine-tuning is resumed" program finetune "${FORCE[@]}" \
    --run "$WORK/stopped-forces" --resume
check "a resumed fine-tuning ends as if never stopped" same_file "$WORK/forces/$magnitude" \
    "$WORK/stopped-forces/$magnitude"
check "fine-tuned by AdamW" program finetune "${FORCE[@]}" --run "$WORK/adamw-forces" \
    --set finetune.magnitude.optimizer=adamw
check_not "fine-tuning by AdamW is another one" same_file "$WORK/forces/$magnitude" \
    "$WORK/adamw-forces/$magnitude"

why=$(mpi_missing) && skip "several ranks" "$why" && finish
ZERO=(--set pretrain.zero=true)
for n in 2 $(quick || echo 4); do
    check "$n ranks" ranks $n "${MUON[@]}" --threads 1 --out "$WORK/$n"
    check "$n ranks, the same bits" same_training "$WORK/whole" "$WORK/$n"
    check "$n ranks, moments shared out" ranks $n "${MUON[@]}" "${ZERO[@]}" --threads 1 \
        --out "$WORK/$n-zero"
    check "$n ranks, moments shared out, the same bits" same_training "$WORK/whole" "$WORK/$n-zero"
done
if quick; then finish; fi
# shares that begin and end inside matrices, of several buckets
wide=("${MUON[@]}" --threads 1 --set model.width=256 --set model.layers=2 --set pretrain.steps=4)
check "wide: 1 rank" ranks 1 "${wide[@]}" --out "$WORK/wide-1"
check "wide, moments shared out: 2 ranks" ranks 2 "${wide[@]}" "${ZERO[@]}" --out "$WORK/wide-2"
check "wide, moments shared out: the same bits" same_training "$WORK/wide-1" "$WORK/wide-2"
check "moments shared out, stopped before its end" stopped_ranks 2 "${MUON[@]}" "${ZERO[@]}" \
    --threads 1 --out "$WORK/stopped-2"
check "moments shared out, stopped before its end: resumed by 2 ranks" \
    ranks 2 "${MUON[@]}" "${ZERO[@]}" --threads 1 --resume \
    --out "$WORK/stopped-2"
check "moments shared out, stopped before its end: as if never stopped" \
    same_training "$WORK/whole" "$WORK/stopped-2"
finish
