"""Orrery's transformer and its attention variants as plain PyTorch.

This file needs torch alone, so that folders of `save_pretrained` have it as it is. A variant is a
dict with the keys of a line of the table in kernels/variants.c: score, bias, phi, norm, transform,
reweight, unshifted_rows; `orrery.attention_line(name)` reads it from the library. The formulas are
those of docs/attention.md. A module's parameters have the names of checkpoints, which
docs/checkpoints.md lists.

Attention, rotary angles and Fourier features are computed in float32 (of float64 tensors: float64),
and results have the type of the tensors. In bfloat16 there is no position 257, and n A - 1 of
re-weighted rows has no correct digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

Line = dict[str, Any]

POSITIONS = ["learned", "rope", "none"]
GATES = [None, torch.sigmoid, F.softplus]
COORDINATES, CHARACTERS, SPACE = 1, 2, 3  # `input`; 0: bins of x and y
DEGENERATE = 1e-4  # a shifted row is degenerate when max(n A) - 1 is at most this

# What a line calls phi; exp is in weights(). Others may be added: PHI["sin"] = torch.sin.
PHI: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "softplus": F.softplus,
    "identity": lambda s: s,
    "relu": F.relu,
    "relu2": lambda s: F.relu(s) ** 2,
    "relu6": F.relu6,
    "gelu": F.gelu,
    "sigmoid": torch.sigmoid,
    "mish": lambda s: s * torch.tanh(F.softplus(s)),
}


def _wide(x: torch.Tensor) -> torch.Tensor:
    """x in float32, or in float64 if x is."""
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def _as_typed(x: torch.Tensor) -> AbstractContextManager[Any]:
    """In it products of float32 tensors are computed in float32, under autocast, too."""
    device = x.device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return nullcontext()
    return torch.autocast(device, enabled=False)


def _choice(line: Line, part: str, known: list[str]) -> str:
    """A part of a variant, which must have a formula here."""
    value: str = line.get(part, "none")
    if value not in known:
        raise NotImplementedError(
            f"attention variant {line.get('name', '')!r}: {part} {value!r} has no PyTorch formula; "
            f"known are {', '.join(known)}" + ("; orrery._torch_model.PHI takes more"
                                               if part == "phi" else ""))
    return value


def _l1(x: torch.Tensor) -> torch.Tensor:
    """x / sum |x|, 0 where the sum is 0."""
    total = x.abs().sum(-1, keepdim=True)
    return torch.where(total > 0, x / torch.where(total > 0, total, 1), 0)


def _unit(x: torch.Tensor) -> torch.Tensor:
    length = x.norm(dim=-1, keepdim=True)
    return torch.where(length < 1e-12, 0, F.normalize(x, dim=-1))


def _scores(q: torch.Tensor, k: torch.Tensor, n: torch.Tensor, line: Line) -> torch.Tensor:
    T, D = q.shape[-2:]
    if _choice(line, "score", ["dot", "cosine"]) == "cosine":
        s = math.log(D) * torch.log(n) * (_unit(q) @ _unit(k).transpose(-1, -2))
    else:
        s = q @ k.transpose(-1, -2) / math.sqrt(D)
    bias = _choice(line, "bias", ["none", "length", "row"])
    if bias == "length":
        return s - math.log(T)
    return s - torch.log(n) if bias == "row" else s


def _normalised(s: torch.Tensor, mask: torch.Tensor, n: torch.Tensor, line: Line) -> torch.Tensor:
    """norm(phi(s)), masked entries 0."""
    norm = _choice(line, "norm", ["none", "l1", "length", "root"])
    phi = _choice(line, "phi", ["exp", *PHI])
    if phi in ("exp", "sigmoid") and norm == "l1":  # divided by the largest, so that none vanishes
        s = (s if phi == "exp" else F.logsigmoid(s)).masked_fill(~mask, -math.inf)
        x = torch.exp(s - s.amax(-1, keepdim=True).detach())
    elif phi == "exp":
        x = torch.exp(s.masked_fill(~mask, -math.inf).clamp(max=80))
    else:
        x = PHI[phi](s).masked_fill(~mask, 0)
    if norm == "l1":
        return _l1(x)
    if norm == "length":
        return x / s.shape[-1]
    return x / torch.sqrt(n / 2) if norm == "root" else x


def _transformed(A: torch.Tensor, mask: torch.Tensor, n: torch.Tensor, line: Line) -> torch.Tensor:
    transform = _choice(line, "transform", ["none", "inverse", "recentred", "recentred_l1"])
    if transform == "none":
        return A
    if transform == "inverse":
        return -A
    shifted = n > line.get("unshifted_rows", 0)
    degenerate = shifted & (n * A.amax(-1, keepdim=True) - 1 <= DEGENERATE)
    centred = torch.where(shifted, A - 1 / n, A).masked_fill(~mask, 0)
    return centred if transform == "recentred" else torch.where(degenerate, 0, _l1(centred))


def _reweighted(A: torch.Tensor, mask: torch.Tensor, n: torch.Tensor, line: Line,
                p: float) -> torch.Tensor:
    """LSSAR Eq. (5); the largest entry is divided out, which the l1 takes back."""
    shifted = n > line.get("unshifted_rows", 0)
    z = F.relu(n * A - shifted.to(A.dtype)).masked_fill(~mask, 0)
    largest = z.amax(-1, keepdim=True).detach()
    degenerate = shifted & (largest <= DEGENERATE)
    return torch.where(degenerate, 0, _l1((z / torch.where(largest > 0, largest, 1)) ** p))


def weights(q: torch.Tensor, k: torch.Tensor, line: Line, p: float = 15,
            window: int = 0) -> torch.Tensor:
    """A (..., T, T) of causal attention from q, k (..., T, D), float32, or float64 as they are."""
    T = q.shape[-2]
    q, k = _wide(q), _wide(k)
    row = torch.arange(1, T + 1, device=q.device)
    n = (row.clamp(max=window) if window else row).to(q.dtype)[:, None]  # keys of a row
    mask = row[:, None] >= row
    if window:
        mask = mask & (row[:, None] - row < window)
    with _as_typed(q):
        A = _normalised(_scores(q, k, n, line), mask, n, line)
        A = _transformed(A, mask, n, line)
        return _reweighted(A, mask, n, line, p) if line.get("reweight") else A


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, line: Line, p: float = 15,
           window: int = 0) -> torch.Tensor:
    """Causal attention (..., T, D) by the formulas, in the type of v."""
    with _as_typed(v):
        return (weights(q, k, line, p, window) @ _wide(v)).to(v.dtype)


def rotate(x: torch.Tensor, base: float) -> torch.Tensor:
    """Rotary positions: pairs (m, m + D/2) of x (B, H, T, D), angle t base^(-2m/D); float32, or
    float64 as x is, since scores that are rounded twice depend on t and not on distances alone."""
    T, D = x.shape[-2:]
    x = _wide(x)
    # Some devices have no float64; float32 angles of T = 1000 are 1e-4 off, 1e-3 of T = 16384.
    exact = torch.float64 if x.device.type in ("cpu", "cuda", "meta") else torch.float32
    powers = torch.arange(D // 2, dtype=exact, device=x.device) * (-2 / D)
    angle = torch.arange(T, dtype=exact, device=x.device)[:, None] * base ** powers
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., : D // 2], x[..., D // 2:]
    return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)


class Attention(nn.Module):
    # Another function of q, k, v (B, H, T, D), kind, p and window: orrery.attention.
    operator: Callable[..., torch.Tensor] | None = None

    def __init__(self, c: dict[str, Any]):
        super().__init__()
        self.c = c
        self.qkv = nn.Linear(c["width"], 3 * c["width"])
        if c["gate"]:
            self.gate = nn.Linear(c["width"], c["width"], bias=False)
        self.proj = nn.Linear(c["width"], c["width"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        c, (B, T, C) = self.c, x.shape
        qkv = self.qkv(x).view(B, T, 3, c["heads"], C // c["heads"])
        q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
        if POSITIONS[c["positions"]] == "rope":
            q, k = rotate(q, c["rope_base"]), rotate(k, c["rope_base"])
        if self.operator is not None:
            q, k = q.to(v.dtype), k.to(v.dtype)
            y = self.operator(q, k, v, c["attention"], c["attention_p"], c["attention_window"])
        else:
            y = attend(q, k, v, c["line"], c["attention_p"], c["attention_window"])
        y = y.transpose(1, 2).reshape(B, T, C)
        gate = GATES[c["gate"]]
        return self.proj(y * gate(self.gate(x)) if gate else y)


class FeedForward(nn.Module):
    def __init__(self, c: dict[str, Any]):
        super().__init__()
        self.up = nn.Linear(c["width"], c["ffn"])
        self.down = nn.Linear(c["ffn"], c["width"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    # Whether the backward pass computes the block again, and how; transformers sets both.
    gradient_checkpointing = False
    _gradient_checkpointing_func: Callable[..., torch.Tensor]

    def __init__(self, c: dict[str, Any]):
        super().__init__()
        self.ln1 = nn.LayerNorm(c["width"])
        self.attention = Attention(c)
        self.ln2 = nn.LayerNorm(c["width"])
        self.ffn = FeedForward(c)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.gradient_checkpointing and self.training:
            checkpointed: torch.Tensor = self._gradient_checkpointing_func(self._rows, x)
            return checkpointed
        return self._rows(x)

    def _rows(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.ln1(x))
        x = x + self.ffn(self.ln2(x))
        return x


def parts(c: dict[str, Any]) -> dict[str, nn.Module]:
    """The model's modules by their names in checkpoints."""
    C = c["width"]
    made: dict[str, nn.Module] = {}
    if c["input"] == CHARACTERS:
        made["embed"] = nn.Embedding(c["vocab"], C)
    elif c["input"] in (COORDINATES, SPACE):
        axes = 3 if c["input"] == SPACE else 2
        made["embed"] = nn.Linear(axes + 1 + 2 * axes * c["fourier"], C)
    else:
        made["embed"] = nn.ModuleDict({"x": nn.Embedding(c["vocab"], C),
                                       "y": nn.Embedding(c["vocab"], C),
                                       "combine": nn.Linear(2 * C, C)})
    if POSITIONS[c["positions"]] == "learned":
        made["position"] = nn.Embedding(c["context"], C)
    made["block"] = nn.ModuleList(Block(c) for _ in range(c["layers"]))
    made["final"] = nn.LayerNorm(C)
    if not c.get("tied"):
        bias = c["head"] == 1 or c.get("head_bias", 0) == 1
        made["head"] = nn.Linear(C, c["outputs"], bias=bias)
    return made


def features(c: dict[str, Any], xy: torch.Tensor) -> torch.Tensor:
    """x, y[, z], is this the row of the time step?, and sin, cos of each of every band: float32, or
    float64 as xy, since a phase of 2 pi 30 AU / 0.25 AU has an error of 2 rad in bfloat16."""
    xy = _wide(xy)
    step = torch.zeros_like(xy[..., :1])
    step[:, 0] = 1
    columns = [xy, step]
    for band in range(c["fourier"]):
        angle = xy * (2 * math.pi / (c["fourier_min_au"] * 2**band))
        waves = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)
        columns.append(waves * (1 - step))
    return torch.cat(columns, -1)


def compute(m: Any, c: dict[str, Any], rows: torch.Tensor) -> torch.Tensor:
    """Outputs (B, T, outputs) of a module with the parts of c."""
    if c["input"] == CHARACTERS:
        x = m.embed(rows)
    elif c["input"] in (COORDINATES, SPACE):
        x = m.embed(features(c, rows).to(m.embed.weight.dtype))
    else:
        x = m.embed["combine"](
            torch.cat([m.embed["x"](rows[..., 0]), m.embed["y"](rows[..., 1])], -1))
    if POSITIONS[c["positions"]] == "learned":
        if rows.shape[1] > c["context"]:
            raise ValueError(f"rows: expected 1 to {c['context']} rows, the learned "
                             f"positions, found {rows.shape[1]}")
        x = x + m.position.weight[: rows.shape[1]]
    for block in m.block:
        x = block(x)
    x = m.final(x)
    return F.linear(x, m.embed.weight) if c.get("tied") else m.head(x)


class GPT(nn.Module):
    """rows: bins, int (B, T, 2), coordinates, float (B, T, 2) or in space (B, T, 3), or characters,
    int (B, T).

    c: the configuration, as metadata of checkpoints have it, as numbers, and `line`, the variant.
    """

    def __init__(self, c: dict[str, Any], metadata: dict[str, str] | None = None):
        super().__init__()
        self.c, self.metadata = c, dict(metadata or {})
        for name, part in parts(c).items():
            self.add_module(name, part)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return compute(self, self.c, rows)
