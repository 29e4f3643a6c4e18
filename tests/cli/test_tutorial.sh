#!/usr/bin/env bash
# test_tutorial.sh - the sessions printed in docs/symreg.md are what the program prints: fronts have
# the same bytes on every CPU.
. tests/cli/lib.sh
fast_pictures

# session N: the commands of block N of the document into $WORK/command, what follows them into
# $WORK/printed
session() {
    awk -v want="$1" -v command="$WORK/command" -v printed="$WORK/printed" '
        !/^    / { block = 0; next }
        /^    \$ / { n += !block; block = open = 1 }
        n != want || !block { next }
        open { line = $0; sub(/^    (\$ )?/, "", line); print line >command }
        open { open = line ~ /\\$/; next }
        { print substr($0, 5) >printed }' docs/symreg.md
}
sessions=$(grep -c '^    \$ bin/symreg ' docs/symreg.md)
check "the document has sessions" test "$sessions" -ge 8
ln -s "$PWD/docs" "$WORK/docs"
case $BIN in /*) ;; *) BIN=$PWD/$BIN ;; esac
for ((n = 1; n <= sessions; n++)); do
    rm -f "$WORK/command" "$WORK/printed"
    session "$n"
    sed -i "s,^bin/,$BIN/," "$WORK/command"
    check "session $n: status" bash -c \
        "cd '$WORK' && . ./command >'$WORK/out' 2>'$WORK/err' </dev/null"
    grep . "$WORK/out" >"$WORK/table"
    check "session $n: what is printed" same_file "$WORK/printed" "$WORK/table"
done
finish
