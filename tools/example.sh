#!/usr/bin/env bash
# example.sh [RUN] - docs/example/report.html: the report of a finished run of the preset quick, to
# look at without building (`make world && make example`, minutes). The page is written by
# bin/report, below 1.2 MB, and is not edited; where Python has zopfli, its pictures are compressed
# anew (a minute, tools/recompress.py); tests/cli/test_example.sh finds it to be made of
# today's style and scripts.
set -eu
run=${1:-runs/quick}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${BIN:-bin}/report" --run "$run" --out "$work" --quiet
if "${PYTHON:-python3}" -c 'import zopfli' 2>/dev/null; then
    "${PYTHON:-python3}" tools/recompress.py "$work/report.html"
fi
bytes=$(wc -c <"$work/report.html")
[ "$bytes" -lt 1200000 ] || {
    echo "example: error: $run: a page of $bytes bytes, expected less than 1,200,000" >&2
    exit 1
}
mkdir -p docs/example
cp "$work/report.html" docs/example/report.html
echo "docs/example/report.html: $bytes bytes of $run"
