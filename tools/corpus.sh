#!/usr/bin/env bash
# corpus.sh - real text to train on, from packages of Debian, as one file per corpus.
#
#   tools/corpus.sh FOLDER [python|kjv|kernel ...]      FOLDER/<name>.txt; python and kjv by default
#
#   python  the sources of the Python manual, reStructuredText   (python3.11-doc, 11 MB)
#   kjv     the King James Bible, one verse a line               (bible-kjv, bible-kjv-text, 4.4 MB)
#   kernel  the sources of the Linux kernel's documentation      (linux-doc-6.1, 33 MB)
#
# The packages are downloaded by apt, which checks their signatures, and unpacked; nothing is
# installed. Files are joined in the order of their names. A corpus that is there is kept. The sums
# below are of the texts that docs/text.md was measured on; another version of a package may give
# other bytes, which is said.
set -eu -o pipefail
export LC_ALL=C
folder=${1:?corpus: error: expected a folder}
shift
[ $# -gt 0 ] || set -- python kjv
declare -A packages=([python]=python3.11-doc [kjv]='bible-kjv bible-kjv-text'
                     [kernel]=linux-doc-6.1)
declare -A measured=(
    [python]=4f69e6115088c2444e0059d0973967db9dbc27ae3405343e26fac074aa501701
    [kjv]=cd45f0c9cedab8e4439bd6486c8952c77cc8b0ecc5d1f6ae3513f2039f47229d)
fail() {
    echo "corpus: error: $*" >&2
    exit 1
}
for name; do
    [ -n "${packages[$name]-}" ] || {
        echo "corpus: error: expected python, kjv or kernel, found \"$name\"" >&2
        exit 2
    }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-corpus-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# sources FOLDER: its texts, one after the other
sources() {
    find "$1" -name '*.rst.txt' -print0 | sort -z | xargs -0 cat
}
# text NAME: the corpus on standard output, from the packages unpacked in $work/NAME
text() {
    local docs=$work/$1/usr/share/doc
    case $1 in
    python) sources "$docs/python3.11/html/_sources" ;;
    kernel) sources "$docs/linux-doc-6.1/html/_sources" ;;
    kjv) "$work/$1/usr/bin/bible" -p "$work/$1/usr/lib" -f gen1:1-rev22:21 </dev/null ;;
    esac
}

mkdir -p "$folder"
for name; do
    if [ ! -s "$folder/$name.txt" ]; then
        command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
            fail "$name: needs apt-get and dpkg-deb (Debian); any text will do as text.train"
        mkdir -p "$work/$name"
        # (the list of packages may be missing, or older than what the mirror has)
        (cd "$work/$name" && { apt-get download ${packages[$name]} || { apt-get update &&
            apt-get download ${packages[$name]}; }; }) >"$work/log" 2>&1 || {
            tail -n 3 "$work/log" >&2
            fail "$name: apt-get cannot download ${packages[$name]}"
        }
        for package in "$work/$name"/*.deb; do
            dpkg-deb -x "$package" "$work/$name"
        done
        new=$folder/.$name.txt.new
        text "$name" >"$new" && [ "$(wc -c <"$new")" -gt 4000000 ] || {
            rm -f "$new"
            fail "$name: ${packages[$name]} does not hold the text that it should"
        }
        mv "$new" "$folder/$name.txt"
    fi
    sum=$(sha256sum "$folder/$name.txt" | cut -c 1-64)
    note=
    [ -z "${measured[$name]-}" ] || [ "$sum" = "${measured[$name]}" ] ||
        note=', other bytes than docs/text.md was measured on'
    echo "$folder/$name.txt: $(wc -c <"$folder/$name.txt") bytes, sha256 ${sum:0:16}$note"
done
