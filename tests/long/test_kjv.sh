#!/usr/bin/env bash
# test_kjv.sh - text models reach what is known: the entropy of a chain of letters, and, where
# Debian's package bible-kjv is there, the docs/text.md commands on a small scale. Minutes: run by
# make check-long.
. tests/cli/lib.sh

# train RUN FILE STEPS: with a limit of its own
train() {
    timeout 1800 "$BIN/pretrain" --preset text_adamw --quiet --run "$1" --set text.train="$2" \
        --set text.positions=65 --set model.layers=2 --set model.width=64 --set pretrain.lr=3e-3 \
        --set pretrain.steps="$3" --set pretrain.eval_sequences=128 --attention softmax </dev/null
}
# between LOW VALUE HIGH
between() {
    awk -v low="$1" -v value="$2" -v high="$3" 'BEGIN { exit !(low < value && value < high) }'
}

# the next letter is one of two, 3 : 1: 0.8113 bits in the long run. n is Lehmer's generator.
awk 'BEGIN { n = 1; s = 0; for (i = 0; i < 200000; i++) { n = (n * 48271) % 2147483647
    s = (5 * s + (n % 4 ? 1 : 2)) % 17; printf "%c", 97 + s } }' >"$WORK/chain.txt"
check "a chain of letters" train "$WORK/chain" "$WORK/chain.txt" 150
bits=$(value "$WORK/chain/softmax/pretrain/evaluation.json" bits_per_token)
check "its entropy, 0.811 bits: $bits" between 0.79 "$bits" 0.86

bible=$(command -v bible || command -v /usr/games/bible)
if [ -n "$bible" ] && "$bible" -f gen1:1-rev22:21 >"$WORK/kjv.txt" 2>/dev/null; then
    check "King James: bytes" test "$(wc -c <"$WORK/kjv.txt")" -gt 4000000
    check "King James: training" train "$WORK/kjv" "$WORK/kjv.txt" 300
    bits=$(value "$WORK/kjv/softmax/pretrain/evaluation.json" bits_per_token)
    check "King James: far below single letters' 4.5 bits: $bits" between 1.5 "$bits" 3.2
    for change in "--length 128" "--length 128 --ntk"; do
        check "King James: twice as long $change" timeout 600 "$BIN/probe" evaluate $change \
            --quiet --checkpoint "$WORK/kjv/softmax/pretrain/last.safetensors"
        sed -n '/"changed"/,$p' "$WORK/kjv/softmax/probe/evaluate.json" >"$WORK/changed"
        bits=$(value "$WORK/changed" bits_per_token)
        check "King James: twice as long $change: $bits bits" between 1.5 "$bits" 5
    done
else
    skip "King James" "needs the package bible-kjv"
fi
finish
