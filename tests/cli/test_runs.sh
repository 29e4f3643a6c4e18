#!/usr/bin/env bash
# test_runs.sh - other universes through every stage, each asked for its own law, and one table over
# all of their runs.
. tests/cli/lib.sh
fast_pictures
PROGRAMS+=" compare" # refuse() knows the programs by name

UNIVERSE=(--preset smoke --threads 1 --quiet --set attention=lssar --set orbits.train=40
          --set orbits.train_files=40 --set orbits.two_body_train=40 --set planets.train=20
          --set pretrain.steps=2 --set pretrain_planets.steps=2 --set finetune.magnitude.steps=2
          --set finetune.vector.steps=2 --set finetune.samples=2 --set symreg.iterations=1
          --set symreg.enumerate=20000)
# stages FOLDER SETTING...: everything but the report, in $WORK/runs/FOLDER
stages() {
    local run=$WORK/runs/$1 stage settings=()
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    for stage in orbits pretrain finetune symreg; do
        program $stage "${UNIVERSE[@]}" --run "$run" "${settings[@]}" || return 1
    done
}
# says FOLDER FILE TEXT...: of its laws, in fixed strings
says() {
    local file=$WORK/runs/$1/laws/$2 text
    shift 2
    for text in "$@"; do grep -qF -- "$text" "$file" || return 1; done
}

check "r^-1" stages power/0 orbits.law=power orbits.law_exponent=-1
check "r^-1: its law" says power/0 laws.md "k times the run's true law" \
    "law power, orbits.law_exponent=-1;" 'k = 39.478 is the law itself'
check "r^-1: the truth has it" grep -q '^| truth | best | .* | 2/2 | 2/2 | 39.47' \
    "$WORK/runs/power/0/laws/laws.md"
check "r^-1: another seed" stages power/1 orbits.law=power orbits.law_exponent=-1 seed=1
check "r^-2.5" stages steep orbits.law=power orbits.law_exponent=-2.5
check "Yukawa" stages yukawa orbits.law=yukawa orbits.law_alpha=2 orbits.law_lambda_au=1
check "Yukawa: its law" says yukawa laws.json \
    'of the law yukawa, orbits.law_alpha=2, orbits.law_lambda_au=1"'
check "MOND" stages mond orbits.law=mond orbits.law_a0=30
check "MOND: its law" says mond laws.md 'law mond, orbits.law_a0=30;' 'k = 1 is the law itself'
check "a jump" stages jump orbits.jump_step=8 orbits.jump_factor=2
check "a jump: its constant" says jump laws.md 'is k m1 m2 / r^2' \
    'labels are of the steps from there on: k = 78.957'
check "a jump among the labels" stages both orbits.jump_step=12 orbits.jump_factor=2
check "a jump among the labels: two constants" says both laws.md \
    'the law before, 78.957 after' 'No one formula of r, m1, m2 is right for both'
for run in power/0 steep yukawa mond jump both; do
    check_not "$run: labels of its law" grep -q 'labels are not of this law' \
        "$WORK/runs/$run/laws/laws.md"
done
check "the page of r^-1" program report --run "$WORK/runs/power/0" --quiet
check "the page of r^-1: asks for its law" \
    grep -q 'of this run: k times the force of the law power' \
    "$WORK/runs/power/0/report.html"

# ---- the table; a run that is not complete is named and left out
mkdir "$WORK/runs/begun"
cp "$WORK/runs/mond/preset.json" "$WORK/runs/begun"
program compare runs "$WORK/runs" >"$WORK/table" 2>"$WORK/notes"
check "a table over runs" test $? -eq 0
check "a table over runs: r^-1, two seeds" grep -q \
    '^| orbits.law=power orbits.law_exponent=-1 | truth | 2 | 4/4 | 4/4 | 39.48 .*| 100% | -1.0' \
    "$WORK/table"
for source in oracle lssar 'untrained (lssar)'; do
    check "a table over runs: a jump, $source" grep -qF \
        "| orbits.law=newton orbits.jump_step=8 orbits.jump_factor=2 | $source | 1 |" "$WORK/table"
done
check "a table over runs: 6 settings, 4 sources; positions but where G jumps" \
    test "$(sed '/^Differences/,$d' "$WORK/table" | grep -c '^| orbits')" -eq 28
check "a table over runs: positions, r^-1, two seeds" grep -q \
    '^| orbits.law=power orbits.law_exponent=-1 | positions | 2 | ' "$WORK/table"
check "a table over runs: 6 differences from untrained shapes" \
    test "$(sed -n '/^Differences/,$p' "$WORK/table" | grep -c '^| orbits')" -eq 6
check "a table over runs: what is left out" \
    grep -q "^- begun: .*laws.json: missing; make it with: $BIN/symreg " "$WORK/table"
check "a table over runs: and a note" grep -q '^compare: begun: left out: ' "$WORK/notes"
check "a table over runs: the file" grep -q '"orrery-runs-1"' "$WORK/runs/runs.json"
check "a table over runs: nothing temporary" clean "$WORK/runs"
cp "$WORK/runs/runs.json" "$WORK/runs.json"
check "again" program compare runs "$WORK/runs" --quiet
check "report --runs, as it was called before, does not print the table" \
    prints '^Laws of .* runs in ' program report --runs "$WORK/runs" --quiet
check "report --runs, as it was called before, does not print the table: the same" \
    same_file "$WORK/runs.json" "$WORK/runs/runs.json"

# ---- a run of one variant alone, whose preset.json has those of the preset too (ATTENTION=NAME)
for stage in orbits pretrain finetune symreg; do
    only=(--attention softmax)
    [ $stage != orbits ] || only=()
    check "one variant: $stage" program $stage "${UNIVERSE[@]}" --run "$WORK/alone/run" "${only[@]}"
done
check "one variant: the table" program compare runs "$WORK/alone"
check "one variant: the table: has it" grep -q '"source":.*"softmax"' "$WORK/alone/runs.json"
check_not "one variant: the table: and no other" \
    grep -q '"source":.*"lssar"' "$WORK/alone/runs.json"
mkdir "$WORK/alone/run/lssar" # begun, so that its laws lack it
refuse "one variant: another is begun" 1 'lssar: it was made without' -- \
    "$BIN/compare" runs "$WORK/alone"

KEEP=$WORK/runs
refuse "runs and run" 2 --run "no such option" -- "$BIN/compare" runs "$KEEP" --run "$KEEP/mond"
refuse "runs and out" 2 --out -- "$BIN/compare" runs "$KEEP" --out "$KEEP"
refuse "runs of nothing" 1 'no run in it' -- "$BIN/compare" runs "$KEEP/mond/orbits"
refuse "runs: no folder" 1 'not a folder' -- "$BIN/compare" runs "$WORK/nowhere"
mkdir -p "$WORK/none/a" "$KEEP/twice/laws"
cp "$WORK/runs/mond/preset.json" "$WORK/none/a"
refuse "runs: none complete" 1 'none of 1 runs is complete' 'a' -- "$BIN/compare" runs "$WORK/none"
cp "$KEEP/mond/preset.json" "$KEEP/twice"
cp "$KEEP/mond/laws/laws.json" "$KEEP/twice/laws"
refuse "runs: a seed twice" 1 twice 'of the same settings and seed (0) as mond' -- \
    "$BIN/compare" runs "$KEEP"
finish
