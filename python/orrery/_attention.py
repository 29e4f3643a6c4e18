"""Attention of any variant on NumPy arrays by the C kernels; torch tensors are in _torch_ops.py."""

from __future__ import annotations

import ctypes
import functools
import re
import threading
from typing import Any

import numpy as np

from . import _library as lib
from ._arguments import array_of, encoded, power, threads, whole

_local = threading.local()


def _handle() -> lib.Handle:
    """A handle of this thread: one is used by one thread at a time."""
    if not hasattr(_local, "handle"):
        _local.handle = lib.Handle("attention")
    handle: lib.Handle = _local.handle
    return handle


def attention_variants() -> list[str]:
    """Names of the table of variants (docs/attention.md)."""
    names: list[str] = []
    call = lib.loaded().orrery_attention_variant
    while (name := call(len(names))) is not None:
        names.append(name.decode())
    return names


@functools.lru_cache(maxsize=None)
def _line(kind: str) -> dict[str, Any]:
    line = lib.AttentionLine()
    _handle().status("describe", encoded("kind", kind), ctypes.byref(line))
    words = {word: getattr(line, word).decode()
             for word in ("name", "score", "bias", "phi", "norm", "transform", "source")}
    return {**words, "reweight": bool(line.reweight), "unshifted_rows": line.unshifted_rows}


def attention_line(kind: str) -> dict[str, Any]:
    """A line of the table of variants: score, bias, phi, norm, transform, reweight ..."""
    return dict(_line(kind))


def make_shape(kind: str, p: float, window: int, dims: tuple[int, int, int, int], wide: bool,
               threads: int = 0, reference: bool = False) -> lib.AttentionShape:
    """dims: B, T, H, D. wide: arrays are of doubles."""
    if not isinstance(kind, str):
        raise TypeError(f"kind: expected the name of a variant, found {type(kind).__name__}; a "
                        "line of your own needs torch tensors")
    B, T, H, D = dims
    return lib.AttentionShape(variant=encoded("kind", kind), power=power(p),
                              window=whole("window", window),
                              type=lib.FLOAT64 if wide else lib.FLOAT32, reference=int(reference),
                              sequences=B, rows=T, heads=H, size=D, threads=threads)


def count_saved(shape: lib.AttentionShape) -> int:
    count = ctypes.c_size_t()
    _handle().status("saved", ctypes.byref(shape), ctypes.byref(count))
    return count.value


def run_forward(shape: lib.AttentionShape, qkv: int, out: int, saved: int | None) -> None:
    """Arguments are addresses; saved None: no backward pass follows."""
    try:
        _handle().status("forward", ctypes.byref(shape), qkv, out, saved)
    except lib.Error as error:
        number = re.match(r"qkv: number (\d+): ", str(error))
        if not number:
            raise
        name = "qkv"[int(number[1]) // (shape.heads * shape.size) % 3]
        text = f"{name}: expected finite numbers, found NaN or infinity"
        raise type(error)(error.status, text) from None


def run_backward(shape: lib.AttentionShape, qkv: int, out: int, saved: int, dout: int,
                 dqkv: int) -> None:
    _handle().status("backward", ctypes.byref(shape), qkv, out, saved, dout, dqkv)


# ------------------------------------------------------------------------------------ arrays


def _array(name: str, x: Any) -> np.ndarray:
    array = array_of(name, x)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, found {array.dtype}")
    if array.ndim < 2 or array.size == 0:
        raise ValueError(f"{name}: expected shape (..., T, D) with numbers, found {array.shape}")
    return array


def _arrays(**named: Any) -> tuple[list[np.ndarray], type]:
    """All of one shape; float64 unless all are float32 or shorter."""
    arrays = [_array(name, x) for name, x in named.items()]
    first = next(iter(named))
    for name, array in zip(named, arrays):
        if array.shape != arrays[0].shape:
            raise ValueError(f"{name}: expected the shape of {first}, {arrays[0].shape}, found "
                             f"{array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers, found NaN or infinity")
    short = all(a.dtype.kind == "f" and a.dtype.itemsize <= 4 for a in arrays)
    return arrays, np.float32 if short else np.float64


def _dims(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """B, T, H, D of (..., H, T, D)."""
    heads = shape[-3] if len(shape) > 2 else 1
    return int(np.prod(shape[:-3])), shape[-2], heads, shape[-1]


def _rows(array: np.ndarray, dims: tuple[int, int, int, int]) -> np.ndarray:
    """(..., H, T, D) as (B, T, H, D)."""
    B, T, H, D = dims
    return array.reshape(B, H, T, D).transpose(0, 2, 1, 3)


def _heads(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(B, T, H, D) as (..., H, T, D)."""
    return np.ascontiguousarray(array.transpose(0, 2, 1, 3)).reshape(shape)


def _packed(arrays: list[np.ndarray], dims: tuple[int, int, int, int], dtype: type) -> np.ndarray:
    B, T, H, D = dims
    qkv: np.ndarray = np.empty((B, T, 3, H, D), dtype)
    for i, array in enumerate(arrays):
        qkv[:, :, i] = _rows(array, dims)
    return qkv


def attention(q: Any, k: Any, v: Any, kind: Any = "lssar", p: float = 15, window: int = 0, *,
              n_jobs: int | None = None, reference: bool = False) -> Any:
    """Causal attention (..., T, D) of q, k, v, each (..., T, D), as docs/attention.md defines it.

    kind: a name of `attention_variants()`. p: the power of re-weighted variants. window: keys that
    a row attends at most, 0: all earlier ones. The third dimension from the end is heads. float32
    arrays are computed by the kernels that models train with, float64 by plain loops in double, as
    float32 with reference=True. Integers are taken as float64.

    Of torch tensors the result is a tensor with gradients: on the CPU by the operator
    `torch.ops.orrery.attention`, elsewhere by the formulas in PyTorch. For tensors `kind` may be a
    line of your own: attention_line("lssar") | {"phi": "relu"}, by the formulas.
    """
    if hasattr(q, "detach"):
        from ._torch_ops import attention as of_tensors

        if n_jobs is not None or reference:
            raise ValueError("n_jobs, reference: expected arrays of NumPy, found a torch tensor; "
                             "torch.set_num_threads() says how many threads it has")
        return of_tensors(q, k, v, kind, p, window)
    arrays, dtype = _arrays(q=q, k=k, v=v)
    dims = _dims(arrays[0].shape)
    shape = make_shape(kind, p, window, dims, dtype is np.float64, threads(n_jobs), reference)
    qkv = _packed(arrays, dims, dtype)
    out: np.ndarray = np.empty(dims, dtype)
    run_forward(shape, qkv.ctypes.data, out.ctypes.data, None)
    return _heads(out, arrays[0].shape)


def attention_backward(dout: Any, q: Any, k: Any, v: Any, kind: str = "lssar", p: float = 15,
                       window: int = 0, *, n_jobs: int | None = None,
                       reference: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of sum(dout * attention(q, k, v, ...)) by q, k and v, as arrays."""
    arrays, dtype = _arrays(q=q, k=k, v=v, dout=dout)
    dims = _dims(arrays[0].shape)
    shape = make_shape(kind, p, window, dims, dtype is np.float64, threads(n_jobs), reference)
    qkv = _packed(arrays[:3], dims, dtype)
    given: np.ndarray = np.ascontiguousarray(_rows(arrays[3], dims), dtype)
    out, dqkv = np.empty_like(given), np.empty_like(qkv)
    saved: np.ndarray = np.empty(count_saved(shape), dtype)
    run_forward(shape, qkv.ctypes.data, out.ctypes.data, saved.ctypes.data)
    run_backward(shape, qkv.ctypes.data, out.ctypes.data, saved.ctypes.data, given.ctypes.data,
                 dqkv.ctypes.data)
    dq, dk, dv = (_heads(dqkv[:, :, i], arrays[0].shape) for i in range(3))
    return dq, dk, dv


def attention_weights(q: Any, k: Any, kind: str = "lssar", p: float = 15,
                      window: int = 0) -> np.ndarray:
    """What each row attends, float64 (..., T, T) from q, k (..., T, D); 0 where it does not."""
    arrays, dtype = _arrays(q=q, k=k)
    dims = _dims(arrays[0].shape)
    shape = make_shape(kind, p, window, dims, dtype is np.float64)
    qkv = _packed([*arrays, np.zeros_like(arrays[0])], dims, dtype)
    B, T, H, _ = dims
    out = np.empty((B, H, T, T))
    _handle().status("weights", ctypes.byref(shape), qkv.ctypes.data,
                     out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
    return out.reshape(*arrays[0].shape[:-1], T)
