"""The training that all models of this folder share, on the data of a run.

The loss, noise, schedule, averaging and batches are those of the run's preset; the optimiser is
AdamW. What is trained on is every sequence once, in the order of the files.
"""

import json
import math
import pathlib
import time

import numpy as np
import torch


def features(rows):
    """x and y of each row, and a flag for row 0, which has ln dt: (B, T, 3)."""
    flag = torch.zeros_like(rows[..., :1])
    flag[:, 0] = 1
    return torch.cat([rows, flag], -1)


def settings(run):
    """Of pretraining, with which the run was made."""
    return json.loads((pathlib.Path(run) / "preset.json").read_text())["pretrain"]


def sequences(run, split):
    """Rows and the row that follows each: two arrays (n, T, 2)."""
    rows = np.load(pathlib.Path(run) / "orbits" / f"coords_{split}.npy", mmap_mode="r")
    return rows[:, :-1], rows[:, 1:]


def loss_of(error, delta):
    """Pseudo-Huber of the error of each coordinate, or with delta = 0 its square, in its mean."""
    if delta == 0:
        return (error**2).mean()
    return (delta**2 * (torch.sqrt(1 + (error / delta) ** 2) - 1)).mean()


def validation(model, run, delta):
    """The loss on the sequences of the split val."""
    rows, follow = (torch.from_numpy(np.array(x)) for x in sequences(run, "val"))
    model.eval()
    with torch.no_grad():
        return float(loss_of(model(rows) - follow, delta))


def train(model, run, *, lr, seed, seconds=None, steps=None):
    """Trains until the processor has spent `seconds`, or for `steps`.

    Returns steps, processor seconds and the validation loss. The schedule follows the share of
    the budget that is spent.
    """
    p = settings(run)
    rows, follow = sequences(run, "train")
    noise = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=p["weight_decay"],
                                  betas=(p["beta1"], p["beta2"]))
    weights = list(model.parameters())
    mean = [w.detach().clone() for w in weights]
    model.train()
    begin, done = time.process_time(), 0
    while True:
        spent = time.process_time() - begin
        share = done / steps if steps else spent / seconds
        if share >= 1:
            break
        cosine = p["lr_final"] + (1 - p["lr_final"]) * (1 + math.cos(math.pi * share)) / 2
        for group in optimizer.param_groups:
            group["lr"] = lr * cosine * min(1, (done + 1) / p["warmup"])
        first = done * p["batch"] % (len(rows) - p["batch"] + 1)
        x = torch.from_numpy(np.array(rows[first : first + p["batch"]]))
        y = torch.from_numpy(np.array(follow[first : first + p["batch"]]))
        x[:, 1:] += p["noise_au"] * torch.randn(x[:, 1:].shape, generator=noise)
        loss = loss_of(model(x) - y, p["huber"])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, p["clip"])
        optimizer.step()
        done += 1
        with torch.no_grad():  # the mean of the weights is what is kept; short at the beginning
            torch._foreach_lerp_(mean, weights, 1 - min(p["ema"], done / (done + 10)))
    with torch.no_grad():
        for w, kept in zip(weights, mean):
            w.copy_(kept)
    return {"steps": done, "processor_seconds": round(spent, 2),
            "validation_loss": validation(model, run, p["huber"])}
