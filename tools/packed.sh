#!/usr/bin/env bash
# packed.sh - a folder of files that tests read (golden vectors, large tables and tracks) as one
# archive that git keeps, and back.
#
#   tools/packed.sh pack FOLDER ARCHIVE.tar.xz
#   tools/packed.sh unpack ARCHIVE.tar.xz FOLDER
#
# The same files give the same archive: names sorted, no owners and times; xz with contexts of 8
# bytes, since most are doubles. FOLDER/.unpacked lists what an archive had: what the next one
# no longer has is removed, and other files of FOLDER are left. Each file is replaced at once, so
# that a test beside it reads the old or the new one. Status 1: an error, and ARCHIVE is as
# it was.
set -eu -o pipefail
export LC_ALL=C
fail() {
    echo "packed: error: $*" >&2
    exit 1
}
files() { # FOLDER: its files, but those that begin with a dot
    (cd "$1" && find . -name '.?*' -prune -o -type f -print | sort)
}
[ $# -eq 3 ] && [[ $1 =~ ^(pack|unpack)$ ]] || {
    echo "packed: error: expected pack FOLDER ARCHIVE or unpack ARCHIVE FOLDER" >&2
    exit 2
}
command -v xz >/dev/null || fail "xz is not on the PATH (Debian: xz-utils)"
if [ "$1" = pack ]; then
    folder=$2 archive=$3
    [ -d "$folder" ] && [ -n "$(files "$folder")" ] ||
        fail "$folder: no files to pack; \`make check\` unpacks those that are kept"
    trap 'rm -f "$archive.part"' EXIT
    tar -C "$(dirname "$folder")" --exclude='.?*' --sort=name --owner=0 --group=0 --numeric-owner \
        --mtime=@0 --mode=a=rX,u+w -cf - "$(basename "$folder")" |
        xz -c --lzma2=preset=9e,lc=1,lp=3,pb=3 >"$archive.part"
    mv "$archive.part" "$archive"
    exit
fi
archive=$2 folder=$3
[ -r "$archive" ] || fail "$archive: no such archive"
mkdir -p "$folder"
work=$(mktemp -d "$folder/.unpacked-XXXXXX") && trap 'rm -rf "$work"' EXIT
(xz -dc "$archive" | tar -xmf - -C "$work" --strip-components=1) 2>/dev/null ||
    fail "$archive: no whole archive of xz and tar"
files "$work" >"$work/.unpacked"
while IFS= read -r file; do
    mkdir -p "$folder/$(dirname "$file")"
    mv "$work/$file" "$folder/$file"
done <"$work/.unpacked"
[ ! -e "$folder/.unpacked" ] || comm -23 "$folder/.unpacked" "$work/.unpacked" |
    while IFS= read -r file; do rm -f "$folder/$file"; done
mv "$work/.unpacked" "$folder/.unpacked"
