#!/usr/bin/env bash
# test_mpi.sh - one training by several ranks: the bits of one process, one checkpoint for any
# number of ranks, stops and deaths of ranks, one error for all. MPI_FULL=1 (make check-mpi): all
# shapes, and more deaths.
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
check "... and steps were skipped" grep -q '"skipped"' "$WORK/hard-2/log.jsonl"
check "... and rows were silent" grep -q '"degenerate_rows": [1-9]' "$WORK/hard-2/log.jsonl"

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

# ---- stops: any rank's signal and --minutes end all at one step, for any number of ranks to resume
long=("${again[@]}" --set pretrain.steps=900 --set pretrain.eval_every=0
      --set pretrain.checkpoint_every=100)
check "never stopped" ranks 1 "${long[@]}" --out "$WORK/whole"
under_way() {
    [ "$(wc -l <"$1/log.jsonl")" -ge "$2" ]
}
# begin_ranks N FOLDER ARGUMENT...: in the background, until some steps are done; $pid is the parent
# of the launcher
begin_ranks() {
    local count=$1 folder=$2
    shift 2
    start timeout "$LIMIT" mpirun -np "$count" "$BIN/pretrain" "${long[@]}" "${ZERO[@]}" --resume \
        --out "$folder" "$@"
    until_true under_way "$folder" 15
}
rank_pid() { # RANK
    local process
    for process in $(pgrep -P "$(pgrep -P "$pid")"); do
        ! tr '\0' '\n' <"/proc/$process/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" ||
            echo "$process"
    done
}
ended_well() {
    wait "$pid"
}
ended_badly() {
    ! wait "$pid"
}
check "2 ranks under way" begin_ranks 2 "$WORK/stopped"
kill -TERM "$(rank_pid 1)"
check "SIGTERM of rank 1: status 0" ended_well
check "... said once" equal 1 "$(grep -c '^pretrain: stopped at step' "$WORK/err")"
check "... nothing temporary" clean "$WORK/stopped"
# one part each: nobody looks at signals before the others have come to the end of the step
check "2 ranks with 2 parts under way" begin_ranks 2 "$WORK/parts" --set pretrain.micro_batches=2
kill -TERM "$(rank_pid 1)"
check "SIGTERM between steps: status 0" ended_well
check "... saved" grep -q '^pretrain: stopped at step .*, saved in' "$WORK/err"
cp -r "$WORK/stopped" "$WORK/stopped-3"
check "1 rank goes on, until its time is over" ranks 1 "${long[@]}" --resume --minutes 0.003 \
    --out "$WORK/stopped"
check "4 ranks go on" ranks 4 "${long[@]}" "${ZERO[@]}" --resume --out "$WORK/stopped"
check "2 -> 1 -> 4 ranks: as if never stopped" same_files "$WORK/whole" "$WORK/stopped" \
    last.safetensors evaluation.json
check "... also the log" same_by numbers "$WORK/whole/log.jsonl" "$WORK/stopped/log.jsonl"
check "3 ranks go on" ranks 3 "${long[@]}" --resume --out "$WORK/stopped-3"
check "4 ranks with --minutes: status 0" ranks 4 "${long[@]}" --minutes 0.003 \
    --out "$WORK/minutes"
check "complete: nothing to do" ranks 2 "${long[@]}" --resume --out "$WORK/stopped"
check "... and nothing done" same_files "$WORK/whole" "$WORK/stopped" last.safetensors

# ---- a rank dies: the job ends, the last checkpoint stays whole
for dead in ${MPI_FULL:+0} 1; do
    check "2 ranks under way, rank $dead to die" begin_ranks 2 "$WORK/dead-$dead"
    kill -KILL "$(rank_pid $dead)"
    SECONDS=0
    check "rank $dead dies: the job fails" ended_badly
    check "... within 30 s" test $SECONDS -le 30
    check "... and says which" grep -q "rank $dead .*signal 9" "$WORK/err"
    check "... resumed" ranks 2 "${long[@]}" --resume --out "$WORK/dead-$dead"
    check "... as if nothing had happened" same_files "$WORK/whole" "$WORK/dead-$dead" \
        last.safetensors
done

# ---- any rank, at any instant
RANDOM=${MPI_SEED:-18}
kill_somewhere() {
    begin_ranks 2 "$WORK/random" || return
    sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
    kill -KILL "$(rank_pid $((RANDOM % 2)))"
    SECONDS=0
    ended_badly && [ $SECONDS -le 30 ]
}
if [ -n "${MPI_FULL:-}" ]; then
    for ((round = 1; round <= ${MPI_KILLS:-20}; round++)); do
        rm -rf "$WORK/random"
        check "random kill $round: the job ends within 30 s" kill_somewhere
        check "... resumed" ranks 2 "${long[@]}" --resume --out "$WORK/random"
        check "... nothing temporary" clean "$WORK/random"
        check "... as if nothing had happened" same_files "$WORK/whole" "$WORK/random" \
            last.safetensors evaluation.json
    done
fi

# ---- the disk of rank 0 is full: all end, with its error
if [ -e "$FAIL_WRITE" ]; then
    full=(-x LD_PRELOAD="$FAIL_WRITE" -x FAIL_HOW=full)
    for at in ${MPI_FULL:+2 9} 5; do
        rm -rf "$WORK/full"
        check "before the disk is full" stopped_ranks 2 "${long[@]}" --out "$WORK/full"
        timeout "$LIMIT" mpirun -np 1 "${full[@]}" -x FAIL_AT=$at "$BIN/pretrain" "${long[@]}" \
            --resume --out "$WORK/full" : -np 1 "$BIN/pretrain" "${long[@]}" --resume \
            --out "$WORK/full" >"$WORK/out" 2>&1
        check "disk full at $at: status 1" equal 1 $?
        check "... one error, of rank 0" equal 1 \
            "$(grep -c '^pretrain: error: rank 0 of 2: .*cannot' "$WORK/out")"
        check "... nothing temporary" clean "$WORK/full"
        check "... resumed" ranks 2 "${long[@]}" --resume --out "$WORK/full"
        check "... as if nothing had happened" same_files "$WORK/whole" "$WORK/full" \
            last.safetensors
    done
else
    skip "a full disk" "no fail_write.so"
fi

finish
