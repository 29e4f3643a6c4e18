"""RO-Crate of a run, a description of its files for archives and other programs:

    python -m orrery.crate runs/quick --license https://spdx.org/licenses/CC-BY-4.0
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import sys
import urllib.parse
from typing import Any, Iterator

from . import _tables as tables
from ._files import plain, replace
from .runs import Run

METADATA = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/crate/1.1"
FORMATS = {
    ".json": "application/json", ".jsonl": "application/jsonl", ".csv": "text/csv",
    ".md": "text/markdown", ".html": "text/html", ".png": "image/png", ".svg": "image/svg+xml",
    ".gif": "image/gif", ".npy": "application/x-npy", ".safetensors": "application/octet-stream",
    ".bin": "application/octet-stream",
}
# What files are, by how their path begins or ends; the first one that fits (docs/formats.md).
ABOUT = (
    ("preset.json", "all settings of the run"), ("orbits/manifest.json", "counts and checksums"),
    ("orbits/", "orbits: an array of a data set"), ("rollouts.csv", "predicted orbits"),
    ("evaluation.json", "next-state errors"), (".made.json", "what a table was made from"),
    ("forces_magnitude.csv", "held-out force magnitudes"),
    ("forces_vector.csv", "forces on the planets"), (".jsonl", "training log"),
    (".safetensors", "weights of a transformer"), ("laws/laws.json", "recovered laws"),
    ("laws/front_", "Pareto front of formulas"), ("laws/", "recovered laws"),
    ("figures/", "figure"), ("report.html", "report"),
    ("report.made.json", "what it was made from"),
)
# Programs: which files each one writes, and what it reads.
PROGRAMS = (
    ("orbits", ("orbits/",), ("preset.json",)),
    ("pretrain", ("/pretrain/", "/pretrain_planets/"), ("orbits/",)),
    ("finetune", ("/finetune/",), ("orbits/", "/pretrain/", "/pretrain_planets/")),
    ("probe", ("/probe/", "/probe_pretrain_planets/"), ("orbits/", "/pretrain/", "/finetune/")),
    ("symreg", ("laws/",), ("/finetune/forces_magnitude",)),
    ("report", ("figures/", "report.html"), ("laws/", "/finetune/", "/pretrain")),
)


def _files(root: pathlib.Path) -> Iterator[str]:
    """Paths of whole files below a folder, without hidden ones, in order."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            inside = (pathlib.Path(folder) / name).relative_to(root).as_posix()
            if not name.startswith(".") and not name.endswith((".part", ".orrery-partial")) and (
                    inside != METADATA):
                yield inside


def _id(path: str) -> str:
    return urllib.parse.quote(path)


def _fits(path: str, patterns: tuple[str, ...]) -> bool:
    return any(path.startswith(p) or (p.startswith("/") and p in path) for p in patterns)


def _about(path: str) -> str | None:
    return next((text for key, text in ABOUT if path.startswith(key) or path.endswith(key)), None)


def _file(root: pathlib.Path, path: str) -> dict[str, Any]:
    known = (root / path).stat()
    entity: dict[str, Any] = {
        "@id": _id(path), "@type": "File", "name": path, "contentSize": str(known.st_size),
        "encodingFormat": FORMATS.get(pathlib.Path(path).suffix, "application/octet-stream"),
        "dateModified": _time(known.st_mtime)}
    about = _about(path)
    if about:
        entity["description"] = about
    return entity


def _time(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).isoformat()


def _refs(paths: list[str]) -> list[dict[str, str]]:
    return [{"@id": _id(path)} for path in paths]


def _some(paths: list[str]) -> Any:
    """One value stands without a list, as RO-Crate recommends."""
    references = _refs(paths)
    return references[0] if len(references) == 1 else references


def _actions(paths: list[str]) -> list[dict[str, Any]]:
    """A CreateAction for each program that wrote files of the run."""
    actions = []
    for program, written, read in PROGRAMS:
        results = [path for path in paths if _fits(path, written)]
        if results:
            actions.append({
                "@id": f"#{program}", "@type": "CreateAction", "name": f"bin/{program}",
                "instrument": {"@id": "#orrery"}, "result": _some(results),
                "object": _some([path for path in paths if _fits(path, read)])})
    return actions


def _version(run: Run) -> str:
    """Of the program that wrote the newest manifest, or of this library."""
    for name in ("laws/laws.json", "orbits/manifest.json"):
        if (run.path / name).is_file():
            found = tables.read_result(run.path / name)
            if isinstance(found, dict) and "version" in found:
                return str(found["version"])
    from ._library import version

    return version()


def _licence(given: str | None) -> tuple[dict[str, str], dict[str, Any]]:
    """A reference to the licence, and what it is."""
    if given and "://" in given:
        return {"@id": given}, {"@id": given, "@type": "CreativeWork",
                                "name": given.rstrip("/").rsplit("/", 1)[-1],
                                "description": "licence of this data set"}
    text = given or "no licence is stated"
    return {"@id": "#licence"}, {"@id": "#licence", "@type": "CreativeWork", "name": text,
                                 "description": text}


def describe(run: Run, licence: str | None = None, author: str | None = None,
             name: str | None = None) -> dict[str, Any]:
    """The metadata of RO-Crate 1.1: all files of the run, and which program made them of which."""
    paths = list(_files(run.path))
    if not paths:
        raise tables.FileError(f"{run.path}: expected files of a run, found none")
    settings = run.settings if (run.path / "preset.json").is_file() else {}
    preset = settings.get("name", run.path.name)
    newest = max((run.path / path).stat().st_mtime for path in paths)
    reference, entity = _licence(licence)
    actions = _actions(paths)
    law = settings.get("orbits.law", "newton")
    root: dict[str, Any] = {
        "@id": "./", "@type": "Dataset", "name": name or f"Orrery run {run.path.resolve().name}",
        "description": f"Simulated orbits under the force law {law}, transformers trained on them, "
                       f"and laws recovered from their forces: preset {preset}, seed "
                       f"{settings.get('seed', 0)}.",
        "datePublished": _time(newest), "license": reference, "hasPart": _some(paths),
        "mentions": [{"@id": action["@id"]} for action in actions]}
    graph: list[dict[str, Any]] = [
        {"@id": METADATA, "@type": "CreativeWork", "conformsTo": {"@id": PROFILE},
         "about": {"@id": "./"}},
        root, entity,
        {"@id": "#orrery", "@type": "SoftwareApplication", "name": "Orrery",
         "softwareVersion": _version(run)}]
    if author:
        root["author"] = {"@id": "#author"}
        graph.append({"@id": "#author", "@type": "Person", "name": author})
    return {"@context": f"{PROFILE}/context",
            "@graph": graph + actions + [_file(run.path, path) for path in paths]}


def write(run: Run, crate: dict[str, Any]) -> pathlib.Path:
    """ro-crate-metadata.json of the run's folder; the file is written atomically."""
    path = run.path / METADATA
    replace(path, (json.dumps(crate, indent=1, ensure_ascii=False) + "\n").encode())
    return path


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m orrery.crate",
                                     description="RO-Crate of a run: RUN/ro-crate-metadata.json",
                                     allow_abbrev=False)
    parser.add_argument("run", metavar="RUN", help="folder of the run")
    parser.add_argument("--license", metavar="URL|TEXT", help="of the results")
    parser.add_argument("--author", metavar="NAME")
    parser.add_argument("--name", metavar="TEXT", help="title of the data set")
    options = parser.parse_args(arguments)
    try:
        run = Run(options.run)
        crate = describe(run, options.license, options.author, options.name)
        print(plain(str(write(run, crate))))
    except (OSError, ValueError) as error:
        print(plain(f"orrery.crate: error: {error}"), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
