#!/bin/sh
# pytorch.sh - a checkpoint in PyTorch: the model is rebuilt from its file, and has the same outputs
# (docs/checkpoints.md). Needs: pip install torch numpy; and make
#
#   docs/examples/pytorch.sh [CHECKPOINT]        from the root of the repository
set -eu
CHECKPOINT=$(realpath "${1:-runs/quick/lssar/pretrain/last.safetensors}")

cd docs/pytorch
python3 - "$CHECKPOINT" <<'END'
import sys
from rebuild import load
model, config = load(sys.argv[1])
print(sum(p.numel() for p in model.parameters()), "weights, attention", config["attention"])
END
