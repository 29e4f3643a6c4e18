#!/usr/bin/env bash
# judge_cost.sh - processor seconds of judging a model by files, against the probes of its
# checkpoint.
#
#   [SIZES=100,300] bench/judge_cost.sh RUN [ATTENTION] >bench/results/judge_cost.txt
#
# RUN is a finished run (make world). Its own model answers as a model of another program does, so
# that both ways evaluate one and the same model: `own` is what its answers take, and export and
# judge are what judging takes beside them. Fine-tunings, which are the model's own affair, are
# short here.
set -eu -o pipefail
BIN=${BIN:-bin}
run=${1:?"usage: judge_cost.sh RUN [ATTENTION]"} name=${2:-softmax}
work=$(mktemp -d "${TMPDIR:-/tmp}/judge-cost-XXXXXX")
trap 'rm -rf "$work"' EXIT
common=(--run "$run" --quiet --threads 1 --set model.precision=fp32)
sizes=(--sizes "${SIZES:-100,300}" --draws 2)
steps=(--steps 20)
TIMEFORMAT='%U %S'
# seconds NAME COMMAND...: runs it, prints and keeps user and system time together
total=0
seconds() {
    local what=$1 spent
    shift
    spent=$({ time "$@" >"$work/out" 2>"$work/err"; } 2>&1 | awk '{ printf "%.1f", $1 + $2 }') || {
        cat "$work/err" >&2
        exit 1
    }
    printf '%-24s %8s\n' "$what" "$spent"
    total=$(awk "BEGIN { print $total + $spent }")
}
echo "# Processor seconds, one thread, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
echo "# bench/judge_cost.sh $(basename "$run") $name: ${sizes[*]} ${steps[*]}"
for probe in evaluate rollout linear labels extrapolate inductive intervene planets; do
    more=()
    case $probe in
    labels | extrapolate) more=("${sizes[@]}" "${steps[@]}") ;;
    inductive) more=(--draws 2 "${steps[@]}") ;;
    esac
    if [ $probe = planets ]; then
        seconds "probe $probe" "$BIN/probe" $probe --run "$run" --attention "$name" --quiet \
            --threads 1 --out "$work/own"
    else
        seconds "probe $probe" "$BIN/probe" $probe "${common[@]}" --attention "$name" "${more[@]}" \
            --out "$work/own"
    fi
done
probes=$total total=0
printf '%-24s %8s\n\n' "probes" "$probes"
seconds "export" "$BIN/probe" export "${common[@]}" "${sizes[@]}" --out "$work/exchange"
seconds "own" "$BIN/probe" answer "${common[@]}" --attention "$name" "${steps[@]}" \
    --export "$work/exchange" --out "$work/model"
seconds "judge" "$BIN/probe" judge "${common[@]}" --answers "$work/model" \
    --untrained "$work/model_untrained" \
    --probes evaluate,rollout,linear,labels,extrapolate,inductive,intervene,planets
printf '%-24s %8s\n\n' "export, own and judge" "$total"
awk -v all="$total" -v probes="$probes" 'BEGIN {
    printf "export, own and judge / probes:          %.2f\n", all / probes }'
