# follow.gp - losses of trainings as characters, for a terminal (follow.c).
#
#   gnuplot -c follow.gp STEM OUTPUT txt
#
# STEM.set: columns, lines, colours (1 or 0), curves, title[], and $data, which has two blocks per curve as
# curves.gp has them: step, loss, smoothed loss; step, validation loss.

load ARG1.".set"
if (colours) {
    set terminal dumb size columns, lines ansi256
} else {
    set terminal dumb size columns, lines mono
}
set output ARG2
set encoding utf8
set logscale y
set format y "%.0e"
set xrange [0:*]
set autoscale xfixmax
set xlabel "step (letters: validation)"
set ylabel "loss"
set key top right noenhanced
plot for [c = 1:curves] $data index 2 * c - 2 using 1:2 with lines lc c title title[c], \
     for [c = 1:curves] $data index 2 * c - 1 using 1:2 with points pt c lc c notitle
set output
