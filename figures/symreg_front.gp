# symreg_front.gp - a Pareto front and the formula that each rule selects.
#
#   gnuplot -c symreg_front.gp DATA OUTPUT png
#
# DATA is a gnuplot script: target, exact (1: the last loss is 0, and is drawn below the others),
# and $front with rows complexity, loss, and 0 or 1 for each of the rules accuracy, score, best,
# mdl.

load ARG1
set terminal pngcairo size 900, 560 font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set grid lc rgb "#e6e6e6" lt 1 lw 0.6
set logscale y
set format y "10^{%T}"
set xlabel "complexity"
set ylabel "loss" offset 0.5, 0
set lmargin 11
set rmargin 4
set tmargin 4
set bmargin 7
stats $front using 1 name "size" nooutput
set xrange [size_min - 0.7 : size_max + 0.7]
# a tick at every complexity of a short front; for longer ones as many as fit
set xtics 0, (size_max <= 20 ? 1 : size_max <= 40 ? 2 : 5) format "%g"
stats $front using 2 nooutput
# at least two decades, so that a flat front looks flat
high = ceil(log10(STATS_max) + 0.2)
low = floor(log10(STATS_min) - 0.2)
low = high - low < 2 ? high - 2 : low
# at most about eight labels
set ytics 10.0 ** (1 + int((high - low) / 8))
set yrange [10.0 ** low : 10.0 ** high]
set label 1 target.": front of formulas" at graph 0, graph 1.06 left font ",13" noenhanced
if (exact) { set label 2 "lowest point: loss 0" at graph 1, graph 1.06 right font ",10" tc rgb "#444444" }
set key below center horizontal samplen 2 spacing 1.2 width 2 font ",10"
plot $front using 1:2 with steps lw 1.6 lc rgb "#8a8a8a" notitle, \
     $front using 1:2 with points pt 7 ps 0.8 lc rgb "#333333" title "front", \
     $front using ($3 > 0 ? $1 : NaN):2 with points pt 6 ps 1.6 lw 1.6 lc rgb "#1f77b4" title "accuracy", \
     $front using ($4 > 0 ? $1 : NaN):2 with points pt 4 ps 2.3 lw 1.6 lc rgb "#d95f02" title "score", \
     $front using ($5 > 0 ? $1 : NaN):2 with points pt 6 ps 2.9 lw 1.6 lc rgb "#1b9e77" title "best", \
     $front using ($6 > 0 ? $1 : NaN):2 with points pt 12 ps 3.6 lw 1.6 lc rgb "#9450b5" title "mdl"
set output
