#!/usr/bin/env bash
# test_lab.sh - the orbit lab (docs/lab.md): the shipped page is what the source makes, `orrery lab`
# puts a run's networks into it, and its module gives the numbers of the native library. What wants
# node, or clang for WebAssembly, is skipped where they are missing.
. tests/cli/lib.sh

LAB=$BUILT/lab
page=docs/lab.html
native() { # PROGRAM SOURCE ...
    local program=$1
    shift
    "${CC:-cc}" -O2 -std=c17 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -I. "$@" lab/orbit.c \
        "$BUILT/liborrery.so.2" "$BUILT"/lib{symreg,formula,stage,base}.a -Wl,-rpath,"$BUILT" \
        -lgsl -lgslcblas -lcjson -lz -fopenmp -lm -ldl -o "$program"
}

# ---- the page: its texts, which need no compiler
printf module >"$WORK/module"
lab/page/make.sh "$WORK/module" "$page" "$WORK/fresh.html"
texts() { sed '/ id="wasm">$/{n;d}' "$1"; }
check "docs/lab.html is made of lab/page/ as it is (make lab-docs)" \
    same_by texts "$page" "$WORK/fresh.html"
check "the page is one file below 6 MB" test "$(wc -c <"$page")" -lt 6000000
texts "$page" >"$WORK/texts"
check "the page names no address of a network" \
    lacks '(src|href)="?https?:|@import|fetch\(' "$WORK/texts"
check "the page forbids every request" grep -q "default-src 'none'" "$page"
check_not "texts are never set as markup" grep -nE \
    'innerHTML|outerHTML|insertAdjacentHTML|document\.write' lab/page/*.js
lab/page/make.sh "$WORK/missing.wasm" none "$WORK/page.html" >"$WORK/refused" 2>&1
check "a module that is missing is named" grep -q 'missing.wasm: missing or empty' "$WORK/refused"
check "a module that is missing is named: and no page is left" test ! -e "$WORK/page.html"
CC=cc make CUDA=0 B="$WORK/b" WASM_CC=no-such-compiler WASM_ROOT=/nowhere lab >"$WORK/none" 2>&1
check "without a compiler one line says what installs it" grep -q \
    'tools/deps.sh --lab installs them' "$WORK/none"
program orrery lab --run "$WORK/nowhere" --out "$WORK/page.html" >"$WORK/refused" 2>&1
check "a run that is not there is named" \
    grep -q "$WORK/nowhere: no preset.json there" "$WORK/refused"
mkdir -p "$WORK/empty" && cp presets/quick.json "$WORK/empty/preset.json"
program orrery lab --run "$WORK/empty" --out "$WORK/page.html" >"$WORK/refused" 2>&1
check "a run without networks is named" grep -q \
    "$WORK/empty: no pretrained and no fine-tuned network there" "$WORK/refused"
check "a run without networks is named: and no page is left" test ! -e "$WORK/page.html"

if ! command -v node >/dev/null; then
    skip "numbers of the orbit lab" "it wants node"
    finish
fi
# ---- orrery lab: the networks of the shipped page, put into a run, come back as they were
mkdir "$WORK/shipped" "$WORK/back"
node tests/lab/unpack.js "$page" "$WORK/shipped"
run="$WORK/a run of <b>one's own"
for name in softmax lssar; do
    mkdir -p "$run/$name/pretrain" "$run/$name/finetune"
    cp "$WORK/shipped/${name}_next.safetensors" "$run/$name/pretrain/best.safetensors"
    cp "$WORK/shipped/${name}_next.safetensors" "$run/$name/pretrain/last.safetensors"
    cp "$WORK/shipped/${name}_forces.safetensors" "$run/$name/finetune/magnitude.safetensors"
done
cp presets/quick.json "$run/preset.json"
program orrery lab --run "$run" --quiet
check "orrery lab writes RUN/lab.html" filled "$run/lab.html"
node tests/lab/unpack.js "$run/lab.html" "$WORK/back"
for file in softmax_next lssar_next softmax_forces lssar_forces; do
    check "the page has the run's $file" \
        node tests/lab/same_network.js "$WORK/shipped/$file.safetensors" \
        "$WORK/back/$file.safetensors"
done
check_not "orrery lab writes RUN/lab.html: and no network that the run lacks" \
    test -e "$WORK/back/untrained_forces.safetensors"

# ---- the module of the shipped page against the native library
native "$WORK/networks" tests/lab/networks.c lab/models.c
native "$WORK/search" tests/lab/native.c lab/search.c
awk 'BEGIN { print "r,F"; for (i = 0; i < 60; i++) { r = 0.4 + 0.04 * i
    noise = 0.01 * ((i * 37 % 61) / 61 - 0.5)
    printf "%.15g,%.15g\n", r, 39.47841760435743 / r ^ 2 * (1 + noise) } }' >"$WORK/table.csv"
"$WORK/search" "$WORK/table.csv" >"$WORK/native.txt"
"$WORK/networks" "$WORK"/shipped/*.safetensors >"$WORK/networks.txt"
check "the native programs answer" test -s "$WORK/native.txt" -a -s "$WORK/networks.txt"
check "orbits longer than a network's context are read in windows of whole steps" \
    equal "$(printf 'windows 100 of 100\n%.0s' 1 2)" "$(grep windows "$WORK/networks.txt")"
# orbits of the program, of bodies of comparable masses around their centre of mass
printf '%s\n' system,m,x,y,vx,vy near,0.3,0.7,0,0,2.87 near,0.7,-0.3,0,0,-1.23 \
    far,0.3,0.7,0,0.4,3.85 far,0.7,-0.3,0,0,-1.65 >"$WORK/throws.csv"
simulate() { # NAME LAW [FORMULA]: the throws under a law, as NAME/train.csv
    program orbits --systems "$WORK/throws.csv" --steps 101 --set orbits.dt_yr=0.05 \
        --set "orbits.law=$2" ${3:+--set "orbits.expression=$3"} --out "$WORK/$1.set" --quiet &&
        program orbits export "$WORK/$1.set" --csv --out "$WORK/$1"
}
check "bin/orbits throws under Newton's law" simulate newton newton
check "bin/orbits throws under an expression" simulate power expression \
    'G*m1*m2/r^2.1'
# numbers_of MODULE.wasm NAME: a module gives the native numbers
numbers_of() {
    local word
    node tests/lab/module.js lab/page/module.js "$1" "$WORK/table.csv" >"$WORK/module.txt" 2>&1
    node tests/lab/networks.js lab/page/module.js "$1" "$WORK"/shipped/*.safetensors \
        >"$WORK/of.txt" 2>&1
    check "$2: orbits are those of the native code to the last bit" \
        node tests/lab/same.js orbit 0 "$WORK/native.txt" "$WORK/module.txt"
    check "$2: orbits are those of bin/orbits within 1e-7 AU (Newton)" node \
        tests/lab/orbits.js "$page" "$1" "$WORK/throws.csv" "$WORK/newton/train.csv" GM/r^2 2
    check "$2: orbits are those of bin/orbits within 1e-7 AU (another exponent)" \
        node tests/lab/orbits.js "$page" "$1" "$WORK/throws.csv" "$WORK/power/train.csv" GM/r^p 2.1
    check "$2: precession is that of the native code within 1e-9" \
        node tests/lab/same.js precession 1e-9 "$WORK/native.txt" "$WORK/module.txt"
    check "$2: a search gives the formulas of the native library, with losses within 1e-9" \
        node tests/lab/same.js row 1e-9 "$WORK/native.txt" "$WORK/module.txt"
    for word in next continued force attention; do
        check "$2: networks give the native numbers within the rounding of fp32 ($word)" \
            node tests/lab/same.js "$word" 1e-6 "$WORK/networks.txt" "$WORK/of.txt"
    done
    check "$2: damaged checkpoints are refused, each in one line" node tests/lab/hostile.js \
        lab/page/module.js "$1" "$WORK/shipped/softmax_next.safetensors"
}
numbers_of "$WORK/shipped/orrery.wasm" "the shipped page"
# the first orbit is a circle of 1 AU: five years later the planet is where it was
closes() {
    awk -v pi=3.141592653589793 'function near(a, b) { return (a - b) ^ 2 < 1e-14 }
        $1 == "orbit" { exit !($2 == 101 && near($3, 1) && near($4, 0) && near($5, 0) &&
                               near($6, 2 * pi)) }' "$1"
}
# Newton's orbits do not turn; those of GM/r^2 + 1/r^3 turn by 2 pi (1/sqrt(1 - 1/h^2) - 1), h = 3
turns() {
    awk -v pi=3.141592653589793 'function near(a, b) { return (a - b) ^ 2 < 1e-16 }
        $1 == "precession" { turn[++n] = $2 }
        END { exit !(n == 4 && near(turn[1], 0) &&
                     near(turn[4], 2 * pi * (1 / sqrt(8 / 9) - 1))) }' "$1"
}
check "precession is that of the closed forms within 1e-8" turns "$WORK/module.txt"
check "a circle closes after five years within 1e-7" closes "$WORK/module.txt"

# ---- the module that this source makes: where `make lab` was not run, it would take a minute
if [ ! -e "$LAB/orrery.wasm" ]; then
    skip "the module of this source" "it wants build/lab/orrery.wasm, which make lab makes"
    finish
fi
if ! CUDA=0 make CUDA=0 B="$BUILT" lab >"$WORK/made" 2>&1; then
    skip "the module of this source" \
        "it wants what tools/deps.sh --lab installs: $(tail -1 "$WORK/made")"
    finish
fi
numbers_of "$LAB/orrery.wasm" "this source"
finish
