"""The formulas of LSSAR (Eqs. (4), (5)), written with PyTorch's operations, for peer_*.py."""
import math

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


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


def causal_blocks(length, device):
    """Which tiles causal FlexAttention looks at."""
    return create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device=device)


def log_softplus(score, n, width):
    """Logarithm of LSSA's phi, of the cosine of q and k."""
    return F.softplus(score * math.log(width) * n.log()).log()


def log_exp(score, n, width):
    return score / math.sqrt(width)


def flex(q, k, v, power, blocks, log_phi=log_softplus):
    """LSSAR, or with log_exp rw_softmax, in two passes of FlexAttention, outputs (B, H, L, D): the
    first gives the sum of phi of every row, the second attends by p log z. Rows whose z are all 0
    are NaN. On CPUs FlexAttention returns no sums (return_lse): there the first pass attends to 1
    in column 0 and 0 in all others, which gives column 0's share of the sum."""
    width = q.shape[-1]
    n = torch.arange(1, q.shape[-2] + 1, device=q.device, dtype=torch.float32)
    late = (n > 3).float()
    if log_phi is log_softplus:
        q, k = (F.normalize(x.float(), dim=-1).to(v.dtype) for x in (q, k))

    def first(score, b, h, i, j):
        return log_phi(score, n[i], width)

    def second(score, b, h, i, j):
        z = n[i] * (log_phi(score, n[i], width) - log_sum[b, h, i]).exp() - late[i]
        return torch.where(z > 0, power * z.clamp_min(1e-20).log(), -math.inf)

    # its backward pass asks for a gradient of what is attended to: nothing, of few numbers
    nothing = torch.zeros_like(v[..., :16])
    if v.device.type == "cpu":
        nothing[..., 0, :] = 1
        torch._dynamo.graph_break()  # (in one graph with what precedes, it finds no kernel)
        share = flex_attention(q, k, nothing, score_mod=first, block_mask=blocks, scale=1.0)[..., 0]
        log_sum = log_phi((q @ k[..., :1, :].mT)[..., 0], n, width) - share.log()
        torch._dynamo.graph_break()
        return flex_attention(q, k, v, score_mod=second, block_mask=blocks, scale=1.0)
    zeros, log_sum = flex_attention(q, k, nothing, score_mod=first, block_mask=blocks, scale=1.0,
                                    return_lse=True)
    out = flex_attention(q, k, v, score_mod=second, block_mask=blocks, scale=1.0)
    return out + zeros.sum(-1, keepdim=True)
