#!/usr/bin/env bash
# test_nfs.sh - a world on a file system like NFS, whose answers are lost after the server has done
# what it was asked, where files that are open stay under another name, and nothing can be locked
# (nfs_like.c): the same bytes, nothing else in the folder; and a rename that really did nothing is
# an error.
#
#   WORLD_SET=    see world.sh
. tests/cli/lib.sh
. tests/kill/world.sh
if [ ! -e "$NFS_LIKE" ]; then
    skip "a file system like NFS" "$NFS_LIKE is not there: make check builds it"
    finish
fi
# on_nfs COMMAND...: the command and what it starts
on_nfs() {
    LD_PRELOAD=$NFS_LIKE NFS_REPORT=$WORK/report "$@"
}
# the same folder for both: a page names it. With data sets in several files, made by parts, and
# checkpoints under names of their own
run=$WORK/run/smoke
settings+=(--set orbits.shard_sequences=100 --set pretrain.steps=6 --set pretrain.keep=2
           --set pretrain.keep_every=2)
make_all() { # [on_nfs]
    local name part
    for part in 1/2 2/2; do
        "$@" stage orbits "$run" --part $part || return 1
    done
    for name in $STAGES; do
        "$@" stage "$name" "$run" || return 1
    done
}
check "on a disk" make_all
mv "$run" "$WORK/whole"
check "on a file system like NFS" make_all on_nfs
check "on a file system like NFS: the same bytes" same_world "$WORK/whole" "$run"
check "on a file system like NFS: nothing temporary" clean "$run"
find "$run" -name '.nfs*' >"$WORK/silly"
check "on a file system like NFS: nothing under a name of NFS" test ! -s "$WORK/silly"
check "on a file system like NFS: and nothing is left to do" kept "$run"
for name in $STAGES; do
    check "on a file system like NFS: $name lost answers" awk -v name="$name" \
        '$4 == name { lost += $1 } END { exit !lost }' "$WORK/report"
    check "on a file system like NFS: and locks were refused to $name" awk -v name="$name" \
        '$4 == name { refused += $3 } END { exit !refused }' "$WORK/report"
done

# ---- a search goes on and ends beside the checkpoint that it went on from; data sets are replaced
check "data sets of other settings" on_nfs stage orbits "$run" --force --set orbits.train=64
check "data sets of other settings: as on a disk" \
    stage orbits "$WORK/whole" --force --set orbits.train=64
check "data sets of other settings: the same bytes" same_files "$WORK/whole/orbits" "$run/orbits"

# ---- a name that somebody else has taken away is an error, and not an answer that was lost
KEEP=$WORK/nowhere
gone() { # PROGRAM FOLDER OPTION...
    local name=$1 folder=$2
    shift 2
    refuse "$name: a rename of nothing" 1 "$folder" 'cannot give a file this name' \
        'No such file or directory' -- env LD_PRELOAD="$NFS_LIKE" NFS_HOW=gone "$BIN/$name" \
        --preset smoke --run "$WORK/whole" "${settings[@]}" --quiet "$@"
    check "$name: a rename of nothing: nothing temporary" clean "$WORK/whole"
}
gone orbits "$WORK/whole" --force --seed 4
check "data sets again" stage orbits "$WORK/whole" --force
gone pretrain "$WORK/whole" --set pretrain.lr=0.01 --force
rm "$WORK/whole/report.made.json"
gone report "$WORK/whole"
finish
