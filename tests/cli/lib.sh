# lib.sh - what the command-line tests share. Sourced, not run: the repository root is the current
# directory, $BIN the folder of the programs, $WORK an own empty folder that goes away at the end.
#
# A test calls check, refuse and friends, which count and name what fails, and ends with finish.
set -u
BIN=${BIN:-bin}
PROGRAMS="orbits pretrain finetune symreg report"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/orrery-cli-XXXXXX") || exit 1
at_exit() { # a test may replace it
    :
}
# (a subshell that ends leaves the folder alone)
trap '[ $BASHPID -ne $$ ] || { at_exit; rm -rf "$WORK"; }' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0
# threads that wait sleep: the cores may be busy with other things
export OMP_WAIT_POLICY=passive
unset ORRERY_TRACE ORRERY_PRESETS

pass() {
    passed=$((passed + 1))
}

# fail NAME [DETAIL...]: counts a failure and says why.
fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    shift
    [ $# -eq 0 ] || printf '    %s\n' "$@"
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
    if "$@" >"$WORK/.check" 2>&1; then
        pass
    else
        fail "$name" "command: $*" "$(tail -n 5 "$WORK/.check")"
    fi
}

# check_not NAME COMMAND...: passes when the command says no.
check_not() {
    local name=$1
    shift
    if "$@" >"$WORK/.check" 2>&1; then
        fail "$name" "expected to fail: $*" "$(tail -n 5 "$WORK/.check")"
    else
        pass
    fi
}

# program NAME ARGUMENT...: runs $BIN/NAME with a limit of time, without a terminal.
program() {
    local name=$1
    shift
    timeout 60 "$BIN/$name" "$@" </dev/null
}

# a preset that trains and regresses almost nothing, for tests about something else
TINY=(--preset smoke --threads 1 --quiet --set pretrain.steps=2 --set pretrain_planets.steps=2
      --set finetune.magnitude.steps=2 --set finetune.vector.steps=2 --set symreg.iterations=1)

# times FOLDER: every file with its time of last change.
times() {
    (cd "$1" && find . -type f -printf '%p %T@\n' | sort)
}

# leftovers FOLDER...: files that only an interrupted write leaves.
leftovers() {
    find "$@" \( -name '*.partial' -o -name '*.orrery-partial' -o -name '*.tmp' \
        -o -name '.report-*' \) 2>/dev/null
}

# refuse NAME STATUS PATTERN... -- COMMAND...: the command exits with STATUS, writes exactly one
# line to stderr, that begins with "<program>: error: " and holds every pattern (fixed strings),
# and leaves the folder $KEEP (default: $WORK/run) exactly as it was.
refuse() {
    local name=$1 status=$2 keep=${KEEP:-$WORK/run} patterns=() pattern got line
    shift 2
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    snapshot "$keep" >"$WORK/.before"
    "$@" >"$WORK/.out" 2>"$WORK/.err"
    got=$?
    snapshot "$keep" >"$WORK/.after"
    line=$(cat "$WORK/.err")
    if [ $got -ne "$status" ]; then
        fail "$name" "expected exit status $status, found $got" "$line"
        return
    fi
    if [[ $line == *$'\n'* || ! $line =~ ^(${PROGRAMS// /|}):\ error:\ .+ ]]; then
        fail "$name" "expected one line \"program: error: ...\", found:" "$line"
        return
    fi
    for pattern in "${patterns[@]}"; do
        if [[ $line != *"$pattern"* ]]; then
            fail "$name" "expected \"$pattern\" in:" "$line"
            return
        fi
    done
    if ! cmp -s "$WORK/.before" "$WORK/.after"; then
        fail "$name" "left or changed files:" "$(diff "$WORK/.before" "$WORK/.after" | head -n 5)"
        return
    fi
    pass
}

# snapshot FOLDER: its folders, and its files with sizes and times; no write goes unseen.
snapshot() {
    [ ! -d "$1" ] || find "$1" -type d -printf '%p/\n' -o -printf '%p %s %T@ %C@\n' | sort
}

# The last line says what tools/check.sh sums.
finish() {
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
    exit
}
