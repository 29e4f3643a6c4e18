# watch.gp - losses of a running training, drawn by tools/watch.sh.
#
#   gnuplot -c watch.gp STEM OUTPUT dumb|dumbansi|png COLUMNS LINES
#
# STEM.set: curves, title[], colour[], remark (one line). STEM.dat: two blocks per curve, "step
# loss" and "step validation loss".

load ARG1.".set"
data = ARG1.".dat"
dumb = ARG3 ne "png"
if (dumb) {
    if (ARG3 eq "dumbansi") { set terminal dumb size int(ARG4), int(ARG5) ansi256
    } else { set terminal dumb size int(ARG4), int(ARG5) noansi }
} else {
    set terminal pngcairo size 900, 560 font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
    set border 3 lc rgb "#666666"
    set tics nomirror scale 0.6 tc rgb "#444444"
    set grid ytics lc rgb "#e6e6e6" lt 1 lw 0.6
}
set output ARG2
set encoding utf8
set logscale y
set format y dumb ? "%.0e" : "10^{%T}"
set xrange [0:*]
set autoscale xfixmax
set xlabel "step"
set ylabel "loss"
if (!dumb) { set title remark noenhanced font ",10" }
set key top right noenhanced
# the stages of a model share a colour and differ in their dashes
array dash[curves]
do for [c = 1:curves] {
    dash[c] = 1
    do for [d = 1:c - 1] { dash[c] = dash[c] + (colour[d] eq colour[c]) }
}
if (dumb) {
    plot for [c = 1:curves] data index 2 * c - 2 using 1:2 with lines lc c title title[c], \
         for [c = 1:curves] data index 2 * c - 1 using 1:2 with points pt c lc c notitle
} else {
    plot for [c = 1:curves] data index 2 * c - 2 using 1:2 with lines lw 0.9 dt dash[c] lc rgb colour[c] title title[c], \
         for [c = 1:curves] data index 2 * c - 1 using 1:2 with linespoints pt 7 ps 0.5 lw 1.8 lc rgb colour[c] notitle
}
set output
