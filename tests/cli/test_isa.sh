#!/usr/bin/env bash
# test_isa.sh - the same programs with every instruction set that this CPU has: data sets, fronts of
# tables and of a run's truth are the same bytes, models agree within rounding, the backends pass
# their tests; ORRERY_ISA that names none is refused.
. tests/cli/lib.sh
fast_pictures

TESTS=${BIN%/*}
[ "$TESTS" != "$BIN" ] && [ -d "$TESTS/tests" ] || TESTS=build # beside the programs, or the default
SETS=(plain avx2 avx512 avx512_bf16)
here=()
for isa in "${SETS[@]}"; do
    if ORRERY_ISA=$isa program orbits --preset smoke --plan --out "$WORK/none" >/dev/null \
        2>"$WORK/err"; then
        here+=("$isa")
    else
        check "$isa is refused because the CPU lacks it" grep -q \
            "^orbits: error: ORRERY_ISA: this CPU does not have $isa" "$WORK/err"
    fi
done
check "the plain set is everywhere" equal "${here[0]}" plain
ORRERY_ISA=avx3 KEEP=$WORK/none refuse "a set that nobody knows" 2 \
    'ORRERY_ISA: expected plain, avx2, avx512 or avx512_bf16, found "avx3"' \
    -- program orbits --preset smoke --out "$WORK/none"

# ---- a run with each set, in fp32: bf16 products are another precision
# ... and five steps, after which re-weighting magnifies rounding by a thousand in five more
RUN=(--preset smoke --threads 2 --quiet --set model.precision=fp32 --set pretrain.steps=5
     --set pretrain_planets.steps=5 --set finetune.magnitude.steps=2 --set finetune.vector.steps=2
     --set finetune.samples=1 --set symreg.restarts=1 --set symreg.iterations=3
     --set symreg.enumerate=2000)
for isa in "${here[@]}"; do
    for program in orbits pretrain finetune symreg; do
        ORRERY_ISA=$isa check "$isa: $program" program $program "${RUN[@]}" --run "$WORK/$isa"
    done
    for table in kepler noisy tidal; do
        ORRERY_ISA=$isa check "$isa: the table $table" program symreg tests/baseline/$table.csv \
            --target out --preset smoke --iterations 3 --threads 2 --quiet --out \
            "$WORK/$isa/$table"
    done
done

# what is promised equal, of a run
files_of() {
    (cd "$1" && cksum ./*.npy)
}
data_of() {
    files_of "$1/orbits"
}
truth_of() {
    (cd "$1/laws" && cksum front_truth_*.csv)
}
# losses FILE: of an evaluation
losses() {
    grep -oE '"(loss|teacher_forced)":[^,}]*' "$1" | sed 's/.*://'
}
# near A B: losses that differ by less than 1e-6 of themselves, and there are some
near() {
    losses "$1" >"$WORK/a" && losses "$2" >"$WORK/b" && filled "$WORK/a" "$WORK/b" || return 1
    paste "$WORK/a" "$WORK/b" | awk 'NF != 2 || ($1 - $2)^2 > 1e-12 * $1^2 { print; bad = 1 }
        END { exit bad }'
}
for isa in "${here[@]:1}"; do
    check "$isa: the data sets of plain" same_by data_of "$WORK/plain" "$WORK/$isa"
    check "$isa: the fronts of the truth" same_by truth_of "$WORK/plain" "$WORK/$isa"
    for table in kepler noisy tidal; do
        check "$isa: the fronts of $table" same_files "$WORK/plain/$table" "$WORK/$isa/$table" \
            front.csv front_full.csv
    done
    for model in softmax lssar; do
        check "$isa: $model within rounding" near "$WORK/plain/$model/pretrain/evaluation.json" \
            "$WORK/$isa/$model/pretrain/evaluation.json"
    done
done

# ---- data of an expression on a CPU without AVX and FMA
# (OMP_WAIT_POLICY: a program that sets it executes itself anew, which qemu leaves to the real CPU)
EXPRESSION=(--preset smoke --threads 1 --quiet --set orbits.law=expression
    --set 'orbits.expression=m1*m2*exp(-r/3)/r^2.2*(1+0.1*sin(2*r))*(r<40?1:0.5)'
    --set orbits.train_files=0 --set planets.enabled=false --set orbits.two_body_train=20
    --set orbits.two_body_test=10 --set orbits.two_body_val=10 --set orbits.test=10
    --set orbits.val=10)
if command -v qemu-x86_64 >/dev/null; then
    check "this CPU makes no data of an expression" \
        program orbits "${EXPRESSION[@]}" --out "$WORK/host"
    ORRERY_TRACE=1 OMP_WAIT_POLICY=passive qemu-x86_64 -cpu Nehalem "$BIN/orbits" \
        "${EXPRESSION[@]}" --out "$WORK/nehalem" 2>"$WORK/err"
    check "a Nehalem makes no data of an expression" equal 0 $?
    check "a Nehalem computes by other instructions than the plain ones" equal plain \
        "$(sed -n 's/.* instruction set //p' "$WORK/err" | sort -u)"
    check "a Nehalem makes data of other bytes" \
        same_by files_of "$WORK/host" "$WORK/nehalem"
else
    skip "data of an expression on a Nehalem" "there is no qemu-x86_64"
fi

# ---- the backends with the smaller sets; the best one is what the other tests use
for isa in "${here[@]:0:2}"; do
    for name in ops linear loss attention fused; do
        test -x "$TESTS/tests/kernels/test_$name" || continue
        ORRERY_ISA=$isa check "$isa: test_$name" "$TESTS/tests/kernels/test_$name"
    done
done
finish
