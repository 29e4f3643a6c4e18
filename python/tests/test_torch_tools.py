"""The operator and formulas under torch's tools: torch.compile with symbolic numbers, torch.func,
forward-mode and second derivatives, torch.export, and imports."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import orrery
from orrery import _export

torch = pytest.importorskip("torch")
from torch.autograd import forward_ad  # noqa: E402, I001

LINE = orrery.attention_line("lssar") | {"name": "mine"}


def tensors(T=33, dtype=torch.float64):
    torch.manual_seed(T)
    return [torch.randn(2, 3, T, 8, dtype=dtype) for _ in range(3)]


# --------------------------------------------------------------------------- torch.compile


def compiled(function, **settings):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager", **settings)


@pytest.mark.parametrize("kind", ["lssar", "softmax", LINE], ids=["lssar", "softmax", "line"])
@pytest.mark.parametrize("dynamic", [None, True])
def test_windows_and_powers_that_change(kind, dynamic):
    """torch makes a number symbolic that was another one before, or at once with dynamic=True."""
    def attend(q, k, v, p, window):
        return orrery.attention(q, k, v, kind, p, window)

    tried = compiled(attend, dynamic=dynamic)
    for T, p, window in ((33, 15.0, 4), (33, 15.0, 8), (33, 2.5, 8), (40, 3, 0), (41, 3, 64)):
        x = tensors(T)
        assert torch.equal(tried(*x, p, window), attend(*x, p, window)), (T, p, window)


@pytest.mark.parametrize("kind", ["lssar", LINE], ids=["lssar", "line"])
def test_windows_that_follow_from_sizes(kind):
    def attend(q, k, v):
        given = orrery.attention(q, k, v, kind, 3, q.shape[-2] // 2)
        return sum(orrery.attention(given, k, v, kind, 3, window) for window in (16, 32, 64))

    tried = compiled(attend)
    for T in (32, 40, 50):
        x = [y.requires_grad_() for y in tensors(T)]
        expected, found = attend(*x), tried(*x)
        assert torch.equal(found, expected)
        for a, b in zip(torch.autograd.grad(found.sum(), x), torch.autograd.grad(
                expected.sum(), x)):
            assert torch.allclose(a, b, rtol=1e-12)


def test_a_compiled_window_is_checked():
    """By the kernel, as torch.compile knows no number."""
    def attend(q, k, v, window):
        return orrery.attention(q, k, v, "lssar", 3, window)

    tried = compiled(attend, dynamic=True)
    with pytest.raises(ValueError, match="window: expected a whole number from 0 .* found -8"):
        tried(*tensors(), -8)


# ---------------------------------------------------------------- torch.func and derivatives

TRANSFORMS = {
    "grad": lambda f: torch.func.grad(lambda x: f(x).sin().sum()),
    "jacrev": torch.func.jacrev,
    "jacfwd": torch.func.jacfwd,
    "hessian": lambda f: torch.func.hessian(lambda x: f(x).sin().sum()),
    "jvp": lambda f: lambda x: torch.func.jvp(f, (x,), (x.cos(),)),
    "vjp": lambda f: lambda x: torch.func.vjp(f, x)[1](x.cos())[0],
    "vmap": lambda f: lambda x: torch.func.vmap(f)(torch.stack([x, x + 1])),
    "grads of samples": lambda f: lambda x: torch.func.vmap(
        torch.func.grad(lambda y: f(y).sin().sum()))(torch.stack([x, x + 1])),
}


@pytest.mark.parametrize("kind", ["lssar", "softmax_recentred_l1", "decomp_II"])
@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda name: name.replace(" ", "-"))
def test_torch_func(kind, transform):
    """As of the formulas; with the operator torch raises, or takes every tangent for 0."""
    q, k, v = (x[:1, :1, :6, :4] for x in tensors())
    line, apply = orrery.attention_line(kind), TRANSFORMS[transform]
    found = apply(lambda q: orrery.attention(q, k, v, kind, 3))(q)
    expected = apply(lambda q: orrery.attention(q, k, v, line, 3))(q)
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected))):
        assert b.abs().max() > 1e-3 and torch.allclose(a, b, rtol=1e-10, atol=1e-12)


def test_compiled_torch_func():
    q, k, v = tensors()
    grad = torch.func.grad(lambda q: orrery.attention(q, k, v, "lssar", 3).sin().sum())
    x = q.clone().requires_grad_()
    expected, = torch.autograd.grad(orrery.attention(x, k, v, "lssar", 3).sin().sum(), x)
    assert torch.allclose(compiled(grad)(q), expected, rtol=1e-10, atol=1e-12)


def test_forward_mode():
    q, k, v = (x[:1, :1, :7, :4] for x in tensors())
    for part in range(3):
        with forward_ad.dual_level():
            x = [q, k, v]
            x[part] = forward_ad.make_dual(x[part], x[part].cos())
            tangent = forward_ad.unpack_dual(orrery.attention(*x, "lssar", 3)).tangent
        step = [y + 1e-6 * y.cos() * (i == part) for i, y in enumerate((q, k, v))]
        slope = (orrery.attention(*step, "lssar", 3) - orrery.attention(q, k, v, "lssar", 3)) / 1e-6
        assert tangent is not None and (tangent - slope).abs().max() < 1e-4
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(q, q)
        with pytest.raises(RuntimeError, match="no forward-mode derivatives; orrery.attention"):
            torch.ops.orrery.attention(dual, k, v, "lssar", 3.0, 0, False)


@pytest.mark.parametrize("kind", orrery.attention_variants())
def test_second_derivatives(kind):
    x = [y[:1, :1, :5, :3].clone().requires_grad_() for y in tensors()]
    assert torch.autograd.gradgradcheck(lambda *x: orrery.attention(*x, kind, 3.0, 3), x)


# ------------------------------------------------------------------- formulas as modules


def formula(text, columns=(0, 2), names=("a", "b", "c0", "c1"), constants=(2.5, -0.75)):
    from orrery._torch import Formula

    return Formula(_export.Source(text, columns, names, constants))


@pytest.mark.parametrize("module", [
    lambda: formula("c0*torch.sin(a)**2 + torch.exp(c1*b)"),
    lambda: formula("c0", (), ("c0",), (2.5,)),
    lambda: formula("3.5", (), (), ())], ids=["columns", "constant", "number"])
def test_formulas_compile_and_export(module):
    module, X = module(), torch.randn(7, 3, dtype=torch.float64)
    expected = module(X)
    assert expected.shape == (7,)
    assert torch.equal(compiled(module)(X), expected)
    rows = {"X": {0: torch.export.Dim.DYNAMIC}}
    exported = torch.export.export(module, (X,), dynamic_shapes=rows, strict=True).module()
    assert torch.equal(exported(X[:5]), module(X[:5]))
    for again in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert torch.equal(again(X), expected)
        assert again.source == module.source


def test_a_compiled_formula_is_trained():
    module = formula("c0*a + c1*b")
    X = torch.randn(50, 3, dtype=torch.float64)
    tried, optimizer = compiled(module), torch.optim.LBFGS(module.parameters(), max_iter=50)

    def loss():
        optimizer.zero_grad()
        value = (tried(X) - 4 * X[:, 0] - 7 * X[:, 2]).square().mean()
        value.backward()
        return value

    optimizer.step(loss)
    assert np.allclose(module.constants.detach(), [4, 7])


# ------------------------------------------------------------------------------- imports

SAVE = """
import torch, orrery
class Layer(torch.nn.Module):
    def forward(self, q, k, v):
        return orrery.attention(q, k, v, "lssar", 3, 4)
x = tuple(torch.linspace(-1, 1, 2 * 3 * 9 * 4).sin().reshape(2, 3, 9, 4) for _ in range(3))
torch.export.save(torch.export.export(Layer(), x), {0!r})
torch.save((x, Layer()(*x)), {1!r})
"""
LOAD = """
program = torch.export.load({0!r}).module()
x, expected = torch.load({1!r})
assert torch.equal(program(*x), expected)
torch.ops.orrery.attention
"""


def process(text):
    subprocess.run([sys.executable, "-W", "ignore", "-c", text], check=True)


def test_exported_programs(tmp_path):
    """They need `import orrery` alone, before or after torch, also where somebody only looks for
    torch before it is imported."""
    files = str(tmp_path / "m.pt2"), str(tmp_path / "x.pt")
    process(SAVE.format(*files))
    for imports in ("import torch, orrery", "import orrery, torch",
                    "import orrery, importlib.util\nassert importlib.util.find_spec('torch')\n"
                    "assert 'torch' not in __import__('sys').modules\nimport torch"):
        process(imports + LOAD.format(*files))


def test_imports_are_light():
    """`import orrery` imports no torch, and beside torch none of its compiler, which takes seconds;
    a torch that cannot have the operators is imported all the same."""
    process("import sys, orrery; assert not {'torch', 'numpy'} & set(sys.modules)")
    process("import sys, torch; before = 'torch._dynamo' in sys.modules; import orrery; "
            "torch.ops.orrery.attention; assert ('torch._dynamo' in sys.modules) == before")
    process("import sys, orrery; sys.modules['orrery._torch_ops'] = None; import torch; "
            "assert not any(type(f).__name__ == '_AfterTorch' for f in sys.meta_path)")


def test_modules_of_the_package():
    """docs/python.md: orrery.gpt.torch_gpt() after `import orrery`."""
    process("import orrery; assert orrery.gpt.torch_gpt and orrery.log and orrery.crate; "
            "assert {'gpt', 'log', 'crate', 'GPT'} <= set(dir(orrery))")
    with pytest.raises(AttributeError, match="no attribute 'gtp'"):
        orrery.gtp
