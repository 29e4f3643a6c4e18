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
data_of() {
    (cd "$1/orbits" && cksum ./*.npy)
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

# ---- the backends with the smaller sets; the best one is what the other tests use
for isa in "${here[@]:0:2}"; do
    for name in ops linear loss attention fused; do
        test -x "$TESTS/tests/kernels/test_$name" || continue
        ORRERY_ISA=$isa check "$isa: test_$name" "$TESTS/tests/kernels/test_$name"
    done
done
finish
