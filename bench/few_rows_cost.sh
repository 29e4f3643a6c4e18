#!/usr/bin/env bash
# few_rows_cost.sh - what searches of tables of 8 to 50 rows cost in two builds, in turns.
#
#   bench/few_rows_cost.sh BEFORE [AFTER [OPTION...]]    (source trees with bin/symreg; AFTER: this
#                                                one; OPTIONs of search_turns.py)
#
# 24 tables of 12 laws of a random grammar (set SET of bench_symreg_laws, 31; no set for development
# has held-out laws): two laws each of 8, 12, 20, 30, 40 and 50 rows, without noise and with 2% of
# the target's rms. A search tries 40,000 formulas on one thread. Prints what search_turns.py does.
set -eu
before=${1:?"usage: few_rows_cost.sh BEFORE [AFTER [OPTION...]]"} after=${2:-.}
shift $(($# > 1 ? 2 : 1))
make build/bench/bench_symreg_laws >/dev/null
work=$(mktemp -d "${TMPDIR:-/tmp}/few-rows-XXXXXX")
trap 'rm -rf "$work"' EXIT
first=1
for rows in 8 12 20 30 40 50; do
    build/bench/bench_symreg_laws --set "${SET:-31}" --laws $first-$((first + 9)) --every 5 \
        --rows $rows --noise 0,2 --samples 1 --export "$work/$rows"
    for table in "$work/$rows"/*.csv; do
        mv "$table" "$work/r${rows}_$(basename "$table")"
    done
    first=$((first + 10))
done
python3 bench/search_turns.py --rounds 1 --evaluations 40000 "$@" "$before" "$after" "$work"/*.csv
