#!/usr/bin/env bash
# test_patience.sh - which weights later stages take: the best ones where patience ended a training,
# the last ones otherwise.
. tests/cli/lib.sh
PROGRAMS="$PROGRAMS probe" # refuse() knows the programs by name

run=$WORK/run
# the loss rises again soon
SETS=("${TINY[@]}" --attention lssar --run "$run" --set pretrain.steps=60 --set pretrain.lr=0.3
      --set pretrain.schedule=constant --set pretrain.warmup=0 --set pretrain.eval_every=1
      --set pretrain.patience=3)
check "orbits" program orbits "${TINY[@]}" --run "$run"
check "pretrain" program pretrain "${SETS[@]}"
pre=$run/lssar/pretrain
check "patience ended it" grep -q '"stopped": *"patience"' "$pre/log.jsonl"
check "the best is not the last" other_by tensors "$pre/best.safetensors" "$pre/last.safetensors"
check "the best is judged" grep -q '"checkpoint":.*"best.safetensors"' "$pre/evaluation.json"

# forces CHECKPOINT: fine-tunes from that file of the pretraining, from what is chosen where none is
# named; prints the table
forces() {
    local from=()
    [ "$1" = chosen ] || from=(--checkpoint "$pre/$1")
    rm -rf "$WORK/forces"
    program finetune "${SETS[@]}" --source lssar --out "$WORK/forces" "${from[@]}" &&
        cat "$WORK/forces/lssar/finetune/forces_magnitude.csv"
}
check "fine-tuned from the best" same_by forces chosen best.safetensors
check "... not from the last" other_by forces chosen last.safetensors
check "probe: the best" program probe attention "${SETS[@]}"
check "... by name" grep -q 'pretrain/best.safetensors"' "$run/lssar/probe/attention.json"
check "fine-tuned with patience" program finetune "${SETS[@]}" --source lssar \
    --set finetune.magnitude.patience=1 --set finetune.magnitude.eval_every=1
check "... has a best" test -s "$run/lssar/finetune/magnitude_best.safetensors"
check "help says so" prints 'best.safetensors' program finetune --help

rm "$pre/best.safetensors"
refuse "no best" 1 pretrain/best.safetensors 'make it with' -- "$BIN/finetune" "${SETS[@]}" \
    --source lssar

# without patience it is the last ones
patient=("${TINY[@]}" --attention lssar --run "$WORK/patient" --orbits "$run/orbits"
         --set pretrain.steps=20 --set pretrain.lr=0.3 --set pretrain.schedule=constant
         --set pretrain.warmup=0 --set pretrain.eval_every=1)
check "pretrain without patience" program pretrain "${patient[@]}"
pre=$WORK/patient/lssar/pretrain
check "there, too, the best is not the last" other_by tensors "$pre/best.safetensors" \
    "$pre/last.safetensors"
SETS=("${patient[@]}")
check "... the last is taken" same_by forces chosen last.safetensors
check "... not the best" other_by forces chosen best.safetensors
finish
