#!/usr/bin/env bash
# test_dist.sh - the tarball of make dist has the same bytes for the same files, everything that a
# build needs, and no need of git.
. tests/cli/lib.sh
if ! git rev-parse HEAD >"$WORK/out" 2>&1; then
    skip "make dist" "this is no clone"
    finish
fi
for time in first second; do
    check "make dist, $time" env B="$WORK/$time" DIST_DIRTY=1 tools/dist.sh
    touch Makefile # times of files are not in it
done
tarball=$(echo "$WORK"/first/orrery-*.tar.gz)
check "the same bytes" same_file "$tarball" "$WORK/second/${tarball##*/}"
check "it unpacks" tar -xzf "$tarball" -C "$WORK"
folder=$WORK/$(basename "$tarball" .tar.gz)
listed() {
    git ls-files | LC_ALL=C sort
}
there() {
    (cd "$folder" && find . ! -type d | sed 's:^\./::' | LC_ALL=C sort)
}
check "all files of the repository, and no others" equal "$(listed)" "$(there)"
mkdir "$WORK/path"
for tool in /usr/bin/* /bin/*; do # all but git
    [ "${tool##*/}" = git ] || ln -sf "$tool" "$WORK/path/"
done
check "it builds without git" env PATH="$WORK/path" make -s -C "$folder" CUDA=0 MPI=0 CFLAGS=-O0 \
    -j2 bin/orrery
check "it builds without git: a program that runs" \
    prints '^orrery [0-9]' "$folder/bin/orrery" --version

# ---- what the source distribution of the Python package takes along (make check-python builds it)
package=$WORK/package
sed -n 's:^"\.\./\(.*\)" = "source/\1"$:\1:p' python/pyproject.toml >"$WORK/taken"
while IFS= read -r name; do
    mkdir -p "$(dirname "$package/$name")" && cp -r "$name" "$package/$name" || exit
done <"$WORK/taken"
plan() { # GOAL...: what make would do there
    make -s -C "$package" CUDA=0 MPI=0 -o .deps --eval 'folders: ; @echo $(api_USES)' "$@"
}
check "the Python package's source lacks a file that its Makefile wants" \
    plan -n build/liborrery.so.2
for name in $(plan folders); do
    check "the Python package's source lacks the folder $name" grep -qx "$name" "$WORK/taken"
done
finish
