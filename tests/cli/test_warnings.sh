#!/usr/bin/env bash
# test_warnings.sh - warnings are errors in tests, lint and CI, not where Orrery is only built: a
# newer compiler or CUDA toolkit that warns of more must not keep a user from it.
. tests/cli/lib.sh
unset MAKEFLAGS MAKELEVEL WERROR CI

# commands GOAL... [VARIABLE=VALUE]: what make would run, with compilers of all kinds
commands() {
    make -Bn V=1 CUDA=1 NVCC=true B="$WORK/build" BIN="$WORK/bin" "$@" 2>/dev/null |
        grep -E '^(cc|gcc|clang|true) .* -c '
}
# counted NAME GOAL...: commands of the C compiler and of nvcc, and those with warnings as errors
counted() {
    local name=$1
    shift
    commands "$@" >"$WORK/commands"
    c=$(grep -c '^[gc].*\.c ' "$WORK/commands") nvcc=$(grep -c '^true ' "$WORK/commands")
    strict=$(grep -c -e '-Werror' "$WORK/commands")
    check "$name: C is compiled" test "$c" -ge 50
    check "$name: and CUDA" test "$nvcc" -ge 10
}
counted "make" all
check "make: $strict strict" test "$strict" -eq 0
counted "make with WERROR" all WERROR=-Werror
check "make with WERROR: $strict strict" test "$strict" -eq $((c + nvcc))
export CI=true
counted "CI" all
check "CI: $strict strict" test "$strict" -eq $((c + nvcc))
unset CI
counted "make check-gpu" check-gpu
check "make check-gpu: $strict strict" test "$strict" -ge $((c + nvcc))
finish
