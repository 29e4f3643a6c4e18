#!/usr/bin/env bash
# check.sh - runs test programs, all of them whatever fails, and sums what they report.
#
#   check.sh LOGS COMMAND...    each COMMAND is one shell word list, run by bash
#   CHECK_LIMIT=600             seconds until a program that does not end is stopped, and has failed
#
# A test program reports through its own summary: cmocka's "[  PASSED  ] n test(s)." and
# "[  FAILED  ] n test(s)", or a last line "n passed, n failed[, n skipped]". As one failure count:
# a program that crashes, says nothing, or exits with an error without naming a failure; a summary
# that is not the last line; tests that cmocka announced ("Running n test(s)") and did not report.
# The output of each program is kept in LOGS/; that of a failing one is shown. The last line is the
# total.
set -u
logs=$1
shift
mkdir -p "$logs" || exit 1
limit=${CHECK_LIMIT:-600}
passed=0 failed=0 skipped=0 running=
# a program is run in the background, in a process group of its own: it is stopped with this script
trap '[ -z "$running" ] || kill -TERM "$running" 2>/dev/null; exit 130' INT TERM

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

for command in "$@"; do
    log=$logs/$(echo "$command" | tr -c 'A-Za-z0-9_\n' '_').log
    started=$SECONDS
    timeout -k 10 "$limit" bash -c "$command" >"$log" 2>&1 </dev/null &
    running=$!
    wait "$running"
    status=$?
    running=
    read -r ok bad skip why < <(count "$log") || { ok=0 bad=0 skip=0 why="no log"; }
    [ $status -eq 0 ] || [ "$bad" -ne 0 ] || why=${why:-no failure named}
    case $status in # of timeout, which kills what does not end then
    124 | 137) [ $((SECONDS - started)) -lt "$limit" ] || why="stopped after $limit s" ;;
    esac
    [ -z "$why" ] || bad=$((bad + 1))
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    word=ok
    [ "$bad" -eq 0 ] || word=FAILED
    printf '%-6s %4d passed %3d failed %3d skipped %4d s  %s\n' \
        "$word" "$ok" "$bad" "$skip" $((SECONDS - started)) "$command"
    if [ "$bad" -ne 0 ]; then
        echo "---- exit status $status${why:+, $why}; the end of $log:"
        grep -v -e '^\[ RUN' -e '^\[       OK' "$log" | tail -n 40
        echo "----"
    fi
done

[ $skipped -eq 0 ] || echo "$skipped skipped: see $logs"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
