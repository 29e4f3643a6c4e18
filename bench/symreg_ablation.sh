#!/usr/bin/env bash
# symreg_ablation.sh - what each stage that proposes formulas (symreg/seed/stages.h) is worth: laws
# found by bin/symreg and by builds without one stage, on the same tables (bench_symreg_laws).
#
#   bench/symreg_ablation.sh [NOISES [OPTION...]]    (default "0 1 3 10" percent; OPTIONs of
#                                                   bench_symreg_laws)
#
# STAGES="units angles": without one of these, instead of any. A search has 10 s of processor time
# and one thread; JOBS (all cores) at a time. What was searched is kept in build/ablation-SUM of
# this bin/symreg, so that the same command goes on after a stop.
# Prints CSV: laws, found by all stages and without this one, lost and gained without it, and p of
# McNemar's exact test. The stage `small` stays, as the others start from its formulas; groups from
# units need --units.
set -eu
noises=${1:-0 1 3 10}
shift $(($# > 0))
# in the order of stages.h
every=(small powers angles structure units composed rates origins signs hinges whole pooled profiles
    links)
read -ra stages <<<"all ${STAGES:-${every[*]:1}}"
make build/bench/bench_symreg_laws build/bench/cpu_clock.so programs >/dev/null
work=build/ablation-$(cksum <bin/symreg | cut -d' ' -f1)
mkdir -p "$work/bin"
for stage in "${stages[@]}"; do
    [ ! -x "$work/bin/$stage" ] || continue
    without=0
    for ((k = 1; k < ${#every[@]}; k++)); do
        [ "$stage" != "${every[k]}" ] || without=$((1 << k))
    done
    [ "$stage" = all ] || [ $without -gt 0 ] || { echo "no stage $stage" >&2; exit 2; }
    [ -d "$work/symreg" ] ||
        cp -a build/{base,stage,symreg,isa,lib*.a,.nova*,.prefix*} "$work"
    rm -f "$work/symreg/seed/proposal.o" "$work/libsymreg.a"
    make B="$work" BIN="$work/made" "$work/made/symreg" \
        EXTRA_CFLAGS="-DSR_STAGES=~${without}u" >/dev/null
    mv "$work/made/symreg" "$work/bin/$stage"
done
export work
options=${1+-$(tr -c '[:alnum:]\n' _ <<<"$*")} # in names of files
search() { # OPTIONS STAGE NOISE OPTION...
    local to=$work/$2-$3$1
    [ -s "$to" ] || { build/bench/bench_symreg_laws --program "$work/bin/$2" --noise "$3" \
        --samples 1 --seconds 10 --cpu-time "${@:4}" >"$to.new" && mv "$to.new" "$to"; }
}
export -f search
for noise in $noises; do
    printf '%s\0' "${stages[@]}" | xargs -0 -P "${JOBS:-$(nproc)}" -I{} \
        bash -c 'search "$@"' _ "$options" {} "$noise" "$@"
done
echo "stage,noise_percent,laws,all,without,lost,gained,p"
for noise in $noises; do
    for stage in "${stages[@]:1}"; do
        awk -v stage="$stage" -v noise="$noise" '$3 ~ /^col/ && /sample/ {
                now = / found /; if (NR == FNR) { was[$1] = now; next }
                n++; all += was[$1]; without += now
                lost += was[$1] && !now; gained += !was[$1] && now }
            END { m = lost + gained; less = lost < gained ? lost : gained; c = 1; p = 0
                for (k = 0; k <= less; k++) { p += c; c *= (m - k) / (k + 1) }
                p = 2 * p / 2 ^ m
                printf "%s,%s,%d,%d,%d,%d,%d,%.3g\n", stage, noise, n, all, without, lost, gained,
                    (p > 1 ? 1 : p) }' \
            "$work/all-$noise$options" "$work/$stage-$noise$options"
    done
done
