#!/usr/bin/env bash
# symreg_noise.sh - how often a law is seen in pure noise, by the rule `best` and by --permutations,
# and how often one that is there is missed: tables of two columns and a target drawn by awk.
#
#   bench/symreg_noise.sh [TABLES [ROWS [SEED]]]    (200, 40, 1); TABLES of each kind
#
# Each table has one search of two epochs and 19 on shuffled targets, one thread. A law is seen
# where p <= 0.05. BIN (bin).
set -u
tables=${1:-200} rows=${2:-40} seed=${3:-1} BIN=${BIN:-bin}
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-noise-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# table KIND NUMBER: y is noise alone, or a^2 / b with noise of its own spread
table() {
    awk -v kind="$1" -v seed=$((seed * 100000 + $2)) -v rows="$rows" '
        function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
        BEGIN {
            srand(seed)
            print "a,b,y"
            for (i = 0; i < rows; i++) {
                a = 1 + 2 * rand(); b = 1 + 2 * rand()
                printf "%.9g,%.9g,%.9g\n", a, b, (kind == "law" ? a * a / b : 0) + 1.9 * normal()
            }
        }'
}
echo "kind,tables,rows,best_is_no_constant,p_at_most_0.05"
for kind in noise law; do
    chosen=0 seen=0
    for ((i = 0; i < tables; i++)); do
        table $kind $i >"$work/table.csv"
        "$BIN/symreg" "$work/table.csv" --target y --threads 1 --iterations 2 --permutations 19 \
            --quiet --set symreg.enumerate=20000 >"$work/said" || exit 1
        ! grep -E '<- .*\bbest\b' "$work/said" | sed 's/<-.*//' | grep -q '[ab(]' ||
            chosen=$((chosen + 1))
        ! grep -q '^permutations: .* p = 0.05;' "$work/said" || seen=$((seen + 1))
    done
    echo "$kind,$tables,$rows,$chosen,$seen"
done
