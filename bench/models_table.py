"""The table of models from the cells of bench/models.sh.

    python3 bench/models_table.py bench/results/models            prints it, in Markdown
    python3 bench/models_table.py --laws LAWS.json OUT.json       the counts of a laws.json
"""

import json
import pathlib
import sys


def count_laws(source, target):
    """How often each source follows the law by the rule `best`."""
    made = {}
    for law in json.loads(pathlib.Path(source).read_text())["laws"]:
        if law["rule"] != "best":
            continue
        of = made.setdefault(law["source"], {"samples": 0, "selected": 0, "on_front": 0})
        of["samples"] += 1
        of["selected"] += int(law["selected_true"])
        of["on_front"] += int(law["on_front"])
    pathlib.Path(target).write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--laws"]:
        count_laws(sys.argv[2], sys.argv[3])
