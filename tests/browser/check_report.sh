#!/usr/bin/env bash
# check_report.sh - report.html and the orbit lab in a browser: RUN=dir, or a smoke run that is made
# here. Screenshots go to $OUT. BIN: the programs. PYTHON: one that has playwright and
# axe-core-python.
set -eu
OUT=${OUT:-build/browser-shots}
run=${RUN:-}
mkdir -p "$OUT"
if [ -z "$run" ]; then
    run=$OUT/run
    for program in orbits pretrain finetune symreg report; do
        "$BIN/$program" --preset smoke --run "$run" --resume --quiet
    done
fi
if ! [ -s "$run/report.html" ]; then
    echo "check-browser: error: $run/report.html: not found; make it with:" \
        "make figures RUN=$run" >&2
    exit 1
fi
"${PYTHON:-python3}" tests/browser/check_report.py "$run/report.html" "$OUT" &&
    exec "${PYTHON:-python3}" tests/browser/check_lab.py docs/lab.html "$OUT"
