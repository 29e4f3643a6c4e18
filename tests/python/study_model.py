"""study_model.py - a randomly initialised model of the layout of the study's public code.

    python3 study_model.py make FILE.pt [OUTPUT_DIM]       token head; with OUTPUT_DIM: numbers out
    python3 study_model.py outputs FILE.pt DIR             compares with DIR/inputs.npy, outputs.npy

Written from the names and shapes of its state alone; with STUDY=<folder of its code> the study's
own module is loaded with the same state instead, which has to give the same.
"""
import os
import sys
import types

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ARGS = {"model_type": "gpt", "n_embd": 24, "n_layer": 3, "n_head": 4, "dropout": 0.0, "bias": True,
        "input_dim": 2, "output_dim": 2, "input_vocab_size": 203, "output_vocab_size": 203,
        "block_size": 59, "mask_id": 200}


class Layer(nn.Module):
    def __init__(self, a):
        super().__init__()
        C = a["n_embd"]
        self.heads = a["n_head"]
        self.ln_1, self.ln_2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(C, 3 * C), "c_proj": nn.Linear(C, C)})
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(C, 4 * C), "c_proj": nn.Linear(4 * C, C)})

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in self.attn["c_attn"](self.ln_1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn["c_proj"](y.transpose(1, 2).flatten(2))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))


class Study(nn.Module):
    def __init__(self, a):
        super().__init__()
        C = a["n_embd"]
        self.embeddings = nn.ModuleList(nn.Embedding(a["input_vocab_size"], C) for _ in range(2))
        self.input_combiner = nn.Linear(2 * C, C)
        self.pos_emb = nn.Embedding(a["block_size"], C)
        self.blocks = nn.ModuleList(Layer(a) for _ in range(a["n_layer"]))
        self.ln_f = nn.LayerNorm(C)
        self.output_head = nn.Linear(C, a["output_dim"] * (a["output_vocab_size"] or 1))

    def forward(self, rows):
        x = torch.cat([self.embeddings[i](rows[..., i]) for i in range(2)], -1)
        x = self.input_combiner(x) + self.pos_emb.weight[: rows.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.output_head(self.ln_f(x))


def build(args):
    if "STUDY" not in os.environ:
        return Study(args)
    package = types.ModuleType("study")  # its own package asks for more than these two files need
    package.__path__ = [os.path.join(os.environ["STUDY"], "inductivebiasprobes", "src")]
    sys.modules["study"] = package
    from study.model import Model, ModelConfig
    return Model(ModelConfig(**args))


def make(path, output_dim):
    args = dict(ARGS)
    if output_dim:
        args |= {"output_dim": output_dim, "output_vocab_size": None, "mask_id": float("inf")}
    torch.manual_seed(5)
    model = Study(args)
    for parameter in model.parameters():  # biases and norms too: every one has to be in its place
        nn.init.normal_(parameter, mean=0.0, std=0.3)
    state = {"_orig_mod." + name: value for name, value in model.state_dict().items()}
    torch.save({"model": state, "model_args": args, "config": args, "iter_num": 250,
                "epoch": 0, "best_val_loss": 1.0, "optimizer": {}}, path)


def outputs(path, folder):
    checkpoint = torch.load(path, weights_only=False)
    model = build(checkpoint["model_args"])
    model.load_state_dict({k.removeprefix("_orig_mod."): v
                           for k, v in checkpoint["model"].items()})
    rows = torch.from_numpy(np.load(f"{folder}/inputs.npy").astype(np.int64))
    expected = torch.from_numpy(np.load(f"{folder}/outputs.npy"))
    with torch.no_grad():
        found = model.eval()(rows)
    difference = (found - expected).abs().max().item()
    print(f"{path}: {type(model).__name__}, outputs {list(found.shape)} up to "
          f"{expected.abs().max():.3g}, largest difference {difference:.2g}")
    sys.exit(not (found.shape == expected.shape and difference <= 1e-5))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    else:
        outputs(sys.argv[2], sys.argv[3])
