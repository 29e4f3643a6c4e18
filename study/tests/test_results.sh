#!/usr/bin/env bash
# test_results.sh - study/cells.sh keeps files of results as one table, byte for byte, and what
# `make claims` makes of the committed table is what that holds already.
. tests/cli/lib.sh
cells() {
    study/cells.sh "$@" >"$WORK/out" 2>"$WORK/err"
}
# ---- a small folder

small=$WORK/small
mkdir -p "$small/a/b" && printf '{\n\t"x":\t[1, -2.5, 3e2, 0.5e-07],\n\n}\n' >"$small/a/b/c.json" &&
    printf '{\n\t"x":\t[1, -7.25, 3e2, 1.5],\n}\n' >"$small/a/d.json" &&
    printf '""\n",",\\\n' >"$small/a-b.csv" && echo 1 >"$small/.hidden" || exit
check "a folder is packed" cells pack "$small" "$WORK/small.csv.xz"
xz -dc "$WORK/small.csv.xz" >"$WORK/small.csv"
check "the table has a row for each line, and one for its numbers" equal 13 \
    "$(wc -l <"$WORK/small.csv")"
check "numbers of a text stand together" equal \
    $'"\t""x"":\t[1, -#, 3e2, #],",2.5 0.5e-07\n,7.25 1.5\nfile,text' \
    "$(sed -n '2,4p' "$WORK/small.csv")"
check "the table is CSV" equal '""""""' "$(sed -n 's/^a-b.csv,//p' "$WORK/small.csv")"
check "the table is unpacked" cells unpack "$WORK/small.csv.xz" "$WORK/back"
rm "$small/.hidden"
check "unpacked files are those that were packed" same_files "$small" "$WORK/back"
echo more >"$WORK/back/more.txt" && echo other >"$WORK/back/a/b/c.json" &&
    touch -d 2001-01-01 "$WORK/back/a-b.csv" || exit
check "the table is unpacked over a folder" cells unpack "$WORK/small.csv.xz" "$WORK/back"
check "a file of other text is replaced" same_file "$small/a/b/c.json" "$WORK/back/a/b/c.json"
check "a file that the table lacks stays" equal more "$(cat "$WORK/back/more.txt")"
check "a file of the same text is not written again" equal 2001 \
    "$(date -r "$WORK/back/a-b.csv" +%Y)"
touch -d 2001-01-01 "$WORK/small.csv.xz"
check "the same files are packed" cells pack "$small" "$WORK/small.csv.xz"
check "a table of the same rows is not written again" equal 2001 \
    "$(date -r "$WORK/small.csv.xz" +%Y)"

# ---- what cannot be kept byte for byte is refused, and the table stays

refused() { # LABEL MESSAGE: packing the small folder
    local before
    before=$(cksum <"$WORK/small.csv.xz")
    check_not "$1: is refused" cells pack "$small" "$WORK/small.csv.xz"
    check "$1: is named" grep -q -- "$2" "$WORK/err"
    check "$1: the table stays" equal "$before" "$(cksum <"$WORK/small.csv.xz")"
}
printf '#1\n' >"$small/x.json"
refused "a line with #" 'x.json: expected lines without #'
printf 'no end' >"$small/x.json"
refused "a file without a newline at its end" 'expected a newline at the end'
printf 'a\r\n' >"$small/x.json"
refused "a carriage return" 'x.json: expected lines that end in a newline alone'
: >"$small/x.json"
refused "an empty file" 'expected no empty file'
rm "$small/x.json" && echo 1 >"$small/x,y.json"
refused "a name with a comma" 'expected a name of letters'
for row in '../x.json,"1"' '/tmp/x.json,"1"' 'a/../../x.json,"1"' 'x.json,1' ',"1"' \
    'x;y.json,"1"'; do
    printf 'file,text\n%s\n' "$row" | xz >"$WORK/bad.csv.xz"
    check_not "row $row: is refused" cells unpack "$WORK/bad.csv.xz" "$WORK/bad"
    check "row $row: is told by its number" grep -q '^cells: error: row 2: expected ' "$WORK/err"
    check "row $row: nothing is left" equal 0 "$(ls -A "$WORK/bad" | wc -l)"
done
bad_numbers() { # LABEL MESSAGE SCRIPT: the small table, changed by sed
    sed "$3" "$WORK/small.csv" | xz >"$WORK/bad.csv.xz"
    check_not "$1: is refused" cells unpack "$WORK/bad.csv.xz" "$WORK/bad"
    check "$1: is named" grep -q "^cells: error: row [0-9]*: expected $2" "$WORK/err"
    check "$1: nothing is left" equal 0 "$(ls -A "$WORK/bad" | wc -l)"
}
bad_numbers "a line without its numbers" 'numbers of its text' 3d
bad_numbers "a line with a number too few" '2 numbers' '3s/ 1.5//'
bad_numbers "numbers without a line" 'a line for all numbers' '3{p;}'
bad_numbers "numbers that are none" '"text",numbers' '3s/1.5/x/'
bad_numbers "a table of numbers alone" rows '/^file,text/,$d'
head -c 60 "$WORK/small.csv.xz" >"$WORK/bad.csv.xz"
check_not "a table that is cut short is refused" cells unpack "$WORK/bad.csv.xz" "$WORK/bad"
check "nothing is left of a table that is cut short" equal 0 "$(ls -A "$WORK/bad" | wc -l)"

# ---- a result as it is kept

sed -n '/^shortened()/,/^}/p' study/claims.sh >"$WORK/shortened.sh"
# shellcheck source=/dev/null
. "$WORK/shortened.sh"
printf '%s\n' '{' $'\t"settings":\t{' $'\t\t"a0":\t9.869604401089358' $'\t},' \
    $'\t"law":\t"a0=9.869604401089358",' $'\t"rows":\t[-1.23456789012e-05, 2, 0.1234567894],' \
    $'\t"xxh64":\t"0123456789abcdef"' '}' >"$WORK/long.json"
check "a result is kept with nine digits, its settings and texts whole, without its sum" equal \
    $'{\n\t"settings":\t{\n\t\t"a0":\t9.869604401089358\n\t},\n\t"law":\t"a0=9.869604401089358",
\t"rows":\t[-1.23456789e-05, 2, 0.123456789]\n}' "$(shortened "$WORK/long.json")"

# ---- the study's results

mkdir -p "$WORK/tree/study" && ln -s "$PWD/bench" "$WORK/tree/bench" || exit # of some claims
results=$(realpath --relative-to=. "$WORK/tree/study")/results # relative, as make claims has it
check "the committed table is unpacked" cells unpack study/cells.csv.xz "$results"
cp -r "$results" "$WORK/first" || exit
mkdir "$WORK/docs"
check "claims of the committed results" env RUNS="$WORK/none" DOCS="$WORK/docs" COMMIT=other \
    MACHINE=other study/claims.sh "$results"
check "results that were put together again are as they were" same_files "$WORK/first" "$results"
sed "3s|$results|study/results|" "$WORK/docs/claims.md" >"$WORK/claims.md"
check "the page of claims is as it is kept" same_file study/docs/claims.md "$WORK/claims.md"
check_not "no picture is drawn again" test -e "$WORK/docs/table1.png"
cp study/cells.csv.xz "$WORK/table.csv.xz" && touch -d 2001-01-01 "$WORK/table.csv.xz" || exit
check "the results are packed" cells pack "$results" "$WORK/table.csv.xz"
check "the committed table has these results" equal 2001 "$(date -r "$WORK/table.csv.xz" +%Y)"
sed -i -z 's/"version":[^\n]*/"version":\t"0.1.0",/; s/,\n\t"xxh64":[^\n]*//' "$results/table1.json"
cp "$results/table1.json" "$WORK/table1.json"
check "claims of results of another version" env RUNS="$WORK/none" DOCS="$WORK/docs" \
    study/claims.sh "$results"
check "a result that differs in its version alone is kept" same_file "$WORK/table1.json" \
    "$results/table1.json"
finish
