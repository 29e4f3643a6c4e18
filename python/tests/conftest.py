"""A run that several tests read."""

import pathlib
import shutil
import subprocess

import pytest

BIN = pathlib.Path(__file__).resolve().parents[2] / "bin"


def make_run(folder, stages, *settings):
    """A run of the preset smoke, small in every stage, by the programs of this repository."""
    if not (BIN / "report").exists():
        pytest.skip("no programs in bin/ beside the package")
    for words in stages:
        program, *more = words.split()
        preset = [] if program == "probe" else ["--preset", "smoke", "--quiet"]
        command = [BIN / program, *more, *preset, "--run", folder, "--set", "attention=lssar",
                   "--set", "symreg.iterations=1", "--set", "symreg.enumerate=500"]
        command += [word for text in settings for word in ("--set", text)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=BIN.parent)
        if program == "report" and "gnuplot" in done.stderr:
            continue
        assert done.returncode == 0, (program, done.stderr)
    return folder


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("run") / "smoke",
                    ("orbits", "pretrain", "finetune", "symreg", "probe attention --sequences 2",
                     "report"))


@pytest.fixture(scope="session")
def space_folder(tmp_path_factory):
    """A run of orbits in three dimensions."""
    return make_run(tmp_path_factory.mktemp("run") / "space", ("orbits", "pretrain", "finetune"),
                    "orbits.dimensions=3")


@pytest.fixture
def run_copy(run_folder, tmp_path):
    """Another one, to be changed."""
    return pathlib.Path(shutil.copytree(run_folder, tmp_path / "copy"))
