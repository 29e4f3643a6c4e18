# lib.sh - what the command-line tests share. Sourced, not run: the repository root is the current
# directory, $BIN the folder of the programs, $WORK an own empty folder that goes away at the end.
#
# A test calls check, check_not and refuse, which count and name what fails, and ends with finish;
# one that ends before has failed. What a check compares may be missing, empty, or the output of a
# command that failed; the commands of compare.sh want it to be there, and make lint asks for them
# where a check would look into $(...) or <(...).
#
# CHECK_RECORD=FILE appends a line "passed|failed, file:line, name" per check to FILE, which tells
# what checks notice that a program was broken on purpose.
set -u -o pipefail
. "${BASH_SOURCE[0]%/*}/compare.sh"
BIN=${BIN:-bin}
PROGRAMS="orbits pretrain finetune symreg report"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/orrery-cli-XXXXXX") || exit 1
passed=0 failed=0 skipped=0 finished= first=
at_exit() { # a test may replace it
    :
}
ended() {
    local status=$?
    [ $BASHPID -eq $$ ] || return 0 # a subshell that ends leaves the folder alone
    at_exit
    rm -rf "$WORK"
    [ -z "$finished" ] || return 0
    echo "FAILED: the test ended before its last line, with status $status"
    [ $failed -eq 0 ] || echo "first failure: $first"
    printf '%d passed, %d failed, %d skipped\n' "$passed" $((failed + 1)) "$skipped"
    exit 1
}
trap ended EXIT
trap 'exit 130' INT TERM
# what make check builds for tests: libraries that are preloaded (tests/kill/NAME.c), and plugins
BUILT=$(realpath -m "${BUILT:-build}")
FAIL_WRITE=$BUILT/tests/kill/fail_write.so FAIL_ALLOC=$BUILT/tests/kill/fail_alloc.so
JUMP_CLOCK=$BUILT/tests/kill/jump_clock.so NFS_LIKE=$BUILT/tests/kill/nfs_like.so
SWAP=$BUILT/tests/kill/swap_file.so OTHER_LIBM=$BUILT/tests/kill/other_libm.so
EMULATED=$BUILT/tests/cuda/orrery_cuda_host.so NCCL=$BUILT/tests/cuda/libnccl_stand_in.so
# threads that wait sleep: the cores may be busy with other things
export OMP_WAIT_POLICY=passive
unset ORRERY_TRACE
# The smoke presets, but that fewer formulas are enumerated before a search, which are nine tenths
# of the time of a smoke run, and of two samples instead of five (SAMPLES, set before). tests/symreg
# looks at enumeration, test_pipeline.sh at the preset itself.
export ORRERY_PRESETS=$WORK/.presets
mkdir "$ORRERY_PRESETS"
for preset in smoke smoke_tokens; do
    sed 's/"symreg": {/& "enumerate": 10000,/; s/"samples": 5/"samples": '"${SAMPLES:-2}"/ \
        presets/$preset.json >"$ORRERY_PRESETS/$preset.json"
done

# quick: whether make check runs the test, which leaves some parts of it to make check-more
# (HACKING.md says which, and where make check sees the same). Everything else runs the whole test.
quick() {
    [ -n "${QUICK:-}" ]
}

# record RESULT NAME: for CHECK_RECORD, with the line of the test; and for finish, that a subshell
# counted what is lost with it
record() {
    [ $BASHPID -eq $$ ] || printf '%s\n' "$2" >>"$WORK/.lost"
    [ -n "${CHECK_RECORD:-}" ] || return 0
    printf '%s\t%s\t%s\n' "$1" "$(line)" "$2" >>"$CHECK_RECORD"
}

# pass NAME
pass() {
    passed=$((passed + 1))
    record passed "$1"
}

# line: where the test is, for a line of its own
line() {
    local frame=0
    while [[ ${BASH_SOURCE[frame]} == */lib.sh ]]; do
        frame=$((frame + 1))
    done
    echo "${BASH_SOURCE[frame]}:${BASH_LINENO[frame - 1]}"
}

# fail NAME [DETAIL...]: counts a failure and says why.
fail() {
    [ $failed -ne 0 ] || first="$(line), $1"
    failed=$((failed + 1))
    record failed "$1"
    printf 'FAILED: %s\n' "$1"
    shift
    [ $# -eq 0 ] || printf '    %s\n' "$@"
}

# check_stopped STATUS: a command that its limit of time stopped ends the test, since most of what
# follows would fail for want of what it makes
check_stopped() {
    [ "$1" -ne 124 ] || [ $BASHPID -ne $$ ] || {
        echo "    stopped after $LIMIT s; the rest of the test is not run"
        finish
    }
}

# skip NAME WHY
skip() {
    skipped=$((skipped + 1))
    printf 'skipped: %s (%s)\n' "$1" "$2"
}

# check NAME COMMAND...: passes when the command succeeds; its output is shown when not.
check() {
    local name=$1
    shift
    "$@" >"$WORK/.check" 2>&1
    local code=$? # only now: a function that was called may set one of its script
    if [ $code -eq 0 ]; then
        pass "$name"
    else
        fail "$name" "command: $*" "$(tail -n 5 "$WORK/.check")"
        check_stopped $code
    fi
}

# check_not NAME COMMAND...: passes when the command says no, by status 1. Another status is no
# answer: grep, cmp and test have 2 for files that are not there and for mistakes.
check_not() {
    local name=$1
    shift
    "$@" >"$WORK/.check" 2>&1
    local code=$? # only now: a function that was called may set one of its script
    if [ $code -eq 1 ]; then
        pass "$name"
    else
        fail "$name" "expected status 1, found $code: $*" "$(tail -n 5 "$WORK/.check")"
        check_stopped $code
    fi
}

# Seconds that a program may take. Sanitizers make programs some ten times slower.
LIMIT=${PROGRAM_LIMIT:-60}

# program NAME ARGUMENT...: runs $BIN/NAME with a limit of time, without a terminal.
program() {
    local name=$1
    shift
    timeout "$LIMIT" "$BIN/$name" "$@" </dev/null
}

# from_substitution SOURCE COMMAND [ARGUMENT...]: as COMMAND <(SOURCE) ARGUMENT...
from_substitution() {
    local source=$1 command=$2
    shift 2
    "$command" <("$source") "$@"
}

# start COMMAND...: runs it in the background; its process is $pid, its stderr $WORK/err
start() {
    "$@" >"$WORK/out" 2>"$WORK/err" </dev/null &
    pid=$!
}
# until_true COMMAND...: waits until it succeeds, while $pid lives; a machine may be slow
until_true() {
    local tries
    for ((tries = 0; tries < 50 * LIMIT; tries++)); do
        ! "$@" 2>/dev/null || return 0
        kill -0 $pid 2>/dev/null || return 1
        sleep 0.01
    done
    return 1
}
# stop SIGNAL: sends it, waits for the end; the status is in $status
stop() {
    local tries
    kill -"$1" $pid 2>/dev/null
    for ((tries = 0; tries < 50 * LIMIT; tries++)); do
        kill -0 $pid 2>/dev/null || break
        sleep 0.02
    done
    kill -9 $pid 2>/dev/null
    { wait $pid; status=$?; } 2>/dev/null
}

# on_threads PROGRAM N: prints the option, for programs that have it.
on_threads() {
    [ "$1" = report ] || echo "--threads=$2"
}

# without_records RUN NAME: forgets what the tables of that name were made from, as if they had been
# made elsewhere; they can then be spoilt and are still read.
without_records() {
    find "$1" -name "${2%.*}.made.json" -delete
}

# flip FILE OFFSET: changes the last bit of one byte.
flip() {
    printf "\\x$(printf %x $(($(od -An -tu1 -j "$2" -N1 "$1") ^ 1)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# a preset that trains and regresses almost nothing, for tests about something else
TINY=(--preset smoke --threads 1 --quiet --set pretrain.steps=2 --set pretrain_planets.steps=2
      --set finetune.magnitude.steps=2 --set finetune.vector.steps=2 --set symreg.iterations=1)

# fast_pictures: for tests about something else, a gnuplot that leaves the same picture whatever it
# is told; real pictures take nine tenths of the time of a report. PICTURES=drawn: real ones
fast_pictures() {
    [ "${PICTURES:-}" != drawn ] || return 0
    mkdir "$WORK/.bin"
    cat >"$WORK/.bin/gnuplot" <<'END'
#!/bin/sh
case $5 in # -c SCRIPT INPUT PICTURE FORMAT
png) printf '\211PNG\r\n\032\n 12 bytes of it IEND\256B`\202' ;;
svg) printf '<svg xmlns="http://www.w3.org/2000/svg"></svg>\n' ;;
*) echo "no picture of $5" && exit 1 ;;
esac >"$4"
END
    chmod +x "$WORK/.bin/gnuplot"
    PATH=$WORK/.bin:$PATH
}

# times FOLDER: every file with its time of last change.
times() {
    (cd "$1" && find . -type f -printf '%p %T@\n' | sort)
}

# refuse NAME STATUS PATTERN... -- COMMAND...: the command exits with STATUS, prints nothing, writes
# exactly one line to stderr, that begins with "<program>: error: " and holds every pattern (fixed
# strings, as words of their own; the name of $WORK, which is random, is no place to find one), and
# leaves the folder $KEEP (default: $WORK/run) exactly as it was. STDOUT=any: it may have printed.
refuse() {
    local name=$1 status=$2 keep=${KEEP:-$WORK/run} patterns=() pattern got line before after
    shift 2
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    before=$(entries "$keep")
    "$@" >"$WORK/.out" 2>"$WORK/.err"
    got=$?
    after=$(entries "$keep")
    line=$(<"$WORK/.err")
    if [ $got -ne "$status" ]; then
        fail "$name" "expected exit status $status, found $got" "$line"
        return
    fi
    if [[ $line == *$'\n'* || ! $line =~ ^(${PROGRAMS// /|}):\ error:\ .+ ]]; then
        fail "$name" "expected one line \"program: error: ...\", found:" "$line"
        return
    fi
    if [ -s "$WORK/.out" ] && [ "${STDOUT:-}" != any ]; then
        fail "$name" "expected nothing on standard output, found:" "$(head -n 5 "$WORK/.out")"
        return
    fi
    for pattern in "${patterns[@]}"; do
        if ! holds_words "${line//"$WORK"//WORK}" "${pattern//"$WORK"//WORK}"; then
            fail "$name" "expected \"$pattern\" in:" "$line"
            return
        fi
    done
    if [ "$before" != "$after" ]; then # or they are in another order
        sort <<<"$before" >"$WORK/.before"
        sort <<<"$after" >"$WORK/.after"
        diff "$WORK/.before" "$WORK/.after" >"$WORK/.changed" || {
            fail "$name" "left or changed files:" "$(head -n 5 "$WORK/.changed")"
            return
        }
    fi
    pass "$name"
}

# refusals COMMAND...: a table on standard input, a line a case:
#     NAME | STATUS PATTERN... | ARGUMENT...
# as words of the shell; the arguments follow those of the command.
refusals() {
    local row name expected arguments
    while IFS= read -r row <&3; do
        [[ $row == *' | '*' |'* ]] || { fail "a row of refusals: $row" && continue; }
        name=${row%% | *} arguments=${row##* |} expected=${row#* | }
        expected=${expected% |*}
        eval "refuse \"\$name\" $expected -- \"\$@\" $arguments" </dev/null
    done 3<&0
}

# holds_words LINE PATTERN: where the pattern begins or ends with a letter or digit, none goes on
holds_words() {
    local before= after=
    [[ $2 != [[:alnum:]]* ]] || before='(^|[^[:alnum:]])'
    [[ $2 != *[[:alnum:]] ]] || after='([^[:alnum:]]|$)'
    [ -n "$2" ] && [[ $1 =~ $before"$2"$after ]]
}

# snapshot FOLDER: its folders, and its files with sizes and times; no write goes unseen.
snapshot() {
    entries "$1" | sort
}
entries() { # in the folder's order
    [ ! -d "$1" ] || find "$1" -type d -printf '%p/\n' -o -printf '%p %s %T@ %C@\n'
}

# The last line says what tools/check.sh sums.
finish() {
    [ ! -e "$WORK/.lost" ] || fail "no check is made in a subshell" "$(cat "$WORK/.lost")"
    finished=yes
    [ $failed -eq 0 ] || echo "first failure: $first"
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
    exit
}
