#!/usr/bin/env bash
# fuzz.sh BUILD NAME SECONDS - lets one fuzz target search, from its corpus and what it found
# before.
#
# New inputs are kept in BUILD/fuzz/NAME; one that breaks something is BUILD/fuzz/NAME-crash-* (or
# -leak-, -timeout-, -oom-). The last line says how many inputs were run, how many edges of the code
# they reached, and how it ended; BUILD/fuzz/NAME.log has all that libFuzzer said.
set -u -o pipefail
build=$1 name=$2 seconds=$3
log=$build/fuzz/$name.log
mkdir -p "$build/fuzz/$name"
export ORRERY_DATA=${ORRERY_DATA:-$PWD} # tables that parsers read beside their input
options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1
         -artifact_prefix="$build/fuzz/$name-")
[ ! -e tests/fuzz/dict/"$name" ] || options+=(-dict=tests/fuzz/dict/"$name")
"$build/tests/fuzz/fuzz_$name" "${options[@]}" "$build/fuzz/$name" "tests/fuzz/corpus/$name" \
    >"$log" 2>&1
status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
if [ $status -eq 0 ]; then
    echo "fuzz: $name: ${runs:-0} inputs in $seconds s, ${edges#cov: } edges: no finding"
else
    echo "fuzz: $name: ${runs:-?} inputs, ${edges#cov: } edges: FINDING"
    grep -E -m 3 'ERROR|SUMMARY|runtime error|expected ' "$log"
    ls "$build/fuzz/$name"-* 2>/dev/null
fi
exit $status
