# forces.gp - force vectors of one planet: truth and models in separate panels, as in the paper's
# Fig. 1.
#
#   gnuplot -c forces.gp STEM OUTPUT png|svg
#
# With svg it also writes STEM.box, a line for each panel with its texts: left, top, width and height as
# shares of the picture, by which report.html shows one panel a row on phones.
#
# STEM.set: planet, panels, x_center, y_center and extent (AU: axes are center +- extent; centers
# are optional), arrow (AU: the length of force 1), cut (number of arrows cut), longest (length at
# which arrows are cut), stride, unit_name (meaning of force 1), labels (optional; 0: no position
# has a label), and per panel title[], note[], colour[]; the first panel is the truth. STEM.dat: one
# block per panel, rows x y dx dy kind ends: kind 0 not labelled, 1 labelled, 2 not labelled and cut
# at `longest`, 3 not drawn; ends 1: the arrow ends at x y, 0: it begins there. `ending`, the number
# of arrows that end, and the column `ends` are optional. up: the name of the vertical axis (default y). has_curve 1: the block $curve (x y) is the
# orbit; else it is drawn through the rows.

x_center = 0; y_center = 0; ending = 0
labels = 1; has_curve = 0; up = "y"
# defaults, which STEM.set may change: width of a PNG in pixels (0: as below), font, size of text
pixels = 0; face = "DejaVu Sans"; points = 11.0
load ARG1.".set"
data = ARG1.".dat"

columns = panels < 5 ? panels : int(ceil(panels / 2.0))
rows = int(ceil(panels / (1.0 * columns)))
f = points / 11.0 # margins and boxes scale with the text
side = panels < 4 ? 400.0 : 340.0; left = 78.0 * f; right = 18.0; gap = 26.0 * f
longest_note = 0
do for [p = 1:panels] { longest_note = strlen(note[p]) > longest_note ? strlen(note[p]) : longest_note }
lines = 7.4 * f * longest_note > side ? 2 : 1 # lines of a note
above = 22.0 * f * (lines - 1)
head = 96.0 * f + above; between = 112.0 * f + above; foot = 116.0 * f
broken(text) = lines == 1 || strstrt(text, ", ") == 0 ? text : text[1:strstrt(text, ", ")]."\n".text[strstrt(text, ", ") + 2:]
width = left + columns * side + (columns - 1) * gap + right
height = head + rows * side + (rows - 1) * between + foot

if (ARG3 eq "svg") {
    set terminal svg size width, height dynamic font face.",11" fontscale 1.33 * points / 11.0 background "#ffffff" linewidth 1
} else {
    zoom = pixels > 0 ? pixels / (1.0 * width) : 1.0
    set terminal pngcairo size width * zoom, height * zoom font face.",11" fontscale zoom * points / 11.0 background "#ffffff" linewidth 1.3 * zoom pointscale zoom
}
set output ARG2

set encoding utf8
set border lc rgb "#666666"
set xrange [x_center - extent:x_center + extent]
set yrange [y_center - extent:y_center + extent]
# about four ticks on an axis, at 1, 2 or 5 times a power of ten
raw = extent / 2.2
power = 10.0 ** floor(log10(raw))
step = raw / power < 1.5 ? power : raw / power < 3.5 ? 2 * power : raw / power < 7.5 ? 5 * power : 10 * power
set xtics step nomirror tc rgb "#444444"
set ytics step nomirror tc rgb "#444444"
set tics scale 0.6
set grid lc rgb "#eeeeee" lt 1 lw 0.6
unset key

begin(c) = ending > 0 ? column(6) * column(c) : 0 # from the position back to where its arrow begins
set style arrow 2 head filled size graph 0.016, 18 lw 0.8 lc rgb "#a0a0a0"
set style arrow 3 head filled size graph 0.022, 18 lw 1.5 lc rgb "#c00000"

if (ARG3 eq "svg") { set print ARG1.".box" }
set multiplot
set label 100 planet at screen left / width, screen 1 - 30 * f / height left font ",16" front noenhanced
if (ending > 0) {
    set label 101 "arrows that would pass the Sun end at their positions" at screen 1 - right / width, screen 1 - 30 * f / height right font ",10" tc rgb "#444444" front
}

do for [p = 1:panels] {
    col = (p - 1) % columns
    row = (p - 1) / columns
    x0 = left + col * (side + gap)
    y0 = height - head - side - row * (side + between)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + side) / width
    set bmargin at screen y0 / height
    set tmargin at screen (y0 + side) / height
    set label 1 title[p] at graph 0.0, graph 1.03 + (18 * f + above) / side left font ",12" noenhanced
    set label 2 broken(note[p]) at graph 0.0, graph 1.03 + above / side left font ",10" tc rgb "#444444" noenhanced
    set xlabel "x (AU)" offset 0, 0.3
    if (col == 0) {
        set ylabel up." (AU)" offset 0.6, 0
        set format y "%g"
    } else {
        unset ylabel
        set format y ""
    }
    set format x "%g"
    if (ARG3 eq "svg") {
        margin = col == 0 ? left : gap - 5 * f
        print (x0 - margin) / width, (height - y0 - side - 50 * f - above) / height, (side + margin + gap / 2) / width, (side + 104 * f + above) / height
    }
    plot for [k = 1:1] (has_curve ? "$curve" : data) index (has_curve ? 0 : p - 1) using 1:2 with lines lc rgb "#d0d0d0" lw 1.2, \
         data index p - 1 using ($5 == 1 && p > 1 ? $1 - begin(3) : NaN):($2 - begin(4)):3:4 with vectors arrowstyle 2, \
         data index p - 1 using ($5 == 1 ? $1 : NaN):2 with points pt 6 ps 1.1 lw 1.2 lc rgb "#909090", \
         data index p - 1 using ($5 == 0 || ($5 == 1 && p == 1) ? $1 - begin(3) : NaN):($2 - begin(4)):3:4 with vectors head filled size graph 0.022, 18 lw 1.5 lc rgb colour[p], \
         data index p - 1 using ($5 == 2 ? $1 - begin(3) : NaN):($2 - begin(4)):3:4 with vectors arrowstyle 3, \
         data index p - 1 using ($5 == 0 || $5 == 2 ? $1 : NaN):2 with points pt 7 ps 0.35 lc rgb colour[p], \
         "+" using (0):(0) every ::0::0 with points pt 7 ps 2.2 lc rgb "#f0b400", \
         "+" using (0):(0) every ::0::0 with points pt 6 ps 2.2 lw 1.2 lc rgb "#b08000"
    unset label 100
    unset label 101
}

# the legend: a separate strip, in units of pixels
set lmargin at screen 0
set rmargin at screen 1
set bmargin at screen 0
set tmargin at screen 40 * f / height
unset border; unset tics; unset grid; unset xlabel; unset ylabel
unset label
set xrange [0:width]
set yrange [0:40 * f]
y = 26 * f
unit = arrow * side / (2 * extent)
set object 1 circle at left + 8, y size 7 fc rgb "#f0b400" fs solid border lc rgb "#b08000"
set label 1 "Sun" at left + 22, y left font ",10"
lx = left + 26 + 40 * f
do for [p = 2:panels] { # one sample in the colour of each panel
    set arrow 10 + p from lx, y to lx + 26, y head filled size 8, 18 lw 1.5 lc rgb colour[p]
    lx = lx + 32
}
set label 2 "predicted, no label" at lx + 4, y left font ",10"
lx = lx + 4 + 146 * f
if (labels) {
    set arrow 2 from lx, y to lx + 30, y head filled size 7, 18 lw 0.8 lc rgb "#a0a0a0"
    set object 2 circle at lx, y size 5 fs empty border lc rgb "#909090" front
    set label 3 "labelled" at lx + 38, y left font ",10"
    lx = lx + 40 + 80 * f
}
if (columns < 3) {
    lx = left
}
ly = columns < 3 ? 9 * f : y
set arrow 3 from lx, ly to lx + unit, ly heads size 5, 90 lw 1.2 lc rgb "#444444"
set label 4 unit_name at lx + unit + 8, ly left font ",10"
if (cut > 0) {
    lx = lx + unit + 20 + 6.6 * f * strlen(unit_name)
    set arrow 4 from lx, ly to lx + 34, ly head filled size 8, 18 lw 1.5 lc rgb "#c00000"
    set label 5 sprintf("longer than %g bars, cut (%d)", longest, cut) at lx + 42, ly left font ",10"
}
plot NaN notitle
unset multiplot
set output
