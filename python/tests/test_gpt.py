"""Models from checkpoints: predictions by C, PyTorch and back, a Hugging Face folder."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import orrery
from orrery import _files, _safetensors
from orrery.gpt import GPT

LAYERS, WIDTH, CONTEXT = 2, 16, 24


def shapes(outputs=2):
    """A small model of coordinates."""
    C = WIDTH
    known = {"embed.weight": (C, 3), "embed.bias": (C,), "position.weight": (CONTEXT, C)}
    for layer in range(LAYERS):
        known |= {f"block.{layer}.{name}": shape for name, shape in {
            "ln1.weight": (C,), "ln1.bias": (C,), "attention.qkv.weight": (3 * C, C),
            "attention.qkv.bias": (3 * C,), "attention.proj.weight": (C, C),
            "attention.proj.bias": (C,), "ln2.weight": (C,), "ln2.bias": (C,),
            "ffn.up.weight": (4 * C, C), "ffn.up.bias": (4 * C,), "ffn.down.weight": (C, 4 * C),
            "ffn.down.bias": (C,)}.items()}
    return known | {"final.weight": (C,), "final.bias": (C,), "head.weight": (outputs, C),
                    "head.bias": (outputs,)}


def checkpoint(path, outputs=2, **changes):
    metadata = {"format": "pt", "orrery_format": "orrery-gpt-1", "version": "test",
                "layers": LAYERS, "heads": 2, "width": WIDTH, "ffn": 4 * WIDTH,
                "context": CONTEXT, "input": 1,
                "vocab": 0, "fourier": 0, "fourier_min_au": 0.25, "head": 1, "outputs": outputs,
                "positions": 0, "rope_base": 10000, "attention": "lssar", "attention_p": 3,
                "attention_window": 0, "step": 7, "stage": "pretrain", **changes}
    random = np.random.default_rng(1)
    arrays = {name: 0.5 * random.standard_normal(shape) for name, shape in shapes(outputs).items()}
    path.write_bytes(_safetensors.content(arrays, {k: str(v) for k, v in metadata.items()}))
    return path


@pytest.fixture
def model(tmp_path):
    return GPT.from_checkpoint(checkpoint(tmp_path / "model.safetensors"))


def rows(n=3, T=CONTEXT, seed=2, axes=2):
    return np.random.default_rng(seed).uniform(-2, 2, (n, T, axes)).astype(np.float32)


def test_what_it_is(model):
    c = model.configuration
    assert (c["layers"], c["width"], c["input"], c["head"], c["positions"], c["attention"]) == (
        2, 16, "coordinates", "numbers", "learned", "lssar")
    assert c["reweight"] and c["power"] == 3 and c["step"] == 7
    assert c["parameters"] == sum(np.prod(s) for s in shapes().values())
    assert model.metadata["stage"] == "pretrain"
    assert "lssar" in repr(model) and "step 7" in repr(model)


def test_predictions(model):
    x = rows()
    out = model.outputs(x)
    assert out.shape == (3, CONTEXT, 2) and out.dtype == np.float32
    assert np.allclose(model.predict(x), out)
    assert np.array_equal(model.outputs(x[1]), out[1])
    assert np.array_equal(model.outputs(x[:, :9]), out[:, :9])  # causal
    A = model.attention(x, layer=1)
    assert A.shape == (3, 2, CONTEXT, CONTEXT)
    sums = A.sum(-1)
    assert np.all((abs(sums - 1) < 1e-5) | (sums == 0)) and (sums > 0).any()


def test_rollout(model):
    x = rows()
    path = model.rollout(x, 10)
    assert np.array_equal(path[:, :10], x[:, :10])
    given = x.copy()
    for t in range(10, CONTEXT):  # row by row
        given[:, t] = model.outputs(given[:, :t])[:, -1]
    assert np.abs(path - given).max() < 1e-4
    x[:, 10:] = np.nan
    assert np.array_equal(model.rollout(x, 10), path)


def test_attend(model):
    x = rows()
    before = model.outputs(x)
    assert model.attend("softmax", window=4) is model
    c = model.configuration
    assert (c["attention"], c["window"], c["reweight"]) == ("softmax", 4, False)
    assert not np.allclose(model.outputs(x), before)
    model.attend(reweight=False)
    assert model.configuration["attention"] == "lssa"
    with pytest.raises(ValueError, match="softmax"):
        model.attend("softmix")
    assert np.array_equal(model.attend().outputs(x), before)


def test_forces(tmp_path):
    path = checkpoint(tmp_path / "m.safetensors", outputs=1, stage="magnitude", force="log 1 2")
    model, x = GPT.from_checkpoint(path), rows()
    expected = np.exp(1 + 2 * model.outputs(x)[..., 0].astype(float))
    assert np.allclose(model.forces(x), expected, rtol=1e-6)
    vector = GPT.from_checkpoint(checkpoint(tmp_path / "v.safetensors", stage="vector"))
    assert np.allclose(vector.forces(x), vector.outputs(x))
    with pytest.raises(ValueError, match="forces"):
        model.predict(x)


def test_simulated_sequences(model):
    sets = orrery.simulate("val", preset="smoke", n=4)
    assert model.predict(sets["coordinates"][:, :CONTEXT]).shape == (4, CONTEXT, 2)


@pytest.mark.parametrize("change, error, message", [
    (lambda x: x[..., 0], ValueError, r"coordinates \(n, T, 2\)"),
    (lambda x: x[:0], ValueError, "found shape"),
    (lambda x: x * np.nan, ValueError, "sequence 0, row 0"),
    (lambda x: np.concatenate([x, x], 1), ValueError, "1 to 24 rows, found 48"),
    (lambda x: x.astype(str), TypeError, "coordinates"),
])
def test_errors(model, change, error, message):
    with pytest.raises(error, match=message):
        model.outputs(change(rows()))


def test_errors_of_calls_and_files(model, tmp_path):
    x = rows()
    with pytest.raises(ValueError, match="layer"):
        model.attention(x, layer=2)
    with pytest.raises(ValueError, match="prefix"):
        model.rollout(x, 25)
    with pytest.raises(ValueError, match="fine-tuned"):
        model.forces(x)
    with pytest.raises(FileNotFoundError, match="none.safetensors: expected a file"):
        GPT.from_checkpoint(tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"no model")
    with pytest.raises(ValueError, match="bad.safetensors"):
        GPT.from_checkpoint(tmp_path / "bad.safetensors")


def test_save_keeps_the_bytes(model, tmp_path):
    os.unlink(model.path)  # the file stays open
    model.save(tmp_path / "copy.safetensors")
    assert np.array_equal(GPT.from_checkpoint(tmp_path / "copy.safetensors").outputs(rows()),
                          model.outputs(rows()))
    assert [p.name for p in tmp_path.iterdir()] == ["copy.safetensors"]


# ----------------------------------------------------------------------------------- PyTorch

CASES = [{"input": i, "positions": p, "gate": g}
         for i in ("coordinates", "space", "bins", "characters")
         for p, g in (("learned", "none"), ("rope", "sigmoid"), ("none", "softplus"))]
CASES += [{"attention": kind} for kind in orrery.attention_variants()]
CASES += [{"fourier": 3, "window": 5, "p": 2.5, "attention": "lssar", "input": i}
          for i in ("coordinates", "space")]
NUMBERS = {1: 2, 3: 3}  # of `input`: the coordinates of a row, in the plane and in space


def trained(torch, **settings):
    """A torch module whose weights are larger than those of a start."""
    from orrery.gpt import torch_gpt

    torch.manual_seed(4)
    vocab = 0 if settings.get("input", "coordinates") in ("coordinates", "space") else 11
    module = torch_gpt(width=16, context=CONTEXT, vocab=vocab, **settings)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return module


def inputs(torch, module):
    kind = module.c["input"]
    if kind in NUMBERS:
        array = rows(axes=NUMBERS[kind])
        return array, torch.from_numpy(array)
    shape = (3, CONTEXT, 2) if kind == 0 else (3, CONTEXT)
    array = np.random.default_rng(5).integers(0, 11, shape)
    return array, torch.from_numpy(array)


@pytest.mark.parametrize("settings", CASES, ids=lambda s: "-".join(map(str, s.values())))
def test_torch_and_back(settings, tmp_path):
    """Logits of C and of torch are equal within fp32's rounding, in both directions."""
    torch = pytest.importorskip("torch")
    module = trained(torch, **settings)
    array, tensor = inputs(torch, module)
    model = GPT.from_torch(module)
    with torch.no_grad():
        exact = module.double()(tensor.double() if module.c["input"] in NUMBERS else tensor).numpy()
    bound = 2e-5 * max(1, np.abs(exact).max())
    assert np.abs(model.outputs(array) - exact).max() < bound
    model.save(tmp_path / "m.safetensors")
    again = GPT.from_checkpoint(tmp_path / "m.safetensors")
    for kernels in (False, True):
        with torch.no_grad():
            found = again.to_torch(kernels=kernels)(tensor).numpy()
        assert np.abs(found - exact).max() < bound
    assert all(torch.equal(a, b.float()) for a, b in zip(again.to_torch().state_dict().values(),
                                                         module.state_dict().values()))


def test_positions_of_bins():
    torch = pytest.importorskip("torch")
    model = GPT.from_torch(trained(torch, input="bins"))
    x, _ = inputs(torch, model.to_torch())
    with pytest.raises(ValueError, match="extent_au"):
        model.predict(x)
    found = model.predict(x, extent_au=5.5)
    most = model.outputs(x).reshape(3, CONTEXT, 2, 11)[..., :8].argmax(-1)  # 3 bins are no place
    assert np.allclose(found, -5.5 + (most + 0.5) * 11 / 8)
    path = model.rollout(x, 10, extent_au=5.5)
    assert np.isnan(path[:, :10]).all()
    assert np.allclose(path[:, 10], found[:, 9])
    with pytest.raises(ValueError, match="below 11, found 12"):
        model.outputs(x * 0 + 12)
    with pytest.raises(TypeError, match="whole numbers"):
        model.outputs(x.astype(float))
    with pytest.raises(ValueError, match="from 0 to 65535"):
        model.outputs(x - 100)


def test_new_modules():
    pytest.importorskip("torch")
    from orrery.gpt import torch_gpt

    for settings, message in (({"input": "pixels"}, "input: expected one of bins"),
                              ({"input": "bins"}, "vocab"), ({"vocab": 3}, "vocab"),
                              ({"attention": "softmix"}, "softmax"), ({"gate": "relu"}, "gate")):
        with pytest.raises(ValueError, match=message):
            torch_gpt(**settings)


def test_torch_attends_as_the_model(model):
    torch = pytest.importorskip("torch")
    x = rows()
    for change in ({"attention": "rw_softmax", "p": 2, "window": 3}, {"reweight": False}):
        model.attend(**change)
        with torch.no_grad():
            found = model.to_torch()(torch.from_numpy(x)).numpy()
        assert np.abs(found - model.outputs(x)).max() < 2e-5
    # phi_softplus re-weighted is no line of the table: torch computes it, no checkpoint states it
    model.attend("phi_softplus", reweight=True)
    module = model.to_torch()
    with torch.no_grad():
        assert np.abs(module(torch.from_numpy(x)).numpy() - model.outputs(x)).max() < 2e-5
    with pytest.raises(ValueError, match="line of its own"):
        GPT.from_torch(module)
    with pytest.raises(ValueError, match="kernels"):
        model.to_torch(kernels=True)


def test_a_line_of_your_own(tmp_path):
    torch = pytest.importorskip("torch")
    from orrery.gpt import torch_gpt

    line = orrery.attention_line("lssar") | {"name": "mine", "phi": "relu2"}
    module = torch_gpt(attention=line, context=CONTEXT)
    module(torch.from_numpy(rows())).sum().backward()
    with pytest.raises(ValueError, match="'mine'.*line of its own"):
        GPT.from_torch(module)
    with pytest.raises(ValueError, match="kernels.*'mine'"):
        torch_gpt(attention=line, kernels=True)
    assert torch_gpt(attention="lssar", kernels=True).block[0].attention.operator


def test_a_function_as_attention():
    torch = pytest.importorskip("torch")
    from orrery.gpt import torch_gpt

    def causal(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    torch.manual_seed(0)
    own = torch_gpt(attention=causal, context=CONTEXT)
    named = torch_gpt(attention="softmax", context=CONTEXT)
    named.load_state_dict(own.state_dict())
    x = torch.randn(2, CONTEXT, 2)
    assert torch.allclose(own(x), named(x), atol=1e-5)
    own(x).sum().backward()
    assert own.block[0].attention.qkv.weight.grad.abs().sum() > 0
    with pytest.raises(ValueError, match="function causal"):
        GPT.from_torch(own)
    with pytest.raises(ValueError, match="kernels: expected a variant of the table"):
        torch_gpt(attention=causal, kernels=True)


def test_rotary_positions_beyond_the_context():
    torch = pytest.importorskip("torch")
    model = GPT.from_torch(trained(torch, positions="rope", attention="lssar"))
    model.attend(context=2 * CONTEXT, ntk=True)
    x = rows(T=2 * CONTEXT)
    with torch.no_grad():
        found = model.to_torch()(torch.from_numpy(x)).numpy()
    assert np.abs(found - model.outputs(x)).max() < 5e-5


def test_training_in_torch(tmp_path):
    torch = pytest.importorskip("torch")
    from orrery.gpt import torch_gpt

    torch.manual_seed(0)
    x = torch.from_numpy(orrery.simulate("val", preset="smoke", n=16)["coordinates"])[:, :CONTEXT]
    module = GPT.from_torch(torch_gpt(context=CONTEXT, attention="lssar")).to_torch(kernels=True)
    optimizer = torch.optim.AdamW(module.parameters(), 1e-2)

    def loss():
        return torch.nn.functional.mse_loss(module(x[:, :-1]), x[:, 1:])

    first = loss().item()
    for _ in range(20):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert loss().item() < 0.7 * first
    model = GPT.from_torch(module)
    expected = module(x).detach().numpy()
    assert np.abs(model.outputs(x.numpy()) - expected).max() < 1e-4
    assert "made" not in model.metadata
    module.head.bias.data[0] = torch.nan
    with pytest.raises(ValueError, match="head.bias"):
        GPT.from_torch(module)
    with pytest.raises(TypeError, match="Linear"):
        GPT.from_torch(torch.nn.Linear(2, 2))


def test_averaged_weights(tmp_path):
    """Both programs predict with the average."""
    torch = pytest.importorskip("torch")
    source = _safetensors.File(checkpoint(tmp_path / "a.safetensors"))
    arrays = {n: source.array(n) for n in source.names()}
    averages = {f"average.{n}": a * 0.5 for n, a in arrays.items()}
    path = tmp_path / "b.safetensors"
    path.write_bytes(_safetensors.content(arrays | averages, source.metadata))
    model = GPT.from_checkpoint(path)
    with torch.no_grad():
        found = model.to_torch()(torch.from_numpy(rows())).numpy()
    assert np.abs(found - model.outputs(rows())).max() < 2e-5


def test_a_variant_that_torch_does_not_know(model, monkeypatch):
    torch = pytest.importorskip("torch")
    from orrery import gpt

    line = orrery.attention_line("lssar") | {"phi": "sine"}
    monkeypatch.setattr(gpt, "_table_line", lambda kind: line)
    module = model.to_torch()
    with pytest.raises(NotImplementedError, match="'lssar': phi 'sine' has no PyTorch formula"):
        module(torch.from_numpy(rows()))


# ------------------------------------------------------------------------------ Hugging Face

LOADER = """
import sys, numpy, torch
from transformers import AutoConfig, AutoModel
folder, x, out, again = sys.argv[1:]
model = AutoModel.from_pretrained(folder, trust_remote_code=True)
assert "orrery" not in sys.modules
assert AutoConfig.from_pretrained(folder, trust_remote_code=True).architecture["layers"] == 2
with torch.no_grad():
    numpy.save(out, model(torch.from_numpy(numpy.load(x))).logits.numpy())
model.save_pretrained(again)
"""


def test_hugging_face_folder(model, tmp_path):
    """Loads offline in a process that has no package orrery, and comes back when saved again."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder, x = tmp_path / "folder", rows()
    model.save_pretrained(folder)
    np.save(tmp_path / "x.npy", x)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", LOADER, *(str(tmp_path / name) for name in (
        "folder", "x.npy", "out.npy", "again"))], check=True, env=environment, cwd=tmp_path)
    expected = model.outputs(x)
    assert np.abs(np.load(tmp_path / "out.npy") - expected).max() < 2e-5
    for name in ("folder", "again"):
        again = GPT.from_pretrained(tmp_path / name)
        assert np.array_equal(again.outputs(x), expected), name
        assert again.metadata["step"] == "7"
    assert np.array_equal(GPT.from_checkpoint(folder / "model.safetensors").outputs(x), expected)
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "gpt2"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="gpt2"):
        GPT.from_pretrained(folder)


def test_hugging_face_folder_without_torch(model, tmp_path):
    """Writing one takes NumPy alone."""
    model.save_pretrained(tmp_path / "folder")
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == [
        "_torch_model.py", "config.json", "model.safetensors", "modeling_orrery.py"]


def resaved(model, folder, more=None, dtype=None, **config_changes):
    """A folder as transformers saves it again: weights without Orrery's metadata."""
    model.save_pretrained(folder)
    source = _safetensors.File(folder / "model.safetensors")
    arrays = {name: source.array(name) for name in source.names()}
    if dtype:
        arrays["final.bias"] = arrays["final.bias"].astype(dtype)
    _files.replace(folder / "model.safetensors",
                   _safetensors.content(arrays | (more or {}), {"format": "pt"}))
    config = json.loads((folder / "config.json").read_text())
    for key, value in config_changes.items():
        place = config["architecture"] if key in config["architecture"] else config
        if value is None:
            del place[key]
        else:
            place[key] = value
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_a_folder_that_was_saved_again(model, tmp_path):
    """Other tensors beside the model's are left out; whole numbers are no weights."""
    more = {"steps": np.arange(3), "mask": np.ones((2, 2), np.uint8)}
    again = GPT.from_pretrained(resaved(model, tmp_path / "a", more))
    assert np.array_equal(again.outputs(rows()), model.outputs(rows()))
    with pytest.raises(ValueError, match='tensor "final.bias": expected <f4'):
        GPT.from_pretrained(resaved(model, tmp_path / "b", dtype=np.int32))
    for changes, message in (({"architecture": 5}, "architecture: expected an object"),
                             ({"layers": None}, "architecture: expected 'layers'"),
                             ({"layers": "2"}, "architecture: layers: expected a whole number"),
                             ({"layers": 2.5}, "architecture: layers"),
                             ({"attention": 5}, "architecture: attention: expected a text"),
                             ({"metadata": []}, "metadata: expected an object"),
                             ({"metadata": {"step": 5}}, "metadata: step: expected a text"),
                             ({"model_type": None}, "expected model_type orrery, found None")):
        with pytest.raises(ValueError, match=f"config.json: {message}"):
            GPT.from_pretrained(resaved(model, tmp_path / "c", **changes))


def test_a_module_of_a_file(model, tmp_path):
    """load_torch() takes and refuses what C takes and refuses."""
    torch = pytest.importorskip("torch")
    from orrery.gpt import load_torch

    source = _safetensors.File(model.path)
    arrays = {name: source.array(name) for name in source.names()}

    def written(change, **metadata):
        path = tmp_path / "x.safetensors"
        path.write_bytes(_safetensors.content(arrays | change, source.metadata | metadata))
        return path

    with torch.no_grad():
        found = load_torch(written({"extra": np.ones(3), "n": np.arange(2)}))(
            torch.from_numpy(rows())).numpy()
    assert np.abs(found - model.outputs(rows())).max() < 2e-5
    for change, metadata, message in (
            ({"final.bias": np.ones(3)}, {}, "final.bias"),
            ({"final.bias": np.ones(WIDTH, np.int64)}, {}, "final.bias"),
            ({"final.bias": np.full(WIDTH, np.nan)}, {}, "not finite"),
            ({}, {"xxh64": "0" * 16}, "corrupt"), ({}, {"layers": "two"}, "metadata.*'two'"),
            ({}, {"rope_base": "1_0"}, "metadata.*'1_0'")):
        with pytest.raises(ValueError, match=f"x.safetensors: .*{message}"):
            load_torch(written(change, **metadata))
    del arrays["final.bias"]
    with pytest.raises(ValueError, match='x.safetensors: tensor "final.bias" is missing'):
        load_torch(written({}))


# ----------------------------------------------------------------------------- safetensors


@pytest.mark.parametrize("content, message", [
    (b"", "0 bytes"), (b"\x10" + bytes(7) + b"{" * 16, "no JSON"),
    (b"\xff" * 8 + b"{}", "or a part of one"), (b"\x02" + bytes(7) + b"[]", "no JSON object")])
def test_damaged_files(tmp_path, content, message):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        _safetensors.File(tmp_path / "x")


def test_short_numbers(tmp_path):
    """F16 and BF16, as other programs write them."""
    header = json.dumps({"h": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]},
                         "b": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [4, 8]},
                         "x": {"dtype": "F8", "shape": [1], "data_offsets": [8, 9]}}).encode()
    halves = np.array([1.5, -2], np.float16).tobytes()
    upper = (np.array([1.5, -2], np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    (tmp_path / "f").write_bytes(len(header).to_bytes(8, "little") + header + halves + upper + b"0")
    file = _safetensors.File(tmp_path / "f")
    assert file.array("h").tolist() == [1.5, -2] and file.array("b").tolist() == [[1.5], [-2]]
    with pytest.raises(ValueError, match="F8"):
        file.array("x")
