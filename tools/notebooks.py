#!/usr/bin/env python3
"""notebooks.py - executes notebooks, each in a new kernel.

    python3 tools/notebooks.py NOTEBOOK.ipynb... [--to DIR]

With --to the executed notebooks are written there. Exit status 1 when a cell fails, with its error;
needs nbclient, nbformat and ipykernel.
"""
import argparse
import pathlib
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def execute(path, folder):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": path.parent}})
    try:
        client.execute()
    except CellExecutionError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return False
    print(f"{path}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells")
    if folder:
        nbformat.write(notebook, folder / path.name)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", nargs="+", type=pathlib.Path)
    parser.add_argument("--to", type=pathlib.Path)
    options = parser.parse_args()
    if options.to:
        options.to.mkdir(parents=True, exist_ok=True)
    sys.exit(not all([execute(path, options.to) for path in options.notebook]))


if __name__ == "__main__":
    main()
