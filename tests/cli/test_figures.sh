#!/usr/bin/env bash
# test_figures.sh - bin/report for one figure, for losses of runs: sizes, fonts,
# what is kept beside a figure, and what is refused.
. tests/cli/lib.sh
if ! command -v gnuplot >/dev/null; then
    skip "figures" "no gnuplot"
    finish
fi

run=$WORK/run
DATA=("${TINY[@]}" --run "$run" --set 'attention=softmax,lssar')
for p in orbits pretrain; do
    check "a run: $p" program $p "${DATA[@]}"
done

# ---- losses, as soon as models are trained
losses() {
    program compare losses --quiet "$@"
}
check "losses of one run" losses "$run" --out "$WORK/one.png" >"$WORK/table"
check "losses of one run: a picture" test -s "$WORK/one.png"
# the last step and validation loss that the log has, in the table's four digits
number() {
    tail -n 1 "$run/lssar/pretrain/log.jsonl" | grep -o "\"$1\": [^,}]*" | cut -d ' ' -f 2
}
row=$(losses "$run" --out "$WORK/one.png" | grep LSSAR)
check "losses of one run: the log's last step" grep -qF "| GPT (LSSAR) | $(number step) |" <<<"$row"
check "losses of one run: its validation loss" \
    grep -qF "| $(printf '%.4g' "$(number val_loss)") |" <<<"$row"
cp -r "$run" "$WORK/other"
check "losses of two runs" losses "$run" "$WORK/other" --out "$WORK/two.svg"
check "losses of two runs: each with its name" prints 'other: lssar' losses "$run" "$WORK/other" \
    --out "$WORK/two.svg"
check "losses of two runs: a curve each" \
    test "$(grep -c 'other: lssar\|run: lssar' "$WORK/two.svg")" -ge 2
check "report --losses, as it was called before, does not become compare losses" \
    program report --losses --run "$run" --out "$WORK/one.png" --quiet
mkdir "$WORK/empty" && cp "$run/preset.json" "$WORK/empty"

# ---- one figure
for p in finetune symreg; do
    check "a run: $p" program $p "${DATA[@]}"
done
figure() {
    program report --run "$run" --quiet "$@"
}
width() { # of a PNG: bytes 16 to 19
    od -An -tu1 -j16 -N4 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'
}
check "a body" figure --body earth --out "$WORK/earth.png"
check "a body: the page's picture" figure --out "$WORK/page"
check "a body: has the same bytes" same_file "$WORK/earth.png" "$WORK/page/figures/forces_earth.png"
check "a body: and nothing else is written" test ! -e "$WORK/earth.set" -a \
    ! -e "$WORK/page/figures/loss.set"
for name in mars exponents pareto loss; do
    option=--figure && [ $name != mars ] || option=--body
    check "$name, 700 pixels" figure $option $name --size 700 --out "$WORK/$name.png"
    check "$name: 700 pixels" equal 700 "$(width "$WORK/$name.png")"
    check "$name, SVG, a font" figure $option $name --font 'DejaVu Serif,14' --out "$WORK/$name.svg"
    check "$name: the font" grep -q 'DejaVu Serif' "$WORK/$name.svg"
    check "$name, kept" figure $option $name --size 700 --keep --out "$WORK/kept/$name.png"
    check "$name: drawn again from what is kept" env -C "$WORK/kept" gnuplot -c $name.gp $name \
        again.png png
    check "$name: drawn again in 700 pixels" equal 700 "$(width "$WORK/kept/again.png")"
    check "$name, kept, SVG" figure $option $name --keep --out "$WORK/kept/$name.svg"
    check "$name: SVG drawn again from what is kept" env -C "$WORK/kept" gnuplot -c $name.gp $name \
        again.svg svg
    check "$name: the same SVG" same_file "$WORK/kept/$name.svg" "$WORK/kept/again.svg"
done
# an axis ends where the data do (complexity 21), not at the next tic (25)
printf 'Complexity,Loss\n1,10\n11,2\n21,1\n' >"$WORK/front.csv"
cat >"$WORK/axis.set" <<END
panels = 1; curves = 1; kind = "pareto"; law = "Newton's law"
array panel_title[2]; array title[1]; array colour[1]; array front[1]; array size[1]
array loss[1]; array is_true[1]
panel_title[1] = "fronts"; title[1] = "Truth"; colour[1] = "#333333"; front[1] = "$WORK/front.csv"
size[1] = 11; loss[1] = 2; is_true[1] = 1
END
check "an axis" gnuplot -c figures/curves.gp "$WORK/axis" "$WORK/axis.svg" svg
check "an axis: has the tic below its end" grep -Eq '> ?20<' "$WORK/axis.svg"
check_not "an axis: and none above the data" grep -Eq '> ?25<' "$WORK/axis.svg"
# the second panel of fronts ends with the last curve of a model
cat >"$WORK/three.set" <<END
panels = 2; curves = 3; kind = "pareto"; law = "Newton's law"
array panel_title[2]; array title[3]; array colour[3]; array front[3]; array size[3]
array loss[3]; array is_true[3]
panel_title[1] = "fronts"; panel_title[2] = "some"
do for [c = 1:3] { title[c] = "row ".c; front[c] = "$WORK/front.csv"; size[c] = 11; loss[c] = 2 }
do for [c = 1:3] { is_true[c] = -1; colour[c] = "#333333" }
colour[3] = "#112233"
END
drawn() { # SETTING: elements that have the third curve's colour
    { cat "$WORK/three.set" && echo "$1"; } >"$WORK/drawn.set"
    gnuplot -c figures/curves.gp "$WORK/drawn" "$WORK/drawn.svg" svg
    grep -o 'rgb( 17,  34,  51)' "$WORK/drawn.svg" | wc -l
}
both=$(drawn '') && one=$(drawn 'last = 2')
check "a curve in both panels is drawn more often ($both) than in one ($one)" \
    test "$one" -gt 0 -a "$both" -gt "$one"
# residuals of values over six decades: the smallest ones are seen as well
residuals() { # SMALL NAME: a picture in which the smallest prediction has this relative residual
    awk -v small="$1" 'BEGIN { print "title_text = \"t\"; target = \"F\"; sigmas = 0"
        print "$points << EOD"
        for (i = 0; i < 30; i++) { p = 10 ^ (-9 + i / 5); d = p * (i ? 0.01 : small)
            print p + d, p, d, 1 }
        print "EOD" }' >"$WORK/points"
    gnuplot -c figures/symreg_residuals.gp "$WORK/points" "$WORK/$2.png" png
}
check "residuals" residuals 0.01 even
check "residuals, the smallest one larger" residuals 0.3 uneven
check_not "residuals: the same picture" same_file "$WORK/even.png" "$WORK/uneven.png"
check "the page, kept" figure --keep --out "$WORK/page"
check "the page, kept: with data and scripts" test -s "$WORK/page/figures/forces_earth.dat" -a \
    -s "$WORK/page/figures/forces_earth.gp" -a -s "$WORK/page/figures/loss.set"
check "nothing temporary" clean "$WORK/page" "$WORK/kept"
check "the name is the body's" env -C "$WORK" "$(realpath "$BIN/report")" --run "$run" --quiet \
    --body venus
check "the name is the body's: in this folder" test -s "$WORK/venus.png"

# ---- what is refused
refuse() { # WORDS OPTION...
    local words=$1
    shift
    program report --quiet --run "$run" "$@" >"$WORK/said" 2>&1 && echo "accepted" >"$WORK/said"
    check "refused: $words" grep -qF -- "$words" "$WORK/said"
}
refuse 'found "earht"' --body earht --out "$WORK/no.png"
refuse 'found "losses"' --figure losses --out "$WORK/no.png"
refuse 'ends in .png or .svg, found' --body earth --out "$WORK/no.jpg"
refuse '--size: expected a width of 200 to 20000 pixels, found "big"' --body earth --size big
refuse '--size: belongs to a PNG' --body earth --size 900 --out "$WORK/no.svg"
refuse '--font: expected NAME or NAME,POINTS' --body earth --font 'Sans,x'
refuse '--size: belongs to report --losses, report --body and report --figure, not to the page' \
    --size 900
refuse '--figure: belongs to report --figure, not to report --body' --body earth --figure loss
refuse 'and the page, not to report --animate' --animate earth --keep
refuse '--resume: belongs to the page, not to report --body' --body earth --resume
refuse 'unexpected argument "earth"; see report --help' earth
refuse 'unexpected argument "earth"; expected report --body alone' --body mars earth
program report --quiet --losses "$WORK/empty" --out "$WORK/no.png" >"$WORK/said" 2>&1
check "refused: a run without logs" grep -qF 'no training log' "$WORK/said"
check_not "nothing was drawn" test -e "$WORK/no.png" -o -e "$WORK/no.svg" -o -e "$WORK/no.jpg"
finish
