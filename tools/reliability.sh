#!/usr/bin/env bash
# reliability.sh OUT minutes|hours [STEP...] - makes the figures of docs/reliability.md.
#
# Each step is a command that anyone can give by itself. What it printed is OUT/STEP.log, and its
# row OUT/STEP.row; OUT/table.md has the rows of all steps, OUT/fuzz.md those of the fuzz targets.
# `hours` is the whole budget of each step, of which `minutes` is a sample. A step that has its row
# at this commit and length is not run again, so that hours can be cut into several calls.
set -u -o pipefail
out=$1 build=${1%/*} length=$2
shift 2
mkdir -p "$out" || exit 1
commit=$(git rev-parse --short HEAD 2>/dev/null) || commit=
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit=
status=0
chosen=" $* "

# step NAME WHAT MINUTES [HOURS]: what it shows, its command and that of the whole budget, where it
# is another; -: none
step() {
    printf '%s|%s|%s|%s\n' "$1" "$2" "$3" "${4-$3}"
}
one='make check-one T='
steps() {
    step replay 'kept inputs, each to its parser' "${one}fuzz/replay"
    step fuzz 'inputs searched for in each parser' \
        'make -j2 fuzz FUZZ_SECONDS=10' 'make -j2 fuzz FUZZ_SECONDS=600'
    step coverage 'lines of parsers that kept and found inputs run' 'make fuzz-coverage'
    step paths 'names, links, modes, read-only folders' "${one}cli/test_paths"
    step disk 'disks that are full or fail' \
        "${one}cli/test_disk_full" "${one}cli/test_disk_full KILLS=100"
    step nfs 'answers that get lost, locks that are refused' \
        "${one}kill/test_nfs" "${one}kill/test_nfs WORLD_SET="
    step alloc 'allocations that fail, leaks' 'make check-alloc ALLOCS=5' 'make check-alloc'
    step kill 'one training killed at any operation' \
        "${one}kill/test_kill" "${one}kill/test_kill KILLS=100"
    step world 'a whole world killed at random moments' \
        "${one}kill/test_world KILLS=10" "${one}kill/test_world KILLS=100 WORLD_SET="
    step time 'clocks that jump, processes that are stopped' \
        "${one}kill/test_time" "${one}kill/test_time KILLS=100"
    step pairs 'two programs in one run directory' \
        "${one}kill/test_pairs" "${one}kill/test_pairs PAIRS=all"
    step tsan 'data races' - 'make check-tsan'
    step valgrind 'memory that nobody wrote, leaks' - 'make check-valgrind'
    step build 'two builds in different folders' \
        'tools/reproducible.sh orbits' 'tools/reproducible.sh'
}

[[ $length = minutes || $length = hours ]] || {
    echo "reliability: error: RELIABILITY: expected minutes or hours, found \"$length\"" >&2
    exit 2
}
for name in $chosen; do
    steps | grep -q "^$name|" || {
        echo "reliability: error: STEPS: expected some of" \
            "$(steps | cut -d'|' -f1 | paste -sd ' '), found \"$name\"" >&2
        exit 2
    }
done

# figure STEP: what its log says, in a few words
figure() {
    local log=$out/$1.log
    case $1 in
    fuzz)
        awk '/^fuzz: .* inputs/ { targets++; inputs += $3; found += /FINDING/ }
            END { printf "%d targets, %d inputs, %d findings", targets, inputs, found }' "$log"
        ;;
    coverage)
        awk '/^[a-z]+ +[0-9]+ +[0-9]+ +[0-9]+ / { inputs += $2; lines += $5; covered += $6 }
            END { if (lines) printf "%d inputs, %d of %d lines", inputs, covered, lines }' "$log"
        ;;
    *)
        {
            grep -E '^memory ran out|^reproducible:|kills (in|at)|stops in|pairs: ' \
                "$log"
            grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1
        } | awk '!said[$0]++' | sed 's/|/,/g' | paste -sd ';' | sed 's/; */; /g'
        ;;
    esac
}

# fuzz_table: inputs and edges of the search, lines of the functions that inputs enter
fuzz_table() {
    echo '| target | input | inputs run | edges | lines run |'
    echo '|---|---|---|---|---|'
    awk '
        FILENAME ~ /fuzz.log$/ && /^fuzz: .* inputs/ {
            name = $2; sub(/:$/, "", name); runs[name] = $3
            edges[name] = /edges/ ? $(NF - 3 + !/no finding/) : "?"
        }
        FILENAME ~ /coverage.log$/ && $2 ~ /^[0-9]+$/ { share[$1] = $6 " of " $5 }
        FILENAME ~ /targets.h$/ && /^FUZZ\(/ {
            name = $0; sub(/^FUZZ\(/, "", name); sub(/,.*/, "", name)
            split($0, part, "\"")
            print "| `" name "` | " part[4] " | " runs[name] " | " edges[name] " | " \
                share[name] " |"
        }' "$out/fuzz.log" "$out/coverage.log" tests/fuzz/targets.h
}

# log_of COMMAND: where tools/check.sh has what a test said
log_of() {
    local test
    case $1 in
    *check-alloc*) cat build-alloc/tests/logs-alloc/*.log ;;
    *T=*)
        test=${1#*T=}
        test=${test%% *}
        cat "$build"/tests/logs/*"${test//\//_}"*.log
        ;;
    esac
}
# the first line of a row says which commit, length and command it is of
is_kept() { # STEP COMMAND
    [ -n "$commit" ] && [ "$(head -n 1 "$out/$1.row" 2>/dev/null)" = "$commit $length $2" ]
}
run_step() { # STEP WHAT COMMAND
    local name=$1 what=$2 command=$3 ended found key="$commit $length $3" since=$SECONDS
    printf 'reliability: %-9s %s\n' "$name" "$command"
    rm -f "$out/$name.row"
    CHECK_LIMIT=14400 bash -c "$command" >"$out/$name.log" 2>&1 </dev/null
    ended=$?
    log_of "$command" >>"$out/$name.log"
    found=$(figure "$name")
    if [ $ended -ne 0 ] || [ -z "$found" ]; then
        tail -n 15 "$out/$name.log"
        found="FAILED${found:+: $found}" key=failed status=1
    fi
    printf '%s\n| %s | `%s` | %s | %s |\n' "$key" "$what" "$command" "$found" \
        "${commit:-changed}" >"$out/$name.row"
    printf 'reliability: %-9s %s (%d s)\n' "$name" "$found" $((SECONDS - since))
}

while IFS='|' read -r name what minutes hours <&3; do
    [ "$chosen" = '  ' ] || [[ $chosen = *" $name "* ]] || continue
    command=$minutes
    [ "$length" = minutes ] || command=$hours
    [ "$command" != - ] || continue
    if is_kept "$name" "$command"; then
        echo "reliability: $name: kept, of $commit"
    else
        run_step "$name" "$what" "$command"
    fi
done 3< <(steps)
{
    echo '| what | command | measured | at |'
    echo '|---|---|---|---|'
    steps | while IFS='|' read -r name _; do
        tail -n +2 "$out/$name.row" 2>/dev/null
    done
} >"$out/table.md"
[ ! -e "$out/fuzz.log" ] || [ ! -e "$out/coverage.log" ] || fuzz_table >"$out/fuzz.md"
echo "reliability: $out/table.md, $out/fuzz.md"
exit $status
