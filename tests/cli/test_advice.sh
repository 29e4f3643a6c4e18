#!/usr/bin/env bash
# test_advice.sh - what error messages advise works: the command that a message names is run as it
# stands, and then the first one works or names the next step; misspelt names get the right one.
. tests/cli/lib.sh
fast_pictures

# advice FILE: the command that an error message names, "" where it names none
advice() {
    sed -n 's/.* with: //p' "$1" | sed -e 's/ (--.*//' -e 's/, or name .*//'
}
# works DEPTH COMMAND...: the command succeeds, if need be after the one that its message names
works() {
    local depth=$1 round next
    shift
    for ((round = 0; round < 8; round++)); do
        ! timeout "$LIMIT" "$@" </dev/null >"$WORK/said" 2>&1 || return 0
        next=$(advice "$WORK/said")
        [ -n "$next" ] && [ "$depth" -lt 8 ] || break
        eval "works $((depth + 1)) $next" || return 1
    done
    echo "$*: $(cat "$WORK/said")"
    return 1
}
# followed NAME COMMAND...
followed() {
    local name=$1
    shift
    check_not "$name: fails" timeout "$LIMIT" "$@"
    check "$name: works as advised" works 0 "$@"
}
run=$WORK/run
followed "pretrain without data" "$BIN/pretrain" "${TINY[@]}" --run "$run"
followed "finetune without models" "$BIN/finetune" "${TINY[@]}" --run "$WORK/from nothing"
followed "probe without a model" "$BIN/probe" attention "${TINY[@]}" --run "$WORK/probed" \
    --attention lssar
LOOK=(--preset smoke --quiet "${TINY[@]:5}")
followed "report without forces and laws" "$BIN/report" "${LOOK[@]}" --run "$run"
# files that were changed or went away
data=$run/orbits/coords_train.npy
spoilt() { # NAME COMMAND...: models again, from data that the command spoils
    local name=$1
    shift
    "$@"
    rm -rf "$run/softmax/pretrain"
    followed "$name" "$BIN/pretrain" "${TINY[@]}" --run "$run" --attention softmax --resume
}
spoilt "data missing" rm "$data"
spoilt "data cut short" truncate -s 1000 "$data"
flip "$data" 5000
rm -rf "$run/softmax/pretrain"
check_not "data corrupt" program pretrain "${TINY[@]}" --run "$run" --attention softmax --resume
rm "$data" # as the message says
check "data corrupt: works as advised" \
    works 0 "$BIN/pretrain" "${TINY[@]}" --run "$run" --attention softmax \
    --resume
# settings changed: the models of before are not theirs
followed "other settings" "$BIN/finetune" "${TINY[@]}" --run "$run" --set pretrain.lr=0.02 \
    --resume --force
rm "$run/lssar/pretrain_planets/evaluation.json"
followed "an evaluation missing" "$BIN/report" "${LOOK[@]}" --run "$run" --set pretrain.lr=0.02

# a training that is there is not replaced without --force
KEEP=$run
refusals program pretrain "${TINY[@]}" --run "$run" --attention softmax <<END
a finished training | 1 last.safetensors 'would be lost' --resume --force | --set pretrain.lr=0.02
of another rate | 1 'pretrain.lr is 0.02' --run --force | --set pretrain.lr=0.03
also with --resume | 1 'pretrain.lr is 0.02' 'would be lost' | --set pretrain.lr=0.03 --resume
END

# names that are nearly right
KEEP=$WORK/none PROGRAMS="$PROGRAMS probe"
refuse "a variant" 2 'unknown variant "lsar" (did you mean "lssar"?)' 'softmax, lssa' -- \
    program pretrain --preset smoke --run "$WORK/none" --attention lsar
refuse "a variant: of a list" 2 'unknown variant "sofmax" (did you mean "softmax"?)' -- \
    program pretrain --preset smoke --run "$WORK/none" --set attention=sofmax
refuse "a variant: that nothing is near" 2 'unknown variant "xyz"; expected one of softmax' -- \
    program pretrain --preset smoke --run "$WORK/none" --attention xyz
refuse "a variant: of a run without models" 2 'unknown variant "lsar" (did you mean "lssar"?)' -- \
    program probe attention --preset smoke --run "$WORK/none" --attention lsar
program probe 2>"$WORK/err"
check "the list of probes offers those that moved" equal lab \
    "$(sed -n 's/.*which probe? expected one of .*, \([a-z]*\)$/\1/p' "$WORK/err")"
refuse "a probe" 2 'unknown probe "linaer" (did you mean "linear"?)' -- program probe linaer
refuse "a source" 2 'truth, oracle, untrained, softmax, lssar, found "orcle"' -- \
    program finetune --preset smoke --run "$WORK/none" --source orcle
refuse "a data set" 2 '"trian" (did you mean "train"?)' two_body_test -- \
    program orbits show --preset smoke --run "$WORK/none" --split trian
printf 'r,force\n1,2\n2,1\n' >"$WORK/table.csv"
refuse "a column" 1 'no column "G"; expected one of "r", "force"' -- \
    program symreg "$WORK/table.csv" --target G
refuse "an expression without its law" 2 'orbits.law is newton' \
    'expected orbits.law=expression' -- \
    program orbits --preset smoke --run "$WORK/none" --set orbits.expression=m1*m2/r
refuse "steps" 2 'unknown option --steps; it is a setting: --set pretrain.steps=10 or' -- \
    program pretrain --steps 10
refuse "a learning rate" 2 '--set pretrain.lr=1e-3' -- program pretrain --lr=1e-3
refuse "steps of an orbit" 2 \
    '--set orbits.positions=100 (rows of a sequence: one for the time step, then one per body' -- \
    program orbits --steps 100
refuse "steps of an orbit: by another word" \
    2 '--set orbits.positions=100' -- program orbits --n-steps=100
refuse "steps of an orbit: as a setting" \
    2 'unknown key "steps"; did you mean "orbits.positions" or' -- \
    program orbits --set steps=100
refuse "steps of an orbit: of the group" \
    2 'unknown key "orbits.n_steps"; did you mean "orbits.positions"?' -- \
    program orbits --set orbits.n_steps=100
refuse "a planet of a figure" 2 'unknown option --planet; did you mean --body?' -- \
    program report --planet earth
refuse "a law" 2 'it is a setting: --set orbits.law=power;' -- program orbits --law power
refuse "a setting without its group" 2 'unknown key "law"; did you mean "orbits.law"?' -- \
    program orbits --set law=power

# make refuses an unknown preset before it compiles anything
unset ORRERY_PRESETS
make -s world PRESET=quik RUN="$WORK/none" B="$WORK/build" BIN="$WORK/bin" >"$WORK/out" \
    2>"$WORK/err" </dev/null
check "make PRESET=quik: its status is not 2" equal 2 $?
check "make PRESET=quik: compiles something" test ! -e "$WORK/build" -a ! -e "$WORK/bin"
check "make PRESET=quik: does not list the presets" \
    grep -q 'PRESET: no preset "quik"; expected a file ending in .json or one of .*quick .*smoke' \
    "$WORK/err"
# ... and an unknown variant before it simulates anything
for words in "PRESET=smoke ATTENTION=lsar" "PRESET=smoke SET=attention=lsar"; do
    for name in "stage orbits" world plan; do
        refuse "orrery $name $words" 2 'unknown variant "lsar" (did you mean "lssar"?)' -- \
            program orrery $name $words RUN="$WORK/none"
    done
done
check "orrery stage orbits: a setting of its own is refused by bin/orbits" prints \
    '^orbits: error: --set: unknown key "orbits.trian"' bash -c '"$@" 2>&1; true' - \
    "$BIN/orrery" stage orbits PRESET=smoke SET="orbits.trian=3 attention=lsar" RUN="$WORK/none"
for preset in smoke presets/smoke.json; do
    check "make refuses the preset $preset" make -s known_preset PRESET=$preset
done
finish
