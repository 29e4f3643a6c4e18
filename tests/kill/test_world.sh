#!/usr/bin/env bash
# test_world.sh - `make world PRESET=smoke`, killed by kill -9 with everything that it has started,
# again and again, at random moments: the same command, given again at once, ends in the bytes of a
# world that was never disturbed, and in no other file.
#
# One stage may take nearly all of the time, so that moments drawn from the time of the world would
# leave out the others. Three of four commands therefore aim at a stage: they are killed at a random
# moment of the time that it took undisturbed, counted from when it is seen to run; each world aims
# at each stage never, once or twice. The fourth dies at any moment, also between stages, in the
# first half of the time of a whole world; where the machine becomes slower or faster, that time
# follows.
#
#   KILLS=n       random kills (default 2; make check-long: 100), moments from the fixed SEED
#   WORLD_SET=    see world.sh
#
# One thread and two in turn. With two, models of the run are trained side by side by processes in
# groups of their own, which hear of the kill by the end of their caller, and still hold locks for
# a moment. What cannot be seen here: power loss.
. tests/cli/lib.sh
. tests/kill/world.sh
fast_pictures
KILLS=${KILLS:-2}
SEED=${SEED:-1}
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
    counting=(LD_PRELOAD="$FAIL_WRITE" FAIL_REPORT="$WORK/operations")
# what of the world is running: its program, or make between two
stage_of() { # GROUP
    local pid name
    pgrep -lg "$1" >"$WORK/.group" # none: it has ended
    while read -r pid name; do
        [[ " $STAGES " != *" $name "* ]] || { echo "$name" && return; }
    done <"$WORK/.group"
    echo make
}
# never_disturbed: its time is $whole_ms, that of its stages in $took_ms
declare -A took_ms=()
never_disturbed() {
    local where now since started
    started=$(now_ms) since=$(now_ms)
    setsid env "${counting[@]}" "${command[@]}" >"$WORK/out" 2>"$WORK/err" </dev/null &
    group=$!
    while kill -0 $group 2>/dev/null; do
        where=$(stage_of $group)
        now=$(now_ms)
        took_ms[$where]=$((${took_ms[$where]:-0} + now - since))
        since=$now
        sleep 0.02
    done
    wait $group
    status=$?
    group=
    whole_ms=$(($(now_ms) - started))
}
never_disturbed
check "never disturbed" equal 0 "$status$(grep error: "$WORK/err")"
mv "$run" "$WORK/whole"

# How many kills of this world are still to be aimed at a stage. One that is done is no aim.
declare -A aims=()
draw_aims() {
    local name
    for name in $STAGES; do
        aims[$name]=$((RANDOM % 3))
    done
}
all_done_before() { # STAGE
    local name
    [ "$1" != make ] || return 0
    for name in $STAGES; do
        [ $name != "$1" ] || return 0
        aims[$name]=0
    done
}
next_aim() {
    local name
    for name in $STAGES; do
        [ ${aims[$name]} -eq 0 ] || { echo $name && return; }
    done
}
below() { # N: a random number
    echo $(((RANDOM * 32768 + RANDOM) % ($1 + 1)))
}
sleep_ms() {
    sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
}
# until_aim: waits for the next stage to aim at and for a moment of it; at once when none is left,
# or when the world has ended
until_aim() {
    local aim where
    while aim=$(next_aim) && [ -n "$aim" ] && kill -0 $group 2>/dev/null; do
        where=$(stage_of $group)
        if [ "$where" = "$aim" ]; then
            aims[$aim]=$((aims[$aim] - 1))
            sleep_ms $(below ${took_ms[$aim]:-0})
            return 0
        fi
        all_done_before "$where"
        sleep 0.02
    done
    return 1
}

declare -A killed_in=()
kills=0 worlds=0 in_writing=0 most_ms=$((whole_ms / 2))
# chain THREADS: one world, killed until it gets to its end or enough were killed
chain() {
    local threads=$1 legs=0 how where
    make_world "$run" "$threads"
    draw_aims
    while :; do
        setsid "${command[@]}" >"$WORK/out" 2>"$WORK/err" </dev/null &
        group=$! where= how=aim
        [ $((RANDOM % 4)) -ne 0 ] || how=any
        if [ $kills -lt "$KILLS" ] && [ $legs -lt 40 ]; then
            if [ $how = any ]; then
                sleep_ms $(below $most_ms)
            fi
            if [ $how = any ] || until_aim; then
                where=$(stage_of $group)
                kill -9 -- -$group 2>/dev/null
            fi
        fi
        wait $group 2>/dev/null
        status=$?
        if [ $status -ne 137 ]; then
            [ $how = aim ] || most_ms=$((most_ms * 2 / 3))
            break
        fi
        [ $how$where != anymake ] || most_ms=$((most_ms * 4 / 3))
        all_done_before $where
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
    (LD_PRELOAD=$FAIL_WRITE FAIL_AT=${last%% *} FAIL_HOW=kill \
        stage report "$run" >"$WORK/out") 2>/dev/null
    check "killed at the record of the report" test $? -eq 137
    leftovers "$run" | sed 's|.*/||; s|[0-9]\{1,\}|N|' >"$WORK/left"
    check "killed at the record of the report: which is all that is left to do" \
        equal report.made.json.N.orrery-partial \
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
