#!/usr/bin/env bash
# test_package.sh - the Python package orrery: its own tests, a wheel in an environment of its own,
# the example of its README, and a wheel from the source distribution (minutes). Needs python3 with
# numpy and pytest, and for the wheels hatchling;
# scikit-learn, pandas, sympy, torch and transformers where their tests are to run: make
# check-python.
. tests/cli/lib.sh
PYTHON=${PYTHON:-python3}
export PYTHONDONTWRITEBYTECODE=1
if ! $PYTHON -c 'import numpy, pytest' 2>/dev/null; then
    skip "the Python package" "$PYTHON has no numpy or pytest"
    finish
fi
for name in sklearn pandas polars pyarrow dask xarray astropy ml_dtypes sympy jax torch \
    transformers tensorboard wandb trackio rocrate rocrate_validator; do
    $PYTHON -c "import importlib.util as i, sys; sys.exit(not i.find_spec('$name'))" ||
        skip "tests of the Python package with $name" "$PYTHON has no $name"
done

# ---- annotations, as mypy --strict reads them (python/pyproject.toml)
if $PYTHON -c 'import mypy' 2>/dev/null; then
    check "annotations" $PYTHON -m mypy --config-file python/pyproject.toml \
        --cache-dir "$WORK/mypy" python/orrery
else
    skip "annotations of the Python package" "$PYTHON has no mypy"
fi

# ---- its tests, each a line "PASSED path::test" of pytest
PYTHONPATH=python timeout 3000 $PYTHON -m pytest -q -rA -p no:cacheprovider python/tests \
    >"$WORK/out" 2>&1
status=$?
while read -r verdict name _; do
    case $verdict in
    PASSED) pass "$name" ;;
    FAILED | ERROR) fail "$name" ;;
    SKIPPED) skip "a test of the Python package" "$name" ;;
    esac
done <"$WORK/out"
[ $status -eq 0 ] || tail -n 60 "$WORK/out"
check "the tests of the Python package end without an error" test $status -eq 0

# ---- a wheel, installed where nothing else of the package is
if ! $PYTHON -c 'import hatchling' 2>/dev/null; then
    skip "the wheel" "$PYTHON has no hatchling"
    finish
fi
check "a wheel is built" bash -c \
    "cd python && '$PYTHON' -m hatchling build -t wheel -d '$WORK/dist'"
check "its tag is py3-none-PLATFORM" bash -c "ls '$WORK'/dist/orrery_physics-*-py3-none-*.whl"
check "an environment" "$PYTHON" -m venv --without-pip "$WORK/venv"
site=$(echo "$WORK"/venv/lib/python3*/site-packages)
check "the wheel is installed" $PYTHON -m zipfile -e "$WORK"/dist/*.whl "$site"
# (packages it uses come from $PYTHON; a library elsewhere is not looked for)
$PYTHON -c 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))' \
    >"$site/others.pth"
sed -n '/^```python$/,/^```$/{/^```/d;p}' python/README.md >"$WORK/example.py"
check "README.md has ten lines" test "$(wc -l <"$WORK/example.py")" -eq 10
check "they run in the environment" bash -c \
    "cd '$WORK' && venv/bin/python example.py >example.out && cat example.out"
check "the law is found" grep -q 'a \* sqrt(a)' "$WORK/example.out"
check "the library is the wheel's" bash -c "cd '$WORK' && ORRERY_LIBRARY=/dev/null \
    venv/bin/python -c 'from orrery._library import loaded; print(loaded()._name)' |
    grep -q '^$WORK/venv/'"
if $PYTHON -c 'import twine' 2>/dev/null; then
    check "its metadata" $PYTHON -m twine check --strict "$WORK"/dist/*.whl
else
    skip "the metadata of the wheel" "$PYTHON has no twine"
fi
if command -v qemu-x86_64 >/dev/null; then
    check "it starts on a CPU without AVX" bash -c "cd '$WORK' && qemu-x86_64 -cpu Nehalem \
        venv/bin/python -c 'import orrery; print(orrery.simulate(n=2)[\"force\"].shape)'"
else
    skip "the wheel on a CPU without AVX" "there is no qemu-x86_64"
fi

# ---- the source distribution: what is missing is named, and it builds (without optimisation)
check "a source distribution is built" bash -c \
    "cd python && '$PYTHON' -m hatchling build -t sdist -d '$WORK/sdist'"
check "it is unpacked" tar xzf "$WORK"/sdist/*.tar.gz -C "$WORK" --strip-components=1 \
    --one-top-level=unpacked
from_source() {
    (cd "$WORK/unpacked" && env "$@" "$PYTHON" -m hatchling build -t wheel -d "$WORK/again")
}
mkdir "$WORK/include"
ln -s /usr/include/* "$WORK/include/"
rm -rf "$WORK/include/gsl" "$WORK/include/zlib.h"
gcc="gcc -nostdinc -isystem $(gcc -print-file-name=include) -isystem $WORK/include"
gcc+=" -isystem $WORK/include/$(gcc -dumpmachine)"
gcc+=" -isystem $WORK/include/$(gcc -print-multiarch)"
lacks() {
    ! from_source "CC=$1" >"$WORK/lacks" 2>&1 && equal 1 "$(wc -l <"$WORK/lacks")" &&
        grep -qF "liborrery.so.2 cannot be built without $2" "$WORK/lacks"
}
check "headers that are missing are named" lacks "$gcc" \
    'GSL, gsl/gsl_rng.h (Debian: libgsl-dev); zlib, zlib.h (Debian: zlib1g-dev)'
check "a compiler that is missing is named" lacks nonesuch 'nonesuch (Debian: gcc)'
check "it is compiled" from_source CFLAGS=-O0
check "its wheel is installed" $PYTHON -m zipfile -e "$WORK"/again/*.whl "$WORK/site"
check "it computes" bash -c "cd '$WORK' && PYTHONPATH=site ORRERY_LIBRARY=/dev/null '$PYTHON' -c \
    'import orrery; assert orrery.law(2, 1, 1) > 9.8; print(orrery.law.__module__)'"
finish
