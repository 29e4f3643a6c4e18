# grid.gp - one value over the settings of a grid: one setting is the x axis, the levels of another
# are the curves, combinations of the rest are the panels; means over seeds with 95% intervals.
#
#   gnuplot -c grid.gp STEM OUTPUT png
#
# STEM.set: title, subtitle, x_label, y_label, panels, curves, levels, panel_title[], curve_title[],
# colour[], x_title[], joined (1: levels are numbers, so points of a curve are joined), upper_bound
# and baseline_there (1: upper bounds, baselines exist). STEM.dat: a block per panel and curve,
# sorted by panel: level (from 1), value, low, high, upper_bound, baseline.

load ARG1.".set"
data = ARG1.".dat"

columns = panels < 2 ? 1 : panels < 5 ? 2 : 3
rows = int(ceil(panels / (1.0 * columns)))
long_names = levels > 8
wide = columns == 1 ? (long_names || curves > 8 ? 960.0 : 640.0) : 440.0
high = columns == 1 ? (curves > 8 ? 480.0 : 360.0) : 280.0
left = 96.0; right = 24.0; gap = 84.0
head = 100.0; between = long_names ? 190.0 : 84.0
width = left + columns * wide + (columns - 1) * gap + right
longest = 10
do for [c = 1:curves] {
    longest = strlen(curve_title[c]) > longest ? strlen(curve_title[c]) : longest
}
# how many legend titles fit into a row: a letter takes about 7 pixels
abreast = int((width - left) / (7.2 * longest + 24))
abreast = abreast < 1 ? 1 : abreast > 4 ? 4 : abreast
legend = 22.0 * (1 + (curves + 1) / abreast)
foot = (long_names ? 140.0 : 60.0) + legend
height = head + rows * high + (rows - 1) * between + foot

set terminal pngcairo size width, height font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set grid ytics lc rgb "#e6e6e6" lt 1 lw 0.6
set datafile missing "nan"
unset key

# curves are shifted sideways at each level, so that their intervals do not overlap
shift(c) = curves < 2 ? 0 : 0.36 * ((c - 1) / (curves - 1.0) - 0.5)

# one y range for all panels
low = 1e300
top = -1e300
do for [f = 2:6] {
    if (f < 5 || (f == 5 && upper_bound) || (f == 6 && baseline_there)) {
        stats data using (column(f)) nooutput
        if (STATS_records > 0) {
            low = STATS_min < low ? STATS_min : low
            top = STATS_max > top ? STATS_max : top
        }
    }
}
top = top <= low ? low + 1 : top

set multiplot
set label 100 title at screen left / width, screen 1 - 26 / height left font ",14" noenhanced
set label 101 subtitle at screen left / width, screen 1 - 46 / height left font ",10" tc rgb "#444444" noenhanced
if (low > 0 && top / low > 20) {
    set logscale y
    set yrange [low / 1.3:top * 1.3]
} else {
    set yrange [low - 0.05 * (top - low):top + 0.08 * (top - low)]
}
set xrange [0.5:levels + 0.5]
set xtics () noenhanced
do for [i = 1:levels] {
    set xtics add (x_title[i] i)
}
if (long_names) {
    set xtics rotate by 60 right
}
do for [p = 1:panels] {
    col = (p - 1) % columns
    row = (p - 1) / columns
    x0 = left + col * (wide + gap)
    y0 = height - head - high - row * (high + between)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + wide) / width
    set bmargin at screen y0 / height
    set tmargin at screen (y0 + high) / height
    set label 1 panel_title[p] at graph 0, graph 1.06 left font ",11" noenhanced
    set ylabel y_label noenhanced
    set xlabel x_label noenhanced
    plot for [c = 1:curves] data index (p - 1) * curves + c - 1 using ($1 + shift(c)):(upper_bound ? $5 : NaN) with points pt 2 ps 0.8 lw 1.2 lc rgb colour[c], \
         for [c = 1:curves] data index (p - 1) * curves + c - 1 using ($1 + shift(c)):(baseline_there ? $6 : NaN) with points pt 4 ps 0.8 lw 1.2 lc rgb colour[c], \
         for [c = 1:curves] data index (p - 1) * curves + c - 1 using ($1 + shift(c)):(joined ? $2 : NaN) with lines lw 1.2 lc rgb colour[c], \
         for [c = 1:curves] data index (p - 1) * curves + c - 1 using ($1 + shift(c)):2:3:4 with yerrorbars pt 7 ps 0.9 lw 1.6 lc rgb colour[c]
    unset label 100
    unset label 101
}

# the legend, in units of pixels
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen legend / height
unset logscale
unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset label
set xrange [0:width]
set yrange [0:legend]
array mark[2] = [2, 4]
array meaning[2] = ["x  upper bound", "□  untrained baseline"]
n = 0
do for [c = 1:curves + 2] {
    if (c <= curves || (c == curves + 1 && upper_bound) || (c == curves + 2 && baseline_there)) {
        x = left + (n % abreast) * (width - left - right) / abreast
        y = legend - 14 - 22 * (n / abreast)
        if (c <= curves) {
            set label c "●  ".curve_title[c] at x, y left font ",10" tc rgb colour[c] noenhanced
        } else {
            set label c meaning[c - curves] at x, y left font ",10" tc rgb "#444444" noenhanced
        }
        n = n + 1
    }
}
plot NaN notitle
unset multiplot
set output
