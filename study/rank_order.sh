#!/usr/bin/env bash
# rank_order.sh - Spearman's rank correlation of a quantity over attention variants, between the
# kept cells of two grids: is the order of one corpus that of the other?
#
#   study/rank_order.sh FOLDER FOLDER [QUANTITY [CONTEXT]]
#
# FOLDERs hold results of `bin/probe length`, seed0-<attention>.json, as study/claims.sh keeps them;
# QUANTITY is "next token, beyond" (nats), CONTEXT 1024. Variants that both have are compared; equal
# values share the mean of their ranks.
set -eu
[ $# -ge 2 ] && [ $# -le 4 ] && [ -d "$1" ] && [ -d "$2" ] || {
    echo "rank_order: error: expected two folders of kept cells, found \"$*\"" >&2
    exit 2
}
# values FOLDER: a line "attention value" per cell
values() {
    local file name
    for file in "$1"/seed0-*.json; do
        [ -e "$file" ] || { echo "rank_order: error: $1: no seed0-*.json there" >&2 && return 1; }
        name=$(basename "$file" .json)
        tr -d '\n\t' <"$file" | sed 's/}, *{/}\n{/g' |
            awk -v name="${name#seed0-}" -v quantity="${3:-next token, beyond}" \
                -v context="${4:-1024}" '
                index($0, "\"quantity\":\"" quantity "\"") &&
                index($0, "\"context\":" context ",") && match($0, /"value":[-0-9.e+]+/) {
                    print name, substr($0, RSTART + 8, RLENGTH - 8)
                }'
    done
}
a=$(values "$1" "" "${3-}" "${4-}" | sort) b=$(values "$2" "" "${3-}" "${4-}" | sort)
join <(echo "$a") <(echo "$b") | awk '
    function rank(v, i,    k, r) { # the mean rank of equal values
        r = 0.5
        for (k = 1; k <= n; k++) r += v[k] < v[i] ? 1 : v[k] == v[i] ? 0.5 : 0
        return r
    }
    { name[++n] = $1; x[n] = $2; y[n] = $3 }
    END {
        for (i = 1; i <= n; i++) {
            p[i] = rank(x, i); q[i] = rank(y, i)
            printf "%-16s %8.3f %8.3f %5.1f %5.1f\n", name[i], x[i], y[i], p[i], q[i]
            mp += p[i] / n; mq += q[i] / n
        }
        for (i = 1; i <= n; i++) {
            pq += (p[i] - mp) * (q[i] - mq); pp += (p[i] - mp) ^ 2; qq += (q[i] - mq) ^ 2
        }
        if (n < 3 || pp * qq <= 0) {
            print "rank_order: error: fewer than 3 variants" > "/dev/stderr"
            exit 1
        }
        printf "%d variants, rank correlation %.3f\n", n, pq / sqrt(pp * qq)
    }'
