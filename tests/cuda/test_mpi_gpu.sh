#!/usr/bin/env bash
# test_mpi_gpu.sh - one training by several ranks with a GPU each, all of it without one: the
# kernels run on the emulation, and NCCL is what stands in for it. Part of make check-mpi.
. tests/cli/lib.sh
. tests/cli/mpi.sh

why=$(mpi_missing) && skip "ranks on GPUs" "$why" && finish
for library in "$EMULATED" "$NCCL"; do
    [ -e "$library" ] || { skip "ranks on GPUs" "no $library" && finish; }
done
export ORRERY_CUDA_PLUGIN=$EMULATED ORRERY_NCCL_LIBRARY=$NCCL ORR_CUDA_HOST_DEVICES=4

smoke=(--preset smoke --quiet --run "$WORK/smoke" --attention lssar
       --set pretrain_planets.steps=0 --set pretrain.eval_every=0)
gpu=("${smoke[@]}" --device cuda --set pretrain.micro_batches=8 --set pretrain.steps=4
     --set pretrain.ema=0.9)
check "orbits" program orbits --preset smoke --quiet --run "$WORK/smoke"

# ---- the same bits
check "one GPU" ranks 1 "${gpu[@]}" --out "$WORK/one"
for n in 2 4; do
    for zero in false true; do
        check "$n GPUs, zero $zero" ranks $n "${gpu[@]}" --set pretrain.zero=$zero \
            --out "$WORK/$n-$zero"
        check "$n GPUs, zero $zero: the same bits" same_training "$WORK/one" "$WORK/$n-$zero"
    done
done
check "3 GPUs" ranks 3 "${gpu[@]}" --out "$WORK/three"
check "3 GPUs: the same first step" close_losses "$WORK/one" "$WORK/three" 1e-6 1
LIMIT=$((4 * LIMIT)) # the emulation is slow
wide=("${gpu[@]}" --set model.width=256 --set model.layers=2 --set pretrain.steps=1
      --set pretrain.batch=2 --set pretrain.micro_batches=2 --set pretrain.eval_sequences=1)
check "two buckets: one GPU" ranks 1 "${wide[@]}" --out "$WORK/wide-1"
check "two buckets: 2 GPUs" ranks 2 "${wide[@]}" --set pretrain.zero=true --out "$WORK/wide-2"
check "two buckets: the same bits" same_training "$WORK/wide-1" "$WORK/wide-2"

# ---- a training that stops goes on with any number
check "2 GPUs, 2 steps" ranks 2 "${gpu[@]}" --set pretrain.zero=true --minutes 0.0001 \
    --out "$WORK/stopped"
check_not "2 GPUs, 2 steps: before its end" test -e "$WORK/stopped/evaluation.json"
check "4 GPUs go on" ranks 4 "${gpu[@]}" --resume --out "$WORK/stopped"
check "2 -> 4 GPUs: as if never stopped" same_files "$WORK/one" "$WORK/stopped" last.safetensors

# ---- one error, from one rank
two=("$BIN/pretrain" "${gpu[@]}" --out "$WORK/refused")
refuse_ranks "two ranks on one GPU" 2 "rank 1 of 2" "GPU 0000:01:00.0" "a GPU for each rank" \
    "taken by rank 0" -- env ORR_CUDA_HOST_DEVICES=1 mpirun -np 2 "${two[@]}"
refuse_ranks "one GPU asked for by both" 2 "GPU 0000:03:00.0" "taken by rank 0" -- \
    mpirun -np 2 "${two[@]}" --device cuda:2
refuse_ranks "no NCCL" 1 "several ranks on GPUs need NCCL" "none.so" -- \
    env ORRERY_NCCL_LIBRARY="$WORK/none.so" mpirun -np 2 "${two[@]}"
for call in ncclGetUniqueId:id ncclCommInitRank:joining; do
    refuse_ranks "${call%:*} fails" 1 "NCCL, ${call#*:}" "system error" -- \
        env ORRERY_NCCL_FAIL="${call%:*}" mpirun -np 2 "${two[@]}"
done
for call in ncclSend:send ncclGroupEnd:exchange; do # of the first step
    env ORRERY_NCCL_FAIL="${call%:*}" timeout "$LIMIT" mpirun -np 2 "${two[@]}" >"$WORK/out" 2>&1
    check "${call%:*} fails: status 1" equal 1 $?
    check "${call%:*} fails: status 1: and says so" \
        grep -q "^pretrain: error: .*NCCL, ${call#*:}: unhandled system error" \
        "$WORK/out"
    check "${call%:*} fails: status 1: no checkpoint" equal log.jsonl "$(ls "$WORK/refused")"
    rm -rf "$WORK/refused"
done
# one rank alone: the others do not wait for it
for call in ncclSend:send ncclGroupEnd:exchange; do
    timeout "$LIMIT" mpirun -np 1 "${two[@]}" : -np 1 -x ORRERY_NCCL_FAIL="${call%:*}" "${two[@]}" \
        >"$WORK/out" 2>&1
    check "${call%:*} of rank 1 fails: status 1" equal 1 $?
    check "${call%:*} of rank 1 fails: status 1: and says so, once" equal 1 "$(grep -c \
        "^pretrain: error: rank 1 of 2: NCCL, ${call#*:}: unhandled system error" "$WORK/out")"
    rm -rf "$WORK/refused"
done
check "GPUs asked for by number" timeout "$LIMIT" mpirun \
    -np 1 "$BIN/pretrain" "${gpu[@]}" --device cuda:1 --out "$WORK/numbers" : \
    -np 1 "$BIN/pretrain" "${gpu[@]}" --device cuda:0 --out "$WORK/numbers"
check "GPUs asked for by number: the same bits" same_training "$WORK/one" "$WORK/numbers"
check "no driver, model.device=auto: the CPU" env ORRERY_PCI=/nonexistent ORR_CUDA_HOST_DRIVER=0 \
    timeout "$LIMIT" mpirun -np 2 "$BIN/pretrain" "${smoke[@]}" --set model.device=auto \
    --set pretrain.micro_batches=8 --set pretrain.steps=2 --out "$WORK/auto"
refuse_ranks "one on a GPU, one on the CPU" 2 "rank 1 of 2" "on cuda, rank 0 on cpu" -- \
    mpirun -np 1 "${two[@]}" --device cpu : -np 1 "${two[@]}"

finish
