#!/usr/bin/env bash
# test_notebooks.sh - the notebooks of docs/notebooks run from the first cell to the last, and the
# outputs that are stored in them are those of their cells (tools/notebooks.py). Needs python3 with
# numpy, nbclient and ipykernel, one of them torch: make check-python.
. tests/cli/lib.sh
PYTHON=${PYTHON:-python3}
unset PYTHONPATH # notebooks.py gives the kernel this repository's package
export PYTHONDONTWRITEBYTECODE=1 IPYTHONDIR=$WORK/ipython
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
    check "$name runs, and its outputs are those" "$PYTHON" tools/notebooks.py "$notebook" --compare
    check "$name runs, and its outputs are those: the last of which is a picture" \
        "$PYTHON" -c 'import json, sys
last = json.load(open(sys.argv[1]))["cells"][-1]["outputs"][-1]
assert "image/png" in last["data"], last' "$notebook"
    check_not "$name runs, and its outputs are those: and name no folder of a machine" grep -qE \
        '"[^"]*(/home/|/root/|/tmp/)|"([^"]*[^]A-Za-z0-9_.:+=/-])?/[A-Za-z0-9_]+/' "$notebook"
done
# ---- outputs that are not those of the cells
changed() { # WHAT BY: the notebook with a text replaced
    sed "s/$1/$2/" docs/notebooks/from_simulation_to_law.ipynb >"$WORK/changed.ipynb"
    ! cmp -s "$WORK/changed.ipynb" docs/notebooks/from_simulation_to_law.ipynb &&
        ! "$PYTHON" tools/notebooks.py "$WORK/changed.ipynb" --compare 2>&1
}
check "a cell that was changed" prints 'the outputs are of other code' changed \
    'maxsize=12' 'maxsize=11'
if "$PYTHON" -c 'import matplotlib, pandas' 2>/dev/null; then
    check "an output that was changed" prints 'code cell 6: stored .*0.7778' changed \
        '0.111662, true' '0.777777, true'
else
    skip "an output that was changed" "$PYTHON has no matplotlib or pandas"
fi
# ---- what a notebook that fails looks like
sed 's/import numpy as np/import nump as np/' docs/notebooks/from_simulation_to_law.ipynb \
    >"$WORK/broken.ipynb"
check_not "a notebook that fails" "$PYTHON" tools/notebooks.py "$WORK/broken.ipynb"
finish
