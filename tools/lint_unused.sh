#!/usr/bin/env bash
# lint_unused.sh BUILD - every external symbol of the libraries is used by another object file of
# theirs, by a program, a benchmark or the CUDA plugin, or stands in api/orrery.h. What only its
# own file uses should be static; what only tests use stands with its reason in
# tools/only_tests.txt, and nothing else does.
# Prints one line per complaint; exit status 1 when there is one.
#
# FOLDERS_TABLE=file: the table as `make -s print-folders` prints it (default: asks make).
# ONLY_TESTS=file: instead of tools/only_tests.txt.
set -u
build=$1
only_tests=${ONLY_TESTS:-tools/only_tests.txt}
failures=0
complain() {
    echo "$*"
    failures=$((failures + 1))
}
mapfile -t folders < <(if [ -n "${FOLDERS_TABLE:-}" ]; then cat "$FOLDERS_TABLE"; else
    MAKEFLAGS= make -s --no-print-directory print-folders; fi | awk '/^folder/ { print $2 }')
libraries=("${folders[@]/#/$build/lib}")
libraries=("${libraries[@]/%/.a}")
mapfile -t programs < <(find "${folders[@]/#/$build/}" -name 'main_*.o')

# a reference that no object file resolves within itself is a use by another
nm -u "${libraries[@]}" "${programs[@]}" | awk 'NF == 2 { print $2 }' | sort -u >"$build/.used"
# these are compiled in one go with what they are linked to, or by nvcc: their words tell
words() {
    [ $# -eq 0 ] || grep -ohE '\b[a-z][a-z0-9]*_[a-zA-Z0-9_]+\b' "$@" | sort -u
}
shopt -s nullglob
words api/orrery.[h] api/orrery/*.h bench/*.[ch] kernels/cuda/*.cu kernels/cuda/*.h \
    kernels/cuda/*.cuh >>"$build/.used"
sort -u -o "$build/.used" "$build/.used"
words tests/*.[ch] tests/*/*.[ch] tests/*/*.cc study/tests/*.[ch] >"$build/.tested"

nm -A -g --defined-only "${libraries[@]}" 2>/dev/null |
    awk 'NF == 3 && $3 !~ /^[.]gomp_/ { split($1, at, ":"); print $3, at[2] }' |
    sort -u >"$build/.defined" # .gomp_critical_...: the compiler's, of `omp critical(name)`
[ -s "$build/.defined" ] || complain "no external symbol in ${libraries[*]}"
listed=$(sed 's/#.*//' "$only_tests" | awk 'NF { print $1 }')
while read -r symbol member; do
    tested=$(grep -cFx "$symbol" "$build/.tested")
    if [ "$tested" -eq 0 ]; then
        complain "$member: no other file uses $symbol: make it static, or remove it"
    elif ! grep -qFx "$symbol" <<<"$listed"; then
        complain "$member: only tests use $symbol: remove it, or give a reason in $only_tests"
    fi
done < <(join -v 1 "$build/.defined" "$build/.used")
for symbol in $listed; do
    grep -q "^$symbol " "$build/.defined" || complain "$only_tests: there is no symbol $symbol"
    ! grep -qFx "$symbol" "$build/.used" || complain "$only_tests: $symbol is used by programs"
    grep -q "^$symbol  *[^ #]" "$only_tests" || complain "$only_tests: $symbol has no reason"
done
[ "$failures" -eq 0 ]
