#!/usr/bin/env bash
# lint_tracked.sh [MOST] - what git keeps is small: at most MOST bytes in all, which each clone and
# archive has, and at most 500,000 a file but for those of the table below, each with a bound and
# why it is that large. Compress what programs and people do not read as it is: long results
# .gz, tables of results and golden vectors .xz; pictures of gnuplot have palettes.
# A bound is at most 5/4 of its file, and HACKING.md says how much git keeps, by 0.2 MB.
# Run from the root of a checkout; says nothing where there is none (an archive of `make dist`).
# Prints one line per complaint; exit status 1 when there is one.
set -u
most=${1:-18000000}
each=500000
document=${DOCUMENT:-HACKING.md}
# file, its bound, reason
large=${LARGE_FILES:-'docs/lab.html 1500000 one page without a server: module and networks
study/cells.csv.xz 1000000 results of 576 files, each claim is judged by
docs/example/report.html 1100000 one page with its 15 pictures'}
failures=0
complain() {
    echo "$*"
    failures=$((failures + 1))
}
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || exit 0
declare -A bound
while read -r file most_bytes reason; do
    bound[$file]=$most_bytes
    [ -n "$reason" ] || complain "tools/lint_tracked.sh: $file has no reason"
    [ -e "$file" ] && [ "$(wc -c <"$file")" -gt $each ] ||
        complain "tools/lint_tracked.sh: $file is not larger than $each bytes: no row for it"
    [ ! -e "$file" ] || [ "$most_bytes" -le $(($(wc -c <"$file") * 5 / 4)) ] ||
        complain "tools/lint_tracked.sh: $file: a bound of $most_bytes bytes is more than 5/4 of it"
done <<<"$large"
sum=0
while read -r bytes file; do
    sum=$((sum + bytes))
    [ "$bytes" -le "${bound[$file]:-$each}" ] ||
        complain "$file: $bytes bytes, more than ${bound[$file]:-$each}"
done < <(git ls-files -z | xargs -0 -r stat -c '%s %n' 2>/dev/null)
[ $sum -le "$most" ] || complain "tracked files have $sum bytes, more than $most"
# what the document says of it, by 0.2 MB
said=$(sed -n 's/^Git keeps \([0-9.]*\) MB .*/\1/p' "$document")
awk -v said="$said" -v sum=$sum 'BEGIN { d = said - sum / 1e6; exit d * d > 0.04 }' ||
    complain "$document: git keeps \"$said\" MB; it has $sum bytes"
[ $failures -eq 0 ]
