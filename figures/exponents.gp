# exponents.gp - exponents of r, m1 and m2 per source against those of the law of the run.
#
#   gnuplot -c exponents.gp STEM OUTPUT png|svg
#
# STEM.set: rows, title[], colour[], law (name of the law with the exponents expected[]), lowest[]
# and highest[] of the axes; $data: one block and one row per source: value, low, high of r, then of
# m1, of m2.

# defaults, which STEM.set may change: width of a PNG in pixels (0: as below), font, size of text
pixels = 0; face = "DejaVu Sans"; points = 11.0
load ARG1.".set"

longest = 0
do for [s = 1:rows] { longest = strlen(title[s]) > longest ? strlen(title[s]) : longest }
f = points / 11.0 # margins and boxes scale with the text
side = 330.0; left = 38.0 + 7.4 * f * longest; right = 24.0; gap = 24.0
high = 34.0 * f * rows + 24; head = 56.0 * f; foot = 62.0 * f
width = left + 3 * side + 2 * gap + right
height = head + high + foot

if (ARG3 eq "svg") {
    set terminal svg size width, height dynamic font face.",11" fontscale 1.33 * points / 11.0 background "#ffffff" linewidth 1
} else {
    zoom = pixels > 0 ? pixels / (1.0 * width) : 1.0
    set terminal pngcairo size width * zoom, height * zoom font face.",11" fontscale zoom * points / 11.0 background "#ffffff" linewidth 1.3 * zoom pointscale zoom
}
set output ARG2

set encoding utf8
set border 1 lc rgb "#666666"
set xtics nomirror scale 0.6 tc rgb "#444444"
set grid xtics lc rgb "#eeeeee" lt 1 lw 0.6
set yrange [rows + 0.7:0.3]
set bars 0.6
unset ytics
unset key
array name[3] = ["exponent of r", "exponent of m_1", "exponent of m_2"]

set multiplot
do for [e = 1:3] {
    pad = 0.06 * (highest[e] - lowest[e])
    set xrange [lowest[e] - pad:highest[e] + pad]
    raw = (highest[e] - lowest[e]) / 4.0
    power = 10.0 ** floor(log10(raw))
    set xtics raw / power < 1.5 ? power : raw / power < 3.5 ? 2 * power : raw / power < 7.5 ? 5 * power : 10 * power
    x0 = left + (e - 1) * (side + gap)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + side) / width
    set bmargin at screen foot / height
    set tmargin at screen (foot + high) / height
    set label 1000 name[e].sprintf(" (%s: %.4g)", law, expected[e]) at graph 0.0, screen (foot + high + 22 * f) / height left font ",12"
    if (e == 1) {
        do for [s = 1:rows] {
            set label s title[s] at screen (left - 14) / width, first s right font ",11" noenhanced
        }
    } else {
        do for [s = 1:rows] { unset label s }
    }
    set arrow 1 from expected[e], graph 0 to expected[e], graph 1 nohead lw 1.2 dt 2 lc rgb "#666666" back
    plot for [s = 1:rows] $data index s - 1 using (column(3 * e - 2)):(s):(column(3 * e - 1)):(column(3 * e)) with xerrorbars pt 7 ps 0.7 lw 2.2 lc rgb colour[s]
}
unset multiplot
set output
