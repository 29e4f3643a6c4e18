#!/usr/bin/env bash
# test_cpus.sh - data sets, tables of true forces and fronts have the same bytes where exp, log,
# pow, ... of the C library give other bits, as they do on other CPUs: with its variants for a CPU
# without AVX2 and fused multiply-adds, and with all of them a little wrong
# (tests/kill/other_libm.c).
#
# The variants alone differ in few last bits, which float coordinates seldom show: hashes of every
# bit are in tests/base/test_draw.c and tests/sim, which make check runs with them. make lint looks
# for the calls.
. tests/cli/lib.sh
fast_pictures

check "another libm was built" test -e "$OTHER_LIBM"
# (the name of the setting before glibc 2.33, and since)
OTHER=("GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA"
       "LD_PRELOAD=$OTHER_LIBM")
other_program() { # as program
    local name=$1
    shift
    timeout "$LIMIT" env "${OTHER[@]}" "$BIN/$name" "$@" </dev/null
}

# awk calls exp() of the C library
exponentials() { # ENVIRONMENT...
    env "$@" awk 'BEGIN { for (i = 1; i < 5000; i++) printf "%.17g\n", exp(i * 0.00137) }' | cksum
}
if [ "$(exponentials)" = "$(exponentials "${OTHER[0]}")" ]; then
    skip "variants for another CPU" "GLIBC_TUNABLES does not change exp()"
fi
# a library for sanitizers must be the first, and takes these functions itself
if ldd "$BIN/orbits" | grep -q libasan ||
    [ "$(exponentials)" = "$(exponentials "${OTHER[1]}")" ]; then
    skip "other functions" "LD_PRELOAD does not change exp()"
    unset 'OTHER[1]'
fi

# ---- data sets of all protocols and laws
SMALL=(--quiet --threads 1 --set orbits.train=100 --set orbits.train_files=100 --set orbits.val=20
       --set orbits.test=20 --set orbits.two_body_train=100 --set orbits.two_body_val=20
       --set orbits.two_body_test=20)
both() { # NAME OPTION...
    local name=$1
    shift
    check "$name" program orbits "${SMALL[@]}" "$@" --out "$WORK/$name"
    check "$name, other functions" other_program orbits "${SMALL[@]}" "$@" --out "$WORK/$name.other"
    check "$name: the same files" same_files "$WORK/$name" "$WORK/$name.other"
}
for preset in smoke smoke_tokens vafa2025; do
    both $preset --preset $preset
done
both small_e --preset smoke --set orbits.e_max=1e-5
both uniform_masses --preset smoke --set orbits.mass_prior=uniform
for law in power:exponent=-1.5 yukawa mond:a0=5 plummer post_newtonian hooke \
           lambda:constant=0.00001; do
    own=()
    [ "$law" = "${law%:*}" ] || own=(--set "orbits.law_${law#*:}")
    both ${law%:*} --preset smoke --set orbits.law=${law%:*} "${own[@]}"
done

EXPRESSION='r < 2 ? 30*m1*m2*exp(-r/20)/r^2.1 : G*m1*m2/(r*r) * (1 + asinh(r)/50 + sin(r)/100)'
both expression --preset smoke --set orbits.law=expression --set "orbits.expression=$EXPRESSION"
arrays() { # FOLDER: the sum of all arrays
    filled "$1"/*.npy >/dev/null && cat "$1"/*.npy | sha256sum | cut -c1-16
}
check "arrays of an expression have bytes that no CPU changes" \
    equal "$(arrays "$WORK/expression")" 21a79c8ec1ecdb23

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
    check "front of $name, other functions" fit other_program "$WORK/fit-$name.other" "$@"
    check "front of $name: the same files" same_files "$WORK/fit-$name" "$WORK/fit-$name.other" \
        front.csv front_full.csv front.json
}
fronts kepler kepler
fronts noisy noisy --weights relative
fronts tidal tidal
fronts compat kepler --compat pysr
fronts planck planck --unary exp,log,sin,tanh,cube --log-target

# ---- tables of true forces and of neighbours, and laws: a run whose models stay as they are
other_run() {
    cp -r "$WORK/run" "$WORK/other" && rm -r "$WORK"/other/{truth,oracle,laws} || return 1
    other_program finetune "${TINY[@]}" --run "$WORK/other" --resume &&
        other_program symreg "${TINY[@]}" --run "$WORK/other"
}
for name in orbits pretrain finetune symreg; do
    check "$name of a run" program $name "${TINY[@]}" --run "$WORK/run"
done
check "tables and laws, other functions" other_run
for source in truth oracle; do
    check "$source: the same tables" same_files "$WORK/run/$source" "$WORK/other/$source"
done
check "the same laws" same_files "$WORK/run/laws" "$WORK/other/laws"

finish
