#!/usr/bin/env bash
# test_torch_models.sh - a model that was trained in PyTorch is a checkpoint that the programs read,
# and a trained checkpoint is a Hugging Face folder that they read, too.
# Needs python3 with torch and numpy, for the folder transformers: make check-python.
. tests/cli/lib.sh
PYTHON=${PYTHON:-python3}
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1 HF_HUB_OFFLINE=1 HF_HOME=$WORK/hub
if ! $PYTHON -c 'import torch, numpy' 2>/dev/null; then
    skip "models that were trained in PyTorch" "$PYTHON has no torch or numpy"
    finish
fi
check "data" program orbits --preset smoke --threads 1 --quiet --out "$WORK/orbits"

# ---- trained in PyTorch, with the C kernels' attention
cat >"$WORK/train.py" <<'END'
import sys

import numpy as np
import torch

import orrery
from orrery.gpt import torch_gpt

torch.manual_seed(1)
rows = torch.from_numpy(np.load(sys.argv[1])[:64, :40])
module = torch_gpt(layers=1, heads=2, width=16, context=40, attention="lssar")
module = orrery.GPT.from_torch(module).to_torch(kernels=True)
optimizer = torch.optim.AdamW(module.parameters(), 1e-2)
for _ in range(30):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(module(rows[:, :-1]), rows[:, 1:])
    loss.backward()
    optimizer.step()
orrery.GPT.from_torch(module).save(sys.argv[2])
END
mine=$WORK/mine.safetensors
check "trained in PyTorch" "$PYTHON" "$WORK/train.py" "$WORK/orbits/coords_train.npy" "$mine"
check "its outputs by bin/probe" program probe outputs --checkpoint "$mine" --preset smoke \
    --sequences 3 --threads 1 --quiet --out "$WORK/outputs"
check "its outputs by bin/probe: are those of the module" \
    prints 'lssar, .*largest difference [0-9]' \
    $PYTHON docs/pytorch/rebuild.py "$mine" "$WORK/outputs"
further=(program pretrain --preset smoke --threads 1 --quiet --attention lssar
         --orbits "$WORK/orbits" --run "$WORK/further" --checkpoint "$mine"
         --set pretrain.steps=4 --set pretrain.eval_every=2)
check "it is trained further" "${further[@]}"
check "it is trained further: and resumed" "${further[@]}" --resume
check "it is fine-tuned" program finetune --preset smoke --threads 1 --quiet --run "$WORK/fine" \
    --orbits "$WORK/orbits" --source lssar --checkpoint "$mine" \
    --set finetune.magnitude.steps=2 --set finetune.vector.steps=0

# ---- fine-tuned by the program, read by the package
cat >"$WORK/forces.py" <<'END'
import sys

import numpy as np

import orrery

magnitude = orrery.GPT.from_checkpoint(sys.argv[1])
rows = np.load(sys.argv[2])[:3, :40]
assert magnitude.forces(rows).shape == (3, 40) and np.isfinite(magnitude.forces(rows)).all()
again = orrery.GPT.from_torch(magnitude.to_torch())
assert np.array_equal(again.forces(rows), magnitude.forces(rows))
END
check "forces of the fine-tuned model" "$PYTHON" "$WORK/forces.py" \
    "$WORK/fine/lssar/finetune/magnitude.safetensors" "$WORK/orbits/coords_two_body_train.npy"

# ---- a Hugging Face folder
if ! $PYTHON -c 'import transformers' 2>/dev/null; then
    skip "a Hugging Face folder" "$PYTHON has no transformers"
    finish
fi
last=$WORK/further/lssar/pretrain/last.safetensors
check "save_pretrained" "$PYTHON" -c 'import sys, orrery
orrery.GPT.from_checkpoint(sys.argv[1]).save_pretrained(sys.argv[2])' "$last" "$WORK/folder"
check "bin/probe reads its model.safetensors" program probe outputs --preset smoke --sequences 3 \
    --checkpoint "$WORK/folder/model.safetensors" --threads 1 --quiet --out "$WORK/outputs-folder"
cat >"$WORK/load.py" <<'END'
import sys

import numpy as np
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained(sys.argv[1], trust_remote_code=True)
rows = torch.from_numpy(np.load(sys.argv[2] + "/inputs.npy").astype(np.float32))
with torch.no_grad():
    difference = model(rows).logits.numpy() - np.load(sys.argv[2] + "/outputs.npy")
assert np.abs(difference).max() < 1e-5, np.abs(difference).max()
END
check "AutoModel has the outputs of bin/probe" env -u PYTHONPATH "$PYTHON" "$WORK/load.py" \
    "$WORK/folder" "$WORK/outputs-folder"
finish
