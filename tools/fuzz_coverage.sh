#!/usr/bin/env bash
# fuzz_coverage.sh BUILD [FOUND] - what lines of each parser the inputs of its fuzz target reach: a
# row per source of tests/fuzz/targets.h, measured by llvm-cov on BUILD/tests/fuzz/replay. Inputs are
# those of the corpus, and of FOUND/NAME, where make fuzz keeps what it found.
set -u -o pipefail
build=$1 found=${2:-}
tool() { # NAME: that of the compiler's version, where it has one
    command -v "$1-14" || command -v "$1" || { echo "fuzz_coverage.sh: error: no $1" >&2; exit 1; }
}
profdata=$(tool llvm-profdata) && cov=$(tool llvm-cov) || exit 1
replay=$build/tests/fuzz/replay
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '%-12s %7s  %-32s %6s %6s %7s\n' target inputs source lines run share
while IFS='"' read -r head sources _; do
    name=${head#FUZZ(} name=${name%%,*}
    mkdir -p "$work/corpus/$name"
    cp tests/fuzz/corpus/"$name"/* "$work/corpus/$name/" || exit 1
    [ -z "$found" ] || find "$found/$name" -type f -exec cp {} "$work/corpus/$name/" \; 2>/dev/null
    inputs=$(find "$work/corpus/$name" -type f | wc -l)
    LLVM_PROFILE_FILE=$work/raw "$replay" "$work/corpus" "$name" >"$work/log" 2>&1 ||
        { tail -n 3 "$work/log"; exit 1; }
    "$profdata" merge -o "$work/data" "$work/raw" || exit 1
    for source in $sources; do
        "$cov" export -summary-only -instr-profile="$work/data" "$replay" "$PWD/$source" \
            2>/dev/null | grep -o '"lines":{"count":[0-9]*,"covered":[0-9]*' | tail -n 1 |
            tr -dc '0-9,\n' | awk -F, -v n="$name" -v i="$inputs" -v s="$source" '
                { printf "%-12s %7d  %-32s %6d %6d %6.1f%%\n", n, i, s, $2, $3, 100 * $3 / $2 }'
    done
done < <(grep '^FUZZ(' tests/fuzz/targets.h)
