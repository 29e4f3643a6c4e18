#!/usr/bin/env bash
# test_notebooks.sh - the notebooks of docs/notebooks run from the first cell to the last. Needs
# python3 with numpy, nbclient and ipykernel, one of them torch: make check-python.
. tests/cli/lib.sh
PYTHON=${PYTHON:-python3}
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=Agg IPYTHONDIR=$WORK/ipython
if ! $PYTHON -c 'import numpy, nbclient, nbformat, ipykernel' 2>/dev/null; then
    skip "the notebooks" "$PYTHON has no numpy, nbclient or ipykernel"
    finish
fi
for notebook in docs/notebooks/*.ipynb; do
    name=$(basename "$notebook")
    if grep -q 'import torch' "$notebook" && ! $PYTHON -c 'import torch' 2>/dev/null; then
        skip "$name" "$PYTHON has no torch"
        continue
    fi
    check "$name runs" "$PYTHON" tools/notebooks.py "$notebook" --to "$WORK/executed"
    check_not "$name is kept without outputs" grep -q '"output_type"' "$notebook"
done
# ---- what a notebook that fails looks like
sed 's/import numpy as np/import nump as np/' docs/notebooks/from_simulation_to_law.ipynb \
    >"$WORK/broken.ipynb"
check_not "a notebook that fails" "$PYTHON" tools/notebooks.py "$WORK/broken.ipynb"
finish
