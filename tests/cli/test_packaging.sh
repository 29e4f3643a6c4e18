#!/usr/bin/env bash
# test_packaging.sh - the Dockerfile asks for what debian/control asks for, and hadolint, where it
# is installed, has nothing to say.
. tests/cli/lib.sh

build_depends() {
    awk '/^[A-Z]/ { on = /^Build-Depends:/ }
        on { gsub(/^Build-Depends:|\([^)]*\)|,/, " "); print }' debian/control |
        tr -s ' ' '\n' | grep -v -e '^$' -e '^debhelper' | sort -u
}
asks_for() { # FILE: every build dependency of the Debian packages stands in it
    local name
    mapfile -t names <<<"$(build_depends)"
    filled "$1" && [ ${#names[@]} -ge 9 ] || return 1
    for name in "${names[@]}"; do
        grep -qE "(^|[ \\])$name( |\\\\|$)" "$1" || { echo "$1: no $name" && return 1; }
    done
}
check "the Dockerfile has what debian/control builds with" asks_for packaging/Dockerfile
sed 's/libgsl-dev//' packaging/Dockerfile >"$WORK/without"
check_not "a Dockerfile without GSL is refused" asks_for "$WORK/without"
if command -v hadolint >/dev/null; then
    check "hadolint" hadolint packaging/Dockerfile
else
    skip "the Dockerfile by hadolint" "it is not installed"
fi
finish
