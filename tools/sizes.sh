#!/usr/bin/env bash
# sizes.sh [COMMIT...] - the sizes that HACKING.md states, of commits (default: HEAD): lines of C
# and CUDA of the product, of formula/ and symreg/ in it, and of study/; lines of tests and of
# tools; programs; words of docs/; megabytes that git tracks.
set -eu
for commit in "${@:-HEAD}"; do
    lines() { # PATTERN FOLDER...
        local pattern=$1
        shift
        git grep -c '' "$commit" -- "$@" | awk -F: -v p="$pattern" '$2 ~ p { n += $3 }
            END { print n + 0 }'
    }
    c='[.](c|h|cuh?)$' any='[.](c|cc|h|cu|sh|py|awk)$'
    mapfile -t product < <(git show "$commit:folders.mk" |
        sed -n '/^define/,/^endef/s/^\([a-z]*\)  .*/\1/p' | grep -v study)
    echo "$commit: product $(lines "$c" "${product[@]}")," \
        "of it symreg $(lines "$c" formula symreg);" \
        "study $(lines '^study/[^/]*[.][ch]$' study); tests $(lines "$any" tests study/tests);" \
        "tools $(lines '[.](sh|py|awk)$' tools); programs" \
        "$(git ls-tree -r --name-only "$commit" | grep -c '^[a-z]*/main_[a-z]*\.c$');" \
        "words of docs $(git archive "$commit" docs | tar -xO --wildcards '*.md' | wc -w);" \
        "MB $(git ls-tree -r -l "$commit" | awk '{ s += $4 } END { printf "%.1f", s / 1e6 }')"
done
