#!/usr/bin/env python3
"""Compares orbits by `symreg orbit` with radvel's maximum of the same likelihood (Fulton et al.
2018, PASP 130, 044504), on radvel's example data; needs `pip install radvel`.

    make all && python3 bench/peer_orbit.py [--data FOLDER] [--out bench/results/peer_orbit.json]

radvel needs a start. It is given two: the published values that its own examples start from, and
the elements that Orrery found without any. Prints each element, Orrery's standard error, and by how
many standard errors radvel's best differs, with the logarithms of both likelihoods.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    import radvel
except ImportError:
    sys.exit("peer_orbit: radvel is not installed: pip install radvel")

# columns of the file; the starts of radvel's own example: P, time of conjunction, K, e
CASES = {
    "HD 164922": {"file": "164922_fixed.txt", "time": "time", "velocity": "mnvel",
                  "sigma": "errvel", "instrument": "tel", "options": [],
                  "start": [(75.765, 2450277.6, 2.4, 0.1), (1201.1, 2450778.0, 7.2, 0.1)]},
    "K2-24": {"file": "epic203771098.csv", "time": "t", "velocity": "vel", "sigma": "errvel",
              "instrument": None, "options": ["--period", "15,60"],
              "start": [(20.885258, 2072.79438, 5.0, 0.1), (42.363011, 2082.62516, 3.0, 0.1)]},
}


def read(path, case):
    rows = [line.replace(",", " ").split() for line in path.read_text().splitlines() if line]
    if "," in path.read_text().splitlines()[0]:
        rows = [line.split(",") for line in path.read_text().splitlines() if line]
    names = rows[0]
    take = {key: [row[names.index(case[key])] for row in rows[1:]]
            for key in ("time", "velocity", "sigma", "instrument") if case[key]}
    t, v, sigma = (np.array(take[key], float) for key in ("time", "velocity", "sigma"))
    return t, v, sigma, np.array(take.get("instrument", ["all"] * len(t)))


def orrery(path, case):
    columns = [f"--{key}={case[key]}" for key in ("time", "velocity", "sigma", "instrument")
               if case[key]]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["bin/symreg", "orbit", path, *columns, "--planets=2", *case["options"],
                        "--out", folder, "--quiet"], check=True, capture_output=True)
        return json.loads((pathlib.Path(folder) / "orbit.json").read_text())


def fit_radvel(data, start, gammas, jitters):
    """radvel's likeliest orbits from a start; planets by period."""
    t, v, sigma, instrument = data
    params = radvel.Parameters(2, basis="per tc secosw sesinw k")
    for p, (P, tc, K, e, w) in enumerate(start, 1):
        for key, value in (("per", P), ("tc", tc), ("k", K), ("secosw", np.sqrt(e) * np.cos(w)),
                           ("sesinw", np.sqrt(e) * np.sin(w))):
            params[f"{key}{p}"] = radvel.Parameter(value=value)
    for key in ("dvdt", "curv"):
        params[key] = radvel.Parameter(value=0.0, vary=False)
    model = radvel.RVModel(params, time_base=float(np.mean(t)))
    parts = []
    for name in sorted(set(instrument)):
        rows = instrument == name
        part = radvel.likelihood.RVLikelihood(model, t[rows], v[rows], sigma[rows],
                                              suffix=f"_{name}")
        part.params[f"gamma_{name}"] = radvel.Parameter(value=gammas.get(name, 0.0))
        part.params[f"jit_{name}"] = radvel.Parameter(value=jitters.get(name, 1.0))
        parts.append(part)
    post = radvel.posterior.Posterior(radvel.likelihood.CompositeLikelihood(parts))
    post.priors += [radvel.prior.EccentricityPrior(2)]
    best = None
    for _ in range(6):
        for method in ("Powell", "Nelder-Mead"):
            post = radvel.fitting.maxlike_fitting(post, verbose=False, method=method)
        value = post.likelihood.logprob()
        if best is not None and value - best < 1e-4:
            break
        best = value
    found = post.params.basis.to_synth(post.params)
    planets = [{"P": float(found[f"per{p}"].value), "K": float(found[f"k{p}"].value),
                "e": float(found[f"e{p}"].value), "omega_deg": math.degrees(found[f"w{p}"].value)}
               for p in (1, 2)]
    return {"log_likelihood": float(post.likelihood.logprob()),
            "planets": sorted(planets, key=lambda planet: planet["P"])}


def compare(mine, theirs):
    rows = []
    for a, b in zip(mine["planets"], theirs["planets"]):
        for key in ("P", "K", "e", "omega_deg"):
            off = b[key] - a[key]["value"]
            off -= 360 * round(off / 360) if key == "omega_deg" else 0
            error = a[key]["standard_error"]
            rows.append({"element": key, "orrery": a[key]["value"], "standard_error": error,
                         "radvel": b[key], "off": off / error if error else None})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    here = radvel.DATADIR or pathlib.Path(sys.prefix) / "radvel_example_data"
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(here))
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    results = {"radvel": radvel.__version__, "cases": []}
    for name, case in CASES.items():
        path = options.data / case["file"]
        data = read(path, case)
        mine = orrery(path, case)
        gammas = {i["name"] or "all": i["gamma"]["value"] for i in mine["instruments"]}
        jitters = {i["name"] or "all": max(i["jitter"]["value"], 0.1) for i in mine["instruments"]}
        own = [(p["P"]["value"], p["T_conjunction"]["value"], p["K"]["value"],
                max(p["e"]["value"], 1e-3), np.radians(p["omega_deg"]["value"]))
               for p in mine["planets"]]
        published = [(*s, 0.3) for s in case["start"]]
        entry = {"case": name, "velocities": mine["velocities"],
                 "orrery_log_likelihood": mine["models"][2]["log_likelihood"]}
        for key, start, g, j in (("published", published, {}, {}),
                                 ("orrery", own, gammas, jitters)):
            found = fit_radvel(data, start, g, j)
            entry[f"radvel_from_{key}"] = {"log_likelihood": found["log_likelihood"],
                                           "elements": compare(mine, found)}
            print(f"{name}, radvel from {key}: ln L {found['log_likelihood']:.3f}, Orrery's "
                  f"{entry['orrery_log_likelihood']:.3f}")
            for row in entry[f"radvel_from_{key}"]["elements"]:
                off = f"{row['off']:+.3f} sigma" if row["off"] is not None else ""
                print(f"  {row['element']:10} {row['orrery']:12.5f}  {row['radvel']:12.5f}  {off}")
        results["cases"].append(entry)
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
