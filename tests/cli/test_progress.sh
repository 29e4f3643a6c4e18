#!/usr/bin/env bash
# test_progress.sh - the live line of a training on a terminal: within its width, whatever it is.
. tests/cli/lib.sh
fast_pictures
if ! command -v script >/dev/null; then
    skip "the live line" "no script(1)"
    finish
fi
tiny=()
for word in "${TINY[@]}"; do
    [ "$word" = --quiet ] || tiny+=("$word")
done
check "data sets" program orbits "${TINY[@]}" --run "$WORK/run" --set orbits.train=4000
# on_terminal COLUMNS: a training, into $WORK/screen
on_terminal() {
    rm -rf "$WORK/run/lssar"
    script -qefc "stty cols $1 rows 24; '$BIN/pretrain' ${tiny[*]} --run '$WORK/run' \
        --attention lssar --set orbits.train=4000 --set pretrain.steps=2500" "$WORK/screen" \
        >/dev/null </dev/null
}
# lines: what the live line showed, one a line
lines() {
    tr '\r' '\n' <"$WORK/screen" | sed 's/\x1b\[[0-9;]*[Km]//g' |
        grep -E '^[^,]*: [0-9]+/[0-9]+ \([0-9]+%\)'
}
for columns in 200 80 60 40; do
    on_terminal $columns
    check "$columns columns: status" test $? -eq 0
    lines >"$WORK/lines"
    check "$columns columns: status: lines are drawn" test "$(wc -l <"$WORK/lines")" -ge 2
    check "$columns columns: status: none is wider" \
        awk -v most=$((columns - 1)) 'length > most { exit 1 }' "$WORK/lines"
    cp "$WORK/lines" "$WORK/lines.$columns"
    check "$columns columns: status: the label is bold" \
        grep -q $'\x1b\\[1mpretrain lssar\x1b\\[0m: ' "$WORK/screen"
done
check "a wide terminal shows the memory" grep -q ' GB, ' "$WORK/lines.200"
check_not "80 columns do not" grep -q ' GB' "$WORK/lines.80"
check "80 columns show the loss" grep -q ', loss [0-9.]*, ' "$WORK/lines.80"
# below 10 s a time has a digit behind the point: on a fast machine every line has it
check "80 columns show the time that is left" grep -q ' s, [0-9.]* s left$' "$WORK/lines.80"

# ---- colours: on a terminal alone, and not where they are not wanted
# refused SETTING...: what a terminal shows of an error
refused() {
    script -qefc "env $* '$BIN/pretrain' --preset nonesuch" "$WORK/screen" >/dev/null </dev/null
    grep 'pretrain:' "$WORK/screen"
}
red=$'\x1b[1;31merror:\x1b[0m'
refused -u NO_COLOR TERM=xterm >"$WORK/error"
check "an error is red" grep -qF "pretrain: $red " "$WORK/error"
for setting in "TERM=xterm NO_COLOR=1" TERM=dumb; do
    refused $setting >"$WORK/error"
    check "$setting: an error" grep -qF 'pretrain: error: ' "$WORK/error"
    check_not "$setting: an error: has no colour" grep -q $'\x1b\\[[0-9;]*m' "$WORK/error"
done
refused TERM=xterm NO_COLOR= >"$WORK/error"
check "an empty NO_COLOR is none" grep -qF "$red" "$WORK/error"
"$BIN/pretrain" --preset nonesuch 2>"$WORK/error"
check "in a file there is none" grep -q '^pretrain: error: ' "$WORK/error"
finish
