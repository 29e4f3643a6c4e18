#!/usr/bin/env bash
# test_watch.sh - the losses of a training, live: it waits for a run, draws it and ends with it;
# what is no run is refused.
. tests/cli/lib.sh

if ! command -v gnuplot >/dev/null; then
    skip "watch" "gnuplot is not installed"
    finish
fi
export EVERY=0.2 GRACE=1
watch() {
    timeout "$LIMIT" tools/watch.sh "$@" </dev/null
}
COMMON=(--preset smoke --threads 1 --quiet)
check "orbits" program orbits "${COMMON[@]}" --run "$WORK/run"

# ---- before, during and after a training
watch "$WORK/live" "$WORK/live.png" >"$WORK/live.out" 2>"$WORK/live.err" &
watcher=$!
watch "$WORK/live/lssar/pretrain/log.jsonl" >"$WORK/log.out" 2>"$WORK/log.err" &
log_watcher=$!
sleep 0.5
check "it waits for what is not there" kill -0 $watcher
check "... also for a log" kill -0 $log_watcher
check "... and says so" grep -q "waiting for $WORK/live" "$WORK/live.err"
check "pretrain" program pretrain "${COMMON[@]}" --attention lssar --run "$WORK/live" \
    --orbits "$WORK/run/orbits" --set pretrain.steps=600 --set pretrain.eval_every=50 \
    --set pretrain_planets.steps=10
check "it ends with the training, status 0" wait $watcher
check "... also for a log, status 0" wait $log_watcher
check "a picture" is_png "$WORK/live.png" 5000
check "nothing beside it" clean "$WORK"
check "the log is drawn" grep -q 'lssar/pretrain' "$WORK/log.out"
watch "$WORK/live" >"$WORK/out" 2>"$WORK/err"
check "a complete run is drawn at once, status 0" test $? -eq 0
check "... every log of it" grep -q 'lssar/pretrain_planets [*#%$]' "$WORK/out"
check "... an axis" grep -q ' step$' "$WORK/out"
check "... the speed, the share of peak, the memory" grep -Eq \
    'step [0-9]+, loss [0-9.e-]+, [0-9]+ positions/s \([0-9]+% of peak\).* GB' "$WORK/out"
check "... without a word on stderr" test ! -s "$WORK/err"
check "... without escapes, into a file" lacks $'\033' "$WORK/out"
check "make watch" timeout "$LIMIT" make -s watch RUN="$WORK/live" PNG="$WORK/made.png"
check "... its picture" is_png "$WORK/made.png" 5000

# ---- lines that a kill left behind, and lines written again after it
mkdir "$WORK/odd"
printf '{"step": %d, "loss": %s, "tokens_per_s": 5}\n' 1 10 2 3 3 1e3 2 2 3 1 >"$WORK/odd/log.jsonl"
printf '{"step": 4, "los' >>"$WORK/odd/log.jsonl"
watch "$WORK/odd" >"$WORK/out" 2>&1
check "an odd log, status 0" test $? -eq 0
check "... lines written again count once" grep -q '1e+01 ' "$WORK/out"
check_not "... and what they replace does not" grep -q '1e+03 ' "$WORK/out"

# ---- what is no run
mkdir "$WORK/none"
check_not "a folder without logs is refused" watch "$WORK/none"
watch "$WORK/none" 2>"$WORK/err"
check "... in one line that names it" grep -q "^watch: error: $WORK/none: no logs" "$WORK/err"
check_not "no argument" watch

# ---- Ctrl-C
tools/watch.sh "$WORK/never" >/dev/null 2>&1 &
watcher=$!
sleep 0.3
kill -TERM $watcher
wait $watcher
check "a signal ends it, status 0" test $? -eq 0
finish
