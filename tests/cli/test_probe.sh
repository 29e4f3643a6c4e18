#!/usr/bin/env bash
# test_probe.sh - bin/probe on a trained run: files, figures, changes after training, and what is
# refused.
. tests/cli/lib.sh
PROGRAMS+=" probe compare" # refuse() knows the programs by name

run=$WORK/run
BASE=(--quiet --threads 1)
check "a run" program orbits "${TINY[@]}" --run "$run"
check "its models" program pretrain "${TINY[@]}" --run "$run"
check "its fine-tuned model" program finetune "${TINY[@]}" --run "$run" --source lssar
lssar=$run/lssar/pretrain/last.safetensors

# npy_is FILE SHAPE
npy_is() {
    head -c 128 "$1" | grep -aq "'<f4'.*($2)"
}
# near A B: numbers that are the same but for roundings of float
near() {
    [ -n "$1" ] && awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d
        exit !(b > 0 && d <= 1e-4 * b) }'
}

# ---- help
program probe --help all >"$WORK/help"
check "help: usage" grep -q '^usage: probe attention ' "$WORK/help"
check "help: both probes" grep -q '^ *probe evaluate ' "$WORK/help"
check "help: each option once" each_once "$WORK/help"
check "version" prints '^orrery probe [0-9]' program probe --version

# ---- attention
check "attention" program probe attention --checkpoint "$lssar" "${BASE[@]}"
out=$run/lssar/probe
columns=entropy_nats,entropy_relative,sink,sink_uniform,zeros,degenerate
check "attention.csv" test "$(head -n 1 "$out/attention.csv")" = \
    "layer,head,$columns,random_${columns//,/,random_}"
check "attention.csv: a row per layer and head" test "$(wc -l <"$out/attention.csv")" -eq 3
check "attention.csv: shares between 0 and 1" every_row "$out/attention.csv" '$4 >= 0 && $4 <= 1 &&
    $5 >= 0 && $5 <= 1 && $6 > 0 && $6 <= 1 && $7 >= 0 && $7 <= 1 && $8 >= 0 && $8 <= 1' 2
check "attention.json: settings" test "$(value "$out/attention.json" attention)" = '"lssar"' -a \
    "$(value "$out/attention.json" p)" = 15 -a "$(value "$out/attention.json" positions)" = 40 -a \
    "$(value "$out/attention.json" data_from)" = '"files"'
check "attention.json: checkpoint" grep -qF "$lssar" "$out/attention.json"
check "a page per layer" is_png "$out/attention_layer0.png"
check "an array per layer" npy_is "$out/attention_layer0.npy" '2, 40, 40'
check "nothing else" test "$(ls -A "$out" | tr '\n' ' ')" = \
    "attention.csv attention.json attention_layer0.npy attention_layer0.png "
cp "$out/attention.csv" "$WORK/before.csv"
check "again, on two threads" program probe attention --checkpoint "$lssar" --quiet --threads 2
check "again, on two threads: the same figures" same_file "$WORK/before.csv" "$out/attention.csv"
# sequences made on the fly are those of the files
mv "$run/orbits" "$run/gone"
check "without data files" program probe attention --checkpoint "$lssar" "${BASE[@]}" \
    --out "$WORK/fly"
check "without data files: from the seed" \
    test "$(value "$WORK/fly/attention.json" data_from)" = '"seed"'
check "without data files: the same figures" same_file "$WORK/before.csv" "$WORK/fly/attention.csv"
check "without data files: the same map" \
    same_file "$out/attention_layer0.npy" "$WORK/fly/attention_layer0.npy"
mv "$run/gone" "$run/orbits"

check "one head, changed" program probe attention --checkpoint "$lssar" "${BASE[@]}" --head 1 \
    --layer 0 --p 2 --window 7 --length 20 --sequences 3 --out "$WORK/head"
check "one head, changed: its picture" is_png "$WORK/head/attention_layer0_head1.png"
check "one head, changed: its array" npy_is "$WORK/head/attention_layer0_head1.npy" '1, 20, 20'
check "one head, changed: its settings" test "$(value "$WORK/head/attention.json" p)" = 2 -a \
    "$(value "$WORK/head/attention.json" window)" = 7 -a \
    "$(value "$WORK/head/attention.json" sequences)" = 3
# softmax has no exact zeros, lssar has many; re-weighting can be switched after training
check "lssar has zeros" every_row "$out/attention.csv" '$7 > 0.2'
check "another variant" program probe attention --checkpoint "$lssar" "${BASE[@]}" \
    --attention decomp_III --out "$WORK/signed"
check "another variant: is that one" \
    equal "$(value "$WORK/signed/attention.json" attention)" '"decomp_III"'
check "another variant: with another map" other_files "$out" "$WORK/signed" attention_layer0.npy
check "re-weighting off" program probe attention --checkpoint "$lssar" "${BASE[@]}" \
    --reweight off --out "$WORK/off"
check "re-weighting off: is lssa" \
    test "$(value "$WORK/off/attention.json" attention)" = '"lssa"' -a \
    "$(value "$WORK/off/attention.json" p)" = null
check "re-weighting off: without zeros" every_row "$WORK/off/attention.csv" '$7 == 0' 2
check "planet runs" program probe attention "${BASE[@]}" \
    --checkpoint "$run/softmax/pretrain_planets/last.safetensors"
check "planet runs: in a folder of their own" is_png \
    "$run/softmax/probe_pretrain_planets/attention_layer0.png"
for task in magnitude vector; do
    check "fine-tuned: $task" program probe attention "${BASE[@]}" \
        --checkpoint "$run/lssar/finetune/$task.safetensors"
    check "fine-tuned: $task: its page" is_png "$run/lssar/probe_$task/attention_layer0.png"
done
rm -r "$run/lssar/probe"
check "every model of a run" program probe attention --run "$run" "${BASE[@]}"
check "every model of a run: each in its place" filled "$run"/{softmax,lssar}/probe/attention.csv
check "every model of a run: as on its own" \
    same_file "$WORK/before.csv" "$run/lssar/probe/attention.csv"

# a model that a step has changed by nothing is its own baseline, a trained one is not
none_trained=$WORK/none_trained
mkdir "$none_trained"
cp -r "$run/orbits" "$none_trained"
check "a model of no learning" program pretrain "${TINY[@]}" --run "$none_trained" \
    --attention lssar --set pretrain.steps=1 --set pretrain.lr=1e-12
check "a model of no learning: attention" program probe attention "${BASE[@]}" \
    --checkpoint "$none_trained/lssar/pretrain/last.safetensors"
check "a model of no learning: as its baseline" \
    every_row "$none_trained/lssar/probe/attention.csv" \
    '($3 - $9) ^ 2 < 1e-12 && ($4 - $10) ^ 2 < 1e-12 && ($5 - $11) ^ 2 < 1e-12 &&
    ($6 - $12) ^ 2 < 1e-12 && ($7 - $13) ^ 2 < 1e-12 && ($8 - $14) ^ 2 < 1e-12' 2
check "a model of no learning: the trained one not" \
    every_row "$out/attention.csv" '$4 != $10 && $6 == $12' 2
check "a model of no learning: evaluate" program probe evaluate "${BASE[@]}" \
    --checkpoint "$none_trained/lssar/pretrain/last.safetensors"
baseline=$(value "$none_trained/lssar/probe/evaluate.json" random_weights)
check "a model of no learning: as its baseline" near "$baseline" \
    "$(value "$none_trained/lssar/probe/evaluate.json" teacher_forced)"

# ---- evaluate
check "evaluate" program probe evaluate --checkpoint "$lssar" "${BASE[@]}"
for key in loss teacher_forced persistence rollout_1 rollout_19 split; do
    check "evaluate: $key is what pretraining measured" equal \
        "$(value "$out/evaluate.json" $key)" \
        "$(value "$run/lssar/pretrain/evaluation.json" $key)"
done
check "evaluate: of the test split" equal '"test"' "$(value "$out/evaluate.json" split)"
check "evaluate: random weights are worse" \
    differ "$baseline" "$(value "$out/evaluate.json" teacher_forced)"
check "evaluate: and the same as those of the model of no learning" near "$baseline" \
    "$(value "$out/evaluate.json" random_weights)"
check "evaluate: and have a sum" grep -q '"xxh64":' "$out/evaluate.json"
check "evaluate: nothing changed" lacks '"changed"' "$out/evaluate.json"
rollout=$(value "$out/evaluate.json" rollout_19)
program probe evaluate --checkpoint "$lssar" "${BASE[@]}" --sequences 8 --reweight off \
    >"$WORK/table"
check "evaluate, changed" grep -q '"changed"' "$out/evaluate.json"
check "evaluate, changed: beside as trained" \
    grep -q '^| attention | lssar, p = 15 | lssa |$' "$WORK/table"
loss_of() { # COLUMN
    awk -F' [|] ' -v column="$1" '/^[|] loss [|]/ { print $column + 0 }' "$WORK/table"
}
check "evaluate, changed: another loss" differ "$(loss_of 2)" "$(loss_of 3)"
check "by the generic path" program probe evaluate --checkpoint "$lssar" "${BASE[@]}" \
    --attention-impl generic
check "by the generic path: the same errors" \
    near "$(value "$out/evaluate.json" rollout_19)" "$rollout"
check "shorter sequences" program probe evaluate --checkpoint "$lssar" "${BASE[@]}" --length 24 \
    --sequences 8
check "shorter sequences: of that length" grep -q '"positions":[[:space:]]*24,' "$out/evaluate.json"
check "planet runs, evaluated" program probe evaluate "${BASE[@]}" \
    --checkpoint "$run/lssar/pretrain_planets/last.safetensors"
for key in loss teacher_forced persistence rollout_1 split; do
    check "planet runs, evaluated: $key is what pretraining measured" equal \
        "$(value "$run/lssar/probe_pretrain_planets/evaluate.json" $key)" \
        "$(value "$run/lssar/pretrain_planets/evaluation.json" $key)"
done
check "planet runs, evaluated: of the test split" equal '"planets_test"' \
    "$(value "$run/lssar/probe_pretrain_planets/evaluate.json" split)"
# without positions there is no table that ends
none=$WORK/none
check "a model without positions" program pretrain "${TINY[@]}" --run "$none" --attention lssar \
    --orbits "$run/orbits" --set model.positions=none
check "longer sequences" program probe evaluate "${BASE[@]}" --length 90 --sequences 5 \
    --checkpoint "$none/lssar/pretrain/last.safetensors"
check "longer sequences: of that length" \
    grep -q '"positions":[[:space:]]*90' "$none/lssar/probe/evaluate.json"

# ---- outputs
check "outputs" program probe outputs --checkpoint "$lssar" "${BASE[@]}" --sequences 3 \
    --out "$WORK/outputs"
check "outputs: inputs of three sequences" grep -aq "'<f4'.*(3, 40, 2)" "$WORK/outputs/inputs.npy"
check "outputs: outputs" grep -aq "'<f4'.*(3, 40, 2)" "$WORK/outputs/outputs.npy"
check "outputs: again, by two threads" program probe outputs --checkpoint "$lssar" "${BASE[@]}" \
    --sequences 3 --threads 2 --out "$WORK/again"
check "outputs: the same" same_file "$WORK/outputs/outputs.npy" "$WORK/again/outputs.npy"
exec 8<"$WORK/outputs"
flock 8
start "$BIN/probe" outputs --checkpoint "$lssar" --quiet --sequences 3 --out "$WORK/outputs"
until_true grep -q "another process is writing there, waiting for it" "$WORK/err"
stop INT
exec 8<&-
check "outputs: stopped while it waits: status 130" equal 130 "$status"
check "outputs: it says that it waited" grep -q "$WORK/outputs: .*waiting for it" "$WORK/err"
check "outputs: and that it was stopped" grep -q "^probe: stopped while another" "$WORK/err"
check "outputs: nothing of it stayed" \
    same_file "$WORK/outputs/outputs.npy" "$WORK/again/outputs.npy"
check "outputs: by the generic path" program probe outputs --checkpoint "$lssar" "${BASE[@]}" \
    --sequences 3 --attention-impl generic --out "$WORK/generic"
check "outputs: with other roundings" other_file "$WORK/outputs/outputs.npy" \
    "$WORK/generic/outputs.npy"

# maps of a deeper model that was probed there before
mkdir "$WORK/maps"
touch "$WORK/maps"/attention_layer{7,9_head0}.{npy,png} "$WORK/maps/attention_layers.txt"
mkdir -p "$WORK/maps/attention_layer8.npy" # a folder
mine="attention_layer10x.npy attention_layer010.npy attention_layer12.npy.txt
    attention_layer99999999999.npy attention_layer7_head1_old.png attention_layer-1.npy"
(cd "$WORK/maps" && touch $mine)
check "probe where a deeper model was" program probe attention --checkpoint "$lssar" "${BASE[@]}" \
    --sequences 1 --out "$WORK/maps"
check "probe where a deeper model was: whose maps are gone, and nothing else" equal \
    "$(printf '%s\n' attention_layer{0.npy,0.png,8.npy,s.txt} $mine | LC_ALL=C sort)" \
    "$(ls "$WORK/maps" | grep ^attention_layer | LC_ALL=C sort)"

# ---- what is refused
probe=("$BIN/probe")
for option in "--seed 3" "--set seed=3" "--preset smoke" "--run $run" "--threads 1" "--device cpu" \
    "--attention-impl generic" "--attention softmax"; do
    refuse "a reader of results: $option" 2 "${option%% *}: compare has no such option" -- \
        "${probe[@]}" seeds $option "$WORK/before.csv"
done
with() {
    "${probe[@]}" "$1" --checkpoint "$lssar" "${BASE[@]}" --out "$run/refused" "${@:2}"
}
echo no model >"$WORK/text.safetensors"
cp "$lssar" "$WORK/alone.safetensors"
tuned=$run/lssar/finetune/magnitude.safetensors alone=$WORK/alone.safetensors none=$WORK/none.safe
planets=$run/lssar/pretrain_planets/last.safetensors text=$WORK/text.safetensors
refusals "${probe[@]}" <<END
no subcommand | 2 'attention, evaluate, outputs' |
--plan | 2 '--plan: probe has no such option' | attention --plan
--resume | 2 --resume: 'not to probe attention' | attention --resume
unknown subcommand | 2 attentoin 'attention, evaluate, outputs' | attentoin
two subcommands | 2 'unexpected argument' | attention evaluate
unknown option | 2 --heads 'did you mean --head?' | attention --heads 2
no checkpoint there | 1 '$none' 'no such checkpoint' | attention --checkpoint '$none'
no preset for it | 2 alone.safetensors 'no preset.json' | attention --checkpoint '$alone'
results, a length | 2 --length: 'does not go with probe seeds' | seeds '$WORK/any.json' --length 4
END
refuse "a stopped training of the run" 1 lssar/pretrain/last.safetensors 'not complete: step ' \
    ' of 9999; continue with: ' '--resume' --checkpoint -- program probe attention --run "$run" \
    "${BASE[@]}" --attention lssar --set pretrain.steps=9999 --out "$WORK/refused"
refuse "no model in the run" 1 lssar/pretrain/last.safetensors "make it with: $BIN/pretrain " -- \
    "${probe[@]}" attention --preset smoke --attention lssar --run "$WORK/nowhere"
refuse "no model in the file" 1 text.safetensors 'not a safetensors file' -- \
    "${probe[@]}" attention --preset smoke --checkpoint "$text"
for name in attention linear; do
    refuse "$name: orbits of tokens" 1 'a model of coordinates' smoke_tokens -- "${probe[@]}" \
        $name --preset smoke_tokens --checkpoint "$alone"
done
refusals with <<END
unknown variant | 2 'unknown variant "sotfmax"' | attention --attention sotfmax
no such layer | 2 --layer '0 to 0' | attention --layer 1
no such head | 2 --head: '0 to 1' 'found 5' | attention --head 5
a layer for evaluate | 2 --layer: 'belongs to probe attention, not' | evaluate --layer 0
neither on nor off | 2 --reweight: 'on or off' | evaluate --reweight yes
a power below 1 | 2 --p: 'at least 1' '"0.5"' | attention --p 0.5
a power that is none | 2 --p: 'at least 1' '"nan"' | attention --p nan
a negative window | 2 --window: 'from 0 to' '"-1"' | attention --window=-1
no sequences | 2 --sequences: 'from 1 to' '"0"' | attention --sequences 0
one position | 2 --length: 'from 2 to' '"1"' | evaluate --length 1
beyond learned positions | 2 'end at 40' 'found 80' | evaluate --length 80
NTK without rope | 2 NTK 'rotary positions' | evaluate --ntk
no distribution | 2 'found "decomp_I"' | attention --attention decomp_I --reweight on
no such --orbits | 1 '$WORK/nowhere' 'no data sets there' | attention --orbits '$WORK/nowhere'
it is fine-tuned as it was trained | 2 --p, 'as they were trained' | inductive --p 3
no step to change | 2 intervene '3 positions' | intervene --length 3
too few sequences to read out | 2 --sequences: 'found 5' | linear --sequences 5
END
refuse "data sets are of some probes" 2 --draws: \
    'probe adaptation, probe inductive and probe export, not to probe linear' -- \
    with linear --draws 2
refusals "${probe[@]}" <<END
a fine-tuned model predicts none | 1 'a model of stage magnitude' | evaluate --checkpoint '$tuned'
it continues none | 1 rollout 'the next position' magnitude | rollout --checkpoint '$tuned'
forces have been learned | 1 inductive 'stage magnitude' | inductive --checkpoint '$tuned'
planet runs | 1 linear 'planet runs' | linear --checkpoint '$planets'
END
# ---- without gnuplot: the numbers, a note, and no picture of other numbers
undrawn() { # PROBE ARGUMENT...
    env PATH=/nonexistent "$(cd "$BIN" && pwd)/probe" "$@" --quiet --threads 1 >"$WORK/shown" \
        2>"$WORK/said"
}
any_picture() {
    compgen -G "$1*.png"
}
for probe in attention rollout; do
    check "$probe with gnuplot" program probe $probe --checkpoint "$lssar" "${BASE[@]}" \
        --sequences 4 --out "$WORK/undrawn"
    check "$probe with gnuplot: a picture" any_picture "$WORK/undrawn/$probe"
    rm -f "$WORK/undrawn/$probe.csv"
    undrawn $probe --checkpoint "$lssar" --sequences 4 --out "$WORK/undrawn"
    check "no gnuplot: $probe" test $? -eq 0
    check "no gnuplot: $probe: a note, also where little is said" equal \
        "note: no picture: gnuplot is not in PATH (package gnuplot-nox, or make deps)" \
        "$(<"$WORK/said")"
    check "no gnuplot: $probe: the numbers" filled "$WORK/undrawn/$probe.csv"
    check_not "no gnuplot: $probe: no older picture" any_picture "$WORK/undrawn/$probe"
    check_not "no gnuplot: $probe: nor its name" grep -F .png "$WORK/undrawn/$probe.json"
done

if quick; then finish; fi
# ---- linear, rollout, intervene: what they measure is tested in tests/probe
for name in linear rollout intervene; do
    size=20
    [ $name != linear ] || size=400
    check "$name" program probe $name --checkpoint "$lssar" "${BASE[@]}" --sequences $size \
        --out "$WORK/physics"
    check "$name: its picture" is_png "$WORK/physics/$name.png"
    check "$name: its table" filled "$WORK/physics/$name.csv"
    cp "$WORK/physics/$name.csv" "$WORK/before.physics"
    check "$name: again, on two threads" program probe $name --checkpoint "$lssar" --quiet \
        --threads 2 --sequences $size --out "$WORK/physics"
    check "$name: the same figures" same_file "$WORK/before.physics" "$WORK/physics/$name.csv"
    touch -d '2001-01-01' "$WORK/physics/$name.png"
    check "$name: kept by --resume" program probe $name --checkpoint "$lssar" --sequences $size \
        --resume --out "$WORK/physics"
    check "$name: and not made again" test "$WORK/physics/$name.png" -ot "$WORK/before.physics"
done

# ---- inductive: stopped behind the first fine-tuning it goes on to the same figures
bias=(--checkpoint "$lssar" --sequences 20 --draws 2 --steps 30)
check "inductive" program probe inductive "${bias[@]}" "${BASE[@]}" --out "$WORK/bias"
check "inductive: its picture" is_png "$WORK/bias/inductive.png"
check "inductive: both forms" test \
    "$(grep -c 'oracle","to diagonal, [cp]' "$WORK/bias/inductive.csv")" -eq 4
check "inductive: the truth is on the diagonal" awk -F, '
    /^"linear oracle","to diagonal/ && /corrected/ { found = 1; bad = !($9 < 1e-9 && $6 > 0) }
    END { exit !found || bad }' "$WORK/bias/inductive.csv"
stopped=$WORK/stopped
start "$BIN/probe" inductive "${bias[@]}" --quiet --threads 2 --out "$stopped"
until_true grep -qs '^{"cell":' "$stopped/inductive_cells.jsonl"
stop INT
check "inductive: stopped: status 130" equal 130 "$status"
check "inductive: no results yet" test ! -e "$stopped/inductive.json"
check "inductive: nothing temporary" clean "$stopped"
check "inductive: goes on" \
    program probe inductive "${bias[@]}" "${BASE[@]}" --resume --out "$stopped"
check "inductive: to the same figures" same_file "$WORK/bias/inductive.csv" "$stopped/inductive.csv"
touch -d '2001-01-01' "$stopped/inductive.png"
check "inductive: kept by --resume" program probe inductive "${bias[@]}" --resume --out "$stopped"
check "inductive: and not made again" test "$stopped/inductive.png" -ot "$stopped/inductive.csv"

check "nothing temporary stays" clean "$WORK"
finish
