#!/usr/bin/env bash
# test_skill.sh - the ten commands of docs/skill/SKILL.md run in an empty folder, one after another.
# Needs python3 with numpy: make check-python.
. tests/cli/lib.sh
PYTHON=${PYTHON:-python3}
if ! $PYTHON -c 'import numpy' 2>/dev/null; then
    skip "the commands of SKILL.md" "$PYTHON has no numpy"
    finish
fi
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
unset ORRERY_PRESETS
mkdir "$WORK/bin" "$WORK/empty"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "$PYTHON")" >"$WORK/bin/python3"
chmod +x "$WORK/bin/python3"
BIN=$(realpath "$BIN")
export PATH=$WORK/bin:$BIN:$PATH
sed -n 's/^\([0-9]*\)\. [^`]*`\([^`]*\)`.*/\1 \2/p' docs/skill/SKILL.md >"$WORK/commands"
check "there are ten" equal 10 "$(wc -l <"$WORK/commands")"
while read -r number command; do
    check "command $number: $command" bash -c "cd '$WORK/empty' && $command"
done <"$WORK/commands"
check "the law is found" grep -q 'a \* sqrt(a)' "$WORK/empty/found/front.csv"
check "the study has a report" test -s "$WORK/empty/run/report.html"
finish
