#!/usr/bin/env bash
# symreg_choice.sh - how often the formula that each rule of choice selects is the law, by rows and
# noise: the laws for development of bench_symreg_laws.
#
#   bench/symreg_choice.sh [ROWS [OPTION...]]    (default "8 30 100 1000 10000 100000"; OPTIONs of
#                                                bench_symreg_laws, such as --every 3)
#
# A search has 10 s of processor time and one thread; JOBS (all cores) at a time. What was searched
# is kept in build/choice-SUM of this bin/symreg, so that the same command goes on after a stop.
# Prints CSV: laws, those on the front, and those selected by each rule. A table of few rows cannot
# show a law of nine columns: the front is the most that a rule could reach.
set -eu
rows=${1:-8 30 100 1000 10000 100000}
shift $(($# > 0))
make build/bench/bench_symreg_laws build/bench/cpu_clock.so programs >/dev/null
work=build/choice-$(cksum <bin/symreg | cut -d' ' -f1)
options=${1+-$(tr -c '[:alnum:]\n' _ <<<"$*")} # in names of files
mkdir -p "$work"
export work
search() { # OPTIONS "ROWS NOISE" OPTION...
    local at=($2)
    local to=$work/${at[0]}-${at[1]}$1
    [ -s "$to" ] || { build/bench/bench_symreg_laws --rows "${at[0]}" --noise "${at[1]}" \
        --samples 1 --seconds 10 --cpu-time "${@:3}" >"$to.new" && mv "$to.new" "$to"; }
}
export -f search
for n in $rows; do printf '%s\0' "$n 0" "$n 1" "$n 10"; done |
    xargs -0 -P "${JOBS:-$(nproc)}" -I{} bash -c 'search "$@"' _ "$options" {} "$@"
echo "rows,noise_percent,laws,front,accuracy,score,best,mdl"
for n in $rows; do
    for noise in 0 1 10; do
        # the totals: noise, a cell for each number of columns, best, seconds twice, front, rules
        laws=$(grep -c ' sample ' "$work/$n-$noise$options")
        tr -d % <"$work/$n-$noise$options" | awk -v rows="$n" -v laws="$laws" -v OFS=, '
            /^ *noise / { for (k = 1; k <= NF; k++) if ($k == "front") front = NF - k }
            front && $1 ~ /^[0-9.]+$/ && /\// {
                at = NF - front
                for (k = 0; k < 5; k++) count[k] = sprintf("%.0f", $(at + k) * laws / 100)
                print rows, $1, laws, count[0], count[1], count[2], count[3], count[4] }'
    done
done
