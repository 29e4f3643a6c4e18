"""The formulas of LSSAR (Eqs. (4), (5)), written with PyTorch's operations, for peer_*.py."""
import math

import torch
import torch.nn.functional as F


def weights(q, k, power):
    """Weights (..., L, L) of causal attention of q and k (..., L, D)."""
    n = torch.arange(1, q.shape[-2] + 1, device=q.device, dtype=torch.float32)[:, None]
    s = math.log(q.shape[-1]) * n.log() * (F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT)
    x = F.softplus(s).tril()
    a = x / x.sum(-1, keepdim=True)
    z = F.relu(n * a - (n > 3).float())  # 0 where a is
    z = z / z.amax(-1, keepdim=True).clamp_min(1e-20)
    w = z ** power
    return w / w.sum(-1, keepdim=True)
