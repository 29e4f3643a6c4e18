#!/usr/bin/env bash
# test_parts.sh - data sets in parts: what counts as a part, what stays beside them, and how much
# space on the disk they need. tests/cli/test_orbits.sh has that the bytes are those of one process.
. tests/cli/mounts.sh
. tests/cli/lib.sh
fast_pictures

DATA=(--preset smoke --threads 1 --set orbits.shard_sequences=50)
orbits() {
    program orbits "${DATA[@]}" --quiet "$@"
}
check "never in parts" orbits --out "$WORK/whole"

# ---- one part is the whole; numbers of parts
check "part 1/1" orbits --out "$WORK/one" --part 1/1
check "part 1/1: is the whole" same_files "$WORK/whole" "$WORK/one"
check "part 1/1: which is complete" prints 'up to date' \
    program orbits "${DATA[@]}" --out "$WORK/one"
KEEP=$WORK/one
for wrong in 4294967297/4294967298 1/4294967297 99999999999999999999/99999999999999999999 \
             1/100000 +1/2; do
    refuse "--part $wrong" 2 I/N 99999 -- "$BIN/orbits" "${DATA[@]}" --out "$WORK/wrong" \
        --part "$wrong"
done

# ---- sets that the settings do not ask for stay, whole or in part
few=$WORK/few
check "part 1/2 of few" orbits --out "$few" --part 1/2
listed=$(cd "$few" && cksum *planets*.npy)
check "the rest, without planets" orbits --set planets.enabled=false --out "$few"
check "the rest, without planets: their files stay" \
    equal "$listed" "$(cd "$few" && cksum *planets*.npy)"
check "the rest, without planets: the others are whole" \
    orbits --set planets.enabled=false --out "$few" --plan
check "with planets" orbits --out "$few"
check "with planets: the same files" same_files "$WORK/whole" "$few"

# ---- damaged files of a part
bad=$WORK/bad
check "part 1/2 of bad" orbits --out "$bad" --part 1/2
flip "$bad/coords_train-00002-of-00008.npy" 5000
flip "$bad/num_bodies_val.npy" 130
check "part 2/2, which reads no sums" orbits --out "$bad" --part 2/2
KEEP=$bad refuse "part 2/2, which reads no sums: verify does" \
    1 coords_train-00002-of-00008 'checksum expected' -- \
    "$BIN/orbits" verify "$bad"
check "--force makes both again" orbits --out "$bad" --force
check "--force makes both again: to the same bytes" same_files "$WORK/whole" "$bad"

# ---- a part that is killed, or whose disk is full, at any write: the same command goes on
FAIL_WRITE=${FAIL_WRITE:-build/tests/fail_write.so}
if [ -e "$FAIL_WRITE" ]; then
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
    check "writes are counted" env LD_PRELOAD="$FAIL_WRITE" FAIL_REPORT="$WORK/counted" \
        "$BIN/orbits" "${DATA[@]}" --quiet --out "$WORK/counting" --part 1/2
    writes=$(wc -l <"$WORK/counted") how=kill
    check "writes are counted: some hundred" test "$writes" -ge 200
    for ((n = 3; n <= writes; n += 37)); do
        ended=$WORK/ended-$n
        [ $how = full ] || check "part 2/2 before the end at $n" orbits --out "$ended" --part 2/2
        { (LD_PRELOAD=$FAIL_WRITE FAIL_AT=$n FAIL_HOW=$how "$BIN/orbits" "${DATA[@]}" --quiet \
            --out "$ended" --part 1/2 </dev/null); } >"$WORK/out" 2>&1
        check_not "ended at write $n: $how" test $? -eq 0
        check "ended at write $n: $how: goes on" orbits --out "$ended" --part 1/2
        [ $how = kill ] || check "part 2/2 after the end at $n" orbits --out "$ended" --part 2/2
        check "ended at write $n: $how: to the same bytes" same_files "$WORK/whole" "$ended"
        rm -rf "$ended"
        [ $how = kill ] && how=full || how=kill
    done
else
    skip "parts that end at any write" "$FAIL_WRITE is not there: make check builds it"
fi

# ---- space on the disk
if [ "$MOUNTS" != yes ]; then
    skip "parts on a disk with little space" "this user may not mount one"
    finish
fi
disk=$WORK/disk
LARGE=(--set orbits.shard_sequences=200 --set orbits.train=3000 --set orbits.train_files=3000)
check "a disk with room for half of the sets" room 2200k
KEEP=$disk
refuse "all of them" 1 'GB needed' 'GB free' -- "$BIN/orbits" "${DATA[@]}" "${LARGE[@]}" \
    --out "$disk/sets"
check "part 1/2" orbits "${LARGE[@]}" --out "$disk/sets" --part 1/2
check "part 1/2: again" orbits "${LARGE[@]}" --out "$disk/sets" --part 1/2
refuse "no room for part 2/2" 1 'GB needed' 'GB free' -- "$BIN/orbits" "${DATA[@]}" "${LARGE[@]}" \
    --out "$disk/sets" --part 2/2
check "room for it" room 3400k
check "part 2/2, with room" orbits "${LARGE[@]}" --out "$disk/sets" --part 2/2
check "part 2/2, with room: whole" program orbits verify "$disk/sets"
finish
