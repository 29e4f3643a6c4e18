#!/usr/bin/env bash
# zero.sh - the memory of a rank with its moments shared out (ZeRO-1), measured against counted.
#
#   bench/zero.sh [KEY=VALUE...]
#   ranks="1 2"          of the trainings
#   width=768 layers=12  of the model, preset quick otherwise (85 million weights in the blocks)
#   parts=2              micro-batches of a step, a sequence each
#
# Prints the largest resident memory of rank 0 and of the others, without and with pretrain.zero,
# how much less the others take, and how much less that should be: 8 bytes a weight for the moments
# and 4 for the average, of the share that a rank no longer has. Needs Open MPI for 2 and more.
set -eu
ranks="1 2" width=768 layers=12 parts=2
name=zero keys="ranks width layers parts"
. bench/ranks.sh
settings+=(--set "pretrain.batch=$parts" --set "pretrain.micro_batches=$parts"
           --set pretrain.steps=2 --set pretrain.ema=0.9)

# its largest resident memory, in MB, beside a rank: the process keeps the mark until it ends
cat >"$work/rank" <<'END'
#!/bin/sh
"$@" &
mark() {
    sed -n 's/VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$!/status" 2>/dev/null
}
while mark=$(mark); [ -n "$mark" ]; do
    echo $((mark * 1024 / 1000000)) >"$MARKS/${OMPI_COMM_WORLD_RANK:-0}"
    sleep 0.02
done
wait $!
END
chmod +x "$work/rank"
# measure RANKS ZERO: prints the marks of rank 0 and the largest of the others
measure() {
    local launch=()
    [ "$1" -eq 1 ] || launch=(mpirun -np "$1")
    rm -rf "$work/marks" "$work/out"
    mkdir "$work/marks"
    if ! MARKS=$work/marks "${launch[@]}" "$work/rank" "$BIN/pretrain" "${settings[@]}" \
        --threads 1 --set "pretrain.zero=$2" --out "$work/out" >"$work/log" 2>&1; then
        cat "$work/log" >&2
        exit 1
    fi
    echo "$(cat "$work/marks/0") $(cat "$work"/marks/[1-9]* 2>/dev/null | sort -n | tail -n 1)"
}
# bytes of one array of all weights
weights=$((layers * (12 * width * width + 13 * width)))
echo "width $width, $layers layers: $(((weights + 500000) / 1000000)) million weights in the" \
    "blocks, $parts parts"
echo "ranks,without_rank0_mb,without_others_mb,with_rank0_mb,with_others_mb,less_mb,counted_mb"
for n in $ranks; do
    read -r first others < <(measure "$n" false) || :
    if [ "$n" -eq 1 ]; then
        echo "1,$first,,,,,"
        continue
    fi
    read -r zero_first zero_others < <(measure "$n" true) || :
    counted=$((weights * 12 * (n - 1) / n / 1000000))
    echo "$n,$first,$others,$zero_first,$zero_others,$((others - zero_others)),$counted"
done
