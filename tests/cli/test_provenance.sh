#!/usr/bin/env bash
# test_provenance.sh - every link of the chain from data sets to the report, changed between two
# resumed runs: what depends on it is made again, saying why, and nothing else is.
. tests/cli/lib.sh
fast_pictures
PROGRAMS="$PROGRAMS probe"

SETTINGS=(--preset smoke --set pretrain.steps=2 --set pretrain_planets.steps=2
          --set finetune.magnitude.steps=2 --set finetune.vector.steps=2
          --set symreg.iterations=0 --set symreg.enumerate=0 --set symreg.populations=1
          --set finetune.samples=2 --set attention=softmax,lssar)
# stage PROGRAM RUN OPTION...: one program, resumed; its notes are in $WORK/err. Weights may be lost
# (test_weights.sh is about when they may not)
stage() {
    local name=$1 run=$2 own=(--threads 1)
    shift 2
    [ "$name" != report ] || own=()
    [[ $name != pretrain && $name != finetune ]] || own+=(--force)
    program "$name" "${SETTINGS[@]}" "${own[@]}" --run "$run" --resume "$@" 2>"$WORK/err"
}
# world RUN OPTION...: all of them, options for all
world() {
    local run=$1 name
    shift
    : >"$WORK/notes"
    for name in orbits pretrain finetune symreg report; do
        stage $name "$run" "$@" >"$WORK/out" || { cat "$WORK/err"; return 1; }
        cat "$WORK/err" >>"$WORK/notes"
    done
}
# remade RUN OPTION...: the files that the world makes again with these options, without pictures,
# logs and settings, sources in short
remade() {
    local run=$1
    shift
    (cd "$run" && find . -type f -exec touch -d '2001-01-01' {} +)
    world "$run" "$@" || return 1
    (cd "$run" && find . -type f -newermt '2002-01-01' -printf '%P\n') |
        sed -e '/^figures\//d; /jsonl$/d; /^preset.json$/d; /made.json$/d; /^laws\/front_/d' \
            -e '/^laws\/laws.md/d; /\/best.safetensors/d' | sort | tr '\n' ' '
}
# is_remade NAME EXPECTED RUN OPTION...
is_remade() {
    local name=$1 expected=$2 found
    shift 2
    found=$(remade "$@") || { fail "$name" "$(tail -n 2 "$WORK/err")"; return; }
    if [ "$found" = "$expected" ]; then
        pass "$name"
    else
        fail "$name" "expected: $expected" "found:    $found"
    fi
}
notes() { # NAME PATTERN: the last world said so
    check "$1" grep -qF -- "$2" "$WORK/notes"
}

run=$WORK/run
check "a run" world "$run"
is_remade "again: nothing" "" "$run"
check "again: nothing: every program says so" test \
    "$(grep -c -e 'up to date' -e 'complete' "$WORK/notes")" -ge 7
cp -a "$run" "$WORK/whole"

back() { # the run as it was
    rm -r "$run" && cp -a "$WORK/whole" "$run"
}

# ---- a setting of each stage
# (lab.html comes with a report)
laws="lab.html laws/laws.json report.html "
is_remade "a setting of symreg: laws and report" "$laws" "$run" --set symreg.maxsize=9
notes "a setting of symreg: laws and report: the reason" \
    "laws.json: made anew: symreg.maxsize is 20, expected 9"
is_remade "a setting of symreg: laws and report: and back again" "$laws" "$run"
is_remade "the text about a preset: the report alone" "lab.html report.html " "$run" --set about=x
tables=
for source in lssar oracle softmax truth untrained; do
    tables="$tables$source/finetune/forces_magnitude.csv "
done
is_remade "the size of samples: tables, no model" \
    "$(echo "lab.html laws/laws.json ${tables}report.html" | tr ' ' '\n' | sort | tr '\n' ' ')" \
    "$run" --set finetune.sample_size=40
notes "the size of samples: tables, no model: the reason" \
    "finetune softmax, magnitude: made anew: finetune.sample_size is 50, expected 40"
back
is_remade "neighbours of the oracle: its table" "lab.html laws/laws.json \
oracle/finetune/forces_vector.csv report.html " "$run" \
    --set finetune.knn_vector=4 --set symreg.maxsize=9
back
models="lssar/finetune/forces_magnitude.csv lssar/finetune/magnitude.safetensors "
baseline="untrained/finetune/forces_magnitude.csv untrained/finetune/magnitude.safetensors "
is_remade "fine-tuning of magnitudes: its models" \
    "lab.html laws/laws.json ${models}report.html ${models//lssar/softmax}$baseline" \
    "$run" --set finetune.magnitude.lr=0.001
back
first="lssar/pretrain/evaluation.json lssar/pretrain/last.safetensors "
is_remade "pretraining: all that comes of it, but the baseline and planet runs" \
    "lab.html laws/laws.json $models${first}report.html \
${models//lssar/softmax}${first//lssar/softmax}" \
    "$run" --set pretrain.lr=0.001
notes "pretraining: all that comes of it, but the baseline and planet runs: the reason" \
    "pretrain lssar: made anew: pretrain.lr is 0.003, expected 0.001"
notes "pretraining: all that comes of it, but the baseline and planet runs: further on" \
    "lssar, magnitude: made anew: model: model: pretrain.lr is 0.003, expected 0.001"
back
is_remade "where to save changes nothing" "lab.html report.html " \
    "$run" --set pretrain.checkpoint_every=1
back

# ---- the data set that laws of positions are made from
input() { # its digest
    tr -d ' \t\n' <"$run/laws/laws.json" | grep -o '"positions":"[0-9a-f]*"' |
        grep -o '[0-9a-f]\{16\}'
}
recorded() { # the set of this digest
    tr -d ' \t\n' <"$run/laws/laws.json" | grep -o "\"$(input)\":{[^}]*}[^}]*}" |
        grep -q '"set":"two_body_test"'
}
check "laws are made from positions" recorded
mv "$run/orbits" "$WORK/orbits"
check "laws are made from positions: and stay without them" prints '^keep .*laws.json' \
    program symreg "${SETTINGS[@]}" --run "$run" --plan
check "laws anew without them" stage symreg "$run" --set symreg.maxsize=9
check "laws anew without them: a note" \
    grep -q 'no source "positions": .*orbits: no data sets there' "$WORK/err"
check "laws anew without them: no row" test "$(grep -c '^| positions' "$run/laws/laws.md")" -eq 0
check "laws anew without them: up to date" prints '^keep .*laws.json' \
    program symreg "${SETTINGS[@]}" --set symreg.maxsize=9 --run "$run" --plan
mv "$WORK/orbits" "$run/orbits"
check "the data set again: laws anew" prints '^remake .*laws.json' \
    program symreg "${SETTINGS[@]}" --set symreg.maxsize=9 --run "$run" --plan
back

# ---- data sets: refused, then set by set
KEEP=$run refuse "another law is refused" 1 "$run/orbits" 'orbits.law is newton, expected hooke' \
    --force -- "$BIN/orbits" "${SETTINGS[@]}" --threads 1 --run "$run" --set orbits.law=hooke
check "one set of another size" stage orbits "$run" --force --set orbits.two_body_train=200
written() {
    (cd "$run/orbits" && find . -newer "$WORK/whole/report.html" -name '*.npy' | sort)
}
arrays() {
    (cd "$run/orbits" && find . -name '*_two_body_train.npy' | sort)
}
check "one set of another size: the others stay" equal "$(arrays)" "$(written)"
check "one set of another size: it is there" grep -q '"200"' "$run/orbits/manifest.json"
KEEP=$run refuse "it is not taken for the other" 1 two_body_train 'sequences is 200, expected 300' \
    --orbits -- "$BIN/finetune" "${SETTINGS[@]}" --threads 1 --run "$run" --set finetune.samples=4
check "the law of all sets" stage orbits "$run" --force --set orbits.law=hooke
# planet runs are made of orbits.law, eccentricities and com_sigma_au
stage pretrain "$run" --set orbits.law=hooke >"$WORK/out"
check "planet pretraining: made again" grep -q \
    'lssar, planets: made anew: planets_train: orbits.law is newton, expected hooke' "$WORK/err"
check "planet pretraining: made again: the states, too" \
    grep -q 'pretrain lssar: made anew: train: orbits.law' "$WORK/err"
back

# ---- data sets of another folder
check "other data sets" program orbits --preset smoke --threads 1 --quiet --seed 4 --out \
    "$WORK/other"
stage pretrain "$run" --orbits "$WORK/other" >"$WORK/out"
check "--orbits: trained anew" grep -q \
    'pretrain softmax: made anew: train: seed is 0, expected 4' "$WORK/err"
check "--orbits: trained anew: a note about the data" \
    grep -q 'other: note: data set train: seed is 4' "$WORK/err"
check "--orbits: trained anew: other weights" \
    other_by tensors "$run/softmax/pretrain/last.safetensors" \
    "$WORK/whole/softmax/pretrain/last.safetensors"
stage finetune "$run" --orbits "$WORK/other" >"$WORK/out"
check "--orbits: fine-tuned anew" grep -q \
    'finetune truth, magnitude: made anew: two_body_test: seed is 0, expected 4' "$WORK/err"
KEEP=$run refuse "symreg without --orbits" 1 truth/finetune/forces_magnitude.csv \
    'two_body_test: seed is 4, expected 0' --orbits -- \
    "$BIN/symreg" "${SETTINGS[@]}" --threads 1 --run "$run" --resume
check "symreg with --orbits" stage symreg "$run" --orbits "$WORK/other"
check "symreg with --orbits: names it" grep -qF "Data sets: $WORK/other" "$run/laws/laws.md"
check "report with --orbits" stage report "$run" --orbits "$WORK/other"
KEEP=$run refuse "report without" 1 laws.json 'seed is 4, expected 0' -- \
    "$BIN/report" "${SETTINGS[@]}" --run "$run" --resume
# one byte of a set made elsewhere
cp -r "$WORK/whole/orbits" "$WORK/theirs"
rm "$WORK/theirs/manifest.json"
check "made elsewhere" stage pretrain "$WORK/mine" --orbits "$WORK/theirs" --attention lssar
stage pretrain "$WORK/mine" --orbits "$WORK/theirs" --attention lssar >"$WORK/out"
check "made elsewhere: complete" grep -q 'pretrain lssar: complete' "$WORK/err"
flip "$WORK/theirs/coords_train.npy" 4000
stage pretrain "$WORK/mine" --orbits "$WORK/theirs" --attention lssar >"$WORK/out"
check "one byte: trained anew" grep -q \
    'pretrain lssar: made anew: train: data set made elsewhere' "$WORK/err"
back

# training sequences that are streamed are of the settings, also with --orbits
streamed() {
    program pretrain --preset smoke_tokens --threads 1 --set pretrain.steps=2 --attention lssar \
        --orbits "$WORK/tokens" --run "$WORK/streamed" --resume --force "$@" 2>"$WORK/err"
}
check "tokens" program orbits --preset smoke_tokens --threads 1 --quiet --out "$WORK/tokens"
check "streamed" streamed
check "streamed: another law" streamed --set orbits.law=hooke
check "streamed: is another training" grep -q \
    'lssar: made anew: train: orbits.law is newton, expected hooke' "$WORK/err"

# ---- models from files
a=$WORK/a.safetensors b=$WORK/b.safetensors
cp "$run/lssar/pretrain/last.safetensors" "$a"
check "another model" program pretrain "${SETTINGS[@]}" --threads 1 --quiet --seed 7 --attention \
    lssar --orbits "$run/orbits" --out "$WORK/b"
cp "$WORK/b/last.safetensors" "$b"
tune() {
    stage finetune "$run" --source lssar "$@" >"$WORK/out"
}
check "fine-tuned from A" tune --checkpoint "$a"
check "fine-tuned from A: instead of the run's" grep -q \
    'lssar, magnitude: made anew: .*start: it was made without' "$WORK/err"
cp "$run/lssar/finetune/forces_magnitude.csv" "$WORK/of-a.csv"
check "from A again" tune --checkpoint "$a"
check "from A again: nothing to do" grep -q '^finetune: complete' "$WORK/err"
check "from B" tune --checkpoint "$b"
check "from B: says so" grep -q \
    'magnitude: made anew: .*start: checkpoint b.safetensors is not the one' "$WORK/err"
check "from B: other forces" other_file "$WORK/of-a.csv" "$run/lssar/finetune/forces_magnitude.csv"
cp "$a" "$b"
check "another model under the same name" tune --checkpoint "$b"
check "another model under the same name: is found out" grep -q 'magnitude: made anew' "$WORK/err"
check "another model under the same name: the forces of A" \
    same_file "$WORK/of-a.csv" "$run/lssar/finetune/forces_magnitude.csv"
check "laws of it" stage symreg "$run"
check "laws of it: name the file" grep -q 'Not made by this run: .*checkpoint b.safetensors' \
    "$run/laws/laws.md"
check "pretraining from A" stage pretrain "$run" --attention lssar --checkpoint "$a"
check "pretraining from A: is another" grep -q 'made anew: start: it was made without' "$WORK/err"
check "pretraining from nothing" stage pretrain "$run" --attention lssar
check "pretraining from nothing: is again another" \
    grep -q 'made anew: start: it was made with it' "$WORK/err"
back

# ---- tables of forces
seed1=$WORK/seed1
check "seed 1" world "$seed1" --seed 1
cp "$seed1"/lssar/finetune/forces_magnitude.* "$run/lssar/finetune/"
KEEP=$run refuse "truth of seed 0 beside lssar of seed 1" 1 lssar/finetune/forces_magnitude.csv \
    'seed is 1, expected 0' -- "$BIN/symreg" "${SETTINGS[@]}" --threads 1 --run "$run"
cp "$WORK"/whole/lssar/finetune/forces_magnitude.csv "$run/lssar/finetune/"
KEEP=$run refuse "a table beside the record of another" 1 forces_magnitude.csv 'has been changed' \
    -- "$BIN/symreg" "${SETTINGS[@]}" --threads 1 --run "$run"
rm "$run/lssar/finetune/forces_magnitude.made.json"
KEEP=$run refuse "a table without a record beside others" 1 forces_magnitude.csv \
    'nothing beside it says' -- "$BIN/symreg" "${SETTINGS[@]}" --threads 1 --run "$run"
cp "$WORK"/whole/lssar/finetune/forces_magnitude.* "$run/lssar/finetune/"
cp "$seed1"/lssar/finetune/forces_vector.* "$run/lssar/finetune/"
KEEP=$run refuse "vectors of another seed in the report" 1 lssar/finetune/forces_vector.csv \
    'seed is 1, expected 0' -- "$BIN/report" "${SETTINGS[@]}" --run "$run"
back
# tables made elsewhere are not replaced
rm "$run/lssar/finetune/forces_magnitude.made.json"
tuning=("$BIN/finetune" "${SETTINGS[@]}" --threads 1 --run "$run" --resume)
KEEP=$run refuse "finetune: a table made elsewhere" 1 lssar/finetune/forces_magnitude.csv \
    'made elsewhere' 'delete it' -- "${tuning[@]}"
check "finetune: a table made elsewhere: planned" \
    prints '^refuse .*lssar/finetune/forces_magnitude.csv: made elsewhere' \
    "${tuning[@]}" --plan
check "finetune: a table made elsewhere: other sources go on" \
    "${tuning[@]}" --source softmax --set finetune.samples=3
back
# what laws and evaluations say is what was found
echo 1,2,3 >>"$run/laws/front_lssar_0.csv"
reporting=("$BIN/report" "${SETTINGS[@]}" --run "$run")
KEEP=$run refuse "report: a front that was changed" 1 laws.json 'front_lssar_0.csv' changed -- \
    "${reporting[@]}"
back
measured=$run/lssar/pretrain_planets/evaluation.json
sed -i 's/"loss":[[:space:]]*/&1/' "$measured"
KEEP=$run refuse "report: an evaluation that was changed" 1 lssar/pretrain_planets/evaluation.json \
    'has been changed' '/pretrain --preset smoke' "--run $run" -- "${reporting[@]}"
rm "$measured"
KEEP=$run refuse "report: an evaluation that is missed" 1 lssar/pretrain_planets/evaluation.json \
    'missing; make it with' '/pretrain --preset smoke' "--run $run" -- "${reporting[@]}"
check "report: an evaluation that is missed: is made again" stage pretrain "$run"
check "report: an evaluation that is missed: as it was" \
    same_file "$WORK/whole/lssar/pretrain_planets/evaluation.json" "$measured"
echo earth,47,0,0,0,0,0 >>"$run/lssar/pretrain_planets/rollouts.csv"
KEEP=$run refuse "report: rollouts that were changed" 1 lssar/pretrain_planets/evaluation.json \
    rollouts.csv changed '/pretrain --preset smoke' -- "${reporting[@]}"
check "report: rollouts that were changed: are made again" stage pretrain "$run"
check "report: rollouts that were changed: as they were" \
    same_file "$WORK/whole/lssar/pretrain_planets/rollouts.csv" \
    "$run/lssar/pretrain_planets/rollouts.csv"
rm "$run/lssar/pretrain/evaluation.json"
check "report: one that it does not show" "${reporting[@]}" --quiet
back
# files of settings before
touch "$run/laws/checkpoint.bin"
check "laws: up to date" stage symreg "$run"
check_not "laws: up to date: without the checkpoint of others" test -e "$run/laws/checkpoint.bin"
check "laws of one attention" stage symreg "$run" --attention softmax
check_not "laws of one attention: leave no front of another" test -e "$run/laws/front_lssar_0.csv"
check "laws of one attention: theirs are there" test -e "$run/laws/front_softmax_1.csv"
back
# fine-tuning of other settings that a limit of time ends
stage finetune "$run" --source lssar --set finetune.magnitude.steps=100000 --minutes 0.005 \
    >"$WORK/out"
check_not "stopped: no table of before" test -e "$run/lssar/finetune/forces_magnitude.csv"
refuse "stopped: no table of before: and no laws of it" 1 lssar/finetune/forces_magnitude.csv -- \
    "$BIN/symreg" "${SETTINGS[@]}" --threads 1 --run "$run"
back

stage pretrain "$run" --attention lssar --set pretrain.lr=0.1 --minutes 0.0000001 >"$WORK/out"
check "a limit of no time: one step" grep -q 'stopped at step 1 of 2' "$WORK/err"
check "a limit of no time: one step: and to the end" \
    stage pretrain "$run" --attention lssar --set pretrain.lr=0.1
back
# two at once: a process of each kind finds its folder locked, all of them together, since each
# waits for seconds
waiting=() # process, folder and what is said to be done there, a row each
begin_locked() { # NAME FOLDER DOING COMMAND...
    local name=$1 folder=$2 doing=$3 lock
    shift 3
    exec {lock}<"$folder"
    flock "$lock"
    "$@" >"$WORK/locked-$name.out" 2>"$WORK/locked-$name.err" </dev/null &
    waiting+=("$!|$name|$folder|$doing|$lock")
}
replay() { # PROCESS NAME: what it said, and its status
    local status
    wait "$1"
    status=$?
    cat "$WORK/locked-$2.out"
    cat "$WORK/locked-$2.err" >&2
    return $status
}
mkdir "$WORK/formulas"
printf 'x,y\n1,2\n2,4\n3,6\n' >"$WORK/table.csv"
for folder in "$run" "$WORK/formulas"; do
    snapshot "$folder"
done >"$WORK/before"
begin_locked trainings "$run/softmax/pretrain" training "$BIN/pretrain" "${SETTINGS[@]}" \
    --quiet --threads 1 --run "$run" --force
begin_locked fine-tunings "$run/lssar/finetune" fine-tuning "$BIN/finetune" "${SETTINGS[@]}" \
    --quiet --threads 1 --run "$run" --source lssar --force
begin_locked searches "$run/laws" 'searching for laws' "$BIN/symreg" "${SETTINGS[@]}" \
    --quiet --threads 1 --run "$run"
begin_locked reports "$run" 'making the report' "$BIN/report" "${SETTINGS[@]}" --quiet --run "$run"
begin_locked "searches of a table" "$WORK/formulas" 'searching for formulas' "$BIN/symreg" \
    "$WORK/table.csv" --target y --quiet --threads 1 --out "$WORK/formulas"
for row in "${waiting[@]}"; do
    IFS='|' read -r process name folder doing lock <<<"$row"
    KEEP=$folder refuse "two $name" 1 "$folder" "another process is $doing there" -- \
        replay "$process" "$name"
    exec {lock}<&-
done
for folder in "$run" "$WORK/formulas"; do
    snapshot "$folder"
done >"$WORK/after"
check "searches of a table: nothing changed" same_file "$WORK/before" "$WORK/after"
back

# ---- the evaluation of other settings, as a kill between checkpoint and evaluation leaves it
check "longer" stage pretrain "$run" --set pretrain.steps=3
new=$(cat "$run/lssar/pretrain/evaluation.json")
cp "$WORK/whole/lssar/pretrain/evaluation.json" "$run/lssar/pretrain/"
check "resumed" stage pretrain "$run" --set pretrain.steps=3
check "resumed: evaluated again" equal "$new" "$(cat "$run/lssar/pretrain/evaluation.json")"
check_not "resumed: not trained again" grep -q 'made anew' "$WORK/err"
KEEP=$run refuse "finetune of a pretraining of other settings" 1 softmax/pretrain/last.safetensors \
    'pretrain.steps is 3, expected 2' 'make it again with: ' -- "$BIN/finetune" "${SETTINGS[@]}" \
    --threads 1 --run "$run" --set finetune.magnitude.lr=0.1
back

# ---- settings of the run
check "--attention leaves the list" stage pretrain "$run" --attention lssar
check "--attention leaves the list: of the run" \
    same_file "$WORK/whole/preset.json" "$run/preset.json"
check "finetune of one attention" stage finetune "$run" --attention lssar --set \
    finetune.magnitude.lr=0.001
check "finetune of one attention: the baseline's is the first of the list" \
    grep -aq '"attention":"softmax"' \
    "$run/untrained/finetune/magnitude.safetensors"
check "without --preset" program finetune --run "$run" --threads 1 --quiet --resume \
    --attention lssar
check "without --preset: the run's own" grep -q '"steps":[[:space:]]*2,' "$run/preset.json"
snapshot "$WORK/whole" | grep -v report.html >"$WORK/before"
for name in orbits pretrain finetune symreg; do
    check "$name without --preset: nothing to do" program $name --run "$WORK/whole" --threads 1 \
        --resume --quiet
done
snapshot "$WORK/whole" | grep -v report.html >"$WORK/after"
check "without --preset: nothing changed" same_file "$WORK/before" "$WORK/after"
check "a precision of its own" program pretrain "${SETTINGS[@]}" --threads 1 --quiet --attention \
    lssar --orbits "$WORK/whole/orbits" --run "$WORK/fp32" --set model.precision=fp32
stage pretrain "$WORK/fp32" --attention lssar --orbits "$WORK/whole/orbits" >"$WORK/out"
check "a precision of its own: is kept where the settings say auto" \
    grep -q 'lssar: complete' "$WORK/err"
check "a precision of its own: in preset.json" \
    grep -q '"precision":[[:space:]]*"fp32"' "$WORK/fp32/preset.json"
stage pretrain "$WORK/fp32" --attention lssar --orbits "$WORK/whole/orbits" --set \
    model.precision=bf16 >"$WORK/out"
check "a precision of its own: and part of the record" \
    grep -q 'made anew: model.precision is fp32, expected bf16' \
    "$WORK/err"

# ---- the plan
cp -r "$WORK/whole" "$WORK/plan"
plan() {
    local name threads=(--threads 1)
    for name in orbits pretrain finetune symreg report; do
        [ $name != report ] || threads=()
        program $name "${SETTINGS[@]}" "${threads[@]}" --run "$WORK/plan" --plan "$@" || return 1
    done
}
snapshot "$WORK/plan" >"$WORK/before"
plan >"$WORK/planned"
check "plan: all is kept" lacks '^(make|remake|resume|refuse) ' "$WORK/planned"
check "plan: all is kept: and a line each" test "$(grep -c '^keep ' "$WORK/planned")" -gt 30
# laws of a variant that is not there yet: it may be about to be trained, or misspelt
program symreg "${SETTINGS[@]}" --run "$WORK/plan" --plan --attention sotfmax 2>"$WORK/err" \
    >"$WORK/planned"
check "plan: an attention that nobody trained" grep -q '^remake .*laws.json' "$WORK/planned"
check "plan: an attention that nobody trained: and which there are" \
    grep -q -- '--attention sotfmax: .* have softmax, lssar;' \
    "$WORK/err"
program symreg "${SETTINGS[@]}" --run "$WORK/plan" --plan --attention lssar 2>"$WORK/err" \
    >"$WORK/planned"
check "plan: an attention that nobody trained: nothing about one of the settings" \
    test ! -s "$WORK/err"
plan --set orbits.law=hooke --set pretrain.lr=0.1 >"$WORK/planned"
check "plan: data sets in the way" grep -q '^refuse .*/orbits/val: orbits.law is newton, exp' \
    "$WORK/planned"
check "plan: the first link" grep -q '^refuse .*softmax/pretrain/last.safetensors: pretrain.lr is' \
    "$WORK/planned"
check "plan: a link below" grep -q \
    '^remake .*truth/finetune/forces_vector.csv: planets_solar: orbits.law is newton' \
    "$WORK/planned"
check "plan: the end of the chain" grep -q '^remake .*report.html: orbits.law is' "$WORK/planned"
snapshot "$WORK/plan" >"$WORK/after"
plan --set orbits.jump_factor=2 >"$WORK/planned"
check "plan: a setting without effect" lacks '^(make|resume|refuse) ' "$WORK/planned"
check "plan: a setting without effect: but that the report shows it" \
    equal 1 "$(grep -c '^remake ' "$WORK/planned")"
check "plan: makes nothing" same_file "$WORK/before" "$WORK/after"
program pretrain "${SETTINGS[@]}" --threads 1 --run "$WORK/empty" --plan >"$WORK/planned"
check "plan of nothing" grep -q '^make .*lssar/pretrain_planets/last.safetensors$' "$WORK/planned"
check_not "plan of nothing: makes nothing" test -e "$WORK/empty"
rm "$WORK/plan/lssar/finetune/magnitude.safetensors" "$WORK/plan/softmax/pretrain/last.safetensors"
plan >"$WORK/planned"
check "plan: a model that no table needs" lacks 'lssar/finetune/magnitude.safetensors' \
    "$WORK/planned"
check "plan: a training, then its evaluation" grep -q \
    '^remake .*softmax/pretrain/evaluation.json' "$WORK/planned"
rm -r "$WORK/plan" && cp -r "$WORK/whole" "$WORK/plan"
for name in finetune symreg report; do
    program $name --preset text --run "$WORK/empty" --plan 2>"$WORK/err"
    check "plan of a text: nothing for $name" grep -q 'nothing to do' "$WORK/err"
done
check "make plan" make -s plan PRESET=smoke RUN="$WORK/plan" THREADS=1 ATTENTION= ORBITS_DIR= \
    SET="pretrain.steps=2 pretrain_planets.steps=2 finetune.magnitude.steps=2 \
    finetune.vector.steps=2 symreg.iterations=0 attention=softmax,lssar"
rm -r "$WORK/plan" && cp -r "$WORK/whole" "$WORK/plan"
make -s plan RUN="$WORK/plan" THREADS=1 ATTENTION= ORBITS_DIR= SET= >"$WORK/planned" 2>&1
check "make plan without PRESET: settings of the run" grep -q '^keep .*report.html' "$WORK/planned"
check_not "make plan without PRESET: settings of the run: of every stage" \
    grep -Ev '^keep ' "$WORK/planned"

# ---- stages that are left out
without() { # NAME SETTING...
    local dir=$WORK/without-$1 name
    shift
    for name in orbits pretrain finetune symreg; do
        stage $name "$dir" "$@" --set attention=lssar >"$WORK/out" || { cat "$WORK/err"; return 1; }
    done
}
check "pretrain.steps=0: the rest" without pretrain --set pretrain.steps=0 --set \
    pretrain_planets.steps=0
check "pretrain.steps=0: the rest: from random weights" test -s \
    "$WORK/without-pretrain/lssar/finetune/magnitude.safetensors"
check "finetune.magnitude.steps=0: the rest" without magnitude --set finetune.magnitude.steps=0
check "finetune.magnitude.steps=0: the rest: laws of truth and oracle" \
    grep -q '"source":[[:space:]]*"oracle"' \
    "$WORK/without-magnitude/laws/laws.json"
check_not "finetune.magnitude.steps=0: the rest: of no model" \
    grep -q '"source":[[:space:]]*"lssar"' \
    "$WORK/without-magnitude/laws/laws.json"
check "no planet runs, a solar system of tokens alone: the rest" without planets \
    --set planets.enabled=false --set orbits.solar_system=true
check "no force task at all: the rest" without forces --set orbits.two_body_train=0 --set \
    finetune.vector.steps=0
check "no force task at all: the rest: no laws" test ! -e "$WORK/without-forces/laws"
for left in pretrain magnitude forces; do
    check "report without $left" program report --run "$WORK/without-$left" --quiet
done

# ---- what is missing is named
refuse "finetune: --checkpoint that is not there" 1 "$WORK/none.safetensors" -- "$BIN/finetune" \
    "${SETTINGS[@]}" --threads 1 --run "$WORK/nothing" --checkpoint "$WORK/none.safetensors"
echo no model >"$WORK/text.safetensors"
refuse "finetune: --checkpoint that is none" 1 "$WORK/text.safetensors" -- "$BIN/finetune" \
    "${SETTINGS[@]}" --threads 1 --run "$WORK/nothing" --checkpoint "$WORK/text.safetensors"
mkdir "$WORK/half"
cp "$WORK/whole"/orbits/{coords,num_bodies}_train.npy "$WORK/half"
refuse "a folder that lacks a set" 1 "$WORK/half/coords_val.npy" -- "$BIN/pretrain" \
    "${SETTINGS[@]}" --threads 1 --run "$WORK/nothing" --orbits "$WORK/half" --set \
    pretrain_planets.steps=0
for option in '--checkpoint x' '--attention lssar' '--device cpu' '--attention-impl generic'; do
    refuse "orbits ${option% *}" 2 "${option% *}" 'no such option' -- "$BIN/orbits" \
        --preset smoke --run "$WORK/nothing" $option
done
finish
