#!/usr/bin/env bash
# test_attention_impl.sh - --attention-impl: training with the generic attention path follows
# training with the fused kernels, and is another path.
. tests/cli/lib.sh
# few steps in full precision: training with p = 15 magnifies roundings up to tenfold in two steps,
# and after ten the losses of both paths differ by 1e-6 to 1e-3, by the seed
SMOKE=(--preset smoke --threads 1 --quiet --set pretrain_planets.steps=2 --set pretrain.steps=4
       --set model.precision=fp32 --set finetune.magnitude.steps=5 --set finetune.vector.steps=5)
check "data" program orbits "${SMOKE[@]}" --run "$WORK/data"
ORBITS=(--orbits "$WORK/data/orbits")

# close A B: the losses of two logs, line by line, differ by less than 1e-5
close() {
    grep -oE 'loss":[^,}]*' "$1" | cut -d: -f2 >"$WORK/.a" &&
        grep -oE 'loss":[^,}]*' "$2" | cut -d: -f2 >"$WORK/.b" &&
        paste "$WORK/.a" "$WORK/.b" | awk '
        { d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || !(d < 1e-5)) { print; bad = 1 } }
        END { exit bad || NR < 2 }'
}

for impl in auto generic; do
    for p in pretrain finetune; do
        check "$p with $impl" program $p "${SMOKE[@]}" "${ORBITS[@]}" --run "$WORK/$impl" \
            --attention-impl $impl
    done
done
check "auto is the default" program pretrain "${SMOKE[@]}" "${ORBITS[@]}" --run "$WORK/default"
for name in softmax lssar; do
    for log in pretrain/log finetune/magnitude finetune/vector; do
        check "$name: $log of both paths" close "$WORK/auto/$name/$log.jsonl" \
            "$WORK/generic/$name/$log.jsonl"
    done
    check "$name: the default path" same_file "$WORK/default/$name/pretrain/last.safetensors" \
        "$WORK/auto/$name/pretrain/last.safetensors"
    # two paths round differently: the same bits would mean that there is one
    check "$name: another path" other_by tensors "$WORK/generic/$name/pretrain/last.safetensors" \
        "$WORK/auto/$name/pretrain/last.safetensors"
done

# a note says which variants have no fused kernels, and is for those that are trained alone
SAYS=(--preset smoke --threads 1 "${ORBITS[@]}" "${SMOKE[@]:5}"
      --set attention=softmax,lssa,relu_li)
program pretrain "${SAYS[@]}" --run "$WORK/says" 2>"$WORK/err"
check "a note of the generic path" grep -q '^note: relu_li has no fused attention' "$WORK/err"
check "a note of the generic path: of no other variant" \
    equal 1 "$(grep -c 'no fused attention' "$WORK/err")"
says() { # ARGUMENT...: whether such a note is given
    rm -rf "$WORK/says"
    program pretrain "${SAYS[@]}" --run "$WORK/says" "$@" 2>"$WORK/err"
    grep -q 'no fused attention' "$WORK/err"
}
check_not "a note of the generic path: of variants that are not trained" says --attention softmax
check_not "a note of the generic path: where all take it" says --attention-impl generic
finish
