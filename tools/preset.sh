#!/usr/bin/env bash
# preset.sh NAME|FILE.json - for make, before anything is compiled: status 2 and the nearest name
# for a preset that is not there.
set -u
name=$1 near= list=
if [[ $name == *.json ]]; then
    [ -e "$name" ] || { echo "make: error: PRESET: no such file: $name" >&2 && exit 2; }
    exit 0
fi
for folder in ${ORRERY_PRESETS:+"$ORRERY_PRESETS"} presets; do
    [ ! -e "$folder/$name.json" ] || exit 0
done
shopt -s nullglob
for file in "${ORRERY_PRESETS:-presets}"/*.json; do
    file=${file##*/} list+=${list:+, }${file%.json}
done
# the name whose edit distance is least, if that is at most 3 and half of the longer word
near=$(awk -v word="$name" -v list="$list" '
    function least(a, b) { return a < b ? a : b }
    function distance(a, b,    i, j, n, m, row, left, above) {
        n = length(a); m = length(b)
        for (j = 0; j <= m; j++) row[j] = j
        for (i = 1; i <= n; i++) {
            above = row[0]; row[0] = i
            for (j = 1; j <= m; j++) {
                left = above + (substr(a, i, 1) != substr(b, j, 1)); above = row[j]
                row[j] = least(left, least(row[j], row[j - 1]) + 1)
            }
        }
        return row[m]
    }
    BEGIN {
        best = 4
        count = split(list, name, ", ")
        for (k = 1; k <= count; k++) {
            longer = length(word) > length(name[k]) ? length(word) : length(name[k])
            d = distance(word, name[k])
            if (d < best && d <= longer / 2) { best = d; near = name[k] }
        }
        print near
    }' </dev/null)
echo "make: error: PRESET: no preset \"$name\"${near:+ (did you mean \"$near\"?)};" \
    "expected a file ending in .json or one of $list" >&2
exit 2
