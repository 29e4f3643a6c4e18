#!/usr/bin/env bash
# abi.sh HEADER - what programs that were compiled with a header depend on: its enumerations and
# signatures as text, sizes and places of members of its structs as this compiler has them. A change
# of tests/api/abi.txt wants another ORRERY_INTERFACE, and of what is not an addition, another soname.
set -u -o pipefail
header=${1:?"usage: abi.sh HEADER"}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# without comments, a declaration a line
cc -E -P -fpreprocessed -dD "$header" 2>/dev/null | grep -E '^#define ORRERY_INTERFACE' || exit
cc -E -P -fpreprocessed "$header" | grep -v '^ *#' | tr -s ' \n\t' ' ' |
    sed 's/extern "C" {//; s/; */;\n/g; s/{ */{\n/g; s/} */}\n/g' | sed 's/^ *//' >"$work/text"
sed -n 's/^ORRERY_CALL //p; /^typedef/p' "$work/text" | LC_ALL=C sort
awk '/^enum [a-z_]+ \{/ { on = 1 } on { gsub(/, /, ",\n"); sub(/ }/, "\n}"); print } /}/ { on = 0 }' "$work/text"
# each member of each struct: its place and size
awk -v header="$header" 'BEGIN { print "#include <stdio.h>\n#include \"" header "\"\nint main(void) {" }
/^struct [a-z_]+ \{/ { of = $2; printf "printf(\"struct %s %%zu\\n\", sizeof(struct %s));\n", of, of; next }
/^}/ { of = ""; next }
of != "" {
    sub(/; *$/, "")
    type = $0
    count = split($0, part, ",")
    for (i = 1; i <= count; i++) {
        name = part[i]
        sub(/.*[ *]/, "", name)
        printf "printf(\"  %%3zu %%2zu  %s: %s\\n\", offsetof(struct %s, %s), sizeof((struct %s *)0)->%s);\n", \
            name, type, of, name, of, name
    }
}
END { print "return 0; }" }' "$work/text" | sed 's/sizeof((struct \([a-z_]*\) \*)0)->\([a-z_0-9]*\)/sizeof(((struct \1 *)0)->\2)/' >"$work/layout.c"
cc -I. -o "$work/layout" "$work/layout.c" && "$work/layout"
