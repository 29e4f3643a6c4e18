#!/usr/bin/env python3
"""recipe_changes.py - changes of model, order and schedule that Orrery does not have, tried in
PyTorch.

usage: PYTHONPATH=python python3 bench/recipe_changes.py [--preset quick|laptop|text]
           [--changes NAME,...] [--seeds N,...] [--attentions softmax,lssar] [--steps N]
           [--corpus corpora/python.txt]

The module, data, loss, noise, clipping and average of bench/peer_recipe.py, of text windows of the
corpus that begin at random and cross entropy, trained by Muon as Orrery does it: polynomials of
kernels/kernels.h, q, k and v apart. A change counts from 5% of the error on, of the same seed and
number of sequences. Every line of the output is a training: preset, attention, change, seed, steps,
error of held-out sequences (next position in AU, text in nats per byte), processor seconds.

    none         as the preset
    qk_norm      root mean square of each query and key 1 (Henry et al. 2020)
    zero_init    projections into the stream begin at zero (modded-nanogpt)
    relu2        squared ReLU in place of GELU (So et al. 2021)
    early_layers learning rate of blocks from 1.5 times (first) to 0.5 times (last)
    late_layers  the reverse
    growing      batches of 8 for half of the sequences, then of 32
    no_repeat    each sequence at most once, in random order
    easy_first   sequences with small greatest accelerations earlier, with noise in the order
    stable_decay constant rate, a linear decay over the last 40% of steps

no_repeat and easy_first are of orbits alone. Needs torch, numpy, bin/orbits (BIN: the folder of the
programs), for text make corpus. One thread, fp32, eager.
"""

import argparse
import json
import math
import pathlib
import re
import sys
import tempfile
import time

import numpy as np
import torch
from torch.nn import functional as F

import peer_recipe
from orrery import _torch_model, attention_line
from orrery.gpt import torch_gpt

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHANGES = ("none", "qk_norm", "zero_init", "relu2", "early_layers", "late_layers", "growing",
           "no_repeat", "easy_first", "stable_decay")
BATCH, MOMENTUM, CLIP = 16, 0.95, 1.0


def polynomials(steps):
    """(a, b, c) of each step, as kernels/kernels.h has them."""
    text = (ROOT / "kernels" / "kernels.h").read_text()
    text = text[text.index("k_muon_polynomial(int step)"):]
    rows = re.findall(r"\{([-\d.]+), ([-\d.]+), ([-\d.]+)\}", text)
    return [tuple(map(float, row)) for row in rows[:steps]]


def orthogonal(x, rows):
    """Newton-Schulz of a batch of matrices."""
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp_min(1e-30)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    for a, b, c in rows:
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon:
    """named: matrices of blocks; scale(layer): a factor of the learning rate."""

    def __init__(self, named, settings, scale):
        self.rows, self.shapes = polynomials(4), {}
        self.rate, self.decay = settings.get("muon_lr", 0.01), settings["weight_decay"]
        for name, p in named:
            parts = 3 if "qkv" in name else 1
            rows = p.shape[0] // parts
            for part in range(parts):
                self.shapes.setdefault((rows, p.shape[1]), []).append(
                    (p, part * rows, scale(int(name.split(".")[1]))))
        self.momentum = {s: torch.zeros(len(m), *s) for s, m in self.shapes.items()}

    @torch.no_grad()
    def step(self, factor):
        rate = self.rate * factor
        for (rows, cols), members in self.shapes.items():
            m = self.momentum[rows, cols]
            gradient = torch.stack([p.grad[at:at + rows] for p, at, _ in members])
            m.lerp_(gradient, 1 - MOMENTUM)
            update = orthogonal(torch.lerp(gradient, m, MOMENTUM), self.rows)
            for (p, at, scale), u in zip(members, update):
                p[at:at + rows].mul_(1 - rate * self.decay).sub_(
                    u, alpha=rate * scale * math.sqrt(max(1, rows / cols)))


def new_model(preset, attention, seed):
    """The preset's module with initial weights distributed as by model/params.c."""
    if "text" not in preset:
        model = peer_recipe.new_model(preset, seed)
    else:
        m = preset["model"]
        model = torch_gpt(input="characters", vocab=256, layers=m["layers"], heads=m["heads"],
                          width=m["width"], ffn=m["ffn_mult"] * m["width"],
                          positions=m["positions"], context=preset["text"]["positions"] - 1)
        peer_recipe.initialise(model, seed, 0.02, lambda p: 0.02)
        _torch_model.rotate = peer_recipe.rotation(model.c["context"], m["width"] // m["heads"],
                                                   model.c["rope_base"])
    line = attention_line(attention)
    power = preset["model"].get("attention_p", 15)
    for block in model.block:
        block.attention.operator = peer_recipe.attend if attention == "softmax" else (
            lambda q, k, v, *rest: _torch_model.attend(q, k, v, line, power))
    return model


def normed(operator):
    def attend(q, k, *rest):
        q, k = (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) for x in (q, k))
        return operator(q, k, *rest)
    return attend


def changed_model(preset, attention, seed, change):
    model = new_model(preset, attention, seed)
    for block in model.block:
        if change == "qk_norm":
            block.attention.operator = normed(block.attention.operator)
        if change == "relu2":
            ffn = block.ffn
            ffn.forward = lambda x, ffn=ffn: ffn.down(F.relu(ffn.up(x)).square())
    for name, p in model.named_parameters():
        if change == "zero_init" and name.endswith(("proj.weight", "down.weight")):
            torch.nn.init.zeros_(p)
    return model


class Orbits:
    """Sequences of a preset and its loss: pseudo-Huber of next positions."""

    def __init__(self, preset, folder, name, seed):
        orbits = peer_recipe.make_orbits(folder, seed, name)
        self.settings = preset["pretrain"]
        self.coords, self.test = (torch.from_numpy(np.load(orbits / f"coords_{part}.npy"))
                                  for part in ("train", "test"))

    def order(self, change, seed, count):
        """The sequence of each draw."""
        rng = np.random.default_rng(seed)
        if change == "no_repeat":
            return rng.permutation(len(self.coords))[:count]
        order = peer_recipe.sequences(seed, count, len(self.coords))
        if change != "easy_first":
            return order
        paths = self.coords[torch.from_numpy(order)][:, 1:]
        paths = paths.reshape(count, -1, peer_recipe.BODIES, 2)
        second = (paths[:, 2:] - 2 * paths[:, 1:-1] + paths[:, :-2]).norm(dim=-1).amax(dim=(1, 2))
        rank = second.argsort().argsort().numpy() / count
        return order[(rank + rng.uniform(0, 1, count)).argsort()]

    def loss(self, model, index):
        batch, delta = self.coords[index], self.settings["huber"]
        rows = batch[:, :-1].clone()
        rows[:, 1:].add_(torch.randn(rows[:, 1:].shape), alpha=self.settings["noise_au"])
        square = (model(rows) - batch[:, 1:])[:, peer_recipe.BODIES:].square().sum(-1)
        return delta**2 * ((1 + square / delta**2).sqrt() - 1).mean()

    def error(self, model):
        rows = slice(peer_recipe.BODIES, None, peer_recipe.BODIES)
        return (model(self.test[:, :-1]) - self.test[:, 1:])[:, rows].double().norm(dim=-1).mean()


class Text:
    """Windows of a file of bytes and their cross entropy; the last tenth is held out."""

    def __init__(self, preset, path):
        text = torch.from_numpy(np.fromfile(path, np.uint8).astype(np.int64))
        self.length, held = preset["text"]["positions"], int(len(text)
                                                            * preset["text"]["val_fraction"])
        self.text, test = text[:-held], text[-held:]
        count = min(preset["pretrain"]["eval_sequences"], held // self.length)
        self.test = test[:count * self.length].view(count, self.length)

    def order(self, change, seed, count):
        if change in ("no_repeat", "easy_first"):
            sys.exit(f"recipe_changes.py: --changes: {change} is of orbits alone")
        return np.random.default_rng(seed).integers(len(self.text) - self.length, size=count)

    def loss(self, model, index):
        return self.entropy(model, self.text[index[:, None] + torch.arange(self.length)])

    def error(self, model):
        return sum(self.entropy(model, rows) * len(rows) for rows in self.test.split(64)) / len(
            self.test)

    @staticmethod
    def entropy(model, rows):
        return F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())


def factor_of(change, settings, step, steps):
    if change != "stable_decay" or step < settings["warmup"]:
        return peer_recipe.learning_rate(settings, step, steps)
    return min(1, max(settings["lr_final"], 1 - (step / steps - 0.6) / 0.4))


def train(change, preset, data, attention, seed, steps):
    """(steps, error, processor seconds)"""
    settings, layers = preset["pretrain"], preset["model"]["layers"]
    model = changed_model(preset, attention, seed, change)
    slope = {"early_layers": -1, "late_layers": 1}.get(change, 0)
    named = list(model.named_parameters())
    parameters = [p for _, p in named]
    matrices = [(n, p) for n, p in named if p.ndim == 2]
    muon = Muon([(n, p) for n, p in matrices if n.startswith("block.")], settings,
                lambda layer: 1 + slope * (layer / (layers - 1) - 0.5))
    adamw = torch.optim.AdamW(
        [{"params": [p for n, p in matrices if not n.startswith("block.")],
          "weight_decay": settings["weight_decay"]},
         {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0}],
        lr=settings["lr"], betas=(0.9, settings.get("beta2", 0.95)), fused=True)
    average = [p.detach().clone() for p in parameters]
    torch.manual_seed(seed + 1)
    half = steps * BATCH // 2
    sizes = [8] * (half // 8) + [32] * (half // 32) if change == "growing" else [BATCH] * steps
    order = torch.from_numpy(data.order(change, seed, steps * BATCH))
    start, at = time.process_time(), 0
    for step, size in enumerate(sizes):
        for p in parameters:
            p.grad = None
        data.loss(model, order[at:at + size]).backward()
        at += size
        with torch.no_grad():
            torch.nn.utils.clip_grad_norm_(parameters, CLIP)
            factor = factor_of(change, settings, step, len(sizes))
            muon.step(factor)
            for group in adamw.param_groups:
                group["lr"] = settings["lr"] * factor
            adamw.step()
            keep = min(settings.get("ema", 0), (1 + step) / (10 + step)) if step else 0
            torch._foreach_lerp_(average, parameters, 1 - keep)
    seconds = time.process_time() - start
    with torch.no_grad():
        for p, a in zip(parameters, average):
            p.copy_(a)
        return len(sizes), data.error(model).item(), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=("quick", "laptop", "text"), default="quick")
    parser.add_argument("--changes", default=",".join(CHANGES))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--attentions", default="softmax")
    parser.add_argument("--steps", type=int, default=1080)
    parser.add_argument("--corpus", default=ROOT / "corpora" / "python.txt")
    options = parser.parse_args()
    for change in options.changes.split(","):
        if change not in CHANGES:
            sys.exit(f"recipe_changes.py: --changes: expected one of {', '.join(CHANGES)}, "
                     f"found {change}")
    torch.set_num_threads(1)
    preset = json.loads((ROOT / "presets" / f"{options.preset}.json").read_text())
    print("preset,attention,change,seed,steps,error,processor_s", flush=True)
    for seed in map(int, options.seeds.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            data = (Text(preset, options.corpus) if "text" in preset else
                    Orbits(preset, folder, options.preset, seed))
        for attention in options.attentions.split(","):
            for change in options.changes.split(","):
                steps, error, seconds = train(change, preset, data, attention, seed, options.steps)
                print(f"{options.preset},{attention},{change},{seed},{steps},{error:.5f},"
                      f"{seconds:.1f}", flush=True)


if __name__ == "__main__":
    main()
