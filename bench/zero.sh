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
for argument; do
    case $argument in
    ranks=* | width=* | layers=* | parts=*) declare "${argument%%=*}=${argument#*=}" ;;
    *)
        echo "zero: error: $argument: expected ranks, width, layers or parts=VALUE" >&2
        exit 2
        ;;
    esac
done
BIN=$(cd "${BIN:-bin}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-zero-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none
settings=(--preset quick --quiet --set attention=softmax --run "$work/run"
          --set planets.enabled=false --set orbits.train=2000 --set orbits.train_files=2000
          --set orbits.two_body_train=10 --set orbits.two_body_val=10 --set orbits.two_body_test=10
          --set "model.width=$width" --set "model.layers=$layers" --set "pretrain.batch=$parts"
          --set "pretrain.micro_batches=$parts" --set pretrain.steps=2 --set pretrain.eval_every=0
          --set pretrain_planets.steps=0 --set pretrain.ema=0.9 --set pretrain.eval_sequences=1)
"$BIN/orbits" "${settings[@]}"

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
    if ! MARKS=$work/marks "${launch[@]}" "$work/rank" "$BIN/pretrain" "${settings[@]}" --threads 1 \
        --set "pretrain.zero=$2" --out "$work/out" >"$work/log" 2>&1; then
        cat "$work/log" >&2
        exit 1
    fi
    echo "$(cat "$work/marks/0") $(cat "$work"/marks/[1-9]* 2>/dev/null | sort -n | tail -n 1)"
}
# bytes of one array of all weights
weights=$((layers * (12 * width * width + 13 * width)))
echo "width $width, $layers layers: $(((weights + 500000) / 1000000)) million weights in the blocks, $parts parts"
echo "ranks,without_rank0_mb,without_others_mb,with_rank0_mb,with_others_mb,less_mb,counted_mb"
for n in $ranks; do
    read -r first others < <(measure "$n" false) || :
    if [ "$n" -eq 1 ]; then
        echo "1,$first,,,,,"
        continue
    fi
    read -r zero_first zero_others < <(measure "$n" true) || :
    echo "$n,$first,$others,$zero_first,$zero_others,$((others - zero_others)),$((weights * 12 * (n - 1) / n / 1000000))"
done
