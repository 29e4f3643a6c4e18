#!/usr/bin/env bash
# test_examples.sh - the recipes of docs/examples and the commands of README.md, at the size of the
# preset smoke.
. tests/cli/lib.sh
export -n MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this test
if [ "$BIN" != bin ]; then
    skip "examples" "they call bin/, these programs are in $BIN"
    finish
fi
has_python() { # MODULE...
    command -v python3 >/dev/null && python3 -c "import ${1// /, }" 2>/dev/null
}
# example NAME ARGUMENT...: in a folder of its own
example() {
    OUT=$WORK/$1 PRESET=smoke FIRST=0.0005 STEPS=60 timeout "$LIMIT" \
        docs/examples/"$1.sh" "${@:2}" >"$WORK/$1.out" 2>&1 </dev/null || {
        tail -n 5 "$WORK/$1.out"
        return 1
    }
}

check "own_law" example own_law
check "... the run's law is the power law" grep -q '"law":[[:space:]]*"power"' \
    "$WORK/own_law/run/preset.json"
check "... laws are printed" grep -q '|' "$WORK/own_law.out"
check "... a page" test -s "$WORK/own_law/run/report.html"
check "own_table" example own_table
check "... finds Kepler's law" grep -q 'a_au \* sqrt(a_au)' "$WORK/own_table.out"
check "... and keeps it" test -s "$WORK/own_table/front.csv" -a -s "$WORK/own_table/report.md"
check "variants" example variants lssa
check "... both losses" equal 2 "$(grep -c '^| GPT (' "$WORK/variants.out")"
check "... a picture" test -s "$WORK/variants/losses.png"
check "figures" example figures "$WORK/own_law/run"
check "... with data" test -s "$WORK/figures/figures/earth_large.dat"
check "... a moving one" test -s "$WORK/figures/figures/orbit_earth.gif"
check "long_training" example long_training
check "... stopped, resumed, extended" grep -q 'from step 30 of 30 on to step 60' \
    "$WORK/long_training.out"
check "... to its end" grep -q '"step": 60' "$WORK/long_training/lssar/pretrain/log.jsonl"
if has_python "torch numpy safetensors"; then
    check "pytorch" example pytorch "$WORK/variants/lssa/pretrain/last.safetensors"
    check "... says what it is" grep -q 'weights, attention lssa' "$WORK/pytorch.out"
else
    skip "pytorch" "no torch, numpy and safetensors in python3"
fi
for script in docs/examples/*.sh; do
    check "$(basename "$script"): tried here" grep -q "example $(basename "$script" .sh)" "$0"
    check "$(basename "$script"): can be run" test -x "$script"
done

# ---- README: every command behind a "$", smaller and in a folder of its own
mkdir "$WORK/runs"
readme() {
    CUDA=0 PRESET=smoke timeout "$LIMIT" bash -c "$1" </dev/null >"$WORK/out" 2>&1 || {
        tail -n 5 "$WORK/out"
        return 1
    }
}
check "README: make world" readme "make world RUN=$WORK/runs/smoke"
sed -n 's/^    \$ //p' README.md >"$WORK/commands"
mapfile -t commands <"$WORK/commands"
check "README has commands" test ${#commands[@]} -ge 10
for command in "${commands[@]}"; do
    case $command in
    *DEVICE=cuda*) continue ;;                       # no GPU here
    *pytorch*) continue ;;                           # above
    *python3*) has_python numpy || continue ;;
    esac
    here=${command//quick/smoke}
    here=${here//laptop/smoke}
    here=${here//7200/60}
    here=${here//rw_softplus/lssa} # a variant that is not there before one adds it
    here=${here//runs\//$WORK/runs/}
    here=${here//--out data/--out $WORK/data}
    here=${here//\"data\//\"$WORK/data/}
    case $here in make*RUN=* | bin/*) ;; make*) here="$here RUN=$WORK/runs/smoke" ;; esac
    check "README: $command" readme "$here"
    case $command in
    *planets.csv*) # what README prints of it
        grep -A 4 -F "$command" README.md | grep -F '<- ' >"$WORK/printed"
        mapfile -t printed <"$WORK/printed"
        check "... selects two formulas" test ${#printed[@]} -eq 2
        for row in "${printed[@]}"; do
            check "... prints $row" grep -qF "${row#    }" "$WORK/out"
        done
        ;;
    esac
done
check_not "nothing in the source" test -e losses.png -o -e data -o -e earth.png
finish
