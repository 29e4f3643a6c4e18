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
check "own_law: the run's law is the power law" grep -q '"law":[[:space:]]*"power"' \
    "$WORK/own_law/run/preset.json"
check "own_law: laws are printed" grep -q '|' "$WORK/own_law.out"
check "own_law: a page" test -s "$WORK/own_law/run/report.html"
check "own_table" example own_table
check "own_table: finds Kepler's law" grep -q 'a_au \* sqrt(a_au)' "$WORK/own_table.out"
check "own_table: and keeps it" \
    test -s "$WORK/own_table/front.csv" -a -s "$WORK/own_table/report.md"
check "variants" example variants lssa
check "variants: both losses" equal 2 "$(grep -c '^| GPT (' "$WORK/variants.out")"
check "variants: a picture" test -s "$WORK/variants/losses.png"
check "figures" example figures "$WORK/own_law/run"
check "figures: with data" test -s "$WORK/figures/figures/earth_large.dat"
check "figures: a moving one" test -s "$WORK/figures/figures/orbit_earth.gif"
check "long_training" example long_training
check "long_training: stopped, resumed, extended" grep -q 'from step 30 of 30 on to step 60' \
    "$WORK/long_training.out"
check "long_training: to its end" \
    grep -q '"step": 60' "$WORK/long_training/lssar/pretrain/log.jsonl"
if has_python "torch numpy safetensors"; then
    check "pytorch" example pytorch "$WORK/variants/lssa/pretrain/last.safetensors"
    check "pytorch: says what it is" grep -q 'weights, attention lssa' "$WORK/pytorch.out"
else
    skip "pytorch" "no torch, numpy and safetensors in python3"
fi
for script in docs/examples/*.sh; do
    check "$(basename "$script"): tried here" grep -q "example $(basename "$script" .sh)" "$0"
    check "$(basename "$script"): can be run" test -x "$script"
done

# ---- README, recipes and gallery: every command behind a "$", smaller and in a folder of its own
mkdir "$WORK/runs"
readme() {
    CUDA=0 PRESET=smoke timeout "$LIMIT" bash -c "$1" </dev/null >"$WORK/out" 2>&1 || {
        tail -n 5 "$WORK/out"
        return 1
    }
}
# went STATUS: of a command, whose output is shown where it failed
went() {
    [ "$1" -eq 0 ] || { cat "$WORK/said" && return 1; }
}
# printed PAGE COMMAND: rows that the page prints behind it, without the columns' blanks
printed() {
    grep -A 5 -F "$2" "$1" | grep -E '<- |^    best: ' | sed 's/^ *//'
}
check "README: at most 110 lines" test "$(wc -l <README.md)" -le 110
check "README: one picture" equal 1 "$(grep -c '!\[' README.md)"
check "README: three commands that a stranger runs" equal 3 "$(grep -c '^    \$ ' README.md)"
check "make world" readme "make world RUN=$WORK/runs/smoke"
for page in README.md docs/gallery.md docs/recipes.md; do # recipes train the run on
    sed -n "s,^    \\\$ ,$page ,p" $page
done | awk '{ text = $0; sub(/^[^ ]* /, "", text) } !seen[text]++' >"$WORK/commands"
check "pages have commands" test "$(wc -l <"$WORK/commands")" -ge 20
while read -r page command <&3; do
    case $command in
    *DEVICE=cuda*) continue ;;                       # no GPU here
    *pytorch*) continue ;;                           # above
    *python3*) has_python numpy || continue ;;
    esac
    here=${command%%  #*} # without its comment
    here=${here//quick/smoke}
    here=${here//laptop/smoke}
    here=${here//3600/60}
    here=${here//--seconds 10/--seconds 10 --evaluations 15000} # on an idle machine, too
    here=${here//rw_softplus/lssa} # a variant that is not there before one adds it
    here=${here//runs\//$WORK/runs/}
    here=${here//--out data/--out $WORK/data}
    here=${here//--out newton/--threads 1 --out $WORK/newton}
    here=${here//\"data\//\"$WORK/data/}
    case $here in make*RUN=* | bin/*) ;; make*) here="$here RUN=$WORK/runs/smoke" ;; esac
    readme "$here" >"$WORK/said"
    status=$?
    case $here in *"probe planets"*) ! grep -q libnova "$WORK/out" || continue ;; esac # optional
    check "$page: $command" went "$status"
    printed "$page" "$command" >"$WORK/rows"
    while read -r row; do
        check "$page: $command prints $row" grep -qF -- "$row" "$WORK/out"
    done <"$WORK/rows"
    case $command in
    *"planets.csv --target T_yr --maxsize 9")
        check "$page: $command selects two formulas" equal 2 "$(grep -c -- '<- ' "$WORK/rows")"
        ;;
    *motion*)
        check "$page: $command ends with one formula" equal 1 "$(wc -l <"$WORK/rows")"
        check "$page: motion finds the error that README has" bash -c \
            "sed -nE 's/^\| ([0-9.]+) \| ([0-9.]{6}).*/\1 +- \2/p' '$WORK/newton/report.md' |
            grep -qxF \"\$(grep -o '39[.0-9]* +- [0-9.]*[0-9]' README.md)\""
        check "$page: motion says what the constant is near to" \
            grep -q 'is near 4 pi^2 .*: G in AU' "$WORK/newton/report.md"
        ;;
    *real_venus*) check "$page: the forces on Venus are a picture" is_png "$WORK/runs/venus.png" ;;
    esac
done 3<"$WORK/commands"
if has_python numpy; then
    sed -n '/^```python$/,/^```$/{/^```/d;p}' README.md >"$WORK/six.py"
    check "README: six lines of Python" equal 6 "$(wc -l <"$WORK/six.py")"
    check "README: its Python runs" readme "PYTHONPATH=python python3 '$WORK/six.py'"
    check "README: its Python prints Kepler's law" grep -qF '(sqrt(a) * a) [4.6' "$WORK/out"
    check "README: its Python prints the shape" grep -qxF '(1000, 33, 2)' "$WORK/out"
fi
check_not "nothing in the source" test -e losses.png -o -e data -o -e earth.png -o -e newton
finish
