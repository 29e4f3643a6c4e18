#!/usr/bin/env bash
# fuzz_coverage.sh BUILD CORPORA... - the lines of each parser that the inputs of its fuzz target
# run, of a BUILD with --coverage; BUILD/fuzz-coverage has the lines that none runs.
#
# CORPORA are folders with a folder of inputs per target: tests/fuzz/corpus, and what `make fuzz`
# found. The sources of a target are those of its line in tests/fuzz/targets.h. Lines of functions
# that no input enters, as those that write, do not count; how many functions are entered is said.
set -u
build=$1
shift
gcov=${GCOV:-gcov}
out=$build/fuzz-coverage
rm -rf "$out" && mkdir -p "$out" || exit 1
# lines_of NAME SOURCE...: lines of the functions that are entered, those that were run, functions,
# and those that are entered; lines that were not run go to NAME.missed
lines_of() {
    local name=$1 source
    shift
    for source in "$@"; do
        "$gcov" -t -r "$build/${source%.c}.gcno" 2>/dev/null
    done | awk -F: -v wanted=" $* " -v missed="$out/$name.missed" '
        { count = $1; gsub(/[ *]/, "", count); at = $2 + 0 }
        $2 ~ /^ *0$/ { if ($3 == "Source") { file = $4; now = "" } next }
        !index(wanted, " " file " ") { next }
        $3 ~ /^[a-z].*\(/ && $0 !~ /;$/ { now = file ":" at }
        count != "-" && now != "" {
            total[now]++
            if (count ~ /^[#=]/) left[now] = left[now] file ":" at "\n"; else covered[now]++
        }
        END {
            for (now in total) {
                functions++
                if (!covered[now]) continue
                entered++
                lines += total[now]
                run += covered[now]
                printf "%s", left[now] >missed
            }
            print lines + 0, run + 0, functions + 0, entered + 0
        }'
}
printf '%-12s %6s %9s %7s %6s %7s %7s  %s\n' \
    target inputs functions entered lines covered share sources
status=0
while IFS='|' read -r name sources; do
    find "$build" -name '*.gcda' -delete
    inputs=0
    for corpora in "$@"; do
        [ -d "$corpora/$name" ] || continue
        inputs=$((inputs + $(find "$corpora/$name" -type f | wc -l)))
        "$build/tests/fuzz/replay" "$corpora" "$name" >/dev/null 2>"$out/$name.log" || {
            echo "fuzz-coverage: error: $name: $(tail -n 1 "$out/$name.log")" >&2
            status=1
        }
    done
    read -r total covered functions entered < <(lines_of "$name" $sources)
    [ "$total" -gt 0 ] || { echo "fuzz-coverage: error: $name: no line of $sources" >&2 && exit 1; }
    share=$(awk -v a="$covered" -v b="$total" 'BEGIN { print 100 * a / b }')
    printf '%-12s %6d %9d %7d %6d %7d %6.1f%%  %s\n' "$name" "$inputs" "$functions" "$entered" \
        "$total" "$covered" "$share" "$sources"
done < <(sed -n 's/^FUZZ(\([a-z]*\), "\([^"]*\)".*/\1|\2/p' tests/fuzz/targets.h)
exit $status
