#!/usr/bin/env python3
"""torch_attention.py - orrery.attention beside PyTorch on a CPU: eager and compiled formulas,
scaled_dot_product_attention, and the forward pass of FlexAttention, whose backward pass PyTorch has
for GPUs alone.

    PYTHONPATH=python python3 bench/torch_attention.py [--lengths 256,1000,2048] [--heads 8]
        [--rounds 21] [--threads N] [--cpu-time] [--out bench/results/torch_attention.json]

--cpu-time: processor time of all threads, for machines that others use, too; with --threads 1.
Every round runs all of a shape once, in an order of its own, with a pause after each in which
waiting threads fall asleep; a ratio is the median over rounds of two times of one round. Needs
torch, and a C++ compiler for torch.compile. fp32, one sequence, d = 64, p = 15. The file has date,
CPU, threads, commit, version of PyTorch and rows of name, median in ms, spread (interquartile range
over median), peer and ratio (peer over ours), and what PyTorch refused.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench")]

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import orrery  # noqa: E402
from orrery import _torch_model  # noqa: E402

D, P, PAUSE_S = 64, 15, 0.01
now = time.perf_counter
OURS = "orrery"


def contenders(kind, length):
    """Name -> function of q, k, v; those whose name ends in "forward" have no backward pass."""
    from torch.nn.attention.flex_attention import flex_attention

    import peer_lssar

    line = orrery.attention_line(kind)

    def formula(q, k, v):
        return _torch_model.attend(q, k, v, line, P)

    def kernels(q, k, v):
        return orrery.attention(q, k, v, kind, P)

    blocks = peer_lssar.causal_blocks(length, "cpu")
    scale = math.log(D) * torch.arange(1, length + 1).log()

    def softplus(score, b, h, i, j):
        return F.softplus(score * scale[i]).log()

    def flex(q, k, v):
        if kind == "softmax":
            return flex_attention(q, k, v, block_mask=blocks)
        if kind == "lssa":
            q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
            return flex_attention(q, k, v, score_mod=softplus, block_mask=blocks, scale=1.0)
        phi = peer_lssar.log_exp if kind == "rw_softmax" else peer_lssar.log_softplus
        return peer_lssar.flex(q, k, v, P, blocks, phi)  # in two passes
    found = {OURS: kernels, "eager": formula,
             "compiled": torch.compile(formula, fullgraph=True, dynamic=False),
             "compiled orrery": torch.compile(kernels, fullgraph=True, dynamic=False),
             "flex forward": torch.compile(flex, dynamic=False)}
    if kind == "softmax":
        found["sdpa"] = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found


def step(call, tensors, gradient):
    """Seconds of the forward pass, and of both."""
    start = now()
    if gradient is None:
        with torch.no_grad():
            call(*(x.detach() for x in tensors))
        return now() - start, None
    out = call(*tensors)
    middle = now()
    torch.autograd.grad(out, tensors, gradient)
    return middle - start, now() - start


def usable(calls, tensors, gradient, refused):
    """Those that run here; refused: why others do not."""
    found, expected = {}, calls[OURS](*tensors).detach()
    for name, call in calls.items():
        try:
            step(call, tensors, None if name.endswith("forward") else gradient)
            with torch.no_grad():
                difference = (call(*(x.detach() for x in tensors)) - expected).abs().nanmean()
            if difference > 1e-4:
                raise RuntimeError(f"mean difference from ours {difference:.2g}")
            found[name] = call
        except Exception as error:  # noqa: BLE001: whatever a compiler raises
            refused[name] = str(error).splitlines()[0]
            print(f"    {name}: {refused[name]}", flush=True)
    return found


def measure(kind, length, heads, rounds, refused):
    torch._dynamo.reset()  # (it recompiles a function a few times only)
    torch.manual_seed(1)
    tensors = [torch.randn(1, heads, length, D, requires_grad=True) for _ in range(3)]
    gradient = torch.randn(1, heads, length, D)
    calls = usable(contenders(kind, length), tensors, gradient, refused)
    names, times, order = list(calls), {}, random.Random(length)
    for _ in range(rounds):
        order.shuffle(names)
        for name in names:
            time.sleep(PAUSE_S)
            forward, both = step(calls[name], tensors,
                                 None if name.endswith("forward") else gradient)
            label = name.removesuffix(" forward")
            times.setdefault(("forward", label), []).append(forward)
            if both is not None:
                times.setdefault(("both", label), []).append(both)
    return times


def row(kind, length, what, name, times):
    values, ours = times[what, name], times[what, OURS]
    low, middle, high = statistics.quantiles(values, n=4)
    ratio = statistics.median(theirs / mine for theirs, mine in zip(values, ours))
    what = "forward and backward" if what == "both" else what
    return {"name": f"{kind} {what} L{length} d{D}", "value": 1e3 * middle, "unit": "ms",
            "spread": (high - low) / middle, "peer": name, "ratio": ratio}


def cpu():
    for entry in open("/proc/cpuinfo", encoding="utf-8"):
        if entry.startswith("model name"):
            return entry.split(":", 1)[1].strip()
    return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", default="softmax,lssa,lssar,rw_softmax")
    parser.add_argument("--lengths", default="256,1000,2048")
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", default=ROOT / "bench/results/torch_attention.json")
    parser.add_argument("--cpu-time", action="store_true")
    o = parser.parse_args()
    if o.cpu_time:
        global now
        now = time.process_time
    torch.set_num_threads(o.threads)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True, check=False).stdout.strip()
    rows, refused = [], {}
    result = {"date": datetime.date.today().isoformat(), "cpu": cpu(), "threads": o.threads,
              "time": "processor" if o.cpu_time else "wall",
              "commit": commit, "version": orrery.__version__, "torch": torch.__version__,
              "shape": f"B 1, H {o.heads}, d {D}, p {P}, fp32", "rounds": o.rounds,
               "refused": refused,
              "rows": rows}
    for kind in o.kinds.split(","):
        for length in map(int, o.lengths.split(",")):
            print(f"{kind}, {length} rows, {o.heads} heads", flush=True)
            times = measure(kind, length, o.heads, o.rounds, refused.setdefault(kind, {}))
            for what, name in sorted(times, key=lambda key: (key[0], key[1] != OURS)):
                rows.append(row(kind, length, what, name, times))
                r = rows[-1]
                print(f"    {what:8} {name:16} {r['value']:9.2f} ms  spread {r['spread']:4.0%}  "
                      f"{r['ratio']:6.2f} of ours", flush=True)
            pathlib.Path(o.out).write_text(json.dumps(result, indent="\t") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
