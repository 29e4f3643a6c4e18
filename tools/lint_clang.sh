#!/usr/bin/env bash
# lint_clang.sh [FILE.c...] - prints what clang refuses in the sources of the product and of its
# unit tests under the Makefile's warnings: check-asan-unit, CI's first step, compiles them with
# clang, whose warnings are more than gcc's. Without clang, or without its OpenMP header, it checks
# nothing and says so on standard error.
set -u
clang=$(command -v clang-14 || command -v clang) || clang=
flags=(-std=c17 -D_POSIX_C_SOURCE=200809L -DXXH_INLINE_ALL -O1 -fopenmp -fsyntax-only
       -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
       -Wvla -Werror -Wno-pass-failed -I. -Itests)
if [ -z "$clang" ] || ! echo '#include <omp.h>' | "$clang" "${flags[@]}" -x c - 2>/dev/null; then
    echo "lint: clang with OpenMP is not installed: its warnings not checked" >&2
    exit 0
fi
sources=("$@")
[ $# -gt 0 ] || mapfile -t sources < <(MAKEFLAGS= make -s --no-print-directory print-folders |
    awk '{ print $2 }' | xargs -I{} find {} tests/{} {}/tests -maxdepth 1 -name '*.c' \
         ! -path model/ranks/mpi.c 2>/dev/null | sort -u)
for source in "${sources[@]}"; do # a test reads headers of its folder as that does
    folder=${source#tests/}
    "$clang" "${flags[@]}" "-I${folder%%/*}" -Iapi "$source" 2>&1 | grep -E 'error:'
done
exit 0
