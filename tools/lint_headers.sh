#!/usr/bin/env bash
# lint_headers.sh BUILD - every function and object that a header declares is implemented by a
# source file beside the header: of the same submodule, or, for a header of a folder itself, of the
# folder or one of its submodules. Reads the object files in BUILD. Prints one line per complaint;
# exit status 1 when there is one.
#
# FOLDERS_TABLE=file: the table as `make -s print-folders` prints it (default: asks make).
set -u
build=$1
failures=0
complain() {
    echo "$*"
    failures=$((failures + 1))
}
places=$(if [ -n "${FOLDERS_TABLE:-}" ]; then cat "$FOLDERS_TABLE"; else
    MAKEFLAGS= make -s --no-print-directory print-folders; fi | awk '{ print $2 }')
here=$(dirname "$0")
headers=0
for place in $places; do
    source=$place # headers alone: for a user's convenience, of what the folder above implements
    compgen -G "$place/*.c*" >/dev/null || source=${place%/*}
    # loop files are compiled once per instruction set; definitions of CUDA sources begin a line
    mapfile -t objects < <(find "$build/$source" "$build"/isa/*/"$source" \
        "$build"/isa/*/"$source.o" -name '*.o' 2>/dev/null)
    defined=" $([ ${#objects[@]} -eq 0 ] || nm -g --defined-only "${objects[@]}" 2>/dev/null |
        awk 'NF == 3 { print $3 }' | sort -u | tr '\n' ' ') "
    defined+="$(find "$source" -name '*.cu' -exec cat {} + |
        sed -nE 's/^[a-z].*[ *](k_[a-z0-9_]+)( = .*|\([^;]*)$/\1/p' | tr '\n' ' ') "
    for header in "$place"/*.h; do
        [ -e "$header" ] || continue
        headers=$((headers + 1))
        while read -r name; do
            [[ $defined == *" $name "* ]] ||
                complain "$header: declares $name, which no source file of $source implements"
        done < <(awk -f "$here/declared.awk" "$header")
    done
done
[ "$headers" -gt 0 ] || complain "no headers"
[ "$failures" -eq 0 ]
