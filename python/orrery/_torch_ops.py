"""Attention of torch tensors: an operator on the C kernels for CPUs, the formulas elsewhere.

`torch.ops.orrery.attention` has a fake kernel and a backward pass, so that torch.compile takes it
without a graph break, also where sizes or the window are symbolic. Tensors are (B, H, T, D) of
float32 or float64. Operators have no rules for torch.func and for forward-mode derivatives, where
`attention` below takes the formulas; second derivatives are those of the formulas.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch import library as operators
from torch.autograd import forward_ad

from . import _attention, _torch_model
from ._arguments import power, whole


def _dims(q: Tensor) -> tuple[int, int, int, int]:
    B, H, T, D = q.shape
    return B, T, H, D


# Multiplications of q and k that are worth a thread of their own.
_A_THREAD = 1 << 21


def _shape(q: Tensor, kind: str, p: float, window: int) -> Any:
    B, T, H, D = _dims(q)
    threads = min(torch.get_num_threads(), max(1, B * H * T * T * D // _A_THREAD))
    return _attention.make_shape(kind, p, window, (B, T, H, D), q.dtype == torch.float64, threads)


def _packed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A tensor whose memory from data_ptr() on is (B, T, 3, H, D): q itself where the three are
    parts of one such tensor, as a linear layer makes it."""
    B, T, H, D = _dims(q)
    strides = (3 * T * H * D, D, 3 * H * D, 1)
    step = H * D * q.element_size()
    if (all(x.stride() == strides for x in (q, k, v))
            and k.data_ptr() - q.data_ptr() == v.data_ptr() - k.data_ptr() == step):
        return q
    qkv = q.new_empty(B, T, 3, H, D)
    for i, x in enumerate((q, k, v)):
        qkv[:, :, i] = x.transpose(1, 2)
    return qkv


def _empty_out(q: Tensor) -> Tensor:
    """(B, H, T, D) over memory (B, T, H, D)."""
    B, H, T, D = q.shape
    return q.new_empty(B, T, H, D).transpose(1, 2)


def _forward_mode() -> bool:
    """Whether tensors may have tangents, which torch drops silently where an operator is called."""
    return forward_ad._current_level >= 0


@operators.custom_op("orrery::attention", mutates_args=(), device_types="cpu")
def forward(q: Tensor, k: Tensor, v: Tensor, kind: str, p: float, window: int,
            save: bool) -> tuple[Tensor, Tensor]:
    """out, and what the backward pass needs beside (save) or nothing."""
    if _forward_mode():
        raise RuntimeError("torch.ops.orrery.attention: expected no forward-mode derivatives; "
                           "orrery.attention computes them by the formulas")
    shape = _shape(q, kind, p, window)
    qkv, out = _packed(q, k, v), _empty_out(q)
    saved = q.new_zeros(_attention.count_saved(shape) if save else 0)  # not all are written
    _attention.run_forward(shape, qkv.data_ptr(), out.data_ptr(),
                           saved.data_ptr() if save else None)
    return out, saved


@forward.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, kind: str, p: float, window: int,
      save: bool) -> tuple[Tensor, Tensor]:
    # p and window may be symbolic: no size depends on them, and the real kernel checks them.
    B, H, T, _ = q.shape
    one_row = _attention.make_shape(kind, 1, 0, (1, 1, 1, 1), q.dtype == torch.float64)
    a_row = _attention.count_saved(one_row) if save else 0
    return _empty_out(q), q.new_empty(B * H * T * a_row)


@operators.custom_op("orrery::attention_backward", mutates_args=(), device_types="cpu")
def backward(dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, saved: Tensor, kind: str,
             p: float, window: int) -> Tensor:
    """The gradient by (q, k, v), (B, T, 3, H, D)."""
    shape = _shape(q, kind, p, window)
    qkv = _packed(q, k, v)
    rows, given = out.transpose(1, 2).contiguous(), dout.transpose(1, 2).contiguous()
    B, T, H, D = _dims(q)
    dqkv = q.new_empty(B, T, 3, H, D)
    _attention.run_backward(shape, qkv.data_ptr(), rows.data_ptr(), saved.contiguous().data_ptr(),
                            given.data_ptr(), dqkv.data_ptr())
    return dqkv


@backward.register_fake
def _(dout: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, saved: Tensor, kind: str,
      p: float, window: int) -> Tensor:
    B, T, H, D = _dims(q)
    return q.new_empty(B, T, 3, H, D)


def _setup_backward(ctx: Any, inputs: Any, output: Any) -> None:
    dout, q, k, v, _, _, ctx.kind, ctx.p, ctx.window = inputs
    ctx.save_for_backward(dout, q, k, v)


def _second_gradient(ctx: Any, given: Tensor) -> tuple[Tensor | None, ...]:
    """By the formulas. `out` and `saved` follow from q, k and v, whose gradient has their share."""
    with torch.enable_grad():
        dout, q, k, v = (x.detach().requires_grad_() for x in ctx.saved_tensors)
        out = _torch_model.attend(q, k, v, _line(ctx.kind), ctx.p, ctx.window)
        first = torch.autograd.grad(out, (q, k, v), dout, create_graph=True)
    parts = [given[:, :, i].transpose(1, 2) for i in range(3)]
    second = torch.autograd.grad(first, (dout, q, k, v), parts, allow_unused=True)
    return *second, None, None, None, None, None


backward.register_autograd(_second_gradient, setup_context=_setup_backward)


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    q, k, v, ctx.kind, ctx.p, ctx.window, ctx.save = inputs
    ctx.save_for_backward(q, k, v, *output)
    ctx.mark_non_differentiable(output[1])


def _gradient(ctx: Any, dout: Tensor, _: Any) -> tuple[Tensor | None, ...]:
    if not ctx.save:
        raise RuntimeError("torch.ops.orrery.attention: expected save=True where gradients follow")
    dqkv = torch.ops.orrery.attention_backward(dout, *ctx.saved_tensors, ctx.kind, ctx.p,
                                               ctx.window)
    dq, dk, dv = (dqkv[:, :, i].transpose(1, 2) for i in range(3))
    return dq, dk, dv, None, None, None, None


forward.register_autograd(_gradient, setup_context=_setup)


def _line(kind: str) -> dict[str, Any]:
    return _attention.attention_line(kind)


# What torch.compiler.assume_constant_result does, which would import torch._dynamo: seconds.
_line._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _check(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}: expected a torch tensor as q is, found {type(x).__name__}")
        if x.shape != q.shape or x.dtype != q.dtype or x.device != q.device:
            raise ValueError(f"{name}: expected q's shape, type and device, {tuple(q.shape)}, "
                             f"{q.dtype}, {q.device}, found {tuple(x.shape)}, {x.dtype}, "
                             f"{x.device}")
    if q.layout != torch.strided:
        raise TypeError(f"q: expected dense tensors, found {q.layout}")
    if not q.is_floating_point():
        raise TypeError(f"q: expected floating-point numbers, found {q.dtype}")
    if q.dim() < 2 or q.numel() == 0:
        raise ValueError(f"q: expected shape (..., T, D) with numbers, found {tuple(q.shape)}")


def _check_variant(kind: Any, p: Any, window: Any) -> None:
    """As of arrays; what torch.compile traces has been checked when it ran first."""
    if not isinstance(kind, (str, dict)):
        raise TypeError("kind: expected the name of a variant, or a line as of attention_line(), "
                        f"found {type(kind).__name__}")
    whole("window", window)
    power(p)


def attention(q: Tensor, k: Tensor, v: Tensor, kind: Any, p: float = 15,
              window: int = 0) -> Tensor:
    """As orrery.attention, of tensors."""
    _check(q, k, v)
    if not torch.compiler.is_compiling():
        _check_variant(kind, p, window)
    if (isinstance(kind, dict) or q.device.type != "cpu" or _forward_mode()
            or torch._C._are_functorch_transforms_active()):
        line = kind if isinstance(kind, dict) else _line(kind)
        return _torch_model.attend(q, k, v, line, p, window)
    if q.dtype not in (torch.float32, torch.float64):
        return attention(q.float(), k.float(), v.float(), kind, p, window).to(q.dtype)
    T, D = q.shape[-2:]
    H = q.shape[-3] if q.dim() > 2 else 1
    save = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad)
    if q.dim() == 4:
        return torch.ops.orrery.attention(q, k, v, kind, float(p), int(window), save)[0]
    parts = (x.reshape(-1, H, T, D) for x in (q, k, v))
    out = torch.ops.orrery.attention(*parts, kind, float(p), int(window), save)[0]
    return out.reshape(q.shape)
