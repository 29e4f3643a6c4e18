#!/usr/bin/env bash
# tsan_library.sh - the thread sanitizer on liborrery: the example with threads, then several
# searches, a simulation, attentions and readers of results at once (tests/api/caller.c). Builds in
# build-tsan-library: make check-tsan-library.
set -eu -o pipefail
compiler=${TSAN_CC:-clang-14} B=build-tsan-library
flags='-O1 -g -fno-omit-frame-pointer -fsanitize=thread'
archer=$(dirname "$(dirname "$(realpath "$(command -v "$compiler")")")")/lib/libarcher.so
[ -r "$archer" ] || {
    echo "tsan_library: error: expected $archer (Debian: libomp-14-dev), found none" >&2
    exit 1
}
make CUDA=0 MPI=0 HARDEN=0 CC="$compiler" CFLAGS="$flags" B=$B BIN=$B/bin $B/liborrery.so.2
build() { # COMPILER FILE NAME
    # shellcheck disable=SC2086 # words
    $1 $flags -fopenmp "$2" -Iapi $B/liborrery.so.2 -o "$B/$3" -lgsl -lgslcblas -lm -pthread \
        -Wl,-rpath,"$PWD/$B"
}
build "${compiler/clang/clang++} -std=c++17" docs/examples/threads.cpp threads
build "$compiler -std=c11" tests/api/caller.c caller
export OMP_TOOL_LIBRARIES=$archer
export TSAN_OPTIONS='ignore_noninstrumented_modules=1:exitcode=66'
$B/threads
$B/caller threads tests/api/cell.json
echo "no data race"
