#!/usr/bin/env bash
# test_progress.sh - the live line of a training on a terminal: within its width, whatever it is.
. tests/cli/lib.sh
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
    tr '\r' '\n' <"$WORK/screen" | sed 's/\x1b\[K//g' | grep -E '^[^,]*: [0-9]+/[0-9]+ \([0-9]+%\)'
}
for columns in 200 80 40; do
    on_terminal $columns
    check "$columns columns: status" test $? -eq 0
    lines >"$WORK/lines"
    check "... lines are drawn" test "$(wc -l <"$WORK/lines")" -ge 2
    check "... none is wider" awk -v most=$((columns - 1)) 'length > most { exit 1 }' "$WORK/lines"
    cp "$WORK/lines" "$WORK/lines.$columns"
done
check "a wide terminal shows the memory" grep -q ' GB, ' "$WORK/lines.200"
check_not "80 columns do not" grep -q ' GB' "$WORK/lines.80"
check "... but the loss" grep -q ', loss [0-9.]*, ' "$WORK/lines.80"
check "... and the time" grep -q ' s, [0-9]* s left$' "$WORK/lines.80"
finish
