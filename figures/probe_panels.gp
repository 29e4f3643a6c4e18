# probe_panels.gp - results of a probe: a panel per quantity, the value with its 95% interval, its
# upper bound, its baseline and the result of the inputs alone.
#
#   gnuplot -c probe_panels.gp STEM OUTPUT png
#
# STEM.set: model (its description), title (written before the model), x_label, panels, least
# (lowest y drawn), doubling (1: logarithmic x with ticks at the measured values), by_context (1:
# the x axis is the context, for layer `fixed`; 0: the layer, for context `fixed`), curve[1..4]
# (names of value, upper_bound, baseline, raw; "": not drawn), and per panel panel_title[],
# y_label[], logarithmic[], quantity[] and measure[]. STEM.dat: the rows of results.

load ARG1.".set"
data = ARG1.".dat"
set datafile separator "\t"
set datafile missing NaN
# columns: quantity, measure, layer, context, value, low, high, upper_bound, baseline, raw, n
array number[4] = [5, 8, 9, 10] # columns of the curves
is_shown(p) = strcol(1) eq quantity[p] && strcol(2) eq measure[p] && column(by_context ? 3 : 4) == fixed
at(p) = is_shown(p) ? column(by_context ? 4 : 3) : NaN
is_number(k) = strstrt(strcol(k), "n") == 0
# stores the smallest and the largest number of a column in `low` and `top`
note(k) = is_shown(p) && is_number(k) ? (low = column(k) < low ? column(k) : low, top = column(k) > top ? column(k) : top) : 0

columns = panels < 2 ? 1 : panels < 5 ? 2 : panels < 7 ? 3 : 4
rows = int(ceil(panels / (1.0 * columns)))
wide = columns == 1 ? 640.0 : columns == 2 ? 400.0 : 300.0
high = columns == 1 ? 360.0 : 250.0
left = 96.0; right = 24.0; gap = 84.0
head = 84.0; between = 64.0; foot = 92.0
width = left + columns * wide + (columns - 1) * gap + right
height = head + rows * high + (rows - 1) * between + foot

set terminal pngcairo size width, height font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set grid ytics lc rgb "#e6e6e6" lt 1 lw 0.6
unset key

array colour[4] = ["#1f5fa8", "#2e8b57", "#999999", "#c8741a"]
drawn(c) = strlen(curve[c]) > 0 ? at(p) : NaN

set multiplot
set label 100 title.": ".model at screen left / width, screen 1 - 26 / height left font ",14" noenhanced
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
    set ylabel y_label[p] offset 0, 0 noenhanced
    if (p + columns > panels) {
        set xlabel x_label offset 0, 0.3 noenhanced
    } else {
        unset xlabel
    }
    # layers and contexts are integers: with few of them, each gets a tick
    set xrange [*:*]
    set yrange [*:*]
    stats data using (at(p)) nooutput
    step = STATS_max - STATS_min < 9 ? 1 : 10 ** floor(log10(STATS_max - STATS_min))
    set xtics step
    margin = 0.04 * (STATS_max - STATS_min) + (STATS_max > STATS_min ? 0 : 0.5)
    least_x = STATS_min - margin
    most_x = STATS_max + margin
    if (doubling) {
        least_x = STATS_min / 1.2
        most_x = STATS_max * 1.2
        set logscale x 2
        # ticks at the measured values
        set xtics ()
        ticks = ""
        stats data using (is_shown(p) ? (ticks = ticks.sprintf(" %d", at(p)), 0) : 0) nooutput
        do for [tick in ticks] {
            set xtics add (tick tick + 0)
        }
    }
    if (logarithmic[p]) {
        set logscale y
        set format y "10^{%T}"
        set yrange [*:*]
    } else {
        unset logscale y
        set format y "%g"
        # the y range contains all curves, but nothing below the value of least
        low = 1e300
        top = -1e300
        do for [c = 1:4] {
            if (strlen(curve[c]) > 0) {
                stats data using (note(number[c]), 0) nooutput
            }
        }
        stats data using (note(6), note(7), 0) nooutput
        low = low < least ? least : low
        top = top <= low ? low + 1 : top
        set yrange [low - 0.05 * (top - low):top + 0.08 * (top - low)]
    }
    set xrange [least_x:most_x]
    plot data using (drawn(2)):8 with linespoints dt 2 pt 8 ps 0.8 lw 1.4 lc rgb colour[2], \
         data using (drawn(3)):9 with linespoints dt 1 pt 4 ps 0.8 lw 1.4 lc rgb colour[3], \
         data using (drawn(4)):10 with linespoints dt 4 pt 10 ps 0.8 lw 1.4 lc rgb colour[4], \
         data using (at(p)):5:6:7 with yerrorbars pt 7 ps 0.1 lw 1.2 lc rgb colour[1], \
         data using (at(p)):5 with linespoints pt 7 ps 0.8 lw 2 lc rgb colour[1]
    unset label 100
}

# the legend, in units of pixels
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen 34 / height
unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset label
unset logscale
set xrange [0:width]
set yrange [0:34]
n = 0
do for [c = 1:4] {
    if (strlen(curve[c]) > 0) {
        x = left + n * (width - left - right) / 4.0
        dash = c == 2 ? 2 : c == 4 ? 4 : 1
        set arrow c from x, 18 to x + 44, 18 nohead lw 2 dt dash lc rgb colour[c]
        set label c curve[c] at x + 52, 18 left font ",10" noenhanced
        n = n + 1
    }
}
plot NaN notitle
unset multiplot
set output
