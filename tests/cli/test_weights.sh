#!/usr/bin/env bash
# test_weights.sh - weights are results: no training that has done a step is replaced unasked, a
# longer one continues the shorter one, and what is judged are the weights that a training is about.
. tests/cli/lib.sh
fast_pictures

run=$WORK/run
SETS=("${TINY[@]}" --attention lssar --run "$run" --set planets.enabled=false --set orbits.test=4
      --set pretrain.steps=4 --set pretrain.warmup=1 --set finetune.magnitude.steps=4)
pre=$run/lssar/pretrain/last.safetensors tuned=$run/lssar/finetune/magnitude.safetensors
check "orbits" program orbits --preset smoke --threads 1 --quiet --run "$run" --set orbits.test=4
check "pretrain" program pretrain "${SETS[@]}"

# refuses NAME FILE PATTERN... -- COMMAND...: says how much of what would be lost, and what to do
refuses() {
    local name=$1 file=$2
    shift 2
    refuse "$name" 1 "$file" '4 of 4 steps' "saved $(date -r "$file" '+%Y-%m-%d %H:%M')" \
        'would be lost' --resume --run --force FORCE=1 "$@"
}
refuses "pretrain without --resume" "$pre" -- "$BIN/pretrain" "${SETS[@]}"
refuses "pretrain without --resume: other settings" "$pre" 'pretrain.lr is 0.003, expected 0.1' -- \
    "$BIN/pretrain" "${SETS[@]}" --set pretrain.lr=0.1
refuses "pretrain without --resume: with --resume" "$pre" 'pretrain.lr is 0.003, expected 0.1' -- \
    "$BIN/pretrain" "${SETS[@]}" --set pretrain.lr=0.1 --resume
refuses "pretrain without --resume: fewer steps" "$pre" 'pretrain.steps is 4, expected 3' -- \
    "$BIN/pretrain" "${SETS[@]}" --set pretrain.steps=3 --resume
refuses "pretrain without --resume: another shape" "$pre" 'model.width is 16, expected 8' -- \
    "$BIN/pretrain" "${SETS[@]}" --set model.width=8 --resume
refuses "pretrain without --resume: into a folder of one's own" "$pre" -- \
    "$BIN/pretrain" "${SETS[@]}" --orbits "$run/orbits" --out "${pre%/*}"
check "the plan says so" prints '^refuse .*last.safetensors: pretrain.lr is' \
    program pretrain "${SETS[@]}" --plan --set pretrain.lr=0.1
# recipes_of TARGET [NAME=VALUE]: the programs that make would run, with their arguments
mkdir "$WORK/bin"
cp "$BIN/orrery" "$WORK/bin/"
for p in $PROGRAMS; do
    printf '#!/bin/sh\necho "${0##*/} $*"\n' >"$WORK/bin/$p" && chmod +x "$WORK/bin/$p"
done
recipes_of() {
    make -n -j1 "$@" CUDA=0 BIN="$BIN" RUN="$run" | sed -n "s:^$BIN/orrery :$WORK/bin/orrery :p" |
        sh
}
check "make goes through the same door" prints '^pretrain .* --resume$' \
    recipes_of pretrain
check "make goes through the same door: FORCE=1 opens it" equal 3 \
    "$(recipes_of finetune FORCE=1 | grep -c -- ' --force$')"
check "complete is kept" program pretrain "${SETS[@]}" --resume --force
cp "$pre" "$WORK/first"
check "--force replaces" program pretrain "${SETS[@]}" --set pretrain.lr=0.1 --resume --force
check "--force replaces: with other weights" other_by tensors "$pre" "$WORK/first"
check "--force replaces: and without --resume any" program pretrain "${SETS[@]}" --force
check "--force replaces: with those of before" same_file "$pre" "$WORK/first"
check "stopped" program pretrain "${SETS[@]}" --set pretrain.lr=0.1 --force --minutes 1e-9
refuse "stopped: is no less of a result" 1 '1 of 4 steps' --force -- "$BIN/pretrain" "${SETS[@]}"
check "stopped: goes on" program pretrain "${SETS[@]}" --set pretrain.lr=0.1 --resume
check "again" program pretrain "${SETS[@]}" --force
check "finetune" program finetune "${SETS[@]}" --source lssar
refuses "finetune without --resume" "$tuned" -- "$BIN/finetune" "${SETS[@]}" --source lssar
refuses "finetune without --resume: other settings" \
    "$tuned" 'finetune.magnitude.lr is 0.002, expected 0.1' -- \
    "$BIN/finetune" "${SETS[@]}" --source lssar --resume --set finetune.magnitude.lr=0.1
check "finetune without --resume: another table of the same model" \
    program finetune "${SETS[@]}" --source lssar \
    --resume --set finetune.samples=3
check "finetune without --resume: tables without a model" \
    program finetune "${SETS[@]}" --source truth
check "finetune without --resume: twice" program finetune "${SETS[@]}" --source truth
check "finetune without --resume: --force replaces" \
    program finetune "${SETS[@]}" --source lssar --force \
    --set finetune.magnitude.lr=0.1

# ---- longer ones: 7 steps are between two evaluations
LONG=("${SETS[@]}" --set pretrain.eval_every=3 --set pretrain.ema=0.9 --set pretrain.patience=9
      --set pretrain.outlier_sigma=6 --set pretrain.outlier_window=8
      --set pretrain.warmup=2 --set finetune.magnitude.warmup=2 --orbits "$run/orbits")
long() { # NAME STEPS OPTION...: the notes are in $WORK/err
    local out=$WORK/$1 steps=$2
    shift 2
    program pretrain "${LONG[@]/--quiet/--set=seed=0}" --out "$out" "$@" \
        --set "pretrain.steps=$steps" 2>"$WORK/err"
}
rate() { # of the last step
    grep -o '^{"step": 20, .*"lr": [^,]*' "$WORK/$1/log.jsonl" | grep -o '"lr".*'
}
made() { # what the record of a checkpoint says of its length before
    grep -ao 'went_on[^,]*,' "$WORK/$1/last.safetensors"
}
for schedule in constant inverse_sqrt; do # the loss rises again, and evaluations are counted
    S=(--set "pretrain.schedule=$schedule" --set pretrain.lr=0.3)
    check "$schedule: 7 steps" long "$schedule" 7 "${S[@]}"
    check "$schedule: 7 steps: 12 steps" long "$schedule" 12 "${S[@]}" --resume
    check "$schedule: 7 steps: as at once" \
        grep -q 'step 7 of 7 on to step 12, as if .* at once' "$WORK/err"
    check "$schedule: 7 steps: at once" long "$schedule.once" 12 "${S[@]}"
    check "$schedule: 7 steps: the same last.safetensors" \
        same_file "$WORK/$schedule/last.safetensors" \
        "$WORK/$schedule.once/last.safetensors"
    # the 7 steps ended in an evaluation of their own, whose weights may be the best; which they
    # are depends on the kind of CPU
    best=$(sed -n 's/^\t"step":\t\([0-9]*\),$/\1/p' "$WORK/$schedule/evaluation.json")
    least=$(sed -n 's/^{"step": \([0-9]*\), "val_loss": \([0-9.e+-]*\),.*/\2 \1/p' \
        "$WORK/$schedule/log.jsonl" | sort -g | sed -n '1s/.* //p')
    check "$schedule: 7 steps: the best is that of the least loss" equal "$least" "$best"
    [ "$best" = 7 ] || for file in best.safetensors evaluation.json; do
        check "$schedule: 7 steps: the same $file" \
            same_file "$WORK/$schedule/$file" "$WORK/$schedule.once/$file"
    done
done
for schedule in cosine linear; do
    S=(--set "pretrain.schedule=$schedule")
    check "$schedule: 10 steps" long "$schedule" 10 "${S[@]}"
    cp -r "$WORK/$schedule" "$WORK/$schedule.b"
    check "$schedule: 10 steps: 20 steps" long "$schedule" 20 "${S[@]}" --resume
    check "$schedule: 10 steps: by its own rates" \
        grep -q 'step 10 of 10 on to step 20, with the' "$WORK/err"
    check "$schedule: 10 steps: the record says so" \
        equal 'went_on\":\"10 until step 10\",' "$(made $schedule)"
    check "$schedule: 10 steps: at once" long "$schedule.once" 20 "${S[@]}"
    check "$schedule: 10 steps: is another" other_by tensors "$WORK/$schedule/last.safetensors" \
        "$WORK/$schedule.once/last.safetensors"
    check_not "$schedule: 10 steps: and says nothing" made $schedule.once
    check "$schedule: 10 steps: the learning rate is that of 20 steps" \
        same_by rate $schedule $schedule.once
    check "$schedule: 10 steps: complete" long "$schedule" 20 "${S[@]}" --resume
    check "$schedule: 10 steps: it says" grep -q 'complete (20 steps)' "$WORK/err"
    cp "$WORK/$schedule.b/best.safetensors" "$WORK/own-best"
    cp "$WORK/constant/best.safetensors" "$WORK/$schedule.b"
    KEEP=$WORK/$schedule.b refuse "the best of another training" 1 '10 of 10 steps' \
        'best.safetensors is of another training' -- \
        "$BIN/pretrain" "${LONG[@]}" --out "$WORK/$schedule.b" --set pretrain.steps=20 "${S[@]}" \
        --resume
    echo spoilt >"$WORK/$schedule.b/best.safetensors"
    KEEP=$WORK/$schedule.b refuse "the best of another training: and one that cannot be read" \
        1 '10 of 10 steps' \
        'best.safetensors is of another training' -- \
        "$BIN/pretrain" "${LONG[@]}" --out "$WORK/$schedule.b" --set pretrain.steps=20 "${S[@]}" \
        --resume
    cp "$WORK/own-best" "$WORK/$schedule.b/best.safetensors"
    check "stopped after it went on" long "$schedule.b" 20 "${S[@]}" --resume --minutes 1e-9
    check "stopped after it went on: at its next step" \
        grep -q 'stopped at step 11 of 20' "$WORK/err"
    check "stopped after it went on: goes on" long "$schedule.b" 20 "${S[@]}" --resume
    check "stopped after it went on: to the same bytes" \
        same_file "$WORK/$schedule/last.safetensors" \
        "$WORK/$schedule.b/last.safetensors"
done

# ---- a longer fine-tuning
TUNE=("${SETS[@]}" --set finetune.magnitude.eval_every=2 --set finetune.magnitude.patience=9
      --set finetune.magnitude.warmup=1)
tune() { # STEPS SCHEDULE OPTION...
    local steps=$1 schedule=$2
    shift 2
    program finetune "${TUNE[@]}" --source lssar --set "finetune.magnitude.steps=$steps" \
        --set "finetune.magnitude.schedule=$schedule" "$@"
}
tuned=$run/lssar/finetune
check "fine-tuned at once" tune 6 constant --force
cp -r "$tuned" "$WORK/tuned"
check "fine-tuned" tune 3 constant --force
check "fine-tuned: other forces" other_files "$WORK/tuned" "$tuned" forces_magnitude.csv
check "fine-tuned: longer" tune 6 constant --resume
check "fine-tuned: as at once" same_files "$WORK/tuned" "$tuned" forces_magnitude.csv \
    forces_magnitude.made.json magnitude.safetensors magnitude_best.safetensors
check "with another schedule" tune 3 cosine --force
check "with another schedule: longer" tune 6 cosine --resume
check "with another schedule: its table says so" grep -q '"went_on":.*3 until step 3' \
    "$tuned/forces_magnitude.made.json"
check "with another schedule: and is kept" \
    prints '^keep .*forces_magnitude.csv' tune 6 cosine --plan
check "a longer pretraining is another start" prints \
    '^refuse .*magnitude.safetensors: model: pretrain.steps is 4, expected 8' tune 6 cosine --plan \
    --set pretrain.steps=8
check "a longer pretraining is another start: longer" \
    program pretrain "${SETS[@]}" --set pretrain.steps=8 --resume
check "a longer pretraining is another start: fine-tuned" \
    tune 6 cosine --set pretrain.steps=8 --resume --force
check "a longer pretraining is another start: its tables say so" \
    grep -q '"went_on":.*4 until step 4' \
    "$tuned/forces_magnitude.made.json"
TUNE+=(--set pretrain.steps=8 --set finetune.magnitude.schedule=cosine
       --set finetune.magnitude.steps=6)
for source in truth oracle untrained; do
    check "a longer pretraining is another start: beside $source" \
        program finetune "${TUNE[@]}" --source $source --resume
done
check "a longer pretraining is another start: laws of it" \
    program symreg "${TUNE[@]}" --resume --set symreg.enumerate=0
check "a longer pretraining is another start: which are kept" \
    prints '^keep .*laws.json' program symreg "${TUNE[@]}" --plan \
    --set symreg.enumerate=0
# ---- the last evaluation ends by signals and by time, and the next call makes it
short=("${SETS[@]}" --set pretrain.steps=1 --orbits "$run/orbits" --out "$WORK/short")
check "no time left to evaluate" program pretrain "${short[@]}" --minutes 1e-9
check "no time left to evaluate: the training is there" test -s "$WORK/short/last.safetensors"
check_not "no time left to evaluate: no evaluation" test -e "$WORK/short/evaluation.json"
check "the next call" program pretrain "${short[@]}" --minutes 1e-9 --resume
check "the next call: evaluates" test -s "$WORK/short/evaluation.json"

# ---- the held-out loss by which patience chooses is the one that is measured at the end: of the
# averaged weights, over all that counts, however the sequences are cut into batches
number() { # KEY FILE: the last one, to five digits
    printf '%.5g\n' "$(grep -o "\"$1\":[[:space:]]*[0-9.e-]*" "$2" | tail -n 1 |
        grep -o '[0-9.e-]*$')"
}
same_loss() { # NAME OPTION...
    local out=$WORK/$1
    shift
    program pretrain --threads 1 --quiet --attention lssar --out "$out" "$@" || return
    equal "$(number val_loss "$out/log.jsonl")" "$(number loss "$out/evaluation.json")"
}
check "the loss of averaged weights" same_loss average --preset smoke --run "$WORK/average" \
    --orbits "$run/orbits" --set planets.enabled=false --set orbits.test=0 \
    --set pretrain.steps=20 --set pretrain.ema=0.9
check "the loss of what counts" same_loss counts --preset text --run "$WORK/counts" \
    --set text.train=passkey:200 --set text.positions=64 --set model.layers=1 --set model.width=16 \
    --set model.heads=2 --set pretrain.steps=2 --set pretrain.batch=3 \
    --set pretrain.eval_sequences=40
finish
