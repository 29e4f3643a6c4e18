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

The module's parameters have the checkpoint's names: load_state_dict(strict=True) is the proof of
names and shapes. Averaged weights are taken where the file has them, as Orrery does to evaluate.
Written after docs/attention.md; arithmetic is in double, so that differences are Orrery's rounding.
"""
import math
import sys

import numpy as np
import torch
from safetensors import safe_open
from torch import nn
from torch.nn import functional as F

POSITIONS = ["learned", "rope", "none"]
GATES = [None, torch.sigmoid, F.softplus]

# score, bias, phi, norm, transform, re-weighted: the table of docs/attention.md, whose lines are
# those of kernels/table.c. A variant of your own gets its line here, too, and a new phi its line in PHI.
VARIANTS = {
    "softmax": ("dot", None, "exp", "l1", None, False),
    "lssa": ("cosine", None, "softplus", "l1", None, False),
    "lssar": ("cosine", None, "softplus", "l1", None, True),
    "rw_softmax": ("dot", None, "exp", "l1", None, True),
    "rw_sigmoid": ("dot", "row", "sigmoid", "l1", None, True),
    "sigmoid_logL": ("dot", "length", "sigmoid", None, None, False),
    "sigmoid_logN": ("dot", "row", "sigmoid", None, None, False),
    "sigmoid_logN_l1": ("dot", "row", "sigmoid", "l1", None, False),
    "relu_wortsman": ("dot", None, "relu", "length", None, False),
    "relu_li": ("dot", None, "relu", "l1", None, False),
    "relu_shen": ("dot", None, "relu", "root", None, False),
    "phi_relu": ("dot", None, "relu", "l1", None, False),
    "phi_relu2": ("dot", None, "relu2", "l1", None, False),
    "phi_relu6": ("dot", None, "relu6", "l1", None, False),
    "phi_gelu": ("dot", None, "gelu", "l1", None, False),
    "phi_sigmoid": ("dot", None, "sigmoid", "l1", None, False),
    "phi_softplus": ("dot", None, "softplus", "l1", None, False),
    "phi_mish": ("dot", None, "mish", "l1", None, False),
    "phi_exp": ("dot", None, "exp", "l1", None, False),
    "softmax_inverse": ("dot", None, "exp", "l1", "inverse", False),
    "softmax_recentred": ("dot", None, "exp", "l1", "recentred", False),
    "softmax_recentred_l1": ("dot", None, "exp", "l1", "recentred_l1", False),
    "decomp_I": ("dot", None, "identity", None, None, False),
    "decomp_II": ("dot", None, "exp", None, None, False),
    "decomp_III": ("dot", None, "identity", "l1", None, False),
    "decomp_IV": ("dot", None, "exp", "l1", None, False),
}
PHI = {
    "softplus": F.softplus,
    "identity": lambda s: s,
    "relu": F.relu,
    "relu2": lambda s: F.relu(s) ** 2,
    "relu6": F.relu6,
    "gelu": F.gelu,
    "sigmoid": torch.sigmoid,
    "mish": lambda s: s * torch.tanh(F.softplus(s)),
}
FREE_ROWS = 3  # rows with as few keys are neither shifted nor re-centred
SILENT = 1e-4


def l1(x):
    """x / sum |x|, 0 where the sum is 0."""
    total = x.abs().sum(-1, keepdim=True)
    return torch.where(total > 0, x / torch.where(total > 0, total, 1), 0)


def weights(q, k, variant, p, window):
    """A (B, H, T, T) from q, k (B, H, T, D)."""
    score, bias, phi, norm, post, sharpen = VARIANTS[variant]
    T, D = q.shape[-2:]
    row = torch.arange(1, T + 1)
    n = (row.clamp(max=window) if window else row).to(q.dtype)[:, None]  # keys of a row
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    if window:
        mask &= ~torch.ones(T, T, dtype=torch.bool).tril(-window)
    if score == "cosine":
        unit = [torch.where(v.norm(dim=-1, keepdim=True) < 1e-12, 0, F.normalize(v, dim=-1))
                for v in (q, k)]
        s = math.log(D) * torch.log(n) * (unit[0] @ unit[1].transpose(-1, -2))
    else:
        s = q @ k.transpose(-1, -2) / math.sqrt(D)
    if bias:
        s = s - (math.log(T) if bias == "length" else torch.log(n))
    if phi == "exp":
        s = s.masked_fill(~mask, -math.inf)
        largest = s.max(-1, keepdim=True).values
        x = torch.exp(s - largest) if norm == "l1" else torch.exp(s.clamp(max=80))
    else:
        x = PHI[phi](s).masked_fill(~mask, 0)
    A = {"l1": l1, "length": lambda x: x / T, "root": lambda x: x / torch.sqrt(n / 2),
         None: lambda x: x}[norm](x)
    shifted = n > FREE_ROWS
    if post == "inverse":
        A = -A
    elif post:
        silent = shifted & (n * A.max(-1, keepdim=True).values - 1 <= SILENT)
        centred = torch.where(shifted, A - 1 / n, A).masked_fill(~mask, 0)
        A = centred if post == "recentred" else torch.where(silent, 0, l1(centred))
    if sharpen:  # LSSAR Eq. (5); the largest entry is divided out, which the l1 takes back
        z = F.relu(n * A - shifted.to(A.dtype)).masked_fill(~mask, 0)
        largest = z.max(-1, keepdim=True).values
        silent = shifted & (largest <= SILENT)
        A = torch.where(silent, 0, l1((z / torch.where(largest > 0, largest, 1)) ** p))
    return A


def rotate(x, base):
    """Rotary positions: pairs (m, m + D/2) of x (B, H, T, D), angle t base^(-2m/D)."""
    T, D = x.shape[-2:]
    angle = torch.arange(T, dtype=x.dtype)[:, None] * base ** (
        -2 * torch.arange(D // 2, dtype=x.dtype) / D)
    a, b = x[..., : D // 2], x[..., D // 2:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.qkv = nn.Linear(c["width"], 3 * c["width"])
        if c["gate"]:
            self.gate = nn.Linear(c["width"], c["width"], bias=False)
        self.proj = nn.Linear(c["width"], c["width"])

    def forward(self, x):
        c, (B, T, C) = self.c, x.shape
        q, k, v = self.qkv(x).view(B, T, 3, c["heads"], C // c["heads"]).permute(2, 0, 3, 1, 4)
        if POSITIONS[c["positions"]] == "rope":
            q, k = rotate(q, c["rope_base"]), rotate(k, c["rope_base"])
        A = weights(q, k, c["attention"], c["attention_p"], c["attention_window"])
        y = (A @ v).transpose(1, 2).reshape(B, T, C)
        if c["gate"]:
            y = y * GATES[c["gate"]](self.gate(x))
        return self.proj(y)


class FeedForward(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up = nn.Linear(c["width"], c["ffn"])
        self.down = nn.Linear(c["ffn"], c["width"])

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1 = nn.LayerNorm(c["width"])
        self.attention = Attention(c)
        self.ln2 = nn.LayerNorm(c["width"])
        self.ffn = FeedForward(c)

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, C = c, c["width"]
        if c["input"] == 0:  # tokens
            self.embed = nn.ModuleDict({"x": nn.Embedding(c["vocab"], C),
                                        "y": nn.Embedding(c["vocab"], C),
                                        "combine": nn.Linear(2 * C, C)})
        else:
            self.embed = nn.Linear(3 + 4 * c["fourier"], C)
        if POSITIONS[c["positions"]] == "learned":
            self.position = nn.Embedding(c["context"], C)
        self.block = nn.ModuleList(Block(c) for _ in range(c["layers"]))
        self.final = nn.LayerNorm(C)
        self.head = nn.Linear(C, c["outputs"], bias=c["head"] == 1 or c.get("head_bias", 0) == 1)

    def features(self, xy):
        """x, y, is this the row of the time step?, and sin, cos of x and y of every band."""
        step = torch.zeros_like(xy[..., :1])
        step[:, 0] = 1
        parts = [xy, step]
        for band in range(self.c["fourier"]):
            angle = xy * (2 * math.pi / (self.c["fourier_min_au"] * 2**band))
            waves = torch.stack([angle[..., 0].sin(), angle[..., 0].cos(),
                                 angle[..., 1].sin(), angle[..., 1].cos()], -1)
            parts.append(waves * (1 - step))
        return torch.cat(parts, -1)

    def forward(self, rows):
        if self.c["input"] == 0:
            both = torch.cat([self.embed["x"](rows[..., 0]), self.embed["y"](rows[..., 1])], -1)
            x = self.embed["combine"](both)
        else:
            x = self.embed(self.features(rows))
        if POSITIONS[self.c["positions"]] == "learned":
            x = x + self.position.weight[: rows.shape[1]]
        for block in self.block:
            x = block(x)
        return self.head(self.final(x))


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def check_variant(path, name):
    """ValueError that says what to add for a variant of one's own."""
    here = __file__
    if name not in VARIANTS:
        raise ValueError(f'{path}: attention variant "{name}" is not in VARIANTS of {here}; add its '
                         f'line of kernels/table.c there: "{name}": (score, bias, phi, norm, '
                         f'transform, re-weighted)')
    phi = VARIANTS[name][2]
    if phi not in PHI and phi != "exp":
        raise ValueError(f'{path}: phi "{phi}" of attention variant "{name}" is not in PHI of {here}; '
                         f'add it there as a function of the scores: "{phi}": lambda s: ...')


def load(path):
    """The module and the metadata of a checkpoint."""
    with safe_open(path, "pt") as file:
        config = {"gate": 0} | {k: number(v) for k, v in file.metadata().items()}
        if config.get("orrery_format", config.get("format")) != "orrery-gpt-1":
            raise ValueError(f"{path}: not an Orrery model")
        check_variant(path, config["attention"])
        names = [n for n in file.keys() if not n.startswith(("adam.", "average."))]
        averaged = "average." if f"average.{names[0]}" in file.keys() else ""
        state = {n: file.get_tensor(averaged + n).double() for n in names}
    model = GPT(config).double()
    model.load_state_dict(state, strict=True)
    return model.eval(), config


def compare(checkpoint, folder):
    """The largest difference from the outputs in the folder."""
    model, config = load(checkpoint)
    rows = torch.from_numpy(np.load(f"{folder}/inputs.npy").astype(
        np.int64 if config["input"] == 0 else np.float64))
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
        print(f"{checkpoint}: {c['attention']}, {['tokens', 'coordinates'][c['input']]}, "
              f"{POSITIONS[c['positions']]} positions, gate {c['gate']}: outputs up to "
              f"{largest:.3g}, largest difference {difference:.2g}")
    sys.exit(worst > 1e-5)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (OSError, ValueError) as error:
        sys.exit(f"rebuild.py: error: {error}")
