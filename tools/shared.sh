#!/usr/bin/env bash
# shared.sh - makes once what several cells of a grid (cells.sh) have in common, and links it into
# one of them.
#
#   tools/shared.sh CELL SHARED COMMAND...
#
# COMMAND makes SHARED, a run folder, and keeps what is there already: one cell at a time, the
# others wait for it. Data sets and pretrained models of SHARED are then seen in the run folder
# CELL.
set -eu
[ $# -ge 3 ] || {
    echo "shared: error: expected CELL SHARED COMMAND, found \"$*\"" >&2
    exit 2
}
cell=$1 shared=$2
shift 2
mkdir -p "$cell" "$shared"
exec 9>"$shared.lock"
flock 9
"$@" # with the lock, which it keeps to its end whatever becomes of this script
flock -u 9
for made in "$shared/orbits" "$shared"/*/pretrain "$shared"/*/pretrain_planets; do
    link=$cell/${made#"$shared"/}
    [ -d "$made" ] && [ ! -e "$link" ] || continue
    mkdir -p "$(dirname "$link")"
    ln -sfn "$(realpath --relative-to="$(dirname "$link")" "$made")" "$link"
done
