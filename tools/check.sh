#!/usr/bin/env bash
# check.sh - runs test programs, all of them whatever fails, and sums what they report.
#
#   check.sh LOGS COMMAND...    each COMMAND is one shell word list, run by bash
#   CHECK_LIMIT=600             seconds until a program that does not end is stopped, and has failed
#   JOBS=n                      programs at once (default: one more than there are cores, since some
#                               wait: for locks, for launchers of ranks)
#   ALONE='word word'           a command that holds one of these words is run when no other is
#
# A test program reports through its own summary: cmocka's "[  PASSED  ] n test(s)." and
# "[  FAILED  ] n test(s)", or a last line "n passed, n failed[, n skipped]". As one failure count:
# a program that crashes, says nothing, or exits with an error without naming a failure; a summary
# that is not the last line; tests that cmocka announced ("Running n test(s)") and did not report.
# The output of each program is kept in LOGS/; that of a failing one is shown. The last line is the
# total.
#
# Tests write many small files, each of which is synced: they get a TMPDIR in memory, where none is
# set, there is room, and programs may be run from there.
#
# LOGS/seconds holds how long each program took when it was last run, a line "seconds command". The
# longest begin first, since a long one that begins last leaves the other cores idle; those without
# a time begin before all. LOGS/processor has their processor time, of user and system, which does
# not depend on what else the machine does. Reports are printed in the order of the commands
# whatever ended first.
set -u
export OMP_WAIT_POLICY=passive # programs share the cores: threads that wait sleep
# tests that call make are no part of the build that called this, and have none of its jobs
MAKEFLAGS=$(sed -E 's/(^| )(-j[0-9]*|--jobserver[^ ]*)/ /g' <<<"${MAKEFLAGS:-}")
logs=$1
shift
mkdir -p "$logs" || exit 1
limit=${CHECK_LIMIT:-600}
jobs=${JOBS:-$(($(nproc 2>/dev/null || echo 1) + 1))}
if [[ ! $jobs =~ ^[1-9][0-9]*$ ]]; then
    echo "check.sh: error: JOBS: expected a number, found \"$jobs\"" >&2
    exit 2
fi
work=$(mktemp -d "$logs/.check-XXXXXX") || exit 1
memory=
has_room() { # 4 GiB, in the folder and in memory
    [ "$(df --output=avail "$1" | tail -n 1)" -ge 4194304 ] &&
        awk '/^MemAvailable:/ { exit $2 < 4194304 + 2097152 }' /proc/meminfo
}
if [ -z "${TMPDIR:-}" ] && memory=$(mktemp -d /dev/shm/orrery-check-XXXXXX 2>/dev/null); then
    printf '#!/bin/sh\n' >"$memory/runs" && chmod +x "$memory/runs"
    if has_room "$memory" && "$memory/runs" 2>/dev/null; then
        export TMPDIR=$memory
    fi
fi
passed=0 failed=0 skipped=0
declare -A running=() # process of each command under way, by number
stop() {
    trap '' INT TERM
    [ ${#running[@]} -eq 0 ] || kill -TERM "${running[@]}" 2>/dev/null
    wait
    exit 130
}
trap stop INT TERM
trap 'rm -rf "$work" ${memory:+"$memory"}' EXIT

# count LOG: passed, failed and skipped tests, and why what is said is no report
count() {
    awk '
        /./ { last = $0 }
        /^\[==========\] .*Running [0-9]+ test/ { announced += number() }
        /^\[  PASSED  \] .*[0-9]+ test\(s\)/ { ok += number() }
        /^\[  FAILED  \] .*[0-9]+ test\(s\)/ { bad += number() }
        /^\[  SKIPPED \] .*[0-9]+ test\(s\)/ { skip += number() }
        /^[0-9]+ passed, [0-9]+ failed/ {
            said = $0; ok += $1; bad += $3; own += $1 + $3
            if ($6 ~ /^skipped/) { skip += $5; own += $5 }
        }
        function number() { match($0, /[0-9]+ test/); return substr($0, RSTART) + 0 }
        END {
            lost = announced - (ok + bad + skip - own)
            if (lost > 0)
                why = lost " announced tests without a result"
            else if (said != "" && said != last)
                why = "the summary is not the last line"
            else if (ok + bad + skip == 0)
                why = "no test"
            print ok + 0, bad + 0, skip + 0, why
        }' "$1"
}

commands=("$@") log=() alone=()
declare -A named=() took=() used=()
while read -r seconds command; do
    took[$command]=$seconds
done < <(cat "$logs/seconds" 2>/dev/null)
for i in "${!commands[@]}"; do
    name=$(echo "${commands[i]}" | tr -c 'A-Za-z0-9_\n' '_')
    named[$name]=$((${named[$name]:-0} + 1))
    [ "${named[$name]}" -eq 1 ] || name+=.${named[$name]} # a command that is given twice
    log[i]=$logs/$name.log
    for word in ${ALONE:-}; do
        [[ " ${commands[i]} " != *" $word "* ]] || alone[i]=yes
    done
done

# processor: tenths of seconds of processor time of a shell's children, from what times says
processor() {
    awk -F '[ms ]+' 'END { printf "%.0f", 600 * ($1 + $3) + 10 * ($2 + $4) }'
}

# run I: in a subshell; the program gets a process group of its own from timeout, and is stopped
# with this script. Status, tenths of seconds and of processor time are in $work/I when it ends.
run() {
    local program started=${EPOCHREALTIME/[.,]/} status
    trap 'kill -TERM $(jobs -p) 2>/dev/null; exit 130' INT TERM # also before its number is known
    trap - EXIT
    timeout -k 10 "$limit" bash -c "${commands[$1]}" >"${log[$1]}" 2>&1 </dev/null &
    program=$!
    wait "$program"
    status=$?
    times >"$work/.times.$1"
    echo "$status $(((${EPOCHREALTIME/[.,]/} - started) / 100000))" \
        "$(processor <"$work/.times.$1")" >"$work/.$1"
    mv "$work/.$1" "$work/$1"
}

# report I: its line, its log where it failed, and its part of the sums
report() {
    local i=$1 status tenths spent ok bad skip why word=ok
    read -r status tenths spent <"$work/$i" || status=137 tenths=0
    used[${commands[i]}]=${spent:-0}
    read -r ok bad skip why < <(count "${log[i]}") || { ok=0 bad=0 skip=0 why="no log"; }
    [ "$status" -eq 0 ] || [ "$bad" -ne 0 ] || why=${why:-no failure named}
    case $status in # of timeout, which kills what does not end then
    124 | 137) [ "$tenths" -lt $((10 * limit)) ] || why="stopped after $limit s" ;;
    esac
    [ -z "$why" ] || bad=$((bad + 1))
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    took[${commands[i]}]=$((tenths / 10)).$((tenths % 10))
    [ "$bad" -eq 0 ] || word=FAILED
    printf '%-6s %4d passed %3d failed %3d skipped %6s s  %s\n' \
        "$word" "$ok" "$bad" "$skip" "${took[${commands[i]}]}" "${commands[i]}"
    if [ "$bad" -ne 0 ]; then
        echo "---- exit status $status${why:+, $why}; the end of ${log[i]}:"
        grep -v -e '^\[ RUN' -e '^\[       OK' "${log[i]}" | tail -n 40
        echo "----"
    fi
}

# finish_some: waits until a program under way has ended, and prints what can be printed in order
printed=0
finish_some() {
    local i before=${#running[@]} status
    wait -n
    status=$?
    for i in "${!running[@]}"; do
        [ ! -e "$work/$i" ] || unset "running[$i]"
    done
    if [ $status -eq 127 ] && [ ${#running[@]} -eq "$before" ]; then # killed with its subshell
        for i in "${!running[@]}"; do
            echo "137 0" >"$work/$i"
        done
        running=()
    fi
    while [ -e "$work/$printed" ]; do
        report $printed
        printed=$((printed + 1))
    done
}
# run_all MOST I...: no more than so many at once
run_all() {
    local most=$1 i
    shift
    for i in "$@"; do
        while [ ${#running[@]} -ge "$most" ]; do
            finish_some
        done
        run "$i" &
        running[$i]=$!
    done
    while [ ${#running[@]} -gt 0 ]; do
        finish_some
    done
}
# in_order WHICH: numbers of the commands that are run alone (yes) or not (no), the longest first
in_order() {
    local i
    for i in "${!commands[@]}"; do
        [ "${alone[i]:-no}" != "$1" ] || echo "${took[${commands[i]}]:-1000000} $i"
    done | LC_ALL=C sort -s -k1,1nr | awk '{ print $2 }'
}
run_all "$jobs" $(in_order no)
run_all 1 $(in_order yes)

for command in "${!took[@]}"; do
    echo "${took[$command]} $command"
done | LC_ALL=C sort -k1,1nr -k2 >"$work/seconds" && mv "$work/seconds" "$logs/seconds"
for command in "${!used[@]}"; do
    echo "$((used[$command] / 10)).$((used[$command] % 10)) $command"
done | LC_ALL=C sort -k1,1nr -k2 >"$logs/processor"
awk '{ sum += $1 } END { printf "%.0f s of processor time: see ", sum }' "$logs/processor"
echo "$logs/processor"
[ $skipped -eq 0 ] || echo "$skipped skipped: see $logs"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
