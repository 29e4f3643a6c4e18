"""Trains one model on a run and judges it: one cell of the table of models.

    PYTHONPATH=python python3 docs/examples/models/cell.py lstm --run runs/models_0 --seed 0 \
        --budget seconds --seconds 14.5 --rates 0.001,0.003,0.01 --out OUT

MODEL is a file of this folder, or softmax or lssar, which bin/pretrain has trained in the run.
Several rates: the one with the lowest validation loss after a third of the budget is taken. A cell
that is there is not made again.
"""

import argparse
import importlib
import json
import pathlib
import shutil

import numpy as np
import torch

import orrery
import training
from heads import FrozenModel, FrozenOrrery

OWN = ("softmax", "lssar")
MOST = 4000  # labelled sequences that laws are read after


def trained(name, run, budget, amount, rates, seed):
    """The adapter of a model that is trained here, and what its training was. Of several rates,
    each is tried with a third of the budget."""
    file, tried = importlib.import_module(name), {}

    def make(lr, amount):
        torch.manual_seed(seed)
        module = file.Model()
        return module, training.train(module, run, lr=lr, seed=seed, **{budget: amount})

    if len(rates) > 1:
        tried = {lr: make(lr, amount / 3)[1]["validation_loss"] for lr in rates}
    lr = min(rates, key=tried.get) if tried else rates[0]
    module, made = make(lr, amount)
    made |= {"lr": lr, "rates": tried, "parameters": sum(p.numel() for p in module.parameters())}
    return FrozenModel(module, file.LAYERS), made


def own(name, run):
    """The adapter of one of Orrery's models, which bin/pretrain has trained."""
    model = orrery.GPT.from_checkpoint(run / name / "pretrain" / "last.safetensors")
    adapted = FrozenOrrery(model)
    made = {"steps": training.settings(run)["steps"], "parameters": sum(
        p.numel() for p in adapted.module.parameters())}
    return adapted, made


# ------------------------------------------------------------------- forces beyond the judge


def tuned(model, run, sequences, mask, seed):
    """A predictor of forces, learned from the labels of these sequences where mask is true."""
    asked = run / "exchange"
    F = np.load(asked / "forces_train.npy", mmap_mode="r")[sequences]
    rows = np.load(asked / "inputs_forces_train.npy", mmap_mode="r")[sequences]
    known = np.isfinite(F) & mask[sequences]
    return model.tune(np.array(rows), np.where(known, F, 0).astype(np.float32), known, seed)


def states(run, split):
    """r and m1 m2 of every row, (n, T, 1) each, from the true states; 0 where there is none."""
    s = np.load(run / "orbits" / f"full_state_{split}.npy")[:, :-1].astype(float)
    return np.hypot(s[..., 0], s[..., 1]), s[..., 4], s[..., 5]


def fit(x, y):
    """Least squares of y on the columns x and a constant."""
    return np.linalg.lstsq(np.column_stack([*x, np.ones(len(y))]), y, rcond=None)[0]


def extrapolation(model, run, seed, count):
    """As probe extrapolate: labels where r is between its quartiles, judged where it is not."""
    labels = np.load(run / "exchange" / "forces_train.npy")
    r = states(run, "two_body_train")[0]
    low, high = np.quantile(r[np.isfinite(labels)], (0.25, 0.75))
    inside = (r >= low) & (r <= high)
    first = np.flatnonzero((np.isfinite(labels) & inside).any(1))[:count]
    predict = tuned(model, run, first, inside, seed)
    rows = np.load(run / "exchange" / "inputs_forces_test.npy")[:512]
    truth = np.load(run / "orbits" / "force_magnitude_two_body_test.npy")[:512, :-1, 0]
    r, m1, m2 = (x[:512] for x in states(run, "two_body_test"))
    found = np.concatenate([predict(rows[i : i + 128]) for i in range(0, len(rows), 128)])
    made = {}
    for where, of in (("outside", (r < low) | (r > high)), ("inside", (r >= low) & (r <= high))):
        at = np.isfinite(truth) & of
        y, f = np.log(truth[at].astype(float)), np.log(np.maximum(found[at], 1e-30))
        made[f"log force, r {where}, R^2"] = 1 - ((f - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        made[f"exponent of r, r {where}"] = fit([np.log(x[at]) for x in (r, m1, m2)], f)[0]
    return {key: round(float(value), 5) for key, value in made.items()}


def magnitudes(model, run, folder, seed):
    """forces_magnitude.csv: what bin/symreg searches for laws in."""
    lines = (run / "exchange" / "rows_magnitude.csv").read_text().splitlines()
    head = lines[0].split(",")
    at = {key: head.index(key) for key in ("sequence", "step", "F")}
    labels = np.load(run / "exchange" / "forces_train.npy")
    known = np.isfinite(labels)
    predict = tuned(model, run, np.flatnonzero(known.any(1))[:MOST], known, seed)
    cells = [line.split(",") for line in lines[1:]]
    sequence, step = (np.array([int(c[at[key]]) for c in cells]) for key in ("sequence", "step"))
    used, place = np.unique(sequence, return_inverse=True)
    rows = np.load(run / "exchange" / "inputs_forces_test.npy")[used]
    F = np.concatenate([predict(rows[i : i + 128]) for i in range(0, len(rows), 128)])
    for c, value in zip(cells, F[place, 2 + 2 * step]):
        c[at["F"]] = repr(float(value))
    text = "\n".join([lines[0], *(",".join(c) for c in cells)]) + "\n"
    (folder / "forces_magnitude.csv").write_text(text)


# ------------------------------------------------------------------------------------ a cell


def judged(name, model, run, seed, twin_of, options):
    """The card's lines, extrapolation of model and twin; forces for laws are left in answers."""
    place = run / "answers" / name
    twin = place.with_name(f"{name}_untrained")
    shutil.rmtree(place, ignore_errors=True)  # of a cell that was stopped: another training
    if not twin.exists() and (place.with_name(twin_of) / "twin.json").exists():
        shutil.copytree(place.with_name(twin_of), twin)  # another budget has the same twin
    done = orrery.judge(model, run, name, seed=seed, resume=True, quiet=True, threads=1,
                        probes=["evaluate", "rollout", "linear", "labels"],
                        settings={"model.precision": "fp32"}, **options)
    count = max(options["sizes"])
    kept = twin / "twin.json"
    if not kept.exists():
        random = model.untrained(seed)
        magnitudes(random, run, twin, seed)
        kept.write_text(json.dumps(extrapolation(random, run, seed, count)))
    magnitudes(model, run, place, seed)
    return {"lines": done.card["lines"], "left_out": done.card["left_out"],
            "extrapolation": {"model": extrapolation(model, run, seed, count),
                              "untrained": json.loads(kept.read_text())}}


def main():
    p = argparse.ArgumentParser(description="one cell of the table of models")
    p.add_argument("model")
    p.add_argument("--run", type=pathlib.Path, required=True)
    p.add_argument("--budget", choices=("seconds", "steps"), default="seconds")
    p.add_argument("--seconds", type=float, help="processor seconds of a training")
    p.add_argument("--rates", default="0.003")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--sizes", default="100,1000")
    p.add_argument("--sequences", type=int)
    p.add_argument("--out", type=pathlib.Path, required=True)
    o = p.parse_args()
    torch.set_num_threads(1)
    budget = "own" if o.model in OWN else o.budget
    name = f"{o.model}_{budget}"
    path = o.out / f"{name}_seed{o.seed}.json"
    if path.exists():
        return
    if o.model in OWN:
        model, made = own(o.model, o.run)
    else:
        amount = o.seconds if o.budget == "seconds" else training.settings(o.run)["steps"]
        rates = [float(x) for x in o.rates.split(",")]
        model, made = trained(o.model, o.run, o.budget, amount, rates, o.seed)
    other = f"{o.model}_seconds_untrained"
    cell = {"model": o.model, "budget": budget, "seed": o.seed,
            "training": made, **judged(name, model, o.run, o.seed, other, {
                "sizes": [int(n) for n in o.sizes.split(",")], "draws": 1,
                "sequences": o.sequences})}
    o.out.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(cell, indent=1) + "\n")
    print(name, o.seed, made, flush=True)


if __name__ == "__main__":
    main()
