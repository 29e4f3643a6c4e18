# planets.gp - the real planets: errors of next positions and of forces, by planet.
#
#   gnuplot -c planets.gp STEM OUTPUT png
#
# STEM.set: model, seed. STEM.dat: the rows of results; sizes and directions of forces get
# panels if there are rows for them.

load ARG1.".set"
data = ARG1.".dat"
set datafile separator "\t"
set datafile missing NaN
# columns: quantity, measure, layer, context, value, low, high, upper_bound, baseline, raw, n
is(quantity, measure) = strcol(1) eq quantity && strcol(2) eq measure

names = "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune"
planet(what, measure) = strcol(2) ne measure ? NaN : \
    (i = (sum [k = 1:8] (strcol(1) eq what.", ".word(names, k) ? k : 0)), i > 0 ? i - 1 : NaN)
panels = 1
stats data using (is("force, mean", "cosine") ? (panels = 3) : 0) nooutput
title = sprintf("Real planets: %s, seed %s", model, seed)

wide = panels == 1 ? 640.0 : 420.0; high = 330.0; left = 90.0; gap = 96.0; right = 48.0
head = 84.0; foot = 158.0
width = left + panels * wide + (panels - 1) * gap + right
height = head + high + foot

set terminal pngcairo size width, height font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set grid ytics lc rgb "#e6e6e6" lt 1 lw 0.6
unset key

array colour[5] = ["#1f5fa8", "#2e8b57", "#999999", "#c8741a", "#1f5fa8"]
array panel_title[3] = ["Next position", "Force: size", "Force: direction"]
array y_label[3] = ["mean error, first separations", "median relative error", "1 - mean cosine"]

set logscale y
set format y "10^{%T}"
set xrange [-0.5:7.5]
set xtics ("Mercury" 0, "Venus" 1, "Earth" 2, "Mars" 3, "Jupiter" 4, "Saturn" 5, "Uranus" 6, "Neptune" 7) \
    rotate by -40 offset -0.4, 0
positive(column) = column > 0 ? column : NaN

set multiplot
set label 100 title at screen left / width, screen 1 - 26 / height left font ",14" noenhanced
do for [p = 1:panels] {
    x0 = left + (p - 1) * (wide + gap)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + wide) / width
    set bmargin at screen foot / height
    set tmargin at screen (foot + high) / height
    set label 1 panel_title[p] at graph 0, graph 1.05 left font ",11" noenhanced
    set ylabel y_label[p] offset 1, 0
    if (p == 1) {
        plot data using (planet("next position", "separations")):(positive($8)) with linespoints pt 8 ps 0.9 lw 1.2 lc rgb colour[2], \
             data using (planet("next position", "separations")):(positive($9)) with linespoints pt 4 ps 0.9 lw 1.2 lc rgb colour[3], \
             data using (planet("next position", "separations")):(positive($10)) with linespoints pt 10 ps 0.9 lw 1.2 lc rgb colour[4], \
             data using (planet("next position, two bodies", "separations")):(positive($5)) with linespoints pt 6 ps 1.5 lw 1.2 dt 2 lc rgb colour[5], \
             data using (planet("next position", "separations")):(positive($5)) with linespoints pt 7 ps 0.9 lw 2 lc rgb colour[1]
    }
    if (p == 2) {
        plot data using (planet("force", "error of size")):(positive($9)) with linespoints pt 4 ps 0.9 lw 1.2 lc rgb colour[3], \
             data using (planet("force", "error of size")):(positive($10)) with linespoints pt 10 ps 0.9 lw 1.2 lc rgb colour[4], \
             data using (planet("force", "error of size")):(positive($5)) with linespoints pt 7 ps 0.9 lw 2 lc rgb colour[1]
    }
    if (p == 3) {
        plot data using (planet("force", "cosine")):(positive(1 - $9)) with linespoints pt 4 ps 0.9 lw 1.2 lc rgb colour[3], \
             data using (planet("force", "cosine")):(positive(1 - $5)) with linespoints pt 7 ps 0.9 lw 2 lc rgb colour[1]
    }
    unset label 100
}

# the legend, in units of pixels
unset logscale
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 8 / height
set tmargin at screen 80 / height
unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset label
set xrange [0:width]
set yrange [0:72]
array curve[5] = ["model", "osculating Kepler orbit (upper bound)", "untrained baseline", \
                  "persistence", "model, on the Kepler orbit of step 0"]
if (panels > 1) { curve[4] = "persistence; towards the Sun, mean size" }
array mark[5] = [7, 8, 4, 10, 6]
array at_x[5] = [0, 330, 0, 330, 0]
array at_y[5] = [60, 60, 12, 36, 36]
do for [c = 1:5] {
    x = left - 40 + at_x[c]
    width_of = c == 1 ? 2 : 1.4
    dash = c == 5 ? 2 : 1
    set label 10 + c "" at x + 17, at_y[c] point pt mark[c] ps c == 5 ? 1.5 : 0.9 lc rgb colour[c]
    set arrow c from x, at_y[c] to x + 34, at_y[c] nohead lw width_of dt dash lc rgb colour[c]
    set label c curve[c] at x + 42, at_y[c] left font ",10" noenhanced
}
plot NaN notitle
unset multiplot
set output
