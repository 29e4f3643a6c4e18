"""judge(model, run): what any model knows of the force, by the probes of the programs in C.

The model answers the export of the run (docs/exchange.md), in files, and bin/probe measures them,
so that every number has the controls and intervals of Orrery's own models.
"""

from __future__ import annotations

import html
import importlib
import json
import math
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
from ._judged import Adapted, Predictor, adapt

PROBES = ("evaluate", "rollout", "linear", "labels", "laws")
CARD = "orrery-card-1"
_BATCH = 256  # sequences of a call of the model


# ------------------------------------------------------------------------------- programs


def _program(programs: str | os.PathLike[str] | None, name: str) -> list[str]:
    """The command of a program: of `orrery` or by its own name in a folder, in bin/ of the source,
    or of an installed Orrery. (Beside an installed orrery, another package may have such a name.)"""
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
    raise FileNotFoundError(f"programs: expected orrery or {name} of Orrery, found neither in "
                            f"{folders[0]}; build them with make, or name the folder")


def _call(command: list[str]) -> str:
    """What the program prints; its error as a ValueError."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        errors = [line for line in lines if ": error: " in line] or lines[-1:]
        raise ValueError(errors[0].partition(": error: ")[2] or errors[0])
    return done.stdout


# -------------------------------------------------------------------------------- answering


class _Answers:
    """The files of a model's answers, made one after the other."""

    def __init__(self, model: Adapted, asked: pathlib.Path, folder: pathlib.Path, seed: int,
                 resume: bool, say: Callable[[str], None]):
        self.model, self.asked, self.folder, self.seed, self.say = model, asked, folder, seed, say
        self.export = tables.read_json(asked / "export.json")
        self.folder.mkdir(parents=True, exist_ok=True)
        copy = folder / "export.json"
        text = (asked / "export.json").read_bytes()
        self.keep = resume and copy.exists() and copy.read_bytes() == text
        if not self.keep:
            copy.unlink(missing_ok=True)
        self._text = text

    def finish(self) -> None:
        _files.replace(self.folder / "export.json", self._text)

    def _load(self, name: str) -> np.ndarray:
        return np.asarray(tables.read_npy(self.asked / name))

    def _has(self, name: str) -> bool:
        return self.keep and (self.folder / name).exists()

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
            self.say(f"{what} {first}/{len(rows)}")
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
        self._save(name, self._shaped(out, "rollout", (len(prefix), steps, 2)))

    def activations(self, pattern: str, inputs: str) -> None:
        kept = self.export["activation_rows"]
        rows = self._load(inputs)

        def layers(batch: np.ndarray) -> list[np.ndarray]:
            found = [np.asarray(layer) for layer in self.model.activations(batch)]
            for k, layer in enumerate(found):
                if layer.ndim != 3 or layer.shape[:2] != batch.shape[:2]:
                    raise ValueError(f"activations: layer {k}: expected an array ({len(batch)}, "
                                     f"{batch.shape[1]}, width), found {layer.shape}")
            return [layer[:, kept] for layer in found]

        made = self._in_batches(rows, layers, pattern)
        for layer, array in enumerate(made):
            self._save(pattern.replace("<l>", str(layer)), array)
        (self.folder / pattern.replace("<l>", str(len(made)))).unlink(missing_ok=True)

    # ---- forces

    def _tuned(self, sequences: np.ndarray, seed: int) -> Predictor:
        F = self._load("forces_train.npy")[sequences]
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

    def labels(self) -> None:
        """A label curve: one fine-tuning for each size and draw."""
        asked = tables.read_csv(self.asked / "rows_labels.csv", ("sequence", "step", "F_true"))
        draws = tables.read_csv(self.asked / "labels.csv", ("n", "draw", "sequence"))
        columns: dict[str, list[Any]] = {key: [] for key in ("n", "draw", *asked, "F")}
        cells = list(dict.fromkeys(zip(draws["n"].tolist(), draws["draw"].tolist())))
        for n, draw in cells:
            self.say(f"forces_labels.csv: {n} sequences, draw {draw}")
            which = draws["sequence"][(draws["n"] == n) & (draws["draw"] == draw)]
            F = self._forces(self._tuned(which, self.seed + draw), asked["sequence"], asked["step"])
            for key, value in {"n": [n] * len(F), "draw": [draw] * len(F),
                               "F": F.tolist()}.items():
                columns[key] += value
            for key in asked:
                columns[key] += asked[key].tolist()
        self._table("forces_labels.csv", columns)

    def magnitudes(self) -> None:
        table = tables.read_csv(self.asked / "rows_magnitude.csv", ("sequence", "step", "F"))
        every = np.flatnonzero(np.isfinite(self._load("forces_train.npy")).any(1))
        self.say(f"forces_magnitude.csv: {len(every)} sequences")
        table["F"] = self._forces(self._tuned(every, self.seed), table["sequence"], table["step"])
        self._table("forces_magnitude.csv", table)

    # ---- all

    def make(self, probes: Iterable[str]) -> None:
        """What these probes read."""
        for name, what in self.export["answers"].items():
            first = name.replace("<l>", "0")
            if self._has(first):
                continue
            kind = name.partition("_")[0]
            if kind == "predictions" and "evaluate" in probes:
                self.predictions(name, what["inputs"])
            elif kind == "rollout" and ("evaluate" in probes if "two_body" not in name
                                        else "rollout" in probes):
                self.rollout(name, what["inputs"], what["shape"][1])
            elif kind == "activations" and "linear" in probes:
                self.activations(name, what["inputs"])
            elif name == "forces_labels.csv" and "labels" in probes:
                self.labels()
            elif name == "forces_magnitude.csv" and "laws" in probes:
                self.magnitudes()
        self.finish()


# ------------------------------------------------------------------------------- judgement


class Judgement:
    """The results of judge(): rows of the probes, laws, and the card.

    card: a dict of one screen, which card.json has; str() and a notebook show it as a table.
    """

    def __init__(self, folder: pathlib.Path, card: dict[str, Any]):
        self.folder, self.card = folder, card

    def table(self, probe: str) -> Any:
        """All rows of rollout, linear or labels, as Run.probe() has them."""
        return tables.frame(tables.read_csv(self.folder / "probe" / f"{probe}.csv",
                                            ("quantity", "measure", "value")))

    def __str__(self) -> str:
        return _card_text(self.card)

    def __repr__(self) -> str:
        return f"Judgement({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _line(measure: str, row: dict[str, Any], better: str) -> dict[str, Any]:
    """A line of the card. The model differs from its twin where the 95% interval over held-out
    sequences excludes the twin's value."""
    keys = ("value", "low", "high", "upper_bound", "baseline", "raw", "n")
    line = {"measure": measure, "better": better, **{key: row.get(key) for key in keys}}
    low, high, twin = (_finite(line[key]) for key in ("low", "high", "baseline"))
    line["beyond_untrained"] = None
    if not math.isnan(low + high + twin):
        line["beyond_untrained"] = low > twin if better == "high" else high < twin
    return line


def _finite(value: Any) -> float:
    """A number of a file of results, NaN where there is none."""
    number = float(value) if isinstance(value, (int, float)) else math.nan
    return number if math.isfinite(number) else math.nan


def _rows(folder: pathlib.Path, probe: str) -> list[dict[str, Any]]:
    path = folder / "probe" / f"{probe}.json"
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = tables.read_result(path)["rows"]
    return rows


def _lines(folder: pathlib.Path) -> list[dict[str, Any]]:
    lines = []
    path = folder / "probe" / "evaluate.json"
    if path.exists():
        e = tables.read_result(path)["as_trained"]
        lines.append(_line("next position, AU", {
            "value": e["teacher_forced"], "upper_bound": e.get("orbit_fit"),
            "baseline": e.get("random_weights"), "raw": e["persistence"], "n": e["sequences"]},
            "low"))
    rollout = _rows(folder, "rollout")
    for quantity, measure in (("position", "AU"), ("energy", "drift")):
        of = [r for r in rollout if r["quantity"] == quantity and r["measure"] == measure]
        if of:
            last = max(of, key=lambda r: int(r["context"]))
            lines.append(_line(f"rollout of {last['context']} steps, {quantity}, {measure}", last,
                               "low"))
    for row in _rows(folder, "linear"):
        if row["quantity"] == "log force" and row["measure"] == "R^2, best layer":
            lines.append(_line("linear readout of log force, R^2", row, "high"))
    for row in _rows(folder, "labels"):
        if row["quantity"] == "log force":
            lines.append(_line(f"log force after {row['context']} labelled sequences, R^2", row,
                               "high"))
    return lines


def _laws(folder: pathlib.Path, name: str) -> dict[str, Any] | None:
    """In how many samples the law is found, of the model and its twin."""
    path = folder / "laws" / "laws.json"
    if not path.exists():
        return None
    laws = tables.read_result(path)
    rules = list(dict.fromkeys(law["rule"] for law in laws["laws"]))
    rule = "best" if "best" in rules else rules[-1]
    found: dict[str, Any] = {"law": laws["true_law"]["formula"], "rule": rule}
    for key, source in (("model", name), ("untrained", f"{name}_untrained"), ("truth", "truth")):
        of = [law for law in laws["laws"] if law["source"] == source and law["rule"] == rule]
        if of:
            found[key] = {"samples": len(of), "selected": sum(law["selected_true"] for law in of),
                          "on_front": sum(law["on_front"] for law in of)}
    return found


_ADAPTERS = {"TorchModel": "_judged_torch", "OrreryModel": "_judged_torch",
             "HuggingFaceModel": "_judged_huggingface", "SklearnModel": "_judged_sklearn",
             "windows": "_judged_sklearn"}


def __getattr__(name: str) -> Any:
    """Adapters of other packages, which are imported when they are asked for."""
    if name in _ADAPTERS:
        return getattr(importlib.import_module(f".{_ADAPTERS[name]}", __package__), name)
    raise AttributeError(f"module 'orrery.judging' has no attribute {name!r}")


def _answer(card: dict[str, Any]) -> str:
    """Does it know the force? By laws alone, since a readout may follow from geometry."""
    laws = card["laws"]
    if not laws or "model" not in laws:
        return "not asked: no law was searched for in its forces"
    model, twin = laws["model"], laws.get("untrained", {"selected": 0})
    count = f"{model['selected']} of {model['samples']} samples"
    if model["selected"] == 0:
        return f"no: its forces follow the law in {count}"
    if twin["selected"] >= model["selected"]:
        return (f"not shown: its forces follow the law in {count}, and those of its untrained "
                "twin, too")
    whole_ = "yes" if model["selected"] == model["samples"] else "in part"
    return f"{whole_}: its forces follow the law in {count}"


def _card(name: str, folder: pathlib.Path, export: dict[str, Any], asked: tuple[str, ...],
          left_out: dict[str, str]) -> dict[str, Any]:
    from ._library import version

    card: dict[str, Any] = {
        "format": CARD, "version": version(), "model": name,
        "data": {"preset": export["preset"], "seed": export["seed"],
                 "settings_xxh64": export["settings_xxh64"]},
        "seeds": 1, "probes": list(asked), "left_out": left_out,
        "lines": _lines(folder), "laws": _laws(folder, name),
        "intervals": "95%, over held-out sequences; one training, so not over seeds"}
    card["does_it_know_the_force"] = _answer(card)
    return card


# Student's t, 97.5%, of 2, 3, ... trainings
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def _mean(values: list[float]) -> tuple[float, float]:
    """Mean over trainings, and half of its 95% interval by Student's t."""
    n = len(values)
    return float(np.mean(values)), _STUDENT[n - 2] * float(np.std(values, ddof=1)) / math.sqrt(n)


def _over_seeds(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """One measure of several trainings. Model and twin are compared training by training."""
    made = {"measure": lines[0]["measure"], "better": lines[0]["better"], "n": lines[0]["n"]}
    value, half = _mean([_finite(line["value"]) for line in lines])
    numbers = {"value": value, "low": value - half, "high": value + half}
    for key in ("upper_bound", "baseline", "raw"):
        numbers[key] = float(np.mean([_finite(line[key]) for line in lines]))
    made |= {key: None if math.isnan(x) else x for key, x in numbers.items()}
    made |= {"values": [line["value"] for line in lines], "beyond_untrained": None}
    gain, half = _mean([_finite(line["value"]) - _finite(line["baseline"]) for line in lines])
    if not math.isnan(gain):
        made["beyond_untrained"] = gain > half if made["better"] == "high" else gain < -half
    return made


def _sum_laws(cards: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Samples of all trainings together."""
    laws = [card["laws"] for card in cards]
    if not all(laws):
        return None
    total = {"law": laws[0]["law"], "rule": laws[0]["rule"]}
    for key in ("model", "untrained", "truth"):
        if all(key in one for one in laws):
            total[key] = {count: sum(one[key][count] for one in laws) for count in laws[0][key]}
    return total


def _joined(cards: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The card of several trainings of a model."""
    card = {**cards[0], "model": name, "seeds": len(cards),
            "trainings": [c["model"] for c in cards],
            "intervals": "95%, over trainings by Student's t", "laws": _sum_laws(cards)}
    by_measure = [{line["measure"]: line for line in c["lines"]} for c in cards]
    card["lines"] = [_over_seeds([lines[measure] for lines in by_measure])
                     for measure in by_measure[0] if all(measure in lines for lines in by_measure)]
    card["does_it_know_the_force"] = _answer(card)
    return card


def _number(value: Any) -> str:
    return "-" if math.isnan(_finite(value)) else f"{value:.4g}"


def _card_text(card: dict[str, Any]) -> str:
    data = card["data"]
    lines = [f"# {card['model']}: does it know the force?", "",
             card["does_it_know_the_force"] + ".", "",
             f"Data: preset {data['preset']}, seed {data['seed']}, settings "
             f"{data['settings_xxh64']}; Orrery {card['version']}. Trainings: {card['seeds']}. "
             f"Intervals: {card['intervals']}.", "",
             "| measure | model | interval | truth or fit | untrained | no model | beyond "
             "untrained |",
             "|---|---|---|---|---|---|---|"]
    for line in card["lines"]:
        beyond = {None: "-", True: "yes", False: "no"}[line["beyond_untrained"]]
        interval = f"{_number(line['low'])} to {_number(line['high'])}"
        lines.append(f"| {line['measure']} | {_number(line['value'])} | "
                     f"{interval if interval != '- to -' else '-'} | "
                     f"{_number(line['upper_bound'])} | {_number(line['baseline'])} | "
                     f"{_number(line['raw'])} | {beyond} |")
    for key in ("model", "untrained", "truth"):
        found = (card["laws"] or {}).get(key)
        if found:
            lines += [""] if key == "model" else []
            lines.append(f"Law {card['laws']['law']}, {key}: selected in {found['selected']} of "
                         f"{found['samples']} samples, on the front in {found['on_front']}.")
    lines += [f"\nNot measured: {probe}, {why}." for probe, why in card["left_out"].items()]
    return "\n".join(lines)


def _asked(model: Adapted, probes: Iterable[str] | None,
           export: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The probes to run, and why others are not."""
    lacks = {}
    if not model.has_activations:
        lacks["linear"] = "the model gives no activations"
    if not model.has_tune:
        lacks["labels"] = lacks["laws"] = "the model cannot be tuned to labels"
    for probe, file in (("labels", "forces_labels.csv"), ("laws", "forces_magnitude.csv")):
        if file not in export["answers"]:
            lacks.setdefault(probe, f"the run does not ask for {file}")
    if probes is None:
        return tuple(p for p in PROBES if p not in lacks), lacks
    chosen = tuple(probes)
    for probe in chosen:
        if probe not in PROBES:
            raise ValueError(f"probes: expected some of {', '.join(PROBES)}, found {probe!r}")
        if probe in lacks:
            raise ValueError(f"probes: {probe}: {lacks[probe]}")
    return chosen, {}


def _written(card: dict[str, Any], place: pathlib.Path) -> Judgement:
    """With card.json and card.md."""
    place.mkdir(parents=True, exist_ok=True)
    text = json.dumps(card, indent=2, allow_nan=False)
    _files.replace(place / "card.json", text.encode() + b"\n")
    _files.replace(place / "card.md", _card_text(card).encode() + b"\n")
    return Judgement(place, card)


def _judge_all(models: list[Any], run: pathlib.Path, name: str, folder: Any, seed: int,
               options: dict[str, Any]) -> Judgement:
    if not 2 <= len(models) <= len(_STUDENT) + 1:
        raise ValueError(f"model: expected 2 to {len(_STUDENT) + 1} trainings, found {len(models)}")
    place = path_of("folder", folder) if folder is not None else run / "answers" / name
    made = [judge(one, run, f"{name}_{i}", folder=place.with_name(f"{name}_{i}"), seed=seed + i,
                  **options) for i, one in enumerate(models)]
    return _written(_joined([one.card for one in made], name), place)


def judge(model: Any, run: str | os.PathLike[str], name: str = "model", *,
          probes: Iterable[str] | None = None, folder: str | os.PathLike[str] | None = None,
          seed: int = 0, untrained: bool = True, resume: bool = False, quiet: bool = False,
          sequences: int | None = None, sizes: Iterable[int] | None = None,
          draws: int | None = None, settings: dict[str, Any] | None = None,
          threads: int | None = None, programs: str | os.PathLike[str] | None = None) -> Judgement:
    """Measures a model with the probes of a run, beside its untrained twin, and writes a card.

    model: a function rows (n, T, 2) -> (n, T, 2), the position after each row; a torch.nn.Module
    (orrery.judging.TorchModel says more of it); an orrery.GPT; orrery.judging.HuggingFaceModel of a
    transformers model; a regressor of scikit-learn, fitted to windows of rows
    (orrery.judging.SklearnModel); or an object with `predict`, and as it can `rollout`, `activations`, `tune` and `untrained` (docs/exchange.md). probes: of evaluate,
    rollout, linear, labels and laws; default: all that model and run allow. Files go to folder, by
    default <run>/answers/<name>. sequences, sizes and draws are those of bin/probe export, settings
    those of --set. resume: keeps answers that are there, of the same model, which is not checked.

    A list of 2 to 10 models, trainings of different seeds, is judged one by one as <name>_0,
    <name>_1, ... with the seeds seed, seed + 1, ...; the card has means over trainings and their
    intervals.
    """
    run, seed = path_of("run", run), whole("seed", seed)
    if isinstance(model, (list, tuple)):
        return _judge_all(list(model), run, name, folder, seed,
                          {"probes": None if probes is None else tuple(probes),
                           "untrained": untrained, "resume": resume, "quiet": quiet,
                           "sequences": sequences, "sizes": None if sizes is None else tuple(sizes),
                           "draws": draws, "settings": settings, "threads": threads,
                           "programs": programs})
    adapted = adapt(model)
    common = ["--run", str(run), "--quiet"]
    common += ["--threads", str(threads)] if threads else []
    for key, value in (settings or {}).items():
        common += ["--set", f"{key}={value}"]
    export = [*_program(programs, "probe"), "export", *common]
    for option, given in (("--sequences", sequences), ("--draws", draws),
                          ("--sizes", ",".join(map(str, sizes)) if sizes else None)):
        export += [option, str(given)] if given else []
    _call(export)
    asked = run / "exchange"
    question = tables.read_result(asked / "export.json")
    chosen, left_out = _asked(adapted, probes, question)
    place = path_of("folder", folder) if folder is not None else run / "answers" / name
    if place.name != name:
        raise ValueError(f"folder: expected one whose name is the model's, {name!r}, found {place}")

    def say(text: str) -> None:
        if not quiet and sys.stderr.isatty():
            print(f"\rjudge: {text:<70.70}", end="", file=sys.stderr, flush=True)

    answers = [(place, adapted)]
    if untrained and adapted.has_untrained:
        answers.append((place.with_name(f"{name}_untrained"), adapted.untrained(seed)))
    for path, of in answers:
        _Answers(of, asked, path, seed, resume, say).make(chosen)
    twin = ["--untrained", str(answers[1][0])] if len(answers) > 1 else []
    if not twin:
        left_out["untrained"] = "no twin was made, so that nothing shows what training added"
    for probe in chosen:
        say(probe)
        if probe == "laws":
            both = ",".join(str(path) for path, _ in answers)
            _call([*_program(programs, "symreg"), *common, "--answers", both, "--out",
                   str(place / "laws"), *(["--resume"] if resume else [])])
        else:
            again = ["--resume"] if resume and probe != "evaluate" else []
            _call([*_program(programs, "probe"), probe, *common, "--answers", str(place), *twin,
                   *again])
    say("")
    return _written(_card(name, place, question, chosen, left_out), place)
