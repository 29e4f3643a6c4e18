"""Builds liborrery.so by make and puts it, with the presets, into the wheel."""

import pathlib
import re
import subprocess
import sysconfig

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "liborrery.so.0"


def source():
    """The folder of the C source: in a source distribution, or the repository around."""
    inside = HERE / "source"
    return inside if (inside / "Makefile").exists() else HERE.parent


def version():
    """The library's version as PEP 440 writes it: 0.2.0-dev is 0.2.0.dev0."""
    text = (source() / "base" / "version.h").read_text()
    found = re.search(r'^#define ORR_VERSION "(.*)"', text, re.MULTILINE)
    return re.sub(r"-dev$", ".dev0", found.group(1))


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # only version() is asked for
    BuildHookInterface = object


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if self.target_name != "wheel":
            return
        root = source()
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
