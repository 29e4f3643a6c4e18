#!/usr/bin/env bash
# test_symreg_run.sh - symreg without a file becomes the program laws beside it: with its output,
# its files and its exit status, wherever symreg is called from. What belongs to a table is refused.
. tests/cli/lib.sh
fast_pictures

SAMPLES=1 run=$WORK/run
SMALL=("${TINY[@]}" --set planets.enabled=false --set symreg.enumerate=500 --set attention=lssar
       --set orbits.train=20 --set orbits.train_files=20 --set orbits.val=4 --set orbits.test=4
       --set orbits.two_body_train=20 --set orbits.two_body_val=4 --set orbits.two_body_test=8
       --set finetune.samples=1 --set finetune.sample_size=10 --set pretrain.eval_sequences=4
       --run "$run")
for name in orbits pretrain finetune; do
    check "$name" program $name "${SMALL[@]}"
done

# ---- one stage by two names
check "laws by symreg" program symreg "${SMALL[@]}" --out "$WORK/a"
check "laws by laws" program laws "${SMALL[@]}" --out "$WORK/b"
check "laws by laws: the same files" same_files "$WORK/a" "$WORK/b"
check "laws of the run by symreg" program symreg "${SMALL[@]}"
check "laws of the run by symreg: laws keeps them" \
    prints '^keep .*laws.json' program laws "${SMALL[@]}" --plan
snapshot "$run" >"$WORK/kept"
check "laws of the run by symreg: so does the stage" "$BIN/orrery" stage symreg RUN="$run" THREADS=1
check "laws of the run by symreg: and writes nothing" \
    equal "$(cat "$WORK/kept")" "$(snapshot "$run")"
noted() { # PROGRAM: how its note begins
    program "$1" --run "$run" --resume 2>&1 >"$WORK/out" | grep -o '^[a-z]*: .*is up to date$'
}
check "a note of symreg begins with symreg" equal "symreg: $run/laws is up to date" \
    "$(noted symreg)"
check "a note of laws begins with laws" equal "laws: $run/laws is up to date" "$(noted laws)"
check "laws has its own version" prints '^orrery laws [0-9]' program laws --version
PROGRAMS+=" laws"
refuse "laws takes no file" 2 'unexpected argument' 'usage: laws' -- "$BIN/laws" table.csv
check "laws takes no file: symreg's --help is its own" \
    prints '^usage: symreg' program symreg --run "$run" --help

# ---- with nothing behind it, where there is no run
refuse "symreg alone does not tell how a table is given" 1 'runs/quick: no such run directory' \
    'symreg FILE.csv --target COLUMN' -- env -C "$WORK" "$(realpath "$BIN")/symreg"

# ---- what is refused is refused by symreg, before any search; settings come first
refusals "$BIN/symreg" --run "$run" --resume <<'END'
an option of tables | 2 'belongs to a table (FILE.csv), not to the laws of a run' | --target y
an option of tables without a value | 2 '--target: belongs to a table' | --target=
an option of motion | 2 '--time: belongs to symreg motion TRACKS.csv' | --time t
an option of predict | 2 '--index: belongs to symreg predict FRONT.json FILE.csv' | --index 1
an unknown preset beside it | 2 'no preset "nosuch"' | --target y --preset nosuch
a setting out of range | 2 'symreg.maxsize: expected a whole number' | --set symreg.maxsize=0
an option that takes one word | 2 'symreg.algorithm: expected one of' | --compat nosuch
orbits of a table | 2 'belongs to the laws of a run, not to a table' '--orbits' | t.csv --orbits x
END

# ---- wherever symreg is called from, the laws are those of the program beside it
plan() { # COMMAND...: the laws are planned to be kept
    "$@" --run "$run" --resume --plan >"$WORK/out" 2>"$WORK/err" && grep -q '^keep ' "$WORK/out" ||
        { cat "$WORK/err" && return 1; }
}
here=$(realpath "$BIN")
mkdir "$WORK/links" "$WORK/alone"
ln -s "$here/symreg" "$WORK/links/symreg"
ln -s "$here/orrery" "$WORK/links/orrery"
printf '#!/bin/sh\necho "another program"\n' | tee "$WORK/links/laws" >"$WORK/links/report"
chmod +x "$WORK/links/laws" "$WORK/links/report"
check "by PATH" plan env PATH="$here:$PATH" symreg
check "by a symbolic link, beside which is another laws" plan "$WORK/links/symreg"
check "by a symbolic link of orrery" plan "$WORK/links/orrery" symreg
check "by orrery" plan "$BIN/orrery" laws
cp "$here/symreg" "$WORK/alone/"
KEEP=$run refuse "without laws beside it" 1 "$WORK/alone/laws: cannot be run: No such file" -- \
    "$WORK/alone/symreg" --run "$run" --resume

for more in "" "--target y"; do
    # shellcheck disable=SC2086 # two words
    KEEP=$run refuse "an empty argument, as of a variable that is not set, $more" 2 \
        'symreg: error: the first argument is empty' -- "$BIN/symreg" "" $more
done
finish
