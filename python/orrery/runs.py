"""Run("runs/quick"): the results of a run as arrays and tables, for a script or a notebook."""

from __future__ import annotations

import base64
import html
import os
import pathlib
import re
from typing import Any, Iterable

import numpy as np

from . import _tables as tables
from ._arguments import path_of
from ._files import plain

SOURCES = ("truth", "oracle", "untrained")  # of forces, beside the attention variants
TRAININGS = {  # stage -> its log, below the folder of a source
    "pretrain": "pretrain/log.jsonl", "pretrain_planets": "pretrain_planets/log.jsonl",
    "magnitude": "finetune/magnitude.jsonl", "vector": "finetune/vector.jsonl",
}
FORCES = {
    "magnitude": ("sample", "sequence", "step", "r", "m1", "m2", "dt", "F_true", "F"),
    "vector": ("planet", "name", "step", "x", "y", "fx_true", "fy_true", "fx", "fy", "labelled"),
}
PROBE = ("quantity", "measure", "layer", "context", "value", "low", "high", "upper_bound",
         "baseline", "raw", "n")
_OF_LAWS = {"sources": ("source", "r2_log", "median_relative_error"),
            "laws": ("source", "rule", "selected_true")}  # of each object in laws.json
# Arrays of a data set: dtype and the columns behind (sequences, P), in the plane and in space.
_ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    "obs": ("u", (2,)), "coords": ("f4", (2, 3)), "num_bodies": ("u", ()),
    "full_state": ("f4", (6, 8)), "state": ("f4", (5, 7)), "force_magnitude": ("f4", (1,)),
    "force_vector": ("f4", (2, 3)), "scale": ("f4", ()),
}


class Figure:
    """A picture of a run; a notebook shows it."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def _repr_png_(self) -> bytes:
        return tables.there(self.path).read_bytes()

    def _img(self) -> str:
        data = base64.b64encode(self._repr_png_()).decode()
        return (f'<img alt="{html.escape(self.path.stem)}" style="max-width:100%" '
                f'src="data:image/png;base64,{data}">')

    def __repr__(self) -> str:
        return f"Figure({str(self.path)!r})"


class Report:
    """report.html of a run, or its orbit lab; a notebook shows it in a frame."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def _repr_html_(self) -> str:
        page = tables.read_text(tables.there(self.path))
        return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts '
                'allow-downloads" style="width:100%;height:800px;border:1px solid #888"></iframe>')

    def __repr__(self) -> str:
        return f"Report({str(self.path)!r})"


class Run:
    """A folder that the programs of Orrery wrote; docs/formats.md says what columns mean.

    Tables are DataFrames where pandas is installed, else dicts of arrays. A file that is not there
    raises FileNotFoundError, one that is not as the format has it a ValueError; both name it.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = path_of("path", path)
        if not self.path.is_dir():
            raise FileNotFoundError(f"{self.path}: expected the folder of a run, found none")
        if not any((self.path / name).exists() for name in ("preset.json", "orbits", "laws")):
            raise FileNotFoundError(f"{self.path}: expected a run (preset.json, orbits/ or laws/), "
                                    "found none of them")

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    # ------------------------------------------------------------------------- what it is

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting by its key, "pretrain.steps"."""
        path, flat = self.path / "preset.json", {}
        for group, value in tables.expect(tables.read_json(path), dict, str(path)).items():
            flat.update(_flat(group, value))
        return flat

    @property
    def sources(self) -> list[str]:
        """truth, oracle, untrained and the attention variants that the run has."""
        found = {p.relative_to(self.path).parts[0] for pattern in ("*/pretrain*", "*/finetune",
                                                                  "*/probe*")
                 for p in self.path.glob(pattern) if p.is_dir()}
        return [s for s in SOURCES if s in found] + sorted(found.difference(SOURCES))

    @property
    def attentions(self) -> list[str]:
        return [s for s in self.sources if s not in SOURCES]

    # ----------------------------------------------------------------------------- orbits

    @property
    def sets(self) -> list[str]:
        """Names of the data sets."""
        files = (self.path / "orbits").glob("num_bodies_*.npy")
        return sorted({re.sub(r"-\d{5}-of-\d{5}$", "", f.stem[len("num_bodies_"):]) for f in files})

    def data(self, name: str) -> dict[str, np.ndarray]:
        """The arrays of a data set, by the names of their files: "coords", "state" ..."""
        if name not in self.sets:
            raise FileNotFoundError(f"{self.path / 'orbits'}: expected one of the data sets "
                                    f"{', '.join(self.sets) or '(none)'}, found {name!r}")
        arrays = {}
        for key, (dtype, columns) in _ARRAYS.items():
            parts = _shards(self.path / "orbits", f"{key}_{name}")
            if parts:
                arrays[key] = _checked(parts, dtype, columns)
        counts = {key: len(array) for key, array in arrays.items()}
        if len(set(counts.values())) > 1:
            raise tables.FileError(f"{self.path / 'orbits'}: {name}: expected arrays of as many "
                                   f"sequences, found {counts}")
        return arrays

    # ---------------------------------------------------------------------------- results

    @property
    def evaluations(self) -> Any:
        """evaluation.json of every pretrained model: next-state errors and baselines."""
        rows = []
        for source in self.sources:
            for stage in ("pretrain", "pretrain_planets"):
                path = self.path / source / stage / "evaluation.json"
                if path.is_file():
                    known = tables.expect(tables.read_result(path), dict, str(path))
                    rows.append({"stage": stage, **{k: v for k, v in known.items() if
                                                    not isinstance(v, dict) and k != "xxh64"}})
        return tables.of_rows(rows)

    def forces(self, source: str | None = None, kind: str = "magnitude") -> Any:
        """Held-out forces, "magnitude" or "vector", of a source or of all with a column source."""
        if kind not in FORCES:
            raise ValueError(f"kind: expected magnitude or vector, found {kind!r}")

        def read(of: str) -> dict[str, np.ndarray]:
            path = self.path / of / "finetune" / f"forces_{kind}.csv"
            table = tables.read_csv(tables.there(path, self._hint(of)), FORCES[kind])
            self._check(path.with_name(f"forces_{kind}.made.json"))
            return table

        if source is not None:
            return tables.frame(read(source))
        return _joined({of: read(of) for of in self.sources
                        if (self.path / of / "finetune" / f"forces_{kind}.csv").is_file()})

    def rollouts(self, attention: str) -> Any:
        """True and predicted positions of the planets, step by step."""
        path = self.path / attention / "pretrain_planets" / "rollouts.csv"
        self._check(path.with_name("evaluation.json"))
        return tables.frame(tables.read_csv(tables.there(path, self._hint(attention)),
                                            ("name", "step", "x_true", "y_true", "x", "y")))

    def _check(self, beside: pathlib.Path) -> None:
        """Files that other programs wrote have none beside them."""
        if beside.is_file():
            tables.check_sum(beside)

    def _all_laws(self) -> Any:
        path = self.path / "laws" / "laws.json"
        laws = tables.read_result(path)
        if isinstance(laws, dict) and "laws" in laws and "xxh64" not in laws:
            raise tables.FileError(f"{path}: expected a checksum \"xxh64\", found none: an older "
                                   "version made it, or it has been changed; make it again with: "
                                   f"orrery symreg --run {self.path} --resume")
        return laws

    def _laws(self, key: str) -> list[dict[str, Any]]:
        path = self.path / "laws" / "laws.json"
        rows: list[dict[str, Any]] = tables.member(self._all_laws(), key, list, str(path))
        for i, row in enumerate(rows):
            where = f"{path}: {key}: {i}"
            for name in _OF_LAWS.get(key, ()):
                if name not in tables.expect(row, dict, where):
                    raise tables.FileError(f"{where}: expected {name!r}, found none")
        return rows

    def _exponents(self, source: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """By column: value, low and high."""
        where = f"{self.path / 'laws' / 'laws.json'}: sources: exponents"
        found = tables.expect(source.get("exponents") or {}, dict, where)
        return {name: tables.expect(e, dict, f"{where}: {name}") for name, e in found.items()}

    @property
    def laws(self) -> Any:
        """The law that each rule selects, by source and sample."""
        return tables.of_rows(self._laws("laws"))

    @property
    def law_sources(self) -> Any:
        """By source: R^2 of ln F, median error, exponents with their 95% intervals."""
        rows = []
        for source in self._laws("sources"):
            row = {k: v for k, v in source.items() if k != "exponents"}
            for name, e in self._exponents(source).items():
                row.update({f"{name}_exponent": e.get("value"), f"{name}_low": e.get("low"),
                            f"{name}_high": e.get("high")})
            rows.append(row)
        return tables.of_rows(rows)

    @property
    def law_samples(self) -> Any:
        return tables.of_rows(self._laws("samples"))

    @property
    def true_law(self) -> dict[str, Any]:
        path = self.path / "laws" / "laws.json"
        laws = tables.expect(self._all_laws(), dict, str(path))
        return dict(tables.expect(laws.get("true_law") or {"law": "newton"}, dict,
                                  f"{path}: true_law"))

    def front(self, source: str, sample: int = 0) -> Any:
        """A Pareto front of laws: Complexity, Loss, Equation."""
        path = self.path / "laws" / f"front_{source}_{sample}.csv"
        self._check(path.with_name("laws.json"))
        return tables.frame(tables.read_csv(tables.there(path, self._hint(source)),
                                            ("Complexity", "Loss", "Equation")))

    # ------------------------------------------------------------------------------- logs

    def log_files(self) -> dict[tuple[str, str], pathlib.Path]:
        """(source, stage) -> the log of a training."""
        paths = {(source, stage): self.path / source / name for source in self.sources
                 for stage, name in TRAININGS.items()}
        return {key: path for key, path in paths.items() if path.is_file()}

    def log(self, source: str, stage: str = "pretrain") -> Any:
        """A training: step, loss, val_loss, lr, grad_norm ..., a line of its log a row."""
        if stage not in TRAININGS:
            raise ValueError(f"stage: expected one of {', '.join(TRAININGS)}, found {stage!r}")
        path = tables.there(self.path / source / TRAININGS[stage], self._hint(source))
        return tables.of_rows(tables.read_jsonl(path))

    @property
    def logs(self) -> Any:
        """All of them, with the columns source and stage."""
        return tables.of_rows([
            {"source": source, "stage": stage, **row}
            for (source, stage), path in self.log_files().items()
            for row in tables.read_jsonl(path)])

    # ----------------------------------------------------------------------------- probes

    def probe_files(self) -> dict[tuple[str, str], pathlib.Path]:
        """(source, probe) -> its CSV file."""
        found = {}
        for source in self.sources:
            for path in sorted((self.path / source).glob("probe*/*.csv")):
                name = path.stem
                if path.parent.name != "probe":  # probe_pretrain_planets
                    name = f"{path.parent.name[len('probe_'):]}/{name}"
                found[source, name] = path
        return found

    def probe(self, name: str, source: str | None = None) -> Any:
        """What a probe measured, of one source or of all with a column source."""
        files = {s: p for (s, n), p in self.probe_files().items()
                 if n in (name, f"pretrain_planets/{name}") and source in (None, s)}
        if not files:
            known = sorted({n for s, n in self.probe_files() if source in (None, s)})
            raise FileNotFoundError(f"{self.path}: expected one of the probes "
                                    f"{', '.join(known) or '(none)'}, found {name!r}")
        for path in files.values():
            self._check(path.with_suffix(".json"))
        read = {s: tables.read_csv(path) for s, path in files.items()}
        return tables.frame(read[source]) if source is not None else _joined(read)

    def attention_map(self, source: str, layer: int = 0) -> np.ndarray:
        """Mean attention of a layer's heads over sequences (docs/probes/attention.md)."""
        path = self.path / source / "probe" / f"attention_layer{layer}.npy"
        return tables.read_npy(tables.there(path, self._hint(source)))

    # --------------------------------------------------------------------------- pictures

    @property
    def figures(self) -> dict[str, Figure]:
        files = sorted((self.path / "figures").glob("*.png"))
        return {path.stem: Figure(path) for path in files}

    @property
    def report(self) -> Report:
        return Report(tables.there(self.path / "report.html", "; orrery figures makes it"))

    def _hint(self, source: str) -> str:
        return "" if source in self.sources else f"; sources are {', '.join(self.sources)}"

    def _repr_html_(self) -> str:
        parts = [f"<h3>{html.escape(plain(str(self.path)))}</h3>"]
        for title, path, name in (("Next states", None, "evaluations"),
                                  ("Laws", self.path / "laws" / "laws.json", "laws")):
            if path is None or path.is_file():
                parts.append(f"<h4>{title}</h4>" + _html(getattr(self, name)))
        figures = self.figures
        if figures:
            pictures = "".join(figure._img() for figure in figures.values())
            parts.append(f"<details><summary>{len(figures)} figures</summary>{pictures}</details>")
        if (self.path / "report.html").is_file():
            parts.append(f"<details><summary>report</summary>{self.report._repr_html_()}</details>")
        return "".join(parts)


def _flat(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {key: value}
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        flat.update(_flat(f"{key}.{name}", inner))
    return flat


def _shards(folder: pathlib.Path, name: str) -> list[pathlib.Path]:
    """NAME.npy, or all of NAME-00000-of-00005.npy, in their order."""
    if (folder / f"{name}.npy").is_file():
        return [folder / f"{name}.npy"]
    parts = sorted(folder.glob(f"{name}-?????-of-?????.npy"))
    if parts:
        count = int(parts[0].stem[-5:])
        expected = [folder / f"{name}-{i:05d}-of-{count:05d}.npy" for i in range(count)]
        for path in expected:
            tables.there(path, f": {count} parts of {name} make the set")
        return expected
    return []


def _checked(paths: list[pathlib.Path], dtype: str, columns: tuple[int, ...]) -> np.ndarray:
    arrays = [tables.read_npy(path) for path in paths]
    for path, array in zip(paths, arrays):
        typed = array.dtype.kind == "u" if dtype == "u" else array.dtype == np.dtype(dtype)
        shaped = array.ndim == 1 if not columns else array.ndim == 3 and array.shape[2] in columns
        if not typed or not shaped:
            shape = f"(n, P, {' or '.join(map(str, columns))})" if columns else "(n)"
            kind = "whole numbers" if dtype == "u" else dtype
            raise tables.FileError(f"{path}: expected {kind} {shape}, found {array.dtype} "
                                   f"{array.shape}")
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _joined(parts: dict[str, dict[str, np.ndarray]]) -> Any:
    """Tables of several sources, one below the other."""
    if not parts:
        return tables.frame({"source": np.array([], dtype=object)})
    names = list(dict.fromkeys(name for part in parts.values() for name in part))
    lengths = {source: len(next(iter(part.values()))) for source, part in parts.items()}
    columns: dict[str, Any] = {"source": np.repeat(np.array(list(parts), dtype=object),
                                                   list(lengths.values()))}
    for name in names:
        columns[name] = np.concatenate([
            part[name] if name in part else np.full(lengths[source], np.nan)
            for source, part in parts.items()])
    return tables.frame(columns)


def _html(table: Any) -> str:
    """A table for a notebook, with pandas and without."""
    if hasattr(table, "to_html"):
        return plain(str(table.to_html(index=False, max_rows=40)))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
                   for row in list(zip(*table.values()))[:40])
    return plain(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _values(run: Run) -> dict[str, dict[str, Any]]:
    """By source: shares of samples that select the true law, R^2, exponents, next-state errors."""
    values: dict[str, dict[str, Any]] = {}
    if (run.path / "laws" / "laws.json").is_file():
        for source in run._laws("sources"):
            row = values.setdefault(source["source"], {})
            row.update({k: source[k] for k in ("r2_log", "median_relative_error")})
            row.update({f"{n}_exponent": e.get("value")
                        for n, e in run._exponents(source).items()})
        for law in run._laws("laws"):
            row = values.setdefault(law["source"], {})
            row.setdefault(f"selected_{law['rule']}", []).append(bool(law["selected_true"]))
    for row in values.values():
        row.update({k: float(np.mean(v)) for k, v in row.items() if isinstance(v, list)})
    for name in run.attentions:
        for stage in ("pretrain", "pretrain_planets"):
            path = run.path / name / stage / "evaluation.json"
            if path.is_file():
                known = tables.expect(tables.read_result(path), dict, str(path))
                values.setdefault(name, {}).update(
                    {f"{stage}_{k}": known.get(k) for k in ("loss", "teacher_forced")})
    return values


def lab(run: Run | str | os.PathLike[str], out: str | os.PathLike[str] | None = None, *,
        programs: str | os.PathLike[str] | None = None) -> Report:
    """Writes the orbit lab with the networks of a run: one page, which needs no network and no
    program (docs/lab.md). A notebook shows it in a frame; `.path` is the file.

    out: the file, by default lab.html in the run. programs: the folder of Orrery's programs.
    ValueError with the line that says why it failed.
    """
    from .judging import _call, _program  # which imports this module

    folder = run.path if isinstance(run, Run) else Run(run).path
    page = folder / "lab.html" if out is None else path_of("out", out)
    _call([*_program(programs, "probe"), "lab", f"--run={folder}", f"--out={page}", "--quiet"])
    return Report(page)


def compare(runs: Iterable[Run | str | os.PathLike[str]]) -> Any:
    """A row per run and source: the settings in which the runs differ, then the results.

    selected_RULE is the share of samples whose selected law is the true one. Means over seeds with
    intervals: bin/compare runs.
    """
    if isinstance(runs, (str, os.PathLike, Run)):
        raise ValueError(f"compare: expected a list of runs, found {runs!r}")
    opened = [run if isinstance(run, Run) else Run(run) for run in runs]
    settings = [run.settings for run in opened]
    keys = list(dict.fromkeys(key for each in settings for key in each))
    differing = [key for key in keys if key not in ("name", "about")
                 and len({repr(each.get(key)) for each in settings}) > 1]
    rows = []
    for run, each in zip(opened, settings):
        about = {"run": str(run.path), **{key: each.get(key) for key in differing}}
        for source, row in _values(run).items():
            rows.append({**about, "source": source, **row})
    return tables.of_rows(rows)
