#!/usr/bin/env bash
# sweep.sh - runs the cells of a grid (cells.sh) on this machine, JOBS (all cores) at a time.
#
#   tools/sweep.sh GRID
#
# Every cell writes <its folder>.log. A cell that fails is named at the end with its log, the others
# go on; status 1 then. What is complete is kept, so that the same command goes on after a stop. A
# cell that another sweep of this machine is making is waited for.
set -u
grid=${1-}
if [ -z "$grid" ] || [ $# -ne 1 ]; then
    echo "sweep: error: which grid? make sweep GRID=presets/grids/NAME.grid" >&2
    exit 2
fi
here=$(dirname "$0")
jobs=${JOBS:-$(nproc)}
if [[ ! $jobs =~ ^[1-9][0-9]*$ ]]; then
    echo "sweep: error: JOBS: expected a whole number from 1 on, found \"$jobs\"" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-sweep-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
child=
stop() { # with the cells, which save
    trap '' INT TERM
    kill -TERM -- "-$child" 2>/dev/null # a group of its own: make, shells, programs
    while [ -n "$child" ] && kill -0 -- "-$child" 2>/dev/null; do
        sleep 0.1
    done
    exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM
"$here/cells.sh" "$grid" >"$work/commands" || exit
"$here/cells.sh" "$grid" --folders >"$work/folders" || exit
count=$(wc -l <"$work/commands")
cat >"$work/one.sh" <<'END'
folder=$(sed -n "$1p" "$2/folders")
fail() { # NUMBER MESSAGE: what the sweep says of the cell at its end
    echo "$2" >"$SWEEP/failed.$1"
    echo "sweep: $folder: failed"
}
# a lock until the last program of the cell has ended, whatever becomes of the sweep
if ! { mkdir -p -- "$(dirname -- "$folder")" && exec 8>"$folder.lock" &&
    : >>"$folder.log"; } 2>"$2/why.$1"; then
    why=$(tail -n 1 "$2/why.$1")
    fail "$1" "${why#*: line *: }"
    exit 0
fi
if ! flock -n 8; then
    echo "sweep: $folder: another sweep makes it, waiting"
    flock 8
fi
read -r start _ </proc/uptime # goes on when the clock is set; $SECONDS does not
if sed -n "$1p" "$2/commands" | sh >"$folder.log" 2>&1; then
    times >"$2/times.$1" # not in $(...), which has none of the cell's
    cpu=$(tail -n 1 "$2/times.$1")
    read -r end _ </proc/uptime
    echo "sweep: $folder ($((${end%.*} - ${start%.*})) s, CPU ${cpu/ / + })"
else
    fail "$1" "$folder.log: $(tail -n 1 "$folder.log")"
fi
END
{
    echo "all: $(seq -f cell%g -s ' ' "$count")"
    echo 'cell%: ; @bash "$$SWEEP/one.sh" $* "$$SWEEP"'
} >"$work/Makefile"
export SWEEP=$work
MAKEFLAGS='' setsid make --no-print-directory -f "$work/Makefile" -j "$jobs" all &
child=$!
wait $child || exit
failed=("$work"/failed.*)
[ -e "${failed[0]}" ] || exit 0
echo "sweep: error: $grid: ${#failed[@]} of $count cells failed:" >&2
for file in "${failed[@]}"; do
    echo "  $(cat "$file")" >&2
done
exit 1
