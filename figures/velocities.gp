# velocities.gp - radial velocities over the phase of each orbit, and what is left over time.
#
#   gnuplot -c velocities.gp DATA OUTPUT png
#
# DATA is a gnuplot script: planets, instruments, $rest with rows time, residual, sigma, instrument; and for
# each planet title1, $curve1 with rows phase, velocity, and $points1 with rows phase, velocity, sigma, instrument.

load ARG1
set terminal pngcairo size 1000, 320 * (planets + 1) font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444" font ",9"
set grid lc rgb "#e6e6e6" lt 1 lw 0.6
unset key
unset colorbox
set palette defined (1 "#1f77b4", 2 "#d95f02", 3 "#2ca02c", 4 "#9467bd", 5 "#8c564b", 6 "#7f7f7f")
set cbrange [1:6]
colour(i) = 1 + (int(i) - 1) % 6
set lmargin 11
set multiplot layout planets + 1, 1
set ylabel "velocity"
set xlabel "phase, 0 at periastron"
set xrange [0:1]
if (planets >= 1) {
    set title title1 noenhanced
    plot $points1 using 1:2:3:(colour($4)) with yerrorbars pt 7 ps 0.6 lc palette, \
         $curve1 using 1:2 with lines lc rgb "#333333" lw 1.5
}
if (planets >= 2) {
    set title title2 noenhanced
    plot $points2 using 1:2:3:(colour($4)) with yerrorbars pt 7 ps 0.6 lc palette, \
         $curve2 using 1:2 with lines lc rgb "#333333" lw 1.5
}
unset title
set xlabel "time"
set ylabel "residual"
set xrange [*:*]
set format x "%.8g"
plot 0 with lines lc rgb "#b0b0b0" lw 1.2, \
     $rest using 1:2:3:(colour($4)) with yerrorbars pt 7 ps 0.6 lc palette
unset multiplot
set output
