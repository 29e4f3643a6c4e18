#!/usr/bin/env bash
# lint.sh BUILD - what a compiler does not check; run by `make lint`, which builds first.
#
#   layout       clang-format, when installed
#   analysis     cppcheck and clang-tidy, when installed
#   symbols      every external symbol of lib<folder>.a starts with the folder's prefix
#   direction    folders and submodules include only what folders.mk allows (lint_includes.sh)
#   headers      what a header declares is implemented beside it (lint_headers.sh)
#   circles      of some folders, no source files need each other in a circle (lint_circles.sh)
#   state        symbolic regression and laws/ hold nothing process-wide (lint_state.sh)
#   clang        clang's warnings in sources and unit tests, when installed (lint_clang.sh)
#   unused       every external symbol is used, and not by tests alone (lint_unused.sh)
#   links        what documents point to is there (lint_links.sh)
#   bits         what makes data sets and fronts calls no function whose bits depend on the CPU
#   tests        no check of a shell test that nothing meets: the output of a command that failed,
#                missing files; tests/cli/compare.sh has what to use
#   labels       no check of a shell test whose name only its predecessor completes ("... goes on")
#   size         at most 800 lines a file, 100 columns a line (lint_size.sh)
set -u
build=$1
failures=0
complain() {
    echo "lint: $*"
    failures=$((failures + 1))
}

table=$(mktemp) || exit 1
trap 'rm -f "$table"' EXIT
export FOLDERS_TABLE=$table
MAKEFLAGS= make -s --no-print-directory print-folders >"$table" || exit 1
declare -A PREFIX=()
folders=() places=() libraries=()
while read -r kind name prefix _; do
    places+=("$name")
    [ "$kind" = folder ] || continue
    PREFIX[$name]=$prefix folders+=("$name") libraries+=("$build/lib$name.a")
done <"$table"

for library in "${libraries[@]}"; do
    folder=$(basename "$library" .a)
    folder=${folder#lib}
    while read -r symbol; do
        [[ $symbol =~ ^(${PREFIX[$folder]}) ]] ||
            complain "$library: symbol $symbol lacks the prefix ${PREFIX[$folder]}"
    done < <(nm -g --defined-only "$library" | awk 'NF == 3 { print $3 }' | sort -u)
done

# What reaches data sets, tables of forces and fronts has the same bytes on every CPU; what these
# functions of the C library and of GSL give has not. base/draw.c stands in.
LIBM='exp exp2 exp10 expm1 log log2 log10 log1p pow sin cos tan sincos sinh cosh tanh asin acos atan
      atan2 asinh acosh atanh cbrt hypot erf erfc tgamma lgamma j0 j1 jn y0 y1 yn'
libm=" gsl_cdf_.* gsl_sf_.* gsl_complex_.* gsl_ran_.* gsl_linalg_.* gsl_multifit_.* gsl_eigen_.* "
for function in $LIBM; do
    libm+="${function}f? __${function}f?_finite "
done
# of GSL's draws, these take their bits from the generator alone
EXACT=" gsl_ran_flat gsl_ran_choose gsl_ran_shuffle gsl_ran_sample "
# members of libraries that may call them, and why
declare -A MAY_CALL=(
    [sim/picture.o]="pictures only" [sim/identifiability.o]="prints" [sim/statistics.o]="prints"
    [finetune/transform.o]="units of models"
    [probe/statistics.o]="maps of models" [base/mean.o]="intervals over seeds"
    [probe/labelled.o]="orbits beside models"
    [probe/extrapolate_parts.o]="exponents of models"
    [probe/adaptation_read.o]="readouts of models"
    [probe/motion.o]="paths of models" [probe/quantities.o]="readouts of models"
    [probe/ridge.o]="readouts of models" [probe/rollout.o]="paths of models"
    [probe/ephemeris.o]="real places beside models" [probe/planets.o]="errors of models"
    [probe/planets_forces.o]="forces by models" [probe/planets_figure.o]="pictures only"
    [probe/steer.o]="changes of models" [probe/oracle.o]="observers beside models"
    [probe/length_errors.o]="errors of models"
    [probe/passkey.o]="intervals over trials")
for library in "${libraries[@]}"; do
    folder=$(basename "$library" .a)
    folder=${folder#lib}
    case $folder in base | formula | stage | sim | symreg | finetune | probe) ;; *) continue ;; esac
    while read -r member symbol; do
        [[ -z ${MAY_CALL[$folder/$member]:-} && $EXACT != *" $symbol "* ]] || continue
        for pattern in $libm; do
            [[ ! $symbol =~ ^$pattern$ ]] ||
                complain "$library: $member calls $symbol, whose bits depend on the CPU"
        done
    done < <(nm -A -u "$library" | awk -F: '{ split($3, word, " "); print $2, word[2] }')
done

# scripts that print one complaint a line
each() {
    while IFS= read -r found; do
        complain "$found"
    done < <("$@" || [ $? -eq 1 ] || echo "$1 ended with an error")
}
each tools/lint_includes.sh
each tools/lint_headers.sh "$build"
each tools/lint_circles.sh "$build" base formula sim kernels finetune probe figures tracks laws \
    symreg/select symreg/seed symreg/evolve symreg/layout symreg/solve symreg/table \
    symreg/dynamics symreg/orbit
each tools/lint_state.sh "$build" formula symreg laws
each tools/lint_clang.sh
each tools/lint_unused.sh "$build"
each tools/lint_links.sh README.md HACKING.md CONTRIBUTING.md SECURITY.md docs/*.md \
    docs/probes/*.md study/*.md study/docs/*.md bench/results/README.md
each tools/lint_size.sh "${folders[@]}" tests bench tools python docs
each tools/lint_tracked.sh

for file in tests/*/test_*.sh study/tests/test_*.sh; do
    while IFS= read -r found; do
        complain "$file:$found"
        echo "    use tests/cli/compare.sh: nothing is equal to nothing, and the status is lost"
    done < <(grep -nE '<\(|(test|\[) -z "?\$\(|^ *check(_not)? .*[^a-z_](cmp|diff) ' "$file")
done

while IFS= read -r found; do
    complain "$found: a name by itself, as its line stands alone where it fails"
done < <(grep -nE '^ *([A-Z]+=[^ ]+ )?[a-z_]+ "\.\.\. ' tests/*/test_*.sh study/tests/test_*.sh)

# no test runs a benchmark
for file in bench/*.c; do
    "${CC:-cc}" -std=c17 -D_POSIX_C_SOURCE=200809L -fopenmp -I. -fsyntax-only \
        -Werror=implicit-function-declaration "$file" 2>/dev/null ||
        complain "$file does not compile"
done

if command -v clang-format >/dev/null; then
    mapfile -t code < <(find "${folders[@]}" tests bench tools python docs -name '*.[ch]' | sort)
    for file in "${code[@]}"; do
        clang-format --dry-run -Werror "$file" 2>/dev/null || complain "$file: run make format"
    done
else
    echo "lint: clang-format is not installed: layout not checked"
fi
if command -v cppcheck >/dev/null; then
    cppcheck --quiet --std=c17 --language=c --enable=warning,performance,portability \
        '-DcJSON_ArrayForEach(item,array)=while(((item)=cJSON_GetArrayItem(array,0)))' \
        --inline-suppr --error-exitcode=1 -I. \
        "${folders[@]}" || complain "cppcheck: see above"
else
    echo "lint: cppcheck is not installed: static analysis not done"
fi
if command -v clang-tidy >/dev/null; then
    # (the MPI plugin needs headers that may not be there)
    mapfile -t code < <(find "${places[@]}" -maxdepth 1 -name '*.c' \
                             ! -path 'model/ranks/mpi.c' | sort)
    clang-tidy --quiet "${code[@]}" -- -std=c17 -D_POSIX_C_SOURCE=200809L -fopenmp -I. \
        2>/dev/null || complain "clang-tidy: see above"
else
    echo "lint: clang-tidy is not installed: static analysis not done"
fi

if [ $failures -eq 0 ]; then
    echo "lint: clean"
else
    echo "lint: $failures complaints"
    exit 1
fi
