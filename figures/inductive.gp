# inductive.gp - the inductive-bias probe: distance between the predictions at two points against
# the distance between an oracle's values there, in bins. A model that generalises as the oracle
# does lies on the diagonal.
#
#   gnuplot -c inductive.gp STEM OUTPUT png
#
# STEM.set: model, seed. STEM.dat: the rows of results. The row of a bin is followed by the row of
# its diagonal, the oracle's distance.

load ARG1.".set"
data = ARG1.".dat"
set datafile separator "\t"
set datafile missing NaN
# columns: quantity, measure, layer, context, value, low, high, upper_bound, baseline, raw, n
is(quantity, measure) = strcol(1) eq quantity && strcol(2) eq measure

wide = 420.0; high = 330.0; left = 84.0; gap = 90.0; right = 24.0
head = 84.0; between = 84.0; foot = 64.0
width = left + 2 * wide + gap + right
height = head + 2 * high + between + foot

set terminal pngcairo size width, height font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set grid xtics ytics lc rgb "#e6e6e6" lt 1 lw 0.6
unset key

array panel_title[4] = ["Linear oracle", "MLP oracle", "Linear oracle, as published", \
                        "MLP oracle, as published"]
array curve[5] = ["model", "truth (upper bound)", "untrained baseline", "inputs (raw)", "diagonal"]
array shift_x[5] = [0, 130, 300, 510, 670]
array colour[5] = ["#1f5fa8", "#2e8b57", "#999999", "#c8741a", "#444444"]

array oracle[4] = ["linear oracle", "MLP oracle", "linear oracle", "MLP oracle"]
array form[4] = ["corrected", "corrected", "published", "published"]
# the numbers of a bin are stored until the row of its diagonal is read
keep(p) = (value = column(5), lower = column(6), upper = column(7), upper_bound = column(8), baseline_ = column(9), raw = column(10))
diagonal(p) = is(oracle[p], "distance, ".form[p]) ? (keep(p), NaN) : is(oracle[p], "diagonal, ".form[p]) ? column(5) : NaN

sets = 0
stats data using (is("linear oracle", "to diagonal, corrected") ? (sets = $11) : 0) nooutput
title = sprintf("Inductive bias towards the state, %d data sets: %s, seed %s", sets, model, seed)
set multiplot
set label 100 title at screen left / width, screen 1 - 26 / height left font ",14" noenhanced
do for [p = 1:4] {
    x0 = left + ((p - 1) % 2) * (wide + gap)
    y0 = height - head - high - ((p - 1) / 2) * (high + between)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + wide) / width
    set bmargin at screen y0 / height
    set tmargin at screen (y0 + high) / height
    set label 1 panel_title[p] at graph 0, graph 1.05 left font ",11" noenhanced
    set xlabel "distance of the oracle's predictions" offset 0, 0.3
    set ylabel p % 2 ? "distance of predictions" : "" offset 1, 0
    stats data using (diagonal(p)) nooutput
    most = STATS_max
    set xrange [0:1.05 * most]
    set yrange [0:*]
    plot [0:1.05 * most] x with lines dt 2 lw 1.2 lc rgb colour[5], \
         data using (diagonal(p)):(upper_bound) with linespoints pt 8 ps 0.8 lw 1.2 lc rgb colour[2], \
         data using (diagonal(p)):(baseline_) with linespoints pt 4 ps 0.8 lw 1.2 lc rgb colour[3], \
         data using (diagonal(p)):(raw) with linespoints pt 10 ps 0.8 lw 1.2 lc rgb colour[4], \
         data using (diagonal(p)):(value):(lower):(upper) with yerrorbars pt 7 ps 0.1 lw 1.2 lc rgb colour[1], \
         data using (diagonal(p)):(value) with linespoints pt 7 ps 0.8 lw 2 lc rgb colour[1]
    unset label 100
}

# the legend, in units of pixels
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 1 - 66 / height
set tmargin at screen 1 - 34 / height
unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset label
set xrange [0:width]
set yrange [0:32]
do for [c = 1:5] {
    x = left + shift_x[c]
    dash = c == 5 ? 2 : 1
    set arrow c from x, 16 to x + 34, 16 nohead lw 2 dt dash lc rgb colour[c]
    set label c curve[c] at x + 42, 16 left font ",10" noenhanced
}
plot NaN notitle
unset multiplot
set output
