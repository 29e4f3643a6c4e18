"""A Hamiltonian model: a learned central potential of the pair, integrated by leapfrog.

A GRU reads the steps so far and gives a context (what the masses may be) and a correction of the
velocities. In that context the force f(r) that pulls the bodies together is a perceptron of ln r,
which is a derivative of some potential; the GRU divides it over the bodies. So energy, momentum
and angular momentum hold between two observations, and f can be compared with the true force.
Assumed are a central attraction and that nothing else acts; f(r) itself is learned.
"""

import torch
from torch import nn

LAYERS = ["read"]


class Model(nn.Module):
    def __init__(self, width=128, context=8, parts=4):
        super().__init__()
        self.parts = parts  # leapfrog steps from one observation to the next
        self.encoder = nn.GRU(9, width, batch_first=True)
        self.state = nn.Linear(width, context + 6)  # context, velocities, share, gain
        self.force = nn.Sequential(nn.Linear(1 + context, 64), nn.Tanh(), nn.Linear(64, 64),
                                   nn.Tanh(), nn.Linear(64, 1))
        self.read = nn.Identity()  # what probes read: the GRU's state and ln f

    def log_force(self, r, context):  # (..., 1), (..., context) -> ln f, (..., 1)
        return 3 + 6 * torch.tanh(self.force(torch.cat([r.log(), context], -1)) / 6)

    def pull(self, q, context, share):
        """Accelerations (B, K, 2 bodies, 2) of bodies at q."""
        apart = q[:, :, 0] - q[:, :, 1]
        r = apart.norm(dim=-1, keepdim=True).clamp(min=0.02)
        f = self.log_force(r, context).exp() * apart / r
        return torch.stack([-share * f, (1 - share) * f], 2)

    def forward(self, rows):  # (B, T, 2) -> (B, T, 2)
        B, T, _ = rows.shape
        out, inner = torch.zeros_like(rows), torch.zeros(B, T, self.encoder.hidden_size + 1)
        K = (T - 1) // 2  # steps of which both bodies are known
        if T > 1:
            out[:, 1] = -rows[:, 1]  # the second body of the first step: as far as the first
        if K:
            q = rows[:, 1 : 1 + 2 * K].reshape(B, K, 2, 2)
            x, hidden, ln_f, gain = self.steps(q, rows[:, :1, :1].expand(-1, K, 1))
            first, second = x.unbind(2)
            known = rows[:, 3::2]  # body 1 of the next step, where it is there already
            right = known - first[:, : known.shape[1]]
            second = torch.cat([second[:, : known.shape[1]] - gain[:, : known.shape[1]] * right,
                                second[:, known.shape[1] :]], 1)
            out = torch.cat([out[:, :2], torch.stack([first, second], 2).flatten(1, 2)], 1)[:, :T]
            found = torch.cat([hidden, ln_f], -1).repeat_interleave(2, 1)
            inner = torch.cat([inner[:, :2], found], 1)[:, :T]
        self.read(inner)
        return out

    def steps(self, q, ln_dt):
        """Of K steps: positions a step later (B, K, 2 bodies, 2), the GRU's state, ln f, gain."""
        dt = ln_dt.exp().unsqueeze(2)  # (B, K, 1, 1)
        before = torch.cat([q[:, :1], q[:, :-1]], 1)
        hidden, _ = self.encoder(torch.cat(
            [q.flatten(2), ((q - before) / dt / 10).flatten(2), ln_dt], -1))
        context, speed, share, gain = self.state(hidden).split(
            [self.state.out_features - 6, 4, 1, 1], -1)
        share = torch.sigmoid(share)
        ln_f = self.log_force((q[:, :, 0] - q[:, :, 1]).norm(dim=-1, keepdim=True).clamp(min=0.02),
                              context)
        a = self.pull(q, context, share)
        v = (q - before) / dt + a * dt / 2 + speed.unflatten(-1, (2, 2))
        h, x = dt / self.parts, q
        for _ in range(self.parts):
            v = v + a * h / 2
            x = x + v * h
            a = self.pull(x, context, share)
            v = v + a * h / 2
        return x, hidden, ln_f, gain
