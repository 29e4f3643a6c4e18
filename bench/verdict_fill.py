#!/usr/bin/env python3
"""verdict_fill.py - puts values of untrained models, measured once, into cells that left them out.

usage: verdict_fill.py FROM INTO

FROM and INTO are folders of cells (bin/verdict --cell) of the same grid of seeds and attentions that
differ in how models were pretrained, which untrained models do not depend on. Where a cell of INTO
has no value of the untrained model (probe --no-untrained) it gets that of the cell of the same name
in FROM, which is named in the cell. Before anything is written all settings but those of pretraining
must be equal, and all values of untrained models that both cells have, to the last digit. The
checksum of a cell that is filled is taken out. Needs Python 3 alone.
"""

import json
import pathlib
import sys

BASELINE = 2
OF_PRETRAINING = {"pretrain", "pretrain_planets", "name", "about"}


def differing(a, b, path=""):
    """Names of settings that both have and that differ."""
    for key in sorted(a.keys() & b.keys()):
        if not path and key in OF_PRETRAINING:
            continue
        if isinstance(a[key], dict) and isinstance(b[key], dict):
            yield from differing(a[key], b[key], f"{path}{key}.")
        elif a[key] != b[key]:
            yield f"{path}{key}: {a[key]} and {b[key]}"


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
        new["untrained_from"] = f"{source.parent.name}/{source.name}"
    return json.dumps(new, indent="\t") + "\n", filled


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folders = [pathlib.Path(a) for a in sys.argv[1:]]
    texts = {}
    for target in sorted(folders[1].glob("*.json")):
        source = folders[0] / target.name
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
        print(f"{target.name}: {filled} values filled")


if __name__ == "__main__":
    main()
