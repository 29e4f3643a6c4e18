#!/usr/bin/env bash
# check.sh - runs test programs, all of them whatever fails, and sums what they report.
#
#   check.sh LOGS COMMAND...    each COMMAND is one shell word list, run by bash
#
# A test program reports through its own summary: cmocka's "[  PASSED  ] n test(s)." and
# "[  FAILED  ] n test(s)", or a line "n passed, n failed[, n skipped]". One that crashes, says
# nothing, or exits with an error without naming a failure counts as one failure. The output of
# each program is kept in LOGS/; that of a failing one is shown. The last line is the total.
set -u
logs=$1
shift
mkdir -p "$logs" || exit 1
passed=0 failed=0 skipped=0

for command in "$@"; do
    log=$logs/$(echo "$command" | tr -c 'A-Za-z0-9_\n' '_').log
    started=$SECONDS
    bash -c "$command" >"$log" 2>&1 </dev/null
    status=$?
    # the last word on each count: a cmocka group or a summary line; groups of one program add up
    read -r ok bad skip < <(awk '
        /^\[  PASSED  \] [0-9]+ test/ { ok += $4 }
        /^\[  FAILED  \] [0-9]+ test/ { bad += $4 }
        /^\[  SKIPPED \] [0-9]+ test/ { skip += $4 }
        /^[0-9]+ passed, [0-9]+ failed/ { ok += $1; bad += $3; if ($6 ~ /^skipped/) skip += $5 }
        END { print ok + 0, bad + 0, skip + 0 }' "$log")
    if [ "$bad" -eq 0 ] && { [ $status -ne 0 ] || [ $((ok + skip)) -eq 0 ]; }; then
        bad=1
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    word=ok
    [ "$bad" -eq 0 ] || word=FAILED
    printf '%-6s %4d passed %3d failed %3d skipped %4d s  %s\n' \
        "$word" "$ok" "$bad" "$skip" $((SECONDS - started)) "$command"
    if [ "$bad" -ne 0 ]; then
        echo "---- exit status $status; the end of $log:"
        grep -v -e '^\[ RUN' -e '^\[       OK' "$log" | tail -n 40
        echo "----"
    fi
done

[ $skipped -eq 0 ] || echo "$skipped skipped: see $logs"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
