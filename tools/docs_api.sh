#!/usr/bin/env bash
# docs_api.sh - the reference of liborrery from api/orrery.h, into $B/api-reference: make docs-api.
# What is not documented, or not as doxygen understands it, is an error.
set -eu -o pipefail
export B=${B:-build} VERSION
command -v doxygen >/dev/null || {
    echo "docs-api: error: expected doxygen on PATH (Debian: doxygen), found none" >&2
    exit 1
}
VERSION=$(sed -n 's/^#define ORR_VERSION "\(.*\)"/\1/p' base/version.h)
mkdir -p "$B"
rm -rf "$B/api-reference"
doxygen api/Doxyfile || { # pages that lack something are no reference
    rm -rf "$B/api-reference"
    exit 1
}
echo "$B/api-reference/index.html"
