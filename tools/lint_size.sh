#!/usr/bin/env bash
# lint_size.sh FOLDER... - at most 800 lines a file of C, Python, shell or gnuplot, and 100 columns
# a line, but for gnuplot and tables of one-line rows, which may be wider. Prints one line per
# complaint; exit status 1 when there is one.
set -u
failures=0
complain() {
    echo "$*"
    failures=$((failures + 1))
}
while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 800 ] || complain "$file: $lines lines, more than 800"
    case $file in *.gp) continue ;; esac
    ! grep -q 'clang-format of[f]' "$file" || continue
    long=$(awk 'length > 100 { print FNR; exit }' "$file")
    [ -z "$long" ] || complain "$file:$long: longer than 100 columns"
done < <(find "$@" \( -name '*.[ch]' -o -name '*.gp' -o -name '*.sh' -o -name '*.py' \) | sort)
[ $failures -eq 0 ]
