"""Hugging Face folders: shards, names of files in messages, what transformers asks of a model."""

import json
import pickle

import numpy as np
import pytest

import orrery
from orrery import _safetensors
from orrery.gpt import GPT

from test_gpt import CONTEXT, checkpoint, inputs, rows, trained

INDEX = "model.safetensors.index.json"


@pytest.fixture
def model(tmp_path):
    return GPT.from_checkpoint(checkpoint(tmp_path / "model.safetensors"))


def sharded(model, folder, parts=3):
    """A folder as transformers saves a large model."""
    model.save_pretrained(folder)
    whole = _safetensors.File(folder / "model.safetensors")
    places = {}
    for part in range(parts):
        names, shard = whole.names()[part::parts], f"model-{part + 1:05}-of-{parts:05}.safetensors"
        (folder / shard).write_bytes(_safetensors.content(
            {name: whole.array(name) for name in names}, {"format": "pt"}))
        places |= {name: shard for name in names}
    (folder / "model.safetensors").unlink()
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": places}))
    return folder


def test_shards(model, tmp_path):
    again = GPT.from_pretrained(sharded(model, tmp_path / "folder"))
    assert np.array_equal(again.outputs(rows()), model.outputs(rows()))
    assert again.metadata["step"] == "7"


def test_two_saves_in_one_folder(model, tmp_path):
    """transformers saves shards and leaves model.safetensors of a save before, which it then loads
    (5.24.0); where it saves one file, it removes shards and leaves their index."""
    folder = tmp_path / "folder"
    model.save_pretrained(folder)
    old = (folder / "model.safetensors").read_bytes()
    sharded(model, folder)
    index = (folder / INDEX).read_bytes()
    (folder / "model.safetensors").write_bytes(old)
    with pytest.raises(ValueError, match="folder: expected model.safetensors or .*, found both"):
        GPT.from_pretrained(folder)
    model.attend("softmax").save_pretrained(folder)  # Orrery's own is the only one
    assert np.array_equal(GPT.from_pretrained(folder).outputs(rows()), model.outputs(rows()))
    (folder / INDEX).write_bytes(index)
    (folder / "model-00002-of-00003.safetensors").unlink()
    assert np.array_equal(GPT.from_pretrained(folder).outputs(rows()), model.outputs(rows()))


@pytest.mark.parametrize("change, error, message", [
    (lambda c, f: c["weight_map"].pop("head.bias"), ValueError, 'index.json: tensor "head.bias"'),
    (lambda c, f: c.pop("weight_map"), ValueError, 'index.json: expected the object "weight_map"'),
    (lambda c, f: c.update(weight_map=[]), ValueError, "weight_map.*found"),
    (lambda c, f: c["weight_map"].update(a=5), ValueError, "weight_map: 'a': expected a file"),
    (lambda c, f: c["weight_map"].update(a="../x"), ValueError, "beside the index, found '../x'"),
    (lambda c, f: c["weight_map"].update(a="/etc/passwd"), ValueError, "beside the index"),
    (lambda c, f: c["weight_map"].update(a="model-00001-of-00003.safetensors"), ValueError,
     "00001-of-00003.safetensors: expected the tensor 'a', which .*index.json says is in it"),
    (lambda c, f: c["weight_map"].update(a="none.safetensors"), FileNotFoundError,
     "none.safetensors: expected a file"),
    (lambda c, f: (f / "model-00002-of-00003.safetensors").unlink(), FileNotFoundError,
     "model-00002-of-00003.safetensors"),
    (lambda c, f: c.clear(), ValueError, "weight_map"),
])
def test_damaged_shards(model, tmp_path, change, error, message):
    folder = sharded(model, tmp_path / "folder")
    content = json.loads((folder / INDEX).read_text())
    change(content, folder)
    (folder / INDEX).write_text(json.dumps(content))
    with pytest.raises((error, orrery.Error), match=message):
        GPT.from_pretrained(folder)
    (folder / INDEX).unlink()
    with pytest.raises(FileNotFoundError, match="expected model.safetensors or .*index.json"):
        GPT.from_pretrained(folder)


def test_messages_name_the_file(model, tmp_path):
    """Not the temporary one by which C reads what is no checkpoint."""
    model.save_pretrained(tmp_path / "folder")
    path = tmp_path / "folder" / "model.safetensors"
    source = _safetensors.File(path)
    arrays = {name: source.array(name) for name in source.names()}
    arrays["final.bias"] = np.ones(5)
    path.write_bytes(_safetensors.content(arrays, {"format": "pt"}))
    with pytest.raises(ValueError) as refused:
        GPT.from_pretrained(tmp_path / "folder")
    assert str(refused.value).startswith(f'{path}: tensor "final.bias"')
    arrays["final.bias"] = source.array("final.bias")
    path.write_bytes(_safetensors.content(arrays, {"format": "pt"}))
    again = GPT.from_pretrained(tmp_path / "folder")
    assert again.path == str(path) and pickle.loads(pickle.dumps(again)).path == str(path)


def test_messages_name_the_module():
    torch = pytest.importorskip("torch")
    module = trained(torch)
    module.c["attention_p"] = 0.5
    with pytest.raises(ValueError, match="^module: .*attention_p: expected at least 1"):
        GPT.from_torch(module)
    assert GPT.from_torch(trained(torch)).path == "module"


def test_rows_beyond_learned_positions():
    torch = pytest.importorskip("torch")
    module = trained(torch)
    with pytest.raises(ValueError, match=f"rows: expected 1 to {CONTEXT} rows, .* found 48"):
        module(torch.zeros(1, 2 * CONTEXT, 2))


# ------------------------------------------------------------------------- transformers


def loaded(folder, **settings):
    pytest.importorskip("transformers")
    from orrery._huggingface import OrreryModel

    return OrreryModel.from_pretrained(folder, **settings)


def test_shards_of_transformers(tmp_path):
    torch = pytest.importorskip("torch")
    model = GPT.from_torch(trained(torch, positions="rope", input="bins"))
    model.save_pretrained(tmp_path / "one")
    loaded(tmp_path / "one").save_pretrained(tmp_path / "many", max_shard_size="4KB")
    assert len(list((tmp_path / "many").glob("model-*.safetensors"))) > 2
    x = inputs(torch, model.to_torch())[0]
    assert np.array_equal(GPT.from_pretrained(tmp_path / "many").outputs(x), model.outputs(x))


@pytest.mark.parametrize("settings", [
    {"attention": "softmax", "positions": "rope"}, {"attention": "phi_exp", "window": 5}],
    ids=["softmax", "window"])
def test_sdpa_of_softmax(tmp_path, settings):
    """transformers chooses it by itself; eager are the formulas."""
    torch = pytest.importorskip("torch")
    model = GPT.from_torch(trained(torch, **settings))
    model.save_pretrained(tmp_path)
    module = loaded(tmp_path)
    for choice in ("sdpa", "eager", "sdpa"):
        module.set_attn_implementation(choice)
        assert module.config._attn_implementation == choice
        assert (module.block[1].attention.operator is not None) == (choice == "sdpa")
        with torch.no_grad():
            found = module(torch.from_numpy(rows())).logits.numpy()
        assert np.abs(found - model.outputs(rows())).max() < 2e-5
    assert loaded(tmp_path).config._attn_implementation == "sdpa"
    assert loaded(tmp_path, attn_implementation="eager").block[0].attention.operator is None


@pytest.mark.parametrize("change", [{"attention": "lssar"}, {"attention": "decomp_II"},
                                    {"attention": "softmax", "reweight": True}])
def test_sdpa_of_other_variants(tmp_path, change):
    torch = pytest.importorskip("torch")
    model = GPT.from_torch(trained(torch)).attend(**change)
    model.save_pretrained(tmp_path)
    module = loaded(tmp_path)
    assert module.config._attn_implementation == "eager"
    with pytest.raises(ValueError, match='attn_implementation: expected "eager".* found "sdpa"'):
        loaded(tmp_path, attn_implementation="sdpa")
    with torch.no_grad():
        found = module(torch.from_numpy(rows())).logits.numpy()
    assert np.abs(found - model.outputs(rows())).max() < 2e-5


def test_gradient_checkpointing(tmp_path):
    """The same gradients, of blocks that are computed again."""
    torch = pytest.importorskip("torch")
    GPT.from_torch(trained(torch, layers=3, attention="lssar")).save_pretrained(tmp_path)
    module = loaded(tmp_path).train()
    calls = []
    for layer, block in enumerate(module.block):
        block.ln1.register_forward_hook(lambda *_, layer=layer: calls.append(layer))

    def gradients():
        module.zero_grad()
        calls.clear()
        module(torch.from_numpy(rows())).logits.sin().sum().backward()
        return [parameter.grad.clone() for parameter in module.parameters()], sorted(calls)

    expected, once = gradients()
    assert once == [0, 1, 2] and not module.is_gradient_checkpointing
    for settings, times in (({}, [0, 0, 1, 1, 2, 2]), ({"every_n_layers": 2}, [0, 0, 1, 2, 2])):
        if hasattr(module, "activation_checkpointing_enable"):
            module.activation_checkpointing_enable(**settings)
        elif not settings:
            module.gradient_checkpointing_enable()
        else:  # transformers before 5
            continue
        found, calls_made = gradients()
        assert module.is_gradient_checkpointing and calls_made == times
        assert all(torch.equal(a, b) for a, b in zip(found, expected))
    module.eval()
    calls.clear()
    module(torch.from_numpy(rows()))
    assert calls == [0, 1, 2]
    module.train().gradient_checkpointing_disable()
    assert gradients()[1] == [0, 1, 2]


@pytest.mark.parametrize("kind", ["coordinates", "bins", "characters"])
def test_embeddings(tmp_path, kind):
    """The outputs of the module that transformers gets are the embeddings of the rows."""
    torch = pytest.importorskip("torch")
    source = trained(torch, input=kind, positions="none")
    GPT.from_torch(source).save_pretrained(tmp_path)
    module, x = loaded(tmp_path), inputs(torch, source)[1]
    module.enable_input_require_grads()
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    assert module(x).logits.requires_grad
    embedding = module.get_input_embeddings()
    assert isinstance(embedding, torch.nn.Embedding) == (kind == "characters")
    assert embedding.weight.shape[0 if kind != "characters" else 1] == 16
    module.set_input_embeddings(embedding)
    assert module.get_input_embeddings() is embedding
    assert module.get_output_embeddings() is module.head
    with pytest.raises(NotImplementedError, match="resize_token_embeddings: expected"):
        module.resize_token_embeddings(20)
