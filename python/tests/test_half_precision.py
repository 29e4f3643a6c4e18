"""Modules and formulas in bfloat16, float16 and under autocast against float64, by blocks of rows.

The rounding of a result to a type with unit `eps` has an rms of at most eps / sqrt(12), relative to
the rms of the result: |error| is uniform up to half a unit, and the unit is at most eps |result|.
What is computed before the rounding, in float32, has errors that are small beside it, and none that
grow with the row.
"""

import copy
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import orrery

torch = pytest.importorskip("torch")
from orrery import _torch_model as model  # noqa: E402, I001
from orrery.gpt import GPT, torch_gpt  # noqa: E402

KINDS = orrery.attention_variants()
HALVES = [torch.bfloat16, torch.float16]
ROWS = 1000
BLOCKS = [(0, 64), (64, 256), (256, 512), (512, ROWS)]
A_ROUNDING = 1 / math.sqrt(12)


def assert_blocks(found, exact, bound, dim):
    """The rms error of each block of rows is at most `bound` rms of the exact result there."""
    assert torch.isfinite(found).all()
    for first, end in BLOCKS:
        a, b = (x.double().narrow(dim, first, end - first) for x in (found, exact))
        error = ((a - b).square().mean() / b.square().mean()).sqrt()
        assert error <= bound, f"rows {first} to {end}: error {error:.2g}, bound {bound:.2g}"


def heads(dtype, seed=0):
    torch.manual_seed(seed)
    return [torch.randn(1, 2, ROWS, 16).to(dtype) for _ in range(3)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", HALVES)
def test_formulas_round_once(kind, dtype):
    line = orrery.attention_line(kind)
    q, k, v = heads(dtype)
    for window in (0, 200):
        exact = model.attend(q.double(), k.double(), v.double(), line, 15, window)
        found = model.attend(q, k, v, line, 15, window)
        assert found.dtype == dtype
        assert_blocks(found, exact, A_ROUNDING * torch.finfo(dtype).eps, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_autocast_leaves_attention_alone(kind):
    q, k, v = heads(torch.float32)
    line = orrery.attention_line(kind)
    for of in (kind, line):
        expected = orrery.attention(q, k, v, of)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(orrery.attention(q, k, v, of), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert model.weights(q, k, line).dtype == torch.float32


def test_gradients_round_once():
    """The backward pass of the formulas, too, is in float32."""
    q, k, v = heads(torch.bfloat16)
    given = torch.randn(q.shape).bfloat16()
    for kind in ("softmax", "lssar", "softmax_recentred_l1"):
        line = orrery.attention_line(kind)
        halves = [x.clone().requires_grad_() for x in (q, k, v)]
        doubles = [x.double().requires_grad_() for x in (q, k, v)]
        found = torch.autograd.grad(model.attend(*halves, line, 3), halves, given)
        exact = torch.autograd.grad(model.attend(*doubles, line, 3), doubles, given.double())
        for a, b in zip(found, exact):
            assert_blocks(a, b, A_ROUNDING * torch.finfo(torch.bfloat16).eps, 2)


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32, torch.float64])
def test_rotary_positions(dtype):
    """Rows turn by angles that are exact at any row."""
    torch.manual_seed(1)
    T, D, base = 16384, 16, 10000.0
    x = torch.randn(1, 1, 1, D).to(dtype).expand(1, 1, T, D)
    t, m = torch.arange(T, dtype=torch.float64)[:, None], torch.arange(D // 2)
    angle = t * torch.tensor([base ** (-2 * i / D) for i in m.tolist()], dtype=torch.float64)
    a, b = x.double()[..., : D // 2], x.double()[..., D // 2:]
    exact = torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)
    found = model.rotate(x, base)
    assert found.dtype == (dtype if dtype == torch.float64 else torch.float32)
    rounding = 1e-11 if dtype == torch.float64 else 4 * torch.finfo(torch.float32).eps
    assert (found.double() - exact).abs().max() <= rounding * x.abs().max() * math.sqrt(2)
    scores = (found[0, 0, 1:] * found[0, 0, :-1]).sum(-1)  # of one distance
    assert scores.max() - scores.min() <= 1e-5 * x.square().sum(-1).max()
    late = found[0, 0, 256:512]
    assert len(torch.unique(late, dim=0)) == 256  # not two positions with one angle
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(model.rotate(x, base), found)


def trained(**settings):
    """A module whose outputs are not small, and coordinates of ROWS rows."""
    torch.manual_seed(1)
    module = torch_gpt(layers=2, heads=2, width=32, context=1024, **settings).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.mul_(2)
    return module, (torch.randn(1, ROWS, 2).cumsum(1) * 0.05).sin()


@pytest.mark.parametrize("kind, positions", [
    ("softmax", "rope"), ("lssar", "rope"), ("rw_softmax", "rope"), ("rw_sigmoid", "rope"),
    ("decomp_I", "rope"), ("lssar", "learned"), ("rw_sigmoid", "none")])
@pytest.mark.parametrize("how", ["bfloat16", "half", "autocast"])
def test_models(kind, positions, how):
    """Some roundings in each of two layers, and as many in late rows as in early ones."""
    module, rows = trained(positions=positions, attention=kind)
    with torch.no_grad():
        if how == "autocast":
            exact, eps = copy.deepcopy(module).double()(rows.double()), 2**-7
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = module(rows)
        else:
            short = getattr(copy.deepcopy(module), how)()  # .bfloat16() or .half()
            eps = torch.finfo(short.head.weight.dtype).eps
            exact = copy.deepcopy(short).double()(rows.double())
            found = short(rows)
            assert found.dtype == short.head.weight.dtype
    assert_blocks(found, exact, 5 * eps, 1)


def test_fourier_features():
    """Of rows in any type, the phases of the numbers that these are."""
    c = {"fourier": 6, "fourier_min_au": 0.25}
    rows = 30 * torch.rand(1, 50, 2, dtype=torch.float64) - 15
    for dtype in (torch.float64, torch.float32, *HALVES):
        xy = rows.to(dtype)
        found, largest = model.features(c, xy), 2 * math.pi * 15 / 0.25
        assert found.dtype == (dtype if dtype == torch.float64 else torch.float32)
        x, y = xy.double()[..., 0], xy.double()[..., 1]
        for band in range(6):
            phase = 2 * math.pi / (0.25 * 2**band)
            exact = torch.stack([torch.sin(phase * x), torch.cos(phase * x), torch.sin(phase * y),
                                 torch.cos(phase * y)], -1)
            error = (found[..., 3 + 4 * band:7 + 4 * band] - exact)[:, 1:].abs().max()
            assert error <= 2 * largest * torch.finfo(found.dtype).eps, (dtype, band)


@pytest.mark.parametrize("dtype", [*HALVES, torch.float64])
def test_coordinates_keep_their_digits(dtype):
    """Fourier features come of the coordinates as given, not rounded to the type of the weights."""
    module, rows = trained(fourier=6, positions="rope")
    rows = 30 * rows
    short = copy.deepcopy(module).to(dtype)
    with torch.no_grad():
        exact, found = copy.deepcopy(short).double()(rows.double()), short(rows)
    assert found.dtype == dtype
    eps = max(torch.finfo(dtype).eps, 1e-3)  # of float64 the phases in float32, up to 2e4
    assert_blocks(found, exact, 4 * eps, 1)


@pytest.mark.parametrize("kind", ["rw_sigmoid", "sigmoid_logN_l1", "phi_sigmoid"])
def test_sigmoids_that_would_vanish(kind):
    """Divided by the largest of a row, as in C: sigmoid(-150) is 0 in float32."""
    torch.manual_seed(2)
    q = 4 + torch.rand(1, 1, 20, 16)
    k, v = -8 * q.flip(2), torch.randn(1, 1, 20, 16)
    s = q @ k.transpose(-1, -2) / 4
    assert s.max() < -110
    found = model.attend(q, k, v, orrery.attention_line(kind), 3)
    exact = orrery.attention(*(x.double().numpy() for x in (q, k, v)), kind, 3)
    assert np.abs(exact).max() > 0.1
    bound = 4 * 3 * s.abs().max() * torch.finfo(s.dtype).eps  # the scores' rounding, to the power 3
    assert np.abs(found.numpy() - exact).max() < bound


LOADER = """
import sys, numpy, torch
from transformers import AutoModel
folder, x, out = sys.argv[1:]
for name in ("bfloat16", "float16"):
    model = AutoModel.from_pretrained(folder, trust_remote_code=True, dtype=getattr(torch, name))
    with torch.no_grad():
        logits = model(torch.from_numpy(numpy.load(x))).logits
    assert logits.dtype == model.dtype == getattr(torch, name), (logits.dtype, model.dtype)
    numpy.save(f"{out}/{name}.npy", logits.float().numpy())
"""


def test_hugging_face_in_half_precision(tmp_path):
    """dtype= of from_pretrained, of a model that attends further than it was trained."""
    pytest.importorskip("transformers")
    module, rows = trained(positions="rope", attention="lssar")
    module.c["context"] = 200
    source = GPT.from_torch(module).attend(context=1024, ntk=True)
    source.save_pretrained(tmp_path / "folder")
    np.save(tmp_path / "x.npy", rows.numpy())
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", LOADER, str(tmp_path / "folder"), str(tmp_path / "x.npy"),
                    str(tmp_path)], check=True, env=environment, cwd=tmp_path)
    for dtype in HALVES:
        short = source.to_torch(dtype).double()
        with torch.no_grad():
            exact = short(rows.double())
        found = torch.from_numpy(np.load(tmp_path / f"{str(dtype)[6:]}.npy"))
        assert_blocks(found, exact, 5 * torch.finfo(dtype).eps, 1)
