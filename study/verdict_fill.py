#!/usr/bin/env python3
"""verdict_fill.py - puts values of untrained models, measured once, into cells that left them out.

usage: verdict_fill.py FROM INTO

FROM and INTO are folders of cells (bin/verdict --cell) of the same grid of seeds and attentions
that differ in how models were pretrained, which untrained models do not depend on: files
seedN-NAME.json, or runs seedN-NAME/cell.json. Where a cell of INTO has no value of the untrained
model (probe --no-untrained) it gets that of the cell of the same name in FROM, which is named in
the cell. Before anything is written all settings but those of pretraining must be equal, and all
values of untrained models that both cells have, to the last digit. A setting that one cell lacks,
as it is younger than the other cell, counts as its default. The checksum of a cell that is filled
is taken out. Needs Python 3 alone.
"""

import json
import pathlib
import sys

BASELINE = 2
OF_PRETRAINING = {"pretrain", "pretrain_planets", "name", "about"}
# settings that were added after the first cells were made, with what they were before
DEFAULTS = {"orbits.clockwise": 0, "orbits.encounters": "error", "text.tokens": "auto",
            "finetune.magnitude.optimizer": "adamw", "finetune.vector.optimizer": "adamw"}
IGNORED = ("muon_lr", "muon_momentum", "muon_steps")  # of no effect without their optimiser


def settings(of, path=""):
    """"group.name" -> value, without what pretraining alone depends on"""
    flat = {}
    for key, value in of.items():
        if not path and key in OF_PRETRAINING:
            continue
        if key in IGNORED and of.get("optimizer") == "adamw":
            continue
        if isinstance(value, dict):
            flat |= settings(value, f"{path}{key}.")
        else:
            flat[path + key] = value
    return flat


def differing(a, b):
    """Settings that differ; one that a cell lacks has its default, or is unknown."""
    a, b = settings(a), settings(b)
    for key in sorted(a.keys() | b.keys()):
        default = DEFAULTS.get(key, "none")
        if a.get(key, default) != b.get(key, default):
            yield f"{key}: {a.get(key, 'none')} and {b.get(key, 'none')}"


def fill(source, target):
    """(text of the filled cell, values filled); ValueError where the two do not fit."""
    old, new = json.loads(source.read_text()), json.loads(target.read_text())
    for difference in differing(old["settings"], new["settings"]):
        raise ValueError(f"expected equal settings, found {difference}")
    filled = 0
    for before, after in zip(old["cells"], new["cells"], strict=True):
        if before["attention"] != after["attention"]:
            raise ValueError(f"expected {before['attention']}, found {after['attention']}")
        for name, values in after["figures"].items():
            known = before["figures"].get(name, [None] * 4)[BASELINE]
            if values[BASELINE] is None and known is not None:
                values[BASELINE] = known
                filled += 1
            elif known is not None and values[BASELINE] != known:
                raise ValueError(f"{name}: expected {known} for the untrained model, "
                                 f"found {values[BASELINE]}")
    if filled:
        new.pop("xxh64", None)
        new["untrained_from"] = "/".join(source.parts[-2:])
    return json.dumps(new, indent="\t") + "\n", filled


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folders = [pathlib.Path(a) for a in sys.argv[1:]]
    texts = {}
    for target in sorted([*folders[1].glob("*.json"), *folders[1].glob("*/cell.json")]):
        name = target.parent.name if target.name == "cell.json" else target.stem
        source = folders[0] / f"{name}.json"
        if not source.exists():
            source = folders[0] / name / "cell.json"
        try:
            texts[target] = fill(source, target)
        except (OSError, ValueError, KeyError) as error:
            sys.exit(f"verdict_fill.py: {source} into {target}: {error}")
    if not texts:
        sys.exit(f"verdict_fill.py: {folders[1]}: no cells")
    for target, (text, filled) in texts.items():
        if filled:
            new = target.with_name(target.name + ".new")
            new.write_text(text)
            new.replace(target)
        print(f"{target}: {filled} values filled")


if __name__ == "__main__":
    main()
