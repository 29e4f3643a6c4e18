#!/usr/bin/env bash
# test_signals.sh - Ctrl-C, kill and kill -9 in the middle of every program: the exit status is the
# shell's (130, 143; 0 of bin/pretrain, which has saved everything, and of --minutes), nothing
# half-written stays, and --resume ends in the bytes of a run that was never stopped.
. tests/cli/lib.sh

# the program has taken the shell's place, and its own handler is there
handles_signals() {
    local mask
    [ "$(readlink "/proc/$pid/exe")" != "$(readlink "/proc/$$/exe")" ] || return 1
    mask=$(sed -n 's/^SigCgt:[[:space:]]*[0-9a-f]*\(.\)$/\1/p' "/proc/$pid/status")
    [ -n "$mask" ] && [ $((0x$mask & 2)) -ne 0 ]
}
lines() {
    [ "$(wc -l <"$1")" -ge "$2" ]
}
one_line() {
    filled "$1" && [ "$(wc -l <"$1")" -eq 1 ]
}
# same_models A B: of two folders of a fine-tuning
same_models() {
    same_files "$1" "$2" {magnitude,vector}.safetensors forces_{magnitude,vector}.csv
}
# stays FOLDER: as snapshot saw it in $WORK/before
stays() {
    snapshot "$1" >"$WORK/now" && same_file "$WORK/before" "$WORK/now"
}
step_of() {
    head -c 20000 "$1" | grep -aoE '"step": *"[0-9]+"' | grep -oE '[0-9]+'
}

# ---- orbits
# over complete data of other settings: the set that changes goes first, the others stay
orbits=$WORK/orbits
check "orbits once" program orbits --preset smoke --threads 1 --run "$WORK/run" --quiet
cp -r "$WORK/run/orbits" "$orbits"
start "$BIN/orbits" --preset smoke --threads 1 --set orbits.train=400000 \
    --set orbits.train_files=400000 --set orbits.shard_sequences=300000 --out "$orbits" --quiet \
    --force
check "orbits is under way" until_true test -e \
    "$orbits/coords_train-00000-of-00002.npy.$pid.orrery-partial"
stop INT
check "orbits: status 130" test $status -eq 130
check "orbits: says what to do" grep -q '^orbits: stopped.*again$' "$WORK/err"
check "orbits: one line" one_line "$WORK/err"
check "orbits: nothing temporary" clean "$orbits"
check_not "orbits: no manifest" test -e "$orbits/manifest.json"
check "orbits: no data of other settings" equal none \
    "$(ls "$orbits" | grep -E '^[a-z]+_train[-.]' || echo none)"
check "orbits: the other sets stay" same_file "$orbits/coords_val.npy" \
    "$WORK/run/orbits/coords_val.npy"
check "orbits again" program orbits --preset smoke --threads 1 --out "$orbits" --quiet --force
check "orbits: as if never stopped" same_files "$orbits" "$WORK/run/orbits"

# ---- pretrain: three ways to be stopped
shell_words() {
    local word words=()
    for word in "$@"; do
        case $word in
        *[!a-zA-Z0-9_+=./:,@%-]*) words+=("'$word'") ;;
        *) words+=("$word") ;;
        esac
    done
    echo "${words[*]}"
}
STEPS=800
PRETRAIN=(--preset smoke --threads 1 --quiet --attention lssar --orbits "$WORK/run/orbits"
          --set "about=what a shell would split; or worse"
          --set pretrain.steps=$STEPS --set pretrain.eval_every=70 --set pretrain.ema=0.9995
          --set pretrain.checkpoint_every=50 --set pretrain_planets.steps=0)
check "pretrain, never stopped" program pretrain "${PRETRAIN[@]}" --out "$WORK/whole"
stopped_training() {
    local name=$1 signal=$2 expected=$3 dir=$WORK/stopped-$2 last
    last=$dir/last.safetensors
    start "$BIN/pretrain" "${PRETRAIN[@]}" --out "$dir"
    check "$name: under way" until_true lines "$dir/log.jsonl" 13
    stop $signal
    check "$name: status $expected" test $status -eq $expected
    check "$name: before the end" test "$(step_of "$last")" -lt $STEPS
    if [ $signal != KILL ]; then
        check "$name: nothing temporary" clean "$dir"
        check "$name: says how to go on" grep -q '^resume with: .*pretrain .* --resume$' \
            "$WORK/err"
        check "$name: says where" grep -q "stopped at step $(step_of "$last") of $STEPS" "$WORK/err"
    fi
    if [ $signal = INT ]; then
        # the printed line is the command, word for word, and a shell takes it
        check "$name: the whole command" grep -qF "resume with: $BIN/pretrain $(shell_words \
            "${PRETRAIN[@]}" --out "$dir") --resume" "$WORK/err"
        resume=$(sed -n 's/^resume with: //p' "$WORK/err")
    fi
    # the checkpoint is a model: it can be looked at by the next program
    check "$name: the checkpoint is usable" program pretrain --preset smoke --threads 1 --quiet \
        --attention lssar --orbits "$WORK/run/orbits" --set pretrain.steps=1 --checkpoint "$last" \
        --set pretrain_planets.steps=0 --out "$WORK/from-$signal"
    # stopped once more on the way
    start "$BIN/pretrain" "${PRETRAIN[@]}" --out "$dir" --resume
    until_true handles_signals
    stop $signal
    if [ $signal = INT ]; then
        check "$name: the printed command" bash -c "$resume" </dev/null
    else
        check "$name: --resume" program pretrain "${PRETRAIN[@]}" --out "$dir" --resume
    fi
    for file in last.safetensors best.safetensors evaluation.json; do
        check "$name: $file as if never stopped" same_file "$WORK/whole/$file" "$dir/$file"
    done
    check "$name: the log as if never stopped" same_by numbers "$WORK/whole/log.jsonl" \
        "$dir/log.jsonl"
}
stopped_training "pretrain, SIGINT" INT 0
stopped_training "pretrain, SIGTERM" TERM 0
stopped_training "pretrain, kill -9" KILL 137

# ---- a limit of time stops as SIGTERM does, and is no failure
dir=$WORK/limited
"$BIN/pretrain" "${PRETRAIN[@]}" --out "$dir" --minutes 0.002 2>"$WORK/err" >"$WORK/out" </dev/null
check "pretrain, --minutes: status 0" test $? -eq 0
check "pretrain, --minutes: before the end" test "$(step_of "$dir/last.safetensors")" -lt $STEPS
check "pretrain, --minutes: says how to go on" grep -q '^resume with: .*--minutes 0.002 --resume$' \
    "$WORK/err"
check "pretrain, --minutes: --resume" program pretrain "${PRETRAIN[@]}" --out "$dir" --resume \
    --minutes 60
for file in last.safetensors best.safetensors evaluation.json; do
    check "pretrain, --minutes: $file as if never stopped" same_file "$WORK/whole/$file" \
        "$dir/$file"
done
for wrong in 0 -1 x 1x nan ""; do
    refuse "pretrain, --minutes '$wrong'" 2 "--minutes: expected" "\"$wrong\"" -- \
        "$BIN/pretrain" "${PRETRAIN[@]}" --out "$WORK/none" --minutes "$wrong"
done

# a rate so large that the best weights come early: a resumed run must remember how good they were
WILD=("${PRETRAIN[@]}" --set pretrain.steps=400 --set pretrain.lr=3 --set pretrain.eval_every=10
      --set pretrain.schedule=constant --set pretrain.warmup=0 --set pretrain.ema=0)
check "pretrain, wild, never stopped" program pretrain "${WILD[@]}" --out "$WORK/wild"
start "$BIN/pretrain" "${WILD[@]}" --out "$WORK/wild-stopped"
check "pretrain, wild: under way" until_true lines "$WORK/wild-stopped/log.jsonl" 24
stop TERM
check "pretrain, wild: --resume" program pretrain "${WILD[@]}" --out "$WORK/wild-stopped" --resume
check "pretrain, wild: the best as if never stopped" same_file "$WORK/wild/best.safetensors" \
    "$WORK/wild-stopped/best.safetensors"

# ---- a pretraining that was stopped is no failure, but the next stage does not take it for whole
HALF=(--preset smoke --threads 1 --quiet --attention lssar --orbits "$WORK/run/orbits"
      --run "$WORK/half" --set pretrain.steps=$STEPS --set pretrain_planets.steps=2
      --set finetune.magnitude.steps=2 --set finetune.vector.steps=2)
start "$BIN/pretrain" "${HALF[@]}"
check "half: under way" until_true lines "$WORK/half/lssar/pretrain/log.jsonl" 13
stop TERM
check "half: status 0" test $status -eq 0
done=$(step_of "$WORK/half/lssar/pretrain/last.safetensors")
KEEP=$WORK/half refuse "half: finetune says no" 1 "$WORK/half/lssar/pretrain/last.safetensors" \
    "not complete: step $done of $STEPS" \
    "$BIN/pretrain $(shell_words "${HALF[@]}" | sed 's/ --quiet//') --resume" \
    -- "$BIN/finetune" "${HALF[@]}" --source lssar
resume=$("$BIN/finetune" "${HALF[@]}" 2>&1 | sed -n 's/.*continue with: //p')
check "half: the command of the message" bash -c "$resume --quiet" </dev/null
check "half: then finetune says yes" program finetune "${HALF[@]}" --source lssar
check "half: as if never stopped" program pretrain "${HALF[@]}" --run "$WORK/other"
check "half: as if never stopped: its weights" \
    same_file "$WORK/other/lssar/pretrain/last.safetensors" \
    "$WORK/half/lssar/pretrain/last.safetensors"

# ---- finetune, in both of its stages
check "pretrain for finetune" program pretrain --preset smoke --threads 1 --quiet \
    --run "$WORK/run" --attention lssar
# it reads models from --run and writes below --out
TUNE=("$BIN/finetune" --preset smoke --threads 1 --quiet --run "$WORK/run" --attention lssar
      --source lssar --set finetune.magnitude.steps=$((STEPS / 2))
      --set finetune.vector.steps=$((STEPS / 2)))
finetuned=lssar/finetune
check "finetune, never stopped" "${TUNE[@]}" --out "$WORK/tuned"
for stage in magnitude vector; do
    dir=$WORK/tuned-$stage
    start "${TUNE[@]}" --out "$dir"
    check "finetune, $stage: under way" until_true lines "$dir/$finetuned/$stage.jsonl" 9
    stop INT
    check "finetune, $stage: status 130" test $status -eq 130
    check "finetune, $stage: before the end" test \
        "$(step_of "$dir/$finetuned/$stage.safetensors")" -lt $((STEPS / 2))
    check "finetune, $stage: nothing temporary" clean "$dir"
    check "finetune, $stage: no table yet" test -d "$dir/$finetuned" -a \
        ! -e "$dir/$finetuned/forces_$stage.csv"
    check "finetune, $stage: says how to go on" grep -q -- '--resume' "$WORK/err"
    check "finetune, $stage: --resume" "${TUNE[@]}" --out "$dir" --resume
    check "finetune, $stage: as if never stopped" same_models "$WORK/tuned/$finetuned" \
        "$dir/$finetuned"
    check "finetune, $stage: the log as if never stopped" same_by numbers \
        "$WORK/tuned/$finetuned/$stage.jsonl" "$dir/$finetuned/$stage.jsonl"
done

dir=$WORK/tuned-limited
"${TUNE[@]}" --out "$dir" --minutes 0.002 2>"$WORK/err" >"$WORK/out" </dev/null
check "finetune, --minutes: status 0" test $? -eq 0
check "finetune, --minutes: says how to go on" grep -q '^resume with: .*--minutes 0.002 --resume$' \
    "$WORK/err"
check "finetune, --minutes: no table yet" test -d "$dir/$finetuned" -a \
    ! -e "$dir/$finetuned/forces_vector.csv"
check "finetune, --minutes: --resume" "${TUNE[@]}" --out "$dir" --resume
check "finetune, --minutes: as if never stopped" same_models "$WORK/tuned/$finetuned" \
    "$dir/$finetuned"

# ---- symreg: laws of a run, and a table
check "predictions" program finetune --preset smoke --threads 1 --quiet --run "$WORK/run" \
    --attention lssar
SYMREG=(--preset smoke --threads 1 --quiet --attention lssar --run "$WORK/run")
check "laws" program symreg "${SYMREG[@]}"
snapshot "$WORK/run" >"$WORK/before"
start "$BIN/symreg" "${SYMREG[@]}" --set symreg.iterations=100000
until_true handles_signals
sleep 0.2
stop INT
check "symreg: status 130" test $status -eq 130
check "symreg: says so in one line" grep -q '^symreg: stopped.*again$' "$WORK/err"
check "symreg: what was there before is there still" stays "$WORK/run"
check "symreg: no table of half a search" test ! -s "$WORK/out"
table=$WORK/run/lssar/finetune/forces_magnitude.csv # no law ends the search
for signal in INT TERM; do
    start "$BIN/symreg" "$table" --target F --features r,m1,m2 --preset smoke --quiet --threads 2 \
        --set symreg.iterations=100000 --set symreg.patience=0 --out "$WORK/fits-$signal"
    until_true handles_signals
    sleep 0.2
    stop $signal
    expected=130
    [ $signal = INT ] || expected=143
    check "symreg FILE, $signal: status $expected" test $status -eq $expected
    check "symreg FILE, $signal: the front so far" grep -q '^Complexity,Loss,Equation' \
        "$WORK/fits-$signal/front.csv"
    check "symreg FILE, $signal: ... is shown" grep -q '^complexity' "$WORK/out"
    check "symreg FILE, $signal: nothing temporary" clean "$WORK/fits-$signal"
done

# ---- report
check "laws again" program symreg "${SYMREG[@]}"
REPORT=(--preset smoke --quiet --attention lssar --run "$WORK/run")
check "report" program report "${REPORT[@]}"
snapshot "$WORK/run" >"$WORK/before"
start "$BIN/report" "${REPORT[@]}"
# a working folder with a first picture
working() {
    ls "$WORK"/run/.report-*/*.png
}
check "report is under way" until_true working
stop INT
check "report: status 130" test $status -eq 130
check "report: says so" grep -q '^report: stopped' "$WORK/err"
check "report: what was there before is there still" stays "$WORK/run"
# kill -9 leaves the working folder to the next report, which leaves those of others alone
start "$BIN/report" "${REPORT[@]}"
check "report is under way again" until_true working
stop KILL
check "report, kill -9: status 137" test $status -eq 137
left=$(cd "$WORK/run" && echo .report-*)
check "report, kill -9: a working folder stays" test -d "$WORK/run/$left"
# where the kill came while a part of the page was made, that part's folder is in it
mkdir "$WORK/run/$left/.lab-Xy12ab"
echo weights >"$WORK/run/$left/.lab-Xy12ab/network.safetensors"
mkdir "$WORK/run/.report-no-work" "$WORK/run/.report-Locked"
exec 8<"$WORK/run/.report-Locked"
flock 8
check "report after it" program report "${REPORT[@]}"
check "report after it: no working folder but those of others" \
    equal ".report-Locked .report-no-work" \
    "$(cd "$WORK/run" && LC_ALL=C ls -dA .report-* | paste -sd ' ')"
exec 8<&-
check "report after it: and once more" program report "${REPORT[@]}"
check "report after it: the folder that nobody locks" equal ".report-no-work" \
    "$(cd "$WORK/run" && ls -dA .report-* | paste -sd ' ')"
rmdir "$WORK/run/.report-no-work"

# ---- a pipe that closes early is no failure
"$BIN/symreg" --help 2>"$WORK/err" | head -n 1 >"$WORK/out"
check "| head: no complaint" test ${PIPESTATUS[0]} -eq 0 -a -s "$WORK/out" -a ! -s "$WORK/err"
finish
