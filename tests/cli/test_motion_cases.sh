#!/usr/bin/env bash
# test_motion_cases.sh - symreg motion on tracks as users have them (tests/cases/large, most by
# JPL's DE421): moons with their star in the table, exact tracks of ten bodies, two bodies about a
# distant barycentre, one body about an accelerated origin. What is right is said at each.
. tests/cli/lib.sh
fast_pictures
. tests/cli/accelerations.sh
CASES=tests/cases/large
# motion NAME OPTION...: a short search; the terminal's text in $WORK/NAME.txt, files in $WORK/NAME
motion() {
    local name=$1 tracks=${TRACKS:-$CASES}/$1.csv
    [ -e "$tracks" ] || tracks+=.gz
    shift
    program symreg motion "$tracks" --time t --position x,y,z --threads 1 \
        --iterations 3 --maxsize 9 --set symreg.enumerate=5000 --binary '*,/' --unary square,inv \
        --out "$WORK/$name" "$@" >"$WORK/$name.txt" 2>&1
}
# chosen NAME: the formula of rule best
chosen() {
    sed -nE 's/^ +[0-9]+ +[^ ]+ +[^ ]+  (.*)   <- .*\bbest\b.*/\1/p' "$WORK/$1.txt"
}
# rows NAME ONE OTHER LEAST: at least so many rows of this pair
rows() {
    awk -F, -v one="$2" -v other="$3" -v least="$4" '
        $2 == one && $3 == other { n++ } END { print n + 0; exit !(n >= least) }' \
        "$WORK/$1/accelerations.csv"
}
newton='$2 * $3 / $1 ^ 2'

# ---- a moon is much nearer to its planet than any body is to the star
check "sun, earth and moon" motion min --body body --mass m
check "sun, earth and moon: keep all rows of earth and moon" rows min earth moon 50
check "sun, earth and moon: and give 39.478418 m1 m2 / r^2" \
    computes min "39.478417604 * $newton" 1e-6
check "Sun, Earth and Moon of DE421" motion sem_0.25 --body body --mass m
check "Sun, Earth and Moon of DE421: keep all rows of Earth and Moon" rows sem_0.25 Earth Moon 30
check "Sun, Earth and Moon of DE421: and give 39.476926 m1 m2 / r^2" \
    computes sem_0.25 "39.476926 * $newton" 2e-5

# ---- the digits that exact tracks have
check "Sun and nine planets" motion baryau --body body --mass m
check "Sun and nine planets: give G of the Sun's mass to 2e-6" \
    computes baryau "39.476926 * $newton" 2e-6
error_below() { # NAME MOST: the standard error of the first constant of report.md
    awk -F'|' -v most="$2" '/^## Constants of what/ { seen = 1 }
        seen && $3 + 0 > 0 { print $3; exit !($3 + 0 < most) }' "$WORK/$1/report.md"
}
check "Sun and nine planets: with a standard error below 1e-4" error_below baryau 1e-4
check "Earth and Moon about the barycentre of the Sun" motion em_only --body body
check "Earth and Moon about the barycentre of the Sun: give an inverse square" \
    prints '^.?[0-9.e+]+ (/|\* inv\()' chosen em_only
check "Earth and Moon about the barycentre of the Sun: of 4.03e14 (m_E + m_M) m^3/s^2 to 0.5%" \
    computes em_only '3.0034e15 / $1 ^ 2' 5e-3

# ---- the Solar System of DE421 (docs/data): masses are GM, so that the constant is 1
TRACKS=docs/data check "Sun, Moon and planets of DE421" motion de421 --body body --mass gm
check "Sun, Moon and planets of DE421: give m1 m2 / r^2" computes de421 "$newton" 1e-6
# pair ONE OTHER VALUE TOLERANCE: the weighted mean of F r^2 / (m1 m2) - 1
pair() {
    awk -F, -v one="$1" -v other="$2" -v value="$3" -v tolerance="$4" '
        ($2 == one && $3 == other) || ($2 == other && $3 == one) {
            k = $8 * $5 ^ 2 / ($6 * $7) - 1; s = $9 * $5 ^ 2 / ($6 * $7)
            sum += k / s ^ 2; weight += 1 / s ^ 2; n++ }
        END { off = sum / weight - value; print "off by", off; off = off < 0 ? -off : off
            exit !(n > 50 && off < tolerance) }' "$WORK/de421/accelerations.csv"
}
for planet in mercury venus earth mars jupiter saturn uranus neptune pluto; do
    check "Sun, Moon and planets of DE421: GM of the Sun to 1e-6 from $planet" \
        pair $planet sun 0 1e-6
done
check "Sun, Moon and planets of DE421: the pull of Jupiter on Saturn to 2e-5" \
    pair jupiter saturn 0 2e-5
check "Sun, Moon and planets of DE421: the pull of the Earth on the Moon to 1e-6" \
    pair earth moon 0 1e-6
check "Sun, Moon and planets of DE421: the Sun's pull on Mercury is less by 3 GM / (c^2 a)" \
    pair mercury sun -7.65e-8 1e-8
check "Sun, Moon and planets of DE421: and on Venus" pair venus sun -4.09e-8 1e-8

# ---- two bodies of it: GM is a constant where masses are unknown, and who is missing is seen
missing='^remark: a body is missing, or a force is not central: '
extract() { # NAME ONE OTHER: the tracks of two bodies
    zcat docs/data/de421.csv.gz |
        awk -F, -v one="$2" -v other="$3" 'NR == 1 || $2 == one || $2 == other' >"$WORK/$1.csv"
}
extract mercury sun mercury
TRACKS=$WORK check "Sun and Mercury of DE421, masses unknown" motion mercury --body body
check "Sun and Mercury of DE421, masses unknown: give the sum of their GM as a constant" \
    computes mercury '(0.0002959122083 + 4.912549572e-11) / $1 ^ 2' 1e-6
check "Sun and Mercury of DE421, masses unknown: and miss no body that is near or heavy" \
    lacks "$missing" "$WORK/mercury.txt"
extract earth sun earth
TRACKS=$WORK check "Sun and Earth without the Moon" motion earth --body body
check "Sun and Earth without the Moon: miss a body: 0.39% is no force along their line" \
    prints "${missing}0\\.39% of the bodies' accelerations" cat "$WORK/earth.txt"
check "Sun and Earth without the Moon: which report.md says, too" \
    prints '^- a body is missing' cat "$WORK/earth/report.md"
extract moon earth moon
TRACKS=$WORK check "Earth and Moon without the Sun" motion moon --body body --mass gm
check "Earth and Moon without the Sun: miss a body: 0.59% is no force along their line" \
    prints "${missing}0\\.59% of the bodies' accelerations" cat "$WORK/moon.txt"
check "the Sun, the Earth and the Moon miss none" lacks "$missing" "$WORK/min.txt"
check "nor do the Sun, the Moon and the planets" lacks "$missing" "$WORK/de421.txt"

# ---- an origin that is accelerated
for body in Neptune Uranus Moon; do
    check "$body about the origin" motion one_$body --centre 0,0,0
    check "$body about the origin: $body: a remark says that accelerations do not point there" \
        prints '^remark: accelerations do not point to the centre' cat "$WORK/one_$body.txt"
    check "$body about the origin: $body: report.md says so, too" \
        prints '^- accelerations do not point to the centre' cat "$WORK/one_$body/report.md"
done
check "the Moon: 3.0033e15 / r^2" computes one_Moon '3.0033e15 / $1 ^ 2' 1e-3
check "barycentric tracks of all bodies have no such remark" \
    lacks 'do not point to the centre' "$WORK/baryau.txt"
awk 'BEGIN { print "t,x,y,z"; for (i = 0; i < 120; i++) { t = i * 0.04; E = 6.283185307179586 * t
    for (k = 0; k < 60; k++) E = 6.283185307179586 * t + 0.3 * sin(E)
    printf "%.6f,%.17g,%.17g,%.17g\n", t, cos(E) - 0.3, 0.8 * sqrt(0.91) * sin(E),
        0.6 * sqrt(0.91) * sin(E) } }' >"$WORK/orbit.csv"
TRACKS=$WORK check "an orbit about a point at rest" motion orbit --centre 0,0,0
check "an orbit about a point at rest: has no such remark" \
    lacks 'do not point to the centre' "$WORK/orbit.txt"
finish
