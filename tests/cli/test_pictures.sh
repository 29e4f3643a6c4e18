#!/usr/bin/env bash
# test_pictures.sh - every program that draws, when drawing goes wrong: a disk that fails at any
# operation, a gnuplot that fails or is not there, a signal. Nothing half-written stays, and the
# pictures of before stay. (tests/base/test_gnuplot.c has the runner that all of them share.)
. tests/cli/lib.sh
PROGRAMS+=" probe"
if ! command -v gnuplot >/dev/null; then
    skip "pictures" "no gnuplot"
    finish
fi

run=$WORK/run
DATA=("${TINY[@]}" --run "$run" --set 'attention=lssar')
for p in orbits pretrain finetune symreg; do
    check "a run: $p" program $p "${DATA[@]}"
done
awk 'BEGIN { print "x,y"; for (i = 1; i <= 30; i++) printf "%d,%d\n", i, 3 * i * i }' \
    >"$WORK/table.csv"

# what each program that draws is called, with the folder of its pictures
orbits() {
    program orbits show --preset smoke_tokens --out "$1/one.png"
}
probe() {
    program probe attention --checkpoint "$run/lssar/pretrain/last.safetensors" --threads 1 \
        --quiet --sequences 1 --out "$1"
}
symreg() {
    program symreg "$WORK/table.csv" --target y --threads 1 --quiet --iterations 0 --out "$1"
}
report() {
    program report --run "$run" --quiet --out "$1"
}
animate() { # the truth beside a model, of one body
    program report --run "$run" --quiet --animate mars --out "$1"
}
# pictures FOLDER: their names
pictures() {
    (cd "$1" && find . -name '*.png' -o -name '*.svg' -o -name '*.gif' | sort)
}
# whole FOLDER REFERENCE: each picture of FOLDER is the one that an undisturbed program drew
whole() {
    local name
    for name in $(pictures "$1"); do
        cmp -s "$1/$name" "$2/$name" || { echo "$name differs" && return 1; }
    done
}
# tidy FOLDER: no temporary file or working folder
tidy() {
    local found
    found=$(find "$1" -name '.?*' ! -path "$1") && clean "$1" && [ -z "$found" ]
}

mkdir "$WORK/fake"
# fake LINE...: a gnuplot of these lines
fake() {
    printf '%s\n' '#!/bin/sh' "$@" >"$WORK/fake/gnuplot"
    chmod +x "$WORK/fake/gnuplot"
}
mkdir "$WORK/bare" && ln -s "$(command -v timeout)" "$WORK/bare/timeout"
half="printf '\\211PNG\\r\\n half a picture' >\"\$4\""
gnuplot=$(command -v gnuplot)
for p in orbits probe symreg report animate; do
    named=${p/animate/report}
    drawn=$WORK/drawn-$p out=$WORK/out-$p
    mkdir "$drawn" "$out"
    check "$p draws" $p "$drawn"
    check "$p draws: pictures" test "$(pictures "$drawn" | wc -l)" -ge 1
    check "$p draws again" $p "$out"
    check "$p draws again: the same" same_by pictures "$drawn" "$out"
    check "$p draws again: byte for byte" whole "$out" "$drawn"
    for case in fails half signal disk once; do
        words=gnuplot:
        case $case in
        fails) fake "$half" 'echo "line 1: no such font"' 'exit 1' && words='no such font' ;;
        half) fake "$half" && words='disk full?' ;;
        signal) fake "$half" 'kill -9 $$' && words='killed by signal 9' ;;
        disk | once)
            [ -e "$FAIL_WRITE" ] || continue
            [ $case = disk ] && how=full || how=once
            fake "export LD_PRELOAD=$FAIL_WRITE FAIL_AT=2 FAIL_HOW=$how" \
                "exec $gnuplot \"\$@\""
            ;;
        esac
        (PATH=$WORK/fake:$PATH && $p "$out" >"$WORK/said" 2>&1)
        check "$p, $case: status 1" test $? -eq 1
        check "$p, $case: the error" grep -q "^$named: error: gnuplot: .*" "$WORK/said"
        check "$p, $case: says why" grep -qF "$words" "$WORK/said"
        check "$p, $case: nothing temporary" tidy "$out"
        check "$p, $case: the pictures stay" whole "$out" "$drawn"
    done
    fake 'kill -INT $PPID' "$half" 'exec sleep 50'
    (PATH=$WORK/fake:$PATH && $p "$out" >"$WORK/said" 2>&1)
    check "$p, SIGINT: status 130" test $? -eq 130
    check "$p, SIGINT: nothing temporary" tidy "$out"
    check "$p, SIGINT: the pictures stay" whole "$out" "$drawn"
    (BIN=$(realpath "$BIN") && PATH=$WORK/bare && $p "$out" >"$WORK/said" 2>&1)
    status=$?
    if [[ $p == @(symreg|probe) ]]; then # what they find is worth having without
        check "$p, no gnuplot: status 0" test $status -eq 0
    else
        check "$p, no gnuplot: status 1" test $status -eq 1
        check "$p, no gnuplot: says so" grep -q 'gnuplot: not found in PATH' "$WORK/said"
    fi
    check "$p, no gnuplot: nothing temporary" tidy "$out"
    check "$p, no gnuplot: the pictures stay" whole "$out" "$drawn"
done

# ---- animations

check "one body" equal "./figures/orbit_mars.gif" "$(pictures "$WORK/drawn-animate")"
steps=$(awk -F, '$1 == "mars"' "$run/lssar/pretrain_planets/rollouts.csv" | wc -l)
# a frame has a control extension of eight bytes in front of it
frames=$(od -An -v -tx1 "$WORK/drawn-animate/figures/orbit_mars.gif" | tr -d ' \n' |
    grep -o '21f904[0-9a-f]\{8\}00' | wc -l)
check "a frame per step" test "$frames" -eq "$steps"
bad() { # WORDS OPTION...
    local words=$1
    shift
    program report --run "$run" --out "$WORK/bad" "$@" >"$WORK/said" 2>&1
    check "animate: $words" grep -qF -- "$words" "$WORK/said"
    check_not "animate: $words: nothing written" test -e "$WORK/bad"
}
check "into a file" program report --run "$run" --quiet --animate mars --out "$WORK/talk/mars.gif"
check "into a file: the same GIF" same_file "$WORK/talk/mars.gif" \
    "$WORK/drawn-animate/figures/orbit_mars.gif"
check "into a file: and nothing else" equal "./mars.gif" "$(cd "$WORK/talk" && find . ! -type d)"
refused_out() { # WORDS OPTION...: one line, and nothing written
    program report --run "$run" "${@:2}" 2>"$WORK/said"
    [ $? -eq 2 ] && [ "$(wc -l <"$WORK/said")" -eq 1 ] && grep -qF -- "$1" "$WORK/said" ||
        { cat "$WORK/said" && return 1; }
}
check "all bodies into one file" refused_out '--animate all: expected a folder, found' \
    --animate all --out "$WORK/all.gif"
check "a GIF of another kind" refused_out 'expected a folder or a file that ends in .gif, found' \
    --animate mars --out "$WORK/mars.mp4"
check "a page as a file" refused_out '--out: expected the folder of report.html' \
    --out "$WORK/page.html"
for name in all.gif mars.mp4 page.html; do
    check_not "a page as a file: $name is not written" test -e "$WORK/$name"
done
bad 'found "marz"' --animate marz
bad '--resume: belongs to the page, not to report --animate' --animate mars --resume

# ---- a disk that fails, or a process that is killed, at each operation on the files of a picture
if [ ! -e "$FAIL_WRITE" ]; then
    skip "a failure at every write" "$FAIL_WRITE is not there: make check builds it"
    finish
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
for p in orbits symreg; do
    drawn=$WORK/drawn-$p
    failing=$WORK/failing-$p
    mkdir "$failing"
    (export LD_PRELOAD=$FAIL_WRITE FAIL_AT=0 FAIL_REPORT=$WORK/counted-$p &&
        $p "$failing" >/dev/null)
    operations=$(grep -E '\.(png|gpdata)' "$WORK/counted-$p" | cut -d ' ' -f 1 | sort -nu)
    check "$p: operations are counted" test "$(wc -w <<<"$operations")" -ge 4
    rm -rf "$failing"
    for how in full once kill; do
        for n in $operations; do
            mkdir "$failing"
            (export LD_PRELOAD=$FAIL_WRITE FAIL_AT=$n FAIL_HOW=$how && $p "$failing" \
                >"$WORK/said" 2>&1)
            status=$?
            check "$p, $how at $n: fails" test $status -ne 0
            check "$p, $how at $n: no half picture" whole "$failing" "$drawn"
            if [ $how != kill ]; then
                check "$p, $how at $n: nothing temporary" tidy "$failing"
                check "$p, $how at $n: one error" grep -q "^$p: error: " "$WORK/said"
            else
                check "$p, $how at $n: again" $p "$failing"
                check "$p, $how at $n: tidied up" tidy "$failing"
            fi
            rm -rf "$failing"
        done
    done
done
finish
