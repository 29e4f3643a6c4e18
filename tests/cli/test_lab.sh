#!/usr/bin/env bash
# test_lab.sh - the orbit lab (docs/lab.md): its module gives the orbits and the front of the native
# library, and its page is one file that asks for nothing. Skipped where what makes it is missing.
. tests/cli/lib.sh

LAB=$BUILT/lab
if ! CUDA=0 make CUDA=0 B="$BUILT" lab >"$WORK/made" 2>&1 || ! command -v node >/dev/null; then
    skip "the orbit lab" \
        "it wants node, and what tools/deps.sh --lab installs: $(tail -1 "$WORK/made")"
    finish
fi
awk 'BEGIN { print "r,F"; for (i = 0; i < 60; i++) { r = 0.4 + 0.04 * i
    noise = 0.01 * ((i * 37 % 61) / 61 - 0.5)
    printf "%.15g,%.15g\n", r, 39.47841760435743 / r ^ 2 * (1 + noise) } }' \
    >"$WORK/table.csv"
"${CC:-cc}" -O2 -std=c17 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -I. tests/lab/native.c \
    lab/search.c lab/orbit.c "$BUILT/liborrery.so.2" -Wl,-rpath,"$BUILT" -lm -o "$WORK/native"
"$WORK/native" "$WORK/table.csv" >"$WORK/native.txt"
check "the native program answers" filled "$WORK/native.txt"
node tests/lab/module.js lab/module.js "$LAB/orrery.wasm" "$WORK/table.csv" >"$WORK/module.txt" \
    2>"$WORK/module.err"
check "the module answers" filled "$WORK/module.txt"
check "orbits are those of the native code to the last bit" \
    node tests/lab/same.js orbit 0 "$WORK/native.txt" "$WORK/module.txt"
check "a search gives the formulas of the native library, with losses within 1e-9" \
    node tests/lab/same.js row 1e-9 "$WORK/native.txt" "$WORK/module.txt"
# the first orbit is a circle of 1 AU: five years later the planet is where it was
closes() {
    awk -v pi=3.141592653589793 'function near(a, b) { return (a - b) ^ 2 < 1e-14 }
        $1 == "orbit" { exit !($2 == 101 && near($3, 1) && near($4, 0) && near($5, 0) &&
                               near($6, 2 * pi)) }' "$1"
}
check "a circle closes after five years within 1e-7" closes "$WORK/module.txt"

page=$LAB/lab.html
check "the page is one file below 6 MB" test "$(wc -c <"$page")" -lt 6000000
check_not "the page names no address of a network" grep -qE '(src|href)="?https?:|@import|fetch\(' \
    "$page"
check "the page forbids every request" grep -q "default-src 'none'" "$page"
check_not "texts are never set as markup" grep -nE \
    'innerHTML|outerHTML|insertAdjacentHTML|document\.write' lab/page.js lab/module.js
lab/make.sh "$WORK/missing.wasm" "$WORK/page.html" >"$WORK/refused" 2>&1
check "a module that is missing is named" grep -q 'missing.wasm: missing or empty' "$WORK/refused"
check "... and no page is left" test ! -e "$WORK/page.html"
CC=cc make CUDA=0 B="$WORK/b" WASM_CC=no-such-compiler WASM_ROOT=/nowhere lab >"$WORK/none" 2>&1
check "without a compiler one line says what installs it" grep -q \
    'tools/deps.sh --lab installs them' "$WORK/none"
finish
