"""The table of models from the cells of bench/models.sh, in Markdown.

    python3 bench/models_table.py CELLS                           prints it
    python3 bench/models_table.py --page PAGE.md CELLS            puts it under "## The table"
    python3 bench/models_table.py --laws LAWS.json OUT.json       the counts of a laws.json

CELLS is the folder of bench/models.sh, or that folder as an archive, as in bench/results/models.
"""

import json
import math
import pathlib
import sys
import tarfile
import tempfile

ORDER = ("softmax", "lssar", "lstm", "state_space", "window_mlp", "hamiltonian", "hugging_face")
STUDENT = {2: 12.706, 3: 4.303}  # 97.5%, by the number of seeds
EXPONENT = "exponent of r, r outside"
# a column: its head, the beginning and the end of a measure of the card or of extrapolation, the
# better end of its scale
COLUMNS = (
    ("next position, AU", "next position", "", "low"),
    ("rollout, AU", "rollout of", "position, AU", "low"),
    ("energy drift", "rollout of", "energy, drift", "low"),
    ("readout, R^2", "linear readout of log force", "", "high"),
    ("100 labels, R^2", "log force after 100 ", "", "high"),
    ("1,000 labels, R^2", "log force after 1000 ", "", "high"),
    ("r outside, R^2", "log force, r outside", "", "high"),
    ("exponent of r there", EXPONENT, "", "low"),
)


# ------------------------------------------------------------------------------------ values


def count_laws(source, target):
    """How often each source follows the law by the rule `best`."""
    made = {}
    for law in json.loads(pathlib.Path(source).read_text())["laws"]:
        if law["rule"] == "best":
            of = made.setdefault(law["source"], {"samples": 0, "selected": 0, "on_front": 0})
            of["samples"] += 1
            of["selected"] += int(law["selected_true"])
            of["on_front"] += int(law["on_front"])
    pathlib.Path(target).write_text(json.dumps(made, indent=1) + "\n")


def read(folder):
    """Cells by (model, budget) and seed, and counts of laws by seed and source."""
    cells, laws = {}, {}
    for path in sorted(pathlib.Path(folder).glob("*_seed*.json")):
        found = json.loads(path.read_text())
        if path.name.startswith("laws_"):
            laws.setdefault(int(path.stem.rpartition("seed")[2]), {}).update(found)
        else:
            cells.setdefault((found["model"], found["budget"]), {})[found["seed"]] = found
            spent = path.with_name(f"seconds_{found['model']}_seed{found['seed']}.txt")
            if found["budget"] == "own" and spent.exists():
                found["training"]["processor_seconds"] = float(spent.read_text())
    return cells, laws


def measured(cell, begin, end):
    """A measure of the model, its twin, the upper bound and no model; None where there is none."""
    for line in cell["lines"]:
        if line["measure"].startswith(begin) and line["measure"].endswith(end):
            return line["value"], line["baseline"], line["upper_bound"], line["raw"]
    of = cell["extrapolation"]
    for key, value in of["model"].items():
        if key.startswith(begin):
            return value, of["untrained"][key], -2.0 if key == EXPONENT else 1.0, None
    return None, None, None, None


def interval(values):
    """Mean and half of its 95% interval, NaN for one value; None where a value is missing."""
    if not values or None in values:
        return None
    n, mean = len(values), math.fsum(values) / len(values)
    if n < 2:
        return mean, math.nan
    spread = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / (n - 1))
    return mean, STUDENT[n] * spread / math.sqrt(n)


def cost(value, head, better):
    """What is smaller for a better model: an exponent's distance from the law's, or the error."""
    if value is None:
        return None
    if head == "exponent of r there":
        return abs(value + 2)
    return value if better == "low" else -value


def compared(one, other, head, better):
    """-1 where one is significantly worse than the other, 1 better, 0 neither or one seed."""
    pairs = [(cost(a, head, better), cost(b, head, better)) for a, b in zip(one, other)]
    if any(None in pair for pair in pairs):
        return 0
    found = interval([a - b for a, b in pairs])
    if found is None or not abs(found[0]) > found[1]:  # NaN: one seed
        return 0
    return 1 if found[0] < 0 else -1


# ------------------------------------------------------------------------------------- table


def text(found):
    if found is None:
        return "-"
    mean, half = found
    if abs(mean) >= 1000:
        return f"{mean:.2g}" + ("" if math.isnan(half) else f" +- {half:.2g}")
    digits = 4 if abs(mean) < 0.1 else 3 if abs(mean) < 10 else 1
    return f"{mean:.{digits}f}" + ("" if math.isnan(half) else f" +- {half:.{digits}f}")


def laws_of(laws, name, seeds):
    """Laws selected, samples and seeds, of those of these seeds that were searched; None without
    one."""
    of = [laws[seed][name] for seed in seeds if name in laws.get(seed, {})]
    if not of:
        return None
    return sum(x["selected"] for x in of), sum(x["samples"] for x in of), len(of)


def fraction(found):
    return "-" if found is None else f"{found[0]}/{found[1]}"


def sentence(better, worse, law, twin, seeds):
    """What a row says of the question, by the rule alone."""
    if seeds < 2:
        said = "one seed, so nothing is called significant"
    else:
        said = "; ".join(f"{word} than untrained in {', '.join(heads)}" for word, heads in
                         (("better", better), ("worse", worse)) if heads)
        said = said or "not significantly different from untrained in any measure"
    if law is None:
        return said + "; laws not searched"
    if law[0] < law[1]:
        return said + f"; does not know the law ({law[0]} of {law[1]} samples)"
    if twin is None or twin[0] == twin[1]:
        return said + "; all forces follow the law, those of its untrained twin, too"
    if law[2] < seeds or twin[2] < seeds:
        return said + f"; follows the law in all {law[1]} samples, of {law[2]} of {seeds} seeds"
    return said + f"; knows the law ({law[0]} of {law[1]} samples, untrained {twin[0]})"


def budget_of(cells):
    first = cells[min(cells)]["training"]
    seconds = [c["training"].get("processor_seconds") for c in cells.values()]
    spent = "-" if None in seconds else f"{sum(seconds) / len(seconds):.1f}"
    steps = sum(c["training"]["steps"] for c in cells.values()) / len(cells)
    return f"{first['parameters']:,} | {first.get('lr', 'preset')} | {steps:,.0f} | {spent}"


def rows(cells, laws):
    """Lines of the tables: values, and what they say."""
    budgets = {"own": "Orrery", "seconds": "equal seconds", "steps": "equal steps"}
    own = cells.get(("softmax", "own"), {})
    values, says, trainings = [], [], []
    for budget, shown in budgets.items():
        for model in ORDER:
            of = cells.get((model, budget))
            if not of:
                continue
            seeds = sorted(of)
            name = f"{model}_{budget}"
            line, twins, better, worse = [], [], [], []  # the last two: columns
            for head, begin, end, scale in COLUMNS:
                found = [measured(of[s], begin, end) for s in seeds]
                value, twin = [f[0] for f in found], [f[1] for f in found]
                sign = compared(value, twin, head, scale)
                (better if sign > 0 else worse if sign < 0 else []).append(head.partition(", ")[0])
                beside = ""
                if model != "softmax" and all(s in own for s in seeds):
                    rival = [measured(own[s], begin, end)[0] for s in seeds]
                    beside = {1: " ^", -1: " v", 0: ""}[compared(value, rival, head, scale)]
                mark = "**" if sign > 0 else "*" if sign < 0 else ""
                line.append(f"{mark}{text(interval(value))}{mark}{beside}")
                twins.append(text(interval(twin)).partition(" ")[0])
            law = laws_of(laws, name, seeds)
            twin_law = laws_of(laws, f"{model}_seconds_untrained" if budget == "steps"
                               else f"{name}_untrained", seeds)
            label = f"{model}, {shown}"
            values.append(f"| {label} | {len(seeds)} | {' | '.join(line)} | {fraction(law)} |")
            if budget != "steps":
                values.append(f"| ... untrained | | {' | '.join(twins)} | {fraction(twin_law)} |")
            says.append(f"| {label} | {sentence(better, worse, law, twin_law, len(seeds))} |")
            trainings.append(f"| {label} | {budget_of(of)} |")
    return values, says, trainings


def bounds(cells):
    """The rows of truth or fit, and of no model; of softmax, whose questions are those of all."""
    own = cells.get(("softmax", "own"))
    if not own:
        return []
    made = []
    for label, at in (("truth or orbit fit", 2), ("no model", 3)):
        shown = []
        for _, begin, end, _ in COLUMNS:
            of = [measured(own[s], begin, end)[at] for s in sorted(own)]
            shown.append(text(interval(of)).partition(" ")[0])
        made.append(f"| {label} | | {' | '.join(shown)} | |")
    return made


def table(source):
    if pathlib.Path(source).is_dir():
        cells, laws = read(source)
    elif not pathlib.Path(source).exists():
        sys.exit(f"models_table.py: error: {source}: not found")
    else:
        with tempfile.TemporaryDirectory() as folder, tarfile.open(source) as archive:
            # Python 3.11 has the filter since 3.11.4
            filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder, **filters)
            cells, laws = read(f"{folder}/cells")
    values, says, trainings = rows(cells, laws)
    heads = [column[0] for column in COLUMNS]
    lines = [f"| model | seeds | {' | '.join(heads)} | laws |", "|---" * (len(heads) + 3) + "|",
             *values, *bounds(cells), "",
             "| model | parameters | learning rate | steps | processor seconds |", "|---" * 5 + "|",
             *trainings, "",
             "| model | says of the question |", "|---|---|", *says]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--laws"]:
        count_laws(sys.argv[2], sys.argv[3])
    elif sys.argv[1:2] == ["--page"]:
        page = pathlib.Path(sys.argv[2])
        head, _, rest = page.read_text().partition("## The table\n")
        after = rest[rest.index("\n- **Values**") :]
        page.write_text(f"{head}## The table\n\n{table(sys.argv[3])}{after}")
    else:
        print(table(sys.argv[1]), end="")
