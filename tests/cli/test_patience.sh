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
check "fine-tuned from the best: not from the last" other_by forces chosen last.safetensors
check "probe: the best" program probe attention "${SETS[@]}"
check "probe: the best: by name" \
    grep -q 'pretrain/best.safetensors"' "$run/lssar/probe/attention.json"
check "fine-tuned with patience" program finetune "${SETS[@]}" --source lssar \
    --set finetune.magnitude.patience=1 --set finetune.magnitude.eval_every=1
check "fine-tuned with patience: has a best" \
    test -s "$run/lssar/finetune/magnitude_best.safetensors"
rm "$run/lssar/finetune/magnitude_best.safetensors"
check "fine-tuned with patience: which is missed" \
    prints '^refuse .*magnitude.safetensors: magnitude_best.safetensors' \
    program finetune "${SETS[@]}" --source lssar --plan --set finetune.magnitude.patience=1 \
    --set finetune.magnitude.eval_every=1 --set finetune.samples=3
check "help says so" prints 'best.safetensors' program finetune --help all

# other settings in the same folder, killed when they have a best but no last
cp -r "$pre" "$WORK/before"
touch "$WORK/mark"
"$BIN/pretrain" "${SETS[@]}" --force --set pretrain.steps=1000000 --set pretrain.lr=0.001 \
    --set pretrain.patience=1000000 --set pretrain.checkpoint_every=0 \
    </dev/null >/dev/null 2>&1 &
pid=$!
for ((tries = 0; tries < 1000; tries++)); do
    [ ! "$pre/best.safetensors" -nt "$WORK/mark" ] || break
    sleep 0.01
done
kill -KILL $pid
{ wait $pid; } 2>/dev/null
check "killed with a best" test "$pre/best.safetensors" -nt "$WORK/mark"
check_not "killed with a best: without a last of before beside its log" \
    test -e "$pre/last.safetensors"
check "the settings of before" program pretrain "${SETS[@]}" --resume
check "the settings of before: the best of these" same_by tensors "$WORK/before/best.safetensors" \
    "$pre/best.safetensors"
check "the settings of before: which is what was measured" \
    same_file "$WORK/before/evaluation.json" \
    "$pre/evaluation.json"
# a best of other settings beside the last of these, as earlier versions left it
program pretrain "${SETS[@]}" --orbits "$run/orbits" --out "$WORK/other" --set pretrain.lr=0.1
cp "$WORK/other/best.safetensors" "$pre/"
check "the best of other settings" prints \
    'last.safetensors: best.safetensors: pretrain.lr is 0.1, expected 0.3' \
    program pretrain "${SETS[@]}" --plan
refuse "the best of other settings: is in the way" \
    1 'best.safetensors: pretrain.lr is 0.1' 'steps of training' --force -- \
    "$BIN/pretrain" "${SETS[@]}" --resume
check "the best of other settings: is made again" program pretrain "${SETS[@]}" --resume --force
check "the best of other settings: as it was" \
    same_file "$WORK/before/evaluation.json" "$pre/evaluation.json"

rm "$pre/best.safetensors"
refuse "no best" 1 pretrain/best.safetensors 'make it with' "--run $run" -- "$BIN/finetune" \
    "${SETS[@]}" --source lssar
check "no best: planned" prints '^refuse .*last.safetensors: best.safetensors is not there' \
    program pretrain "${SETS[@]}" --plan
check "no best: made again" program pretrain "${SETS[@]}" --resume --force
check "no best: and there" test -s "$pre/best.safetensors"

# without patience it is the last ones
patient=("${TINY[@]}" --attention lssar --run "$WORK/patient" --orbits "$run/orbits"
         --set pretrain.steps=20 --set pretrain.lr=0.3 --set pretrain.schedule=constant
         --set pretrain.warmup=0 --set pretrain.eval_every=1)
check "pretrain without patience" program pretrain "${patient[@]}"
pre=$WORK/patient/lssar/pretrain
check "there, too, the best is not the last" other_by tensors "$pre/best.safetensors" \
    "$pre/last.safetensors"
SETS=("${patient[@]}")
check "there, too, the best is not the last: the last is taken" \
    same_by forces chosen last.safetensors
check "there, too, the best is not the last: not the best" other_by forces chosen best.safetensors
finish
