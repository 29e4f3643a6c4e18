#!/usr/bin/env bash
# test_variants.sh - every attention variant of the table trains from the command line, side by side
# in one run, with windows, rotary positions and an output gate.
. tests/cli/lib.sh
SMOKE=(--preset smoke --threads 1 --quiet --set pretrain_planets.steps=0)
check "data" program orbits "${SMOKE[@]}" --run "$WORK/data"
ORBITS=(--orbits "$WORK/data/orbits")

# the names, as the message about an unknown one lists them
program pretrain "${SMOKE[@]}" "${ORBITS[@]}" --run "$WORK/none" --attention none >/dev/null \
    2>"$WORK/unknown"
names=$(sed -n 's/.*expected one of //p' "$WORK/unknown" | tr -d ' ')
list=,$names,
count=$(tr ',' '\n' <<<"$names" | grep -c .)
check "the table has the paper's variants" test "$count" -ge 26
for name in softmax lssar rw_sigmoid decomp_IV; do
    check "$name is listed" test "${list#*,$name,}" != "$list"
done

# values KEY FILE: those of a key of a log, one per line; KEY is an end of the name
values() {
    grep -oE "$1\": *[^,}]*" "$2" | sed 's/.*: *//'
}
# finite FILE: every loss of a log is a number, and there are some
finite() {
    values loss "$1" >"$WORK/losses"
    lacks '[^-0-9.e+]' "$WORK/losses"
}

# trained FOLDER NAME LABEL: a checkpoint, finite losses, and the held-out one fell
trained() {
    local folder=$1/$2/pretrain label="$3$2"
    check "$label: checkpoint" test -s "$folder/last.safetensors"
    check "$label: finite losses" finite "$folder/log.jsonl"
    values val_loss "$folder/log.jsonl" >"$WORK/held-out"
    check "$label: the loss fell" awk 'NR == 1 { first = $1 } { last = $1 }
        END { exit !(NR == 3 && last < first) }' "$WORK/held-out"
}

SHORT=(--set pretrain.steps=24 --set pretrain.eval_every=8 --set pretrain.checkpoint_every=24)
check "all variants side by side" program pretrain "${SMOKE[@]}" "${ORBITS[@]}" "${SHORT[@]}" \
    --run "$WORK/all" --set "attention=$names"
check "as many models as names" test "$(ls -d "$WORK"/all/*/pretrain | wc -l)" -eq "$count"
for name in ${names//,/ }; do
    trained "$WORK/all" "$name" ""
done

# windows, positions and gates are settings of any variant
for set in "attention_window=5 positions=rope" "attention_window=7 positions=none gate=softplus" \
    "positions=rope gate=sigmoid"; do
    arguments=()
    for s in $set; do
        arguments+=(--set "model.$s")
    done
    run="$WORK/${set//[ =]/_}"
    check "$set" program pretrain "${SMOKE[@]}" "${ORBITS[@]}" "${SHORT[@]}" "${arguments[@]}" \
        --run "$run" --set attention=lssar,relu_shen,softmax_recentred_l1
    for name in lssar relu_shen softmax_recentred_l1; do
        trained "$run" "$name" "$set: "
    done
done
# ---- head size 1: scores of a cosine are all 0, which is said
single() { # what a training of one step with heads of size 1 says
    program pretrain --preset smoke --threads 1 --set pretrain_planets.steps=0 "${ORBITS[@]}" \
        --set pretrain.steps=1 --set model.width=4 --set model.heads=4 --run "$WORK/single-$1" \
        --attention "$1" 2>"$WORK/said" >/dev/null
}
single lssar
check "lssar with head size 1 has a note" \
    grep -q '^note: lssar with head size 1.*re-weighted$' "$WORK/said"
check "lssar with head size 1 has a note: and zero-output rows" test "$(values degenerate_rows \
    "$WORK/single-lssar/lssar/pretrain/log.jsonl" | head -1)" -gt 0
single softmax
check "softmax has none" test "$(grep -c 'head size' "$WORK/said")" -eq 0
check "softmax has none: and is trained" \
    test -s "$WORK/single-softmax/softmax/pretrain/evaluation.json"
finish
