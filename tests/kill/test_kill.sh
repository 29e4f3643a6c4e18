#!/usr/bin/env bash
# test_kill.sh - a training killed by kill -9, again and again, at random moments and at every write
# to a file: what it ends in is what an undisturbed one ends in, byte for byte.
#
#   KILLS=n   random kills (default 5; make check-long: 100), moments from the fixed SEED; below
#             100, of the kills at every write only each third is done
#
# Trainings take their sequences in turn from files and from the stream. They checkpoint after every
# step, so that many kills arrive while a file is being written; how many did is said at the end.
# The kills at every write are exact: fail_write.c ends the process in the middle of the n-th.
# What cannot be seen here: power loss. A kill leaves what was written to the system, so that a
# missing fsync changes nothing.

# random kills arrive in writing only where that takes time: not in memory
[ "${KILLS:-5}" -lt 100 ] || export TMPDIR=/tmp
. tests/cli/lib.sh
KILLS=${KILLS:-5}
SEED=${SEED:-1}
RANDOM=$SEED

SMOKE=(--preset smoke --threads 1 --quiet --attention lssar --set pretrain_planets.steps=0
       --set pretrain.noise_au=0.05 --set pretrain.ema=0.98 --set pretrain.clip=0.5)
source_options() { # files, stream or muon (from files): sets $source
    source=()
    case $1 in
    stream) source=(--set orbits.train_files=10) ;;
    muon) source=(--set pretrain.optimizer=muon) ;;
    esac
}

# same NAME WHOLE FOUND: the trainings in two folders ended in the same files.
same() {
    local file
    check "$1: status of the last run" test "$status" -eq 0
    check "$1: the same files" same_by files_below "$2" "$3"
    for file in last.safetensors best.safetensors evaluation.json; do
        check "$1: $file" same_file "$2/$file" "$3/$file"
    done
    check "$1: the log" same_by numbers "$2/log.jsonl" "$3/log.jsonl"
}

step_of() {
    [ ! -e "$1" ] && echo 0 && return
    head -c 20000 "$1" | grep -aoE '"step": *"[0-9]+"' | grep -oE '[0-9]+'
}

# ---- random moments
train=(--set pretrain.steps=160 --set pretrain.batch=3 --set pretrain.accumulation=2
       --set pretrain.checkpoint_every=1 --set pretrain.eval_every=3)
declare -A whole_ms
for kind in files stream muon; do
    source_options $kind
    check "$kind: data" program orbits "${SMOKE[@]:0:4}" --quiet "${source[@]}" \
        --out "$WORK/orbits-$kind"
    started=$(date +%s%N)
    check "$kind: never stopped" program pretrain "${SMOKE[@]}" "${train[@]}" "${source[@]}" \
        --orbits "$WORK/orbits-$kind" --out "$WORK/whole-$kind"
    whole_ms[$kind]=$((($(date +%s%N) - started) / 1000000 + 1))
done
check "both sources: the same training" same_by numbers "$WORK/whole-files/log.jsonl" \
    "$WORK/whole-stream/log.jsonl"

kills=0 in_writing=0 trainings=0
# chain KIND DIR: one training, killed until it gets to its end or enough were killed
chain() {
    local kind=$1 dir=$2 ms pid before after legs=0
    source_options "$kind"
    while :; do
        before=$(step_of "$dir/last.safetensors")
        "$BIN/pretrain" "${SMOKE[@]}" "${train[@]}" "${source[@]}" --resume \
            --orbits "$WORK/orbits-$kind" --out "$dir" >"$WORK/out" 2>"$WORK/err" </dev/null &
        pid=$!
        if [ $kills -lt "$KILLS" ] && [ $legs -lt 40 ]; then
            ms=$(((RANDOM * 32768 + RANDOM) % (whole_ms[$kind] / 2)))
            sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
            kill -9 $pid 2>/dev/null
        fi
        wait $pid 2>/dev/null
        status=$?
        [ $status -eq 137 ] || break
        kills=$((kills + 1)) legs=$((legs + 1))
        ! leftovers "$dir" | grep -q . || in_writing=$((in_writing + 1))
        after=$(step_of "$dir/last.safetensors")
        check "kill $kills: $kind: no step is lost" test "$after" -ge "$before"
    done
    [ $status -eq 0 ] || cat "$WORK/err"
}
while [ $kills -lt "$KILLS" ] && [ $trainings -lt $((2 * KILLS)) ]; do
    kinds=(files stream muon)
    kind=${kinds[trainings % 3]}
    chain $kind "$WORK/killed"
    trainings=$((trainings + 1))
    same "training $trainings, $kind, $kills kills so far" "$WORK/whole-$kind" "$WORK/killed"
    rm -rf "$WORK/killed"
done
echo "$kills random kills in $trainings trainings; $in_writing left a half-written file"
check "as many kills as asked for" test $kills -ge "$KILLS"
[ "$KILLS" -lt 100 ] || check "kills arrived in writing" test $in_writing -gt 0

# ---- every write
if [ ! -e "$FAIL_WRITE" ]; then
    skip "a kill at every write" "$FAIL_WRITE is not there: make check builds it"
    finish
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
short=(--set pretrain.steps=4 --set pretrain.batch=3 --set pretrain.checkpoint_every=2
       --set pretrain.eval_every=2 --orbits "$WORK/orbits-files")
short() { # RUN [OPTION...]
    "$BIN/pretrain" "${SMOKE[@]}" "${short[@]}" --run "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
}
counted=$WORK/counted
check "never stopped, counted" env LD_PRELOAD="$FAIL_WRITE" FAIL_REPORT="$counted" \
    "$BIN/pretrain" "${SMOKE[@]}" "${short[@]}" --run "$WORK/short"
writes=$(wc -l <"$counted")
check "operations counted" test "$writes" -ge 30
left=0 tried=0 every=3
[ "$KILLS" -lt 100 ] || every=1
for ((n = 1 + SEED % every; n <= writes; n += every)); do
    tried=$((tried + 1))
    operation=$(sed -n "${n}p" "$counted" | sed 's|[^ ]*/||; s|\.[0-9]*\.orrery-partial||')
    (LD_PRELOAD=$FAIL_WRITE FAIL_AT=$n FAIL_HOW=kill short "$WORK/killed") 2>/dev/null
    check "killed at operation $operation" test $? -eq 137
    ! leftovers "$WORK/killed" | grep -q . || left=$((left + 1))
    short "$WORK/killed" --resume
    status=$?
    same "killed at operation $operation" "$WORK/short/lssar/pretrain" \
        "$WORK/killed/lssar/pretrain"
    check "killed at operation $operation: nothing temporary" clean "$WORK/killed"
    check "killed at operation $operation: preset.json" \
        same_file "$WORK/short/preset.json" "$WORK/killed/preset.json"
    rm -rf "$WORK/killed"
done
echo "$tried kills at $writes operations on files; $left left a half-written file"
check "kills arrived in writing" test $left -ge $((tried / 2))
finish
