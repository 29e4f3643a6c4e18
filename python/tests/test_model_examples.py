"""The models of docs/examples/models and the table of their cells, at the size of a test."""

import importlib
import importlib.util
import json
import pathlib
import sys
import tarfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "models"
MODELS = ("lstm", "state_space", "window_mlp", "hamiltonian", "hugging_face")


@pytest.fixture
def example(monkeypatch):
    """A function that imports a file of the folder."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    torch.set_num_threads(1)

    def load(name):
        if name == "hugging_face":
            pytest.importorskip("transformers")
        torch.manual_seed(2)
        return importlib.import_module(name)

    return load


def some_rows(sequences=3, rows=12):
    made = 0.7 * torch.randn(sequences, rows, 2, generator=torch.Generator().manual_seed(1))
    made[:, 0] = torch.tensor([-3.1, 0.0])
    return made


@pytest.mark.parametrize("name", MODELS)
def test_no_output_depends_on_later_rows(example, name):
    model, rows = example(name).Model().eval(), some_rows()
    with torch.no_grad():
        whole = model(rows)
        assert whole.shape == rows.shape
        for known in range(1, rows.shape[1]):
            torch.testing.assert_close(model(rows[:, :known]), whole[:, :known],
                                       rtol=1e-4, atol=1e-5)
        changed = rows.clone()
        changed[:, -2] += 1
        assert not torch.allclose(model(changed)[:, -1], whole[:, -1], atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_training_and_twin(example, name, run_folder):
    """The loss falls, all parameters change, and the adapter knows layers and a twin."""
    training, file = example("training"), example(name)
    model = file.Model()
    before = training.validation(model, run_folder, training.settings(run_folder)["huber"])
    fresh = [w.detach().clone() for w in model.parameters()]
    found = training.train(model, run_folder, lr=3e-3, seed=1, steps=12)
    assert found["steps"] == 12 and found["validation_loss"] < before
    used = [w for w in model.parameters() if w.grad is not None]
    assert len(used) >= len(fresh) - 1  # GPT-2 has an embedding of tokens that is not read
    assert all(not torch.equal(a, b) for a, b in zip(fresh, model.parameters())
               if b.grad is not None and b.grad.abs().sum() > 0)
    adapted = example("heads").FrozenModel(model, file.LAYERS)
    adapted.head_steps = 2
    rows = some_rows().numpy()
    assert [x.shape[:2] for x in adapted.activations(rows)] == [(3, 12)] * len(file.LAYERS)
    twin = adapted.untrained(4).predict(rows)
    assert not np.allclose(twin, adapted.predict(rows))
    assert np.array_equal(twin, adapted.untrained(4).predict(rows))
    labels, mask = np.full((3, 12), 2.385, np.float32), np.ones((3, 12), bool)
    assert adapted.tune(rows, labels, mask, 1)(rows).shape == (3, 12)


def test_losses(example):
    """Pseudo-Huber is half of the square near 0 and straight far away; delta = 0 is the square."""
    loss = example("training").loss_of
    far, near = torch.tensor([2.385, -2.385]), torch.tensor([1e-3, -1e-3])
    assert float(loss(near, 0.05)) == pytest.approx(0.5e-6, rel=1e-3)
    assert float(loss(far, 0.05)) == pytest.approx(0.05 * 2.385 - 0.05**2, rel=1e-3)
    assert float(loss(far, 0)) == pytest.approx(2.385**2)


def test_processor_seconds_end_a_training(example, run_folder):
    training = example("training")
    found = training.train(example("window_mlp").Model(), run_folder, lr=1e-3, seed=0, seconds=0.2)
    assert found["steps"] > 1 and 0.2 <= found["processor_seconds"] < 2


def test_the_sum_of_the_state_space_model_is_its_recurrence(example):
    """y_t = S_t C_t with S_t = a_t S_(t-1) + d_t x_t B_t, row by row, in float64."""
    block = example("state_space").Block(8, heads=2, state=3).double().eval()
    u = torch.randn(2, 7, 8, dtype=torch.float64)
    with torch.no_grad():
        inner = 16
        x, gate, b, c, d = block.enter(block.norm(u)).split([inner, inner, 3, 3, 2], -1)
        past = torch.nn.functional.pad(x, (0, 0, 3, 0))
        weight, bias = block.near.weight[:, 0], block.near.bias  # (inner, 4), (inner)
        S = torch.zeros(2, 2, inner // 2, 3, dtype=torch.float64)
        for t in range(7):
            near = (past[:, t : t + 4].transpose(1, 2) * weight).sum(-1) + bias
            xt = torch.nn.functional.silu(near).unflatten(-1, (2, -1))
            dt = torch.nn.functional.softplus(d[:, t])
            a = torch.exp(-block.decay.exp() * dt)
            S = a[..., None, None] * S + (dt[..., None] * xt)[..., None] * b[:, t, None, None]
            y = (S * c[:, t, None, None]).sum(-1) + block.skip[:, None] * xt
            out = u[:, t] + block.leave(y.flatten(1) * torch.nn.functional.silu(gate[:, t]))
            torch.testing.assert_close(block(u)[:, t], out)


def test_a_fast_decay_of_the_state_space_model_has_finite_slopes(example):
    """Of later rows nothing is computed, which would be the exponential of a large number."""
    block = example("state_space").Block(8, heads=2, state=3)
    with torch.no_grad():
        block.decay.fill_(5.0)
    block(torch.randn(2, 40, 8)).sum().backward()
    assert all(torch.isfinite(w.grad).all() for w in block.parameters())


def test_a_head_learns_what_the_last_layer_has(example):
    """ln F is a bend of two of three activations; the head finds it and leaves the model alone."""
    heads = example("heads")

    class Three(heads._Frozen):
        head_steps = 400

        def activations(self, rows):
            return [np.concatenate([rows, rows[..., :1] * rows[..., 1:]], -1)]

    rows = np.random.default_rng(5).normal(size=(200, 6, 2)).astype(np.float32)
    labels = np.exp(1.7 + np.sin(rows[..., 0]) + 0.5 * rows[..., 1]).astype(np.float32)
    mask = np.zeros((200, 6), bool)
    mask[:, 3:] = True
    found = Three().tune(rows[:150], labels[:150], mask[:150], 1)(rows[150:])
    error, y = np.log(found) - np.log(labels[150:]), np.log(labels[150:])
    assert found.shape == (50, 6) and (error**2).mean() < 0.02 * y.var()


def test_the_hamiltonian_model_attracts_and_keeps_momentum(example):
    """The pull on both bodies is along their distance, and of shares that add to one."""
    model = example("hamiltonian").Model().double()
    q = torch.randn(2, 3, 2, 2, dtype=torch.float64)
    context, share = torch.randn(2, 3, 8, dtype=torch.float64), torch.rand(2, 3, 1).double()
    a = model.pull(q, context, share)
    momentum = (1 - share) * a[:, :, 0] + share * a[:, :, 1]
    torch.testing.assert_close(momentum, torch.zeros_like(momentum))
    apart, relative = q[:, :, 0] - q[:, :, 1], a[:, :, 0] - a[:, :, 1]
    assert ((apart * relative).sum(-1) < 0).all()
    f = model.log_force(apart.norm(dim=-1, keepdim=True), context).exp()
    torch.testing.assert_close(relative.norm(dim=-1, keepdim=True), f)


def test_a_cell(run_copy, tmp_path, example, monkeypatch):
    """Training, probes, extrapolation and the forces that laws are searched in, of one model."""
    monkeypatch.setattr(example("heads")._Frozen, "head_steps", 20)
    monkeypatch.setattr(sys, "argv", [
        "cell.py", "state_space", "--run", str(run_copy), "--seconds", "0.3", "--rates",
        "0.001,0.003", "--sizes", "20", "--sequences", "400", "--out", str(tmp_path)])
    example("cell").main()
    cell = json.loads((tmp_path / "state_space_seconds_seed0.json").read_text())
    assert set(cell["training"]["rates"]) == {"0.001", "0.003"}
    assert cell["training"]["lr"] == float(min(cell["training"]["rates"],
                                               key=cell["training"]["rates"].get))
    measures = " ".join(line["measure"] for line in cell["lines"])
    for word in ("next position", "rollout", "linear readout", "after 20 labelled"):
        assert word in measures
    for of in cell["extrapolation"].values():
        assert len(of) == 4 and all(np.isfinite(list(of.values())))
    table = run_copy / "answers" / "state_space_seconds" / "forces_magnitude.csv"
    asked = (run_copy / "exchange" / "rows_magnitude.csv").read_text().splitlines()
    assert len(table.read_text().splitlines()) == len(asked)


# ------------------------------------------------------------------------------- the table


@pytest.fixture
def table():
    """bench/models_table.py as a module."""
    spec = importlib.util.spec_from_file_location("models_table", ROOT / "bench/models_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_cell(folder, model, budget, seed, error, twin):
    line = {"measure": "next position, AU", "value": error, "baseline": twin, "upper_bound": 0.005,
            "raw": 0.134}
    outside = {"exponent of r, r outside": -1.9 + error}
    (folder / f"{model}_{budget}_seed{seed}.json").write_text(json.dumps({
        "model": model, "budget": budget, "seed": seed, "lines": [line],
        "training": {"parameters": 1000, "steps": 7, "lr": 0.01, "processor_seconds": 2.0},
        "extrapolation": {"model": outside, "untrained": {"exponent of r, r outside": -1.9}}}))


def test_what_the_table_says(table, tmp_path):
    """Student's interval by hand, comparisons seed by seed, and one seed without any."""
    for seed, (error, twin, own) in enumerate(((0.2, 1.2, 0.1), (0.3, 1.31, 0.2), (0.4, 1.4, 0.3))):
        write_cell(tmp_path, "lstm", "seconds", seed, error, twin)
        write_cell(tmp_path, "softmax", "own", seed, own, 0.2)
    write_cell(tmp_path, "lstm", "steps", 0, 0.2, 1.2)
    laws = {"lstm_seconds": {"samples": 2, "selected": 2},
            "lstm_seconds_untrained": {"samples": 2, "selected": 1}}
    for seed in range(3):
        (tmp_path / f"laws_seconds_seed{seed}.json").write_text(json.dumps(laws))
    made = table.table(tmp_path)
    row = next(line for line in made.splitlines() if line.startswith("| lstm, equal seconds"))
    assert "| 3 | **0.300 +- 0.248** v |" in row  # 4.303 * 0.1 / sqrt 3, worse than softmax
    assert "*-1.600 +- 0.248*" in row and row.endswith("| 6/6 |")
    says = [line for line in made.splitlines() if line.startswith("| lstm") and "untrained" in line]
    assert "better than untrained in next position; worse than untrained in exponent" in says[0]
    assert "knows the law" in says[0]
    assert "one seed, so nothing" in made and "| truth or orbit fit | | 0.0050 |" in made
    (tmp_path / "laws.json").write_text(json.dumps({"laws": [
        {"source": "a", "rule": rule, "selected_true": rule == "best", "on_front": True}
        for rule in ("best", "score", "best")]}))
    table.count_laws(tmp_path / "laws.json", tmp_path / "counted.json")
    assert json.loads((tmp_path / "counted.json").read_text()) == {
        "a": {"samples": 2, "selected": 2, "on_front": 2}}


def test_the_page_has_the_table_of_the_cells(table):
    """docs/models.md is made by bench/models_table.py --page of the files that are kept."""
    page = (ROOT / "docs" / "models.md").read_text()
    assert table.table(ROOT / "bench/results/models/cells.tar.xz") in page


def test_archives_are_read_by_a_python_without_filters(table, monkeypatch):
    """As Python 3.11.2 of Debian 12, whose extractall() knows no filter; a missing file is told."""
    whole = tarfile.TarFile.extractall
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    monkeypatch.setattr(tarfile.TarFile, "extractall", lambda self, path: whole(self, path))
    assert "| lstm" in table.table(ROOT / "bench/results/models/cells.tar.xz")
    with pytest.raises(SystemExit, match="none.tar.xz: not found"):
        table.table("none.tar.xz")
