#!/usr/bin/env bash
# cells.sh - the study's results as one compressed table, and back, byte for byte.
#
#   study/cells.sh pack FOLDER TABLE.csv.xz
#   study/cells.sh unpack TABLE.csv.xz FOLDER
#
# The table has the columns file and text, a row for each line of a file; file is empty where it is
# that of the row above. Files are ordered by the bytes of their names, texts are in quotes. A table
# that has the rows already is left as it is, whatever version of xz made it (xz finds the values
# that files have in common: 1.0 MB, by gzip 1.7). Files of FOLDER that the table has with the same
# text, and files that it does not have, are left as they are; names that begin with a dot are not
# packed. Lines end in a newline, the last one too. Status 1: an error, and TABLE and the files of
# FOLDER are as they were or complete.
set -eu -o pipefail
export LC_ALL=C
fail() {
    echo "cells: error: $*" >&2
    exit 1
}
pack() { # FOLDER: the rows
    local files
    mapfile -d '' -t files < <(cd "$1" && find . -name '.?*' -prune -o -type f -print0 | sort -z)
    [ ${#files[@]} -gt 0 ] || fail "$1: expected files of results, found none"
    [ -z "$(cd "$1" && find "${files[@]}" -size 0)" ] || fail "$1: expected no empty file"
    [ -z "$(cd "$1" && tail -qc1 -- "${files[@]}" | tr -d '\n')" ] ||
        fail "$1: expected a newline at the end of every file"
    (cd "$1" && awk '
        function refuse(what) {
            print "cells: error: " FILENAME ": expected " what > "/dev/stderr"
            exit 1
        }
        BEGIN { print "file,text" }
        FNR == 1 {
            name = substr(FILENAME, 3)
            if (name ~ /[^A-Za-z0-9_.\/-]/) refuse("a name of letters, digits and ._-")
        }
        /\r/ { refuse("lines that end in a newline alone") }
        { gsub(/"/, "\"\""); print (FNR == 1 ? name : "") ",\"" $0 "\"" }' "${files[@]}")
}
unpack() { # FOLDER: rows from standard input become files of a new folder
    (cd "$1" && awk '
        function refuse(what) {
            print "cells: error: row " NR ": expected " what > "/dev/stderr"
            failed = 1
            exit 1
        }
        NR == 1 { if ($0 != "file,text") refuse("the columns file,text"); next }
        {
            comma = index($0, ",")
            text = substr($0, comma + 1)
            if (!comma || text !~ /^".*"$/ || length(text) < 2) refuse("file,\"text\"")
            if (comma > 1) {
                if (name != "") close(name)
                name = substr($0, 1, comma - 1)
                if (name ~ /^\// || name ~ /(^|\/)\.\.?(\/|$)/ || name ~ /[^A-Za-z0-9_.\/-]/)
                    refuse("a file of a folder below, found " name)
                folder = name
                if (sub(/\/[^\/]*$/, "", folder) && !(folder in made)) {
                    made[folder] = 1
                    system("mkdir -p \"" folder "\"")
                }
            }
            if (name == "") refuse("the name of a file")
            text = substr(text, 2, length(text) - 2)
            gsub(/""/, "\"", text)
            print text > name
        }
        END { if (!failed && NR < 2) refuse("rows") }')
}
[ $# -eq 3 ] || {
    echo "cells: error: expected pack FOLDER TABLE or unpack TABLE FOLDER" >&2
    exit 2
}
command -v xz >/dev/null || fail "xz is not on the PATH (Debian: xz-utils)"
case $1 in
pack)
    folder=$2 table=$3
    [ -d "$folder" ] || fail "$folder: no such folder"
    work=$(mktemp) && trap 'rm -f "$work" "$table.part"' EXIT
    pack "$folder" >"$work"
    if [ -e "$table" ] && xz -dc "$table" | cmp -s - "$work"; then
        exit
    fi
    xz -c --lzma2=preset=9e,dict=32MiB "$work" >"$table.part"
    mv "$table.part" "$table"
    ;;
unpack)
    table=$2 folder=$3
    [ -r "$table" ] || fail "$table: no such table"
    mkdir -p "$folder"
    work=$(mktemp -d "$folder/.unpacked-XXXXXX") && trap 'rm -rf "$work"' EXIT
    xz -dc "$table" | unpack "$work"
    if [ -z "$(find "$folder" -mindepth 1 -maxdepth 1 ! -name '.*' -print -quit)" ]; then
        ! mv "$work"/* "$folder" 2>/dev/null || exit 0 # unless another call was faster
    fi
    while IFS= read -r -d '' file; do
        ! cmp -s "$work/$file" "$folder/$file" || continue
        mkdir -p "$(dirname "$folder/$file")"
        mv "$work/$file" "$folder/$file"
    done < <(cd "$work" && find . -type f -print0)
    ;;
*)
    echo "cells: error: expected pack or unpack, found \"$1\"" >&2
    exit 2
    ;;
esac
