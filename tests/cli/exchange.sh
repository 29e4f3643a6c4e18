# exchange.sh - what tests of models of other programs share (docs/exchange.md). Sourced after
# lib.sh; the test sets $run, a run in fp32, $answers, its folder of answers, BASE and ASKED,
# options of every probe and of the export, and $bad, a folder for malformed answers.

# alike A B: tables whose numbers are equal but for roundings; neither is empty
alike() {
    filled "$1" "$2" && paste -d, "$1" "$2" | awk -F, '
        { if (NF % 2) exit bad = 1
          for (i = 1; i <= NF / 2; i++) {
              a = $i; b = $(i + NF / 2); d = a - b; if (d < 0) d = -d
              if (a != b && !(a + 0 != 0 && d <= 1e-5 * (a < 0 ? -a : a))) exit bad = 1 } }
        END { exit bad || NR < 2 }'
}

# same_errors A B: of two evaluate.json, all but the loss
same_errors() {
    local key folder
    for folder; do
        for key in teacher_forced persistence sequence_mean rollout_1 rollout_5 rollout_19 \
            orbit_fit random_weights; do
            value "$folder/evaluate.json" $key
        done >"$folder/errors"
        equal 8 "$(grep -c '[0-9]' "$folder/errors")" || return 1
    done
    alike "$1/errors" "$2/errors" && rm "$1/errors"
}

# proof MODEL PROBE...: the answers of a model of the run give the numbers of its checkpoint
proof() {
    local name=$1 a=$answers/$1 probe own
    for probe in "${@:2}"; do
        own=("${ASKED[@]:0:2}")
        case $probe in
        labels | extrapolate) own=("${ASKED[@]}" --steps 3) ;;
        inductive) own+=("${ASKED[@]:4:2}" --steps 3) ;;
        planets) own=() ;;
        esac
        check "$name: $probe of a checkpoint" program probe $probe --run "$run" --attention $name \
            "${BASE[@]}" "${own[@]}" --out "$WORK/own/$name"
        check "$name: $probe of its answers" program probe $probe --run "$run" "${BASE[@]}" \
            --answers "$a" --untrained "${a}_untrained"
        [ $probe = evaluate ] || check "$name: answers to $probe have the checkpoint's numbers" \
            alike "$a/probe/$probe.csv" "$WORK/own/$name/$probe.csv"
        [ $probe != evaluate ] || check "$name: answers have the errors of the checkpoint" \
            same_errors "$a/probe" "$WORK/own/$name"
    done
}

# spoiled [MODEL]: another copy of the answers, of which a test spoils one file
spoiled() {
    rm -rf "$bad"
    cp -r "$answers/${1:-softmax}" "$bad"
    rm -rf "$bad/probe"
}

# at FILE BYTE: writes standard input over the bytes from there on, behind the header of 128 bytes
at() {
    dd of="$bad/$1" bs=1 seek=$((128 + $2)) conv=notrunc status=none
}
