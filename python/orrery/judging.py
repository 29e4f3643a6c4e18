"""judge(model, run): what any model knows of the force, by the probes of the programs in C.

The model answers the export of the run (docs/exchange.md), in files, and bin/probe measures them,
so that every number has the controls and intervals of Orrery's own models.
"""

from __future__ import annotations

import hashlib
import html
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import _files
from . import _tables as tables
from ._arguments import path_of, whole
from ._judged import Adapted, Predictor, adapt, longer
from .runs import SOURCES, Run

PROBES = ("evaluate", "rollout", "linear", "labels", "extrapolate", "inductive", "intervene",
          "planets", "laws")
_BATCH = 256  # sequences of a call of the model
_TRAININGS = 10  # at most, of a card


# ------------------------------------------------------------------------------- programs


def _program(programs: str | os.PathLike[str] | None, name: str) -> list[str]:
    """The command of a program: of `orrery` or by its own name in a folder, in bin/ of the source,
    or of an installed Orrery. (Beside an installed orrery another package may have that name.)"""
    folders = [path_of("programs", programs)] if programs is not None else [
        pathlib.Path(__file__).resolve().parents[2] / "bin"]
    for folder in folders:
        if (folder / "orrery").is_file():
            return [str(folder / "orrery"), name]
        if (folder / name).is_file():
            return [str(folder / name)]
    installed = shutil.which("orrery") if programs is None else None
    if installed:
        return [installed, name]
    path = ", or orrery on the PATH" if programs is None else ""
    raise FileNotFoundError(f"programs: expected orrery or {name} of Orrery in {folders[0]}{path}, "
                            "found none; build them with make, or name the folder")


def _call(command: list[str], hear: Callable[[str], None] = lambda line: None) -> None:
    """Runs a program; hear() is given its lines of progress, its error becomes a ValueError."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as program:
        lines = []
        for line in program.stderr or ():
            lines.append(line.strip())
            hear(lines[-1])
    if program.returncode:
        errors = [line for line in lines if ": error: " in line] or lines[-1:] or [
            f"status {program.returncode}"]
        raise ValueError(errors[0].partition(": error: ")[2] or errors[0])


# -------------------------------------------------------------------------------- answering


class _Bar:
    """A line of progress on a terminal: the share of the steps that are done, and what is done."""

    def __init__(self, quiet: bool):
        self.shown = not quiet and sys.stderr.isatty()
        self.steps, self.done = 1, 0.0

    def show(self, text: str, part: float = 0.0) -> None:
        """part: the share of the current step."""
        if self.shown:
            share = min((self.done + part) / self.steps, 1.0)
            bar = "#" * int(20 * share)
            print(f"\rjudge [{bar:<20}] {100 * share:3.0f}% {text:<44.44}", end="", file=sys.stderr,
                  flush=True)

    def step(self) -> None:
        self.done += 1

    def end(self) -> None:
        if self.shown:
            print(f"\r{'':<79}\r", end="", file=sys.stderr, flush=True)


class _Answers:
    """The files of a model's answers, made one after the other; answered.json says what they are
    of, so that those that are there and unchanged are kept."""

    def __init__(self, model: Adapted, asked: pathlib.Path, folder: pathlib.Path, seed: int,
                 resume: bool, bar: _Bar, ask: Callable[[pathlib.Path], None]):
        self.model, self.asked, self.folder, self.seed = model, asked, folder, seed
        self.bar, self.ask = bar, ask
        self.export = tables.read_json(asked / "export.json")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._text = (asked / "export.json").read_bytes()
        self._record = folder / "answered.json"
        known = _read_record(self._record) if resume else {}
        self.made = {name: of for name, of in known.items() if self._is_kept(name, of)}
        if self.made and not self._is_same_model():
            self.made = {}
        self._write_record()  # from now on the folder is known as one of judge()
        (folder / "export.json").unlink(missing_ok=True)
        for name in self.export["answers"]:
            if name not in self.made:
                for path in self._files(name):
                    path.unlink()

    def finish(self) -> None:
        _files.replace(self.folder / "export.json", self._text)

    # ---- what is kept

    def _files(self, name: str) -> list[pathlib.Path]:
        """The files of an answer: one, or one for each layer."""
        return sorted(self.folder.glob(name.replace("<l>", "*")))

    def _of(self, name: str) -> str:
        """What an answer depends on beside the model: the question, its inputs and the seed."""
        what = self.export["answers"].get(name)
        if what is None:
            return ""
        used = {str(value) for value in what.values() if isinstance(value, str)}
        if name.startswith("forces"):
            used |= {"inputs_forces_train.npy", "inputs_forces_test.npy", "forces_train.npy"}
        files = {key: self.export["files"].get(key) for key in sorted(used)}
        return json.dumps([what, files, self.seed], sort_keys=True)

    def _is_kept(self, name: str, of: Any) -> bool:
        files = self._files(name)
        return bool(files) and isinstance(of, dict) and of.get("of") == self._of(name) and \
            of.get("files") == {path.name: _sum(path) for path in files}

    def _is_same_model(self) -> bool:
        """Whether the model still predicts what it predicted for the first sequences."""
        for name in self.made:
            if name.startswith("predictions") and "planets" not in name:
                rows = self._load(self.export["answers"][name]["inputs"])[:4]
                was = np.asarray(tables.read_npy(self.folder / name))[:4]
                now = np.asarray(self.model.predict(rows))
                return now.shape == was.shape and bool(
                    np.allclose(now, was, rtol=1e-4, atol=1e-4 * float(np.abs(was).max())))
        return False

    def _keep(self, name: str) -> None:
        """Records an answer that is complete."""
        self.made[name] = {"of": self._of(name),
                           "files": {path.name: _sum(path) for path in self._files(name)}}
        self._write_record()

    def _write_record(self) -> None:
        _files.replace(self._record, json.dumps(self.made, indent=1).encode() + b"\n")

    # ---- files

    def _load(self, name: str) -> np.ndarray:
        return np.asarray(tables.read_npy(self.asked / name))

    def _save(self, name: str, array: np.ndarray) -> None:
        new = _files.Replacement(self.folder / name)
        try:
            np.save(new.file, np.ascontiguousarray(array, np.float32))
        except BaseException:
            new.discard()
            raise
        new.commit()
        new.file.close()

    def _table(self, name: str, columns: dict[str, Any]) -> None:
        lines = [",".join(columns)]
        lines += [",".join(row) for row in zip(*(
            [value if isinstance(value, str) else repr(value) for value in np.asarray(c).tolist()]
            for c in columns.values()))]
        _files.replace(self.folder / name, ("\n".join(lines) + "\n").encode())

    # ---- next state, rollouts, activations

    def _in_batches(self, rows: np.ndarray, compute: Callable[[np.ndarray], Any],
                    what: str) -> list[np.ndarray]:
        """Outputs of all sequences; compute gives one array or a list of them."""
        parts = []
        for first in range(0, len(rows), _BATCH):
            self.bar.show(f"{what} {first}/{len(rows)}", first / len(rows))
            made = compute(rows[first : first + _BATCH])
            parts.append(made if isinstance(made, (list, tuple)) else [made])
        return [np.concatenate([np.asarray(part[k]) for part in parts])
                for k in range(len(parts[0]))]

    def _shaped(self, array: np.ndarray, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if array.shape != shape:
            raise ValueError(f"{name}: expected an array {shape}, found {array.shape}")
        return array

    def predictions(self, name: str, inputs: str) -> None:
        rows = self._load(inputs)
        out = self._in_batches(rows, self.model.predict, name)[0]
        self._save(name, self._shaped(out, "predict", rows.shape))

    def rollout(self, name: str, inputs: str, steps: int) -> None:
        prefix = self._load(inputs)

        def more(rows: np.ndarray) -> np.ndarray:
            return np.asarray(self.model.rollout(rows, steps))

        out = self._in_batches(prefix, more, name)[0]
        self._save(name, self._shaped(out, "rollout", (len(prefix), steps, prefix.shape[2])))

    def _layers(self, batch: np.ndarray) -> list[np.ndarray]:
        found = [np.asarray(layer) for layer in self.model.activations(batch)]
        for k, layer in enumerate(found):
            if layer.ndim != 3 or layer.shape[:2] != batch.shape[:2]:
                raise ValueError(f"activations: layer {k}: expected an array ({len(batch)}, "
                                 f"{batch.shape[1]}, width), found {layer.shape}")
        return found

    def activations(self, pattern: str, inputs: str, kept: list[int]) -> None:
        made = self._in_batches(self._load(inputs), lambda batch: [
            layer[:, kept] for layer in self._layers(batch)], pattern)
        for layer, array in enumerate(made):
            self._save(pattern.replace("<l>", str(layer)), array)

    # ---- interventions

    def _continued(self, rows: np.ndarray, layer: int, activations: np.ndarray,
                   horizons: list[int]) -> np.ndarray:
        """Positions of body 1 after each horizon, (n, d horizons)."""
        known, steps = rows.shape[1], 2 * max(horizons) - 1
        path = longer(rows, steps)
        for t in range(known, known + steps):
            out = np.asarray(self.model.intervene(path[:, :t], layer, activations))
            path[:, t] = self._shaped(out, "intervene", path[:, :t].shape)[:, -1]
        at = [known + 2 * (h - 1) for h in horizons]
        return path[:, at].reshape(len(rows), -1)

    def continuations(self, pattern: str, what: dict[str, Any]) -> None:
        self.finish()
        self.ask(self.folder)  # writes what is to be added to the activations
        rows = self._load(what["inputs"])
        for layer, states in enumerate(self._layers(rows)):
            added = np.asarray(tables.read_npy(
                self.folder / what["additions"].replace("<l>", str(layer))))
            out = []
            for trial, vector in enumerate(added):
                self.bar.show(f"{pattern.replace('<l>', str(layer))} {trial}/{len(added)}",
                              trial / len(added))
                changed = states.copy()
                changed[:, what["row"]] += vector
                out.append(self._continued(rows, layer, changed, what["horizons"]))
            self._save(pattern.replace("<l>", str(layer)), np.stack(out))

    # ---- forces

    def _tuned(self, sequences: np.ndarray, seed: int, forces: str) -> Predictor:
        F = self._load(forces)[sequences]
        known = np.isfinite(F)
        rows = self._load("inputs_forces_train.npy")[sequences]
        return self.model.tune(rows, np.where(known, F, 0).astype(np.float32), known, seed)

    def _forces(self, predictor: Predictor, sequence: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Predictions at step k of sequences of the test set, row 2 + 2 k."""
        used = np.unique(sequence)
        rows = self._load("inputs_forces_test.npy")[used]
        F = self._shaped(self._in_batches(rows, predictor, "forces")[0], "predictor",
                         rows.shape[:2])
        out: np.ndarray = F[np.searchsorted(used, sequence), 2 + 2 * step].astype(np.float64)
        return out

    def curve(self, name: str, what: dict[str, Any]) -> None:
        """Forces learned from few labels: one fine-tuning for each size and draw."""
        asked = tables.read_csv(self.asked / what["rows"], ("sequence", "step", "F_true"))
        draws = tables.read_csv(self.asked / what["labels"], ("n", "draw", "sequence"))
        columns: dict[str, list[Any]] = {key: [] for key in ("n", "draw", *asked, "F")}
        cells = list(dict.fromkeys(zip(draws["n"].tolist(), draws["draw"].tolist())))
        for i, (n, draw) in enumerate(cells):
            self.bar.show(f"{name}: {n} sequences, draw {draw}", i / len(cells))
            which = draws["sequence"][(draws["n"] == n) & (draws["draw"] == draw)]
            predictor = self._tuned(which, self.seed + draw, what["forces"])
            F = self._forces(predictor, asked["sequence"], asked["step"])
            for key, value in {"n": [n] * len(F), "draw": [draw] * len(F),
                               "F": F.tolist()}.items():
                columns[key] += value
            for key in asked:
                columns[key] += asked[key].tolist()
        self._table(name, columns)

    def magnitudes(self) -> None:
        table = tables.read_csv(self.asked / "rows_magnitude.csv", ("sequence", "step", "F"))
        every = np.flatnonzero(np.isfinite(self._load("forces_train.npy")).any(1))
        self.bar.show(f"forces_magnitude.csv: {len(every)} sequences")
        predictor = self._tuned(every, self.seed, "forces_train.npy")
        table["F"] = self._forces(predictor, table["sequence"], table["step"])
        self._table("forces_magnitude.csv", table)

    # ---- random functions of the state

    def targets(self, name: str, what: dict[str, Any]) -> None:
        """One fine-tuning for each data set. tune() learns sizes of forces, which are positive, so
        it is given exp(target)."""
        table = tables.read_csv(self.asked / what["rows"],
                                ("set", "held_out", "sequence", "row", "target"))
        labels = tables.read_csv(self.asked / what["labels"], ("set", "sequence", "row", "target"))
        own, held_out = self._load(what["inputs"]), self._load(what["held_out"])
        y = np.zeros(len(table["set"]))
        for d in range(what["sets"]):
            self.bar.show(f"{name}: data set {d}", d / what["sets"])
            mine = labels["set"] == d
            used, at = np.unique(labels["sequence"][mine], return_inverse=True)
            F = np.ones((len(used), own.shape[1]), np.float32)
            known = np.zeros(F.shape, bool)
            F[at, labels["row"][mine]] = np.exp(labels["target"][mine])
            known[at, labels["row"][mine]] = True
            predictor = self.model.tune(own[used], F, known, self.seed + d)
            for inputs, of in ((held_out, 1), (own, 0)):
                rows = (table["set"] == d) & (table["held_out"] == of)
                which, back = np.unique(table["sequence"][rows], return_inverse=True)
                found = self._in_batches(inputs[which], predictor, f"{name}: data set {d}")[0]
                F = self._shaped(found, "predictor", (len(which), inputs.shape[1]))
                y[rows] = np.log(np.maximum(F[back, table["row"][rows]], 1e-300))
        self._table(name, {**table, "y": y})

    # ---- all

    def _one(self, name: str, what: dict[str, Any]) -> None:
        if name.startswith("predictions"):
            self.predictions(name, what["inputs"])
        elif name.startswith("rollout"):
            self.rollout(name, what["inputs"], what["shape"][1])
        elif name.startswith("activations"):
            self.activations(name, what["inputs"], what.get("rows", self.export["activation_rows"]))
        elif name.startswith("continuations"):
            self.continuations(name, what)
        elif name.startswith("targets"):
            self.targets(name, what)
        elif name == "forces_magnitude.csv":
            self.magnitudes()
        else:
            self.curve(name, what)

    def make(self, probes: Iterable[str]) -> None:
        """What these probes read."""
        for name in _wanted(self.export, probes):
            if name not in self.made:
                self._one(name, self.export["answers"][name])
                self._keep(name)
            self.bar.step()
        self.finish()


def _wanted(export: dict[str, Any], probes: Iterable[str]) -> list[str]:
    """The answers that these probes read, in the order in which they can be made."""
    of = {"evaluate": ("predictions", "rollout"), "rollout": ("rollout_two_body",),
          "intervene": ("rollout_two_body", "activations_intervene", "continuations"),
          "linear": ("activations_two_body",), "labels": ("forces_labels",),
          "extrapolate": ("forces_extrapolate",), "inductive": ("targets",),
          "planets": ("predictions_planets",), "laws": ("forces_magnitude",)}
    names = []
    for name in export["answers"]:
        for probe in probes:
            other = probe == "evaluate" and ("two_body" in name or "planets" in name)
            if name.startswith(of[probe]) and not other and name not in names:
                names.append(name)
    return names


def _check_folder(folder: pathlib.Path, sources: Iterable[str]) -> None:
    """Refuses a folder of answers that judge() did not make, whose files it would remove, and a
    name that a source of the run has."""
    if folder.name in sources:
        raise ValueError(f"name: {folder.name!r} is a source of the run; expected another name")
    if (folder / "answered.json").exists():
        return
    for pattern in ("export.json", "*.npy", "*.csv"):
        for found in folder.glob(pattern):
            raise ValueError(f"{folder}: has {found.name} but no answered.json: answers that judge "
                             "did not make, and would remove; give another name or folder")


def _sum(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_record(path: pathlib.Path) -> dict[str, Any]:
    """answered.json; nothing where it is not there or no record."""
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


# ------------------------------------------------------------------------------- judgement


class Judgement:
    """The results of judge(): rows of the probes, laws, and the card.

    card: a dict of one screen, which card.json has; str() and a notebook show its page, card.md.
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.card: dict[str, Any] = tables.read_result(folder / "card.json")

    def table(self, probe: str) -> Any:
        """All rows of rollout, linear, labels ..., as Run.probe() has them."""
        return tables.frame(tables.read_csv(self.folder / "probe" / f"{probe}.csv",
                                            ("quantity", "measure", "value")))

    def __str__(self) -> str:
        return (self.folder / "card.md").read_text()

    def __repr__(self) -> str:
        return f"Judgement({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


_ADAPTERS = {"TorchModel": "_judged_torch", "OrreryModel": "_judged_torch",
             "HuggingFaceModel": "_judged_huggingface", "SklearnModel": "_judged_sklearn",
             "windows": "_judged_sklearn"}


def __getattr__(name: str) -> Any:
    """Adapters of other packages, which are imported when they are asked for."""
    if name in _ADAPTERS:
        return getattr(importlib.import_module(f".{_ADAPTERS[name]}", __package__), name)
    raise AttributeError(f"module 'orrery.judging' has no attribute {name!r}")


def _asked(model: Adapted, probes: Iterable[str] | None,
           export: dict[str, Any]) -> tuple[str, ...]:
    """The probes to run. The real planets are asked of models of planet runs, by name."""
    lacks = {}
    if not model.has_activations:
        lacks["linear"] = "the model gives no activations"
    if not model.has_intervene:
        lacks["intervene"] = "the model's activations cannot be set"
    if not model.has_tune:
        for probe in ("labels", "extrapolate", "inductive", "laws"):
            lacks[probe] = "the model cannot be tuned to labels"
    for probe in PROBES:
        if not _wanted(export, (probe,)):
            lacks.setdefault(probe, "the run does not ask for its answers")
    if probes is None:
        return tuple(p for p in PROBES if p not in lacks and p != "planets")
    chosen = tuple(probes)
    for probe in chosen:
        if probe not in PROBES:
            raise ValueError(f"probes: expected some of {', '.join(PROBES)}, found {probe!r}")
        if probe in lacks:
            raise ValueError(f"probes: {probe}: {lacks[probe]}")
    return chosen


def judge(model: Any, run: str | os.PathLike[str], name: str = "model", *,
          probes: Iterable[str] | None = None, folder: str | os.PathLike[str] | None = None,
          seed: int = 0, untrained: bool = True, resume: bool = False, quiet: bool = False,
          sequences: int | None = None, sizes: Iterable[int] | None = None,
          draws: int | None = None, exchange: str | os.PathLike[str] | None = None,
          settings: dict[str, Any] | None = None,
          threads: int | None = None, programs: str | os.PathLike[str] | None = None) -> Judgement:
    """Measures a model with the probes of a run, beside its untrained twin, and writes a card.

    model: a function rows (n, T, d) -> (n, T, d), the position after each row, d = 2, or 3 of a run
    in three dimensions; a torch.nn.Module (orrery.judging.TorchModel says more of it); an
    orrery.GPT; orrery.judging.HuggingFaceModel of a transformers model; a regressor of
    scikit-learn, fitted to windows of rows (orrery.judging.SklearnModel); or an object with
    `predict`, and as it can `rollout`, `activations`, `intervene`, `tune` and `untrained`
    (docs/exchange.md). probes: of evaluate, rollout, linear, labels, extrapolate, inductive,
    intervene, planets and laws; default: all that model and run allow but planets, which is for
    models of planet runs. Files go to folder, by default <run>/answers/<name>. sequences, sizes and
    draws are those of bin/probe export, settings those of --set. resume: keeps answers that are
    there and unchanged, to unchanged questions, as long as the model predicts what it predicted.
    exchange: the folder of what is asked, by default <run>/exchange; another folder leaves that
    question, and who answers it, as they are.

    A list of 2 to 10 models, trainings of different seeds, is judged as <name>_0, <name>_1, ...
    with the seeds seed, seed + 1, ...; the card has means over trainings and their intervals.
    """
    run, seed = path_of("run", run), whole("seed", seed)
    several = isinstance(model, (list, tuple))
    models = [adapt(one) for one in (model if several else [model])]
    if several and not 2 <= len(models) <= _TRAININGS:
        raise ValueError(f"model: expected 2 to {_TRAININGS} trainings, found {len(models)}")
    place = path_of("folder", folder) if folder is not None else run / "answers" / name
    if place.name != name:
        raise ValueError(f"folder: expected one whose name is the model's, {name!r}, found {place}")
    common = ["--run", str(run)]
    common += ["--threads", str(threads)] if threads else []
    for key, value in (settings or {}).items():
        common += ["--set", f"{key}={value}"]
    program = _program(programs, "probe")
    asked = run / "exchange" if exchange is None else path_of("exchange", exchange)
    export = [*program, "export", *common, "--quiet"]
    export += [] if exchange is None else ["--out", str(asked)]
    for option, given in (("--sequences", sequences), ("--draws", draws),
                          ("--sizes", ",".join(map(str, sizes)) if sizes else None)):
        export += [option, str(given)] if given else []
    places = [place.with_name(f"{name}_{i}") if several else place for i in range(len(models))]
    twins = [path.with_name(f"{path.name}_untrained") if untrained and one.has_untrained else None
             for path, one in zip(places, models)]
    for path in (place, *places, *filter(None, twins)):
        _check_folder(path, (*SOURCES, *Run(run).sources) if run.is_dir() else SOURCES)
    bar = _Bar(quiet)
    bar.show("what is asked")
    _call(export)
    question = tables.read_result(asked / "export.json")
    chosen = [_asked(one, None if probes is None else tuple(probes), question) for one in models]
    probes = None if probes is None else chosen[0]
    bar.steps = sum((2 if untrained and one.has_untrained else 1) * len(_wanted(question, which))
                    + len(which) for one, which in zip(models, chosen))

    def ask(answers: pathlib.Path) -> None:
        _call([*program, "export", *common, "--quiet", "--answers", str(answers)])

    for i, (one, which) in enumerate(zip(models, chosen)):
        answers, twin = [(places[i], one)], twins[i]
        if twin is not None:
            answers.append((twin, one.untrained(seed + i)))
        for to, of in answers:
            _Answers(of, asked, to, seed + i, resume, bar, ask).make(which)
    command = [*program, "judge", *common, "--answers", ",".join(map(str, places))]
    command += ["--untrained", ",".join(map(str, filter(None, twins)))] if any(twins) else []
    command += ["--out", str(place)] if several else []
    command += ["--probes", ",".join(probes)] if probes is not None else []
    command += ["--resume"] if resume else []

    def hear(line: str) -> None:
        if line.startswith("judge: ") and ": error: " not in line:
            bar.show(line[len("judge: ") :])
            bar.step()

    _call(command, hear)
    bar.end()
    return Judgement(place)
