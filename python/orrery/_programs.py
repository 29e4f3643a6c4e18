"""Programs of Orrery that are run on a table of Python: the table as CSV, and their errors."""

from __future__ import annotations

import csv
import os
import pathlib
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from .judging import _program

__all__ = ["quoted", "run", "write_table"]


def quoted(name: str) -> str:
    """A column's name as options of the programs take it, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def write_table(path: pathlib.Path, columns: Mapping[str, Iterable[Any]]) -> None:
    """A CSV file of columns of one length; numbers have all of their digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def run(programs: str | os.PathLike[str] | None, arguments: list[str], table: pathlib.Path,
        called: str) -> str:
    """What `symreg ARGUMENTS` prints. ValueError with the line that says why it failed; both call
    the file `table` as the caller does."""
    done = subprocess.run([*_program(programs, "symreg"), *arguments, "--quiet"],
                          capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        line = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise ValueError((line[0].partition(": error: ")[2] or line[0]).replace(str(table), called))
    return done.stdout.replace(str(table), called)
