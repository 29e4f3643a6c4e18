#!/usr/bin/env bash
# test_slurm.sh - the scripts of docs/cluster in a Slurm of one node, which the test starts: ranks,
# a job that is queued again and goes on, a rank that dies, arrays. Part of make check-mpi.
. tests/cli/lib.sh
. tests/cli/mpi.sh
. tests/cli/slurm.sh

why=$(mpi_missing || slurm_missing) && skip "Slurm" "$why" && finish
at_exit() {
    slurm_stop
}
check "Slurm starts" slurm_start

job_over() { # all of an array's
    local states
    states=$(scontrol show job "$1" | grep -o 'JobState=[A-Z_]*') &&
        [[ ! $states =~ =(PENDING|CONFIGURING|RUNNING|SUSPENDED|COMPLETING|REQUEUE) ]]
}
job_has() { # ID TEXT
    scontrol show job "$1" | grep -q -- "$2"
}
# submit ARGUMENT...: its number is in $job
submit() {
    job=$(sbatch --parsable --output="$WORK/job-%j-%a.log" "$@")
}
logged() { # FOLDER LINES
    [ "$(wc -l <"$1/log.jsonl")" -ge "$2" ]
}

data=(--preset smoke --quiet --run "$WORK/smoke")
check "orbits in parts" submit --array=1-2 -c 1 docs/cluster/orbits.sbatch "${data[@]}"
check "orbits in parts: end" until_true job_over "$job"
check "orbits in parts: put together" program orbits "${data[@]}"
check "orbits of one process" program orbits --preset smoke --quiet --run "$WORK/one"
check "orbits of one process: the same" \
    same_files "$WORK/one/orbits" "$WORK/smoke/orbits" coords_train.npy \
    manifest.json

train=("${data[@]}" --attention lssar --set pretrain.micro_batches=8
       --set pretrain_planets.steps=0 --set pretrain.steps=900 --set pretrain.eval_every=0
       --set pretrain.checkpoint_every=100)
check "one process" program pretrain "${train[@]}" --threads 1 --out "$WORK/whole"

check "two ranks" submit -n 2 docs/cluster/train.sbatch "${train[@]}" --out "$WORK/two"
check "two ranks: under way" until_true logged "$WORK/two" 15
# what Slurm does before the time is over
check "two ranks: told to end" scancel --batch --signal=TERM "$job"
check "two ranks: queued again" until_true job_has "$job" "Restarts=1"
check "two ranks: end" until_true job_over "$job"
check "two ranks: well" job_has "$job" "JobState=COMPLETED"
check "two ranks: had saved" grep -q '^pretrain: stopped at step .*, saved in' \
    "$WORK/job-$job-4294967294.log"
check "two ranks: as if never stopped" same_files "$WORK/whole" "$WORK/two" last.safetensors \
    evaluation.json
check "two ranks: also the log" same_by numbers "$WORK/whole/log.jsonl" "$WORK/two/log.jsonl"

check "two ranks, to be cancelled" submit -n 2 docs/cluster/train.sbatch "${train[@]}" \
    --out "$WORK/cancelled"
check "two ranks, to be cancelled: under way" until_true logged "$WORK/cancelled" 15
check "two ranks, to be cancelled: cancelled" scancel "$job"
check "two ranks, to be cancelled: end" until_true job_over "$job"
check "two ranks, to be cancelled: and do not come back" job_has "$job" "Restarts=0"

check "four ranks" submit -n 4 docs/cluster/train.sbatch "${train[@]}" --out "$WORK/four"
check "four ranks: under way" until_true logged "$WORK/four" 15
rank_of() { # RANK: of this job; other ranks may be about
    local process
    for process in $(pgrep -x pretrain); do
        [ "$(tr '\0' '\n' <"/proc/$process/environ" |
            grep -cxE "PMIX_RANK=$1|SLURM_JOB_ID=$job")" -ne 2 ] || echo "$process"
    done
}
kill -KILL "$(rank_of 2)"
SECONDS=0
check "four ranks: one dies: the job ends" until_true job_over "$job"
check "four ranks: within 30 s" test $SECONDS -le 30
check "four ranks: as failed" job_has "$job" "JobState=FAILED"
check "four ranks again" submit -n 4 docs/cluster/train.sbatch "${train[@]}" --out "$WORK/four"
check "four ranks again: end" until_true job_over "$job"
check "four ranks again: as if nothing had happened" \
    same_files "$WORK/whole" "$WORK/four" last.safetensors

finish
