#!/usr/bin/env bash
# baseline.sh - what must stay the same while the house is rebuilt, as files that can be compared:
#
#   tools/baseline.sh FOLDER        of the programs in BIN (bin); then diff -r A B
#
# Data of every preset (sums), --help, settings, plans after each of many changes, CSV and JSON of a
# smoke world and, with QUICK=1, of a quick one (fp32, one thread; sums), fronts of tables, the
# ledger of claims, sums of the golden vectors. Versions, times and dates are left out. To be run
# twice on one machine: last digits of trained models depend on its kind of CPU.
set -u -o pipefail
export LC_ALL=C OMP_NUM_THREADS=1
out=${1:?baseline: error: expected a folder}
BIN=$(cd "${BIN:-bin}" && pwd) || exit 1
mkdir -p "$out"/{help,data,preset,plan,world,front} && out=$(cd "$out" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/orrery-baseline-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
varies='version|xxh64|seconds|tokens_per_s|peak_share|eta_s|memory_mb|step_ms|date|commit'
small=(--set orbits.train=256 --set orbits.val=16 --set orbits.test=16 --set orbits.train_files=256
       --set orbits.two_body_train=64 --set orbits.two_body_val=16 --set orbits.two_body_test=16
       --set planets.train=16 --set planets.val=4 --set planets.test=4)
# constant FILE: without what changes from run to run
constant() {
    grep -vE "\"($varies)\":" "$1" | sed "s,$work,WORK,g"
}
# tree FOLDER NAME: its text files without what changes, sums of the others
tree() {
    (cd "$1" && find . -type f ! -name '*.png' ! -name '*.svg' ! -name '*.html' ! -name '*.jsonl' |
        sort | while read -r file; do
        case $file in
        *.json | *.csv | *.md) printf '%s %s\n' "$(constant "$file" | sha256sum)" "$file" ;;
        *) sha256sum "$file" ;;
        esac
    done) >"$out/$2"
}
for program in orbits pretrain finetune symreg laws report probe verdict; do
    "$BIN/$program" --help all >"$out/help/$program" 2>&1
done
for file in presets/*.json; do
    name=$(basename "$file" .json)
    case $name in
    text | passkey | table) ;;
    *)
        "$BIN/orbits" --preset "$name" "${small[@]}" --run "$work/$name" --threads 1 --quiet &&
            tree "$work/$name/orbits" "data/$name" && cp "$work/$name/preset.json" \
            "$out/preset/$name.json"
        rm -rf "${work:?}/$name"
        ;;
    esac
done
# world PRESET NAME OPTION...: every stage
world() {
    local preset=$1 name=$2 program
    shift 2
    for program in orbits pretrain finetune symreg report; do
        "$BIN/$program" --preset "$preset" --run "$work/$name" --set model.precision=fp32 --quiet \
            "$@" >/dev/null || echo "baseline: $name: $program failed" >&2
    done
    "$BIN/probe" attention --run "$work/$name" --quiet >/dev/null
    "$BIN/probe" evaluate --run "$work/$name" --quiet >/dev/null
    tree "$work/$name" "world/$name"
}
world smoke smoke --set attention=softmax,lssar
changes='orbits.train=300 orbits.law=yukawa orbits.e_max=0.5 planets.labels=9 model.width=24
         model.attention_window=4 model.gate=sigmoid pretrain.steps=3 pretrain.lr=0.01
         pretrain.noise_au=0.01 pretrain_planets.steps=3 finetune.magnitude.steps=3
         finetune.vector.lr=0.01 finetune.samples=3 finetune.knn_vector=3 symreg.maxsize=9
         symreg.unary=sin symreg.iterations=1 attention=lssa seed=5 text.positions=9'
for change in $changes; do
    for program in orbits pretrain finetune symreg report; do
        "$BIN/$program" --preset smoke --run "$work/smoke" --set model.precision=fp32 --plan \
            --set attention=softmax,lssar --set "$change" 2>&1 | sed "s,$work,WORK,g"
    done >"$out/plan/$change"
done
for file in tests/baseline/*.csv tests/cases/{gauss_0,s3,s6,s12}*.csv; do
    [ -e "$file" ] || continue
    name=$(basename "$file" .csv)
    "$BIN/symreg" "$file" --threads 1 --iterations 20 --target "$(sed -n '/^[^#]/{p;q}' "$file" |
        sed 's/.*,//')" --out "$work/front" --quiet >/dev/null 2>&1
    cp "$work/front/front.csv" "$out/front/$name" 2>/dev/null
    rm -rf "$work/front"
done
[ "${QUICK:-0}" != 1 ] || world quick quick
"$BIN/verdict" --claims study/results --out "$out" >/dev/null
(cd tests/golden && find . -type f | sort | xargs sha256sum) | sha256sum >"$out/golden"
