#!/usr/bin/env bash
# test_orbit.sh - symreg orbit: velocities of docs/data, drawn from two orbits; what is refused;
# the C functions of docs/symreg.md that formulas with anomalies call.
. tests/cli/lib.sh
DATA=docs/data/velocities.csv
GIVEN=(--time bjd --velocity rv_m_s --sigma error_m_s)

# ---- the drawn orbits
check "orbits of the drawn velocities" program symreg orbit $DATA "${GIVEN[@]}" \
    --instrument instrument --star-mass 0.92,0.02 --out "$WORK/star"
check "orbits of the drawn velocities: with a report, a table and a picture" \
    test -s "$WORK/star/report.md" -a \
    -s "$WORK/star/orbit.csv" -a -s "$WORK/star/orbit.json"
if command -v gnuplot >"$WORK/.where"; then
    check "orbits of the drawn velocities: and a picture" test -s "$WORK/star/orbit.png"
fi
cat >"$WORK/within.py" <<'END'
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["recommended_planets"] == 2, answer["recommended_planets"]
truth = [dict(P=43.317, K=14.2, e=0.31, omega_deg=64.74),
         dict(P=611.4, K=21.6, e=0.12, omega_deg=240.64)]
for planet, of in zip(answer["planets"], truth):
    for key, value in of.items():
        found = planet[key]
        assert abs(found["value"] - value) < 3.5 * found["standard_error"], (key, found, value)
        assert found["low"] < found["value"] < found["high"], (key, found)
for instrument, gamma, jitter in zip(answer["instruments"], (12.3, -7.9), (1.5, 0.9)):
    assert abs(instrument["gamma"]["value"] - gamma) < 3.5 * instrument["gamma"]["standard_error"]
    found = instrument["jitter"]
    assert abs(found["value"] - jitter) < 3.5 * found["standard_error"], found
END
check "orbits of the drawn: elements, offsets and jitters are not within their errors" \
    python3 "$WORK/within.py" "$WORK/star/orbit.json"
page=$WORK/star/report.html
check "the page of an orbit has the elements" \
    grep -q '>period P, unit of time</td><td>43\.3[0-9]* +- ' "$page"
check "the page of an orbit has aliases" grep -q 'Alias by 1 day: P = 1.02' "$page"
check "the page of an orbit has the units that masses are taken from" \
    grep -q 'those of times in days and velocities in m/s' "$page"
check "the page of an orbit has offsets" grep -q '>gamma of A</td><td>12\.[0-9]* +- ' "$page"
cat >"$WORK/charts.py" <<'END'
import json, re, sys
page = open(sys.argv[1]).read()
assert "://" not in page.replace("http://www.w3.org/", ""), "an address"
group, = json.loads(re.search(r'id="groups">(.*?)</script>', page)[1])
first, second, rest, peaks = group["charts"]
for chart in first, second: # most velocities are within 3 errors of the nearest point of the curve
    near = [min(abs(x - u) for u in chart["curveX"]) < 0.01 and min(
        abs(y - v) for u, v in zip(chart["curveX"], chart["curveY"]) if abs(u - x) < 0.01) < 3 * s
        for x, y, s in zip(chart["x"], chart["y"], chart["sigma"])]
    assert len(near) == 90 and sum(near) > 85, sum(near)
assert 60 < sum(y * y for y in rest["y"]) < 120, rest["y"]
highest = max((y, x) for x, y in zip(peaks["curveX"], peaks["curveY"]) if y is not None)
assert 550 < highest[1] < 700, highest
END
check "the page of an orbit has curves, residuals and periodogram" python3 "$WORK/charts.py" "$page"
check "the table has a row per velocity" test "$(wc -l <"$WORK/star/orbit.csv")" -eq 91

# ---- the same on other instruction sets, and from rows in another order
check "orbits in plain loops" env ORRERY_ISA=plain "$BIN/symreg" orbit $DATA "${GIVEN[@]}" \
    --instrument instrument --star-mass 0.92,0.02 --out "$WORK/plain"
check "orbits in plain loops: have the same bytes" \
    same_file "$WORK/star/orbit.json" "$WORK/plain/orbit.json"
(head -1 $DATA && tail -n +2 $DATA | sort -t, -k2) >"$WORK/shuffled.csv"
check "velocities in another order" program symreg orbit "$WORK/shuffled.csv" \
    "${GIVEN[@]}" --instrument instrument --star-mass 0.92,0.02 --out "$WORK/shuffled"
check "velocities in another order: give the same orbits" \
    same_file "$WORK/star/orbit.csv" "$WORK/shuffled/orbit.csv"

# ---- one planet, none, and without errors
"$BIN/symreg" orbit $DATA "${GIVEN[@]}" --instrument instrument --planets 1 >"$WORK/one.txt"
check "--planets 1 reports one" prints '^1$' grep -c '^planet ' "$WORK/one.txt"
"$BIN/symreg" orbit $DATA "${GIVEN[@]}" --planets 0 >"$WORK/none.txt"
check "--planets 0 reports offset and jitter" prints '^  gamma ' grep gamma "$WORK/none.txt"
check "--planets 0 reports offset and jitter: alone, though two are recommended" \
    lacks '^planet ' "$WORK/none.txt"
check "--planets 0 reports offset and jitter: as a line says" \
    grep -q '^Recommended: two planets' "$WORK/none.txt"
awk 'BEGIN { srand(1); print "t,v"
    for (i = 0; i < 40; i++) print i * 1.37 "," 9 * cos(i) + rand() }' >"$WORK/wave.csv"
"$BIN/symreg" orbit "$WORK/wave.csv" --time t --velocity v >"$WORK/wave.txt"
check "one planet is recommended: beside another BIC in words" prints \
    '^Recommended: one planet; the BIC of two planets is (higher|lower) by [0-9.]+[.]$' \
    cat "$WORK/wave.txt"
"$BIN/symreg" orbit $DATA --time bjd --velocity rv_m_s --instrument instrument >"$WORK/alike.txt"
check "velocities without errors give two planets" prints '^2$' grep -c '^planet ' "$WORK/alike.txt"

# ---- what a reader should know
check "lines for terminals have at most 80 columns" \
    awk 'length > 80 { print; long = 1 } END { exit long || NR < 9 }' "$WORK/alike.txt"
sed -E '9s/^([^,]*),[^,]*,/\1,-9999,/' $DATA >"$WORK/fill.csv"
check "a velocity of -9999 is named" \
    prints 'fill.csv: the velocity -9999 at .* as far .* --missing-value -9999 leaves it out' \
    "$BIN/symreg" orbit "$WORK/fill.csv" "${GIVEN[@]}" --planets 0
"$BIN/symreg" orbit "$WORK/fill.csv" "${GIVEN[@]}" --planets 0 --missing-value -9999 \
    >"$WORK/left.txt" 2>&1
check "a velocity of -9999 is named: and no more once it is left out" \
    lacks 'as far from the median' "$WORK/left.txt"

awk -F, -v OFS=, '
    NR > 1 { $1 = sprintf("%.2f", 2457000 + 60 * int(NR / 30) + NR % 30 / 20) }
    1' $DATA >"$WORK/dense.csv"
check "times that would show short periods are noted" \
    prints 'are less than 0.05 apart: they would show periods below 1, .*--period' \
    "$BIN/symreg" orbit "$WORK/dense.csv" "${GIVEN[@]}" --planets 0
check "times of nights are not noted as dense" lacks 'apart: they would show' "$WORK/left.txt"
"$BIN/symreg" orbit "$WORK/dense.csv" "${GIVEN[@]}" --planets 0 --period 0.2,5 \
    >"$WORK/given.txt" 2>&1
check "dense times are not noted with --period" lacks 'apart: they would show' "$WORK/given.txt"

# ---- what is refused
refused() { # NAME STATUS PATTERN OPTION...
    local name=$1 status=$2 pattern=$3
    shift 3
    refuse "$name" "$status" "$pattern" -- "$BIN/symreg" orbit "$@"
}
refused "no velocity" 2 'orbit needs --time COLUMN and --velocity COLUMN' $DATA --time bjd
refused "no file" 2 'orbit: expected VELOCITIES.csv' --time bjd --velocity rv_m_s
refused "another column" 1 'no column "speed"' $DATA --time bjd --velocity speed
refused "three planets" 2 '--planets: expected 0, 1 or 2, found "3"' $DATA "${GIVEN[@]}" \
    --planets 3
refused "a star without mass" 2 '--star-mass: expected solar masses above 0' $DATA "${GIVEN[@]}" \
    --star-mass 0
refused "periods that fall" 2 '--period: expected LOW,HIGH' $DATA "${GIVEN[@]}" --period 9,3
refused "a column that is two" 2 '--velocity: "bjd" is the column of --time, too' $DATA --time bjd \
    --velocity bjd
refused "three planets, before a folder is made" 2 '--planets: expected 0, 1 or 2' $DATA \
    "${GIVEN[@]}" --planets 3 --out "$WORK/unmade"
check_not "three planets, before a folder is made: is not there" test -e "$WORK/unmade"
refused "an option of a table" 2 '--target: belongs to a table' $DATA "${GIVEN[@]}" --target rv_m_s
head -5 $DATA >"$WORK/few.csv"
refused "four rows" 1 'few.csv: expected at least 6 velocities, found 4' "$WORK/few.csv" \
    "${GIVEN[@]}"
sed '7s/,[^,]*,A/,-1,A/' $DATA >"$WORK/below.csv"
refused "an error below 0" 1 'below.csv:7: column "error_m_s": expected an error above 0' \
    "$WORK/below.csv" "${GIVEN[@]}"
head -9 $DATA >"$WORK/eight.csv"
refused "two planets of eight rows" 1 'no orbits of 2 planets' "$WORK/eight.csv" "${GIVEN[@]}" \
    --planets 2
awk -F, 'NR == 1 { print; next } { print $1 ",5.1," $3 "," $4 }' $DATA >"$WORK/constant.csv"
refused "one velocity in all rows" 1 'column "rv_m_s": expected velocities that differ, found 5.1' \
    "$WORK/constant.csv" "${GIVEN[@]}"
sed '9s/[AB]$/C/' $DATA >"$WORK/lone.csv"
refused "one velocity of an instrument without errors" 1 \
    'at least 7 velocities of the instrument "C" without --sigma, found 1' "$WORK/lone.csv" \
    --time bjd --velocity rv_m_s --instrument instrument
mkdir "$WORK/foreign"
echo "my notes" >"$WORK/foreign/report.md"
refused "a folder with another report.md" 2 'foreign/report.md is not a file of an earlier' $DATA \
    "${GIVEN[@]}" --out "$WORK/foreign"
check "a folder with another report.md: which stays" \
    prints '^my notes$' cat "$WORK/foreign/report.md"

"$BIN/symreg" orbit $DATA "${GIVEN[@]}" --out "$WORK/few.csv/x" >"$WORK/nowhere.txt" 2>&1
check "a folder that cannot be made is refused" prints 'few.csv' cat "$WORK/nowhere.txt"
check "a folder that cannot be made is refused before the fit" lacks '^planets' "$WORK/nowhere.txt"
echo '<!DOCTYPE html><title>mine</title>' >"$WORK/foreign/report.html"
rm "$WORK/foreign/report.md"
refused "a folder with another page" 2 'foreign/report.html is not a file of an earlier' $DATA \
    "${GIVEN[@]}" --out "$WORK/foreign"

# ---- the functions that formulas in C call
sed -n '/^```c$/,/^```$/p' docs/symreg.md | sed '/^```/d' >"$WORK/anomalies.c"
cat >>"$WORK/anomalies.c" <<'END'
#include <stdio.h>
int main(void)
{
    double M, e;
    while (scanf("%lf,%lf", &M, &e) == 2)
        printf("%.12g,%.12g,%.12g,%.12g\n", M, e, true_anomaly(M, e), eccentric_anomaly(M, e));
}
END
check "the functions of docs/symreg.md compile" ${CC:-cc} -std=c17 -Wall -Wextra -Werror -O1 \
    "$WORK/anomalies.c" -o "$WORK/anomalies" -lm
awk 'BEGIN { for (M = -20; M <= 20; M += 1.37) for (e = 0; e < 1; e += 0.099) print M "," e }' \
    >"$WORK/points.txt"
(echo M,e,nu,E && "$WORK/anomalies" <"$WORK/points.txt") >"$WORK/points.csv"
anomaly() { # TARGET OPERATOR: the operator has the function's values
    "$BIN/symreg" "$WORK/points.csv" --target "$1" --features M,e --guess "$2(M, e)" \
        --binary "+,$2" --unary '' --evaluations 2000 >"$WORK/$1.txt" 2>&1 || return
    awk -v formula="$2(M," '$4 == formula && $2 < 1e-18 { exact = 1 } { print }
        END { exit !exact }' "$WORK/$1.txt"
}
check "true_anomaly has their values" anomaly nu true_anomaly
check "eccentric_anomaly has their values" anomaly E eccentric_anomaly
finish
