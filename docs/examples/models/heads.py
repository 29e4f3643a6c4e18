"""Forces read from a frozen model: a small perceptron on its last layer, learned from labels.

The same head, on all models and on their twins with random weights, shows what the training on
positions left in the last layer; it costs seconds, where fine-tuning all weights costs minutes.
"""

import copy
import math

import numpy as np
import torch
from torch import nn

from orrery.judging import OrreryModel, TorchModel

STEPS, BATCH, RATE, EVERY = 1500, 256, 3e-3, 50


class _Frozen:
    """tune() of an adapter: predictors of forces with a head on activations of the last layer."""

    head_steps = STEPS

    def last_layer(self, rows):
        return torch.from_numpy(np.ascontiguousarray(self.activations(rows)[-1], np.float32))

    def tune(self, rows, labels, mask, seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return _head(self, rows, labels, mask)


def _head(model, rows, labels, mask):
    """Learned by squared errors of ln F on four fifths of the sequences; the last fifth says when
    to stop."""
    x = torch.cat([model.last_layer(rows[i : i + 256]) for i in range(0, len(rows), 256)])
    mask = torch.from_numpy(mask)
    y = torch.from_numpy(labels).clamp(min=1e-30).log()
    learned = torch.arange(len(rows)) < max(1, len(rows) * 4 // 5)
    x, y, first = x[mask], y[mask], learned[:, None].expand_as(mask)[mask]
    if first.all() or not first.any():  # few sequences: all are for both
        first = torch.ones_like(first)
    middle, scale = x.mean(0), x.std(0).clamp(min=1e-6)
    mean, spread = y.mean(), y.std().clamp(min=1e-6)
    x, y = (x - middle) / scale, (y - mean) / spread
    inner = (x[first], y[first])
    outer = (x[~first], y[~first]) if not first.all() else inner
    head = nn.Sequential(nn.Linear(x.shape[1], 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                         nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=0.1)
    best, kept = math.inf, head
    for step in range(model.head_steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 + math.cos(math.pi * step / model.head_steps)) / 2
        which = torch.randint(0, len(inner[0]), (BATCH,))
        loss = ((head(inner[0][which]).squeeze(-1) - inner[1][which]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % EVERY == 0 or step + 1 == model.head_steps:
            with torch.no_grad():
                error = float(((head(outer[0]).squeeze(-1) - outer[1]) ** 2).mean())
            if error < best:
                best, kept = error, copy.deepcopy(head)

    def predict(rows):
        with torch.no_grad():
            found = kept((model.last_layer(rows) - middle) / scale).squeeze(-1) * spread + mean
        return found.clamp(-80, 80).double().exp().numpy()

    return predict


class FrozenModel(_Frozen, TorchModel):
    """A torch module whose forces are read from its last layer."""

    def untrained(self, seed):
        twin = super().untrained(seed)
        return FrozenModel(twin.module, twin.layers)


class FrozenOrrery(_Frozen, OrreryModel):
    """Orrery's GPT, likewise."""

    def untrained(self, seed):
        return FrozenOrrery(super().untrained(seed).model)
