#!/usr/bin/env bash
# test_side.sh - jobs side by side (orr_jobs_run): models of a run trained at the same time on
# several threads have the bytes of models trained one after the other, and signals, failures and
# kills of the caller or of a job leave nothing running and nothing lost.
. tests/cli/lib.sh

MODELS="softmax/pretrain/last.safetensors lssar/pretrain/last.safetensors
    softmax/pretrain/evaluation.json lssar/pretrain/evaluation.json
    softmax/pretrain_planets/last.safetensors lssar/pretrain_planets/last.safetensors"
FORCES="truth/finetune/forces_magnitude.csv oracle/finetune/forces_vector.csv
    softmax/finetune/forces_magnitude.csv lssar/finetune/forces_vector.csv
    untrained/finetune/forces_magnitude.csv"
at_exit() {
    pkill -KILL -f "$WORK" 2>/dev/null
}
# jobs_of PID: processes whose parent it is
jobs_of() {
    pgrep -P "$1"
}
two_jobs() {
    [ "$(jobs_of "$pid" | wc -l)" -eq 2 ]
}
# until_ended: of itself, within half a minute
until_ended() {
    local tries
    for ((tries = 0; tries < 1500; tries++)); do
        kill -0 $pid 2>/dev/null || { wait $pid; status=$?; return 0; }
        sleep 0.02
    done
    stop KILL
    return 1
}
# until_none: no process has the folder in its arguments
until_none() {
    local tries
    for ((tries = 0; tries < 1500; tries++)); do
        pgrep -f "$BIN/[a-z]* .*$WORK" >/dev/null || return 0
        sleep 0.02
    done
    return 1
}
both_train() {
    lines "$1/softmax/pretrain/log.jsonl" 2 && lines "$1/lssar/pretrain/log.jsonl" 2
}
lines() {
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

# ---- the same bytes
check "orbits" program orbits --preset smoke --threads 1 --run "$WORK/one" --quiet
for run in two long; do
    mkdir "$WORK/$run" && cp -r "$WORK/one/orbits" "$WORK/$run"
done
check "one after the other" program pretrain --preset smoke --threads 1 --run "$WORK/one" --quiet
check "side by side" program pretrain --preset smoke --threads 2 --run "$WORK/two"
check "pretrain: the same bytes" same_files "$WORK/one" "$WORK/two" $MODELS preset.json
check "finetune, one after the other" program finetune --preset smoke --threads 1 \
    --run "$WORK/one" --quiet
check "finetune, side by side" program finetune --preset smoke --threads 3 --run "$WORK/two" --quiet
check "finetune: the same bytes" same_files "$WORK/one" "$WORK/two" $FORCES preset.json
program pretrain --preset smoke --threads 2 --run "$WORK/two" --resume 2>"$WORK/err"
check "again with --resume: nothing to do" equal 4 "$(grep -c 'complete' "$WORK/err")"

# ---- data sets of other settings are told of once, not by every job
told_once() {
    grep 'note: data set' "$WORK/err" | sort >"$WORK/told" && uniq -d "$WORK/told" >"$WORK/twice" &&
        [ ! -s "$WORK/twice" ]
}
for threads in 1 3; do
    for name in pretrain finetune; do
        program $name --preset smoke --set seed=4 --set pretrain.steps=2 --threads $threads \
            --run "$WORK/of $threads" --orbits "$WORK/one/orbits" 2>"$WORK/err"
        check "$name on $threads threads: each data set is told of once" told_once
    done
done

# ---- a caller that was begun with SIGCHLD ignored hears of the end of its jobs
rm -rf "$WORK/two/lssar/pretrain"
start env --ignore-signal=CHLD "$BIN/pretrain" --preset smoke --threads 2 --run "$WORK/two" \
    --resume --quiet
check "SIGCHLD ignored: it ends" until_ended
check "SIGCHLD ignored: status 0" test $status -eq 0

# ---- stopped, and resumed
LONG="--preset smoke --threads 2 --quiet --set pretrain.steps=400000
    --set pretrain.checkpoint_every=400000 --set pretrain_planets.steps=0"
start "$BIN/pretrain" $LONG --run "$WORK/long"
check "two jobs" until_true two_jobs
check "both train" until_true both_train "$WORK/long"
stop TERM
check "stopped: status 0, all is saved" test $status -eq 0
check "stopped: no job is left" until_none
check "stopped: both are saved" test -s "$WORK/long/softmax/pretrain/last.safetensors" -a \
    -s "$WORK/long/lssar/pretrain/last.safetensors"
check "stopped: one command goes on with both" equal 1 "$(grep -c '^resume with:' "$WORK/err")"
check_not "stopped: the command is the caller's" grep -q -e '^resume with:.*--attention' "$WORK/err"

# ---- a job that is killed, and a caller that is
start "$BIN/pretrain" $LONG --run "$WORK/long" --resume
check "two jobs again" until_true two_jobs
kill -KILL "$(jobs_of $pid | head -n 1)"
stop INT
check "a job was killed, the caller stopped: nothing hangs" test $status -eq 0
check "a job was killed: none is left" until_none
start "$BIN/pretrain" $LONG --run "$WORK/long" --resume
check "two jobs, the third time" until_true two_jobs
stop KILL
check "the caller was killed: its jobs save and end" until_none

# ---- a job that fails: one error, the job's own
rm -rf "$WORK/two/lssar/finetune" && touch "$WORK/two/lssar/finetune"
KEEP=$WORK/one refuse "a source that cannot be written" 1 "$WORK/two/lssar/finetune" -- program \
    finetune --preset smoke --threads 2 --run "$WORK/two" --quiet --resume
finish
