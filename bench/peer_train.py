#!/usr/bin/env python3
"""The model of bench_train in PyTorch: the same layers, losses and optimiser.

Run by bench_train as a worker; arguments:
    peer_train.py tokens|continuous LAYERS WIDTH HEADS T B V fp32|tf32|bf16 eager|compile THREADS
                  [cpu|cuda]
Reads "train" or "eval" lines, answers with the milliseconds of one step; "memory" answers with
the peak resident KB, "cpu" with the processor time so far in milliseconds. A step: zero the
gradients, forward, loss, backward, clipping by the global norm, AdamW (fused). bf16 is
torch.autocast with float32 weights. On a GPU attention is flash attention where it can be (bf16)
and a step ends when the GPU is done."""
import contextlib
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

KIND, L, C, H, T, B, V = sys.argv[1], *map(int, sys.argv[2:8])
BF16, COMPILE = sys.argv[8] == "bf16", sys.argv[9] == "compile"
DEVICE = sys.argv[11] if len(sys.argv) > 11 else "cpu"
CUDA = DEVICE == "cuda"
torch.set_num_threads(int(sys.argv[10]))
torch.set_float32_matmul_precision("high" if sys.argv[8] == "tf32" else "highest")
torch.manual_seed(1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.proj = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.up, self.down = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(n, t, 3, H, C // H).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(n, t, C))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        if KIND == "tokens":
            self.x, self.y = nn.Embedding(V, C), nn.Embedding(V, C)
            self.combine = nn.Linear(2 * C, C)
            self.head = nn.Linear(C, 2 * V, bias=False)
        else:
            self.combine = nn.Linear(3, C)
            self.head = nn.Linear(C, 2)
        self.position = nn.Parameter(0.02 * torch.randn(T, C))
        self.blocks = nn.ModuleList(Block() for _ in range(L))
        self.final = nn.LayerNorm(C)

    def forward(self, inp, target):
        if KIND == "tokens":
            inp = torch.cat([self.x(inp[..., 0]), self.y(inp[..., 1])], -1)
        x = self.combine(inp) + self.position
        for block in self.blocks:
            x = block(x)
        out = self.head(self.final(x))
        if KIND == "continuous":
            return F.mse_loss(out, target)
        return F.cross_entropy(out.view(-1, V), target.reshape(-1))


if KIND == "tokens":
    inp, target = (torch.randint(0, V, (B, T, 2), device=DEVICE) for _ in range(2))
else:
    inp, target = torch.randn(B, T, 3, device=DEVICE), torch.randn(B, T, 2, device=DEVICE)
model = Model().to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1,
                              fused=True)
forward = torch.compile(model) if COMPILE else model


def attention():
    if not (CUDA and BF16):
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel
    return sdpa_kernel(SDPBackend.FLASH_ATTENTION)


def loss():
    with torch.autocast(DEVICE, torch.bfloat16, enabled=BF16), attention():
        return forward(inp, target)


def train():
    optimizer.zero_grad(set_to_none=True)
    loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@torch.no_grad()
def evaluate():
    loss()


for line in sys.stdin:
    if line.startswith("memory"):
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)
        continue
    if line.startswith("cpu"):
        print(1e3 * time.process_time(), flush=True)
        continue
    start = time.perf_counter()
    train() if line.startswith("train") else evaluate()
    if CUDA:
        torch.cuda.synchronize()
    print(1e3 * (time.perf_counter() - start), flush=True)
