# player.gp - one body's orbit as an animation: the true orbit, the models' rollouts and forces.
#
#   gnuplot -c player.gp INPUT OUTPUT gif
#
# INPUT is a gnuplot script: heading, note, first, last (steps), known (steps given to the models, 0
# without rollouts), cx, cy, half (AU, half the side of the square), sources, per source title[],
# colour[], paths[] and forces[] (1: there is a rollout; predicted forces; source 1 is the truth),
# and the blocks $curve (x y), $orbit (step x y labelled), $force1 ... (step x y dx dy, AU) and
# $path1 ... (step x y).

load ARG1
side = 560.0; head = 70.0; foot = 26.0 + 22.0 * ceil(sources / 2.0); left = 20.0
width = side + 2 * left
height = head + side + foot

set terminal gif animate delay 12 loop 0 optimize size width, height font "DejaVuSans,11" background "#ffffff"
set output ARG2
set encoding utf8
unset border
unset tics
unset key
set xrange [cx - half : cx + half]
set yrange [cy - half : cy + half]
set lmargin at screen left / width
set rmargin at screen (left + side) / width
set bmargin at screen foot / height
set tmargin at screen (foot + side) / height
set label 100 heading at screen left / width, screen 1 - 24 / height left font "DejaVuSans,15" noenhanced
set label 101 note at screen left / width, screen 1 - 48 / height left font "DejaVuSans,10" tc rgb "#555555" noenhanced
do for [s = 1:sources] {
    x = left + ((s - 1) % 2) * side / 2
    y = foot - 14 - 22 * ((s - 1) / 2)
    set arrow 200 + s from screen x / width, screen y / height to screen (x + 34) / width, screen y / height head filled size screen 0.012, 18 lw 2.5 lc rgb colour[s]
    set label 200 + s title[s] at screen (x + 44) / width, screen y / height left noenhanced
}
do for [k = first:last] {
    set label 102 sprintf("step %d of %d", k, last) at screen (left + side) / width, screen 1 - 24 / height right
    plot $curve using 1:2 with lines lw 1.2 lc rgb "#b0b7be", \
         "+" using (0):(0) every ::0::0 with points pt 7 ps 2 lc rgb "#e8a200", \
         for [s = 2:sources] (paths[s] ? sprintf("$path%d", s) : "$none") using ($1 <= k ? $2 : NaN):3 with lines lw 2 lc rgb colour[s], \
         for [s = 2:sources] (paths[s] ? sprintf("$path%d", s) : "$none") using ($1 == k ? $2 : NaN):3 with points pt 6 ps 1.3 lw 2 lc rgb colour[s], \
         for [s = 1:sources] (forces[s] ? sprintf("$force%d", s) : "$none") using ($1 == k ? $2 : NaN):3:4:5 with vectors head filled size graph 0.02, 18 lw (s == 1 ? 4 : 2.5) lc rgb colour[s], \
         $orbit using ($1 == k ? $2 : NaN):3:($4 == 1 ? 0x8b95a0 : 0x1c2126) with points pt 7 ps 1.3 lc rgb variable
}
set output
