#!/usr/bin/env python3
"""Times PyTorch's causal attention for bench_attention; needs `pip install torch`.

    python3 bench/peer_attention.py LENGTH HEADS RUNS THREADS wall|cpu

Prints lines of name and milliseconds: medians over the runs (wall time, or
CPU time of all threads) of forward and backward of
`sdpa`, scaled_dot_product_attention in fp32, and of `eager`, the formulas of LSSAR (Eqs. (4), (5))
written with PyTorch's operations and its automatic differentiation, where L x L matrices fit.
"""
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F

    import peer_lssar
except ImportError:
    sys.exit("peer_attention: PyTorch is not installed: pip install torch")

LENGTH, HEADS, RUNS, THREADS = (int(a) for a in sys.argv[1:5])
now = time.process_time if sys.argv[5:] == ["cpu"] else time.perf_counter
D, POWER, LARGEST_EAGER = 64, 15, 4096
torch.set_num_threads(THREADS)
torch.manual_seed(1)
q, k, v = (torch.randn(1, HEADS, LENGTH, D).requires_grad_() for _ in range(3))
g = torch.randn(1, HEADS, LENGTH, D)


def sdpa():
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def eager():
    return peer_lssar.weights(q, k, POWER) @ v


def measure(name, attention, runs):
    forward, backward = [], []
    for run in range(-1, runs):
        start = now()
        out = attention()
        middle = now()
        torch.autograd.grad(out, (q, k, v), g)
        end = now()
        if run >= 0:
            forward.append(middle - start)
            backward.append(end - middle)
        del out
    for what, times in (("forward", forward), ("backward", backward)):
        print(f"{name}_{what} {1e3 * statistics.median(times):.6f}", flush=True)


measure("sdpa", sdpa, RUNS)
if LENGTH <= LARGEST_EAGER:
    measure("eager", eager, min(RUNS, 3))
