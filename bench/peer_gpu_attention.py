#!/usr/bin/env python3
"""PyTorch's causal attention for bench_gpu_attention; needs `pip install torch`.

    python3 bench/peer_gpu_attention.py B H LENGTH D RUNS cuda|cpu

Prints lines of variant, name, and milliseconds of forward and backward, medians over the runs, in
bf16: softmax by each backend of scaled_dot_product_attention that takes the shape, and lssar, the
formulas of the paper (Eqs. (4), (5)) written with PyTorch's operations and its automatic
differentiation, eager, by torch.compile, and as two passes of FlexAttention (compiled: its tiles
never leave the chip). What does not fit in memory has no line, or nan; stderr says why.
"""
import math
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    import peer_lssar
except ImportError:
    sys.exit("peer_gpu_attention: PyTorch is not installed: pip install torch")

B, H, LENGTH, D, RUNS = map(int, sys.argv[1:6])
DEVICE = sys.argv[6]
POWER, WARM_UP, SAMPLE_S = 15, 2, 0.02
torch.manual_seed(1)
q, k, v, g = (torch.randn(B, H, LENGTH, D, device=DEVICE, dtype=torch.bfloat16) for _ in range(4))
for x in (q, k, v):
    x.requires_grad_()


def softmax():
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def lssar(q, k, v):
    return peer_lssar.weights(q, k, POWER).to(torch.bfloat16) @ v


def idle():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def sample(work, calls):
    """Milliseconds of one of so many calls, from an idle GPU to an idle GPU."""
    idle()
    start = time.perf_counter()
    for _ in range(calls):
        work()
    idle()
    return 1e3 * (time.perf_counter() - start) / calls


def timed(work):
    for _ in range(WARM_UP):
        once = sample(work, 1)
    calls = max(1, min(200, int(1e3 * SAMPLE_S / max(once, 1e-3)))) if DEVICE == "cuda" else 1
    return statistics.median(sample(work, calls) for _ in range(RUNS))


def measure(variant, name, attention):
    forward = backward = math.nan
    try:
        forward = timed(attention)
        out = attention()
        backward = timed(lambda: torch.autograd.grad(out, (q, k, v), g, retain_graph=True))
    except (RuntimeError, torch._dynamo.exc.TorchDynamoException) as error:  # also out of memory
        print(f"peer: {variant} {name}: {str(error).splitlines()[0]}", file=sys.stderr)
    if math.isfinite(forward):
        print(f"{variant} {name} {forward:.6f} {backward:.6f}", flush=True)
    if DEVICE == "cuda":
        torch.cuda.empty_cache()


for backend in ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION"):
    if hasattr(SDPBackend, backend):
        with sdpa_kernel(getattr(SDPBackend, backend)):
            measure("softmax", backend.split("_")[0].lower(), softmax)
measure("lssar", "eager", lambda: lssar(q, k, v))
compiled = torch.compile(lssar, dynamic=False)
measure("lssar", "compiled", lambda: compiled(q, k, v))
if DEVICE == "cuda":  # elsewhere it has no backward pass
    blocks = peer_lssar.causal_blocks(LENGTH, DEVICE)
    flex = torch.compile(lambda q, k, v: peer_lssar.flex(q, k, v, POWER, blocks), dynamic=False)
    measure("lssar", "flex", lambda: flex(q, k, v))
