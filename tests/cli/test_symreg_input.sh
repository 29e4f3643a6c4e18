#!/usr/bin/env bash
# test_symreg_input.sh - tables that cannot be fitted and options that cannot be met: one clear
# error; tables that are odd but sound: a front.
. tests/cli/lib.sh

run=$WORK/run
mkdir "$run"
F=$WORK/table.csv
# table TEXT: the file, with \n as in printf
table() {
    printf "$1" >"$F"
}
bad() { # NAME STATUS PATTERN TEXT OPTION...
    local name=$1 status=$2 pattern=$3 text=$4
    shift 4
    table "$text"
    refuse "$name" "$status" "$pattern" -- timeout "$LIMIT" "$BIN/symreg" "$F" --target y --quiet \
        --threads 1 --iterations 1 --out "$run/out" "$@"
}

bad "empty file" 1 'empty, expected a header row' ''
bad "header only" 1 'at least 2 rows, found 0' 'x,y\n'
bad "one row" 1 'at least 2 rows, found 1' 'x,y\n1,2\n'
bad "ragged: short" 1 "$F:3: expected 2 cells, found 1" 'x,y\n1,2\n3\n'
bad "ragged: long" 1 "$F:3: expected 2 cells, found more" 'x,y\n1,2\n3,4,5\n'
bad "a short row behind an empty line" 1 "$F:4: expected 2 cells" 'x,y\n1,2\n\n3\n'
bad "a comment behind the header" 1 "$F:3: column \"x\"" 'x,y\n1,2\n#3,4\n5,6\n'
bad "a comment of other cells between the rows" 1 \
    "$F:3: a line that begins with \"#\"; expected comments before the header and behind the last" \
    'x,y\n1,2\n# middle\n3,4\n'
bad "half a Fortran exponent" 1 "$F:3: column \"x\": expected a finite number, found \"3.9D\"" \
    'x,y\n1,2\n3.9D,4\n'
bad "decimal commas" 1 "$F:2: column \"x\": expected a finite number, found \"3,9\"" \
    'x,z,y\n"3,9",1,2\n"4,5",3,4\n'
bad "decimal commas: what to do" 1 'a comma in a number, expected a decimal point, or nothing' \
    'x,y\n"1,433.5",2\n"4,5",4\n'
bad "a minus sign of print" 1 'a minus sign of print (U+2212), expected "-"' \
    'x,y\n1,2\n\xe2\x88\x923,4\n'
bad "a number with its unit" 1 'found "0.9 s"; text behind the number, expected units in the name' \
    'x,y\n1,0.9 s\n2,1.2 s\n'
bad "a number with its error" 1 \
    "$F:2: no column of numbers beside the target; column \"x\" has \"0.20 +- 0.01\"; an error" \
    'x,y\n0.20 +- 0.01,2\n0.40 +- 0.01,4\n'
bad "columns of a spreadsheet that have no name" 1 \
    'column "" stands twice; expected a name in each, or no such columns' 'x,y,,\n1,2,,\n3,4,,\n'
bad "a time in two parts" 1 'column "x" has "0:30"; a time or an angle in two parts, expected' \
    'x,y\n0:30,2\n1:00,4\n'
bad "a title above the header" 1 \
    'found 2; a header in line 4 wants "#" before the lines above it' \
    'Pendulum lab 3\nGroup A\n\nx,y\n1,2\n2,3\n'
bad "a title of one word above the header" 1 \
    'found more; a header in line 2 wants "#" before the lines above it' 'Lab\nx,y\n1,2\n2,3\n'
bad "an open quote in a list" 2 'in double quotes, found ""x"' 'x,y\n1,2\n3,4\n' --features '"x'
bad "text" 1 "$F:3: column \"x\": expected a finite number, found \"two\"" 'x,y\n1,2\ntwo,4\n'
bad "NaN" 1 'column "y": expected a finite number, found "NaN"' 'x,y\n1,2\n3,NaN\n'
bad "infinity" 1 'column "x": expected a finite number, found "-inf"' 'x,y\n1,2\n-inf,3\n'
bad "too large" 1 'column "x": expected a finite number' 'x,y\n1,2\n1e999,3\n'
bad "a missing cell" 1 'found ""; --missing drop leaves such rows out' 'x,y\n1,2\n,3\n'
for word in NA '#N/A' '<NA>' NaT -nan; do
    bad "$word" 1 "found \"$word\"; --missing drop leaves" "x,y\n1,2\n$word,3\n"
done
bad "no target" 1 'no column "y"' 'x,z\n1,2\n3,4\n'
bad "other separators" 1 'separated by commas' 'x;y\n1;2\n3;4\n'
bad "other separators: of a spreadsheet" 1 \
    "$F:1: cells are separated by \";\" and numbers have decimal commas (\"1,5\")" \
    'x;y\r\n1,5;2\r\n3;4,25\r\n'
bad "other separators: that has no header" 1 \
    'separated by ";" and numbers have decimal commas ("2,5"); expected' \
    '1,5;2,0\n2,5;3\n3;4,25\n'
bad "other separators: without decimal commas" 1 "separated by commas; converted by: tr ';' ','" \
    'x;y\n1.5;2\n3;4.25\n'
bad "other separators: between quotes" 1 \
    "$F:1: cells are separated by \";\" and numbers have decimal commas (\"1,5\")" \
    '"x (s)";"y (m)"\n1,5;2,0\n3,0;4,25\n'
bad "no header" 1 "$F:1: the first line has numbers only (\"1.5\", ...), expected a header row" \
    '1.5,2\n2.5,3e4\n3,4\n'
bad "no header, a target that is in it" 1 'the first line has numbers only ("1.5", ...)' \
    '1.5,2\n2.5,3e4\n3,4\n' --target 2
bad "blanks between, ragged" 1 "$F:3: expected 2 cells with blanks between, found 3" \
    'x y\n1 2\n3 4 5\n'
bad "tabs between, ragged" 1 "$F:3: expected 2 cells with tabs between, found 1" \
    'x\ty\n1\t2\n3\n'
bad "blanks between, an open quote" 1 "$F:2: column 2: a quoted cell is not closed" \
    'x y\n1 "2\n3 4\n'
bad "dates alone" 1 \
    "$F:2: no column of numbers beside the target; column \"d\" has \"3/1/2021\", a" \
    'd,y\n3/1/2021,2\n4/1/2021,4\n'
bad "a date as a feature" 1 'found "3/1/2021", a date; expected days or another number of time' \
    'd,y\n3/1/2021,2\n4/1/2021,4\n' --features d
bad "--missing drop that leaves no row" 1 \
    'found 0; rows with a missing value are left out: 2 in "z", 1 in "x"' \
    'x,z,y\n1,,2\n,...,4\n' --features x,z --missing drop
for word in -- ... '\\nodata' .; do
    shown=${word/#'\\'/\\}
    bad "the missing value $word" 1 "found \"$shown\"; --missing drop leaves" \
        "x,y\n1,2\n$word,3\n"
done
bad "a name in Latin-1" 1 'the name of column 1 is not UTF-8' 'gr\366\337e,y\n1,2\n2,3\n'
bad "a target in Latin-1" 1 'the name of column 2 is not UTF-8' 'x,\351\n1,2\n2,3\n' \
    --target "$(printf '\351')"
bad "weights in Latin-1" 1 'the name of column 2 is not UTF-8' 'x,\351,y\n1,2,3\n2,3,4\n' \
    --weights "$(printf '\351')"
bad "a name of two lines" 1 'line break' '"a\nb",y\n1,2\n2,3\n'
bad "a name with a control character" 1 'control character' 'a\302\233b,y\n1,2\n2,3\n'
for mark in '\342\200\213 200B' '\342\200\256 202E' '\357\273\277 FEFF' '\302\255 00AD' \
    '\342\201\240 2060'; do
    bad "a name with U+${mark#* }" 1 "an invisible character in it, U+${mark#* }" \
        "x,x${mark% *}z,y\n1,2,3\n2,3,5\n" # two names that look alike
    bad "a target with U+${mark#* }" 1 "U+${mark#* }" "x,y${mark% *}\n1,2\n2,3\n" \
        --target "$(printf "y${mark% *}")"
done
# ---- files of others in the folder of --out
table 'x,y\n1,1.1\n2,2.2\n3,2.9\n4,4.3\n'
into() { # FOLDER OPTION...
    timeout "$LIMIT" "$BIN/symreg" "$F" --target y --quiet --threads 1 --iterations 1 \
        --set symreg.enumerate=200 --out "$@" >"$WORK/printed"
}
for name in report.md report.html front.csv front_full.csv front.json alternatives.csv log.jsonl \
    checkpoint.bin front.png residuals.png; do
    mkdir "$WORK/mine"
    printf '{"title": "mine", "x": 1}\n# Mine\n' >"$WORK/mine/$name"
    KEEP=$WORK/mine refuse "--out with a $name of someone else" 2 \
        "mine/$name is not a file of an earlier search" -- into "$WORK/mine"
    rm -r "$WORK/mine"
done
mkdir "$WORK/mine" && echo notes >"$WORK/mine/notes.md" && : >"$WORK/mine/log.jsonl"
check "--out beside other files" into "$WORK/mine"
check "--out beside other files: which stay" grep -qx notes "$WORK/mine/notes.md"
check "--out beside other files: once more" into "$WORK/mine"
rm "$WORK/mine/front.json"
check "--out beside other files: where one is missing" into "$WORK/mine" --resume
echo mine >"$WORK/mine/report.md"
KEEP=$WORK/mine refuse "--out beside other files: not where one was replaced" \
    2 'mine/report.md is not a file of' -- \
    into "$WORK/mine" --resume
bad "a name that is a number" 1 'could not be distinguished from a number' '2,y\n1,2\n2,3\n'
bad "a line behind line breaks" 1 "$F:5: column \"y\"" 'n,x,y\n"a\nb\nc",1,2\nd,2,nan\n'
hundred=$(printf '0123456789%.0s' 1 2 3 4 5 6 7 8 9 10)
bad "a name that is too long" 1 'the name of column 1: expected at most 100 bytes, found 101' \
    "a$hundred,y\n1,2\n2,3\n"
bad "nothing but row numbers" 1 'no column of numbers beside' ',y\n1,2\n2,3\n3,5\n'
bad "a target that is too large" 1 'use another unit' 'x,y\n1,1e160\n3,4\n'
bad "a target that is too small" 1 'use another unit' 'x,y\n1,1e-160\n3,0\n'
bad "near miss" 1 'did you mean "y1"?' 'x,y1\n1,2\n3,4\n'
bad "no feature" 1 'no column of numbers beside the target' 'name,y\na,2\nb,4\n'
bad "a column twice" 1 'column "x" stands twice' 'x,y,x\n1,2,3\n'
bad "an open quote" 1 'not closed' 'x,y\n"1,2\n'
bad "not text" 1 'not a text file' 'x,y\n1,\0002\n'
bad "xz" 1 'compressed by xz, expected a text file; xz -dc' '\3757zXZ\0000\0'
bad "bzip2" 1 'compressed by bzip2' 'BZh91AY\0'
bad "zstd" 1 'compressed by zstd' '(\265/\375\0'
bad "a workbook" 1 'zip archive, expected a text file; save the sheet as CSV' 'PK\003\004\0'
bad "UTF-16" 1 'UTF-16, expected a text file' '\377\376x\0,\0y\0'
bad "quotes and semicolons" 1 \
    "$F:1: column 1: text behind the quotes of a cell, expected a comma" '"x"; "y"\n1 2\n3 4\n'
bad "a feature that is not there" 1 'no column "q"' 'x,y\n1,2\n3,4\n' --features q
bad "a feature twice" 2 '--features: "x" stands twice' 'x,y\n1,2\n3,4\n' --features x,x
bad "the target as a feature" 2 '"y" is the target' 'x,y\n1,2\n3,4\n' --features x,y
bad "an empty feature" 2 'names of columns' 'x,y\n1,2\n3,4\n' --features x,,y
bad "negative weight" 1 'at least 0, found -1' 'x,w,y\n1,-1,2\n3,1,4\n' --weights w
bad "no weight at all" 1 'above 0, found none' 'x,w,y\n1,0,2\n3,0,4\n' --weights w
bad "relative weights of zeros" 1 'median of |y| is 0' 'x,y\n1,0\n3,0\n' --weights relative
bad "relative weights, logarithms" 2 'relative already' 'x,y\n1,1\n3,2\n' --weights relative \
    --log-target
bad "logarithm of 0" 1 'positive numbers, found 0' 'x,y\n1,0\n3,4\n' --log-target

# ---- options that cannot be met
OK='x,y\n1,2\n2,4.1\n3,5.9\n4,8\n'
bad "--loss" 2 '--loss: symreg.loss: expected one of l1|l2' "$OK" --loss l22
bad "--loss of other names" 2 'expected a known name' "$OK" --loss 'abs(a-b)'
bad "--loss that is not smallest at p = t" 2 '--loss' "$OK" --loss 'p+t'
bad "--define" 2 'name(x)=formula' "$OK" --define 'g=x'
bad "--define of itself" 2 'an operator' "$OK" --define 'g(x)=g(x)'
bad "--guess" 2 '--guess: formula: expected' "$OK" --guess 'x +'
bad "--guess of a word that is no column" 2 'found "nosuch"' "$OK" --guess '9*x+nosuch'
bad "--guess too large" 2 'complexity 5, --maxsize is 3' "$OK" --guess 'x+x*x' --maxsize 3
bad "--units" 2 'is no feature and not the target' "$OK" --units 'q=m'
bad "--units twice" 2 '--units: "x" stands twice' "$OK" --units 'x=m,x=s'
bad "--units-penalty alone" 2 'needs --units' "$OK" --units-penalty 2
bad "--constants unknown" 2 '"k_b" is not well known (did you mean "k_B"?)' "$OK" --constants 'k_b'
bad "--constants of a column" 2 '--constants: "x" is a column, too' "$OK" --constants 'x=3'
bad "--constants of the target" 2 '--constants: "y" is a column, too' "$OK" --constants 'y=3'
bad "--define of a column" 2 '--define: "x" is a column, too' "$OK" --define 'x=3'
bad "--constants without value" 2 'G: expected a number other than 0' "$OK" --constants 'G='
bad "--constants, units of one quantity" 2 'c: the columns' "$OK" --units 'x=km,y=m' --constants c
bad "--constants of a wrong unit" 2 '--constants: expected an exponent' "$OK" --units x=m \
    --constants 'G=1 m^'
bad "--constrain" 2 'expected 2 sizes' "$OK" --constrain '*:1'
bad "--nest" 2 'did you mean "sin"' "$OK" --nest 'sinn:cos=0'
bad "--complexity" 2 'from 1 to 64' "$OK" --complexity 'exp=0'
bad "--complexity twice" 2 '--complexity: "exp" stands twice' "$OK" --complexity 'exp=2,exp=2'
bad "impossible prices" 2 'leave no formula' "$OK" --complexity 'variable=41,constant=41'
bad "--maxdepth" 2 'from 1 to 64' "$OK" --maxdepth 0
bad "--maxsize" 2 '--maxsize: symreg.maxsize: expected' "$OK" --maxsize 100
bad "--batch" 2 '--batch: expected 0 or at least 2 rows' "$OK" --batch 1
bad "--compat" 2 '--compat: symreg.algorithm: expected one of orrery|pysr' "$OK" --compat gplearn
bad "--binary without commas" 2 'expected a list A,B of some of +|-' "$OK" --binary '+ -'
bad "--rule" 2 '--rule: expected one of accuracy|score|best|mdl, found "worst"' "$OK" --rule worst
bad "--attention" 2 '--attention: belongs to the laws of a run' "$OK" --attention lssar
bad "--run" 2 '--run: belongs to the laws of a run' "$OK" --run "$WORK/none"
bad "--plan" 2 '--plan: belongs to the laws of a run' "$OK" --plan
# what counts for runs alone
for key in orbits.law orbits.expression planets.enabled attention model.layers pretrain.steps \
    pretrain_planets.lr finetune.vector.steps text.train symreg.constant_tolerance; do
    bad "--set $key" 2 "--set: $key: belongs to a run" "$OK" --set $key=1
done
refuse "--rule without --out" 2 '--out DIR' -- "$BIN/symreg" "$F" --target y --quiet --rule mdl
bad "--seconds" 2 '--seconds: symreg.seconds: expected' "$OK" --seconds -1
# the options of settings: refused as --set refuses them, under their own name, and without a
# table
for option in seconds evaluations iterations stop-loss; do
    key=symreg.${option/-/_}
    bad "--$option" 2 "--$option: $key: expected" "$OK" --$option 2x
    bad "--set $key" 2 "--set: $key: expected" "$OK" --set $key=2x
    refuse "--$option without FILE" 2 \
        "--$option: belongs to symreg motion TRACKS.csv and a table (FILE.csv)" -- \
        "$BIN/symreg" --$option 1
done
for option in binary unary; do
    bad "--$option" 2 "--$option: symreg.$option: expected a list of names" "$OK" --$option 'a,,b'
done
refuse "--resume without --out" 2 '--out DIR' -- "$BIN/symreg" "$F" --target y --quiet --resume
mkdir "$run/fits"
for result in front.csv log.jsonl; do # (a kill would leave no table)
    printf 'x,y\n1,2\n2,4\n3,6\n' >"$run/fits/$result"
    ln -sf "$run/fits/$result" "$WORK/link.csv"
    refuse "a table that --out would replace: $result" 2 --out: \
        "$run/fits/$result is the table" -- timeout "$LIMIT" "$BIN/symreg" "$WORK/link.csv" \
        --target y --quiet --out "$run/fits"
done
refuse "an option without FILE" 2 'a table (FILE.csv), not to the laws of a run' -- \
    "$BIN/symreg" --units x=m
for number in +5 ' 5' 5. 99999999999999999999; do
    refuse "the number \"$number\"" 2 '--maxdepth: expected a whole number from 1 to 64, found' -- \
        "$BIN/symreg" "$F" --target y --maxdepth "$number"
done
refuse "a FILE that is not there, without --target" 2 'help: no such file; see symreg --help' -- \
    "$BIN/symreg" help
refuse "FILE without --target" 2 'Give --target COLUMN' -- "$BIN/symreg" "$F"

# ---- odd, but sound
good() { # NAME TEXT OPTION...
    local name=$1 text=$2
    shift 2
    table "$text"
    check "$name" prints '^ +1 +[0-9.e+-]+ ' \
        program symreg "$F" --target y --quiet --threads 1 --iterations 2 "$@"
}
small=(--set symreg.populations=2 --set symreg.cycles=20)
# prints_err PATTERN TEXT: what is said of a table that is fitted
prints_err() {
    table "$2"
    local said=$WORK/said
    [ $# -eq 2 ] || said=$WORK/said-more
    program symreg "$F" --target y --threads 1 --iterations 1 "${small[@]}" --out "$said" \
        "${@:3}" 2>&1 >/dev/null | grep -E "$1"
}
check "a unit that may be misspelt is not named" prints_err \
    '^symreg: --units: "Kg" is no known unit \(did you mean "kg"\?\): it counts as one of its' \
    'x,y\n1,3\n2,5\n3,8\n' --units x=Kg,y=m
check_not "a known unit or degrees are named" prints_err 'no known unit' \
    'x,y\n1,3\n2,5\n3,8\n' --units x=deg,y=kg
good "constant target" 'x,y\n1,3\n2,3\n3,3\n' "${small[@]}" --out "$WORK/constant"
check "constant target: the constant" grep -q '^1,0,"3"' "$WORK/constant/front.csv"
good "numbers of the rows" ',x,y\n0,2,5\n1,3,4\n2,1,6\n' "${small[@]}" --out "$WORK/numbered"
check "numbers of the rows: no feature" grep -q '"features":[[:space:]]*\["x"\]' \
    "$WORK/numbered/front.json"
good "Latin-1 in a column of names" 'n,x,y\n\351,2,5\n\366,3,4\n' "${small[@]}"
good "a long name" "d${hundred:1},y\n1,2\n2,4\n" "${small[@]}"
good "names in UTF-8" 'größe,加速度 y\n1,2\n2,4\n' "${small[@]}" --target '加速度 y'
good "target of zeros" 'x,y\n1,0\n2,0\n3,0\n' "${small[@]}"
good "constant feature" 'x,y\n1,3\n1,4\n1,5\n' "${small[@]}"
good "two rows" 'x,y\n1,3\n2,4\n' "${small[@]}"
good "huge and tiny numbers" 'x,y\n1e300,1e-140\n2e300,3e-140\n-1e300,2e-140\n' "${small[@]}"
good "spreadsheet's marks" '\xef\xbb\xbfx,y\r\n1,3\r\n2,4\r\n' "${small[@]}" --features x
good "blank lines" '\n\nx,y\n \n1,3\n\n2,4\n\n\n' "${small[@]}"
good "blank lines, CRLF" '\xef\xbb\xbf\r\nx,y\r\n\r\n1,3\r\n2,4\r\n\r\n' "${small[@]}" --features x
good "semicolons in names" 'x;a,y\n1,3\n2,4\n' "${small[@]}" --features '"x;a"'
good "a header of numpy" '# x,y\n1.0e+00,3.0e+00\n2.0e+00,4.0e+00\n' "${small[@]}" --features x
good "blanks between" 'x y\n1 2\n3 4\n' "${small[@]}"
good "blanks between: with names behind #" '# x y\n1   2\n3   4\n' "${small[@]}"
good "blanks between: in quotes" '"x" "y"\n1 2\n3 4\n' "${small[@]}"
good "tabs between" 'x\ty\n1\t2\n3\t4\n' "${small[@]}"
good "bars between" 'x | y\n1 | 2\n3 | 4\n' "${small[@]}"
good "comments behind the rows" 'x,y\n1,2\n3,4\n# end\n\n#\n' "${small[@]}"
good "true and false" 'x,y\nTrue,2\nFalse,4\n' "${small[@]}" --features x
good "sexagesimal numbers" 'x,y\n12:30:00,2\n-0:15:00,4\n' "${small[@]}" --features x
good "a row of units" 'x,y\nkm,m/s2\n1,2\n3,4\n' "${small[@]}"
good "units that no formula meets" 'x,y\nm,s\n1,1\n2,2\n3,3\n' "${small[@]}" --guess 'x*exp(x)'
good "quoted names" '"my x, m","y"\n1,3\n2,4\n' "${small[@]}" --out "$WORK/quoted"
check "quoted names: in C" grep -q 'my_x_m' "$WORK/quoted/front_full.csv"
check "quoted names: in a formula" grep -q '""my x, m""' "$WORK/quoted/front.csv"
# an equation of front.csv is a guess of the next search, and names are quoted alike everywhere
table '"my x, m",exp,"a""b",größe,y\n1,2,3,9,10\n2,1,4,1,14\n3,3,2,5,9\n4,1,1,2,7\n5,2,7,1,26\n'
names=(program symreg "$F" --target y --threads 1 --quiet --binary '+,*' --unary ''
    --features '"my x, m", exp,"a""b",größe' --units '"my x, m"=m, "a""b"=1, exp=1, y=1'
    --units-penalty 0.01 "${small[@]}")
"${names[@]}" --iterations 2 --out "$WORK/named" >/dev/null
read_back() { # every equation of the front, as a table with doubled quotes
    local guess
    guess=$(tail -n +2 "$WORK/named/front.csv" | sed 's/^[^,]*,[^,]*,"//; s/"$//; s/""/"/g' |
        paste -sd ';')
    [[ $guess == *'"my x, m"'* && $guess == *'"a""b"'* ]] &&
        "${names[@]}" --iterations 0 --guess "$guess"
}
check "equations are read back" read_back
check "lines before the header: said" prints_err 'skipped 2 lines before the header' \
    '# by\n# an archive\nname,x,y\na,1,2\n\nb,2,3.9D+00\n'
check "text columns: said" prints_err ':4: column "name" has no numbers \("a"\) and is left out' \
    '# by\n# an archive\nname,x,y\na,1,2\n\nb,2,3.9D+00\n'
check "text columns: said: in the log" grep -q '^{"skipped_lines": 2}$' "$WORK/said/log.jsonl"
check "comments behind the rows: said" prints_err 'skipped 2 lines behind the rows' \
    'x,y\n1,2\n3,4\n# end\n#\n'
check "the layout: said" prints_err 'read as cells with blanks between' 'x y\n1 2\n3 4\n'
check "dates: said" prints_err \
    ':2: column "d" has dates, not numbers \("3/1/2021"\) and is left' \
    'd,x,y\n3/1/2021,1,2\n4/1/2021,3,4\n'
check "true and false: said" prints_err 'column "x" has true and false, read as 1 and 0' \
    'x,y\nT,2\nF,4\n'
check "sexagesimal numbers: said" prints_err '"12:30:00" is 12.5' 'x,y\n12:30:00,2\n0:15:00,4\n'
check "units: said" prints_err 'units of the file: "x"=km,"y"=m/s\^2 \(--units none' \
    'x,y\nkm,m/s2\n1,2\n3,4\n'
check "units: said: of which one is not understood" \
    prints_err 'the unit "\[Sun\]" is not understood' \
    'x,y\nkm,[Sun]\n1,2\n3,4\n'
check "units: said: that no guess meets" prints_err 'units of the file are not used: --guess' \
    'x,y\nm,s\n1,1\n2,2\n3,3\n' --guess 'x*exp(x)'
good "one operator" "$OK" "${small[@]}" --binary + --unary ''
awk 'BEGIN { print "x,z,y"; for (i = 0; i < 1000000; i++) { x = i % 997 / 100; z = i % 89 / 10
             printf "%.2f,%.1f,%.4f\n", x, z, 3 * x * z + 1 } }' >"$F"
check "a million rows" prints '^ +1 +[0-9.e+-]+ ' \
    program symreg "$F" --target y --quiet --threads 2 --batch 500 --iterations 3 "${small[@]}"
finish
