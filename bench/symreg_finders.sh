#!/usr/bin/env bash
# symreg_finders.sh - which stages that propose formulas (symreg/seed/stages.c) find a law, and
# which is the first: bench_symreg_laws with a build of bin/symreg that prints this of every seed.
#
#   bench/symreg_finders.sh [NOISES [OPTION...]]    (default "0 1 10" percent; OPTIONs of
#                                                   bench_symreg_laws)
#
# A search has 5 s of processor time, one thread and one epoch of islands after the seeds; JOBS (all
# cores) at a time. What was searched is kept in build/finders-SUM of this bin/symreg, so that the
# same command goes on after a stop.
# Prints CSV: a row for each noise and path of stages ("structure>small": small formulas of a table
# that `structure` derived), and one for all paths with a stage ("with small"): the laws that it
# found first, those that it found at all, and those that nothing else found. A seed that explains
# the table ends no stage of this build, so that later stages show what they find. `islands`: laws
# on the front that are no seed; `none`: the other laws. With --keep DIR a stopped run goes on
# within a noise.
set -eu
noises=${1:-0 1 10}
shift $(($# > 0))
make build/bench/bench_symreg_laws build/bench/cpu_clock.so programs >/dev/null
work=build/finders-$(cksum <bin/symreg | cut -d' ' -f1)
mkdir -p "$work"
if [ ! -x "$work/bin/symreg" ]; then
    cp -a build/{base,stage,symreg,isa,lib*.a,.nova*,.prefix*} "$work"
    find "$work/symreg" -name '*.o' -delete
    rm -f "$work/libsymreg.a"
    make B="$work" BIN="$work/bin" "$work/bin/symreg" EXTRA_CFLAGS=-DSR_LOG_SEEDS >/dev/null
    ln -sfn ../../presets "$work/presets" # beside bin/, where the program looks
fi
export work
search() { # NOISE OPTION...
    local to=$work/$1${2+-$(tr -c '[:alnum:]\n' _ <<<"${*:2}")}
    [ -s "$to" ] || { build/bench/bench_symreg_laws --program "$work/bin/symreg" --noise "$1" \
        --samples 1 --seconds 5 --cpu-time --options "--iterations 1" "${@:2}" >"$to.new" &&
        mv "$to.new" "$to"; }
    local stage='^(small|profiles|links|origins|pooled|hinges|powers|signs|rates|angles|units|'
    stage+='structure|composed|whole)[,>]*'
    awk -v noise="$1" -v stage="${stage}[a-z,>]*$" '
        function add(k, name) { # of law number `laws`, by its path k of n
            if (k == 1) first[name]++
            if (last[name] != laws) { found[name]++; times[name] = 0 }
            last[name] = laws
            if (++times[name] == n) only[name]++ }
        / sample / {
            laws++
            n = $10 ~ stage ? split($10, path, ",") : 0
            if (!n) first[$7 == "missed" ? "none" : "islands"]++
            for (k = 1; k <= n; k++) {
                add(k, path[k])
                split("", seen)
                parts = split(path[k], part, ">")
                for (j = 1; j <= parts; j++)
                    if (!seen[part[j]]++) add(k, "with " part[j]) } }
        END { for (c in found) first[c] += 0
            for (c in first)
                printf "%s,%s,%d,%d,%d,%d\n", noise, c, laws, first[c], found[c], only[c] }' "$to" |
        sort -t, -k4,4nr -k5,5nr -k2
}
export -f search
echo "noise_percent,stages,laws,first,found,only"
for noise in $noises; do printf '%s\0' "$noise"; done |
    xargs -0 -P "${JOBS:-$(nproc)}" -I{} bash -c 'search "$@"' _ {} "$@"
