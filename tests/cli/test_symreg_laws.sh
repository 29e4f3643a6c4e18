#!/usr/bin/env bash
# test_symreg_laws.sh - the laws of a run, stopped in the middle: the fronts so far, a true message,
# and --resume ends in the bytes of a search that was never stopped.
. tests/cli/lib.sh
fast_pictures

# forces of four sources, none exact: no early end
for source in truth oracle lssar untrained; do
    mkdir -p "$WORK/run/$source/finetune"
    awk -v name=$source 'BEGIN {
        print "sample,sequence,step,r,m1,m2,dt,F_true,F"
        for (i = 1; i <= 200; i++) {
            r = 0.5 + (i * 37 % 101) / 32; a = 0.5 + (i * 53 % 97) / 32
            b = 0.5 + (i * 71 % 89) / 32; noise = ((i * 29 % 13) - 6) / 6
            f = 39 * a * b / (r * r) * (1 + 0.001 * noise)
            off = name == "truth" ? 0 : length(name) / 100 * noise
            printf "0,%d,%d,%.9g,%.9g,%.9g,0.04,%.9g,%.9g\n", i / 5, i % 5, r, a, b, f,
                f * (1 + off)
        }
    }' >"$WORK/run/$source/finetune/forces_magnitude.csv"
done
LAWS=(--preset smoke --threads 1 --quiet --attention lssar --run "$WORK/run"
      --set symreg.populations=2 --set symreg.cycles=200 --set symreg.patience=0
      --set symreg.restarts=1 --set symreg.enumerate=0 --set symreg.iterations=250)
# start DIR OPTION...: in the background, its process is $pid
start() {
    local out=$1
    shift
    "$BIN/symreg" "${LAWS[@]}" --out "$out" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null &
    pid=$!
}
# stop_when COMMAND...: Ctrl-C as soon as it succeeds; the status is in $status
stop_when() {
    local tries
    for ((tries = 0; tries < 3000; tries++)); do
        ! "$@" 2>/dev/null || break
        kill -0 $pid 2>/dev/null || break
        sleep 0.01
    done
    kill -INT $pid
    wait $pid
    status=$?
}
# the program has taken the shell's place, and its own handler is there
handles_signals() {
    [ "$(readlink "/proc/$pid/exe")" != "$(readlink "/proc/$$/exe")" ] &&
        [ $((0x$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$pid/status") & 2)) -ne 0 ]
}

check "never stopped" program symreg "${LAWS[@]}" --out "$WORK/whole"
check "no checkpoint at the end" test -s "$WORK/whole/laws.json" -a \
    ! -e "$WORK/whole/checkpoint.bin"

start "$WORK/stopped"
stop_when test -e "$WORK/stopped/checkpoint.bin"
check "Ctrl-C: status 130" test $status -eq 130
check "Ctrl-C: says how to go on" grep -q \
    '^symreg: stopped; the fronts so far are saved, the same command with --resume continues$' \
    "$WORK/err"
check "Ctrl-C: no table of half a search" test ! -s "$WORK/out" -a ! -e "$WORK/stopped/laws.json"
for source in truth oracle lssar untrained; do
    check "Ctrl-C: the front of $source" grep -q '^[0-9]' "$WORK/stopped/front_${source}_0.csv"
done
check "Ctrl-C: nothing temporary" clean "$WORK/stopped"
# the clock goes on with it: what is left takes less than the whole, so this stop is a second one
start "$WORK/stopped" --resume
stop_when handles_signals
check "stopped again" test $status -eq 130
check "stopped again: says so" grep -q -- '--resume continues' "$WORK/err"
cp -r "$WORK/stopped" "$WORK/other"
check "--resume" program symreg "${LAWS[@]}" --out "$WORK/stopped" --resume
check "--resume: as if never stopped" same_files "$WORK/whole" "$WORK/stopped"

# ---- a checkpoint of other settings, or a broken one, is none
"$BIN/symreg" "${LAWS[@]}" --out "$WORK/other" --resume --set symreg.iterations=1 \
    >"$WORK/out" 2>"$WORK/err" </dev/null
check "--resume with other settings" test $? -eq 0
check "other settings, never stopped" program symreg "${LAWS[@]}" --out "$WORK/short" \
    --set symreg.iterations=1
check "other settings, never stopped: the same laws" same_files "$WORK/short" "$WORK/other"
echo broken >"$WORK/other/checkpoint.bin"
check "--resume with a broken checkpoint" program symreg "${LAWS[@]}" --out "$WORK/other" \
    --resume --set symreg.iterations=1 --seed 3
check "broken: never stopped" program symreg "${LAWS[@]}" --out "$WORK/seed" \
    --set symreg.iterations=1 --seed 3
check "broken: never stopped: the same laws" same_files "$WORK/seed" "$WORK/other"

# ---- before the first checkpoint nothing is promised; an old one is not what would be resumed
echo broken >"$WORK/short/checkpoint.bin"
snapshot "$WORK/whole" >"$WORK/before"
for where in fresh short whole; do
    start "$WORK/$where" --set symreg.cycles=100000 # the first epochs take seconds
    stop_when handles_signals
    check "at once, $where: status 130" test $status -eq 130
    check "at once, $where: no promise" grep -q 'stopped before the first checkpoint.* again$' \
        "$WORK/err"
    check "at once, $where: no checkpoint" test ! -e "$WORK/$where/checkpoint.bin"
done
snapshot "$WORK/whole" >"$WORK/after"
check "the laws of before are as they were" same_file "$WORK/before" "$WORK/after"
check "the fronts of the fresh one" grep -q '^Complexity' "$WORK/fresh/front_truth_0.csv"
"$BIN/symreg" "$WORK/run/truth/finetune/forces_magnitude.csv" --target F --features r,m1,m2 \
    --quiet --threads 1 --set symreg.cycles=100000 --out "$WORK/table" \
    >"$WORK/out" 2>"$WORK/err" </dev/null &
pid=$!
stop_when handles_signals
check "a table, at once: no promise" grep -q 'before the first checkpoint.* starts anew$' \
    "$WORK/err"
check "a table, at once: the front" grep -q '^[0-9]' "$WORK/table/front.csv"
finish
