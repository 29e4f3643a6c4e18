#!/usr/bin/env bash
# abi.sh HEADER... - what programs that were compiled with headers depend on: its enumerations and
# signatures as text, sizes and places of members of its structs as this compiler has them. A change
# of tests/api/abi.txt wants another ORRERY_INTERFACE; one that is no addition, another soname.
set -u -o pipefail
: "${1:?"usage: abi.sh HEADER..."}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
grep -hE '^#define ORRERY_INTERFACE' "$@" || exit
cat "$@" >"$work/all.h" || exit
# without comments, a declaration a line
cc -E -P -fpreprocessed "$work/all.h" 2>"$work/err" | grep -v '^ *#' | tr -s ' \n\t' ' ' |
    sed 's/extern "C" {//; s/; */;\n/g; s/{ */{\n/g; s/} */}\n/g' | sed 's/^ *//' >"$work/text"
sed -n 's/^ORRERY_CALL //p; /^typedef/p' "$work/text" | LC_ALL=C sort
awk '/^enum [a-z_]+ \{/ { on = 1 }
on { gsub(/, /, ",\n"); sub(/ }/, "\n}"); print }
/}/ { on = 0 }' "$work/text"
# each member of each struct: its place and size
{
    echo '#include <stdio.h>'
    printf '#include "%s"\n' "$@"
    echo 'int main(void) {'
    awk '/^struct [a-z_]+ \{/ {
        of = $2
        printf "printf(\"struct %s %%zu\\n\", sizeof(struct %s));\n", of, of
        next
    }
    /^}/ { of = "" }
    of != "" {
        sub(/; *$/, "")
        name = $0
        sub(/.*[ *]/, "", name)
        printf "printf(\"  %%3zu %%2zu  %s: %s\\n\", ", name, $0
        printf "offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n", of, name, of, name
    }' "$work/text"
    echo 'return 0; }'
} >"$work/layout.c"
cc -I. -o "$work/layout" "$work/layout.c" && "$work/layout"
