#!/usr/bin/env bash
# test_horizons.sh - symreg motion on files in the layouts of JPL Horizons: vectors as text and as
# CSV, in AU or km, elements, several bodies. Positions are those of docs/data/planet_tracks.csv
# (VSOP87) and of drawn ellipses; only the layouts are of Horizons.
. tests/cli/lib.sh
fast_pictures
. tests/cli/accelerations.sh
# heading BODY CENTRE UNITS: what stands above the block
heading() {
    local stars='*******************************************************************************'
    printf '%s\n' "$stars" " Revised: 2021-Apr-12   drawn, in the layout of Horizons" "$stars" \
        "Target body name: $1                     {source: VSOP87}" \
        "Center body name: $2                     {source: VSOP87}" \
        "Center-site name: BODY CENTER" "$stars" "Output units    : $3" \
        "Output type     : GEOMETRIC cartesian states" \
        "Reference frame : Ecliptic of J2000.0" "$stars"
}
# tracks BODY: days and AU, "JD x y z" a line
tracks() {
    awk -F, -v body="$1" '$2 == body {
        printf "%.9f %.9f %.9f %.9f\n", 2451545 + $1 * 365.2568983, $4, $5, $6 }' \
        docs/data/planet_tracks.csv
}
# as_text NAME UNITS FACTOR: positions of standard input as labelled text
as_text() {
    heading "$1" "Sun (10)" "$2"
    echo "JDTDB"
    echo "   X     Y     Z"
    echo '$$SOE'
    awk -v f="$3" '{ printf "%.9f = A.D. 2000-Jan-01 12:00:00.0000 TDB \n", $1
        printf " X =%22.15E Y =%22.15E Z =%22.15E\n", f * $2, f * $3, f * $4 }'
    echo '$$EOE'
}
# as_csv NAME UNITS FACTOR
as_csv() {
    heading "$1" "Sun (10)" "$2"
    echo "            JDTDB,            Calendar Date (TDB),     X,     Y,    Z,"
    echo '$$SOE'
    awk -v f="$3" '{ printf "%.9f, A.D. 2000-Jan-01 12:00:00.0000, %.15E, %.15E, %.15E,\n", $1,
        f * $2, f * $3, f * $4 }'
    echo '$$EOE'
}
motion() { # NAME OPTION...: a short search; the terminal's text in $WORK/NAME.log
    local name=$1
    shift
    program symreg motion "$@" --threads 1 --iterations 3 --maxsize 9 \
        --set symreg.enumerate=5000 --binary '*,/' --unary square,inv --out "$WORK/$name" \
        >"$WORK/$name.log" 2>&1
}
law_of() { # LOG: the formula that best chooses
    sed -nE 's/^best: (.*)   \(.*/\1/p' "$1"
}

AU=149597870.7
tracks venus | as_text "Venus (299)" AU-D 1 >"$WORK/venus.txt"
tracks earth | as_csv "Earth (399)" KM-S $AU >"$WORK/earth.txt"
tracks mars | as_csv "Mars (499)" KM-D $AU >"$WORK/mars.txt"
tracks mercury | as_text "Mercury (199)" KM-S $AU >"$WORK/mercury.txt"

# ---- one body, without --time and --position
check "vectors in AU" motion venus "$WORK/venus.txt"
check "vectors in AU: say what they are" \
    prints '1 body of JPL Horizons, from Sun, Ecliptic of J2000.0: AU, days' cat "$WORK/venus.log"
check "vectors in AU: give GM of the Sun, AU^3/day^2" computes venus '2.95912e-4 / $1 ^ 2' 3e-5
check "vectors in km" motion mercury "$WORK/mercury.txt"
check "vectors in km: give GM of the Sun, km^3/day^2" computes mercury '9.90693e20 / $1 ^ 2' 3e-5
check "columns by their names" motion named "$WORK/venus.txt" --time JDTDB --position X,Y,Z \
    --centre 0,0,0
check "columns by their names: give the same law" same_by law_of "$WORK/named.log" "$WORK/venus.log"
for s in ';' '\t'; do # as a spreadsheet saves them, with more separators at the ends of lines
    name="${s/\\t/tabs} between cells"
    tracks earth | as_csv "Earth (399)" KM-S $AU | sed "s/, */$s/g; s/\$/$s$s/" >"$WORK/cells.txt"
    check "$name" motion cells "$WORK/cells.txt"
    check "$name: give GM of the Sun, km^3/day^2" computes cells '9.90693e20 / $1 ^ 2' 3e-5
done
sed '/^ X =/s/  */\t/g' "$WORK/venus.txt" >"$WORK/tabbed.txt"
check "tabs in place of blanks" motion tabbed "$WORK/tabbed.txt"
check "tabs: give the same law" same_by law_of "$WORK/tabbed.log" "$WORK/venus.log"

# ---- several: the Sun is where they are from, and masses are known by their numbers
check "three planets, of other units and layouts" motion three "$WORK/mercury.txt" \
    "$WORK/venus.txt" "$WORK/earth.txt"
check "three planets, of other units and layouts: are four bodies with the Sun" \
    prints '4 bodies of JPL Horizons, from Sun, .* km, days' \
    cat "$WORK/three.log"
check "three planets, of other units and layouts: whose law is m1 m2 / r^2 for masses GM" \
    computes three '$2 * $3 / $1 ^ 2' 2e-4

# ---- elements: an ellipse of a = 1.2 AU, e = 0.35, by which GM = n^2 a^3
E=$WORK/elements.txt
heading "drawn" "Sun (10)" AU-D >"$E"
echo " JDTDB, Calendar Date (TDB), EC, QR, IN, OM, W, Tp, N, MA, TA, A, AD, PR," >>"$E"
echo '$$SOE' >>"$E"
awk 'BEGIN { pi = atan2(0, -1); e = 0.35; a = 1.2; n = 0.75 * pi / 180
    for (day = 0; day < 900; day += 6) {
        M = n * day; E = M
        for (k = 0; k < 60; k++) E -= (E - e * sin(E) - M) / (1 - e * cos(E))
        nu = 2 * atan2(sqrt(1 + e) * sin(E / 2), sqrt(1 - e) * cos(E / 2))
        printf "%.9f, A.D. 2000-Jan-01, %.15E, %.15E, 23.1, 141.7, 77.3, 2451545, %.15E, ",
            2451545 + day, e, a * (1 - e), 0.75
        printf "%.15E, %.15E, %.15E, 1.6, 480,\n", M * 180 / pi, nu * 180 / pi, a } }' >>"$E"
echo '$$EOE' >>"$E"
check "elements" motion elements "$E"
check "elements: give n^2 a^3" computes elements \
    '(0.75 * 3.14159265358979 / 180) ^ 2 * 1.728 / $1 ^ 2' 1e-5

# ---- what is refused
refused() { # NAME STATUS PATTERN FILE...
    local name=$1 status=$2 pattern=$3
    shift 3
    refuse "$name" "$status" "$pattern" -- "$BIN/symreg" motion --quiet "$@"
}
refused "a table without --time" 2 'motion needs --time COLUMN and --position' \
    docs/data/planet_tracks.csv
refused "columns of several files" 2 'no columns of several files' "$WORK/venus.txt" \
    "$WORK/earth.txt" --time JDTDB --position X,Y,Z
refused "a body twice" 1 'expected another body than' "$WORK/venus.txt" "$WORK/venus.txt"
sed 's/Sun (10)/Solar System Barycenter (0)/' "$WORK/earth.txt" >"$WORK/other.txt"
refused "another centre" 1 'expected the centre "Sun"' "$WORK/venus.txt" "$WORK/other.txt"
sed 's/Ecliptic of J2000.0/ICRF/' "$WORK/earth.txt" >"$WORK/frame.txt"
refused "another frame" 1 'expected the frame "Ecliptic of J2000.0"' "$WORK/venus.txt" \
    "$WORK/frame.txt"
sed '/Output units/d' "$WORK/earth.txt" >"$WORK/units.txt"
refused "no units" 1 'units.txt: expected lines "Target body name: ..." and "Output units' \
    "$WORK/units.txt"
tracks mars | as_csv "Hekate (20000100)" AU-D 1 >"$WORK/hekate.txt"
refused "three bodies, of which one has no GM" 1 \
    'hekate.txt: forces between 4 bodies need GM of each, expected a line such as "GM' \
    "$WORK/mercury.txt" "$WORK/venus.txt" "$WORK/hekate.txt"
check "three bodies, of which one has no GM: with the Sun as their centre" \
    motion light "$WORK/mercury.txt" "$WORK/venus.txt" \
    "$WORK/hekate.txt" --centre Sun
check "three bodies, of which one has no GM: give GM of the Sun as a constant, km^3/day^2" \
    computes light '9.90693e20 / $1 ^ 2' 3e-5
tr ., ',;' <"$WORK/earth.txt" | sed 's/J2000,0/J2000.0/' >"$WORK/commas.txt"
refused "decimal commas" 1 \
    'commas.txt:14: "2451545,000000000" has a decimal comma, expected decimal' "$WORK/commas.txt"
sed '/EOE/d' "$WORK/earth.txt" >"$WORK/cut.txt"
refused "a file that is cut off" 1 'the file is cut off' "$WORK/cut.txt"
cat "$WORK/venus.txt" "$WORK/earth.txt" >"$WORK/both.txt"
refused "two bodies in one file" 1 'a second $$SOE, expected a file of its own for each body' \
    "$WORK/both.txt"
{ printf '{"signature":{"version":"1.2"},"result":"' && sed 's/$/\\n/' "$WORK/venus.txt" |
    tr -d '\n' && printf '"}'; } >"$WORK/venus.json"
refused "an answer of the API as JSON" 1 \
    "JSON of JPL Horizons, expected a text file; converted by: python3" "$WORK/venus.json" \
    --time JDTDB --position X,Y,Z --centre 0,0,0
sed 's/^[$][$]SOE/  &/; s/^[$][$]EOE/ & /' "$WORK/venus.txt" >"$WORK/indented.txt"
check "marks behind blanks" motion indented "$WORK/indented.txt"
check "marks behind blanks: give the same law" same_by law_of "$WORK/indented.log" "$WORK/venus.log"
finish
