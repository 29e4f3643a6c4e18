#!/usr/bin/env bash
# verdict.sh - the cells of the verdict (study/grids/verdict*.grid) and of the claims of text
# beside it, resumed, and what they say together.
#
#   study/verdict.sh short|long
#
# Writes $RUNS/verdict/verdict.json, verdict.md, the page verdict.html, and claims.md of the results
# of all grids that $RUNS has (RUNS: runs). JOBS, BIN, THREADS as for `orrery sweep`. A cell that
# fails is named, and the others are put together; status 1 then.
set -u
case ${1-} in
short) grids="verdict_short text_short" ;;
long) grids="verdict verdict_more table1" ;;
*)
    echo "verdict: error: VERDICT: expected short or long, found \"${1-}\"" >&2
    exit 2
    ;;
esac
here=$(dirname "$0")
RUNS=${RUNS:-runs}
export RUNS
failed=0 cells=()
rm -rf "$RUNS/verdict/results"
rm -f "$RUNS/verdict/verdict.json" "$RUNS/verdict/verdict.html" "$RUNS/verdict/claims.md" \
    "$RUNS/verdict/verdict.md" "$RUNS/verdict/verdict.md.new"
for grid in $grids; do
    corpus=$(grep -oE 'corpora/[a-z]+' "${GRIDS:-study/grids}/$grid.grid")
    if [ -n "$corpus" ] && [ ! -e "$corpus.txt" ] &&
        ! "$here/../tools/corpus.sh" corpora "${corpus#*/}"; then
        echo "verdict: $corpus.txt: not there; study/grids/$grid.grid is left out" >&2
        failed=1
        continue
    fi
    "${BIN:-bin}/orrery" sweep "${GRIDS:-study/grids}/$grid.grid"
    status=$?
    [ $status -le 1 ] || exit $status
    failed=$((failed | status))
done
while IFS= read -r cell; do
    cells+=("$cell")
done < <(PART=1/1 "${BIN:-bin}/orrery" cells "${GRIDS:-study/grids}/${grids%% *}.grid" --folders)
# what other grids of $RUNS say, and what published claims come to
DOCS=$RUNS/verdict "$here/claims.sh" "$RUNS/verdict/results" >/dev/null || failed=1
"${BIN:-bin}/verdict" --out "$RUNS/verdict" --beside "$RUNS/verdict/results" "${cells[@]}" \
    >"$RUNS/verdict/verdict.md.new" || exit
mv "$RUNS/verdict/verdict.md.new" "$RUNS/verdict/verdict.md"
sed -n '3,5p' "$RUNS/verdict/verdict.md"
exit $failed
