#!/usr/bin/env bash
# claims.sh - puts the results of grids that were run into RESULTS, and makes docs/claims.md of
# them.
#
#   tools/claims.sh RESULTS
#
# What a grid has no results of keeps the file that is there; where they cannot be put together that
# is said, the rest goes on, and the status is 1. machines.csv has the commit and the CPU that this
# was done with (COMMIT: another one). RUNS (runs), BIN (bin), DOCS (docs).
set -u -o pipefail
results=${1:?claims: error: expected a folder of results}
RUNS=${RUNS:-runs} BIN=${BIN:-bin}
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-claims-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$results"
changed='' failed=0
# take NAME FILE: a result that was made
take() {
    cmp -s "$2" "$results/$1" && return
    cp "$2" "$results/$1" || exit 1
    changed+=" $1"
}
# over seeds|grid NAME FILE...: what bin/probe makes of results of one probe, where there are some
over() {
    local kind=$1 name=$2 probe
    shift 2
    [ -e "$1" ] || return 0
    probe=$(basename "$1" .json)
    "$BIN/probe" "$kind" "$@" --out "$work" --quiet >/dev/null || { failed=1 && return; }
    take "$name" "$work/${probe}_$kind.json"
}
# runs NAME FOLDER: the same of whole runs
runs() {
    [ -d "$2" ] || return 0
    "$BIN/report" --runs "$2" --quiet >/dev/null || { failed=1 && return; }
    take "$1" "$2/runs.json"
}
[ ! -e "$RUNS/verdict/verdict.json" ] || take verdict.json "$RUNS/verdict/verdict.json"
over seeds inductive.json "$RUNS"/verdict/*/*/probe/inductive.json
over grid context_linear.json "$RUNS"/context/*/*/probe/linear.json
over grid context_rollout.json "$RUNS"/context/*/*/probe/rollout.json
over grid passkey.json "$RUNS"/passkey/*/*/probe/passkey.json
over grid gate.json "$RUNS"/gate/*/*/probe/length.json
runs universes.json "$RUNS/universes"
runs ablation.json "$RUNS/ablation"
runs study_mini.json "$RUNS/study_mini"
if [ -n "$changed" ]; then # where each was made, a line a file
    commit=${COMMIT:-$(git describe --always --dirty --abbrev=7 2>/dev/null || echo unknown)}
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    {
        echo file,commit,cpu
        {
            [ ! -e "$results/machines.csv" ] || tail -n +2 "$results/machines.csv"
            for name in $changed; do
                echo "$name,$commit,\"$cpu\""
            done
        } | awk -F, '{ line[$1] = $0 } END { for (name in line) print line[name] }' | sort
    } >"$work/machines.csv"
    cp "$work/machines.csv" "$results/machines.csv" || exit 1
fi
"$BIN/verdict" --claims "$results" --out "${DOCS:-docs}" || exit 1
exit $failed
