#!/usr/bin/env bash
# test_check.sh - tools/check.sh and the frame of the shell tests: what has not run to its end, or
# has checked nothing, has failed, whatever it printed before.
. tests/cli/lib.sh

# run COMMAND...: check.sh on them; its output is in $WORK/out, its status in $status
run() {
    tools/check.sh "$WORK/logs" "$@" >"$WORK/out" 2>&1
    status=$?
}
# sums NAME STATUS LAST COMMAND...: it ends with this status and this last line
sums() {
    local name=$1 expected=$2 last=$3
    shift 3
    run "$@"
    check "$name: status $expected" test $status -eq "$expected"
    check "$name: $last" equal "$last" "$(tail -n 1 "$WORK/out")"
}
# program_of NAME: a test program from standard input, as a command for check.sh
program_of() {
    cat >"$WORK/$1.sh"
    echo "bash $WORK/$1.sh"
}
good=$(program_of good <<<'echo "3 passed, 0 failed"')
bad=$(program_of bad <<<'echo "4 passed, 2 failed, 1 skipped"; exit 1')
cmocka=$(program_of cmocka <<'END'
echo '[==========] Running 2 test(s).'
echo '[       OK ] a'
echo '[  SKIPPED ] b'
echo '[==========] 2 test(s) run.'
echo '[  PASSED  ] 1 test(s).' >&2
echo '[  SKIPPED ] 1 test(s), listed below:' >&2
echo '[  SKIPPED ] b' >&2
END
)
# the format of cmocka 1.1.7, which names the group
named=$(program_of named <<'END'
echo '[==========] tests: Running 3 test(s).'
echo '[==========] tests: 3 test(s) run.'
echo '[  PASSED  ] 1 test(s).'
echo '[  FAILED  ] tests: 2 test(s), listed below:'
echo '[  FAILED  ] b'
echo '[  FAILED  ] c'
exit 1
END
)

# ---- sums
sums "one" 0 '3 passed, 0 failed' "$good"
sums "two" 0 '4 passed, 0 failed' "$good" "$cmocka"
check "two: skipped ones are told" grep -q '^1 skipped: see ' "$WORK/out"
sums "a failing one" 1 '7 passed, 2 failed' "$bad" "$good"
check "a failing one: is shown" grep -q '^4 passed, 2 failed, 1 skipped$' "$WORK/out"
check "a failing one: by its line" \
    grep -q '^FAILED    4 passed   2 failed   1 skipped .*bad.sh$' "$WORK/out"
check "a failing one: beside the good one" \
    grep -q '^ok        3 passed   0 failed   0 skipped .*good.sh$' \
    "$WORK/out"
check "a failing one: with a log each" filled "$WORK"/logs/*_good_sh.log "$WORK"/logs/*_bad_sh.log
sums "failing tests of cmocka" 1 '1 passed, 2 failed' "$named"
sums "no program" 1 '0 passed, 0 failed'

# ---- what is no report
no_report() { # NAME WHY SCRIPT
    local command
    command=$(program_of odd <<<"$3")
    run "$good" "$command" "$good"
    check "$1: status 1" test $status -eq 1
    check "$1: one failure" grep -Eq '^[0-9]+ passed, 1 failed$' "$WORK/out"
    check "$1: the others are run" equal 2 "$(grep -c '^ok  .*good.sh$' "$WORK/out")"
    check "$1: says why" grep -Eq -- "^---- exit status [0-9]+, $2; the end of " "$WORK/out"
}
no_report "silence" 'no test' 'exit 0'
no_report "no test at all" 'no test' 'echo "0 passed, 0 failed"'
no_report "no test of cmocka" 'no test' \
    'echo "[==========] Running 0 test(s)."; echo "[  PASSED  ] 0 test(s)."'
no_report "the summary of another program" 'the summary is not the last line' \
    'echo "3 passed, 0 failed"; echo "going on"; exit 0'
no_report "a status without a failure" 'no failure named' 'echo "3 passed, 0 failed"; exit 3'
no_report "a crash after the summary" 'no failure named' 'echo "3 passed, 0 failed"; kill -SEGV $$'
no_report "a kill after the summary" 'no failure named' 'echo "3 passed, 0 failed"; kill -KILL $$'
no_report "a program that is not there" 'no test' "$WORK/none"
no_report "tests that end the program" '1 announced tests without a result' \
    'echo "[==========] Running 1 test(s)."; echo "[  PASSED  ] 1 test(s)."
     echo "[==========] Running 1 test(s)."; exit 0'
no_report "a group that could not be set up" '2 announced tests without a result' \
    'echo "[==========] Running 2 test(s)."; echo "[  FAILED  ] GROUP SETUP"
     echo "[  PASSED  ] 0 test(s)."; exit 1'
CHECK_LIMIT=1 no_report "a program that does not end" 'stopped after 1 s' \
    'echo "3 passed, 0 failed"; sleep 50'

# ---- programs at once
one_passed='echo "1 passed, 0 failed"'
# meets THIS OTHER: passes when the other is under way meanwhile
meets() {
    program_of "$1" <<END
touch "$WORK/at-$1"
for ((tries = 0; tries < 500; tries++)); do
    [ ! -e "$WORK/at-$2" ] || { $one_passed; exit; }
    sleep 0.01
done
echo "0 passed, 1 failed"; exit 1
END
}
left=$(meets left right) right=$(meets right left)
JOBS=2 sums "two at once" 0 '2 passed, 0 failed' "$left" "$right"
rm -f "$WORK"/at-*
# lonely NAME: passes when no other lonely one is under way
lonely() {
    program_of "$1" <<END
echo $1 >>"$WORK/began"
mkdir "$WORK/lock" || exit
sleep 0.3
rmdir "$WORK/lock"
$one_passed
END
}
for name in a b c; do
    lonely $name >>"$WORK/lonely"
done
mapfile -t lonely <"$WORK/lonely"
JOBS=3 run "${lonely[@]}"
check "three at once are in each other's way" test $status -eq 1
rm -rf "$WORK/lock"
JOBS=1 sums "one after the other" 0 '3 passed, 0 failed' "${lonely[@]}"
ALONE="none $WORK/b.sh $WORK/a.sh" JOBS=3 sums "alone" 0 '3 passed, 0 failed' "${lonely[@]}"
seconds='[0-9]*\.[0-9]' # at least 0.3, more on a busy machine
check "processor time of each: none while it sleeps" \
    equal 3 "$(grep -cx "0\.[0-2] bash $WORK/[abc]\.sh" "$WORK/logs/processor")"
check "seconds of each" equal 3 "$(grep -cx "$seconds bash $WORK/[abc]\.sh" "$WORK/logs/seconds")"
check "seconds in the report" grep -q "^ok  *1 passed .* $seconds s  bash .*/a\.sh$" "$WORK/out"
check_not "seconds in the report: not none" \
    grep -q '^0\.[0-2] bash .*/[abc]\.sh$' "$WORK/logs/seconds"
refused_jobs() {
    JOBS=$1 tools/check.sh "$WORK/logs" "$good" >"$WORK/out" 2>&1
    [ $? -eq 2 ] && grep -q '^check.sh: error: JOBS' "$WORK/out"
}
check "no number of jobs" refused_jobs two
check "no jobs" refused_jobs 0

busy=$(program_of busy <<'END'
timeout 0.4 yes >/dev/null
(i=0; while [ $((i += 1)) -lt 100000 ]; do :; done)
echo "1 passed, 0 failed"
END
)
run "$busy"
check "processor time of a busy program" grep -qE "^([1-9][0-9]*\.[0-9]|0\.[1-9]) $busy\$" \
    "$WORK/logs/processor"
check "processor time: the sum is printed" grep -qE "^[0-9]+ s of processor time: see " "$WORK/out"

# ---- seconds: the longest begins first, the report has the order of the commands
orders() { # NAME EXPECTED ARGUMENT...: lonely ones in the order in which they began
    local name=$1 expected=$2
    shift 2
    rm -f "$WORK/began"
    "$@"
    check "$name" equal "$expected" "$(tr '\n' ' ' <"$WORK/began")"
    check "$name: report in order" equal "a.sh b.sh c.sh " \
        "$(sed -n 's:^ok.* s .*/::p' "$WORK/out" | tr '\n' ' ')"
}
printf '%s\n' "1.5 ${lonely[0]}" "10.2 ${lonely[1]}" "9.9 ${lonely[2]}" >"$WORK/logs/seconds"
JOBS=1 orders "the longest first" 'b c a ' run "${lonely[@]}"
printf '%s\n' "1.5 ${lonely[0]}" "10.2 ${lonely[1]}" "7 an other" >"$WORK/logs/seconds"
JOBS=1 orders "those not known before" 'c b a ' run "${lonely[@]}"
check "the seconds of others are kept" grep -qx '7 an other' "$WORK/logs/seconds"
check "the seconds of others are kept: new ones written" \
    grep -qx "$seconds ${lonely[2]}" "$WORK/logs/seconds"

# ---- a failure, a crash, a hang and the end of check.sh's own process, in company
crash=$(program_of crash <<<'kill -SEGV $$')
hang=$(program_of hang <<<'echo "1 passed, 0 failed"; sleep 50')
orphan=$(program_of orphan <<<'kill -KILL $(cut -d " " -f 4 "/proc/$PPID/stat")')
rm "$WORK"/logs/*.log
CHECK_LIMIT=2 JOBS=3 sums "company" 1 '11 passed, 4 failed' "$hang" "$good" "$bad" "$crash" "$good"
check "the seconds of others are kept: in order" equal "hang.sh good.sh bad.sh crash.sh good.sh " \
    "$(sed -nE 's:^(ok|FAILED) .*/::p' "$WORK/out" | tr '\n' ' ')"
check "the seconds of others are kept: a log each" equal 5 "$(ls "$WORK"/logs/*.log | wc -l)"
JOBS=2 sums "a process of check.sh that is killed" 1 '3 passed, 1 failed' "$orphan" "$good"

# ---- a stop of check.sh is one of the programs under way
waiting() {
    program_of "waiting$1" <<<"echo \$\$ >$WORK/started$1; sleep 50 & wait; touch $WORK/went-on"
}
JOBS=2 start tools/check.sh "$WORK/logs" "$(waiting 1)" "$(waiting 2)" "$good"
until_true test -s "$WORK/started1" -a -s "$WORK/started2"
stop TERM
check "stopped: status 130" test "$status" -eq 130 -a -s "$WORK/started1" -a -s "$WORK/started2"
gone() {
    local tries
    for ((tries = 0; tries < 2000; tries++)); do
        kill -0 "$(cat "$WORK/started$1")" 2>/dev/null || return 0
        sleep 0.01
    done
    return 1
}
check "stopped: with the first program" gone 1
check "stopped: with the second program" gone 2
check "stopped: nothing else was run" test ! -e "$WORK/went-on" -a ! -s "$WORK/out" \
    -a ! -s "$WORK/err"
ls -A "$WORK/logs" >"$WORK/left"
check "stopped: nothing left" lacks '^\.check' "$WORK/left"

# ---- a stop between the start of a program and the line that notes its process: bash waits there
cat >"$WORK/slow.bash" <<'EOF'
set -T
trap '[[ $BASH_COMMAND != "program=\$!" ]] || sleep 1' DEBUG
EOF
BASH_ENV=$WORK/slow.bash start tools/check.sh "$WORK/logs" "env -u BASH_ENV $(waiting 3)"
until_true test -s "$WORK/started3"
stop TERM
check "stopped early: status 130" test "$status" -eq 130 -a -s "$WORK/started3"
check "stopped early: with its program" gone 3

# ---- the frame: a shell test that ends early, or checks where nobody counts
shell_test() { # NAME STATUS PASSED FAILED SCRIPT
    printf '. tests/cli/lib.sh\n%s\n' "$5" >"$WORK/shell.sh"
    env -u CHECK_RECORD bash "$WORK/shell.sh" >"$WORK/out" 2>&1
    check "$1: status $2" test $? -eq "$2"
    check "$1: its last line" equal "$3 passed, $4 failed, 0 skipped" "$(tail -n 1 "$WORK/out")"
}
shell_test "a test that passes" 0 2 0 'check a true; check_not b false; finish'
shell_test "a test that fails" 1 1 2 'check a true; check b false; check_not c true; finish'
shell_test "a test without finish" 1 1 1 'check a true'
shell_test "a test that exits" 1 1 1 'check a true; exit 0; check b true; finish'
shell_test "a name that is not set" 1 1 1 'check a true; echo "$none"; finish'
shell_test "set -e" 1 1 1 'set -e; check a true; false; finish'
shell_test "a syntax error" 1 1 1 $'check a true\nif; fi\nfinish'
shell_test "a check in a subshell" 1 1 1 'check a true; (check b false); finish'
shell_test "checks in a pipeline" 1 1 1 'check a true
    echo x | while read -r x; do check b true; done; finish'
shell_test "no answer is not no" 1 0 3 'check_not a grep x /none; check_not b /none
    check_not c [ 1 -eq x ]; finish'
shell_test "a part of a pipeline" 1 0 1 'parts() { cat /none | wc -l; }; check a parts; finish'
shell_test "a command that is stopped ends the test" 1 0 2 'LIMIT=1; slow() { timeout 1 sleep 9; }
    check a false; check b slow; check c false; finish'
check "a command that is stopped ends the test: says which line came first" \
    grep -qx "first failure: $WORK/shell.sh:3, a" "$WORK/out"
printf '. tests/cli/lib.sh\ncheck good true\ncheck bad false\nfinish\n' >"$WORK/shell.sh"
CHECK_RECORD=$WORK/record bash "$WORK/shell.sh" >"$WORK/out"
check "a record: status 1" test $? -eq 1
printf 'passed\t%s:2\tgood\nfailed\t%s:3\tbad\n' "$WORK/shell.sh" "$WORK/shell.sh" >"$WORK/expected"
check "a record: status 1: of every check" same_file "$WORK/expected" "$WORK/record"

# ---- refuse
PROGRAMS=tool
mkdir "$WORK/run"
cat >"$WORK/tool" <<'END'
#!/bin/sh
[ -z "$SAYS" ] || echo "$SAYS" >&2
[ -z "$PRINTS" ] || echo "$PRINTS"
[ -z "$WRITES" ] || touch "$WRITES"
exit "$STATUS"
END
chmod +x "$WORK/tool"
refused() { # YES|NO NAME PATTERN VARIABLE...: of a refusal with status 1
    local expected=$1 name=$2 pattern=$3 before=$failed got=yes
    shift 3
    CHECK_RECORD= refuse "$name" 1 "$pattern" -- \
        env STATUS=1 SAYS= PRINTS= WRITES= "$@" "$WORK/tool" >"$WORK/told"
    if [ $failed -eq $before ]; then
        passed=$((passed - 1))
    else
        got=no failed=$before
    fi
    check "refuse: $name" equal "$expected" "$got"
}
refused yes "as it should" 'file 7' 'SAYS=tool: error: no file 7'
refused no "another status" 'file 7' 'SAYS=tool: error: no file 7' STATUS=2
refused no "no message" 'file' SAYS=
refused no "two lines" 'file' $'SAYS=tool: error: no file\nmore'
refused no "another program" 'file' 'SAYS=other: error: no file'
refused no "other words" 'folder' 'SAYS=tool: error: no file'
refused no "part of a number" 'file 7' 'SAYS=tool: error: no file 77'
refused no "part of a word" 'an' 'SAYS=tool: error: expected a nan'
refused yes "words beside signs" '--an' 'SAYS=tool: error: --an: expected'
refused no "something printed" 'file' 'SAYS=tool: error: no file' 'PRINTS=a table'
refused no "a file left" 'file' 'SAYS=tool: error: no file' "WRITES=$WORK/run/left"
rm "$WORK/run/left"
refused no "in the name of the folder" "${WORK##*-}" "SAYS=tool: error: $WORK"

# ---- a script is run whole by make check or by make check-more, which HACKING.md lists
export -n MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this test
scripts_of() { # GOAL: its lines are "script", or "QUICK script" where a part of it is left out
    make -n CUDA=0 "$1" 2>/dev/null | grep -oE "'[^']*'" |
        sed -nE "s,^'(QUICK)?(=1 )?bash (((study/)?tests)/.*test_[a-z_]+\.sh)'\$,\1 \3,p" |
        sed 's/^ //' | LC_ALL=C sort
}
for goal in check check-more check-all; do
    scripts_of $goal >"$WORK/$goal"
done
printf '%s\n' tests/{cli,kill}/test_*.sh study/tests/test_*.sh | LC_ALL=C sort >"$WORK/scripts"
grep -v QUICK "$WORK/check" | LC_ALL=C sort - "$WORK/check-more" >"$WORK/whole"
check "make check and make check-more leave a script out, or both run it whole" \
    same_file "$WORK/scripts" "$WORK/whole"
check "make check-all does not run every script whole" same_file "$WORK/scripts" "$WORK/check-all"
check "make check leaves out parts of other scripts than those that ask for it" equal \
    "$(xargs grep -lE '^ *(el)?if quick;' <"$WORK/scripts")" \
    "$(sed -n 's/^QUICK //p' "$WORK/check")"
listed() { # rows of the table in HACKING.md
    sed -nE 's,^\| ((cli|kill|study)/test_[a-z_]+) \|.*,\1,p' HACKING.md
}
left() { # as that names them
    sed -E 's,^study/tests,study,; s,^tests/,,; s,\.sh$,,' "$WORK/check-more"
}
listed | LC_ALL=C sort >"$WORK/listed"
left | LC_ALL=C sort >"$WORK/left"
check "HACKING.md does not say of each script of make check-more where make check sees the same" \
    same_file "$WORK/left" "$WORK/listed"
make -n CUDA=0 check-one T=cli/test_none >"$WORK/out" 2>"$WORK/err"
check "make check-one of a test that is not there has not status 2" equal 2 $?
check "make check-one of a test that is not there does not say so and what one is called" \
    grep -q 'T: no test "cli/test_none"; expected e.g. symreg/test_search' "$WORK/err"
finish
