#!/usr/bin/env bash
# network.sh - two ranks on two hosts with a slow network between them: what a step takes.
#
#   bench/network.sh [KEY=VALUE...]
#   rates="0.1 1 10"   Gbit/s between the hosts
#   latency="0"        ms that are let pass before everything that ranks do together
#   steps=10           of each training; the first is left out
#   batch=16           sequences of a step, in two micro-batches, one for each rank
#   pairs=3            of trainings without a network: one process with two threads, two ranks
#   width=512 layers=8 of the model, preset quick otherwise (25 million weights)
#
# The hosts are two network namespaces of this machine, joined by a pair of virtual devices whose
# rates `tc tbf` limits: the bandwidth is that of the rate. The latency is that of the machine, and
# what build/bench/late_mpi.so, the MPI plugin behind a delay, adds (make build/bench/late_mpi.so).
# Needs root, iproute2 and Open MPI. Prints what a step takes without a network, and a table:
# seconds per step with the exchange of gradients beside the backward pass, after it, and their
# ratio.
set -eu
rates="0.1 1 10" latency=0 steps=10 batch=16 width=512 layers=8 pairs=3
name=network keys="rates latency steps batch width layers pairs"
[ "$(id -u)" = 0 ] || { echo "network: error: namespaces need root" >&2; exit 1; }
LATE=${LATE:-build/bench/late_mpi.so}
[ -e "$LATE" ] || { echo "network: error: $LATE is not there: make $LATE" >&2; exit 1; }
. bench/ranks.sh
positions=$((batch * 32)) # of sequences of 33 places
settings+=(--set orbits.positions=33 --set "pretrain.batch=$batch" --set pretrain.micro_batches=2
           --set "pretrain.steps=$steps")
a=orrery-$$-a b=orrery-$$-b
clean() {
    ip netns del $a 2>/dev/null || :
    ip netns del $b 2>/dev/null || :
    rm -rf "$work"
}
trap clean EXIT

ip netns add $a
ip netns add $b
ip link add veth0 netns $a type veth peer name veth0 netns $b
for side in "$a 10.99.7.1" "$b 10.99.7.2"; do
    read -r name address <<<"$side"
    ip -n "$name" address add "$address/24" dev veth0
    ip -n "$name" link set lo up
    ip -n "$name" link set veth0 up
done
# what mpirun starts a remote host's daemon with
cat >"$work/agent" <<END
#!/bin/sh
shift # the host: there is one
exec ip netns exec $b unshare --uts sh -c "hostname orrery-b; exec \$*"
END
chmod +x "$work/agent"

# seconds FOLDER: per step, by the last line of the log, which leaves out those of the lines before
seconds() {
    sed -nE 's/.*"tokens_per_s": ([0-9.e+-]+).*/\1/p' "$1/log.jsonl" |
        awk -v positions="$positions" '{ speed = $1 } END { printf "%.3f", positions / speed }'
}
# middle COLUMN: of the pairs
middle() {
    cut -d ' ' -f "$1" "$work/pairs" | sort -n | sed -n "$(((pairs + 1) / 2))p"
}
# train FOLDER OVERLAP COMMAND...
train() {
    local folder=$1 overlap=$2
    shift 2
    if ! ORRERY_OVERLAP=$overlap "$@" "$BIN/pretrain" "${settings[@]}" \
        --threads "${threads:-1}" --out "$folder" >"$work/log" 2>&1; then
        cat "$work/log" >&2
        exit 1
    fi
}
hosts=(ip netns exec "$a" unshare --uts mpirun -np 2 --host "10.99.7.1:1,10.99.7.2:1"
       --mca plm_rsh_agent "$work/agent" --mca btl "tcp,self" --mca btl_tcp_if_include 10.99.7.0/24
       --mca oob_tcp_if_include 10.99.7.0/24
       -x ORRERY_OVERLAP -x ORRERY_MPI_PLUGIN -x LATE_MPI -x LATE_MS)
# here, without a network: paired, the medians of all pairs
for ((pair = 1; pair <= pairs; pair++)); do
    threads=2 train "$work/one" 1
    threads=1 train "$work/near" 1 mpirun -np 2
    cmp "$work/one/last.safetensors" "$work/near/last.safetensors"
    echo "$(seconds "$work/one") $(seconds "$work/near")"
done | tee "$work/pairs"
echo "width $width, $layers layers, batch $batch: one process with two threads," \
    "$(middle 1) s per step; two ranks with one, $(middle 2) s; efficiency, median of pairs, $(
        awk '{ print $1 / $2 }' "$work/pairs" >"$work/ratios"
        sort -n "$work/ratios" | sed -n "$(((pairs + 1) / 2))p")"
export ORRERY_MPI_PLUGIN=$PWD/$LATE LATE_MPI=$BIN/orrery_mpi.so
# far RATE LATENCY OVERLAP: seconds per step
far() {
    LATE_MS=$2 train "$work/far" "$3" "${hosts[@]}"
    cmp "$work/near/last.safetensors" "$work/far/last.safetensors"
    seconds "$work/far"
}
echo "rate_gbit_s,latency_ms,overlap_s,after_s,gain"
for rate in $rates; do
    for name in $a $b; do
        ip netns exec "$name" tc qdisc replace dev veth0 root tbf rate "${rate}gbit" \
            burst 256kb latency 100ms
    done
    for ms in $latency; do
        with=$(far "$rate" "$ms" 1) without=$(far "$rate" "$ms" 0)
        gain=$(awk -v a="$with" -v b="$without" 'BEGIN { printf "%.2f", b / a }')
        echo "$rate,$ms,$with,$without,$gain"
    done
done
