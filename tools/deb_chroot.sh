#!/usr/bin/env bash
# deb_chroot.sh [FOLDER] - the Debian packages from nothing but Debian: builds them from `make dist`
# in a clean chroot, asks lintian, installs them in another one, runs debian/tests there, purges.
#
# As root, with mmdebstrap and network. The packages, lintian.txt and the logs stay in FOLDER
# (default build/deb), as does the chroot's archive base.tar, which the next call takes again.
# SUITE=bookworm, MIRROR=http://deb.debian.org/debian. KEEP=1 leaves the chroots in FOLDER.
set -eu -o pipefail
suite=${SUITE:-bookworm} mirror=${MIRROR:-http://deb.debian.org/debian}
fail() {
    echo "deb_chroot: error: $*" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "expected to run as root, which chroot and mounts need"
for tool in mmdebstrap unshare chroot; do
    command -v $tool >/dev/null || fail "expected $tool on PATH (Debian: mmdebstrap), found none"
done
folder=${1:-build/deb}
mkdir -p "$folder"
folder=$(realpath "$folder")
cleaned=
clean() {
    [ -n "${KEEP:-}" ] || rm -rf "$folder/build" "$folder/clean"
    [ -n "$cleaned" ] || echo "deb_chroot: failed; logs are in $folder" >&2
}
trap clean EXIT

# chroot_of NAME: a fresh one from the archive
chroot_of() {
    [ -s "$folder/base.tar" ] || {
        mmdebstrap --format=tar --variant=buildd "$suite" "$folder/base.tar.new" "$mirror" \
            >"$folder/base.log" 2>&1 || fail "mmdebstrap: $(tail -n 1 "$folder/base.log")"
        mv "$folder/base.tar.new" "$folder/base.tar"
    }
    rm -rf "${folder:?}/$1"
    mkdir "$folder/$1"
    tar -C "$folder/$1" -xf "$folder/base.tar"
    cp /etc/resolv.conf "$folder/$1/etc/"
    inside "$1" 'apt-get update -qq' >"$folder/$1.log" 2>&1
}
# inside NAME COMMAND: in mounts and processes of its own, which end with it
inside() {
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc"
        mount --bind /dev "$1/dev"
        exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive sh -euc "$2"' sh "$folder/$1" "$2" </dev/null
}
# step WHAT NAME COMMAND: the output goes to the log of the chroot
step() {
    echo "$1"
    inside "$2" "$3" >>"$folder/$2.log" 2>&1 || {
        tail -n 20 "$folder/$2.log" >&2
        fail "$1: failed; $folder/$2.log"
    }
}

# ---- build, as a user
rm -f "$folder"/*.deb "$folder"/*.changes "$folder"/*.buildinfo
chroot_of build
make -s dist B="$folder/dist"
mkdir "$folder/build/src"
tar -C "$folder/build/src" -xzf "$(ls "$folder"/dist/orrery-*.tar.gz)"
rm -rf "$folder/dist"
mv "$folder"/build/src/orrery-* "$folder/build/src/orrery"
install='apt-get install -y --no-install-recommends'
step "build dependencies" build "cd /src/orrery && apt-get build-dep -y --no-install-recommends ./"
step "dpkg-buildpackage" build 'useradd -m builder && chown -R builder /src && cd /src/orrery &&
    su builder -c "dpkg-buildpackage -us -uc -b"'
cp "$folder"/build/src/*.deb "$folder"/build/src/*.changes "$folder/"
step "lintian" build "$install lintian && cd /src &&
    su builder -c 'lintian --fail-on error --info --display-info *.changes >lintian.txt' ||
    { cat lintian.txt; exit 1; }"
cp "$folder/build/src/lintian.txt" "$folder/"
grep -E '^[EWI]:' "$folder/lintian.txt" | cut -d' ' -f1 | sort | uniq -c || true

# ---- install, run, purge
chroot_of clean
mkdir "$folder/clean/debs"
cp "$folder"/*.deb "$folder/clean/debs/"
files() { # what there is, but logs and caches of apt
    (cd "$folder/clean" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp \
        -o -path ./debs -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
        -o -path ./var/log \) -prune -o -print) | sort
}
# the packages that they and their tests need, first: these stay
step "dependencies" clean "$install /debs/*.deb gcc g++ pkgconf man-db libc6-dev &&
    apt-get purge -y orrery liborrery2 liborrery-dev"
files >"$folder/before.txt"
step "install" clean "dpkg -i /debs/orrery_*.deb /debs/liborrery2_*.deb /debs/liborrery-dev_*.deb"
mkdir -p "$folder/clean/tests"
cp debian/tests/* "$folder/clean/tests/"
for test in $(sed -n 's/^Tests: //p' debian/tests/control); do
    step "debian/tests/$test" clean "id tester >/dev/null 2>&1 || useradd -m tester
        su tester -c 'export AUTOPKGTEST_TMP=\$(mktemp -d) && sh -e /tests/$test'"
done
step "purge" clean "userdel -r tester; rm -rf /tests
    apt-get purge -y orrery liborrery2 liborrery-dev"
files >"$folder/after.txt"
left=$(comm -13 "$folder/before.txt" "$folder/after.txt" | grep -v -e '^\./etc/.*-$' || true)
[ -z "$left" ] || fail "purge: expected nothing left, found $left"
cleaned=1
echo "built, checked, installed, run and purged: $(cd "$folder" && echo *.deb)"
