"""Files that a stranger may have sent, and files that are written: what C's readers refuse is
refused, by ValueError with the file's name; nothing is written through a link; nothing of a file
reaches a terminal or a page as it stands there."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import orrery
from orrery import SymbolicRegressor, _files, _safetensors, _tables, crate, log

ROW = {"complexity": 3, "loss": 0.25, "score": 1.5, "description_length": 9.0,
       "equation": "(x0 * 2.5)", "selected_by": ["best"], "constants": [2.5],
       "standard_errors": [0.125], "covariance": [0.015625], "residual_variance": 0.5,
       "degrees_of_freedom": 7, "low_95": [2.25], "high_95": [None]}
FRONT = {"features": ["x0", "x1"], "front": [ROW]}
X = np.random.default_rng(0).uniform(1, 2, size=(40, 2))


def front_of(path, **changes):
    path.write_text(json.dumps({**FRONT, **changes}))
    return path


# ------------------------------------------------------------------------------------ JSON

WRONG_JSON = [
    ('{"a": 1, "a": 1}', "'a' stands twice"), ('{"front": [{"b": 1, "b": 2}]}', "'b' stands twice"),
    ("[" * 100000, "inside each other"), ('{"a":' * 100000, "inside each other"),
    ('{"a": ' + "[" * 200 + "]" * 200 + "}", "inside each other"), ('{"a": NaN}', "found NaN"),
    ('{"a": -Infinity}', "found -Infinity"), ('{"a": 1e999}', "found 1e999"),
    ('{"a": ' + "9" * 5000 + "}", "5000 digits"), ('{"a": "\\ud800"}', "text of Unicode"),
    ('{"a\\u0000b": 1}', "without NUL"), ('{"a": [}', "line 1: expected JSON"),
    ("", "expected JSON"), ("[1]", "an object"), ("5", "an object"), ('"a"', "an object")]


def a_run(path):
    (path / "laws").mkdir()
    return orrery.Run(path)


@pytest.mark.parametrize("name, read", [
    ("front.json", lambda path: SymbolicRegressor.from_file(path / "front.json")),
    ("preset.json", lambda path: a_run(path).settings),
    ("laws/laws.json", lambda path: orrery.Run(path).laws),
    ("laws/laws.json", lambda path: orrery.Run(path).true_law),
    ("config.json", lambda path: orrery.GPT.from_pretrained(path)),
    ("p.json", lambda path: orrery.simulate(preset=str(path / "p.json"), n=1)),
    ("s/pretrain/log.jsonl", lambda path: orrery.Run(path).log("s")),
])
def test_json_of_strangers(tmp_path, name, read):
    """Every reader of JSON, by the file's name."""
    for text, message in WRONG_JSON:
        if name == "config.json" and message == "an object":
            message = "model_type orrery"
        if name != "preset.json":
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "laws").mkdir(exist_ok=True)
        elif (tmp_path / "laws").exists():
            (tmp_path / "laws").rmdir()
        (tmp_path / name).write_text(text + ("\n" if name.endswith("l") else ""))
        if name.endswith("l") and not text:
            continue  # a log without lines
        with pytest.raises(ValueError, match=f"{os.path.basename(name)}: .*{message}"):
            read(tmp_path)


def test_a_front_is_read(tmp_path):
    model = SymbolicRegressor.from_file(front_of(tmp_path / "front.json"))
    assert model.predict([[2, 0]]) == [5]
    (row,) = model._front
    assert row.high == (math.inf,) and row.errors == (0.125,) and row.freedom == 7


@pytest.mark.parametrize("changes, message", [
    ({"selected_by": [[2]]}, "selected_by"), ({"selected_by": "best"}, "selected_by: expected a"),
    ({"selected_by": ["best", "<b>"]}, "selected_by: expected some of accuracy"),
    ({"standard_errors": 5}, "standard_errors: expected a list"),
    ({"standard_errors": [1, 2]}, "standard_errors: expected 1 numbers, found 2"),
    ({"constants": "a"}, "constants: expected a list"), ({"constants": ["a"]}, "constants"),
    ({"low_95": {"a": 1}}, "low_95"), ({"high_95": ["x"]}, "high_95: expected a number"),
    ({"covariance": [1, 2]}, "covariance: expected 1 numbers"), ({"loss": "0.1"}, "loss"),
    ({"loss": True}, "loss"), ({"complexity": 2.5}, "complexity: expected a whole"),
    ({"complexity": 0}, "complexity"), ({"equation": 5}, "equation: expected a text"),
    ({"equation": ["x0"]}, "equation"), ({"equation": "wrong(x0)"}, "wrong"),
    ({"residual_variance": []}, "residual_variance"), ({"degrees_of_freedom": "1"}, "degrees_of"),
    ({"residual_variance": -1}, "residual_variance: expected a number of at least 0"),
    ({"standard_errors": [-1]}, "standard_errors: expected a number of at least 0"),
    # of an equation changed by hand, whose errors and intervals are those of before
    ({"equation": "(x0 * 2.75)"}, "constants: expected those of the equation, 2.75, found 2.5"),
    ({"equation": "(x0 * -2.5)"}, "constants: expected those of the equation, -2.5, found 2.5"),
    ({"equation": "((x0 * 2.5) + 1)"}, "constants: expected those of the equation, 2.5, 1.0, f"),
])
def test_rows_of_a_front(tmp_path, changes, message):
    path = front_of(tmp_path / "front.json", front=[{**ROW, **changes}])
    with pytest.raises(ValueError, match=f"front.json: row 0: .*{message}"):
        SymbolicRegressor.from_file(path)


def test_a_rule_of_two_rows(tmp_path):
    longer = {**ROW, "complexity": 5, "loss": 0.125}
    path = front_of(tmp_path / "front.json", front=[ROW, longer])
    with pytest.raises(ValueError, match="row 1: selected_by: 'best' has chosen row 0 already"):
        SymbolicRegressor.from_file(path)


@pytest.mark.parametrize("changes, message", [
    ({"define": 5}, "define: expected a text"), ({"features": "x0"}, "features: expected a list"),
    ({"features": [0, 1]}, "features: expected a text"), ({"front": {}}, "front: expected a list"),
    ({"front": [5]}, "row 0: expected an object"), ({"alternatives": 5}, "alternatives"),
    ({"alternatives": [{"complexity": 1}]}, "alternatives: row 0: expected 'equation'"),
    ({"define": "g(x)="}, "operator"),
    ({"features": ["a\x1b[31m"], "front": [{**ROW, "equation": '"a\x1b[31m" * 2.5'}]}, "name")])
def test_a_front_as_a_whole(tmp_path, changes, message):
    path = front_of(tmp_path / "front.json", **changes)
    with pytest.raises(ValueError, match=f"front.json: .*{message}"):
        SymbolicRegressor.from_file(path)


@pytest.mark.parametrize("text, message", [
    ("Complexity,Loss,Equation,loss\n1,2,x0,3\n", "'loss' stands twice"),
    ("Complexity,Loss,Equation\n1,1_0,x0\n", "line 2: loss: expected a number, found '1_0'"),
    ("Complexity,Loss,Equation\n1,\u0661,x0\n", "line 2: loss"),
    ("Complexity,Loss,Equation\n1,1,x99999999999\n", "variable_names"),
    ("Complexity,Loss,Equation\n1,1,x0\0\n", "line 2|CSV")])
def test_fronts_in_csv(tmp_path, text, message):
    (tmp_path / "hof.csv").write_text(text)
    with pytest.raises(ValueError, match=f"hof.csv: .*({message})"):
        SymbolicRegressor.from_file(tmp_path / "hof.csv")


def test_messages_quote_nothing_that_a_terminal_obeys(tmp_path):
    evil = "a\x1b]0;x\x07\u202e"
    for text in (f'Complexity,Loss,Equation\n1,1,"""{evil}"" * 2"\n', f"{evil},Loss\n1,1\n"):
        (tmp_path / "hof.csv").write_text(text)
        for names in (None, [evil]):
            with pytest.raises(ValueError) as raised:
                SymbolicRegressor.from_file(tmp_path / "hof.csv", variable_names=names)
            assert str(raised.value).isprintable()
    run = a_run(tmp_path)
    (tmp_path / "laws" / "front_s_0.csv").write_text(f"{evil},Loss\n1,1\n")
    with pytest.raises(ValueError) as raised:
        run.front("s")
    assert str(raised.value).isprintable() and "\\x1b" in str(raised.value)


def test_tables_of_strangers(tmp_path, monkeypatch):
    run = a_run(tmp_path)
    monkeypatch.setattr("orrery.runs.tables.check_sum", lambda path: None)  # test_runs.py has these
    monkeypatch.setattr("orrery._tables.check_sum", lambda path: None)
    front = tmp_path / "laws" / "front_s_0.csv"
    front.write_text("Complexity,Loss,Equation,Loss\n1,2,x,3\n")
    with pytest.raises(ValueError, match="front_s_0.csv: line 1: the column 'Loss' stands twice"):
        run.front("s")
    front.write_text("Complexity,Loss,Equation\n1,2_0,x\n")
    with pytest.raises(ValueError, match="line 2: Loss: expected a number, found '2_0'"):
        run.front("s")
    (tmp_path / "orbits").mkdir()
    for name in ("num_bodies", "coords"):
        np.savez(tmp_path / "orbits" / f"{name}_val.npy", a=np.zeros(3))
        os.rename(tmp_path / "orbits" / f"{name}_val.npy.npz",
                  tmp_path / "orbits" / f"{name}_val.npy")
    with pytest.raises(ValueError, match="val.npy: expected an array of NumPy, found NpzFile"):
        run.data("val")
    for laws, member in (({"laws": [5]}, "laws: 0: expected an object"),
                         ({"laws": [{"source": 1}]}, "laws: 0: expected 'rule'"),
                         ({"laws": {}}, "laws: expected a list")):
        (tmp_path / "laws" / "laws.json").write_text(json.dumps({**laws, "xxh64": "0"}))
        with pytest.raises(ValueError, match=f"laws.json: {member}"):
            run.laws
    (tmp_path / "laws" / "laws.json").write_text(json.dumps({"sources": [
        {"source": "a", "r2_log": 1, "median_relative_error": 0, "exponents": {"r": 5}}]}))
    with pytest.raises(ValueError, match="laws.json: sources: exponents: r: expected an object"):
        run.law_sources


# ----------------------------------------------------------------------------- safetensors

GOOD = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "b": {"dtype": "F32", "shape": [1, 1], "data_offsets": [8, 12]}}


def tensors(path, header, data=bytes(12)):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("change, message", [
    ({"b": {**GOOD["b"], "data_offsets": [4, 8]}}, "'b': it overlaps others"),
    ({"a": {**GOOD["a"], "data_offsets": [4, 12]}}, "'a': bytes before it are of no tensor"),
    ({"a": {**GOOD["a"], "data_offsets": [-8, 0]}}, "'a': data_offsets"),
    ({"a": {**GOOD["a"], "data_offsets": [0, 80]}}, "'a': data_offsets"),
    ({"a": {**GOOD["a"], "data_offsets": [8, 0]}}, "'a': data_offsets"),
    ({"a": {**GOOD["a"], "data_offsets": [0.0, 8]}}, "'a': data_offsets"),
    ({"a": {**GOOD["a"], "data_offsets": [0, 4, 8]}}, "'a': data_offsets"),
    ({"a": {**GOOD["a"], "data_offsets": "08"}}, "'a': data_offsets: expected a list"),
    ({"a": {**GOOD["a"], "shape": [3]}}, "'a': its shape needs 12 bytes, data_offsets have 8"),
    ({"a": {**GOOD["a"], "shape": [-2]}}, "'a': shape"),
    ({"a": {**GOOD["a"], "shape": 2}}, "'a': shape"),
    ({"a": {**GOOD["a"], "shape": [True, 2]}}, "'a': shape"),
    ({"a": {**GOOD["a"], "shape": [1] * 9}}, "'a': shape: expected at most 8"),
    ({"a": {**GOOD["a"], "dtype": 5}}, "'a': dtype: expected a text"),
    ({"a": {"dtype": "F32", "shape": [2]}}, "'a': expected 'data_offsets'"),
    ({"a": 5}, "'a': expected an object"), ({"a": None}, "'a': expected an object"),
    ({"b": {"dtype": "F32", "shape": [0], "data_offsets": [8, 8]}}, "bytes behind the last"),
    ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, "'a': bytes before it are of"),
    ({"__metadata__": 5}, "__metadata__: expected an object"),
    ({"__metadata__": {"step": 5}}, "__metadata__: step: expected a text")])
def test_tensors_of_strangers(tmp_path, change, message):
    """As base/safetensors.c refuses them."""
    with pytest.raises(ValueError, match=f"x: .*({message})"):
        _safetensors.File(tensors(tmp_path / "x", {**GOOD, **change}))


def test_headers_of_strangers(tmp_path):
    good = json.dumps(GOOD).encode()
    for header, message in ((good[:-1] + b',"a":1}', "'a' stands twice"),
                            (b'{"a":' * 100000, "inside each other"), (good + b"x", "JSON"),
                            (b"\xff" * 16, "UTF-8|JSON|utf-8")):
        with pytest.raises(ValueError, match=f"x: .*({message})"):
            _safetensors.File(tensors(tmp_path / "x", header))
    whole = tensors(tmp_path / "x", GOOD).read_bytes()
    for cut in (4, 30, len(whole) - 4):
        (tmp_path / "x").write_bytes(whole[:-cut])
        with pytest.raises(ValueError, match="x: "):
            _safetensors.File(tmp_path / "x")


def test_tensors_that_are_taken(tmp_path):
    """Without metadata, in any order, with blanks behind the header, empty ones."""
    header = {"b": GOOD["b"], "a": GOOD["a"], "__metadata__": None,
              "none": {"dtype": "F32", "shape": [0, 3], "data_offsets": [8, 8]}}
    data = np.array([1.5, -2, 3], "<f4").tobytes()
    file = _safetensors.File(tensors(tmp_path / "x", json.dumps(header).encode() + b"  ", data))
    assert file.metadata == {} and file.array("a").tolist() == [1.5, -2]
    assert file.array("b").tolist() == [[3]] and file.array("none").shape == (0, 3)
    with pytest.raises(ValueError, match="x: expected the tensor 'c'"):
        file.array("c")


# ----------------------------------------------------------------------------- what is written


def test_a_link_is_replaced(tmp_path):
    """Not its target; neither are files of the names that older versions wrote first."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "new").symlink_to(victim)
    _files.replace(tmp_path / "new", b"bytes")
    assert victim.read_text() == "mine" and not (tmp_path / "new").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"bytes"
    run = tmp_path / "run"
    for path in (run / ".ro-crate-metadata.json.part", run / "ro-crate-metadata.json",
                 run / "tensorboard/s/pretrain/events.out.tfevents.0.orrery",
                 run / "fits/run/hall_of_fame.csv.part", run / "fits/run/hall_of_fame.csv"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(victim)
    (run / "s/pretrain").mkdir(parents=True)
    (run / "s/pretrain/log.jsonl").write_text('{"step": 1, "loss": 1e300}\n')
    (run / "laws").mkdir()
    assert crate.main([str(run)]) == 0
    assert log.main([str(run), "--to", "tensorboard"]) == 0
    assert log.main([str(run), "--to", "tensorboard", "--follow", "--idle", "0.01", "--every",
                     "0.01"]) == 0
    small(output_directory=run / "fits").fit(X, X[:, 0])
    assert victim.read_text() == "mine"
    assert (run / "fits/run/hall_of_fame.csv").read_text().startswith("Complexity,Loss")


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("before")

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space"):
        _files.replace(tmp_path / "a", b"after")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "before")]


def test_event_files_are_those_of_tensorboard(tmp_path):
    """The bytes of tensorboard 2.21's own writer: an Event with its version, plugin_data_pb2's
    SessionStartInfo of attention, pretrain.lr and stage, two lines, and summary_pb2's Image."""
    version = ("1800000000000000a37f4b22090000000065cdcd411a0d627261696e2e4576656e743a32f4eb195e")
    settings = ("090000000065cdcd412a88010a85010a1c5f68706172616d735f2f7365737369"
                "6f6e5f73746172745f696e666f42060801120212004a5d0a5b0a076870617261"
                "6d7312501a4e0a140a09617474656e74696f6e12071a056c737361720a180a0b"
                "707265747261696e2e6c721209117b14ae47e17a743f0a130a05737461676512"
                "0a1a08707265747261696e290000000065cdcd41")
    lines = ("2500000000000000eabc36f3090000000065cdcd4110012a"
             "180a0b0a046c6f7373150000003f0a090a026c72156f12833a0c7e888d1f0000"
             "0000000000514b4418090000000065cdcd4110ac022a110a0f0a0876616c5f6c"
             "6f73731517b7d13702367d88")
    png = ("89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d00000015"
           "49444154789c6360e7e0e4e2e6e1e5e36780310400078500d0fec91e950000000049454e44ae426082")
    head = ("6d000000000000003d4de671090000000065cdcd412a620a600a066c6f737365732"
            "256080210031803224e")
    (tmp_path / "lssar/pretrain").mkdir(parents=True)
    (tmp_path / "laws").mkdir()
    (tmp_path / "figures").mkdir()
    path, picture = tmp_path / "lssar/pretrain/log.jsonl", tmp_path / "figures/losses.png"
    path.write_text('{"step": 1, "loss": 0.5, "lr": 0.001}\n'
                    '{"step": 300, "val_loss": 2.5e-5, "eta_s": null}\n')
    (tmp_path / "preset.json").write_text(
        '{"about": "a run", "attention": ["lssar"], "pretrain": {"lr": 0.005}}')
    picture.write_bytes(bytes.fromhex(png))
    for file in (path, picture):
        os.utime(file, (1e9, 1e9))
    out = tmp_path / "tensorboard"
    assert log.main([str(tmp_path), "--to", "tensorboard"]) == 0
    found = (out / "lssar/pretrain/events.out.tfevents.0.orrery").read_bytes().hex()
    assert found.startswith(version) and found.endswith(lines)
    assert found[len(version) + 2 * 12:-len(lines) - 2 * 4] == settings
    found = (out / "figures/events.out.tfevents.0.figures").read_bytes().hex()
    assert found == version + head + png + "76d2aa0c"
    before = (out / "figures/events.out.tfevents.0.figures").read_bytes()
    picture.write_text("no picture at all, but long enough for the head of one")
    assert log.main([str(tmp_path), "--to", "tensorboard"]) == 1
    assert (out / "figures/events.out.tfevents.0.figures").read_bytes() == before


def test_event_files_of_a_wrong_log(tmp_path):
    """The file of before stays where a log cannot be read."""
    (tmp_path / "s/pretrain").mkdir(parents=True)
    (tmp_path / "laws").mkdir()
    path = tmp_path / "s/pretrain/log.jsonl"
    path.write_text('{"step": 1, "loss": 2}\n')
    assert log.main([str(tmp_path), "--to", "tensorboard"]) == 0
    events = tmp_path / "tensorboard/s/pretrain/events.out.tfevents.0.orrery"
    before = events.read_bytes()
    path.write_text('{"step": 1, "loss": 3}\n{"step": 1, "step": 2}\n')
    assert log.main([str(tmp_path), "--to", "tensorboard"]) == 1
    assert events.read_bytes() == before and [p.name for p in events.parent.iterdir()] == [
        events.name]


def small(**parameters):
    return SymbolicRegressor(**{"niterations": 1, "populations": 2, "enumerate": 300, "maxsize": 5,
                                "n_jobs": 1, "timeout_in_seconds": None, **parameters})


def test_a_front_that_cannot_be_written_is_kept(tmp_path):
    """A warning with the reason; the front stays on the estimator."""
    def remove(_):
        (tmp_path / "run").rmdir()
        (tmp_path / "run").write_text("a file in the place of the folder")

    with pytest.warns(RuntimeWarning, match="output_directory: .*hall_of_fame.csv: cannot write"
                      ) as caught:
        model = small(output_directory=tmp_path, early_stop_condition=lambda now: remove(now)
                      if (tmp_path / "run").is_dir() else None).fit(X, X[:, 0] * X[:, 1])
    assert caught[0].filename == __file__
    assert model.score(X, X[:, 0] * X[:, 1]) == pytest.approx(1)


FITS = """
import sys, numpy
for name in ("sklearn", "pandas"):
    sys.modules[name] = None  # (a second of each process)
from orrery import SymbolicRegressor
X = numpy.random.default_rng(0).uniform(1, 2, (30, 2))
for _ in range(30):
    SymbolicRegressor(niterations=1, populations=2, enumerate=100, maxsize=3, n_jobs=1,
                      output_directory=sys.argv[1], progress=False).fit(X, X[:, 0])
"""


def test_fits_at_a_time_share_a_folder(tmp_path):
    processes = [subprocess.Popen([sys.executable, "-W", "error", "-c", FITS, tmp_path],
                                  stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["hall_of_fame.csv"]


# ----------------------------------------------------------------------------- what is shown

EVIL = "m\u202e\u200b<img src=x onerror=alert(1)>"


def test_names_on_pages_and_terminals(tmp_path, capsys, monkeypatch):
    with pytest.raises(ValueError, match="column 1.*invisible character.*U\\+202E"):
        small().fit(X, X[:, 0], variable_names=[EVIL, "b"])
    model = small().fit(X, X[:, 0], variable_names=["<img src=x onerror=alert(1)>", "b"])
    page = model._repr_html_()
    assert "<img" not in page and "&lt;img" in page
    for text in (str(model), page, model._repr_mimebundle_()["text/plain"]):
        assert ("<img" in text) == (text is not page)
    model._chosen["<script>"] = 0  # as if a file had it
    assert "<script>" not in model._repr_html_()
    assert _files.plain("a\x1b[31m\x9b\u2028\u00ad\n\udc80 \u00e4\u4e2d") == (
        "a\\x1b[31m\\x9b\\u2028\\xad\n\\udc80 \u00e4\u4e2d")
    run = tmp_path / "a\x1b[31m"
    (run / "laws").mkdir(parents=True)
    (run / "laws" / "laws.json").write_text(json.dumps({"xxh64": "of the stranger", "laws": [
        {"source": EVIL, "rule": "best", "selected_true": True}]}))
    monkeypatch.setattr(_tables, "check_sum", lambda path: None)  # a stranger states a right one
    page = orrery.Run(run)._repr_html_()
    assert "<img" not in page and "&lt;img" in page and "\u202e" not in page and "\x1b" not in page
    assert log.main([str(run), "--to", "tensorboard"]) == 1
    assert crate.main([str(run)]) == 0
    shown = capsys.readouterr()
    for text in shown:
        assert "\x1b" not in text and "\\x1b[31m" in text


def test_modules_are_there_after_import_alone():
    for name in ("crate", "gpt", "log", "runs", "simulation"):
        code = f"import orrery; orrery.{name}; assert {name!r} in dir(orrery)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
