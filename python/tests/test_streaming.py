"""stream(): batches for torch's DataLoader, each sequence once."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import orrery

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402


def gathered(dataset, **options):
    batches = list(DataLoader(dataset, batch_size=None, **options))
    assert all(isinstance(value, torch.Tensor) for batch in batches for value in batch.values())
    return batches


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_each_sequence_once(workers):
    """In whatever batches, all workers together make what simulate() does."""
    expected = orrery.simulate(n=50, first=5, seed=2)
    options = {"num_workers": workers, "multiprocessing_context": "spawn"} if workers else {}
    if workers == 3:
        options["multiprocessing_context"] = "fork"
    batches = gathered(orrery.stream(n=50, first=5, seed=2, batch_size=8), **options)
    assert sorted(len(batch["state"]) for batch in batches) == [2, 8, 8, 8, 8, 8, 8]
    state = np.concatenate([batch["state"].numpy() for batch in batches])
    order = np.lexsort(state[:, 1:, :2].reshape(50, -1).T)
    wanted = np.lexsort(expected["state"][:, 1:, :2].reshape(50, -1).T)
    assert np.array_equal(state[order], expected["state"][wanted])
    if workers < 2:
        for key in expected:
            assert np.array_equal(np.concatenate([b[key].numpy() for b in batches]),
                                  expected[key], equal_nan=True), key


def test_ranks():
    whole = gathered(orrery.stream(n=30, batch_size=4))
    parts = [gathered(orrery.stream(n=30, batch_size=4, rank=r, world_size=3)) for r in range(3)]
    assert [len(part) for part in parts] == [3, 3, 2]
    assert [len(orrery.stream(n=30, batch_size=4, rank=r, world_size=3)) for r in range(3)] == [
        3, 3, 2]
    for b, batch in enumerate(whole):
        assert torch.equal(batch["force"], parts[b % 3][b // 3]["force"])


def test_without_end():
    """More sequences than the preset's set has."""
    made = iter(orrery.stream(preset="smoke", batch_size=700, keys=["scale", "state"]))
    batches = [next(made) for _ in range(3)]
    assert set(batches[0]) == {"scale", "state"}
    expected = orrery.simulate(preset="smoke", n=700, first=1400)
    assert np.array_equal(batches[2]["state"].numpy(), expected["state"])
    with pytest.raises(TypeError, match="no length"):
        len(orrery.stream())


def test_tokens_are_indices():
    batch = next(iter(orrery.stream("val", preset="smoke_tokens", batch_size=2)))
    assert batch["tokens"].dtype == torch.int64


def test_pickle():
    dataset = pickle.loads(pickle.dumps(orrery.stream(n=4, batch_size=4)))
    assert len(gathered(dataset)[0]["state"]) == 4


@pytest.mark.parametrize("options, message", [
    ({"batch_size": 0}, "batch_size: expected a whole number from 1 to .*, found 0"),
    ({"n": 1.5}, "n: expected"), ({"first": -1}, "first"), ({"keys": ["forces"]}, "keys.*forces"),
    ({"rank": 2, "world_size": 2}, "rank: expected 0 to 1"), ({"name": "trian"}, "train"),
    ({"positionss": 3}, "positions")])
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        orrery.stream(**options)


def test_torch_is_not_imported(monkeypatch):
    code = """import sys, orrery
orrery.simulate(n=1)
print([name for name in ("torch", "pandas", "sklearn") if name in sys.modules])"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
    for name in ("torch", "orrery._torch"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install torch"):
        orrery.stream(n=3)
