# symreg_residuals.gp - a formula against its data: predictions and residuals.
#
#   gnuplot -c symreg_residuals.gp DATA OUTPUT png
#
# DATA is a gnuplot script: title_text, target, sigmas, intervals, and $points with rows target, prediction,
# residual, sigma, and the ends of the target's interval, which are drawn as a bar where intervals = 1. Positive values that span more than 2.5 decades have logarithmic axes: each of several
# bodies is seen, not only the one with the largest values. Residuals are in sigmas where these are known
# (sigmas = 1), on an axis of asinh(sigmas) where some exceed 6, whose band is +- 2 sigmas; else relative to
# the prediction on logarithmic axes.

load ARG1
set terminal pngcairo size 1000, 500 font "DejaVu Sans,11" background "#ffffff" linewidth 1.3
set output ARG2
set encoding utf8
set border 3 lc rgb "#666666"
set tics nomirror scale 0.6 tc rgb "#444444"
set grid lc rgb "#e6e6e6" lt 1 lw 0.6
unset key
stats $points using 1 name "y" nooutput
stats $points using 2 name "p" nooutput
low = y_min < p_min ? y_min : p_min
high = y_max > p_max ? y_max : p_max
wide = y_min > 0 && p_min > 0 && high > 316 * low
pad = high > low ? 0.04 * (high - low) : (high == 0 ? 1.0 : 0.1 * abs(high))
rest(d, p, s) = sigmas ? d / s : wide ? d / p : d
stats $points using (rest($3, $2, $4)) name "r" nooutput
size_d = abs(r_min) > abs(r_max) ? abs(r_min) : abs(r_max)
bent = sigmas && size_d > 6
up(r) = bent ? asinh(r) : r
size_d = size_d > 0 ? 1.15 * size_d : 1.0
if (sigmas && size_d < 2.5) { size_d = 2.5 }
dot = y_records > 500 ? 0.35 : 0.7
set tics font ",9"
set format "%.4g"
# about four ticks on an axis, at 1, 2 or 5 times a power of ten
step(range) = range / 3.5 / 10.0 ** floor(log10(range / 3.5)) < 1.5 ? 10.0 ** floor(log10(range / 3.5)) : range / 3.5 / 10.0 ** floor(log10(range / 3.5)) < 3.5 ? 2 * 10.0 ** floor(log10(range / 3.5)) : range / 3.5 / 10.0 ** floor(log10(range / 3.5)) < 7.5 ? 5 * 10.0 ** floor(log10(range / 3.5)) : 10 * 10.0 ** floor(log10(range / 3.5))

set multiplot
set label 1 title_text at screen 0.05, screen 0.945 left font ",10" noenhanced
set tmargin at screen 0.87
set bmargin at screen 0.15
set xlabel "prediction"
if (wide) {
    set logscale x
    set xrange [low / 1.5 : high * 1.5]
    set format x "10^{%T}"
    set xtics 100
} else {
    set xrange [low - pad : high + pad]
    set xtics step(high - low + 2 * pad)
}

set lmargin at screen 0.10
set rmargin at screen 0.47
set ylabel target offset 0.5, 0 noenhanced
if (wide) {
    set logscale y
    set yrange [low / 1.5 : high * 1.5]
    set format y "10^{%T}"
    set ytics 100
} else {
    set yrange [low - pad : high + pad]
    set ytics step(high - low + 2 * pad)
}
plot x with lines lc rgb "#b0b0b0" lw 1.2, \
     $points using 2:1:5:(intervals ? $6 : NaN) with yerrorbars pt 0 lc rgb "#b0c4d8", \
     $points using 2:1 with points pt 7 ps dot lc rgb "#1f77b4"

unset label 1
set lmargin at screen 0.62
set rmargin at screen 0.97
set ylabel sigmas ? "(".target." - prediction) / sigma" : wide ? "(".target." - prediction) / prediction" : target." - prediction" offset 0.5, 0 noenhanced
unset logscale y
set format y "%.4g"
set yrange [up(-size_d) : up(size_d)]
if (bent) {
    # 1, 3, 10, 30 ... sigmas on both sides; beyond 3,000 powers of ten alone, and not all of them
    every = size_d < 5000 ? 1 : size_d < 5e6 ? 2 : 6
    set ytics ("0" 0)
    do for [k = 0 : int(2 * log10(size_d)) : every] {
        tick = 10 ** int(k / 2) * (k % 2 ? 3 : 1)
        set ytics add (sprintf("%g", tick) asinh(tick), sprintf("-%g", tick) asinh(-tick))
    }
} else {
    set ytics sigmas ? 2 : step(2 * size_d)
}
if (sigmas) { set object 1 rectangle from graph 0, first up(-2) to graph 1, first up(2) fillcolor rgb "#f3efe6" fillstyle solid noborder behind }
plot 0 with lines lc rgb "#b0b0b0" lw 1.2, \
     $points using 2:(up(rest($3, $2, $4))) with points pt 7 ps dot lc rgb "#d95f02"
unset multiplot
set output
