#!/usr/bin/env bash
# test_docs_site.sh - the documentation's site: every page is made without a warning, the landing
# page has its picture and four doors, whose pages are there. Needs sphinx, myst-parser, furo
# and numpy.
. tests/cli/lib.sh
PYTHON=${PYTHON:-python3}
if ! $PYTHON -c 'import sphinx, myst_parser, furo, numpy' 2>/dev/null; then
    skip "the site" "$PYTHON has no sphinx, myst-parser, furo or numpy"
    finish
fi
export PYTHONDONTWRITEBYTECODE=1
check "the site is made" $PYTHON tools/docs_site.py --out "$WORK/site"
html=$WORK/site/html
check "the landing page" test -s "$html/index.html"
sed -nE 's/^<a href="([^"]*)"><strong>.*/\1/p' docs/site/index.html >"$WORK/doors"
check "the landing page: has four doors" equal 4 "$(wc -l <"$WORK/doors")"
while read -r door; do
    check "the landing page: $door is there" test -s "$html/$door"
    check "the landing page: and linked" grep -qF "<a href=\"$door\"><strong>" "$html/index.html"
done <"$WORK/doors"
check "the landing page: its picture" is_png "$html/_static/forces_venus.png"
check "the gallery has ten pictures" equal 10 \
    "$(grep -o '<img [^>]*src="../_images/' "$html/docs/gallery.html" | wc -l)"
page=$html/docs/reference_python.html
for name in $(PYTHONPATH=python $PYTHON -c 'import orrery; print(*orrery.__all__)'); do
    check "Python's interface has orrery.$name" grep -qF "id=\"orrery.$name\"" "$page"
done
check "Python's interface names no private module" lacks 'orrery\._|id="orrery\.[a-z_]*\._' "$page"
check_not "headings without a level" grep -rF 'role="heading">' "$html" --include='*.html'
check_not "code that the keyboard cannot scroll" grep -rlF '<pre>' "$html/docs" --include='*.html'
check_not "a table that the keyboard cannot scroll" grep -rlF '<div class="table-wrapper' \
    "$html/docs" --include='*.html'
for notebook in docs/notebooks/*.ipynb; do
    name=$(basename "$notebook" .ipynb)
    check "the page of $name has its picture" grep -qE \
        "<img [^>]*src=\"[^\"]*/_images/${name}_[0-9_]*\.png" "$html/docs/notebooks/$name.html"
done
check "search" test -s "$html/searchindex.js"
check "a finished report" same_file docs/example/report.html \
    "$(find "$html" -name report.html -size +1M)"
finish
