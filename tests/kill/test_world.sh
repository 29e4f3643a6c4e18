#!/usr/bin/env bash
# test_world.sh - `make world PRESET=smoke`, killed by kill -9 with everything that it has started,
# again and again, at random moments: the same command, given again at once, ends in the bytes of a
# world that was never disturbed, and in no other file. A command lives for half of the time of a
# whole world at most, so that a world is killed in several of its stages on the way to its end;
# where the machine becomes slower or faster, that time follows.
#
#   KILLS=n       random kills (default 2; make check-long: 100), moments from the fixed SEED
#   WORLD_SET=    see world.sh
#
# One thread and two in turn. With two, models of the run are trained side by side by processes in
# groups of their own, which hear of the kill by the end of their caller, and still hold locks for
# a moment. What cannot be seen here: power loss.
. tests/cli/lib.sh
. tests/kill/world.sh
KILLS=${KILLS:-2}
SEED=${SEED:-1}
FAIL_WRITE=${FAIL_WRITE:-build/tests/fail_write.so}
RANDOM=$SEED
group= # of the world under way
at_exit() {
    [ -z "$group" ] || kill -9 -- -"$group" 2>/dev/null
}

# The same folder for all: a page and some messages name it.
run=$WORK/run/smoke
make_world "$run" 1
counting=()
[ ! -e "$FAIL_WRITE" ] ||
    counting=(LD_PRELOAD="$(realpath "$FAIL_WRITE")" FAIL_REPORT="$WORK/operations")
started=$(now_ms)
check "never disturbed" env "${counting[@]}" "${command[@]}"
whole_ms=$(($(now_ms) - started))
mv "$run" "$WORK/whole"

# what of the world was running: its program, or make between two
declare -A killed_in=()
stage_of() { # GROUP
    local pid name
    for pid in $(pgrep -g "$1"); do
        name=$(cat "/proc/$pid/comm" 2>/dev/null)
        [[ " $STAGES " != *" $name "* ]] || { echo "$name" && return; }
    done
    echo make
}
kills=0 worlds=0 in_writing=0 most_ms=$((whole_ms / 2 + 1))
# chain THREADS: one world, killed until it gets to its end or enough were killed
chain() {
    local threads=$1 legs=0 ms where
    make_world "$run" "$threads"
    while :; do
        setsid "${command[@]}" >"$WORK/out" 2>"$WORK/err" </dev/null &
        group=$!
        if [ $kills -lt "$KILLS" ] && [ $legs -lt 40 ]; then
            ms=$(((RANDOM * 32768 + RANDOM) % most_ms))
            sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
            where=$(stage_of $group)
            kill -9 -- -$group 2>/dev/null
        fi
        wait $group 2>/dev/null
        status=$?
        [ $status -eq 137 ] || { most_ms=$((most_ms * 2 / 3 + 1)) && break; }
        [ $where != make ] || most_ms=$((most_ms * 4 / 3))
        kills=$((kills + 1)) legs=$((legs + 1))
        killed_in[$where]=$((${killed_in[$where]:-0} + 1))
        [ ! -d "$run" ] || ! leftovers "$run" | grep -q . || in_writing=$((in_writing + 1))
    done
    group=
    check "world $worlds, $threads threads, $legs kills: the last command ends well" \
        equal 0 "$status$(grep error: "$WORK/err")"
}
while [ $kills -lt "$KILLS" ] && [ $worlds -lt $((2 * KILLS)) ]; do
    worlds=$((worlds + 1))
    chain $((1 + worlds % 2))
    check "world $worlds: the same bytes" same_world "$WORK/whole" "$run"
    check "world $worlds: nothing temporary" clean "$run"
    check "world $worlds: nothing is left to do" kept "$run"
    rm -rf "$run"
done
# a report writes last that it is whole, when nothing else is left to do: killed there, its working
# folder is gone, and what a kill after that finds is whole
if [ -e "$FAIL_WRITE" ]; then
    cp -a "$WORK/whole" "$run"
    rm "$run/report.made.json"
    last=$(grep ' rename .*/report.made.json$' "$WORK/operations" | tail -n 1)
    (LD_PRELOAD=$(realpath "$FAIL_WRITE") FAIL_AT=${last%% *} FAIL_HOW=kill \
        stage report "$run" >"$WORK/out") 2>/dev/null
    check "killed at the record of the report" test $? -eq 137
    leftovers "$run" | sed 's|.*/||; s|[0-9]\{1,\}|N|' >"$WORK/left"
    check "... which is all that is left to do" equal report.made.json.N.orrery-partial \
        "$(cat "$WORK/left")"
fi

for where in make $STAGES; do
    printf '%s %d, ' $where "${killed_in[$where]:-0}"
done
echo "$kills random kills in $worlds worlds; $in_writing left something half-made"
check "as many kills as asked for" test $kills -ge "$KILLS"
if [ "$KILLS" -ge 100 ]; then # (make takes its time between stages, too)
    for where in $STAGES; do
        check "kills arrived in $where" test "${killed_in[$where]:-0}" -gt 0
    done
    check "kills arrived in writing" test $in_writing -gt 0
fi
finish
