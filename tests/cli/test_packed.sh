#!/usr/bin/env bash
# test_packed.sh - files of tests as one archive and back (tools/packed.sh): the same bytes, nothing
# is left of an earlier archive and nothing lost, and what cannot be done leaves the archive alone.
. tests/cli/lib.sh
PROGRAMS+=" packed cells"
packed=$PWD/tools/packed.sh cells=$PWD/study/cells.sh
mkdir -p "$WORK/golden/phi" && cd "$WORK" || exit
printf '1 2\n' >golden/a.txt
printf '3 4\n' >golden/phi/b.txt
check "files are not packed" "$packed" pack golden first.tar.xz
touch golden/a.txt
check "files are not packed again" "$packed" pack golden again.tar.xz
check "the same files give another archive at another time" same_file first.tar.xz again.tar.xz
check "an archive is not unpacked" "$packed" unpack first.tar.xz unpacked
cp -r unpacked bare && rm bare/.unpacked
check "unpacked files differ from those that were packed" same_files golden bare
check "the list of what was unpacked is not that of the files" \
    equal $'./a.txt\n./phi/b.txt' "$(cat unpacked/.unpacked)"

# ---- another archive in the place of the first
rm golden/phi/b.txt
printf '5\n' >golden/a.txt
"$packed" pack golden second.tar.xz
echo mine >unpacked/mine.txt
check "a second archive is not unpacked" "$packed" unpack second.tar.xz unpacked
check "a file that has changed keeps its old text" equal 5 "$(cat unpacked/a.txt)"
check_not "a file that the archive no longer has is left" test -e unpacked/phi/b.txt
check "a file that no archive had is removed" equal mine "$(cat unpacked/mine.txt)"

# ---- what is refused, with one line
sum=$(cksum <first.tar.xz)
mkdir path empty
for tool in bash env find sort tar mkdir dirname basename rm mv mktemp; do
    ln -s "$(command -v $tool)" path/
done
head -c 100 first.tar.xz >cut.tar.xz
refusals "$packed" <<'END'
a folder that is not there | 1 "none: no files to pack" | pack none first.tar.xz
a folder without files | 1 "empty: no files to pack" | pack empty first.tar.xz
an archive that is not there | 1 "no.tar.xz: no such archive" | unpack no.tar.xz unpacked
an archive that is cut short | 1 "cut.tar.xz: no whole archive" | unpack cut.tar.xz unpacked
another word | 2 "expected pack FOLDER ARCHIVE or unpack" | list golden first.tar.xz
END
refuse "xz that is missing" 1 "xz is not on the PATH (Debian: xz-utils)" -- \
    env PATH="$WORK/path" "$packed" unpack first.tar.xz unpacked
check "an archive is changed by what was refused" equal "$sum" "$(cksum <first.tar.xz)"
check "files are changed by what was refused" equal 5 "$(cat unpacked/a.txt)"
find . -name '*.part' -o -name '.unpacked-*' >left
check_not "parts of files are left" grep . left
refuse "xz that is missing for results" 1 "xz is not on the PATH (Debian: xz-utils)" -- \
    env PATH="$WORK/path" "$cells" unpack first.tar.xz unpacked
finish
