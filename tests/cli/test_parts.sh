#!/usr/bin/env bash
# test_parts.sh - data sets in parts: what counts as a part, what putting them together may remove,
# and how much room they need. tests/cli/test_orbits.sh has that the bytes are those of one process.
. tests/cli/mounts.sh
. tests/cli/lib.sh

DATA=(--preset smoke --threads 1 --set orbits.shard_sequences=50)
orbits() {
    program orbits "${DATA[@]}" --quiet "$@"
}
check "never in parts" orbits --out "$WORK/whole"

# ---- one part is the whole; numbers of parts
check "part 1/1" orbits --out "$WORK/one" --part 1/1
check "... is the whole" same_files "$WORK/whole" "$WORK/one"
check "... which is complete" prints 'up to date' \
    program orbits "${DATA[@]}" --out "$WORK/one"
KEEP=$WORK/one
for wrong in 4294967297/4294967298 1/4294967297 99999999999999999999/99999999999999999999 \
             1/100000 +1/2; do
    refuse "--part $wrong" 2 I/N 99999 -- "$BIN/orbits" "${DATA[@]}" --out "$WORK/wrong" \
        --part "$wrong"
done
check "... as a folder" mkdir -p "$WORK/folders/parts/4294967297-of-4294967298"
check "... is no part" orbits --out "$WORK/folders"
check "... and stays" rmdir "$WORK/folders/parts/4294967297-of-4294967298"
finish
