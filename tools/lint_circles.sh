#!/usr/bin/env bash
# lint_circles.sh BUILD FOLDER... - in these folders no source files need each other in a circle, by
# the symbols of their object files: each can be read, and moved, after those that it uses. Prints
# one line per circle that tsort finds; exit status 1 when there is one.
set -u -o pipefail
build=$1
shift
failures=0
for folder; do
    objects=()
    for source in "$folder"/*.c; do
        object=$build/${source%.c}.o
        # (loops are compiled for each instruction set)
        [ -e "$object" ] || object=$build/isa/plain/${source%.c}.o
        objects+=("$object")
    done
    # pairs "A B": A needs a symbol that B defines
    pairs=$(nm -A -g -- "${objects[@]}" 2>/dev/null | awk '
        { object = $1; sub(/:.*/, "", object); sub(/\.o$/, ".c", object); sub(/.*\//, "", object) }
        $(NF - 1) !~ /^[Uvw]$/ { owner[$NF] = object; next }
        { needs[object " " $NF] }
        END {
            for (need in needs) {
                split(need, part, " ")
                if (part[2] in owner)
                    print part[1], owner[part[2]]
            }
        }' | sort -u) || { echo "$folder: its object files are not in $build"; failures=1; }
    while IFS= read -r circle; do
        echo "$folder: a circle of files: $circle"
        failures=$((failures + 1))
    done < <(tsort <<<"$pairs" 2>&1 >/dev/null |
        awk '/loop:$/ { if (n++) print line; line = ""; next }
             { line = line (line == "" ? "" : " ") $2 } END { if (n) print line }')
done
[ "$failures" -eq 0 ]
