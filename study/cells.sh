#!/usr/bin/env bash
# cells.sh - the study's results as one compressed table, and back, byte for byte.
#
#   study/cells.sh pack FOLDER TABLE.csv.xz
#   study/cells.sh unpack TABLE.csv.xz FOLDER
#
# The table has the columns file and text, a row for each line of a file; file is empty where it is
# that of the row above. Files are ordered by the bytes of their names, texts are in quotes, and #
# in a text stands for a decimal number. The numbers come before: columns text and numbers, a row
# for each line with numbers, blanks between them, all lines of a text together; text is empty
# where it is that of the row above. So numbers of one kind follow each other, which xz makes 13%
# shorter than the lines in their order. A table that has the rows already is left as it is,
# whatever version of xz made it. Files of FOLDER that the table has with the same text, and files
# that it does not have, are left as they are; names that begin with a dot are not packed. Lines
# end in a newline, the last one too, and have no #. Status 1: an error, and TABLE and the files of
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
        BEGIN { print "text,numbers" }
        FNR == 1 {
            name = substr(FILENAME, 3)
            if (name ~ /[^A-Za-z0-9_.\/-]/) refuse("a name of letters, digits and ._-")
        }
        /\r/ { refuse("lines that end in a newline alone") }
        /#/ { refuse("lines without #") }
        {
            rest = $0
            gsub(/"/, "\"\"", rest)
            numbers = text = ""
            while (match(rest, /[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/)) {
                numbers = numbers (text == "" ? "" : " ") substr(rest, RSTART, RLENGTH)
                text = text substr(rest, 1, RSTART - 1) "#"
                rest = substr(rest, RSTART + RLENGTH)
            }
            text = "\"" text rest "\""
            row[NR] = (FNR == 1 ? name : "") "," text
            if (numbers == "") next
            if (!(text in first)) { first[text] = last[text] = NR; kind[++kinds] = text }
            else { after[last[text]] = NR; last[text] = NR }
            given[NR] = numbers
        }
        END {
            for (k = 1; k <= kinds; k++)
                for (i = first[kind[k]]; i; i = after[i])
                    print (i == first[kind[k]] ? kind[k] : "") "," given[i]
            print "file,text"
            for (i = 1; i <= NR; i++) print row[i]
        }' "${files[@]}")
}
unpack() { # FOLDER: rows from standard input become files of a new folder
    (cd "$1" && awk '
        function refuse(what) {
            print "cells: error: row " NR ": expected " what > "/dev/stderr"
            failed = 1
            exit 1
        }
        NR == 1 && $0 == "text,numbers" { of_numbers = 1; next }
        (NR == 1 || of_numbers) && $0 == "file,text" { of_numbers = 0; of_lines = 1; next }
        NR == 1 { refuse("the columns text,numbers or file,text") }
        of_numbers {
            if (!match($0, /,[-+.e0-9 ]*$/)) refuse("\"text\",numbers")
            if (RSTART > 1) text = substr($0, 1, RSTART - 1)
            given[text, ++count[text]] = substr($0, RSTART + 1)
            next
        }
        {
            comma = index($0, ",")
            text = substr($0, comma + 1)
            if (!comma || text !~ /^".*"$/ || length(text) < 2) refuse("file,\"text\"")
            if (text in count) {
                if (!((text, ++used[text]) in given)) refuse("numbers of its text")
                pieces = split(text, piece, "#")
                if (split(given[text, used[text]], number, " ") != pieces - 1)
                    refuse(pieces - 1 " numbers")
                text = piece[1]
                for (i = 2; i <= pieces; i++) text = text number[i - 1] piece[i]
            }
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
        END {
            if (failed) exit 1
            if (NR < 2 || !of_lines) refuse("rows")
            for (text in count) if (used[text] != count[text]) refuse("a line for all numbers")
        }')
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
    xz -c --lzma2=preset=9e,dict=32MiB,lc=0,pb=0 "$work" >"$table.part"
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
