#!/usr/bin/env bash
# test_watch.sh - the losses of a training under way: `compare losses RUN --follow` waits for a run,
# draws it as it grows and ends with it; what is no run is refused.
. tests/cli/lib.sh
PROGRAMS+=" compare"

if ! command -v gnuplot >/dev/null; then
    skip "watch" "gnuplot is not installed"
    finish
fi
compare=$BIN/compare
[[ $compare == /* ]] || compare=$PWD/$compare
watch() { # RUN... [--out FILE]: looks every 0.2 s, so that a run is over after one second
    timeout $((5 * LIMIT)) "$compare" losses "$@" --follow --every ${EVERY:-0.2} </dev/null
}
entry() { # STEP LOSS
    printf '{"step": %s, "loss": %s, "tokens_per_s": 5, "eta_s": 200, "memory_mb": 30}\n' "$1" "$2"
}
COMMON=(--preset smoke --threads 1 --quiet)
check "orbits" program orbits "${COMMON[@]}" --run "$WORK/run"

# ---- before, during and after a training
watch "$WORK/live" --out "$WORK/live.png" >"$WORK/live.out" 2>"$WORK/live.err" &
watcher=$! pid=$!
watch "$WORK/live/lssar/pretrain/log.jsonl" >"$WORK/log.out" 2>"$WORK/log.err" &
log_watcher=$!
check "it does not say that it waits for what is not there" \
    until_true grep -q "waiting for $WORK/live" "$WORK/live.err"
check "it does not wait for a run that is not there" kill -0 $watcher
check "it does not wait for a log that is not there" kill -0 $log_watcher
check "pretrain" program pretrain "${COMMON[@]}" --attention lssar --run "$WORK/live" \
    --orbits "$WORK/run/orbits" --set pretrain.steps=600 --set pretrain.eval_every=50 \
    --set pretrain_planets.steps=10
check "it does not end with the training, or its status is not 0" wait $watcher
check "of a log, it does not end with the training, or its status is not 0" wait $log_watcher
check "the picture of a training is none" is_png "$WORK/live.png" 1250
check "files are left beside the picture of a training" clean "$WORK"
check "the log that was named is not drawn" grep -q 'lssar/pretrain' "$WORK/log.out"
find "$WORK/live" -name '*.jsonl' -exec touch -d '1 minute ago' {} + # long over: no second look
watch "$WORK/live" >"$WORK/out" 2>"$WORK/err"
check "a complete run is not drawn at once with status 0" test $? -eq 0
check "the second log of a complete run is not drawn" \
    grep -q 'lssar/pretrain_planets [*#%$]' "$WORK/out"
check "the curves have no axis of steps" grep -q ' step (letters' "$WORK/out"
check "the curves have no axis of losses" grep -q '^loss ' "$WORK/out"
check "the first line has not speed, share of peak and memory" grep -Eq \
    'step [0-9]+, loss [0-9.e-]+, [0-9]+ positions/s \([0-9]+% of peak\).* GB' "$WORK/out"
check "a complete run is drawn with words on stderr" test ! -s "$WORK/err"
check "escapes of a terminal are written into a file" lacks $'\033' "$WORK/out"
check "the curves are wider than 80 columns" test "$(tail -n +2 "$WORK/out" | wc -L)" -le 80
program report --run "$WORK/live" --losses --follow >"$WORK/report.out" 2>/dev/null
check "report --losses --follow does not draw as compare does" \
    cmp "$WORK/report.out" "$WORK/out"
check "make watch" timeout "$LIMIT" make -s watch BIN="$BIN" RUN="$WORK/live" PNG="$WORK/made.png"
check "make watch draws no picture" is_png "$WORK/made.png" 1250

# ---- a run that grows: each new line is drawn, into a picture and onto a terminal
mkdir -p "$WORK/grows/lssar/pretrain" && log=$WORK/grows/lssar/pretrain/log.jsonl || exit
entry 1 7.5 >"$log"
exec 7>>"$log"
watch "$WORK/grows" --out "$WORK/grows.svg" >/dev/null 2>&1 7>&- &
watcher=$! pid=$!
check "a training that is open is not drawn" until_true test -s "$WORK/grows.svg"
sum=$(cksum <"$WORK/grows.svg")
entry 2 6.5 >&7
drawn_again() { [ "$(cksum <"$WORK/grows.svg")" != "$sum" ]; }
check "a new line of the log is not drawn" until_true drawn_again
sleep 1.3 # more than the second of rest
check "a training whose log is open is taken for over" kill -0 $watcher
exec 7>&-
check "it does not end after the log was closed, or its status is not 0" wait $watcher
entry 3 5.5 >>"$log" # by another machine: no process of this one has it open
# (five seconds of rest: other tests that run may keep the lines below waiting for one)
EVERY=1 watch "$WORK/grows" "$WORK/not-there" --quiet >"$WORK/out" 2>&1 &
watcher=$! pid=$!
for step in 4 5 6 7; do
    sleep 0.4
    entry $step $step.5 >>"$log"
done
wait $watcher
check "the last line that was written while it looked is not shown" grep -q 'step 7,' "$WORK/out"
if command -v script >/dev/null; then
    looking="env TERM=xterm timeout $LIMIT '$compare' losses '$WORK/grows' --follow --every 0.2"
    script -qec "$looking" /dev/null <<<"" >"$WORK/terminal" 2>&1
    check "a terminal is not cleared before the curves" grep -q $'\033\[H\033\[J' "$WORK/terminal"
    check "a terminal does not show the curves" grep -q 'lssar/pretrain' "$WORK/terminal"
else
    skip "the view of a terminal" "script is not installed"
fi

# ---- lines that a kill left behind, and lines written again after it
mkdir "$WORK/odd"
for pair in "1 10" "2 3" "3 1e3" "2 2" "3 1"; do entry $pair; done >"$WORK/odd/log.jsonl"
printf '{"step": 4, "los' >>"$WORK/odd/log.jsonl"
mkdir "$WORK/odd/search" && printf '{"epoch": 1, "loss": 2}\n' >"$WORK/odd/search/log.jsonl" || exit
watch "$WORK/odd" >"$WORK/out" 2>&1
check "half a line at the end of a log is an error, or the log of a search beside it" test $? -eq 0
check "lines that were written again are not drawn" grep -q '1e+01 ' "$WORK/out"
check_not "lines that were written again do not replace the old ones" grep -q '1e+03 ' "$WORK/out"

# ---- names are a stranger's: text to gnuplot, whatever stands in them
touch "$WORK/canary"
system="system \"rm $WORK/canary\"" # a file in the current folder has no "/" in its name
rm=${system//"$WORK/"/}
for name in "x\\n$rm\\n#" $'x\n'"$rm"$'\n#' "x'; $rm #" 'a`rm canary`$(rm canary)' 'a=b' \
    $'\e]0;title\a\xc2\x9b\u202e\u200b'; do
    folder=$WORK/odd/$name/pretrain
    mkdir -p "$folder" && cp "$WORK/odd/log.jsonl" "$folder" || exit
done
strange() { # ARGUMENT...: in the folder of the canary
    (cd "$WORK" && watch "$@")
}
strange odd >"$WORK/out" 2>"$WORK/err"
check "folders of any name are not drawn" test $? -eq 0
check "folders of any name give words on stderr" test ! -s "$WORK/err"
check "not every folder of any name is drawn, and the log beside them" \
    equal 7 "$(grep -c 'pretrain [*#%$@&=A-Z]' "$WORK/out")"
check "controls of names reach the terminal" lacks $'\e|\a|\xc2\x9b|\u202e|\u200b' "$WORK/out"
for name in "$WORK/odd"/*/pretrain; do
    check "not drawn by itself: $name" strange "${name#"$WORK/"}"
done
check "a name is run as a command" test -e "$WORK/canary"
mkdir "$WORK/"$'two\nlines' "$WORK/none"
orrery=$BIN/orrery
[[ $orrery == /* ]] || orrery=$PWD/$orrery
mkdir "$WORK/-print" && cp "$WORK/odd/log.jsonl" "$WORK/-print" &&
    touch -d '1 minute ago' "$WORK/-print/log.jsonl" || exit
check "a folder with the name of an option is not drawn" \
    env -C "$WORK" "$orrery" watch -print -v.png
check "a folder with the name of an option has no picture" is_png "$WORK/-v.png" 1250

# ---- what is refused
refusals strange <<'END'
a folder of two lines without logs | 1 "two lines: no logs in this folder" | $'two\nlines'
a folder without logs | 1 "none: no logs in this folder (log.jsonl); expected a run" | none
no run | 2 "compare losses: expected one run or more, found none" |
a size without a picture | 2 "--size: with --follow it needs --out FILE.png" | odd --size 900
a picture of no format | 2 "--out: expected a file that ends in .png or .svg" | odd --out a.gif
END
refusals "$compare" losses "$WORK/odd" --follow <<'END'
time between looks that is no number | 2 "expected 0.05 to 3600 seconds, found \"x\"" | --every x
a time between looks of 0 | 2 "--every: expected 0.05 to 3600 seconds, found \"0\"" | --every 0
END
refuse "a time between looks without looks" 2 '--every: belongs to --follow' -- \
    "$compare" losses "$WORK/odd" --every 1
printf '{"step": 1}\n' >"$WORK/none/log.jsonl"
refuse "a log without losses" 1 'none: its logs have no losses' -- watch "$WORK/none"

if [ -e /dev/full ]; then
    watch "$WORK/odd" >/dev/full 2>"$WORK/err"
    check "a full disk does not end the look with status 1" test $? -eq 1
    check "a full disk is not told" \
        grep -q '^compare: error: standard output: cannot write' "$WORK/err"
fi

# ---- a signal
looks() { grep -q "waiting for" "$WORK/err" || test -s "$WORK/grows.png"; }
for folder in never grows; do # it waits; it draws, and a second Ctrl-C is not needed
    exec 7>>"$log"
    "$compare" losses "$WORK/$folder" --follow --out "$WORK/$folder.png" >/dev/null \
        2>"$WORK/err" 7>&- &
    pid=$!
    until_true looks
    stop TERM
    exec 7>&-
    check "a signal does not end the look at $folder with status 0" equal 0 $status
done
check "a signal leaves files beside the picture" clean "$WORK"

# ---- commands, and the options of each
refuse "a command that there is not" 2 'expected one of runs, seeds, effects, losses' -- \
    "$compare" mean
check "commands of the release before are listed" lacks 'grid' "$WORK/.err"
"$compare" seeds --help >"$WORK/out"
check "compare seeds --help lists options of other commands" \
    lacks '--figure\|--size\|--follow' "$WORK/out"
"$compare" losses --help >"$WORK/out"
check "compare losses --help says that its picture is a folder" lacks 'this folder,' "$WORK/out"
"$compare" effects --help >"$WORK/out"
check "compare effects --help does not list --figure" grep -q '^  --figure' "$WORK/out"
check "compare effects --help lists options of losses" lacks '--size\|--follow' "$WORK/out"
finish
