#!/usr/bin/env bash
# make.sh - puts the page together: make.sh MODULE.wasm PAGE.html. One file: the module (base64),
# lab/page.html, lab/page.css, lab/page.js and lab/module.js stand in it.
set -eu
[ $# -eq 2 ] ||
    { echo "lab/make.sh: error: expected MODULE.wasm PAGE.html, found $# words" >&2; exit 2; }
here=$(dirname "$0")
for file in "$1" "$here"/page.html "$here"/page.css "$here"/module.js "$here"/page.js; do
    [ -s "$file" ] || { echo "lab/make.sh: error: $file: missing or empty" >&2; exit 1; }
done
new=$2.new.$$
trap 'rm -f "$new"' EXIT
while IFS= read -r line; do
    case $line in
    '@page.css@') cat "$here/page.css" ;;
    '@module.js@') cat "$here/module.js" ;;
    '@page.js@') cat "$here/page.js" ;;
    '@module.wasm@') base64 -w 0 "$1" && echo ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$here/page.html" >"$new"
bytes=$(wc -c <"$new")
[ "$bytes" -lt 6000000 ] ||
    { echo "lab/make.sh: error: $2: expected fewer than 6000000 bytes, found $bytes" >&2; exit 1; }
mv "$new" "$2"
