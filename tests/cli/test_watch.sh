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
watcher=$! pid=$!
watch "$WORK/live/lssar/pretrain/log.jsonl" >"$WORK/log.out" 2>"$WORK/log.err" &
log_watcher=$!
check "it does not say that it waits for what is not there" \
    until_true grep -q "waiting for $WORK/live" "$WORK/live.err"
check "it waits for what is not there" kill -0 $watcher
check "it waits for what is not there: also for a log" kill -0 $log_watcher
check "pretrain" program pretrain "${COMMON[@]}" --attention lssar --run "$WORK/live" \
    --orbits "$WORK/run/orbits" --set pretrain.steps=600 --set pretrain.eval_every=50 \
    --set pretrain_planets.steps=10
check "it ends with the training, status 0" wait $watcher
check "it ends with the training, status 0: also for a log, status 0" wait $log_watcher
check "a picture" is_png "$WORK/live.png" 1250
check "nothing beside it" clean "$WORK"
check "the log is drawn" grep -q 'lssar/pretrain' "$WORK/log.out"
watch "$WORK/live" >"$WORK/out" 2>"$WORK/err"
check "a complete run is drawn at once, status 0" test $? -eq 0
check "a complete run is drawn at once, status 0: every log of it" \
    grep -q 'lssar/pretrain_planets [*#%$]' "$WORK/out"
check "a complete run is drawn at once, status 0: an axis" grep -q ' step$' "$WORK/out"
check "a complete run is drawn at once, status 0: and the other" grep -q '^loss ' "$WORK/out"
check "a complete run is drawn at once, status 0: the speed, the share of peak, the memory" \
    grep -Eq \
    'step [0-9]+, loss [0-9.e-]+, [0-9]+ positions/s \([0-9]+% of peak\).* GB' "$WORK/out"
check "a complete run is drawn at once, status 0: without a word on stderr" test ! -s "$WORK/err"
check "a complete run is drawn at once, status 0: without escapes, into a file" \
    lacks $'\033' "$WORK/out"
check "make watch" timeout "$LIMIT" make -s watch RUN="$WORK/live" PNG="$WORK/made.png"
check "make watch: its picture" is_png "$WORK/made.png" 1250

# ---- lines that a kill left behind, and lines written again after it
mkdir "$WORK/odd"
printf '{"step": %d, "loss": %s, "tokens_per_s": 5}\n' 1 10 2 3 3 1e3 2 2 3 1 >"$WORK/odd/log.jsonl"
printf '{"step": 4, "los' >>"$WORK/odd/log.jsonl"
watch "$WORK/odd" >"$WORK/out" 2>&1
check "an odd log, status 0" test $? -eq 0
check "an odd log, status 0: lines written again count once" grep -q '1e+01 ' "$WORK/out"
check_not "an odd log, status 0: and what they replace does not" grep -q '1e+03 ' "$WORK/out"

# ---- names are a stranger's: text to gnuplot, the shell and awk, whatever stands in them
touch "$WORK/canary"
system="system \"rm $WORK/canary\"" # a file in the current folder has no "/" in its name
rm=${system//"$WORK/"/}
for name in "x\\n$rm\\n#" $'x\n'"$rm"$'\n#' "x'; $rm #" 'a`rm canary`$(rm canary)' 'a=b' \
    $'\e]0;title\a\xc2\x9b\u202e\u200b'; do
    folder=$WORK/odd/$name/pretrain
    mkdir -p "$folder" && cp "$WORK/odd/log.jsonl" "$folder" || exit
done
tools=$PWD/tools
strange() { # ARGUMENT...: in the folder of the canary
    (cd "$WORK" && timeout "$LIMIT" "$tools/watch.sh" "$@" </dev/null >out 2>err)
}
check "folders of any name" strange odd
check "folders of any name: without a word on stderr" test ! -s "$WORK/err"
check "folders of any name: each is drawn" equal 6 "$(grep -c 'pretrain [*#%$@&=A-Z]' "$WORK/out")"
check "folders of any name: without controls" lacks $'\e|\a|\xc2\x9b|\u202e|\u200b' "$WORK/out"
for name in "$WORK/odd"/*/pretrain; do
    check "by itself: $name" strange "${name#"$WORK/"}"
done
check "none of them is run" test -e "$WORK/canary"
mkdir "$WORK/"$'two\nlines'
check_not "a folder of two lines without logs is refused" strange $'two\nlines'
check "a folder of two lines without logs is refused: in one line" \
    equal "watch: error: two?lines: no logs in this folder (log.jsonl); \
expected a run directory" "$(cat "$WORK/err")"
mkdir "$WORK/-print" && cp "$WORK/odd/log.jsonl" "$WORK/-print" || exit
check "a folder with the name of an option" strange -print
check "a folder with the name of an option: its picture" strange -print -v.png
check "a folder with the name of an option: is there" is_png "$WORK/-v.png" 1250

# a log that is open in a folder whose name is a pattern: the training goes on
mkdir "$WORK/[a]*?\\" && cp "$WORK/odd/log.jsonl" "$WORK/[a]*?\\" || exit
exec 7>>"$WORK/[a]*?\\/log.jsonl"
tools/watch.sh "$WORK/[a]*?\\" >"$WORK/out" 2>&1 7>&- &
watcher=$! pid=$!
sleep 0.5
check "a training in a folder whose name is a pattern goes on" kill -0 $watcher
exec 7>&-
kill $watcher 2>/dev/null
wait $watcher

# ---- what is no run
mkdir "$WORK/none"
check_not "a folder without logs is refused" watch "$WORK/none"
watch "$WORK/none" 2>"$WORK/err"
check "$WORK/none: in one line that names it" \
    grep -q "^watch: error: $WORK/none: no logs" "$WORK/err"
check_not "no argument" watch

# ---- Ctrl-C
tools/watch.sh "$WORK/never" >/dev/null 2>"$WORK/never.err" &
watcher=$! pid=$!
until_true grep -q "waiting for" "$WORK/never.err"
kill -TERM $watcher
wait $watcher
check "a signal ends it, status 0" test $? -eq 0
finish
