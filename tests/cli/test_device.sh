#!/usr/bin/env bash
# test_device.sh - --device and model.device where there is no CUDA backend: an error when it is
# asked for, a note and the CPU when it is only preferred; the precision tf32 on the CPU is fp32.
. tests/cli/lib.sh
export ORRERY_CUDA_PLUGIN=$WORK/none.so # as on a machine without
export ORRERY_PCI=$WORK/none
SMOKE=(--preset smoke --threads 1 --attention softmax --set pretrain_planets.steps=0
       --set pretrain.steps=5 --set finetune.magnitude.steps=2 --set finetune.vector.steps=2)
check "data" program orbits --preset smoke --threads 1 --run "$WORK/data" --quiet
ORBITS=(--orbits "$WORK/data/orbits")
last=softmax/pretrain/last.safetensors

KEEP="$WORK/none"
# the message speaks of what was given
declare -A expected=(["--device cuda"]='--device cuda: '
    ["--set model.device=cuda"]='preset smoke, model.device = cuda: ')
for choice in "--device cuda" "--set model.device=cuda"; do
    for p in pretrain finetune; do
        refuse "$p $choice" 1 "${expected[$choice]}" 'no CUDA backend' "$ORRERY_CUDA_PLUGIN" -- \
            program $p "${SMOKE[@]}" "${ORBITS[@]}" --quiet --run "$WORK/none" $choice
    done
done
check "the CPU" program pretrain "${SMOKE[@]}" "${ORBITS[@]}" --run "$WORK/cpu" --quiet
for choice in "--device cpu --set model.device=cuda" "--set model.device=auto" \
              "--device auto --set model.device=auto"; do
    rm -rf "$WORK/other"
    "$BIN/pretrain" "${SMOKE[@]}" "${ORBITS[@]}" --run "$WORK/other" $choice >"$WORK/out" \
        2>"$WORK/err"
    check "$choice: status 0" test $? -eq 0
    check "$choice: the same weights" same_file "$WORK/cpu/$last" "$WORK/other/$last"
    if [[ $choice == *=auto ]]; then
        check "$choice: says so" grep -q \
            '^note: preset smoke, model.device = auto: .*no CUDA backend.*; computing on the CPU$' \
            "$WORK/err"
        check_not "$choice: of no option that nobody gave" grep -q -e '--device' "$WORK/err"
    else
        check "$choice: its progress, and nothing of the device" lacks 'CUDA|computing' "$WORK/err"
    fi
done
# where a run was computed is no part of its settings: nothing is left to do
check "goes on elsewhere" prints 'complete \(5 steps\)' program pretrain "${SMOKE[@]}" \
    "${ORBITS[@]}" --run "$WORK/cpu" --set model.device=auto --resume

check "fp32" program pretrain "${SMOKE[@]}" "${ORBITS[@]}" --run "$WORK/fp32" --quiet \
    --set model.precision=fp32
check "tf32" program pretrain "${SMOKE[@]}" "${ORBITS[@]}" --run "$WORK/tf32" --quiet \
    --set model.precision=tf32
check "tf32 on the CPU is fp32" same_by tensors "$WORK/fp32/$last" "$WORK/tf32/$last"
finish
