#!/usr/bin/env python3
"""baseline.py - what must stay the same while the code is rebuilt: hashes of data sets, truth and
neighbour fronts, models and eleven fronts of tables, and the speeds of four benchmarks beside them.

usage: baseline.py [--bin DIR] [--speeds] FILE     write FILE (bench/results/before-house.json)
       baseline.py ... --turns A.json --turns B.json FILE    with the speeds that bench/turns.py --json
                                                   found of this build, instead of new ones
       baseline.py [--bin DIR] --compare FILE      make everything again and name what differs

Needs Python 3 alone; hashes take 5 minutes on two cores, speeds 15 more. Models are trained in fp32
by two threads and depend on the instruction set; everything else is the same anywhere.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "tests" / "baseline"
DATA = {  # name: arguments of bin/orbits
    "quick": ["--preset", "quick"],
    "smoke": ["--preset", "smoke"],
    "tokens": ["--preset", "smoke_tokens", "--set", "orbits.train=3000"],
    "uniform masses": ["--preset", "smoke", "--set", "orbits.mass_prior=uniform"],
    "yukawa": ["--preset", "smoke", "--set", "orbits.law=yukawa"],
    "expression": ["--preset", "smoke", "--set", "orbits.law=expression", "--set",
                   "orbits.expression=30*m1*m2*exp(-r/20)/r^1.9"],
}
RUNS = {  # name: settings beside the preset; models are trained for a few steps
    "smoke": ["--preset", "smoke"],
    "quick": ["--preset", "quick", "--set", "pretrain.steps=12", "--set",
              "pretrain_planets.steps=12", "--set", "finetune.magnitude.steps=12", "--set",
              "finetune.vector.steps=12", "--set", "symreg.restarts=1"],
}
FITS = {  # name: options beside the table's own
    "noisy": ["--weights", "relative"],
    "planck": ["--compat", "pysr"],
    "mond": ["--loss", "abs(p-t)^1.5"],
}
SPEEDS = {  # benchmark: its arguments; each keeps its own file
    "kernels": [["--no-ref"]],
    "train": [["--no-peer", "--shape", "quick"], ["--no-peer", "--shape", "10M"]],
    "sim": [[]],
    "symreg_speed": [[]],
}


def sha(data):
    return hashlib.sha256(data).hexdigest()[:16]


def tensors(path):
    """A checkpoint without its header, which names settings and origin."""
    data = path.read_bytes()
    return data[8 + int.from_bytes(data[:8], "little"):]


def run(command, **more):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"baseline.py: {' '.join(map(str, command))}: status {done.returncode}\n"
                 + done.stderr)
    return done.stdout


def hash_data(bin, work):
    found = {}
    for name, settings in DATA.items():
        out = work / "data" / name.replace(" ", "_")
        run([bin / "orbits", *settings, "--quiet", "--out", out])
        found[name] = {f.name: sha(f.read_bytes()) for f in sorted(out.glob("*.npy"))}
    return found


def hash_runs(bin, work):
    """Fronts of truth and of neighbours, and weights, of whole runs."""
    fronts, models = {}, {}
    for name, settings in RUNS.items():
        out = work / name
        common = [*settings, "--set", "model.precision=fp32", "--threads", "2", "--quiet", "--run",
                  out]
        for program in ["orbits", "pretrain", "finetune", "symreg"]:
            run([bin / program, *common])
        fronts[name] = {f.name: sha(f.read_bytes())
                        for source in ["truth", "oracle"]
                        for f in sorted(out.glob(f"laws/front_{source}_*.csv"))}
        models[name] = {str(f.relative_to(out)): sha(tensors(f))
                        for f in sorted(out.glob("*/*/*.safetensors"))}
    return fronts, models


def hash_fits(bin, work):
    found = {}
    for table in sorted(TABLES.glob("*.csv")):
        out = work / "fits" / table.stem
        run([bin / "symreg", table, "--target", "out", *FITS.get(table.stem, []), "--preset",
             "quick", "--iterations", "10", "--set", "symreg.restarts=1", "--threads", "2",
             "--quiet", "--out", out])
        for front in ["front.csv", "front_full.csv"]:
            found[f"{table.stem}/{front}"] = sha((out / front).read_bytes())
    return found


def speeds(work):
    """Rows of the benchmarks, run in a folder of their own: committed results stay."""
    found = {}
    run(["make", "-C", ROOT, "-j2", *[f"build/bench/bench_{name}" for name in SPEEDS]])
    for name, calls in SPEEDS.items():
        found[name] = []
        for arguments in calls:
            (work / "bench" / "results").mkdir(parents=True, exist_ok=True)
            run([ROOT / "build" / "bench" / f"bench_{name}", *arguments], cwd=work)
            rows = json.loads((work / "bench" / "results" / f"{name}.json").read_text())["rows"]
            found[name] += [{k: row[k] for k in ("name", "value", "unit", "spread")}
                            for row in rows]
    return found


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def differences(before, now, where=""):
    for key in sorted(set(before) | set(now)):
        path = f"{where}/{key}" if where else key
        if isinstance(before.get(key), dict) and isinstance(now.get(key), dict):
            yield from differences(before[key], now[key], path)
        elif before.get(key) != now.get(key):
            yield f"{path}: {before.get(key, 'not there')} before, {now.get(key, 'not there')} now"


def speeds_of_turns(files):
    """The medians that turns.py found of the build before."""
    found = {}
    for file in files:
        turns = json.loads(file.read_text())
        found.setdefault(turns["benchmark"][0], []).extend(
            {"name": r["name"], "value": r["before"], "unit": r["unit"],
             "rounds": len(r["rounds"])} for r in turns["rows"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "bin")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--speeds", action="store_true")
    parser.add_argument("--turns", type=pathlib.Path, action="append", default=[])
    options = parser.parse_args()
    bin = options.bin.resolve()
    before = json.loads(options.file.read_text()) if options.compare else None
    os.environ.pop("ORRERY_TRACE", None)
    with tempfile.TemporaryDirectory(prefix="orrery-baseline-") as work:
        work = pathlib.Path(work)
        hashes = {"data": hash_data(bin, work)}
        hashes["fronts"], hashes["models"] = hash_runs(bin, work)
        hashes["tables"] = hash_fits(bin, work)
        measured = speeds(work) if options.speeds else speeds_of_turns(options.turns)
    if options.compare:
        differing = list(differences(before["hashes"], hashes))
        print(*differing, sep="\n", end="\n" if differing else "")
        print(f"{sum(len(v) for v in hashes.values())} groups, {len(differing)} files differ from "
              f"commit {before['commit'][:12]}")
        return bool(differing)
    commit = run(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    result = {"commit": commit, "date": time.strftime("%Y-%m-%d"), "cpu": cpu(),
              "cores": os.cpu_count(), "hashes": hashes}
    if measured:
        result["speeds"] = measured
    partial = options.file.with_name(options.file.name + ".orrery-partial")
    partial.write_text(json.dumps(result, indent=1) + "\n")
    partial.rename(options.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
