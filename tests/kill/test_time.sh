#!/usr/bin/env bash
# test_time.sh - the pipeline of the smoke preset under a wall clock that jumps forth and back
# (jump_clock.c), over files with times of any year, and stopped for a while by SIGSTOP at random
# moments: the same bytes as undisturbed, nothing made twice, limits in real seconds.
#
#   KILLS=n       random stops (default 2; make check-long: 100), moments from the fixed SEED
#   WORLD_SET=    see world.sh
. tests/cli/lib.sh
. tests/kill/world.sh
fast_pictures
STOPS=${KILLS:-2}
SEED=${SEED:-1}
RANDOM=$SEED
session= # of the world under way
at_exit() {
    [ -z "$session" ] || pkill -9 -s "$session"
    [ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null
}

run=$WORK/run/smoke
started=$(now_ms)
for name in $STAGES; do
    check "$name, undisturbed" stage $name "$run"
done
whole_ms=$(($(now_ms) - started))
cp -a "$run" "$WORK/whole"

# ---- the clock jumps
# finite FILE: no duration or rate is below zero, infinite or no number
finite() {
    local below='(^|[^0-9a-z])-[0-9.]+(e[-+][0-9]+)? *(s|min|h|days|years|[a-z]+/s)\>'
    lacks "$below|\<nan\>|\<inf\>" "$1"
}
rates() { # LOG: it has rates of a training, and all of them can be (a step has 328 positions)
    awk '{ while (match($0, /"(tokens_per_s|eta_s)": [^,}]*/)) {
               pair = substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH)
               x = pair; sub(/.*: /, "", x)
               rate = pair ~ /tokens/; n += rate
               if (x !~ /^[0-9.e+-]+$/ || x + 0 < (rate ? 3 : 0) || x + 0 > 1e9) {
                   print pair; bad = 1
               } } }
        END { exit bad || n < 1 }' "$1"
}
forward() { # FILE PROGRAM: the seconds of its trace never go back, and stay small; a report has
    # those of a second program in it, which makes the lab's page
    awk -v others="$([ "$2" = report ] && echo 1 || echo 0)" '
        $1 == "trace" { n++; back += $2 < last; if ($2 > 3600) bad = 1; last = $2 }
        END { exit bad || n < 2 || back > others }' "$1"
}
jumping() { # PROGRAM OPTION...
    local name=$1
    shift
    timeout "$LIMIT" env LD_PRELOAD="$JUMP_CLOCK" JUMP_REPORT="$WORK/jumps" ORRERY_TRACE=1 \
        "$BIN/$name" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
}
if [ ! -e "$JUMP_CLOCK" ]; then
    skip "a clock that jumps" "$JUMP_CLOCK is not there: make check builds it"
else
    rm -rf "$run"
    for name in $STAGES; do
        check "$name, the clock jumps" jumping $name --preset smoke --run "$run" \
            "${settings[@]}" $(on_threads $name 1)
        check "$name, the clock jumps: no time below zero" finite "$WORK/err"
        check "$name, the clock jumps: the trace goes forward" forward "$WORK/err" "$name"
        check "$name, the clock jumps: the clock was there" grep -q " $name\$" "$WORK/jumps"
    done
    check "the clock jumps: the page asked for it" grep -q '^[1-9][0-9]* report$' "$WORK/jumps"
    check "the clock jumps: the same bytes" same_world "$WORK/whole" "$run"
    for log in pretrain/log pretrain_planets/log finetune/magnitude finetune/vector; do
        check "the clock jumps: rates of $log" rates "$run/lssar/$log.jsonl"
    done

    # limits are real seconds: neither at once nor never
    limited() { # LEAST_MS PROGRAM OPTION...: its own limit ends it, and not before
        local least=$1 from
        shift
        from=$(now_ms)
        jumping "$@" && [ $(($(now_ms) - from)) -ge "$least" ]
    }
    check "--minutes 0.01 are 0.6 s" limited 600 pretrain --preset smoke --threads 1 --quiet \
        --attention lssar --orbits "$run/orbits" --set pretrain.steps=4000000 --minutes 0.01 \
        --out "$WORK/limited"
    check "--minutes 0.01 are 0.6 s: which ended it" \
        grep -q 'stopped at step [0-9]* of 4000000' "$WORK/err"

    # a training is followed: its log stays open for a second, and one more is waited for
    if command -v gnuplot >/dev/null; then
        { exec 7>>"$run/lssar/pretrain/log.jsonl"; sleep 1; } &
        holder=$!
        check "losses --follow does not end when the log was let go" timeout "$LIMIT" env \
            JUMP_HOW=back LD_PRELOAD="$JUMP_CLOCK" "$BIN/compare" losses "$run" --follow \
            --every 0.2 --out "$WORK/watch.png" --quiet
        check_not "losses --follow ends before the log was let go" kill -0 $holder
        wait $holder
    fi
fi

# ---- times of files say nothing
for year in 1980 2077; do
    find "$run" -exec touch -d "$year-03-01" {} +
    check "files of $year: nothing is to be done" kept "$run"
done
# some from before what they were made from, some from after it
find "$run" -mindepth 1 >"$WORK/files"
while read -r file; do
    touch -d "$((1980 + RANDOM % 98))-03-01" "$file"
done <"$WORK/files"
snapshot "$run" >"$WORK/before"
make_world "$run" 1
check "files of any time: a world" "${command[@]}"
snapshot "$run" >"$WORK/after"
check "files of any time: a world: which changes nothing" same_file "$WORK/before" "$WORK/after"
check "a setting is noticed, whatever the times" prints '^remake .*laws.json: symreg.maxsize' \
    stage symreg "$run" --plan --set symreg.maxsize=9
table=$run/lssar/finetune/forces_magnitude.csv
cp -p "$table" "$WORK/table"
flip "$table" 300
touch -r "$WORK/table" "$table"
stage symreg "$run" 2>"$WORK/err"
check "a setting is noticed, whatever the times: and a byte, behind the same time and size" \
    grep -q \
    '^symreg: error: .*forces_magnitude.csv.* changed' "$WORK/err"
cp -p "$WORK/table" "$table"

# ---- stopped at random moments, and continued
# world_stopped THREADS STOPS: one world. In turn, its group is stopped, as a shell would, and its
# session, with the jobs that are in groups of their own.
stops=0 worlds=0 in_state_t=0
world_stopped() {
    local most=$((stops + $2)) ms
    make_world "$run" "$1"
    setsid "${command[@]}" >"$WORK/out" 2>"$WORK/err" </dev/null &
    session=$!
    while [ $stops -lt $most ]; do
        ms=$(((RANDOM * 32768 + RANDOM) % (whole_ms / 2 + 1)))
        sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
        kill -0 $session 2>/dev/null || break
        if [ $((stops % 2)) -eq 0 ]; then
            kill -STOP -- -$session
        else
            pkill -STOP -s $session
        fi
        stops=$((stops + 1))
        sleep 0.$((RANDOM % 10)) # (a process that waits for the disk stops after it)
        [[ $(ps -o stat= -p $session) != T* ]] || in_state_t=$((in_state_t + 1))
        sleep $((STOPS < 100 ? 1 : 1 + RANDOM % 4))
        pkill -CONT -s $session
    done
    wait $session
    status=$?
    session=
}
while [ $stops -lt "$STOPS" ] && [ $worlds -lt $((2 * STOPS)) ]; do
    rm -rf "$run"
    worlds=$((worlds + 1))
    world_stopped $((1 + worlds % 2)) $((STOPS - stops))
    check "stopped $stops times so far: status" test $status -eq 0
    check "stopped $stops times so far: the same bytes" same_world "$WORK/whole" "$run"
    check "stopped $stops times so far: nothing temporary" clean "$run"
    for log in "$run"/*/pretrain*/log.jsonl; do
        check "stopped $stops times so far: rates of ${log#"$run/"}" rates "$log"
    done
done
echo "$stops random stops in $worlds worlds of $whole_ms ms, $in_state_t seen to be stopped"
check "as many stops as asked for" test $stops -ge "$STOPS"
check "stops were stops" test $in_state_t -ge $((stops / 2))

# ---- a signal to a program that is stopped acts when it goes on
state() { # LETTER PID...: all are in that state
    local letter=$1 one
    shift
    for one in "$@"; do
        [[ $(ps -o stat= -p "$one") = "$letter"* ]] || return 1
    done
}
lines() {
    [ "$(wc -l <"$1")" -ge "$2" ]
}
for signal in INT TERM; do
    dir=$WORK/late-$signal
    start "$BIN/pretrain" --preset smoke --threads 1 --quiet --attention lssar \
        --orbits "$run/orbits" --set pretrain.steps=4000000 --set pretrain_planets.steps=0 \
        --out "$dir"
    check "$signal while stopped: under way" until_true lines "$dir/log.jsonl" 2
    kill -STOP $pid
    check "$signal while stopped: it is" until_true state T $pid
    kill -$signal $pid
    sleep 0.2
    check "$signal while stopped: waits" state T $pid
    kill -CONT $pid
    { wait $pid; status=$?; } 2>/dev/null
    check "$signal while stopped: then all is saved, status 0" test $status -eq 0
    check "$signal while stopped: says how to go on" grep -q '^resume with: ' "$WORK/err"
    check "$signal while stopped: nothing temporary" clean "$dir"
done

# ---- Ctrl-Z: the jobs of a program stop with it, and go on with it
start setsid "$BIN/pretrain" --preset smoke --threads 2 --quiet --orbits "$run/orbits" \
    --set pretrain.steps=4000000 --set pretrain_planets.steps=0 --run "$WORK/pair"
two_jobs() {
    [ "$(pgrep -P $pid | wc -l)" -eq 2 ]
}
going() {
    local one
    for one in "$@"; do
        ! state T "$one" || return 1
    done
}
both_train() {
    lines "$WORK/pair/softmax/pretrain/log.jsonl" 2 && lines "$WORK/pair/lssar/pretrain/log.jsonl" 2
}
check "Ctrl-Z: two jobs" until_true two_jobs
check "Ctrl-Z: both train" until_true both_train
jobs=$(pgrep -P $pid)
kill -TSTP $pid
check "Ctrl-Z: the program stops, and its jobs" until_true state T $pid $jobs
kill -CONT $pid
check "Ctrl-Z: all go on" until_true going $pid $jobs
kill -TSTP $pid
check "Ctrl-Z: and stop again" until_true state T $pid $jobs
kill -TERM $pid
kill -CONT $pid
{ wait $pid; status=$?; } 2>/dev/null
check "Ctrl-Z: then a signal: status 0, all is saved" test $status -eq 0
gone() {
    ! ps -o pid= -p "${jobs//$'\n'/,}"
}
pid=$$
check "Ctrl-Z: no job is left" until_true gone
pid=
finish
