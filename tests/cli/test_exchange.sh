#!/usr/bin/env bash
# test_exchange.sh - models of other programs by files (docs/exchange.md): Orrery's own models,
# exported and answered, give the numbers that the probes give; malformed answers are refused by one
# line, and nothing is written.
. tests/cli/lib.sh
. tests/cli/exchange.sh
PROGRAMS="$PROGRAMS probe judge" # refuse() knows the programs by name
fast_pictures

run=$WORK/run answers=$WORK/run/answers
BASE=(--quiet --threads 1 --set model.precision=fp32)
ASKED=(--sequences 120 --sizes 20,40 --draws 1) # test_space.sh: two draws
check "a run" program orbits "${TINY[@]}" --run "$run"
check "its models" program pretrain "${TINY[@]}" --set model.precision=fp32 --run "$run"
check "its tables of forces" program finetune "${TINY[@]}" --set model.precision=fp32 --run "$run"

# without_baseline FILE: without the column before the last two
without_baseline() {
    sed 's/,[^,]*\(,[^,]*,[^,]*\)$/\1/' "$1" >"$1.rest"
}

# ---- what is asked
check "export" program probe export --run "$run" "${BASE[@]}" "${ASKED[@]}"
asked=$run/exchange
check "export: a first row is the time step, in float32" grep -aq "'<f4'.*(128, 40, 2)" \
    "$asked/inputs_test.npy"
check "export: a rollout is asked of its prefix alone" grep -aq "'<f4'.*(128, 21, 2)" \
    "$asked/prefix_two_body_test.npy"
check "export: draws of labels" equal 61 "$(wc -l <"$asked/labels.csv")"
check "export: the rows of forces are the truth's" same_file "$asked/rows_magnitude.csv" \
    "$run/truth/finetune/forces_magnitude.csv"
cp "$asked/export.json" "$WORK/export.json"
check "export: again" program probe export --run "$run" "${BASE[@]}" "${ASKED[@]}"
check "export: the same question" same_file "$asked/export.json" "$WORK/export.json"

# refused NAME PROBE PATTERN...: the answers in $bad, which are made anew then
refused() {
    refuse "$1: one line" 1 "${@:3}" -- "$BIN/probe" "$2" --run "$run" "${BASE[@]}" --answers "$bad"
    spoiled
}
if quick; then # the answers of one model to one probe, a judgement, and malformed answers
    check "a model of the run answers" program probe answer --run "$run" "${BASE[@]}" --steps 3 \
        --attention softmax
    proof softmax rollout
    cp -r "$answers/softmax" "$answers/a"
    rm -r "$answers/a/probe"
    check "a judgement" "$BIN/orrery" judge --run "$run" "${BASE[@]}" --answers "$answers/a" \
        --untrained "$answers/softmax_untrained" --probes rollout
    check "a judgement: its numbers are those of the probe" \
        same_file "$answers/a/probe/rollout.csv" "$answers/softmax/probe/rollout.csv"
    check "a judgement: its page" filled "$answers/a/card.md" "$answers/a/card.json"
    bad=$answers/bad
    spoiled
    printf '\000\000\300\177' | at predictions_test.npy 80
    refused "a NaN" evaluate predictions_test.npy 'sequence 0, row 10, column 0' 'found nan'
    sed -i 5d "$bad/forces_labels.csv"
    refused "a row of forces is missing" labels forces_labels.csv 'found no such row' 'n 20, draw 0'
    rm "$bad/export.json"
    refused "answers to nothing" evaluate export.json 'a copy of the export.json'
    check "nothing temporary stays" clean "$WORK"
    finish
fi

# a question of one's own folder: there, again and changed, but not among files of others
mkdir "$WORK/mine"
echo mine | tee "$WORK/mine/labels.csv" >"$WORK/mine/notes.txt"
ls "$run" "$run/orbits" >"$WORK/listed"
for folder in "$WORK/mine" "$run" "$run/orbits"; do
    refuse "a question into ${folder##*/}" 1 "$folder: expected a new folder" 'another --out' -- \
        "$BIN/probe" export --run "$run" "${BASE[@]}" "${ASKED[@]}" --out "$folder"
done
check "a question among others: their files stay" equal mine "$(cat "$WORK/mine/labels.csv")"
check "a question among others: nothing is written" equal "$(cat "$WORK/listed")" \
    "$(ls "$run" "$run/orbits")"
for n in 20 30; do
    check "a question of $n in its own folder" program probe export --run "$run" "${BASE[@]}" \
        --sequences $n --sizes 20 --draws 1 --out "$WORK/question"
done
echo '{}' >"$WORK/question/answered.json"
refuse "a question into answers" 1 'found answered.json' -- \
    "$BIN/probe" export --run "$run" "${BASE[@]}" "${ASKED[@]}" --out "$WORK/question"
rm -r "$WORK/mine" "$WORK/question"

refuse "a mistyped run: one line" 1 typo 'no preset.json there' -- \
    "$BIN/probe" export --run "$WORK/typo" --quiet
check "a mistyped run: one line: and nothing is written" test ! -e "$WORK/typo"
refuse "a mistyped run of a judgement" 1 typo 'no preset.json there' -- \
    "$BIN/orrery" judge --run "$WORK/typo" --answers "$asked"

mv "$run/orbits" "$WORK/orbits"
mv "$asked" "$WORK/asked"
refuse "data sets elsewhere: one line" 1 coords_planets_solar.npy 'link the run' 'orbits --run' -- \
    "$BIN/probe" export --run "$run" "${BASE[@]}"
check "data sets elsewhere: one line: and nothing is written" test ! -e "$asked"
ln -s "$WORK/orbits" "$run/orbits"
check "linked data sets are exported" program probe export --run "$run" "${BASE[@]}" "${ASKED[@]}"
check "linked data sets are exported: the same question of linked ones" \
    same_file "$asked/export.json" "$WORK/export.json"
rm -r "$run/orbits" "$asked"
mv "$WORK/orbits" "$run/orbits"
mv "$WORK/asked" "$asked"

# killed_export N OPTION...: an export that is killed at what it writes N-th
killed_export() {
    (export LD_PRELOAD=$FAIL_WRITE FAIL_HOW=kill FAIL_AT=$1 &&
        exec "$BIN/probe" export --run "$run" "${BASE[@]}" "${ASKED[@]}" "${@:2}") 2>/dev/null
    [ $? -eq 137 ]
}
if [ -e "$FAIL_WRITE" ]; then
    check "an export amid its files" killed_export 20
    check "an export amid its files: who answers the same question goes on" \
        same_file "$asked/export.json" \
        "$WORK/export.json"
    check "another question amid its files" killed_export 20 --sequences 150
    check "another question amid its files: the former one is gone" \
        test ! -e "$asked/export.json" -a -e "$asked/labels.csv"
    check "the question again" program probe export --run "$run" "${BASE[@]}" "${ASKED[@]}"
    check "the question again: is the same" same_file "$asked/export.json" "$WORK/export.json"
    rm -f "$asked"/.*.tmp* "$asked"/*.tmp*
else
    skip "an export amid its files" "$FAIL_WRITE is not there: make check builds it"
fi

# ---- the proof: own models, answered from the exported files
check "a run answers" program probe answer --run "$run" "${BASE[@]}" --steps 3
proof softmax rollout linear intervene labels extrapolate inductive planets evaluate
proof lssar linear # all probes of it: test_space.sh
check "results have the folder's name" equal '"softmax"' \
    "$(value "$answers/softmax/probe/linear.json" source)"
check "results have the folder's name: and name the untrained twin" grep -q softmax_untrained \
    "$answers/softmax/probe/linear.json"
check "without a twin" program probe linear --run "$run" "${BASE[@]}" --answers "$answers/softmax" \
    --out "$WORK/alone"
check "without a twin: values as before, no baseline" \
    every_row "$WORK/alone/linear.csv" '$(NF - 2) == "nan"'
without_baseline "$WORK/alone/linear.csv"
without_baseline "$answers/softmax/probe/linear.csv"
check "without a twin: the other values" alike "$WORK/alone/linear.csv.rest" \
    "$answers/softmax/probe/linear.csv.rest"
rm "$answers/softmax/probe/linear.csv.rest"
program probe linear --run "$run" "${BASE[@]:1}" --answers "$answers/softmax" --resume \
    --untrained "$answers/softmax_untrained" >"$WORK/out" 2>&1
check "resumed: nothing is measured twice" grep -q "complete" "$WORK/out"

# ---- laws and the page: a model whose force is one percent too large, and its twin
mkdir "$answers/lstm" "$answers/lstm_twin"
awk -F, -v OFS=, 'NR > 1 { $9 = $8 * 1.01 } 1' "$asked/rows_magnitude.csv" \
    >"$answers/lstm/forces_magnitude.csv"
awk -F, -v OFS=, 'NR > 1 { $8 = -$4; $9 = -$5 } 1' "$asked/rows_vector.csv" \
    >"$answers/lstm/forces_vector.csv"
cp "$answers/softmax_untrained/forces_magnitude.csv" "$answers/lstm_twin"
both=$answers/lstm,$answers/lstm_twin/
law() {
    program symreg --run "$run" "${TINY[@]:2}" --set model.precision=fp32 "$@"
}
check "laws of other programs" law --answers "$both"
check "laws of other programs: a law with its own constant" \
    grep -q '^| lstm | best | .* | 2/2 | 2/2 | 39\.87[0-9]* |$' "$run/laws/laws.md"
check "laws of other programs: a law with its own constant: its exponents" \
    grep -q '^| lstm | 0\.99.* | 1\.00% | -2\.000 ' "$run/laws/laws.md"
check "laws of other programs: a law with its own constant: of its twin" \
    grep -q '^| lstm_twin | best | .* | 0/2 |' "$run/laws/laws.md"
check "laws of other programs: a law with its own constant: what was not made by the run" \
    grep -q "^Not made by this run: answers $answers/lstm/" \
    "$run/laws/laws.md"
check "laws of other programs: again, with nothing to do" law --answers "$both" --resume
check "the page" program report --run "$run" --quiet --answers "$both"
check "the page: has laws and forces of the model" test "$(grep -o '</span>lstm</th>' \
    "$run/report.html" | wc -l)" -ge 3
check "the page without force vectors of it" program report --run "$run" --quiet
check "the page without force vectors of it: has its laws" \
    grep -q '</span>lstm</th>' "$run/report.html"
check "the page with it" program report --run "$run" --quiet --answers "$both"
program report --run "$run" --answers "$both" --resume >"$WORK/out" 2>&1
check "the page with it: is not made again" grep -q 'report.html is up to date' "$WORK/out"
# as if the model of lstm had been probed
cp -r "$answers/softmax/probe" "$answers/lstm/probe"
check "the page with results of probes" program report --run "$run" --quiet --answers "$both" \
    --resume
grep -oE '</span>lstm</th><td>[^<]*(AU|drift|R\^2|slope.*|separations|cosine|size)' \
    "$run/report.html" >"$WORK/measured"
check "the page with results of probes: rows of the model" equal 14 "$(wc -l <"$WORK/measured")"
check "the page with results of probes: rows of the model: its rollouts" \
    grep -q 'rollout of 10 steps, position, AU' "$WORK/measured"
check "the page with results of probes: rows of the model: beside the run's own models" \
    grep -q '</span>GPT (LSSAR)</th><td>next position, AU' \
    "$run/report.html"
twin=$(awk -F, '/^"log force",.*,20,/ { print $9 }' "$answers/lstm/probe/labels.csv")
twin=$(printf '%.4g' "$twin" | sed 's/^-/\&minus;/')
check "the page with results of probes: rows of the model: with the twin's values" \
    grep -q "log force after 20 labelled.*n\">$twin<" \
    "$run/report.html"
check "the page with results of probes: a picture of the curves" test -s "$run/figures/probes.png"
rm -r "$answers/lstm/probe"
check "a table over runs" program compare runs "$WORK" --quiet
check "a table over runs: has the model" grep -q '"source":.*"lstm"' "$WORK/runs.json"
rm "$WORK/runs.json"
refuse "without the model, the laws are of others" 1 laws.json symreg -- \
    "$BIN/report" --run "$run" --quiet --answers "$answers/softmax_untrained"
refuse "a name that the run has" 2 --answers: 'a source "softmax" already' -- \
    "$BIN/symreg" --run "$run" "${TINY[@]:2}" --answers "$answers/softmax"
refuse "no table there" 1 forces_magnitude.csv missing 'probe export copies' -- \
    "$BIN/symreg" --run "$run" "${TINY[@]:2}" --set model.precision=fp32 --answers "$asked"
refuse "of a table" 2 --answers: 'belongs to' -- "$BIN/symreg" "$asked/rows_magnitude.csv" \
    --target F --answers "$answers/lstm"
mkdir "$answers/wrong"
awk -F, -v OFS=, 'NR == 7 { $8 *= 1.001 } 1' "$answers/lstm/forces_magnitude.csv" \
    >"$answers/wrong/forces_magnitude.csv"
refuse "another truth of the laws" 1 wrong/forces_magnitude.csv:7 F_true: 'as in line 7' -- \
    "$BIN/symreg" --run "$run" "${TINY[@]:2}" --set model.precision=fp32 --answers "$answers/wrong"
cp "$answers/lstm/forces_magnitude.csv" "$answers/wrong"
awk -F, -v OFS=, 'NR == 7 { $6 *= 1.001 } 1' "$answers/lstm/forces_vector.csv" \
    >"$answers/wrong/forces_vector.csv"
check "laws of it" law --answers "$answers/wrong" --out "$WORK/laws"
mv "$run/laws" "$WORK/both"
mv "$WORK/laws" "$run/laws"
refuse "another truth of the vectors" 1 wrong/forces_vector.csv 'row 6 of mercury' fx_true -- \
    "$BIN/report" --run "$run" --quiet --answers "$answers/wrong"
rm -r "$run/laws" "$answers/wrong"
mv "$WORK/both" "$run/laws"

for probe in intervene extrapolate inductive planets; do
    check "$probe without a twin" program probe $probe --run "$run" "${BASE[@]}" \
        --answers "$answers/softmax" --out "$WORK/alone"
    for folder in "$answers/softmax/probe" "$WORK/alone"; do
        cut -d, -f1-6 "$folder/$probe.csv" | grep -v less | head -n 11 >"$folder/first"
    done
    check "$probe without a twin: has the values" \
        same_file "$answers/softmax/probe/first" "$WORK/alone/first"
    rm "$answers/softmax/probe/first"
    check "$probe without a twin: and no baseline" \
        every_row "$WORK/alone/$probe.csv" '$(NF - 2) ~ "nan"'
done

check "means over models" program compare seeds "$answers"/{softmax,lssar}/probe/linear.json \
    --out "$WORK/seeds"
check "means over models: of both" filled "$WORK/seeds/linear_seeds.json"

# ---- a judgement: everything that the files allow, and a card
judge() {
    "$BIN/orrery" judge --run "$run" "${BASE[@]}" --set symreg.iterations=1 \
        --set symreg.enumerate=500 "$@"
}
for name in a a_untrained b b_untrained; do
    of=softmax
    [ "${name:0:1}" = a ] || of=lssar
    cp -r "$answers/$of${name:1}" "$answers/$name"
    rm -rf "$answers/$name/probe"
done
rm "$answers/b/forces_magnitude.csv"
judge --answers "$answers/a" --untrained "$answers/a_untrained" >"$WORK/card" 2>"$WORK/err"
check "a judgement" equal 0 $?
check "a judgement: its page" same_file "$WORK/card" "$answers/a/card.md"
check "a judgement: on a screen" every_row "$answers/a/card.md" 'NR < 45 && length($0) <= 80'
check "a judgement: the answer" grep -q '^no: its forces follow the law in 0 of [0-9]* samples\.$' \
    "$WORK/card"
for probe in rollout linear intervene labels extrapolate inductive planets; do
    check "a judgement: the answer: the numbers of probe $probe" \
        same_file "$answers/a/probe/$probe.csv" \
        "$answers/softmax/probe/$probe.csv"
done
check "a judgement: the answer: JSON" grep -q '"format":.*"orrery-card-1"' "$answers/a/card.json"
check "a judgement: the answer: with a value of each line" \
    equal "$(grep -c '"measure"' "$answers/a/card.json")" \
    "$(awk '/^```/ { on = !on; next } on' "$WORK/card" | tail -n +2 | wc -l)"
judge --answers "$answers/a" --untrained "$answers/a_untrained" --probes linear,labels --resume \
    >"$WORK/card" 2>&1
check "resumed" equal 0 $?
check "resumed: some of its probes alone" \
    equal 3 "$(awk '/^```/ { on = !on; next } on' "$WORK/card" |
    tail -n +2 | grep -c 'log force')"
check "resumed: and no law" grep -q '^not asked' "$WORK/card"
check "two trainings" judge --answers "$answers/a,$answers/b" --out "$answers/both" \
    --untrained "$answers/a_untrained,$answers/b_untrained" --probes rollout,linear
card=$(tr '\n' ' ' <"$answers/both/card.md") # lines end where they are full
check "two trainings: a card of both" grep -q 'Trainings: 2' <<<"$card"
check "two trainings: the mean" awk -v a="$(value "$answers/a/card.json" value | head -1)" \
    -v b="$(value "$answers/b/card.json" value | head -1)" \
    -v c="$(value "$answers/both/card.json" value | head -1)" \
    'BEGIN { d = (a + b) / 2 - c; exit !(c != 0 && d * d < 1e-18 * c * c) }'
check "without forces and a twin" judge --answers "$answers/b" --resume
check "without forces and a twin: it says what is missing" \
    grep -q 'Not measured: laws, the answers have no' \
    "$answers/b/card.md"
check "without forces and a twin: and that nothing shows what training added" \
    grep -q '"untrained":.*no twin' \
    "$answers/b/card.json"

# runs of which a variant, or the oracle, has no table of forces
mv "$run/lssar" "$WORK/lssar"
rm -rf "$answers/a/laws"
check "a run without a variant" judge --answers "$answers/a" --probes laws --resume
check "a run without a variant: laws of the others alone" equal '"softmax"' \
    "$(grep -o '"softmax"\|"lssar"' "$answers/a/laws/laws.json" | sort -u)"
mv "$WORK/lssar" "$run/lssar"
mv "$run/oracle" "$WORK/oracle"
rm "$answers/a/probe/linear.json"
refuse "a run without the oracle: before anything is measured" 1 '--probes: laws' \
    'no oracle/finetune/forces_magnitude.csv in the run' -- "$BIN/orrery" judge --run "$run" \
    "${BASE[@]}" --answers "$answers/a" --probes linear,laws
check "a run without the oracle: nothing was measured" test ! -e "$answers/a/probe/linear.json"
check "a run without the oracle: all but laws" judge --answers "$answers/a" --resume
check "a run without the oracle: the card says why" grep -q '"laws":.*no oracle/finetune/' \
    "$answers/a/card.json"
mv "$WORK/oracle" "$run/oracle"

"$BIN/orrery" judge --help >"$WORK/help"
check "the help of judge" grep -q '^usage: .*probe judge --run RUN --answers DIR' "$WORK/help"
check "the help of judge: its options" \
    equal 3 "$(grep -cE -- '^  --(answers|untrained|probes) ' "$WORK/help")"
check_not "the help of judge: and no other probe" grep -q 'probe passkey\|--attention' "$WORK/help"

# ---- malformed answers
bad=$answers/bad
spoiled
printf '\000\000\300\177' | at predictions_test.npy 80
refused "a NaN" evaluate predictions_test.npy 'sequence 0, row 10, column 0' 'found nan'
printf '\000\000\200\177' | at rollout_two_body_test.npy 4
refused "an infinity" rollout rollout_two_body_test.npy 'sequence 0, row 0, column 1' 'found inf'
printf '\000\000\300\177' | at activations_two_body_test_layer1.npy 0
refused "a NaN of a layer" linear activations_two_body_test_layer1.npy 'found nan'
LC_ALL=C sed -i '1s/(128, 40, 2)/(127, 40, 2)/' "$bad/predictions_test.npy"
truncate -s -320 "$bad/predictions_test.npy"
refused "a sequence is missing" evaluate predictions_test.npy 'the shape (128, 40, 2)' \
    'found (127, 40, 2)'
LC_ALL=C sed -i '1s/(128, 40, 2)/(128, 20, 4)/' "$bad/predictions_test.npy"
refused "another shape" evaluate 'expected the shape (128, 40, 2)' 'found (128, 20, 4)'
truncate -s -4 "$bad/rollout_two_body_test.npy"
refused "cut short" rollout rollout_two_body_test.npy
LC_ALL=C sed -i "1s/<f4/<i4/" "$bad/rollout_two_body_test.npy"
refused "whole numbers" rollout 'float32 or float64' '"<i4"'
# the second half of the sequences before the first
{
    head -c 128 "$bad/predictions_test.npy"
    tail -c $((68 * 320)) "$bad/predictions_test.npy" | head -c $((60 * 320))
    tail -c +129 "$bad/predictions_test.npy" | head -c $((60 * 320))
    tail -c $((8 * 320)) "$bad/predictions_test.npy"
} >"$WORK/turned"
mv "$WORK/turned" "$bad/predictions_test.npy"
refused "another order" evaluate predictions_test.npy 'the order is another one'
# the first prediction of the last repeated sequence, as if it knew how that goes on
printf '\000\000\000\100' | at predictions_test.npy $((127 * 320))
refused "a look ahead" evaluate predictions_test.npy 'depends on later rows' 'row 0 of sequence 127'
cp "$answers/softmax/predictions_test.npy" "$bad/rollout_two_body_test.npy"
refused "another question's answer" rollout 'expected the shape (128, 19, 2)' 'found (128, 40, 2)'
mv "$bad/activations_two_body_train_layer0.npy" "$WORK/gone.npy"
refused "no layer" linear activations_two_body_train_layer0.npy missing
rm "$bad/activations_two_body_test_layer1.npy"
refused "a layer of one set" linear activations_two_body_test_layer1.npy missing
rm "$bad/predictions_test.npy"
refused "no predictions" evaluate predictions_test.npy missing

sed -i 5d "$bad/forces_labels.csv"
refused "a row of forces is missing" labels forces_labels.csv 'found no such row' 'n 20, draw 0'
sed -i 5p "$bad/forces_labels.csv"
refused "a row twice" labels forces_labels.csv:6 'is there twice'
sed -i '7s/,[^,]*$/,nan/' "$bad/forces_labels.csv"
refused "a force that is none" labels forces_labels.csv:7 'F: expected a finite number'
awk -F, -v OFS=, 'NR == 9 { $5 *= 1.001 } 1' "$bad/forces_labels.csv" >"$WORK/true"
mv "$WORK/true" "$bad/forces_labels.csv"
refused "another truth" labels forces_labels.csv:9 'F_true: expected' 'as exported'
awk -F, -v OFS=, 'NR == 9 { $4 = 0 } 1' "$bad/forces_labels.csv" >"$WORK/true"
mv "$WORK/true" "$bad/forces_labels.csv"
refused "a row that was not asked" labels forces_labels.csv:9 'a row that was asked' 'step 0'
sed -i 1s/F_true/truth/ "$bad/forces_labels.csv"
refused "a column by another name" labels 'no column "F_true"'

sed -i 5d "$bad/forces_extrapolate_m.csv"
refused "a force beyond labels is missing" extrapolate forces_extrapolate_m.csv 'found no such row'
cp "$bad/forces_extrapolate_r.csv" "$bad/forces_extrapolate_m.csv"
sed -i '9s/,[^,]*$/,inf/' "$bad/forces_extrapolate_r.csv"
refused "an infinite force" extrapolate forces_extrapolate_r.csv:9 'a finite number'
sed -i 7d "$bad/targets_inductive.csv"
refused "a target is missing" inductive targets_inductive.csv 'rows, as in rows_inductive.csv'
sed -i '7{h;d};8{G}' "$bad/targets_inductive.csv"
refused "targets in another order" inductive targets_inductive.csv:7 'as in rows_inductive.csv'
sed -i '7s/,[^,]*$/,nan/' "$bad/targets_inductive.csv"
refused "a target that is none" inductive targets_inductive.csv:7 'y: expected a finite number'
awk -F, -v OFS=, 'NR == 7 { $5 += 0.001 } 1' "$answers/softmax/targets_inductive.csv" \
    >"$bad/targets_inductive.csv"
refused "another target" inductive targets_inductive.csv:7 'target: expected' 'as exported'
printf '\000\000\300\177' | at continuations_layer1.npy 40
refused "a continuation that is none" intervene continuations_layer1.npy 'found nan'
# two trials change places: the second is asked again at the end
one=$((120 * 4 * 4))
{
    head -c $((128 + 12 * one)) "$answers/softmax/continuations_layer0.npy"
    tail -c +$((129 + 13 * one)) "$answers/softmax/continuations_layer0.npy" | head -c $one
    tail -c +$((129 + 12 * one)) "$answers/softmax/continuations_layer0.npy" | head -c $one
    tail -c +$((129 + 14 * one)) "$answers/softmax/continuations_layer0.npy"
} >"$bad/continuations_layer0.npy"
refused "trials in another order" intervene continuations_layer0.npy 'the order is another one'
printf '\000\000\000\100' | at additions_layer0.npy $((one / 2))
refused "other vectors" intervene additions_layer0.npy
cp "$answers/lssar/activations_intervene_layer1.npy" "$bad"
refused "vectors of other activations" intervene additions_layer1.npy 'ask again with probe export'
cp "$answers/lssar/rollout_two_body_test.npy" "$bad"
refused "continuations that are no rollout" intervene continuations_layer0.npy 'without an addition'
rm "$bad/additions_layer1.npy"
refused "nothing was asked" intervene additions_layer1.npy missing
printf '\000\000\300\177' | at predictions_planets.npy 0
refused "a NaN of a planet" planets predictions_planets.npy 'found nan'
awk -F, -v OFS=, 'NR == 9 { $4 *= 1.001 } 1' "$answers/softmax/forces_planets.csv" \
    >"$bad/forces_planets.csv"
refused "another true force" planets forces_planets.csv:9 'fx_true: expected' 'as exported'
sed -i 5d "$bad/forces_planets.csv"
refused "a planet's row is missing" planets forces_planets.csv 'rows, as in rows_planets.csv'
rm "$answers/b/card.json" "$answers/b/card.md"
rm -r "$answers/b/probe"
sed -i 7d "$answers/b/targets_inductive.csv"
refuse "a judgement of malformed answers: one line" 1 targets_inductive.csv 'rows, as in' -- \
    "$BIN/probe" judge --run "$run" "${BASE[@]}" --answers "$answers/b" --probes linear,inductive
check "a judgement of malformed answers: one line: nothing is written" \
    test ! -e "$answers/b/probe" -a ! -e "$answers/b/card.json"
check "a judgement of malformed answers: one line: and no folder stays" \
    equal 0 "$(find "$answers/b" -name '.judge*' | wc -l)"
rm "$bad/export.json"
refused "answers to nothing" evaluate export.json 'a copy of the export.json'
sed -i 's/"prefix":.*/"prefix": 19,/' "$bad/export.json"
refused "a changed question" evaluate export.json 'changed since it was made'
check "other data" program probe export --preset smoke --seed 5 --run "$WORK/other" --quiet \
    "${ASKED[@]}"
cp "$WORK/other/exchange/export.json" "$bad"
refused "answers to other data" evaluate export.json 'answers to other data' 'as of this run'
refuse "the twin is the model" 1 'the same files as' -- "$BIN/probe" linear --run "$run" \
    "${BASE[@]}" --answers "$answers/softmax" --untrained "$answers/softmax/"
lssar=$run/lssar/pretrain/last.safetensors of=(--run "$run" --answers "$bad")
refusals "$BIN/probe" <<END
nothing judged | 2 'needs --answers' | judge --run '$run'
an unknown probe | 2 --probes: 'found "laws2"' | judge "\${of[@]}" --probes rollout,laws2
no file for it | 1 --probes: laws: 'have no' | judge "\${of[@]:0:3}" '$answers/b' --probes laws
a twin too few | 2 --untrained: 'a twin of each' | judge "\${of[@]},$bad" --untrained '$bad'
no folder of the card | 2 --answers: 'need --out DIR' | judge --run '$run' --answers '$bad,$bad'
a twin alone | 2 --untrained: 'needs --answers' | rollout --run '$run' --untrained '$bad'
with a checkpoint | 2 --checkpoint: 'for a checkpoint' | rollout "\${of[@]}" --checkpoint '$lssar'
as many as were asked | 2 --sequences: 'takes what is asked' | rollout "\${of[@]}" --sequences 3
a changed attention | 2 --answers: 'changed attention' | rollout "\${of[@]}" --p 3
not of this probe | 2 --answers: 'not to probe adaptation' | adaptation "\${of[@]}"
no such folder | 1 'export.json: missing' | rollout --run '$run' --answers '$WORK/none'
a name for no file | 2 'names the model' | rollout --run '$run' --answers '$run/a b'
other data sets | 2 --orbits: 'of the run and its seed' | export --run '$run' --orbits '$run/orbits'
tokens | 1 'about coordinates' smoke_tokens | export --preset smoke_tokens --run '$WORK/tokens'
END
check "nothing temporary stays" clean "$WORK"
finish
