# attention_map.gp - attention weights of one layer, a panel per head, as in the paper's Figs. A1
# and A4-A6. Weights are clamped to [0, 0.5], or to [-0.5, 0.5] where they may be negative.
#
#   gnuplot -c attention_map.gp STEM OUTPUT png
#
# STEM.set: title, panels, positions, with_sign, block (positions per cell) and cells (per axis),
# and per panel label[], note[]. STEM.dat: per panel cells x cells float32, row = query, column =
# key; NaN where a query does not attend a key (grey).

load ARG1.".set"
data = ARG1.".dat"

columns = panels < 2 ? 1 : panels < 5 ? 2 : panels < 10 ? 3 : 4
rows = int(ceil(panels / (1.0 * columns)))
side = columns == 1 ? 480.0 : columns == 2 ? 380.0 : 300.0
left = 84.0; right = 124.0; gap = 30.0
head = 46.0; between = 74.0; foot = block > 1 ? 86.0 : 64.0
width = left + columns * side + (columns - 1) * gap + right
height = head + 40 + rows * side + (rows - 1) * between + foot

set terminal pngcairo size width, height font "DejaVu Sans,11" background "#ffffff" linewidth 1.2
set output ARG2
set encoding utf8
set border lc rgb "#666666"
set tics out nomirror scale 0.6 tc rgb "#444444"
unset key
unset colorbox

if (with_sign) {
    set palette defined (-1 "#2166ac", -0.5 "#92c5de", 0 "#ffffff", 0.5 "#f4a582", 1 "#b2182b")
    set cbrange [-0.5:0.5]
    set cbtics 0.25
} else {
    set palette defined (0 "#440154", 1 "#482878", 2 "#3e4989", 3 "#31688e", 4 "#26828e", 5 "#1f9e89", 6 "#35b779", 7 "#6ece58", 8 "#b5de2b", 9 "#fde725")
    set cbrange [0:0.5]
    set cbtics 0.1
}
set cblabel with_sign ? "weight A_{ij}, clamped to [-0.5, 0.5]" : "weight A_{ij}, clamped to [0, 0.5]" offset 0.8, 0

# axes in positions, counted from 1, with row 1 on top; about four ticks, at 1, 2 or 5 times a power
# of ten
last = cells * block + 0.5
raw = positions / 4.0
power = 10.0 ** floor(log10(raw))
step = raw / power < 1.5 ? power : raw / power < 3.5 ? 2 * power : raw / power < 7.5 ? 5 * power : 10 * power
step = step < 1 ? 1 : step
set xrange [0.5:last]
set yrange [last:0.5]
set xtics step, step
set ytics step, step
set object 1 rectangle from graph 0, graph 0 to graph 1, graph 1 behind fc rgb "#e4e4e4" fs solid noborder

set multiplot
set label 100 title at screen left / width, screen 1 - 26 / height left font ",14" front noenhanced
if (block > 1) {
    set label 101 sprintf("a cell is the largest weight of %d x %d positions", block, block) at screen left / width, screen 18 / height left font ",9" tc rgb "#444444" front noenhanced
}
first = (block + 1) / 2.0
do for [p = 1:panels] {
    col = (p - 1) % columns
    row = (p - 1) / columns
    x0 = left + col * (side + gap)
    y0 = height - head - 40 - side - row * (side + between)
    set lmargin at screen x0 / width
    set rmargin at screen (x0 + side) / width
    set bmargin at screen y0 / height
    set tmargin at screen (y0 + side) / height
    set label 1 label[p] at graph 0, screen (y0 + side + 28) / height left font ",11" noenhanced
    set label 2 note[p] at graph 0, screen (y0 + side + 11) / height left font ",9" tc rgb "#444444" noenhanced
    # only the outer panels have axis labels
    if (p + columns > panels) {
        set xlabel "key position j" offset 0, 0.3
    } else {
        unset xlabel
    }
    if (col == 0) {
        set label 3 "query position i" at screen (x0 - 62) / width, screen (y0 + side / 2) / height center rotate by 90
        set format y "%g"
    } else {
        unset label 3
        set format y ""
    }
    if (p == panels) {
        set colorbox user origin screen 1 - (right - 26) / width, screen (height - head - 40 - side) / height size screen 16 / width, screen side / height
    }
    skipped = (p - 1) * 4 * cells * cells
    plot data binary skip=skipped array=(cells, cells) format="%float32" origin=(first, first) dx=block dy=block with image
    unset label 100
    unset label 101
}
unset multiplot
set output
