#!/usr/bin/env bash
# test_simulate.sh - symreg simulate: the solution of a file of equations as a table, beside closed
# forms; files, starts and times that cannot be used are refused.
. tests/cli/lib.sh

# equations NAME TEXT
equations() {
    printf '%s\n' "$2" >"$WORK/$1.json"
}
# simulate NAME OPTION...: the table in $WORK/NAME.csv
simulate() {
    local name=$1
    shift
    program symreg simulate "$WORK/$name.json" "$@" >"$WORK/$name.csv"
}
# follows NAME ROWS LAW TOLERANCE: the second column is LAW of t, the first, in so many rows
follows() {
    awk -F, -v rows="$2" -v tolerance="$4" '
        NR > 1 { t = $1; off = $2 - ('"$3"'); off = off < 0 ? -off : off
            if (!(off < tolerance)) { print "off by", off, "at", t; bad = 1 }; n++ }
        END { print n + 0, "rows"; exit bad || n != rows }' "$WORK/$1.csv"
}
header() {
    head -n 1 "$WORK/$1.csv"
}

# ---- solutions
equations circle '{"equations": ["1.5 * y", "-1.5 * x"], "columns": ["x", "y"]}'
check "a circle is simulated" simulate circle --start x=0.3,y=0.4 --times 0:10:0.25
check "a circle is simulated: with rows of all times" \
    follows circle 41 '0.3 * cos(1.5 * t) + 0.4 * sin(1.5 * t)' 1e-8
check "a circle is simulated: in columns of its names" equal "$(header circle)" t,x,y
check "the order of the start does not matter" simulate circle --start y=4e-1,x=.3 \
    --times 0:10:0.25
check "the order of the start does not matter: at all" \
    follows circle 41 '0.3 * cos(1.5 * t) + 0.4 * sin(1.5 * t)' 1e-8

equations falling '{"equations": ["-9.81 - 0.5 * v_h"], "columns": ["h"], "order": 2, "time": "s"}'
check "an order of 2 has velocities" simulate falling --start h=10,v_h=2 --times -1:1:0.5
check "an order of 2 has velocities: in columns of their own" equal "$(header falling)" s,h,v_h
check "an order of 2 has velocities: and falls with drag" follows falling 5 \
    '10 - 19.62 * (t + 1) + 2 * (2 + 19.62) * (1 - exp(-0.5 * (t + 1)))' 1e-8

equations plain '{"equations": ["-x0", "x0 - x1"]}'
check "without columns names are x0, x1" simulate plain --start x0=1,x1=0 --times 0:2:1
check "without columns names are x0, x1: and t" equal "$(header plain)" t,x0,x1

equations defined \
    '{"equations": ["0 - half(\"a, b\")"], "columns": ["a, b"], "define": "half(x)=x/2"}'
check "operators of the user and quoted names" simulate defined --start '"a, b"=3' --times 0:4:0.5
check "operators of the user and quoted names: are read" follows defined 9 '3 * exp(-t / 2)' 1e-8
check "operators of the user and quoted names: and written in quotes" \
    equal "$(header defined)" 't,"a, b"'

printf 't,other\n0,1\n0.1,1\n2.5,1\n' >"$WORK/times.csv"
check "times of a file" simulate circle --start x=1,y=0 --times "$WORK/times.csv"
check "times of a file: are those of the rows" follows circle 3 'cos(1.5 * t)' 1e-8

# u rises from 0 to 2 by t = 1 and stays
equations driven '{"equations": ["u"], "columns": ["x"], "inputs": ["u"]}'
printf 't,u\n0,0\n1,2\n3,2\n' >"$WORK/u.csv"
check "an input is a column of a file" simulate driven --start x=0.5 --times 0.5:2.5:0.4 \
    --input "$WORK/u.csv"
check "an input is a column of a file: and linear between rows" follows driven 6 \
    '0.5 + (t < 1 ? t * t - 0.25 : 0.75 + 2 * (t - 1))' 1e-9

check "--out writes a file" program symreg simulate "$WORK/circle.json" --start x=0.3,y=0.4 \
    --times 0:10:0.25 --out "$WORK/kept.csv"
check "--out writes a file: of the table" simulate circle --start x=0.3,y=0.4 --times 0:10:0.25
check "--out writes a file: as it is printed" same_file "$WORK/kept.csv" "$WORK/circle.csv"

# ---- the same bytes on every CPU
equations mixed \
    '{"equations": ["y", "sin(x) * exp(-y / 3) - log(abs(x) + 1) ^ 1.3"], "columns": ["x", "y"]}'
isa() {
    ORRERY_ISA=$1 "$BIN/symreg" simulate "$WORK/mixed.json" --start x=0.3,y=0.4 --times 0:20:0.5
}
check "a plain instruction set gives the same bytes" same_by isa plain ""

# ---- a solution that ends
equations explosion '{"equations": ["x * x"], "columns": ["x"]}'
STDOUT=any refuse "x' = x^2 ends at 1 / x" 1 \
    'explosion.json: the solution ends at the time 0.5' -- \
    "$BIN/symreg" simulate "$WORK/explosion.json" --start x=2 --times 0:1:0.2
check_not "x' = x^2 ends at 1 / x: with an error" simulate explosion --start x=2 --times 0:1:0.2
check "x' = x^2 ends at 1 / x: and the rows up to there" follows explosion 3 '2 / (1 - 2 * t)' 1e-6

equations stiff '{"equations": ["-1e9 * x"], "columns": ["x"]}'
STDOUT=any refuse "stiff equations" 1 'stiff.json: the solution ends at the time' \
    'stiff equations; nearer times have more steps' -- \
    "$BIN/symreg" simulate "$WORK/stiff.json" --start x=1 --times 0:1:0.5
check "a start with blanks" simulate circle --start 'x=0.3 , y=0.4 ' --times 0:10:0.25
check "a start with blanks: is the start" \
    follows circle 41 '0.3 * cos(1.5 * t) + 0.4 * sin(1.5 * t)' 1e-8

# ---- what is refused
no() { # NAME STATUS PATTERN FILE OPTION...
    refuse "$1" "$2" "$3" -- "$BIN/symreg" simulate "$WORK/$4.json" "${@:5}"
}
at=(--start x=1,y=0 --times 0:1:0.1)
no "no start" 2 'simulate needs --start x=1,y=0 and --times' circle --times 0:1:0.1
no "a start that lacks a state" 2 '--start: expected 2 numbers, found none for "y"' circle \
    --start x=1 --times 0:1:0.1
no "a start of no state" 2 'circle.json, which has "x", "y"' circle \
    --start x=1,y=0,z=2 --times 0:1:0.1
no "a state twice" 2 '--start: "x" is given twice' circle --start x=1,y=0,x=2 --times 0:1:0.1
no "a start that is no number" 2 '--start: expected a number as "y", found "up"' circle \
    --start x=1,y=up --times 0:1:0.1
no "a start without names" 2 '--start: expected NAME=NUMBER' circle --start 1,0 --times 0:1:0.1
no "times that end before they begin" 2 '--times: expected BEGIN:END:STEP' circle \
    --start x=1,y=0 --times 1:0:0.1
no "a step of 0" 2 '--times: expected BEGIN:END:STEP' circle --start x=1,y=0 --times 0:1:0
no "a list of times is not said to be no range and no file" 2 \
    '--times: expected BEGIN:END:STEP or a CSV file, found "0,1,2", which is no file' circle \
    --start x=1,y=0 --times 0,1,2
printf 't\n0\n2\n1\n' >"$WORK/falls.csv"
no "times that fall" 1 \
    'falls.csv:4: column "t": expected a time after 2 of line 3, found 1' circle \
    --start x=1,y=0 --times "$WORK/falls.csv"
printf 's\n0\n2\n' >"$WORK/named.csv"
no "a file without the time" 1 'named.csv: no column "t"' circle --start x=1,y=0 \
    --times "$WORK/named.csv"
no "a missing file of equations" 1 'nowhere.json' nowhere "${at[@]}"
no "an input that is not given" 2 '--input FILE.csv with "u" is needed' driven --start x=0 \
    --times 0:1:0.1
no "an input of a system without" 2 'circle.json has no inputs' circle "${at[@]}" \
    --input "$WORK/u.csv"
no "inputs that end too early" 1 'u.csv: expected inputs from the time 0 to 4, found 0 to 3' \
    driven --start x=0 --times 0:4:0.5 --input "$WORK/u.csv"
no "an option of a search" 2 '--target' circle "${at[@]}" --target x

wrong() { # NAME PATTERN JSON
    equations wrong "$3"
    no "$1" 1 "wrong.json: $2" wrong "${at[@]}"
}
wrong "a file without equations" 'expected "equations", a list of 1 to 8 formulas' '{"order": 1}'
wrong "no list of equations" 'expected "equations", a list of 1 to 8 formulas' '{"equations": "x"}'
wrong "an unknown name" 'equation 2: formula: expected a known name, an operator or a number' \
    '{"equations": ["x", "q"], "columns": ["x", "y"]}'
wrong "an order of 3" 'expected 1 or 2 as "order"' \
    '{"equations": ["x", "y"], "columns": ["x", "y"], "order": 3}'
wrong "a column too few" 'expected 2 names in "columns"' \
    '{"equations": ["x", "y"], "columns": ["x"]}'
wrong "a name twice" '"x" is the name of two columns' \
    '{"equations": ["x", "x"], "columns": ["x", "x"]}'
wrong "operators that are none" '"define": ' \
    '{"equations": ["x", "y"], "columns": ["x", "y"], "define": "half(x)="}'

finish
