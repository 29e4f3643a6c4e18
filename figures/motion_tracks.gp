# motion_tracks.gp - a track beside the solution of the equations that were found, its residuals, and
# its phase portrait.
#
#   gnuplot -c motion_tracks.gp DATA OUTPUT png
#
# DATA is a gnuplot script: states, time, name[1 .. states], and $rows with the time, then of each
# state its measured value, that of the solution, and their difference in standard deviations.

load ARG1
set terminal pngcairo size 1200, 420 font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444" font ",9"
set grid lc rgb "#e6e6e6" lt 1 lw 0.6
set key above font ",9" noenhanced
set bmargin at screen 0.15
set tmargin at screen 0.86
array colour[8] = ["#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"]

set multiplot
set xlabel time noenhanced
set lmargin at screen 0.06
set rmargin at screen 0.33
plot for [k = 1 : states] $rows using 1:(column(3 * k - 1)) with points pt 7 ps 0.4 lc rgb colour[k] notitle, \
     for [k = 1 : states] $rows using 1:(column(3 * k)) with lines lc rgb colour[k] title name[k]

set lmargin at screen 0.42
set rmargin at screen 0.66
set ylabel "(measured - solution) / sigma" offset 0.5, 0
set object 1 rectangle from graph 0, first -2 to graph 1, first 2 fillcolor rgb "#f3efe6" fillstyle solid noborder behind
plot 0 with lines lc rgb "#999999" lw 0.6 notitle, \
     for [k = 1 : states] $rows using 1:(column(3 * k + 1)) with points pt 7 ps 0.4 lc rgb colour[k] title name[k]
unset object 1

# a single state has its time in place of a second one
set lmargin at screen 0.74
set rmargin at screen 0.98
set xlabel states > 1 ? name[1] : time noenhanced
set ylabel states > 1 ? name[2] : name[1] offset 0.5, 0 noenhanced
unset key
across = states > 1 ? 2 : 1
up = states > 1 ? 5 : 2
plot $rows using across:up with points pt 7 ps 0.4 lc rgb "#b0b0b0", \
     $rows using (column(states > 1 ? 3 : 1)):(column(up + 1)) with lines lc rgb "#1f77b4"
unset multiplot
set output
