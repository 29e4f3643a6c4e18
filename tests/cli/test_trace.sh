#!/usr/bin/env bash
# test_trace.sh - ORRERY_TRACE: what a program does is told on stderr, and nothing without it; what
# it writes and prints is the same with it.
. tests/cli/lib.sh

run=$WORK/run
RUN=(--preset smoke --threads 1 --quiet --attention softmax --run "$run" --resume)
TRAIN=("${RUN[@]}" --set pretrain.steps=2 --set pretrain_planets.steps=0)
# traced VALUE PROGRAM OPTION...: its lines are in $WORK/err
traced() {
    local value=$1 name=$2
    shift 2
    ORRERY_TRACE=$value ORRERY_ISA=plain program "$name" "$@" >"$WORK/out" 2>"$WORK/err"
}
# tells PATTERN: a line of the trace, whose seconds are as they are
tells() {
    grep -Eqx "trace +[0-9]+\.[0-9]{3} s  $1" "$WORK/err"
}
check "orbits" program orbits --preset smoke --threads 1 --quiet --run "$run"
check "without the variable: status" traced '' pretrain "${TRAIN[@]}" --plan
check "without the variable: status: nothing on stderr" test ! -s "$WORK/err"
cp "$WORK/out" "$WORK/plan"
check "with 0: status" traced 0 pretrain "${TRAIN[@]}" --plan
check "with 0: status: nothing on stderr" test ! -s "$WORK/err"
check "with it: status" traced 1 pretrain "${TRAIN[@]}" --plan
check "with it: status: the same on stdout" same_file "$WORK/plan" "$WORK/out"
check "with it: status: only lines of the trace on stderr" lacks '^(t[^r]|[^t])' "$WORK/err"
check "with it: status: the beginning" tells 'pretrain begins, preset smoke'
check "with it: status: the end" tells 'pretrain ends, all well, at most [1-9][0-9]* MB of memory'
check "with it: status: the instruction set" tells 'instruction set plain, as asked for'

check "a training: status" traced 1 pretrain "${TRAIN[@]}"
check "a training: status: data sets that are there" tells 'record of .*/orbits/train: keep'
check "a training: status: what is made" \
    tells "record of $run/softmax/pretrain/last.safetensors: make"
check "a training: status: the backend" tells 'backend cpu, products in (fp32|bf16), open'
check "a training: status: the end of the stage" tells 'pretrain softmax ends'
check "again: status" traced 1 pretrain "${TRAIN[@]}"
check "again: status: what is kept" tells "record of $run/softmax/pretrain/last.safetensors: keep"
check_not "again: status: no stage" tells 'pretrain softmax ends'
check "another setting: status" traced 1 pretrain "${TRAIN[@]}" --force --set pretrain.lr=0.25
check "another setting: status: what is made again, and why" tells \
    "record of $run/softmax/pretrain/last.safetensors: remake: .*\.lr is .*, expected 0\.25.*"
ORRERY_TRACE=1 program pretrain "${RUN[@]}" --checkpoint "$WORK/none" >"$WORK/out" 2>"$WORK/err"
check "a failure: status" test $? -eq 1
check "a failure: status: is told" tells 'pretrain ends, not as it should, at most .*'
check "a failure: status: the error with its place in the source" \
    grep -Eq '^pretrain: error: .* \[.*\.c:[0-9]+\]$' "$WORK/err"
finish
