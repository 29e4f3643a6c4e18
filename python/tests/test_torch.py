"""The operator of torch: formulas, gradients, fake kernel, torch.compile."""

import numpy as np
import pytest

import orrery
from orrery._attention import attention, attention_line

torch = pytest.importorskip("torch")
from torch import library as operators  # noqa: E402, I001
from orrery import _torch_model as model  # noqa: E402

KINDS = orrery.attention_variants()


def tensors(*shape, dtype=torch.float64):
    torch.manual_seed(3)
    return [torch.randn(*shape, dtype=dtype, requires_grad=True) for _ in range(3)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_variants_are_the_formulas(kind, dtype):
    q, k, v = tensors(2, 3, 17, 8, dtype=dtype)
    given = torch.randn_like(q)
    bound = 1e-11 if dtype == torch.float64 else 2e-4
    for window, p in ((0, 3), (5, 2.5)):
        out = attention(q, k, v, kind, p, window)
        assert out.dtype == dtype and out.shape == q.shape
        exact = [x.detach().double().requires_grad_() for x in (q, k, v)]
        plain = model.attend(*exact, attention_line(kind), p, window)
        found = torch.autograd.grad(out, (q, k, v), given)
        expected = torch.autograd.grad(plain, exact, given.double())
        for a, b in ((out, plain), *zip(found, expected)):
            assert (a - b).abs().max() <= bound * max(1, b.abs().max()), (window, p)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind):
    q, k, v = tensors(1, 2, 7, 4)
    assert torch.autograd.gradcheck(lambda *x: attention(*x, kind, 3.0, 0), (q, k, v))


@pytest.mark.parametrize("kind", ["softmax", "lssar", "phi_relu2", "decomp_I"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_operator(kind, dtype):
    qkv = tensors(2, 2, 9, 4, dtype=dtype)
    checks = operators.opcheck(torch.ops.orrery.attention, (*qkv, kind, 15.0, 0, True))
    assert set(checks.values()) == {"SUCCESS"}, checks
    out, saved = torch.ops.orrery.attention(*qkv, kind, 15.0, 0, True)
    given = [x.detach() for x in (torch.randn_like(out), *qkv, out, saved)]
    checks = operators.opcheck(torch.ops.orrery.attention_backward, (*given, kind, 15.0, 0))
    assert set(checks.values()) == {"SUCCESS"}, checks


def test_compile_without_a_break():
    pytest.importorskip("torch._inductor")
    q, k, v = tensors(2, 2, 33, 8, dtype=torch.float32)

    def loss(q, k, v):
        return orrery.attention(q * 2, k, v, "lssar", 15).sin().sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    expected = torch.autograd.grad(loss(q, k, v), (q, k, v))
    found = torch.autograd.grad(compiled(q, k, v), (q, k, v))
    for a, b in zip(found, expected):
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()
    orrery.attention(q, k, v, {**attention_line("lssar"), "phi": "relu"})  # not compiled: a line


def test_parts_of_one_tensor():
    """q, k and v of a linear layer are not copied, and give the same numbers."""
    from orrery import _torch_ops

    torch.manual_seed(0)
    qkv = torch.randn(2, 7, 3, 2, 4)
    q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
    assert _torch_ops._packed(q, k, v) is q
    assert _torch_ops._packed(q, v, k) is not q
    assert _torch_ops._packed(q, k, k) is not q
    copies = [x.contiguous() for x in (q, k, v)]
    assert _torch_ops._packed(*copies) is not copies[0]
    assert torch.equal(attention(q, k, v), attention(*copies))
    assert torch.equal(_torch_ops._packed(*copies), qkv)


def test_shapes_and_types():
    q, k, v = tensors(5, 4)
    assert torch.equal(attention(q, k, v)[None, None],
                       attention(q[None, None], k[None, None], v[None, None]))
    assert attention(q[None, None, None], k[None, None, None],
                     v[None, None, None]).shape == (1, 1, 1, 5, 4)
    half = attention(*(x.bfloat16() for x in (q, k, v)))
    assert half.dtype == torch.bfloat16
    assert np.array_equal(attention(q, k, v).detach().numpy(),
                          orrery.attention(*(x.detach().numpy() for x in (q, k, v))))
    with torch.no_grad():
        assert not attention(q, k, v).requires_grad


def test_devices_without_kernels():
    """Elsewhere than on CPUs: the formulas, here without numbers."""
    q, k, v = (x.to("meta") for x in tensors(2, 2, 9, 4))
    for kind in KINDS:
        assert attention(q, k, v, kind, 3, 4).shape == (2, 2, 9, 4)


@pytest.mark.parametrize("change, error, message", [
    (lambda x: {"kind": "lssarr"}, ValueError, "lssar"),
    (lambda x: {"k": x[:, :2]}, ValueError, "k: expected q's shape"),
    (lambda x: {"v": x.float()}, ValueError, "v: expected q's shape, type"),
    (lambda x: {"k": x.detach().numpy()}, TypeError, "k: expected a torch tensor"),
    (lambda x: {"v": x * torch.nan}, ValueError, "finite"),
    (lambda x: {"q": x.int(), "k": x.int(), "v": x.int()}, TypeError, "floating"),
    (lambda x: {"p": 0.5}, ValueError, "p: expected at least 1"),
])
def test_errors(change, error, message):
    x = tensors(5, 4)[0]
    with pytest.raises(error, match=message):
        attention(**{"q": x, "k": x, "v": x} | change(x))


def test_a_variant_of_your_own():
    """Parts that exist make a line; a part without a formula is named."""
    q, k, v = tensors(1, 1, 9, 4)
    mine = attention_line("lssar") | {"name": "mine", "phi": "relu2"}
    out = attention(q, k, v, mine, 3)
    out.sum().backward()
    assert torch.isfinite(q.grad).all()
    with pytest.raises(NotImplementedError, match="'mine'.*phi 'sine'.*PHI"):
        attention(q, k, v, mine | {"phi": "sine"})
    with pytest.raises(NotImplementedError, match="score 'distance'"):
        attention(q, k, v, mine | {"score": "distance"})
    model.PHI["sine"] = lambda s: 1 + torch.sin(s)
    try:
        assert attention(q, k, v, mine | {"phi": "sine"}).shape == q.shape
    finally:
        del model.PHI["sine"]


@pytest.mark.parametrize("change, message", [
    ({"window": 1.5}, "window: expected a whole number"), ({"window": -1}, "window"),
    ({"p": 0}, "p: expected at least 1"), ({"p": float("nan")}, "p: "), ({"n_jobs": 2}, "n_jobs"),
    ({"reference": True}, "reference")])
@pytest.mark.parametrize("kind", ["lssar", {**orrery.attention_line("lssar")}])
def test_arguments_of_tensors_are_those_of_arrays(kind, change, message):
    """By the kernels and by the formulas, which would compute something for them."""
    q = torch.ones(1, 2, 5, 4)
    with pytest.raises(ValueError, match=message):
        orrery.attention(q, q, q, kind, **change)


def test_kind_of_tensors():
    q = torch.ones(1, 2, 5, 4)
    with pytest.raises(TypeError, match="kind: expected the name of a variant"):
        orrery.attention(q, q, q, None)


@pytest.mark.parametrize("change, name", [
    ({"heads": 3}, "heads: expected a divisor of width 32"), ({"layers": 0}, "layers"),
    ({"context": 0}, "context"), ({"width": -1}, "width"), ({"ffn": 1.5}, "ffn"),
    ({"window": -2}, "window"), ({"p": 0}, "p: "), ({"outputs": 0}, "outputs")])
def test_sizes_of_a_new_model(change, name):
    from orrery.gpt import torch_gpt

    with pytest.raises(ValueError, match=name):
        torch_gpt(**change)


@pytest.mark.parametrize("text, message", [
    ("{", "config.json: line 1: expected JSON"), ("[]", "expected model_type orrery"),
    ('{"model_type": "orrery"}', "architecture")])
def test_folders_that_are_no_models(tmp_path, text, message):
    with pytest.raises(FileNotFoundError, match="config.json"):
        orrery.GPT.from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        orrery.GPT.from_pretrained(tmp_path)
