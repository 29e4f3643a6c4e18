#!/usr/bin/env bash
# smoke.sh - every program at the size of smoke, on two threads: what make check-tsan and make
# check-valgrind watch. WATCH_LOGS: a folder for what the tool finds, a file per process, also where
# no status tells it; WATCH: what programs are run by.
. tests/cli/lib.sh
. tests/kill/world.sh
WATCH_LOGS=${WATCH_LOGS:?smoke.sh is run by make check-tsan and check-valgrind}/smoke
mkdir -p "$WATCH_LOGS"
export WATCH_LOGS TSAN_OPTIONS="${TSAN_OPTIONS:-}:log_path=$WATCH_LOGS/tsan"
if [ -n "${WATCH:-}" ]; then
    mkdir "$WORK/bin"
    for name in "$BIN"/*; do
        printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$(realpath "$WATCH")" "$(realpath "$name")" \
            >"$WORK/bin/${name##*/}"
        chmod +x "$WORK/bin/${name##*/}"
    done
    BIN=$WORK/bin
fi
RUN=$WORK/run TOKENS=$WORK/tokens

# two RUN PROGRAM [OPTION...]: with two threads
two() {
    local run=$1 name=$2
    shift 2
    program "$name" --run "$run" "${settings[@]}" --quiet $(on_threads "$name" 2) "$@"
}
for name in $STAGES; do
    check "$name" two "$RUN" "$name" --preset smoke
done
# (above, the models trained side by side, on a thread each)
check "two threads of a model" two "$WORK/one" pretrain --preset smoke --orbits "$RUN/orbits" \
    --attention lssar
check "two threads of a model: stopped" \
    two "$WORK/part" pretrain --preset smoke --orbits "$RUN/orbits" \
    --attention softmax --minutes 0.01
check "two threads of a model: and resumed" \
    two "$WORK/part" pretrain --preset smoke --orbits "$RUN/orbits" \
    --attention softmax --resume
# tokens; more sequences than files have: they are made while the model trains
check "tokens" two "$TOKENS" orbits --preset smoke_tokens
check "streaming" two "$TOKENS" pretrain --preset smoke_tokens --attention lssar
check "micro-batches" two "$TOKENS" pretrain --preset smoke_tokens --attention softmax \
    --set pretrain.micro_batches=4
for probe in "attention 8" "evaluate 8" "rollout 8" "linear 160"; do
    read -r name sequences <<<"$probe"
    check "probe $name" program probe "$name" --run "$RUN" --attention lssar --threads 2 --quiet \
        --sequences "$sequences"
done
check "cell" program verdict --cell "$RUN" --quiet

# the search of a table with its front on a terminal, and a key that ends it
awk 'BEGIN {
    print "r,m,F"
    for (i = 1; i <= 60; i++) {
        r = 0.5 + (i * 37 % 61) / 16; m = 0.5 + (i * 23 % 59) / 16
        printf "%.9g,%.9g,%.9g\n", r, m, 3 * m / (r * r) * (1 + 0.02 * ((i * 29 % 13) - 6))
    }
}' >"$WORK/law.csv"
if command -v script >/dev/null; then
    { sleep 5; printf q; } | timeout "$LIMIT" script -qefc "stty cols 64 rows 14; '$BIN/symreg' \
        '$WORK/law.csv' --target F --threads 2 --iterations 3 --out '$WORK/fit' >'$WORK/printed'" \
        "$WORK/screen" >/dev/null
    check "live view" test $? -eq 0
else
    skip "live view" "no script(1)"
fi
check "table" program symreg "$WORK/law.csv" --target F --threads 2 --iterations 1 \
    --out "$WORK/two" --quiet

for log in "$WATCH_LOGS"/*; do
    [ -s "$log" ] || continue
    fail "finding: $log" "$(head -n 30 "$log")"
done
finish
