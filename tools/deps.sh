#!/usr/bin/env bash
# deps.sh - installs what a build needs and the machine lacks.
#
#   deps.sh --check    exit 0 when everything is there, in milliseconds; silent
#   deps.sh            Debian and Ubuntu: installs the missing packages with apt, as root or
#                      through sudo; elsewhere prints the exact packages and exits 1
#   deps.sh --sanitizers    also what .ci/run takes: clang 14 and its OpenMP for make
#                           check-asan-unit, a C++ compiler for make check-emulation
#   deps.sh --optional      also libnova, for `bin/probe planets`, and Open MPI, for trainings by
#                           several ranks, where they are missing alone; where others are missing,
#                           they are installed with them if they can be
#   deps.sh --lab           also clang for WebAssembly and its C library, for make lab
#
# Does nothing when nothing is missing. Needs no network then.
set -u

packages_apt=(gcc libc6-dev binutils make libgsl-dev libcjson-dev libdnnl-dev libxxhash-dev
              zlib1g-dev xz-utils libcmocka-dev gnuplot-nox fonts-dejavu-core)
packages_dnf=(gcc make binutils gsl-devel cjson-devel onednn-devel xxhash-devel
              zlib-devel xz libcmocka-devel gnuplot dejavu-sans-fonts)
packages_pacman=(gcc make gsl cjson onednn xxhash zlib xz cmocka gnuplot ttf-dejavu)
packages_brew=(gcc make gsl cjson onednn xxhash zlib xz cmocka gnuplot font-dejavu)
needs="a C17 compiler, make, GSL, cJSON, oneDNN, xxHash, zlib, xz, cmocka and gnuplot"
optional_apt=(libnova-dev libopenmpi-dev openmpi-bin)
packages_clang=(clang-14 libomp-14-dev g++)
# (in Ubuntu 22.04 a part of another package)
grep -qs '^VERSION_ID="22.04"' /etc/os-release || packages_clang+=(libclang-rt-14-dev)

# Every header that is included from outside the tree, and every tool that is run.
all_there() {
    command -v "${CC:-cc}" && command -v ar && command -v gnuplot && command -v xz || return 1
    "${CC:-cc}" -E -x c - <<'C' || return 1
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <gsl/gsl_rng.h>
#include <cjson/cJSON.h>
#include <dnnl.h>
#include <xxhash.h>
#include <zlib.h>
#include <cmocka.h>
C
    # the figures' font; its place is known on Debian only
    ! command -v dpkg-query || [ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ]
}

# a clang that links OpenMP and the sanitizers, and C++, beside what every build needs
if [ "${1:-}" = --sanitizers ]; then
    clang_there() {
        local compiler
        command -v g++ || return
        for compiler in clang-14 clang; do
            echo 'int main(void) { return 0; }' | "$compiler" -fopenmp \
                -fsanitize=address,undefined -x c - -o /dev/null && return
        done
        return 1
    } >/dev/null 2>&1
    "$0" || exit
    ! clang_there || exit 0
    packages_apt=("${packages_clang[@]}")
    all_there() { clang_there; }
fi

# what real planets, and ranks of a job, need; nothing else does without
optional_there() {
    "${CC:-cc}" -E -include libnova/libnova.h -x c /dev/null && command -v mpicc &&
        command -v mpirun
} >/dev/null 2>&1
if [ "${1:-}" = --optional ]; then
    "$0" || exit
    packages_apt=("${optional_apt[@]}")
    packages_dnf=(libnova-devel openmpi-devel) packages_pacman=(libnova openmpi)
    packages_brew=(libnova open-mpi)
    needs="libnova for real planets, and Open MPI for ranks of a job"
    all_there() { optional_there; }
fi

# what compiles the orbit lab's module (lab.mk)
if [ "${1:-}" = --lab ]; then
    "$0" || exit
    packages_apt=(clang lld wasi-libc libclang-rt-dev-wasm32)
    packages_dnf=(clang lld wasi-libc-devel compiler-rt) packages_brew=(llvm lld wasi-libc)
    packages_pacman=(clang lld wasi-libc wasi-compiler-rt)
    needs="clang, wasm-ld and the C library of WASI for make lab"
    all_there() { command -v clang && command -v wasm-ld && [ -e /usr/include/wasm32-wasi ]; }
fi

if all_there >/dev/null 2>&1; then
    exit 0
fi
[ "${1:-}" = --check ] && exit 1

print_packages() {
    echo "Orrery needs $needs:"
    echo "  apt-get install ${packages_apt[*]}"
    echo "  dnf install ${packages_dnf[*]}"
    echo "  pacman -S ${packages_pacman[*]}"
    echo "  brew install ${packages_brew[*]}"
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    { echo "deps: error: no apt on this machine; install the packages by hand"
      print_packages; } >&2
    exit 1
fi

missing=()
for package in "${packages_apt[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
    [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    { echo "deps: error: every package is installed, but ${CC:-cc} does not find their headers"
      print_packages; } >&2
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        { echo "deps: error: installing needs root or sudo; missing: ${missing[*]}"
          print_packages; } >&2
        exit 1
    fi
    as_root=(sudo)
fi
apt() {
    "${as_root[@]+"${as_root[@]}"}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
        -o Dpkg::Use-Pty=0 "$@"
}

echo "deps: installing ${missing[*]}"
# package lists may be absent (fresh image) or outdated (the first try then fails)
if ! apt-cache show --no-all-versions "${missing[@]}" >/dev/null 2>&1; then
    apt update || { echo "deps: error: apt-get update failed" >&2; exit 1; }
    updated=1
fi
if ! apt install --no-install-recommends "${missing[@]}"; then
    if [ -n "${updated:-}" ] || ! apt update ||
       ! apt install --no-install-recommends "${missing[@]}"; then
        echo "deps: error: apt-get could not install: ${missing[*]}" >&2
        exit 1
    fi
fi
if ! all_there >/dev/null 2>&1; then
    { echo "deps: error: packages are installed, but ${CC:-cc} still misses a header or a tool"
      print_packages; } >&2
    exit 1
fi
for package in "${optional_apt[@]}"; do
    optional_there || apt install --no-install-recommends "$package" || echo "deps: note: no" \
        "$package: everything but bin/probe planets (libnova) and ranks of a job (Open MPI) works"
done
