#!/usr/bin/env python3
"""peer_recipe.py - the preset quick trained by PyTorch with torch.optim.Muon, beside Orrery.

    PYTHONPATH=python python3 bench/peer_recipe.py [--steps 1080,1400] [--seed 0] [--recipe muon]
        [--results bench/results/recipe.csv] [--out bench/results/peer_recipe.json]

Processor time that PyTorch needs until the error of the next position on the test sequences is at
most that of Orrery, whose time and error are the row "quick,RECIPE,SEED,softmax" of
bench/recipe.sh; the row's settings of model and pretraining hold for PyTorch, too.
Each of --steps is a training of its own with its whole schedule, in ascending order; the first one
that reaches Orrery's error ends the search. Needs torch >= 2.15 with torch.optim.Muon, numpy, a C++
compiler for torch.compile, and bin/orbits (BIN: the folder of the programs). One thread, fp32.

What is equal: data, order of sequences, size of noise, loss, clipping, schedule, weight decay,
averaged weights, and the distribution of initial weights. Random numbers of noise and of initial
weights are PyTorch's. --save keeps the averaged weights of the last training; bin/probe evaluate
--set model.precision=fp32 finds the same error.
What is as a user of PyTorch has it: torch.optim.Muon with its own coefficients and five steps (of
bfloat16) for the matrices of blocks, queries, keys and values as one tensor; torch.optim.AdamW
(fused) for the rest. Attention is scaled_dot_product_attention. The tables of rotary angles are
computed once: torch.compile would compute them again for every element. Gradients and Muon's step
are compiled where warm-up steps were faster so.
What is timed: PyTorch: training alone, after the compiler has run: warm-up steps use the tensors
of the training, which then get their first values back. Orrery: the whole process bin/pretrain,
with reading of data, evaluations and checkpoints.
"""
import argparse
import csv
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import orrery  # noqa: E402
from orrery import _torch_model  # noqa: E402
from orrery.gpt import GPT, torch_gpt  # noqa: E402
from torch_attention import cpu  # noqa: E402

PRESET, BODIES, SHUFFLE = "quick", 2, 10  # SHUFFLE: ORR_STAGE_SHUFFLE of base/random.h
# settings that the preset leaves to the programs: bin/pretrain --help all
BETAS, CLIP, MUON_LR, MOMENTUM = (0.9, 0.95), 1.0, 0.01, 0.95
TRIED = 7  # steps of which the fastest counts where two ways are compared
MASK = (1 << 64) - 1


def mix(x):
    """The finaliser of SplitMix64, as in base/philox.c."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def sequences(seed, draws, count):
    """Which sequence each draw takes: orr_rng_hash(seed, shuffle, 0, draw) modulo count."""
    key = mix(mix(seed) ^ (SHUFFLE << 56 | SHUFFLE))
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    draw = np.arange(draws, dtype=np.uint64)
    c = [draw & low, draw >> half, np.zeros_like(draw), np.zeros_like(draw)]
    for turn in range(10):
        keys = [np.uint64((part + turn * step) & 0xFFFFFFFF) for part, step in
                ((key & 0xFFFFFFFF, 0x9E3779B9), (key >> 32, 0xBB67AE85))]
        p, q = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(q >> half) ^ c[1] ^ keys[0], q & low, (p >> half) ^ c[3] ^ keys[1], p & low]
    return ((c[1] << half | c[0]) % np.uint64(count)).astype(np.int64)


def learning_rate(settings, step, steps):
    """As a fraction of the greatest, as in model/learning_rate.c."""
    warmup, low = settings["warmup"], settings["lr_final"]
    if step < warmup:
        return (step + 1) / warmup
    return low + 0.5 * (1 - low) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def rotation(length, width, base):
    """A function in place of _torch_model.rotate that has its tables already."""
    angle = (torch.arange(length, dtype=torch.float64)[:, None]
             * base ** (torch.arange(width // 2, dtype=torch.float64) * (-2 / width)))
    cosine, sine = angle.cos().float(), angle.sin().float()

    def rotate(x, _):
        a, b = x[..., : width // 2], x[..., width // 2:]
        return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)

    return rotate


def attend(q, k, v, kind, p, window):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def initialise(model, seed, std, end_std):
    """Weights distributed as by model/params.c; end_std: of an embedding or head, by its tensor."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim < 2:
                p.fill_(1 if name.endswith(("ln1.weight", "ln2.weight", "final.weight")) else 0)
            elif not name.startswith("block."):
                p.normal_(0, end_std(p))
            else:
                to_stream = name.endswith(("proj.weight", "down.weight"))
                p.normal_(0, std / (math.sqrt(2 * len(model.block)) if to_stream else 1))


def new_model(preset, seed):
    """The module of the preset, with the distribution of initial weights of model/params.c."""
    m = preset["model"]
    model = torch_gpt(layers=m["layers"], heads=m["heads"], width=m["width"],
                      ffn=m["ffn_mult"] * m["width"], positions=m["positions"],
                      context=preset["orbits"]["positions"] - 1)
    initialise(model, seed, m["init_std"], lambda p: p.shape[1] ** -0.5)
    for block in model.block:
        block.attention.operator = attend
    _torch_model.rotate = rotation(model.c["context"], m["width"] // m["heads"],
                                   model.c["rope_base"])
    return model


class Training:
    """A model, its optimisers and its data; learning rates are tensors, so that a compiled step
    takes new ones."""

    def __init__(self, preset, orbits, seed):
        self.settings, self.seed = preset["pretrain"], seed
        self.coords = torch.from_numpy(np.load(orbits / "coords_train.npy"))
        self.test = torch.from_numpy(np.load(orbits / "coords_test.npy"))
        self.model = new_model(preset, seed)
        self.parameters = list(self.model.parameters())
        named = list(self.model.named_parameters())
        decay = self.settings["weight_decay"]
        matrices = [(n, p) for n, p in named if p.ndim == 2]
        blocks = [p for n, p in matrices if n.startswith("block.")]
        ends = [p for n, p in matrices if not n.startswith("block.")]
        vectors = [p for _, p in named if p.ndim < 2]
        self.rates = [(torch.tensor(0.0), MUON_LR), (torch.tensor(0.0), self.settings["lr"])]
        self.muon = torch.optim.Muon(blocks, lr=self.rates[0][0], weight_decay=decay,
                                     momentum=MOMENTUM, nesterov=True, adjust_lr_fn="original")
        self.adamw = torch.optim.AdamW(
            [{"params": ends, "weight_decay": decay},
             {"params": vectors, "weight_decay": 0}],
            lr=self.rates[1][0], betas=BETAS, fused=True)
        self.first = [p.detach().clone() for p in self.parameters]
        self.average = [p.detach().clone() for p in self.parameters]
        self.ways = {"gradient": self.loss, "muon": self.muon.step}
        self.chosen = {}

    def loss(self, rows, target):
        """Pseudo-Huber as in kernels/ref/loss.c; the first row of each body has no weight."""
        delta = self.settings["huber"]
        square = (self.model(rows) - target)[:, BODIES:].square().sum(-1)
        return 2 * delta**2 * ((1 + square / delta**2).sqrt() - 1).mean() / target.shape[-1]

    def gradient(self, index, loss):
        batch = self.coords[index]
        rows = batch[:, :-1].clone()
        rows[:, 1:].add_(torch.randn(rows[:, 1:].shape), alpha=self.settings["noise_au"])
        for p in self.parameters:
            p.grad = None
        loss(rows, batch[:, 1:]).backward()

    @torch.no_grad()
    def update(self, step, factor, muon):
        torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        for rate, greatest in self.rates:
            rate.fill_(greatest * factor)
        muon()
        self.adamw.step()
        decay = min(self.settings["ema"], (1 + step) / (10 + step)) if step else 0
        torch._foreach_lerp_(self.average, self.parameters, 1 - decay)

    @torch.no_grad()
    def restart(self):
        """First values in place of all tensors, which stay those that compiled code knows."""
        for p, first, average in zip(self.parameters, self.first, self.average):
            p.copy_(first)
            average.copy_(first)
        for optimizer in (self.muon, self.adamw):
            for state in optimizer.state.values():
                for tensor in state.values():
                    tensor.zero_()
        torch.manual_seed(self.seed + 1)

    def fastest(self, part, ways):
        """Milliseconds of the fastest of some steps: of their gradient, or of Muon's update."""
        index = torch.from_numpy(sequences(self.seed, self.settings["batch"], len(self.coords)))
        times = {"gradient": [], "muon": []}
        for step in range(3 + TRIED):
            start = time.process_time()
            self.gradient(index, ways["gradient"])
            middle = time.process_time()
            self.update(step, 0.01, ways["muon"])
            times["gradient"].append(middle - start)
            times["muon"].append(time.process_time() - middle)
        return 1e3 * min(times[part][3:])

    def choose(self):
        """Compiles what is faster so, and keeps what both ways take."""
        for part, eager in list(self.ways.items()):
            ways = {"eager": eager, "compile": torch.compile(eager)}
            ms = {name: self.fastest(part, {**self.ways, part: way}) for name, way in ways.items()}
            name = min(ms, key=ms.get)
            self.ways[part], self.chosen[part] = ways[name], {**ms, "chosen": name}
            print(f"{part}: eager {ms['eager']:.2f} ms, compiled {ms['compile']:.2f} ms",
                  flush=True)
        self.fastest("muon", self.ways)

    def train(self, steps):
        """Processor seconds of a training from the first values, which compiles nothing."""
        self.restart()
        batch, loss, muon = self.settings["batch"], self.ways["gradient"], self.ways["muon"]
        with torch.compiler.set_stance("fail_on_recompile"):
            start = time.process_time()
            order = torch.from_numpy(sequences(self.seed, steps * batch, len(self.coords)))
            for step, index in enumerate(order.view(steps, batch)):
                self.gradient(index, loss)
                self.update(step, learning_rate(self.settings, step, steps), muon)
            return time.process_time() - start

    @torch.no_grad()
    def error(self):
        """teacher_forced of evaluation.json: mean distance of the next position, averaged weights,
        rows of the first body from its second row on (model/evaluate/next_state.c)."""
        for p, average in zip(self.parameters, self.average):
            p.copy_(average)
        rows = slice(BODIES, None, BODIES)  # row t predicts row t + 1 of the file
        difference = (self.model(self.test[:, :-1]) - self.test[:, 1:])[:, rows].double()
        return difference.norm(dim=-1).mean().item()


def orrery_row(path, seed, recipe):
    """Processor seconds, error and settings of Orrery."""
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["preset"], row["recipe"], row["seed"], row["attention"]) == \
                    (PRESET, recipe, str(seed), "softmax"):
                return {"processor_s": float(row["processor_s"]), "error_au": float(row["error"]),
                        "settings": row["settings"]}
    sys.exit(f"peer_recipe: error: {path}: expected a row {PRESET},{recipe},{seed},softmax")


def set_as(preset, settings):
    """Changes the preset by settings KEY=VALUE of a row."""
    for setting in settings.split():
        key, value = setting.split("=")
        part, name = key.split(".")
        if part in ("model", "pretrain") and name != "optimizer":
            preset[part][name] = float(value) if "." in value or "e" in value else int(value)


def make_orbits(folder, seed, preset=PRESET):
    program = pathlib.Path(os.environ.get("BIN", ROOT / "bin")) / "orbits"
    subprocess.run([program, "--preset", preset, "--run", folder, "--seed", str(seed),
                    "--threads", "1"], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(folder) / "orbits"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", default="1080,1400")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recipe", default="muon")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results/recipe.csv")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results/peer_recipe.json")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE.safetensors",
                        help="checkpoint of the last training, which bin/probe evaluate reads")
    o = parser.parse_args()
    torch.set_num_threads(1)
    ours = orrery_row(o.results, o.seed, o.recipe)
    preset = json.loads((ROOT / "presets" / f"{PRESET}.json").read_text(encoding="utf-8"))
    set_as(preset, ours["settings"])
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True, check=False).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="orrery-peer-") as folder:
        training = Training(preset, make_orbits(folder, o.seed), o.seed)
    training.choose()
    rows = []
    result = {"date": datetime.date.today().isoformat(), "cpu": cpu(), "threads": 1,
              "commit": commit, "version": orrery.__version__, "torch": torch.__version__,
              "seed": o.seed, "ms": training.chosen, "orrery": ours, "torch_rows": rows,
              "steps": None, "ratio": None}
    print(f"Orrery: {ours['processor_s']:.1f} s, {ours['error_au']:.5f} AU", flush=True)
    for steps in sorted(map(int, o.steps.split(","))):
        seconds = training.train(steps)
        rows.append({"steps": steps, "processor_s": seconds, "error_au": training.error()})
        print(f"PyTorch, {steps} steps: {seconds:.1f} s, {rows[-1]['error_au']:.5f} AU", flush=True)
        if rows[-1]["error_au"] <= ours["error_au"]:
            result |= {"steps": steps, "ratio": ours["processor_s"] / seconds}
            break
    print(f"Orrery's time over PyTorch's: {result['ratio']:.2f}" if result["ratio"] else
          "PyTorch did not reach Orrery's error")
    o.out.write_text(json.dumps(result, indent="\t") + "\n", encoding="utf-8")
    if o.save:
        GPT.from_torch(training.model).save(o.save)


if __name__ == "__main__":
    main()
