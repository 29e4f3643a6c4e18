#!/usr/bin/env bash
# claims.sh - puts the results of grids that were run into RESULTS, and makes study/docs/claims.md
# of them.
#
#   study/claims.sh RESULTS [TABLE.csv.xz]    TABLE: where RESULTS are kept (study/cells.sh)
#
# Results of single cells (cell.json) are kept in RESULTS/cells/<grid>, and grids are put together
# from those, so that they can be made in pieces, on several machines.
# What a grid has no results of keeps the file that is there, and so does one whose results here are
# of fewer seeds, of fewer files or of another preset, unless FORCE=1, or whose cell cannot be
# measured again; that is said, and where they cannot be put together; the rest goes on, and the
# status is 1. Nothing that is kept is removed, and a result that differs in its version and
# checksum alone is not replaced, so that a second call changes nothing. machines.csv has the commit
# and the CPU of what is made from runs (COMMIT, MACHINE: others that the runs were made with); what
# is put together from kept cells depends on neither. RUNS (runs), BIN (bin), DOCS (study/docs).
set -u -o pipefail
shopt -s extglob
results=${1:?claims: error: expected a folder of results}
RUNS=${RUNS:-runs} BIN=$(cd "${BIN:-bin}" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-claims-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$results"
beside=$(cd "$results" && pwd) || exit 1
changed='' took='' failed=0
# seeds FILE, preset FILE: the most seeds of a figure, and the preset, that a result says
seeds() {
    tr -d '[:space:]' <"$1" | grep -oE '"seeds":(\[[^]]*\]|[0-9]+)' | sed 's/.*://' |
        awk -F, '{ n = /^\[/ ? (/[0-9]/ ? NF : 0) : $1 } n > most { most = n }
            END { print most + 0 }'
}
preset() {
    tr -d '[:space:]' <"$1" | grep -oE '"preset":"[^"]*"' | head -n 1 |
        sed 's/_adamw"$/"/' # presets as they were called when results were made
}
# of FILE: how many files of results a result says it is made of; 0 where it names none
of() {
    tr -d '[:space:]' <"$1" | grep -oE '"files":\[[^]]*\]' | head -n 1 | grep -o '\.json"' | wc -l
}
# less NAME FILE: whether it says less than what is kept, and that this is so
less() {
    [ -e "$results/$1" ] && [ "${FORCE:-0}" != 1 ] || return 1
    [ "$(seeds "$2")" -lt "$(seeds "$results/$1")" ] ||
        [ "$(of "$2")" -lt "$(of "$results/$1")" ] ||
        [ "$(preset "$2")" != "$(preset "$results/$1")" ] || return 1
    echo "claims: $1: made of $(of "$2") files, $(seeds "$2") seeds, $(preset "$2"); that of" \
        "$(of "$results/$1") files, $(seeds "$results/$1") seeds, $(preset "$results/$1")," \
        "is kept (FORCE=1 replaces it)" >&2
}
# alike FILE FILE: whether two results say the same, whatever version made them
alike() {
    [ -e "$2" ] && cmp -s <(without_origin "$1") <(without_origin "$2")
}
without_origin() { # a comma goes with the line after it
    sed -E -e '/^\t"(version|xxh64)":/d' -e 's/,$//' "$1"
}
# shortened FILE: a result as it is kept: what was measured with nine significant digits, of which
# no claim needs all, and without its sum, which was of other digits (the table of results has one)
shortened() {
    awk '
        /^\t"xxh64":/ { if (!/,$/) sub(/,$/, "", line); next }
        NR > 1 { print line }
        { line = $0 }
        /^\t"settings":/ { settings = 1 }
        /^\t[]}]/ { settings = 0 }
        /[0-9]\.[0-9]/ && !/\\/ && !settings {
            pieces = split($0, piece, "\"")
            line = ""
            for (i = 1; i <= pieces; i++) {
                text = piece[i]
                if (i % 2) # outside of strings
                    while (match(text, /[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/)) {
                        line = line substr(text, 1, RSTART - 1)
                        line = line sprintf("%.9g", substr(text, RSTART, RLENGTH))
                        text = substr(text, RSTART + RLENGTH)
                    }
                line = line text (i < pieces ? "\"" : "")
            }
        }
        END { print line }' "$1"
}
# take NAME FILE [runs]: a result that was made (runs: of runs that are here)
take() {
    case $1 in
    cells/*) ;;
    *) less "$@" && failed=1 && return ;;
    esac
    mkdir -p "$(dirname "$results/$1")" || exit 1
    case $1 in
    *.json) shortened "$2" ;;
    *) cat "$2" ;;
    esac >"$work/taken" || exit 1
    alike "$work/taken" "$results/$1" && return
    cp "$work/taken" "$results/$1.new" && mv "$results/$1.new" "$results/$1" || exit 1
    took+=" $1"
    [ "${3-}" != runs ] || changed+=" $1"
}
# over seeds|grid NAME FILE...: what bin/probe makes of results of one probe, where there are some
over() {
    local kind=$1 name=$2 probe files here=
    shift 2
    [ -e "$1" ] || return 0
    probe=$(sed -nE 's/^[[:space:]]*"probe":[[:space:]]*"([a-z]+)".*/\1/p' "$1" | head -n 1)
    # by their place in runs and in results, wherever these are: the result names its files, and
    # states a sum of itself
    [ ! -d "$RUNS" ] || ln -sfn "$(realpath "$RUNS")" "$work/runs"
    ln -sfn "$beside/cells" "$work/cells"
    files=("${@/#"$RUNS"\//runs/}") && files=("${files[@]/#"$results"\//}")
    (cd "$work" && "$BIN/compare" ${kind/grid/effects} "${files[@]}" --out . --quiet >/dev/null) ||
        { failed=1 && return; }
    [[ ${files[0]} == cells/* ]] || here=runs
    take "$name" "$work/${probe}_$kind.json" $here
}
# cells GRID: its cells' results, those that are kept and those of this machine, in one folder
cells() {
    local file name kept
    for file in "$RUNS/$1"/*/; do
        name=$(basename "$file") file=${file}cell.json
        # anew, lest the run was made again since; without the run itself as it is. A run without
        # the file that cannot be measured is under way
        if [ ! -e "$file" ]; then
            "$BIN/verdict" --cell "$RUNS/$1/$name" --quiet >/dev/null 2>&1 || continue
        elif [ -e "$RUNS/$1/$name/preset.json" ] &&
            ! "$BIN/verdict" --cell "$RUNS/$1/$name" --quiet >/dev/null; then
            echo "claims: $RUNS/$1/$name: not measured; cells/$1/$name.json stays as it was" >&2
            failed=1
            continue
        fi
        if grep -qs '"untrained_from"' "$results/cells/$1/$name.json" &&
            [ "${FORCE:-0}" != 1 ] && ! grep -q '"untrained_from"' "$file"; then
            echo "claims: $file: without values of the untrained model, which" \
                "cells/$1/$name.json has; that is kept (study/verdict_fill.py, FORCE=1)" >&2
            continue
        fi
        take "cells/$1/$name.json" "$file" runs
    done
    kept=("$results/cells/$1"/*.json)
    [ -e "${kept[0]}" ]
}
# keep FOLDER PROBE: results of a probe, a file a cell, kept like cells
keep() {
    local file
    for file in "$RUNS/$1"/*/*/probe/"$2".json; do
        [ ! -e "$file" ] || take "cells/$1/$(basename "${file%/*/probe/*}").json" "$file" runs
    done
}
# kept GRID PROBE [FOLDER [CELLS]]: kept results of the grid's attentions, two at least, over grid
# GRID.json (FOLDER: where its cells lie, with those of another; CELLS: fewer of an attention leave
# it out)
kept() {
    local attention of files=() there=0 folder=${3:-$1}
    keep "$folder" "$2"
    for attention in $(sed -n 's/^axis *attention *//p' "study/grids/$1.grid"); do
        of=("$results/cells/$folder"/seed[0-9]*-"$attention.json")
        [ -e "${of[0]}" ] && [ ${#of[@]} -ge "${4:-1}" ] || continue
        files+=("${of[@]}") there=$((there + 1))
    done
    [ "$there" -lt 2 ] || over grid "$1.json" "${files[@]}"
}
# complete GRID PROBE: the same of those attentions of which every seed is there
complete() {
    kept "$1" "$2" "$1" "$(sed -n 's/^axis *seed *//p' "study/grids/$1.grid" | wc -w)"
}
# kept_all KIND GRID PROBE: kept results of all cells, over KIND (seeds, grid) GRID.json, once no
# cell is missing
kept_all() {
    local files cells
    keep "$2" "$3"
    files=("$results/cells/$2"/*.json)
    cells=$(awk '$1 == "axis" { n = (n ? n : 1) * (NF - 2) } END { print n }' \
        "study/grids/$2.grid")
    [ ${#files[@]} -lt "$cells" ] || over "$1" "$2.json" "${files[@]}"
}
# curves GRID PREFIX: held-out losses of trainings, a CSV a grid, whose cells are called
# seedN-PREFIXSETTING-...
curves() {
    local log cell setting seed rows=$work/$1.csv
    echo setting,seed,step,val_loss >"$rows"
    for log in "$RUNS/$1"/*/*/pretrain/log.jsonl; do
        [ -e "$log" ] || continue
        cell=$(basename "${log%/*/pretrain/log.jsonl}")
        setting=$(cut -d- -f2 <<<"$cell") seed=$(cut -d- -f1 <<<"${cell#seed}")
        sed -nE 's/.*"step": *([0-9]+).*"val_loss": *([0-9.eE+-]+).*/\1,\2/p' "$log" |
            sed "s/^/${setting#"$2"},$seed,/" >>"$rows"
    done
    [ "$(wc -l <"$rows")" -le 1 ] || take "$1.csv" "$rows" runs
}
# runs GRID: the same of whole runs
runs() {
    cells "$1" || return 0
    mkdir "$work/$1" && cp "$results/cells/$1"/*.json "$work/$1" || exit 1
    (cd "$work" && "$BIN/compare" runs "$1" --quiet >/dev/null) || { failed=1 && return; }
    take "$1.json" "$work/$1/runs.json"
}
over seeds inductive.json "$RUNS"/verdict/*/*/probe/inductive.json
over grid context_linear.json "$RUNS"/context/*/*/probe/linear.json
over seeds inductive_fresh.json "$RUNS"/inductive_fresh/*/*/probe/inductive.json
over grid context_fresh.json "$RUNS"/context_fresh/*/*/probe/linear.json
over grid context_rollout.json "$RUNS"/context/*/*/probe/rollout.json
over grid passkey.json "$RUNS"/passkey/*/*/probe/passkey.json
over grid ablation_text.json "$RUNS"/ablation_text/*/*/probe/length.json
over grid length.json \
    "$RUNS"/ablation/seed[0-9]*-@(softmax|lssa|lssar|rw_softmax)/*/probe/length.json
over grid gate.json "$RUNS"/gate/*/*/probe/length.json
rm -f "$work/length_grid.png" # of another grid
kept table1 length
if [[ " $took " == *" table1.json "* && -e $work/length_grid.png ]]; then
    cp "$work/length_grid.png" "${DOCS:-study/docs}/table1.png" || exit 1
fi
kept table1_kjv length
kept text_short length
kept tables_a4_a6 length table1
kept table1_p3 length
kept text_fresh length
complete text_p3_fresh length
kept passkey15 passkey
kept_all seeds adaptation adaptation
kept_all grid ladder labels
kept_all grid map adaptation
kept_all seeds map_fresh adaptation
keep study_search evaluate
curves gate_text gate
runs universes
runs ablation
runs study_mini
runs study_seeds
runs study_small
runs laptop
# verdict_of GRID [OPTION...]: the verdict over the cells of a grid
verdict_of() {
    local grid=$1
    shift
    cells "$grid" || return 0
    mkdir "$work/$grid" && cp "$results/cells/$grid"/*.json "$work/$grid" || exit 1
    (cd "$work/$grid" && "$BIN/verdict" --out . "$@" *.json >/dev/null) || { failed=1 && return; }
    take "$grid.json" "$work/$grid/verdict.json"
}
verdict_of verdict_muon
verdict_of verdict --beside "$beside"
if [ -n "$changed" ]; then # where each was made, a line a file
    commit=${COMMIT:-$(git describe --always --dirty --abbrev=7 2>/dev/null || echo unknown)}
    cpu=${MACHINE:-$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)}
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
"$BIN/verdict" --claims "$results" --out "${DOCS:-study/docs}" || exit 1
if [ $# -gt 1 ]; then
    "$(dirname "$0")/cells.sh" pack "$results" "$2" && touch "$results/.unpacked" || exit 1
fi
exit $failed
