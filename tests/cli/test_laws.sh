#!/usr/bin/env bash
# test_laws.sh - every force law from the command line: a small set is written, other than Newton's
# and the same on any number of threads; what cannot work is one clear error and makes nothing.
. tests/cli/lib.sh
fast_pictures

SMALL=(--preset smoke --quiet --set orbits.train=6 --set orbits.train_files=6 --set orbits.val=2
       --set orbits.test=2 --set orbits.two_body_train=4 --set orbits.two_body_val=2
       --set orbits.two_body_test=2 --set planets.train=2 --set planets.val=2)
small() { # DIR OPTION...
    local out=$1
    shift
    program orbits "${SMALL[@]}" --out "$out" "$@"
}

check "newton" small "$WORK/newton"
# the laws are those that --help names
laws=$(program orbits --help all | sed -n 's/^  orbits\.law .* \([a-z_|]*|expression\) .*/\1/p' |
    tr '|' ' ')
check "help names the laws of sim/law.c" equal "$(echo "$laws" | wc -w)" \
    "$(grep -c '^    \[ORR_LAW_' sim/law.c)"
for law in $laws; do
    case $law in
    newton) continue ;;
    power) set -- --set orbits.law_exponent=-1.5 ;;
    mond) set -- --set orbits.law_a0=5 ;;
    lambda) set -- --set orbits.law_constant=0.0001 ;;
    expression) set -- --set orbits.expression='30*m1*m2/r^1.5' ;;
    *) set -- ;;
    esac
    set -- --set orbits.law="$law" "$@"
    check "$law" small "$WORK/$law" "$@" --threads 1
    check "$law on two threads" small "$WORK/$law.2" "$@" --threads 2
    check "$law: the same on any threads" same_files "$WORK/$law" "$WORK/$law.2"
    check "$law: forces and orbits of its own" other_files "$WORK/newton" "$WORK/$law" \
        {force_magnitude,state,coords}_two_body_train.npy coords_train.npy
done
check "an expression of G" small "$WORK/G" --set orbits.law=expression \
    --set 'orbits.expression=G*m1*m2/r^2'
check "an expression of G: as the number" small "$WORK/number" --set orbits.law=expression \
    --set 'orbits.expression=39.478417604357434475*m1*m2/r^2'
check "an expression of G: the same orbits" same_files "$WORK/G" "$WORK/number" \
    {force_magnitude,state,coords}_two_body_train.npy coords_train.npy
check "a jump of G" small "$WORK/jump" --set orbits.jump_step=10 --set orbits.jump_factor=2
check "a jump of G shows" other_files "$WORK/newton" "$WORK/jump" coords_train.npy

TOKENS=(--preset smoke_tokens --quiet --threads 1 --set orbits.train=3 --set orbits.train_files=3
        --set orbits.two_body_train=2 --set orbits.two_body_val=2 --set orbits.two_body_test=2
        --set orbits.solar_system=true)
check "planets apart" program orbits "${TOKENS[@]}" --out "$WORK/apart"
check "nbody" program orbits "${TOKENS[@]}" --out "$WORK/nbody" --set orbits.nbody=true
check "nbody shows" other_files "$WORK/apart" "$WORK/nbody" obs_train.npy
check "one planet has nobody else" same_files "$WORK/apart" "$WORK/nbody" obs_two_body_train.npy

# ---- planets that meet
CROWD=("${TOKENS[@]}" --seed 3 --set orbits.nbody=true --set orbits.planets_max=10
       --set orbits.a_min_au=0.99 --set orbits.a_max_au=1 --set orbits.e_max=0
       --set orbits.positions=500 --set orbits.train=2 --set orbits.train_files=2
       --set orbits.shard_sequences=1 --set orbits.val=1 --set orbits.test=1)
redrawn() { # DIR: of the training set
    tr -d ' \t\n' <"$1/manifest.json" | grep -o '"train":{.*"redrawn_systems":[0-9]*' |
        grep -o '"redrawn_systems":[0-9]*' | head -n 1 | grep -o '[0-9]*$'
}
KEEP=$WORK/crowd.sets
refuse "planets meet: the pair" 1 'sequence 1 of train' 'between bodies 3 and 4' \
    'orbits.encounters=redraw' -- "$BIN/orbits" "${CROWD[@]}" --out "$WORK/crowd"
REDRAW=("${CROWD[@]}" --set orbits.encounters=redraw)
check "drawn again" program orbits "${REDRAW[@]}" --out "$WORK/again"
check "drawn again: counted" test "$(redrawn "$WORK/again")" -ge 1
check "drawn again: and shown" prints 'drawn again  [1-9]' program orbits stat "$WORK/again"
check "drawn again on two threads" program orbits "${REDRAW[@]}" --threads 2 --out "$WORK/again.2"
check "drawn again on two threads: the same" same_files "$WORK/again" "$WORK/again.2"
for part in 1 2; do
    check "drawn again, part $part" program orbits "${REDRAW[@]}" --part $part/2 \
        --out "$WORK/again.3"
done
check "drawn again on two threads: the same, counted" same_files "$WORK/again" "$WORK/again.3"

# ---- what is refused
KEEP=$WORK/bad
bad() { # NAME STATUS PATTERN SETTING...
    local name=$1 status=$2 pattern=$3 o=()
    shift 3
    for setting in "$@"; do o+=(--set "$setting"); done
    refuse "$name" "$status" "$pattern" -- "$BIN/orbits" "${SMALL[@]}" --out "$WORK/bad" "${o[@]}"
}
bad "unknown law" 2 'newton|power|yukawa|mond' orbits.law=newtn
unread='orbits.law is newton, which does not read it; expected orbits.law=expression'
bad "an expression without its law" 2 "orbits.expression: $unread" 'orbits.expression=m1*m2/r'
bad "a setting of another law" 2 'orbits.law_a0: orbits.law is yukawa' orbits.law_a0=5 \
    orbits.law=yukawa
printf '{"orbits": {"law": "power", "law_exponent": -1.5}}' >"$WORK/power.json"
printf '{"orbits": {"law_exponent": -1.5}}' >"$WORK/none.json"
refuse "a preset with a setting of another law" 2 "$WORK/none.json" \
    'orbits.law_exponent: orbits.law is newton' -- "$BIN/orbits" --preset "$WORK/none.json" --plan
check "a preset of a law" program orbits --preset "$WORK/power.json" --quiet --plan
check "a preset of a law: under another law" \
    program orbits --preset "$WORK/power.json" --quiet --plan \
    --set orbits.law=yukawa
bad "exponent -3" 2 'orbits.law_exponent: must be above -3' orbits.law=power \
    orbits.law_exponent=-3
bad "1PN of many bodies" 2 'orbits.nbody: expected false' \
    orbits.law=post_newtonian orbits.nbody=true
bad "expression: G is no variable" 2 'expected "==" or the end at character 2' \
    orbits.law=expression 'orbits.expression=G=1'
bad "expression: unknown name" 2 'orbits.expression: found "q" at character 4 of "m1*q"' \
    orbits.law=expression 'orbits.expression=m1*q'
bad "expression: ends early" 2 'at character 9 of "m1*m2/r^"' orbits.law=expression \
    'orbits.expression=m1*m2/r^'
check "a bad expression makes no folder" test ! -e "$WORK/bad"
KEEP=$WORK/nowhere # the next one is seen when the first sequence is made
bad "expression: repulsion" 1 'sequence 0 of train: law expression: expected an attraction' \
    orbits.law=expression 'orbits.expression=-m1*m2'
check "expression: repulsion: no data" test ! -e "$WORK/bad/manifest.json"
finish
