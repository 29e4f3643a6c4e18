#!/usr/bin/env bash
# test_scaling.sh - study/scaling.sh against sums worked by hand.
. tests/cli/lib.sh

scaling() {
    study/scaling.sh "$@" >"$WORK/out" 2>"$WORK/err"
}
# field GPUS COLUMN: of the first table
field() {
    awk -F ' *[|] *' -v n="$1" -v c="$2" '$2 == n { print $(c + 1); exit }' "$WORK/out"
}

# 25M: 12 L C^2 + 13 L C + 4 V C + 2 C^2 + 1000 C + 2 V = 14155776 + 39936 + 10756608 + 294912 +
# 384000 + 14006 = 25645238 weights, 102.58 MB of gradients. Eight GPUs of one node at 100 GB/s:
# 2 * 7/8 * 102.58 MB / 100 GB/s = 1.80 ms, and 2 * 8 buckets * 3 messages * 10 us = 0.48 ms.
options="model=25M ms=20 tokens=9990 nvlink=100 net=10 latency_us=10 overlap=1 gather=0"
# shellcheck disable=SC2086
check "a node" scaling $options gpus="1 8 16"
check "weights" grep -q ', 25.6M weights, 103 MB of gradients' "$WORK/out"
check "one GPU sends nothing" equal 0.0 "$(field 1 4)"
check "messages of a node" equal 2.3 "$(field 8 4)"
check "the gathering is seen" equal 1.1 "$(field 8 5)"
check "the step" equal 21.1 "$(field 8 6)"
check "efficiency" equal 95% "$(field 8 7)"
# Two nodes: + 2 * 1/2 * 102.58 / 8 MB / 10 GB/s = 1.28 ms, and one more message of 16.
check "messages of two nodes" equal 3.7 "$(field 16 4)"
# shellcheck disable=SC2086
check "nothing hides" scaling $options gpus=8 overlap=0
check "all is seen" equal 2.3 "$(field 8 5)"
check "fewer sequences than GPUs" scaling gpus=1024
check "fewer sequences than GPUs: are named" grep -q '^| 1024 | - | fewer than one' "$WORK/out"
check "measured" grep -q 'measured, NVIDIA' "$WORK/out"
for wrong in foo=1 net=x net=-1 model=7M ms=5; do
    scaling "$wrong"
    check "$wrong: status" equal 2 $?
    check "$wrong: ${wrong%%=*} is named" grep -q "${wrong%%=*}" "$WORK/err"
done
finish
