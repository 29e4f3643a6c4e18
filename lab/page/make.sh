#!/usr/bin/env bash
# make.sh - puts the page together: make.sh MODULE.txt RUN PAGE.html. One file: the module as
# pack.c writes it, the sources of this folder, and the networks of RUN, another page
# (docs/lab.html) or "none". Lines @NAME@ of page.html are replaced.
set -eu
fail() {
    echo "lab/page/make.sh: error: $2" >&2
    exit "$1"
}
[ $# -eq 3 ] ||
    fail 2 "expected MODULE.txt RUN PAGE.html, found $# words"
here=$(dirname "$0")
scripts=(state ask throw networks find stories)
for file in "$1" "$here"/page.html "$here"/page.css "$here"/module.js "${scripts[@]/#/$here/}"; do
    [ -s "$file" ] || [ -s "$file.js" ] ||
        fail 1 "$file: missing or empty"
done
new=$3.new.$$
trap 'rm -f "$new"' EXIT
while IFS= read -r line; do
    case $line in
    '@page.css@') cat "$here/page.css" ;;
    '@module.js@') cat "$here/module.js" ;;
    '@page.js@') for script in "${scripts[@]}"; do cat "$here/$script.js"; done ;;
    '@module.wasm@') cat "$1" && echo ;;
    '@run@')
        if [ "$2" = none ]; then
            echo '{"networks":[]}'
        else
            sed -n '/ id="run">$/{n;p;q}' "$2"
        fi
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$here/page.html" >"$new"
bytes=$(wc -c <"$new")
[ "$bytes" -lt 6000000 ] ||
    fail 1 "$3: expected fewer than 6000000 bytes, found $bytes"
mv "$new" "$3"
