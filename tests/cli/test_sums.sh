#!/usr/bin/env bash
# test_sums.sh - every file of results that a later program believes states a checksum of itself: a
# value that is changed in one is refused, or made again, by whatever reads it.
. tests/cli/lib.sh

PROGRAMS+=" probe compare verdict"
run=$WORK/run
SETTINGS=(--preset smoke --quiet --set attention=lssar --set orbits.train=40
    --set orbits.train_files=40 --set orbits.two_body_train=40 --set planets.train=20
    --set pretrain.steps=2 --set pretrain_planets.steps=2 --set finetune.magnitude.steps=2
    --set finetune.vector.steps=2 --set finetune.samples=2 --set symreg.iterations=1)
fast_pictures
for stage in orbits pretrain finetune symreg; do
    check "$stage" program $stage "${SETTINGS[@]}" --run "$run" --threads 1
done
check "report" program report "${SETTINGS[@]}" --run "$run"
model=$run/lssar/pretrain/last.safetensors
check "probe evaluate" program probe evaluate --checkpoint "$model" --threads 1 --quiet
check "probe attention" program probe attention --checkpoint "$model" --threads 1 --quiet
check "probe outputs" program probe rollout --checkpoint "$model" --threads 1 --quiet
check "verdict --cell" program verdict --cell "$run" --quiet
check "compare runs" program compare runs "$WORK" --quiet
check "verdict" program verdict --out "$WORK/verdict" "$run/cell.json" --quiet
check "symreg of a table" program symreg docs/data/planets.csv --target T_yr --maxsize 5 \
    --iterations 1 --threads 1 --quiet --out "$WORK/table"

# ---- none is without
for file in $(cd "$WORK" && find run table verdict runs.json -name '*.json' ! -name preset.json); do
    check "$file states its sum" grep -q $'^\t"xxh64":\t"[0-9a-f]\{16\}"$' "$WORK/$file"
done

# changed FILE SED: the file with another value, and the sum of before; the first copy is kept
changed() {
    [ -e "$1.kept" ] || cp "$1" "$1.kept" || return 1
    sed -i "$2" "$1" && ! cmp -s "$1" "$1.kept"
}
back() { mv "$1.kept" "$1"; }
# bare FILE: without its sum
bare() { sed -zi 's/,\n\t"xxh64":\t"[0-9a-f]*"//' "$1" && ! grep -q $'^\t"xxh64"' "$1"; }
# plans PROGRAM WORD FILE [REASON]: a line of --plan
plans() {
    program "$1" "${SETTINGS[@]}" --run "$run" --plan >"$WORK/out" 2>"$WORK/err"
    grep -q "^$2  *$3${4:+: .*$4}" "$WORK/out"
}
reporting=("$BIN/report" "${SETTINGS[@]}" --run "$run")

# ---- laws
laws=$run/laws/laws.json
for edit in '0,/"r2_log":/s/\("r2_log":\t\)/\10.1 - 0/;s/0.1 - 0-\?[0-9.e-]*/0.1/' \
    '0,/"selected_true":\ttrue/s//"selected_true":\tfalse/' \
    '0,/"equation":\t"[^"]*"/s//"equation":\t"(3 * m1)"/' 's/"seed":\t0/"seed":\t1/'; do
    check "laws: $edit" changed "$laws" "$edit"
    refuse "laws: $edit: report" 1 laws.json 'it has been changed since it was made' \
        '/symreg --preset smoke' -- \
        \
        "${reporting[@]}"
    refuse "laws: $edit: verdict --cell" 1 laws.json 'it has been changed since it was made' \
        "--run $run" -- \
        "$BIN/verdict" --cell "$run"
    check "laws: $edit: symreg makes it again" plans symreg remake "$laws" 'has been changed'
    back "$laws"
done
check "laws: kept, as they were" plans symreg keep "$laws"
cp "$laws" "$laws.kept"
check "laws without a sum" bare "$laws"
refuse "laws without a sum: report" 1 laws.json 'an older version made it' \
    '/symreg --preset smoke' -- \
    \
    "${reporting[@]}"
refuse "laws without a sum: report: verdict --cell" \
    1 laws.json 'an older version made it' -- "$BIN/verdict" --cell "$run"
check "laws without a sum: report: symreg makes them again" \
    plans symreg remake "$laws" 'older version'
back "$laws"

# ---- what the other programs read
made=$run/lssar/finetune/forces_magnitude.made.json
check "the record of a table" changed "$made" '0,/"seed":\t"0"/s//"seed":\t"1"/'
refuse "the record of a table: symreg" \
    1 forces_magnitude.csv 'its record forces_magnitude.made.json' \
    'has been changed' -- "$BIN/symreg" "${SETTINGS[@]}" --run "$run"
check "the record of a table: finetune makes the table again" plans finetune remake \
    "$run/lssar/finetune/forces_magnitude.csv" 'has been changed'
back "$made"
check "the record of a page" changed "$run/report.made.json" '0,/"seed":\t"0"/s//"seed":\t"1"/'
check "the record of a page: report makes it again" \
    plans report remake "$run/report.html" 'has been changed'
back "$run/report.made.json"
manifest=$run/orbits/manifest.json
check "a manifest" changed "$manifest" '0,/"clipped_coordinates":\t0/s//"clipped_coordinates":\t1/'
refuse "a manifest: pretrain" 1 manifest.json 'it has been changed since it was made' -- \
    "$BIN/pretrain" "${SETTINGS[@]}" --run "$run" --attention softmax --resume
refuse "a manifest: orbits verify" 1 manifest.json 'it has been changed since it was made' -- \
    "$BIN/orbits" verify "$run/orbits"
back "$manifest"
evaluation=$run/lssar/pretrain/evaluation.json
check "an evaluation" changed "$evaluation" 's/"teacher_forced":\t/&1/'
refuse "an evaluation: verdict --cell" \
    1 evaluation.json 'it has been changed since it was made' -- \
    "$BIN/verdict" --cell "$run"
check "an evaluation: pretrain makes it again" \
    plans pretrain remake "$evaluation" 'has been changed'
back "$evaluation"
check "a cell" changed "$run/cell.json" '0,/"r2_log":\t1,/s//"r2_log":\t0.5,/'
refuse "a cell: verdict" 1 cell.json 'it has been changed since it was made' -- \
    "$BIN/verdict" --out "$WORK/again" "$run/cell.json"
check "a cell: names the file once" equal 1 "$(grep -o "/cell\.json" "$WORK/.err" | wc -l)"
back "$run/cell.json"
check "a verdict" changed "$WORK/verdict/verdict.json" '0,/"cells":\t1/s//"cells":\t7/'
mkdir "$WORK/claims" && cp "$WORK/verdict/verdict.json" "$WORK/claims" || exit
refuse "a verdict: verdict --claims" 1 verdict.json 'it has been changed since it was made' -- \
    "$BIN/verdict" --claims "$WORK/claims" --out "$WORK/again"
rollout=$run/lssar/probe/rollout.json
check "results of a probe" changed "$rollout" '0,/"value":\t/s//"value":\t1/'
refuse "results of a probe: compare seeds" \
    1 rollout.json 'it has been changed since it was made' -- \
    "$BIN/compare" seeds "$rollout" --out "$WORK/again"
check "a front" changed "$WORK/table/front.json" '0,/"equation":\t"[^"]*"/s//"equation":\t"1.5"/'
refuse "a front: symreg predict" 1 front.json 'it has been changed since it was made' -- \
    "$BIN/symreg" predict "$WORK/table/front.json" docs/data/planets.csv
finish
