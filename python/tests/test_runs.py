"""Run and compare(), logs elsewhere, RO-Crate: of a run that the programs made."""

import json
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import types
import zlib

import numpy as np
import pytest

import orrery
from conftest import BIN
from orrery import _tables, crate, log, runs
from orrery._safetensors import File


def column(table, name):
    return np.asarray(table[name])


@pytest.fixture(scope="module")
def run(run_folder):
    return orrery.Run(run_folder)


# ---------------------------------------------------------------------------------- results


def of_sevens(text):
    """The bytes of a text that carries seven bits a byte, as orr_html_sevens() writes it."""
    digits = ""
    for code in map(ord, text):
        k = code // 128 - 2
        digits += f"{code if k < 0 else (0, 9, 10, 13, 27, 60)[k % 6]:07b}"
        digits += f"{code % 128:07b}" if 0 <= k < 6 else ""
    whole = len(digits) // 8
    return int(digits[:8 * whole], 2).to_bytes(whole, "big")


def test_its_orbit_lab(run, space_folder, tmp_path):
    page = orrery.lab(run, tmp_path / "of a run.html", programs=BIN)
    lines = page.path.read_text(encoding="utf-8").split("\n")
    *networks, about = lines[lines.index('<script type="text/plain" id="run">') + 1].split("\t")
    held = json.loads(about)
    assert [(each["name"], each["forces"]) for each in held["networks"]] == [
        ("lssar", False), ("untrained", True), ("lssar", True)]
    assert page._repr_html_().startswith("<iframe srcdoc=")
    # weights have 16 significant bits, and their bytes stand by their places
    assert len(networks) == len(held["networks"])
    stored = zlib.decompress(of_sevens(networks[0]))
    first = 8 + struct.unpack("<Q", stored[:8])[0]
    planes = np.frombuffer(stored[first:], np.uint8).reshape(4, -1)
    assert not planes[0].any()
    (tmp_path / "page.safetensors").write_bytes(stored[:first] + planes.T.tobytes())
    trained, of_page = (File(path) for path in (run.path / "lssar/pretrain/best.safetensors",
                                                tmp_path / "page.safetensors"))
    for name in of_page.names():
        weights, rounded = trained.array(name), of_page.array(name)
        assert np.all(np.abs(rounded - weights) <= 2.0 ** -16 * np.abs(weights)), name
    with pytest.raises(ValueError, match="coordinates in the plane"):
        orrery.lab(space_folder, tmp_path / "space.html", programs=BIN)
    assert not (tmp_path / "space.html").exists()


def test_what_it_is(run):
    assert run.sources == ["truth", "oracle", "untrained", "lssar"]
    assert run.attentions == ["lssar"]
    assert run.settings["name"] == "smoke" and run.settings["pretrain.steps"] == 30
    assert run.true_law["formula"] == "k m1 m2 / r^2"
    assert "two_body_test" in run.sets


def test_arrays_are_those_of_simulate(run):
    """Files of the program, and the library."""
    arrays = run.data("two_body_test")
    made = orrery.simulate("two_body_test", preset="smoke")
    assert np.array_equal(arrays["coords"], made["coordinates"])
    assert np.array_equal(arrays["num_bodies"], made["bodies"])
    assert np.array_equal(arrays["force_vector"], made["force"])
    assert np.array_equal(arrays["force_magnitude"][..., 0], made["force_magnitude"])
    assert set(run.data("planets_solar")) >= {"coords", "scale", "state"}


def test_shards(run, run_copy):
    folder = run_copy / "orbits"
    whole = np.load(folder / "coords_val.npy")
    np.save(folder / "coords_val-00000-of-00002.npy", whole[:3])
    (folder / "coords_val.npy").unlink()
    with pytest.raises(FileNotFoundError, match="coords_val-00001-of-00002.npy"):
        orrery.Run(run_copy).data("val")
    np.save(folder / "coords_val-00001-of-00002.npy", whole[3:])
    assert np.array_equal(orrery.Run(run_copy).data("val")["coords"], whole)


def test_forces(run):
    truth = run.forces("truth")
    assert np.array_equal(column(truth, "F"), column(truth, "F_true"))
    every = run.forces()
    assert len(column(every, "F")) == 4 * len(column(truth, "F"))
    assert list(dict.fromkeys(column(every, "source"))) == run.sources
    mine = column(every, "source") == "lssar"
    assert np.array_equal(column(every, "F")[mine], column(run.forces("lssar"), "F"))
    vector = run.forces("lssar", "vector")
    assert "mercury" in set(column(vector, "name"))
    assert column(vector, "step").dtype == np.int64


def test_laws(run):
    laws = json.loads((run.path / "laws" / "laws.json").read_text())
    assert list(column(run.laws, "equation")) == [law["equation"] for law in laws["laws"]]
    assert column(run.laws, "selected_true").dtype == bool
    row = list(column(run.law_sources, "source")).index("truth")
    assert column(run.law_sources, "r_exponent")[row] == pytest.approx(-2, abs=1e-6)
    assert len(column(run.law_samples, "rows")) == len(laws["samples"])
    front = run.front("truth", 1)
    assert (np.diff(column(front, "Loss")) < 0).all()
    model = orrery.SymbolicRegressor.from_file(
        run.path / "laws" / "front_truth_1.csv", variable_names=["m1", "m2", "r"])
    forces = run.forces("truth")
    X = np.column_stack([column(forces, name) for name in ("m1", "m2", "r")])
    assert np.isfinite(model.predict(X)).all()
    assert [row.loss for row in model._front] == list(column(front, "Loss"))


def test_evaluations_logs_and_probes(run):
    evaluations = run.evaluations
    assert list(column(evaluations, "stage")) == ["pretrain", "pretrain_planets"]
    assert (column(evaluations, "teacher_forced") > 0).all()
    one = run.log("lssar")
    steps = column(one, "step")
    assert steps[0] == 1 and steps[-1] == 30
    assert np.isfinite(column(one, "val_loss")).any() and np.isnan(column(one, "val_loss")).any()
    logs = run.logs
    assert set(zip(column(logs, "source"), column(logs, "stage"))) == set(run.log_files())
    assert ("lssar", "attention") in run.probe_files()
    heads = run.probe("attention", "lssar")
    assert len(column(heads, "layer")) == len(column(run.probe("attention"), "source"))
    map_ = run.attention_map("lssar")
    assert np.allclose(map_.sum(axis=-1)[:, 1:], 1, atol=1e-3) or map_.ndim == 3
    rollouts = run.rollouts("lssar")
    known = column(rollouts, "known") == 1
    assert np.array_equal(column(rollouts, "x")[known], column(rollouts, "x_true")[known])


def test_notebook(run):
    page = run._repr_html_()
    assert "Next states" in page and "Laws" in page
    if not run.figures:
        pytest.skip("no gnuplot, no figures")
    assert "data:image/png;base64" in page
    assert run.figures["loss"]._repr_png_()[:4] == b"\x89PNG"
    assert 'sandbox="allow-scripts allow-downloads"' in run.report._repr_html_()  # no same origin


def test_compare(run, run_copy):
    settings = json.loads((run_copy / "preset.json").read_text())
    settings["pretrain"]["lr"] = 0.5
    (run_copy / "preset.json").write_text(json.dumps(settings))
    table = orrery.compare([run, run_copy])
    assert len(column(table, "run")) == 2 * (len(run.sources) + 1)  # and the laws of positions
    assert sorted(set(column(table, "pretrain.lr"))) == [0.003, 0.5]
    assert "pretrain.steps" not in table
    truth = column(table, "source") == "truth"
    assert (column(table, "r2_log")[truth] == 1).all()
    laws = json.loads((run_copy / "laws" / "laws.json").read_text())["laws"]
    selected = [law["selected_true"] for law in laws  # one of each sample
                if (law["source"], law["rule"]) == ("truth", "accuracy")]
    assert len(selected) > 1
    assert (column(table, "selected_accuracy")[truth] == np.mean(selected)).all()
    with pytest.raises(ValueError, match="list of runs"):
        orrery.compare("runs/quick")


def test_without_pandas(run):
    code = f"""import sys
sys.modules["pandas"] = None
import numpy, orrery
run = orrery.Run({str(run.path)!r})
assert isinstance(run.forces()["F"], numpy.ndarray) and "<table>" in run._repr_html_()
assert sorted(orrery.compare([run])["source"]) == sorted(run.sources + ["positions"])
assert "orrery.regressor" not in sys.modules"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def damage(path, old, new):
    path.write_text(path.read_text().replace(old, new, 1))


def test_errors_name_the_file(run_copy):
    made = orrery.Run(run_copy)
    magnitude = run_copy / "lssar" / "finetune" / "forces_magnitude.csv"
    text = magnitude.read_text()
    cell = text.splitlines()[3].split(",")[3]
    for old, new, message in ((f",{cell},", ",wide,",
                               r"line 4: r: expected a number, found 'wide'"),
                              ("F_true", "F_ture", "line 1: expected the columns .*F_true"),
                              (f",{cell},", ",", "line 4: expected 9 cells, found 8")):
        magnitude.write_text(text.replace(old, new, 1))
        with pytest.raises(ValueError, match="forces_magnitude.csv: " + message):
            made.forces("lssar")
    with pytest.raises(FileNotFoundError, match="sources are truth, oracle"):
        made.forces("lsar")
    damage(run_copy / "laws" / "laws.json", '"laws"', "laws")
    with pytest.raises(ValueError, match="laws.json: line .*JSON"):
        made.laws
    (run_copy / "lssar" / "pretrain" / "log.jsonl").write_text('{"step": 1}\n[2]\n{"st')
    with pytest.raises(ValueError, match="log.jsonl: line 2: expected an object"):
        made.log("lssar")
    np.save(run_copy / "orbits" / "state_two_body_val.npy", np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"state_two_body_val.npy: expected f4 \(n, P, 5 or 7\)"):
        made.data("two_body_val")
    (run_copy / "orbits" / "coords_val.npy").write_text("no array")
    with pytest.raises(ValueError, match="coords_val.npy: expected an array"):
        made.data("val")
    with pytest.raises(FileNotFoundError, match="two_body_test.*'vall'"):
        made.data("vall")
    with pytest.raises(FileNotFoundError, match="attention.*'atention'"):
        made.probe("atention")
    with pytest.raises(ValueError, match="stage: expected one of pretrain"):
        made.log("lssar", "finetune")
    shutil.rmtree(run_copy / "laws")
    with pytest.raises(FileNotFoundError, match="laws.json"):
        made.laws
    for path in (run_copy / "none", run_copy / "lssar"):
        with pytest.raises(FileNotFoundError, match=str(path)):
            orrery.Run(path)


def test_what_was_changed_is_refused(run_copy):
    """A value, a record, or a file that a file of results names."""
    made = orrery.Run(run_copy)
    lssar, laws = run_copy / "lssar", run_copy / "laws" / "laws.json"
    forces = lssar / "finetune" / "forces_magnitude.csv"
    evaluation = lssar / "pretrain_planets" / "evaluation.json"
    cases = [
        (laws, r'"r2_log":\t', r"\g<0>7", "laws.json: it has been changed", lambda: made.laws),
        (laws, r'"r2_log":\t', r"\g<0>7", "it has been changed", lambda: made.front("truth")),
        (laws, r'"xxh64":\t"[0-9a-f]*"\n}', '"sum":\t1\n}', "older version made it",
         lambda: made.laws),
        (run_copy / "laws" / "front_truth_0.csv", "Complexity,Loss,Equation\n.*",
         r'\g<0>\n99,1e-9,"r"', "front_truth_0.csv is not there, or has been changed",
         lambda: made.front("truth")),
        (forces, r"\d\n$", "7\n", "forces_magnitude.csv is not there, or has been changed",
         lambda: made.forces("lssar")),
        (lssar / "finetune" / "forces_magnitude.made.json", '"seed":\t"0"', '"seed":\t"1"',
         "forces_magnitude.made.json: it has been changed", lambda: made.forces("lssar")),
        (evaluation, r'"loss":\t', r"\g<0>7", "evaluation.json: it has been",
         lambda: made.evaluations),
        (lssar / "pretrain_planets" / "rollouts.csv", r"\d\n$", "7\n",
         "rollouts.csv is not there, or", lambda: made.rollouts("lssar")),
    ]
    for path, old, new, message, call in cases:
        text = path.read_text()
        call()
        changed = re.sub(old, new, text, count=1)
        path.write_text(changed if changed != text else text.replace("7\n", "8\n"))
        with pytest.raises(ValueError, match=message):
            call()
        path.write_text(text)


# ------------------------------------------------------------------------------------- logs


def without_times(data):
    """The records of an event file: messages behind their wall_time, but for the settings."""
    records, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        records.append(data[at + 12 + 9:at + 12 + size])
        at += size + 16
    return [record for record in records if b"_hparams_" not in record]


def test_tensorboard_reads_them(run, tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log.main([str(run.path), "--to", "tensorboard", "--out", str(tmp_path)])
    read = events.EventAccumulator(str(tmp_path / "lssar" / "pretrain"))
    read.Reload()
    table = run.log("lssar")
    known = np.isfinite(column(table, "loss"))
    assert [event.step for event in read.Scalars("loss")] == list(column(table, "step")[known])
    assert np.allclose([event.value for event in read.Scalars("loss")],
                       column(table, "loss")[known], rtol=1e-6)


def test_tensorboard_reads_pictures(run, tmp_path):
    """As images of their size."""
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log.main([str(run.path), "--to", "tensorboard", "--out", str(tmp_path)])
    read = events.EventAccumulator(str(tmp_path / "figures"), size_guidance={events.IMAGES: 0})
    read.Reload()
    pictures = {path.stem: path for path in (run.path / "figures").glob("*.png")}
    assert pictures and sorted(read.Tags()["images"]) == sorted(pictures)
    for name, path in pictures.items():
        (image,) = read.Images(name)
        data = path.read_bytes()
        assert image.encoded_image_string == data
        assert (image.width, image.height) == struct.unpack(">II", data[16:24])


def test_lines_that_count():
    lines = [(1, {"loss": 1.0}), (10, {"loss": 2.0}), (20, {"loss": 3.0}), (10, {"loss": 4.0}),
             (10, {"val_loss": 5.0})]
    assert log.counted(lines) == [lines[0], lines[1], lines[3], lines[4]]


def test_follow(run_copy, tmp_path):
    """Lines that are added, also in halves, and a training that begins meanwhile."""
    path = run_copy / "lssar" / "pretrain" / "log.jsonl"
    path.write_text('{"step": 1, "loss": 2}\n')
    process = subprocess.Popen(
        [sys.executable, "-m", "orrery.log", run_copy, "--to", "tensorboard", "--out", tmp_path,
         "--follow", "--every", "0.05"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events = tmp_path / "lssar" / "pretrain" / "events.out.tfevents.0.orrery"

    def records(count, of=events):
        for _ in range(600):
            if of.exists() and len(without_times(of.read_bytes())) >= count:
                return without_times(of.read_bytes())
            time.sleep(0.05)
        process.kill()
        raise AssertionError(process.communicate())

    try:
        assert b"loss" in records(2)[1]
        with path.open("a") as file:
            file.write('{"step": 2, "lo')
            file.flush()
            time.sleep(0.2)
            assert len(records(2)) == 2
            file.write('ss": 1, "skipped": "loss"}\n')
            file.flush()
            assert len(records(3)) == 3
            file.write('{"step": 1, "loss": 9}\n')
        assert len(records(5)) == 5  # a restart, step 1
        other = run_copy / "softmax" / "pretrain"
        other.mkdir(parents=True)
        (other / "log.jsonl").write_text('{"step": 1, "loss": 7}\n')
        records(2, tmp_path / "softmax" / "pretrain" / "events.out.tfevents.0.orrery")
    finally:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "lines to tensorboard" in out, err


def test_an_event_file_is_written_anew(run, tmp_path):
    events = tmp_path / "lssar" / "pretrain" / "events.out.tfevents.0.orrery"
    found = []
    for _ in range(2):
        log.main([str(run.path), "--to", "tensorboard", "--out", str(tmp_path)])
        found.append(events.read_bytes())
    assert found[0] == found[1] and len(list(events.parent.iterdir())) == 1


class Service:
    """As much of wandb and trackio as is used: runs that can be continued by id or name."""

    def __init__(self):
        self.kept = {}

    def init(self, name, resume, id=None, **_options):
        rows = self.kept.setdefault(id or name, []) if resume == "allow" else []
        last = rows[-1][0] if rows else -1

        def keep(values, step=None):
            values = dict(values)
            rows.append((values.pop("step") if step is None else step, values))

        return types.SimpleNamespace(
            define_metric=lambda *_, **__: None, log=keep, finish=lambda: None,
            resumed=bool(rows), summary={"step": last} if rows else {}, _next_step=last + 1)


@pytest.mark.parametrize("home", ["wandb", "trackio"])
def test_a_training_is_continued(run_copy, monkeypatch, capsys, home):
    """Twice the same, and then two more lines: no point is there twice, and none is missing."""
    service = Service()
    monkeypatch.setitem(sys.modules, home, service)
    monkeypatch.chdir(run_copy)
    path = run_copy / "lssar" / "pretrain" / "log.jsonl"
    for text in ('{"step": 0, "loss": 3}\n{"step": 4, "loss": 2}\n', "",
                 '{"step": 5, "loss": 1}\n{"step": 9, "loss": 0}\n'):
        path.write_text((path.read_text() if len(service.kept) else "") + text)
        assert log.main([".", "--to", home]) == 0
    losses = [(0, {"loss": 3.0}), (4, {"loss": 2.0}), (5, {"loss": 1.0}), (9, {"loss": 0.0})]
    assert losses in service.kept.values() and len(service.kept) == len(orrery.Run(".").log_files())
    out = capsys.readouterr().out
    assert "lssar/pretrain: is there up to step 4, and is continued" in out
    assert f"2 lines to {home}" in out and f"0 lines to {home}" in out
    (run_copy / "preset.json").write_text(
        (run_copy / "preset.json").read_text().replace('"seed":\t', '"seed":\t9'))
    log.main([".", "--to", home])
    assert len(service.kept) == 2 * len(orrery.Run(".").log_files())


def loss_lines(*steps, loss=1):
    return "".join(f'{{"step": {step}, "loss": {loss * step}}}\n' for step in steps)


@pytest.mark.parametrize("home", ["wandb", "trackio"])
def test_a_training_is_known_by_itself(run_copy, tmp_path, monkeypatch, home):
    """Not by its folder's name: a training anew in it, and another run whose folder is called so,
    have their own curves."""
    service = Service()
    monkeypatch.setitem(sys.modules, home, service)
    log_of = "lssar/pretrain/log.jsonl"
    for other in run_copy.glob("*/**/*.jsonl"):
        other.unlink()
    twin = pathlib.Path(shutil.copytree(run_copy, tmp_path / "twin" / run_copy.name))
    for folder, steps, loss in ((run_copy, (1, 10), 1), (twin, (1, 10), 2),
                                (run_copy, (1, 10, 20), 1), (run_copy, (1, 10), 3)):
        (folder / log_of).write_text(loss_lines(*steps, loss=loss))
        assert log.main([str(folder), "--to", home]) == 0
    curves = [[values["loss"] for _, values in rows] for rows in service.kept.values()]
    assert curves == [[1, 10, 20], [2, 20], [3, 30]]


@pytest.mark.parametrize("home", ["wandb", "trackio"])
def test_a_resumed_training_doubles_no_step(run_copy, monkeypatch, home):
    """With --follow: the steps that it repeats are there once, and steps never fall."""
    service = Service()
    monkeypatch.setitem(sys.modules, home, service)
    path = run_copy / "lssar" / "pretrain" / "log.jsonl"
    for other in run_copy.glob("*/**/*.jsonl"):
        other.unlink()
    path.write_text(loss_lines(1, 10, 20, 30))
    added = iter([loss_lines(20, 30), loss_lines(40)])

    def sleep(_):
        text = next(added, None)
        if text is None:
            raise KeyboardInterrupt
        path.write_text(path.read_text() + text)

    monkeypatch.setattr(log.time, "sleep", sleep)
    assert log.main([str(run_copy), "--to", home, "--follow"]) == 0
    (rows,) = service.kept.values()
    assert [step for step, _ in rows] == [1, 10, 20, 30, 40]


def test_a_training_anew_while_it_is_followed(run_copy, monkeypatch):
    service = Service()
    monkeypatch.setitem(sys.modules, "trackio", service)
    path = run_copy / "lssar" / "pretrain" / "log.jsonl"
    for other in run_copy.glob("*/**/*.jsonl"):
        other.unlink()
    path.write_text(loss_lines(1, 10))
    texts = iter([loss_lines(1, 10, 20, loss=5)])

    def sleep(_):
        text = next(texts, None)
        if text is None:
            raise KeyboardInterrupt
        path.write_text(text)

    monkeypatch.setattr(log.time, "sleep", sleep)
    assert log.main([str(run_copy), "--to", "trackio", "--follow"]) == 0
    assert [[values["loss"] for _, values in rows] for rows in service.kept.values()] == [
        [1, 10], [5, 50, 100]]


def test_wandb(run, tmp_path):
    pytest.importorskip("wandb")
    for said in ("lines to wandb", "left as it is in"):
        done = subprocess.run([sys.executable, "-m", "orrery.log", run.path, "--to", "wandb",
                               "--offline", "--out", tmp_path], capture_output=True, text=True)
        assert done.returncode == 0 and said in done.stdout, done.stderr
    files = list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))
    assert len(files) == len(run.log_files())
    assert any(b"lssar/pretrain_planets" in f.read_bytes() for f in files)


def test_trackio(run, tmp_path, monkeypatch):
    pytest.importorskip("trackio")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    for said in ("lines to trackio", "is continued"):
        done = subprocess.run([sys.executable, "-m", "orrery.log", run.path, "--to", "trackio",
                               "--project", "p"], capture_output=True, text=True)
        assert done.returncode == 0 and said in done.stdout, done.stderr
    import sqlite3

    with sqlite3.connect(tmp_path / "p.db") as base:
        stored = base.execute("select run_name, step, metrics from metrics").fetchall()
    losses = {(name, step): json.loads(values).get("loss") for name, step, values in stored
              if "loss" in json.loads(values)}
    table = run.log("lssar")
    (name,) = {name for name, _ in losses if name.startswith("smoke/lssar/pretrain ")}
    assert losses[name, 1] == column(table, "loss")[0]
    steps = [step for of, step, values in stored if of == name and "loss" in json.loads(values)]
    assert len(steps) == len(set(steps))


def test_logs_that_cannot_go(run, tmp_path, monkeypatch, capsys):
    for name in ("wandb", "trackio"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(SystemExit, match=f"pip install {name}"):
            log.main([str(run.path), "--to", name])
    assert log.main([str(tmp_path), "--to", "tensorboard"]) == 1
    assert str(tmp_path) in capsys.readouterr().err
    (tmp_path / "orbits").mkdir()
    assert log.main([str(tmp_path), "--to", "tensorboard"]) == 1
    assert "expected training logs" in capsys.readouterr().err
    (tmp_path / "lssar" / "pretrain").mkdir(parents=True)
    (tmp_path / "lssar" / "pretrain" / "log.jsonl").write_text('{"step": -1}\n')
    assert log.main([str(tmp_path), "--to", "tensorboard"]) == 1
    assert "log.jsonl: line 1: step: expected a whole number" in capsys.readouterr().err


# ------------------------------------------------------------------------------------ crate


def test_crate(run_copy, capsys):
    assert crate.main([str(run_copy), "--license", "https://spdx.org/licenses/CC-BY-4.0",
                       "--author", "Ada", "--name", "A run"]) == 0
    assert capsys.readouterr().out.strip() == str(run_copy / crate.METADATA)
    written = json.loads((run_copy / crate.METADATA).read_text())
    assert written == crate.describe(orrery.Run(run_copy), "https://spdx.org/licenses/CC-BY-4.0",
                                     "Ada", "A run")
    entities = {entity["@id"]: entity for entity in written["@graph"]}
    files = {p.relative_to(run_copy).as_posix() for p in run_copy.rglob("*") if p.is_file()}
    assert {part["@id"] for part in entities["./"]["hasPart"]} == files - {crate.METADATA}
    for name in files - {crate.METADATA}:
        assert int(entities[name]["contentSize"]) == (run_copy / name).stat().st_size
    for entity in written["@graph"]:  # every reference is there
        for value in entity.values():
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict) and part != {"@id": crate.PROFILE}:
                    assert part["@id"] in entities
    made = {part["@id"] for part in entities["#symreg"]["result"]}
    assert "laws/laws.json" in made and "report.html" not in made


def test_crate_is_read_by_rocrate(run_copy):
    package = pytest.importorskip("rocrate.rocrate")
    crate.main([str(run_copy)])
    read = package.ROCrate(str(run_copy))
    assert len(read.data_entities) == sum(1 for p in run_copy.rglob("*") if p.is_file()) - 1


def test_crate_is_valid(run_copy, monkeypatch):
    """By rocrate-validator, which is given the context that rocrate ships: no network."""
    package = pytest.importorskip("rocrate")
    services = pytest.importorskip("rocrate_validator.services")
    import requests
    from rdflib.plugins.shared.jsonld import context
    from rocrate_validator.models import Severity
    from rocrate_validator.utils.http import HttpRequester

    shipped = (pathlib.Path(package.__file__).parent / "data" / "ro-crate.jsonld").read_text()

    def get(self, url, **_options):
        response = requests.Response()
        response.status_code, response.url = 200, url
        response.headers["Content-Type"] = "application/ld+json"
        response._content = shipped.encode()
        return response

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)
    monkeypatch.setattr(context, "source_to_json", lambda *_: (json.loads(shipped), None))
    crate.main([str(run_copy)])

    def issues():
        result = services.validate(services.ValidationSettings(
            rocrate_uri=str(run_copy), profile_identifier="ro-crate-1.1", offline=True,
            requirement_severity=Severity.REQUIRED))
        return [issue.message for issue in result.get_issues()]

    assert issues() == []
    path = run_copy / crate.METADATA
    damage(path, '"datePublished"', '"dateOfIt"')
    assert issues()  # the validator is at work


def test_crate_of_nothing(tmp_path, capsys):
    (tmp_path / "orbits").mkdir()
    assert crate.main([str(tmp_path)]) == 1
    assert "expected files of a run" in capsys.readouterr().err


def test_tables_without_rows():
    assert len(_tables.of_rows([])) == 0
    assert len(column(runs._joined({}), "source")) == 0
