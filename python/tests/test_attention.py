"""Attention: every variant on arrays, as an operator of torch, beside formulas and golden files."""

import json
import pathlib
import re
import threading

import numpy as np
import pytest

import orrery
from orrery._safetensors import File

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
KINDS = orrery.attention_variants()


def numbers(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def three(*shape, dtype=np.float64):
    return [numbers(*shape, seed=i, dtype=dtype) for i in range(3)]


def golden_cases():
    if not (GOLDEN / "MANIFEST.json").exists():
        return []
    return json.loads((GOLDEN / "MANIFEST.json").read_text())["attention"]


def weights(shape):
    """Of elements in the sums of rows, as tests/kernels/golden_attention.c has them."""
    x = np.arange(1, np.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ x >> np.uint64(shift)) * np.uint64(factor)
    x ^= x >> np.uint64(31)
    size = 1 + (x >> np.uint64(12)).astype(np.float64) * 2.0**-52
    return np.where(x & np.uint64(1), -size, size).reshape(shape)


@pytest.mark.skipif(not golden_cases(), reason="no tests/golden beside the package")
def test_golden_files():
    """Outputs and gradients of an independent program, in double."""
    files, count, kinds, shared = {}, 0, set(), File(GOLDEN / "shared.safetensors")
    for case in golden_cases():
        params, path = case["params"], GOLDEN / f"{case['variant']}.safetensors"
        kind = re.sub(r"(_p[\d.]+)?(_window)?$", "", case["variant"])
        window, p = params.get("window", 0), params.get("p", 1)
        if "rope" in kind or not path.exists():
            continue
        file = files.setdefault(path, File(path))
        names = [f"{case['case']}.{t}" for t in ("q", "k", "v", "do")]
        q, k, v, do = ((file if name in file else shared).array(name) for name in names)
        found = [orrery.attention(q, k, v, kind, p, window),
                 *orrery.attention_backward(do, q, k, v, kind, p, window)]
        for name, array in zip(("o", "dq", "dk", "dv"), found):
            expected, rows = f"{case['case']}.{name}", f"{case['case']}.{name}_rows"
            if rows in file:
                expected, array = rows, (array * weights(array.shape)).sum(-1)
            bound = 1e-10 * max(1, case["max_abs"][name])
            where = case["variant"], case["case"], name
            assert np.abs(array - file.array(expected)).max() <= bound, where
        count += 1
        kinds.add(kind)
    aliases = {"phi_relu", "phi_exp", "decomp_IV"}
    assert count > 200 and kinds == set(KINDS) - aliases, (count, kinds)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_give_the_output(kind):
    q, k, v = three(2, 3, 11, 8)
    for window in (0, 4):
        A = orrery.attention_weights(q, k, kind, 3, window)
        assert A.shape == (2, 3, 11, 11)
        i, j = np.indices((11, 11))
        assert not A[..., (j > i) | ((i - j >= window) if window else False)].any()
        assert np.abs(A @ v - orrery.attention(q, k, v, kind, 3, window)).max() < 1e-12


def test_types_and_shapes():
    q, k, v = three(5, 4)
    out = orrery.attention(q, k, v, "softmax")
    assert out.shape == (5, 4) and out.dtype == np.float64
    more = orrery.attention(*(np.stack([x, x]) for x in (q, k, v)), "softmax")
    assert np.array_equal(more, np.stack([out, out]))
    short = orrery.attention(*(x.astype(np.float32) for x in (q, k, v)), "softmax")
    assert short.dtype == np.float32 and np.abs(short - out).max() < 1e-6
    plain = orrery.attention(*(x.astype(np.float32) for x in (q, k, v)), "softmax", reference=True)
    assert np.abs(plain - out).max() < 1e-6
    assert orrery.attention(*(x.astype(np.float16) for x in (q, k, v))).dtype == np.float32
    assert orrery.attention(*([[1, 2], [3, 4]],) * 3, "lssar").dtype == np.float64
    turned = np.asfortranarray(numbers(2, 3, 5, 4))
    assert np.array_equal(orrery.attention(turned, turned, turned),
                          orrery.attention(*(np.ascontiguousarray(turned),) * 3))


@pytest.mark.parametrize("change, error, message", [
    (lambda x: {"kind": "lssarr"}, ValueError, "lssar"),
    (lambda x: {"k": x[:, :2]}, ValueError, r"k: expected the shape of q, \(5, 4\)"),
    (lambda x: {"v": x * np.nan}, ValueError, "v: expected finite"),
    (lambda x: {"q": x[0]}, ValueError, "q: expected shape"),
    (lambda x: {"q": x[:0]}, ValueError, "q: expected shape"),
    (lambda x: {"q": x * 1j}, TypeError, "q: expected real"),
    (lambda x: {"p": 0.5}, ValueError, "^p: expected at least 1"),
    (lambda x: {"window": -1}, ValueError, "window"),
    (lambda x: {"kind": {"phi": "relu"}}, TypeError, "kind"),
])
def test_errors(change, error, message):
    x = numbers(5, 4)
    with pytest.raises(error, match=message):
        orrery.attention(**{"q": x, "k": x, "v": x} | change(x))


def test_threads():
    """Several threads of Python at once have handles of their own."""
    q, k, v = three(2, 2, 33, 8, dtype=np.float32)
    expected, found = orrery.attention(q, k, v), []

    def work():
        for _ in range(20):
            found.append(np.array_equal(orrery.attention(q, k, v), expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(found) == 80 and all(found)


def test_lines():
    line = orrery.attention_line("rw_sigmoid")
    assert (line["phi"], line["bias"], line["norm"], line["reweight"]) == (
        "sigmoid", "row", "l1", True)
    line["phi"] = "changed"  # a copy
    assert orrery.attention_line("rw_sigmoid")["phi"] == "sigmoid"
