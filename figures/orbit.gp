# orbit.gp - the bodies of one sequence: their orbits, and the samples that the sequence holds.
#
#   gnuplot -c orbit.gp INPUT OUTPUT png|svg
#
# INPUT is a gnuplot script of `orbits show --out`: heading, note, law (the law of the elements if
# it is not the run's law; else empty), lines (legend of the lines), planets, colour[], legend[];
# panels with centre_x[], centre_y[], half[] (AU, half an axis) and shown[] (number of planets
# inside the panel; panel p lists them from body[planets * (p - 1) + 1] on); inside (number of
# planets shown in the last panel); $curve: a line per body; $seen: the samples of each body. The
# star is the last body of both blocks. Of imported tracks also unit (of the axes; default AU) and
# last_body (name of the last body; default star). With space = 1 the blocks have a third column, z,
# and the panels are the x, y plane and the x, z plane.

unit = " (AU)"; last_body = "star"; space = 0
load ARG1
side = panels > 1 ? 470.0 : 520.0
left = 84.0; gap = 86.0; right = 268.0
head = panels > 1 ? 112.0 : 88.0; foot = 92.0
width = left + panels * side + (panels - 1) * gap + right
height = head + side + foot

if (ARG3 eq "svg") {
    set terminal svg size width, height dynamic font "DejaVu Sans,11" fontscale 1.33 background "#ffffff" linewidth 1
} else {
    set terminal pngcairo size width, height font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
}
set output ARG2

set encoding utf8
set border lc rgb "#666666"
set tics scale 0.6
set grid lc rgb "#eeeeee" lt 1 lw 0.6
unset key
set format "%g"
set xlabel "x".unit offset 0, 0.3
gold = "#f0b400"; rim = "#b08000"
dot = planets > 5 ? 0.4 : 0.5

set multiplot
set label 100 heading at screen left / width, screen 1 - 30 / height left font ",14" front noenhanced
set label 101 note at screen left / width, screen 1 - 54 / height left font ",10" tc rgb "#444444" front noenhanced

do for [p = 1:panels] {
    # about four ticks on an axis, at 1, 2 or 5 times a power of ten
    raw = half[p] / 2.6
    power = 10.0 ** floor(log10(raw))
    step = raw / power < 1.5 ? power : raw / power < 3.5 ? 2 * power : raw / power < 7.5 ? 5 * power : 10 * power
    set xtics step nomirror tc rgb "#444444"
    set ytics step nomirror tc rgb "#444444"
    set xrange [centre_x[p] - half[p] : centre_x[p] + half[p]]
    set yrange [centre_y[p] - half[p] : centre_y[p] + half[p]]
    x0 = left + (p - 1) * (side + gap)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + side) / width
    set bmargin at screen foot / height
    set tmargin at screen (foot + side) / height
    if (space) {
        set label 1 p == 1 ? "projection along z" : "projection along y" at screen x0 / width, screen (foot + side + 14) / height left font ",11"
    } else { if (panels > 1) {
        set label 1 p == 1 ? "all bodies" : sprintf("the small square: %d of %d planets", inside, planets) at screen x0 / width, screen (foot + side + 14) / height left font ",11"
    } }
    if (p == 1 && panels > 1 && !space) {
        set object 1 rectangle from centre_x[2] - half[2], centre_y[2] - half[2] to centre_x[2] + half[2], centre_y[2] + half[2] fs empty border lc rgb "#909090" front
    } else {
        unset object 1
    }
    up = space && p == 2 ? 3 : 2
    set ylabel (up == 3 ? "z" : "y").unit offset 0.6, 0
    first = planets * (p - 1) + 1
    last = first + shown[p] - 1
    plot for [k = first:last] $curve index body[k] - 1 using 1:up with lines lc rgb colour[body[k]] lw 0.9, \
         $curve index planets using 1:up with lines lc rgb rim lw 0.9, \
         for [k = first:last] $seen index body[k] - 1 using 1:up with points pt 7 ps dot lc rgb colour[body[k]], \
         for [k = first:last] $seen index body[k] - 1 using 1:up every ::0::0 with points pt 6 ps 1.4 lw 1.2 lc rgb colour[body[k]], \
         $seen index planets using 1:up with points pt 7 ps dot lc rgb rim, \
         $seen index planets using 1:up every ::0::0 with points pt 7 ps 1.8 lc rgb gold, \
         $seen index planets using 1:up every ::0::0 with points pt 6 ps 1.8 lw 1.2 lc rgb rim
    unset label 100
    unset label 101
}

# the legend next to the panels, and the notes below them, in units of pixels
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen 1
unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset label; unset object
set xrange [0:width]
set yrange [0:height]
x = width - right + 26
y = foot + side - 10
do for [i = 1:planets] {
    set object 10 + i circle at x, y - 24 * (i - 1) size 5 fc rgb colour[i] fs solid border lc rgb colour[i]
    set label 10 + i legend[i] at x + 16, y - 24 * (i - 1) left font ",10" noenhanced
}
set object 30 circle at x, y - 24 * planets size 7 fc rgb gold fs solid border lc rgb rim
set label 30 last_body at x + 16, y - 24 * planets left font ",10"
set label 31 "lines: ".lines."; dots: samples, the first one in a ring" at left, 14 left font ",10" tc rgb "#444444"
if (strlen(law) > 0) {
    set label 32 law at left, 32 left font ",10" tc rgb "#444444" noenhanced
}
plot NaN notitle
unset multiplot
set output
