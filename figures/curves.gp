# curves.gp - loss curves, Pareto fronts, and results of probes along their contexts.
#
#   gnuplot -c curves.gp STEM OUTPUT png|svg
#
# With svg it also writes STEM.box, as forces.gp does, each line followed by left and width of the axes as
# shares of the picture, and the first and last x.
#
# STEM.set: kind ("loss", "pareto" or "probes"), panels with panel_title[], curves with panel_of[], title[],
# colour[]. For pareto also law ("Newton's law"), and per curve front[] (a file with columns
# Complexity and Loss) and size[], loss[] and is_true[] (1 or 0; -1: none) of the selected law; the
# second panel omits the first curve, the truth, and those after the last. For loss also $data,
# two blocks per curve: step, loss, smoothed loss; then its marks (step, validation loss, 1: the best).
# For probes $data has two blocks per curve: context, value, low, high; then context, untrained twin; panel
# `labels` has its contexts on a logarithmic axis and its values on a linear one, others have it the other way.

# defaults, which STEM.set may change: width of a PNG in pixels (0: as below), font, size of text
pixels = 0; face = "DejaVu Sans"; points = 11.0
# of pareto: the last curve of the second panel, 0 for all
last = 0
# of probes: the panel of label curves, 0 for none
labels = 0
load ARG1.".set"

# one legend entry per title
seen = "|"
entries = 0
do for [c = 1:curves] {
    if (strstrt(seen, "|".title[c]."|") == 0) {
        seen = seen.title[c]."|"
        entries = entries + 1
    }
}

columns = panels < 2 ? 1 : 2
rows = int(ceil(panels / 2.0))
wide = kind eq "pareto" ? 600.0 : columns == 1 ? 800.0 : 560.0
high = kind eq "pareto" ? 430.0 : 330.0
f = points / 11.0 # margins and boxes scale with the text
left = 92.0 * f; right = 24.0; gap = 92.0 * f
head = 52.0 * f; between = 96.0 * f
# the legend below the last panel takes a line for every five sources
foot = f * (80.0 + 26.0 * ceil(entries / 5.0))
width = left + columns * wide + (columns - 1) * gap + right
height = head + rows * high + (rows - 1) * between + foot

if (ARG3 eq "svg") {
    set terminal svg size width, height dynamic font face.",11" fontscale 1.33 * points / 11.0 background "#ffffff" linewidth 1
} else {
    zoom = pixels > 0 ? pixels / (1.0 * width) : 1.0
    set terminal pngcairo size width * zoom, height * zoom font face.",11" fontscale zoom * points / 11.0 background "#ffffff" linewidth 1.3 * zoom pointscale zoom
}
set output ARG2

set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set grid ytics lc rgb "#e6e6e6" lt 1 lw 0.6
set logscale y
set format y "10^{%T}"
set xrange [0:*]
set autoscale xfixmax # the axis ends where the data do, not at the next tic
unset key

remark = kind eq "pareto" ? "large circle: selected by the rule best,\nfilled: ".law : kind eq "loss" ? "lines: training, dots: validation, ring: best" : "dashed: untrained twin"
pale(colour) = "#b8".colour[2:7]
set offsets 0, kind eq "pareto" ? 0.6 : 0, 0, 0

if (ARG3 eq "svg") { set print ARG1.".box" }
set multiplot
do for [p = 1:panels] {
    col = (p - 1) % columns
    row = (p - 1) / columns
    x0 = left + col * (wide + gap)
    y0 = height - head - high - row * (high + between)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + wide) / width
    set bmargin at screen y0 / height
    set tmargin at screen (y0 + high) / height
    set label 1 panel_title[p] at graph 0.0, graph 1.06 left font ",12" noenhanced
    set ylabel "loss" offset 1, 0
    remark = kind eq "pareto" || p == 1 ? remark : ""
    set label 2 remark at graph 1.0, graph 1.06 right font ",10" tc rgb "#444444"
    if (kind eq "pareto") {
        set xlabel "complexity (nodes)"
        # a perfect fit has loss 0, which a logarithmic axis cannot show
        shown(x) = x > 1e-16 ? x : 1e-16
        dot(c) = 0.6 + 0.28 * (final - c) # rings of earlier sources stay visible around later dots
        set datafile separator comma
        if (p < panels) { unset label 2 } else { set label 2 at graph 0.98, graph 0.94 right }
        final = p == 2 && last > 0 ? last : curves
        plot for [c = p:final] front[c] using (column("Complexity")):(shown(column("Loss"))) with steps lw 1.4 lc rgb colour[c], \
             for [c = p:final] front[c] using (column("Complexity")):(shown(column("Loss"))) with points pt 7 ps dot(c) lc rgb colour[c], \
             for [c = p:final] "+" using (is_true[c] == 0 ? size[c] : NaN):(shown(loss[c])) every ::0::0 with points pt 6 ps 1.2 + dot(c) lw 2 lc rgb colour[c], \
             for [c = p:final] "+" using (is_true[c] == 1 ? size[c] : NaN):(shown(loss[c])) every ::0::0 with points pt 7 ps 1.0 + dot(c) lc rgb colour[c]
        set datafile separator
    }
    if (kind eq "probes") {
        set xlabel p == labels ? "labelled sequences" : "steps after the prefix"
        set ylabel p == labels ? "R^2 of log F" : "mean error of position, AU" offset 1, 0
        if (p == labels) { unset logscale y; set logscale x; set autoscale x; set format y "%g" }
        set bars 0.6
        of_panel(c, p, y) = panel_of[c] == p ? y : NaN # values of other panels are no part of the range
        plot for [c = 1:curves] $data index 2 * c - 2 using (panel_of[c] == p ? $1 : NaN):(of_panel(c, p, $2)):(of_panel(c, p, $3)):(of_panel(c, p, $4)) with yerrorbars pt 7 ps 0.8 lw 1.2 lc rgb colour[c], \
             for [c = 1:curves] $data index 2 * c - 2 using (panel_of[c] == p ? $1 : NaN):(of_panel(c, p, $2)) with lines lw 1.6 lc rgb colour[c], \
             for [c = 1:curves] $data index 2 * c - 1 using (panel_of[c] == p ? $1 : NaN):(of_panel(c, p, $2)) with linespoints pt 6 ps 0.8 lw 1.2 dt 2 lc rgb colour[c]
    }
    if (kind eq "loss") {
        set xlabel "step"
        plot for [c = 1:curves] $data index 2 * c - 2 using (panel_of[c] == p ? $1 : NaN):2 with lines lw 0.7 lc rgb pale(colour[c]), \
             for [c = 1:curves] $data index 2 * c - 2 using (panel_of[c] == p ? $1 : NaN):3 with lines lw 1.6 lc rgb colour[c], \
             for [c = 1:curves] $data index 2 * c - 1 using (panel_of[c] == p && $3 == 1 ? $1 : NaN):2 with points pt 6 ps 1.9 lw 1.6 lc rgb colour[c], \
             for [c = 1:curves] $data index 2 * c - 1 using (panel_of[c] == p ? $1 : NaN):2 with linespoints pt 7 ps 0.9 lw 0.8 dt 3 lc rgb colour[c]
    }
    if (ARG3 eq "svg") {
        print (x0 - left) / width, (height - y0 - high - 40 * f) / height, (wide + left + right) / width, (high + 96 * f) / height, x0 / width, wide / width, GPVAL_X_MIN, GPVAL_X_MAX
    }
}

# the legend, in units of pixels
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen (foot - 50 * f) / height
unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset label
unset logscale
set offsets 0, 0, 0, 0
set xrange [0:width]
set yrange [0:foot - 50 * f]
seen = "|"
n = 0
do for [c = 1:curves] {
    if (strstrt(seen, "|".title[c]."|") == 0) {
        seen = seen.title[c]."|"
        x = left + 170 * f * (n % 5)
        y = foot - f * (62 + 26 * (n / 5))
        set arrow c from x, y to x + 26, y nohead lw 2.4 lc rgb colour[c]
        set label c title[c] at x + 34, y left font ",10" noenhanced
        n = n + 1
    }
}
plot NaN notitle
unset multiplot
set output
