#!/usr/bin/env bash
# test_sweep.sh - grids of experiments: which commands they stand for, what is wrong in one, and a
# sweep whose cells are made, kept, and named where they fail.
. tests/cli/lib.sh
PROGRAMS+=" orrery"

grid=$WORK/tiny.grid
export RUNS=$WORK/runs BIN

# lines LINE...: a grid of these lines
lines() {
    printf '%s\n' "$@" >"$grid"
}

# ---- what cells are

lines 'preset smoke # all cells' 'set orbits.train_files=0 planets.enabled=false' \
    'axis attention softmax lssar' \
    'axis law newton soft:orbits.law=plummer,orbits.law_softening_au=0.5' \
    'axis pretrain.noise_au 0 0.02' 'axis seed 3 4' 'step pretrain' 'step probe rollout --resume'
check "cells are listed" "$BIN/orrery" cells "$grid"
"$BIN/orrery" cells "$grid" >"$WORK/cells"
"$BIN/orrery" cells "$grid" --folders >"$WORK/folders"
check "every combination is a cell" equal 16 "$(wc -l <"$WORK/cells")"
check "none is there twice" equal 16 "$(sort -u "$WORK/folders" | wc -l)"
check "a cell's name has the levels" equal "$RUNS/tiny/lssar-soft-noise_au0.02-seed4" \
    "$(tail -n 1 "$WORK/folders")"
for i in 1 2 3; do
    PART=$i/3 "$BIN/orrery" cells "$grid" --folders
done | sort >"$WORK/parts"
check "three parts are all cells, each once" equal "$(sort "$WORK/folders")" "$(cat "$WORK/parts")"
check "a part has every third cell" equal "$(sed -n '2~3p' "$WORK/folders")" \
    "$(PART=2/3 "$BIN/orrery" cells "$grid" --folders)"
for wrong in 0/3 4/3 3 a/b ''; do
    [ -n "$wrong" ] || wrong=' '
    PART=$wrong "$BIN/orrery" cells "$grid" >"$WORK/out" 2>"$WORK/err"
    check "PART=$wrong: status" equal 2 $?
    check "PART=$wrong" grep -q "PART: expected I/N" "$WORK/err"
done
settings='--preset smoke --set orbits.train_files=0 --set planets.enabled=false'
settings+=' --set attention=softmax --set pretrain.noise_au=0 --seed 3 --resume'
run="--run $RUNS/tiny/softmax-newton-noise_au0-seed3 --threads 1"
check "a cell's command" equal \
    "$BIN/pretrain $settings $run && $BIN/probe rollout --resume $run" "$(head -n 1 "$WORK/cells")"
check "a level's settings" grep -q -e '--set orbits.law=plummer --set orbits.law_softening_au=0.5' \
    "$WORK/cells"

lines 'preset smoke' 'folder both' 'axis attention softmax' \
    'axis finetune.magnitude.train all head' 'axis seed 3' 'step orbits' 'step pretrain' \
    'step finetune'
"$BIN/orrery" cells "$grid" >"$WORK/cells"
check "cells of a folder" equal "$RUNS/both/softmax-trainall-seed3" \
    "$("$BIN/orrery" cells "$grid" --folders | head -n 1)"
own="$RUNS/both/softmax-trainhead-seed3"
data="$BIN/orrery share $own $RUNS/both/.shared/data-seed3 $BIN/orbits --preset smoke --seed 3"
data+=" --resume --run $RUNS/both/.shared/data-seed3 --threads 1"
model="$BIN/orrery share $own $RUNS/both/.shared/models-softmax-seed3 $BIN/pretrain --preset smoke"
model+=" --set attention=softmax --seed 3 --resume --run $RUNS/both/.shared/models-softmax-seed3"
model+=" --orbits $own/orbits --threads 1"
check "what cells share" grep -qF -- "$data && $model && $BIN/finetune --preset smoke" "$WORK/cells"
check "what is a cell's own" \
    grep -qF -- "--set finetune.magnitude.train=head --seed 3 --resume --run $own" "$WORK/cells"

# words are words, and no commands of the shell
lines 'preset smoke' 'folder words' 'axis seed 1' \
    "step pretrain ; touch $WORK/made; \`touch $WORK/made\` \$(touch $WORK/made)" \
    "step probe rollout a'b --x='c' >$WORK/made"
check "a grid with commands as options" "$BIN/orrery" cells "$grid"
printf '#!/bin/sh\nprintf "[%%s]" "$@"\n' >"$WORK/say" && chmod +x "$WORK/say" || exit
"$BIN/orrery" cells "$grid" | sed "s:$BIN/[a-z]* :$WORK/say :g" | sh >"$WORK/out"
words="[;][touch][$WORK/made;][\`touch][$WORK/made\`][\$(touch][$WORK/made)][--preset]"
check "they are options" grep -qF -- "$words" "$WORK/out"
check "they are options: with quotes" \
    grep -qF -- "[rollout][a'b][--x='c'][>$WORK/made][--run]" "$WORK/out"
check_not "they are options: and none is run" test -e "$WORK/made"
for command in cells sweep; do # at once, and not by the programs of each cell
    for threads in 0 abc '1; x'; do
        refuse "$command: THREADS=$threads" 2 \
            "THREADS: expected a whole number from 1 to 4096, found \"$threads\"" -- \
            "$BIN/orrery" $command "$grid" "THREADS=$threads" RUNS="$WORK/none"
    done
done
check_not "a sweep of no number of threads makes a folder" test -e "$WORK/none"
cp "$grid" "$WORK/a=b.grid" || exit
programs=$(realpath "$BIN")
(cd "$WORK" && "$programs/orrery" cells a=b.grid </dev/null) >"$WORK/out"
check "a grid with the name of an assignment" grep -q ^ "$WORK/out"

# ---- what is wrong in a grid: file, line, expected, found

# wrong NAME LINE PATTERN: the grid is refused at the line
wrong() {
    "$BIN/orrery" cells "$grid" >"$WORK/out" 2>"$WORK/err"
    check "$1: status" equal 1 $?
    check "$1: names the line" grep -q "$grid:$2: " "$WORK/err"
    check "$1: says what" grep -q "$3" "$WORK/err"
    check_not "$1: no cell" test -s "$WORK/out"
}
lines 'preset smoke' 'axes seed 1' 'step pretrain'
wrong "an unknown word" 2 'expected preset, folder, set, axis or step, found "axes"'
lines 'preset smoke' 'folder a/b' 'axis seed 1' 'step pretrain'
wrong "a folder that is none" 2 'expected one line "folder NAME"'
lines 'preset smoke' 'axis seed 1 x' 'step pretrain'
wrong "a seed that is none" 2 'expected whole numbers, found "x"'
lines 'preset smoke' 'axis seed 1' 'axis seed 2' 'step pretrain'
wrong "an axis twice" 3 'given already'
lines 'preset smoke' 'axis seed 1 1' 'step pretrain'
wrong "a level twice" 2 'there twice'
lines 'preset smoke' 'axis law near:orbits.law' 'step pretrain'
wrong "a level without a value" 2 'expected KEY=VALUE, found "orbits.law"'
lines 'preset smoke' 'axis seed 1' 'step rm -rf'
wrong "a step that is no program" 3 'found "rm"'
lines 'preset smoke' 'axis law a a-b' 'axis seed 1' 'step pretrain'
wrong "levels of the same settings" 2 'a-b has the settings of another level'
lines 'preset smoke' 'axis orbits.e_max 0.1 0.2' 'axis law a b:orbits.e_max=0.5' 'step pretrain'
wrong "a setting of two axes" 3 'orbits.e_max is a setting of axis orbits.e_max already'
lines 'preset smoke' 'axis law a a-b:orbits.e_max=0.5' 'axis more b-c c:pretrain.steps=5' \
    'step pretrain'
"$BIN/orrery" cells "$grid" >"$WORK/out" 2>"$WORK/err"
check "two cells of one name: status" equal 1 $?
check "two cells of one name" grep -q 'two cells are named a-b-c' "$WORK/err"
check_not "two cells of one name: no cell" test -s "$WORK/out"
lines 'preset smoke' 'axis law x:orbits.e_max=0.5 x-y:orbits.e_max=0.4' \
    'axis rate p:pretrain.lr=0.1 q:pretrain.lr=0.2' \
    'axis noise y-z:orbits.com_sigma_au=0.1 z:orbits.com_sigma_au=0.2' 'step orbits'
"$BIN/orrery" cells "$grid" >"$WORK/out" 2>"$WORK/err"
check "data of other settings in one folder are not refused" equal 1 $?
check "data of other settings in one folder are not named" grep -q 'share .*"x-y-z"' "$WORK/err"
lines 'preset smoke' 'axis seed 1'
"$BIN/orrery" cells "$grid" >/dev/null 2>"$WORK/err"
check "no step" grep -q "$grid: expected a preset, an axis and a step" "$WORK/err"
lines 'preset smoke' 'axis seed 1' 'step pretrain'
for name in .. '' 'a b' $'a\nb'; do # "...grid" would be a folder above all runs
    cp "$grid" "$WORK/$name.grid" || exit
    "$BIN/orrery" cells "$WORK/$name.grid" >"$WORK/out" 2>"$WORK/err"
    check "a grid named \"$name.grid\": status" equal 1 $?
    check "a grid named \"$name.grid\"" grep -q 'or a line "folder NAME"' "$WORK/err"
    check_not "a grid named \"$name.grid\": no cell" test -s "$WORK/out"
done
RUNS=$'a\nb' "$BIN/orrery" cells "$grid" >"$WORK/out" 2>"$WORK/err"
check "RUNS of two lines: status" equal 2 $?
check "RUNS of two lines" grep -q 'RUNS: expected one line' "$WORK/err"
"$BIN/orrery" cells "$WORK/none.grid" 2>"$WORK/err"
check "no grid: status" equal 1 $?
check "no grid" grep -q 'none.grid: no such grid$' "$WORK/err"
"$BIN/orrery" cells grids/table1.grid 2>"$WORK/err"
check "a grid where it lay before: status" equal 1 $?
check "a grid where it lay before" grep -q \
    'grids/table1.grid: no such grid; it is study/grids/table1.grid now$' "$WORK/err"
lines 'preset smoke' 'set orbits.trian=5' 'axis seed 1' 'step pretrain'
wrong "a setting that there is not" 2 'orbits.trian.*orbits.train'
lines 'preset smoke' 'axis pretrain.steps 5 x' 'step pretrain'
wrong "a value that is none" 2 'pretrain.steps.*"x"'
lines 'preset smoke' 'axis seed 1' 'step pretrain'
"$BIN/orrery" sweep "$grid" JOBS=0 >"$WORK/out" 2>"$WORK/err"
check "JOBS=0 is not refused as wrong usage" equal 2 $?
check "JOBS=0 is refused without the value" grep -q 'JOBS: expected a whole number.*"0"' "$WORK/err"
"$BIN/orrery" sweep "$grid" JOB=2 >"$WORK/out" 2>"$WORK/err"
check "a misspelt word is not refused as wrong usage" equal 2 $?
check "a misspelt word has no suggestion" grep -q 'did you mean "JOBS"' "$WORK/err"
"$BIN/orrery" cells PRESET=quick "$grid" >"$WORK/out" 2>"$WORK/err"
check "a word of other commands before the grid is not named" \
    grep -q 'found "PRESET=quick"' "$WORK/err"
check "GRID=FILE is not taken as make takes it" equal "$("$BIN/orrery" cells "$grid")" \
    "$("$BIN/orrery" cells GRID="$grid")"
"$BIN/orrery" cells "$grid" KEPT="$WORK/nowhere" >"$WORK/out" 2>"$WORK/err"
check "KEPT without a folder does not fail" equal 1 $?
check "KEPT without a folder is not named" grep -q 'KEPT: .*/nowhere: no such folder' "$WORK/err"
"$BIN/orrery" sweep >"$WORK/out" 2>"$WORK/err"
check "a sweep without a grid is not refused as wrong usage" equal 2 $?
check "PART as a word is not as in the environment" equal \
    "$(PART=1/3 "$BIN/orrery" cells "$grid")" "$("$BIN/orrery" cells "$grid" PART=1/3)"

# ---- a sweep

lines 'preset smoke' 'set orbits.train_files=0 planets.enabled=false orbits.two_body_train=50' \
    'axis attention softmax lssar' 'axis model.positions rope learned' 'axis seed 1 2' \
    'step orbits' 'step pretrain' 'step probe rollout --sequences 20 --resume'
check "a sweep of eight cells does not fail" env JOBS=2 "$BIN/orrery" sweep "$grid"
for folder in softmax-positionsrope-seed1 lssar-positionslearned-seed2; do
    check "$folder: results" test -s "$RUNS/tiny/$folder/${folder%%-*}/probe/rollout.json"
done
check "data of a seed are made once" equal "data-seed1 data-seed2" \
    "$(cd "$RUNS/tiny/.shared" && echo data-*[0-9])"
check "cells see them" same_file "$RUNS/tiny/softmax-positionsrope-seed2/orbits/coords_test.npy" \
    "$RUNS/tiny/.shared/data-seed2/orbits/coords_test.npy"
stamp=$(stat -c %Y.%i "$RUNS/tiny/lssar-positionsrope-seed1/lssar/pretrain/last.safetensors")
# cells whose results lie elsewhere are not made again
mkdir -p "$WORK/kept/$(basename "$grid" .grid)"
"$BIN/orrery" cells "$grid" --folders | sed '$d' | while read -r folder; do
    : >"$WORK/kept/$(basename "$grid" .grid)/$(basename "$folder").json"
done
RUNS=$WORK/elsewhere KEPT=$WORK/kept JOBS=1 "$BIN/orrery" sweep "$grid" >"$WORK/out" 2>&1
check "KEPT: one cell is left" equal 1 "$(grep -c '^sweep: ' "$WORK/out")"
last=$("$BIN/orrery" cells "$grid" --folders | tail -n 1)
check "KEPT: the last one" grep -qF "/$(basename "$last") (" "$WORK/out"
check "again: kept" env JOBS=2 "$BIN/orrery" sweep "$grid"
check "again: nothing is made" equal "$stamp" \
    "$(stat -c %Y.%i "$RUNS/tiny/lssar-positionsrope-seed1/lssar/pretrain/last.safetensors")"

files=("$RUNS"/tiny/*/*/probe/rollout.json)
check "a file per cell" equal 8 "${#files[@]}"
check "effects of the grid" "$BIN/compare" effects "${files[@]}" --out "$WORK/out.d" --quiet
check "the grid's factors" \
    grep -q '"model.positions, model.rope_base"' "$WORK/out.d/rollout_grid.json"
"$BIN/compare" effects "${files[@]}" --out "$WORK/out.d" --quiet >"$WORK/table"
check "effects with intervals" \
    grep -Eq 'attention (lssar \(from softmax|softmax \(from lssar)\)' "$WORK/table"
check "what two do together" grep -q ' with model.positions' "$WORK/table"
check "an analysis of variance" grep -q '^| seeds | ' "$WORK/table"
mkdir "$WORK/broken" && printf '#!/bin/sh\nexit 1\n' >"$WORK/broken/gnuplot" &&
    chmod +x "$WORK/broken/gnuplot" || exit
check_not "a picture that cannot be drawn" env PATH="$WORK/broken:$PATH" "$BIN/compare" effects \
    "${files[@]}" --out "$WORK/out.d" --quiet
check_not "a picture that cannot be drawn: has no results beside it" \
    test -e "$WORK/out.d/rollout_grid.json"

# models that cells share
lines 'preset smoke' 'folder late' 'set orbits.train_files=0 planets.enabled=false' \
    'axis attention softmax' 'axis finetune.magnitude.train all head' 'step orbits' \
    'step pretrain' 'step finetune'
check "a sweep with a model for two cells" env JOBS=2 "$BIN/orrery" sweep "$grid"
check "one model" equal "$(realpath "$RUNS/late/.shared/models-softmax/softmax/pretrain")" \
    "$(realpath "$RUNS/late/softmax-trainhead/softmax/pretrain")"
table=softmax/finetune/forces_magnitude.csv
check "two predictions" \
    other_file "$RUNS/late/softmax-trainhead/$table" "$RUNS/late/softmax-trainall/$table"

# a cell that another sweep is making is waited for
flock "$RUNS/late/softmax-trainall.lock" sleep 2 &
JOBS=2 "$BIN/orrery" sweep "$grid" >"$WORK/out"
check "another sweep's cell" equal 0 $?
check "it says so" grep -q 'softmax-trainall: another sweep makes it, waiting' "$WORK/out"
wait

# a folder in the place of a lock
lines 'preset smoke' 'folder locks' 'axis seed 1 2' 'step orbits --plan'
mkdir -p "$RUNS/locks/seed1.lock" || exit
JOBS=1 "$BIN/orrery" sweep "$grid" >"$WORK/out" 2>"$WORK/err"
check "a lock that is a folder: status" equal 1 $?
check "a lock that is a folder: status: is named, in the line of its cell alone" \
    equal "sweep: error: $grid: 1 of 2 cells failed:
  $RUNS/locks/seed1.lock: Is a directory" "$(cat "$WORK/err")"
check_not "a lock that is a folder: status: nothing is waited for" grep -q waiting "$WORK/out"
check "a lock that is a folder: status: the other cell is made" \
    grep -q "^sweep: $RUNS/locks/seed2 (" "$WORK/out"

# stopped, it stops its cells, which save
lines 'preset quick' 'set orbits.train_files=0 planets.enabled=false orbits.two_body_train=50' \
    'axis seed 1 2' 'step orbits' 'step pretrain'
JOBS=1 "$BIN/orrery" sweep "$grid" >"$WORK/out" 2>"$WORK/err" &
pid=$!
until_true test -s "$RUNS/tiny/seed1/softmax/pretrain/log.jsonl"
stop TERM
check "TERM: status" equal 143 "$status"
check_not "TERM: no cell goes on" pgrep -f -- "--run $RUNS/tiny/seed"
check_not "TERM: no other cell begins" test -e "$RUNS/tiny/seed2"

# a cell that fails is named with its log, the others are made
lines 'preset smoke' 'set orbits.train_files=0 planets.enabled=false' 'axis attention softmax' \
    'axis model.heads 2 3' 'step orbits' 'step pretrain'
JOBS=1 "$BIN/orrery" sweep "$grid" >"$WORK/out" 2>"$WORK/err"
check "a cell that fails: status" equal 1 $?
check "it is named with its log" grep -q "$RUNS/tiny/softmax-heads3.log: " "$WORK/err"
check "how many failed" grep -q '1 of 2 cells failed' "$WORK/err"
check "the other one is made" test -s "$RUNS/tiny/softmax-heads2/softmax/pretrain/last.safetensors"

finish
