#!/usr/bin/env bash
# test_pytorch.sh - checkpoints in Python: names and shapes by the safetensors package, the same
# outputs from the module of docs/pytorch/rebuild.py, and models of the study's code converted.
# Needs python3 with torch, safetensors and numpy: make check-python.
. tests/cli/lib.sh
PYTHON=${PYTHON:-python3}
if ! $PYTHON -c 'import torch, safetensors, numpy' 2>/dev/null; then
    skip "checkpoints in Python" "$PYTHON has no torch, safetensors or numpy"
    finish
fi
FEW=(--threads 1 --quiet --set pretrain.steps=6 --set pretrain.eval_every=0 --set pretrain.lr=0.03
     --set pretrain.warmup=0 --set model.layers=2 --set pretrain_planets.steps=2)

# trained NAME PRESET ATTENTION [SETTING...]: a model and its outputs, for the comparison
pairs=()
trained() {
    local name=$1 preset=$2 attention=$3 settings=() setting
    shift 3
    for setting in "$@"; do
        settings+=(--set "$setting")
    done
    check "train $name" program pretrain --preset "$preset" "${FEW[@]}" --attention "$attention" \
        --orbits "$WORK/orbits-$preset" --run "$WORK/$name" "${settings[@]}"
    outputs "$name" "$WORK/$name/$attention/pretrain/last.safetensors"
}
outputs() { # NAME CHECKPOINT
    check "outputs $1" program probe outputs --checkpoint "$2" --sequences 3 --threads 1 --quiet \
        --out "$WORK/$1/outputs"
    pairs+=("$2" "$WORK/$1/outputs")
}
for preset in smoke smoke_tokens; do
    check "data $preset" program orbits --preset $preset --threads 1 --quiet \
        --out "$WORK/orbits-$preset"
done

# ---- all positions, gates and heads
turn=0
attention=(softmax lssa lssar rw_softmax)
for preset in smoke smoke_tokens; do
    for positions in learned rope none; do
        for gate in none sigmoid softplus; do
            trained "$preset-$positions-$gate" $preset ${attention[turn++ % 4]} \
                model.positions=$positions model.gate=$gate pretrain.ema=0.$((turn % 2 * 9))
        done
    done
done
trained window smoke lssar model.attention_window=5 model.attention_p=2.5 model.fourier=3
tokens=$WORK/smoke_tokens-none-none
check "force magnitudes" program finetune --threads 1 --quiet --preset "$tokens/preset.json" \
    --attention rw_softmax --source rw_softmax --run "$tokens" \
    --orbits "$WORK/orbits-smoke_tokens" --set finetune.magnitude.steps=3 \
    --set finetune.vector.steps=3
for file in "$tokens"/*/finetune/*.safetensors; do
    outputs "$(basename "$file" .safetensors)" "$file"
done

# ---- every other variant
for name in rw_sigmoid sigmoid_logL sigmoid_logN sigmoid_logN_l1 relu_wortsman relu_li relu_shen \
    phi_relu phi_relu2 phi_relu6 phi_gelu phi_sigmoid phi_softplus phi_mish phi_exp \
    softmax_inverse softmax_recentred softmax_recentred_l1 decomp_I decomp_II decomp_III \
    decomp_IV; do
    trained "variant-$name" smoke $name
done
$PYTHON docs/pytorch/rebuild.py "${pairs[@]}" >"$WORK/compared" 2>"$WORK/err"
check "the same outputs within 1e-5" test $? -eq 0
sed "s|$WORK/||" "$WORK/compared" "$WORK/err"
check "all were compared" equal $((${#pairs[@]} / 2)) \
    "$(grep -c 'outputs up to [0-9.e+-]*, largest difference [0-9]' "$WORK/compared")"

# ---- the study's models
for output_dim in "" 1 2; do
    name=study$output_dim
    check "$name" $PYTHON tests/python/study_model.py make "$WORK/$name.pt" $output_dim
    check "$name: converted" $PYTHON docs/pytorch/convert_study.py "$WORK/$name.pt" \
        "$WORK/$name.safetensors"
    check "$name: outputs" program probe outputs --checkpoint "$WORK/$name.safetensors" \
        --preset smoke_tokens --threads 1 --quiet --sequences 4 --out "$WORK/$name"
    check "$name: the same outputs" prints 'largest difference [0-9]' \
        $PYTHON tests/python/study_model.py outputs "$WORK/$name.pt" "$WORK/$name"
    sed "s|$WORK/||" "$WORK/.printed"
done
# ---- metadata: what other loaders ask for (format "pt"), and files of version 0.1.0
for file in "$WORK/study.safetensors" "$tokens/rw_softmax/pretrain/last.safetensors"; do
    check "metadata of $(basename "$file")" $PYTHON -c 'import sys, safetensors
metadata = safetensors.safe_open(sys.argv[1], "pt").metadata()
assert metadata["format"] == "pt" and metadata["orrery_format"] == "orrery-gpt-1"' "$file"
done
check "a file as version 0.1.0 wrote it" $PYTHON -c 'import sys, safetensors, safetensors.torch
metadata = safetensors.safe_open(sys.argv[1], "pt").metadata()
metadata["format"] = metadata.pop("orrery_format")
safetensors.torch.save_file(safetensors.torch.load_file(sys.argv[1]), sys.argv[2], metadata)' \
    "$WORK/study.safetensors" "$WORK/old.safetensors"
check "a file as version 0.1.0 wrote it: is read here" \
    program probe outputs --checkpoint "$WORK/old.safetensors" \
    --preset smoke_tokens --threads 1 --quiet --sequences 4 --out "$WORK/old/outputs"
check "a file as version 0.1.0 wrote it: and there" \
    $PYTHON docs/pytorch/rebuild.py "$WORK/old.safetensors" \
    "$WORK/old/outputs"

# ---- a variant of one's own, which the module lacks: one line says what to add
check "a variant of one's own" $PYTHON -c 'import sys, safetensors, safetensors.torch
metadata = safetensors.safe_open(sys.argv[1], "pt").metadata() | {"attention": "rw_mine"}
safetensors.torch.save_file(safetensors.torch.load_file(sys.argv[1]), sys.argv[2], metadata)' \
    "$WORK/study.safetensors" "$WORK/mine.safetensors"
$PYTHON docs/pytorch/rebuild.py "$WORK/mine.safetensors" >"$WORK/out" 2>"$WORK/err"
check "a variant of one's own: is refused" equal 1 $?
check "a variant of one's own: by one line" equal 1 "$(wc -l <"$WORK/err")"
check "a variant of one's own: that says where it is missing" grep -q \
    '^rebuild.py: error: .*mine.safetensors: .*"rw_mine" is not in .*; add .* kernels/variants.c' \
    "$WORK/err"
check "a new phi without its function" prints \
    "attention variant 'rw_mine': phi 'cube' has no PyTorch formula; .*orrery._torch_model.PHI" \
    env PYTHONPATH=python $PYTHON -c 'import orrery, torch
line = orrery.attention_line("softmax") | {"name": "rw_mine", "phi": "cube"}
q = torch.ones(1, 2, 4, 8)
try:
    orrery.attention(q, q, q, kind=line)
except NotImplementedError as error:
    print(error)'

STUDY_SHAPE=(--set model.layers=3 --set model.width=24 --set model.heads=4)
check "a converted model can be fine-tuned" program finetune --preset smoke_tokens --threads 1 \
    --quiet --run "$WORK/fine" --orbits "$WORK/orbits-smoke_tokens" --source softmax \
    --checkpoint "$WORK/study.safetensors" "${STUDY_SHAPE[@]}" \
    --set finetune.magnitude.steps=2 --set finetune.vector.steps=2
further=(program pretrain --preset smoke_tokens --threads 1 --quiet --attention softmax
         --orbits "$WORK/orbits-smoke_tokens" --set pretrain.steps=4 --set pretrain.eval_every=2)
check "a converted model can be trained further" "${further[@]}" "${STUDY_SHAPE[@]}" \
    --checkpoint "$WORK/study.safetensors" --run "$WORK/further"
check "a converted model can be trained further: and resumed" \
    "${further[@]}" "${STUDY_SHAPE[@]}" --resume \
    --checkpoint "$WORK/study.safetensors" --run "$WORK/further"
last=$WORK/further/softmax/pretrain/last.safetensors
outputs further "$last"
check "a converted model can be trained further: and is the same in PyTorch" \
    prints 'largest difference [0-9]' \
    $PYTHON docs/pytorch/rebuild.py "$last" "$WORK/further/outputs"
"${further[@]}" --checkpoint "$WORK/study.safetensors" --run "$WORK/refused" 2>"$WORK/err"
for setting in layers=3 width=24 heads=4; do
    check "of other settings: $setting" grep -q "error: .*--set model.$setting" "$WORK/err"
done
finish
