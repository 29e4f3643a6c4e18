"""Builds liborrery.so by make and puts it, with the presets, into the wheel."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "liborrery.so.2"
# What liborrery.so is compiled with, and Debian's package of it.
HEADERS = (
    ("gsl/gsl_rng.h", "GSL", "libgsl-dev"),
    ("cjson/cJSON.h", "cJSON", "libcjson-dev"),
    ("oneapi/dnnl/dnnl.h", "oneDNN", "libdnnl-dev"),
    ("xxhash.h", "xxHash", "libxxhash-dev"),
    ("zlib.h", "zlib", "zlib1g-dev"),
    ("omp.h", "OpenMP", "gcc"),
)


def source():
    """The folder of the C source: in a source distribution, or the repository around."""
    inside = HERE / "source"
    return inside if (inside / "Makefile").exists() else HERE.parent


def version():
    """The library's version as PEP 440 writes it: 0.2.0-dev is 0.2.0.dev0."""
    text = (source() / "base" / "version.h").read_text()
    found = re.search(r'^#define ORR_VERSION "(.*)"', text, re.MULTILINE)
    return re.sub(r"-dev$", ".dev0", found.group(1))


def lacking():
    """Each program and package that the build needs and the machine lacks, as a text."""
    compiler = shlex.split(os.environ.get("CC") or "cc")
    tools = ((compiler[0], "gcc"), ("make", "make"), ("ar", "binutils"), ("objcopy", "binutils"))
    missing = [f"{tool} (Debian: {package})" for tool, package in tools if not shutil.which(tool)]
    if missing:
        return missing
    return [f"{name}, {header} (Debian: {package})" for header, name, package in HEADERS
            if subprocess.run([*compiler, "-E", "-include", header, "-x", "c", os.devnull],
                              capture_output=True).returncode]


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # only version() is asked for
    BuildHookInterface = object


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if self.target_name != "wheel":
            return
        root = source()
        missing = lacking()
        if missing:
            sys.exit(f"orrery-physics: error: {LIBRARY} cannot be built without "
                     + "; ".join(missing))
        # (.deps looks for packages of the other programs, which the library does not need)
        subprocess.run(
            ["make", "-C", str(root), "CUDA=0", "MPI=0", "-o", ".deps", f"build/{LIBRARY}"],
            check=True,
        )
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        if version != "editable":
            include = build_data["force_include"]
            include[str(root / "build" / LIBRARY)] = f"orrery/{LIBRARY}"
            for licence in ("LICENSE", "LICENSE.GPL-3"):
                include[str(root / licence)] = f"orrery/{licence}"
            for preset in (root / "presets").glob("*.json"):
                include[str(preset)] = f"orrery/presets/{preset.name}"
