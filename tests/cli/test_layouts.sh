#!/usr/bin/env bash
# test_layouts.sh - symreg, symreg motion and symreg predict read tables in the layouts of
# astronomy; formats that are not read are refused with a command that works.
. tests/cli/lib.sh
CASES=tests/cases/layouts
LAW='365\.2(5|49999)[^+]*best'
GUESS='365*a*sqrt(a/M)' # the search is to fit its constant
FEW=(--threads 1 --seed 1 --iterations 1 --set symreg.enumerate=500 --set symreg.populations=2
    --set symreg.cycles=20)
# search OUT FILE OPTION...: a short search, its texts in OUT.txt
search() {
    local out=$1 file=$2
    shift 2
    program symreg "$file" "${FEW[@]}" --out "$out" "$@" >"$out.txt" 2>&1
}

# ---- Kepler's third law in days, AU and solar masses, from every layout
for end in ecsv ipac mrt npz basic; do
    out=$WORK/$end
    check "$end" search "$out" "$CASES/planets.$end" --target P --features a,M --missing drop \
        --maxsize 9 --guess "$GUESS"
    check "$end: the law" prints "$LAW" grep -- '<- .*best' "$out.txt"
    check "$end: says what is missing" grep -q \
        '1 of 8 rows have a missing value and are left out, 7 are used: 1 in "M"' "$out.txt"
done
for end in ecsv ipac mrt; do
    check "$end: its units" grep -qF \
        'units of the file: "a"=AU,"M"=M_sun,"P"=d (--units none: without)' \
        "$WORK/$end.txt"
done
check "units of arrays: none" lacks 'units of the file' "$WORK/npz.txt"
check "--units none" search "$WORK/none" "$CASES/planets.ecsv" --target P --features a \
    --units none
check "--units none: uses none" lacks 'units of the file' "$WORK/none.txt"
check "--units takes precedence" search "$WORK/given" "$CASES/planets.ecsv" --target P \
    --features a --units 'a=m,P=s'
check "--units takes precedence: over those of the file" lacks 'units of the file' "$WORK/given.txt"
check "units reach named constants" search "$WORK/named" "$CASES/planets.ecsv" --target P \
    --features a,M --missing drop --constants G
check "units reach named constants: in the units of the file" prints \
    'G = 0\.000295912.* AU\^3/M_sun/d\^2' cat "$WORK/named.txt"
for file in j2_ipac.tbl j4_units_row.csv j3_table.mrt j5_dashes.csv; do
    check "$file" search "$WORK/$file" "$CASES/$file" --target P --missing drop --maxsize 9 \
        --guess "$GUESS"
    check "$file: the law" prints "$LAW" grep -- '<- .*best' "$WORK/$file.txt"
done
check "true and false" search "$WORK/hot" "$CASES/j7_true_false.csv" --target P --maxsize 9
check "true and false: are numbers" \
    grep -q 'column "hot" has true and false, read as 1 and 0' "$WORK/hot.txt"
check "true and false: and features" grep -q '"hot"' "$WORK/hot/front.json"
check "OMNI" search "$WORK/omni" "$CASES/j8_omni_layout.csv" --target PRESSURE
check "OMNI: its units" grep -qF '"SPEED"=km/s,"DENSITY"=1/cc,"PRESSURE"=nPa' "$WORK/omni.txt"
check "OMNI: its line at the end" grep -q 'skipped 1 line behind the rows' "$WORK/omni.txt"
gzip -c "$CASES/planets.mrt" >"$WORK/planets.gz"
stream() {
    "$BIN/symreg" - "${FEW[@]}" --target P --features a,M --missing drop --maxsize 9 \
        --guess "$GUESS" <"$WORK/planets.gz"
}
check "standard input, compressed" prints "$LAW" stream

# ---- other tables of the same search
predicted=$(program symreg predict "$WORK/ecsv/front.json" "$CASES/planets.ipac" \
    --missing drop --quiet)
check "predict: all rows" equal 9 "$(wc -l <<<"$predicted")"
check "--test" search "$WORK/test" "$CASES/planets.ecsv" --target P --features a,M --missing drop \
    --maxsize 9 --test "$CASES/planets.rst"
check "--test: says how it is read" \
    grep -q 'planets.rst: read as columns below a rule' "$WORK/test.txt"
check "--test: and what is missing" grep -q \
    'planets.rst: 1 of 8 rows have a missing value' "$WORK/test.txt"

# ---- motion
orbit=(--position X,Y,Z --centre 0,0,0 --threads 1 --seed 1 --iterations 1 --maxsize 9
    --set symreg.enumerate=5000 --set symreg.populations=2 --set symreg.cycles=50)
check "motion, Horizons" prints '0\.0002959122[0-9]* / square\(r\)' \
    program symreg motion tests/cases/large/horizons.txt --time JDTDB "${orbit[@]}"
check "motion, Horizons: says how it is read" \
    grep -q 'read as JPL Horizons, \$\$SOE to \$\$EOE' "$WORK/.printed"
awk '/ = A.D./ && ++n == 7 { hole = 1 }
    hole && /^ X =/ { sub(/Y = *[^ ]*/, "Y = n.a."); hole = 0 } { print }' \
    tests/cases/large/horizons.txt >"$WORK/hole.txt"
refuse "motion, a missing value" 1 \
    'column "Y": expected a finite number, found "n.a."; --missing drop' -- "$BIN/symreg" \
    motion "$WORK/hole.txt" --time JDTDB "${orbit[@]}"
check "motion, --missing drop" prints '1 of [0-9]+ rows have a missing value .* 1 in "Y"' \
    program symreg motion "$WORK/hole.txt" --time JDTDB "${orbit[@]}" --missing drop
refuse "motion, dates" 1 \
    'found "A.D. 2000-Jan-01 12:00:00.0000 TDB", a date; expected days' -- \
    "$BIN/symreg" motion tests/cases/large/horizons.txt --time 'Calendar Date (TDB)' "${orbit[@]}"

# ---- what is not read is refused with a command that works. advised FILE: runs it
advised() {
    "$BIN/symreg" "$1" --target "$2" 2>"$WORK/advice" && return 1
    sed 's/; of pandas.*//; s/.* by: //; s,FILE,'"$1"',; s,NEW,'"$WORK/new.csv"',' \
        "$WORK/advice" >"$WORK/advice.sh"
    rm -f "$WORK/new.csv"
    bash "$WORK/advice.sh" && "$BIN/symreg" "$WORK/new.csv" --target "$2" "${FEW[@]}" \
        --missing drop --maxsize 5
}
python=$(sed 's/ .*//' <<<"${PYTHON:-python3}")
if "$python" -c 'import astropy.table' 2>/dev/null; then
    for form in votable fits; do
        "$python" -c "from astropy.table import Table
Table.read('$CASES/planets.ecsv', format='ascii.ecsv').write('$WORK/table.$form', format='$form')"
        check "$form: the advice works" advised "$WORK/table.$form" P
    done
else
    skip "advice about VOTable and FITS" "no astropy"
fi
if "$python" -c 'import pandas' 2>/dev/null; then
    "$python" -c "import pandas; pandas.read_csv('$CASES/planets.csv').to_json('$WORK/table.json')"
    check "JSON: the advice works" advised "$WORK/table.json" P
    sed -E 's,^([0-9]{4})-([0-9]{2})-([0-9]{2}),\2/\3/\1,' "$CASES/j6_dates.csv" >"$WORK/us.csv"
    check "dates: the advice works" advised "$WORK/us.csv" mag
else
    skip "advice about JSON and dates" "no pandas"
fi
finish
