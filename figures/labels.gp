# labels.gp - R^2 of log F on held-out rows against labelled sequences: the pretrained model, random
# weights, and neighbours of the true state.
#
#   gnuplot -c labels.gp STEM OUTPUT png|svg
#
# STEM.set: model, seed. STEM.dat: the rows of results.

load ARG1.".set"
data = ARG1.".dat"
set datafile separator "\t"
set datafile missing NaN
# columns: quantity, measure, layer, context, value, low, high, upper_bound, baseline, raw, n
is(quantity, measure) = strcol(1) eq quantity && strcol(2) eq measure

array arm[3] = ["log force", "log force, untrained", "log force, neighbours"]
n(k) = is(arm[k + 1], "R^2") ? column(4) : NaN
is_size(k) = is(arm[1], "R^2") || is(arm[2], "R^2") || is(arm[3], "R^2") ? column(k) : NaN

if (ARG3 eq "svg") {
    set terminal svg size 760, 520 dynamic font "DejaVu Sans,11" fontscale 1.33 background "#ffffff" linewidth 1
} else {
    set terminal pngcairo size 760, 520 font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
}
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set logscale x
set format x "%.0f"

stats data using (is(arm[2], "R^2") ? 1 : 0) nooutput
untrained = STATS_sum > 0
stats data using (is_size(4)) nooutput
least = STATS_min
most = STATS_max
set xrange [least / 1.25:most * 1.25]
set xtics (10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
stats data using (is_size(5)) nooutput
bottom = STATS_min < 0 ? -0.2 : STATS_min > 0.6 ? 0.5 : 0
set yrange [bottom:1.02]
set ytics 0.1
set grid ytics lc rgb "#ececec" lt 1 lw 0.6

set xlabel "labelled sequences"
set ylabel "R^2 of log F, held out" offset 1, 0
set title model.", seed ".seed noenhanced font ",13" offset 0, 0.3
set key bottom right reverse Left samplen 2 spacing 1.15 font ",10"
set lmargin 9
set rmargin 3
set bmargin 5.2
set label 1 "bands: 95%, over draws of labels and held-out sequences; dashed: levels of ".(untrained ? "the label saving" : "labels needed") at screen 0.02, screen 0.025 left font ",9" tc rgb "#666666"
do for [k = 1:3] {
    at = k == 1 ? 0.8 : k == 2 ? 0.9 : 0.95
    set arrow k from graph 0, first at to graph 1, first at nohead dt 2 lw 0.9 lc rgb "#9a9a9a" back
}

colour(k) = k == 0 ? "#1b6ca8" : k == 1 ? "#c8553d" : "#7a7a7a"
name(k) = k == 0 ? "pretrained" : k == 1 ? "random weights" : "neighbours of the true state"
plot for [k = 2:0:-1] data using (n(k)):($6 < bottom ? bottom : $6):($7 < bottom ? bottom : $7) with filledcurves fs transparent solid 0.18 noborder lc rgb colour(k) notitle, \
     for [k = 0:untrained] data using (n(k)):5 with linespoints pt 7 ps 0.9 lw 2 lc rgb colour(k) title name(k), \
     data using (n(2)):5 with linespoints pt 6 ps 0.9 lw 1.2 dt 3 lc rgb colour(2) title name(2)
set output
