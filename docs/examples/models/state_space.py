"""A minimal selective state-space model: Mamba-2 (Dao and Gu 2024, arXiv:2405.21060, Eq. 16).

Each head keeps a state S_t = a_t S_(t-1) + d_t x_t B_t and gives y_t = S_t C_t, where the decay
a_t = exp(-A d_t), the step d_t, B_t and C_t depend on the row: they select what is remembered.
Short sequences are computed by the equal sum over earlier rows,
y_i = sum_(j <= i) exp(c_i - c_j) (C_i . B_j) d_j x_j with c the running sum of -A d.
"""

import torch
from torch import nn
from torch.nn import functional as F

from training import features

LAYERS = ["embed", "blocks.0", "blocks.1", "norm"]


class Block(nn.Module):
    def __init__(self, width, heads=4, state=16):
        super().__init__()
        self.heads, self.state = heads, state
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 4 * width + 2 * state + heads)  # x and gate, B, C, d
        self.near = nn.Conv1d(2 * width, 2 * width, 4, groups=2 * width)
        self.leave = nn.Linear(2 * width, width)
        self.decay = nn.Parameter(torch.empty(heads))  # ln A
        self.skip = nn.Parameter(torch.empty(heads))
        self.reset_parameters()

    def reset_parameters(self):
        for part in (self.norm, self.enter, self.near, self.leave):
            part.reset_parameters()
        nn.init.uniform_(self.decay, -3, 0)
        nn.init.ones_(self.skip)

    def forward(self, u):  # (B, T, width)
        inner = 2 * u.shape[-1]
        x, gate, b, c, d = self.enter(self.norm(u)).split(
            [inner, inner, self.state, self.state, self.heads], -1)
        x = F.silu(self.near(F.pad(x.transpose(1, 2), (3, 0))).transpose(1, 2))
        x = x.unflatten(-1, (self.heads, -1))  # (B, T, heads, inner / heads)
        d = F.softplus(d)  # (B, T, heads)
        total = torch.cumsum(-self.decay.exp() * d, 1).transpose(1, 2)  # (B, heads, T)
        later = torch.ones(u.shape[1], u.shape[1], dtype=torch.bool).triu(1)
        share = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf).exp()
        mixed = share * (c @ b.transpose(1, 2)).unsqueeze(1)
        y = (mixed @ (x * d.unsqueeze(-1)).transpose(1, 2)).transpose(1, 2)
        y = (y + self.skip.unsqueeze(-1) * x).flatten(2)
        return u + self.leave(y * F.silu(gate))


class Model(nn.Module):
    def __init__(self, width=96, layers=2):
        super().__init__()
        self.embed = nn.Linear(3, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 2)

    def forward(self, rows):  # (B, T, 2) -> (B, T, 2)
        x = self.embed(features(rows))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
