#!/usr/bin/env python3
"""rebuild.py - an Orrery checkpoint as a PyTorch module.

    python3 rebuild.py CHECKPOINT                     parameters, names and shapes
    python3 rebuild.py CHECKPOINT DIR [CHECKPOINT DIR ...]
        compares the module's outputs with those that
        `bin/probe outputs --checkpoint CHECKPOINT --out DIR` wrote; exit status 1 when they differ
        by more than 1e-5 (the tanh form of GELU alone would make 6e-5)

    from rebuild import load
    model, config = load("runs/quick/lssar/pretrain/last.safetensors")
    outputs = model(rows)       # tokens, int (B, T, 2), or coordinates, float (B, T, 2)

The module is that of the Python package, python/orrery/_torch_model.py, written after
docs/attention.md. Its parameters have the checkpoint's names: load_state_dict(strict=True) is the
proof of names and shapes. Averaged weights are taken where the file has them, as Orrery does to
evaluate. Arithmetic is in double, so that differences are Orrery's rounding.
"""
import math
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from orrery._torch_model import POSITIONS  # noqa: E402
from orrery.gpt import load_torch  # noqa: E402


def load(path):
    """The module, in double, and its configuration."""
    model = load_torch(path, torch.double)
    return model, model.c


def compare(checkpoint, folder):
    """The largest difference from the outputs in the folder."""
    model, config = load(checkpoint)
    rows = torch.from_numpy(np.load(f"{folder}/inputs.npy").astype(
        np.float64 if config["input"] == 1 else np.int64))
    expected = torch.from_numpy(np.load(f"{folder}/outputs.npy")).double()
    with torch.no_grad():
        found = model(rows)
    if found.shape != expected.shape:
        raise ValueError(f"{folder}: outputs {tuple(expected.shape)}, {checkpoint} makes "
                         f"{tuple(found.shape)}")
    return (found - expected).abs().max().item(), expected.abs().max().item(), config


def main(arguments):
    if not arguments or (len(arguments) > 1 and len(arguments) % 2):
        sys.exit(__doc__)
    if len(arguments) == 1:
        model, config = load(arguments[0])
        for name, value in model.state_dict().items():
            print(f"{name:36} {list(value.shape)}")
        print(f"{sum(v.numel() for v in model.parameters())} parameters, {config['attention']}")
        return
    worst = 0
    for checkpoint, folder in zip(arguments[::2], arguments[1::2]):
        difference, largest, c = compare(checkpoint, folder)
        worst = max(worst, difference if difference == difference else math.inf)
        print(f"{checkpoint}: {c['attention']}, {['tokens', 'coordinates', 'text'][c['input']]}, "
              f"{POSITIONS[c['positions']]} positions, gate {c['gate']}: outputs up to "
              f"{largest:.3g}, largest difference {difference:.2g}")
    sys.exit(worst > 1e-5)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (ValueError, NotImplementedError) as error:  # one's own variant, a wrong file
        sys.exit(f"rebuild.py: error: {error}")
