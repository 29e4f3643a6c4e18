#!/usr/bin/env bash
# test_waiting.sh - threads that wait sleep, whoever starts the program: OpenMP's library has been
# told so by the time that it is loaded, and what the user has set stays.
. tests/cli/lib.sh
unset OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME KMP_LIBRARY

# spins PROGRAM: rounds that a thread waits awake, as GNU's OpenMP tells each time that it is loaded
spins() {
    OMP_DISPLAY_ENV=verbose "$BIN/$1" --version 2>&1 >/dev/null |
        sed -n "s/^ *GOMP_SPINCOUNT = '\(.*\)'$/\1/p" | tr '\n' ' '
}
if ! GOMP_SPINCOUNT=7 spins orbits | grep -q 7; then
    skip "threads that wait" "built with another OpenMP than GNU's"
    finish
fi
for name in orbits pretrain finetune symreg laws report compare verdict probe sample; do
    check "$name sleeps" equal "$(spins $name | awk '{ print $NF }')" 1000
done
check "GOMP_SPINCOUNT stays, nothing starts again" equal "$(GOMP_SPINCOUNT=77 spins pretrain)" "77 "
for set in OMP_WAIT_POLICY=active KMP_BLOCKTIME=200 KMP_LIBRARY=turnaround; do
    check "$set stays, nothing starts again" equal 1 "$(env "$set" bash -c \
        'OMP_DISPLAY_ENV=verbose "$1/orbits" --version 2>&1 | grep -c GOMP_SPINCOUNT' - "$BIN")"
done

# the process stays the same one, with its arguments and its name
mkdir "$WORK/with space"
check "arguments" program orbits --preset smoke --quiet --threads 2 --out "$WORK/with space/a b"
check "arguments: arrive" test -s "$WORK/with space/a b/manifest.json"
"$BIN/symreg" --version >/dev/full 2>"$WORK/err"
check "the exit status" test $? -ne 0
finish
