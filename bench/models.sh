#!/usr/bin/env bash
# The table of models of other programs (bench/results/models/README.md has its rule): trains and
# judges docs/examples/models on preset quick, one thread, a file for each cell. Cells that are
# there are kept, so that the same command resumes.
#   bench/models.sh OUT [PYTHON]      OUT: folder of cells; runs are runs/models_0, 1, 2
#   SEEDS="1 2" bench/models.sh ...   cells of these alone, once the seconds of all are measured
set -eu
cd "$(dirname "$0")/.."
out=$1 python=${2:-python3}
export OMP_NUM_THREADS=1 PYTHONPATH=python
models="lstm state_space window_mlp hamiltonian hugging_face"
rates=0.001,0.003,0.01 seeds=${SEEDS:-0 1 2}
mkdir -p "$out"

# Data, Orrery's models and their processor seconds, user and system, of bin/pretrain.
TIMEFORMAT='%U %S'
for seed in 0 1 2; do
    run=runs/models_$seed
    [ -f "$run/orbits/manifest.json" ] || bin/orbits --preset quick --run "$run" --threads 1 \
        --quiet --set seed=$seed --set planets.enabled=false --set finetune.samples=2 \
        --set finetune.vector.steps=0 --set finetune.magnitude.steps=150
    for attention in softmax lssar; do
        file=$out/seconds_${attention}_seed$seed.txt
        [ -f "$file" ] && [ -f "$run/$attention/pretrain/evaluation.json" ] && continue
        rm -rf "${run:?}/$attention"
        { time bin/pretrain --run "$run" --attention $attention --threads 1 --quiet; } 2>"$file.new"
        tail -1 "$file.new" | awk '{print $1 + $2}' >"$file"
        rm "$file.new"
    done
    bin/finetune --run "$run" --source truth --threads 1 --quiet --resume
done
seconds=$(awk '{s += $1} END {printf "%.2f", s / NR}' "$out"/seconds_softmax_seed*.txt)

# One cell; the learning rate is chosen by the seed 0 with equal seconds.
cell() { # MODEL BUDGET SEED
    local first=$out/${1}_seconds_seed0.json lr=$rates
    [ -f "$first" ] && lr=$("$python" -c 'import json, sys
print(json.load(open(sys.argv[1]))["training"].get("lr", 0))' "$first")
    "$python" docs/examples/models/cell.py "$1" --run "runs/models_$3" --budget "$2" --seed "$3" \
        --seconds "$seconds" --rates "$lr" --out "$out"
}

# Laws of all models of a seed, or of their twins, in one search of each source (at most 8).
laws() { # SEED seconds|steps|untrained
    local run=runs/models_$1 names="" name budget=$2 end=""
    [ -f "$out/laws_${2}_seed$1.json" ] && return
    [ "$2" != untrained ] || budget=seconds end=_untrained
    for name in $models; do
        names="$names,$run/answers/${name}_$budget$end"
    done
    [ "$2" = steps ] || names="$names,$run/answers/softmax_own$end,$run/answers/lssar_own$end"
    for name in oracle untrained softmax; do # which the program wants to be there
        bin/finetune --run "$run" --attention softmax --source $name --threads 1 --quiet --resume
    done
    bin/symreg --run "$run" --attention softmax --threads 1 --quiet --answers "${names#,}" \
        --out "$run/laws_$2" >/dev/null
    "$python" bench/models_table.py --laws "$run/laws_$2/laws.json" "$out/laws_${2}_seed$1.json"
}

for seed in $seeds; do
    for model in $models; do cell "$model" seconds "$seed"; done
    for model in softmax lssar; do cell "$model" seconds "$seed"; done
    laws "$seed" seconds
    laws "$seed" untrained
done
for seed in $seeds; do
    for model in $models; do cell "$model" steps "$seed"; done
    laws "$seed" steps
done
