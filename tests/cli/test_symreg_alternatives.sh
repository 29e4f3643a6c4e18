#!/usr/bin/env bash
# test_symreg_alternatives.sh - --alternatives: other functions that are as good as what best
# selects, in every output, for any number of threads and over --resume; what is refused.
. tests/cli/lib.sh
fast_pictures

# a saturation with noise, which several functions explain, and one without
awk 'BEGIN {
    print "x,z,y,exact,class"
    for (i = 1; i <= 60; i++) {
        x = 0.2 + i / 20; z = 1 + i * 7 % 11 / 5; f = 2 * z * (1 - exp(-0.8 * x))
        noise = sin(i * i) + sin(3 * i * i * i) + sin(7 * i * i + i)
        printf "%.10g,%.10g,%.10g,%.15g,%d\n", x, z, f + 0.07 * noise, z * sqrt(x) + 1, i % 3
    }
}' >"$WORK/law.csv"
run=$WORK/run
mkdir "$run"
search() { # FOLDER OPTION...
    local folder=$1
    shift
    timeout "$LIMIT" "$BIN/symreg" "$WORK/law.csv" --target y --features x,z --quiet --maxsize 14 \
        --set symreg.seconds=0 --set symreg.enumerate=20000 --set symreg.populations=8 \
        --iterations 8 --seed 1 --out "$WORK/$folder" "$@"
}
check "without" search off --threads 1
check_not "without: nothing of them" \
    grep -rqi 'alternative' "$WORK/off" --include='front*' --include='report.md'
check_not "without: and no file" test -e "$WORK/off/alternatives.csv"
check "3 of each complexity" search on --threads 1 --alternatives 3
check "3 of each complexity: the front is the same" \
    same_files "$WORK/off" "$WORK/on" front.csv front_full.csv
# are_alternatives FOLDER N LEAST: by front.json and the table alone. At least so many functions, N
# of a complexity at most; each loss is that of the formula; description lengths within 4 nats of
# best's; values that no row of the front and no other alternative has, up to the rounding of
# constants, a twentieth of a standard error
are_alternatives() {
    python3 - "$WORK/$1/front.json" "$WORK/law.csv" "$2" "$3" <<'EOF'
import collections, csv, json, math, sys
front, most = json.load(open(sys.argv[1])), int(sys.argv[3])
rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open(sys.argv[2]))]
class np:
    exp, sin, cos, log, sqrt, square = math.exp, math.sin, math.cos, math.log, math.sqrt, None
np.square = staticmethod(lambda a: a * a)
values = lambda row: [eval(row["numpy"], {"np": np, "x": r["x"], "z": r["z"]}) for r in rows]
distance = lambda a, b: sum((p - q) ** 2 for p, q in zip(a, b)) / len(rows)
y = [r["y"] for r in rows]
best = next(row for row in front["front"] if "best" in row["selected_by"])
found = front["alternatives"]
assert len(found) >= int(sys.argv[4]), found
known = [values(row) for row in front["front"]]
sizes = collections.Counter(row["complexity"] for row in found)
assert max(sizes.values()) <= most, sizes
assert [row["complexity"] for row in found] == sorted(row["complexity"] for row in found)
assert found[-1]["complexity"] <= front["front"][-1]["complexity"]
for row in found:
    v = values(row)
    assert abs(distance(v, y) / row["loss"] - 1) < 1e-6, row
    assert abs(row["description_length"] - best["description_length"] - row["nats"]) < 1e-6, row
    assert row["nats"] <= 4.001, row
    assert "selected_by" not in row and "score" not in row and row["latex"], row
    same = [i for i, k in enumerate(known) if distance(v, k) < 0.0025 / len(rows) * best["loss"]]
    assert not same, (row, same)
    known.append(v)
EOF
}
check "3 of each complexity: other functions, as good" are_alternatives on 3 3
check "3 of each complexity: in alternatives.csv" equal "$(python3 -c 'import json, sys
for r in json.load(open(sys.argv[1]))["alternatives"]: print(r["complexity"], r["equation"])' \
    "$WORK/on/front.json")" "$(python3 -c 'import csv, sys
for r in csv.DictReader(open(sys.argv[1])): print(r["Complexity"], r["Equation"])' \
    "$WORK/on/alternatives.csv")"
check "3 of each complexity: with nats" \
    grep -q '^Complexity,Loss,Nats,DescriptionLength,Equation,LaTeX,' \
    "$WORK/on/alternatives.csv"
check "3 of each complexity: in the report" equal "$(sed 1d "$WORK/on/alternatives.csv" | wc -l)" \
    "$(sed -n '/^## Alternatives/,/^## Remarks/p' "$WORK/on/report.md" | grep -c '^| [0-9]')"
search terminal --threads 1 --alternatives 3 >"$WORK/printed"
check "3 of each complexity: on the terminal" \
    equal "$(sed 1d "$WORK/on/alternatives.csv" | wc -l)" \
    "$(sed '1,/^alternatives, /d' "$WORK/printed" | grep -c '^ *[0-9]')"
for threads in 2 7; do
    check "$threads threads" search threads --threads $threads --alternatives 3
    check "$threads threads: the same" \
        same_files "$WORK/on" "$WORK/threads" front.json alternatives.csv
done
check "1 of each complexity" search one --alternatives 1
check "1 of each complexity: at most" python3 -c 'import json, sys
sizes = [r["complexity"] for r in json.load(open(sys.argv[1]))["alternatives"]]
assert sizes and len(sizes) == len(set(sizes)), sizes' "$WORK/one/front.json"

# ---- --resume, other options
check "stopped after 3 epochs" search resumed --iterations 3 --alternatives 3
check "stopped after 3 epochs: goes on" search resumed --resume --alternatives 3
check "stopped after 3 epochs: to the same" \
    same_files "$WORK/on" "$WORK/resumed" front.json alternatives.csv
KEEP=$WORK/resumed refuse "--resume with another number" 1 '--alternatives was "3", is "2"' \
    -- search resumed --resume --alternatives 2
KEEP=$WORK/resumed refuse "--resume without" 1 '--alternatives was "3", is ""' \
    -- search resumed --resume
check "a new search without" search resumed
check_not "a new search without: leaves none of the old" test -e "$WORK/resumed/alternatives.csv"
check "an exact table" search exact --target exact --alternatives 3
check "an exact table: has none" python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["alternatives"] == []' "$WORK/exact/front.json"
check "an exact table: says so" grep -q '^None was found' "$WORK/exact/report.md"
check "a sample of the rows" search batch --batch 40 --alternatives 3
check "a sample of the rows: refitted to all" are_alternatives batch 3 1
check "--test" search test --test "$WORK/law.csv" --alternatives 3
check "--test: of each" python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["alternatives"]
assert rows and all(abs(r["test_loss"] / r["loss"] - 1) < 1e-9 for r in rows), rows' \
    "$WORK/test/front.json"
check "a template" search template --template 'z*f(x)' --alternatives 2
check "a template: of whose form they are" python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["alternatives"]
assert rows and all(r["equation"].startswith("(z * ") and r["parts"] for r in rows), rows' \
    "$WORK/template/front.json"
awk 'BEGIN {
    print "m1,m2,r,F"
    for (i = 1; i <= 40; i++) {
        m1 = 1 + i * 7 % 5; m2 = 2 + i % 3; r = 1 + i * 37 % 101 / 40
        printf "%g,%g,%.10g,%.10g\n", m1, m2, r, 2.5 * m1 * m2 / r ^ 2 + 0.1 * sin(i * i)
    }
}' >"$WORK/gravity.csv"
check "a named constant" timeout "$LIMIT" "$BIN/symreg" "$WORK/gravity.csv" --target F --quiet \
    --constants G=2.5 --maxsize 12 --iterations 5 --alternatives 3 --set symreg.seconds=0 \
    --out "$WORK/named"
check "a named constant: in a formula of larger loss than that before it" awk -F, '
    FNR > 1 { if ($5 ~ /G/ && $2 > before) n++; before = $2 } END { exit !n }' \
    "$WORK/named/alternatives.csv"
check "--compat pysr" search pysr --compat pysr --alternatives 2
check "--permutations" search permuted --iterations 1 --permutations 2 --alternatives 2

# ---- what is refused
refusals search run/out <<'ROWS'
below 0 | 2 '--alternatives: expected a whole number from 0 to 20, found "-1"' | --alternatives -1
too many | 2 '--alternatives: expected a whole number from 0 to 20, found "21"' | --alternatives 21
no number | 2 '--alternatives: expected a whole number' 'found "many"' | --alternatives many
half of one | 2 '--alternatives: expected a whole number' 'found "2.5"' | --alternatives 2.5
empty | 2 '--alternatives: expected a whole number' 'found ""' | --alternatives ''
--category | 2 '--alternatives: not with --category' | --alternatives 2 --category class
ROWS

finish
