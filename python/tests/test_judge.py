"""judge(): models answer a run, in files, and the programs in C measure them."""

import csv
import json
import os
import subprocess

import numpy as np
import pytest

import orrery
from conftest import BIN
from orrery.gpt import GPT

ASKED = {"sequences": 160, "sizes": [20], "draws": 1, "threads": 1, "quiet": True}
FP32 = {"model.precision": "fp32"}


def stay(rows):
    """Persistence: row t + 1 is of the body of row t - 1."""
    out = np.zeros_like(rows)
    out[:, 1:] = rows[:, :-1]
    return out


def rows_of(path):
    with open(path, newline="") as file:
        return {tuple(row[key] for key in ("quantity", "measure", "layer", "context")): row
                for row in csv.DictReader(file)}


def errors_of(path):
    return json.loads(path.read_text())["as_trained"]


@pytest.fixture(params=["run_folder", "space_folder"], ids=["plane", "space"])
def any_folder(request):
    """A run in the plane, and one in three dimensions."""
    return request.getfixturevalue(request.param)


def axes_of(folder):
    """Coordinates of a position in a run."""
    return orrery.Run(folder).data("train")["coords"].shape[2]


def test_a_function_gives_the_baseline_that_it_is(any_folder):
    run_folder = any_folder
    found = orrery.judge(stay, run_folder, "stay", **ASKED)
    e = errors_of(found.folder / "probe" / "evaluate.json")
    assert e["teacher_forced"] == pytest.approx(e["persistence"], rel=1e-6)
    assert e["rollout_19"] == pytest.approx(e["rollout_persistence_19"], rel=1e-6)
    for row in rows_of(found.folder / "probe" / "rollout.csv").values():
        if row["measure"] in ("AU", "drift"):
            assert float(row["value"]) == pytest.approx(float(row["raw"]), rel=1e-6)
            assert row["baseline"] == "nan"
    card = json.loads((found.folder / "card.json").read_text())
    assert card == found.card and card["model"] == "stay"
    assert set(card["left_out"]) == {"linear", "labels", "extrapolate", "inductive", "intervene",
                                     "planets", "laws", "untrained"}
    assert "not asked" in card["does_it_know_the_force"] and "next position, AU" in str(found)
    assert max(map(len, str(found).splitlines())) <= 80
    assert (found.folder / "card.md").read_text() == str(found)


def test_two_questions_side_by_side(run_folder, tmp_path):
    """Another folder of what is asked leaves the run's question as it is."""
    orrery.judge(stay, run_folder, "first", probes=["rollout"], **ASKED)
    was = (run_folder / "exchange" / "export.json").read_bytes()
    found = orrery.judge(stay, run_folder, "second", probes=["rollout"],
                         exchange=tmp_path / "asked", **{**ASKED, "sequences": 40})
    assert (run_folder / "exchange" / "export.json").read_bytes() == was
    rows = rows_of(found.folder / "probe" / "rollout.csv")
    assert {row["n"] for row in rows.values()} == {"40"}
    again = orrery.judge(stay, run_folder, "first", probes=["rollout"], resume=True, **ASKED)
    assert {row["n"] for row in rows_of(again.folder / "probe" / "rollout.csv").values()} == {"160"}


def test_several_trainings(run_folder):
    """Means over trainings, with Student's interval of two: 12.706 times half of their distance."""
    def farther(rows):
        return stay(rows) * np.float32(1.01)

    found = orrery.judge([stay, farther], run_folder, "two", probes=["rollout"], **ASKED)
    assert found.card["seeds"] == 2 and found.card["trainings"] == ["two_0", "two_1"]
    ones = [json.loads((run_folder / "answers" / f"two_{i}" / "card.json").read_text())["lines"]
            for i in range(2)]
    for line, a, b in zip(found.card["lines"], *ones, strict=True):
        mean, half = (a["value"] + b["value"]) / 2, abs(a["value"] - b["value"]) / 2
        assert line["value"] == pytest.approx(mean) and line["values"] == [a["value"], b["value"]]
        assert line["high"] == pytest.approx(mean + 12.7062047 * half)
        assert line["baseline"] is None and line["beyond_untrained"] is None
    assert "Trainings: 2" in str(found).replace("\n", " ")
    with pytest.raises(ValueError, match="2 to 10 trainings, found 1"):
        orrery.judge([stay], run_folder, "two", **ASKED)


class Counted:
    """Persistence, times a factor, that counts the sequences that it is asked for."""

    def __init__(self, factor=1.0):
        self.factor, self.asked = np.float32(factor), 0

    def predict(self, rows):
        self.asked += len(rows)
        return stay(rows) * self.factor


def test_what_is_answered_and_unchanged_is_not_asked_again(run_folder):
    def asked_again(model, probes, **options):
        model.asked = 0
        found = orrery.judge(model, run_folder, "counted", probes=probes,
                             **{**ASKED, **options})
        return model.asked, found

    model = Counted()
    first, found = asked_again(model, ["evaluate"])
    again, same = asked_again(model, ["evaluate"], resume=True)
    assert first > 160 and again == 4 and same.card == found.card  # 4: whether it is the same model
    # another probe asks for its own alone
    more, _ = asked_again(model, ["evaluate", "rollout"], resume=True)
    alone, _ = asked_again(model, ["rollout"])
    assert more == alone + 4
    # a file that was changed, or whose question is another, is asked again
    asked_again(model, ["evaluate"])
    path = found.folder / "predictions_test.npy"
    path.write_bytes(path.read_bytes()[:-4] + b"\0\0\0\0")
    changed, _ = asked_again(model, ["evaluate"], resume=True)
    assert 160 < changed <= first
    fewer, _ = asked_again(model, ["evaluate"], resume=True, sequences=150)
    assert 150 < fewer < first
    # another model
    other, _ = asked_again(Counted(1.02), ["evaluate"], resume=True, sequences=150)
    assert other == fewer + 4


def test_set_activations_of_an_object(run_folder):
    """A linear model of one layer: what is added to the layer is in the prediction."""
    class Linear:
        def predict(self, rows):
            return self.intervene(rows, 0, self.activations(rows)[0][:, :0])

        def activations(self, rows):
            before = np.zeros_like(rows)
            before[:, 2:] = rows[:, :-2]
            return [np.concatenate([rows, before], 2)]

        def intervene(self, rows, layer, activations):
            assert layer == 0
            state = self.activations(rows)[0]
            state[:, : activations.shape[1]] = activations
            return 2 * state[..., :2] - state[..., 2:]

    found = orrery.judge(Linear(), run_folder, "linear", probes=["intervene"], **ASKED)
    rows = rows_of(found.folder / "probe" / "intervene.csv")
    assert len({key[2] for key in rows}) == 1  # one layer
    slopes = [float(row["value"]) for key, row in rows.items() if key[1].startswith("slope")]
    assert len(slopes) == 16 and any(abs(slope) > 1e-3 for slope in slopes)
    added = np.load(found.folder / "additions_layer0.npy")
    out = np.load(found.folder / "continuations_layer0.npy")
    moved = (out - out[:1])[:, :, :2]  # of the next position
    assert np.allclose(moved, 2 * added[..., :2] - added[..., 2:], atol=1e-3 * np.abs(added).max())


@pytest.mark.parametrize("model, message", [
    (lambda rows: np.concatenate([rows[:, 1:], rows[:, :1]], 1), "depends on later rows"),
    (lambda rows: np.full_like(rows, np.nan), "expected a finite number, found nan"),
    (lambda rows: rows[:, :, :1], "predict: expected an array"),
    (lambda rows: None, r"predict: expected an array \(\d+, \d+, 2\), found None"),
    (lambda rows: "nothing", "predict: expected an array .* found str of no numbers"),
    (lambda rows: [[1], [2, 3]], "predict: expected an array .* found list of no numbers"),
    (lambda rows: rows.astype(complex), "predict: expected an array .* found complex numbers"),
    (lambda rows: stay(rows)[::-1], "order"),
], ids=["look ahead", "NaN", "shape", "None", "text", "lists", "complex", "order"])
def test_what_is_no_answer_is_refused(run_folder, model, message):
    with pytest.raises(ValueError, match=message):
        orrery.judge(model, run_folder, "bad", probes=["evaluate"], **ASKED)
    assert not (run_folder / "answers" / "bad" / "probe").exists()
    assert not (run_folder / "answers" / "bad" / "card.json").exists()


class Twin:
    """Persistence, and a twin that does not move."""

    def predict(self, rows):
        return stay(rows)

    def untrained(self, seed):
        return lambda rows: 0 * rows


@pytest.mark.parametrize("probe, part, message", [
    ("evaluate", "rollout", "rollout: expected an array .* found None"),
    ("linear", "activations", "activations: expected a list of arrays.* found None"),
    ("intervene", "intervene", "intervene: expected an array .* found None"),
    ("labels", "predictor", "predictor: expected an array .* found None"),
])
def test_no_array_of_an_object_is_refused(run_folder, probe, part, message):
    class Model:
        def predict(self, rows):
            return stay(rows)

        def rollout(self, rows, steps):
            return None if part == "rollout" else rows[:, :1].repeat(steps, 1)

        def activations(self, rows):
            return None if part == "activations" else [rows]

        def intervene(self, rows, layer, activations):
            return None

        def tune(self, rows, labels, mask, seed):
            return lambda rows: None

    with pytest.raises(ValueError, match=message):
        orrery.judge(Model(), run_folder, "bad", probes=[probe], **ASKED)


def test_answers_that_judge_did_not_make_stay(run_folder):
    """Those of `probe answer`, of a script, and of a source of the run; its own are made again."""
    theirs = run_folder / "answers" / "theirs"
    theirs.mkdir(parents=True)
    for name in ("export.json", "forces_magnitude.csv", "predictions_test.npy"):
        (theirs / name).write_text("theirs")
        with pytest.raises(ValueError, match=f"{name} but no answered.json: .* did not make"):
            orrery.judge(stay, run_folder, "theirs", probes=["evaluate"], **ASKED)
        for place in ("pair_1", "pair_untrained"):  # a training, and a twin
            theirs.rename(theirs.with_name(place))
            with pytest.raises(ValueError, match=f"{place}: has {name} but no answered.json"):
                orrery.judge([stay, stay] if place == "pair_1" else Twin(), run_folder, "pair",
                             probes=["evaluate"], **ASKED)
            theirs.with_name(place).rename(theirs)
        assert [path.read_text() for path in theirs.iterdir()] == ["theirs"]
        (theirs / name).unlink()
    for name in ("lssar", "truth"):
        with pytest.raises(ValueError, match=f"name: '{name}' is a source of the run"):
            orrery.judge(stay, run_folder, name, probes=["evaluate"], **ASKED)
        assert not (run_folder / "answers" / name).exists()

    def stopped(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        orrery.judge(stopped, run_folder, "theirs", probes=["evaluate"], **ASKED)
    orrery.judge(stay, run_folder, "theirs", probes=["evaluate"], **ASKED)


def test_arguments(run_folder):
    for wrong, message in (({"probes": ["linear"]}, "gives no activations"),
                           ({"probes": ["atention"]}, "expected some of evaluate"),
                           ({"folder": run_folder / "other"}, "the model's, 'm'"),
                           ({"settings": {"orbits.law": "nothing"}}, "orbits.law")):
        with pytest.raises(ValueError, match=message):
            orrery.judge(stay, run_folder, "m", **{**ASKED, **wrong})
    with pytest.raises(ValueError, match="nope: no preset.json there"):
        orrery.judge(stay, run_folder / "nope", "m", **ASKED)
    assert not (run_folder / "nope").exists()
    with pytest.raises(TypeError, match="expected a function"):
        orrery.judge(3, run_folder, "m", **ASKED)
    with pytest.raises(FileNotFoundError, match="programs"):
        orrery.judge(stay, run_folder, "m", **ASKED, programs=run_folder)


def test_programs_of_an_installed_tree(run_folder, tmp_path):
    """There bin/ has orrery alone, and a program of another package may lie beside it."""
    source = BIN.parent
    subprocess.run(["tools/install.sh", "install"], cwd=source, check=True, capture_output=True,
                   env={**os.environ, "PREFIX": str(tmp_path / "tree")})
    programs = tmp_path / "tree" / "bin"
    assert [path.name for path in programs.iterdir()] == ["orrery"]
    (programs / "probe").write_text("#!/bin/sh\nexit 3\n")
    (programs / "probe").chmod(0o755)
    for folder in (programs, tmp_path / "tree" / "libexec" / "orrery"):
        found = orrery.judge(stay, run_folder, folder.name, probes=["evaluate"], programs=folder,
                             **{**ASKED, "folder": tmp_path / folder.name})
        assert (found.folder / "probe" / "evaluate.json").exists()


def test_own_model_has_the_numbers_of_the_probes(any_folder, tmp_path):
    """Orrery's GPT through Python, against bin/probe of its checkpoint: predictions by the C
    library, activations and changes of them by its torch module."""
    run_folder = any_folder
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    checkpoint = run_folder / "lssar" / "pretrain" / "last.safetensors"
    found = orrery.judge(GPT.from_checkpoint(checkpoint), run_folder, "gpt", untrained=False,
                         probes=["evaluate", "rollout", "linear", "intervene"], settings=FP32,
                         **ASKED)
    for probe in ("evaluate", "rollout", "linear", "intervene"):
        subprocess.run([BIN / "probe", probe, "--checkpoint", checkpoint, "--sequences", "160",
                        "--set", "model.precision=fp32", "--threads", "1", "--quiet", "--out",
                        tmp_path], check=True, capture_output=True)
    mine, theirs = (errors_of(f / "evaluate.json") for f in (found.folder / "probe", tmp_path))
    for key in ("teacher_forced", "rollout_1", "rollout_5", "rollout_19", "orbit_fit"):
        assert mine[key] == pytest.approx(theirs[key], rel=1e-4), key
    for probe, least in (("rollout", 10), ("linear", 100), ("intervene", 70)):
        mine, theirs = (rows_of(f / f"{probe}.csv") for f in (found.folder / "probe", tmp_path))
        assert mine.keys() == theirs.keys() and len(mine) > least
        for key, row in mine.items():
            # rows of the embedding span few directions: the shortest change of a readout there is
            # what rounding makes of the others
            if probe == "intervene" and key[1] in ("slope", "cosine") and key[2] == "0":
                continue
            for column in ("value", "low", "high"):
                assert float(row[column]) == pytest.approx(
                    float(theirs[key][column]), rel=2e-3, abs=2e-3, nan_ok=True), (key, column)


def recurrent(torch, axes=2):
    """The class of a small LSTM from rows to positions."""
    class Recurrent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(axes, 12, batch_first=True)
            self.head = torch.nn.Linear(12, axes)

        def forward(self, rows):
            return self.head(self.lstm(rows)[0])

    return Recurrent


def test_a_torch_module_to_its_card(any_folder):
    run_folder = any_folder
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    from orrery.judging import TorchModel

    torch.manual_seed(1)
    model = TorchModel(recurrent(torch, axes_of(run_folder))(), steps=3)
    assert model.layers == ["lstm", "head"] and model.last == "lstm"
    quick = {"symreg.iterations": 1, "symreg.enumerate": 500}
    found = orrery.judge(model, run_folder, "lstm", settings=quick, **ASKED)
    assert set(found.card["left_out"]) == {"planets"}
    assert found.card["laws"]["model"]["samples"] == 5
    assert set(found.card["probes"]) == set(orrery.judging.PROBES) - {"planets"}
    assert found.card["does_it_know_the_force"] == "no: its forces follow the law in 0 of 5 samples"
    lines = {line["measure"]: line for line in found.card["lines"]}
    readout = lines["linear readout of log force, R^2"]
    assert readout["baseline"] is not None and readout["beyond_untrained"] in (True, False)
    assert "log force after 20 labelled sequences, R^2" in lines
    assert {"lstm", "lstm_untrained"} <= {law["source"] for law in json.loads(
        (found.folder / "laws" / "laws.json").read_text())["laws"]}
    table = found.table("linear")
    assert set(np.asarray(table["layer"])) == {-1, 0, 1}
    again = orrery.judge(model, run_folder, "lstm", probes=["rollout"], resume=True, **ASKED)
    rollouts = [line for line in found.card["lines"] if "rollout" in line["measure"]]
    assert again.card["lines"] == rollouts and len(rollouts) == 2


# ---- adapters of other packages


def sequences_of(run_folder):
    """Training sequences of the run, rows (n, T, d)."""
    return np.asarray(orrery.Run(run_folder).data("train")["coords"][:200, :40])


def test_a_hugging_face_model_by_embeddings(run_folder):
    """Hidden states and forces of a small GPT-2, and its twin of the same configuration."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.set_num_threads(1)
    from orrery.judging import HuggingFaceModel

    torch.manual_seed(1)
    config = transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=41, vocab_size=2)
    with pytest.raises(TypeError, match="HuggingFaceModel"):
        orrery.judge(transformers.GPT2Model(config), run_folder, "gpt2", **ASKED)
    with pytest.raises(TypeError, match="expected a transformers.PreTrainedModel, found Linear"):
        HuggingFaceModel(torch.nn.Linear(2, 2), torch.nn.Linear(2, 16), torch.nn.Linear(16, 2))
    model = HuggingFaceModel(transformers.GPT2LMHeadModel(config), torch.nn.Linear(2, 16),
                             torch.nn.Linear(16, 2), steps=2)
    rows = np.random.default_rng(3).normal(size=(3, 9, 2)).astype(np.float32)
    states = model.activations(rows)
    assert [state.shape for state in states] == [(3, 9, 16)] * 3
    out = model.module.out(torch.tensor(states[-1])).detach().numpy()
    assert np.allclose(out, model.predict(rows), atol=1e-6)  # the last state is what `out` is given
    twin, again = model.untrained(5), model.untrained(5)
    assert np.allclose(twin.predict(rows), again.predict(rows))
    assert not np.allclose(twin.predict(rows), model.predict(rows), atol=1e-2)
    found = orrery.judge(model, run_folder, "gpt2", probes=["evaluate", "linear", "labels"],
                         settings=FP32, **ASKED)
    readout = {line["measure"]: line for line in found.card["lines"]}[
        "linear readout of log force, R^2"]
    assert readout["baseline"] is not None
    assert set(np.asarray(found.table("linear")["layer"])) == {-1, 0, 1, 2}


def test_windows_of_rows():
    """Row t has the rows up to t and no later one."""
    from orrery.judging import windows

    rows = np.random.default_rng(2).normal(size=(2, 7, 2)).astype(np.float32)
    x = windows(rows, 3).reshape(2, 7, 8)
    assert np.array_equal(x[1, 5, 2:], rows[1, [5, 4, 3]].ravel()) and x[1, 5, 1] == 1
    assert np.array_equal(x[0, 2], [rows[0, 0, 0], 0, *rows[0, 2], *rows[0, 1], 0, 0])
    assert np.array_equal(x[0, 0], [rows[0, 0, 0], 0, 0, 0, 0, 0, 0, 0])
    assert np.array_equal(windows(rows[:, :5], 3), x[:, :5].reshape(10, 8))
    space = np.random.default_rng(2).normal(size=(2, 7, 3)).astype(np.float32)
    x = windows(space, 3).reshape(2, 7, 11)
    assert np.array_equal(x[1, 5, 2:], space[1, [5, 4, 3]].ravel()) and x[1, 5, 1] == 1
    assert np.array_equal(x[0, 1], [space[0, 0, 0], 1, *space[0, 1], 0, 0, 0, 0, 0, 0])


def test_a_regressor_of_windows(any_folder):
    """scikit-learn: a linear model of four rows is better than persistence and than its twin."""
    run_folder, axes = any_folder, axes_of(any_folder)
    linear = pytest.importorskip("sklearn.linear_model")
    from orrery.judging import SklearnModel, windows

    train = sequences_of(run_folder)
    with pytest.raises(ValueError, match="expected a fitted one"):
        orrery.judge(linear.Ridge(), run_folder, "ridge", **ASKED)
    with pytest.raises(ValueError, match=f"2 . {axes} window features"):
        orrery.judge(linear.Ridge().fit(np.ones((3, 3 + axes)), np.ones((3, axes))), run_folder,
                     "ridge", **ASKED)
    with pytest.raises(ValueError, match="two targets, or three .*, found 1"):
        orrery.judge(linear.Ridge().fit(np.ones((3, 5)), np.ones(3)), run_folder, "ridge", **ASKED)
    fitted = linear.Ridge(1e-6).fit(windows(train[:, :-1], 4), train[:, 1:].reshape(-1, axes))
    model = SklearnModel(linear.Ridge(1e-6), 4, train=train)
    assert np.allclose(model.predict(train[:5]), SklearnModel(fitted).predict(train[:5]))
    slow = super(SklearnModel, model).rollout(train[:5, :9], 4)
    assert np.allclose(model.rollout(train[:5, :9], 4), slow, atol=1e-5)
    found = orrery.judge(model, run_folder, "ridge", probes=["evaluate", "labels"], **ASKED)
    e = errors_of(found.folder / "probe" / "evaluate.json")
    # planes of all orientations leave a linear model no turn to learn, as orbits of one sense do
    share = 0.5 if axes == 2 else 0.8
    assert e["teacher_forced"] < share * min(e["persistence"], e["random_weights"])
    assert "untrained" not in found.card["left_out"]
    assert "log force after 20 labelled sequences, R^2" in {
        line["measure"] for line in found.card["lines"]}


def check_interventions(model, rows):
    """What is set is what was there: nothing changes. A changed row changes predictions from there
    on, whichever rows follow those that are set."""
    expected, known = model.predict(rows), rows.shape[1] - 2
    random = np.random.default_rng(5)
    states = model.activations(rows)
    for layer, state in enumerate(states):
        same = model.intervene(rows, layer, state[:, :known])
        assert np.allclose(same, expected, atol=1e-5), layer
        changed = state[:, :known].copy()
        changed[:, known - 1] += random.normal(size=state.shape[2])  # a norm takes a constant out
        out = model.intervene(rows, layer, changed)
        assert np.allclose(out[:, : known - 1], expected[:, : known - 1], atol=1e-5), layer
        assert not np.allclose(out[:, known - 1], expected[:, known - 1], atol=1e-3), layer
    assert np.allclose(model.predict(rows), expected)  # no hook stays
    return len(states)


def test_interventions_by_hooks(any_folder):
    torch = pytest.importorskip("torch")
    from orrery.judging import OrreryModel, TorchModel

    run_folder, axes = any_folder, axes_of(any_folder)
    torch.manual_seed(3)
    rows = np.random.default_rng(4).normal(size=(3, 9, axes)).astype(np.float32)

    assert check_interventions(TorchModel(recurrent(torch, axes)()), rows) == 2
    checkpoint = run_folder / "lssar" / "pretrain" / "last.safetensors"
    assert check_interventions(OrreryModel(GPT.from_checkpoint(checkpoint)), rows) == 2


def test_interventions_in_a_hugging_face_model():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from orrery.judging import HuggingFaceModel

    torch.manual_seed(3)
    rows = np.random.default_rng(4).normal(size=(3, 9, 2)).astype(np.float32)
    gpt2 = transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=41, vocab_size=2,
                                   bos_token_id=None, eos_token_id=None)
    llama = transformers.LlamaConfig(hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
                                     intermediate_size=32, vocab_size=2, bos_token_id=None,
                                     eos_token_id=None)
    for made, states in ((transformers.GPT2Model(gpt2), 3), (transformers.LlamaModel(llama), 4)):
        model = HuggingFaceModel(made, torch.nn.Linear(2, 16), torch.nn.Linear(16, 2))
        assert check_interventions(model, rows) == states
