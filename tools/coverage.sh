#!/usr/bin/env bash
# coverage.sh BUILD - the lines that the tests of a build with --coverage ran, as a table of folders
# and submodules; BUILD/coverage/lines has each file, BUILD/coverage/missed each line that was not
# run.
# A line counts once, also of a loop file that was compiled for several instruction sets.
set -u
build=$1
out=$build/coverage
gcov=${GCOV:-gcov}
mkdir -p "$out" || exit 1
mapfile -t notes < <(find "$build" -name '*.gcno')
[ ${#notes[@]} -gt 0 ] || { echo "coverage: error: $build: no build with --coverage" >&2; exit 1; }
for note in "${notes[@]}"; do
    "$gcov" -t -r "$note" 2>/dev/null
done | awk -F: '
    { count = $1; gsub(/[ *]/, "", count); at = $2 + 0 }
    $2 ~ /^ *0$/ { if ($3 == "Source") file = $4; next }
    file !~ /^(tests|bench|study\/tests)\// && count != "-" {
        if (!((file, at) in lines)) { lines[file, at] = 1; total[file]++ }
        if (count !~ /^[#=]/ && !((file, at) in hit)) { hit[file, at] = 1; covered[file]++ }
    }
    END {
        for (file in total)
            print file, covered[file] + 0, total[file] >LINES
        for (key in lines)
            if (!(key in hit)) { split(key, part, SUBSEP); print part[1] ":" part[2] >MISSED }
    }' LINES="$out/lines" MISSED="$out/missed"
[ -s "$out/lines" ] || { echo "coverage: error: $gcov found no line" >&2; exit 1; }
sort -o "$out/lines" "$out/lines"
touch "$out/missed"
sort -t: -k1,1 -k2,2n -o "$out/missed" "$out/missed"
printf '%-18s %8s %8s %7s\n' folder lines covered share
awk '
    { place = $1; sub(/\/[^\/]*$/, "", place); covered[place] += $2; total[place] += $3 }
    END {
        for (place in total) print place, total[place], covered[place] | "sort"
        close("sort")
        for (place in total) { all += total[place]; seen += covered[place] }
        print "all", all, seen
    }' "$out/lines" | awk '{ printf "%-18s %8d %8d %6.1f%%\n", $1, $2, $3, 100 * $3 / $2 }'
echo "files: $out/lines, lines that no test ran: $out/missed"
