#!/usr/bin/env bash
# test_symreg_live.sh - the front on a terminal: lines within its width, whole characters, q, and
# that the terminal is given back however the search ends or stops.
. tests/cli/lib.sh

if ! command -v script >/dev/null; then
    skip "the live view" "no script(1)"
    finish
fi
awk 'BEGIN {
    print "半径,質量,力"
    for (i = 1; i <= 60; i++) {
        r = 0.5 + (i * 37 % 61) / 16; m = 0.5 + (i * 23 % 59) / 16
        printf "%.9g,%.9g,%.9g\n", r, m, 3 * m / (r * r) * (1 + 0.02 * ((i * 29 % 13) - 6))
    }
}' >"$WORK/law.csv"
# on_terminal OUT OPTION...: 64 columns, 14 lines; keys from standard input
on_terminal() {
    local out=$1
    shift
    script -qefc "stty cols ${WIDTH:-64} rows 14; '$BIN/symreg' '$WORK/law.csv' --target 力 \
        --threads 1 --out '$WORK/fit' $* >'$WORK/printed'" "$out" >/dev/null
}

on_terminal "$WORK/screen" --iterations 30 </dev/null
check "status" test $? -eq 0
check "drawn over and over" test "$(grep -c $'\033\\[[0-9]*A' "$WORK/screen")" -gt 1
check "the front" grep -q '半径' "$WORK/screen"
check "whole characters" iconv -f UTF-8 -t UTF-8 "$WORK/screen" -o /dev/null
# widest PATTERN: of the lines that match; a character of three bytes takes two cells
widest() {
    tr -d '\r' <"$WORK/screen" | sed 's/\x1b\[[0-9]*[A-Z]//g' |
        grep -v -e '^Script' -e 'the search ended' | grep "$1" |
        LC_ALL=C sed 's/[\xe0-\xef][\x80-\xbf][\x80-\xbf]/##/g' | LC_ALL=C awk '
        length > most { most = length } END { print most }'
}
check "the width is used by formulas" test "$(widest '^ *[0-9]')" -ge 62
check "the width is used by formulas: and kept by all" test "$(widest '')" -le 63

# what the rows of the front show: constants of five digits, and what the rule would choose now
shown() {
    tr -d '\r' <"$WORK/$1" | sed 's/\x1b\[[0-9]*[A-Z]/\n/g'
}
shown screen | grep -E '^[> ] +[0-9]+ +' |
    sed -E 's/^[> ] +[^ ]+ +[^ ]+ +[^ ]+//; s/e[-+][0-9]+//g; s/0\.0*//g; s/\.//g' >"$WORK/digits"
check "constants have five digits" lacks '[0-9]{6,}' "$WORK/digits"
check "the present choice is marked" test "$(shown screen | grep -cE '^> .* <- best$')" -gt 1
check "the present choice is marked: and told" \
    test "$(shown screen | grep -c '^best so far: 力 = ')" -gt 1
on_terminal "$WORK/logarithm" --iterations 2 --log-target </dev/null
check "a logarithm is told as one" test \
    "$(shown logarithm | grep -c '^best so far: log(力) = ')" -gt 0
for columns in 40 200; do
    WIDTH=$columns on_terminal "$WORK/wide-$columns" --iterations 2 </dev/null
    most=$(shown wide-$columns | grep -E '^[> ] |^symreg: epoch|^best so' |
        LC_ALL=C sed 's/[\xe0-\xef][\x80-\xbf][\x80-\xbf]/##/g' | LC_ALL=C awk '
        length > most { most = length } END { print most }')
    check "lines within $columns columns" test "$most" -lt $columns -a "$most" -gt 30
    check "lines within $columns columns: and the choice" \
        test "$(shown wide-$columns | grep -c '^> ')" -gt 0
done

start=$(date +%s)
# once the mass is in a formula that is shown
press_q() {
    sleep 2
    for ((tries = 0; tries < 150; tries++)); do
        ! grep -q '質量' "$WORK/pressed" || break
        sleep 0.2
    done
    printf q
}
press_q | on_terminal "$WORK/pressed" --seconds 50 --iterations 1000000 --set symreg.patience=0
check "q: status 0" test $? -eq 0
check "q: before the time is over" test $(($(date +%s) - start)) -lt 40
check "q: the report" test -s "$WORK/fit/report.md"
check "q: the table" grep -q '質量' "$WORK/printed"

# ---- signals: $WORK/before and after are the terminal's settings, status is the program's
cat >"$WORK/inside.sh" <<'END'
# run on a terminal, with job control: inside.sh SIGNALS SYMREG...
signals=$1
shift
ulimit -c 0
trap : INT # or the shell ends with a job that SIGINT ended
set -m
raw() { # waits until keys are read without Enter
    for ((i = 0; i < 400; i++)); do
        ! stty -a </dev/tty | grep -q -e '-icanon' || return 0
        sleep 0.05
    done
}
send() {
    local signal i
    raw
    for signal in $signals; do
        kill -"$signal" "$(cat "$WORK/pid")"
        if [ "$signal" = TSTP ]; then # it goes on below
            for ((i = 0; i < 400; i++)); do
                [ ! -s "$WORK/stopped" ] || break
                sleep 0.05
            done
            raw
        fi
        sleep 0.03
    done
}
stty cols 64 rows 14
stty -g >"$WORK/before"
send &
bash -c 'echo $$ >"$WORK/pid"; exec "$@"' - "$@" >/dev/null
status=$?
ended() {
    stty -g >"$WORK/after"
    echo $1 >"$WORK/status"
    wait
    exit
}
[ $status -eq 148 ] || ended $status
stty -g >"$WORK/stopped"
fg >/dev/null
ended $? # (bash leaves an if in which SIGINT ends a job)
END
# signalled NAME STATUS SIGNAL...: a search that gets them ends with STATUS and before its report.
# Two signals may arrive as one, and the end of one be faster than the next: tried again.
signalled() {
    local name=$1 status=$2 try
    shift 2
    for try in 1 2 3 4 5; do
        rm -rf "$WORK"/{fit,before,after,stopped,status}
        WORK=$WORK script -qefc "bash '$WORK/inside.sh' '$*' '$BIN/symreg' '$WORK/law.csv' \
            --target 力 --threads 1 --out '$WORK/fit' --seconds 50 --iterations 1000000 \
            --set symreg.patience=0" /dev/null </dev/null >/dev/null 2>&1
        [ -e "$WORK/fit/report.md" ] || break
    done
    check "$name: ended at once, with status $status" test "$(cat "$WORK/status")" = "$status"
    check "$name: no report" test ! -e "$WORK/fit/report.md"
    check "$name: the terminal is as it was" same_file "$WORK/before" "$WORK/after"
}
signalled "Ctrl-C twice" 130 INT INT
signalled "SIGTERM twice" 143 TERM TERM
signalled "SIGHUP" 129 HUP
signalled "SIGQUIT" 131 QUIT
signalled "Ctrl-Z, then Ctrl-C twice" 130 TSTP INT INT
check "Ctrl-Z: the terminal is as it was while stopped" same_file "$WORK/before" "$WORK/stopped"
finish
