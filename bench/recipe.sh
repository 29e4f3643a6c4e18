#!/usr/bin/env bash
# recipe.sh - trains by one recipe after the other and says what each reaches and costs.
#
#   bench/recipe.sh TRIALS [RESULTS.csv]           default results: bench/results/recipe.csv
#
# A line of TRIALS, # begins a comment:   PRESET NAME SEEDS ATTENTIONS KEY=VALUE...
# (quick muon 0,1,2 softmax,lssar pretrain.optimizer=muon pretrain.steps=1000). Every seed and
# attention is a training of its own with one thread in fp32. Settings say which: pretrain,
# pretrain_planets or finetune.magnitude, which starts from a model that the preset pretrains, or
# from random weights for the attention "untrained"; steps must be given. A row of RESULTS has the
# error of held-out sequences (next state in AU; planets in separations; text in nats per token;
# forces: the share of the variance of log F that is not explained), seconds of processor time of
# bin/pretrain or bin/finetune, and the held-out loss after every fifth of the steps. Rows that are
# there are kept, so that a stopped run goes on; with other settings under the same names they are
# an error. Orbits and models to fine-tune are made once for
# each preset, seed and settings of orbits, in a temporary folder; text needs text.train=FILE among
# the settings. BIN (bin): the programs.
set -eu -o pipefail
export LC_ALL=C
trials=${1:?recipe: error: expected a file of trials}
results=${2:-bench/results/recipe.csv}
bin=${BIN:-bin}
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-recipe-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
header=preset,recipe,seed,attention,error,processor_s,settings,curve
[ -e "$results" ] || echo "$header" >"$results"
[ "$(head -n 1 "$results")" = "$header" ] || {
    echo "recipe: error: $results: expected the first line $header" >&2
    exit 2
}

# 1 - R^2 of log F of a table of forces; a force that is not positive counts as 1e-9
unexplained() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "F_true") t = i; if ($i == "F") p = i } }
        NR > 1 {
            y = log($t); f = log($p > 1e-9 ? $p : 1e-9)
            n++; sum += y; square += y * y; missed += (y - f) ^ 2
        }
        END { printf "error %.5g\n", missed / (square - sum * sum / n) }' "$1"
}

# pretrained PRESET SEED ATTENTION RUN SETTINGS...: the model that a fine-tuning starts from, in a
# copy of the run with its data
pretrained() {
    local preset=$1 seed=$2 attention=$3 run=$4
    shift 4
    [ ! -d "$run-$attention" ] || return 0
    cp -r "$run" "$run-$attention"
    [ "$attention" = untrained ] ||
        "$bin/pretrain" --preset "$preset" --run "$run-$attention" --seed "$seed" \
            --attention "$attention" --threads 1 --set pretrain_planets.steps=0 \
            --set model.precision=fp32 "$@" >"$work/log"
}

# train PRESET NAME SEED ATTENTION SETTINGS...
train() {
    local preset=$1 name=$2 seed=$3 attention=$4 run=$work/run sets=() set steps spent
    local stage=pretrain error curve log command=(pretrain --attention) orbits=() data known
    shift 4
    known=$(grep -F "$preset,$name,$seed,$attention," "$results" | cut -d, -f7) || true
    if [ -n "$known" ]; then
        [ "$known" = "$*" ] || {
            echo "recipe: error: $results: $preset $name $seed $attention: expected" \
                "settings $*, found $known" >&2
            exit 2
        }
        return
    fi
    for set; do
        case $set in
        pretrain_planets.*) stage=pretrain_planets ;;
        orbits.*) orbits+=(--set "$set") ;;
        finetune.magnitude.*) stage=finetune.magnitude command=(finetune --source) ;;
        esac
        sets+=(--set "$set")
    done
    log=$stage/log.jsonl
    case $stage in
    pretrain) sets+=(--set pretrain_planets.steps=0) ;;
    pretrain_planets) sets+=(--set pretrain.steps=1) ;;
    *)
        sets+=(--set pretrain_planets.steps=0 --set finetune.vector.steps=0)
        log=finetune/magnitude.jsonl
        ;;
    esac
    steps=$(printf '%s\n' "$@" | sed -n "s/^$stage\.steps=//p")
    [ -n "$steps" ] || {
        echo "recipe: error: $trials: $preset $name: expected $stage.steps=N" >&2
        exit 2
    }
    sets+=(--set "$stage.eval_every=$((steps / 5))" --set model.precision=fp32)
    rm -rf "$run"
    case " $*" in
    *' text.train='*) ;;
    *)
        data=$work/$preset-$seed-$(printf '%s ' "${orbits[@]}" | cksum | cut -d' ' -f1)
        [ -d "$data" ] || "$bin/orbits" --preset "$preset" --seed "$seed" --run "$data" \
            --threads 1 "${orbits[@]}" >"$work/log"
        if [ $stage = finetune.magnitude ]; then
            pretrained "$preset" "$seed" "$attention" "$data" "${orbits[@]}"
            data+=-$attention
        fi
        cp -r "$data" "$run"
        ;;
    esac
    TIMEFORMAT='%U %S'
    { time "$bin/${command[0]}" --preset "$preset" --run "$run" --seed "$seed" \
        "${command[1]}" "$attention" --threads 1 "${sets[@]}" >"$work/log" 2>&1; } \
        2>"$work/time" || {
        cat "$work/log" >&2
        exit 1
    }
    spent=$(awk '{print $1 + $2}' "$work/time")
    error=$(grep -oE '(next-state error|loss) [0-9.e+-]+' "$work/log" | tail -n 1) || true
    [ $stage != finetune.magnitude ] ||
        error=$(unexplained "$run/$attention/finetune/forces_magnitude.csv")
    [ -n "$error" ] || {
        echo "recipe: error: $preset $name: no error of held-out sequences in the output" >&2
        exit 1
    }
    curve=$(sed -n 's/.*"step": \([0-9]*\), "val_loss": \([0-9.e+-]*\).*/\1:\2/p' \
        "$run/$attention/$log" | tr '\n' ' ')
    echo "$preset,$name,$seed,$attention,${error##* },$spent,$*,${curve% }" | tee -a "$results"
}

while read -r preset name seeds attentions settings || [ -n "$preset" ]; do
    case $preset in '' | '#'*) continue ;; esac
    for seed in ${seeds//,/ }; do
        for attention in ${attentions//,/ }; do
            # shellcheck disable=SC2086 # settings are words
            train "$preset" "$name" "$seed" "$attention" $settings
        done
    done
done <"$trials"
