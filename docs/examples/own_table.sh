#!/bin/sh
# own_table.sh - formulas from a CSV file of one's own: search, keep, evaluate (docs/symreg.md).
#
#   docs/examples/own_table.sh [FILE.csv COLUMN]        from the root of the repository
set -eu
FILE=${1:-docs/data/planets.csv}
TARGET=${2:-T_yr}
OUT=${OUT:-runs/own_table}

bin/symreg "$FILE" --target "$TARGET" --maxsize 9 --out "$OUT"
ls "$OUT"
