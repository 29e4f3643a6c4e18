#!/usr/bin/env bash
# test_mpi.sh - one training by several ranks: the bits of one process, one checkpoint for any
# number of ranks, one error for all (test_mpi_stops.sh: stops and deaths of ranks). MPI_FULL=1
# (make check-mpi): all shapes.
. tests/cli/lib.sh
. tests/cli/mpi.sh

# the programs do without MPI, and say what ranks would take
for name in $PROGRAMS; do
    check_not "$name is free of libmpi" prints 'libmpi' ldd "$BIN/$name"
done
PARTS=(--quiet --threads 1 --set pretrain.micro_batches=8)
for launcher in "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0" \
    "PMIX_NAMESPACE=a PMIX_RANK=0 SLURM_STEP_NUM_TASKS=2"; do
    refuse_ranks "no plugin: ${launcher%%=*}" 1 "rank 0 of 2" "none.so is not there" -- \
        env $launcher ORRERY_MPI_PLUGIN="$WORK/none.so" "$BIN/pretrain" --preset smoke \
        "${PARTS[@]}" --out "$WORK/refused"
done
# one task, or a shell of a job, which a launcher did not start
for launcher in "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0" \
    "SLURM_NTASKS=4 SLURM_PROCID=0" "PMIX_NAMESPACE=a PMIX_RANK=0 SLURM_NTASKS=1"; do
    check "one process: $launcher" env $launcher ORRERY_MPI_PLUGIN="$WORK/none.so" \
        "$BIN/pretrain" --version
done

why=$(mpi_missing) && skip "several ranks" "$why" && finish

# ---- the same bits
SMALL=(--set orbits.train=2000 --set orbits.train_files=2000 --set orbits.two_body_train=10
       --set orbits.two_body_val=10 --set orbits.two_body_test=10 --set planets.train=500
       --set planets.val=20 --set planets.test=20 --set pretrain.eval_every=25)
ZERO=(--set pretrain.zero=true)
# compare_ranks PRESET ATTENTION "RANKS..." ARGUMENT...
compare_ranks() {
    local preset=$1 attention=$2 counts=$3 n name
    shift 3
    name="$preset, $attention"
    [ -d "$WORK/$preset/orbits" ] || check "$preset: orbits" program orbits --preset "$preset" \
        --quiet --run "$WORK/$preset" "$@"
    for n in 1 $counts; do
        check "$name: $n ranks" ranks "$n" --preset "$preset" --run "$WORK/$preset" "${PARTS[@]}" \
            --attention "$attention" --out "$WORK/$preset-$attention-$n" "$@"
        case $n in
        1) ;;
        3) # an order of its own: the first step within rounding
            check "$name: 3 ranks, the same step" close_losses "$WORK/$preset-$attention-1" \
                "$WORK/$preset-$attention-3" 1e-6 1
            ;;
        *) check "$name: $n ranks, the same bits" same_training "$WORK/$preset-$attention-1" \
            "$WORK/$preset-$attention-$n" ;;
        esac
        [ "$n" -gt 1 ] && [[ -n ${MPI_FULL:-} || $n -eq 4 || $preset = quick ]] || continue
        check "$name: $n ranks, moments shared out" ranks "$n" --preset "$preset" \
            --run "$WORK/$preset" "${PARTS[@]}" "${ZERO[@]}" --attention "$attention" \
            --out "$WORK/$preset-$attention-$n-zero" "$@"
        check "$name: $n ranks, moments shared out, the same bits" same_training \
            "$WORK/$preset-$attention-$n" "$WORK/$preset-$attention-$n-zero"
    done
}
if [ -n "${MPI_FULL:-}" ]; then
    for attention in softmax lssar; do
        compare_ranks smoke $attention "2 3 4"
        compare_ranks smoke_tokens $attention "2 3 4"
        compare_ranks quick $attention "2 3 4" "${SMALL[@]}" --set pretrain.steps=50 \
            --set pretrain_planets.steps=50
    done
else
    compare_ranks smoke lssar "2 3 4" --set pretrain_planets.steps=0
    compare_ranks smoke_tokens softmax "4"
    compare_ranks quick lssar "2" "${SMALL[@]}" --set pretrain.steps=10 \
        --set pretrain.eval_every=5 --set pretrain_planets.steps=0
fi
again=("${PARTS[@]}" --preset smoke --run "$WORK/smoke" --attention lssar
       --set pretrain_planets.steps=0)
check "3 ranks again" ranks 3 "${again[@]}" --out "$WORK/three"
check "3 ranks, their own bits" same_training "$WORK/smoke-lssar-3" "$WORK/three"
# gradients of several buckets, sent while the backward pass goes on, or after it
wide=("${again[@]}" --set model.width=256 --set model.layers=4 --set pretrain.steps=4)
check "four buckets: 1 rank" ranks 1 "${wide[@]}" --out "$WORK/wide-1"
for overlap in 1 0; do
    check "four buckets, overlap $overlap: 4 ranks" env ORRERY_OVERLAP=$overlap timeout "$LIMIT" \
        mpirun -np 4 "$BIN/pretrain" "${wide[@]}" --out "$WORK/wide-4-$overlap"
    check "four buckets, overlap $overlap: the same bits" same_training "$WORK/wide-1" \
        "$WORK/wide-4-$overlap"
done
check "four buckets, moments shared out: 2 ranks" ranks 2 "${wide[@]}" "${ZERO[@]}" \
    --out "$WORK/wide-zero"
check "four buckets, moments shared out: the same bits" same_training "$WORK/wide-1" \
    "$WORK/wide-zero"
# passes are divided otherwise, and one rank has two threads
check "2 ranks, batch 4 x 2" ranks 2 "${again[@]}" --set pretrain.batch=4 \
    --set pretrain.accumulation=2 --threads 2 --out "$WORK/cut"
check "batch 4 x 2, the same weights" same_by tensors "$WORK/smoke-lssar-1/last.safetensors" \
    "$WORK/cut/last.safetensors"
# data made on the fly, patience, outliers, silent rows (of relu_li): all ranks decide the same, and
# the log has what the last one saw
hard=("${ZERO[@]}" --set orbits.train_files=10 --set pretrain.patience=1 --set pretrain.eval_every=2
      --set pretrain.outlier_sigma=1 --set pretrain.outlier_window=8 --set pretrain.ema=0.9
      --set pretrain.outlier_most=80) # (how many in a row depends on the CPU)
for n in 1 2; do
    check "streamed, patience, outliers: $n ranks" ranks $n "${again[@]}" "${hard[@]}" \
        --attention relu_li --out "$WORK/hard-$n"
done
check "streamed, patience, outliers: the same bits" same_training "$WORK/hard-1" "$WORK/hard-2"
check "streamed, patience, outliers: the same bits: and steps were skipped" \
    grep -q '"skipped"' "$WORK/hard-2/log.jsonl"
check "streamed, patience, outliers: the same bits: and rows were silent" \
    grep -q '"degenerate_rows": [1-9]' "$WORK/hard-2/log.jsonl"

# what a training decides by its past is known to all ranks that go on with it
past=("${again[@]}" "${hard[@]}" --set pretrain.patience=0 --set pretrain.steps=90)
check "outliers, never stopped" ranks 1 "${past[@]}" --out "$WORK/past"
check "outliers, stopped before its end" stopped_ranks 2 "${past[@]}" --out "$WORK/past-2"
check "outliers, 2 ranks go on" ranks 2 "${past[@]}" --resume --out "$WORK/past-2"
check "outliers, as if never stopped" same_training "$WORK/past" "$WORK/past-2"

# rank 0 chooses the instruction set
check "1 rank, plain" env ORRERY_ISA=plain "$BIN/pretrain" "${again[@]}" --out "$WORK/plain-1"
check "2 ranks, rank 0 plain" timeout "$LIMIT" mpirun -np 1 -x ORRERY_ISA=plain \
    "$BIN/pretrain" "${again[@]}" --out "$WORK/plain-2" : -np 1 "$BIN/pretrain" "${again[@]}" \
    --out "$WORK/plain-2"
check "rank 0 plain, the same bits" same_training "$WORK/plain-1" "$WORK/plain-2"

# ---- one error, from one rank
orbits=(--orbits "$WORK/smoke/orbits" --out "$WORK/refused" --preset smoke --run "$WORK/smoke")
two=("$BIN/pretrain" "${orbits[@]}" --attention lssar)
refuse_ranks "micro-batches off" 2 "pretrain.micro_batches" "number of ranks, 2, found 0" \
    -- mpirun -np 2 "${two[@]}"
refuse_ranks "fewer micro-batches than ranks" 2 "number of ranks, 4, found 2" -- mpirun -np 4 \
    "${two[@]}" "${PARTS[@]}" --set pretrain.micro_batches=2
refuse_ranks "a batch that does not divide" 2 "8 x 1 = 8 sequences, found 5" -- mpirun -np 2 \
    "${two[@]}" --set pretrain.micro_batches=5
refuse_ranks "an unknown key" 2 "pretrian.lr" -- mpirun -np 2 "${two[@]}" --set pretrian.lr=1
for case in "--seed 3:seed is 3, of rank 0 0" "--set pretrain.lr=0.5:pretrain.lr is 0.5" \
    "--attention softmax:--attention is softmax, of rank 0 lssar"; do
    refuse_ranks "ranks differ: ${case%%:*}" 2 "rank 1 of 2" "${case#*:}" -- mpirun -np 1 \
        "${two[@]}" "${PARTS[@]}" : -np 1 "${two[@]}" "${PARTS[@]}" ${case%%:*}
done
refuse_ranks "a rank without its data" 1 "rank 1 of 2" "coords_train.npy" "cannot open" -- \
    mpirun -np 1 "${two[@]}" "${PARTS[@]}" : -np 1 "${two[@]}" "${PARTS[@]}" --orbits "$WORK/none"
refuse_ranks "no data at all" 1 "no data sets there" -- mpirun -np 2 "${two[@]}" "${PARTS[@]}" \
    --orbits "$WORK/none"
refuse_ranks "a rank without its GPU" 1 "cuda" -- mpirun -np 1 "${two[@]}" "${PARTS[@]}" \
    : -np 1 "${two[@]}" "${PARTS[@]}" --device cuda

finish
