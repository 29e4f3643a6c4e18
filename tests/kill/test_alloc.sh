#!/usr/bin/env bash
# test_alloc.sh - every program with memory that runs out once, at each place that allocates
# (tests/kill/fail_alloc.c), or a sample of the places: a clear error and status 1, or the program
# went on without and made the same files; no crash, nothing temporary, and no file that an
# undisturbed run does not make. Programs built with -fsanitize=leak (make check-alloc) say by their
# status where memory was left that nothing leads to.
#
#   ALLOCS=n           about so many places of each step (default 5); all: every one
#   ALLOCS_OF="a b"    of these steps alone; those before run with all memory (default: of the
#                      stages, one probe and a cell); all: of every one
. tests/cli/lib.sh

allocs=${ALLOCS:-5}
# steps on one run, in this order: the stages, probes by their names, and bin/verdict
STEPS="$PROGRAMS attention cell evaluate outputs linear rollout intervene length labels extrapolate
       adaptation inductive seeds verdict"
ALLOCS_OF=${ALLOCS_OF:-$PROGRAMS attention cell}
[ "$ALLOCS_OF" != all ] || ALLOCS_OF=$(echo $STEPS)
if [ ! -e "$FAIL_ALLOC" ]; then
    skip "memory that runs out" "$FAIL_ALLOC is not there: make check builds it"
    finish
fi
if grep -q __asan_init "$BIN/orbits"; then
    skip "memory that runs out" "sanitizers have an allocator of their own"
    finish
fi
SMALL=("${TINY[@]}" --set planets.enabled=false --set symreg.enumerate=2000 --set attention=lssar
       --set model.positions=rope
       --set orbits.train=20 --set orbits.train_files=20 --set orbits.val=4 --set orbits.test=4
       --set orbits.two_body_train=20 --set orbits.two_body_val=4 --set orbits.two_body_test=8
       --set finetune.samples=1 --set finetune.sample_size=10 --set pretrain.eval_sequences=4)
# command_of STEP RUN: sets $program and its arguments, $options
command_of() {
    local step=$1 run=$2
    program=$step options=("${SMALL[@]}" --run "$run")
    case $step in
    orbits | pretrain | finetune) return ;;
    symreg) program=laws && return ;; # what symreg without a file becomes
    report) options=(--quiet --run "$run") && return ;;
    cell) program=verdict options=(--quiet --cell "$run") && return ;;
    verdict) options=(--quiet --out "$run/verdict" "$run") && return ;;
    seeds)
        program=probe options=(seeds --quiet --out "$run/seeds" "$run/lssar/probe/rollout.json")
        return
        ;;
    esac
    program=probe options=("$step" --run "$run" --threads 1 --quiet --sequences 4)
    case $step in
    outputs) options+=(--out "$run/outputs") ;;
    linear) options+=(--sequences 120) ;;
    length) options+=(--sequences 1) ;; # of up to 16 times the trained length: seconds each
    labels) options+=(--sizes 5,8 --steps 2 --draws 1) ;;
    extrapolate | adaptation) options+=(--sizes 8 --steps 2 --draws 1) ;;
    inductive) options+=(--steps 1 --draws 2) ;;
    esac
}
# starved N STEP: the step on a run as it was before, in a folder that files name, without memory
# at place N (0: nowhere)
starved() {
    rm -rf "$WORK/run" && cp -r "$WORK/before" "$WORK/run"
    command_of "$2" "$WORK/run"
    rm -f "$WORK/places"
    timeout "$LIMIT" env LD_PRELOAD="$FAIL_ALLOC" FAIL_AT="$1" FAIL_REPORT="$WORK/places" \
        "$BIN/$program" "${options[@]}" >"$WORK/out" 2>"$WORK/err" </dev/null
}
# timeless FILE: results of a probe without the seconds of its trainings, and the sum over them
timeless() {
    grep -v -e '"seconds":' -e '^	"xxh64":' "$1"
}
# is_of FOLDER FILE: the file is as it is there
is_of() {
    [ -e "$1/$2" ] || return 1
    case $2 in
    ./report.html) same_by undated "$WORK/run/$2" "$1/$2" ;;
    */labels.json | */extrapolate.json | */adaptation.json)
        same_by timeless "$WORK/run/$2" "$1/$2"
        ;;
    ./report.made.json) same_by without_page "$WORK/run/$2" "$1/$2" ;;
    *) cmp -s "$WORK/run/$2" "$1/$2" ;;
    esac
}
# known STEP: each file of the run is as before the stage, or as after it; logs grow line by
# line, progress*.json, checkpoint.bin and cells of a probe say how far something unfinished is
known() {
    local file
    files_below "$WORK/run" >"$WORK/files" || return 1
    while read -r file; do
        case $file in
        *.jsonl | */progress*.json | */checkpoint.bin | *_cells.*) continue ;;
        esac
        is_of "$WORK/$1" "$file" || is_of "$WORK/before" "$file" ||
            { echo "$file is of no state" && return 1; }
    done <"$WORK/files"
}
# whole STEP: it went on without, and made everything; a page is the one that its record sums
whole() {
    same_by files_below "$WORK/$1" "$WORK/run" && known "$1" || return 1
    [ "$1" != report ] ||
        "$BIN/report" --quiet --run "$WORK/run" --resume --plan |
        grep -q '^keep '
}
# (OpenMP starts threads, whose memory is the C library's; it ends a program itself then)
clear_error() {
    local why="out of memory|cannot allocate memory|cannot start a thread"
    [ "$(grep -c . "$WORK/err")" -eq 1 ] &&
        grep -Eqi "^($program: error: |libgomp: ).*($why)" "$WORK/err" ||
        { cat "$WORK/err" && return 1; }
}
# leaked NAME N STEP: whose, by stacks that are whole. GSL 2.7 forgets what an allocating function
# of its own had made when another allocation fails inside of it, and nobody else can free that.
leaked() {
    local outer
    LSAN_OPTIONS=fast_unwind_on_malloc=0 starved "$2" "$3"
    outer=$(sed -n 's/.*(\(gsl_[a-z_]*alloc\)+.*/\1/p' "$WORK/places" | tail -n 1)
    if [ -n "$outer" ] && awk -v outer=" in $outer " '
        /^(Direct|Indirect) leak/ { leaks++ }
        index($0, outer) { within++ }
        END { exit !(leaks && leaks == within) }' "$WORK/err"; then
        skip "$1: no leak" "GSL's own"
    else
        fail "$1: no leak" "$(grep -v '^$' "$WORK/err" | head -n 30)"
    fi
}
# at_place N STEP
at_place() {
    local n=$1 p=$2 status name
    starved "$n" "$p"
    status=$?
    name="$p, place $n ($(sed -n '/ places$/!s/.*(\([a-zA-Z_]*\).*/\1/p' "$WORK/places" |
        grep . | head -n 4 | paste -sd ' '))"
    case $status in
    0) check "$name: went on, to the same files" whole "$p" ;;
    1)
        check "$name: says so" clear_error "$p"
        check "$name: no half-written file" known "$p"
        ;;
    23) leaked "$name" "$n" "$p" ;;
    *) fail "$name: expected status 0 or 1, found $status" "$(tail -n 3 "$WORK/err")" ;;
    esac
    check "$name: nothing temporary" clean "$WORK/run"
}

mkdir "$WORK/before"
provoked=0 left=$(wc -w <<<"$ALLOCS_OF")
for p in $STEPS; do
    [ $left -gt 0 ] || break
    starved 0 "$p"
    check "$p: with all memory" test $? -eq 0
    cp -r "$WORK/run" "$WORK/$p"
    places=$(sed -n 's/ places$//p' "$WORK/places")
    check "$p: places counted" test "${places:-0}" -ge 50
    step=1
    [ "$allocs" = all ] || step=$((places / allocs + 1))
    if [[ " $ALLOCS_OF " = *" $p "* ]]; then
        left=$((left - 1))
    else
        step=$((places + 1))
    fi
    for ((n = step; n <= places; n += step)); do
        at_place "$n" "$p"
        provoked=$((provoked + 1))
    done
    echo "$p: $places places"
    rm -rf "$WORK/before" && cp -r "$WORK/$p" "$WORK/before"
done
echo "memory ran out at $provoked places"
finish
