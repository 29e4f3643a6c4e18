#!/usr/bin/env bash
# dynamics_cost.sh - seconds and memory of `symreg motion --state` against the rows of its table.
#
#   [SECONDS_GIVEN=5] [LIMIT="--seconds 1"] [ROWS="1000 10000"] [TRACKS=100] [TRACK_ROWS=10000] \
#       LD_PRELOAD=build/bench/cpu_clock.so bench/dynamics_cost.sh >FILE
#
# The tables are tracks of hunters and prey with 1% of noise, each from another start, 60 rows an
# orbit. Rows of tracks grow while the search has a fixed number of evaluations, or LIMIT, so that
# what grows is reading, smoothing and the fit to the tracks. The first line instead has a limit of
# seconds for each of its two equations. The last table, of TRACKS times TRACK_ROWS rows, has to
# stay below 1 GB (status 1 if not). Without cpu_clock.so the seconds given are wall time.
set -eu -o pipefail
BIN=${BIN:-bin}
given=${SECONDS_GIVEN:-5}
read -ra limit <<<"${LIMIT:---evaluations 500 --seconds 3600}"
work=$(mktemp -d "${TMPDIR:-/tmp}/dynamics-cost-XXXXXX")
trap 'rm -rf "$work"' EXIT

# table TRACKS ROWS: writes a table by Runge and Kutta's method, 4 steps a row
table() {
    awk -v tracks="$1" -v rows="$2" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
    BEGIN {
        srand(72); print "track,t,x,y"; h = 0.025
        for (k = 1; k <= tracks; k++) {
            x = 1 + rand(); y = 0.5 + rand()
            for (i = 0; i < rows; i++) {
                printf "%d,%.10g,%.10g,%.10g\n", k, 4 * h * i, x * (1 + 0.01 * normal()), \
                    y * (1 + 0.01 * normal())
                for (s = 0; s < 4; s++) {
                    a1 = x * (1 - y); b1 = y * (x - 1); u = x + h / 2 * a1; v = y + h / 2 * b1
                    a2 = u * (1 - v); b2 = v * (u - 1); u = x + h / 2 * a2; v = y + h / 2 * b2
                    a3 = u * (1 - v); b3 = v * (u - 1); u = x + h * a3; v = y + h * b3
                    a4 = u * (1 - v); b4 = v * (u - 1)
                    x += h / 6 * (a1 + 2 * (a2 + a3) + a4); y += h / 6 * (b1 + 2 * (b2 + b3) + b4)
                }
            }
        }
    }' >"$work/table.csv"
}

# measure TRACKS ROWS OPTION...: a line of the result; peak memory in KiB goes to $peak
measure() {
    local tracks=$1 rows=$2
    shift 2
    table "$tracks" "$rows"
    command time -o "$work/cost" -f '%e %U %S %M' "$BIN/symreg" motion "$work/table.csv" --time t \
        --state x,y --track track --threads 1 --quiet --out "$work/out" "$@" >"$work/text" || {
        cat "$work/text" >&2
        exit 1
    }
    peak=$(awk '{ print $4 }' "$work/cost")
    awk -v tracks="$tracks" -v rows="$rows" -v how="$*" '
        { printf "%6d %8d %9d %9.1f %9.1f %8.0f  %s\n", tracks, rows, tracks * rows, $1, $2 + $3,
              $4 / 1024, how }' "$work/cost"
    rm -rf "$work/out"
}

echo "# bench/dynamics_cost.sh, two equations, one thread, $(sed -n 's/^model name.*: //p' \
    /proc/cpuinfo | head -1)"
echo "#tracks    rows  all rows    wall s     cpu s      MiB  options"
measure 1 1000 --seconds "$given"
for rows in ${ROWS:-1000 10000 100000 1000000}; do
    measure 1 "$rows" "${limit[@]}"
done
tracks=${TRACKS:-100} track_rows=${TRACK_ROWS:-10000}
measure "$tracks" "$track_rows" "${limit[@]}"
[ "$peak" -lt 1000000 ] || {
    echo "dynamics_cost: $tracks tracks of $track_rows rows took $peak KiB, not below 1 GB" >&2
    exit 1
}
