#!/usr/bin/env bash
# test_tutorial.sh - the sessions printed in docs/symreg.md are what the program prints: fronts have
# the same bytes on every CPU.
. tests/cli/lib.sh

# session N: command N of the document into $WORK/command, what follows it into $WORK/printed
session() {
    awk -v want="$1" -v command="$WORK/command" -v printed="$WORK/printed" '
        /^    \$ bin\/symreg docs\/data\// { n++; open = 1 }
        n != want { next }
        !/^    / { exit }
        open { line = $0; sub(/^    (\$ )?/, "", line); print line >command }
        open { open = line ~ /\\$/; next }
        { print substr($0, 5) >printed }' docs/symreg.md
}
sessions=$(grep -c '^    \$ bin/symreg docs/data/' docs/symreg.md)
check "the document has sessions" test "$sessions" -ge 4
for ((n = 1; n <= sessions; n++)); do
    rm -f "$WORK/command" "$WORK/printed"
    session "$n"
    sed -i "s,^bin/,$BIN/,; s,--out fits,--out $WORK/fits," "$WORK/command"
    check "session $n: status" bash -c ". '$WORK/command' >'$WORK/out' 2>'$WORK/err' </dev/null"
    grep . "$WORK/out" >"$WORK/table"
    check "session $n: what is printed" same_file "$WORK/printed" "$WORK/table"
done
finish
