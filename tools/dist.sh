#!/usr/bin/env bash
# dist.sh - build/orrery-VERSION.tar.gz: the source as a tarball that builds without git. The same
# commit gives the same bytes: names sorted, no owners, the commit's time. Changes that are not
# committed are refused (DIST_DIRTY=1: taken along).
set -eu -o pipefail
build=${B:-build}
version=$(sed -nE 's/^#define ORR_VERSION "(.*)"/\1/p' base/version.h)
name=orrery-$version
commit=$(git rev-parse HEAD 2>/dev/null) ||
    { echo "dist: error: this is no clone of the repository, whose files git lists" >&2; exit 1; }
if [ -z "${DIST_DIRTY:-}" ] && ! git diff --quiet HEAD --; then
    echo "dist: error: there are changes that are not committed (git status)" >&2
    exit 1
fi
mkdir -p "$build"
out=$build/$name.tar.gz
git ls-files -z | LC_ALL=C sort -z |
    tar --create --no-recursion --null --files-from=- --format=ustar --owner=0 --group=0 \
        --numeric-owner --mode='go=rX,u+w' --mtime="@$(git log -1 --format=%ct "$commit")" \
        --transform="s:^:$name/:S" | gzip -9n >"$out.part"
mv "$out.part" "$out"
echo "$out: $(tar -tzf "$out" | wc -l) files, commit ${commit:0:12}"
