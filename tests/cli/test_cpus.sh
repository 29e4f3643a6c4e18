#!/usr/bin/env bash
# test_cpus.sh - data sets, tables of true forces and fronts have the same bytes where the C library
# takes its variants of exp, log, pow, ... for a CPU without AVX2 and fused multiply-adds.
#
# Those variants differ in few last bits, which float coordinates seldom show: hashes of every bit are
# in tests/base/test_draw.c and tests/sim, which make check runs under the same setting, and make
# lint looks for the calls. Here, whole programs are compared.
. tests/cli/lib.sh

# names before glibc 2.33, and since
OLD_CPU=GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA
old_program() { # as program
    local name=$1
    shift
    timeout 60 env "$OLD_CPU" "$BIN/$name" "$@" </dev/null
}

# awk calls exp() of the C library: is there another variant of it?
exponentials() {
    "$@" awk 'BEGIN { for (i = 1; i < 5000; i++) printf "%.17g\n", exp(i * 0.00137) }' | cksum
}
if [ "$(exponentials env)" = "$(exponentials env "$OLD_CPU")" ]; then
    skip "other variants of the C library's functions" "GLIBC_TUNABLES does not change exp()"
    finish
fi

# ---- data sets of all protocols and laws
SMALL=(--quiet --threads 1 --set orbits.train=300 --set orbits.train_files=300 --set orbits.val=20
       --set orbits.test=20 --set orbits.two_body_train=100 --set orbits.two_body_val=20
       --set orbits.two_body_test=20)
both() { # NAME OPTION...
    local name=$1
    shift
    check "$name" program orbits "${SMALL[@]}" "$@" --out "$WORK/$name"
    check "$name, other variants" old_program orbits "${SMALL[@]}" "$@" --out "$WORK/$name.old"
    check "$name: the same files" same_files "$WORK/$name" "$WORK/$name.old"
}
for preset in smoke smoke_tokens vafa2025; do
    both $preset --preset $preset
done
both small_e --preset smoke --set orbits.e_max=1e-5
both uniform_masses --preset smoke --set orbits.mass_prior=uniform
for law in power yukawa mond plummer post_newtonian hooke lambda; do
    both $law --preset smoke --set orbits.law=$law --set orbits.law_exponent=-1.5 \
        --set orbits.law_a0=5 --set orbits.law_constant=0.00001
done

# ---- fronts of tables
fit() { # RUNNER FOLDER TABLE OPTION...
    local runner=$1 out=$2 table=$3
    shift 3
    "$runner" symreg "tests/baseline/$table.csv" --target out --preset quick --iterations 6 \
        --set symreg.restarts=1 --threads 2 --quiet --out "$out" "$@"
}
fronts() { # NAME TABLE OPTION...
    local name=$1
    shift
    check "front of $name" fit program "$WORK/fit-$name" "$@"
    check "front of $name, other variants" fit old_program "$WORK/fit-$name.old" "$@"
    check "front of $name: the same files" same_files "$WORK/fit-$name" "$WORK/fit-$name.old" \
        front.csv front_full.csv front.json
}
fronts kepler kepler
fronts noisy noisy --weights relative
fronts tidal tidal
fronts compat kepler --compat pysr
fronts planck planck --unary exp,log,sin,tanh,cube --log-target

# ---- tables of true forces and of neighbours, and laws: a run whose models stay as they are
old_run() {
    cp -r "$WORK/run" "$WORK/old" && rm -r "$WORK"/old/{truth,oracle,laws} || return 1
    old_program finetune "${TINY[@]}" --run "$WORK/old" --resume &&
        old_program symreg "${TINY[@]}" --run "$WORK/old"
}
for name in orbits pretrain finetune symreg; do
    check "$name of a run" program $name "${TINY[@]}" --run "$WORK/run"
done
check "tables and laws, other variants" old_run
for source in truth oracle; do
    check "$source: the same tables" same_files "$WORK/run/$source" "$WORK/old/$source"
done
check "the same laws" same_files "$WORK/run/laws" "$WORK/old/laws"

finish
