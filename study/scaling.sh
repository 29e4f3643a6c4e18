#!/usr/bin/env bash
# scaling.sh - what data-parallel training should come to on many GPUs: counted messages over stated
# bandwidths, beside the step that one GPU was measured to take. An estimate, no measurement.
#
#   study/scaling.sh [KEY=VALUE ...]
#
#   model=109M          25M, 109M or 355M (bench/results/gpu.json)
#   attention=softmax   softmax or lssar
#   gpus="1 8 64 1024"  how many
#   per_node=8          GPUs of a node
#   nvlink=360          GB/s that a GPU sends inside its node, as collectives reach it (NVLink 4:
#                       450 on the data sheet, one way)
#   net=45              GB/s that a GPU sends between nodes (400 Gbit/s per GPU: 50)
#   latency_us=15       of a message, with its launch
#   buckets=8           in which gradients go
#   overlap=0.9         share of the backward pass (two thirds of a step) that hides gradients
#   gather=0            share of the weights' gathering that the next forward pass hides
#   gradient_bytes=4    per weight
#   sequences=512       of a step of the whole machine, for the second table (the study's)
#   ms=, tokens=        of a step of one GPU, instead of the measured ones
#
# Messages: gradients are reduced and scattered by recursive halving, updated weights gathered by
# recursive doubling (ZeRO-1), first inside nodes, then between GPUs of equal rank of all nodes: a
# GPU sends (g - 1) / g of the weights inside and (m - 1) / m of 1 / g of them outside, twice.
set -u
model=109M attention=softmax gpus='1 8 64 1024' per_node=8 nvlink=360 net=45 latency_us=15
buckets=8 overlap=0.9 gather=0 gradient_bytes=4 sequences=512 ms='' tokens=''
for word in "$@"; do
    case $word in
    model=* | attention=* | gpus=* | per_node=* | nvlink=* | net=* | latency_us=* | buckets=* | \
        overlap=* | gather=* | gradient_bytes=* | sequences=* | ms=* | tokens=*)
        declare "$word"
        ;;
    *)
        echo "scaling: error: $word: expected KEY=VALUE with a key of \"head -30 $0\"" >&2
        exit 2
        ;;
    esac
done
numbers="per_node nvlink net latency_us buckets overlap gather gradient_bytes sequences ms"
numbers+=" tokens"
for key in $numbers gpus; do
    for value in ${!key}; do
        if ! [[ $value =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
            echo "scaling: error: $key: expected a number, found \"$value\"" >&2
            exit 2
        fi
    done
done
case $model in
25M) layers=8 width=384 ;;
109M) layers=12 width=768 ;;
355M) layers=24 width=1024 ;;
*)
    echo "scaling: error: model: expected 25M, 109M or 355M, found \"$model\"" >&2
    exit 2
    ;;
esac
results=$(dirname "$0")/../bench/results/gpu.json
# measured KEY: of the row "<model> <attention> bf16 <KEY>"
measured() {
    tr -d '\n\t' <"$results" | grep -o "\"name\":\"$model $attention bf16 $1\",\"value\":[0-9.]*" |
        head -n 1 | sed 's/.*://'
}
if [ -z "$ms$tokens" ]; then
    ms=$(measured ms) rate=$(measured tokens/s)
    if [ -z "$ms" ] || [ -z "$rate" ]; then
        echo "scaling: error: $results: no step of $model $attention; give ms= and tokens=" >&2
        exit 4
    fi
    tokens=$(awk -v ms="$ms" -v rate="$rate" 'BEGIN { printf "%.0f", ms * rate / 1000 }')
    source="measured, $(tr -d '\n\t' <"$results" | sed 's/.*"gpu":"\([^"]*\)".*/\1/')"
elif [ -z "$ms" ] || [ -z "$tokens" ]; then
    echo "scaling: error: ms and tokens go together" >&2
    exit 2
else
    source=given
fi
exec awk -v ms="$ms" -v tokens="$tokens" -v source="$source" -v layers=$layers -v width=$width \
    -v gpus="$gpus" -v per_node="$per_node" -v nvlink="$nvlink" -v net="$net" \
    -v latency="$latency_us" -v buckets="$buckets" -v overlap="$overlap" -v gather="$gather" \
    -v bytes="$gradient_bytes" -v sequences="$sequences" -v what="$model $attention" '
function least(a, b) { return a < b ? a : b }
function log2(x) { return log(x) / log(2) }
# Milliseconds of messages of n GPUs.
function messages(n,   inside, nodes, G) {
    inside = least(n, per_node)
    nodes = n / inside
    G = weights * bytes
    return 1000 * (2 * (inside - 1) / inside * G / (nvlink * 1e9) + \
        2 * (nodes - 1) / nodes * G / inside / (net * 1e9)) + \
        2 * buckets * log2(n) * latency / 1000
}
# A line: n GPUs, each with compute milliseconds and its tokens.
function line(n, compute, own,   sent, seen, step) {
    sent = messages(n)
    seen = sent / 2 - overlap * compute * 2 / 3 # of the gradients
    if (seen < 0)
        seen = 0
    seen += sent / 2 * (1 - gather)
    step = compute + seen
    printf "| %d | %.0f | %.1f | %.1f | %.1f | %.1f | %.0f%% | %.3g | %.3g |\n", n, own * n / 999,
        compute, sent, seen, step, 100 * compute / step, own * n / step * 1000,
        600000 * 512 * 999 / (own * n / step * 1000) / 86400
}
function head(title) {
    print "\n" title "\n"
    print "| GPUs | sequences a step | compute, ms | messages, ms | not hidden, ms | step, ms |" \
        " efficiency | positions/s | days for 3.1e11 positions |"
    print "|---|---|---|---|---|---|---|---|---|"
}
BEGIN {
    weights = 12 * layers * width ^ 2 + 13 * layers * width + 4 * 7003 * width + 2 * width ^ 2 + \
        1000 * width + 2 * 7003
    printf "Estimate, not measured: %s, %.1fM weights, %.0f MB of gradients. One GPU: ", what,
        weights / 1e6, weights * bytes / 1e6
    printf "%.1f ms for %d positions (%s).\nNodes of %d GPUs, %g GB/s inside, ", ms, tokens, source,
        per_node, nvlink
    printf "%g GB/s per GPU between them, %g us a message, %d buckets;\n", net, latency, buckets
    printf "%g of the backward pass hides gradients, the next forward pass %g of the weights.\n",
        overlap, gather
    count = split(gpus, n, " ")
    head("Every GPU with the batch that was measured:")
    for (i = 1; i <= count; i++)
        line(n[i], ms, tokens)
    head(sequences " sequences a step, on any number of GPUs (at the speed of that batch):")
    for (i = 1; i <= count; i++) {
        if (sequences / n[i] < 1) {
            printf "| %d | - | fewer than one sequence for each | | | | | | |\n", n[i]
            continue
        }
        line(n[i], ms * sequences / n[i] * 999 / tokens, sequences / n[i] * 999)
    }
}'
