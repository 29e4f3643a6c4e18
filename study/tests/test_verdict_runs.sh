#!/usr/bin/env bash
# test_verdict.sh - make verdict at toy size: a sweep that is killed twice and run again ends in the
# same bytes as one that is not.
. tests/cli/lib.sh
bare='s/^\t"xxh64"/\t"of"/' # for files that an edit is to make wrong, not merely other
fast_pictures

export BIN GRIDS=$WORK
settings='set orbits.train_files=0 planets.enabled=false model.precision=fp32'
settings+=' finetune.magnitude.checkpoint_every=1 pretrain.checkpoint_every=1'
settings+=' symreg.iterations=1 symreg.populations=2 symreg.restarts=1 symreg.enumerate=2000'
for name in verdict_short verdict verdict_more; do
    {
        printf '%s\n' 'preset smoke' 'folder verdict' "$settings"
        case $name in
        verdict_short) printf '%s\n' 'axis seed 0 1' 'axis attention softmax' ;;
        *) printf '%s\n' 'axis seed 0 1' 'axis attention softmax lssar' ;;
        esac
        printf '%s\n' 'step orbits' 'step pretrain'
        case $name in
        verdict_more) echo 'step probe rollout --sequences 10 --resume' ;;
        *) printf '%s\n' 'step finetune' 'step symreg' \
            'step probe labels --sizes 100 --steps 2 --draws 2 --sequences 10 --resume' ;;
        esac
        echo 'step cell'
    } >"$WORK/$name.grid"
done

for name in text_short table1; do
    printf '%s\n' 'preset text' 'set text.train=/usr/share/common-licenses/GPL-3' \
        'set text.positions=17 model.layers=1 model.width=16' \
        'set pretrain.steps=2 pretrain.eval_sequences=4' \
        'axis seed 0 1' 'axis attention softmax lssar' 'step pretrain' \
        'step probe length --sequences 2 --resume' >"$WORK/$name.grid"
done

# ---- short, then long on top of it

RUNS=$WORK/one JOBS=2 study/verdict.sh short >"$WORK/out"
check "short" equal 0 $?
check "it ends with the verdict" grep -q 'is nearer by .* (softmax, 2 seeds)' "$WORK/out"
check "two cells" grep -q '"cells":.2,' "$WORK/one/verdict/verdict.json"
check "text stands beside" equal 4 "$(ls "$WORK"/one/text_short/*/*/probe/length.json | wc -l)"
cp "$WORK/one/verdict/verdict.json" "$WORK/short.json" || exit
check "long" env RUNS="$WORK/one" JOBS=2 study/verdict.sh long
check "four cells" grep -q '"cells":.4,' "$WORK/one/verdict/verdict.json"
check "attentions are compared" grep -q '"minus":.*"softmax"' "$WORK/one/verdict/verdict.json"
check "text, whole" test -s "$WORK/one/verdict/results/table1.json"
sed -i 's,=/usr/share/[^ ]*,=corpora/nothing.txt,' "$WORK/table1.grid"
check "a corpus that cannot be had" equal 1 \
    "$(RUNS="$WORK/one" JOBS=2 study/verdict.sh long >/dev/null 2>"$WORK/err"; echo $?)"
check "a corpus that cannot be had: is named" grep -q \
    'corpora/nothing.txt: not there; study/grids/table1.grid is left out' "$WORK/err"
check "a corpus that cannot be had: and the verdict is there" \
    grep -q '"cells":.4,' "$WORK/one/verdict/verdict.json"
check "for readers" grep -q '^## Attentions against softmax, seed by seed' \
    "$WORK/one/verdict/verdict.md"

page=$WORK/one/verdict/verdict.html
check "the verdict's page has no sentence on pretraining" grep -q \
    '<li>\(It is not shown that\|Whether\) pretraining on positions' "$page"
check "the verdict's page does not say of how many runs it is" grep -q \
    '^<p class="meta">4 runs of preset smoke, ' "$page"
check "figures and differences have no row each on the verdict's page" equal \
    "$(grep -c '^<tr><th scope="row">.*</td></tr>$' "$page")" \
    "$(grep -c '"significant"' "$WORK/one/verdict/verdict.json")"
program report --run "$WORK/one/verdict/seed0-softmax" --verdict "$WORK/other.json" 2>"$WORK/err"
check "report --verdict has another status than that of usage" equal 2 $?
check "report --verdict does not tell which program writes the page" grep -qF \
    'verdict: bin/verdict writes verdict.html itself now' "$WORK/err"
check "report --verdict without a file says another thing" equal \
    "report: error: --verdict: bin/verdict writes verdict.html itself now" \
    "$(program report --verdict 2>&1)"
program report --runs "$WORK/one" --verdict "$WORK/other.json" 2>"$WORK/err"
check "not with --runs" grep -qE -e '--verdict: ' "$WORK/err"
program report --runs "$WORK/one" --set symreg.maxsize=9 2>"$WORK/err"
check "no setting either" grep -q 'set: belongs to .* and the page, not to report --runs' \
    "$WORK/err"

# ---- of files of results alone, as of cells that were made elsewhere

check "grids that were not run are named" grep -q \
    '^Not run, or not put together: inductive_fresh, context, ' "$WORK/one/verdict/verdict.md"
check "grids that were not run are named: in what it cannot say" \
    grep -q 'Other grids that were not run: inductive_fresh,' \
    "$WORK/one/verdict/verdict.json"
tally=$(sed -nE 's/^([0-9]+) (reproduced, [0-9]+ refuted here, [0-9]+ open)\.$/\1 are \2/p' \
    study/docs/claims.md)
check "README.md counts claims as study/docs/claims.md" grep -q "${tally:-no tally}" README.md
check "the ledger of these runs" grep -q 'from the files in `.*/one/verdict/results`' \
    "$WORK/one/verdict/claims.md"
cp -r "$WORK/one/verdict/results" "$WORK/results-more" &&
    cp study/results/inductive_fresh.json "$WORK/results-more" || exit
"$BIN/verdict" --out "$WORK/more" --beside "$WORK/results-more" "$WORK"/one/verdict/seed* \
    >"$WORK/out" 2>"$WORK/err"
check "a sweep's log beside its cell" test -e "$WORK/one/verdict/seed0-softmax.log"
check_not "a sweep's log beside its cell: is not named" grep -E '\.(log|lock)' "$WORK/err"
check "one that is there stands beside" grep -q \
    '^| The inductive bias is not towards the state, corrected .* (10 seeds) | .*:' "$WORK/out"
check "and is not named as missing" grep -q '^Not run, or not put together: context, ' \
    "$WORK/out"
echo '{"format": "other"}' >"$WORK/results-more/gate.json"
"$BIN/verdict" --out "$WORK/bad-beside" --beside "$WORK/results-more" "$WORK"/one/verdict/seed* \
    >"$WORK/out" 2>"$WORK/err"
check "a file of another kind beside" grep -q 'gate.json: "format": expected' "$WORK/err"
check_not "nothing is written" test -e "$WORK/bad-beside"
"$BIN/verdict" --out "$WORK/bad-beside" --beside "$WORK/nowhere" "$WORK"/one/verdict/seed* \
    2>"$WORK/err"
check "no folder beside" grep -q 'nowhere: --beside: no such folder' "$WORK/err"
mkdir -p "$WORK/kept/cells/verdict" || exit
for cell in "$WORK"/one/verdict/seed*/; do
    name=$(basename "$cell")
    cp "$cell/cell.json" "$WORK/kept/cells/verdict/$name.json" || exit
done
programs=$(cd "$BIN" && pwd)
(cd "$WORK/kept/cells/verdict" &&
    "$programs/verdict" --out "$WORK/kept" --beside "$WORK/one/verdict/results" *.json) >"$WORK/out"
check "of files of results" equal 0 $?
check "the same verdict as of the runs" same_file "$WORK/one/verdict/verdict.json" \
    "$WORK/kept/verdict.json"
check "files of results have another page than the runs" same_file "$page" \
    "$WORK/kept/verdict.html"
mkdir "$WORK/split" && cp -r "$WORK/one/verdict/seed0-softmax" "$WORK/split" || exit
cp "$WORK"/kept/cells/verdict/seed[01]-*.json "$WORK/split" && rm "$WORK/split/seed0-softmax.json"
(cd "$WORK/split" &&
    "$programs/verdict" --out "$WORK/split/out" --beside "$WORK/one/verdict/results" seed* \
        >"$WORK/out")
check "of runs and files of results" same_file "$WORK/one/verdict/verdict.json" \
    "$WORK/split/out/verdict.json"
"$BIN/compare" runs "$WORK/one/verdict" --quiet >/dev/null
"$BIN/compare" runs "$WORK/kept" --quiet >/dev/null
for name in one/verdict kept; do # the same but for their places
    sed 's|cells/verdict/||; s|\(seed[01]-[a-z]*\)\.json|\1|; /"folder"/d; /"xxh64"/d' \
        "$WORK/$name/runs.json" >"$WORK/$name/rows.json"
done
check "rows of files of results" same_file "$WORK/one/verdict/rows.json" "$WORK/kept/rows.json"
RUNS=$WORK/one DOCS=$WORK/kept COMMIT=c study/claims.sh "$WORK/results" >/dev/null
eval "$(sed -n '/^shortened() {/,/^}/p' study/claims.sh)" # as results are kept
shortened "$WORK/kept/cells/verdict/seed1-lssar.json" >"$WORK/nine.json"
check "files of results are kept with nine digits" same_file "$WORK/nine.json" \
    "$WORK/results/cells/verdict/seed1-lssar.json"
number='-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?'
# agree FILE FILE: the same but for numbers, which differ by at most 1e-6 of themselves, and by 2e-8
# where they are small differences: nine digits of values of some 1 to 10 are 5e-9
agree() {
    local file
    for file; do
        sed -E "/\"xxh64\"/d; s/$number/#/g; s/,\$//" "$file" >"$file.text"
        grep -vF '"xxh64"' "$file" | grep -oE -e "$number" >"$file.numbers"
    done
    diff "$1.text" "$2.text" && paste "$1.numbers" "$2.numbers" |
        awk '{ off = $1 - $2; if (off < 0) off = -off
               size = $1 < 0 ? -$1 : $1
               if (!(off <= 1e-6 * size + 2e-8)) { print; wrong = 1 } } END { exit wrong || !NR }'
}
check "files of results are put together to the same verdict" \
    agree "$WORK/one/verdict/verdict.json" "$WORK/results/verdict.json"
rm -rf "${WORK:?}/results/cells/verdict/seed1-lssar.json"
RUNS=$WORK/none DOCS=$WORK/kept study/claims.sh "$WORK/results" >/dev/null
check "without runs, of those that are kept" grep -q '"cells":.3,' "$WORK/results/verdict.json"
# results of fewer seeds, or of another preset, do not take the place of those that are kept
few=$WORK/few/context/one
mkdir -p "$few" && cp -r "$WORK/one/verdict/seed0-softmax/softmax" "$few" &&
    cp "$WORK/one/verdict/seed0-softmax/preset.json" "$few" || exit
check "a probe" program probe rollout --run "$few" --attention softmax --sequences 8 --quiet
take() { # FILE: the same, put together with what is kept
    RUNS=$WORK/few DOCS=$WORK/kept study/claims.sh "$WORK/results" >/dev/null 2>"$WORK/err"
}
check "the first of a grid" take
check "the first of a grid: names files below runs" grep -q \
    '"files":.\["runs/context/one/softmax/probe/rollout.json"\]' \
    "$WORK/results/context_rollout.json"
for change in 's/"seeds":.1/"seeds": 3/' 's/"files":.\[/&"another.json", /' \
    's/"preset":."[a-z]*"/"preset": "other"/'; do
    sed -i "$change" "$WORK/results/context_rollout.json" &&
        cp "$WORK/results/context_rollout.json" "$WORK/context_rollout.json"
    check_not "$change: is kept: status" take
    check "$change: is kept" same_file "$WORK/context_rollout.json" \
        "$WORK/results/context_rollout.json"
    check "$change: named" grep -q '^claims: context_rollout.json: made of 1 files, 1 seeds, ' \
        "$WORK/err"
    check "$change: FORCE=1" env FORCE=1 RUNS="$WORK/few" DOCS="$WORK/kept" study/claims.sh \
        "$WORK/results"
    check "$change: is replaced" grep -q '"seeds":.1,' "$WORK/results/context_rollout.json"
    check "$change: is replaced: of its preset" \
        grep -q '"preset":."smoke"' "$WORK/results/context_rollout.json"
done
rm "$WORK/results/context_rollout.json"
cp -r "$WORK/results" "$WORK/results-stale" || exit # a run that is made again, its file left
cp -r "$WORK/one" "$WORK/again" || exit
again=$WORK/again/verdict/seed1-lssar
for p in pretrain finetune symreg; do
    force=(--force)
    [ $p != symreg ] || force=()
    check "made again: $p" program $p --run "$again" --set pretrain.lr=0.01 --resume --quiet \
        "${force[@]}"
done
RUNS=$WORK/again DOCS=$WORK/kept study/claims.sh "$WORK/results-stale" >/dev/null 2>"$WORK/err"
check "cells of other settings: status" equal 1 $?
check "they are named" grep -q 'seed1-lssar.json: of other settings' "$WORK/err"
check "the file is of the run as it is" grep -q '"lr":.0.01,' \
    "$WORK/results-stale/cells/verdict/seed1-lssar.json"
# one that is not whole, and one that is none, take away nothing that was kept
rm "$again/laws/laws.json"
cp -r "$WORK/results" "$WORK/results-kept" && mkdir -p "$WORK/again/universes/c1" \
    "$WORK/results-kept/cells/universes" "$WORK/results-kept/cells/ablation" &&
    cp "$WORK/kept/cells/verdict/seed1-lssar.json" "$WORK/results-kept/cells/verdict" || exit
echo garbage >"$WORK/again/universes/c1/preset.json"
echo '{"kept": 1}' | tee "$WORK/results-kept/cells/universes/c1.json" \
    >"$WORK/again/universes/c1/cell.json"
RUNS=$WORK/again DOCS=$WORK/kept study/claims.sh "$WORK/results-kept" >/dev/null 2>"$WORK/err"
check "a run that is not whole: status" equal 1 $?
check "what is kept of it stays" same_file "$WORK/kept/cells/verdict/seed1-lssar.json" \
    "$WORK/results-kept/cells/verdict/seed1-lssar.json"
check "what is kept of it stays: in both places" test -e "$again/cell.json"
check "what is kept of it stays: and that is said" \
    grep -q 'cells/verdict/seed1-lssar.json stays as it was' "$WORK/err"
check "a run that is none: the same" grep -q kept "$WORK/results-kept/cells/universes/c1.json"
check "the rest goes on" grep -q '"cells":.4,' "$WORK/results-kept/verdict.json"
mkdir "$WORK/damaged" && cp "$WORK"/kept/cells/verdict/seed0-*.json "$WORK/damaged" || exit
head -c 500 "$WORK/damaged/seed0-softmax.json" >"$WORK/damaged/seed1-softmax.json"
sed "$bare;"'s/orrery-cell-1/orrery-cell-2/' "$WORK/damaged/seed0-lssar.json" \
    >"$WORK/damaged/seed1-lssar.json"
"$BIN/compare" runs "$WORK/damaged" >"$WORK/out" 2>"$WORK/err"
check "a damaged file is left out by name" grep -q '^- seed1-softmax.json: ' "$WORK/out"
check "one of another version too" grep -q '^- seed1-lssar.json: .*orrery-cell-1' "$WORK/out"
bad() { # MESSAGE SED: a file of results that was changed
    local message=$1
    sed "$bare;$2" "$WORK/kept/cells/verdict/seed0-lssar.json" >"$WORK/bad.json"
    rm -rf "${WORK:?}/bad"
    "$BIN/verdict" --out "$WORK/bad" "$WORK/kept/cells/verdict/seed0-softmax.json" \
        "$WORK/bad.json" >"$WORK/out" 2>&1
    check "a file of results: $message" grep -q "bad.json: .*$message" "$WORK/out"
}
bad 'expected a cell.s results' 's/orrery-cell-1/orrery-cell-9/'
bad 'expected value, upper bound, baseline, raw' 's/"next_state":.\[/&1, /'
bad 'did you mean' 's/"attention":.\["lssar"\]/"atention": ["lssar"]/'
bad '"selected": expected a whole number from 0' 's/"selected":.[0-9]*/"selected": 1.5/'
bad '"cells": expected at least one' 's/"cells":.\[{/"cells": [], "was": [{/'
bad 'is there twice' 's/"cells":.\[{/&"attention": "lssar", "figures": {}}, {/'
bad '"k_close": expected a whole number from 0 to' 's/"k_close":.[0-9]*/"k_close": 99/'
bad 'expected 3 numbers' 's/"exponents":.\[/&1, /'
bad '"rule": expected a line' 's/"rule":."/&\\u001b[31m/'
bad '"source": expected a line' 's/"source":."/&a | b/'
bad 'expected an attention' 's/"attention":."lssar"/"attention": "a\\nlssar"/'
bad 'stands twice in one object' 's/"version":/"seed": 1, "seed": 2, &/'
bad 'of other settings' 's/"steps":.[0-9]*/"steps": 77/'
check_not "nothing is written of other settings" test -e "$WORK/bad"
# what a file says is missing comes out as lines, in the notes as in the Markdown
sed "$bare;"'s/"missing":.\[\]/"missing": [{"what": "a\\n# b", "why": "\\u001b[31mc\\u009bd"}]/' \
    "$WORK/kept/cells/verdict/seed0-lssar.json" >"$WORK/strange.json"
"$BIN/verdict" --out "$WORK/strange" "$WORK/kept/cells/verdict/seed0-softmax.json" \
    "$WORK/strange.json" >"$WORK/out" 2>"$WORK/err"
check "missing things of strangers: in Markdown" grep -qxF -- '- a # b: ?[31mc??d' "$WORK/out"
check "missing things of strangers: in Markdown: and in a note" \
    grep -qxF 'verdict: missing: a # b: ?[31mc??d' "$WORK/err"
check_not "missing things of strangers: in Markdown: no controls" \
    grep -qP '\x1b|\xc2[\x80-\x9f]' "$WORK/out" "$WORK/err"
"$BIN/verdict" --cell "$WORK/bad.json" >"$WORK/out" 2>&1
check "--cell of a file" grep -q 'expected a run directory' "$WORK/out"
"$BIN/verdict" --claims "$WORK/kept" --cell >"$WORK/out" 2>&1
check "--cell with --claims" grep -q 'cell: belongs to verdict --cell, not to verdict --claims' \
    "$WORK/out"
"$BIN/verdict" --claims "$WORK/kept" --beside "$WORK/nowhere" >"$WORK/out" 2>&1
check "--beside with --claims" grep -q 'beside: belongs to a verdict, not to verdict --claims' \
    "$WORK/out"
for wrong in "$WORK/out" "$WORK/few" "$WORK/nowhere"; do # a file, a folder without results, neither
    check_not "no results: $wrong" program verdict --claims "$wrong" --out "$WORK/ledger"
    check_not "no results: $wrong: and no ledger" test -e "$WORK/ledger"
done
"$BIN/verdict" --cell a b >"$WORK/out" 2>&1
check "--cell of two" grep -q 'expected one run directory, found 2' "$WORK/out"

# ---- killed at random, and run again

for after in 0.7 1.9; do
    RUNS=$WORK/two JOBS=2 setsid study/verdict.sh short >/dev/null 2>&1 &
    pid=$!
    sleep "$after"
    pkill -KILL -f -- "--run $WORK/two/" # programs, and then what waits for them
    kill -KILL -- "-$pid" 2>/dev/null
    wait $pid 2>/dev/null
    pkill -KILL -f -- "$WORK/two/"
done
check "after two kills" env RUNS="$WORK/two" JOBS=2 study/verdict.sh short
check "the same verdict" same_file "$WORK/short.json" "$WORK/two/verdict/verdict.json"

# ---- vectors that were changed since

printf '%s\n' 'preset smoke' "${settings/planets.enabled=false/}" 'set attention=softmax,lssar' \
    'axis seed 0' 'step orbits' 'step pretrain' 'step finetune' 'step symreg' >"$WORK/planets.grid"
check "a cell of two attentions with planets" env RUNS="$WORK/three" "$BIN/orrery" sweep \
    "$WORK/planets.grid"
cell=$WORK/three/planets/seed0
"$BIN/verdict" --out "$WORK/planets" "$cell" >"$WORK/out" 2>"$WORK/err"
check "it is taken" equal 0 $?
baseline() { # of the planets' cosine, in the row of an attention
    awk -F ' *[|] *' -v of="$1" '$2 == "eight planets, cosine of force vectors" && $3 == of {
        print $7; exit }' "$WORK/out"
}
check "a baseline of its shape" differ - "$(baseline softmax)"
check "none of another shape" equal - "$(baseline lssar)"
sed -i '2s/[0-9]$/7/; 3s/[0-9]$/3/' "$cell/softmax/finetune/forces_vector.csv"
"$BIN/verdict" --out "$WORK/planets" "$cell" >"$WORK/out" 2>"$WORK/err"
check "changed vectors are missing" grep -q 'forces_vector.csv: not what' "$WORK/err"
check_not "and not taken" grep -q 'eight planets' "$WORK/out"

# ---- wrong

study/verdict.sh brief >/dev/null 2>"$WORK/err"
check "another form: status" equal 2 $?
check "another form" grep -q 'expected short or long, found "brief"' "$WORK/err"
"$BIN/verdict" >/dev/null 2>"$WORK/err"
check "no cell: status" equal 2 $?
check "no cell" grep -q 'expected run directories' "$WORK/err"
"$BIN/verdict" --out "$WORK/none" "$WORK/nowhere" >/dev/null 2>"$WORK/err"
check "a cell that is not there: status" equal 1 $?
check "it is named" grep -q "nowhere" "$WORK/err"
check_not "nothing is written" test -e "$WORK/none"

finish
