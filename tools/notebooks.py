#!/usr/bin/env python3
"""notebooks.py - executes notebooks, each in a new kernel, with the package of this repository.

    python3 tools/notebooks.py NOTEBOOK.ipynb... [--to DIR | --store | --compare]

--to writes the executed notebooks into DIR. --store writes the outputs into the notebooks
themselves, without what differs from run to run: times of cells, versions, names of this machine's
folders, which are an error. It also notes which sources of cells and which packages they are of.
--compare wants the outputs that are stored: of these sources, and, where the same packages are
installed, the text that the cells print now (seconds may differ), pictures and tables at the same
places. Exit status 1 when a cell fails, with its error, or an output differs; needs nbclient,
nbformat and ipykernel.
"""
import argparse
import base64
import hashlib
import importlib.util
import io
import os
import pathlib
import re
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = pathlib.Path(__file__).resolve().parents[1]
OPTIONAL = ("matplotlib", "pandas", "sklearn", "sympy", "torch")
LARGEST = 300_000  # bytes of a notebook


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def sources(notebook):
    """What the outputs belong to: a hash of the sources of all cells."""
    text = "\0".join(cell.source for cell in code(notebook))
    return hashlib.sha256(text.encode()).hexdigest()


def packages(notebook):
    """Packages that a cell imports and that are installed, on which outputs depend."""
    text = "\n".join(cell.source for cell in code(notebook))
    return [name for name in OPTIONAL if importlib.util.find_spec(name) and
            (re.search(rf"(import|from) {name}\b", text) or name == "pandas")]


def merge(notebook):
    """Joins what a cell prints in several pieces, whose number depends on the moment."""
    for cell in code(notebook):
        joined = []
        for output in cell.outputs:
            before = joined[-1] if joined else {}
            if output.output_type == "stream" and before.get("name") == output.name:
                before["text"] += output.text
            else:
                joined.append(output)
        cell.outputs = joined


def rounded(number):
    """Four digits, and 0 for what is rounding: the last bits of NumPy's functions differ between
    versions and CPUs."""
    value = float(number[0])
    return f" {value if value > 1e-12 else 0:.4g}"


def shown(output):
    """The text that an output shows and the kinds of data that it has."""
    data = output.get("data", {})
    text = "".join(output.get("text", "") or data.get("text/plain", ""))
    text = re.sub(r"<Figure size [^>]*>", "<Figure>", text)
    text = re.sub(r"\b\d+\.\d+ s\b", "... s", text)
    text = re.sub(r" *\d+\.\d+(e[-+]\d+)?", rounded, text)  # tables are as wide as their numbers
    return re.sub(r"[-=]{3,}", "---", text), sorted(data)


def with_palette(picture):
    """A PNG of matplotlib, whose Pillow is there, in 256 colours and a quarter of the bytes."""
    from PIL import Image
    image, small = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"), io.BytesIO()
    image.quantize(256, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


def clean(notebook, path):
    """Leaves out what differs from run to run; False where an output names a folder of here."""
    notebook.metadata.language_info = {"name": "python"}
    notebook.metadata.orrery = {"sources": sources(notebook), "packages": packages(notebook)}
    good = True
    for number, cell in enumerate(code(notebook), 1):
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            output.get("metadata", {}).clear()
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = with_palette(output.data["image/png"])
            text = str(output)
            for folder in (str(ROOT), str(pathlib.Path.home()), sys.prefix, "/tmp/"):
                if folder in text:
                    print(f"{path}: code cell {number}: an output names {folder}", file=sys.stderr)
                    good = False
    return good


def differences(stored, executed):
    """In words, what of the stored outputs is not what runs."""
    about = stored.metadata.get("orrery", {})
    if about.get("sources") != sources(stored):
        yield "the outputs are of other code; store them again (tools/notebooks.py --store)"
        return
    if about.get("packages") != packages(executed):
        return
    for number, (old, new) in enumerate(zip(code(stored), code(executed), strict=True), 1):
        found = [[shown(output) for output in cell.outputs] for cell in (old, new)]
        if "torch" in about["packages"]:  # whose numbers differ between CPUs
            found = [[kinds for _, kinds in each] for each in found]
        if found[0] != found[1]:
            yield f"code cell {number}: stored {found[0]!r:.300}, found {found[1]!r:.300}"


def execute(path, options):
    notebook, stored = (nbformat.read(path, as_version=4) for _ in range(2))
    client = NotebookClient(notebook, timeout=600, record_timing=False,
                            resources={"metadata": {"path": path.parent}})
    try:
        client.execute()
    except CellExecutionError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return False
    print(f"{path}: {len(code(notebook))} cells")
    merge(notebook)
    if options.to:
        nbformat.write(notebook, options.to / path.name)
    if options.store:
        if not clean(notebook, path):
            return False
        text = nbformat.writes(notebook)
        if len(text) > LARGEST:
            print(f"{path}: expected at most {LARGEST} bytes, found {len(text)}", file=sys.stderr)
            return False
        path.write_text(text + "\n", encoding="utf-8")
    wrong = list(differences(stored, notebook)) if options.compare else []
    for line in wrong:
        print(f"{path}: {line}", file=sys.stderr)
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", nargs="+", type=pathlib.Path)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--to", type=pathlib.Path)
    what.add_argument("--store", action="store_true")
    what.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.to:
        options.to.mkdir(parents=True, exist_ok=True)
    paths = [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.exit(not all([execute(path, options) for path in options.notebook]))


if __name__ == "__main__":
    main()
