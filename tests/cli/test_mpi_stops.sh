#!/usr/bin/env bash
# test_mpi_stops.sh - a training by several ranks that ends early: by a signal, by --minutes, by the
# death of a rank, by a full disk; any number of ranks resumes it as if nothing had happened.
# MPI_FULL=1 (make check-mpi): more deaths.
. tests/cli/lib.sh
. tests/cli/mpi.sh

why=$(mpi_missing) && skip "several ranks" "$why" && finish

# ---- stops: any rank's signal and --minutes end all at one step, for any number of ranks to resume
check "orbits" program orbits --preset smoke --quiet --run "$WORK/smoke"
long=(--quiet --threads 1 --preset smoke --run "$WORK/smoke" --attention lssar
      --set pretrain.micro_batches=8 --set pretrain_planets.steps=0 --set pretrain.steps=400
      --set pretrain.eval_every=0 --set pretrain.checkpoint_every=50)
ZERO=(--set pretrain.zero=true)
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
check "SIGTERM of rank 1: status 0: said once" \
    equal 1 "$(grep -c '^pretrain: stopped at step' "$WORK/err")"
check "SIGTERM of rank 1: status 0: nothing temporary" clean "$WORK/stopped"
# one part each: nobody looks at signals before the others have come to the end of the step
check "2 ranks with 2 parts under way" begin_ranks 2 "$WORK/parts" --set pretrain.micro_batches=2
kill -TERM "$(rank_pid 1)"
check "SIGTERM between steps: status 0" ended_well
check "SIGTERM between steps: status 0: saved" \
    grep -q '^pretrain: stopped at step .*, saved in' "$WORK/err"
cp -r "$WORK/stopped" "$WORK/stopped-3"
check "1 rank goes on, until its time is over" ranks 1 "${long[@]}" --resume --minutes 0.003 \
    --out "$WORK/stopped"
check "4 ranks go on" ranks 4 "${long[@]}" "${ZERO[@]}" --resume --out "$WORK/stopped"
check "2 -> 1 -> 4 ranks: as if never stopped" same_files "$WORK/whole" "$WORK/stopped" \
    last.safetensors evaluation.json
check "2 -> 1 -> 4 ranks: as if never stopped: also the log" \
    same_by numbers "$WORK/whole/log.jsonl" "$WORK/stopped/log.jsonl"
check "3 ranks go on" ranks 3 "${long[@]}" --resume --out "$WORK/stopped-3"
check "4 ranks with --minutes: status 0" ranks 4 "${long[@]}" --minutes 0.003 \
    --out "$WORK/minutes"
check "complete: nothing to do" ranks 2 "${long[@]}" --resume --out "$WORK/stopped"
check "complete: nothing to do: and nothing done" \
    same_files "$WORK/whole" "$WORK/stopped" last.safetensors

# ---- a rank dies: the job ends, the last checkpoint stays whole
for dead in ${MPI_FULL:+0} 1; do
    check "2 ranks under way, rank $dead to die" begin_ranks 2 "$WORK/dead-$dead"
    kill -KILL "$(rank_pid $dead)"
    SECONDS=0
    check "rank $dead dies: the job fails" ended_badly
    check "rank $dead dies: the job fails: within 30 s" test $SECONDS -le 30
    check "rank $dead dies: the job fails: and says which" \
        grep -q "rank $dead .*signal 9" "$WORK/err"
    check "rank $dead dies: the job fails: resumed" \
        ranks 2 "${long[@]}" --resume --out "$WORK/dead-$dead"
    check "rank $dead dies: the job fails: as if nothing had happened" \
        same_files "$WORK/whole" "$WORK/dead-$dead" \
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
        check "random kill $round: the job ends within 30 s: resumed" \
            ranks 2 "${long[@]}" --resume --out "$WORK/random"
        check "random kill $round: the job ends within 30 s: nothing temporary" clean "$WORK/random"
        check "random kill $round: the job ends within 30 s: as if nothing had happened" \
            same_files "$WORK/whole" "$WORK/random" \
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
        check "disk full at $at: status 1: one error, of rank 0" equal 1 \
            "$(grep -c '^pretrain: error: rank 0 of 2: .*cannot' "$WORK/out")"
        check "disk full at $at: status 1: nothing temporary" clean "$WORK/full"
        check "disk full at $at: status 1: resumed" ranks 2 "${long[@]}" --resume --out "$WORK/full"
        check "disk full at $at: status 1: as if nothing had happened" \
            same_files "$WORK/whole" "$WORK/full" \
            last.safetensors
    done
else
    skip "a full disk" "no fail_write.so"
fi

finish
